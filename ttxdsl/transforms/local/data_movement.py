"""Ops that move elements without changing them."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Attribute, Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.transforms.local.by_factors import (
    Plan,
    localize_by_factors,
    localize_except,
)
from ttxdsl.transforms.local.contraction import required_rule
from ttxdsl.transforms.local.emitter import dims_attr, element_of, shape_of
from ttxdsl.transforms.local.localizer import Local, Localizer, Table


def by_rule(ctx: Localizer, op: Operation) -> None:
    """Every factor of the sharding rule splits freely."""
    localize_by_factors(ctx, op, required_rule(op), lambda _: True)


def reshape(ctx: Localizer, op: stablehlo.ReshapeOp) -> None:
    """Factors that operand and result share split freely, in place.

    A factor of one side only is part of a regrouping in which elements of one shard
    end up in several.
    """
    rule = sharding_rule(op)
    if rule is None:  # no elements: no dimension corresponds to any other
        unmapped = (((),) * len(shape_of(op.operand)), ((),) * len(shape_of(op.result)))
        rule = OpShardingRule((), unmapped[:1], unmapped[1:])
    before = {factor for dim in rule.operands[0] for factor in dim}
    after = {factor for dim in rule.results[0] for factor in dim}
    localize_by_factors(ctx, op, rule, lambda f: f in before and f in after)


def broadcast(ctx: Localizer, op: stablehlo.BroadcastOp) -> None:
    """New leading dimensions split freely."""
    rank_before, rank = len(shape_of(op.operand)), len(shape_of(op.result))
    new = rank - rank_before
    whole = tuple((dim,) for dim in range(rank))
    rule = OpShardingRule(shape_of(op.result), (whole[new:],), (whole,))

    def properties(decided: Plan) -> Mapping[str, Attribute]:
        (result,) = decided.results
        assert result is not None
        return {"broadcast_sizes": dims_attr(result.local_shape[:new])}

    localize_by_factors(ctx, op, rule, lambda _: True, properties=properties)


def bitcast_convert(ctx: Localizer, op: stablehlo.BitcastConvertOp) -> None:
    """All dimensions but the one that appears or disappears split freely."""
    before, after = shape_of(op.operand), shape_of(op.result)
    shared = min(len(before), len(after))
    longest = before if len(before) > len(after) else after
    rule = OpShardingRule(
        longest,
        (tuple((dim,) for dim in range(len(before))),),
        (tuple((dim,) for dim in range(len(after))),),
    )
    localize_by_factors(ctx, op, rule, lambda factor: factor < shared)


def slice_(ctx: Localizer, op: stablehlo.SliceOp) -> None:
    """Dimensions that are kept whole split freely."""
    shape = shape_of(op.operand)
    start, limit = op.start_indices.get_values(), op.limit_indices.get_values()
    strides = op.strides.get_values()
    touched = [
        dim
        for dim, size in enumerate(shape)
        if (start[dim], limit[dim], strides[dim]) != (0, size, 1)
    ]

    def properties(decided: Plan) -> Mapping[str, Attribute]:
        (result,) = decided.results
        assert result is not None
        return {
            "limit_indices": dims_attr(
                [
                    limit[dim] if dim in touched else size
                    for dim, size in enumerate(result.local_shape)
                ]
            )
        }

    localize_except(ctx, op, touched, properties)


def pad(ctx: Localizer, op: stablehlo.PadOp) -> None:
    """Dimensions without padding split freely."""
    amounts = zip(
        op.edge_padding_low.get_values(),
        op.edge_padding_high.get_values(),
        op.interior_padding.get_values(),
        strict=True,
    )
    touched = [dim for dim, amount in enumerate(amounts) if any(amount)]
    localize_except(ctx, op, touched)


def reverse(ctx: Localizer, op: stablehlo.ReverseOp) -> None:
    """Dimensions that are not reversed split freely."""
    localize_except(ctx, op, op.dimensions.get_values())


def concatenate(ctx: Localizer, op: stablehlo.ConcatenateOp) -> None:
    """All dimensions but the concatenated one split freely."""
    localize_except(ctx, op, (op.dimension.value.data,))


def dimension_size(ctx: Localizer, op: stablehlo.GetDimensionSizeOp) -> None:
    """The size of the global dimension, which is static."""
    size = shape_of(op.operand)[op.dimension.value.data]
    value = ctx.emitter.number(size, element_of(op.result))
    ctx.define(op.result, Local(value, ctx.target(op.result)))


LOCALIZERS: Table = {
    stablehlo.BitcastConvertOp: bitcast_convert,
    stablehlo.BroadcastInDimOp: by_rule,
    stablehlo.BroadcastOp: broadcast,
    stablehlo.ConcatenateOp: concatenate,
    stablehlo.GetDimensionSizeOp: dimension_size,
    stablehlo.PadOp: pad,
    stablehlo.ReshapeOp: reshape,
    stablehlo.ReverseOp: reverse,
    stablehlo.SliceOp: slice_,
    stablehlo.TransposeOp: by_rule,
}
