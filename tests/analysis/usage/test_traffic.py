"""Bytes of memory: what kernels share, what is stored, what stays on the core, and windows."""

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.traffic import HbmTraffic
from ttxdsl.costs.chips import CHIPS, ChipMachine
from ttxdsl.costs.compilers import TPU_MEGACORE, Compiler
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


def test_on_several_slices_nothing_is_in_windows():
    one, two = (CHIPS["v6e"].machine(32, slices) for slices in (1, 2))
    assert isinstance(one, ChipMachine) and isinstance(two, ChipMachine)
    assert one.compiler == CHIPS["v6e"].compiler
    assert two.compiler is not None and not two.compiler.windows
