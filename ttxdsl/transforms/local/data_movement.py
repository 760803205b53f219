"""Ops that move elements without changing them."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Attribute, Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.transforms.local.by_factors import (
    Plan,
    identity_rule,
    localize_by_factors,
    localize_except,
)
from ttxdsl.transforms.local.contraction import required_rule
from ttxdsl.transforms.local.emitter import dims_attr, element_of, shape_of
from ttxdsl.transforms.local.halo import Halo, halo_of, mirrored, with_halos
from ttxdsl.transforms.local.localizer import Local, Localizer, Table


def by_rule(ctx: Localizer, op: Operation) -> None:
    """Every factor of the sharding rule splits freely."""
    localize_by_factors(ctx, op, required_rule(ctx, op), lambda _: True)


def reshape(ctx: Localizer, op: stablehlo.ReshapeOp) -> None:
    """Factors that operand and result share split freely, in place.

    A factor of one side only is part of a regrouping in which elements of one shard
    end up in several.
    """
    rule = ctx.signature(op).rule
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
    """Dimensions that are kept whole split freely, as do strides that fit the shards."""
    shape = shape_of(op.operand)
    start, limit = op.start_indices.get_values(), op.limit_indices.get_values()
    strides = op.strides.get_values()
    (operand,) = ctx.operands(op)
    touched: list[int] = []
    halos: list[Halo] = []
    for dim, size in enumerate(shape):
        if (start[dim], limit[dim], strides[dim]) == (0, size, 1):
            continue
        halo = halo_of(
            operand.placed,
            dim,
            ctx.target(op.result),
            dim,
            window=1,
            stride=strides[dim],
            low=-start[dim],
        )
        if halo is None:
            touched.append(dim)
        else:
            halos.append(halo)
    operand = with_halos(ctx, operand, halos, None)
    served = {halo.dim for halo in halos}

    def properties(decided: Plan) -> Mapping[str, Attribute]:
        (result,) = decided.results
        assert result is not None
        limits = [
            limit[dim] if dim in touched else size
            for dim, size in enumerate(result.local_shape)
        ]
        starts = list(start)
        for dim in served:
            starts[dim], limits[dim] = 0, shape_of(operand.value)[dim]
        return {"start_indices": dims_attr(starts), "limit_indices": dims_attr(limits)}

    localize_by_factors(
        ctx,
        op,
        identity_rule(op),
        lambda factor: factor not in touched,
        operands=[operand],
        properties=properties,
    )


def pad(ctx: Localizer, op: stablehlo.PadOp) -> None:
    """Dimensions without padding split freely.

    So do those in which every element only gets its own surroundings, and those that
    are shifted: neighbours send what moves from shard to shard.
    """
    low = list(op.edge_padding_low.get_values())
    high = list(op.edge_padding_high.get_values())
    interior = op.interior_padding.get_values()
    operand, filler = ctx.operands(op)
    wanted = ctx.target(op.result)
    touched: list[int] = []
    halos: list[Halo] = []
    for dim, between in enumerate(interior):
        if (low[dim], high[dim], between) == (0, 0, 0):
            continue
        if between and 0 <= low[dim] <= between == low[dim] + high[dim]:
            if wanted is None or wanted.axes[dim] != operand.placed.axes[dim]:
                touched.append(dim)
            continue
        halo = None
        if not between and low[dim] == -high[dim]:
            halo = halo_of(
                operand.placed, dim, wanted, dim, window=1, stride=1, low=low[dim]
            )
        if halo is None:
            touched.append(dim)
        else:
            halos.append(halo)
            low[dim] = high[dim] = 0
    localize_by_factors(
        ctx,
        op,
        identity_rule(op),
        lambda factor: factor not in touched,
        operands=[with_halos(ctx, operand, halos, filler.value), filler],
        properties=lambda _: {
            "edge_padding_low": dims_attr(low),
            "edge_padding_high": dims_attr(high),
        },
    )


def reverse(ctx: Localizer, op: stablehlo.ReverseOp) -> None:
    """Dimensions that are not reversed split freely; of others shards change places."""
    (operand,) = ctx.operands(op)
    wanted = ctx.target(op.result)
    layout = operand.placed
    swapped = [
        dim
        for dim in op.dimensions.get_values()
        if layout.axes[dim]
        and wanted is not None
        and wanted.axes[dim] == layout.axes[dim]
        and wanted.mesh == layout.mesh
    ]
    touched = [dim for dim in op.dimensions.get_values() if dim not in swapped]
    localize_by_factors(
        ctx,
        op,
        identity_rule(op),
        lambda factor: factor not in touched,
        operands=[mirrored(ctx, operand, swapped)],
    )


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
