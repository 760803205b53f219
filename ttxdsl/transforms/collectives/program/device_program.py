"""The per-device program that optimizations look at and change.

Every device runs the same ops on its own values. An optimization asks which devices a
collective is among and which values are the same on all of them. Axes stand for groups
of devices that differ only along them, in index order; a collective among other groups
is left alone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, permutations

from xdsl.dialects.builtin import (
    LocationAttr,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import Pure

from ttxdsl.analysis.attribution.origins import optimized
from ttxdsl.analysis.calls.trip_counts import TripCounts
from ttxdsl.costs.ring import Ring, ring_bytes
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.replica_groups import counts_replicas, device_groups, devices_of
from ttxdsl.ir.tensors import element_of, shape_of, tensor_bytes
from ttxdsl.sharding.axes import Axes, AxisRef, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import axes_of_groups, groups_along
from ttxdsl.sharding.reshard.collectives import AllToAllParam
from ttxdsl.transforms.collectives.program.nesting import Nesting
from ttxdsl.transforms.collectives.program.single_ops import (
    COLLECTIVES,
    OF_OPERANDS,
    SENDING,
    read_by,
    slice_of,
)
from ttxdsl.transforms.partition.emitter import Emitter
from ttxdsl.transforms.partition.exchange.collectives import (
    CollectiveWriter,
    SliceFunctions,
)
from ttxdsl.transforms.partition.exchange.combiner import SUM, combiner_of
from ttxdsl.transforms.partition.layout import unreduced_axes
from ttxdsl.transforms.partition.resized import resized_properties

_WHO_ELSE = "use_global_device_ids", "channel_handle"
"""The properties that say among whom a collective is, beside its groups: by being there."""

_FOLLOWING: dict[type[Operation], bool | None] = {}


def _class_follows(kind: type[Operation]) -> bool | None:
    """Return the answer for all ops of a class; None where it depends on the op."""
    if issubclass(
        kind, stablehlo.RngOp | stablehlo.PartitionIdOp | stablehlo.ReplicaIdOp
    ):
        return False
    if issubclass(kind, (*COLLECTIVES, stablehlo.CompositeOp)):
        return None
    return issubclass(kind, OF_OPERANDS) or kind.has_trait(
        Pure, value_if_unregistered=False
    )


@dataclass(frozen=True, slots=True)
class NumberedDevices:
    """The numbering of a module's devices, see `device_groups`."""

    count: int
    partitions: int | None

    @classmethod
    def of(cls, module: ModuleOp) -> "NumberedDevices":
        """Return the numbering of a module's devices."""
        return cls(devices_of(module), 1 if counts_replicas(module) else None)


