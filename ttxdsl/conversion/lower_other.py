"""StableHLO and chlo ops outside of the large families, in ttir.

Normalizations and legacy ops are spelled with others; chlo's broadcasting ops are their
StableHLO namesakes on stretched operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    f32,
)
from xdsl.ir import Attribute, SSAValue

from ttxdsl.conversion import lower_additions, lower_elementwise
from ttxdsl.conversion.builder import TTIRBuilder, element_of, shape_of
from ttxdsl.conversion.lower_additions import add_same
from ttxdsl.conversion.lowered import Lowered
from ttxdsl.conversion.lowering import Lowering, Rule
from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.dialects._tt.tensors import bit_width, tensor_type
from ttxdsl.errors import UnsupportedError

# --- normalization ----------------------------------------------------------


def _stretch(
    build: TTIRBuilder, vector: SSAValue, like: SSAValue, dim: int
) -> SSAValue:
    """A value a feature, in the shape of a whole tensor."""
    return build.broadcast_in_dim(vector, shape_of(like), (dim,))


def _feature_mean(build: TTIRBuilder, value: SSAValue, dim: int) -> SSAValue:
    dims = [d for d in range(len(shape_of(value))) if d != dim]
    total = build.reduce("sum", value, dims)
    count = prod(shape_of(value)[d] for d in dims)
    return build.with_number("div", total, float(count))


def _normalize(
    build: TTIRBuilder,
    value: SSAValue,
    mean: SSAValue,
    variance: SSAValue,
    epsilon: float,
    dim: int,
) -> SSAValue:
    """(value - mean) / sqrt(variance + epsilon), one of each a feature."""
    deviation = build.elementwise("sqrt", build.with_number("add", variance, epsilon))
    centered = build.elementwise("subtract", value, _stretch(build, mean, value, dim))
    return build.elementwise("div", centered, _stretch(build, deviation, value, dim))


def _epsilon(attr: Attribute) -> float:
    return cast(FloatAttr, attr).value.data


def _batch_norm_inference(
    low: Lowering, op: stablehlo.BatchNormInferenceOp
) -> SSAValue:
    build, value, dim = low.builder, low[op.operand], op.feature_index.value.data
    mean, variance = low[op.mean], low[op.variance]
    normal = _normalize(build, value, mean, variance, _epsilon(op.epsilon), dim)
    scaled = build.elementwise(
        "multiply", normal, _stretch(build, low[op.scale], value, dim)
    )
    return build.elementwise("add", scaled, _stretch(build, low[op.offset], value, dim))


def _moments(
    build: TTIRBuilder, value: SSAValue, dim: int
) -> tuple[SSAValue, SSAValue]:
    """Mean and variance of each feature."""
    mean = _feature_mean(build, value, dim)
    centered = build.elementwise("subtract", value, _stretch(build, mean, value, dim))
    square = build.elementwise("multiply", centered, centered)
    return mean, _feature_mean(build, square, dim)


def _batch_norm_training(
    low: Lowering, op: stablehlo.BatchNormTrainingOp
) -> Sequence[SSAValue]:
    build, value, dim = low.builder, low[op.operand], op.feature_index.value.data
    mean, variance = _moments(build, value, dim)
    normal = _normalize(build, value, mean, variance, _epsilon(op.epsilon), dim)
    scaled = build.elementwise(
        "multiply", normal, _stretch(build, low[op.scale], value, dim)
    )
    offset = _stretch(build, low[op.offset], value, dim)
    return [build.elementwise("add", scaled, offset), mean, variance]


def _batch_norm_grad(
    low: Lowering, op: stablehlo.BatchNormGradOp
) -> Sequence[SSAValue]:
    """The specification's formulas, written with sums over all but the features."""
    build, value, dim = low.builder, low[op.operand], op.feature_index.value.data
    grad, mean, variance = low[op.grad_output], low[op.mean], low[op.variance]
    dims = [d for d in range(len(shape_of(value))) if d != dim]
    count = float(prod(shape_of(value)[d] for d in dims))
    epsilon = build.with_number("add", variance, _epsilon(op.epsilon))
    centered = build.elementwise("subtract", value, _stretch(build, mean, value, dim))
    deviation = build.elementwise("sqrt", epsilon)
    grad_offset = build.reduce("sum", grad, dims)
    correlation = build.reduce(
        "sum", build.elementwise("multiply", grad, centered), dims
    )
    grad_scale = build.elementwise("div", correlation, deviation)
    # scale / deviation / count * (count grad - sum grad - centered correlation / var)
    factor = build.elementwise("div", low[op.scale], deviation)
    factor = build.with_number("div", factor, count)
    share = build.elementwise("div", correlation, epsilon)
    inner = build.with_number("multiply", grad, count)
    inner = build.elementwise(
        "subtract", inner, _stretch(build, grad_offset, value, dim)
    )
    part = build.elementwise("multiply", centered, _stretch(build, share, value, dim))
    inner = build.elementwise("subtract", inner, part)
    spread = _stretch(build, factor, value, dim)
    return [build.elementwise("multiply", spread, inner), grad_scale, grad_offset]


