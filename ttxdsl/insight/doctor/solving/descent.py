"""Messages between nodes, then descent over forests, while memory gets its price.

Messages (sequential tree-reweighted message passing, Kolmogorov 2006) tell each node what
its strategies cost the nodes before and behind it; a choice read from them is near the
best where there are few cycles. Descent improves it.

A forest is a set of nodes whose edges among each other have no cycle. With all other nodes
held, dynamic programming finds its best choice exactly, so a step never makes the sum of
prices larger. Memory has a price at each time, which rises where more is taken than there
is; what was feasible and least is kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from ttxdsl.insight.doctor.solving.problem import FORBIDDEN, Floats, Ints, Problem

_SMALL, _RESTART = 4_000, 8
"""Nodes up to which messages are sent, and after how many rounds again."""
_STEPS = 2
"""Forests that are improved in a round."""
_QUIET = 20
"""Rounds without anything better after which a problem without a limit is solved."""
_RISE, _FALL = 0.3, 0.97
"""By which part a price of memory rises for each part over the limit; to what it falls."""


@dataclass(frozen=True, slots=True)
class _Forest:
    """A forest in the order children before parents.

    Attributes:
        nodes: of it.
        parents: of each the place of its parent in `nodes`, -1 of a root.
        matrices: of each the prices with its parent, own strategies first.
        outside: of each the other neighbours, with prices by their strategies first.
    """

    nodes: list[int]
    parents: list[int]
    matrices: list[Floats | None]
    outside: list[list[tuple[int, Floats]]]


@dataclass(slots=True)
class _Link:
    """An edge as one of its ends sees it.

    Attributes:
        other: the other end.
        prices: by the strategies of `other` first.
        message: from `other`, by the strategies of this end.
        back: the same edge as `other` sees it.
    """

    other: int
    prices: Floats
    message: Floats
    back: "_Link" = field(init=False, repr=False)


def _send(belief: Floats, link: _Link) -> None:
    """Send a message along a link to its other end."""
    message = (link.prices + (belief - link.message)).min(1)
    message -= message.min()
    link.back.message = message


class Descent:
    """A search for one problem.

    Args:
        problem: what is to be solved.
        seed: of the random order of nodes.
    """

    def __init__(self, problem: Problem, seed: int = 0):
        self._problem, self._random = problem, Random(seed)
        count = len(problem.costs)
        self._free = [at for at in range(count) if len(problem.costs[at]) > 1]
        self._neighbours: list[list[tuple[int, Floats]]] = [[] for _ in range(count)]
        base = list(problem.costs)
        for first, second, matrix in problem.edges:
            alone = len(base[first]) == 1, len(base[second]) == 1
            if alone[0] and not alone[1]:
                base[second] = base[second] + matrix[0]
            elif alone[1] and not alone[0]:
                base[first] = base[first] + matrix[:, 0]
            elif not any(alone):
                # by the strategies of the neighbour first: a row is what is added
                self._neighbours[first].append((second, np.ascontiguousarray(matrix.T)))
                self._neighbours[second].append((first, np.ascontiguousarray(matrix)))
        self._base = base
        # all strategies of all nodes behind each other
        self._starts = np.cumsum([0, *(len(cost) for cost in base)])
        self._usages = np.concatenate(problem.usages) if count else np.zeros(0)
        self._owner = np.repeat(np.arange(count), np.diff(self._starts))
        self._from = np.array([start for start, _ in problem.intervals], dtype=int)
        self._until = np.array([end for _, end in problem.intervals], dtype=int)
        self._is_small = len(self._free) <= _SMALL
        self._before: list[list[_Link]] = [[] for _ in range(count)]
        self._behind: list[list[_Link]] = [[] for _ in range(count)]
        for node, neighbours in enumerate(self._neighbours):
            for other, prices in neighbours:  # by the strategies of `other` first
                if node < other:
                    link = _Link(other, prices, np.zeros(len(base[node])))
                    back = _Link(
                        node, np.ascontiguousarray(prices.T), np.zeros(len(base[other]))
                    )
                    link.back, back.back = back, link
                    self._behind[node].append(link)
                    self._before[other].append(back)

    def _pass_messages(self, unary: list[Floats], chosen: Ints) -> None:
        """Send messages forward, where nodes choose, and backward."""
        held = chosen.tolist()
        for node in self._free:
            before, behind = self._before[node], self._behind[node]
            belief = unary[node].copy()
            rest = unary[node].copy()
            for link in before:
                belief += link.message
                rest += link.prices[held[link.other]]
            for link in behind:
                belief += link.message
                rest += link.message
            held[node] = int(rest.argmin())
            belief /= max(len(before), len(behind), 1)
            for link in behind:
                _send(belief, link)
        for node in reversed(self._free):
            before, behind = self._before[node], self._behind[node]
            belief = unary[node].copy()
            for link in before:
                belief += link.message
            for link in behind:
                belief += link.message
            belief /= max(len(before), len(behind), 1)
            for link in before:
                _send(belief, link)
        chosen[:] = held

    def solve(self, is_over: Callable[[], bool]) -> tuple[Ints, bool]:
        """Return the best choice that was found, and whether it is feasible.

        Args:
            is_over: is asked between two forests.
        """
        problem = self._problem
        chosen = np.array([int(np.argmin(cost)) for cost in self._base], dtype=int)
        best: Ints | None = None
        best_cost = np.inf
        least = chosen.copy()
        least_over = np.inf
        prices = np.zeros(max(1, problem.times))
        step = 0
        quiet = 0
        while True:
            unary = self._unary(prices)
            if self._is_small and step % _RESTART == 0:
                self._pass_messages(unary, chosen)
            for _ in range(_STEPS):
                self._improve(self._grow(), chosen, unary)
            step += 1
            cost = self._cost(chosen)
            usage = self._usage(chosen)
            over = 0.0
            if problem.limit is not None:
                over = max(0.0, float(usage.max()) / problem.limit - 1)
            quiet += 1
            if over == 0.0 and cost < best_cost:
                best, best_cost, quiet = chosen.copy(), cost, 0
            badness = over + (1e3 if cost >= FORBIDDEN else 0)
            if badness < least_over:
                least, least_over = chosen.copy(), badness
            if is_over() or (quiet > _QUIET and not prices.any() and best is not None):
                break
            if problem.limit is not None:
                self._reprice(prices, usage, problem.limit, cost)
        if best is None or best_cost >= FORBIDDEN:
            return least, False
        return best, True

    def _reprice(
        self, prices: Floats, usage: Floats, limit: float, cost: float
    ) -> None:
        """Raise prices of memory where too much is taken, and lower them elsewhere."""
        over = usage > limit
        if over.any():
            # all memory at one time is first worth a small part of all
            floor = 1e-3 * min(abs(cost), FORBIDDEN / 10) / limit / max(1, over.sum())
            excess = usage[over] / limit - 1
            prices[over] = np.maximum(prices[over], floor) * (
                1 + _RISE + np.minimum(10 * excess, 4)
            )
        below = usage < 0.995 * limit
        prices[below] *= _FALL
        prices[prices < 1e-12 * prices.max(initial=0)] = 0

    def _unary(self, prices: Floats) -> list[Floats]:
        """Return the prices of all strategies of nodes, with that of their memory."""
        if not prices.any():
            return self._base
        sums = np.concatenate(([0.0], np.cumsum(prices)))
        size = len(prices)
        of_node = np.where(
            self._from < self._until,
            sums[np.minimum(self._until, size)] - sums[np.minimum(self._from, size)],
            0.0,
        )
        added = self._usages * of_node[self._owner]
        starts = self._starts
        return [
            cost + added[starts[at] : starts[at + 1]]
            for at, cost in enumerate(self._base)
        ]

    def _cost(self, chosen: Ints) -> float:
        return self._problem.cost(chosen)

    def _usage(self, chosen: Ints) -> Floats:
        taken = self._usages[self._starts[:-1] + chosen]
        alive = self._from < self._until
        changes = np.zeros(self._problem.times + 1)
        np.add.at(changes, self._from[alive], taken[alive])
        np.subtract.at(changes, self._until[alive], taken[alive])
        return np.cumsum(changes)[: max(1, self._problem.times)]

    # Forests

    def _grow(self) -> _Forest:
        """Return a random forest to which no node can be added."""
        order = self._free[:]
        self._random.shuffle(order)
        root = list(range(len(self._base)))
        inside = [False] * len(root)

        def find(node: int) -> int:
            while root[node] != node:
                root[node] = root[root[node]]
                node = root[node]
            return node

        for node in order:
            roots = [
                find(other) for other, _ in self._neighbours[node] if inside[other]
            ]
            if len(set(roots)) == len(roots):
                inside[node] = True
                for one in roots:
                    root[one] = node
        return self._ordered(order, inside)

    def _ordered(self, order: Sequence[int], inside: Sequence[bool]) -> _Forest:
        visited: dict[int, int] = {}
        forest = _Forest([], [], [], [])
        for start in order:
            if not inside[start] or start in visited:
                continue
            stack = [(start, -1)]
            while stack:
                node, parent = stack.pop()
                visited[node] = len(forest.nodes)
                forest.nodes.append(node)
                forest.parents.append(-1 if parent < 0 else visited[parent])
                matrix: Floats | None = None
                outside: list[tuple[int, Floats]] = []
                for other, prices in self._neighbours[node]:
                    if other == parent:
                        matrix = np.ascontiguousarray(prices.T)
                    elif inside[other]:
                        stack.append((other, node))
                    else:
                        outside.append((other, prices))
                forest.matrices.append(matrix)
                forest.outside.append(outside)
        return forest

    @staticmethod
    def _improve(forest: _Forest, chosen: Ints, unary: list[Floats]) -> None:
        """Give the nodes of a forest their best strategies, the others held."""
        nodes, parents = forest.nodes, forest.parents
        sums: list[Floats] = []
        held = chosen.tolist()
        for node, outside in zip(nodes, forest.outside, strict=True):
            total = unary[node].copy()
            for other, prices in outside:
                total += prices[held[other]]
            sums.append(total)
        best: list[Ints | None] = [None] * len(nodes)
        for at in range(len(nodes) - 1, -1, -1):  # children stand behind parents
            matrix = forest.matrices[at]
            if matrix is None:
                continue
            table = matrix + sums[at][:, None]
            best[at] = table.argmin(0)
            sums[parents[at]] += table.min(0)
        picked = [0] * len(nodes)
        for at, node in enumerate(nodes):
            choices = best[at]
            if choices is None:
                picked[at] = int(sums[at].argmin())
            else:
                picked[at] = int(choices[picked[parents[at]]])
            chosen[node] = picked[at]
