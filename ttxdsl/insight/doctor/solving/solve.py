"""Solving a problem: made smaller, then by descent, and exactly by HiGHS if it is small."""

from dataclasses import dataclass
from time import monotonic

import numpy as np

from ttxdsl.insight.doctor.solving.descent import Descent
from ttxdsl.insight.doctor.solving.exact import solve_exactly
from ttxdsl.insight.doctor.solving.presolve import Presolve
from ttxdsl.insight.doctor.solving.problem import Ints, Problem

_MOST_EXACT = 200_000
"""Entries of all edges; of more HiGHS has no solution in a minute."""
_FIRST = 0.2
"""The part of the time that is left for a choice that HiGHS may not find."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A choice for each node.

    Attributes:
        is_feasible: whether nothing forbidden is chosen and the memory is enough.
    """

    chosen: Ints
    cost: float
    is_feasible: bool


def solve(problem: Problem, seconds: float, seed: int = 0) -> Solution:
    """Return the best choice that is found in so many seconds.

    Without SciPy, which has HiGHS, that is what the descent finds.
    """
    if not problem.costs:
        return Solution(np.zeros(0, dtype=int), 0.0, True)
    start = monotonic()
    end = start + seconds
    presolve = Presolve(problem, lambda: monotonic() >= start + 0.6 * seconds)
    smaller = presolve.problem
    is_small = sum(matrix.size for *_, matrix in smaller.edges) <= _MOST_EXACT
    left = end - monotonic()
    until = monotonic() + (_FIRST * left if is_small else left)
    choices, _ = Descent(smaller, seed).solve(lambda: monotonic() >= until)
    chosen = presolve.expand(choices)
    solution = Solution(chosen, problem.cost(chosen), problem.is_feasible(chosen))
    if not is_small:
        return solution
    try:
        exact = solve_exactly(smaller, max(1.0, end - monotonic()), choices)
    except ImportError:
        return solution
    if exact is None:
        return solution
    chosen = presolve.expand(exact)
    cost = problem.cost(chosen)
    if not problem.is_feasible(chosen) or (
        solution.is_feasible and cost > solution.cost
    ):
        return solution
    return Solution(chosen, cost, True)
