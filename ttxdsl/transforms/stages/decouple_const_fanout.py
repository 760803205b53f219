"""`decouple-const-fanout`: each user of a broadcast constant has one of its own.

Propagation gives a value one sharding. A constant that is broadcast once for many ties
its users together, and those that want it split otherwise pay a reshard; a copy for each
costs nothing. Only functions of which an argument is split are changed.

Source: the pass of that name in tt-mlir's StableHLO pipeline of 2026.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.rewriting import rewrite_type
from ttxdsl.ir.traversal import ops_of_type


class CopyPerUse(RewritePattern):
    """A broadcast of a constant, once before each op that uses it but the first."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.BroadcastInDimOp, rewriter: PatternRewriter, /
    ) -> None:
        if not isinstance(op.operand.owner, stablehlo.ConstantOp):
            return
        for use in list(op.result.uses)[1:]:
            copy = op.clone()
            rewriter.insert(copy, InsertPoint.before(use.operation))
            use.operation.operands[use.index] = copy.result


def _splits_an_argument(func: FuncOp) -> bool:
    return any(
        sharding is not None and any(dim.axes for dim in sharding.dims)
        for sharding in sdy.func_argument_shardings(func)
    )


class DecoupleConstFanoutPass(ModulePass):
    """Copy broadcasts of constants for each of their users."""

    name = "decouple-const-fanout"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in ops_of_type(op, FuncOp):
            if _splits_an_argument(func):
                rewrite_type(func, stablehlo.BroadcastInDimOp, CopyPerUse())
