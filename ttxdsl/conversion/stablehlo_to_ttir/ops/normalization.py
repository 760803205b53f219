"""Batch normalization in ttir, spelled with elementwise ops and sums."""

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Attribute, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.builder import TTIRBuilder
from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering, Rule
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of


def _stretch(
    build: TTIRBuilder, vector: SSAValue, like: SSAValue, dim: int
) -> SSAValue:
    """Return a value a feature, in the shape of a whole tensor."""
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


TABLE: dict[str, Rule] = {
    "stablehlo.batch_norm_grad": _batch_norm_grad,
    "stablehlo.batch_norm_inference": _batch_norm_inference,
    "stablehlo.batch_norm_training": _batch_norm_training,
}
"""The rules of these ops, by StableHLO name."""
