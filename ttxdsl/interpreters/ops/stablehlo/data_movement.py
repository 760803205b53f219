"""StableHLO ops that make or move elements without computing with them.

Source: StableHLO specification, one section an op.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import chlo, sdy, stablehlo as hlo
from ttxdsl.interpreters.kernels import elementwise, indexing
from ttxdsl.interpreters.kernels.elements import rank_of, read_constant, tensor_of
from ttxdsl.interpreters.kernels.elementwise import Array, Kernel
from ttxdsl.interpreters.ops.registry import implements, prepares
from ttxdsl.interpreters.runtime.compiled_op import Prepared, reshaping
from ttxdsl.interpreters.runtime.regions import Values


def shape_value(x: Array, op: Operation) -> tuple[int, ...]:
    """A tensor that says a shape, which must be the same on all devices."""
    rows = x.reshape(-1, x.shape[-1])
    if bool((rows != rows[:1]).any()):
        raise UnsupportedError("a shape that differs by device", op)
    return tuple(int(size) for size in rows[0])


@prepares(hlo.ConstantOp, chlo.ConstantOp, sdy.ConstantOp)
def _constant(op: hlo.ConstantOp | chlo.ConstantOp | sdy.ConstantOp) -> Kernel:
    """The value, read once."""
    return partial(np.asarray, read_constant(op, op.value))


@prepares(hlo.IotaOp)
def _iota(op: hlo.IotaOp) -> Kernel:
    """Counts along one dimension."""
    shape, dtype = tensor_of(op.output.type)
    return partial(elementwise.iota, shape, op.iota_dimension.value.data, dtype)


@implements(hlo.DynamicIotaOp)
def _dynamic_iota(_: Interpreter, op: hlo.DynamicIotaOp, args: Values) -> Values:
    """The same of a computed shape."""
    shape = shape_value(args[0], op)
    dtype = tensor_of(op.result.type)[1]
    return (elementwise.iota(shape, op.iota_dimension.value.data, dtype),)


@prepares(hlo.BroadcastOp)
def _broadcast(op: hlo.BroadcastOp) -> Kernel:
    """New dimensions in front."""
    shape, _dtype = tensor_of(op.result.type)
    dims = range(len(shape) - rank_of(op.operand.type), len(shape))
    return partial(elementwise.broadcast_in_dim, shape=shape, dims=dims)


@prepares(hlo.BroadcastInDimOp)
def _broadcast_in_dim(op: hlo.BroadcastInDimOp) -> Kernel:
    """Each dimension goes where the attribute says."""
    before, shape = (tensor_of(one.type)[0] for one in (op.operand, op.result))
    dims = op.broadcast_dimensions.get_values()
    if -1 in before:
        return partial(elementwise.broadcast_in_dim, shape=shape, dims=dims)
    return elementwise.broadcasting(before, shape, dims)


@implements(hlo.DynamicBroadcastInDimOp)
def _dynamic_broadcast_in_dim(
    _: Interpreter, op: hlo.DynamicBroadcastInDimOp, args: Values
) -> Values:
    """The same to a computed shape."""
    shape = shape_value(args[1], op)
    dims = op.broadcast_dimensions.get_values()
    return (elementwise.broadcast_in_dim(args[0], shape, dims),)


@prepares(hlo.ReshapeOp)
def _reshape(op: hlo.ReshapeOp) -> Prepared:
    """To the result's shape."""
    return reshaping(tensor_of(op.operand.type)[0], tensor_of(op.result.type)[0])


@implements(hlo.DynamicReshapeOp)
def _dynamic_reshape(_: Interpreter, op: hlo.DynamicReshapeOp, args: Values) -> Values:
    """To a computed shape."""
    shape = shape_value(args[1], op)
    return (elementwise.reshape(args[0], rank_of(op.operand.type), shape),)


@prepares(hlo.TransposeOp)
def _transpose(op: hlo.TransposeOp) -> Kernel:
    """Dimensions in another order."""
    return partial(elementwise.transpose, permutation=op.permutation.get_values())


