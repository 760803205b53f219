"""The work of kernels for TPUs, read off their calls."""

import pytest
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.usage.device import usage_on
from ttxdsl.analysis.usage.work import bytes_touched, flops, operations
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.kernels import kernel_work
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import parse_program

MASK = "tensor<1x8x8xi8>, tensor<1x8x8xi8>"
QKV = "tensor<16x4096x192xbf16>, tensor<16x4096x192xbf16>, tensor<16x4096x128xbf16>"
QUERIES, VALUES = "tensor<16x4096x192xbf16>", "tensor<16x4096x128xbf16>"
PRODUCT = 16 * 4096 * 4096
GROUPED = (
    r"{\22custom_call_config\22: {\22cost_estimate\22: {\0A\22bytes_accessed\22: 900,\0A"
    r"\22flops\22: 2000,\0A\22transcendentals\22: 0\0A}}}"
)


def call(
    operands: str, results: str, name: str, config: str = "{}"
) -> stablehlo.CustomCallOp:
    types = operands.split(", ")
    several = results.startswith("(")
    count = results.count("tensor")
    arguments = ", ".join(f"%a{at}: {one}" for at, one in enumerate(types))
    names = ", ".join(f"%a{at}" for at in range(len(types)))
    bound = f"%0:{count}" if several else "%0"
    module = parse_program(f"""
        func.func @main({arguments}) {{
          {bound} = stablehlo.custom_call @tpu_custom_call({names})
            {{backend_config = "{config}", kernel_name = "{name}"}}
            : ({operands}) -> {results}
          return
        }}""")
    (found,) = ops_of_type(module, stablehlo.CustomCallOp)
    return found


@pytest.mark.parametrize(
    ("name", "results", "width"),
    [
        ("splash_mha_fwd_residuals", f"({VALUES}, tensor<16x4096xf32>)", 192 + 128),
        ("splash_mha_dq_no_residuals", QUERIES, 2 * 192 + 128),
        ("splash_mqa_dkv_no_residuals", f"({QUERIES}, {VALUES})", 2 * 192 + 2 * 128),
        ("splash_mha_dkv", f"({QUERIES}, {QUERIES}, {VALUES})", 3 * 192 + 2 * 128),
    ],
)
def test_splash_attention_multiplies_what_its_shapes_say(
    name: str, results: str, width: int
):
    op = call(f"{MASK}, {QKV}", results, name)
    assert operations(op) == PRODUCT * width
    assert flops(op) == 2 * PRODUCT * width


def test_an_estimate_is_taken_as_it_is():
    op = call("tensor<8x4xf32>, tensor<2x4x4xf32>", "tensor<8x4xf32>", "gmm", GROUPED)
    assert (operations(op), flops(op), bytes_touched(op)) == (1000, 2000, 900)


def test_of_other_kernels_no_work_is_known():
    op = call("tensor<8x4xf32>", "tensor<8x4xf32>", "mine")
    work = kernel_work(op)
    assert work is not None
    assert (work.name, work.operations, work.bytes_touched) == ("mine", None, 256)
    assert operations(op) == 32
    assert flops(op) == 0


def test_kernels_take_longer_than_products():
    op = call(f"{MASK}, {QKV}", VALUES, "splash_mha_fwd")
    module = op.get_toplevel_object()
    assert isinstance(module, ModuleOp)
    usage = usage_on(module, "v6e")
    machine = usage.machine
    speed = machine.kernel_efficiency * machine.operations_per_second
    assert usage.timeline.seconds == operations(op) / speed
