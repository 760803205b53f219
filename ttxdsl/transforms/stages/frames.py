"""Frames: consecutive places of a dimension of a value, from any place on.

What lies outside of the value does not matter. `frame-uneven-values` says why a frame may
be made of the operands' frames; here is how each op is looked into, and what is written.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import element_of, shape_of, tensor_bytes
from ttxdsl.sharding.axes import Axes, lists_overlap, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.collectives.program.dims import held_in
from ttxdsl.transforms.partition.emitter import Emitter, dims_attr
from ttxdsl.transforms.partition.exchange.halo import Halo
from ttxdsl.transforms.partition.ops.creation import splat_of
from ttxdsl.transforms.partition.ops.indexing import in_range
from ttxdsl.transforms.shardy.meshes import MeshOf

MOST = 4096
"""How many frames are looked at for one result: what is larger stays as it is."""


class Place(NamedTuple):
    """Where a frame begins: at a place of a dimension, which may be outside."""

    value: SSAValue
    dim: int
    start: int


class Piece(NamedTuple):
    """Places of a dimension that come from an operand, moved by a constant.

    Attributes:
        value: the operand.
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

    def operands(self, place: Place, size: int) -> list[Place]:
        """The frames that a frame of the value takes."""
        return [
            Place(piece.value, place.dim, place.start - piece.shift)
            for piece in self.pieces
            if max(piece.low, place.start) < min(piece.high, place.start + size)
        ]


@dataclass(frozen=True)
class Reversed:
    """A value whose places are those of an operand in the opposite order.

    Attributes:
        value: the operand.
        dims: all dimensions that are reversed.
    """

    value: SSAValue
    dims: tuple[int, ...]

    def operands(self, place: Place, size: int) -> list[Place]:
        """The frame that a frame of the value takes."""
        count = shape_of(self.value)[place.dim]
        return [Place(self.value, place.dim, count - place.start - size)]


@dataclass(frozen=True)
class Kept:
    """A value that is made place by place.

    Attributes:
        held: operands, and the dimension of each that holds the places, if one does.
    """

    held: tuple[tuple[SSAValue, int | None], ...]

    def operands(self, place: Place, size: int) -> list[Place]:
        """The frames that a frame of the value takes."""
        return [Place(v, dim, place.start) for v, dim in self.held if dim is not None]


Made = Pieces | Reversed | Kept


def _scalar(value: SSAValue) -> int | None:
    """The number that a scalar is written as."""
    held = value.owner.value if isinstance(value.owner, stablehlo.ConstantOp) else None
    if not isinstance(held, DenseIntOrFPElementsAttr):
        return None
    (number,) = held.get_values()
    return int(number)


def is_numeric(element: Attribute) -> bool:
    """Whether elements are numbers that can be chosen between and masked."""
    return isinstance(element, IntegerType | AnyFloat | ComplexType)


def made_of(value: SSAValue, dim: int) -> Made | None:
    """How the places of a dimension are made from those of operands; None if unknown."""
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


