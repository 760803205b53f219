"""Reductions over dimensions: named ones by ufunc, any body by halving.

A reduction's body is evaluated on whole arrays: neighbouring halves are combined until
one element is left, so that a body runs about log2(n) times whatever the size. The
order of operands is kept, as the specification's in-order tree demands.

Source: StableHLO specification, sections reduce, reduce_window, select_and_scatter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttxdsl.interpreters.kernels.contraction import windows
from ttxdsl.interpreters.kernels.elements import compute_dtype, is_complex, widen
from ttxdsl.interpreters.kernels.elementwise import (
    BINARY,
    expand_scalar,
    has_negative_zero,
    lead_shape,
    pad,
)
from ttxdsl.interpreters.kernels.matrices import Operand, Summands
from ttxdsl.interpreters.runtime.threads import (
    LARGE,
    SIZE,
    Stretch,
    outermost_first,
    share,
    stretches,
)

Array = NDArray[Any]
Arrays = tuple[Array, ...]
Combine = Callable[[Arrays, Arrays], Arrays]
"""A body on whole arrays: (accumulated…, next…) -> accumulated…"""

UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""Named reductions, all associative and commutative, by StableHLO name."""

IDEMPOTENT = frozenset({"maximum", "minimum", "and", "or"})

_OF_ZEROS: dict[np.ufunc, float] = {np.maximum: 0.0, np.minimum: -0.0}
"""The zero that IEEE 754 picks of zeros of both signs; NumPy picks either."""

_FEW = 32
"""Windows of at most so many elements are reduced as they are, not by doubling."""


@dataclass(frozen=True, slots=True)
class Reducer:
    """The function that the body of a reduction is.

    Args:
        combine: the body on whole arrays.
        names: for each operand the named reduction that the body applies to it alone,
            or None when it is something else.
    """

    combine: Combine
    names: tuple[str, ...] | None = None

    @staticmethod
    def named(name: str) -> "Reducer":
        """Return the reduction of one operand by a StableHLO op."""
        kernel = BINARY[name]
        return Reducer(lambda a, b: (kernel(a[0], b[0]),), (name,))


_MANY = 1 << 12
"""Elements from which on it pays to look how they lie in memory."""


