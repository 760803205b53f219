"""The sources of a dimension's positions: positions of operands.

`frame-uneven-values` follows results back to their sources with this.
"""

from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.windowed import padding_pairs, window_values
from ttxdsl.ir.tensors import shape_of
from ttxdsl.transforms.collectives.program.dims import held_in
from ttxdsl.transforms.partition.ops.creation import splat_of
from ttxdsl.transforms.partition.ops.cumulative import running_of


class Place(NamedTuple):
    """A frame: its value, its start, which may be outside, and its length."""

    value: SSAValue
    dim: int
    start: int
    size: int

    @property
    def extent(self) -> int:
        """The number of positions that the value has."""
        return shape_of(self.value)[self.dim]


class Piece(NamedTuple):
    """Places of a dimension that come from an operand, moved by a constant.

    Attributes:
        shift: how much further they are in the result.
        low: the first place in the result.
        high: the one behind the last.
        others: ranges of other dimensions that it is confined to.
    """

    value: SSAValue
    shift: int
    low: int
    high: int
    others: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class Pieces:
    """A value that is at each place the first piece that has it, or the filler."""

    pieces: tuple[Piece, ...]
    filler: SSAValue | None = None

    def operands(self, place: Place) -> list[Place]:
        """Return the frames that a frame of the value takes."""
        return [
            place._replace(value=piece.value, start=place.start - piece.shift)
            for piece in self.pieces
            if max(piece.low, place.start) < min(piece.high, place.start + place.size)
        ]


@dataclass(frozen=True)
class Reversed:
    """A value whose places are an operand's in the opposite order along all `dims`."""

    value: SSAValue
    dims: tuple[int, ...]

    def operands(self, place: Place) -> list[Place]:
        """Return the frame that a frame of the value takes."""
        start = shape_of(self.value)[place.dim] - place.start - place.size
        return [place._replace(value=self.value, start=start)]


@dataclass(frozen=True)
class Kept:
    """A value that is made place by place.

    Attributes:
        held: operands, and the dimension of each that holds the places, if one does.
    """

    held: tuple[tuple[SSAValue, int | None], ...]

    def operands(self, place: Place) -> list[Place]:
        """Return the frames that a frame of the value takes."""
        return [
            place._replace(value=value, dim=dim)
            for value, dim in self.held
            if dim is not None
        ]


