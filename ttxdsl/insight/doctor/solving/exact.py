"""The same problem as an integer program, for HiGHS by way of SciPy."""

from importlib import import_module
from itertools import pairwise
from time import monotonic
from typing import Any

import numpy as np

from ttxdsl.insight.doctor.solving.problem import FORBIDDEN, Floats, Ints, Problem

_MOST_PEAKS = 24
"""Times whose memory becomes a row of the program at once."""
_GAP = 1e-3
"""Of the least price known: less is not worth looking for."""


def solve_exactly(problem: Problem, seconds: float, known: Ints) -> Ints | None:
    """Return the best choice HiGHS finds; None if it has none.

    A variable for each strategy is one if it is chosen. One for each pair of strategies of
    an edge, whose sums are those of its ends, has the edge's price. Memory is limited at
    the peaks of a known choice, and again where a choice takes too much.

    Raises:
        ImportError: SciPy is not installed.
    """
    end = monotonic() + seconds
    program = _Program(problem)
    times: set[int] = set()
    if problem.limit is not None:
        times |= _peaks(problem.usage(known), 0.9 * problem.limit)
    while (left := end - monotonic()) > 0:
        chosen = program.solve(sorted(times), left)
        if chosen is None or problem.limit is None:
            return chosen
        more = _peaks(problem.usage(chosen), problem.limit) - times
        if not more:
            return chosen
        times |= more
    return None


def _peaks(usage: Floats, limit: float) -> set[int]:
    """Return times above a limit at which memory is at its most, the highest ones."""
    padded = np.concatenate(([-np.inf], usage, [-np.inf]))
    is_peak = (usage >= padded[:-2]) & (usage > padded[2:]) & (usage > limit)
    peaks = np.flatnonzero(is_peak)
    return set(peaks[np.argsort(-usage[peaks])][:_MOST_PEAKS].tolist())


class _Program:
    """The integer program without rows for memory."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._optimize: Any = import_module("scipy.optimize")
        self._sparse: Any = import_module("scipy.sparse")
        counts = np.array([len(cost) for cost in problem.costs], dtype=int)
        starts = self._starts = np.concatenate(([0], np.cumsum(counts)))
        prices = [np.concatenate(problem.costs)]
        rows = [np.repeat(np.arange(len(counts)), counts)]
        columns = [np.arange(int(starts[-1]))]
        values = [np.ones(int(starts[-1]))]
        bounds = [np.ones(len(counts))]
        row, column = len(counts), int(starts[-1])
        for first, second, matrix in problem.edges:
            prices.append(matrix.reshape(-1))
            own, other = np.indices(matrix.shape)
            pairs = column + np.arange(matrix.size)
            for node, strategies in ((first, own), (second, other)):
                count = int(counts[node])
                rows += [row + strategies.reshape(-1), row + np.arange(count)]
                columns += [pairs, starts[node] + np.arange(count)]
                values += [np.ones(matrix.size), -np.ones(count)]
                bounds.append(np.zeros(count))
                row += count
            column += matrix.size
        self._prices = np.concatenate(prices)
        self._matrix: Any = self._sparse.csr_matrix(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
            shape=(row, column),
        )
        self._bounds = np.concatenate(bounds)

    def solve(self, times: list[int], seconds: float) -> Ints | None:
        """Solve it with the memory of some times."""
        prices, starts, limit = self._prices, self._starts, self._problem.limit
        width = len(prices)
        positive = prices[(prices > 0) & (prices < FORBIDDEN)]
        scale = max(1.0, float(np.median(positive))) if positive.size else 1.0
        matrix, low, high = self._matrix, self._bounds, self._bounds
        if times and limit is not None:
            taken = np.zeros((len(times), width))
            for at, time in enumerate(times):
                taken[at, : starts[-1]] = self._problem.taken_at(time) / limit
            matrix = self._sparse.vstack((matrix, self._sparse.csr_matrix(taken)))
            low = np.concatenate((low, np.full(len(times), -np.inf)))
            high = np.concatenate((high, np.ones(len(times))))
        answer = self._optimize.milp(
            np.where(prices < FORBIDDEN, prices / scale, 0.0),
            integrality=(np.arange(width) < starts[-1]).astype(int),
            bounds=self._optimize.Bounds(0, np.where(prices < FORBIDDEN, 1.0, 0.0)),
            constraints=self._optimize.LinearConstraint(matrix, low, high),
            options={"time_limit": seconds, "mip_rel_gap": _GAP},
        )
        if answer.x is None:
            return None
        chosen = [
            int(np.argmax(answer.x[start:stop]))
            for start, stop in pairwise(starts.tolist())
        ]
        return np.array(chosen, dtype=int)
