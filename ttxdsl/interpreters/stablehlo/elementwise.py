"""Elementwise StableHLO ops: a table from ops to kernels, and the few with attributes.

Source: StableHLO specification, one section an op.
"""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl
from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters import kernels, quantized
from ttxdsl.interpreters.elements import rank_of, tensor_of
from ttxdsl.interpreters.regions import Kernel, with_kernels


def _table() -> dict[type[Operation], Kernel]:
    """Every op whose name is that of a kernel of one or two arrays."""
    known = {**kernels.UNARY, **kernels.BINARY}
    return {
        op: known[name]
        for op in stablehlo.StableHLO.operations
        if (name := op.name.removeprefix("stablehlo.")) in known
    }


@with_kernels(_table())
class ElementwiseFunctions(InterpreterFunctions):
    """Ops of the elements at one place."""

    @impl(stablehlo.CompareOp)
    def run_compare(
        self, interpreter: Interpreter, op: stablehlo.CompareOp, args: PythonValues
    ) -> PythonValues:
        """Six directions; TOTALORDER also orders zeros by sign and NaNs."""
        total = op.compare_type is not None and op.compare_type.data == "TOTALORDER"
        direction = op.comparison_direction.data.value
        lhs, rhs = args
        return (kernels.compare(lhs, rhs, direction, total),)

    @impl(stablehlo.SelectOp)
    def run_select(
        self, interpreter: Interpreter, op: stablehlo.SelectOp, args: PythonValues
    ) -> PythonValues:
        """The predicate may be a scalar."""
        pred, on_true, on_false = args
        rank = rank_of(op.on_true.type) - rank_of(op.pred.type)
        return (kernels.select(kernels.expand_scalar(pred, rank), on_true, on_false),)

    @impl(stablehlo.ClampOp)
    def run_clamp(
        self, interpreter: Interpreter, op: stablehlo.ClampOp, args: PythonValues
    ) -> PythonValues:
        """The bounds may be scalars."""
        low, x, high = args
        rank = rank_of(op.operand.type)
        low = kernels.expand_scalar(low, rank - rank_of(op.min.type))
        high = kernels.expand_scalar(high, rank - rank_of(op.max.type))
        return (kernels.clamp(x, low, high),)

    @impl(stablehlo.ConvertOp)
    def run_convert(
        self, interpreter: Interpreter, op: stablehlo.ConvertOp, args: PythonValues
    ) -> PythonValues:
        """To the result's element type."""
        return (kernels.convert(args[0], tensor_of(op.result.type)[1]),)

    @impl(stablehlo.UniformQuantizeOp)
    def run_uniform_quantize(
        self,
        interpreter: Interpreter,
        op: stablehlo.UniformQuantizeOp,
        args: PythonValues,
    ) -> PythonValues:
        """Real numbers, or those of another quantization, to stored integers."""
        shape, dtype = tensor_of(op.result.type)
        (x,) = quantized.to_floats(op, args)
        how = quantized.quantization_of(op.result.type)
        assert how is not None
        return (quantized.quantize(x, how, len(shape), dtype),)

    @impl(stablehlo.UniformDequantizeOp)
    def run_uniform_dequantize(
        self,
        interpreter: Interpreter,
        op: stablehlo.UniformDequantizeOp,
        args: PythonValues,
    ) -> PythonValues:
        """Stored integers to real numbers."""
        return quantized.to_floats(op, args)

    @impl(stablehlo.ReducePrecisionOp)
    def run_reduce_precision(
        self,
        interpreter: Interpreter,
        op: stablehlo.ReducePrecisionOp,
        args: PythonValues,
    ) -> PythonValues:
        """Rounded to fewer bits."""
        exponent, mantissa = op.exponent_bits.value.data, op.mantissa_bits.value.data
        return (kernels.reduce_precision(args[0], exponent, mantissa),)
