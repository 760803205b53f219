"""Ops of a mesh: data brought to its devices and back, and sent between them.

"Along a mesh axis" means: among the devices that differ only in their coordinate on
the mesh axis `cluster_axis` (0 is the major one), in the order of that coordinate.
"""

from collections import Counter
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
)
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt.attributes import SI32, UI32, DenseInts, ints
from ttxdsl.dialects._tt.op import OneInputOp
from ttxdsl.dialects._tt.tensors import (
    expect_dim,
    expect_element_type,
    expect_shape,
    expect_type,
)
from ttxdsl.dialects.stablehlo import id_pairs
from ttxdsl.dialects.ttcore import (
    MeshAttr,
    MeshShardDirection,
    MeshShardDirectionAttr,
    MeshShardType,
    MeshShardTypeAttr,
    ReduceType,
    ReduceTypeAttr,
    device_mesh_name,
    meshes_of,
    only_mesh,
)
from ttxdsl.ir.tensors import Tensor


class MeshOp(OneInputOp):
    """Base of ops whose constraints depend on the mesh."""

    def mesh(self, name: str) -> MeshAttr | None:
        """The mesh of that name in the module, None if the module lists no meshes.

        Raises:
            VerifyException: the module lists meshes, but none of that name.
        """
        meshes = meshes_of(self)
        if meshes is None:
            return None
        mesh = meshes.get_mesh(name)
        if mesh is None:
            raise VerifyException(f'no mesh "{name}" in the module\'s ttcore.meshes')
        return mesh