class DeviceProgram:
    """One wrapped function body with local shapes, and the `nesting` of its loops."""

    def __init__(
        self,
        module: ModuleOp,
        wrapper: sdy.ManualComputationOp,
        mesh: Mesh,
        slices: SliceFunctions,
        first_channel: int,
        devices: NumberedDevices,
    ):
        self.block: Block = wrapper.body.block
        self.nesting = Nesting(self.block)
        self.mesh = mesh
        self._scratch = Emitter(Block(), wrapper.location)
        self._prefix = Emitter(Block(), wrapper.location)
        self._writer = CollectiveWriter(
            self._scratch, self._prefix, slices, first_channel
        )
        self._module = module
        self._devices = devices
        self._every = frozenset(mesh.axis_names)
        self.every_axis: Axes = tuple(AxisRef(name) for name in mesh.axis_names)
        self._axes: dict[Operation, Axes | None] = {}
        self._sending: dict[Block, list[Operation]] = {}
        self._looked_at: dict[tuple[str, Block], set[Operation]] = {}
        self._named: dict[object, tuple[Axes | None, object]] = {}
        self._split: dict[SSAValue, frozenset[str]] = {}
        self._same: dict[str, dict[SSAValue, bool]] = {}
        self._bytes: dict[tuple[Ring, int, Axes], tuple[int, Attribute]] = {}
        for argument, sharding in zip(
            self.block.args, wrapper.in_shardings.data, strict=True
        ):
            split = {axis.name for dim in sharding.dims for axis in dim.axes}
            split |= {axis.name for axis in unreduced_axes(sharding, mesh)}
            self._split[argument] = frozenset(split)

    @cached_property
    def trip_counts(self) -> TripCounts:
        """The trip counts of loops."""
        return TripCounts(self._module)

    @property
    def next_channel(self) -> int:
        """The first channel that nobody uses."""
        return self._writer.next_channel

    def sending(self, block: Block) -> list[Operation]:
        """Return the collectives and slices by device of a block, in program order."""
        known = self._sending.get(block)
        if known is None:
            known = self._sending[block] = [
                op for op in block.ops if type(op) in SENDING
            ]
        return [op for op in known if op.parent is block]

    def looked_at(self, name: str, block: Block) -> set[Operation]:
        """Return the set of a block's collectives that an optimization has looked at."""
        return self._looked_at.setdefault((name, block), set())

    # Who takes part

    def axes(self, op: Operation) -> Axes | None:
        """Return the axes of a collective or a slice by device; None where no axes say it."""
        if op not in self._axes:
            self._axes[op] = self._find_axes(op)
        return self._axes[op]

    def _find_axes(self, op: Operation) -> Axes | None:
        if isinstance(op, stablehlo.CompositeOp):
            part = slice_of(op)
            return (part[0],) if part is not None else None
        if not isinstance(op, COLLECTIVES) or len(op.operands) != 1:
            return None
        return self.axes_of_groups(op)

    def axes_of_groups(self, op: Operation) -> Axes | None:
        """Return the axes along which a collective's groups are, or None."""
        groups_said = op.properties.get("replica_groups")
        others = (name in op.properties for name in _WHO_ELSE)
        # stage 11 writes the very same attribute again and again
        key = type(op), id(groups_said), *others
        if key not in self._named:
            try:
                groups = device_groups(
                    op, self._devices.count, self._devices.partitions
                )
            except ValueError:
                groups = ()
            group_axes = axes_of_groups(self.mesh, groups) if groups else None
            orders = () if group_axes is None else islice(permutations(group_axes), 24)
            axes = next(
                (order for order in orders if groups_along(self.mesh, order) == groups),
                None,
            )
            self._named[key] = axes, groups_said
        return self._named[key][0]

    def size(self, axes: Axes) -> int:
        """Return the number of devices in a group along axes."""
        return total_size(axes, self.mesh)

    def same_along(self, value: SSAValue, axes: Axes) -> bool:
        """Whether all devices of each group along axes hold the same value."""
        for axis in axes:
            known = self._same.setdefault(axis.name, {})
            same = known.get(value)
            if same is None:
                same = self._is_same(value, axis.name, known)
            if not same:
                return False
        return True

    def _is_same(self, value: SSAValue, axis: str, known: dict[SSAValue, bool]) -> bool:
        """Whether devices along an axis surely hold the same value."""
        waiting = [value]
        while waiting:
            current = waiting[-1]
            if current in known:
                waiting.pop()
                continue
            if type(current) is not OpResult:
                known[current] = axis not in self._split.get(current, self._every)
                continue
            op = current.op
            follows = _FOLLOWING.get(type(op))  # most do
            same = None if follows else self._by_itself(op, axis)
            if same is None:
                same, count = True, len(waiting)
                for operand in read_by(op):
                    theirs = known.get(operand)
                    if theirs is None:
                        waiting.append(operand)
                    elif not theirs:
                        same = False
                        break
                if same and len(waiting) > count:
                    continue
                del waiting[count:]
            for result in op.results:
                known[result] = same
        return known[value]

    def _by_itself(self, op: Operation, axis: str) -> bool | None:
        """Return whether results are equal along an axis; None: if operands are."""
        if not self._follows(op):
            return False
        if _FOLLOWING[type(op)] is not None:
            return None
        axes = self.axes(op)
        if axes is None:
            return None
        if isinstance(op, stablehlo.AllReduceOp | stablehlo.AllGatherOp):
            whole = any(ref.name == axis and ref.size is None for ref in axes)
            return True if whole else None
        return False if any(ref.name == axis for ref in axes) else None

    def _follows(self, op: Operation) -> bool:
        """Whether results of an op are the same where what it reads is the same."""
        kind = type(op)
        if kind not in _FOLLOWING:
            _FOLLOWING[kind] = _class_follows(kind)
        follows = _FOLLOWING[kind]
        return self.axes(op) is not None if follows is None else follows

    # Prices

    def bytes(self, kind: Ring, before: SSAValue, axes: Axes) -> int:
        """Return the bytes that each device sends of a value."""
        type_ = before.type
        key = kind, id(type_), axes
        known = self._bytes.get(key)
        if known is None:  # the type is kept, so that its id stays its own
            sent = self.bytes_of(kind, shape_of(before), element_of(before), axes)
            known = self._bytes[key] = sent, type_
        return known[0]

    def bytes_of(
        self, kind: Ring, shape: Sequence[int], element: Attribute, axes: Axes
    ) -> int:
        """Return the bytes that each device sends of a tensor."""
        held = tensor_bytes(shape, element)
        return ring_bytes(kind, held, self.size(axes))

    # Writing

    def all_reduce(
        self, value: SSAValue, like: Operation, axes: Axes, name: str
    ) -> SSAValue:
        """Combine as `like` does, or add, behind the op that makes a value."""
        combine = combiner_of(like.regions[0]) if like.regions else SUM
        assert combine is not None, "asked before"
        with _Writing(self, value, like.location, name):
            return self._writer.all_reduce_at_once(value, self.mesh, axes, combine)

    def permute_pairs(
        self,
        value: SSAValue,
        pairs: Iterable[tuple[int, int]],
        before: Operation,
        name: str,
    ) -> SSAValue:
        """Send a value from device to device, ahead of an op."""
        with _Writing(self, before, before.location, name):
            return self._writer.permute_pairs(value, tuple(sorted(pairs)))

    def on_devices(
        self,
        devices: Collection[int],
        value: SSAValue,
        otherwise: SSAValue | None,
        before: Operation,
    ) -> SSAValue:
        """Select a value on some devices and another one, or zeros, on the others."""
        with _Writing(self, before, before.location, None):
            emit = self._scratch
            index = self._writer.index_along(self.mesh, self.every_axis)
            chosen = [int(device in devices) for device in self.mesh.devices()]
            table = emit.integers(chosen, [len(chosen)])
            here = emit.reshape(emit.dynamic_slice(table, [index], [1]), [])
            here = emit.compare(
                here, emit.position(1), stablehlo.ComparisonDirection.EQ
            )
            if otherwise is None:
                otherwise = emit.splat(0, element_of(value), shape_of(value))
            return emit.select(here, value, otherwise)

    def reduce_scatter(
        self, value: SSAValue, like: Operation, axis: AxisRef, dim: int, name: str
    ) -> SSAValue:
        """Combine as `like` does, or add, and split a dimension, behind a value."""
        combine = combiner_of(like.regions[0]) if like.regions else SUM
        assert combine is not None, "asked before"
        with _Writing(self, value, like.location, name):
            return self._writer.reduce_scatter(value, self.mesh, dim, axis, combine)

    def all_gather(
        self, value: SSAValue, like: Operation, axes: Axes, dim: int, name: str
    ) -> SSAValue:
        """Undo the split of a dimension, behind the op that makes a value."""
        per_dim = tuple(
            axes if place == dim else () for place in range(len(shape_of(value)))
        )
        with _Writing(self, value, like.location, name):
            return self._writer.all_gather(value, self.mesh, per_dim)

    def all_gather_at_once(
        self, value: SSAValue, like: Operation, axes: Axes, dim: int, name: str
    ) -> SSAValue:
        """Undo the split of a dimension in one step, ahead of an op."""
        with _Writing(self, like, like.location, name):
            return self._writer.all_gather_at_once(value, self.mesh, dim, axes)

    def all_to_all(
        self,
        value: SSAValue,
        like: Operation,
        axes: Axes,
        dims: Sequence[int],
        name: str,
    ) -> SSAValue:
        """Split the second dimension instead of the first, behind a value."""
        first, second = dims
        with _Writing(self, value, like.location, name):
            return self._writer.all_to_all(
                value, self.mesh, (AllToAllParam(axes, first, second),)
            )

    def has_new_ops(self, block: Block) -> None:
        """Look for collectives, loops and branches in a block anew."""
        self._sending.pop(block, None)

    def move_up(self, op: Operation) -> None:
        """Do an op of one operand right behind what makes that."""
        source = op.operands[0]
        op.detach()
        self._sending.clear()
        Rewriter.insert_op(op, _behind(source))

    def all_slice(
        self,
        value: SSAValue,
        axes: Axes,
        dim: int,
        before: Operation,
    ) -> SSAValue:
        """Keep this device's part of a dimension, ahead of an op."""
        per_dim = tuple(
            axes if place == dim else () for place in range(len(shape_of(value)))
        )
        with _Writing(self, before, before.location, None):
            return self._writer.all_slice(value, self.mesh, per_dim)

    def reshape(
        self, value: SSAValue, shape: Sequence[int], before: Operation
    ) -> SSAValue:
        """Reshape a value ahead of an op, or return the value that it was reshaped from."""
        while isinstance(value.owner, stablehlo.ReshapeOp):
            if list(shape_of(value)) == list(shape):
                return value
            value = value.owner.operand
        if list(shape_of(value)) == list(shape):
            return value
        with _Writing(self, before, before.location, None):
            return self._scratch.reshape(value, shape)

    def cut(
        self,
        value: SSAValue,
        dim: int,
        stretches: Sequence[tuple[int, int]],
        before: Operation,
        name: str | None = None,
    ) -> SSAValue:
        """Concatenate stretches of a dimension, ahead of an op."""
        with _Writing(self, before, before.location, name):
            parts = [
                self._scratch.slice_dim(value, dim, start, end)
                for start, end in stretches
            ]
            return self._scratch.concatenate(parts, dim)

    def every(
        self, value: SSAValue, dim: int, step: int, before: Operation
    ) -> SSAValue:
        """Take places of a dimension with a stride, from the first one on, ahead of an op."""
        shape = shape_of(value)
        steps = [step if at == dim else 1 for at in range(len(shape))]
        with _Writing(self, before, before.location, None):
            return self._scratch.slice(value, [0] * len(shape), shape, steps)

    def concatenate(
        self, parts: Sequence[SSAValue], dim: int, before: Operation
    ) -> SSAValue:
        """Concatenate values, ahead of an op."""
        with _Writing(self, before, before.location, None):
            return self._scratch.concatenate(parts, dim)

    def on_one(
        self, value: SSAValue, axes: Axes, place: int, before: Operation
    ) -> SSAValue:
        """Keep a value on one device along axes, and a neutral one on the others."""
        with _Writing(self, before, before.location, None):
            emit = self._scratch
            index = self._writer.index_along(self.mesh, axes)
            here = emit.compare(
                index, emit.position(place), stablehlo.ComparisonDirection.EQ
            )
            zeros = emit.splat(-0.0, element_of(value), shape_of(value))
            return emit.select(here, value, zeros)

    def without_index(
        self, offset: SSAValue, axes: Axes, size: int, before: Operation
    ) -> SSAValue:
        """Subtract from a number what the index along axes adds to it, ahead of an op."""
        with _Writing(self, before, before.location, None):
            emit = self._scratch
            added = emit.scaled(self._writer.index_along(self.mesh, axes), size)
            return emit.subtract(offset, emit.convert(added, element_of(offset)))

    def copy(
        self,
        op: Operation,
        operands: Sequence[SSAValue],
        sizes: Mapping[int, int] | None = None,
        before: Operation | None = None,
    ) -> SSAValue:
        """Copy an op of one result onto other operands, ahead of itself.

        Args:
            sizes: the dimensions of the result that now have another size.
            before: where to write it instead.
        """
        result = op.results[0]
        type_ = result.type
        if sizes:
            shape = list(shape_of(result))
            for dim, size in sizes.items():
                shape[dim] = size
            type_ = TensorType(element_of(result), shape)
        if isinstance(op, stablehlo.CompositeOp):
            part = slice_of(op)
            assert part is not None, "other composites are not copied"
            axis, along = part
            return self.all_slice(operands[0], (axis,), along, before or op)
        new = type(op).create(
            operands=operands,
            result_types=[type_],
            properties=resized_properties(op, sizes) if sizes else op.properties,
            attributes=op.attributes,
            regions=[region.clone() for region in op.regions],
            location=op.location,
        )
        new.results[0].name_hint = result.name_hint
        place = before or op
        assert place.parent is not None
        place.parent.insert_op_before(new, place)
        if type(new) in SENDING:
            self.has_new_ops(place.parent)
        return new.results[0]

    def finish(self) -> None:
        """Write what devices know of their place at the start of the body."""
        Rewriter.inline_block(self._prefix.block, InsertPoint.at_start(self.block))


class _Writing:
    """A context that emits ops before an op, or behind the one that makes a value."""

    def __init__(
        self,
        program: DeviceProgram,
        place: SSAValue | Operation,
        location: LocationAttr,
        name: str | None,
    ):
        self._program, self._place = program, place
        emitter = program._scratch  # pyright: ignore[reportPrivateUsage]
        emitter.location = optimized(location, name) if name else location
        self._emitter = emitter

    def __enter__(self) -> None:
        """Nothing: the emitter writes into a block of its own."""

    def __exit__(self, *_: object) -> None:
        place = self._place
        is_op = isinstance(place, Operation)
        point = InsertPoint.before(place) if is_op else _behind(place)
        for op in list(self._emitter.block.ops):
            op.detach()
            Rewriter.insert_op(op, point)
        self._program.has_new_ops(point.block)


def _behind(value: SSAValue) -> InsertPoint:
    """Return the place right behind what makes a value."""
    if isinstance(value, OpResult):
        return InsertPoint.after(value.op)
    assert isinstance(value.owner, Block), "values are results or arguments"
    return InsertPoint.at_start(value.owner)
