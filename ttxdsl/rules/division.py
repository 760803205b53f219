"""The rules for dividing an op's work among devices.

Shardings mostly travel along the factors along which devices can share the work out:
the families' tables say it once, and of each op where the two differ.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.ir import Operation

from ttxdsl.rules import registry, supplement
from ttxdsl.rules.builder import Factor, Shapes, assemble
from ttxdsl.rules.quantized import kept_whole
from ttxdsl.sharding.factors import OpShardingRule


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """The factors of an op's dimensions, and which of them devices share out.

    Attributes:
        local: those along which each device computes its part from its part; where
            results lack one, it computes a part of each of their elements.
    """

    rule: OpShardingRule
    local: frozenset[int]

    @staticmethod
    def of(op: Operation, shapes: Shapes, factors: Iterable[Factor]) -> "Division":
        """Number the factors; a dimension that no factor names is needed whole."""
        listed = tuple(kept_whole(op, factors))
        local = (index for index, factor in enumerate(listed) if factor.is_local)
        return Division(assemble(shapes, listed), frozenset(local))


def division(op: Operation) -> Division | None:
    """Return the division among devices of an op of ttxdsl's own tables.

    A rule that a user wrote only says how shardings travel, and is ignored here.

    Returns:
        None if nothing is known of the op, or its shapes are not static.
    """
    op_class = type(op)
    line = registry.RULES.get(op_class) or supplement.RULES.get(op_class)
    shapes = Shapes.of(op) if line else None
    if line is None or shapes is None:
        return None
    factors = line.parts(op) if line.parts else line.factors(op, False)
    return None if factors is None else Division.of(op, shapes, factors)
