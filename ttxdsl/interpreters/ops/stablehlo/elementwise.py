"""Elementwise StableHLO ops: those with attributes; the others by the names of kernels.

Source: StableHLO specification, one section an op.
"""

from functools import partial

from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.dialects.expressed import quantization_of
from ttxdsl.interpreters.kernels import elementwise as kernels, quantized
from ttxdsl.interpreters.kernels.elements import rank_of, tensor_of
from ttxdsl.interpreters.kernels.elementwise import Array
from ttxdsl.interpreters.ops.registry import compiles, computes, elementwise_compiler
from ttxdsl.interpreters.runtime.compiled_op import (
    CompiledOp,
    RowKernel,
    elementwise,
    select_in_place,
)


@compiles(hlo.CompareOp)
def _compare(op: hlo.CompareOp) -> CompiledOp:
    total = op.compare_type is not None and op.compare_type.data == "TOTALORDER"
    direction = op.comparison_direction.data.value
    kernel = partial(kernels.compare, direction=direction, total_order=total)
    return elementwise(kernel, rank_of(op.result.type))


@compiles(hlo.SelectOp)
def _select(op: hlo.SelectOp) -> CompiledOp:
    """The predicate may be a scalar."""
    rank = rank_of(op.on_true.type) - rank_of(op.pred.type)

    def run(pred: Array, on_true: Array, on_false: Array) -> Array:
        return kernels.select(kernels.expand_scalar(pred, rank), on_true, on_false)

    rows = RowKernel(rank_of(op.on_true.type), run)
    return CompiledOp(run, None if rank else select_in_place, rows)


@compiles(hlo.ClampOp)
def _clamp(op: hlo.ClampOp) -> CompiledOp:
    """The bounds may be scalars."""
    rank = rank_of(op.operand.type)
    lower, upper = rank - rank_of(op.min.type), rank - rank_of(op.max.type)

    def run(low: Array, x: Array, high: Array) -> Array:
        return kernels.clamp(
            x, kernels.expand_scalar(low, lower), kernels.expand_scalar(high, upper)
        )

    return CompiledOp(run, rows=RowKernel(rank, run))


@compiles(hlo.ConvertOp)
def _convert(op: hlo.ConvertOp) -> CompiledOp:
    shape, dtype = tensor_of(op.result.type)
    return elementwise(partial(kernels.convert, dtype=dtype), len(shape))


@computes(hlo.UniformQuantizeOp)
def _uniform_quantize(op: hlo.UniformQuantizeOp, x: Array) -> Array:
    """Convert real numbers, or those of another quantization, to stored integers."""
    shape, dtype = tensor_of(op.result.type)
    (x,) = quantized.to_floats(op, (x,))
    how = quantization_of(op.result.type)
    assert how is not None
    return quantized.quantize(x, how, len(shape), dtype)


@computes(hlo.UniformDequantizeOp)
def _uniform_dequantize(op: hlo.UniformDequantizeOp, x: Array) -> Array:
    return quantized.to_floats(op, (x,))[0]


@computes(hlo.ReducePrecisionOp)
def _reduce_precision(op: hlo.ReducePrecisionOp, x: Array) -> Array:
    exponent, mantissa = op.exponent_bits.value.data, op.mantissa_bits.value.data
    return kernels.reduce_precision(x, exponent, mantissa)


for _op_class in hlo.StableHLO.operations:
    _name = _op_class.name.removeprefix("stablehlo.")
    if _kernel := kernels.UNARY.get(_name) or kernels.BINARY.get(_name):
        compiles(_op_class)(elementwise_compiler(_kernel))
