"""`sdy-remove-propagation-debug-info`: remove the record of propagation steps."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.function_attributes import change_attributes
from ttxdsl.ir.traversal import all_ops
from ttxdsl.transforms.shardy.propagation.history import DEBUG_INFO


def _without_debug_info(attributes: dict[str, Attribute]) -> dict[str, Attribute]:
    return {k: value for k, value in attributes.items() if k not in DEBUG_INFO}


class RemovePropagationDebugInfoPass(ModulePass):
    """Remove what `debug-sharding-origins` and `debug-propagation-edge-sharding` write.

    On functions only from arguments and results; the names that constraints and manual
    computations got as origins stay. Both are as in C++.
    """

    name = "sdy-remove-propagation-debug-info"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in all_ops(op):
            if isinstance(inner, FuncOp):
                change_attributes(inner, lambda entry, _: _without_debug_info(entry))
            elif not DEBUG_INFO.isdisjoint(inner.attributes):
                inner.attributes = _without_debug_info(inner.attributes)
