"""Bytes of memory: what kernels share, what is stored, what stays on the core, and windows."""

from dataclasses import replace

import pytest

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.traffic import HbmTraffic
from ttxdsl.costs.chips import CHIPS, ChipMachine
from ttxdsl.costs.compilers import TPU, TPU_MEGACORE, Compiler
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import parse_program

T = "tensor<64x64xf32>"
SIZE = 64 * 64 * 4
ROWS = "contracting_dims = [1] x [0]"
BINARY = f"({T}, {T}) -> {T}"


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


def test_products_are_finished_by_several_in_one_kernel():
    body = f"""{ZERO}
  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %1 = stablehlo.tanh %0 : {T}{sums("%0", "r")}
  return %1, %r : {T}, tensor<64xf32>"""
    # the product is in no memory
    assert moved(body, f"{T}, tensor<64xf32>") == 2 * SIZE + 64 * 4


def test_a_finished_product_is_read_with_what_its_kernel_stored():
    """What is read by three kernels is stored by the first, and so is what that reads."""
    readers = "".join(
        f"""
  %r{n} = stablehlo.dot_general %a, %b, contracting_dims = {dims} : {BINARY}"""
        for n, dims in enumerate(("[1] x [0]", "[0] x [0]", "[1] x [1]"))
    )
    body = f"""
  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %a = stablehlo.multiply %0, %y : {T}
  %b = stablehlo.add %a, %0 : {T}{readers}
  return %r0, %r1, %r2 : {T}, {T}, {T}"""
    # %x and %y are read, %a and %b written, and each reader has both and a result
    assert moved(body, f"{T}, {T}, {T}", f"%x: {T}, %y: {T}") == (4 + 3 * 3) * SIZE


@pytest.mark.parametrize(
    ("room", "expected"),
    (
        (0, 10 * SIZE),
        # %1 and %2 are in no memory, and %x stays beside %1 for its second reader
        (2 * SIZE, 5 * SIZE),
        (1 << 20, 2 * SIZE),
    ),
)
def test_what_has_room_on_the_core_is_read_there(room: int, expected: int):
    body = f"""
  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %1 = stablehlo.dot_general %0, %x, {ROWS} : {BINARY}
  %2 = stablehlo.dot_general %1, %1, {ROWS} : {BINARY}
  %3 = stablehlo.dot_general %2, %0, {ROWS} : {BINARY}
  return %3 : {T}"""
    assert moved(body, compiler=replace(TPU, core_bytes=room)) == expected


def test_on_several_slices_nothing_is_in_windows():
    one, two = (CHIPS["v6e"].machine(32, slices) for slices in (1, 2))
    assert isinstance(one, ChipMachine) and isinstance(two, ChipMachine)
    assert one.compiler == CHIPS["v6e"].compiler
    assert two.compiler is not None and not two.compiler.windows
