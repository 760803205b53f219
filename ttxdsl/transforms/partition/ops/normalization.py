"""Batch normalizations, whose statistics devices sum up where batch or space is split.

The variance is the mean of squared distances from the mean, found after it, and not the
mean of squares less the squared mean: that loses all digits where features are far from
zero. It takes two all_reduces of one number a feature, as many bytes as one of both.
Sums are taken in 32 bits at least, as the op itself does.
"""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import BFloat16Type, Float16Type, TensorType, f32
from xdsl.ir import Attribute, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import Axes, sort_and_merge
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.partition.by_factors import (
    Plan,
    by_factors,
    division_of,
    localize_by_factors,
)
from ttxdsl.transforms.partition.emitter import binary_region, dims_attr
from ttxdsl.transforms.partition.exchange.combiner import SUM
from ttxdsl.transforms.partition.localizer import Local, Localizer, Table

BatchNorm = stablehlo.BatchNormTrainingOp | stablehlo.BatchNormGradOp


class _Features:
    """Arithmetic of one type on shards and on vectors of one number a feature."""

    def __init__(self, ctx: Localizer, op: BatchNorm, mesh: Mesh, axes: Axes):
        self._ctx, self._emit, self._mesh, self._axes = ctx, ctx.emitter, mesh, axes
        self._feature = op.feature_index.value.data
        shape = shape_of(op.operands[0])
        self._others = [dim for dim in range(len(shape)) if dim != self._feature]
        self._count = prod(shape[dim] for dim in self._others)
        element = element_of(op.operands[0])
        narrow = isinstance(element, BFloat16Type | Float16Type)
        self.element: Attribute = f32 if narrow else element

    def sums(self, *values: SSAValue) -> list[SSAValue]:
        """Return the sum of each feature over all devices, by one all_reduce."""
        emit, element = self._emit, self.element
        zero = emit.number(0, element)
        vector = TensorType(element, [shape_of(values[0])[self._feature]])
        own = [
            emit.one(
                stablehlo.ReduceOp,
                [value, zero],
                vector,
                {"dimensions": dims_attr(self._others)},
                [binary_region(stablehlo.AddOp, element)],
            )
            for value in values
        ]
        total = self._ctx.collectives.all_reduce(
            emit.concatenate(own, 0), self._mesh, self._axes, SUM
        )
        (size,) = shape_of(own[0])
        starts = range(0, size * len(own), size)
        return [emit.slice_dim(total, 0, start, start + size) for start in starts]

    def by_count(self, value: SSAValue) -> SSAValue:
        """Return a value divided by how many elements a feature has."""
        count = self._emit.splat(self._count, self.element, shape_of(value))
        return self._emit.binary(stablehlo.DivOp, value, count)

    def spread(self, vector: SSAValue, template: SSAValue) -> SSAValue:
        """Return a vector as a tensor in which each feature has its number."""
        return self._emit.broadcast(vector, shape_of(template), [self._feature])

    def centred(self, value: SSAValue, mean: SSAValue) -> SSAValue:
        """Return the distances from the mean of each feature."""
        return self._emit.subtract(value, self.spread(mean, value))


def _training(
    ctx: Localizer,
    op: stablehlo.BatchNormTrainingOp,
    features: _Features,
    operands: Sequence[SSAValue],
) -> list[SSAValue]:
    """Return the normalized shard, mean and variance."""
    emit = ctx.emitter
    x, scale, offset = operands
    mean = features.by_count(*features.sums(x))
    distances = features.centred(x, mean)
    squares = emit.binary(stablehlo.MulOp, distances, distances)
    variance = features.by_count(*features.sums(squares))
    output = emit.one(
        stablehlo.BatchNormInferenceOp,
        [x, scale, offset, mean, variance],
        x.type,
        {"epsilon": op.epsilon, "feature_index": op.feature_index},
    )
    return [output, mean, variance]


def _grad(
    ctx: Localizer,
    op: stablehlo.BatchNormGradOp,
    features: _Features,
    operands: Sequence[SSAValue],
) -> list[SSAValue]:
    """Return the gradients of the shard, scale and offset.

    That of the shard is `scale / deviation * (grad - (sum grad + normal * sum(grad *
    normal)) / count)`, where `normal` is the normalized operand.
    """
    emit = ctx.emitter
    x, scale, mean, variance, grad = operands
    ones, zeros = (emit.splat(n, features.element, shape_of(scale)) for n in (1, 0))
    inference = {"epsilon": op.epsilon, "feature_index": op.feature_index}
    normal = emit.one(
        stablehlo.BatchNormInferenceOp,
        [x, ones, zeros, mean, variance],
        x.type,
        inference,
    )
    product = emit.binary(stablehlo.MulOp, grad, normal)
    grad_offset, grad_scale = features.sums(grad, product)
    correlated = emit.binary(stablehlo.MulOp, normal, features.spread(grad_scale, x))
    both = emit.add(features.spread(grad_offset, x), correlated)
    rest = emit.subtract(grad, features.by_count(both))
    # `rest * scale / deviation`, as the normalization of numbers whose mean is zero
    grad_x = emit.one(
        stablehlo.BatchNormInferenceOp,
        [rest, scale, zeros, zeros, variance],
        x.type,
        inference,
    )
    return [grad_x, grad_scale, grad_offset]


def batch_norm(ctx: Localizer, op: BatchNorm) -> None:
    """Split freely; where features are split over several devices, these sum up."""
    division = division_of(ctx, op)
    feature = division.rule.operands[0][op.feature_index.value.data]

    def write(operands: list[Local], plan: Plan) -> list[Local]:
        split = [
            axis
            for factor, axes in plan.axes.items()
            if factor not in feature
            for axis in axes
        ]
        if not split or plan.mesh is None:
            return ctx.rebuild(op, operands, plan.results)
        emit = ctx.emitter
        axes = sort_and_merge(split, plan.mesh)
        features = _Features(ctx, op, plan.mesh, axes)
        wide = [emit.convert(local.value, features.element) for local in operands]
        if isinstance(op, stablehlo.BatchNormTrainingOp):
            values = _training(ctx, op, features, wide)
        else:
            values = _grad(ctx, op, features, wide)
        return [
            Local(emit.convert(value, element_of(result)), layout)
            for value, result, layout in zip(
                values, op.results, plan.results, strict=True
            )
        ]

    localize_by_factors(ctx, op, division, write=write)


LOCALIZERS: Table = {
    stablehlo.BatchNormInferenceOp: by_factors,
    stablehlo.BatchNormTrainingOp: batch_norm,
    stablehlo.BatchNormGradOp: batch_norm,
}
