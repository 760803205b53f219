"""Elementwise StableHLO ops: a table from ops to kernels, and the few with attributes.

Source: StableHLO specification, one section an op.
"""

from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.interpreters import kernels, quantized
from ttxdsl.interpreters.elements import rank_of, tensor_of
from ttxdsl.interpreters.implementing import (
    implement_by_kernels,
    implements,
)
from ttxdsl.interpreters.kernels import Kernel
from ttxdsl.interpreters.regions import Values


def _table() -> dict[type[Operation], Kernel]:
    """Every op whose name is that of a kernel of one or two arrays."""
    known = {**kernels.UNARY, **kernels.BINARY}
    return {
        op: known[name]
        for op in hlo.StableHLO.operations
        if (name := op.name.removeprefix("stablehlo.")) in known
    }


@implements(hlo.CompareOp)
def _compare(_: Interpreter, op: hlo.CompareOp, args: Values) -> Values:
    """Six directions; TOTALORDER also orders zeros by sign and NaNs."""
    total = op.compare_type is not None and op.compare_type.data == "TOTALORDER"
    direction = op.comparison_direction.data.value
    lhs, rhs = args
    return (kernels.compare(lhs, rhs, direction, total),)


@implements(hlo.SelectOp)
def _select(_: Interpreter, op: hlo.SelectOp, args: Values) -> Values:
    """The predicate may be a scalar."""
    pred, on_true, on_false = args
    rank = rank_of(op.on_true.type) - rank_of(op.pred.type)
    return (kernels.select(kernels.expand_scalar(pred, rank), on_true, on_false),)


@implements(hlo.ClampOp)
def _clamp(_: Interpreter, op: hlo.ClampOp, args: Values) -> Values:
    """The bounds may be scalars."""
    low, x, high = args
    rank = rank_of(op.operand.type)
    low = kernels.expand_scalar(low, rank - rank_of(op.min.type))
    high = kernels.expand_scalar(high, rank - rank_of(op.max.type))
    return (kernels.clamp(x, low, high),)


@implements(hlo.ConvertOp)
def _convert(_: Interpreter, op: hlo.ConvertOp, args: Values) -> Values:
    """To the result's element type."""
    return (kernels.convert(args[0], tensor_of(op.result.type)[1]),)


@implements(hlo.UniformQuantizeOp)
def _uniform_quantize(
    _: Interpreter, op: hlo.UniformQuantizeOp, args: Values
) -> Values:
    """Real numbers, or those of another quantization, to stored integers."""
    shape, dtype = tensor_of(op.result.type)
    (x,) = quantized.to_floats(op, args)
    how = quantized.quantization_of(op.result.type)
    assert how is not None
    return (quantized.quantize(x, how, len(shape), dtype),)


@implements(hlo.UniformDequantizeOp)
def _uniform_dequantize(
    _: Interpreter, op: hlo.UniformDequantizeOp, args: Values
) -> Values:
    """Stored integers to real numbers."""
    return quantized.to_floats(op, args)


@implements(hlo.ReducePrecisionOp)
def _reduce_precision(
    _: Interpreter, op: hlo.ReducePrecisionOp, args: Values
) -> Values:
    """Rounded to fewer bits."""
    exponent, mantissa = op.exponent_bits.value.data, op.mantissa_bits.value.data
    return (kernels.reduce_precision(args[0], exponent, mantissa),)


implement_by_kernels(_table())
