"""Writing the ops of a device in Shardy's words: every op is there, were it of no effect.

What depends on the device is looked up in a constant, one entry a device.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    Signedness,
    TensorType,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.replica_groups import REPLICA_GROUPS
from ttxdsl.dialects.stablehlo.attributes import (
    ChannelHandleAttr,
    ComparisonDirection,
    ComparisonDirectionAttr,
)
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import all_ops
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.transforms.local.combiner import SUM, Combiner
from ttxdsl.transforms.local.devices import shard_index_of_device
from ttxdsl.transforms.local.emitter import Emitter, dims_attr, int_attr

DEVICE_TO_DEVICE = 1
"""The type of the channels of collectives."""


def next_channel(module: ModuleOp) -> int:
    """The number behind the largest that a collective has."""
    channels = (op.properties.get("channel_handle") for op in all_ops(module))
    taken = [c.data.handle for c in channels if isinstance(c, ChannelHandleAttr)]
    return max(0, *taken, 0) + 1


@dataclass(frozen=True)
class Wording:
    """In which of several ways a device's program is written."""

    gather_dims_one_by_one: bool
    scatter_dims_at_once: bool
    groups_by_axes: bool
    by_replicas: bool
    """Whether devices are replicas; they are partitions otherwise."""
    newest: bool
    """As jaxlib 0.12 does: positions are i32, axes of groups StableHLO's."""


