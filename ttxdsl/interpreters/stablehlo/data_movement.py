"""StableHLO ops that make or move elements without computing with them.

Source: StableHLO specification, one section an op.
"""

from __future__ import annotations

import numpy as np
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.errors import UnsupportedError
from ttxdsl.interpreters import indexing, kernels
from ttxdsl.interpreters.elements import rank_of, tensor_of
from ttxdsl.interpreters.kernels import Array
from ttxdsl.interpreters.regions import constant_value


def shape_value(x: Array, op: Operation) -> tuple[int, ...]:
    """A tensor that says a shape, which must be the same on all devices."""
    rows = x.reshape(-1, x.shape[-1])
    if bool((rows != rows[:1]).any()):
        raise UnsupportedError("a shape that differs by device", op)
    return tuple(int(size) for size in rows[0])


@register_impls
class DataMovementFunctions(InterpreterFunctions):
    """Constants, shapes, slices and their dynamic forms."""

    @impl(stablehlo.ConstantOp)
    def run_constant(
        self, interpreter: Interpreter, op: stablehlo.ConstantOp, args: PythonValues
    ) -> PythonValues:
        """The value, read once."""
        return (constant_value(interpreter, op, op.value),)

    @impl(stablehlo.IotaOp)
    def run_iota(
        self, interpreter: Interpreter, op: stablehlo.IotaOp, args: PythonValues
    ) -> PythonValues:
        """Counts along one dimension."""
        shape, dtype = tensor_of(op.output.type)
        return (kernels.iota(shape, op.iota_dimension.value.data, dtype),)

    @impl(stablehlo.DynamicIotaOp)
    def run_dynamic_iota(
        self, interpreter: Interpreter, op: stablehlo.DynamicIotaOp, args: PythonValues
    ) -> PythonValues:
        """The same of a computed shape."""
        shape = shape_value(args[0], op)
        dtype = tensor_of(op.result.type)[1]
        return (kernels.iota(shape, op.iota_dimension.value.data, dtype),)

    @impl(stablehlo.BroadcastOp)
    def run_broadcast(
        self, interpreter: Interpreter, op: stablehlo.BroadcastOp, args: PythonValues
    ) -> PythonValues:
        """New dimensions in front."""
        shape, _ = tensor_of(op.result.type)
        first = len(shape) - rank_of(op.operand.type)
        return (kernels.broadcast_in_dim(args[0], shape, range(first, len(shape))),)

    @impl(stablehlo.BroadcastInDimOp)
    def run_broadcast_in_dim(
        self,
        interpreter: Interpreter,
        op: stablehlo.BroadcastInDimOp,
        args: PythonValues,
    ) -> PythonValues:
        """Each dimension goes where the attribute says."""
        shape, _ = tensor_of(op.result.type)
        dims = op.broadcast_dimensions.get_values()
        return (kernels.broadcast_in_dim(args[0], shape, dims),)

    @impl(stablehlo.DynamicBroadcastInDimOp)
    def run_dynamic_broadcast_in_dim(
        self,
        interpreter: Interpreter,
        op: stablehlo.DynamicBroadcastInDimOp,
        args: PythonValues,
    ) -> PythonValues:
        """The same to a computed shape."""
        shape = shape_value(args[1], op)
        dims = op.broadcast_dimensions.get_values()
        return (kernels.broadcast_in_dim(args[0], shape, dims),)

    @impl(stablehlo.ReshapeOp)
    def run_reshape(
        self, interpreter: Interpreter, op: stablehlo.ReshapeOp, args: PythonValues
    ) -> PythonValues:
        """To the result's shape."""
        shape, _ = tensor_of(op.result.type)
        return (kernels.reshape(args[0], rank_of(op.operand.type), shape),)

    @impl(stablehlo.DynamicReshapeOp)
    def run_dynamic_reshape(
        self,
        interpreter: Interpreter,
        op: stablehlo.DynamicReshapeOp,
        args: PythonValues,
    ) -> PythonValues:
        """To a computed shape."""
        shape = shape_value(args[1], op)
        return (kernels.reshape(args[0], rank_of(op.operand.type), shape),)

    @impl(stablehlo.TransposeOp)
    def run_transpose(
        self, interpreter: Interpreter, op: stablehlo.TransposeOp, args: PythonValues
    ) -> PythonValues:
        """Dimensions in another order."""
        return (kernels.transpose(args[0], op.permutation.get_values()),)

    @impl(stablehlo.ReverseOp)
    def run_reverse(
        self, interpreter: Interpreter, op: stablehlo.ReverseOp, args: PythonValues
    ) -> PythonValues:
        """Back to front."""
        rank = rank_of(op.operand.type)
        return (kernels.reverse(args[0], rank, op.dimensions.get_values()),)

    @impl(stablehlo.SliceOp)
    def run_slice(
        self, interpreter: Interpreter, op: stablehlo.SliceOp, args: PythonValues
    ) -> PythonValues:
        """A static slice."""
        return (
            kernels.slice_(
                args[0],
                op.start_indices.get_values(),
                op.limit_indices.get_values(),
                op.strides.get_values(),
            ),
        )

    @impl(stablehlo.RealDynamicSliceOp)
    def run_real_dynamic_slice(
        self,
        interpreter: Interpreter,
        op: stablehlo.RealDynamicSliceOp,
        args: PythonValues,
    ) -> PythonValues:
        """A slice between computed bounds."""
        x, *bounds = args
        start, limit, strides = (shape_value(bound, op) for bound in bounds)
        return (kernels.slice_(x, start, limit, strides),)

    @impl(stablehlo.DynamicSliceOp)
    def run_dynamic_slice(
        self, interpreter: Interpreter, op: stablehlo.DynamicSliceOp, args: PythonValues
    ) -> PythonValues:
        """A slice at a computed start, moved inside."""
        sizes = op.slice_sizes.get_values()
        return (indexing.dynamic_slice(args[0], args[1:], sizes),)

    @impl(stablehlo.DynamicUpdateSliceOp)
    def run_dynamic_update_slice(
        self,
        interpreter: Interpreter,
        op: stablehlo.DynamicUpdateSliceOp,
        args: PythonValues,
    ) -> PythonValues:
        """The operand with a slice replaced."""
        return (indexing.dynamic_update_slice(args[0], args[1], args[2:]),)

    @impl(stablehlo.ConcatenateOp)
    def run_concatenate(
        self, interpreter: Interpreter, op: stablehlo.ConcatenateOp, args: PythonValues
    ) -> PythonValues:
        """One after the other."""
        rank = rank_of(op.result.type)
        return (kernels.concatenate(args, rank, op.dimension.value.data),)

    @impl(stablehlo.PadOp)
    def run_pad(
        self, interpreter: Interpreter, op: stablehlo.PadOp, args: PythonValues
    ) -> PythonValues:
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

    @impl(stablehlo.DynamicPadOp)
    def run_dynamic_pad(
        self, interpreter: Interpreter, op: stablehlo.DynamicPadOp, args: PythonValues
    ) -> PythonValues:
        """The same with computed amounts."""
        x, value, *amounts = args
        low, high, interior = (shape_value(amount, op) for amount in amounts)
        return (kernels.pad(x, value, low, high, interior),)

    @impl(stablehlo.BitcastConvertOp)
    def run_bitcast_convert(
        self,
        interpreter: Interpreter,
        op: stablehlo.BitcastConvertOp,
        args: PythonValues,
    ) -> PythonValues:
        """The same bits as another type."""
        dtype = tensor_of(op.result.type)[1]
        return (kernels.bitcast_convert(args[0], dtype),)

    @impl(stablehlo.GetDimensionSizeOp)
    def run_get_dimension_size(
        self,
        interpreter: Interpreter,
        op: stablehlo.GetDimensionSizeOp,
        args: PythonValues,
    ) -> PythonValues:
        """The size that the value has."""
        x: Array = args[0]
        at = x.ndim - rank_of(op.operand.type) + op.dimension.value.data
        return (np.array(x.shape[at], tensor_of(op.result.type)[1]),)

    @impl(stablehlo.SetDimensionSizeOp)
    def run_set_dimension_size(
        self,
        interpreter: Interpreter,
        op: stablehlo.SetDimensionSizeOp,
        args: PythonValues,
    ) -> PythonValues:
        """The operand cut to a size."""
        x, size = args
        (limit,) = shape_value(size.reshape(-1, 1), op)
        at = x.ndim - rank_of(op.operand.type) + op.dimension.value.data
        return (x[(slice(None),) * at + (slice(0, limit),)],)
