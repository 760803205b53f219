"""At the borders of functions, shard dimensions only by what divides them."""

from collections.abc import Sequence
from math import gcd

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.call_graph import call_shardings
from ttxdsl.dialects import sdy
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.manual import with_manual_axes, without_manual_axes
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.shardy.data_flow_edges import is_static
from ttxdsl.transforms.shardy.meshes import mesh_lookup


def dividing_prefix(axes: Axes, size: int, mesh: Mesh) -> Axes:
    """The major axes that together divide `size`; the last may be part of an axis.

    With `"x"=4`, a dimension of 6 keeps `"x":(1)2`. An axis that has no divisor in
    common with what is left ends the list, also one of size one.
    """
    kept: list[AxisRef] = []
    for axis in axes:
        wanted = axis.size_in(mesh)
        common = gcd(wanted, size)
        if common == 1:
            break
        if common < wanted:
            kept.append(AxisRef(axis.name, axis.pre_size, common))
            break
        kept.append(axis)
        size //= common
    return tuple(kept)


def evenly_sharded(
    sharding: TensorSharding, shape: Sequence[int], mesh: Mesh
) -> TensorSharding:
    """Return the sharding with no more axes in each dimension than divide it.

    A dimension that changes loses its priority.
    """

    def even(dim: DimSharding, size: int) -> DimSharding:
        if size % dim.sharded_size(mesh) == 0:
            return dim
        return DimSharding(dividing_prefix(dim.axes, size, mesh), dim.closed)

    return sharding.with_dims(
        [even(dim, size) for dim, size in zip(sharding.dims, shape, strict=True)]
    )


class UpdateNonDivisibleInputOutputShardingsPass(ModulePass):
    """Cut shardings of arguments and results down to what divides their dimensions.

    Of all functions, calls and manual computations; along free axes for the latter.
    """

    name = "sdy-update-non-divisible-input-output-shardings"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mesh_of = mesh_lookup(op)

        def even(sharding: TensorSharding, type: Attribute) -> TensorSharding:
            if not isinstance(type, ShapedType) or not is_static(type):
                return sharding
            mesh = mesh_of(sharding)
            if mesh.is_maximal:
                return sharding
            return evenly_sharded(sharding, type.get_shape(), mesh)

        def update_manual_computation(computation: sdy.ManualComputationOp) -> None:
            manual = computation.manual_axes.data
            computation.in_shardings = sdy.TensorShardingPerValueAttr(
                with_manual_axes(
                    outer, even(without_manual_axes(outer, manual), type), manual
                )
                for outer, type in zip(
                    computation.in_shardings.data,
                    computation.body.block.arg_types,
                    strict=True,
                )
            )
            computation.out_shardings = per_value(
                computation.out_shardings, computation.result_types
            )

        def per_value(
            shardings: sdy.TensorShardingPerValueAttr, types: Sequence[Attribute]
        ) -> sdy.TensorShardingPerValueAttr:
            if len(shardings.data) != len(types):
                return shardings  # an op without results that lives on one device
            return sdy.TensorShardingPerValueAttr(map(even, shardings.data, types))

        for inner in op.walk():
            match inner:
                case FuncOp():
                    sdy.transform_func_shardings(inner, even)
                case CallOp():
                    shardings = call_shardings(inner)
                    if shardings is not None:
                        inner.attributes[sdy.SHARDING] = per_value(
                            shardings, inner.result_types
                        )
                case sdy.ManualComputationOp():
                    update_manual_computation(inner)
                case _:
                    continue
