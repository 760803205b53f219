"""Messages between nodes, then descent over forests, while memory gets its price.

Messages (min-sum belief propagation, damped) tell each node what its strategies cost all
that is behind a neighbour; a choice read from them is near the best where there are few
cycles. Descent improves it. A forest is a set of nodes whose edges among each other have no
cycle: with all other nodes held, dynamic programming finds its best choice exactly, so a
step never makes the sum of prices larger.

Memory has a price at each time, which rises and falls with what a choice takes of it
(exponentiated subgradients of the Lagrangian). A choice that takes too much is repaired:
prices rise further where it does, until descent gives the memory back. What was feasible and
least is kept.

All messages, and all trees of a forest, a level after the other, are computed at once: the
prices of all edges lie behind each other in one array.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from ttxdsl.insight.doctor.solving.problem import FORBIDDEN, Floats, Ints, Problem

Places = NDArray[np.int32]
"""Indices into the prices of all edges, of which there are many."""

_FORESTS, _TREE = 12, 200
"""Forests that are used by turns, and the most nodes of a tree, which bounds its depth."""
_FIRST_SWEEPS, _SWEEPS, _POLISH = 15, 3, 3
"""Exchanges of messages at first and in a round, and forests that are improved after."""
_DAMPING = 0.5
"""The weight of the old message in an update."""
_REPAIRS = 8
"""How often prices rise for one choice that takes too much memory."""
_STEP, _CYCLE = 2.0, 60
"""By which power of e a price of memory grows where twice the limit is taken; it falls
with the rounds, and is this again after so many."""
_QUIET = 20
"""Rounds without anything better after which a problem without a limit is solved."""


def ranges(starts: Ints, counts: Ints) -> Ints:
    """Return `start, start + 1, …` for each start, behind each other."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(int(counts.sum()))


def first_least(values: Floats, counts: Ints) -> Ints:
    """Return the place of the least value in each of the runs that values consist of."""
    starts = np.cumsum(counts) - counts
    least = np.minimum.reduceat(values, starts)
    run = np.repeat(np.arange(len(counts)), counts)
    places = np.flatnonzero(values == least[run])
    of_run = run[places]
    return places[np.diff(of_run, prepend=-1) != 0] - starts


@dataclass(frozen=True, slots=True)
class _Level:
    """The edges from some parents to their children, all of which are equally deep.

    Attributes:
        edges: by parents first.
        entries: the places of their prices.
        behind: of each the slot of the child's strategy.
        rows: where the prices of each of the parents' strategies begin.
    """

    edges: Ints
    entries: Places
    behind: Places
    rows: Ints
    slots: Ints


@dataclass(frozen=True, slots=True)
class _Forest:
    """A forest.

    Attributes:
        levels: from the roots on.
        outside: edges from other nodes, these first.
        slots: where the prices of these are added.
    """

    roots: Ints
    levels: list[_Level]
    outside: Ints
    slots: Ints


class _Messages:
    """The messages to each end of each edge about the other: a price for each strategy."""

    def __init__(self, counts: Ints, first: Ints, source: Ints, target: Ints):
        heights, widths = counts[source], counts[target]
        edges = len(source) // 2
        row_widths = np.repeat(widths, heights)
        self._widths = widths
        self._starts = np.cumsum(widths) - widths
        self._slots = ranges(first[target], widths)
        self._rows = np.cumsum(row_widths) - row_widths
        begins = np.repeat(self._starts, heights)
        self._columns = ranges(begins, row_widths).astype(np.int32)
        # a block's rows yield the message of the same edge in the other direction
        back = np.concatenate((np.arange(edges) + edges, np.arange(edges)))
        self._turned = ranges(self._starts[back], heights)
        self._messages = np.zeros(int(widths.sum()))

    def beliefs(self, unary: Floats) -> Floats:
        """Return the price of each strategy of a node plus its neighbours' messages."""
        return unary + np.bincount(self._slots, self._messages, len(unary))

    def sweep(self, unary: Floats, prices: Floats) -> None:
        """Send all messages anew."""
        if not len(self._starts):
            return
        without = self.beliefs(unary)[self._slots] - self._messages
        table = prices + without[self._columns]
        new = np.empty_like(self._messages)
        new[self._turned] = np.minimum.reduceat(table, self._rows)
        new -= np.repeat(np.minimum.reduceat(new, self._starts), self._widths)
        self._messages = _DAMPING * self._messages + (1 - _DAMPING) * new


