"""Options that jaxlib's passes have after 0.10: the answers of 0.12.0.1, and of the newest."""

import pytest

from tests.differential.oracle import Oracle
from tests.transforms.run_pass import run_passes

INLINED = """sdy.mesh @foo = <[], device_ids=[2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[3]>, []>},
                %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[2]>, []>},
                %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) {
  return
}
"""

DESCRIBED = """module attributes {
  mhlo.a = 1 : i32, sdy.b = 2 : i32,
  sdy.parameters_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x"}]>]>,
  sdy.output_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{}]>]>
} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}
"""

CASES = {
    "sdy-lift-inlined-meshes{use-single-device-mesh-names=true}": INLINED,
    "sdy-lift-inlined-meshes{use-single-device-mesh-names=false}": INLINED,
    "sdy-drop-sharding-and-mesh{keep-module-sharding-metadata=true}": DESCRIBED,
    "sdy-drop-sharding-and-mesh{keep-module-sharding-metadata=false}": DESCRIBED,
}


@pytest.mark.parametrize("passes", CASES)
def test_like_the_newest(newest: Oracle, passes: str):
    ours = run_passes(CASES[passes], passes)
    assert newest.run(ours) == newest.run(CASES[passes], passes)


def test_names_of_meshes_of_one_device():
    for said, name in (("true", "single_device_3"), ("false", "maximal_mesh_3")):
        option = f"use-single-device-mesh-names={said}"
        after = run_passes(INLINED, f"sdy-lift-inlined-meshes{{{option}}}")
        assert f"sdy.mesh @{name} = <[], device_ids=[3]>" in after
        assert "#sdy.sharding<@foo, []>" in after


def test_what_a_module_says_of_its_shardings(oracle: Oracle):
    """Kept unless told otherwise, as in jaxlib 0.10."""
    name = "sdy-drop-sharding-and-mesh"
    kept = run_passes(DESCRIBED, name)
    assert oracle.run(kept) == oracle.run(DESCRIBED, name)
    dropped = run_passes(DESCRIBED, f"{name}{{keep-module-sharding-metadata=false}}")
    assert "parameters_shardings" in kept
    assert "output_shardings" in kept
    assert "_shardings" not in dropped
    assert "sdy.b" in dropped


REDUCED = """sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, tensor<8xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8xf32>
}
"""
MARK = "mark-partial-result-with-unreduced-axes=true"
FULL = f"sdy-insert-explicit-reshards{{enable-full-version=true {MARK}}}"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (FULL, f"func.func({FULL})"),
        ("sdy-propagation-pipeline{newest=true}", "sdy-propagation-pipeline"),
        ("sdy-export-pipeline{newest=true inline-meshes=true}", "sdy-export-pipeline"),
    ],
)
def test_partial_results_and_pipelines(newest: Oracle, ours: str, theirs: str):
    assert newest.run(run_passes(REDUCED, ours)) == newest.run(REDUCED, theirs)