# --- precision --------------------------------------------------------------


def _reduce_precision(low: Lowering, op: stablehlo.ReducePrecisionOp) -> SSAValue:
    """Bits rounded to the nearest that remain; too large is infinite, too small zero."""
    build, given = low.builder, low[op.operand]
    element = element_of(given)
    if bit_width(element) != 64:
        value, mantissa, exponent, bits = build.typecast(given, f32), 23, 8, 32
    else:
        value, mantissa, exponent, bits = given, 52, 11, 64
    kept, range_bits = op.mantissa_bits.value.data, op.exponent_bits.value.data
    unsigned = IntegerType(bits, Signedness.UNSIGNED)
    pattern = build.elementwise("bitcast_convert", value, element=unsigned)
    ones = (1 << bits) - 1
    if kept < mantissa:
        dropped = mantissa - kept
        last = build.with_number("logical_right_shift", pattern, dropped)
        last = build.with_number("bitwise_and", last, 1)
        bias = build.with_number("add", last, (1 << (dropped - 1)) - 1)
        pattern = build.elementwise("add", pattern, bias)
        pattern = build.with_number("bitwise_and", pattern, ones - (1 << dropped) + 1)
    if range_bits < exponent:
        infinity = ((1 << exponent) - 1) << mantissa
        middle, reach = (1 << (exponent - 1)) - 1, (1 << (range_bits - 1)) - 1
        sign = build.with_number("bitwise_and", pattern, 1 << (bits - 1))
        size = build.with_number("bitwise_and", pattern, infinity)
        large = build.compare(
            "gt", size, build.like(size, (middle + reach) << mantissa)
        )
        small = build.compare(
            "le", size, build.like(size, (middle - reach) << mantissa)
        )
        endless = build.with_number("bitwise_or", sign, infinity)
        pattern = build.elementwise("where", large, endless, pattern)
        pattern = build.elementwise("where", small, sign, pattern)
    rounded = build.elementwise("bitcast_convert", pattern, element=element_of(value))
    is_nan = build.compare("ne", value, value)
    result = build.elementwise("where", is_nan, value, rounded)
    return build.typecast(result, element)


# --- shapes that are given as values but known from the type -------------------


def _to_shape(low: Lowering, op: stablehlo.DynamicReshapeOp) -> SSAValue:
    return low.builder.reshape(low[op.operand], tensor_type(op.result).get_shape())


def _to_iota(low: Lowering, op: stablehlo.DynamicIotaOp) -> SSAValue:
    type = tensor_type(op.results[0])
    dim = op.iota_dimension.value.data
    return low.builder.arange(type.get_shape(), dim, type.element_type)


def _to_broadcast(low: Lowering, op: stablehlo.DynamicBroadcastInDimOp) -> SSAValue:
    shape = tensor_type(op.result).get_shape()
    dims = op.broadcast_dimensions.get_values()
    return low.builder.broadcast_in_dim(low[op.operand], shape, dims)


# --- chlo's broadcasting ops ---------------------------------------------------


def _stretched(
    low: Lowering, value: SSAValue, shape: Sequence[int], dims: Sequence[int] | None
) -> SSAValue:
    """A value in the result's shape: by dimension numbers, else aligned at the end."""
    rank = len(shape_of(value))
    if rank == len(shape):
        return low.builder.broadcast(value, shape)
    if dims is None or len(dims) != rank:
        dims = range(len(shape) - rank, len(shape))
    return low.builder.broadcast_in_dim(value, shape, dims)