class Descent:
    """A search for one problem."""

    def __init__(self, problem: Problem, seed: int = 0):
        self._problem, self._random = problem, Random(seed)
        counts = self._counts = np.array([len(c) for c in problem.costs], dtype=int)
        # all strategies of all nodes behind each other
        self._first = np.cumsum(counts) - counts
        self._base = np.concatenate([*problem.costs, np.zeros(0)])
        pairs = np.array([(a, b) for a, b, _ in problem.edges], dtype=int)
        pairs = pairs.reshape(-1, 2)
        self._edges = len(pairs)
        # each edge by its first end, then all by their second
        self._from = np.concatenate((pairs[:, 0], pairs[:, 1]))
        self._to = np.concatenate((pairs[:, 1], pairs[:, 0]))
        sizes = counts[self._from] * counts[self._to]
        self._at = np.cumsum(sizes) - sizes
        flat: list[Floats] = [matrix.reshape(-1) for *_, matrix in problem.edges]
        flat += [matrix.T.reshape(-1) for *_, matrix in problem.edges]
        self._prices = np.concatenate([*flat, np.zeros(0)])
        self._links: list[list[tuple[int, int]]] = [[] for _ in problem.costs]
        for number, (first, second, _) in enumerate(problem.edges):
            self._links[first].append((second, number))
            self._links[second].append((first, number + self._edges))
        self._free = [at for at, count in enumerate(counts.tolist()) if count > 1]
        self._forests: list[_Forest] = []
        self._improved = 0
        self._best: Ints | None = None
        self._best_cost = np.inf
        self._least, self._least_over = first_least(self._base, counts), np.inf
        self._quiet = 0

    def solve(self, is_over: Callable[[], bool]) -> tuple[Ints, bool]:
        """Return the best choice that was found, and whether it is feasible.

        Args:
            is_over: is asked between two forests and between two sweeps of messages.
        """
        problem = self._problem
        prices = np.zeros(max(1, problem.times))
        messages = _Messages(self._counts, self._first, self._from, self._to)
        round_ = 0
        while True:
            unary = self._unary(prices)
            for _ in range(_SWEEPS if round_ else _FIRST_SWEEPS):
                if not is_over():
                    messages.sweep(unary, self._prices)
            chosen = first_least(messages.beliefs(unary), self._counts)
            for _ in range(_POLISH):
                if not is_over():
                    self._improve(chosen, unary)
            usage = self._note(chosen)
            if problem.limit is None:
                if is_over() or self._quiet > _QUIET:
                    break
            else:
                self._repair(chosen.copy(), usage, prices, problem.limit, is_over)
                if is_over():
                    break
                step = _STEP / (1 + round_ % _CYCLE / 10)
                self._reprice(prices, usage, problem.limit, step)
            round_ += 1
        if self._best is None or self._best_cost >= FORBIDDEN:
            return self._least, False
        return self._best, True

    def cost(self, chosen: Ints) -> float:
        """Return the sum of prices of a choice."""
        half = slice(0, self._edges)
        source, target = self._from[half], self._to[half]
        places = self._at[half] + chosen[source] * self._counts[target] + chosen[target]
        return float(self._base[self._first + chosen].sum()) + float(
            self._prices[places].sum()
        )

    def _unary(self, prices: Floats) -> Floats:
        """Return the prices of all strategies of nodes, with that of their memory."""
        if not prices.any():
            return self._base
        return self._base + self._problem.unary(prices)

    def _note(self, chosen: Ints) -> Floats:
        """Keep a choice if it is the best so far; return its memory."""
        cost, usage = self.cost(chosen), self._problem.usage(chosen)
        over = self._over(usage)
        self._quiet += 1
        if over == 0.0 and cost < self._best_cost:
            self._best, self._best_cost, self._quiet = chosen.copy(), cost, 0
        badness = over + (1e3 if cost >= FORBIDDEN else 0)
        if badness < self._least_over:
            self._least, self._least_over = chosen.copy(), badness
        return usage

    def _over(self, usage: Floats) -> float:
        limit = self._problem.limit
        return 0.0 if limit is None else max(0.0, float(usage.max()) / limit - 1)

    def _repair(
        self,
        chosen: Ints,
        usage: Floats,
        prices: Floats,
        limit: float,
        is_over: Callable[[], bool],
    ) -> None:
        """Raise the price of memory until a choice is feasible."""
        raised = prices.copy()
        # until there is a choice at all, one that is nearly feasible is worth more
        repairs = _REPAIRS if self._best is not None else 5 * _REPAIRS
        for _ in range(repairs):
            over = usage > limit
            if not over.any() or is_over():
                break
            excess = usage[over] / limit - 1
            floor = 1e-3 * self._worth(chosen) / limit / over.sum()
            raised[over] = np.maximum(raised[over], floor) * (
                1.3 + np.minimum(10 * excess, 4)
            )
            unary = self._unary(raised)
            for _ in range(2):
                self._improve(chosen, unary)
            usage = self._note(chosen)

    def _worth(self, chosen: Ints) -> float:
        return min(abs(self.cost(chosen)), self._best_cost, FORBIDDEN / 10)

    def _reprice(
        self, prices: Floats, usage: Floats, limit: float, step: float
    ) -> None:
        """Raise prices of memory where too much is taken, and lower them elsewhere."""
        over = usage > limit
        if over.any():
            worth = min(self._best_cost, FORBIDDEN / 10)
            if not np.isfinite(self._best_cost):
                worth = self._worth(self._least)
            floor = 1e-2 * worth / limit / over.sum()
            prices[over] = np.maximum(prices[over], floor)
        prices *= np.exp(np.clip(step * (usage / limit - 1), -1, 1.5))
        prices[prices < 1e-9 * prices.max(initial=0)] = 0

    # Forests

    def _forest(self) -> _Forest:
        """Return a forest: the first calls build new ones, later calls reuse them."""
        number, self._improved = self._improved, self._improved + 1
        if number < _FORESTS:
            self._forests.append(self._grow())
        elif number % _FORESTS == 0:
            self._random.shuffle(self._forests)
        return self._forests[number % _FORESTS]

    def _grow(self) -> _Forest:
        """Return a random forest of small trees, to which hardly a node can be added."""
        order = self._free[:]
        self._random.shuffle(order)
        root = list(range(len(self._links)))
        size = [1] * len(root)
        inside = [False] * len(root)

        def find(node: int) -> int:
            while root[node] != node:
                root[node] = root[root[node]]
                node = root[node]
            return node

        for node in order:
            roots = [find(other) for other, _ in self._links[node] if inside[other]]
            total = 1 + sum(size[tree] for tree in roots)
            if len(set(roots)) == len(roots) and total <= _TREE:
                inside[node] = True
                size[node] = total
                for tree in roots:
                    root[tree] = node
        return self._layered(order, inside)

    def _layered(self, order: list[int], inside: list[bool]) -> _Forest:
        visited = [not member for member in inside]
        roots: list[int] = []
        levels: list[list[int]] = []
        for start in order:
            if visited[start]:
                continue
            roots.append(start)
            visited[start] = True
            at, depth = [start], 0
            while at:
                behind: list[int] = []
                edges: list[int] = []
                for node in at:
                    for other, edge in self._links[node]:
                        if not visited[other]:
                            visited[other] = True
                            behind.append(other)
                            edges.append(edge)
                if edges:
                    if depth == len(levels):
                        levels.append([])
                    levels[depth] += edges
                at, depth = behind, depth + 1
        is_inside = np.array(inside, dtype=bool)
        (outside,) = np.nonzero(~is_inside[self._from] & is_inside[self._to])
        ends = self._to[outside]
        return _Forest(
            np.array(roots, dtype=int),
            [self._level(np.array(edges, dtype=int)) for edges in levels],
            outside,
            ranges(self._first[ends], self._counts[ends]),
        )

    def _level(self, edges: Ints) -> _Level:
        parents, children = self._from[edges], self._to[edges]
        heights, widths = self._counts[parents], self._counts[children]
        row_widths = np.repeat(widths, heights)
        return _Level(
            edges,
            ranges(self._at[edges], heights * widths).astype(np.int32),
            ranges(np.repeat(self._first[children], heights), row_widths).astype(
                np.int32
            ),
            np.cumsum(row_widths) - row_widths,
            ranges(self._first[parents], heights),
        )

    def _improve(self, chosen: Ints, unary: Floats) -> None:
        """Give the nodes of a forest their best strategies while all others stay fixed."""
        forest = self._forest()
        counts, sums = self._counts, unary.copy()
        rows = self._rows(forest.outside, chosen)
        np.add.at(sums, forest.slots, self._prices[rows])
        for level in reversed(forest.levels):
            table = self._prices[level.entries] + sums[level.behind]
            np.add.at(sums, level.slots, np.minimum.reduceat(table, level.rows))
        roots = forest.roots
        if len(roots):
            slots = ranges(self._first[roots], counts[roots])
            chosen[roots] = first_least(sums[slots], counts[roots])
        for level in forest.levels:
            children = self._to[level.edges]
            slots = ranges(self._first[children], counts[children])
            values = self._prices[self._rows(level.edges, chosen)] + sums[slots]
            chosen[children] = first_least(values, counts[children])

    def _rows(self, edges: Ints, chosen: Ints) -> Ints:
        """Return the places of the prices of edges, their first ends as they are chosen."""
        widths = self._counts[self._to[edges]]
        return ranges(self._at[edges] + chosen[self._from[edges]] * widths, widths)
