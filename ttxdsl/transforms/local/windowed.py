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
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.axes import lists_overlap, total_size
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.transforms.local.by_factors import (
    Plan,
    identity_rule,
    localize_by_factors,
)
from ttxdsl.transforms.local.combiner import SUM
from ttxdsl.transforms.local.emitter import int_attr
from ttxdsl.transforms.local.halo import Window, meeting, serve
from ttxdsl.transforms.local.localizer import Localizer, Table


def reduce_window(ctx: Localizer, op: stablehlo.ReduceWindowOp) -> None:
    """Dimensions split freely where windows are single elements.

    Of others every device gets what its windows read.
    """
    rank, count = len(shape_of(op.inputs[0])), len(op.inputs)
    strides = window_values(op.window_strides, rank)
    base = window_values(op.base_dilations, rank)
    spread = window_values(op.window_dilations, rank)
    padding = list(padding_pairs(op.padding, rank))
    sizes = op.window_dimensions.get_values()
    windows = {
        dim: Window(
            dim,
            dim,
            (size - 1) * spread[dim] + 1,
            strides[dim],
            padding[dim][0],
            base[dim],
        )
        for dim, size in enumerate(sizes)
        if (size, strides[dim], base[dim], padding[dim]) != (1, 1, 1, (0, 0))
    }
    operands = ctx.operands(op)
    served = serve(
        ctx,
        operands[:count],
        [ctx.target(result) for result in op.results],
        list(windows.values()),
        [initial.value for initial in operands[count:]],
    )
    touched = [dim for dim, window in windows.items() if window not in served.halos]
    for window, halo in served.halos.items():
        padding[window.dim] = halo.padding
    changed = {"padding": _padding(padding)} if served.halos else {}
    localize_by_factors(
        ctx,
        op,
        identity_rule(op),
        lambda factor: factor not in touched,
        operands=[*served.operands, *operands[count:]],
        properties=lambda _: changed,
        planned=served.planned,
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
    """Dimensions split freely where windows tile every shard."""
    rank = len(shape_of(op.operand))
    windows = window_values(op.window_dimensions, rank)
    strides = window_values(op.window_strides, rank)
    padding = padding_pairs(op.padding, rank)
    operand, source, init = ctx.operands(op)
    planned = ctx.target(op.results[0])
    touched: list[int] = []
    for dim, window in enumerate(windows):
        met = None
        if padding[dim] == (0, 0) and window == strides[dim]:
            met = meeting(operand.placed, dim, planned, dim)
        if met is None or met[0].local_shape[dim] % window:
            touched.append(dim)
            continue
        # the rule replicates the source; here each device needs its own windows only
        planned, axes = met[1], met[0].axes[dim]
        operand = ctx.gather(operand, dim, operand.placed.axes[dim][len(axes) :])
        layout = source.placed.with_axes(
            axes if other == dim else had if not lists_overlap(had, axes) else ()
            for other, had in enumerate(source.placed.axes)
        )
        source = ctx.reshard_to(source, layout)
    localize_by_factors(
        ctx,
        op,
        identity_rule(op),
        lambda factor: factor not in touched,
        operands=[operand, source, init],
        planned=[planned],
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
    rhs_spread = window_values(op.rhs_dilation, spatial)
    unpadded = list(padding)
    windows: dict[int, tuple[int, Window]] = {}
    for i in range(spatial):
        lhs_dim = numbers.input_spatial_dimensions[i]
        rhs_dim = numbers.kernel_spatial_dimensions[i]
        out_dim = numbers.output_spatial_dimensions[i]
        place, offset = factors.new(lhs[lhs_dim]), factors.new(rhs[rhs_dim])
        lhs_dims[lhs_dim] = out_dims[out_dim] = (place,)
        rhs_dims[rhs_dim] = (offset,)
        gathered.add(offset)
        if (rhs[rhs_dim], strides[i], lhs_spread[i], padding[i]) != (1, 1, 1, (0, 0)):
            extent = (rhs[rhs_dim] - 1) * rhs_spread[i] + 1
            windows[i] = (
                place,
                Window(
                    lhs_dim, out_dim, extent, strides[i], padding[i][0], lhs_spread[i]
                ),
            )
    served = serve(
        ctx,
        operands[:1],
        [ctx.target(op.result)],
        [window for _, window in windows.values()],
        [None],
    )
    operands[0] = served.operands[0]
    for i, (place, window) in windows.items():
        if window in served.halos:
            unpadded[i] = served.halos[window].padding
        else:
            gathered.add(place)
    rule = OpShardingRule(
        tuple(factors.sizes),
        (_place(len(lhs), lhs_dims), _place(len(rhs), rhs_dims)),
        (_place(len(out), out_dims),),
    )

    def properties(decided: Plan) -> Mapping[str, Attribute]:
        changed: dict[str, Attribute] = {}
        if served.halos:
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
        planned=served.planned,
    )


LOCALIZERS: Table = {
    stablehlo.ConvolutionOp: convolution,
    stablehlo.ReduceWindowOp: reduce_window,
    stablehlo.SelectAndScatterOp: select_and_scatter,
}
