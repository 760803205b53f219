"""The comparison of two arrays: are they the same numbers, and how far apart if not.

All comparisons use this module, so that they have one verdict. Where most of two
arrays is NaN or infinite on both sides, nothing was compared: that is no pass, but for
infinities of a mask.

The tolerance follows from the element type (its epsilon) and from how many numbers
were summed to make an element: each addition may round once, and errors of either sign
grow as the root of their number.
"""

from dataclasses import dataclass
from enum import Enum
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttxdsl.interpreters.kernels.elements import DType, epsilon, is_complex, widen

Array = NDArray[Any]

_ROUNDINGS = 16
"""Roundings allowed to an element besides those of its sum."""


class Verdict(Enum):
    """The result of a comparison."""

    PASS = "pass"
    ROUNDED = "pass*"
    """Off by no more than rounding may do to the program on one device."""
    NOTHING = "nothing compared"
    """Equal, and most of it is NaN, or infinite by more than a mask."""
    FAIL = "FAIL"


class Special(NamedTuple):
    """The numbers of NaN and of infinite elements, of `size`, and of those `below` zero."""

    nan: int
    infinite: int
    size: int
    below: int = 0

    @property
    def is_any(self) -> bool:
        """Whether any element is infinite or NaN."""
        return bool(self.nan or self.infinite)

    @property
    def is_most(self) -> bool:
        """Whether more than half of the elements are NaN or infinite.

        Infinities below zero beside finite numbers, and no NaN, are a mask's: where they
        stand was compared. What overflows, as exponentials do, has others, or becomes NaN.
        """
        is_mask = not self.nan and self.below == self.infinite
        if is_mask and self.infinite < self.size:
            return False
        return 2 * (self.nan + self.infinite) > self.size

    def __str__(self) -> str:
        kinds = ((self.nan, "NaN"), (self.infinite, "infinite"))
        counts = ", ".join(f"{count} {kind}" for count, kind in kinds if count)
        return f"{counts or 'none'} of {self.size}"


_NONE = Special(0, 0, 0)