def reduce_named(
    name: str, x: Array, axes: tuple[int, ...], zero: float = 0.0
) -> Array:
    """`x` reduced over `axes`, which keep extent 1; narrow floats accumulate in f32.

    A sum begins with `zero`: after -0.0 one of negative zeros stays negative.
    """
    if not axes:
        return x
    ufunc = UFUNCS[name]
    if name in IDEMPOTENT and 0 in x.strides:
        # an axis along which memory repeats adds nothing
        cut = tuple(
            slice(0, 1)
            if i in axes and x.strides[i] == 0 and x.shape[i]
            else slice(None)
            for i in range(x.ndim)
        )
        x = x[cut]
    if x.size < LARGE:
        return _reduced(ufunc, x, axes, zero)
    order = outermost_first(x)
    outside = order[: next(at for at, dim in enumerate(order) if dim in axes)]
    if not outside:
        return _reduced(ufunc, x, axes, zero)
    # cuts outside of the reduced dimensions leave NumPy's order of additions as it is
    whole = np.empty([1 if dim in axes else x.shape[dim] for dim in order], x.dtype)
    whole = whole.transpose(np.argsort(order))

    def work(part: Stretch) -> None:
        cuts = dict(zip(outside, part, strict=False))
        here = tuple(cuts.get(dim, slice(None)) for dim in range(x.ndim))
        whole[here] = _reduced(ufunc, x[here], axes, zero)

    shape = [x.shape[dim] for dim in outside]
    share(work, stretches(shape, SIZE * prod(shape) // x.size))
    return whole


def _reduced(ufunc: np.ufunc, x: Array, axes: tuple[int, ...], zero: float) -> Array:
    wide = widen(x)
    result = _extremes_of_rows(ufunc, wide, axes)
    if result is None:
        first: dict[str, Any] = {}
        if ufunc is np.add:
            first["initial"] = complex(zero, zero) if is_complex(x.dtype) else zero
        result = ufunc.reduce(wide, axis=axes, keepdims=True, dtype=wide.dtype, **first)
    wanted = _OF_ZEROS.get(ufunc)
    if wanted is not None and not result.all() and has_negative_zero(wide):
        there = (wide == 0) & (np.signbit(wide) == np.signbit(wanted))
        signed = np.where(there.any(axis=axes, keepdims=True), wanted, -wanted)
        result = np.where(result == 0, signed.astype(wide.dtype), result)
    return np.asarray(result).astype(x.dtype, copy=False)


def _extremes_of_rows(ufunc: np.ufunc, x: Array, axes: tuple[int, ...]) -> Array | None:
    """Reduce rows that lie together in memory by maximum or minimum, or return None.

    As `ufunc.reduce` has it, which takes 50 ns to begin with a row: rows of 64 elements
    are done in a third of its time, those of 512 in half. In which order is all the same.
    """
    kept = x.shape[: x.ndim - len(axes)]
    if ufunc not in _OF_ZEROS or x.size < _MANY or not x.flags.c_contiguous:
        return None
    if sorted(axes) != [*range(len(kept), x.ndim)]:
        return None
    starts = np.arange(0, x.size, x.size // prod(kept))
    return ufunc.reduceat(x.reshape(-1), starts).reshape(*kept, *(1,) * len(axes))


def _usable(name: str, x: Array) -> bool:
    """Whether NumPy's ufunc means what StableHLO means for these elements."""
    return not (is_complex(x.dtype) and name in ("maximum", "minimum"))


def fold(arrays: Arrays, axis: int, combine: Combine) -> Arrays:
    """`arrays` reduced along `axis` (of at least one element), which keeps extent 1."""
    size = arrays[0].shape[axis]

    def cut(x: Array, which: slice) -> Array:
        return x[(slice(None),) * axis + (which,)]

    while size > 1:
        even = 2 * (size // 2)
        left = tuple(cut(x, slice(0, even, 2)) for x in arrays)
        right = tuple(cut(x, slice(1, even, 2)) for x in arrays)
        halves = combine(left, right)
        if even < size:
            halves = tuple(
                np.concatenate([half, cut(x, slice(even, None))], axis=axis)
                for half, x in zip(halves, arrays, strict=True)
            )
        arrays = halves
        size = arrays[0].shape[axis]
    return arrays


def reduce_axes(arrays: Arrays, axes: tuple[int, ...], reducer: Reducer) -> Arrays:
    """`arrays` (of one shape) reduced over absolute `axes`, which keep extent 1."""
    if not axes:
        return arrays
    names = reducer.names
    if names is not None and all(map(_usable, names, arrays)):
        return tuple(
            reduce_named(name, x, axes, -0.0)
            for name, x in zip(names, arrays, strict=True)
        )
    # the last dimension first: that is row-major order
    for axis in sorted(axes, reverse=True):
        arrays = fold(arrays, axis, reducer.combine)
    return arrays


def reduce(
    arrays: Sequence[Array],
    inits: Sequence[Array],
    rank: int,
    dims: Sequence[int],
    reducer: Reducer,
) -> Arrays:
    """Return the `reduce` op: tensor dimensions `dims` go, `inits` take part once.

    How often they do is the implementation's choice; like XLA, not at all if no
    dimension goes.
    """
    if not dims:
        return tuple(arrays)
    lead = lead_shape(*((x, rank) for x in arrays), *((x, 0) for x in inits))
    local = arrays[0].shape[arrays[0].ndim - rank :]
    kept = [n for i, n in enumerate(local) if i not in dims]
    starts = tuple(
        np.broadcast_to(expand_scalar(init, len(kept)), (*lead, *kept))
        for init in inits
    )
    if any(local[dim] == 0 for dim in dims):
        return starts
    if len(arrays) > 1 or reducer.names is None:
        arrays = [np.broadcast_to(x, (*lead, *local)) for x in arrays]
    axes = tuple(arrays[0].ndim - rank + dim for dim in sorted(dims))
    reduced = reduce_axes(tuple(arrays), axes, reducer)
    squeezed = tuple(x.reshape((*x.shape[: x.ndim - rank], *kept)) for x in reduced)
    return reducer.combine(starts, squeezed)


def _double(
    arrays: Arrays, axis: int, width: int, gap: int, combine: Combine
) -> Arrays:
    """Running reductions of `width` elements, `gap` apart, from each place on.

    Spans of 1, 2, 4, … elements are combined as the bits of `width` ask for.
    """

    def cut(xs: Arrays, start: int, count: int) -> Arrays:
        index = (slice(None),) * axis + (slice(start, start + count),)
        return tuple(x[index] for x in xs)

    places = arrays[0].shape[axis] - (width - 1) * gap
    done: Arrays | None = None
    reach, span = 0, 1
    while True:
        if width & span:
            part = cut(arrays, reach * gap, places)
            done = part if done is None else combine(done, part)
            reach += span
        if reach == width:
            assert done is not None
            return done
        longer = arrays[0].shape[axis] - span * gap
        arrays = combine(cut(arrays, 0, longer), cut(arrays, span * gap, longer))
        span *= 2


def reduce_window(
    arrays: Sequence[Array],
    inits: Sequence[Array],
    window: Sequence[int],
    strides: Sequence[int],
    base_dilations: Sequence[int],
    window_dilations: Sequence[int],
    padding: Sequence[tuple[int, int]],
    reducer: Reducer,
) -> Arrays:
    """Reduce every window of the padded operands, as the `reduce_window` op."""
    rank = len(window)
    lead = lead_shape(*((x, rank) for x in arrays), *((x, 0) for x in inits))
    low = [edge for edge, _ in padding]
    high = [edge for _, edge in padding]
    gaps = [step - 1 for step in base_dilations]
    padded = tuple(
        pad(np.broadcast_to(x, lead + x.shape[x.ndim - rank :]), init, low, high, gaps)
        for x, init in zip(arrays, inits, strict=True)
    )
    local = padded[0].shape[len(lead) :]
    spans = [(n - 1) * gap + 1 for n, gap in zip(window, window_dilations, strict=True)]
    places = tuple(
        max(0, (size - span) // step + 1)
        for size, span, step in zip(local, spans, strides, strict=True)
    )
    starts = tuple(
        np.broadcast_to(expand_scalar(init, rank), (*lead, *places)) for init in inits
    )
    if 0 in places or 0 in window:
        return starts
    names = reducer.names
    named = names is not None and all(map(_usable, names, padded))
    if named and prod(window) <= _FEW:
        axes = tuple(range(len(lead) + rank, len(lead) + 2 * rank))
        views = (windows(x, window, strides, window_dilations) for x in padded)
        reduced = reduce_axes(tuple(views), axes, reducer)
        reduced = tuple(x.reshape((*lead, *places)) for x in reduced)
    else:
        reduced = padded
        for dim in reversed(range(rank)):
            axis = len(lead) + dim
            reduced = _double(
                reduced, axis, window[dim], window_dilations[dim], reducer.combine
            )
            step = (slice(None),) * axis + (slice(None, None, strides[dim]),)
            reduced = tuple(x[step] for x in reduced)
    return reducer.combine(starts, reduced)


@dataclass(frozen=True, slots=True)
class AllReducer:
    """The reduction of a collective's one operand over axes of devices.

    By halving, also where NumPy could add by itself: the order in which that adds depends
    on how an array lies in memory, and engines keep devices' values differently.
    """

    reducer: Reducer

    def __call__(self, x: Operand, axes: tuple[int, ...]) -> Array:
        """Reduced over `axes`, which keep extent 1."""
        names = self.reducer.names
        if isinstance(x, Summands):
            result = None
            if names is not None and names[0] not in IDEMPOTENT:
                result = x.combined(axes, UFUNCS[names[0]])
            return self(np.asarray(x), axes) if result is None else result
        reduced = x if names is None else x.astype(compute_dtype(x.dtype), copy=False)
        # the last axis first: that is row-major order
        for axis in sorted(axes, reverse=True):
            reduced = _fold_in_parts(reduced, axis, self.reducer.combine)
        return reduced if names is None else reduced.astype(x.dtype, copy=False)


def _fold_in_parts(x: Array, axis: int, combine: Combine) -> Array:
    """`fold`, one stretch of the other dimensions after the other where `x` is large."""
    (line,) = x.shape[axis : axis + 1]
    if x.size < LARGE or line < 2:
        return fold((x,), axis, combine)[0]
    order = [dim for dim in outermost_first(x) if dim != axis]
    y = x.transpose((*order, axis))
    whole = np.empty((*y.shape[:-1], 1), x.dtype)

    def work(part: Stretch) -> None:
        (whole[part],) = fold((y[part],), x.ndim - 1, combine)

    share(work, stretches(y.shape[:-1], 4 * SIZE // line))
    return whole.transpose(np.argsort((*order, axis)))
