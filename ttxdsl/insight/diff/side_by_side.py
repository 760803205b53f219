"""Collectives of two compilers in rows: ours, and those of another.

A row has the collectives of one kind among the same devices; its label says how the two
sides differ.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from ttxdsl.analysis.usage.collectives import CountedCollective
from ttxdsl.sharding.axes import Axes


class Moved(Protocol):
    """The facts needed of another compiler's collective."""

    @property
    def kind(self) -> str:
        """`all_gather` and the like."""
        ...

    @property
    def group_size(self) -> int:
        """Devices among which it runs."""
        ...

    @property
    def bytes_per_device(self) -> int:
        """The bytes that a device sends in one run of the program."""
        ...

    @property
    def count(self) -> int:
        """The number of times that it runs."""
        ...


T = TypeVar("T", bound=Moved)


class Label(StrEnum):
    """The verdict on a row; `them` is the other compiler."""

    SAME = "same"
    JOINED = "same bytes, joined by them"
    SPLIT = "same bytes, split up by them"
    LESS = "ours move less"
    MORE = "ours move more"
    OURS_ONLY = "only ours"
    THEIRS_ONLY = "only theirs"

    def said_of(self, name: str) -> str:
        """The label with the other compiler's name in it."""
        return self.replace("theirs", f"{name}'s").replace("them", name)


@dataclass(frozen=True, slots=True)
class CollectiveRow(Generic[T]):
    """Collectives of one kind among the same devices, on both sides."""

    kind: str
    among: str
    ours: tuple[CountedCollective, ...]
    theirs: tuple[T, ...]

    @property
    def bytes(self) -> tuple[int, int]:
        """The bytes that a device sends: in ours, in theirs."""
        ours, theirs = (
            sum(collective.bytes_per_device for collective in side)
            for side in (self.ours, self.theirs)
        )
        return ours, theirs

    @property
    def counts(self) -> tuple[int, int]:
        """The number of collectives that run: in ours, in theirs."""
        ours, theirs = (
            sum(collective.count for collective in side)
            for side in (self.ours, self.theirs)
        )
        return ours, theirs

    @property
    def label(self) -> Label:
        """The difference between the two sides."""
        if not self.theirs:
            return Label.OURS_ONLY
        if not self.ours:
            return Label.THEIRS_ONLY
        (ours, theirs), (our_count, their_count) = self.bytes, self.counts
        if ours != theirs:
            return Label.LESS if ours < theirs else Label.MORE
        if our_count == their_count:
            return Label.SAME
        return Label.JOINED if our_count > their_count else Label.SPLIT


def of_both(sides: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return what rows have in all: ours, theirs."""
    both = list(sides)
    return sum(ours for ours, _ in both), sum(theirs for _, theirs in both)


def _among(kind: str, axes: Axes | None, size: int) -> str:
    if kind == "collective_permute":
        return "pairs"  # which axes it stays within says little
    if axes:
        return ", ".join(str(axis).replace('"', "") for axis in axes)
    return f"groups of {size}"


def match_collectives(
    ours: Sequence[CountedCollective],
    theirs: Sequence[T],
    axes_of: Callable[[T], Axes | None],
) -> tuple[CollectiveRow[T], ...]:
    """Both sides' collectives by kind and by the devices among which they run.

    Those that move nothing are left out. A permutation is matched by kind alone.

    Args:
        axes_of: the axes among which one of theirs runs, if its groups are such.
    """
    left: defaultdict[tuple[str, str], list[CountedCollective]] = defaultdict(list)
    right: defaultdict[tuple[str, str], list[T]] = defaultdict(list)
    for our in ours:
        if our.bytes_per_device:
            left[our.kind, _among(our.kind, our.axes, our.group_size)].append(our)
    for their in theirs:
        if their.bytes_per_device:
            among = _among(their.kind, axes_of(their), their.group_size)
            right[their.kind, among].append(their)
    keys = [*left, *(key for key in right if key not in left)]
    return tuple(
        CollectiveRow(*key, tuple(left.get(key, ())), tuple(right.get(key, ())))
        for key in keys
    )
