"""Put functions in the order in which propagation should see them: callers first."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.call_graph import callers_first


class PreOrderFuncsPass(ModulePass):
    """Move the functions to the end of the module, each before those it calls.

    Source: Shardy's sdy-pre-order-funcs.
    """

    name = "sdy-pre-order-funcs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            UnsupportedError: if a function calls itself.
        """
        for function in callers_first(op):
            function.detach()
            op.body.block.add_op(function)
