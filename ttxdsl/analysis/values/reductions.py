"""The number of terms in a program's sums, which bounds its rounding errors."""

from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttxdsl.rules.registry import sharding_rule


def summed_by(op: Operation) -> int:
    """Return the number of terms an op adds up for a result's element, at least 1.

    The factors that its sharding rule calls reductions are what it sums over.
    """
    rule = sharding_rule(op)
    if rule is None:
        return 1
    return prod(rule.factor_sizes[factor] for factor in rule.reduction)


def summed_numbers(module: ModuleOp) -> int:
    """Lengths of all reductions of the program together, at least 1.

    In the worst case a result has gone through all of them one after the other.
    """
    lengths = (summed_by(op) for op in module.walk())
    return max(1, sum(length for length in lengths if length > 1))
