"""StableHLO ops that make or move elements without computing with them.

Source: StableHLO specification, one section an op.
"""

from functools import partial

import numpy as np
from xdsl.ir import Operation

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import chlo, sdy, stablehlo as hlo
from ttxdsl.interpreters.kernels import elementwise, indexing
from ttxdsl.interpreters.kernels.elements import rank_of, read_constant, tensor_of
from ttxdsl.interpreters.kernels.elementwise import Array, Kernel
from ttxdsl.interpreters.ops.registry import compiles, computes
from ttxdsl.interpreters.runtime.compiled_op import CompiledOp, reshaping, writing_first


def shape_value(x: Array, op: Operation) -> tuple[int, ...]:
    """Return the shape that a tensor holds, which must be the same on all devices."""
    rows = x.reshape(-1, x.shape[-1])
    if bool((rows != rows[:1]).any()):
        raise UnsupportedError("a shape that differs by device", op)
    return tuple(int(size) for size in rows[0])


@compiles(hlo.ConstantOp, chlo.ConstantOp, sdy.ConstantOp)
def _constant(op: hlo.ConstantOp | chlo.ConstantOp | sdy.ConstantOp) -> Kernel:
    return partial(np.asarray, read_constant(op, op.value))


@compiles(hlo.IotaOp)
def _iota(op: hlo.IotaOp) -> Kernel:
    shape, dtype = tensor_of(op.output.type)
    return partial(elementwise.iota, shape, op.iota_dimension.value.data, dtype)


@computes(hlo.DynamicIotaOp)
def _dynamic_iota(op: hlo.DynamicIotaOp, shape: Array) -> Array:
    dtype = tensor_of(op.result.type)[1]
    return elementwise.iota(shape_value(shape, op), op.iota_dimension.value.data, dtype)


@compiles(hlo.BroadcastOp)
def _broadcast(op: hlo.BroadcastOp) -> Kernel:
    """New dimensions in front."""
    shape, _dtype = tensor_of(op.result.type)
    dims = range(len(shape) - rank_of(op.operand.type), len(shape))
    return partial(elementwise.broadcast_in_dim, shape=shape, dims=dims)


@compiles(hlo.BroadcastInDimOp)
def _broadcast_in_dim(op: hlo.BroadcastInDimOp) -> Kernel:
    before, shape = (tensor_of(value.type)[0] for value in (op.operand, op.result))
    dims = op.broadcast_dimensions.get_values()
    if -1 in before:
        return partial(elementwise.broadcast_in_dim, shape=shape, dims=dims)
    return elementwise.broadcasting(before, shape, dims)


@computes(hlo.DynamicBroadcastInDimOp)
def _dynamic_broadcast(op: hlo.DynamicBroadcastInDimOp, x: Array, to: Array) -> Array:
    dims = op.broadcast_dimensions.get_values()
    return elementwise.broadcast_in_dim(x, shape_value(to, op), dims)


@compiles(hlo.ReshapeOp)
def _reshape(op: hlo.ReshapeOp) -> CompiledOp:
    return reshaping(tensor_of(op.operand.type)[0], tensor_of(op.result.type)[0])


@computes(hlo.DynamicReshapeOp)
def _dynamic_reshape(op: hlo.DynamicReshapeOp, x: Array, to: Array) -> Array:
    return elementwise.reshape(x, rank_of(op.operand.type), shape_value(to, op))


@compiles(hlo.TransposeOp)
def _transpose(op: hlo.TransposeOp) -> Kernel:
    return partial(elementwise.transpose, permutation=op.permutation.get_values())


@compiles(hlo.ReverseOp)
def _reverse(op: hlo.ReverseOp) -> Kernel:
    rank, dims = rank_of(op.operand.type), op.dimensions.get_values()
    return partial(elementwise.reverse, rank=rank, dims=dims)


@compiles(hlo.SliceOp)
def _slice(op: hlo.SliceOp) -> Kernel:
    return partial(
        elementwise.slice_,
        start=op.start_indices.get_values(),
        limit=op.limit_indices.get_values(),
        strides=op.strides.get_values(),
    )


@computes(hlo.RealDynamicSliceOp)
def _real_dynamic_slice(op: hlo.RealDynamicSliceOp, x: Array, *bounds: Array) -> Array:
    return elementwise.slice_(x, *(shape_value(bound, op) for bound in bounds))


@compiles(hlo.DynamicSliceOp)
def _dynamic_slice(op: hlo.DynamicSliceOp) -> Kernel:
    return partial(_slice_at, op.slice_sizes.get_values())


def _slice_at(sizes: tuple[int, ...], x: Array, *starts: Array) -> Array:
    return indexing.dynamic_slice(x, starts, sizes)


@compiles(hlo.DynamicUpdateSliceOp)
def _dynamic_update_slice(_: hlo.DynamicUpdateSliceOp) -> CompiledOp:
    return CompiledOp(_update_slice, writing_first(_update_slice_in_place))


def _update_slice(x: Array, update: Array, *starts: Array) -> Array:
    return indexing.dynamic_update_slice(x, update, starts)


def _update_slice_in_place(x: Array, update: Array, *starts: Array) -> Array | None:
    return indexing.update_slice_in_place(x, update, starts)


@compiles(hlo.ConcatenateOp)
def _concatenate(op: hlo.ConcatenateOp) -> Kernel:
    rank, dim = rank_of(op.result.type), op.dimension.value.data
    return partial(elementwise.concatenated, rank, dim)


@compiles(hlo.PadOp)
def _pad(op: hlo.PadOp) -> Kernel:
    return partial(
        elementwise.pad,
        low=op.edge_padding_low.get_values(),
        high=op.edge_padding_high.get_values(),
        interior=op.interior_padding.get_values(),
    )


@computes(hlo.DynamicPadOp)
def _dynamic_pad(op: hlo.DynamicPadOp, x: Array, value: Array, *sizes: Array) -> Array:
    return elementwise.pad(x, value, *(shape_value(size, op) for size in sizes))


@compiles(hlo.BitcastConvertOp)
def _bitcast_convert(op: hlo.BitcastConvertOp) -> Kernel:
    return partial(elementwise.bitcast_convert, dtype=tensor_of(op.result.type)[1])


@computes(hlo.GetDimensionSizeOp)
def _get_dimension_size(op: hlo.GetDimensionSizeOp, x: Array) -> Array:
    at = x.ndim - rank_of(op.operand.type) + op.dimension.value.data
    return np.array(x.shape[at], tensor_of(op.result.type)[1])


@computes(hlo.SetDimensionSizeOp)
def _set_dimension_size(op: hlo.SetDimensionSizeOp, x: Array, size: Array) -> Array:
    (limit,) = shape_value(size.reshape(-1, 1), op)
    at = x.ndim - rank_of(op.operand.type) + op.dimension.value.data
    return x[(slice(None),) * at + (slice(0, limit),)]
