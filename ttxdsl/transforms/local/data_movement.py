"""Ops that move elements without changing them."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Attribute, Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.transforms.local.by_factors import (
    Plan,
    identity_rule,
    localize_by_factors,
    localize_except,
)
from ttxdsl.transforms.local.contraction import required_rule
from ttxdsl.transforms.local.emitter import dims_attr
from ttxdsl.transforms.local.halo import Window, mirrored, serve
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
    """Dimensions that are kept whole split freely.

    Of others every device gets the elements that it is to hold a part of.
    """
    shape = shape_of(op.operand)
    start, limit = op.start_indices.get_values(), op.limit_indices.get_values()
    strides = op.strides.get_values()
    cut = {
        dim: Window(dim, dim, 1, strides[dim], -start[dim])
        for dim, size in enumerate(shape)
        if (start[dim], limit[dim], strides[dim]) != (0, size, 1)
    }
    targets = [ctx.target(op.result)]
    served = serve(ctx, ctx.operands(op), targets, list(cut.values()), [None])
    touched = [dim for dim, window in cut.items() if window not in served.halos]

    def properties(decided: Plan) -> Mapping[str, Attribute]:
        (result,) = decided.results
        assert result is not None
        starts = [start[dim] if dim in touched else 0 for dim in range(len(shape))]
        limits = [
            limit[dim] if dim in touched else size
            for dim, size in enumerate(result.local_shape)
        ]
        for window, halo in served.halos.items():
            limits[window.dim] = halo.size
        return {"start_indices": dims_attr(starts), "limit_indices": dims_attr(limits)}

    localize_by_factors(
        ctx,
        op,
        identity_rule(op),
        lambda factor: factor not in touched,
        operands=served.operands,
        properties=properties,
        planned=served.planned,
    )


def pad(ctx: Localizer, op: stablehlo.PadOp) -> None:
    """Dimensions without padding split freely.

    So do those in which every element only gets its own surroundings; of those that are
    shifted, cut or extended every device gets what it is to hold.
    """
    low = list(op.edge_padding_low.get_values())
    high = list(op.edge_padding_high.get_values())
    interior = op.interior_padding.get_values()
    operand, filler = ctx.operands(op)
    wanted = ctx.target(op.result)
    touched: list[int] = []
    shifted: dict[int, Window] = {}
    for dim, between in enumerate(interior):
        if (low[dim], high[dim], between) == (0, 0, 0):
            continue
        if between and 0 <= low[dim] <= between == low[dim] + high[dim]:
            if wanted is None or wanted.axes[dim] != operand.placed.axes[dim]:
                touched.append(dim)
        elif between:
            touched.append(dim)
        else:
            shifted[dim] = Window(dim, dim, 1, 1, low[dim])
    served = serve(ctx, [operand], [wanted], list(shifted.values()), [filler.value])
    for dim, window in shifted.items():
        if window in served.halos:
            low[dim] = high[dim] = 0
        else:
            touched.append(dim)
    localize_by_factors(
        ctx,
        op,
        identity_rule(op),
        lambda factor: factor not in touched,
        operands=[*served.operands, filler],
        properties=lambda _: {
            "edge_padding_low": dims_attr(low),
            "edge_padding_high": dims_attr(high),
        },
        planned=served.planned,
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