def _broadcasting(name: str) -> Rule:
    """The op of that name on operands stretched to the result's shape."""
    tables = {**lower_elementwise.TABLE, **lower_additions.TABLE}
    plain = tables.get(f"stablehlo.{name}") or tables[f"chlo.{name}"]

    def lower(low: Lowering, op: chlo.ChloBroadcastOp) -> Lowered:
        shape = tensor_type(op.results[0]).get_shape()
        given = op.broadcast_dimensions
        dims = None if given is None else given.get_values()
        inner = low.inside(low.builder)
        for operand in op.operands:
            inner.values[operand] = _stretched(low, low[operand], shape, dims)
        return plain.lower(inner, op)

    return Rule(lower, ("reshape", "broadcast", *plain.forms))


def _broadcast_select(low: Lowering, op: chlo.BroadcastSelectOp) -> SSAValue:
    shape = tensor_type(op.result).get_shape()
    values = [_stretched(low, value, shape, None) for value in low.all(op.operands)]
    return low.builder.elementwise("where", *values)


def _chlo_constant(low: Lowering, op: chlo.ConstantOp) -> SSAValue:
    return low.builder.constant(op.value)


def _constant_like(low: Lowering, op: chlo.ConstantLikeOp) -> SSAValue:
    value = op.value
    if not isinstance(value, FloatAttr | IntegerAttr):
        raise UnsupportedError(f"a constant {value}", op)
    number = cast(FloatAttr, value).value.data
    return low.builder.like(low[op.operand], number)


# --- legacy -------------------------------------------------------------------


def _index_select(low: Lowering, op: stablehlo.TorchIndexSelectOp) -> SSAValue:
    """Slices of one dimension by number, without batch dimensions: an embedding."""
    build, dim = low.builder, op.dim.value.data
    value, index = low[op.operand], low[op.index]
    if op.batch_dims.value.data:
        return add_same(low, op.name, op)[0]
    shape = shape_of(value)
    rest = [*shape[:dim], *shape[dim + 1 :]]
    matrix = build.reshape(build.move_dim(value, dim, 0), (shape[dim], prod(rest)))
    rows = build.reshape(build.embedding(index, matrix), (*shape_of(index), *rest))
    count = len(shape_of(index))
    order = [
        *range(count, count + dim),
        *range(count),
        *range(count + dim, count + len(rest)),
    ]
    return build.permute(rows, order)


_BROADCASTING = (
    "add",
    "and",
    "atan2",
    "compare",
    "complex",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "next_after",
    "or",
    "polygamma",
    "power",
    "remainder",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "subtract",
    "xor",
    "zeta",
)
"""Binary ops that chlo has with broadcasting."""

TABLE: dict[str, Rule] = {
    "stablehlo.batch_norm_grad": Rule(
        _batch_norm_grad, ("sum", "multiply", "div", "subtract", "sqrt")
    ),
    "stablehlo.batch_norm_inference": Rule(
        _batch_norm_inference, ("subtract", "sqrt", "div", "multiply", "add")
    ),
    "stablehlo.batch_norm_training": Rule(
        _batch_norm_training, ("sum", "subtract", "sqrt", "div", "multiply", "add")
    ),
    "stablehlo.dynamic_broadcast_in_dim": Rule(
        _to_broadcast, ("permute", "reshape", "broadcast"), "of static result type"
    ),
    "stablehlo.dynamic_iota": Rule(_to_iota, ("arange",), "of static result type"),
    "stablehlo.dynamic_reshape": Rule(_to_shape, ("reshape",), "of static result type"),
    "stablehlo.reduce_precision": Rule(
        _reduce_precision,
        (
            *("bitcast_convert", "logical_right_shift", "bitwise_and", "bitwise_or"),
            *("add", "gt", "le", "ne", "where"),
        ),
    ),
    "stablehlo.torch_index_select": Rule(
        _index_select,
        ("permute", "reshape", "embedding", "torch_index_select"),
        "torch_index_select: with batch_dims",
    ),
    **{f"chlo.broadcast_{name}": _broadcasting(name) for name in _BROADCASTING},
    "chlo.broadcast_select": Rule(_broadcast_select, ("reshape", "broadcast", "where")),
    "chlo.constant": Rule(_chlo_constant, ("constant", "full", "zeros", "ones")),
    "chlo.constant_like": Rule(_constant_like, ("full", "zeros", "ones")),
}
"""The rules of these ops, by StableHLO or chlo name."""
