"""Writer of StableHLO collectives: from mesh axes to groups of devices.

A collective over several axes is written as one step for each axis where that computes
the same: hardware has single mesh axes, and the steps move no more data.
"""

from collections.abc import Sequence
from functools import lru_cache
from struct import pack

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.attributes import ChannelHandleAttr
from ttxdsl.ir.data_flow import ByClass
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import chosen_ops
from ttxdsl.sharding.axes import Axes, AxisRef, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import Groups, groups_along
from ttxdsl.sharding.reshard.collectives import AllToAllParam, AxesPerDim
from ttxdsl.transforms.partition.devices import source_target_pairs
from ttxdsl.transforms.partition.emitter import Emitter, int_attr
from ttxdsl.transforms.partition.exchange.combiner import Combiner
from ttxdsl.transforms.partition.layout import Layout

ALL_SLICE = "sdy.all_slice"
"""The name of the composites that keep a device's part of what it has."""

DEVICE_TO_DEVICE = 1
"""The type of a channel between devices."""


class SliceFunctions:
    """Decompositions of `sdy.all_slice`, a private function a kind that is needed."""

    def __init__(self, taken_names: set[str]):
        self.functions: list[FuncOp] = []
        self._taken = taken_names
        self._known: dict[tuple[Attribute, int, Mesh, AxisRef], FuncOp] = {}

    def function(
        self, type_: TensorType[Attribute], dim: int, mesh: Mesh, axis: AxisRef
    ) -> FuncOp:
        """Return the function that cuts `type_` along `dim` by this device's place."""
        key = (type_, dim, mesh, axis)
        if key not in self._known:
            self._known[key] = self._make(type_, dim, mesh, axis)
        return self._known[key]

    def _make(
        self, type_: TensorType[Attribute], dim: int, mesh: Mesh, axis: AxisRef
    ) -> FuncOp:
        name, count = ALL_SLICE, len(self.functions)
        while (unique := f"{name}{count}") in self._taken:
            count += 1
        self._taken.add(unique)
        block = Block(arg_types=[type_])
        function = FuncOp.from_region(
            unique, [type_], [], Region(block), visibility="private"
        )
        emitter = Emitter(block, function.location)
        size = type_.get_shape()[dim] // axis.size_in(mesh)
        index = emitter.index_along(mesh, (axis,), emitter.partition_id())
        part = emitter.dynamic_slice_dim(
            block.args[0], dim, emitter.scaled(index, size), size
        )
        block.add_op(FuncReturnOp(part))
        function.properties["function_type"] = FunctionType.from_lists(
            [type_], [part.type]
        )
        self.functions.append(function)
        return function


