"""The stages in tt-mlir's version of 2026 beside tt-mlir's own local StableHLO."""

from collections import Counter

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

from tests.bridges.tt_mlir.oracle import ask, needs_tt
from tests.bridges.tt_mlir.programs import FIRST, all_programs, program_on_first
from tests.sampling import sampled
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

pytestmark = needs_tt

_HALO = "windows over the border of a shard take nothing from its neighbour: wrong"
_ORDER = "what two axes split is gathered along the major one first: wrong"
_CALL = "a call is done on parts although nobody knows that it may be"

DIFFERENT = {
    "approx_max_k": _CALL,
    "argmin_index": "the candidates of the devices are gathered along another dimension",
    "avg_pool_grad": _ORDER,
    "conv1d": _ORDER,
    "conv2d_batch_group": _HALO,
    "conv2d_transposed": _HALO,
    "conv_precision": _HALO,
    "cummin_reverse": _HALO,
    "ffi": _CALL,
    "ffi_old": _CALL,
    "max_pool": _ORDER,
    "median": _ORDER,
    "platform": "a branch of a constant is taken before the stages, not behind them",
    "reduce_custom": "any reduction is combined by a sum: wrong",
    "reverse": "each device reverses its part where it is: wrong",
    "rng_uniform": "each device draws its own numbers, so that replicas differ",
    "slice_reverse_grad": "each device reverses its part where it is: wrong",
    "take_two": "the operand is gathered whole; ours adds up what each device has of it",
}
"""Programs of which the collectives are others, and what tt-mlir does there."""


def _without_slices(module: ModuleOp) -> None:
    """Take out what tt-mlir makes of all_slices: bodies, and exchanges of one part.

    Of the latter every device takes the part that it has itself.
    """
    for op in list(module.ops):
        if isinstance(op, FuncOp) and op.sym_name.data.startswith("sdy.all_slice"):
            Rewriter.erase_op(op)
    for op in list(ops_of_type(module, stablehlo.AllToAllOp)):
        users = [use.operation for result in op.results for use in result.uses]
        if len(users) == 1 and isinstance(users[0], stablehlo.SliceOp):
            Rewriter.replace_op(op, [], list(op.operands))


def _collectives(module: ModuleOp) -> Counter[tuple[str, str, str]]:
    """What moves anything: kind, devices, type."""
    _without_slices(module)
    return Counter(
        (one.kind, one.axes_text, one.tensor) for one in list_collectives(module)
    )


def _differs(text: str) -> bool | None:
    """Whether the collectives are others; None if one of the two makes no program."""
    theirs = ask(text).stages.get("shlo_compiler")
    if theirs is None:
        return None
    module = parse_program(text)
    with collect_remarks():
        try:
            TTStableHLOPipelinePass(version="2026").apply(make_context(), module)
        except CompileError:
            return None
    return _collectives(module) != _collectives(parse_program(theirs))


def texts() -> dict[str, str]:
    """The corpus on the first mesh."""
    return {
        name: text
        for (name, mesh), text in all_programs(others=False).items()
        if mesh == FIRST
    }


@pytest.mark.parametrize(
    "name", sampled(["cond", "argmax", "cumsum", "matmul_grad", *DIFFERENT], 8)
)
def test_the_same_collectives_but_for_reasons(name: str):
    assert _differs(program_on_first(name)) == (name in DIFFERENT)


@pytest.mark.fuzz
def test_all_of_the_corpus():
    verdicts = {name: _differs(text) for name, text in texts().items()}
    assert {name for name, differs in verdicts.items() if differs} == set(DIFFERENT)
    assert Counter(verdicts.values()) == {False: 341, True: 18, None: 108}
