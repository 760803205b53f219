"""The same problem as an integer program, for HiGHS by way of SciPy."""

from importlib import import_module
from typing import Any

import numpy as np

from ttxdsl.insight.doctor.solving.problem import FORBIDDEN, Ints, Problem


def solve_exactly(problem: Problem, seconds: float) -> tuple[Ints, bool] | None:
    """Return the best choice HiGHS finds, and whether it proved it; None if it has none.

    A variable for each strategy is one if it is chosen. One for each pair of strategies of
    an edge, whose sums are those of its ends, has the edge's price.

    Raises:
        ImportError: SciPy is not installed.
    """
    optimize: Any = import_module("scipy.optimize")
    sparse: Any = import_module("scipy.sparse")
    starts = np.cumsum([0, *(len(cost) for cost in problem.costs)])
    prices = [np.concatenate(problem.costs)]
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    bounds: list[tuple[float, float]] = []

    def row(entries: list[tuple[int, float]], low: float, high: float) -> None:
        at = len(bounds)
        bounds.append((low, high))
        for column, value in entries:
            rows.append(at)
            columns.append(column)
            values.append(value)

    for at in range(len(problem.costs)):
        row([(column, 1.0) for column in range(starts[at], starts[at + 1])], 1, 1)
    count = int(starts[-1])
    for first, second, matrix in problem.edges:
        number, height = matrix.shape
        prices.append(matrix.reshape(-1))
        for own in range(number):
            pair = [(count + own * height + other, 1.0) for other in range(height)]
            row([*pair, (int(starts[first]) + own, -1.0)], 0, 0)
        for other in range(height):
            pair = [(count + own * height + other, 1.0) for own in range(number)]
            row([*pair, (int(starts[second]) + other, -1.0)], 0, 0)
        count += matrix.size
    if problem.limit is not None:
        for time in _times(problem):
            entries = [
                (int(starts[at]) + strategy, float(usage) / problem.limit)
                for at, (begin, end) in enumerate(problem.intervals)
                if begin <= time < end
                for strategy, usage in enumerate(problem.usages[at])
                if usage
            ]
            row(entries, -np.inf, 1.0)
    price = np.concatenate(prices)
    positive = price[(price > 0) & (price < FORBIDDEN)]
    scale = max(1.0, float(np.median(positive))) if positive.size else 1.0
    choices = np.arange(count) < starts[-1]
    answer = optimize.milp(
        np.where(price < FORBIDDEN, price / scale, 0.0),
        integrality=choices.astype(int),
        bounds=optimize.Bounds(0, np.where(price < FORBIDDEN, 1.0, 0.0)),
        constraints=optimize.LinearConstraint(
            sparse.csr_matrix((values, (rows, columns)), shape=(len(bounds), count)),
            *np.array(bounds).T,
        ),
        options={"time_limit": seconds},
    )
    if answer.x is None:
        return None
    chosen = np.array(
        [
            int(np.argmax(answer.x[starts[at] : starts[at + 1]]))
            for at in range(len(problem.costs))
        ],
        dtype=int,
    )
    return chosen, bool(answer.status == 0)


def _times(problem: Problem) -> list[int]:
    """Return the times at which memory can be at its most: when something begins."""
    begins = sorted({begin for begin, end in problem.intervals if begin < end})
    alive = [
        frozenset(
            at
            for at, (begin, end) in enumerate(problem.intervals)
            if begin <= time < end and problem.usages[at].any()
        )
        for time in begins
    ]
    return [
        time
        for number, (time, own) in enumerate(zip(begins, alive, strict=True))
        if not (number + 1 < len(alive) and own < alive[number + 1])
    ]
