"""Stage 1: replace every call by the body of the function that it calls.

Callers come before their callees, so that an op goes to its last place at once,
however many calls are inside each other; private functions that nothing refers to any
more are removed.

Shardings written on a callee's arguments and results, or on the call, are promises
about values inside the program. They live on as `sdy.sharding_constraint`s.

Source: MLIR's `inline` pass; its jaxlib build does not inline `func.call`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, CallSiteLoc, ModuleOp, UnknownLoc
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.bound_axes import require_free_axes
from ttxdsl.analysis.calls.call_graph import call_shardings, callers_first, calls_in
from ttxdsl.analysis.calls.copies import require_few_copies
from ttxdsl.analysis.calls.symbols import (
    Symbols,
    calls_of_private_functions,
    remove_unused_private_functions,
)
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.boundary import require_one_block
from ttxdsl.ir.compat.faults.locations import ParsedLoc
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.spec import TensorSharding


def _constrain(
    values: Sequence[SSAValue],
    shardings: Iterable[TensorSharding | None],
    rewriter: Rewriter,
    before: Operation,
) -> list[SSAValue]:
    """Return the values, with a constraint for each given sharding."""
    constrained: list[SSAValue] = []
    for value, sharding in zip(values, shardings, strict=True):
        if sharding is not None:
            constraint = sdy.ShardingConstraintOp(value, sharding)
            constraint.location = before.location
            rewriter.insert_op(constraint, InsertPoint.before(before))
            value = constraint.result
        constrained.append(value)
    return constrained


def _locate_at_call(operations: Iterable[Operation], call: CallOp) -> None:
    """Give inlined ops a location of callee and call site.

    Without debug info they keep the callee's line, which is more precise.
    """
    caller = call.location
    if isinstance(caller, ParsedLoc | UnknownLoc):
        return
    for op in operations:
        for inner in op.walk():
            if inner.location is not UNKNOWN_LOC:
                inner.location = CallSiteLoc(inner.location, caller)


def inline_call(call: CallOp, callee: FuncOp, *, move: bool = False) -> list[Operation]:
    """Replace one call by the body of its callee.

    Args:
        move: take the body away from the callee, which nobody else needs, instead of
            copying it.

    Returns:
        The ops of the body where they are now.

    Raises:
        UnsupportedError: the callee has control flow between blocks.
        CompileError: the callee is only declared.
    """
    if callee.is_declaration:
        raise CompileError(
            f"function '@{callee.sym_name.data}' is declared but has no body",
            call,
            hint="give it a body, or call it by stablehlo.custom_call",
        )
    require_one_block(callee, call)
    rewriter = Rewriter()
    arguments = sdy.func_argument_shardings(callee)
    operands = _constrain(call.operands, arguments, rewriter, call)
    body = (callee.body if move else callee.body.clone()).detach_block(0)
    returned = body.last_op
    assert isinstance(returned, ReturnOp)
    copied = [op for op in body.ops if op is not returned]
    _locate_at_call(copied, call)
    results = list(returned.arguments)
    # the return goes first, or inlining would see it as the end of our block
    keep = [body.args.index(r) if r in body.args else r for r in results]
    Rewriter.erase_op(returned)
    Rewriter.inline_block(body, InsertPoint.before(call), operands)
    results = [operands[k] if isinstance(k, int) else k for k in keep]
    results = _constrain(results, sdy.func_result_shardings(callee), rewriter, call)
    if (written := call_shardings(call)) is not None:
        results = _constrain(results, written.data, rewriter, call)
    Rewriter.replace_op(call, [], results)
    return copied


def _inline_all(
    function: FuncOp, symbols: Symbols, left: Counter[str], kept: Collection[str]
) -> None:
    """Replace the calls in a function, and those that come with the callees' bodies.

    Args:
        kept: the functions whose calls stay.
    """
    pending = calls_in(function)[::-1]
    while pending:
        call = pending.pop()
        name = call.callee.string_value()
        if name in kept:
            continue
        move = False
        if name in left:
            left[name] -= 1
            move = left[name] == 0
        inlined = inline_call(call, symbols.callee(call), move=move)
        calls = [inner for op in inlined for inner in calls_in(op)]
        if not move:
            for inner in calls:
                if (copied := inner.callee.string_value()) in left:
                    left[copied] += 1
        pending += reversed(calls)


class InlinePass(ModulePass):
    """Inline every `func.call` and drop private functions without uses.

    Data flow edges of functions are removed, too.
    """

    name = "inline"

    def kept(self, module: ModuleOp) -> Collection[str]:
        """Return the names of functions whose calls stay."""
        return ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            UnsupportedError: a function calls itself, or there would be too many ops.
            CompileError: a function shards by axes that are bound where it is called.
        """
        for edge in ops_of_type(op, sdy.FuncDataFlowEdgeOp):
            Rewriter.replace_op(edge, [], [edge.operand])
        order = callers_first(op)
        require_few_copies(op)
        require_free_axes(op, results=True)
        symbols = Symbols(op)
        left = calls_of_private_functions(op)
        kept = self.kept(op)
        for function in order:
            if not function.is_declaration:  # its body may have been moved
                _inline_all(function, symbols, left, kept)
        remove_unused_private_functions(op)
