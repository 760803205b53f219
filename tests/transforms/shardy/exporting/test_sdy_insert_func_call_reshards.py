"""`sdy-insert-func-call-reshards` where a callee returns parts of a sum."""

from tests.differential.equal_text import assert_equal_text
from tests.differential.oracle import Oracle

CALLS = """sdy.mesh @mesh = <["x"=8]>
func.func private @foo(%a: tensor<8x16xf32>) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"x"}> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = func.call @foo(%a) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = func.call @foo(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = func.call @foo(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %1, %2 : tensor<8x16xf32>, tensor<8x16xf32>
}
"""


def test_parts_are_passed_on(oracle: Oracle):
    """They were summed and made parts again between two calls."""
    assert_equal_text(oracle, CALLS, "sdy-insert-func-call-reshards")
    assert_equal_text(oracle, CALLS, "sdy-propagation-pipeline")
