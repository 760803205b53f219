"""Products of tensors: dot_general and convolution, as products of matrices.

Source: StableHLO specification, sections dot_general and convolution.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from xdsl.ir import Attribute

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects.stablehlo.attributes import ConvDims
from ttxdsl.interpreters.kernels import elements
from ttxdsl.interpreters.kernels.elementwise import pad, reverse, transpose
from ttxdsl.interpreters.kernels.matrices import Summands, matrix, product, reshaped
from ttxdsl.interpreters.runtime.compiled_op import PLAIN

Array = NDArray[Any]


_OWN_LINES = 256
"""Rows (or columns) of a device for which BLAS is about as fast as for more of them."""

_Shapes = tuple[tuple[int, ...], tuple[int, ...]]

Dims = tuple[Sequence[int], Sequence[int]]
"""Dimensions of the left side and of the right one."""


@dataclass(frozen=True, slots=True)
class _Side:
    """The steps that make matrices of an operand: a shape, an order, and sizes."""

    lifted: tuple[int, ...]
    order: tuple[int, ...]
    sizes: tuple[int, ...]

    def matrices(self, x: Array) -> Array:
        """Return the operand [stay…, batch…, M, K] or [stay…, batch…, K, N]."""
        return reshaped(x.reshape(self.lifted).transpose(self.order), self.sizes)

    def is_view(self, x: Array) -> bool:
        """Whether these are the operand's own memory."""
        turned = x.reshape(self.lifted).transpose(self.order)
        try:
            turned.reshape(self.sizes, copy=False)
        except ValueError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class _Layout:
    """The matrices that two shapes become, and the shape of their product."""

    left: _Side
    right: _Side
    sizes: tuple[int, ...]
    order: tuple[int, ...]
    batch: int
    enough: tuple[bool, bool]
    """Whether each device's rows, or columns, are enough for a product of their own."""


def _layout(
    shapes: _Shapes,
    batching: Dims,
    contracting: Dims,
    ranks: tuple[int, int],
    apart: tuple[bool, bool],
) -> _Layout:
    lead = max(len(shape) - rank for shape, rank in zip(shapes, ranks, strict=True))
    lhs, rhs = (
        ((1,) * (lead + rank - len(shape)) + shape)
        for shape, rank in zip(shapes, ranks, strict=True)
    )
    left, right = list[int](), list[int]()
    if not apart[0]:
        left = [i for i in range(lead) if lhs[i] > 1 and rhs[i] == 1]
    if not apart[1]:
        right = [i for i in range(lead) if rhs[i] > 1 and lhs[i] == 1]
    stay = [i for i in range(lead) if i not in left and i not in right]

    def local(dims: Sequence[int]) -> list[int]:
        return [lead + dim for dim in dims]

    pairs = sorted(zip(*contracting, strict=True))
    lhs_sum, rhs_sum = local([p[0] for p in pairs]), local([p[1] for p in pairs])
    lhs_batch, rhs_batch = local(batching[0]), local(batching[1])
    lhs_free, rhs_free = (
        [at for at in range(lead, len(x)) if at not in {*batch, *sums}]
        for x, batch, sums in ((lhs, lhs_batch, lhs_sum), (rhs, rhs_batch, rhs_sum))
    )

    def side(
        x: tuple[int, ...],
        gone: Sequence[int],
        batch: Sequence[int],
        *sides: Sequence[int],
    ) -> _Side:
        """Return matrices: `sides` become one dimension each, `gone` have extent 1."""
        order = (
            *stay,
            *batch,
            *(dim for dims_of_side in sides for dim in dims_of_side),
            *gone,
        )
        around = (x[dim] for dim in (*stay, *batch))
        return _Side(
            x,
            order,
            (*around, *(prod(x[d] for d in dims_of_side) for dims_of_side in sides)),
        )

    own = [lhs[i] for i in (*lhs_batch, *left, *lhs_free)]
    others = [rhs[i] for i in (*right, *rhs_free)]
    around = np.broadcast_shapes(
        tuple(lhs[i] for i in stay), tuple(rhs[i] for i in stay)
    )
    # leading dimensions back to the front, in their order
    places = [*stay, *lhs_batch, *left, *lhs_free, *right, *rhs_free]
    front = [places.index(i) for i in range(lead)]
    back = [at for at in range(len(places)) if at not in front]
    return _Layout(
        side(lhs, right, lhs_batch, [*left, *lhs_free], lhs_sum),
        side(rhs, left, rhs_batch, rhs_sum, [*right, *rhs_free]),
        (*around, *own, *others),
        (*front, *back),
        prod(lhs[dim] for dim in lhs_batch),
        (
            bool(left) and prod(lhs[dim] for dim in lhs_free) >= _OWN_LINES,
            bool(right) and prod(rhs[dim] for dim in rhs_free) >= _OWN_LINES,
        ),
    )