@dataclass
class Frames:
    """The frames of one size that are split by some axes.

    Attributes:
        mesh_of: finds the mesh of a sharding.
        mesh: the mesh.
        axes: of the dimension.
        size: how many places they have.
        replaced: what stands for values that were made of frames.
        made: how the frame of each place is made; None if the value is not looked into.
        written: the frames that are there.
    """

    mesh_of: MeshOf
    mesh: Mesh
    mesh_name: str | Mesh
    axes: Axes
    size: int
    replaced: dict[SSAValue, SSAValue]
    made: dict[Place, Made | None] = field(default_factory=dict[Place, Made | None])
    written: dict[Place, SSAValue] = field(default_factory=dict[Place, SSAValue])

    def __post_init__(self) -> None:
        self.shards = total_size(self.axes, self.mesh)

    # Planning

    def axes_of(self, value: SSAValue, dim: int) -> Axes:
        """The axes that split a dimension of a value."""
        sharding = sdy.get_sharding(value)
        return () if sharding is None else sharding.dims[dim].axes

    def is_split(self, value: SSAValue, dim: int) -> bool:
        """Whether a value lies evenly along the axes, or along any if there are none."""
        axes = self.axes_of(value, dim)
        even = shape_of(value)[dim] % total_size(axes, self.mesh) == 0
        return even and bool(axes) and (axes == self.axes or not self.axes)

    def _is_leaf(self, place: Place, block: Block) -> bool:
        value, dim, _ = place
        if not isinstance(value, OpResult) or value.op.parent is not block:
            return True
        axes, size = self.axes_of(value, dim), shape_of(value)[dim]
        if not axes:  # whole, unless it is only since no axis fits
            return size % self.shards == 0
        return size % total_size(axes, self.mesh) == 0

    def plan(
        self, places: Iterable[Place], block: Block, *, is_made: bool
    ) -> list[Place] | None:
        """All frames that some take; None if there are too many, or elements are no numbers.

        Args:
            places: where these begin.
            block: the block whose ops are looked into.
            is_made: whether what makes the values themselves is, however these are split.
        """
        first = {*places} if is_made else set[Place]()
        seen = dict.fromkeys(places)
        waiting = list(seen)
        while waiting:
            place = waiting.pop()
            if not is_numeric(element_of(place.value)):
                return None  # nothing fills such a frame
            if place not in self.made:
                leaf = place not in first and self._is_leaf(place, block)
                self.made[place] = None if leaf else made_of(place.value, place.dim)
            made = self.made[place]
            for operand in () if made is None else made.operands(place, self.size):
                if operand not in seen:
                    seen[operand] = None
                    waiting.append(operand)
            if len(seen) > MOST:
                return None
        return list(seen)

    def reads(self, place: Place) -> list[SSAValue]:
        """The values that a frame is made of as they are."""
        match self.made[place]:
            case None:
                return [place.value]
            case Kept(held):
                return [value for value, dim in held if dim is None]
            case Pieces(_, filler) if filler is not None:
                return [filler]
            case _:
                return []

    def row_bytes(self, value: SSAValue, dim: int) -> int:
        """What a device holds of one place."""
        sharding = sdy.get_sharding(value)
        shape = [*shape_of(value)]
        if sharding is not None:
            shape = [*sharding.local_shape(shape, self.mesh, pad=True)]
        shape[dim] = 1
        return tensor_bytes(shape, element_of(value))

    def sent(self, place: Place) -> int:
        """What a device sends for the frame of a value that is not looked into."""
        value, dim, start = place
        count, axes = shape_of(value)[dim], self.axes_of(value, dim)
        if not axes or count % total_size(axes, self.mesh):
            return 0  # whole by then
        if not self.axes:
            low, high = max(start, 0), min(start + self.size, count)
            return 2 * max(0, high - low) * self.row_bytes(value, dim)
        if axes != self.axes:
            return count * self.row_bytes(value, dim)
        held, wanted = count // self.shards, self.size // self.shards
        halo = Halo(dim, 0, 0, start, wanted, wanted - held)
        rows = min(halo.elements_sent(self.shards, held), (self.shards - 1) * held)
        return rows * self.row_bytes(value, dim)

    def sent_for(self, places: Iterable[Place]) -> int:
        """What a device sends for some frames."""
        return sum(self.sent(place) for place in places if self.made[place] is None)

    # Writing

    def sharding(self, value: SSAValue, dim: int) -> TensorSharding:
        """How the frame of a value is split."""
        known = sdy.get_sharding(value)
        if known is None:
            known = TensorSharding.fully_open(self.mesh_name, len(shape_of(value)))
        dims = [
            one.with_axes(()) if lists_overlap(one.axes, self.axes) else one
            for one in known.dims
        ]
        dims[dim] = DimSharding(self.axes, known.dims[dim].closed and bool(self.axes))
        return TensorSharding(known.mesh, tuple(dims))

    def write(self, emit: Emitter, places: Iterable[Place]) -> None:
        """Write frames, and those that they are made of."""
        waiting = list(places)
        while waiting:
            place = waiting[-1]
            if place in self.written:
                waiting.pop()
                continue
            made = self.made[place]
            operands = [] if made is None else made.operands(place, self.size)
            if isinstance(made, Pieces) and self._padded(place, made) is not None:
                operands = []
            missing = [one for one in operands if one not in self.written]
            waiting += missing
            if not missing:
                self.written[place] = self._frame(emit, place, made)
                waiting.pop()

    def _say(self, value: SSAValue, sharding: TensorSharding) -> SSAValue:
        sdy.set_sharding(value, sharding)
        return value

    def _frame(self, emit: Emitter, place: Place, made: Made | None) -> SSAValue:
        value, dim, start = place
        sharding = self.sharding(value, dim)
        match made:
            case None:
                filler = emit.number(0, element_of(value))
                return self._cut(emit, place, filler, sharding)
            case Pieces():
                return self._moved(emit, place, made, sharding)
            case Reversed():
                (operand,) = made.operands(place, self.size)
                frame = self.written[operand]
                dims: dict[str, Attribute] = {"dimensions": dims_attr(made.dims)}
                turned = emit.one(stablehlo.ReverseOp, [frame], frame.type, dims)
                return self._say(turned, sharding)
            case Kept():
                operands = [
                    self.replaced.get(operand, operand)
                    if at is None
                    else self.written[Place(operand, at, start)]
                    for operand, at in made.held
                ]
                return self._say(
                    _resized(emit, value, operands, dim, self.size, start), sharding
                )

    def _cut(
        self, emit: Emitter, place: Place, filler: SSAValue, sharding: TensorSharding
    ) -> SSAValue:
        """The frame of a value itself, with a filler outside of it."""
        value, dim, start = place
        value = self.replaced.get(value, value)
        count = shape_of(value)[dim]
        if start == 0 and count == self.size:
            return value
        low, high = [0] * len(shape_of(value)), [0] * len(shape_of(value))
        low[dim], high[dim] = -start, self.size - count + start
        if -start > self.size or start > count:  # nothing of it is there
            low[dim], high[dim] = 0, self.size - count
        if max(low + high) <= 0:
            limits = [n + at for n, at in zip(shape_of(value), high, strict=True)]
            cut = emit.slice(value, [-at for at in low], limits)
        else:
            cut = emit.pad(value, filler, low, high)
        return self._say(cut, sharding)

    def _padded(self, place: Place, made: Pieces) -> Place | None:
        """The value that a padded one is a frame of, with its filler outside of it."""
        value, dim, start = place
        if made.filler is None or len(made.pieces) != 1:
            return None
        (piece,) = made.pieces
        inner = Place(piece.value, dim, start - piece.shift)
        while isinstance(self.made.get(inner), Pieces):
            one = self.made[inner]
            assert isinstance(one, Pieces)
            if one.filler is not None or len(one.pieces) != 1:
                return None
            if not _only_along(inner.value, dim):
                return None
            inner = Place(one.pieces[0].value, dim, inner.start - one.pieces[0].shift)
        if inner not in self.made or self.made[inner] is not None:
            return None
        if not _only_along(value, dim):
            return None
        end = shape_of(value)[dim] - start
        ends = (
            (piece.low - start, piece.high - start),
            (-inner.start, shape_of(inner.value)[dim] - inner.start),
        )
        inside = {
            (max(low, 0, -start), min(high, self.size, end)) for low, high in ends
        }
        return inner if len(inside) == 1 else None

    def _moved(
        self, emit: Emitter, place: Place, made: Pieces, sharding: TensorSharding
    ) -> SSAValue:
        value, dim, start = place
        inner = self._padded(place, made)
        if inner is not None:
            assert made.filler is not None
            return self._cut(emit, inner, made.filler, sharding)
        shape = [*shape_of(value)]
        shape[dim] = self.size
        first, last = max(0, -start), min(self.size, shape_of(value)[dim] - start)
        chosen: SSAValue | None = None
        if made.filler is not None:
            chosen = self._say(emit.broadcast(made.filler, shape), sharding)
        for piece in reversed(made.pieces):
            low, high = max(piece.low - start, first), min(piece.high - start, last)
            if low >= high:
                continue
            at = Place(piece.value, dim, start - piece.shift)
            content = self._of_other_dims(emit, value, piece, dim, self.written[at])
            if content is not self.written[at]:
                self._say(content, sharding)
            if chosen is None or ((low, high) == (first, last) and not piece.others):
                chosen = content
                continue
            ranges = [(dim, low, high), *piece.others]
            inside = self._inside(emit, ranges, shape, sharding)
            chosen = self._say(emit.select(inside, content, chosen), sharding)
        if chosen is None:  # nothing of the value is in the frame
            chosen = self._say(emit.splat(0, element_of(value), shape), sharding)
        return chosen

    def _of_other_dims(
        self, emit: Emitter, value: SSAValue, piece: Piece, dim: int, frame: SSAValue
    ) -> SSAValue:
        """A frame of an operand, cut or padded along the other dimensions, too."""
        op = value.owner
        size = shape_of(frame)
        match op:
            case stablehlo.SliceOp():
                starts = [*op.start_indices.get_values()]
                limits = [*op.limit_indices.get_values()]
                starts[dim], limits[dim] = 0, size[dim]
                strides = op.strides.get_values()
                if (starts, limits) == ([0] * len(size), [*size]) and {*strides} == {1}:
                    return frame
                return emit.slice(frame, starts, limits, strides)
            case stablehlo.PadOp() if not _only_along(value, dim):
                amounts = [
                    [*each.get_values()]
                    for each in (
                        op.edge_padding_low,
                        op.edge_padding_high,
                        op.interior_padding,
                    )
                ]
                for each in amounts:
                    each[dim] = 0
                return emit.pad(frame, op.padding_value, *amounts)
            case stablehlo.DynamicUpdateSliceOp() if piece.others:
                low, high = [0] * len(size), [0] * len(size)
                for at, begin, end in piece.others:
                    low[at], high[at] = begin, shape_of(value)[at] - end
                return emit.pad(frame, emit.number(0, element_of(value)), low, high)
            case _:
                return frame

    def _inside(
        self,
        emit: Emitter,
        ranges: Sequence[tuple[int, int, int]],
        shape: Sequence[int],
        sharding: TensorSharding,
    ) -> SSAValue:
        """Which elements are inside of ranges of dimensions."""
        inside: SSAValue | None = None
        for dim, low, high in ranges:
            before = emit.block.last_op
            mask = in_range(emit, emit.iota([shape[dim]], dim=0), low, high)
            along = TensorSharding(sharding.mesh, (sharding.dims[dim],))
            op = emit.block.first_op if before is None else before.next_op
            while op is not None:
                if shape_of(op.results[0]):
                    sdy.set_sharding(op.results[0], along)
                op = op.next_op
            mask = self._say(emit.broadcast(mask, shape, [dim]), sharding)
            inside = mask if inside is None else emit.both(inside, mask)
            self._say(inside, sharding)
        assert inside is not None
        return inside

    def masked(self, emit: Emitter, place: Place, number: SSAValue | float) -> SSAValue:
        """A frame that holds all of a value, with a number outside of it."""
        value, dim, start = place
        frame, sharding = self.written[place], self.sharding(value, dim)
        shape = shape_of(frame)
        if not isinstance(number, SSAValue):
            number = emit.number(number, element_of(value))
        filler = self._say(emit.broadcast(number, shape), sharding)
        ends = dim, -start, shape_of(value)[dim] - start
        inside = self._inside(emit, [ends], shape, sharding)
        return self._say(emit.select(inside, frame, filler), sharding)


