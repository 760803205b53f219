"""Disjoint sets of anything, such as the dimensions that must be split alike."""

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class DisjointSets(Generic[T]):
    """Sets that are joined by union with path halving."""

    def __init__(self) -> None:
        self._parent: dict[T, T] = {}

    def find(self, member: T) -> T:
        """Return the member that stands for a set; a new member is a set of its own."""
        parent = self._parent.setdefault(member, member)
        while parent != member:
            above = self._parent[parent]
            self._parent[member] = above
            member, parent = above, self._parent[above]
        return member

    def join(self, a: T, b: T) -> None:
        """Make one set of two; what stood for the one of `a` stands for both."""
        self._parent[self.find(b)] = self.find(a)

    def members(self) -> list[T]:
        """Return all that were met, in order."""
        return list(self._parent)
