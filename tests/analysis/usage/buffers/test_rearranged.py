"""Orders of a few ops that end or begin their buffers otherwise."""

from dataclasses import replace

import pytest
from xdsl.dialects.func import FuncOp

from tests.analysis.usage.compilers import TPU
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.rearranged import (
    rearranged,
    stored_late,
    tables_beside,
    written_over_first,
)
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program

T = "tensor<256x256xf32>"


BATCH, TOKENS = 8, 512
LOGITS = f"{BATCH}x{TOKENS - 1}x1024"
LOSS = f"""
func.func @main(%x: tensor<{BATCH}x{TOKENS}x256xbf16>, %w: tensor<256x1024xbf16>, %labels: tensor<{BATCH}x{TOKENS - 1}x1xi32>)
    -> (tensor<{BATCH}x{TOKENS - 1}x1xf32>, tensor<256x1024xbf16>, tensor<{BATCH}x{TOKENS}x256xbf16>) {{
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<{BATCH}x{TOKENS}x256xbf16>, tensor<256x1024xbf16>) -> tensor<{BATCH}x{TOKENS}x1024xbf16>
  %1 = stablehlo.slice %0 [0:{BATCH}, 0:{TOKENS - 1}, 0:1024] : (tensor<{BATCH}x{TOKENS}x1024xbf16>) -> tensor<{LOGITS}xbf16>
  %l = stablehlo.convert %1 : (tensor<{LOGITS}xbf16>) -> tensor<{LOGITS}xf32>
  %table = stablehlo.add %l, %l : tensor<{LOGITS}xf32>
  %picked = "stablehlo.gather"(%table, %labels) <{{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>, indices_are_sorted = false}}> : (tensor<{LOGITS}xf32>, tensor<{BATCH}x{TOKENS - 1}x1xi32>) -> tensor<{BATCH}x{TOKENS - 1}x1xf32>
  %e = stablehlo.exponential %l : tensor<{LOGITS}xf32>
  %gradient = stablehlo.convert %e : (tensor<{LOGITS}xf32>) -> tensor<{LOGITS}xbf16>
  %padded = stablehlo.pad %gradient, %z, low = [0, 0, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<{LOGITS}xbf16>, tensor<bf16>) -> tensor<{BATCH}x{TOKENS}x1024xbf16>
  %of_w = stablehlo.dot_general %x, %padded, contracting_dims = [0, 1] x [0, 1] : (tensor<{BATCH}x{TOKENS}x256xbf16>, tensor<{BATCH}x{TOKENS}x1024xbf16>) -> tensor<256x1024xbf16>
  %of_x = stablehlo.dot_general %padded, %w, contracting_dims = [2] x [1] : (tensor<{BATCH}x{TOKENS}x1024xbf16>, tensor<256x1024xbf16>) -> tensor<{BATCH}x{TOKENS}x256xbf16>
  return %picked, %of_w, %of_x : tensor<{BATCH}x{TOKENS - 1}x1xf32>, tensor<256x1024xbf16>, tensor<{BATCH}x{TOKENS}x256xbf16>
}}
"""


def test_the_gradient_of_logits_without_the_last_token_is_made_beside_the_log_probabilities():
    module = parse_program(LOSS, make_context())
    names = {op: op.results[0].name_hint for op in all_ops(module) if op.results}
    ops = list(names)
    fusion = Fusion(TPU)
    stored = {names[op] for op in ops if fusion.is_stored(op)}
    # the products pad what is stored
    assert {"table", "gradient"} <= stored
    assert all(fusion.is_fused(op) for op in ops if names[op] == "padded")
    order = [names[op] for op in tables_beside(ops, fusion)]
    assert order.index("picked") == order.index("gradient") + 1


def test_a_gradient_of_other_logits_is_in_another_loop():
    text = LOSS.replace("exponential %l", "exponential %m").replace(
        "(%x:", f"(%m: tensor<{LOGITS}xf32>, %x:"
    )
    ops = [*all_ops(parse_program(text, make_context()))]
    assert tables_beside(ops, Fusion(TPU)) == ops


