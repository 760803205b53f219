"""What is fused takes no memory; what several products read is made once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ttxdsl.analysis.usage.fusion import Fusion, flops
from ttxdsl.analysis.usage.memory import memory_profile
from ttxdsl.costs.compilers import (
    TPU,
    TPU_MEGACORE,
    XLA_CPU,
    XLA_GPU,
    Compiler,
)
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program

COMPILER = replace(TPU_MEGACORE, tile=None)

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

TWO_READ = PRODUCTS.replace("stablehlo.exponential %x :", "stablehlo.multiply %x, %y :")

FINISHED = f"""
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}
  %1 = stablehlo.negate %0 : {T}
  %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [0] x [0] : ({T}, {T}) -> {T}"""

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
        # it reads one buffer, as each of the products would
        (PRODUCTS, "%3", 2),
        # it reads two: once is cheaper
        (TWO_READ, "%3", 3),
        # what finishes a product is stored instead of it
        (FINISHED, "%3", 3),
        # the state is written where it is
        (LOOP, "%0#1", 1),
    ],
)
def test_temporary_memory(body: str, value: str, buffers: int):
    module = module_of(body + reduce(value), arguments=f"%x: {T}, %y: {T}")
    profile = memory_profile(module, compiler=COMPILER)
    temporary = profile.peak_bytes - profile.argument_bytes
    assert buffers * SIZE <= temporary < (buffers + 0.1) * SIZE
    bound = memory_profile(module)
    assert profile.peak_bytes <= bound.peak_bytes + bound.result_bytes


def test_donated_arguments_hold_their_results():
    donated = f"%x: {T} {{tf.aliasing_output = 0 : i32}}"
    body = f"  %0 = stablehlo.negate %x : {T}\n  return %0 : {T}"
    kept, given = (
        memory_profile(module_of(body, T, one), compiler=COMPILER).peak_bytes
        for one in (f"%x: {T}", donated)
    )
    assert (kept, given) == (2 * SIZE, SIZE)


def test_slices_are_read_in_part():
    body = f"""
  %0 = stablehlo.slice %x [0:8, 0:64] : ({T}) -> tensor<8x64xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<8x64xf32>, {T}) -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>"""
    module = module_of(body, "tensor<8x64xf32>")
    fusion = Fusion(COMPILER)
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
    assert memory_profile(module, compiler=COMPILER).peak_bytes == 2 * 32
    *_, last, _ = all_ops(module)
    assert Fusion(COMPILER).bytes_touched(last) == 2 * 32


@pytest.mark.parametrize(
    ("compiler", "buffers"),
    [(TPU, 0), (TPU_MEGACORE, 1), (XLA_GPU, 1), (XLA_CPU, 1)],
)
def test_compilers_store_what_products_share(compiler: Compiler, buffers: int):
    module = module_of(TWO_READ + reduce("%3"), arguments=f"%x: {T}, %y: {T}")
    fusion = Fusion(compiler)
    (shared,) = (op for op in all_ops(module) if op.name == "stablehlo.multiply")
    assert fusion.is_fused(shared) == (buffers == 0)


GATHERED = """
  %0 = "stablehlo.all_gather"(%w) <{{all_gather_dim = 0 : i64, replica_groups = dense<[{group}]> : tensor<1x{size}xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}}> : (tensor<8x64xf32>) -> tensor<{rows}x64xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<64x{rows}xf32>, tensor<{rows}x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>"""


@pytest.mark.parametrize(("size", "is_loop"), [(4, False), (16, True), (64, False)])
def test_products_with_collectives_among_few_are_loops(size: int, is_loop: bool):
    rows = 8 * size
    body = GATHERED.format(group=list(range(size)), size=size, rows=rows)
    arguments = f"%w: tensor<8x64xf32>, %x: tensor<64x{rows}xf32>"
    module = module_of(body, "tensor<64x64xf32>", arguments)
    fusion = Fusion(COMPILER)
    (gather,) = (op for op in all_ops(module) if op.name == "stablehlo.all_gather")
    assert fusion.is_streamed(gather) == is_loop
