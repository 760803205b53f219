"""`sdy-drop-sharding-rules`: remove the rules that the compiler wrote on ops.

Those that users wrote (`custom`) say what nobody else knows, and stay.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.transforms.shardy.propagation.engine import remove_sharding_rule


class DropShardingRulesPass(ModulePass):
    """Remove every `sdy.sharding_rule` that is not custom."""

    name = "sdy-drop-sharding-rules"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Walk all ops of the module."""
        for inner in op.walk():
            remove_sharding_rule(inner)
