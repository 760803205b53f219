"""Following values to their users without looking at every op of a block."""

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from xdsl.ir import Block, Operation, SSAValue


def places_in(block: Block) -> dict[Operation, int]:
    """Return the place of each op in a block."""
    return {op: place for place, op in enumerate(block.ops)}


class InOrder:
    """The users of values in one block, each once and in program order.

    Whoever iterates may follow more values; their users are behind them.
    """

    def __init__(self, order: dict[Operation, int], values: Iterable[SSAValue] = ()):
        self._order = order
        self._waiting: list[tuple[int, Operation]] = []
        self._seen: set[int] = set()
        for value in values:
            self.follow(value)

    def follow(self, value: SSAValue) -> None:
        """Visit the users of a value, too."""
        for use in value.uses:
            place = self._order.get(use.operation)
            if place is not None and place not in self._seen:
                self._seen.add(place)
                heappush(self._waiting, (place, use.operation))

    def __iter__(self) -> Iterator[Operation]:
        while self._waiting:
            yield heappop(self._waiting)[1]
