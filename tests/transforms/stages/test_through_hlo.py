"""What XLA's partitioner reads: reshapes, multiplications, loops around free values."""

from itertools import permutations

import numpy as np
import pytest

import ttxdsl
from tests.transforms.run_pass import run_passes

LOOP = """
sdy.mesh @mesh = <["fsdp"=4]>
func.func @main(
  %table: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>},
  %scale: tensor<16xf32>,
  %weights: tensor<3x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {}]>},
  %tokens: tensor<8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}
) -> tensor<16x8x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %at = stablehlo.broadcast_in_dim %tokens, dims = [0, 1]
    : (tensor<8x4xi32>) -> tensor<8x4x1xi32>
  %x = "stablehlo.gather"(%table, %at) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 2>,
    indices_are_sorted = false, slice_sizes = array<i64: 1, 16>
  }> : (tensor<64x16xf32>, tensor<8x4x1xi32>) -> tensor<8x4x16xf32>
  %r:3 = stablehlo.while(%i = %zero, %y = %x, %w = %weights)
    : tensor<i32>, tensor<8x4x16xf32>, tensor<3x16x16xf32> cond {
    %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 16, 16]
      : (tensor<3x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
    %m = stablehlo.reshape %s : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    %d = stablehlo.dot_general %y, %m, contracting_dims = [2] x [0]
      : (tensor<8x4x16xf32>, tensor<16x16xf32>) -> tensor<8x4x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %d, %w : tensor<i32>, tensor<8x4x16xf32>, tensor<3x16x16xf32>
  }
  %scaled = stablehlo.dot_general %scale, %r#1, batching_dims = [0] x [2],
    contracting_dims = [] x []
    : (tensor<16xf32>, tensor<8x4x16xf32>) -> tensor<16x8x4xf32>
  return %scaled : tensor<16x8x4xf32>
}
"""
"""Tokens that are looked up in a split table, and a loop over weights that are split."""


def test_what_a_loop_keeps_is_free_behind_an_open_constraint():
    text = run_passes(LOOP, "through-hlo")
    assert text.count("sdy.sharding_constraint") == 1
    assert "stablehlo.while(%i = %zero, %y = %x)" in text
    assert "stablehlo.reshape %tokens" in text


def test_a_loop_carries_what_it_reads_again():
    text = run_passes(LOOP, "through-hlo,carry-free-values")
    carried = text.partition("stablehlo.while(")[2].partition(")")[0]
    assert carried.count("=") == 6  # the constants, too
    assert "sdy.sharding_constraint" in text


def test_a_product_that_sums_nothing_is_a_multiplication():
    text = run_passes(LOOP, "through-hlo")
    assert text.count("stablehlo.dot_general") == 1  # the loop's
    assert "stablehlo.multiply" in text


ROWS = """
sdy.mesh @mesh = <["fsdp"=4]>
func.func @main(
  %logits: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}]>},
  %at: tensor<8x1x1xINDEX>, %u: tensor<8x1xf32>
) -> tensor<8x64xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
  %1 = "stablehlo.scatter"(%0, %at, %u) <{indices_are_sorted = false,
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0],
      scatter_dims_to_operand_dims = [1], index_vector_dim = 2>,
    unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x64xf32>, tensor<8x1x1xINDEX>, tensor<8x1xf32>) -> tensor<8x64xf32>
  %2 = stablehlo.add %logits, %1 : tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}
"""
"""The gradient of logits that are split by vocabulary, of which each row has one label."""


