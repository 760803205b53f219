"""Frames: consecutive positions of a dimension of a value, from any start.

Positions outside of the value may hold anything. `frame-uneven-values` explains why a
frame can be made of the operands' frames; this module derives and writes them op by op.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.windowed import padding_pairs
from ttxdsl.ir.tensors import element_of, shape_of, tensor_bytes
from ttxdsl.sharding.axes import Axes, lists_overlap, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.partition.emitter import Emitter, dims_attr
from ttxdsl.transforms.partition.exchange.halo import Halo, padding_attr
from ttxdsl.transforms.partition.ops.indexing import in_range
from ttxdsl.transforms.partition.resized import resized_properties
from ttxdsl.transforms.shardy.meshes import MeshOf
from ttxdsl.transforms.stages.frame_sources import (
    Kept,
    Made,
    Piece,
    Pieces,
    Place,
    Reversed,
    Windowed,
    is_numeric,
    made_of,
)

MOST = 4096
"""The most frames that one result may need."""

MOST_DEEP = 256
"""The same where even values are looked into."""


@dataclass
class Frames:
    """The frames that are split by some axes.

    Attributes:
        axes: of the dimension.
        replaced: what stands for values that were made of frames.
        is_deep: whether even values are looked into, too: 48 rows between values of 56
            are split otherwise than these.
        made: how the frame of each place is made; None if the value is not looked into.
        written: the frames that are there.
    """

    mesh_of: MeshOf
    mesh: Mesh
    mesh_name: str | Mesh
    axes: Axes
    replaced: dict[SSAValue, SSAValue]
    is_deep: bool = False
    derivations: dict[Place, Made | None] = field(
        default_factory=dict[Place, Made | None]
    )
    written: dict[Place, SSAValue] = field(default_factory=dict[Place, SSAValue])

    def __post_init__(self) -> None:
        self.shards = total_size(self.axes, self.mesh)

    # Planning

    def axes_of(self, value: SSAValue, dim: int) -> Axes:
        """Return the axes that split a dimension of a value."""
        sharding = sdy.get_sharding(value)
        return () if sharding is None else sharding.dims[dim].axes

    def is_split(self, value: SSAValue, dim: int) -> bool:
        """Whether a value lies evenly along the axes, or along any if there are none."""
        axes = self.axes_of(value, dim)
        even = shape_of(value)[dim] % total_size(axes, self.mesh) == 0
        return even and bool(axes) and (axes == self.axes or not self.axes)

    def _is_leaf(self, place: Place, block: Block) -> bool:
        value, dim, start, size = place
        if not isinstance(value, OpResult) or value.op.parent is not block:
            return True
        if self.is_deep and (start or place.extent != size):
            return False
        # whole, unless it is only since no axis fits
        axes = self.axes_of(value, dim) or self.axes
        return place.extent % total_size(axes, self.mesh) == 0

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
                return None  # no number fills such a frame
            if place not in self.derivations:
                leaf = place not in first and self._is_leaf(place, block)
                self.derivations[place] = (
                    None if leaf else made_of(place.value, place.dim, self.shards)
                )
            derivation = self.derivations[place]
            for operand in () if derivation is None else derivation.operands(place):
                if operand not in seen:
                    seen[operand] = None
                    waiting.append(operand)
            if len(seen) > (MOST_DEEP if self.is_deep else MOST):
                return None
        return list(seen)

    def reads(self, place: Place) -> list[SSAValue]:
        """Return the values that a frame reads directly."""
        match self.derivations[place]:
            case None:
                return [place.value]
            case Kept(held):
                return [value for value, dim in held if dim is None]
            case Pieces(_, filler) if filler is not None:
                return [filler]
            case Windowed():
                assert isinstance(place.value, OpResult), "an op makes it"
                return list(place.value.op.operands[1:])
            case _:
                return []

    def row_bytes(self, value: SSAValue, dim: int) -> int:
        """Return the bytes that a device holds of one position."""
        sharding = sdy.get_sharding(value)
        shape = [*shape_of(value)]
        if sharding is not None:
            shape = [*sharding.local_shape(shape, self.mesh, pad=True)]
        shape[dim] = 1
        return tensor_bytes(shape, element_of(value))

    def sent(self, place: Place) -> int:
        """Return the bytes that a device sends for a frame, besides for its sources."""
        derivation = self.derivations[place]
        if isinstance(derivation, Windowed):
            return self._sent_for_windows(place, derivation)
        if derivation is not None:
            return 0
        value, dim, start, size = place
        count, axes = place.extent, self.axes_of(value, dim)
        if not axes or count % total_size(axes, self.mesh):
            return 0  # whole by then
        if not self.axes:
            low, high = max(start, 0), min(start + size, count)
            return 2 * max(0, high - low) * self.row_bytes(value, dim)
        if axes != self.axes:
            return count * self.row_bytes(value, dim)
        held, wanted = count // self.shards, size // self.shards
        halo = Halo(dim, 0, 0, start, wanted, wanted - held)
        rows = min(halo.elements_sent(self.shards, held), (self.shards - 1) * held)
        return rows * self.row_bytes(value, dim)

    def _sent_for_windows(self, place: Place, windowed: Windowed) -> int:
        (operand,) = windowed.operands(place)
        low, _ = windowed.padding(place, operand.size)
        length = (place.size // self.shards - 1) * windowed.stride + windowed.window
        windows = Place(windowed.value, windowed.dim, -low, place.size)
        return self.halo_bytes(windows, operand.size, length, windowed.stride)

    def halo_bytes(self, windows: Place, size: int, length: int, step: int) -> int:
        """Return what a device sends so that each has what its windows read of a value.

        Args:
            windows: of what, where the first begins, and how many there are.
            size: of the frame of the value.
            length: how many places those of one device reach over.
            step: from the start of one to that of the next.
        """
        if self.axes_of(windows.value, windows.dim) != self.axes:
            return 0  # whole, or gathered for others
        held, wanted = size // self.shards, windows.size // self.shards
        halo = Halo(windows.dim, 0, 0, windows.start, length, wanted * step - held)
        rows = min(halo.elements_sent(self.shards, held), (self.shards - 1) * held)
        return rows * self.row_bytes(windows.value, windows.dim)

    def sent_for(self, places: Iterable[Place]) -> int:
        """Return the bytes that a device sends for some frames."""
        return sum(map(self.sent, places))

    # Writing

    def sharding(self, value: SSAValue, dim: int) -> TensorSharding:
        """Return the sharding of a value's frame."""
        known = sdy.get_sharding(value)
        if known is None:
            known = TensorSharding.fully_open(self.mesh_name, len(shape_of(value)))
        dims = [
            dim_sharding.with_axes(())
            if lists_overlap(dim_sharding.axes, self.axes)
            else dim_sharding
            for dim_sharding in known.dims
        ]
        dims[dim] = DimSharding(self.axes, known.dims[dim].closed and bool(self.axes))
        return TensorSharding(known.mesh, tuple(dims))

    def write(self, emit: Emitter, places: Iterable[Place]) -> None:
        """Write frames and the frames that they need."""
        waiting = list(places)
        while waiting:
            place = waiting[-1]
            if place in self.written:
                waiting.pop()
                continue
            derivation = self.derivations[place]
            operands = [] if derivation is None else derivation.operands(place)
            if (
                isinstance(derivation, Pieces)
                and self._padded(place, derivation) is not None
            ):
                operands = []
            missing = [operand for operand in operands if operand not in self.written]
            waiting += missing
            if not missing:
                self.written[place] = self._frame(emit, place, derivation)
                waiting.pop()

    def _say(self, value: SSAValue, sharding: TensorSharding) -> SSAValue:
        sdy.set_sharding(value, sharding)
        return value

    def _frame(self, emit: Emitter, place: Place, derivation: Made | None) -> SSAValue:
        value, dim, start, size = place
        sharding = self.sharding(value, dim)
        match derivation:
            case None:
                filler = emit.number(0, element_of(value))
                return self._cut(emit, place, filler, sharding)
            case Pieces():
                return self._moved(emit, place, derivation, sharding)
            case Reversed():
                (operand,) = derivation.operands(place)
                frame = self.written[operand]
                dims: dict[str, Attribute] = {"dimensions": dims_attr(derivation.dims)}
                turned = emit.one(stablehlo.ReverseOp, [frame], frame.type, dims)
                return self._say(turned, sharding)
            case Windowed():
                return self._say(self._windows(emit, place, derivation), sharding)
            case Kept():
                operands = [
                    self.replaced.get(operand, operand)
                    if at is None
                    else self.written[Place(operand, at, start, size)]
                    for operand, at in derivation.held
                ]
                return self._say(
                    _resized(emit, value, operands, dim, size, start), sharding
                )

    def _windows(self, emit: Emitter, place: Place, windowed: Windowed) -> SSAValue:
        """Return the windows of a frame of all of the operand."""
        op = place.value.owner
        assert isinstance(op, stablehlo.ConvolutionOp | stablehlo.ReduceWindowOp)
        (operand,) = windowed.operands(place)
        frame = self.written[operand]
        if operand.size > operand.extent and windowed.reads_behind(place):
            frame = self.masked(emit, operand, windowed.filler or 0)
        # a negative padding leaves places out
        spatial = len(shape_of(place.value))
        if isinstance(op, stablehlo.ConvolutionOp):
            spatial = len(op.dimension_numbers.data.input_spatial_dimensions)
        padding = list(padding_pairs(op.padding, spatial))
        padding[windowed.at] = windowed.padding(place, operand.size)
        others = [self.replaced.get(input, input) for input in op.operands[1:]]
        shape = [*shape_of(place.value)]
        shape[place.dim] = place.size
        new = emit.emit(
            type(op),
            [frame, *others],
            [TensorType(element_of(place.value), shape)],
            {**op.properties, "padding": padding_attr(padding)},
            sdy.without_sdy(op.attributes),
            [region.clone() for region in op.regions],
        )
        new.results[0].name_hint = place.value.name_hint
        return new.results[0]

    def _cut(
        self, emit: Emitter, place: Place, filler: SSAValue, sharding: TensorSharding
    ) -> SSAValue:
        """Return the frame of a value itself, with a filler outside of it."""
        value, dim, start, size = place
        value = self.replaced.get(value, value)
        count = shape_of(value)[dim]
        if start == 0 and count == size:
            return value
        low, high = [0] * len(shape_of(value)), [0] * len(shape_of(value))
        low[dim], high[dim] = -start, size - count + start
        if -start > size or start > count:  # the frame lies outside of the value
            low[dim], high[dim] = 0, size - count
        if max(low + high) <= 0:
            limits = [n + at for n, at in zip(shape_of(value), high, strict=True)]
            cut = emit.slice(value, [-at for at in low], limits)
        else:
            cut = emit.pad(value, filler, low, high)
        return self._say(cut, sharding)

    def _padded(self, place: Place, pieces: Pieces) -> Place | None:
        """The value that a padded one is a frame of, with its filler outside of it."""
        value, dim, start, size = place
        if pieces.filler is None or len(pieces.pieces) != 1:
            return None
        (piece,) = pieces.pieces
        inner = Place(piece.value, dim, start - piece.shift, size)
        while isinstance(self.derivations.get(inner), Pieces):
            inner_pieces = self.derivations[inner]
            assert isinstance(inner_pieces, Pieces)
            if inner_pieces.filler is not None or len(inner_pieces.pieces) != 1:
                return None
            if not _only_along(inner.value, dim):
                return None
            inner = inner._replace(
                value=inner_pieces.pieces[0].value,
                start=inner.start - inner_pieces.pieces[0].shift,
            )
        if inner not in self.derivations or self.derivations[inner] is not None:
            return None
        if not _only_along(value, dim):
            return None
        end = shape_of(value)[dim] - start
        ends = (
            (piece.low - start, piece.high - start),
            (-inner.start, shape_of(inner.value)[dim] - inner.start),
        )
        inside = {(max(low, 0, -start), min(high, size, end)) for low, high in ends}
        return inner if len(inside) == 1 else None

    def _moved(
        self, emit: Emitter, place: Place, pieces: Pieces, sharding: TensorSharding
    ) -> SSAValue:
        value, dim, start, size = place
        inner = self._padded(place, pieces)
        if inner is not None:
            assert pieces.filler is not None
            return self._cut(emit, inner, pieces.filler, sharding)
        shape = [*shape_of(value)]
        shape[dim] = size
        first, last = max(0, -start), min(size, shape_of(value)[dim] - start)
        chosen: SSAValue | None = None
        if pieces.filler is not None:
            chosen = self._say(emit.broadcast(pieces.filler, shape), sharding)
        for piece in reversed(pieces.pieces):
            low, high = max(piece.low - start, first), min(piece.high - start, last)
            if low >= high:
                continue
            at = Place(piece.value, dim, start - piece.shift, size)
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
        """Write the mask of elements inside ranges of dimensions."""
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
        """Return a frame of a whole value, with a number at positions outside of it."""
        value, dim, start, _ = place
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
            return not any(
                numbers.get_values()[at] for numbers in each for at in others
            )
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
    """Write a value again, on operands of another size along a dimension."""
    op = value.owner
    assert isinstance(op, Operation)
    shape = [*shape_of(value)]
    shape[dim] = size
    type_ = TensorType(element_of(value), shape)
    if (
        isinstance(op, stablehlo.IotaOp)
        and start
        and op.iota_dimension.value.data == dim
    ):
        places = emit.one(stablehlo.IotaOp, [], type_, op.properties)
        first = emit.number(start, element_of(value))
        return emit.add(places, emit.broadcast(first, shape))
    properties = resized_properties(op, {dim: size})
    attributes = sdy.without_sdy(op.attributes)
    regions = [region.clone() for region in op.regions]
    new = emit.emit(type(op), operands, [type_], properties, attributes, regions)
    new.results[0].name_hint = value.name_hint
    return new.results[0]
