"""`sdy-drop-sharding-rules`: remove the sharding rules that the compiler wrote.

Rules that users wrote (`custom`) cannot be derived again, and are kept.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.transforms.shardy.propagation.engine import remove_sharding_rule


class DropShardingRulesPass(ModulePass):
    """Remove every `sdy.sharding_rule` that is not custom."""

    name = "sdy-drop-sharding-rules"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            remove_sharding_rule(inner)
