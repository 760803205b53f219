"""The roots that `frame-uneven-values` makes of frames: results, and reductions.

A reduction of a frame counts what is outside of the value as a number that changes
nothing. The kernel of a convolution is reduced, too: zeros behind it multiply the
places that they read, which adds nothing as long as these are finite.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.windowed import padding_pairs, window_values
from ttxdsl.ir.tensors import shape_of
from ttxdsl.transforms.partition.emitter import Emitter
from ttxdsl.transforms.partition.exchange.combiner import combiner_of
from ttxdsl.transforms.partition.exchange.halo import padding_attr
from ttxdsl.transforms.stages.frame_sources import Place
from ttxdsl.transforms.stages.frames import Frames


class Root(NamedTuple):
    """A value or reduction that is to be made of frames.

    Attributes:
        op: of which the result, or an operand, is made.
        operands: the indices of the operands that are reduced along it, with their
            dimensions; none where it is the result.
        read: the operand, and its dimension, that a convolution's kernel reads, if its
            axes do not divide it either.
        start: where their frames begin, which is ahead of them or at their start.
        size: how long the frames are, once it is planned.
        shards: how many the frames are split into, once it is planned.
    """

    op: Operation
    dim: int
    operands: tuple[tuple[int, int], ...] = ()
    read: tuple[tuple[int, int], ...] = ()
    start: int = 0
    size: int = 0
    shards: int = 1

    @property
    def framed(self) -> tuple[tuple[int, int], ...]:
        """The operands that the root replaces by frames."""
        return self.operands + self.read

    @property
    def places(self) -> list[Place]:
        """The frames that the root needs."""
        if not self.operands:
            return [Place(self.op.results[0], self.dim, 0, self.size)]
        reduced = [
            Place(self.op.operands[at], dim, self.start, self.size)
            for at, dim in self.operands
        ]
        read = [Place(self.op.operands[at], dim, 0, 0) for at, dim in self.read]
        sizes = [-(-place.extent // self.shards) * self.shards for place in read]
        return reduced + [
            place._replace(size=size) for place, size in zip(read, sizes, strict=True)
        ]


def reduced_by(op: Operation, is_uneven: Mapping[int, frozenset[int]]) -> list[Root]:
    """The uneven dimensions that an op reduces, where what is outside can be masked."""
    match op:
        case stablehlo.ReduceOp() if len(op.inputs) == 1:
            if combiner_of(op.body) is None:
                return []
            return [
                Root(op, dim, ((0, dim),))
                for dim in op.dimensions.get_values()
                if dim in is_uneven.get(0, ())
            ]
        case stablehlo.DotGeneralOp():
            dims = op.dot_dimension_numbers.data
            pairs = zip(
                dims.lhs_contracting_dimensions,
                dims.rhs_contracting_dimensions,
                strict=True,
            )
            return [
                Root(op, left, ((0, left), (1, right)))
                for left, right in pairs
                if left in is_uneven.get(0, ()) or right in is_uneven.get(1, ())
            ]
        case stablehlo.ConvolutionOp():
            return _kernels(op, is_uneven)
        case _:
            return []


def _kernels(
    op: stablehlo.ConvolutionOp, is_uneven: Mapping[int, frozenset[int]]
) -> list[Root]:
    """The spatial dimensions in which a kernel is longer than there are windows."""
    numbers = op.dimension_numbers.data
    turned = op.window_reversal.get_values() if op.window_reversal else ()
    roots: list[Root] = []
    for at, (dim, read, out) in enumerate(
        zip(
            numbers.kernel_spatial_dimensions,
            numbers.input_spatial_dimensions,
            numbers.output_spatial_dimensions,
            strict=True,
        )
    ):
        is_read = read in is_uneven.get(0, ())
        if any(turned[at : at + 1]) or not (is_read or dim in is_uneven.get(1, ())):
            continue
        if shape_of(op.rhs)[dim] > shape_of(op.result)[out]:
            roots.append(Root(op, dim, ((1, dim),), ((0, read),) if is_read else ()))
    return roots


class KernelWindow(NamedTuple):
    """The dimension of a convolution's operand that a frame of its kernel looks at.

    Attributes:
        at: its index among the spatial dimensions.
        dim: of the operand.
        step: how far apart the kernel's places are.
        reach: how many places one place of the kernel reads in all windows.
        padding: for windows as long as the frame, on a frame of what they read.
    """

    at: int
    dim: int
    step: int
    reach: int
    padding: tuple[int, int]


def longer_window(root: Root) -> KernelWindow:
    """Return where the windows of a convolution are when a frame is its kernel."""
    op, (place, *read) = root.op, root.places
    assert isinstance(op, stablehlo.ConvolutionOp), "its kernel is reduced"
    numbers = op.dimension_numbers.data
    at = numbers.kernel_spatial_dimensions.index(place.dim)
    rank = len(numbers.kernel_spatial_dimensions)
    step = window_values(op.rhs_dilation, rank)[at]
    stride = window_values(op.window_strides, rank)[at]
    windows = shape_of(op.result)[numbers.output_spatial_dimensions[at]]
    low, high = padding_pairs(op.padding, rank)[at]
    ahead = -place.start * step
    more = (place.size - place.extent) * step
    base = window_values(op.lhs_dilation, rank)[at]
    more -= sum(
        (source_place.size - source_place.extent) * base for source_place in read
    )
    return KernelWindow(
        at,
        numbers.input_spatial_dimensions[at],
        step,
        (windows - 1) * stride + 1,
        (low + ahead, high + more - ahead),
    )


def aligned(
    root: Root, frames: Frames, places: Sequence[Place], count: int
) -> list[Root]:
    """Return reductions whose frames begin where shards do.

    If a frame holds all elements to be reduced, its start does not matter; rows of a
    shard need not move.
    """
    if not root.operands:
        return []
    aligned_roots: list[Root] = []
    for place in places:
        if frames.derivations[place] is None and frames.is_split(
            place.value, place.dim
        ):
            size, start = place.extent, -place.start
            if start <= 0 and count - start <= size:
                aligned_roots.append(root._replace(start=start, size=size))
    return list(dict.fromkeys(aligned_roots))[:4]


def mask(emit: Emitter, frames: Frames, root: Root) -> None:
    """Let an op reduce frames, with what changes nothing outside of the values."""
    op = root.op
    number: SSAValue | float = 0
    if isinstance(op, stablehlo.ReduceOp):
        combiner = combiner_of(op.body)
        assert combiner is not None, "asked before"
        neutral = combiner.neutral
        number = op.init_values[0] if neutral is None else neutral
    if isinstance(op, stablehlo.ConvolutionOp):
        window = longer_window(root)
        padding = list(padding_pairs(op.padding, len(shape_of(op.lhs)) - 2))
        padding[window.at] = window.padding
        op.padding = padding_attr(padding)
    for (at, _), place in zip(root.framed, root.places, strict=True):
        op.operands[at] = frames.masked(emit, place, number)
