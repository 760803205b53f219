"""`supply-sharding-rules`: write rules on ops that Shardy has none for.

JAX's programs contain ops, such as `chlo.erf`, that XLA rewrites before Shardy sees
them. Run on the program as JAX prints it, propagation would stop at each. This pass
gives them a custom `sdy.sharding_rule`, which every propagation pass honours and
keeps.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.dialects.sdy import SHARDING_RULE, OpShardingRuleAttr
from ttxdsl.ir.traversal import all_ops
from ttxdsl.rules import sharding_rule
from ttxdsl.rules.supplement import supplementary_rule


class SupplyShardingRulesPass(ModulePass):
    """Set `sdy.sharding_rule` where Shardy knows no rule and this package does."""

    name = "supply-sharding-rules"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in all_ops(op):
            rule = supplementary_rule(inner)
            if rule is not None and sharding_rule(inner) is None:
                inner.attributes[SHARDING_RULE] = OpShardingRuleAttr(rule)
