"""Tables of many layers in one screen: what repeats is one row with a count."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

SHOWN = 12
"""Rows that a table has unless somebody asks for all."""


@dataclass(frozen=True, slots=True)
class Folded(Generic[T]):
    """Groups of items that are alike, the dearest first, and what is left out."""

    groups: Sequence[Sequence[T]]
    hidden: Sequence[T] = ()


def fold(
    items: Iterable[T],
    key: Callable[[T], Hashable],
    weight: Callable[[T], float],
    shown: int = SHOWN,
) -> Folded[T]:
    """Items with one key in one group; all but the heaviest groups are hidden.

    Args:
        items: in program order, which groups of one weight keep.
        key: what makes two items alike.
        weight: of an item; that of a group is the sum.
        shown: how many groups to show.
    """
    found: dict[Hashable, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    groups = sorted(found.values(), key=lambda group: -sum(map(weight, group)))
    return Folded(groups[:shown], [item for group in groups[shown:] for item in group])


def unfolded(items: Iterable[T]) -> Folded[T]:
    """Each item by itself, in its order."""
    return Folded([[item] for item in items])
