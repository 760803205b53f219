"""Ops that look at windows: convolutions, pooling and its gradient."""

from dataclasses import replace

from xdsl.ir import Attribute

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.windowed import padding_pairs, window_values
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.axes import lists_overlap, subtract, total_size
from ttxdsl.transforms.partition.by_factors import (
    Plan,
    division_of,
    localize_by_factors,
)
from ttxdsl.transforms.partition.emitter import int_attr
from ttxdsl.transforms.partition.exchange.combiner import SUM
from ttxdsl.transforms.partition.exchange.halo import (
    Window,
    meeting,
    padding_attr,
    serve,
)
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.partition.localizer import Local, Localizer, Table
from ttxdsl.transforms.partition.ops.cumulative import localize_running, running_of


def reduce_window(ctx: Localizer, op: stablehlo.ReduceWindowOp) -> None:
    """Partition a windowed reduction: dimensions of one-element windows split freely."""
    running = running_of(op)
    if running is not None and localize_running(ctx, op, running):
        return
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
    changed = {"padding": padding_attr(padding)} if served.halos else {}
    localize_by_factors(
        ctx,
        op,
        whole=touched,
        operands=[*served.operands, *operands[count:]],
        write=lambda operands, plan: ctx.rebuild(op, operands, plan.results, changed),
        planned=served.planned,
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
        rest = subtract(operand.placed.axes[dim], axes, operand.placed.mesh)
        operand = ctx.gather(operand, dim, rest)
        layout = source.placed.with_axes(
            axes if other == dim else had if not lists_overlap(had, axes) else ()
            for other, had in enumerate(source.placed.axes)
        )
        source = ctx.reshard_to(source, layout)
    localize_by_factors(
        ctx,
        op,
        whole=touched,
        operands=[operand, source, init],
        planned=[planned],
    )


def convolution(ctx: Localizer, op: stablehlo.ConvolutionOp) -> None:
    """Batch, groups and output features split freely; input features leave sums.

    Spatial dimensions do where the window is a single element, as in a convolution
    by 1x1, or where neighbours can send what windows reach beyond their shard;
    elsewhere they are gathered. The same holds of places in a window longer than there
    are windows, which leave sums: what places read takes the part of windows there.
    """
    numbers = op.dimension_numbers.data
    kernel, result = shape_of(op.rhs), shape_of(op.result)
    spatial = len(numbers.input_spatial_dimensions)
    strides = window_values(op.window_strides, spatial)
    padding = list(padding_pairs(op.padding, spatial))
    lhs_spread = window_values(op.lhs_dilation, spatial)
    rhs_spread = window_values(op.rhs_dilation, spatial)
    reversed_ = op.window_reversal.get_values() if op.window_reversal else ()
    division = division_of(ctx, op)
    of_input, of_kernel = division.rule.operands
    lhs, rhs = ctx.operands(op)
    target = ctx.target(op.result)
    windows: dict[int, Window] = {}
    gathered: list[int] = []
    for i, (dim, out_dim, kernel_dim) in enumerate(
        zip(
            numbers.input_spatial_dimensions,
            numbers.output_spatial_dimensions,
            numbers.kernel_spatial_dimensions,
            strict=True,
        )
    ):
        # what is read is counted by windows and by places in them: by how many, how far
        # apart, and in which dimension of result and kernel side by side
        split = result[out_dim], strides[i], out_dim
        other = kernel[kernel_dim], rhs_spread[i], len(result) + kernel_dim
        if of_input[dim] == of_kernel[kernel_dim]:
            split, other = other, split
            if any(reversed_[i : i + 1]):
                gathered += of_input[dim]
                continue
        (places, step, counted), (count, apart, _) = split, other
        all_read = places == shape_of(op.lhs)[dim]
        if not all_read or (count, step, lhs_spread[i], padding[i]) != (
            *(1, 1, 1),
            (0, 0),
        ):
            extent = (count - 1) * apart + 1
            windows[i] = Window(
                dim, counted, extent, step, padding[i][0], lhs_spread[i]
            )
    both = _side_by_side(target, rhs.layout)
    served = serve(ctx, [lhs], [both], list(windows.values()), [None])
    planned, of_rhs = _apart(served.planned[0], target, rhs.layout)
    for i, window in windows.items():
        if window in served.halos:
            padding[i] = served.halos[window].padding
        else:
            gathered += of_input[window.dim]

    def write(operands: list[Local], plan: Plan) -> list[Local]:
        changed: dict[str, Attribute] = {}
        if served.halos:
            changed["padding"] = padding_attr(padding)
        group = of_kernel[numbers.kernel_output_feature_dimension][0]
        axes = plan.axes.get(group)
        for name in ("feature_group_count", "batch_group_count"):
            groups = getattr(op, name).value.data
            if groups > 1 and axes and plan.mesh is not None:
                changed[name] = int_attr(groups // total_size(axes, plan.mesh))
        return ctx.rebuild(op, operands, plan.results, changed)

    in_window = [of_kernel[dim][0] for dim in numbers.kernel_spatial_dimensions]
    localize_by_factors(
        ctx,
        op,
        division,
        whole=gathered,
        operands=[served.operands[0], ctx.reshard_to(rhs, of_rhs)],
        combine=SUM,
        reduced=(*gathered, *in_window),
        write=write,
        planned=[planned],
        complete=served.gathered,
    )


def _side_by_side(result: Layout | None, kernel: Layout | None) -> Layout | None:
    """Return the dimensions of both in one layout, by which windows and places count."""
    if result is None or kernel is None:
        return result
    shape, axes = result.shape + kernel.shape, result.axes + kernel.axes
    return replace(result, shape=shape, axes=axes)


def _apart(
    both: Layout | None, result: Layout | None, kernel: Layout | None
) -> tuple[Layout | None, Layout | None]:
    """Return the layouts of result and kernel as they are in one of both."""
    if both is None or result is None or kernel is None:
        return both, kernel
    rank = len(result.shape)
    return result.with_axes(both.axes[:rank]), kernel.with_axes(both.axes[rank:])


LOCALIZERS: Table = {
    stablehlo.ConvolutionOp: convolution,
    stablehlo.ReduceWindowOp: reduce_window,
    stablehlo.SelectAndScatterOp: select_and_scatter,
}
