"""Products of matrices by BLAS, in stretches that threads share where they are large.

Products that a collective combines and nothing else reads are never materialized: the
devices' products are combined while they are in a core's cache.
"""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttxdsl.interpreters.kernels import elements
from ttxdsl.interpreters.runtime.threads import (
    LARGE,
    SIZE,
    Stretch,
    blas_alone,
    share,
    stretches,
    threads,
)

Array = NDArray[Any]


def matrix(x: Array) -> Array:
    """Return `x` with last two dimensions that BLAS takes without a copy."""
    item = x.itemsize
    rows, columns = x.strides[-2:]
    height, width = x.shape[-2:]
    if columns == item and rows >= width * item:
        return x
    if rows == item and columns >= height * item:
        return x
    return np.ascontiguousarray(x)


def reshaped(x: Array, shape: Sequence[int]) -> Array:
    """Return `x` in another shape; threads share the work if that needs a large copy."""
    if x.size < LARGE:
        return x.reshape(shape)
    try:
        return x.reshape(shape, copy=False)
    except ValueError:
        whole = np.empty(x.shape, x.dtype)

    def work(part: Stretch) -> None:
        whole[part] = x[part]

    share(work, stretches(x.shape, SIZE))
    return whole.reshape(shape)


def product(x: Array, y: Array, dtype: elements.DType, count: int) -> Array:
    """Products […, M, K] x […, K, N] in the type that `dtype` computes in.

    Args:
        count: how many of the products are those of one device.

    Raises:
        ValueError: complex numbers are to become real ones, which nobody defines.
    """
    if not elements.is_complex(dtype) and (
        elements.is_complex(x.dtype) or elements.is_complex(y.dtype)
    ):
        raise ValueError(f"a product of complex numbers is no {dtype}")
    accumulator = elements.compute_dtype(dtype)
    if elements.is_integer(dtype):
        # BLAS has no integers, but f64 is exact while the sums stay below 2**53
        x, y = elements.widen(x), elements.widen(y)
        bound = _magnitude(x) * _magnitude(y) * x.shape[-1]
        if bound < 1 << 53:
            exact = np.matmul(x.astype(np.float64), y.astype(np.float64))
            return exact.astype(np.int64).astype(accumulator)
        return np.matmul(x.astype(accumulator), y.astype(accumulator))
    if dtype.kind == "b":
        return np.matmul(x, y)
    common = np.result_type(
        elements.compute_dtype(x.dtype), elements.compute_dtype(y.dtype), accumulator
    )
    if common.kind == "c" and count * x.shape[-2] * prod(y.shape[-2:]) <= _FEW:
        # one product after the other, as XLA does: BLAS fuses parts of complex ones
        products = x.astype(common)[..., None] * y.astype(common)[..., None, :, :]
        return np.add.reduce(products, axis=-2)
    x = matrix(x.astype(common, copy=False))
    y = matrix(y.astype(common, copy=False))
    return multiplied(x, y)


_FEW = 1 << 14
"""Complex products that are added in order."""

_SMALL = 1 << 18
"""Multiplications of a product for which BLAS takes one thread anyway."""

_SHARE = 1 << 24
"""Multiplications that are worth a turn of their own: a fraction of a millisecond."""

_TURNS = 4
"""Stretches of a product, if they are worth it: enough that threads end together."""

_TOGETHER = 1 << 26
"""Elements of all devices' products that may be in memory at once."""

_LINES = 512
"""Rows (or columns) of a large product at a time, which reads the other side again."""


class _Cut:
    """Products […, M, K] x […, K, N], cut along M or N, whichever is longer."""

    def __init__(self, x: Array, y: Array) -> None:
        rows, columns = x.shape[-2], y.shape[-1]
        self.lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        self.x, self.y = (
            operand
            if operand.shape[:-2] == self.lead
            else np.broadcast_to(operand, (*self.lead, *operand.shape[-2:]))
            for operand in (x, y)
        )
        self.shape = rows, columns
        self.by_rows = rows >= columns
        self.lines, self.across = max(rows, columns), min(rows, columns)
        self.multiplications = rows * x.shape[-1] * columns
        """Multiplications of a product."""

    @property
    def is_large(self) -> bool:
        """Whether it is worth it that threads share them."""
        return self.multiplications * prod(self.lead) >= 2 * _SHARE

    def lines_of(self, part: Stretch) -> tuple[Stretch, Stretch, Stretch]:
        """Return the stretches of left sides, right sides and products for one of lines."""
        head, line = part[: len(self.lead)], part[len(self.lead) :]
        across = (*head, slice(None), *line) if line else head
        return (part, head, part) if self.by_rows else (head, across, across)


