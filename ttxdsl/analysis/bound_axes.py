"""Axes that manual computations bind for the functions that are called in them.

Verifiers see one function at a time. That a function which is called inside a manual
computation over an axis shards by that axis comes to light where calls are replaced by
what they call, with the function's op far from the computation.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation

from ttxdsl.analysis.call_graph import callers_first, calls_in
from ttxdsl.dialects import sdy
from ttxdsl.errors import CompileError
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.sharding.text import quoted


def require_free_axes(module: ModuleOp) -> None:
    """Refuse a function that shards by axes which a computation around its call binds.

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
            _require_unused(function, outside)
        for call in calls_in(function):
            inside = dict.fromkeys(sorted(sdy.bound_axes(call)), call)
            if inside or outside:
                known = bound.setdefault(call.callee.string_value(), {})
                known.update({**inside, **outside, **known})


def _require_unused(function: Operation, bound: dict[str, CallOp]) -> None:
    def require(name: str, op: Operation) -> None:
        if name in bound:
            call = bound[name]
            raise CompileError(
                f"it uses axis {quoted(name)}, which a manual computation around the"
                f" call of @{call.callee.string_value()} has bound",
                op,
                hint="what a manual computation calls may use the other axes only",
            )

    def look(
        sharding: TensorSharding, op: Operation, type_: Attribute
    ) -> TensorSharding:
        for axis in sharding.all_axes:
            require(axis.name, op)
        return sharding

    for op in ops_of_type(function, sdy.ManualComputationOp):
        for name in op.manual_axes.data:
            require(name, op)
    sdy.transform_shardings_of_values(function, look)