class LiteralEmitter(Emitter):
    """An emitter that leaves no op out, were it of no effect."""

    def __init__(
        self,
        block: Block,
        location: LocationAttr,
        channels: Iterator[int],
        wording: Wording,
    ):
        super().__init__(block, location)
        self._channels = channels
        self._wording = wording
        self._position = i32 if wording.newest else i64

    # Single ops

    def constant(
        self,
        values: Sequence[int],
        shape: Sequence[int] = (),
        element: Attribute | None = None,
    ) -> SSAValue:
        """Integers: one for all elements, or one an element; positions unless told."""
        type_ = TensorType(cast(IntegerType, element or self._position), list(shape))
        value = DenseIntOrFPElementsAttr.from_list(type_, list(values))
        return self.one(stablehlo.ConstantOp, [], type_, {"value": value})

    def convert(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The same numbers as an element type, were it their own."""
        type_ = TensorType(element, list(shape_of(value)))
        return self.one(stablehlo.ConvertOp, [value], type_)

    def broadcast(
        self, value: SSAValue, shape: Sequence[int], dims: Sequence[int] = ()
    ) -> SSAValue:
        """`value` along `dims` of a shape, were it its own."""
        return self.one(
            stablehlo.BroadcastInDimOp,
            [value],
            TensorType(element_of(value), list(shape)),
            {"broadcast_dimensions": dims_attr(dims)},
        )

    def transpose(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """The dimensions in another order."""
        shape = shape_of(value)
        return self.one(
            stablehlo.TransposeOp,
            [value],
            TensorType(element_of(value), [shape[dim] for dim in order]),
            {"permutation": dims_attr(order)},
        )

    def compare(
        self, lhs: SSAValue, rhs: SSAValue, direction: ComparisonDirection
    ) -> SSAValue:
        """Elementwise comparison; of which kind follows from the type."""
        return self.one(
            stablehlo.CompareOp,
            [lhs, rhs],
            TensorType(i1, list(shape_of(lhs))),
            {"comparison_direction": ComparisonDirectionAttr(direction)},
        )

    # The place of a device

    def device(self) -> SSAValue:
        """The id of this device."""
        unsigned = TensorType(IntegerType(32, Signedness.UNSIGNED), [])
        words = self._wording
        which = stablehlo.ReplicaIdOp if words.by_replicas else stablehlo.PartitionIdOp
        id_ = self.one(which, [], unsigned)
        return id_ if words.newest else self.convert(id_, i64)

    def entry(
        self, table: Sequence[int], device: SSAValue, element: Attribute | None = None
    ) -> SSAValue:
        """A device's entry, of shape `1`."""
        listed = self.constant(table, [len(table)], element)
        return self.dynamic_slice(listed, [device], [1])

    def offset(self, mesh: Mesh, axes: Axes, size: int) -> SSAValue:
        """Where a device's shard of some size starts, along a dimension split by axes."""
        device = self.device()
        table = [index * size for index in shard_index_of_device(mesh, axes)]
        return self.reshape(self.entry(table, device), ())

    def shard_of(
        self,
        whole: SSAValue,
        mesh: Mesh,
        axes_per_dim: Sequence[Axes],
        shape: Sequence[int],
    ) -> SSAValue:
        """The shard, of some shape, of what the devices along the axes have alike."""
        starts = [
            self.offset(mesh, axes, size) if axes else self.constant([0], ())
            for axes, size in zip(axes_per_dim, shape, strict=True)
        ]
        return self.dynamic_slice(whole, starts, shape)

    def counted_once(
        self, value: SSAValue, neutral: SSAValue, mesh: Mesh, axes: Axes
    ) -> SSAValue:
        """`value` on the first device along axes, a scalar that adds nothing on others."""
        first = [int(at == 0) for at in shard_index_of_device(mesh, axes)]
        shape = shape_of(value)
        if shape and self._wording.newest:
            neutral = self.broadcast(neutral, shape)
        leads = self.entry(first, self.device(), i1)
        if not shape or self._wording.newest:
            return self.select(self.reshape(leads, ()), value, neutral)
        leads = self.broadcast(leads, shape, [0])
        return self.select(leads, value, self.broadcast(neutral, shape))

    # Collectives

    def collective(
        self,
        op_class: type[Operation],
        value: SSAValue,
        shape: Sequence[int],
        groups: Attribute,
        properties: Mapping[str, Attribute],
        combine: Combiner | None = None,
    ) -> SSAValue:
        """A collective among groups of devices."""
        element = element_of(value)
        return self.one(
            op_class,
            [value],
            TensorType(element, list(shape)),
            self.on_channel({**properties, REPLICA_GROUPS: groups}),
            [combine.body(element)] if combine else (),
        )

    def on_channel(self, properties: Mapping[str, Attribute]) -> dict[str, Attribute]:
        """A collective's properties with a channel of its own.

        Among replicas there is none, unless ids are said to be of devices.
        """
        if self._wording.by_replicas and "use_global_device_ids" not in properties:
            return {**properties}
        channel = ChannelHandleAttr.of(next(self._channels), DEVICE_TO_DEVICE)
        return {**properties, "channel_handle": channel}

    def all_gather(
        self, value: SSAValue, dim: int, groups: Attribute, count: int
    ) -> SSAValue:
        """The values of `count` devices, one after another along a dimension."""
        shape = [*shape_of(value)]
        shape[dim] *= count
        by = {"all_gather_dim": int_attr(dim), "use_global_device_ids": UnitAttr()}
        return self.collective(stablehlo.AllGatherOp, value, shape, groups, by)

    def all_reduce(
        self, value: SSAValue, groups: Attribute, combine: Combiner = SUM
    ) -> SSAValue:
        """The values of a group combined."""
        by: dict[str, Attribute] = {"use_global_device_ids": UnitAttr()}
        shape = shape_of(value)
        return self.collective(stablehlo.AllReduceOp, value, shape, groups, by, combine)

    def reduce_scatter(
        self,
        value: SSAValue,
        dim: int,
        groups: Attribute,
        count: int,
        combine: Combiner,
    ) -> SSAValue:
        """The values of `count` devices combined, split along a dimension."""
        shape = [*shape_of(value)]
        shape[dim] //= count
        by = {"scatter_dimension": int_attr(dim), "use_global_device_ids": UnitAttr()}
        return self.collective(
            stablehlo.ReduceScatterOp, value, shape, groups, by, combine
        )

    def all_to_all(
        self, value: SSAValue, split: int, joined: int, groups: Attribute, count: int
    ) -> SSAValue:
        """Parts along `split` to `count` devices, what comes joined along `joined`."""
        shape = [*shape_of(value)]
        shape[joined] *= count
        shape[split] //= count
        by: dict[str, Attribute] = {
            "split_dimension": int_attr(split),
            "concat_dimension": int_attr(joined),
            "split_count": int_attr(count),
        }
        return self.collective(stablehlo.AllToAllOp, value, shape, groups, by)