class Contraction:
    """Sums of products over the contracting dimensions, for each batch, of two arrays.

    The result has the batching dimensions, then what is left of the left side, then of
    the right one. A leading dimension that only one side has counts as one of its free
    dimensions: the devices' products become one large one, whose result is handed out as
    a view. Not so inside of `apart`, nor where that takes a copy of the operand and the
    devices' own products are large enough.
    """

    def __init__(
        self,
        batching: Dims,
        contracting: Dims,
        ranks: tuple[int, int],
        dtype: elements.DType,
    ) -> None:
        self._dims = batching, contracting, ranks
        self._dtype = dtype
        self._layouts: dict[tuple[_Shapes, tuple[bool, bool]], _Layout] = {}

    def __call__(self, lhs: Array, rhs: Array) -> Array:
        """Return the product of two arrays."""
        layout = self._layout_of(lhs, rhs)
        x, y = layout.left.matrices(lhs), layout.right.matrices(rhs)
        result = product(x, y, self._dtype, layout.batch)
        if result.dtype != self._dtype:
            result = result.astype(self._dtype)
        return result.reshape(layout.sizes).transpose(layout.order)

    def deferred(self, lhs: Array, rhs: Array) -> Array | Summands:
        """Return the product for a collective, not computed yet where that saves memory."""
        plain = lhs.dtype == rhs.dtype == self._dtype and self._dtype in PLAIN
        if is_apart() or not plain:
            return self(lhs, rhs)
        layout = self._layout_of(lhs, rhs)
        x, y = layout.left.matrices(lhs), layout.right.matrices(rhs)
        shape = tuple(layout.sizes[at] for at in layout.order)
        summands = Summands(matrix(x), matrix(y), layout.sizes, layout.order, shape)
        return summands if summands.is_large else np.asarray(summands)

    def _layout_of(self, lhs: Array, rhs: Array) -> _Layout:
        shapes = lhs.shape, rhs.shape
        alone = is_apart()
        layout = self._known(shapes, (alone, alone))
        if alone or not any(layout.enough):
            return layout
        copied = not layout.left.is_view(lhs), not layout.right.is_view(rhs)
        apart = copied[0] and layout.enough[0], copied[1] and layout.enough[1]
        return self._known(shapes, apart) if any(apart) else layout

    def _known(self, shapes: _Shapes, apart: tuple[bool, bool]) -> _Layout:
        if (layout := self._layouts.get((shapes, apart))) is None:
            layout = _layout(shapes, *self._dims, apart)
            self._layouts[shapes, apart] = layout
        return layout


def dot_general(
    lhs: Array,
    rhs: Array,
    batching: Dims,
    contracting: Dims,
    ranks: tuple[int, int],
    dtype: elements.DType,
) -> Array:
    """Return the product of two arrays, as `Contraction` says."""
    return Contraction(batching, contracting, ranks, dtype)(lhs, rhs)


_APART: ContextVar[bool] = ContextVar("apart", default=False)


@contextmanager
def apart(wanted: bool = True) -> Generator[None]:
    """Compute each device's product by itself.

    BLAS adds in another order in a larger product; here each has the numbers of one
    device.
    """
    before = _APART.set(wanted)
    try:
        yield
    finally:
        _APART.reset(before)


def is_apart() -> bool:
    """Whether numbers are to be those of a device alone."""
    return _APART.get()


def rounded(x: Array, precision: Attribute) -> Array:
    """`x` with the precision that an algorithm reads operands with."""
    try:
        dtype = elements.element_dtype(precision)
    except UnsupportedError:
        # tf32 has no values of its own: its numbers are used as they are
        return x
    return x.astype(dtype) if dtype.itemsize < x.dtype.itemsize else x


def einsum(config: str, dtype: elements.DType, *arrays: Array) -> Array:
    """Return the product, sum, transposition or diagonal that `ij,jk->ik` says."""
    source, out = config.replace(" ", "").split("->")
    wide = [x.astype(elements.compute_dtype(dtype), copy=False) for x in arrays]
    terms = ",".join(f"...{term}" for term in source.split(","))
    return np.asarray(np.einsum(f"{terms}->...{out}", *wide)).astype(dtype)


@dataclass(frozen=True, slots=True)
class ConvWindow:
    """The moves of the window of a convolution, one entry a spatial dimension."""

    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    lhs_dilation: tuple[int, ...]
    rhs_dilation: tuple[int, ...]
    reversal: tuple[bool, ...]