GATED = "tensor<1024x1024xbf16>"
GATES = f"""
sdy.mesh @mesh = <["x"=8]>
func.func @main(%x: {GATED}, %g: {GATED}, %w: {GATED}, %d: {GATED})
    -> ({GATED}, tensor<128x1024xbf16>) {{
  %h = stablehlo.multiply %x, %g : {GATED}
  %y = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : ({GATED}, {GATED}) -> {GATED}
  %c = stablehlo.cbrt %y : {GATED}
  %dw = stablehlo.dot_general %h, %d, contracting_dims = [0] x [0] : ({GATED}, {GATED}) -> {GATED}
  %s = "stablehlo.reduce_scatter"(%dw) <{{scatter_dimension = 0 : i64, channel_handle =
      #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups =
      dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}}> ({{
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %e = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %e : tensor<bf16>
  }}) : ({GATED}) -> tensor<128x1024xbf16>
  return %c, %s : {GATED}, tensor<128x1024xbf16>
}}
"""


def test_what_a_product_in_windows_alone_needs_stored_is_made_for_it():
    module = parse_program(GATES, make_context())
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    ops = list(function.body.block.ops)
    made = next(op for op in ops if isinstance(op, stablehlo.MulOp))
    *_, gradient = (op for op in ops if isinstance(op, stablehlo.DotGeneralOp))
    order = stored_late(ops, Fusion(TPU))
    assert order.index(made) == order.index(gradient) - 1


@pytest.mark.parametrize(("ways", "is_late"), [(4, True), (8, False)])
def test_what_is_made_of_a_product_that_others_read_is_written_by_it_for_a_loop(
    ways: int, is_late: bool
):
    """Of four windows, which are no loop, it is made for the gradient."""
    of_product = f"""%p = stablehlo.dot_general %x, %g, contracting_dims = [1] x [0] : ({GATED}, {GATED}) -> {GATED}
  %h = stablehlo.multiply %p, %p : {GATED}"""
    text = GATES.replace(f"%h = stablehlo.multiply %x, %g : {GATED}", of_product)
    text = text.replace(
        "return %c", f"%end = stablehlo.add %c, %p : {GATED}\n  return %end"
    )
    if ways == 4:
        groups = "dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>"
        text = text.replace(groups, "dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>")
        text = text.replace('"x"=8', '"x"=4').replace("tensor<128x", "tensor<256x")
    module = parse_program(text, make_context())
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    ops = list(function.body.block.ops)
    order = stored_late(ops, Fusion(replace(TPU, flops_while_sent=0)))
    names = [op.results[0].name_hint for op in order if op.results]
    assert (names.index("h") == names.index("dw") - 1) is is_late


@pytest.mark.parametrize(("queries", "is_stored"), [(1, True), (8, False)])
def test_keys_that_are_repeated_for_one_query_are_stored_for_its_product(
    queries: int, is_stored: bool
):
    """Products of one row are no products of matrices, and multiply what is in memory."""
    cache, repeated, keys = (
        f"tensor<16x512x{heads}x128xbf16>" for heads in ("2", "2x4", "8")
    )
    query, scores = (
        f"tensor<16x{queries}x8x128xbf16>",
        f"tensor<16x8x{queries}x512xbf16>",
    )
    text = f"""
func.func @main(%k: {cache}, %n: {cache}, %q: {query}) -> ({cache}, {query}) {{
  %c = stablehlo.add %k, %n : {cache}
  %r = stablehlo.broadcast_in_dim %c, dims = [0, 1, 2, 4] : ({cache}) -> {repeated}
  %keys = stablehlo.reshape %r : ({repeated}) -> {keys}
  %v = stablehlo.broadcast_in_dim %c, dims = [0, 1, 2, 4] : ({cache}) -> {repeated}
  %values = stablehlo.reshape %v : ({repeated}) -> {keys}
  %s = stablehlo.dot_general %q, %keys, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : ({query}, {keys}) -> {scores}
  %p = stablehlo.cbrt %s : {scores}
  %o = stablehlo.dot_general %p, %values, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : ({scores}, {keys}) -> tensor<16x8x{queries}x128xbf16>
  %e = stablehlo.transpose %o, dims = [0, 2, 1, 3] : (tensor<16x8x{queries}x128xbf16>) -> {query}
  return %c, %e : {cache}, {query}
}}
"""
    module = parse_program(text, make_context())
    ops = list(all_ops(module))
    fusion = Fusion(TPU)
    made = [op for op in ops if isinstance(op, stablehlo.BroadcastInDimOp)]
    assert [not fusion.is_fused(op) for op in made] == [is_stored] * 2
    order = stored_late(ops, fusion)
    *_, product = (op for op in ops if isinstance(op, stablehlo.DotGeneralOp))
    assert (order.index(made[-1]) == order.index(product) - 1) is is_stored