class MeshShard(MeshOp):
    """Moves a tensor between the host and the devices of a mesh.

    `full_to_shard` takes a host tensor to the mesh named by the result's encoding,
    `shard_to_full` the other way round. `shard_shape` says for each tensor dimension in
    how many parts it is split, `shard_dims` for each mesh axis which tensor dimension
    it splits (-1: none). A dimension that several axes split is split by the major axis
    first. Along an axis that splits nothing every device has the same data.

    `device_parts` (an addition, for data that lies on the devices already) says instead
    of `shard_dims`, device by device, which part it holds: a number in row-major order
    over `shard_shape`. It stands for sub-axes and for axes out of mesh order.

    `device_summands` (an addition, for such data too) says that devices hold summands of
    their part: device by device the number of its summand, from 0. The full tensor is
    their sum; where its numbers are given, summand 0 is the part and the others zero.

    `shard_type`: `devices` splits as above; `replicate` splits nothing; `identity`
    means that the data already lies (or stays) on the devices in this way, and that
    nothing moves: the full tensor is then only the name of what the devices hold.
    """

    name = "mesh_shard"
    shard_type = prop_def(MeshShardTypeAttr)
    shard_direction = prop_def(MeshShardDirectionAttr)
    shard_shape = prop_def(DenseInts)
    shard_dims = prop_def(DenseInts)
    device_parts = opt_prop_def(DenseInts)
    device_summands = opt_prop_def(DenseInts)

    def verify_places(self) -> None:
        """The full tensor is on the host, the shard on a mesh."""

    def verify_shapes(self) -> None:
        """Shapes, places and the arrays fit together."""
        input, result = self.types
        expect_element_type(result, input)
        to_shard = self.shard_direction.data == MeshShardDirection.FULL_TO_SHARD
        full, shard = (input, result) if to_shard else (result, input)
        if device_mesh_name(full) is not None:
            raise VerifyException("the full tensor of a mesh_shard lives on the host")
        name = device_mesh_name(shard) or only_mesh(self)
        if name is None:
            raise VerifyException("the shard of a mesh_shard lives on a mesh")
        rank = len(full.get_shape())
        shard_shape, shard_dims = ints(self.shard_shape), ints(self.shard_dims)
        if self.shard_type.data == MeshShardType.REPLICATE and shard_shape == (1,):
            shard_shape = (1,) * rank  # as tt-mlir writes it
        if len(shard_shape) != rank:
            raise VerifyException(
                f"shard_shape has {len(shard_shape)} entries for a tensor of rank {rank}"
            )
        for dim in shard_dims:
            if not -1 <= dim < rank:
                raise VerifyException(
                    f"shard_dims names dimension {dim} of a tensor of rank {rank}, "
                    "expected -1 for none"
                )
        splits = any(dim != -1 for dim in shard_dims)
        if self.shard_type.data == MeshShardType.REPLICATE and splits:
            raise VerifyException("a replicated tensor is split along no mesh axis")
        mesh = self.mesh(name)
        if mesh is not None:
            self._verify_parts(mesh)
        if len(shard.get_shape()) != rank:
            raise VerifyException(
                f"the full tensor has rank {rank}, the shard {len(shard.get_shape())}"
            )
        for dim, (whole, part, parts) in enumerate(
            zip(full.get_shape(), shard.get_shape(), shard_shape, strict=True)
        ):
            if whole != part * parts:
                raise VerifyException(
                    f"dimension {dim}: {parts} shards of {part} do not make {whole}"
                )

    def _verify_parts(self, mesh: MeshAttr) -> None:
        """Check that the mesh's axes split the tensor as `shard_shape` has it."""
        sizes = mesh.get_shape()
        shard_shape, shard_dims = ints(self.shard_shape), ints(self.shard_dims)
        if self.shard_type.data == MeshShardType.REPLICATE:
            return
        if len(shard_dims) != len(sizes):
            raise VerifyException(
                f'shard_dims has {len(shard_dims)} entries, mesh "{mesh.mesh_name.data}" '
                f"has {len(sizes)} axes"
            )
        if self.device_summands is not None:
            self._verify_summands(ints(self.device_summands), prod(sizes))
        if self.device_parts is not None:
            self._verify_table(ints(self.device_parts), prod(sizes))
            return
        for dim, parts in enumerate(shard_shape):
            devices = prod(
                size for size, d in zip(sizes, shard_dims, strict=True) if d == dim
            )
            if parts != devices:
                raise VerifyException(
                    f"shard_shape splits dimension {dim} in {parts}, but the mesh axes "
                    f"that shard_dims gives it have {devices} devices"
                )

    def _verify_table(self, table: tuple[int, ...], devices: int) -> None:
        """A table of parts: a number for each device, and a device for each part."""
        parts = prod(ints(self.shard_shape))
        if self.shard_type.data != MeshShardType.IDENTITY or any(
            dim != -1 for dim in ints(self.shard_dims)
        ):
            raise VerifyException(
                "device_parts is for data that lies on the devices already, and whose "
                "shard_dims are all -1"
            )
        if len(table) != devices:
            raise VerifyException(
                f"device_parts has {len(table)} entries for {devices} devices"
            )
        if set(table) != set(range(parts)):
            raise VerifyException(f"device_parts must name each of the {parts} parts")

    def _verify_summands(self, table: tuple[int, ...], devices: int) -> None:
        """A table of summands: a number for each device, each number equally often."""
        if self.shard_type.data != MeshShardType.IDENTITY:
            raise VerifyException(
                "device_summands is for data that lies on the devices already"
            )
        if len(table) != devices:
            raise VerifyException(
                f"device_summands has {len(table)} entries for {devices} devices"
            )
        often = Counter(table)
        if set(often) != set(range(len(often))) or len(set(often.values())) > 1:
            raise VerifyException(
                "device_summands must number the summands from 0, each equally often"
            )


class CollectiveOp(MeshOp):
    """Base of ops on tensors that live on a mesh."""

    def own_mesh(self) -> tuple[str, MeshAttr | None]:
        """The mesh that the tensors live on: its name, and what the module says of it.

        Raises:
            VerifyException: the tensors are not on a mesh, or not on one of the module.
        """
        name = self.mesh_name() or only_mesh(self)
        if name is None:
            raise VerifyException("a collective works on tensors that live on a mesh")
        return name, self.mesh(name)

    def devices_along(self, axis: int) -> int | None:
        """Devices along an axis of the mesh, None if the module lists no meshes.

        Raises:
            VerifyException: there is no mesh, or it has no such axis.
        """
        name, mesh = self.own_mesh()
        shape = None if mesh is None else mesh.get_shape()
        if shape is not None and not 0 <= axis < len(shape):
            raise VerifyException(
                f'cluster_axis is {axis}, but mesh "{name}" has {len(shape)} axes'
            )
        return None if shape is None else shape[axis]


class AxisCollectiveOp(CollectiveOp):
    """Base of collectives along one mesh axis."""

    cluster_axis = prop_def(IntegerAttr[UI32])

    def devices(self) -> int | None:
        """Devices along the axis, None if the module lists no meshes."""
        return self.devices_along(self.cluster_axis.value.data)

    def verify_resized(self, name: str, dim: int, *, grows: bool) -> None:
        """The dimension of that name is multiplied or divided by the devices."""
        input, result = self.types
        expect_element_type(result, input)
        expect_dim(input, dim, name)
        devices = self.devices()
        if devices is not None:
            change = (devices, 1) if grows else (1, devices)
            _expect_resized(input, result, {dim: change}, devices)