class CollectiveWriter:
    """A writer of collectives.

    Attributes:
        prefix: writes ahead of everything else in the body: what a device knows of
            its place is computed there, once.
    """

    def __init__(
        self,
        emitter: Emitter,
        prefix: Emitter,
        slices: SliceFunctions,
        first_channel: int,
    ):
        self.prefix = prefix
        self.next_channel = first_channel
        self._emitter = emitter
        self._slices = slices
        self._device: SSAValue | None = None
        self._indices: dict[tuple[Mesh, Axes], SSAValue] = {}
        self._bodies: list[tuple[Region, Combiner, Attribute]] | None = None

    def write_bodies_later(self) -> None:
        """Leave regions empty until `write_bodies`: they are most of a collective's ops."""
        self._bodies = []

    def write_bodies(self) -> None:
        """Write the bodies that were left."""
        for region, combine, element in self._bodies or ():
            combine.body(element).move_blocks(region)
        self._bodies = None

    def _body(self, combine: Combiner, element: Attribute) -> Region:
        if self._bodies is None:
            return combine.body(element)
        region = Region()
        self._bodies.append((region, combine, element))
        return region

    # The place of a device

    def index_along(self, mesh: Mesh, axes: Axes) -> SSAValue:
        """Return the index of this device along axes, major to minor, as a position."""
        key = (mesh, axes)
        if key not in self._indices:
            if self._device is None:
                self._device = self.prefix.partition_id()
            self._indices[key] = self.prefix.index_along(mesh, axes, self._device)
        return self._indices[key]

    # Collectives that move data

    def all_gather(
        self, value: SSAValue, mesh: Mesh, axes_per_dim: AxesPerDim
    ) -> SSAValue:
        """Undo the split of dimensions along their minor-most axes."""
        for dim, axes in enumerate(axes_per_dim):
            for axis in reversed(axes):
                value = self.all_gather_at_once(value, mesh, dim, (axis,))
        return value

    def all_gather_at_once(
        self, value: SSAValue, mesh: Mesh, dim: int, axes: Axes
    ) -> SSAValue:
        """Undo the split of one dimension along axes in groups along all of them."""
        shape = list(shape_of(value))
        shape[dim] *= total_size(axes, mesh)
        if 0 in shape:
            return self._empty(value, shape)
        return self._emitter.one(
            stablehlo.AllGatherOp,
            [value],
            TensorType(element_of(value), shape),
            {
                "all_gather_dim": int_attr(dim),
                "use_global_device_ids": UnitAttr(),
                **self._group_properties(mesh, axes),
            },
        )

    def all_slice(
        self, value: SSAValue, mesh: Mesh, axes_per_dim: AxesPerDim
    ) -> SSAValue:
        """Split dimensions further: every device keeps a part of what it has."""
        for dim, axes in enumerate(axes_per_dim):
            for axis in axes:
                value = self._slice(value, dim, mesh, axis)
        return value

    def _empty(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a tensor of no elements, which nobody has to send."""
        return self._emitter.splat(0, element_of(value), shape)

    def _slice(self, value: SSAValue, dim: int, mesh: Mesh, axis: AxisRef) -> SSAValue:
        shape = list(shape_of(value))
        if 0 in shape:
            shape[dim] //= axis.size_in(mesh)
            return self._empty(value, shape)
        type_ = TensorType(element_of(value), shape_of(value))
        function = self._slices.function(type_, dim, mesh, axis)
        attributes: dict[str, Attribute] = {
            "axis": StringAttr(axis.name),
            "dim": int_attr(dim),
        }
        if axis.size is not None:
            attributes["sub_axis_pre_size"] = int_attr(axis.pre_size)
            attributes["sub_axis_size"] = int_attr(axis.size)
        return self._emitter.one(
            stablehlo.CompositeOp,
            [value],
            function.function_type.outputs.data[0],
            {
                "name": StringAttr(ALL_SLICE),
                "composite_attributes": DictionaryAttr(attributes),
                "decomposition": SymbolRefAttr(function.sym_name),
            },
        )

    def all_to_all(
        self, value: SSAValue, mesh: Mesh, moves: Sequence[AllToAllParam]
    ) -> SSAValue:
        """Move axes from one dimension to another, one all-to-all a pair."""
        for move in moves:
            source, target = move.src_dim, move.tgt_dim
            groups = groups_along(mesh, move.axes)
            shape = list(shape_of(value))
            shape[source] *= len(groups[0])
            shape[target] //= len(groups[0])
            if 0 in shape:
                value = self._empty(value, shape)
            else:
                value = self._emitter.one(
                    stablehlo.AllToAllOp,
                    [value],
                    TensorType(element_of(value), shape),
                    {
                        "split_dimension": int_attr(target),
                        "concat_dimension": int_attr(source),
                        "split_count": int_attr(len(groups[0])),
                        **self._group_properties(mesh, move.axes),
                    },
                )
        return value

    def collective_permute(
        self, value: SSAValue, before: Layout, after: Layout
    ) -> SSAValue:
        """Exchange shards between devices; how many there are does not change.

        Axes of size one may come and go: then every device keeps what it has.
        """
        pairs = source_target_pairs(before, after)
        if all(source == target for source, target in pairs):
            return value
        return self.permute_pairs(value, pairs)

    def permute_pairs(self, value: SSAValue, pairs: Groups) -> SSAValue:
        """Send values from device to device; devices without a source get zeros."""
        if 0 in shape_of(value):
            return value
        return self._emitter.one(
            stablehlo.CollectivePermuteOp,
            [value],
            value.type,
            {
                "source_target_pairs": _matrix(pairs),
                "channel_handle": self._channel(),
            },
        )

    # Collectives that combine

    def all_reduce(
        self, value: SSAValue, mesh: Mesh, axes: Axes, combine: Combiner
    ) -> SSAValue:
        """Combine partial results along axes, one after the other.

        All devices get the whole.
        """
        for axis in axes:
            value = self.all_reduce_at_once(value, mesh, (axis,), combine)
        return value

    def all_reduce_at_once(
        self, value: SSAValue, mesh: Mesh, axes: Axes, combine: Combiner
    ) -> SSAValue:
        """Combine partial results along axes in groups along all of them."""
        if 0 in shape_of(value):
            return value
        return self._emitter.one(
            stablehlo.AllReduceOp,
            [value],
            value.type,
            {
                "use_global_device_ids": UnitAttr(),
                **self._group_properties(mesh, axes),
            },
            regions=[self._body(combine, element_of(value))],
        )

    def reduce_scatter(
        self,
        value: SSAValue,
        mesh: Mesh,
        dim: int,
        axis: AxisRef,
        combine: Combiner,
    ) -> SSAValue:
        """Combine partial results along one axis and split a dimension along it."""
        shape = list(shape_of(value))
        shape[dim] //= axis.size_in(mesh)
        if 0 in shape:
            return self._empty(value, shape)
        return self._emitter.one(
            stablehlo.ReduceScatterOp,
            [value],
            TensorType(element_of(value), shape),
            {
                "scatter_dimension": int_attr(dim),
                "use_global_device_ids": UnitAttr(),
                **self._group_properties(mesh, (axis,)),
            },
            regions=[self._body(combine, element_of(value))],
        )

    def _group_properties(self, mesh: Mesh, axes: Axes) -> dict[str, Attribute]:
        return {
            "replica_groups": _groups_along(mesh, axes),
            "channel_handle": self._channel(),
        }

    def _channel(self) -> ChannelHandleAttr:
        channel = ChannelHandleAttr.of(self.next_channel, DEVICE_TO_DEVICE)
        self.next_channel += 1
        return channel


@lru_cache(maxsize=256)
def _groups_along(mesh: Mesh, axes: Axes) -> DenseIntOrFPElementsAttr[IntegerType]:
    return _matrix(groups_along(mesh, axes))


def _matrix(rows: Groups) -> DenseIntOrFPElementsAttr[IntegerType]:
    """`dense<[[…], …]> : tensor<…x…xi64>`."""
    type_ = TensorType(i64, [len(rows), len(rows[0])])
    numbers = [number for row in rows for number in row]
    data = BytesAttr(pack(f"<{len(numbers)}q", *numbers))  # a million at once
    return DenseIntOrFPElementsAttr(type_, data)


_HAS_CHANNEL = ByClass(
    lambda kind: (
        issubclass(kind, IRDLOperation)
        and "channel_handle" in kind.get_irdl_definition().properties
    )
)


def first_free_channel(root: Operation) -> int:
    """One more than the largest channel handle in use, at least 1."""
    largest = 0
    for op in chosen_ops(root, _HAS_CHANNEL):
        channel = op.properties.get("channel_handle")
        if isinstance(channel, ChannelHandleAttr):
            largest = max(largest, channel.data.handle)
    return largest + 1
