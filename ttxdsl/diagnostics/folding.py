"""Tables of many layers in one screen: what repeats is one row with a count."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

SHOWN = 12
"""Rows that a table has unless somebody asks for all."""
_RIGHT_SHOWN = 3


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
        weight: of an item; that of a group is the sum.
    """
    groups = sorted(
        together(items, key).groups, key=lambda group: -sum(map(weight, group))
    )
    if len(groups) == shown + 1:
        shown += 1  # saying that one is hidden takes as much room
    return Folded(groups[:shown], [item for group in groups[shown:] for item in group])


def together(items: Iterable[T], key: Callable[[T], Hashable]) -> Folded[T]:
    """Items with one key in one group, in the order of the first of each."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return Folded(list(groups.values()))


def farthest(
    items: Sequence[T], right: Callable[[T], bool], off: Callable[[T], float]
) -> list[T]:
    """Return all of a few items, of many the worst, in their order.

    Args:
        right: whether one is as it should be; if all are, a few are enough.
    """
    if len(items) <= SHOWN:
        return list(items)
    numbered = sorted(enumerate(items), key=lambda row: (right(row[1]), -off(row[1])))
    most = _RIGHT_SHOWN if all(map(right, items)) else SHOWN
    return [item for _, item in sorted(numbered[:most], key=lambda row: row[0])]


def unfolded(items: Iterable[T]) -> Folded[T]:
    """Each item by itself, in its order."""
    return Folded([[item] for item in items])
