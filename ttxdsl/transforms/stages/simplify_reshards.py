"""`simplify-reshards`: a value is sent once to all that want it split alike.

Stage 8 looks at one op at a time. Behind it the pipeline lets the ops of one block that
want the same value under the same sharding share one reshard.
"""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ttxdsl.dialects import sdy
from ttxdsl.ir.rewriting import rewrite_type
from ttxdsl.sharding.spec import TensorSharding


@dataclass
class SameReshard(RewritePattern):
    """The result of a reshard before it in the same block that does the same."""

    known: dict[tuple[SSAValue, TensorSharding, Block | None], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, TensorSharding, "Block | None"], SSAValue]
    )

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: sdy.ReshardOp, rewriter: PatternRewriter, /
    ) -> None:
        """Drop one reshard."""
        key = op.input, op.sharding.data, op.parent
        first = self.known.setdefault(key, op.result)
        if first is not op.result:
            rewriter.replace(op, [], [first])


class SimplifyReshardsPass(ModulePass):
    """Leave out the reshards that another op has done."""

    name = "simplify-reshards"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        rewrite_type(op, sdy.ReshardOp, SameReshard())
