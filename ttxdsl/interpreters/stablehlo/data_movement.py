"""StableHLO ops that make or move elements without computing with them.

Source: StableHLO specification, one section an op.
"""

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.dialects import chlo, sdy, stablehlo as hlo
from ttxdsl.errors import UnsupportedError
from ttxdsl.interpreters import indexing, kernels
from ttxdsl.interpreters.elements import rank_of, tensor_of
from ttxdsl.interpreters.implementing import (
    implements,
)
from ttxdsl.interpreters.kernels import Array
from ttxdsl.interpreters.regions import Values, constant_value


def shape_value(x: Array, op: Operation) -> tuple[int, ...]:
    """A tensor that says a shape, which must be the same on all devices."""
    rows = x.reshape(-1, x.shape[-1])
    if bool((rows != rows[:1]).any()):
        raise UnsupportedError("a shape that differs by device", op)
    return tuple(int(size) for size in rows[0])


@implements(hlo.ConstantOp, chlo.ConstantOp, sdy.ConstantOp)
def _constant(
    interpreter: Interpreter,
    op: hlo.ConstantOp | chlo.ConstantOp | sdy.ConstantOp,
    args: Values,
) -> Values:
    """The value, read once."""
    return (constant_value(interpreter, op, op.value),)


@implements(hlo.IotaOp)
def _iota(_: Interpreter, op: hlo.IotaOp, args: Values) -> Values:
    """Counts along one dimension."""
    shape, dtype = tensor_of(op.output.type)
    return (kernels.iota(shape, op.iota_dimension.value.data, dtype),)


@implements(hlo.DynamicIotaOp)
def _dynamic_iota(_: Interpreter, op: hlo.DynamicIotaOp, args: Values) -> Values:
    """The same of a computed shape."""
    shape = shape_value(args[0], op)
    dtype = tensor_of(op.result.type)[1]
    return (kernels.iota(shape, op.iota_dimension.value.data, dtype),)


@implements(hlo.BroadcastOp)
def _broadcast(_: Interpreter, op: hlo.BroadcastOp, args: Values) -> Values:
    """New dimensions in front."""
    shape, _dtype = tensor_of(op.result.type)
    first = len(shape) - rank_of(op.operand.type)
    return (kernels.broadcast_in_dim(args[0], shape, range(first, len(shape))),)


@implements(hlo.BroadcastInDimOp)
def _broadcast_in_dim(_: Interpreter, op: hlo.BroadcastInDimOp, args: Values) -> Values:
    """Each dimension goes where the attribute says."""
    shape, _dtype = tensor_of(op.result.type)
    dims = op.broadcast_dimensions.get_values()
    return (kernels.broadcast_in_dim(args[0], shape, dims),)


@implements(hlo.DynamicBroadcastInDimOp)
def _dynamic_broadcast_in_dim(
    _: Interpreter, op: hlo.DynamicBroadcastInDimOp, args: Values
) -> Values:
    """The same to a computed shape."""
    shape = shape_value(args[1], op)
    dims = op.broadcast_dimensions.get_values()
    return (kernels.broadcast_in_dim(args[0], shape, dims),)


@implements(hlo.ReshapeOp)
def _reshape(_: Interpreter, op: hlo.ReshapeOp, args: Values) -> Values:
    """To the result's shape."""
    shape, _dtype = tensor_of(op.result.type)
    return (kernels.reshape(args[0], rank_of(op.operand.type), shape),)


@implements(hlo.DynamicReshapeOp)
def _dynamic_reshape(_: Interpreter, op: hlo.DynamicReshapeOp, args: Values) -> Values:
    """To a computed shape."""
    shape = shape_value(args[1], op)
    return (kernels.reshape(args[0], rank_of(op.operand.type), shape),)


@implements(hlo.TransposeOp)
def _transpose(_: Interpreter, op: hlo.TransposeOp, args: Values) -> Values:
    """Dimensions in another order."""
    return (kernels.transpose(args[0], op.permutation.get_values()),)


@implements(hlo.ReverseOp)
def _reverse(_: Interpreter, op: hlo.ReverseOp, args: Values) -> Values:
    """Back to front."""
    rank = rank_of(op.operand.type)
    return (kernels.reverse(args[0], rank, op.dimensions.get_values()),)


@implements(hlo.SliceOp)
def _slice(_: Interpreter, op: hlo.SliceOp, args: Values) -> Values:
    """A static slice."""
    return (
        kernels.slice_(
            args[0],
            op.start_indices.get_values(),
            op.limit_indices.get_values(),
            op.strides.get_values(),
        ),
    )


@implements(hlo.RealDynamicSliceOp)
def _real_dynamic_slice(
    _: Interpreter, op: hlo.RealDynamicSliceOp, args: Values
) -> Values:
    """A slice between computed bounds."""
    x, *bounds = args
    start, limit, strides = (shape_value(bound, op) for bound in bounds)
    return (kernels.slice_(x, start, limit, strides),)


@implements(hlo.DynamicSliceOp)
def _dynamic_slice(_: Interpreter, op: hlo.DynamicSliceOp, args: Values) -> Values:
    """A slice at a computed start, moved inside."""
    sizes = op.slice_sizes.get_values()
    return (indexing.dynamic_slice(args[0], args[1:], sizes),)


@implements(hlo.DynamicUpdateSliceOp)
def _dynamic_update_slice(
    _: Interpreter, op: hlo.DynamicUpdateSliceOp, args: Values
) -> Values:
    """The operand with a slice replaced."""
    return (indexing.dynamic_update_slice(args[0], args[1], args[2:]),)


@implements(hlo.ConcatenateOp)
def _concatenate(_: Interpreter, op: hlo.ConcatenateOp, args: Values) -> Values:
    """One after the other."""
    rank = rank_of(op.result.type)
    return (kernels.concatenate(args, rank, op.dimension.value.data),)


@implements(hlo.PadOp)
def _pad(_: Interpreter, op: hlo.PadOp, args: Values) -> Values:
    """Padding at the edges and between elements."""
    x, value = args
    return (
        kernels.pad(
            x,
            value,
            op.edge_padding_low.get_values(),
            op.edge_padding_high.get_values(),
            op.interior_padding.get_values(),
        ),
    )


@implements(hlo.DynamicPadOp)
def _dynamic_pad(_: Interpreter, op: hlo.DynamicPadOp, args: Values) -> Values:
    """The same with computed amounts."""
    x, value, *amounts = args
    low, high, interior = (shape_value(amount, op) for amount in amounts)
    return (kernels.pad(x, value, low, high, interior),)


@implements(hlo.BitcastConvertOp)
def _bitcast_convert(_: Interpreter, op: hlo.BitcastConvertOp, args: Values) -> Values:
    """The same bits as another type."""
    dtype = tensor_of(op.result.type)[1]
    return (kernels.bitcast_convert(args[0], dtype),)


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
