"""The problem that an automatic partitioner solves.

Each node takes one of its strategies, which has a price and takes memory while the node is
alive; each edge has a price for every pair of strategies of its ends. The sum of prices is
to be least, and at no time may more memory be taken than there is. It is the problem of
the ASPLOS 2025 contest on intra-operator parallelism, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FORBIDDEN = 1e15
"""A price that no solution may have; higher ones are taken as this."""


@dataclass(frozen=True, slots=True)
class Holding:
    """Memory that a node takes for a time.

    Attributes:
        end: the first time after the last.
        usages: the memory of each strategy.
    """

    node: int
    begin: int
    end: int
    usages: Floats


@dataclass(frozen=True)
class Problem:
    """Nodes, edges and a limit.

    Attributes:
        costs: of each node the prices of its strategies.
        holdings: the memory that nodes take.
        edges: pairs of nodes, each pair once, with a matrix of prices.
        limit: of the memory at any time; None if there is none.
    """

    costs: tuple[Floats, ...]
    holdings: tuple[Holding, ...]
    edges: tuple[tuple[int, int, Floats], ...]
    limit: float | None = None

    @staticmethod
    def of(
        costs: Sequence[Sequence[float]],
        usages: Sequence[Sequence[float]] | None = None,
        intervals: Sequence[tuple[int, int]] | None = None,
        edges: Sequence[tuple[Sequence[int], Sequence[float] | Floats]] = (),
        limit: float | None = None,
    ) -> "Problem":
        """Build a problem whose edges may repeat, or have one end only.

        Args:
            usages: nothing if None.
            intervals: all the same time if None.
            edges: the ends, and prices in row-major order of their strategies.

        Raises:
            ValueError: an edge's prices are not as many as its ends have strategies.
        """
        prices = [np.minimum(np.asarray(cost, float), FORBIDDEN) for cost in costs]
        joined: dict[tuple[int, int], Floats] = {}
        for ends, values in edges:
            shape = tuple(len(prices[end]) for end in ends)
            matrix = np.minimum(np.asarray(values, float), FORBIDDEN)
            if matrix.size != int(np.prod(shape)):
                raise ValueError(
                    f"the edge of {list(ends)} has {matrix.size} prices, not"
                    f" {int(np.prod(shape))}"
                )
            matrix = matrix.reshape(shape)
            if len(ends) == 1 or ends[0] == ends[1]:
                own = matrix if len(ends) == 1 else matrix.diagonal()
                prices[ends[0]] = prices[ends[0]] + own
                continue
            first, second = ends
            if first > second:
                first, second, matrix = second, first, matrix.T
            known = joined.get((first, second))
            joined[first, second] = matrix if known is None else known + matrix
        return Problem(
            tuple(prices),
            tuple(
                Holding(at, *times, np.asarray(usage, float))
                for at, (times, usage) in enumerate(
                    zip(intervals or [(0, 1)] * len(costs), usages or (), strict=False)
                )
                if times[0] < times[1]
            ),
            tuple((*ends, matrix) for ends, matrix in joined.items()),
            limit,
        )

    @cached_property
    def times(self) -> int:
        """The first time at which no node is alive any more."""
        return max((holding.end for holding in self.holdings), default=0)

    @cached_property
    def _taken(self) -> tuple[Floats, Ints, Ints, Ints, Ints]:
        """All usages behind each other, where each holding's start, and their fields."""
        usages = [holding.usages for holding in self.holdings]
        starts = np.cumsum([0, *map(len, usages)])[:-1]
        rows = [(hold.node, hold.begin, hold.end) for hold in self.holdings]
        nodes, begins, ends = np.array(rows, dtype=int).reshape(-1, 3).T
        return np.concatenate([*usages, np.zeros(0)]), starts, nodes, begins, ends

    def cost(self, chosen: Ints) -> float:
        """Return the sum of prices of a choice."""
        nodes = sum(float(c[s]) for c, s in zip(self.costs, chosen, strict=True))
        edges = sum(float(m[chosen[a], chosen[b]]) for a, b, m in self.edges)
        return nodes + edges

    def usage(self, chosen: Ints) -> Floats:
        """Return the memory that a choice takes at each time."""
        usages, starts, nodes, begins, ends = self._taken
        changes = np.zeros(self.times + 1)
        if len(nodes):
            taken = usages[starts + chosen[nodes]]
            np.add.at(changes, begins, taken)
            np.subtract.at(changes, ends, taken)
        return np.cumsum(changes)[: max(1, self.times)]

    def taken_at(self, time: int) -> Floats:
        """Return the memory of each strategy at a time, all nodes behind each other."""
        prices = np.zeros(max(1, self.times))
        prices[time] = 1.0
        return self.unary(prices)

    def unary(self, prices: Floats) -> Floats:
        """Return the price of each strategy's memory, all nodes behind each other."""
        first = np.cumsum([0, *map(len, self.costs)])
        added = np.zeros(int(first[-1]))
        usages, starts, nodes, begins, ends = self._taken
        if len(nodes):
            sums = np.concatenate(([0.0], np.cumsum(prices)))
            counts = np.diff([*starts, len(usages)])
            places = np.repeat(first[nodes] - starts, counts) + np.arange(len(usages))
            amounts = usages * np.repeat(sums[ends] - sums[begins], counts)
            added += np.bincount(places, amounts, len(added))
        return added

    def is_feasible(self, chosen: Ints) -> bool:
        """Return True if nothing forbidden is chosen and the memory is enough."""
        return self.cost(chosen) < FORBIDDEN and (
            self.limit is None or float(self.usage(chosen).max()) <= self.limit
        )
