"""Solving a problem: exactly by HiGHS where it is small, else, and first, by descent."""

from dataclasses import dataclass
from time import monotonic

import numpy as np

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.doctor.solving.descent import Descent
from ttxdsl.insight.doctor.solving.exact import solve_exactly
from ttxdsl.insight.doctor.solving.problem import Ints, Problem

_MOST_EXACT = 200_000
"""Entries of all edges; of more HiGHS has no solution in a minute."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A choice for each node.

    Attributes:
        chosen: the strategies.
        cost: the sum of prices.
        is_feasible: whether nothing forbidden is chosen and the memory is enough.
        is_optimal: whether it is known that no other is cheaper.
    """

    chosen: Ints
    cost: float
    is_feasible: bool
    is_optimal: bool = False


def solve(problem: Problem, seconds: float, seed: int = 0) -> Solution:
    """Return the best choice that is found in so many seconds.

    Raises:
        CompileError: SciPy, which has HiGHS, is not installed.
    """
    end = monotonic() + seconds
    entries = sum(matrix.size for _, _, matrix in problem.edges)
    is_small = entries <= _MOST_EXACT
    until = monotonic() + seconds / 3 if is_small else end
    chosen, is_feasible = Descent(problem, seed).solve(lambda: monotonic() >= until)
    solution = Solution(chosen, problem.cost(chosen), is_feasible)
    if not is_small:
        return solution
    try:
        exact = solve_exactly(problem, max(1.0, end - monotonic()))
    except ImportError as error:
        raise CompileError(
            "choosing shardings needs a solver: SciPy, which has HiGHS",
            hint="pip install 'ttxdsl[solver]'",
        ) from error
    if exact is None:
        return solution
    chosen, is_optimal = exact
    cost = problem.cost(chosen)
    if not problem.is_feasible(chosen) or (is_feasible and cost > solution.cost):
        return solution
    return Solution(np.asarray(chosen), cost, True, is_optimal)