@prepares(hlo.ReverseOp)
def _reverse(op: hlo.ReverseOp) -> Kernel:
    """Back to front."""
    rank, dims = rank_of(op.operand.type), op.dimensions.get_values()
    return partial(elementwise.reverse, rank=rank, dims=dims)


@prepares(hlo.SliceOp)
def _slice(op: hlo.SliceOp) -> Kernel:
    """A static slice."""
    return partial(
        elementwise.slice_,
        start=op.start_indices.get_values(),
        limit=op.limit_indices.get_values(),
        strides=op.strides.get_values(),
    )


@implements(hlo.RealDynamicSliceOp)
def _real_dynamic_slice(
    _: Interpreter, op: hlo.RealDynamicSliceOp, args: Values
) -> Values:
    """A slice between computed bounds."""
    x, *bounds = args
    start, limit, strides = (shape_value(bound, op) for bound in bounds)
    return (elementwise.slice_(x, start, limit, strides),)


@prepares(hlo.DynamicSliceOp)
def _dynamic_slice(op: hlo.DynamicSliceOp) -> Kernel:
    """A slice at a computed start, moved inside."""
    sizes = op.slice_sizes.get_values()

    def run(x: Array, *starts: Array) -> Array:
        return indexing.dynamic_slice(x, starts, sizes)

    return run


@prepares(hlo.DynamicUpdateSliceOp)
def _dynamic_update_slice(_: hlo.DynamicUpdateSliceOp) -> Prepared:
    """The operand with a slice replaced."""
    return _UPDATE


def _update_slice(x: Array, update: Array, *starts: Array) -> Array:
    return indexing.dynamic_update_slice(x, update, starts)


def _update_slice_into(
    room: Sequence[Array], x: Array, update: Array, *starts: Array
) -> Array | None:
    if not any(x is array for array in room):
        return None
    return indexing.update_slice_in_place(x, update, starts)


_UPDATE = Prepared(_update_slice, _update_slice_into)


@prepares(hlo.ConcatenateOp)
def _concatenate(op: hlo.ConcatenateOp) -> Kernel:
    """One after the other."""
    rank, dim = rank_of(op.result.type), op.dimension.value.data

    def run(*args: Array) -> Array:
        return elementwise.concatenate(args, rank, dim)

    return run


@prepares(hlo.PadOp)
def _pad(op: hlo.PadOp) -> Kernel:
    """Padding at the edges and between elements."""
    return partial(
        elementwise.pad,
        low=op.edge_padding_low.get_values(),
        high=op.edge_padding_high.get_values(),
        interior=op.interior_padding.get_values(),
    )


@implements(hlo.DynamicPadOp)
def _dynamic_pad(_: Interpreter, op: hlo.DynamicPadOp, args: Values) -> Values:
    """The same with computed amounts."""
    x, value, *amounts = args
    low, high, interior = (shape_value(amount, op) for amount in amounts)
    return (elementwise.pad(x, value, low, high, interior),)


@prepares(hlo.BitcastConvertOp)
def _bitcast_convert(op: hlo.BitcastConvertOp) -> Kernel:
    """The same bits as another type."""
    return partial(elementwise.bitcast_convert, dtype=tensor_of(op.result.type)[1])


@implements(hlo.GetDimensionSizeOp)
def _get_dimension_size(
    _: Interpreter, op: hlo.GetDimensionSizeOp, args: Values
) -> Values:
    """The size that the value has."""
    x: Array = args[0]
    at = x.ndim - rank_of(op.operand.type) + op.dimension.value.data
    return (np.array(x.shape[at], tensor_of(op.result.type)[1]),)


@implements(hlo.SetDimensionSizeOp)
def _set_dimension_size(
    _: Interpreter, op: hlo.SetDimensionSizeOp, args: Values
) -> Values:
    """The operand cut to a size."""
    x, size = args
    (limit,) = shape_value(size.reshape(-1, 1), op)
    at = x.ndim - rank_of(op.operand.type) + op.dimension.value.data
    return (x[(slice(None),) * at + (slice(0, limit),)],)
