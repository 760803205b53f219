"""The lines of a family's table: which function describes which op."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from xdsl.ir import Operation

from ttxdsl.rules.builder import Factor

OpT = TypeVar("OpT", bound=Operation)


@dataclass(frozen=True, slots=True)
class OpRule:
    """The functions that find the factors of one op class.

    `factors` may read the op's types and properties, which are the key
    under which its answer is cached. `surroundings` returns all else that it depends on.
    """

    op_class: type[Operation]
    factors: Callable[[Any, bool], Iterable[Factor] | None]
    """From the op, and whether to be conservative, to its factors; None for no rule."""
    surroundings: Callable[[Any], Hashable] | None = None
    """A function of the inputs of a rule besides types and properties."""
    parts: Callable[[Any], Iterable[Factor] | None] | None = None
    """From the op to the factors along which devices share it out, where these are
    others than those along which shardings travel; None if nothing is known of it."""


def rule(
    op_class: type[OpT],
    factors: Callable[[OpT], Iterable[Factor] | None],
    *,
    surroundings: Callable[[OpT], Hashable] | None = None,
    parts: Callable[[OpT], Iterable[Factor] | None] | None = None,
) -> OpRule:
    """Return a line of a table, for an op whose rule is always the same."""
    return OpRule(op_class, lambda op, conservative: factors(op), surroundings, parts)


def moded_rule(
    op_class: type[OpT],
    factors: Callable[[OpT, bool], Iterable[Factor] | None],
    *,
    surroundings: Callable[[OpT], Hashable] | None = None,
    parts: Callable[[OpT], Iterable[Factor] | None] | None = None,
) -> OpRule:
    """Return a line of a table, for an op that has another rule in conservative mode.

    Conservative rules offer no factor whose sharding might not divide a dimension.
    """
    return OpRule(op_class, factors, surroundings, parts)
