"""Gathers that XLA repeats for readers far away."""

from dataclasses import replace

import pytest

from tests.analysis.usage.compilers import TPU
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
