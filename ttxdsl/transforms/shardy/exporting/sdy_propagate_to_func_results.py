"""`sdy-propagate-to-func-results`: copy the shardings of returned values to results."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.call_graph import main_function
from ttxdsl.dialects.sdy import get_sharding, set_func_shardings


class PropagateToFuncResultsPass(ModulePass):
    """Copy shardings from the returned values to the results, but of the main function."""

    name = "sdy-propagate-to-func-results"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: if the module has several functions and none is `main`.
        """
        main = main_function(op)
        for function in op.ops:
            if not isinstance(function, FuncOp) or function is main:
                continue
            last = function.body.last_block
            end = None if last is None else last.last_op
            if isinstance(end, ReturnOp):
                set_func_shardings(
                    function, results=[get_sharding(value) for value in end.arguments]
                )