def special_numbers(*arrays: Array) -> Special:
    """Count the elements that are NaN, or else infinite, in one of several arrays."""
    nan = infinite = below = np.zeros(arrays[0].shape, np.bool_)
    for array in arrays:
        wide = _exact(array)
        nan, infinite = nan | np.isnan(wide), infinite | np.isinf(wide)
        below = below | (np.isinf(wide) & np.less(np.real(wide), 0))
    infinite, below = infinite & ~nan, below & ~nan
    return Special(int(nan.sum()), int(infinite.sum()), nan.size, int(below.sum()))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of an array with what it should be.

    `max_abs` and `max_rel` are over elements that are finite in both; `pcc` is the
    Pearson correlation (1.0 when both are constant and close). If the arrays differ,
    `worst` is the index of the element farthest beyond its tolerance, `first` that of
    the first one beyond it in row-major order. `special` counts the elements that are
    NaN or infinite on either side; `rounded` says that a tolerance was not enough.
    """

    max_abs: float
    max_rel: float
    pcc: float
    tolerance: float
    differing: int
    worst: tuple[int, ...] | None
    actual: object = None
    expected: object = None
    first: tuple[int, ...] | None = None
    special: Special = _NONE
    rounded: bool = False

    @property
    def equal(self) -> bool:
        """Whether no element differs, be it a number or not."""
        return not self.differing

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        if self.differing:
            return Verdict.FAIL
        if self.special.is_most:
            return Verdict.NOTHING
        return Verdict.ROUNDED if self.rounded else Verdict.PASS

    @property
    def ok(self) -> bool:
        """Whether the numbers are the same, and there are numbers."""
        return self.verdict in (Verdict.PASS, Verdict.ROUNDED)

    def __str__(self) -> str:
        figures = (
            f"max abs {self.max_abs:.3g}, max rel {self.max_rel:.3g}, "
            f"pcc {self.pcc:.6f}, tolerance {self.tolerance:.3g}"
        )
        if self.special.is_any:
            figures += f", {self.special} elements"
        if self.verdict is Verdict.NOTHING:
            return f"nothing compared: {self.special} elements"
        if self.ok:
            return f"equal ({figures})"
        return (
            f"{self.differing} elements differ, most at {list(self.worst or ())}: "
            f"{self.actual} instead of {self.expected} ({figures})"
        )


def tolerance(dtype: DType, reduction_length: int = 1) -> float:
    """Return the relative error that rounding explains; 0 of integers, booleans."""
    return epsilon(dtype) * (_ROUNDINGS + 4 * sqrt(max(1, reduction_length)))


COMPARED_BYTES = 96
"""Bytes an element that `compare` needs at least: twelve wide copies."""


def compare(
    actual: Array,
    expected: Array,
    *,
    reduction_length: int = 1,
    rtol: float | None = None,
    atol: float | None = None,
    allowed: Array | None = None,
) -> Comparison:
    """Hold `actual` against `expected`, which has the same shape and type.

    An element is right if it is equal (NaN equals NaN, infinities have signs) or off by
    at most `rtol` of its expected size or `atol`. Where sums cancel, the error is not
    small against the element but against the summands: `atol` is, unless given, `rtol`
    of the root mean square of the expected values. `allowed` comes on top of that, for
    each element; where it is infinite, anything is right.

    Raises:
        ValueError: other shapes or types.
    """
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        raise ValueError(
            f"shape {actual.shape} and type {actual.dtype} instead of "
            f"{expected.shape} and {expected.dtype}"
        )
    rtol = tolerance(actual.dtype, reduction_length) if rtol is None else rtol
    if np.array_equal(actual, expected):  # most are, and this takes a tenth of the time
        return Comparison(0.0, 0.0, 1.0, rtol, 0, None, special=special_numbers(actual))
    a, b = _exact(actual), _exact(expected)
    with np.errstate(all="ignore"):
        equal = (a == b) | ((a != a) & (b != b))
        finite = np.isfinite(a) & np.isfinite(b)
        error = np.where(
            finite, np.abs(np.where(finite, a, 0) - np.where(finite, b, 0)), 0
        )
        size = np.where(finite, np.abs(b), 0)
        if atol is None:
            atol = rtol * root_mean_square(size)
        beyond = error - (atol + rtol * size)
        if allowed is not None:
            beyond = beyond - allowed
            equal |= np.isinf(allowed)
        right = equal | (finite & (beyond <= 0))
        relative = np.where(error > 0, error / np.where(size > 0, size, 1), 0)
    wrong = ~right
    worst = first = None
    if wrong.any():
        score = np.where(wrong, np.where(finite, beyond, np.inf), -np.inf)
        worst = tuple(int(i) for i in np.unravel_index(int(score.argmax()), a.shape))
        first = tuple(int(i) for i in np.unravel_index(int(wrong.argmax()), a.shape))
    return Comparison(
        max_abs=float(error.max(initial=0)),
        max_rel=float(relative.max(initial=0)),
        pcc=correlation(a, b),
        tolerance=rtol,
        differing=int(wrong.sum()),
        worst=worst,
        actual=None if worst is None else actual[worst],
        expected=None if worst is None else expected[worst],
        first=first,
        special=special_numbers(a, b),
    )


def root_mean_square(x: Array) -> float:
    """Of finite values of any size, without overflow."""
    largest = float(x.max(initial=0))
    if largest == 0:
        return 0.0
    return largest * float(np.sqrt(np.mean(np.square(x / largest))))


def _exact(x: Array) -> Array:
    """In a type wide enough for differences: f64, complex128, or Python's integers."""
    if is_complex(x.dtype):
        return x.astype(np.complex128)
    x = widen(x)
    if x.dtype.itemsize == 8 and x.dtype.kind in "iu":
        # differences of 64-bit integers: as long doubles they are exact
        return x.astype(np.longdouble)
    return x.astype(np.float64)


def correlation(actual: Array, expected: Array) -> float:
    """Pearson's correlation of the elements that are finite in both."""
    a, b = _exact(actual).reshape(-1), _exact(expected).reshape(-1)
    finite = np.isfinite(a) & np.isfinite(b)
    a, b = a[finite], b[finite]
    if a.size == 0:
        return 1.0
    # scaled, so that squares do not overflow
    largest = max(float(np.abs(a).max()), float(np.abs(b).max())) or 1.0
    a, b = a / largest, b / largest
    da, db = a - a.mean(), b - b.mean()
    scale = float(np.sqrt(np.sum(np.abs(da) ** 2) * np.sum(np.abs(db) ** 2)))
    if scale == 0:
        return 1.0 if bool(np.allclose(a, b)) else 0.0
    return float(np.real(np.sum(da * np.conj(db))) / scale)
