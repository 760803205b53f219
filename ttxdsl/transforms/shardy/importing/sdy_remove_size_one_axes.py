"""Take axes of size one out of shardings: they split nothing, but would conflict."""

from collections.abc import Iterable
from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects import sdy
from ttxdsl.dialects.sdy import transform_shardings
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.axes import Axes, AxisRef, concatenate_merged
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.meshes import mesh_lookup


def _larger(axes: Iterable[AxisRef], mesh: Mesh) -> Axes:
    return concatenate_merged(
        (), (axis for axis in axes if axis.size_in(mesh) != 1), mesh
    )


def without_size_one_axes(sharding: TensorSharding, mesh: Mesh) -> TensorSharding:
    """Return the same layout without axes of size one.

    Sub-axes that become neighbours are merged, which the dialect asks for. (The C++ pass
    does not merge, and then fails.)
    """
    return sharding.map_axes(lambda axes: _larger(axes, mesh))


def _change_collective(op: sdy.CollectiveOp, mesh: Mesh) -> None:
    """Remove the axes from a collective, or the collective if no axis is left."""
    for name, old in op.properties.items():
        match old:
            case sdy.AxisRefListAttr():
                new = sdy.AxisRefListAttr(_larger(old.data, mesh))
                left = bool(new.data)
            case sdy.ListOfAxisRefListsAttr():
                new = sdy.ListOfAxisRefListsAttr(
                    _larger(axes, mesh) for axes in old.data
                )
                left = any(new.data)
            case sdy.AllToAllParamListAttr():
                params = [
                    replace(param, axes=_larger(param.axes, mesh)) for param in old.data
                ]
                new = sdy.AllToAllParamListAttr(param for param in params if param.axes)
                left = bool(new.data)
            case _:
                continue
        if new != old and not left:
            Rewriter.replace_op(op, [], [op.tensor])
            return
        op.properties[name] = new


class RemoveSizeOneAxesPass(ModulePass):
    """Remove axes of size one from all shardings; meshes and manual axes keep them.

    Collectives no longer move them either; one that moved no others is gone. (The C++
    pass leaves collectives as they were, which is invalid, and fails.)

    Source: Shardy's sdy-remove-size-one-axes.
    """

    name = "sdy-remove-size-one-axes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        remove_size_one_axes(op)


def remove_size_one_axes(module: ModuleOp) -> None:
    """Remove axes of size one from all shardings of a module."""
    mesh_of = mesh_lookup(module)

    def larger_only(sharding: TensorSharding) -> TensorSharding:
        mesh = mesh_of(sharding)
        if 1 not in mesh.axis_sizes:
            return sharding
        return without_size_one_axes(sharding, mesh)

    transform_shardings(module, larger_only)
    for collective in ops_of_type(module, sdy.CollectiveOp):
        mesh = mesh_of(collective.out_sharding.data)
        if 1 in mesh.axis_sizes:
            _change_collective(collective, mesh)
