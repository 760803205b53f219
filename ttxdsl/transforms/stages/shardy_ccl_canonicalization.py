"""`shardy-ccl-canonicalization`: Shardy's own rewrites of collectives.

An all_reduce whose result is only sliced becomes a reduce_scatter, inverse collectives
cancel, and so on (`dialects/_sdy/canonicalize.py`); then unused collectives go. Each
rewrite lowers the pair (number of collectives, number of all_reduces), so it ends.

Source: the pass of that name in tt-mlir's StableHLO pipeline of 2026.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    RewritePattern,
)
from xdsl.rewriter import Rewriter
from xdsl.traits import HasCanonicalizationPatternsTrait

from ttxdsl.diagnostics.remarks import rounds
from ttxdsl.dialects import sdy
from ttxdsl.ir.traversal import ops_of_type

_REWRITTEN = (
    sdy.AllGatherOp,
    sdy.AllSliceOp,
    sdy.AllReduceOp,
    sdy.AllToAllOp,
    sdy.ReduceScatterOp,
)


class ShardyCCLCanonicalizationPass(ModulePass):
    """Apply the rewrites that Shardy's collectives bring with them."""

    name = "shardy-ccl-canonicalization"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns: list[RewritePattern] = []
        for kind in _REWRITTEN:
            trait = kind.get_trait(HasCanonicalizationPatternsTrait)
            patterns += trait.get_patterns(kind) if trait else ()
        applier = GreedyRewritePatternApplier(patterns, dce_enabled=False)
        # xDSL's walker would ask about every op, and these are few
        collectives = list(ops_of_type(op, sdy.CollectiveOp))
        for _ in rounds(2 * len(collectives) + 1, self.name):
            changed = False
            for collective in collectives:
                if type(collective) in _REWRITTEN and collective.parent is not None:
                    rewriter = PatternRewriter(collective)
                    applier.match_and_rewrite(collective, rewriter)
                    changed |= rewriter.has_done_action
            if not changed:
                break
            collectives = list(ops_of_type(op, sdy.CollectiveOp))
        for collective in reversed(collectives):
            if not any(result.uses for result in collective.results):
                Rewriter.erase_op(collective)
