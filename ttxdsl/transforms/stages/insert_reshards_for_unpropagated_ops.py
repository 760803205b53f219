"""`insert-reshards-for-unpropagated-ops`: who has no sharding works on whole operands.

Conservative propagation takes no part of an axis, so that a reshape may end up without a
sharding although its operand has one. A reshard makes the operand whole before it.

Source: the pass of that name in tt-mlir's StableHLO pipeline of 2026.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from ttxdsl.analysis.graph_state import computation_around
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.rewriting import rewrite_type
from ttxdsl.sharding.spec import TensorSharding


class GatherOperand(RewritePattern):
    """A reshard of a reshape's operand, if only that is split."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.ReshapeOp, rewriter: PatternRewriter, /
    ) -> None:
        sharding = sdy.get_sharding(op.operand)
        if (
            sharding is None
            or sharding.names_no_axes
            or sdy.get_sharding(op.result) is not None
            or computation_around(op) is not None
        ):
            return
        whole = TensorSharding.fully_closed(sharding.mesh, sharding.rank)
        reshard = sdy.ReshardOp(op.operand, whole)
        reshard.location = op.location
        rewriter.insert(reshard, InsertPoint.before(op))
        op.operands[0] = reshard.result


class InsertReshardsForUnpropagatedOpsPass(ModulePass):
    """Make the operands of reshapes whole that propagation has not reached."""

    name = "insert-reshards-for-unpropagated-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_type(op, stablehlo.ReshapeOp, GatherOperand())
