"""The groups of processes that a collective's `replica_groups` mean.

Apart from the kernels, because lowering to ttir asks for the groups, too.

Source: StableHLO specification, "Collective ops".
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.errors import UnsupportedError
from ttxdsl.interpreters.mesh_axes import Groups, ref_groups
from ttxdsl.sharding.axes import AxisRef


def replica_groups(op: Operation, attribute: Attribute) -> Groups:
    """Process ids, also where mesh axes say them."""
    if isinstance(attribute, stablehlo.ReplicaGroupMeshAxesAttr):
        axes, device_ids = _mesh_of(op, attribute.mesh)
        refs = [
            cast("stablehlo.AxisRefAttr", axis).data for axis in attribute.axes.data
        ]
        found = [
            AxisRef(ref.name)
            if (sub := ref.sub_axis_info) is None
            else AxisRef(ref.name, sub.pre_size, sub.size)
            for ref in refs
        ]
        return ref_groups(axes, device_ids, found)
    return stablehlo.group_lists(attribute) or ()


def _mesh_of(
    op: Operation, mesh: Attribute
) -> tuple[tuple[tuple[str, int], ...], tuple[int, ...]]:
    if isinstance(mesh, stablehlo.MeshAttr):
        axes = tuple((axis.data.name, axis.data.size) for axis in mesh.axes.data)
        ids: tuple[int, ...] = ()
        listed: Attribute = mesh.device_ids
        if isinstance(listed, DenseIntOrFPElementsAttr):
            dense = cast("DenseIntOrFPElementsAttr[IntegerType]", listed)
            ids = tuple(dense.get_values())
        return axes, ids
    if isinstance(mesh, SymbolRefAttr | StringAttr):
        name = mesh.data if isinstance(mesh, StringAttr) else mesh.string_value()
        found = sdy.get_mesh(op, name)
        return found.axes, found.device_ids
    raise UnsupportedError(f"a mesh given as {mesh}", op)