def _expect_resized(
    input: Tensor, result: Tensor, changes: dict[int, tuple[int, int]], devices: int
) -> None:
    """Each dimension of `changes` is multiplied by one number, divided by another."""
    why = f"{devices} devices on the axis"
    wanted = list(input.get_shape())
    for dim, (times, parts) in changes.items():
        if wanted[dim] * times % parts:
            raise VerifyException(
                f"dimension {dim} of size {wanted[dim]} does not split in {parts}: {why}"
            )
        wanted[dim] = wanted[dim] * times // parts
    expect_shape(result, wanted, why)


class ReducingOp(AxisCollectiveOp):
    """Base of collectives that combine what the devices have, element by element."""

    reduce_type = prop_def(ReduceTypeAttr)

    def verify_shapes(self) -> None:
        """Any kind but `invalid`, which only replaces."""
        if self.reduce_type.data in (ReduceType.INVALID, ReduceType.LOGSUMEXP):
            raise VerifyException(
                f"a collective cannot reduce with {self.reduce_type.data.value}"
            )


class AllGather(AxisCollectiveOp):
    """The inputs of all devices along a mesh axis, concatenated along a dimension."""

    name = "all_gather"
    all_gather_dim = prop_def(IntegerAttr[SI32])

    def verify_shapes(self) -> None:
        """The dimension grows by the number of devices along the axis."""
        self.verify_resized(
            "all_gather_dim", self.all_gather_dim.value.data, grows=True
        )


class AllReduce(ReducingOp):
    """The inputs of all devices along a mesh axis, combined element by element."""

    name = "all_reduce"

    def verify_shapes(self) -> None:
        """The shape stays."""
        super().verify_shapes()
        input, result = self.types
        expect_element_type(result, input)
        self.devices()
        expect_shape(result, input.get_shape(), "an all_reduce keeps the shape")


class ReduceScatter(ReducingOp):
    """As all_reduce, then each device keeps its part of dimension `scatter_dim`.

    The device with coordinate c along the axis keeps part c of equal parts.
    """

    name = "reduce_scatter"
    scatter_dim = prop_def(IntegerAttr[SI32])

    def verify_shapes(self) -> None:
        """The dimension shrinks by the number of devices along the axis."""
        super().verify_shapes()
        self.verify_resized("scatter_dim", self.scatter_dim.value.data, grows=False)


class CollectivePermute(CollectiveOp):
    """The input of each target device's source; zeros without a source.

    `source_target_pairs` has a row [source, target] for each transfer. Devices are
    numbered by their position in the mesh, row-major over the mesh axes.
    """

    name = "collective_permute"
    source_target_pairs = prop_def(DenseIntOrFPElementsAttr)

    def verify_shapes(self) -> None:
        """Pairs name devices of the mesh, no source and no target twice."""
        input, result = self.types
        expect_type(result, input, "a collective_permute keeps the shape")
        shape = self.source_target_pairs.get_shape()
        if len(shape) != 2 or shape[1] != 2:
            raise VerifyException(
                "source_target_pairs has shape "
                f"{'x'.join(map(str, shape))}, expected one [source, target] a row"
            )
        name, mesh = self.own_mesh()
        devices = None if mesh is None else prod(mesh.get_shape())
        columns = zip(*id_pairs(self.source_target_pairs), strict=True)
        for role, ids in zip(("source", "target"), columns, strict=False):
            if len(set(ids)) != len(ids):
                raise VerifyException(f"a {role} device appears in two pairs")
            wrong = [device for device in ids if devices and not 0 <= device < devices]
            if devices and wrong:
                raise VerifyException(
                    f'{role} device {wrong[0]}: mesh "{name}" has devices 0 to '
                    f"{devices - 1}"
                )


