"""`symbol-dce`, as Shardy's pipelines have it between their own passes."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.symbols import remove_unused_private_functions


class SymbolDCE(ModulePass):
    """Remove private functions that nothing refers to, as MLIR's symbol-dce does."""

    name = "symbol-dce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        remove_unused_private_functions(op)
