"""What sdy says of single numbers goes; programs with it compute what they did."""

from __future__ import annotations

import numpy as np
import pytest

import ttxdsl
from tests.transforms.run_pass import run_passes

SORT = """
sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(%x: tensor<8x8xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"a"}}]>}}) -> tensor<8x8xi32> {{
  %0 = "stablehlo.sort"(%x) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    {}
    %1 = stablehlo.compare LT, %r, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }}) : (tensor<8x8xi32>) -> tensor<8x8xi32>
  return %0 : tensor<8x8xi32>
}}
"""


@pytest.mark.parametrize(
    "op",
    [
        '%r = sdy.sharding_constraint %p <@mesh, [], unreduced={"b"}> : tensor<i32>',
        '%r = sdy.reshard %p <@mesh, [], replicated={"b"}> : tensor<i32>',
        "%r = sdy.propagation_barrier %p allowed_direction=NONE : tensor<i32>",
        '%s = sdy.sharding_constraint %p <@mesh, [], unreduced={"b"}> : tensor<i32>\n'
        '%r = sdy.all_reduce {"b"} %s out_sharding=<@mesh, []> : tensor<i32>',
        "%r = stablehlo.negate %p : tensor<i32>\n"
        "sdy.sharding_group %r group_id = 0 : tensor<i32>",
    ],
    ids=["constraint", "reshard", "barrier", "collective", "group"],
)
def test_ops_in_the_body_of_a_sort(op: str):
    text = SORT.format(op)
    body = run_passes(text, "drop-shardings-of-scalars").split("^bb0")[1]
    assert "sdy." not in body.split("}) :")[0]
    program = ttxdsl.load(text)
    x = np.random.default_rng(0).integers(0, 99, (8, 8), np.int32)
    np.testing.assert_array_equal(
        program.partition().simulate(x)[0], program.simulate(x)[0]
    )


def test_ops_of_tensors_stay():
    text = """
    sdy.mesh @mesh = <["a"=2]>
    func.func @main(%x: tensor<8xf32>, %i: tensor<i32>) -> (tensor<8xf32>, tensor<i32>) {
      %0 = sdy.sharding_constraint %i <@mesh, []> : tensor<i32>
      %1 = "stablehlo.case"(%i) ({
        %2 = sdy.sharding_constraint %x <@mesh, [{"a"}]> : tensor<8xf32>
        stablehlo.return %2 : tensor<8xf32>
      }) : (tensor<i32>) -> tensor<8xf32>
      return %1, %0 : tensor<8xf32>, tensor<i32>
    }"""
    assert run_passes(text, "drop-shardings-of-scalars").count("constraint") == 2
