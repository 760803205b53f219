"""Bytes of memory: what kernels share, what is stored, what stays on the core, and windows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.device import usage_on
from ttxdsl.analysis.usage.traffic import HbmTraffic
from ttxdsl.costs.chips import CHIPS, ChipMachine
from ttxdsl.costs.compilers import TPU, TPU_MEGACORE, Compiler
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import parse_program

T = "tensor<64x64xf32>"
SIZE = 64 * 64 * 4
ROWS = "contracting_dims = [1] x [0]"
BINARY = f"({T}, {T}) -> {T}"
GROUP = "dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>"
HANDLE = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids"


def moved(
    body: str,
    results: str = T,
    arguments: str = f"%x: {T}",
    compiler: Compiler = TPU_MEGACORE,
) -> int:
    text = f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"
    module = parse_program(text)
    runs, traffic = Runs(module), HbmTraffic(module, Fusion(compiler))
    return sum(runs.of(op).count * traffic.bytes(op) for op in all_ops(module))


def sums(value: str, name: str, dim: int = 0) -> str:
    return f"""
  %{name} = stablehlo.reduce({value} init: %z) applies stablehlo.add across dimensions = [{dim}] : ({T}, tensor<f32>) -> tensor<64xf32>"""


ZERO = "  %z = stablehlo.constant dense<0.0> : tensor<f32>"


@pytest.mark.parametrize(
    ("part", "dim", "expected"),
    [
        # of four pairs each is added to the whole result, of which half are stored between
        ("8x64", 0, 2 * SIZE + 8 * SIZE),
        # each pair reads the whole of x
        ("64x8", 1, SIZE + 4 * SIZE + SIZE),
    ],
)
def test_windows_of_gathered_weights(part: str, dim: int, expected: int):
    body = f"""
  %0 = "stablehlo.all_gather"(%w) <{{all_gather_dim = {dim} : i64, replica_groups = {GROUP}, {HANDLE}}}> : (tensor<{part}xf32>) -> {T}
  %1 = stablehlo.dot_general %x, %0, {ROWS} : {BINARY}
  return %1 : {T}"""
    arguments = f"%x: {T}, %w: tensor<{part}xf32>"
    assert moved(body, T, arguments) == expected


@pytest.mark.parametrize(
    ("dim", "part", "expected"),
    # what has the dimension once, in parts, and the other whole for each of four pairs
    [(0, "16x64", 128 * 32 + 4 * 32 * 64), (1, "128x8", 4 * 128 * 32 + 32 * 64)],
)
def test_windows_of_a_scattered_result(dim: int, part: str, expected: int):
    whole = "tensor<128x64xf32>"
    body = f"""
  %0 = stablehlo.dot_general %x, %y, {ROWS} : (tensor<128x32xf32>, tensor<32x64xf32>) -> {whole}
  %1 = "stablehlo.reduce_scatter"(%0) <{{scatter_dimension = {dim} : i64, replica_groups = {GROUP}, {HANDLE}}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : ({whole}) -> tensor<{part}xf32>
  return %1 : tensor<{part}xf32>"""
    arguments = "%x: tensor<128x32xf32>, %y: tensor<32x64xf32>"
    assert moved(body, f"tensor<{part}xf32>", arguments) == 4 * expected


def test_reductions_read_their_operand_together():
    body = f"""{ZERO}{sums("%x", "r")}{sums("%x", "s", 1)}
  return %r, %s : tensor<64xf32>, tensor<64xf32>"""
    results = "tensor<64xf32>, tensor<64xf32>"
    assert moved(body, results) == SIZE + 2 * 64 * 4


def test_what_waits_for_a_reduction_reads_again():
    body = f"""{ZERO}{sums("%x", "r")}
  %0 = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<64xf32>) -> {T}
  %1 = stablehlo.add %x, %0 : {T}
  return %1 : {T}"""
    assert moved(body) == (SIZE + 64 * 4) + (2 * SIZE + 64 * 4)


def test_a_softmax_over_short_rows_is_one_kernel():
    def softmax(columns: int) -> int:
        kind, rows = f"tensor<64x{columns}xf32>", "tensor<64xf32>"
        body = f"""{ZERO}
  %m = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1] : ({kind}, tensor<f32>) -> {rows}
  %0 = stablehlo.broadcast_in_dim %m, dims = [0] : ({rows}) -> {kind}
  %1 = stablehlo.subtract %x, %0 : {kind}
  %2 = stablehlo.exponential %1 : {kind}
  %s = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [1] : ({kind}, tensor<f32>) -> {rows}
  return %2, %s : {kind}, {rows}"""
        return moved(body, f"{kind}, {rows}", f"%x: {kind}")

    size, row = 64 * 2048 * 4, 64 * 4
    assert softmax(2048) == 2 * size + row
    assert softmax(4096) > 3 * 2 * size


def test_what_several_make_is_stored_by_the_first():
    arguments = ", ".join(f"%a{at}: {T}" for at in range(4))
    body = f"""{ZERO}
  %0 = stablehlo.add %a0, %a1 : {T}
  %1 = stablehlo.add %0, %a2 : {T}
  %2 = stablehlo.add %1, %a3 : {T}{sums("%2", "r")}
  %3 = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<64xf32>) -> {T}
  %4 = stablehlo.add %2, %3 : {T}
  return %4 : {T}"""
    # the reduction reads four values and stores their sum, which is all that the last op reads
    assert moved(body, T, arguments) == (4 + 1) * SIZE + 2 * SIZE + 2 * 64 * 4


def test_products_are_finished_by_several_in_one_kernel():
    body = f"""{ZERO}
  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %1 = stablehlo.tanh %0 : {T}{sums("%0", "r")}
  return %1, %r : {T}, tensor<64xf32>"""
    # the product is in no memory
    assert moved(body, f"{T}, tensor<64xf32>") == 2 * SIZE + 64 * 4


def test_what_is_computed_twice_counts_once():
    twice = "\n".join(
        f"  %{at} = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}" for at in range(2)
    )
    text = f"func.func @main(%x: {T}) -> ({T}, {T}) {{\n{twice}\n  return %0, %1 : {T}, {T}\n}}"
    module = parse_program(text)
    usage = usage_on(module, "v5p")
    assert (usage.flops, usage.hbm_bytes) == (2 * 64**3, 2 * SIZE)
    (event,) = usage.timeline.events
    assert event.seconds == 2 * SIZE / usage.machine.memory_bytes_per_second
    assert event.ops[0] in all_ops(module), "of the program as given, not of its copy"


@pytest.mark.parametrize(("room", "count"), [(SIZE, 2), (SIZE - 1, 4)])
def test_values_stay_on_the_core(room: int, count: int):
    body = f"""
  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %1 = stablehlo.dot_general %0, %0, {ROWS} : {BINARY}
  return %1 : {T}"""
    assert moved(body, compiler=replace(TPU, core_bytes=room)) == count * SIZE


def test_loops_make_what_they_are_given_of_constants():
    kind = "tensor<f32>"
    body = f"""
  %z = stablehlo.constant dense<0.0> : {kind}
  %n = stablehlo.constant dense<4> : tensor<i32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %b = stablehlo.broadcast_in_dim %z, dims = [] : ({kind}) -> {T}
  %0:3 = stablehlo.while(%c = %i, %v = %x, %k = %b) : tensor<i32>, {T}, {T}
  cond {{
    %l = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }} do {{
    %s = stablehlo.constant dense<1> : tensor<i32>
    %d = stablehlo.add %c, %s : tensor<i32>
    %w = stablehlo.maximum %v, %k : {T}
    stablehlo.return %d, %w, %k : tensor<i32>, {T}, {T}
  }}
  return %0#1 : {T}"""
    # the value in and out, and a few bytes of the counter
    assert 4 * 2 * SIZE <= moved(body) < 4 * (2 * SIZE + 32)