@dataclass(frozen=True)
class Windowed:
    """A value whose places are windows of an operand's dimension.

    Attributes:
        at: the index of the dimension among those that the op pads.
        window: how many places each reaches over.
        stride: from the start of one to that of the next.
        low: the padding ahead of the first.
        filler: what stands outside of the operand; None is zero.
        shards: how many the frames are split into.
    """

    value: SSAValue
    dim: int
    at: int
    window: int
    stride: int
    low: int
    filler: SSAValue | None
    shards: int

    def operands(self, place: Place) -> list[Place]:
        """Return the frame that a frame of the value takes: all of the operand."""
        extent = shape_of(self.value)[self.dim]
        size = -(-extent // self.shards) * self.shards
        return [Place(self.value, self.dim, 0, size)]

    def reads_behind(self, place: Place) -> bool:
        """Whether windows of the value itself reach behind the operand."""
        last = (place.extent - 1) * self.stride - self.low + self.window
        return last > shape_of(self.value)[self.dim]

    def padding(self, place: Place, size: int) -> tuple[int, int]:
        """The padding with which an operand of a size has the frame's windows."""
        low = self.low - place.start * self.stride
        return low, (place.size - 1) * self.stride + self.window - size - low


Made = Pieces | Reversed | Kept | Windowed


def _scalar(value: SSAValue) -> int | None:
    """Return the number that a scalar is written as."""
    held = value.owner.value if isinstance(value.owner, stablehlo.ConstantOp) else None
    if not isinstance(held, DenseIntOrFPElementsAttr):
        return None
    (number,) = held.get_values()
    return int(number)


def is_numeric(element: Attribute) -> bool:
    """Whether elements are numbers that can be chosen between and masked."""
    return isinstance(element, IntegerType | AnyFloat | ComplexType)


def windows_of(value: SSAValue, dim: int, shards: int) -> Windowed | None:
    """Return the windows of a dimension's positions, None without or if large."""
    op = value.owner
    match op:
        case stablehlo.ConvolutionOp():
            numbers = op.dimension_numbers.data
            if dim not in numbers.output_spatial_dimensions:
                return None
            at, rank = (
                numbers.output_spatial_dimensions.index(dim),
                len(numbers.output_spatial_dimensions),
            )
            of_operand = numbers.input_spatial_dimensions[at]
            length = shape_of(op.rhs)[numbers.kernel_spatial_dimensions[at]]
            base, spread, filler = op.lhs_dilation, op.rhs_dilation, None
        case stablehlo.ReduceWindowOp() if len(op.inputs) == 1:
            if running_of(op) is not None:
                return None
            at = of_operand = dim
            rank, length = len(shape_of(value)), op.window_dimensions.get_values()[dim]
            base, spread = op.base_dilations, op.window_dilations
            (filler,) = op.init_values
        case _:
            return None
    window = (length - 1) * window_values(spread, rank)[at] + 1
    low, high = padding_pairs(op.padding, rank)[at]
    stride = window_values(op.window_strides, rank)[at]
    if window_values(base, rank)[at] != 1 or window > shape_of(value)[dim]:
        return None
    if (window, stride, low, high) == (1, 1, 0, 0):
        return None  # made place by place
    operand = op.operands[0]
    return Windowed(operand, of_operand, at, window, stride, low, filler, shards)


def made_of(value: SSAValue, dim: int, shards: int = 1) -> Made | None:
    """Return how a dimension's positions are made of operands' ones; None if unknown.

    Windows are looked at where frames are split, into `shards` parts.
    """
    op = value.owner
    if not isinstance(op, Operation) or len(op.results) != 1:
        return None
    size = shape_of(value)[dim]
    if 0 in shape_of(value):
        return Pieces(())
    match op:
        case stablehlo.SliceOp() if op.strides.get_values()[dim] == 1:
            start = op.start_indices.get_values()[dim]
            return Pieces((Piece(op.operand, -start, 0, size),))
        case stablehlo.PadOp() if not op.interior_padding.get_values()[dim]:
            low = op.edge_padding_low.get_values()[dim]
            end = low + shape_of(op.operand)[dim]
            piece = Piece(op.operand, low, max(0, low), min(size, end))
            return Pieces((piece,), op.padding_value)
        case stablehlo.ConcatenateOp() if op.dimension.value.data == dim:
            pieces: list[Piece] = []
            at = 0
            for operand in op.inputs:
                end = at + shape_of(operand)[dim]
                pieces.append(Piece(operand, at, at, end))
                at = end
            return Pieces(tuple(pieces))
        case stablehlo.DynamicUpdateSliceOp():
            return _updated(op, dim)
        case stablehlo.ReverseOp() if dim in op.dimensions.get_values():
            return Reversed(op.operand, tuple(op.dimensions.get_values()))
        case stablehlo.IotaOp() if op.iota_dimension.value.data == dim:
            return Kept(())
        case stablehlo.ConvolutionOp() | stablehlo.ReduceWindowOp() if (
            shards > 1 and (windows := windows_of(value, dim, shards)) is not None
        ):
            return windows
        case stablehlo.ConstantOp() if splat_of(op.value, shape_of(value)) is None:
            return None
        case _:
            held = held_in(op, dim)
            if held is None:
                return None
            operands = tuple(zip(op.operands, held, strict=True))
            keeps = all(at is None or shape_of(v)[at] == size for v, at in operands)
            return Kept(operands) if keeps else None


def _updated(op: stablehlo.DynamicUpdateSliceOp, dim: int) -> Made | None:
    starts = [_scalar(start) for start in op.start_indices]
    whole, part = shape_of(op.operand), shape_of(op.update)
    if part[dim] == whole[dim]:
        held = (dim, dim, *[None] * len(op.start_indices))
        return Kept(tuple(zip(op.operands, held, strict=True)))
    ranges: list[tuple[int, int]] = []
    for start, size, length in zip(starts, whole, part, strict=True):
        if start is None:
            return None
        low = min(max(start, 0), size - length)
        ranges.append((low, low + length))
    low, high = ranges[dim]
    others = tuple(
        (at, *ends)
        for at, ends in enumerate(ranges)
        if at != dim and ends != (0, whole[at])
    )
    return Pieces(
        (
            Piece(op.update, low, low, high, others),
            Piece(op.operand, 0, 0, whole[dim]),
        )
    )
