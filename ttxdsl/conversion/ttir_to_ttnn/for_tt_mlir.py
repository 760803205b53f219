"""Lowerings to the other ops that today's tt-mlir uses in ttnn.

`mesh_shard` is `distribute_tensor` or
`aggregate_tensor`; an `all_to_all` is gathered and each device keeps its part; a
`collective_permute` is a `point_to_point` for each pair.
"""

from math import prod

from xdsl.dialects.builtin import (
    StringAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.group_axes import coordinates, covering_axes
from ttxdsl.conversion.ttir_to_ttnn.lowering import TTNNLowering, TTNNRule
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import ttir, ttnn
from ttxdsl.dialects._tt.attributes import (
    dense_i64,
    ints,
    si32_attr,
    ui32_attr,
)
from ttxdsl.dialects.stablehlo import id_pairs
from ttxdsl.dialects.ttcore import (
    MeshShardDirection,
    MeshShardType,
    device_mesh_name,
    meshes_of,
)
from ttxdsl.ir.tensors import tensor_type

# --- ops that it says otherwise -----------------------------------------------


def _mesh_shape(op: Operation) -> tuple[int, ...]:
    meshes = meshes_of(op)
    names = (device_mesh_name(v.type) for v in (*op.operands, *op.results))
    mesh = meshes and meshes.get_mesh(next(n for n in names if n is not None))
    assert mesh is not None
    return mesh.get_shape()


def _config(name: str, text: str) -> Attribute:
    return ttnn.TEXTS[name].new([StringAttr(text)])


def _mesh_shard(low: TTNNLowering, op: ttir.MeshShardOp) -> SSAValue:
    """Handed out from the host, or put together there."""
    if op.shard_type.data == MeshShardType.IDENTITY:
        raise UnsupportedError(
            "tt-mlir has no mesh_shard of data that is in place",
            op,
            hint="lower from StableHLO with for=tt-mlir",
        )
    shape, dims = _mesh_shape(op), ints(op.shard_dims)
    sizes = [n if dim >= 0 else 1 for n, dim in zip(shape, dims, strict=True)]
    override = ", ".join(f"{size} : ui32" for size in sizes)
    operands = [*low.all(op.reads), low.device_of(op)]
    if op.shard_direction.data == MeshShardDirection.FULL_TO_SHARD:
        places = ", ".join(
            f"<shard, {dim} : i64>" if dim >= 0 else "<replicate>" for dim in dims
        )
        text = f"placements = [{places}]"
        config = {"mapper_config": _config("ttnn.mesh_mapper_config", text)}
        return low.one(ttnn.DistributeTensorOp, operands, op.result.type, config)
    # axes that join nothing name some other dimension, as tt-mlir wants no two alike
    rank = len(tensor_type(op.result).get_shape())
    free = iter([dim for dim in range(max(rank, len(dims))) if dim not in dims])
    joined = ", ".join(f"{dim if dim >= 0 else next(free, 0)} : i32" for dim in dims)
    text = f"dims = [{joined}], mesh_shape_override = [{override}]"
    config = {"composer_config": _config("ttnn.mesh_composer_config", text)}
    return low.one(ttnn.AggregateTensorOp, operands, op.result.type, config)


def _all_to_all(low: TTNNLowering, op: ttir.AllToAllOp) -> SSAValue:
    """All parts gathered in a new first dimension, of which each device keeps its own."""
    shape, groups = _mesh_shape(op), op.groups
    if groups is None:
        assert op.cluster_axis is not None
        axis = op.cluster_axis.value.data
    else:
        (axis,) = covering_axes(groups, shape) or (0,)
    devices = shape[axis]
    value, result = low.values[op.input], tensor_type(op.result)
    split, concat = op.split_dim.value.data, op.concat_dim.value.data
    cluster = ui32_attr(axis)
    sizes = list(tensor_type(value).get_shape())
    value = low.reshape(value, [1, *sizes])
    wide = low.shaped(value, [devices, *sizes])
    properties = {
        "all_gather_dim": si32_attr(0),
        "cluster_axis": cluster,
        "num_links": ui32_attr(low.num_links),
    }
    value = low.one(ttnn.AllGatherOp, [value], wide, properties)
    sizes[split] //= devices
    mine = low.shaped(value, [devices, *sizes])
    kept = {"dim": si32_attr(split + 1), "cluster_axis": cluster}
    value = low.one(ttnn.MeshPartitionOp, [value], mine, kept)
    order = [*range(1, concat + 1), 0, *range(concat + 1, len(sizes) + 1)]
    return low.reshape(low.permute(value, order), result.get_shape())


def _collective_permute(low: TTNNLowering, op: ttir.CollectivePermuteOp) -> SSAValue:
    """Lower to a copy for each pair of devices; devices without a source get zeros.

    The copies go into a tensor of zeros. Where a device keeps its own part, they go
    into a copy of all parts, and zeros are copied to devices without a source. A device
    does not send to itself.
    """
    shape, value = _mesh_shape(op), low.values[op.input]
    type = tensor_type(op.result)
    pairs = id_pairs(op.source_target_pairs)
    kept = {target for source, target in pairs if source == target}
    idle = sorted({*range(prod(shape))} - {target for _, target in pairs})
    if len(kept) == prod(shape):
        return value
    zeros: SSAValue | None = None
    if idle:
        zeros_shape = {"shape": ttnn.ShapeAttr(type.get_shape())}
        zeros = low.one(ttnn.ZerosOp, [], type, zeros_shape)

    def copied(sent: SSAValue, source: int, target: int, into: SSAValue) -> SSAValue:
        properties = {
            "sender_coord": dense_i64(coordinates(source, shape)),
            "receiver_coord": dense_i64(coordinates(target, shape)),
        }
        return low.one(ttnn.PointToPointOp, [sent, into], type, properties)

    begins_with_zeros = zeros is not None and not kept
    result = (
        zeros
        if begins_with_zeros
        else low.one(ttnn.TODAY_OPS["assign"], [value], type, {})
    )
    assert result is not None
    for source, target in pairs:
        if source != target:
            result = copied(value, source, target, result)
    if zeros is not None and not begins_with_zeros:
        for target in idle:
            result = copied(zeros, int(target == 0), target, result)
    return result


IN_TT_MLIR: dict[str, TTNNRule] = {
    "ttir.all_to_all": _all_to_all,
    "ttir.collective_permute": _collective_permute,
    "ttir.mesh_shard": _mesh_shard,
}
"""How ttir ops are lowered for tt-mlir that it has not in ttnn, by name."""
