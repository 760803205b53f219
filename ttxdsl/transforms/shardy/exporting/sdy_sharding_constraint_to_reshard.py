"""Turn sharding constraints into reshards, once propagation has respected them.

Before propagation a constraint is a wish, after it a fact: data that arrives with
another sharding has to move.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ttxdsl.dialects.sdy import ReshardOp, ShardingConstraintOp
from ttxdsl.ir.rewriting import rewrite_type


class ConstraintToReshard(RewritePattern):
    """The same sharding and attributes on a reshard; also where nothing uses it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: ShardingConstraintOp, rewriter: PatternRewriter, /
    ) -> None:
        reshard = ReshardOp(op.input, op.sharding)
        reshard.attributes.update(op.attributes)
        reshard.location = op.location
        rewriter.replace(op, reshard)


class ShardingConstraintToReshardPass(ModulePass):
    """Replace every `sdy.sharding_constraint` by an `sdy.reshard`."""

    name = "sdy-sharding-constraint-to-reshard"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_type(op, ShardingConstraintOp, ConstraintToReshard())