def _only_along(value: SSAValue, dim: int) -> bool:
    """Whether a slice or pad does nothing along other dimensions."""
    op = value.owner
    shape = shape_of(value)
    others = [at for at in range(len(shape)) if at != dim]
    match op:
        case stablehlo.SliceOp():
            before = shape_of(op.operand)
            return all(shape[at] == before[at] for at in others)
        case stablehlo.PadOp():
            each = op.edge_padding_low, op.edge_padding_high, op.interior_padding
            return not any(one.get_values()[at] for one in each for at in others)
        case _:
            return False


def _resized(
    emit: Emitter,
    value: SSAValue,
    operands: Sequence[SSAValue],
    dim: int,
    size: int,
    start: int,
) -> SSAValue:
    """What makes a value again, on operands of another size along a dimension."""
    op = value.owner
    assert isinstance(op, Operation)
    shape = [*shape_of(value)]
    shape[dim] = size
    type_ = TensorType(element_of(value), shape)
    properties = dict(op.properties)
    match op:
        case stablehlo.ConstantOp():
            splat = splat_of(op.value, tuple(shape))
            assert splat is not None, "asked before"
            properties["value"] = splat
        case stablehlo.IotaOp() if op.iota_dimension.value.data == dim and start:
            places = emit.one(stablehlo.IotaOp, [], type_, properties)
            first = emit.number(start, element_of(value))
            return emit.add(places, emit.broadcast(first, shape))
        case stablehlo.SliceOp():
            limits = [*op.limit_indices.get_values()]
            limits[dim] = size
            properties["limit_indices"] = dims_attr(limits)
        case stablehlo.DynamicSliceOp():
            properties["slice_sizes"] = dims_attr(shape)
        case _:
            pass
    attributes = sdy.without_sdy(op.attributes)
    regions = [region.clone() for region in op.regions]
    new = emit.emit(type(op), operands, [type_], properties, attributes, regions)
    new.results[0].name_hint = value.name_hint
    return new.results[0]