class AllToAll(CollectiveOp):
    """Parts of `split_dim` sent to the devices along an axis, joined in `concat_dim`.

    The device with coordinate c gets part c of every device along the axis and
    concatenates them in their order. tt-mlir writes `replica_groups` of numbers of
    devices and their size, `split_count`, instead of the axis.
    """

    name = "all_to_all"
    cluster_axis = opt_prop_def(IntegerAttr[UI32])
    replica_groups = opt_prop_def(DenseIntOrFPElementsAttr)
    split_count = opt_prop_def(IntegerAttr[SI32])
    split_dim = prop_def(IntegerAttr[SI32])
    concat_dim = prop_def(IntegerAttr[SI32])

    @property
    def groups(self) -> tuple[tuple[int, ...], ...] | None:
        """The `replica_groups`; None if the op has an axis instead."""
        if self.replica_groups is None:
            return None
        size = self.replica_groups.get_shape()[-1]
        flat = cast("tuple[int, ...]", self.replica_groups.get_values())
        return tuple(zip(*(flat[at::size] for at in range(size)), strict=True))

    def verify_shapes(self) -> None:
        """One dimension shrinks, one grows, by the devices along the axis."""
        input, result = self.types
        split, concat = self.split_dim.value.data, self.concat_dim.value.data
        expect_element_type(result, input)
        expect_dim(input, split, "split_dim")
        expect_dim(input, concat, "concat_dim")
        if (self.cluster_axis is None) == (self.replica_groups is None):
            raise VerifyException("an all_to_all has a cluster_axis or replica_groups")
        if (groups := self.groups) is not None:
            devices = len(groups[0])
        else:
            assert self.cluster_axis is not None
            devices = self.devices_along(self.cluster_axis.value.data)
        if devices is None:
            return
        if input.get_shape()[split] % devices:
            raise VerifyException(
                f"dimension {split} of size {input.get_shape()[split]} does not split "
                f"among {devices} devices"
            )
        changes = {split: (1, devices), concat: (devices, 1)} if split != concat else {}
        _expect_resized(input, result, changes, devices)


class DistributeTensor(OneInputOp):
    """A host tensor handed out to the devices, as tt-mlir's ttnn says it.

    `mapper_config` names for each mesh axis the dimension that it splits, or `replicate`.
    """

    name = "distribute_tensor"
    mapper_config = prop_def()
    cq_id = opt_prop_def(IntegerAttr[UI32])

    def verify_places(self) -> None:
        """Check that the tensor goes from the host to a mesh."""


class FromDevice(OneInputOp):
    """The tensor in the memory of the host, each device's for itself."""

    name = "from_device"

    def verify_places(self) -> None:
        """Check that the tensor goes from a mesh to the host."""

    def verify_shapes(self) -> None:
        """The type stays."""
        input, result = self.types
        expect_type(result, input, "only the place changes")


class AggregateTensor(OneInputOp):
    """The tensors of the devices put together on the host, as tt-mlir's ttnn says it.

    `composer_config` names for each mesh axis the dimension along which its devices'
    tensors are joined, and how many of them (1: one device stands for all).
    """

    name = "aggregate_tensor"
    composer_config = prop_def()

    def verify_places(self) -> None:
        """Check that the tensor goes from a mesh to the host."""


class PointToPoint(CollectiveOp):
    """One device's tensor, copied to another device.

    `sender_coord` and `receiver_coord` have a coordinate for each mesh axis. The other
    devices keep the contents of the output. Without an output tt-mlir leaves these
    open; our simulation has zeros.
    """

    name = "point_to_point"
    input = operand_def(
        AnyTensorTypeConstr
    )  # before the output, which is declared here
    optional_output_tensor = opt_operand_def(AnyTensorTypeConstr)
    sender_coord = prop_def(DenseInts)
    receiver_coord = prop_def(DenseInts)

    def verify_shapes(self) -> None:
        """Check that the shape is kept and both coordinates are devices of the mesh."""
        input, result = self.types
        expect_type(result, input, "a point_to_point keeps the shape")
        name, mesh = self.own_mesh()
        shape = None if mesh is None else mesh.get_shape()
        for coordinates in (self.sender_coord, self.receiver_coord):
            where = ints(coordinates)
            if shape is not None and (
                len(where) != len(shape)
                or any(not 0 <= at < n for at, n in zip(where, shape, strict=True))
            ):
                raise VerifyException(f'{list(where)} is no device of mesh "{name}"')


class MeshPartition(AxisCollectiveOp):
    """Each device keeps its part of dimension `dim`; nothing is sent.

    The device with coordinate c along the axis keeps part c of equal parts.
    """

    name = "mesh_partition"
    dim = prop_def(IntegerAttr[SI32])

    def verify_shapes(self) -> None:
        """The dimension shrinks by the number of devices along the axis."""
        self.verify_resized("dim", self.dim.value.data, grows=False)
