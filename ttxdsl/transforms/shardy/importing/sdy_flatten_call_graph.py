"""`sdy-flatten-call-graph`: give every call its own function, to be sharded by itself."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.call_graph import (
    callees_first,
    calls_in,
    copy_function,
    set_callee,
)
from ttxdsl.analysis.calls.copies import require_few_copies
from ttxdsl.analysis.calls.symbols import Symbols


class FlattenCallGraphPass(ModulePass):
    """Copy the callee, with all functions that it calls, for every call but one.

    `sdy.original_func_name` of a copy names the original. Declarations are not copied:
    they refer to code outside of the module.

    Source: Shardy's sdy-flatten-call-graph.
    """

    name = "sdy-flatten-call-graph"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            UnsupportedError: if a function calls itself, or there would be too many ops.
        """
        require_few_copies(op)
        symbols = Symbols(op)
        called: set[str] = set()
        for function in callees_first(op):
            for call in calls_in(function):
                callee = symbols.callee(call)
                name = callee.sym_name.data
                if name not in called:
                    called.add(name)
                elif not callee.is_declaration:
                    set_callee(call, copy_function(callee, symbols))
