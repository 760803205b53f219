"""The items that may still change something, of many that are visited again and again."""

from collections.abc import Hashable, Iterable


class Unsettled:
    """Items that read numbered places, and may change something if those changed.

    An item is settled under a key if it changed nothing when it was last looked at under
    that key, and nothing that it reads has changed since.

    Args:
        changes: the places that changed so far, the latest last; others append to it.
    """

    def __init__(self, changes: list[int]):
        self._changes = changes
        self._readers: dict[int, list[int]] = {}
        # most items are looked at once under each key: nobody asks who reads what
        self._noted: list[tuple[int, Iterable[int]]] = []
        # of each key how many changes there were when a look began, and what changed
        # something in it
        self._looks: dict[Hashable, tuple[int, list[int]]] = {}

    def reads(self, item: int, places: Iterable[int]) -> None:
        """Note what an item reads."""
        self._noted.append((item, places))

    def begin(self, key: Hashable, count: int) -> tuple[bytearray, list[int]]:
        """Begin a look at the items under a key.

        Returns:
            A byte for each of `count` items, 1 where it may change something; and a list
            for the items that do, to be filled by the caller.
        """
        restless: list[int] = []
        look = self._looks.get(key)
        self._looks[key] = len(self._changes), restless
        if look is None:
            return bytearray(b"\1") * count, restless
        marks = bytearray(count)
        since, restless_before = look
        self.mark(marks, since)
        for item in restless_before:
            marks[item] = 1
        return marks, restless

    def mark(self, marks: bytearray, since: int) -> None:
        """Set the bytes of the items that read what changed since so many changes."""
        readers = self._readers
        for item, places in self._noted:
            for place in set(places):
                readers.setdefault(place, []).append(item)
        self._noted.clear()
        for place in set(self._changes[since:]):
            for item in readers.get(place, ()):
                marks[item] = 1

    def forget(self) -> None:
        """Let everything be unsettled."""
        self._looks.clear()
