"""Ops that look at windows: convolutions, pooling and its gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.windowed import padding_pairs, window_values
from ttxdsl.sharding.axes import total_size
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.transforms.local.by_factors import (
    Plan,
    identity_rule,
    localize_by_factors,
    localize_except,
)
from ttxdsl.transforms.local.combiner import SUM
from ttxdsl.transforms.local.emitter import int_attr, shape_of
from ttxdsl.transforms.local.localizer import Localizer, Table


def _crosses_shards(
    ctx: Localizer,
    op: stablehlo.ReduceWindowOp | stablehlo.SelectAndScatterOp,
    dim: int,
    window: int,
    stride: int,
    padding: tuple[int, int],
    dilated: bool,
) -> bool:
    """Whether some window may reach from one shard of a dimension into another.

    Windows that tile the dimension do not, if each shard holds whole windows.
    """
    if padding != (0, 0) or dilated or window != stride:
        return True
    layout = ctx.parts(op)[0].placed
    wanted = ctx.target(op.results[0])
    if wanted is None or wanted.axes[dim] != layout.axes[dim]:
        return True
    return layout.shape[dim] % window != 0 or layout.local_shape[dim] % window != 0


def reduce_window(ctx: Localizer, op: stablehlo.ReduceWindowOp) -> None:
    """Dimensions split freely where no window reaches from shard to shard."""
    rank = len(shape_of(op.inputs[0]))
    strides = window_values(op.window_strides, rank)
    base = window_values(op.base_dilations, rank)
    spread = window_values(op.window_dilations, rank)
    padding = padding_pairs(op.padding, rank)
    touched = [
        dim
        for dim, window in enumerate(op.window_dimensions.get_values())
        if _crosses_shards(
            ctx,
            op,
            dim,
            window,
            strides[dim],
            padding[dim],
            base[dim] != 1 or (spread[dim] != 1 and window != 1),
        )
    ]
    localize_except(ctx, op, touched)


def select_and_scatter(ctx: Localizer, op: stablehlo.SelectAndScatterOp) -> None:
    """Dimensions split freely where no window reaches from shard to shard."""
    rank = len(shape_of(op.operand))
    windows = window_values(op.window_dimensions, rank)
    strides = window_values(op.window_strides, rank)
    padding = padding_pairs(op.padding, rank)
    touched = [
        dim
        for dim, window in enumerate(windows)
        if _crosses_shards(ctx, op, dim, window, strides[dim], padding[dim], False)
    ]
    operand, source, init = ctx.operands(op)
    for dim, axes in enumerate(operand.placed.axes):
        # the rule replicates the source; here each device needs its own windows only
        if axes and dim not in touched and not source.placed.axes[dim]:
            source = ctx.slice(source, dim, axes)
    localize_by_factors(
        ctx,
        op,
        identity_rule(op),
        lambda factor: factor not in touched,
        operands=[operand, source, init],
    )


class _Factors:
    """Numbers factors in order."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def new(self, size: int) -> int:
        self.sizes.append(size)
        return len(self.sizes) - 1


def _place(rank: int, dims: Mapping[int, Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(dims[dim]) for dim in range(rank))


def convolution(ctx: Localizer, op: stablehlo.ConvolutionOp) -> None:
    """Batch, groups and output features split freely; input features leave sums.

    Spatial dimensions do where the window is a single element, as in a convolution
    by 1x1; elsewhere they are gathered.
    """
    numbers = op.dimension_numbers
    lhs, rhs, out = (shape_of(value) for value in (op.lhs, op.rhs, op.result))
    spatial = len(numbers.input_spatial_dimensions)
    strides = window_values(op.window_strides, spatial)
    padding = padding_pairs(op.padding, spatial)
    lhs_spread = window_values(op.lhs_dilation, spatial)
    feature_groups = op.feature_group_count.value.data
    batch_groups = op.batch_group_count.value.data

    factors = _Factors()
    batch = factors.new(out[numbers.output_batch_dimension])
    in_features = factors.new(rhs[numbers.kernel_input_feature_dimension])
    groups = max(feature_groups, batch_groups)
    out_features = factors.new(out[numbers.output_feature_dimension] // groups)
    group = factors.new(groups)
    of_batch = (group, batch) if batch_groups > 1 else (batch,)
    of_features = (group, in_features) if feature_groups > 1 else (in_features,)
    of_output = (group, out_features) if groups > 1 else (out_features,)
    lhs_dims: dict[int, Sequence[int]] = {
        numbers.input_batch_dimension: of_batch,
        numbers.input_feature_dimension: of_features,
    }
    rhs_dims: dict[int, Sequence[int]] = {
        numbers.kernel_input_feature_dimension: (in_features,),
        numbers.kernel_output_feature_dimension: of_output,
    }
    out_dims: dict[int, Sequence[int]] = {
        numbers.output_batch_dimension: (batch,),
        numbers.output_feature_dimension: of_output,
    }
    gathered: set[int] = set()
    for i in range(spatial):
        lhs_dim = numbers.input_spatial_dimensions[i]
        rhs_dim = numbers.kernel_spatial_dimensions[i]
        out_dim = numbers.output_spatial_dimensions[i]
        place, offset = factors.new(lhs[lhs_dim]), factors.new(rhs[rhs_dim])
        lhs_dims[lhs_dim] = out_dims[out_dim] = (place,)
        rhs_dims[rhs_dim] = (offset,)
        gathered.add(offset)
        if (rhs[rhs_dim], strides[i], lhs_spread[i], padding[i]) != (1, 1, 1, (0, 0)):
            gathered.add(place)
    rule = OpShardingRule(
        tuple(factors.sizes),
        (_place(len(lhs), lhs_dims), _place(len(rhs), rhs_dims)),
        (_place(len(out), out_dims),),
    )

    def properties(decided: Plan) -> Mapping[str, Attribute]:
        axes = decided.axes.get(group)
        if not axes or decided.mesh is None:
            return {}
        name = "feature_group_count" if feature_groups > 1 else "batch_group_count"
        return {name: int_attr(groups // total_size(axes, decided.mesh))}

    localize_by_factors(
        ctx,
        op,
        rule,
        lambda factor: factor not in gathered,
        combine=SUM,
        could_be_partial=gathered,
        properties=properties,
    )


LOCALIZERS: Table = {
    stablehlo.ConvolutionOp: convolution,
    stablehlo.ReduceWindowOp: reduce_window,
    stablehlo.SelectAndScatterOp: select_and_scatter,
}