def kernel(name: str, *operands: str, target: str = "tpu_custom_call") -> str:
    types = ", ".join([T] * len(operands))
    call = f"stablehlo.custom_call @{target}({', '.join(operands)})"
    return f"{name} = {call} : ({types}) -> {T}"


def gates(read: str, is_kernel_between: bool = False) -> list[str]:
    """Return the order of two elementwise ops of which one may read three kernels' results."""
    lines = [
        kernel("%c", "%x"),
        f"%fewer = stablehlo.multiply %a, %b : {T}",
        f"%both = stablehlo.add %a, %b : {T}",
    ]
    if is_kernel_between:
        lines.append(lines.pop(0))
    module = parse_program(
        f"""
        func.func @main(%x: {T}) -> ({T}, {T}) {{
          {kernel("%a", "%x")}
          {kernel("%b", "%x")}
          {" ".join(lines)}
          %more = stablehlo.multiply {read}, %c : {T}
          return %fewer, %more : {T}, {T}
        }}
        """,
        make_context(),
    )
    (function,) = module.ops
    ops = written_over_first(list(function.regions[0].block.ops), Fusion(TPU))
    assert written_over_first(ops, Fusion(TPU)) == ops
    names = (str(result.name_hint) for op in ops for result in op.results)
    return [name for name in names if name in ("fewer", "more")]


def test_what_ends_more_of_what_kernels_made_is_written_first():
    assert gates("%both") == ["more", "fewer"]
    assert gates("%a") == ["fewer", "more"]  # neither reads all of the other's
    assert gates("%both", is_kernel_between=True) == ["fewer", "more"]


def attention_gradients(probabilities: str) -> list[str]:
    """Return the order of the gradients of scores and of values."""
    qk, kd = "tensor<2x256x256xf32>", "tensor<2x256x64xf32>"
    batch = "batching_dims = [0] x [0], contracting_dims ="
    module = parse_program(
        f"""
        func.func @main(%x: {qk}, %s: {qk}, %d: {kd}, %v: {kd}) -> ({qk}, {kd}) {{
          %e = stablehlo.exponential %x : {qk}
          %p = {probabilities} : {qk}
          %scores = stablehlo.dot_general %d, %v, {batch} [2] x [2] : ({kd}, {kd}) -> {qk}
          %values = stablehlo.dot_general %p, %d, {batch} [1] x [1] : ({qk}, {kd}) -> {kd}
          %finished = stablehlo.tanh %values : {kd}
          return %scores, %finished : {qk}, {kd}
        }}
        """,
        make_context(),
    )
    (function,) = module.ops
    *first, finished, end = function.regions[0].block.ops
    rearranged(first, Fusion(TPU))  # what finishes a product may be elsewhere
    ops = rearranged([*first, finished, end], Fusion(TPU))
    assert rearranged(ops, Fusion(TPU)) == ops
    names = (str(result.name_hint) for op in ops for result in op.results)
    return [name for name in names if name in ("scores", "values", "finished")]


def test_probabilities_end_before_their_gradient_is_made():
    first, last = ["values", "finished"], ["scores"]  # a kernel finishes the values
    assert attention_gradients("stablehlo.divide %e, %s") == first + last
    assert attention_gradients("stablehlo.divide %x, %s") == last + first