SUMS = """ ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  })"""


@pytest.mark.parametrize(("first", "windows"), [(8, 32), (16, 1)])
def test_what_two_axes_scatter_is_in_windows_of_both(first: int, windows: int):
    """libtpu has one sum of all its devices, and makes windows of 32 at most."""
    types = [f"tensor<{rows}x64xf32>" for rows in (256, 256 // first, 64 // first)]
    groups = [
        f"dense<[{list(range(size))}]> : tensor<1x{size}xi64>" for size in (first, 4)
    ]
    scatters = "\n".join(
        f'%{at + 1} = "stablehlo.reduce_scatter"(%{at}) <{{scatter_dimension = 0 : i64,'
        f" replica_groups = {groups[at]}, {HANDLE}}}>{SUMS} : ({types[at]}) -> {types[at + 1]}"
        for at in range(2)
    )
    module = parse_program(f"""\
func.func @main(%x: tensor<256x32xf32>, %y: tensor<32x64xf32>) -> {types[2]} {{
  %0 = stablehlo.dot_general %x, %y, {ROWS} : (tensor<256x32xf32>, tensor<32x64xf32>) -> {types[0]}
  {scatters}
  return %2 : {types[2]}
}}""")
    product = next(op for op in all_ops(module) if op.name == "stablehlo.dot_general")
    assert Fusion(TPU).windows(product) == windows


def test_on_several_slices_nothing_is_in_windows():
    one, two = (CHIPS["v6e"].machine(32, slices) for slices in (1, 2))
    assert isinstance(one, ChipMachine) and isinstance(two, ChipMachine)
    assert one.compiler == CHIPS["v6e"].compiler
    assert two.compiler is not None and not two.compiler.windows
