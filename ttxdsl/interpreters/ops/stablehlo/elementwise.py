"""Elementwise StableHLO ops: a table from ops to kernels, and the few with attributes.

Source: StableHLO specification, one section an op.
"""

from functools import partial

from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.dialects.expressed import quantization_of
from ttxdsl.interpreters.kernels import elementwise as kernels, quantized
from ttxdsl.interpreters.kernels.elements import rank_of, tensor_of
from ttxdsl.interpreters.kernels.elementwise import Array, Kernel
from ttxdsl.interpreters.ops.registry import (
    implement_by_kernels,
    implements,
    prepares,
)
from ttxdsl.interpreters.runtime.compiled_op import (
    Prepared,
    Rows,
    elementwise,
    selecting,
)
from ttxdsl.interpreters.runtime.regions import Values


def _table() -> dict[type[Operation], Kernel]:
    """Every op whose name is that of a kernel of one or two arrays."""
    known = {**kernels.UNARY, **kernels.BINARY}
    return {
        op: known[name]
        for op in hlo.StableHLO.operations
        if (name := op.name.removeprefix("stablehlo.")) in known
    }


@prepares(hlo.CompareOp)
def _compare(op: hlo.CompareOp) -> Prepared:
    """Six directions; TOTALORDER also orders zeros by sign and NaNs."""
    total = op.compare_type is not None and op.compare_type.data == "TOTALORDER"
    direction = op.comparison_direction.data.value
    kernel = partial(kernels.compare, direction=direction, total_order=total)
    return elementwise(kernel, rank_of(op.result.type))


@prepares(hlo.SelectOp)
def _select(op: hlo.SelectOp) -> Prepared:
    """The predicate may be a scalar."""
    rank = rank_of(op.on_true.type) - rank_of(op.pred.type)

    def run(pred: Array, on_true: Array, on_false: Array) -> Array:
        return kernels.select(kernels.expand_scalar(pred, rank), on_true, on_false)

    rows = Rows(rank_of(op.on_true.type), run)
    return Prepared(run, None if rank else selecting, rows)


@prepares(hlo.ClampOp)
def _clamp(op: hlo.ClampOp) -> Prepared:
    """The bounds may be scalars."""
    rank = rank_of(op.operand.type)
    lower, upper = rank - rank_of(op.min.type), rank - rank_of(op.max.type)

    def run(low: Array, x: Array, high: Array) -> Array:
        return kernels.clamp(
            x, kernels.expand_scalar(low, lower), kernels.expand_scalar(high, upper)
        )

    return Prepared(run, rows=Rows(rank, run))


@prepares(hlo.ConvertOp)
def _convert(op: hlo.ConvertOp) -> Prepared:
    """To the result's element type."""
    shape, dtype = tensor_of(op.result.type)
    return elementwise(partial(kernels.convert, dtype=dtype), len(shape))


@implements(hlo.UniformQuantizeOp)
def _uniform_quantize(
    _: Interpreter, op: hlo.UniformQuantizeOp, args: Values
) -> Values:
    """Real numbers, or those of another quantization, to stored integers."""
    shape, dtype = tensor_of(op.result.type)
    (x,) = quantized.to_floats(op, args)
    how = quantization_of(op.result.type)
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
