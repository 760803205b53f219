"""What is fused takes no memory; what several products read is made once."""

from __future__ import annotations

import pytest

from ttxdsl.analysis.usage.fusion import Fusion, flops
from ttxdsl.analysis.usage.memory import memory_profile
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program

T = "tensor<64x64xf32>"
SIZE = 64 * 64 * 4


def module_of(body: str, results: str = "tensor<f32>", arguments: str = f"%x: {T}"):
    return parse_program(
        f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}", make_context()
    )


def reduce(value: str) -> str:
    return f"""
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce({value} init: %z) applies stablehlo.add across dimensions = [0, 1] : ({T}, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>"""


CHAIN = f"""
  %0 = stablehlo.exponential %x : {T}
  %1 = stablehlo.multiply %0, %x : {T}
  %t = stablehlo.transpose %1, dims = [1, 0] : ({T}) -> {T}
  %2 = stablehlo.add %t, %0 : {T}"""

PRODUCTS = f"""
  %0 = stablehlo.exponential %x : {T}
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}
  %2 = stablehlo.dot_general %0, %x, contracting_dims = [0] x [0] : ({T}, {T}) -> {T}
  %3 = stablehlo.add %1, %2 : {T}"""

ONE_PRODUCT = f"""
  %0 = stablehlo.exponential %x : {T}
  %3 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}"""

LOOP = f"""
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<64> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.constant dense<0.0> : {T}
  %u = stablehlo.constant dense<2.0> : tensor<1x64xf32>
  %0:2 = stablehlo.while(%j = %i, %v = %c) : tensor<i32>, {T}
  cond {{
    %p = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %w = stablehlo.dynamic_update_slice %v, %u, %j, %i : ({T}, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> {T}
    %k = stablehlo.add %j, %one : tensor<i32>
    stablehlo.return %k, %w : tensor<i32>, {T}
  }}"""


@pytest.mark.parametrize(
    ("body", "value", "buffers"),
    [
        (CHAIN, "%2", 0),
        (ONE_PRODUCT, "%3", 1),
        (PRODUCTS, "%3", 3),
        # the state is written where it is
        (LOOP, "%0#1", 1),
    ],
)
def test_temporary_memory(body: str, value: str, buffers: int):
    module = module_of(body + reduce(value))
    profile = memory_profile(module, fused=True)
    temporary = profile.peak_bytes - profile.argument_bytes
    assert buffers * SIZE <= temporary < (buffers + 0.1) * SIZE
    bound = memory_profile(module)
    assert profile.peak_bytes <= bound.peak_bytes + bound.result_bytes


def test_donated_arguments_hold_their_results():
    donated = f"%x: {T} {{tf.aliasing_output = 0 : i32}}"
    body = f"  %0 = stablehlo.negate %x : {T}\n  return %0 : {T}"
    kept, given = (
        memory_profile(module_of(body, T, one), fused=True).peak_bytes
        for one in (f"%x: {T}", donated)
    )
    assert (kept, given) == (2 * SIZE, SIZE)


def test_slices_are_read_in_part():
    body = f"""
  %0 = stablehlo.slice %x [0:8, 0:64] : ({T}) -> tensor<8x64xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<8x64xf32>, {T}) -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>"""
    module = module_of(body, "tensor<8x64xf32>")
    fusion = Fusion()
    (product,) = (op for op in all_ops(module) if op.name == "stablehlo.dot_general")
    # the whole of x as an operand, which has the rows of the slice
    assert fusion.bytes_touched(product) == SIZE + 8 * 64 * 4
    assert flops(product) == 2 * 8 * 64 * 64


def test_values_that_are_added_to_themselves_are_walked_once():
    kind = "tensor<8xf32>"
    lines = [f"  %{at + 1} = stablehlo.add %{at}, %{at} : {kind}" for at in range(200)]
    body = "\n".join([*lines, f"  return %200 : {kind}"])
    module = module_of(body, kind, f"%0: {kind}")
    # an argument and a result: 2 ** 200 ways lead from one to the other
    assert memory_profile(module, fused=True).peak_bytes == 2 * 32
    *_, last, _ = all_ops(module)
    assert Fusion().bytes_touched(last) == 2 * 32
