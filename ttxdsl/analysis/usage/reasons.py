"""The reasons of collectives as people read them: the names of arguments, and lines."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttxdsl.analysis.attribution.words import Words
from ttxdsl.analysis.usage.collectives import (
    A_SLICE,
    AN_ARGUMENT,
    CountedCollective,
    collective_ops,
)
from ttxdsl.costs.units import others


def with_arguments(
    module: ModuleOp, collectives: Iterable[CountedCollective]
) -> list[CountedCollective]:
    """Return the collectives of a program with the names of the arguments that they move.

    Args:
        collectives: all that it has, in order.
    """
    return with_arguments_of(zip(collectives, collective_ops(module), strict=True))


def with_arguments_of(
    pairs: Iterable[tuple[CountedCollective, Operation]],
) -> list[CountedCollective]:
    """Return the same of collectives with their ops."""
    words = Words()
    return [
        replace(
            collective, argument=words.argument(op.operands[0]) if op.operands else None
        )
        for collective, op in pairs
    ]


def reason_of(alike: Sequence[CountedCollective]) -> str:
    """Return the reason of collectives that have it in common, with their arguments."""
    reason = alike[0].reason
    names = list(
        dict.fromkeys(
            collective.argument for collective in alike if collective.argument
        )
    )
    if not names:
        return reason
    more = f" and {others(len(names) - 1)}" if len(names) > 1 else ""
    for unnamed in (A_SLICE, AN_ARGUMENT):
        reason = reason.replace(unnamed, f"{names[0]}{more}")
    return reason


def lines_of(alike: Iterable[CountedCollective]) -> str:
    """Return the first line of collectives, and how many more they have; '' if unknown."""
    places = list(
        dict.fromkeys(collective.place for collective in alike if collective.function)
    )
    if not places:
        return ""
    more = f" and {others(len(places) - 1)}" if len(places) > 1 else ""
    return f"{places[0]}{more}"
