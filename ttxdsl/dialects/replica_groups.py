"""The groups of devices that a StableHLO collective works among, however it says them.

Ids may be listed (`dense<…>`, unequal groups filled up with -1; none means all), and be
of replicas, partitions or devices, by the op's channel and `use_global_device_ids`; or
axes of a mesh may say them. Whoever runs, counts or lowers a collective asks here.

Source: StableHLO specification, "Collective ops" and one section an op.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    NoneAttr,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.diagnostics.remarks import emit_warning
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.calls.custom import config_of
from ttxdsl.dialects.stablehlo.attributes import ChannelHandleAttr
from ttxdsl.dialects.traits import Collective
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import (
    Groups,
    Strategy,
    expand_groups,
    groups_along,
)

REPLICA_GROUPS = "replica_groups"
"""The name of the property with the groups of a collective."""


# --- devices ----------------------------------------------------------------


def device_groups(op: Operation, devices: int, partitions: int | None = None) -> Groups:
    """The process ids in each group that a collective works among, in their order.

    Of a `collective_permute` they are its (source, target) pairs.

    Args:
        devices: how many it runs on.
        partitions: how many of them make a replica; all unless given.

    Raises:
        ValueError: a process is named twice, or axes that the mesh does not have.
    """
    groups, strategy = listed_groups(op)
    device_lists = expand_groups(groups, strategy, devices, partitions or devices)
    if not isinstance(op, stablehlo.CollectivePermuteOp):
        named = [process for group in device_lists for process in group]
        if len(set(named)) != len(named):
            raise ValueError("a process is named twice in the replica groups")
    return device_lists


def set_device_groups(op: Operation, groups: Groups) -> None:
    """List the process ids of each group of a collective; short groups end in -1.

    Of a `collective_permute` they are its (source, target) pairs.
    """
    width = max(map(len, groups), default=0)
    ids = [i for group in groups for i in (*group, *[-1] * (width - len(group)))]
    is_permute = isinstance(op, stablehlo.CollectivePermuteOp)
    name = "source_target_pairs" if is_permute else REPLICA_GROUPS
    type_ = TensorType(i64, [len(groups), width])
    op.properties[name] = DenseIntOrFPElementsAttr.from_list(type_, ids)


def counts_replicas(module: ModuleOp) -> bool:
    """Whether a program was exported for several replicas of one partition."""
    return (
        _count(module, "mhlo.num_replicas") > 1
        and _count(module, "mhlo.num_partitions") == 1
    )


def require_one_replica(module: ModuleOp) -> None:
    """Raise if a program that is to be partitioned runs as several replicas.

    Partitioning numbers the devices as partitions.

    Raises:
        UnsupportedError: it says that it runs as several replicas.
    """
    replicas = _count(module, "mhlo.num_replicas")
    if replicas > 1 and any(m.total_size > 1 for m in sdy.mesh_table(module).values()):
        raise UnsupportedError(
            f"mhlo.num_replicas is {replicas}: a program that is split over a mesh runs"
            " as one replica",
            module,
            hint="split the batch by a mesh axis, and take the attribute away",
        )


def warn_of_other_partitions(module: ModuleOp) -> None:
    """Warn that a module was exported for another number of devices than its mesh has."""
    partitions = _count(module, "mhlo.num_partitions")
    meshes = sdy.mesh_table(module).values()
    sizes = {mesh.total_size for mesh in meshes if not mesh.is_maximal}
    if partitions > 1 and sizes and partitions not in sizes:
        emit_warning(
            f"mhlo.num_partitions is {partitions}, and the mesh has {max(sizes)} devices:"
            " the program is split over the mesh",
            module,
        )


def devices_of(module: ModuleOp) -> int:
    """Return the number of devices of a module, by its mesh or its attributes."""
    counts = [mesh.total_size for mesh in sdy.mesh_table(module).values()]
    if (devices := max(counts, default=1)) > 1:
        return devices
    replicas = _count(module, "mhlo.num_replicas")
    return max(replicas * _count(module, "mhlo.num_partitions"), 1)


def _count(module: ModuleOp, name: str) -> int:
    attribute = module.attributes.get(name)
    if not isinstance(attribute, IntegerAttr):
        return 1
    return cast("IntegerAttr[IntegerType]", attribute).value.data


def listed_groups(op: Operation) -> tuple[Groups, Strategy]:
    """Return the groups that a collective lists, and what their ids are."""
    if isinstance(op, stablehlo.CollectivePermuteOp):
        return op.pairs, _strategy(op)
    # those of a custom call are in its backend configuration
    is_call = isinstance(op, stablehlo.CustomCallOp)
    attribute = (config_of(op) if is_call else op.properties)[REPLICA_GROUPS]
    if isinstance(attribute, stablehlo.ReplicaGroupMeshAxesAttr):
        mesh = mesh_of_groups(attribute)
        mesh = sdy.get_mesh(op, mesh) if isinstance(mesh, str) else mesh
        return groups_along(mesh, _axes(attribute, mesh)), "flattened_ids"
    dense = cast("DenseIntOrFPElementsAttr[IntegerType]", attribute)
    ids, shape = dense.get_values(), dense.get_shape()
    size = shape[-1] if shape and shape[-1] else 1
    groups = tuple(
        tuple(process for process in ids[start : start + size] if process >= 0)
        for start in range(0, len(ids), size)
    )
    return groups, _strategy(op)


def _strategy(op: Operation) -> Strategy:
    if isinstance(op, stablehlo.CustomCallOp):
        number = config_of(op).get("channel_id")
        joined = isinstance(number, IntegerAttr) and number.value.data > 0
        return "cross_partition" if joined else "cross_replica"
    channel = op.properties.get("channel_handle")
    joined = isinstance(channel, ChannelHandleAttr) and channel.data.handle > 0
    fact = op.get_trait(Collective)
    if fact is not None and fact.sends_parts:
        return "cross_partition" if joined else "cross_replica"
    if "use_global_device_ids" in op.properties:
        return "flattened_ids"
    return "cross_replica_and_partition" if joined else "cross_replica"


def _axes(groups: stablehlo.ReplicaGroupMeshAxesAttr, mesh: Mesh) -> Axes:
    """Return the axes that groups are said by, major first."""
    axes: list[AxisRef] = []
    for axis_attr in cast(
        "Iterable[stablehlo.AxisRefAttr | sdy.AxisRefAttr]", groups.axes.data
    ):
        if isinstance(
            axis_attr, sdy.AxisRefAttr
        ):  # spelled by sdy-convert-global-to-local
            axes.append(axis_attr.data)
            continue
        sub, size = axis_attr.data.sub_axis_info, mesh.axis_size(axis_attr.data.name)
        if sub is None:
            axes.append(AxisRef(axis_attr.data.name))
            continue
        axes.append(AxisRef(axis_attr.data.name, sub.pre_size, sub.size))
        if size % (sub.pre_size * sub.size):
            raise ValueError(f"{axes[-1]} is no part of an axis of size {size}")
    if any(axis.overlaps(other) for axis, other in combinations(axes, 2)):
        raise ValueError("two of the axes of the replica groups overlap")
    return tuple(axes)


# --- meshes in replica groups ----------------------------------------------


def mesh_of_groups(groups: stablehlo.ReplicaGroupMeshAxesAttr) -> str | Mesh:
    """Return the name of the mesh, or the mesh itself if it is written there."""
    mesh = groups.mesh
    if isinstance(mesh, SymbolRefAttr):
        return mesh.string_value()
    assert isinstance(mesh, stablehlo.MeshAttr)
    axes = tuple((axis.data.name, axis.data.size) for axis in mesh.axes)
    if isinstance(mesh.device_ids, NoneAttr):
        return Mesh(axes)
    ids = cast("DenseIntOrFPElementsAttr[IntegerType]", mesh.device_ids)
    return Mesh(axes, tuple(ids.get_values()))


def stablehlo_mesh(mesh: Mesh) -> stablehlo.MeshAttr:
    """Return a mesh as StableHLO's attribute."""
    ids: Attribute = NoneAttr()
    if mesh.device_ids:
        ids = DenseIntOrFPElementsAttr.from_list(
            TensorType(i64, [len(mesh.device_ids)]), mesh.device_ids
        )
    axes = ArrayAttr(
        stablehlo.MeshAxisAttr(stablehlo.MeshAxis(name, size))
        for name, size in mesh.axes
    )
    return stablehlo.MeshAttr(axes, ids)


