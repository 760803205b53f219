"""Functions of elements that several kernels read: XLA for CPUs stores them."""

import pytest

from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.costs.compilers import TPU, XLA_CPU
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program

T = "tensor<64x64xf32>"
DOT = f"contracting_dims = [1] x [0] : ({T}, {T}) -> {T}"

TWO_KERNELS = f"""
  %1 = stablehlo.negate %0 : {T}
  %2 = stablehlo.dot_general %1, %x, {DOT}
  %3 = stablehlo.dot_general %2, %1, {DOT}
  return %3 : {T}"""

ONE_KERNEL = f"""
  %1 = stablehlo.negate %0 : {T}
  %2 = stablehlo.multiply %0, %x : {T}
  %3 = stablehlo.add %1, %2 : {T}
  return %3 : {T}"""

SUM_AND_QUOTIENT = f"""
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : ({T}, tensor<f32>) -> tensor<64xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<64xf32>) -> {T}
  %3 = stablehlo.divide %0, %2 : {T}
  return %3 : {T}"""

NEGATED = SUM_AND_QUOTIENT.replace("%0", "%n").replace(
    "\n", f"\n  %n = stablehlo.negate %0 : {T}\n", 1
)


@pytest.mark.parametrize(
    ("body", "on_cpu"),
    [
        (SUM_AND_QUOTIENT, False),
        (NEGATED, False),
        (TWO_KERNELS, True),
        (ONE_KERNEL, True),
    ],
)
def test_an_exponential_is_stored_for_several_kernels(body: str, on_cpu: bool):
    text = f"func.func @main(%x: {T}) -> {T} {{\n  %0 = stablehlo.exponential %x : {T}{body}\n}}"
    module = parse_program(text, make_context())
    (exponential,) = (op for op in all_ops(module) if op.name.endswith("exponential"))
    assert Fusion(TPU).is_fused(exponential)
    assert Fusion(XLA_CPU).is_fused(exponential) == on_cpu
