"""`sdy-remove-size-one-axes` leaves what the C++ pass leaves."""

from __future__ import annotations

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleRejected
from tests.differential.random_modules import random_module
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.shardy.importing.sdy_remove_size_one_axes import (
    without_size_one_axes,
)

NAME = "sdy-remove-size-one-axes"
MESH = 'sdy.mesh @mesh = <["a"=4, "one"=1, "b"=2, "uno"=1]>'


def argument(sharding: str, mesh: str = MESH) -> str:
    return (
        f"{mesh}\nfunc.func @f(%x: tensor<8x8xf32> "
        f"{{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}) {{ return }}"
    )


SHARDINGS = {
    "in the middle": '[{"a", "one", "b"}, {}]',
    "all of a dimension": '[{"one"}, {"uno", ?}]',
    "a closed dimension loses its priority": '[{"one"}p1, {"a", "uno"}p2]',
    "an open dimension keeps it": '[{"one", ?}p1, {"a"}p2]',
    "replicated": '[{}, {}], replicated={"a", "one", "b"}',
    "replicated, none left": '[{"a"}, {}], replicated={"one", "uno"}',
    "unreduced": '[{}, {}], unreduced={"one", "b"}',
    "sub-axes stay apart": '[{"a":(2)2, "one", "a":(1)2}, {}]',
}


@pytest.mark.parametrize("name", SHARDINGS)
def test_like_cpp(oracle: Oracle, name: str):
    assert_equal_text(oracle, argument(SHARDINGS[name]), NAME)


def test_no_such_axes(oracle: Oracle):
    text = argument('[{"a"}, {?}p1]', 'sdy.mesh @mesh = <["a"=4]>')
    assert_equal_text(oracle, text, NAME)


def test_manual_axes_stay(oracle: Oracle):
    text = f"""{MESH}
      func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {{
        %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"one", "b", "uno"}}]>]
          out_shardings=[<@mesh, [{{"b"}}], replicated={{"one"}}>] manual_axes={{"one", "b"}}
          (%p: tensor<4xf32>) {{ sdy.return %p : tensor<4xf32> }}
          : (tensor<8xf32>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
      }}"""
    assert_equal_text(oracle, text, NAME)
    assert 'manual_axes={"one", "b"}' in run_ours(text, NAME)


@pytest.mark.parametrize("seed", range(15))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    assert_equal_text(oracle, random_module(seed), NAME)


def test_sub_axes_that_become_neighbours_merge(oracle: Oracle):
    """The C++ pass leaves them apart, which its verifier refuses."""
    text = argument('[{"a":(1)2, "one", "a":(2)2}, {"b"}]')
    with pytest.raises(OracleRejected, match="can be merged"):
        oracle.run(text, NAME)
    assert '@mesh, [{"a"}, {"b"}]' in oracle.run(run_ours(text, NAME))


def test_inlined_meshes_count():
    """C++ looks at declared meshes only, to see whether there is anything to do."""
    text = """func.func @f(%x: tensor<8xf32>
      {sdy.sharding = #sdy.sharding<mesh<["a"=2, "one"=1]>, [{"a", "one"}]>}) { return }"""
    assert '[{"a"}]' in run_ours(text, NAME)


def test_without_size_one_axes():
    mesh = Mesh((("a", 8), ("one", 1)))
    one, two, three = (AxisRef("a", n, 2) for n in (1, 2, 4))
    sharding = TensorSharding(
        "mesh", (DimSharding((one, AxisRef("one"), two)), DimSharding((three,)))
    )
    assert without_size_one_axes(sharding, mesh).axes_per_dim == (
        (AxisRef("a", 1, 4),),
        (three,),
    )


COLLECTIVES = {
    "one axis of several": (
        '[{"a", "one"}, {"b"}]',
        'sdy.all_gather [{"a", "one"}, {}] %x out_sharding=<@mesh, [{}, {"b"}]>',
        'sdy.all_gather [{"a"}, {}] %x out_sharding=<@mesh, [{}, {"b"}]>',
    ),
    "all axes": (
        '[{"a", "one"}, {}]',
        'sdy.all_gather [{"one"}, {}] %x out_sharding=<@mesh, [{"a"}, {}]>',
        None,
    ),
    "one of two moves": (
        '[{"a"}, {"one"}]',
        'sdy.all_to_all [{"one"}: 1->0] %x out_sharding=<@mesh, [{"a", "one"}, {}]>',
        None,
    ),
    "a reduction": (
        '[{"a"}, {}]',
        'sdy.all_reduce {"b", "uno"} %x out_sharding=<@mesh, [{"a"}, {}]>',
        'sdy.all_reduce {"b"} %x out_sharding=<@mesh, [{"a"}, {}]>',
    ),
    "none of size one": (
        '[{"a"}, {}]',
        'sdy.all_slice [{}, {"b"}] %x out_sharding=<@mesh, [{"a"}, {"b"}]>',
        'sdy.all_slice [{}, {"b"}] %x out_sharding=<@mesh, [{"a"}, {"b"}]>',
    ),
}


@pytest.mark.parametrize(
    ("sharding", "op", "left"), COLLECTIVES.values(), ids=COLLECTIVES.keys()
)
def test_collectives(oracle: Oracle, sharding: str, op: str, left: str | None):
    text = (
        f"{MESH}\nfunc.func @f(%x: tensor<8x8xf32> "
        f"{{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}) -> tensor<8x8xf32> {{\n"
        f"  %0 = {op} : tensor<8x8xf32>\n  return %0 : tensor<8x8xf32>\n}}"
    )
    assert oracle.accepts(text)
    ours = run_ours(text, NAME)
    assert oracle.accepts(ours)
    assert '"one"' not in ours.split("\n", 2)[2]
    if left is None:
        assert "sdy.all" not in ours
    else:
        assert left.replace("%x", "%arg0") in oracle.run(ours)