def with_mesh(
    groups: stablehlo.ReplicaGroupMeshAxesAttr,
    mesh: SymbolRefAttr | stablehlo.MeshAttr,
) -> stablehlo.ReplicaGroupMeshAxesAttr:
    """Return the same groups with their mesh spelled in another way."""
    return stablehlo.ReplicaGroupMeshAxesAttr(mesh, groups.axes)


def _groups_by_name(
    module: ModuleOp,
) -> Iterator[tuple[Operation, stablehlo.ReplicaGroupMeshAxesAttr, str]]:
    """Yield the collectives whose groups name a mesh, with the groups and the name."""
    for op in module.walk():
        groups = op.properties.get(REPLICA_GROUPS)
        if isinstance(groups, stablehlo.ReplicaGroupMeshAxesAttr):
            mesh = mesh_of_groups(groups)
            if isinstance(mesh, str):
                yield op, groups, mesh


def meshes_of_groups(module: ModuleOp) -> set[str]:
    """Return the names of meshes in the replica groups of collectives."""
    return {name for _, _, name in _groups_by_name(module)}


def inline_mesh_of_groups(module: ModuleOp, meshes: Mapping[str, Mesh]) -> None:
    """Write meshes into the replica groups that name them."""
    for op, groups, name in _groups_by_name(module):
        if name in meshes:
            mesh = stablehlo_mesh(meshes[name])
            op.properties[REPLICA_GROUPS] = with_mesh(groups, mesh)
