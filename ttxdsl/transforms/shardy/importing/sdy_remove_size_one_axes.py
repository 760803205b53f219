"""Take axes of size one out of shardings: they split nothing, but would conflict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.dialects.sdy import transform_shardings
from ttxdsl.sharding.axes import Axes, AxisRef, concatenate_merged
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.shardy.meshes import mesh_lookup


def without_size_one_axes(sharding: TensorSharding, mesh: Mesh) -> TensorSharding:
    """The same layout without axes of size one.

    Sub-axes that become neighbours are merged, and a dimension that is closed and has
    no axes left loses its priority: the dialect asks for both. (The C++ pass does not
    merge, and then fails.)
    """

    def larger(axes: Iterable[AxisRef]) -> Axes:
        return concatenate_merged(
            (), (axis for axis in axes if axis.size_in(mesh) != 1), mesh
        )

    def smaller_dim(dim: DimSharding) -> DimSharding:
        axes = larger(dim.axes)
        if dim.closed and not axes:
            return DimSharding()
        return dim.with_axes(axes)

    return TensorSharding(
        sharding.mesh,
        tuple(smaller_dim(dim) for dim in sharding.dims),
        larger(sharding.replicated),
        larger(sharding.unreduced),
    )


@dataclass(frozen=True)
class RemoveSizeOneAxesPass(ModulePass):
    """Remove axes of size one from all shardings; meshes and manual axes keep them.

    Source: Shardy's sdy-remove-size-one-axes.
    """

    name = "sdy-remove-size-one-axes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        mesh_of = mesh_lookup(op)

        def larger_only(sharding: TensorSharding) -> TensorSharding:
            mesh = mesh_of(sharding)
            if 1 not in mesh.axis_sizes:
                return sharding
            return without_size_one_axes(sharding, mesh)

        transform_shardings(op, larger_only)