def windows(
    x: Array, sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Array:
    """Windows over the last dimensions of `x`: [..., places…, within window…] (a view)."""
    count = len(sizes)
    if not count:
        return x
    spans = [(size - 1) * gap + 1 for size, gap in zip(sizes, dilations, strict=True)]
    spatial = x.shape[x.ndim - count :]
    if any(span > size for span, size in zip(spans, spatial, strict=True)):
        # the window does not fit: no places
        places = [
            max(0, (size - span) // stride + 1)
            for size, span, stride in zip(spatial, spans, strides, strict=True)
        ]
        return np.empty((*x.shape[: x.ndim - count], *places, *sizes), x.dtype)
    # as plain bytes: NumPy cannot slide over one of the narrow floats of ml_dtypes
    raw, axes = x.view(f"V{x.itemsize}"), tuple(range(x.ndim - count, x.ndim))
    cut = [slice(None, None, step) for step in (*strides, *dilations)]
    return sliding_window_view(raw, spans, axis=axes)[(..., *cut)].view(x.dtype)


def convolution(
    lhs: Array,
    rhs: Array,
    dims: ConvDims,
    window: ConvWindow,
    feature_groups: int,
    batch_groups: int,
    dtype: elements.DType,
) -> Array:
    """Products of the kernel with every window of the input, summed."""
    spatial = len(dims.input_spatial_dimensions)
    rank = spatial + 2
    x = transpose(
        lhs,
        [
            dims.input_batch_dimension,
            dims.input_feature_dimension,
            *dims.input_spatial_dimensions,
        ],
    )
    k = transpose(
        rhs,
        [
            dims.kernel_output_feature_dimension,
            dims.kernel_input_feature_dimension,
            *dims.kernel_spatial_dimensions,
        ],
    )
    k = reverse(k, rank, [2 + i for i, turn in enumerate(window.reversal) if turn])
    x = pad(
        x,
        np.zeros((), x.dtype),
        [0, 0, *(low for low, _ in window.padding)],
        [0, 0, *(high for _, high in window.padding)],
        [0, 0, *(gap - 1 for gap in window.lhs_dilation)],
    )
    sizes = k.shape[k.ndim - spatial :]
    x = windows(x, sizes, window.strides, window.rhs_dilation)
    # both get a dimension of groups, a batching dimension of the product
    lead = x.shape[: x.ndim - rank - spatial]
    batch, features, *rest = x.shape[len(lead) :]
    groups = feature_groups * batch_groups
    if batch_groups > 1:
        x = x.reshape((*lead, groups, batch // groups, features, *rest))
    else:
        x = x.reshape((*lead, batch, groups, features // groups, *rest))
        x = x.swapaxes(len(lead), len(lead) + 1)
    k_lead = k.shape[: k.ndim - rank]
    outputs, *others = k.shape[len(k_lead) :]
    k = k.reshape((*k_lead, groups, outputs // groups, *others))
    inner = range(3 + spatial, 3 + 2 * spatial)
    result = dot_general(
        x,
        k,
        ([0], [0]),
        ([2, *inner], [2, *range(3, 3 + spatial)]),
        (3 + 2 * spatial, 3 + spatial),
        dtype,
    )
    # [group, batch, places…, output]: the group is the major part of the output
    lead = result.shape[: result.ndim - rank - 1]
    result = np.moveaxis(result, len(lead), -2)
    result = result.reshape((*result.shape[:-2], outputs))
    order = [0] * rank
    order[dims.output_batch_dimension] = 0
    order[dims.output_feature_dimension] = rank - 1
    for at, dim in enumerate(dims.output_spatial_dimensions):
        order[dim] = 1 + at
    return transpose(result, order)


def ragged_dot(
    lhs: Array,
    rhs: Array,
    sizes: Array,
    batching: tuple[Sequence[int], Sequence[int]],
    contracting: tuple[Sequence[int], Sequence[int]],
    ragged: int,
    group: Sequence[int],
    ranks: tuple[int, int],
    dtype: elements.DType,
) -> Array:
    """Products of groups of rows of `lhs`, whose sizes are given.

    Rows (a free dimension): each group has its own matrix, `rhs` a dimension of groups.
    A contracting dimension: each group has its own result, the first dimension of it.
    A batching dimension: groups make no difference.
    """
    if ragged in batching[0]:
        return dot_general(lhs, rhs, batching, contracting, ranks, dtype)
    ends: Array = np.cumsum(sizes, axis=-1)
    starts: Array = ends - sizes
    lead = lhs.ndim - ranks[0]
    count = int(lhs.shape[lead + ragged])
    rows = np.arange(count)
    # [lead…, group, row]
    member: Array = (rows >= starts[..., None]) & (rows < ends[..., None])
    shape = [1] * ranks[0]
    shape[ragged] = count
    member = member.reshape((*member.shape[:-1], *shape))
    grouped = np.where(member, np.expand_dims(lhs, lead), np.zeros((), lhs.dtype))
    shifted = [d + 1 for d in batching[0]], [d + 1 for d in contracting[0]]
    if ragged in contracting[0]:
        product = dot_general(
            grouped,
            rhs,
            (shifted[0], batching[1]),
            (shifted[1], contracting[1]),
            (ranks[0] + 1, ranks[1]),
            dtype,
        )
        # batch dimensions come first: the groups go before them
        batches = len(batching[0])
        rank = ranks[0] + 1 + ranks[1] - 2 * len(contracting[0]) - batches
        first = product.ndim - rank
        return np.moveaxis(product, first + batches, first)
    return dot_general(
        grouped,
        rhs,
        (shifted[0], batching[1]),
        ([0, *shifted[1]], [*group, *contracting[1]]),
        (ranks[0] + 1, ranks[1]),
        dtype,
    )
