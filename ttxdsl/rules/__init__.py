"""Sharding rules of ops: one registry, one file an op family."""

from ttxdsl.rules.builder import Factor, Kind, Shapes, assemble
from ttxdsl.rules.interface import ElementwiseTrait, ShardingRuleTrait
from ttxdsl.rules.registry import (
    register_sharding_rule,
    sharding_rule,
    sharding_rule_of,
    unregister_sharding_rule,
)

__all__ = [
    "ElementwiseTrait",
    "Factor",
    "Kind",
    "Shapes",
    "ShardingRuleTrait",
    "assemble",
    "register_sharding_rule",
    "sharding_rule",
    "sharding_rule_of",
    "unregister_sharding_rule",
]
