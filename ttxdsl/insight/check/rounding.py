"""Roundings at random: how far the order of sums alone may take a program's results.

A program is run again with every result that may be rounded in another way changed by
what its rounding may be, up or down at random: stochastic arithmetic, as CESTAC and
Monte Carlo arithmetic do it. What the runs make of an element differs by as much as
rounding can do to it, whatever is between: sums that cancel, exponentials, comparisons
that flip, steps of a training that has lost its way.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from xdsl.dialects import func
from xdsl.ir import Operation

from ttxdsl.analysis.values.reductions import summed_by
from ttxdsl.dialects.traits import Elementwise, RoundsOnce
from ttxdsl.interpreters.compare import Comparison, compare, root_mean_square
from ttxdsl.interpreters.kernels.elements import epsilon, is_complex, is_float, widen
from ttxdsl.interpreters.mesh.collectives import same_values
from ttxdsl.interpreters.runtime.run import Runner

Array = NDArray[Any]


class RandomRounding:
    """Changes results of ops as rounding may; one object for one run."""

    def __init__(self, seed: int) -> None:
        """The same seed rounds alike."""
        self._generator = np.random.default_rng(seed)
        self._size: dict[Operation, float] = {}

    def _size_of(self, op: Operation) -> float:
        """Return the possible error of an op's result in epsilons."""
        if (size := self._size.get(op)) is None:
            fixed = op.has_trait(RoundsOnce) or isinstance(op, func.CallOp)
            size = self._size[op] = 0.0 if fixed else 2 + sqrt(summed_by(op))
        return size

    def __call__(self, op: Operation, value: Array) -> Array:
        """A result of `op`, rounded otherwise: of the same shape and type.

        Where numbers cancel in a sum its error is that of the summands: an element of
        what is no elementwise op may move by what is small against the whole result.
        """
        if not (is_float(value.dtype) or is_complex(value.dtype)) or not value.size:
            return value
        size = self._size_of(op)
        if not size:
            return value
        wide = widen(value)
        magnitude = np.abs(wide)
        finite = np.isfinite(magnitude)
        moved = magnitude
        if not op.has_trait(Elementwise):
            moved = magnitude + root_mean_square(magnitude[finite])
        sign = self._generator.integers(0, 2, value.shape) * 2 - 1
        step = sign * (size * epsilon(value.dtype) * moved)
        return np.where(finite, wide + step, wide).astype(value.dtype)


_FIRST_RUNS, _RUNS = 4, 16
"""Runs that round at random: one that misses a flip is as likely as one that shows it.

Of thousands of elements that rounding decides the first runs leave a few as they are.
"""

_MARGIN = 8.0
"""How many times what the runs show rounding may do."""


@dataclass(frozen=True, slots=True)
class RoundedRuns:
    """A program on some inputs a few times, rounded at random."""

    runner: Runner
    inputs: Sequence[ArrayLike]
    _results: list[tuple[Array, ...]] = field(default_factory=list[tuple[Array, ...]])
    _exact: list[tuple[Array, ...]] = field(default_factory=list[tuple[Array, ...]])

    def exact(self, at: int) -> Array:
        """Result `at` as it is; the program is run when this is first asked."""
        if not self._exact:
            self._exact.append(self.runner.run(self.inputs))
        return self._exact[0][at]

    def result(self, at: int) -> Iterator[Array]:
        """Result `at` of each run; the program is run again when a run is first asked."""
        for seed in range(_RUNS):
            if seed == len(self._results):
                rounding = RandomRounding(seed)
                self._results.append(self.runner.run(self.inputs, rounding))
            yield self._results[seed][at]


def explained_by_rounding(expected: Array, rounded: Iterable[Array]) -> Array:
    """Return each element's possible error: infinite where rounding decides all of it.

    Rounding decides where it makes a number infinite, or changes an integer or boolean.

    Args:
        expected: a result as it is.
        rounded: the same result of runs that round at random.
    """
    wide = widen(expected)
    allowed = np.zeros(expected.shape)
    for run in rounded:
        other = widen(run)
        same = same_values(wide, other)
        finite = np.isfinite(wide) & np.isfinite(other)
        decided = finite if wide.dtype.kind in "fc" else np.zeros(wide.shape, bool)
        with np.errstate(all="ignore"):
            apart = np.abs(other - wide) if wide.dtype.kind in "fc" else allowed
            off = np.where(same, 0.0, np.where(decided, _MARGIN * apart, np.inf))
        allowed = np.maximum(allowed, off)
    return allowed


def _is_unlike(expected: Array, run: Array) -> bool:
    """Return whether rounding leaves a result no digit: what diverges may overflow."""
    wide, other = widen(expected), widen(run)
    with np.errstate(all="ignore"):
        apart, size = np.abs(other - wide), np.abs(wide)
    finite = np.isfinite(apart)
    moved, whole = (root_mean_square(x[finite]) for x in (apart, size))
    return 2 * moved > whole > 0


def hold(
    actual: Array,
    expected: Array,
    summed: int,
    rounded: Callable[[], Iterable[Array]],
) -> Comparison:
    """A result against what it should be: `rounded` if a tolerance is not enough.

    Args:
        summed: how many numbers the program adds up, see `compare`.
        rounded: asked where that does not explain what was found: `expected` of runs
            that round at random.
    """
    comparison = compare(actual, expected, reduction_length=summed)
    if comparison.equal:
        return comparison
    runs, allowed = iter(rounded()), np.zeros(expected.shape)
    special = ~np.isfinite(widen(actual))
    allowing = comparison
    while some := list(islice(runs, _FIRST_RUNS)):
        allowed = np.maximum(allowed, explained_by_rounding(expected, some))
        if special.any() and any(_is_unlike(expected, run) for run in some):
            allowed[special] = np.inf
        allowing = compare(actual, expected, reduction_length=summed, allowed=allowed)
        if allowing.equal or 2 * allowing.differing > comparison.differing:
            break  # more runs are worth their time where these explained most of it
    return replace(allowing, rounded=True)


def hold_both(
    ours: Array, theirs: Array, summed: int, runs: RoundedRuns, at: int
) -> Comparison:
    """Result `at` of two compilers, one against the other.

    Where a tolerance is not enough, each is held against the program on one device.
    """
    direct = compare(ours, theirs, reduction_length=summed)
    if direct.equal:
        return direct
    expected, rounded = runs.exact(at), partial(runs.result, at)
    if not all(hold(side, expected, summed, rounded).equal for side in (ours, theirs)):
        return direct
    return replace(direct, differing=0, worst=None, first=None, rounded=True)
