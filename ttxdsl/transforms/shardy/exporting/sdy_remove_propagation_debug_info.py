"""`sdy-remove-propagation-debug-info`: forget how shardings came where they are."""

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    result_attributes,
    set_argument_attributes,
    set_result_attributes,
)
from ttxdsl.ir.traversal import all_ops
from ttxdsl.transforms.shardy.propagation.history import DEBUG_INFO

_Read = Callable[[FuncOp], list[dict[str, Attribute]]]
_Write = Callable[[FuncOp, list[dict[str, Attribute]]], None]


def _forget(attributes: dict[str, Attribute]) -> None:
    for name in DEBUG_INFO & attributes.keys():
        del attributes[name]


def _forget_of_function(function: FuncOp, read: _Read, write: _Write) -> None:
    entries = read(function)
    for entry in entries:
        _forget(entry)
    write(function, entries)


class RemovePropagationDebugInfoPass(ModulePass):
    """Remove what `debug-sharding-origins` and `debug-propagation-edge-sharding` write.

    On functions only from arguments and results; the names that constraints and manual
    computations got as origins stay. Both are as in C++.
    """

    name = "sdy-remove-propagation-debug-info"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        for inner in all_ops(op):
            self._remove(inner)

    def _remove(self, op: Operation) -> None:
        if isinstance(op, FuncOp):
            _forget_of_function(op, argument_attributes, set_argument_attributes)
            _forget_of_function(op, result_attributes, set_result_attributes)
        else:
            _forget(op.attributes)
