"""Gathers among devices that XLA repeats for readers far away, and what gathers of rows read."""

from dataclasses import replace

import pytest

from tests.analysis.usage.compilers import TPU
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.memory import memory_profile
from ttxdsl.costs.compilers import Compiler
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program

T = "tensor<512x512xf32>"
BYTES = 512 * 512 * 2  # products alone read what is gathered, as bf16


def program(between: int) -> str:
    """A product with a gathered weight, ops in a row, another product with it, and a peak."""
    chain = "\n".join(
        f"  %c{i + 1} = stablehlo.tanh %c{i} : {T}" for i in range(between)
    )
    gather = (
        '"stablehlo.all_gather"(%w) <{all_gather_dim = 0 : i64, channel_handle ='
        " #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups ="
        " dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}>"
        f" : (tensor<256x512xf32>) -> {T}"
    )
    dot = f"contracting_dims = [1] x [0] : ({T}, {T}) -> {T}"
    return f"""
sdy.mesh @mesh = <["x"=2]>
func.func @main(%w: tensor<256x512xf32>, %x: {T}) -> {T} {{
  %g = {gather}
  %c0 = stablehlo.dot_general %x, %g, {dot}
{chain}
  %t = stablehlo.transpose %g, dims = [1, 0] : ({T}) -> {T}
  %r = stablehlo.dot_general %c{between}, %t, {dot}
  return %r : {T}
}}
"""


@pytest.mark.parametrize(("between", "held"), [(20, 1), (200, 0)])
def test_between_them_it_is_not_held(between: int, held: int):
    text = program(between).replace("tanh %c5 ", "cbrt %c5 ")
    module = parse_program(text, make_context())
    middle = next(op for op in all_ops(module) if isinstance(op, stablehlo.CbrtOp))
    holds = replace(TPU, gathers_again_beyond=None)

    def bytes_at_middle(compiler: Compiler) -> int:
        points = memory_profile(module, compiler=compiler).points
        return next(point.bytes for point in points if point.op is middle)

    difference = bytes_at_middle(holds) - bytes_at_middle(TPU)
    assert difference == (0 if held else BYTES)


def test_a_gather_alone_reads_a_product_that_is_converted_for_it():
    """Labels' logits are read in f32; what else reads them converts the product that is stored."""
    half, wide = "tensor<64x512xbf16>", "tensor<64x512xf32>"
    module = parse_program(
        f"""
func.func @main(%x: tensor<64x64xbf16>, %w: tensor<64x512xbf16>, %i: tensor<64x2xi32>)
    -> (tensor<64xf32>, tensor<64xf32>) {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<64x64xbf16>, tensor<64x512xbf16>) -> {half}
  %1 = stablehlo.convert %0 : ({half}) -> {wide}
  %2 = "stablehlo.gather"(%1, %i) <{{dimension_numbers = #stablehlo.gather<
      collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 1>}}> : ({wide}, tensor<64x2xi32>) -> tensor<64xf32>
  %n = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %n) applies stablehlo.add across dimensions = [1]
      : ({wide}, tensor<f32>) -> tensor<64xf32>
  return %2, %3 : tensor<64xf32>, tensor<64xf32>
}}""",
        make_context(),
    )
    fusion = Fusion(TPU)
    by_name = {op.name.rpartition(".")[2]: op for op in all_ops(module)}
    assert fusion.is_fused(by_name["convert"])
    assert not fusion.is_streamed(by_name["dot_general"])
    assert [str(kind) for kind in fusion.beside(by_name["gather"])] == [wide]