@pytest.mark.parametrize("index", ["i32", "ui8", "i64"])
def test_one_element_a_row_is_compared_and_not_scattered(index: str):
    program = ttxdsl.load(ROWS.replace("INDEX", index)).partition(version="xla")
    assert "stablehlo.scatter" not in program.text
    assert "tensor<8x16xi1>" in program.text
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((8, 64)).astype(np.float32)
    last = 127 if index == "ui8" else 64  # beyond the end it adds nothing
    at, kind = np.array([0, 3, 63, last, 5, 5, 1, 40]), index.replace("i", "int")
    (result,) = program.simulate(
        *(logits, at.reshape(8, 1, 1).astype(kind), np.full((8, 1), -2, np.float32))
    )
    logits[np.arange(8), at.clip(max=63)] -= 2 * (at < 64)
    np.testing.assert_allclose(result, logits)


def test_a_scatter_that_multiplies_stays():
    text = ROWS.replace("INDEX", "i32").replace("add %a, %b", "multiply %a, %b")
    assert "stablehlo.scatter" in run_passes(text, "through-hlo")


def test_the_batch_comes_ahead_of_the_weights():
    whole = ttxdsl.load(LOOP).partition(version="xla").text
    assert "tensor<2x4x16xf32>" in whole.partition("stablehlo.while(")[2]


def test_numbers_are_the_same():
    rng = np.random.default_rng(0)
    table, weights = (
        rng.standard_normal(shape).astype(np.float32)
        for shape in ((64, 16), (3, 16, 16))
    )
    scale = rng.standard_normal(16).astype(np.float32)
    tokens = rng.integers(0, 64, (8, 4)).astype(np.int32)
    program = ttxdsl.load(LOOP).partition(version="xla")
    (result,) = program.simulate(table, scale, weights, tokens)
    x = table[tokens]
    for matrix in weights:
        x = x @ matrix
    np.testing.assert_allclose(
        result, np.transpose(x * scale, (2, 0, 1)), rtol=1e-3, atol=1e-3
    )


WEIGHTS = """
func.func @main(%x: tensor<2x8x4xf32>, %y: tensor<2x8x6x5xf32>) -> tensor<SIZES> {
  %0 = stablehlo.dot_general %y, %x, batching_dims = [0] x [0], contracting_dims = [1] x [1],
    precision = [DEFAULT, HIGHEST]
    : (tensor<2x8x6x5xf32>, tensor<2x8x4xf32>) -> tensor<2x6x5x4xf32>
  %1 = stablehlo.transpose %0, dims = DIMS : (tensor<2x6x5x4xf32>) -> tensor<SIZES>
  return %1 : tensor<SIZES>
}
"""
"""The gradient of weights, as JAX writes it, transposed."""


@pytest.mark.parametrize("dims", [*permutations(range(4))])
def test_a_product_whose_operands_dimensions_change_places(dims: tuple[int, ...]):
    sizes = "x".join(str((2, 6, 5, 4)[at]) for at in dims)
    text = WEIGHTS.replace("SIZES", f"{sizes}xf32").replace("DIMS", str(list(dims)))
    text = run_passes(text, "through-hlo")
    is_exchanged = "stablehlo.dot_general %x, %y" in text
    assert is_exchanged == (dims == (0, 3, 1, 2))
    assert ("stablehlo.transpose" in text) == (not is_exchanged)
    assert ("[HIGHEST, DEFAULT]" in text) == is_exchanged
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 8, 4)).astype(np.float32)
    y = rng.standard_normal((2, 8, 6, 5)).astype(np.float32)
    (result,) = ttxdsl.load(text).interpret(x, y).results
    expected = np.einsum("bsij,bsk->bijk", y, x).transpose(dims)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


ROW_SUMS = """
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1]
    : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.divide %x, %2 : tensor<4x8xf32>
  %4 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %6 = stablehlo.divide %y, %5 : tensor<4x8xf32>
  %7 = stablehlo.add %3, %6 : tensor<4x8xf32>
  return %7 : tensor<4x8xf32>
}
"""
"""A softmax and its gradient divide by the same sums."""


def test_equal_values_are_one_and_broadcasts_skip_ones():
    text = run_passes(ROW_SUMS, "through-hlo")
    assert text.count("stablehlo.broadcast_in_dim") == 1
    assert "dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>" in text
