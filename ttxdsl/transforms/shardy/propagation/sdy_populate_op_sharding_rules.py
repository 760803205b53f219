"""`sdy-populate-op-sharding-rules`: write on every op how it may be partitioned.

Propagation asks for the rules as it goes; this pass shows them all at once.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.dialects.sdy import SHARDING_RULE, OpShardingRuleAttr
from ttxdsl.rules import sharding_rule


@dataclass(frozen=True)
class PopulateOpShardingRulesPass(ModulePass):
    """Set `sdy.sharding_rule` on every op that has a rule and does not show it yet."""

    name = "sdy-populate-op-sharding-rules"

    conservative_propagation: bool = False
    """Leave out factors whose sharding might not divide a dimension."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if SHARDING_RULE in inner.attributes:
                continue
            rule = sharding_rule(inner, conservative=self.conservative_propagation)
            if rule is not None:
                inner.attributes[SHARDING_RULE] = OpShardingRuleAttr(rule)
