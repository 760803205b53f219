"""`inline-for-xla`: stage 1 as XLA inlines: large functions of several calls stay functions.

XLA inlines a function that is called once, and one of less than 20 instructions. Propagation goes
through the others as Shardy does with `dedup-functions-fully`: all calls of one share its shardings, and
values that cross its border have one of their own on either side. They are inlined behind stage 6.
"""

from collections.abc import Collection

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp

from ttxdsl.analysis.calls.call_graph import callees_first
from ttxdsl.analysis.calls.symbols import calls_of_private_functions
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.stages.inline import InlinePass

_FEWEST_INSTRUCTIONS = 20
"""Instructions of HLO from which on several calls of a function stay (libtpu 0.0.52: chains of 18 and 19
elementwise ops, one with a reduction, and those of JAX's `log_softmax`)."""


class InlineForXlaPass(InlinePass):
    """Inline what XLA inlines ahead of its propagation."""

    name = "inline-for-xla"

    def kept(self, module: ModuleOp) -> Collection[str]:
        """Return the names of large functions of several calls, none of them in a manual computation."""
        calls = calls_of_private_functions(module)
        for manual in ops_of_type(module, sdy.ManualComputationOp):
            for call in ops_of_type(manual, CallOp):
                calls.pop(call.callee.string_value(), None)
        sizes: dict[str, int] = {}
        kept: set[str] = set()
        for function in callees_first(module):
            name = function.sym_name.data
            sizes[name] = _instructions(function, sizes)
            if calls[name] > 1 and sizes[name] >= _FEWEST_INSTRUCTIONS:
                kept.add(name)
                sizes[name] = 1
        return kept


def _instructions(function: FuncOp, sizes: dict[str, int]) -> int:
    """Return how many instructions a function is in HLO."""
    count = len(function.args)
    for op in (op for block in function.body.blocks for op in block.ops):
        match op:
            case CallOp():  # one that is only declared is refused when it is inlined
                count += sizes.get(op.callee.string_value(), 1)
            case stablehlo.BroadcastInDimOp():
                count += 3 if _repeats_ones(op) else 1
            case ReturnOp():
                count += len(op.arguments) > 1
            case _:
                count += 1
    return count


def _repeats_ones(broadcast: stablehlo.BroadcastInDimOp) -> bool:
    """Whether a broadcast repeats a dimension of one element, for which HLO drops that first."""
    before, after = shape_of(broadcast.operand), shape_of(broadcast.result)
    dims = broadcast.broadcast_dimensions.get_values()
    return any(before[at] < after[dim] for at, dim in enumerate(dims))
