"""Sharding rules of ops: one registry, one file an op family."""

from ttxdsl.rules.builder import (
    Factor as Factor,
    FactorType as FactorType,
    Shapes as Shapes,
    assemble as assemble,
)
from ttxdsl.rules.interface import (
    ElementwiseTrait as ElementwiseTrait,
    ShardingRuleTrait as ShardingRuleTrait,
)
from ttxdsl.rules.registry import (
    register_sharding_rule as register_sharding_rule,
    sharding_rule as sharding_rule,
    sharding_rule_of as sharding_rule_of,
    unregister_sharding_rule as unregister_sharding_rule,
)
