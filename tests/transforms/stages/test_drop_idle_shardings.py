"""What sdy says where nothing is split goes; programs compute what they did."""

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
    body = run_passes(text, "drop-idle-shardings").split("^bb0")[1]
    assert "sdy." not in body.split("}) :")[0]
    program = ttxdsl.load(text)
    x = np.random.default_rng(0).integers(0, 99, (8, 8), np.int32)
    np.testing.assert_array_equal(
        program.partition().simulate(x)[0], program.simulate(x)[0]
    )


def test_what_a_body_of_scalars_says_is_dropped():
    text = """
    sdy.mesh @mesh = <["a"=2]>
    func.func @main(%x: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xi32> {
      %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
      ^bb0(%p: tensor<i32>, %q: tensor<i32>):
        %1 = stablehlo.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %2 = stablehlo.and %1, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"a"}>]>} : tensor<i1>
        stablehlo.return %2 : tensor<i1>
      }) : (tensor<8xi32>) -> tensor<8xi32>
      return %0 : tensor<8xi32>
    }"""
    assert "unreduced" not in run_passes(text, "drop-idle-shardings")
    program = ttxdsl.load(text).partition()
    x = np.arange(8, dtype=np.int32)[::-1]
    np.testing.assert_array_equal(program.simulate(x)[0], np.sort(x))


def test_axes_of_one_device_that_a_program_leaves_free():
    """Its other function is not solved, so all stages look at it, too."""
    text = """
    sdy.mesh @mesh = <["x"=4, "y"=1]>
    func.func @manual(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<2xf32>) {
        sdy.return %p : tensor<2xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    func.func @other(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
      return %a : tensor<8xf32>
    }"""
    assert "sdy.all_gather" not in ttxdsl.load(text).partition().text


def test_a_computation_within_an_idle_one_is_none():
    """Nor does a sharding on an idle computation itself say anything."""
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<4xf32>) {
        %1 = sdy.manual_computation(%p) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={} (%q: tensor<4xf32>) {
          %2 = stablehlo.negate %q : tensor<4xf32>
          sdy.return %2 : tensor<4xf32>
        } : (tensor<4xf32>) -> tensor<4xf32>
        sdy.return %1 : tensor<4xf32>
      } {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    dropped = run_passes(text, "drop-idle-shardings")
    assert dropped.count("sdy.manual_computation") == 1
    assert "sdy.sharding =" not in dropped
    x = np.arange(8, dtype=np.float32)
    program = ttxdsl.load(text).partition()
    np.testing.assert_array_equal(program.lower("ttnn").simulate(x)[0], -x)
