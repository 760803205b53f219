"""The mesh that replica groups of a StableHLO collective are said by.

Source: StableHLO's `ReplicaGroupMeshAxesAttr`.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    NoneAttr,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute

from ttxdsl.dialects.stablehlo import (
    MeshAttr,
    MeshAxis,
    MeshAxisAttr,
    ReplicaGroupMeshAxesAttr,
)
from ttxdsl.sharding.mesh import Mesh

REPLICA_GROUPS = "replica_groups"
"""The property of collectives that holds their groups."""


def mesh_of_groups(groups: ReplicaGroupMeshAxesAttr) -> str | Mesh:
    """The name of the mesh, or the mesh itself if it is written there."""
    mesh = groups.mesh
    if isinstance(mesh, SymbolRefAttr):
        return mesh.string_value()
    assert isinstance(mesh, MeshAttr)
    axes = tuple((axis.data.name, axis.data.size) for axis in mesh.axes)
    if isinstance(mesh.device_ids, NoneAttr):
        return Mesh(axes)
    ids = cast("DenseIntOrFPElementsAttr[IntegerType]", mesh.device_ids)
    return Mesh(axes, tuple(ids.get_values()))


def stablehlo_mesh(mesh: Mesh) -> MeshAttr:
    """A mesh as StableHLO's attribute."""
    ids: Attribute = NoneAttr()
    if mesh.device_ids:
        ids = DenseIntOrFPElementsAttr.from_list(
            TensorType(i64, [len(mesh.device_ids)]), mesh.device_ids
        )
    axes = ArrayAttr(MeshAxisAttr(MeshAxis(name, size)) for name, size in mesh.axes)
    return MeshAttr(axes, ids)


def with_mesh(
    groups: ReplicaGroupMeshAxesAttr, mesh: SymbolRefAttr | MeshAttr
) -> ReplicaGroupMeshAxesAttr:
    """The same groups, their mesh said in another way."""
    return ReplicaGroupMeshAxesAttr(mesh, groups.axes)
