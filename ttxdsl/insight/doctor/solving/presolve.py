"""A smaller problem with the same best choice, and the way back.

Strategies that no neighbour allows go. A node whose strategy a neighbour's decides is
merged into it, one with a single strategy becomes a price of its neighbours, and one whose
memory does not depend on its strategy is eliminated where it has at most two neighbours.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ttxdsl.insight.doctor.solving.problem import (
    FORBIDDEN,
    Floats,
    Holding,
    Ints,
    Problem,
)


@dataclass(slots=True)
class _Node:
    """A node while others are merged into it.

    Attributes:
        cost: of its strategies.
        names: their places in the original node.
        holdings: begin, end, and the memory of each strategy.
        edges: prices by neighbour, own strategies first.
    """

    cost: Floats
    names: Ints
    holdings: list[tuple[int, int, Floats]]
    edges: dict[int, Floats] = field(default_factory=dict[int, Floats])


class Presolve:
    """A `problem` made smaller."""

    def __init__(self, problem: Problem, is_over: Callable[[], bool]):
        self._count = len(problem.costs)
        self._nodes: dict[int, _Node] = {
            at: _Node(cost, np.arange(len(cost)), [])
            for at, cost in enumerate(problem.costs)
        }
        for holding in problem.holdings:
            node = self._nodes[holding.node]
            node.holdings.append((holding.begin, holding.end, holding.usages))
        for first, second, matrix in problem.edges:
            self._nodes[first].edges[second] = matrix
            self._nodes[second].edges[first] = matrix.T
        self._undo: list[Callable[[Ints], None]] = []
        self._changed = dict.fromkeys(range(self._count))
        self._edges = dict.fromkeys((a, b) for a, b, _ in problem.edges)
        while (self._changed or self._edges) and not is_over():
            if self._edges:
                self._look_at_edge(*self._edges.popitem()[0])
            elif (at := self._changed.popitem()[0]) in self._nodes:
                self._look_at_node(at)
        self._kept = sorted(self._nodes)
        number = {at: new for new, at in enumerate(self._kept)}
        self.problem = Problem(
            tuple(self._nodes[at].cost for at in self._kept),
            tuple(
                Holding(number[at], begin, end, usages)
                for at in self._kept
                for begin, end, usages in self._nodes[at].holdings
            ),
            tuple(
                (number[at], number[other], np.ascontiguousarray(matrix))
                for at in self._kept
                for other, matrix in self._nodes[at].edges.items()
                if at < other
            ),
            problem.limit,
        )

    def expand(self, chosen: Ints) -> Ints:
        """Return the choice of the whole problem that one of the smaller problem is."""
        whole = np.zeros(self._count, dtype=int)
        for at, strategy in zip(self._kept, chosen, strict=True):
            whole[at] = self._nodes[at].names[strategy]
        for undo in reversed(self._undo):
            undo(whole)
        return whole

    def _look_at_edge(self, first: int, second: int) -> None:
        """Remove strategies that an edge forbids; merge its ends if one decides the other."""
        if first not in self._nodes or second not in self._nodes[first].edges:
            return
        allowed = self._nodes[first].edges[second] < FORBIDDEN
        rows, columns = allowed.sum(1), allowed.sum(0)
        if not rows.any():
            return  # nothing is feasible, which the search will say
        if not rows.all():
            self._restrict(first, rows > 0)
        if not columns.all():
            self._restrict(second, columns > 0)
        allowed = allowed[rows > 0][:, columns > 0]
        decides = bool((allowed.sum(1) == 1).all()), bool((allowed.sum(0) == 1).all())
        degrees = len(self._nodes[first].edges), len(self._nodes[second].edges)
        if all(decides):
            # the node with more edges is kept
            decides = degrees[0] >= degrees[1], degrees[0] < degrees[1]
        if decides[0] and self._is_worth(first, second):
            self._merge(first, second, allowed.argmax(1))
        elif decides[1] and self._is_worth(second, first):
            self._merge(second, first, allowed.argmax(0))

    def _look_at_node(self, at: int) -> None:
        """Remove strategies that cost too much; remove the node if it is of no account."""
        node = self._nodes[at]
        alive = node.cost < FORBIDDEN
        if not alive.all() and alive.any():
            self._restrict(at, alive)
        if len(node.cost) == 1:
            for other in list(node.edges):
                matrix = self._disconnect(at, other)
                target = self._nodes[other]
                target.cost = np.minimum(target.cost + matrix[0], FORBIDDEN)
        elif not node.edges:
            self._pick_alone(at)
        elif len(node.edges) <= 2 and _is_free(node):
            self._eliminate(at)

    def _pick_alone(self, at: int) -> None:
        """Keep the best strategy of a node without neighbours, if memory allows to say."""
        node = self._nodes[at]
        if _is_free(node):
            self._restrict(at, np.arange(len(node.cost)) == node.cost.argmin())

    def _restrict(
        self, at: int, alive: np.ndarray[tuple[int], np.dtype[np.bool_]]
    ) -> None:
        node = self._nodes[at]
        node.cost, node.names = node.cost[alive], node.names[alive]
        node.holdings = [(b, e, usages[alive]) for b, e, usages in node.holdings]
        for other, matrix in node.edges.items():
            node.edges[other] = matrix[alive]
            self._nodes[other].edges[at] = node.edges[other].T
            self._edges[at, other] = None
        self._changed[at] = None

    def _disconnect(self, at: int, other: int) -> Floats:
        del self._nodes[other].edges[at]
        self._changed[at] = self._changed[other] = None
        return self._nodes[at].edges.pop(other)

    def _is_worth(self, at: int, other: int) -> bool:
        """Return True if a node may take another in without the edges growing."""
        node, gone = self._nodes[at], self._nodes[other]
        more = len(node.cost) - len(gone.cost)
        if not more:
            return True
        added = sum(
            more * matrix.shape[1]
            for third, matrix in gone.edges.items()
            if third != at and third not in node.edges
        )
        return added <= 2 * node.edges[other].size

    def _connect(self, at: int, other: int, matrix: Floats) -> None:
        node = self._nodes[at]
        if (known := node.edges.get(other)) is not None:
            matrix = np.minimum(known + matrix, FORBIDDEN)
        node.edges[other] = matrix
        self._nodes[other].edges[at] = matrix.T
        self._edges[at, other] = None

    def _merge(self, at: int, other: int, decided: Ints) -> None:
        """Merge a node whose strategy follows from this node's."""
        node, gone = self._nodes[at], self._nodes[other]
        between = self._disconnect(at, other)
        rows = np.arange(len(decided))
        node.cost = node.cost + gone.cost[decided] + between[rows, decided]
        node.holdings += [(b, e, usages[decided]) for b, e, usages in gone.holdings]
        for third in list(gone.edges):
            matrix = self._disconnect(other, third)
            self._connect(at, third, matrix[decided])
        del self._nodes[other]
        own = dict(zip(node.names.tolist(), gone.names[decided].tolist(), strict=True))

        def undo(whole: Ints) -> None:
            whole[other] = own[int(whole[at])]

        self._undo.append(undo)

    def _eliminate(self, at: int) -> None:
        """Take the best strategy for every choice of at most two neighbours."""
        node = self._nodes[at]
        neighbours = list(node.edges)
        if len(neighbours) == 2:
            first, second = neighbours
            size = node.edges[first].shape[1] * node.edges[second].shape[1]
            known = second in self._nodes[first].edges
            if not known and size > 2 * sum(m.size for m in node.edges.values()):
                return
            if size * len(node.cost) > 1_000_000:
                return
        matrices = [self._disconnect(at, other) for other in neighbours]
        if len(neighbours) == 1:
            table = node.cost[:, None] + matrices[0]
            target = self._nodes[neighbours[0]]
            target.cost = np.minimum(target.cost + table.min(0), FORBIDDEN)
        else:
            table = (
                node.cost[:, None, None]
                + matrices[0][:, :, None]
                + matrices[1][:, None, :]
            )
            first, second = neighbours
            self._connect(first, second, np.minimum(table.min(0), FORBIDDEN))
        choices = table.argmin(0)
        names = node.names
        given = [
            {int(name): place for place, name in enumerate(self._nodes[other].names)}
            for other in neighbours
        ]
        for begin, end, usages in node.holdings:  # the same for all strategies
            target = self._nodes[neighbours[0]]
            target.holdings.append((begin, end, np.full(len(target.cost), usages[0])))
        del self._nodes[at]

        def undo(whole: Ints) -> None:
            places = tuple(
                known[int(whole[other])]
                for known, other in zip(given, neighbours, strict=True)
            )
            whole[at] = names[choices[places]]

        self._undo.append(undo)


def _is_free(node: _Node) -> bool:
    """Return True if the memory of a node is the same for all strategies."""
    return all(
        begin >= end or np.ptp(usages) == 0 for begin, end, usages in node.holdings
    )
