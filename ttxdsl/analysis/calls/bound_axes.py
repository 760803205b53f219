"""Axes that manual computations bind for the functions that are called in them.

Verifiers see one function at a time. That a function which is called inside a manual
computation over an axis shards by that axis comes to light where calls are replaced by
what they call, with the function's op far from the computation.
"""

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation

from ttxdsl.analysis.calls.call_graph import callers_first, calls_in
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.sharding.text import quoted

_HINT = "what a manual computation calls may use the other axes only"


def require_free_axes(module: ModuleOp, *, results: bool) -> None:
    """Refuse a function that shards by axes which a computation around its call binds.

    Args:
        results: whether what functions say of their results counts, too.

    Raises:
        CompileError: naming the op in the function, the axis and the call.
        UnsupportedError: a function calls itself.
    """
    if not ops_of_type(module, sdy.ManualComputationOp):
        return
    bound: dict[str, dict[str, CallOp]] = {}
    for function in callers_first(module):
        outside = bound.get(function.sym_name.data, {})
        if outside:
            _require_unused(function, outside, results=results)
        for call in calls_in(function):
            inside = dict.fromkeys(sorted(sdy.bound_axes(call)), call)
            if inside or outside:
                known = bound.setdefault(call.callee.string_value(), {})
                known.update({**inside, **outside, **known})


def require_free_results(call: CallOp, shardings: Iterable[TensorSharding]) -> None:
    """Refuse a call whose callee shards a result by axes that are bound at the call.

    Raises:
        CompileError: naming the call and the axis.
    """
    bound = sdy.bound_axes(call)
    for sharding in shardings:
        for axis in sharding.all_axes:
            if axis.name in bound:
                raise CompileError(
                    f"@{call.callee.string_value()} shards a result by axis"
                    f" {quoted(axis.name)}, which a manual computation around the call"
                    " has bound",
                    call,
                    hint=_HINT,
                )


def _require_unused(
    function: FuncOp, bound: dict[str, CallOp], *, results: bool
) -> None:
    def require(names: Iterable[str], op: Operation) -> None:
        for name in names:
            if name in bound:
                call = bound[name]
                raise CompileError(
                    f"it uses axis {quoted(name)}, which a manual computation around"
                    f" the call of @{call.callee.string_value()} has bound",
                    op,
                    hint=_HINT,
                )

    def look(
        sharding: TensorSharding, op: Operation, type_: Attribute
    ) -> TensorSharding:
        require((axis.name for axis in sharding.all_axes), op)
        return sharding

    borders = sdy.func_argument_shardings(function)
    if results:
        borders += sdy.func_result_shardings(function)
    for sharding in borders:
        if sharding is not None:
            require((axis.name for axis in sharding.all_axes), function)
    for op in ops_of_type(function, sdy.ManualComputationOp):
        require(op.manual_axes.data, op)
    for block in function.body.blocks:
        for op in block.ops:
            sdy.transform_shardings_of_values(op, look)
