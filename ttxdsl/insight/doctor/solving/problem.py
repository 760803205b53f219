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


@dataclass(frozen=True)
class Problem:
    """Nodes, edges and a limit.

    Attributes:
        costs: of each node the prices of its strategies.
        usages: of each node the memory of its strategies.
        intervals: when each node is alive: the first time, and the first after the last.
        edges: pairs of nodes, each pair once, with a matrix of prices.
        limit: of the memory at any time; None if there is none.
    """

    costs: tuple[Floats, ...]
    usages: tuple[Floats, ...]
    intervals: tuple[tuple[int, int], ...]
    edges: tuple[tuple[int, int, Floats], ...]
    limit: float | None = None

    @staticmethod
    def of(
        costs: Sequence[Sequence[float]],
        usages: Sequence[Sequence[float]] | None = None,
        intervals: Sequence[tuple[int, int]] | None = None,
        edges: Sequence[tuple[Sequence[int], Sequence[float]]] = (),
        limit: float | None = None,
    ) -> "Problem":
        """Build a problem whose edges may repeat, or have one end only.

        Args:
            costs: see the attributes.
            usages: nothing if None.
            intervals: all the same time if None.
            edges: the ends, and prices in row-major order of their strategies.
            limit: see the attributes.

        Raises:
            ValueError: an edge's prices are not as many as its ends have strategies.
        """
        prices = [np.minimum(np.asarray(one, float), FORBIDDEN) for one in costs]
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
                np.asarray(one, float)
                for one in (usages or [[0.0] * len(one) for one in costs])
            ),
            tuple(intervals or [(0, 1)] * len(costs)),
            tuple((*ends, matrix) for ends, matrix in joined.items()),
            limit,
        )

    @cached_property
    def times(self) -> int:
        """The first time at which no node is alive any more."""
        return max((end for _, end in self.intervals), default=0)

    def cost(self, chosen: Ints) -> float:
        """Return the sum of prices of a choice."""
        nodes = sum(float(c[s]) for c, s in zip(self.costs, chosen, strict=True))
        edges = sum(float(m[chosen[a], chosen[b]]) for a, b, m in self.edges)
        return nodes + edges

    def usage(self, chosen: Ints) -> Floats:
        """Return the memory that a choice takes at each time."""
        changes = np.zeros(self.times + 1)
        for (start, end), usage, strategy in zip(
            self.intervals, self.usages, chosen, strict=True
        ):
            if start < end:
                changes[start] += usage[strategy]
                changes[end] -= usage[strategy]
        return np.cumsum(changes)[: max(1, self.times)]

    def is_feasible(self, chosen: Ints) -> bool:
        """Return True if nothing forbidden is chosen and the memory is enough."""
        return self.cost(chosen) < FORBIDDEN and (
            self.limit is None or float(self.usage(chosen).max()) <= self.limit
        )
