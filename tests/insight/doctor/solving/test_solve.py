"""The solver finds what trying everything finds."""

from itertools import product

import numpy as np
import pytest

from ttxdsl.insight.doctor.solving.descent import Descent
from ttxdsl.insight.doctor.solving.exact import solve_exactly
from ttxdsl.insight.doctor.solving.presolve import Presolve
from ttxdsl.insight.doctor.solving.problem import FORBIDDEN, Problem
from ttxdsl.insight.doctor.solving.solve import solve

EXAMPLE = Problem.of(
    [[15], [55, 65], [25, 45, 35], [85, 75], [95]],
    [[10], [25, 25], [15, 20, 15], [10, 10], [15]],
    [(30, 70), (40, 70), (50, 120), (110, 140), (110, 150)],
    [
        ([0, 1], [30, 40]),
        ([0, 2], [50, 10, 40]),
        ([1, 3], [90, 10, 20, 80]),
        ([2, 4], [60, 20, 30]),
        ([3, 4], [70, 60]),
    ],
    50,
)
"""The contest's own example."""


def tried(problem: Problem) -> float:
    """The least cost of all choices that are feasible."""
    ranges = [range(len(cost)) for cost in problem.costs]
    choices = (np.array(choice) for choice in product(*ranges))
    return min(
        (problem.cost(one) for one in choices if problem.is_feasible(one)),
        default=np.inf,
    )


def random_problem(seed: int, limit: float | None) -> Problem:
    """Seven nodes in a graph with cycles; some pairs are forbidden."""
    random = np.random.default_rng(seed)
    counts = random.integers(1, 4, 7)
    edges: list[tuple[list[int], list[float]]] = []
    for first in range(7):
        for second in range(first + 1, 7):
            if random.random() < 0.5:
                prices = random.integers(0, 50, counts[first] * counts[second])
                values = [float(price) for price in prices]
                if len(values) > 3:
                    values[0] = 1e18
                edges.append(([first, second], values))
    return Problem.of(
        [random.integers(0, 50, count).tolist() for count in counts],
        [random.integers(1, 20, count).tolist() for count in counts],
        [(at, at + 4) for at in range(7)],
        edges,
        limit,
    )


def test_the_example_of_the_contest():
    assert EXAMPLE.times == 150
    solution = solve(EXAMPLE, 5)
    assert solution.is_feasible
    assert solution.cost == tried(EXAMPLE)
    assert not EXAMPLE.is_feasible(np.array([0, 0, 1, 0, 0]))  # takes 55 at time 50


@pytest.mark.parametrize("limit", [None, 60.0, 35.0])
@pytest.mark.parametrize("seed", range(4))
def test_exact_and_descent(seed: int, limit: float | None):
    problem = random_problem(seed, limit)
    best = tried(problem)
    exact = solve_exactly(problem, 20, np.zeros(len(problem.costs), dtype=int))
    if best == np.inf:
        assert exact is None or not problem.is_feasible(exact)
        return
    assert exact is not None
    assert problem.cost(exact) == pytest.approx(best)
    rounds = iter(range(300))
    chosen, is_feasible = Descent(problem).solve(lambda: next(rounds, None) is None)
    assert problem.is_feasible(chosen) == is_feasible
    if is_feasible:
        assert problem.cost(chosen) <= 1.3 * best


def test_edges_that_repeat_and_that_have_one_end():
    edges = [
        ([0, 1], [1, 2, 3, 4]),
        ([1, 0], [1, 2, 3, 4]),
        ([0], [5, 6]),
        ([1, 1], [1, 0, 0, 2]),
    ]
    problem = Problem.of([[0, 0], [0, 0]], edges=edges)
    assert problem.cost(np.array([0, 1])) == 2 + 3 + 5 + 2
    with pytest.raises(ValueError, match="has 3 prices, not 4"):
        Problem.of([[0, 0], [0, 0]], edges=[([0, 1], [1, 2, 3])])


def test_what_is_forbidden_is_not_feasible():
    problem = Problem.of([[0], [0]], edges=[([0, 1], [1e18])])
    solution = solve(problem, 1)
    assert not solution.is_feasible
    assert solution.cost >= FORBIDDEN


def equal_rows(seed: int) -> Problem:
    """A chain in which neighbours have to choose alike, with a node at each place."""
    random = np.random.default_rng(seed)
    alike = [0.0 if a == b else 1e18 for a in range(3) for b in range(3)]
    edges: list[tuple[list[int], list[float]]] = []
    for at in range(3):
        edges.append(([at, at + 1], alike if at != 1 else random.random(9).tolist()))
        prices = [1e18, *random.integers(0, 50, 8).tolist()]
        edges.append(([at, at + 4], prices))
    return Problem.of(
        [random.integers(0, 50, 3).tolist() for _ in range(7)],
        [random.integers(1, 20, 3).tolist() for _ in range(7)],
        [(at, at + 1 + at % 3) for at in range(7)],
        edges,
        30.0,
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_reduced_problem_has_the_same_best_choice(seed: int):
    for problem in (equal_rows(seed), random_problem(seed, 40.0)):
        presolve = Presolve(problem, lambda: False)
        smaller = presolve.problem
        best = tried(problem)
        assert tried(smaller) == pytest.approx(best)
        ranges = [range(len(cost)) for cost in smaller.costs]
        for choice in product(*ranges):
            chosen = np.array(choice, dtype=int)
            if smaller.cost(chosen) >= FORBIDDEN:
                continue
            whole = presolve.expand(chosen)
            assert problem.cost(whole) == pytest.approx(smaller.cost(chosen))
            assert problem.usage(whole).max() == pytest.approx(
                smaller.usage(chosen).max()
            )
    assert len(Presolve(equal_rows(seed), lambda: False).problem.costs) < 6