def multiplied(x: Array, y: Array) -> Array:
    """Products […, M, K] x […, K, N] of one type, by all threads if they are large."""
    cut = _Cut(x, y)
    if not cut.is_large:
        with nullcontext() if cut.multiplications <= _SMALL else blas_alone():
            return np.matmul(x, y)
    out = np.empty((*cut.lead, *cut.shape), x.dtype)
    turn = max(_SHARE, cut.multiplications * prod(cut.lead) // _TURNS)
    size = max(
        min(-(-cut.lines // 2), _LINES), turn * cut.lines // max(cut.multiplications, 1)
    )

    def work(part: Stretch) -> None:
        left, right, here = cut.lines_of(part)
        np.matmul(cut.x[left], cut.y[right], out=out[here])

    with blas_alone():
        share(work, stretches((*cut.lead, cut.lines), size))
    return out


def _combined(x: Array, y: Array, axes: Sequence[int], ufunc: np.ufunc) -> Array:
    """Products […, M, K] x […, K, N] of one type, combined along some axes in front.

    These keep extent 1; the last one goes first, each in the order of `reduction.fold`.
    """
    cut = _Cut(x, y)
    kept = [1 if axis in axes else n for axis, n in enumerate(cut.lead)]
    out = np.empty((*kept, *cut.shape), x.dtype)
    # waiting summands stay in a core's cache, if that leaves BLAS enough lines
    lines = prod(kept) * cut.lines
    size = max(SIZE // max(cut.across, 1), min(-(-lines // _TURNS), _LINES))
    parts = stretches((*kept, cut.lines), size)
    # for each thread memory of those that wait for others
    waiting = sum(cut.lead[axis].bit_length() for axis in axes)
    rooms = [
        np.empty((waiting, size * cut.across), x.dtype)
        for _ in range(min(threads(), len(parts)))
    ]

    def work(part: Stretch) -> None:
        _, _, here = cut.lines_of(part)
        summands = (
            slice(None) if at in axes else index for at, index in enumerate(part)
        )
        left, right, _ = cut.lines_of(tuple(summands))
        target = out[here]
        memory = rooms.pop()
        # the first one is combined with all others
        room = [
            *(block[: target.size].reshape(target.shape) for block in memory),
            target,
        ]
        _combine(cut.x[left], cut.y[right], sorted(axes), ufunc, room)
        rooms.append(memory)

    with blas_alone():
        share(work, parts)
    return out


def _combine(
    x: Array, y: Array, axes: Sequence[int], ufunc: np.ufunc, room: list[Array]
) -> Array:
    """Products of a stretch, combined along some axes in front, in the last of `room`."""
    if not axes:
        return np.matmul(x, y, out=room.pop())
    axis, *others = axes
    places = ((slice(None),) * axis + (slice(i, i + 1),) for i in range(x.shape[axis]))
    each = (_combine(x[at], y[at], others, ufunc, room) for at in places)
    return _in_pairs(each, ufunc, room)


def _in_pairs(arrays: Iterable[Array], ufunc: np.ufunc, room: list[Array]) -> Array:
    """Combine arrays into the first one, in pairs, each as soon as it is there.

    The memory of the others becomes `room`.
    """
    waiting: list[Array] = []

    def combine() -> None:
        right = waiting.pop()
        ufunc(waiting[-1], right, out=waiting[-1])
        room.append(right)

    for count, array in enumerate(arrays, 1):
        waiting.append(array)
        while count % 2 == 0:
            combine()
            count //= 2
    while len(waiting) > 1:
        combine()
    return waiting[0]


def _magnitude(x: Array) -> int:
    """Return the greatest absolute value, as a Python integer."""
    if not x.size:
        return 0
    return max(abs(int(x.max())), abs(int(x.min())))


@dataclass(frozen=True, slots=True, eq=False)
class Summands:
    """Devices' products, of which only a collective wants to know what they are together.

    Args:
        x: the left sides […, M, K].
        y: the right sides […, K, N], of the same type.
        sizes: dimensions of the products […, M, N], those that are merged apart again.
        order: of these in the result, the mesh's in front.
    """

    x: Array
    y: Array
    sizes: tuple[int, ...]
    order: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.x.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions, the mesh's among them."""
        return len(self.shape)

    def reshape(self, shape: tuple[int, ...]) -> "Summands":
        """Return the same elements with other dimensions after those of the mesh."""
        return replace(self, shape=shape)

    @property
    def is_large(self) -> bool:
        """Whether it is worth it that threads share them."""
        return _Cut(self.x, self.y).is_large

    def combined(self, axes: Sequence[int], ufunc: np.ufunc) -> Array | None:
        """Combine them by `ufunc` along axes of the mesh, which keep extent 1.

        None where whole products are better: more products than they have elements,
        which need a call of NumPy each, and those that are one product along an axis, since one
        side is the same on all devices.
        """
        each, whole = self.x.shape[-2] * self.y.shape[-1], prod(self.sizes)
        if each * each < whole <= _TOGETHER:
            return None
        places = [self.order[axis] for axis in axes]
        if any(at >= self.x.ndim - 2 for at in places):
            return None
        result = _combined(self.x, self.y, places, ufunc)
        sizes = [1 if at in places else n for at, n in enumerate(self.sizes)]
        shape = [1 if at in axes else n for at, n in enumerate(self.shape)]
        return result.reshape(sizes).transpose(self.order).reshape(shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return every device's product."""
        product = multiplied(self.x, self.y).reshape(self.sizes)
        product = product.transpose(self.order).reshape(self.shape)
        return product if dtype is None else product.astype(dtype, copy=False)


Operand = Array | Summands
"""The operand of a collective that combines devices' values."""
