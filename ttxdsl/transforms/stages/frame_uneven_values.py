"""`frame-uneven-values`: values between even ones are computed in even frames.

A shift by one row, `pad(slice(x))`, has 1023 rows in between, which no axis divides; so
have differences of neighbours and updates at constant places. Kept whole, they cost a
gather of `x`, although the result needs one row of a neighbour. This pass computes the
result in frames of its own size instead: a frame of a value is a number of consecutive
places of one dimension, from any place on; what lies outside of the value does not matter.

    slice %x [0:1023]; pad low = 1      pad %x, low = 1, high = -1
    slice %x [1:1024]; subtract; …      pad %x, low = -1, high = 1; subtract; …

Frames have the size of the result, which its axes divide, so that each is split evenly,
and stage 11 sends what crosses from shard to shard. Where an uneven dimension is reduced
or contracted, the frame is the next larger size that its axes divide, and what is outside
of the value becomes what changes nothing.

**Why it is right.** Let F(v, s) be any tensor with F(v, s)[r] = v[r + s] wherever v has
that place. Along the dimension in question

- a slice from place c is v[r] = x[r + c], so F(v, s) may be F(x, s + c);
- a pad, a concatenation and an update at a constant place are at each place one of their
  operands, moved by a constant, or the filler: F(v, s) chooses by place between those
  operands' frames;
- a reversal is v[r] = x[n - 1 - r], so that the frame of size m from s on is the reversal
  of the one of x from n - s - m on;
- an op that keeps the dimension (`held_in` of `dims.py`, with its size unchanged) computes
  place r of its result from place r of its operands, so that on F(x, s) it makes F(v, s);
- a value that is not looked into is padded or cut: that is its frame;
- the result itself is F(v, 0) of its own size, in which all places are its own. A
  reduction of F(v, 0) counts what is outside of v as a number that changes nothing.

Each step goes from a result to operands, of which there are finitely many, and each
dimension is looked at once, so it ends.

It is done where that sends less: what the frames of split values send, against the
gathers of those values that nobody needs any more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.function_attributes import entry_functions
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import element_bits, element_of, is_tensor, shape_of
from ttxdsl.ir.traversal import all_ops
from ttxdsl.sharding.axes import Axes, lists_overlap, total_size
from ttxdsl.sharding.cost import Ring, ring_bytes, tensor_bytes
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.local.combiner import combiner_of
from ttxdsl.transforms.local.creation import splat_of
from ttxdsl.transforms.local.emitter import Emitter, dims_attr
from ttxdsl.transforms.local.halo import Halo
from ttxdsl.transforms.local.indexing import in_range
from ttxdsl.transforms.local.pieces import cut_from, pieces_of
from ttxdsl.transforms.local.reduction import is_constant_number
from ttxdsl.transforms.optimize.dims import held_in
from ttxdsl.transforms.optimize.single_ops import makes_results_alone
from ttxdsl.transforms.shardy.meshes import MeshOf, mesh_lookup
from ttxdsl.transforms.stages.even_out_shardings import leading_axes_that_divide
from ttxdsl.transforms.stages.supply_sharding_rules import SupplyShardingRulesPass

_MOST = 4096
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
class Moved:
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
    """A value whose places are those of an operand in the opposite order."""

    value: SSAValue

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


Made = Moved | Reversed | Kept


def _scalar(value: SSAValue) -> int | None:
    """The number that a scalar is written as."""
    held = value.owner.value if isinstance(value.owner, stablehlo.ConstantOp) else None
    if not isinstance(held, DenseIntOrFPElementsAttr):
        return None
    (number,) = held.get_values()
    return int(number)


def _numbers(element: Attribute) -> bool:
    """Whether elements are numbers that can be chosen between and masked."""
    return isinstance(element, IntegerType | AnyFloat | ComplexType)


def made_of(value: SSAValue, dim: int) -> Made | None:
    """How the places of a dimension are made from those of operands; None if unknown."""
    op = value.owner
    if not isinstance(op, Operation) or len(op.results) != 1:
        return None
    size = shape_of(value)[dim]
    if 0 in shape_of(value):
        return Moved(())
    match op:
        case stablehlo.SliceOp() if op.strides.get_values()[dim] == 1:
            start = op.start_indices.get_values()[dim]
            return Moved((Piece(op.operand, -start, 0, size),))
        case stablehlo.PadOp() if not op.interior_padding.get_values()[dim]:
            low = op.edge_padding_low.get_values()[dim]
            end = low + shape_of(op.operand)[dim]
            piece = Piece(op.operand, low, max(0, low), min(size, end))
            return Moved((piece,), op.padding_value)
        case stablehlo.ConcatenateOp() if op.dimension.value.data == dim:
            pieces: list[Piece] = []
            at = 0
            for operand in op.inputs:
                end = at + shape_of(operand)[dim]
                pieces.append(Piece(operand, at, at, end))
                at = end
            return Moved(tuple(pieces))
        case stablehlo.DynamicUpdateSliceOp():
            return _updated(op, dim)
        case stablehlo.ReverseOp() if dim in op.dimensions.get_values():
            return Reversed(op.operand)
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
    return Moved(
        (
            Piece(op.update, low, low, high, others),
            Piece(op.operand, 0, 0, whole[dim]),
        )
    )


class Root(NamedTuple):
    """What is to be made of frames.

    Attributes:
        op: of which the result, or an operand, is made.
        dim: the dimension.
        operands: the indices of the operands that are reduced along it, with their
            dimensions; none where it is the result.
    """

    op: Operation
    dim: int
    operands: tuple[tuple[int, int], ...] = ()

    @property
    def places(self) -> list[Place]:
        """The frames that it takes."""
        if not self.operands:
            return [Place(self.op.results[0], self.dim, 0)]
        return [Place(self.op.operands[at], dim, 0) for at, dim in self.operands]


@dataclass
class Frames:
    """The frames of one size that are split by some axes.

    Attributes:
        mesh_of: finds the mesh of a sharding.
        mesh: the mesh.
        axes: of the dimension.
        size: how many places they have.
        made: how the frame of each place is made; None if the value is not looked into.
    """

    mesh_of: MeshOf
    mesh: Mesh
    mesh_name: str | Mesh
    axes: Axes
    size: int
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

    def plan(self, root: Root) -> list[Place] | None:
        """All frames that a root takes; None if there are too many."""
        block = root.op.parent
        assert block is not None
        seen = dict.fromkeys(root.places)
        waiting = list(seen)
        while waiting:
            place = waiting.pop()
            if place not in self.made:
                first = place.value is root.op.results[0] and not root.operands
                leaf = not first and self._is_leaf(place, block)
                usable = _numbers(element_of(place.value)) and not leaf
                self.made[place] = made_of(place.value, place.dim) if usable else None
            made = self.made[place]
            for operand in () if made is None else made.operands(place, self.size):
                if operand not in seen:
                    seen[operand] = None
                    waiting.append(operand)
            if len(seen) > _MOST:
                return None
        return list(seen)

    def reads(self, place: Place) -> list[SSAValue]:
        """The values that a frame is made of as they are."""
        match self.made[place]:
            case None:
                return [place.value]
            case Kept(held):
                return [value for value, dim in held if dim is None]
            case Moved(_, filler) if filler is not None:
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
        return tensor_bytes(shape, element_bits(element_of(value)))

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
            if isinstance(made, Moved) and self._padded(place, made) is not None:
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
            case Moved():
                return self._moved(emit, place, made, sharding)
            case Reversed():
                (operand,) = made.operands(place, self.size)
                turned = emit.one(
                    stablehlo.ReverseOp,
                    [self.written[operand]],
                    self.written[operand].type,
                    {"dimensions": dims_attr([dim])},
                )
                for other in value.owner.dimensions.get_values():  # pyright: ignore
                    if other != dim:
                        self._say(turned, sharding)
                return self._say(turned, sharding)
            case Kept():
                operands = [
                    operand if at is None else self.written[Place(operand, at, start)]
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

    def _padded(self, place: Place, made: Moved) -> Place | None:
        """The value that a padded one is a frame of, with its filler outside of it."""
        value, dim, start = place
        if made.filler is None or len(made.pieces) != 1:
            return None
        (piece,) = made.pieces
        inner = Place(piece.value, dim, start - piece.shift)
        while isinstance(self.made.get(inner), Moved):
            one = self.made[inner]
            assert isinstance(one, Moved)
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
        inside = {(max(low, 0, -start), min(high, self.size, end)) for low, high in ends}
        return inner if len(inside) == 1 else None

    def _moved(
        self, emit: Emitter, place: Place, made: Moved, sharding: TensorSharding
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

    def masked(
        self, emit: Emitter, place: Place, number: SSAValue | float
    ) -> SSAValue:
        """The frame of a value from its start on, with a number behind its end."""
        value, dim, _ = place
        frame, sharding = self.written[place], self.sharding(value, dim)
        shape = shape_of(frame)
        if not isinstance(number, SSAValue):
            number = emit.number(number, element_of(value))
        filler = self._say(emit.broadcast(number, shape), sharding)
        inside = self._inside(emit, [(dim, 0, shape_of(value)[dim])], shape, sharding)
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


def _reduced(op: Operation, is_uneven: Mapping[int, frozenset[int]]) -> list[Root]:
    """The uneven dimensions that an op reduces, where what is outside can be masked."""
    match op:
        case stablehlo.ReduceOp() if len(op.inputs) == 1:
            combiner = combiner_of(op.body)
            if combiner is None:
                return []
            (initial,) = op.init_values
            neutral = combiner.neutral
            if neutral is None and not combiner.is_idempotent:
                return []
            if is_constant_number(initial, neutral) or neutral is not None:
                pass
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
        case _:
            return []


_MOVING = (
    stablehlo.SliceOp,
    stablehlo.PadOp,
    stablehlo.ConcatenateOp,
    stablehlo.DynamicUpdateSliceOp,
)


class _Block:
    """The roots of one block, and which of them pay."""

    def __init__(self, block: Block, mesh_of: MeshOf, dim: int | None = None):
        self.block, self.mesh_of, self.dim = block, mesh_of, dim
        self.frames: dict[tuple[str | Mesh, Axes, int], Frames] = {}
        self.planned: dict[Root, tuple[Frames, list[Place]]] = {}

    def _uneven(self, value: SSAValue) -> frozenset[int]:
        """The dimensions that a value's axes do not divide."""
        sharding = sdy.get_sharding(value) if is_tensor(value) else None
        if sharding is None or not sharding.sharding_axes or sharding.unreduced:
            return frozenset()
        mesh = self.mesh_of(sharding)
        if mesh.is_maximal:
            return frozenset()
        return frozenset(
            dim
            for dim, size in enumerate(shape_of(value))
            if size % sharding.dims[dim].sharded_size(mesh)
        )

    def roots(self) -> list[tuple[Root, TensorSharding, Axes]]:
        """What may be made of frames, with the axes that split it."""
        uneven: dict[SSAValue, frozenset[int]] = {}
        for op in self.block.ops:
            for result in op.results:
                dims = self._uneven(result)
                if dims:
                    uneven[result] = dims
        found: list[tuple[Root, TensorSharding, Axes]] = []
        if not uneven and not self._joins():
            return found
        for op in self.block.ops:
            of_operands = {
                at: uneven[value]
                for at, value in enumerate(op.operands)
                if value in uneven
            }
            for root in _reduced(op, of_operands):
                at, dim = next(
                    (at, dim) for at, dim in root.operands if dim in of_operands[at]
                ) if all(at in of_operands for at, _ in root.operands) else next(
                    (at, dim)
                    for at, dim in root.operands
                    if dim in of_operands.get(at, ())
                )
                sharding = sdy.get_sharding(op.operands[at])
                assert sharding is not None, "it has axes"
                found.append((root, sharding, sharding.dims[dim].axes))
            if not isinstance(op, _MOVING):
                continue
            (result,) = op.results
            sharding = sdy.get_sharding(result)
            if sharding is None or sharding.unreduced:
                continue
            if isinstance(op, stablehlo.SliceOp):
                for dim in uneven.get(op.operand, ()):
                    small = 4 * shape_of(result)[dim] <= shape_of(op.operand)[dim]
                    if small and dim in uneven.get(result, ()):
                        found.append((Root(op, dim), sharding, ()))
            for dim, one in enumerate(sharding.dims):
                if (
                    one.axes
                    and dim not in uneven.get(result, ())
                    and isinstance(made_of(result, dim), Moved)
                    and not self._in_pieces(op, dim, sharding)
                ):
                    found.append((Root(op, dim), sharding, one.axes))
        return found

    def _joins(self) -> bool:
        """Whether there is a concatenation along a split dimension."""
        for op in self.block.ops:
            if isinstance(op, stablehlo.ConcatenateOp):
                sharding = sdy.get_sharding(op.result)
                if sharding and sharding.dims[op.dimension.value.data].axes:
                    return True
        return False

    def _in_pieces(self, op: Operation, dim: int, sharding: TensorSharding) -> bool:
        """Whether stage 11 makes a concatenation of pieces of one value."""
        if not isinstance(op, stablehlo.ConcatenateOp):
            return False
        cut = cut_from(op.result, dim)
        known = None if cut is None else sdy.get_sharding(cut.source)
        if cut is None or known is None or not known.same_layout(sharding):
            return False
        count = sharding.dims[dim].sharded_size(self.mesh_of(sharding))
        size = shape_of(cut.source)[dim]
        return size % count == 0 and (
            pieces_of(cut.stretches, size // count, count) is not None
        )

    def dims(self) -> set[int]:
        """The dimensions of what may be made of frames."""
        return {root.dim for root, _, _ in self.roots()}

    def plan(self) -> None:
        """Plan the frames of all roots along the dimension."""
        for root, sharding, axes in self.roots():
            if root.dim != self.dim:
                continue
            mesh = self.mesh_of(sharding)
            shards = total_size(axes, mesh)
            if axes and shards == 1:
                continue
            place = root.places[0]
            size = -(-shape_of(place.value)[place.dim] // shards) * shards
            if not size:
                continue
            key = sharding.mesh, axes, size
            frames = self.frames.get(key)
            if frames is None:
                frames = Frames(self.mesh_of, mesh, sharding.mesh, axes, size)
                self.frames[key] = frames
            places = frames.plan(root)
            if places is None or not all(
                _numbers(element_of(place.value)) for place in root.places
            ):
                continue
            self.planned[root] = frames, places

    def _gathers(
        self, root: Root
    ) -> dict[tuple[SSAValue, int, Axes], set[Operation]]:
        """The split values that a root's uneven ones are made of, and their users."""
        frames, places = self.planned[root]
        found: dict[tuple[SSAValue, int, Axes], set[Operation]] = {}
        for place in places:
            made = frames.made[place]
            if made is None:
                continue
            user = place.value.owner
            assert isinstance(user, Operation)
            for operand in made.operands(place, frames.size):
                if frames.made[operand] is None and frames.is_split(*operand[:2]):
                    axes = frames.axes_of(operand.value, operand.dim)
                    kept = leading_axes_that_divide(
                        axes, shape_of(place.value)[place.dim], frames.mesh
                    )
                    if isinstance(user, stablehlo.ConcatenateOp):
                        kept = ()
                    elif kept == axes:
                        continue  # which stage 11 does on shards
                    key = operand.value, operand.dim, kept
                    found.setdefault(key, set()).add(user)
        return found

    def _dead(self, roots: Sequence[Root]) -> set[Operation]:
        """The ops that nobody needs when some roots are made of frames."""
        whole = {root.op for root in roots if not root.operands}
        reduced = {root.op: root for root in roots if root.operands}
        read = {
            value
            for frames, places in (self.planned[root] for root in roots)
            for place in places
            for value in frames.reads(place)
        }
        dead: set[Operation] = set()
        op = self.block.last_op
        while op is not None:
            if op in whole:
                dead.add(op)
            elif read.isdisjoint(op.results) and makes_results_alone(op):
                uses = [use for result in op.results for use in result.uses]
                if all(
                    use.operation in dead
                    or (
                        use.operation in reduced
                        and use.index
                        in {at for at, _ in reduced[use.operation].operands}
                    )
                    for use in uses
                ):
                    dead.add(op)
            op = op.prev_op
        return dead

    def choose(self) -> list[Root]:
        """The roots that are made of frames, since that sends less."""
        gathers = {root: self._gathers(root) for root in self.planned}
        chosen = list(self.planned)
        split = [root for root in chosen if self.planned[root][0].axes]
        dead = self._dead(split)
        # of the small whole ones those that others still need
        chosen = [root for root in chosen if root in split or root.op not in dead]
        while chosen:
            dead = self._dead(chosen)
            useful = [
                root
                for root in chosen
                if not gathers[root]
                or any(users <= dead | {root.op} for users in gathers[root].values())
            ]
            if len(useful) == len(chosen):
                break
            chosen = useful
        groups = _groups(
            {
                root: [place.value for place in self.planned[root][1]]
                for root in chosen
            }
        )
        paying: list[Root] = []
        for group in groups:
            dead = self._dead(group)
            saved: dict[tuple[SSAValue, int], int] = {}
            kept: set[tuple[SSAValue, int]] = set()
            sent: dict[tuple[int, Place], int] = {}
            added = 0
            for root in group:
                frames, places = self.planned[root]
                for (value, dim, axes), users in gathers[root].items():
                    if not users <= dead | {one.op for one in group}:
                        kept.add((value, dim))
                        continue
                    shards = total_size(frames.axes_of(value, dim), frames.mesh)
                    parts = shards // total_size(axes, frames.mesh)
                    held = shape_of(value)[dim] // shards
                    bytes_ = (parts - 1) * held * frames.row_bytes(value, dim)
                    saved[value, dim] = max(bytes_, saved.get((value, dim), 0))
                for place in places:
                    if frames.made[place] is None:
                        sent[id(frames), place] = frames.sent(place)
                if root.operands:
                    (result,) = root.op.results
                    held = tensor_bytes(
                        shape_of(result), element_bits(element_of(result))
                    )
                    added += ring_bytes(Ring.ALL_REDUCE, held, frames.shards)
            gained = sum(n for key, n in saved.items() if key not in kept)
            if added + sum(sent.values()) < gained:
                paying += group
        return paying

    def change(self) -> bool:
        """Make the roots that pay of frames; whether there are any."""
        self.plan()
        roots = self.choose() if self.planned else []
        order = {op: at for at, op in enumerate(self.block.ops)}
        dead = self._dead(roots)
        for root in sorted(roots, key=lambda one: order[one.op]):
            frames, _ = self.planned[root]
            emit = Emitter(Block(), root.op.location)
            frames.write(emit, root.places)
            if root.operands:
                _mask(emit, frames, root)
            else:
                (result,) = root.op.results
                frame = frames.written[root.places[0]]
                frame.name_hint = frame.name_hint or result.name_hint
                result.replace_all_uses_with(frame)
            Rewriter.inline_block(emit.block, InsertPoint.before(root.op))
        for op in sorted(dead, key=lambda one: order[one], reverse=True):
            if all(result.first_use is None for result in op.results):
                op.detach()
                op.erase()
        return bool(roots)


def _mask(emit: Emitter, frames: Frames, root: Root) -> None:
    """Let an op reduce frames, with what changes nothing outside of the values."""
    op = root.op
    number: SSAValue | float = 0
    if isinstance(op, stablehlo.ReduceOp):
        combiner = combiner_of(op.body)
        assert combiner is not None, "asked before"
        neutral = combiner.neutral
        number = op.init_values[0] if neutral is None else neutral
    for (at, _), place in zip(root.operands, root.places, strict=True):
        op.operands[at] = frames.masked(emit, place, number)


def _groups(values: Mapping[Root, Sequence[SSAValue]]) -> list[list[Root]]:
    """Roots that have values in common, together."""
    groups: list[tuple[set[SSAValue], list[Root]]] = []
    for root, of_root in values.items():
        known = {*of_root}
        members = [root]
        apart: list[tuple[set[SSAValue], list[Root]]] = []
        for group in groups:
            if group[0].isdisjoint(known):
                apart.append(group)
            else:
                known |= group[0]
                members = [*group[1], *members]
        groups = [*apart, (known, members)]
    return [members for _, members in groups]


class FrameUnevenValuesPass(ModulePass):
    """Compute values that their axes do not divide in frames that they do."""

    name = "frame-uneven-values"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        mesh_of = mesh_lookup(op)
        changed = False
        for function in entry_functions(op):
            for block in _blocks(function):
                tried: set[int] = set()
                while dims := _Block(block, mesh_of).dims() - tried:
                    tried.add(dim := min(dims))
                    changed |= _Block(block, mesh_of, dim).change()
        if changed:
            SupplyShardingRulesPass().apply(ctx, op)


def _blocks(function: FuncOp) -> list[Block]:
    """The blocks that shardings are about: not those that are already per device."""
    manual: set[Operation] = set()
    found = [function.body.block]
    for op in all_ops(function)[1:]:
        parent = op.parent_op()
        if isinstance(op, sdy.ManualComputationOp) or parent in manual:
            manual.add(op)
        elif isinstance(op, stablehlo.WhileOp | stablehlo.CaseOp | stablehlo.IfOp):
            found += [region.block for region in op.regions]
    return found
