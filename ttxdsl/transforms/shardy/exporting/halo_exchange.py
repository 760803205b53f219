"""Halo exchanges as jaxlib 0.12 writes them: neighbours send whole shards.

A slice or a pad moves elements along a split dimension. Each device gets the shards that
any device reads of, puts them around its own, and what the op pads with where there is
none and around all; then it cuts out its own stretch, which depends on its place:

    shard 0    shard 1    shard 2        pad with . by 2 in front, 1 behind
     a b c      d e f      g h i         . . a b | c d e f | g h i .
    ....|...abc|....  ....|abcdef|....   what each has together, and cuts four places of

This, and what the op does along whole dimensions, is in a manual computation.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.local.emitter import Emitter, int_attr
from ttxdsl.transforms.shardy.per_device.literal import LiteralEmitter, Wording

# Devices along axes


def digit_of(mesh: Mesh, axis: AxisRef) -> tuple[int, int]:
    """The stride and the size of an axis in row-major positions of a mesh."""
    whole = mesh.axis_size(axis.name)
    size = axis.size_in(mesh)
    behind = prod(mesh.axis_sizes[mesh.axis_index(axis.name) + 1 :])
    return behind * (whole // (axis.pre_size * size)), size


def steps_along(mesh: Mesh, axes: Axes, by: int) -> list[tuple[int, int]]:
    """Each device with the one so many shards behind it along axes, if there is one."""
    digits = [digit_of(mesh, axis) for axis in axes]
    devices = mesh.devices()
    pairs: list[tuple[int, int]] = []
    for position in range(mesh.total_size):
        to, carry = position, by
        for stride, size in reversed(digits):
            place = position // stride % size
            carry, moved = divmod(place + carry, size)
            to += (moved - place) * stride
        if not carry:
            pairs.append((devices[position], devices[to]))
    return pairs


def pairs_attr(
    pairs: Sequence[tuple[int, int]],
) -> DenseIntOrFPElementsAttr[IntegerType]:
    """`dense<[[source, target], …]>`."""
    flat = [device for pair in pairs for device in pair]
    return DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(pairs), 2]), flat)


# What each device reads


@dataclass(frozen=True)
class Stretch:
    """What each shard of a result reads along one split dimension.

    Attributes:
        dim: the dimension.
        shard: how many elements of the operand a device has.
        size: how many places of the result.
        low: how many places there are before the first element.
        spread: the distance of two elements in places.
        before: from how many shards before its own a device reads, at most.
        behind: from how many behind.
        is_full: whether every device reads something.
        is_near: whether an exchange moves less than making the dimension whole.
    """

    dim: int
    shard: int
    size: int
    low: int
    spread: int
    before: int
    behind: int
    is_full: bool
    is_near: bool

    @staticmethod
    def of(
        dim: int, shards: int, length: int, places: int, low: int, spread: int = 1
    ) -> "Stretch":
        """What is read of so many elements for so many places of a result."""
        shard, size = -(-length // shards), -(-places // shards)
        before = behind = 0
        is_full = True
        for at in range(shards):
            place = at * size - low
            # C++ divides toward zero, and takes as many elements as places
            start = place // spread if place >= 0 else -(-place // spread)
            first, last = max(start, 0), min(start + size, length) - 1
            if first > last:
                is_full = False
                continue
            before = max(before, at - first // shard)
            behind = max(behind, last // shard - at)
        far = before + behind + 1 >= shards and max(before, behind) > 1
        return Stretch(dim, shard, size, low, spread, before, behind, is_full, not far)

    @property
    def is_own(self) -> bool:
        """Whether no device reads what others have."""
        return not self.before and not self.behind

    @property
    def is_kept(self) -> bool:
        """Whether each device has its stretch as its shard."""
        same = self.size == self.shard and not self.low and self.spread == 1
        return same and self.is_own and self.is_full


def stretch_of_pad(op: stablehlo.PadOp, dim: int, shards: int) -> Stretch:
    """What is read along a dimension of so many shards."""
    low = op.edge_padding_low.get_values()[dim]
    spread = op.interior_padding.get_values()[dim] + 1
    length, places = shape_of(op.operand)[dim], shape_of(op.result)[dim]
    return Stretch.of(dim, shards, length, places, low, spread)


def _stretch_of_slice(op: stablehlo.SliceOp, dim: int, shards: int) -> Stretch | None:
    """The same; None if elements are left out between others."""
    if op.strides.get_values()[dim] != 1:
        return None
    low = -op.start_indices.get_values()[dim]
    length, places = shape_of(op.operand)[dim], shape_of(op.result)[dim]
    return Stretch.of(dim, shards, length, places, low)


def stretches_of(
    op: stablehlo.SliceOp | stablehlo.PadOp, sharding: TensorSharding, mesh: Mesh
) -> list[Stretch] | None:
    """What each split dimension of an op reads; None if an exchange is not for it."""
    found: list[Stretch] = []
    for dim, split in enumerate(sharding.dims):
        shards = split.sharded_size(mesh)
        if shards < 2:
            continue
        one = (
            stretch_of_pad(op, dim, shards)
            if isinstance(op, stablehlo.PadOp)
            else _stretch_of_slice(op, dim, shards)
        )
        if one is None or not one.is_near:
            return None
        found.append(one)
    return found


# What devices do


@dataclass(frozen=True)
class Shards:
    """The shards of a value, each of which its device computes with.

    Attributes:
        sharding: of the value, whose axes divide it once it is `evened`.
        mesh: its mesh.
        dims: the dimensions along which devices are told apart.
    """

    sharding: TensorSharding
    mesh: Mesh
    dims: Sequence[int]

    @property
    def manual(self) -> tuple[str, ...]:
        """The axes of these dimensions, in the order of the mesh."""
        names = {
            axis.name for dim in self.dims for axis in self.sharding.dims[dim].axes
        }
        return tuple(name for name in self.mesh.axis_names if name in names)

    @property
    def inside(self) -> TensorSharding:
        """The sharding of what a device has, by the other axes."""

        def free(axes: Axes) -> Axes:
            return tuple(axis for axis in axes if axis.name not in self.manual)

        return replace(
            self.sharding,
            dims=tuple(dim.with_axes(free(dim.axes)) for dim in self.sharding.dims),
            replicated=free(self.sharding.replicated),
            unreduced=free(self.sharding.unreduced),
        )

    def evened(
        self,
        emit: Emitter,
        value: SSAValue,
        shape: Sequence[int],
        filler: SSAValue | None = None,
    ) -> SSAValue:
        """A value with a scalar, or zero, behind it up to a shape."""
        high = [new - old for new, old in zip(shape, shape_of(value), strict=True)]
        if not any(high):
            return value
        filler = filler or emit.number(0, element_of(value))
        padded = emit.pad(value, filler, [0] * len(high), high)
        sdy.set_sharding(padded, self.sharding)
        return padded

    def cut(self, emit: Emitter, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """What of a value was there before it was evened."""
        if shape_of(value) == tuple(shape):
            return value
        cut = emit.slice(value, [0] * len(shape), shape)
        sdy.set_sharding(cut, self.sharding)
        return cut

    def computed(
        self,
        emit: Emitter,
        operands: Sequence[SSAValue],
        shape: Sequence[int],
        write: Callable[[Block], SSAValue],
    ) -> SSAValue:
        """A value of a shape that devices compute of their shards.

        Args:
            emit: where.
            operands: the value, evened, and scalars.
            shape: evened.
            write: appends what a device does to a block of its shard and the scalars.
        """
        value, *scalars = operands
        parts = [
            prod(
                axis.size_in(self.mesh) for axis in dim.axes if axis.name in self.manual
            )
            for dim in self.sharding.dims
        ]
        sizes = zip(shape_of(value), parts, strict=True)
        shard = TensorType(element_of(value), [size // part for size, part in sizes])
        body = Block(arg_types=[shard, *(scalar.type for scalar in scalars)])
        body.add_op(sdy.ReturnOp(write(body)))
        scalar = TensorSharding.fully_closed(self.sharding.mesh, 0)
        computation = sdy.ManualComputationOp(
            operands,
            [self.sharding, *(scalar for _ in scalars)],
            [self.sharding],
            self.manual,
            Region(body),
            [TensorType(element_of(value), list(shape))],
        )
        computation.location = emit.location
        emit.block.add_op(computation)
        return computation.results[0]


@dataclass(frozen=True)
class Exchange:
    """How the shards of a value go to other devices, and these tell themselves apart."""

    shards: Shards
    channels: Iterator[int]
    wording: Wording

    def resolve(
        self, op: stablehlo.SliceOp | stablehlo.PadOp, stretches: Sequence[Stretch]
    ) -> None:
        """Put an exchange in the place of an op."""
        shards = self.shards
        outside = Emitter(Block(), op.location)
        filler = op.padding_value if isinstance(op, stablehlo.PadOp) else None
        even = shards.sharding.even_shape(shape_of(op.operand), shards.mesh)
        value = shards.evened(outside, op.operand, even, filler)
        filler = filler or outside.number(0, element_of(value))

        def write(body: Block) -> SSAValue:
            emit = LiteralEmitter(body, op.location, self.channels, self.wording)
            local, around = body.args
            for one in stretches:
                if not one.is_kept:
                    local = self._stretch(emit, local, around, one)
            return self._along_whole_dims(emit, op, local, around)

        wanted = shards.sharding.even_shape(shape_of(op.result), shards.mesh)
        result = shards.computed(outside, [value, filler], wanted, write)
        result = shards.cut(outside, result, shape_of(op.result))
        Rewriter.inline_block(outside.block, InsertPoint.before(op))
        Rewriter.replace_op(op, [], [result])

    def moved_right(
        self, emit: LiteralEmitter, value: SSAValue, dim: int, count: int
    ) -> SSAValue:
        """Each element that many places further along a dimension, over all shards."""
        shape = shape_of(value)
        hops, rest = divmod(count, shape[dim])
        near, far = (self._sent(emit, value, dim, hop) for hop in (hops, hops + 1))
        starts, limits = [0] * len(shape), [*shape]
        starts[dim] = limits[dim] = shape[dim] - rest
        edge = self._said(emit.slice(far, starts, shape))
        stays = self._said(emit.slice(near, [0] * len(shape), limits))
        return self._said(self._joined(emit, [edge, stays], dim))

    def _sent(
        self, emit: LiteralEmitter, value: SSAValue, dim: int, hops: int
    ) -> SSAValue:
        """What the shard so many before has; zero where there is none."""
        if not hops:
            return value
        pairs = steps_along(self.shards.mesh, self._axes(dim), hops)
        if not pairs:
            zero = emit.number(0, element_of(value))
            return self._said(emit.broadcast(zero, shape_of(value)))
        return self._said(self._permuted(emit, value, pairs))

    def _stretch(
        self, emit: LiteralEmitter, value: SSAValue, filler: SSAValue, one: Stretch
    ) -> SSAValue:
        """What a device reads along a dimension, of its shard and others."""
        dim, shape = one.dim, [*shape_of(value)]
        axes, mesh = self._axes(dim), self.shards.mesh
        count = prod(axis.size_in(mesh) for axis in axes)
        index = self._index(emit, axes)

        def neighbour(hops: int) -> SSAValue:
            pairs = steps_along(mesh, axes, hops)
            sent = self._permuted(emit, value, pairs)
            border = emit.constant([hops if hops > 0 else count + hops])
            is_there = emit.compare(
                index,
                border,
                ComparisonDirection.GE if hops > 0 else ComparisonDirection.LT,
            )
            outside = emit.broadcast(filler, shape)
            return emit.select(emit.broadcast(is_there, shape), sent, outside)

        before = [neighbour(hops) for hops in range(one.before, 0, -1)]
        behind = [neighbour(-hops) for hops in range(1, one.behind + 1)]
        together = self._said(self._joined(emit, [*before, value, *behind], dim))
        amounts, spread = [0] * len(shape), [0] * len(shape)
        amounts[dim], spread[dim] = one.size * one.spread, one.spread - 1
        together = self._said(emit.pad(together, filler, amounts, amounts, spread))

        own = one.shard * one.spread
        drift = emit.constant([one.size - own])
        first = emit.constant([one.before * own + amounts[dim] - one.low])
        start = emit.add(emit.binary(stablehlo.MulOp, index, drift), first)
        zero = emit.constant([0])
        starts = [zero] * len(shape)
        starts[dim] = emit.binary(stablehlo.MaxOp, start, zero)
        shape[dim] = one.size
        return self._said(emit.dynamic_slice(together, starts, shape))

    def _along_whole_dims(
        self,
        emit: LiteralEmitter,
        op: stablehlo.SliceOp | stablehlo.PadOp,
        value: SSAValue,
        filler: SSAValue,
    ) -> SSAValue:
        """What an op does along the dimensions that are not split."""
        shape, mesh = shape_of(value), self.shards.mesh
        dims = self.shards.sharding.dims
        whole = [dim.sharded_size(mesh) < 2 for dim in dims]

        def there(amounts: Sequence[int], else_: Sequence[int]) -> list[int]:
            triples = zip(whole, amounts, else_, strict=True)
            return [now if is_whole else other for is_whole, now, other in triples]

        none = [0] * len(shape)
        if isinstance(op, stablehlo.PadOp):
            said = (op.edge_padding_low, op.edge_padding_high, op.interior_padding)
            low, high, between = (there(one.get_values(), none) for one in said)
            if not any((*low, *high, *between)):
                return value
            return self._said(emit.pad(value, filler, low, high, between))
        starts = there(op.start_indices.get_values(), none)
        limits = there(op.limit_indices.get_values(), shape)
        strides = there(op.strides.get_values(), [1] * len(shape))
        if not any(starts) and limits == [*shape] and set(strides) <= {1}:
            return value
        return self._said(emit.slice(value, starts, limits, strides))

    # Single ops

    def _axes(self, dim: int) -> Axes:
        return self.shards.sharding.dims[dim].axes

    def _said(self, value: SSAValue) -> SSAValue:
        sdy.set_sharding(value, self.shards.inside)
        return value

    def _permuted(
        self, emit: LiteralEmitter, value: SSAValue, pairs: Sequence[tuple[int, int]]
    ) -> SSAValue:
        properties = emit.on_channel({"source_target_pairs": pairs_attr(pairs)})
        return emit.one(stablehlo.CollectivePermuteOp, [value], value.type, properties)

    def _joined(
        self, emit: LiteralEmitter, values: Sequence[SSAValue], dim: int
    ) -> SSAValue:
        """One after another, were some of them empty or one alone."""
        shape = [*shape_of(values[0])]
        shape[dim] = sum(shape_of(value)[dim] for value in values)
        type_ = TensorType(element_of(values[0]), shape)
        by = {"dimension": int_attr(dim)}
        return emit.one(stablehlo.ConcatenateOp, values, type_, by)

    def _index(self, emit: LiteralEmitter, axes: Axes) -> SSAValue:
        """The index of this device along axes: looked up, or counted axis by axis."""
        mesh = self.shards.mesh
        if mesh.device_ids:
            return emit.offset(mesh, axes, 1)
        device = emit.convert(emit.device(), i32)
        index: SSAValue | None = None
        for axis in axes:
            stride, size = digit_of(mesh, axis)
            digit = device
            if stride > 1:
                digit = emit.binary(stablehlo.DivOp, digit, emit.constant([stride]))
            if size < mesh.total_size:
                digit = emit.binary(stablehlo.RemOp, digit, emit.constant([size]))
            if index is not None:
                index = emit.binary(stablehlo.MulOp, index, emit.constant([size]))
                digit = emit.add(index, digit)
            index = digit
        assert index is not None  # only split dimensions are exchanged
        return index
