"""`sdy-lift-inlined-meshes` names meshes as the C++ pass does."""

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleAborted
from tests.differential.random_modules import random_module
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.shardy.importing.sdy_lift_inlined_meshes import wanted_name

NAME = "sdy-lift-inlined-meshes"


def module(meshes: str, *shardings: str) -> str:
    arguments = ", ".join(
        f"%x{n}: tensor<8xf32> {{sdy.sharding = #sdy.sharding<{text}>}}"
        for n, text in enumerate(shardings)
    )
    return f"module {{\n{meshes}\nfunc.func @f({arguments}) {{ return }}\n}}"


PROGRAMS = {
    "nothing to do": module('sdy.mesh @m = <["a"=2]>', '@m, [{"a"}]'),
    "no mesh yet": module("", 'mesh<["a"=2]>, [{"a"}]'),
    "a mesh that has a name": module(
        'sdy.mesh @m = <["a"=2]>', 'mesh<["a"=2]>, [{"a"}]'
    ),
    "two equal meshes": module(
        'sdy.mesh @m = <["a"=2]>\nsdy.mesh @n = <["a"=2]>', '@n, [{"a"}]', "@m, [{?}]"
    ),
    "an equal mesh with another order of devices": module(
        'sdy.mesh @m = <["a"=2]>', 'mesh<["a"=2], device_ids=[1, 0]>, [{"a"}]'
    ),
    "names that are taken, one counter": module(
        'sdy.mesh @mesh = <["z"=8]>\nsdy.mesh @maximal_mesh_3 = <["y"=8]>',
        'mesh<["a"=8]>, [{"a"}]',
        "mesh<[], device_ids=[3]>, []",
        'mesh<["b"=8]>, [{"b"}]',
    ),
    "the name of an erased mesh is free": module(
        'sdy.mesh @m = <["a"=2]>\nsdy.mesh @mesh = <["a"=2]>', 'mesh<["b"=2]>, [{"b"}]'
    ),
    "the empty mesh": module("", "mesh<[]>, [{}]"),
    "new meshes behind the last old one": """
      module {
        sdy.mesh @m = <["a"=8]>
        func.func private @g(%x: tensor<8xf32>) { return }
        sdy.mesh @n = <["b"=8]>
        func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["c"=8]>, [{}]>}) {
          return
        }
      }""",
    "stablehlo.mesh is there already": module(
        'sdy.mesh @m = <["a"=2]> {stablehlo.mesh = {axes = []}}', '@m, [{"a"}]'
    ),
    "every place of a sharding": """
      module {
        func.func @f(%x: tensor<8xf32>)
            -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=8]>, [{?}]>}) {
          %0 = stablehlo.negate %x {sdy.sharding =
            #sdy.sharding_per_value<[<mesh<["b"=8]>, [{"b"}]>]>} : tensor<8xf32>
          %1 = sdy.sharding_constraint %0 <mesh<["c"=8]>, [{"c"}]> : tensor<8xf32>
          %2 = sdy.reshard %1 <mesh<["d"=8]>, [{"d"}]> : tensor<8xf32>
          %3 = sdy.manual_computation(%2) in_shardings=[<mesh<["e"=8]>, [{"e"}]>]
            out_shardings=[<mesh<["e"=8]>, [{}]>] manual_axes={"e"}
            (%p: tensor<1xf32>) {
              %4 = stablehlo.constant dense<0.0> : tensor<8xf32>
              sdy.return %4 : tensor<8xf32>
            } : (tensor<8xf32>) -> tensor<8xf32>
          %5 = sdy.named_computation<"n">(%3) in_shardings=[<mesh<["g"=8]>, [{"g"}]>]
            out_shardings=[<mesh<["h"=8]>, [{}]>] (%p: tensor<8xf32>) {
              sdy.return %p : tensor<8xf32>
            } : (tensor<8xf32>) -> tensor<8xf32>
          return %5 : tensor<8xf32>
        }
      }""",
    "replica groups by name": """
      module {
        sdy.mesh @m = <["a"=2]>
        sdy.mesh @n = <["a"=2]>
        func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
          %0 = "stablehlo.all_reduce"(%x) ({
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %1 = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %1 : tensor<f32>
          }) {replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @n,
              axes = [#stablehlo.axis_ref<name = "a">]>} : (tensor<8xf32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }
      }""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_cpp(oracle: Oracle, name: str):
    assert_equal_text(oracle, PROGRAMS[name], NAME)


@pytest.mark.parametrize("seed", range(10))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    assert_equal_text(oracle, random_module(seed), NAME)
    inlined = oracle.run(random_module(seed), "sdy-inline-meshes")
    assert_equal_text(oracle, inlined, NAME)


def test_replica_groups_keep_the_order_of_devices():
    """The C++ pass loses it, and declares a mesh again that has a name."""
    text = """
      module {
        sdy.mesh @m = <["a"=2]>
        func.func @f(%x: tensor<8xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
          %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64,
            replica_groups = #stablehlo.replica_group_mesh_axes<
              mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>],
                device_ids = dense<[1, 0]> : tensor<2xi64>>,
              axes = [#stablehlo.axis_ref<name = "a">]>}
            : (tensor<8xf32>) -> tensor<16xf32>
          %1 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64,
            replica_groups = #stablehlo.replica_group_mesh_axes<
              mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>]>,
              axes = [#stablehlo.axis_ref<name = "a">]>}
            : (tensor<8xf32>) -> tensor<16xf32>
          return %0, %1 : tensor<16xf32>, tensor<16xf32>
        }
      }""".replace(
        "axes = [#stablehlo.mesh_axis", "axes=[#stablehlo.mesh_axis"
    ).replace("device_ids = ", "device_ids=")
    after = run_ours(text, NAME)
    assert 'sdy.mesh @mesh = <["a"=2], device_ids=[1, 0]>' in after
    assert "mesh = @mesh," in after
    assert "mesh = @m," in after


def test_wanted_names():
    assert wanted_name(Mesh((("a", 2),))) == "mesh"
    assert wanted_name(Mesh(())) == "empty_mesh"
    assert wanted_name(Mesh((), (7,))) == "maximal_mesh_7"


def test_declared_functions(oracle: Oracle):
    """C++ crashes where it looks for the shardings of their arguments."""
    text = """
      sdy.mesh @a = <["a"=2]>
      sdy.mesh @b = <["a"=2]>
      func.func private @f(tensor<8xf32> {sdy.sharding = #sdy.sharding<@b, [{"a"}]>})"""
    with pytest.raises(OracleAborted):
        oracle.run(text, NAME)
    assert '@a, [{"a"}]' in oracle.run(run_ours(text, NAME))
