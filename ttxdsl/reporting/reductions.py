"""How many numbers a program adds up: what rounding in its results has to be held to."""

from math import prod

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.rules.registry import sharding_rule


def summed_numbers(module: ModuleOp) -> int:
    """Lengths of all reductions of the program together, at least 1.

    The factors that an op's sharding rule calls reductions are what it sums over. In
    the worst case a result has gone through all of them one after the other.
    """
    total = 0
    for op in module.walk():
        rule = sharding_rule(op)
        if rule is not None and rule.reduction:
            total += prod(rule.factor_sizes[factor] for factor in rule.reduction)
    return max(1, total)
