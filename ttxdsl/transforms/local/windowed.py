"""Ops that look at windows: convolutions, pooling and its gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i64,
)
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
from ttxdsl.transforms.local.halo import Halo, halo_of, with_halos
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
    """Dimensions split freely where no window reaches from shard to shard.

    Where one reaches into the next shard only, neighbours send what it needs.
    """
    rank = len(shape_of(op.inputs[0]))
    strides = window_values(op.window_strides, rank)
    base = window_values(op.base_dilations, rank)
    spread = window_values(op.window_dilations, rank)
    padding = padding_pairs(op.padding, rank)
    windows = op.window_dimensions.get_values()
    touched = [
        dim
        for dim, window in enumerate(windows)
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
    operands, count = ctx.operands(op), len(op.inputs)
    halos: list[Halo] = []
    for dim in touched:
        if base[dim] != 1:
            continue
        found = {
            halo_of(
                local.placed,
                dim,
                ctx.target(result),
                dim,
                window=(windows[dim] - 1) * spread[dim] + 1,
                stride=strides[dim],
                low=padding[dim][0],
            )
            for local, result in zip(operands[:count], op.results, strict=True)
        }
        if len(found) == 1 and (halo := found.pop()) is not None:
            halos.append(halo)
    if not halos:
        localize_except(ctx, op, touched)
        return
    served = {halo.dim for halo in halos}
    operands[:count] = [
        with_halos(ctx, local, halos, initial.value)
        for local, initial in zip(operands[:count], operands[count:], strict=True)
    ]
    unpadded = _padding(
        [(0, 0) if dim in served else pair for dim, pair in enumerate(padding)]
    )
    localize_by_factors(
        ctx,
        op,
        identity_rule(op),
        lambda factor: factor not in touched or factor in served,
        operands=operands,
        properties=lambda _: {"padding": unpadded},
    )


def _padding(
    pairs: Sequence[tuple[int, int]],
) -> DenseIntOrFPElementsAttr[IntegerType]:
    """`dense<[[low, high], …]>`."""
    type_ = TensorType(i64, [len(pairs), 2])
    return DenseIntOrFPElementsAttr.from_list(
        type_, [amount for pair in pairs for amount in pair]
    )


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
    by 1x1, or where neighbours can send what windows reach beyond their shard;
    elsewhere they are gathered.
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
    operands = ctx.operands(op)
    halos: list[Halo] = []
    rhs_spread = window_values(op.rhs_dilation, spatial)
    unpadded = list(padding)
    for i in range(spatial):
        lhs_dim = numbers.input_spatial_dimensions[i]
        rhs_dim = numbers.kernel_spatial_dimensions[i]
        out_dim = numbers.output_spatial_dimensions[i]
        place, offset = factors.new(lhs[lhs_dim]), factors.new(rhs[rhs_dim])
        lhs_dims[lhs_dim] = out_dims[out_dim] = (place,)
        rhs_dims[rhs_dim] = (offset,)
        gathered.add(offset)
        if (rhs[rhs_dim], strides[i], lhs_spread[i], padding[i]) == (1, 1, 1, (0, 0)):
            continue
        halo = None
        if lhs_spread[i] == 1:
            halo = halo_of(
                operands[0].placed,
                lhs_dim,
                ctx.target(op.result),
                out_dim,
                window=(rhs[rhs_dim] - 1) * rhs_spread[i] + 1,
                stride=strides[i],
                low=padding[i][0],
            )
        if halo is None:
            gathered.add(place)
        else:
            halos.append(halo)
            unpadded[i] = (0, 0)
    operands[0] = with_halos(ctx, operands[0], halos, None)
    rule = OpShardingRule(
        tuple(factors.sizes),
        (_place(len(lhs), lhs_dims), _place(len(rhs), rhs_dims)),
        (_place(len(out), out_dims),),
    )

    def properties(decided: Plan) -> Mapping[str, Attribute]:
        changed: dict[str, Attribute] = {}
        if halos:
            changed["padding"] = _padding(unpadded)
        axes = decided.axes.get(group)
        if axes and decided.mesh is not None:
            name = "feature_group_count" if feature_groups > 1 else "batch_group_count"
            changed[name] = int_attr(groups // total_size(axes, decided.mesh))
        return changed

    localize_by_factors(
        ctx,
        op,
        rule,
        lambda factor: factor not in gathered,
        operands=operands,
        combine=SUM,
        could_be_partial=gathered,
        properties=properties,
    )


LOCALIZERS: Table = {
    stablehlo.ConvolutionOp: convolution,
    stablehlo.ReduceWindowOp: reduce_window,
    stablehlo.SelectAndScatterOp: select_and_scatter,
}
