"""Ops that move elements without changing them."""

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.transforms.partition.by_factors import Plan, by_factors, localize_by_factors
from ttxdsl.transforms.partition.emitter import dims_attr
from ttxdsl.transforms.partition.exchange.halo import Window, mirrored, serve
from ttxdsl.transforms.partition.exchange.pieces import concatenate
from ttxdsl.transforms.partition.localizer import Local, Localizer, Table


def broadcast(ctx: Localizer, op: stablehlo.BroadcastOp) -> None:
    """New leading dimensions split freely."""
    new = len(shape_of(op.result)) - len(shape_of(op.operand))

    def write(operands: list[Local], plan: Plan) -> list[Local]:
        sizes = plan.result_layout.local_shape[:new]
        changed = {"broadcast_sizes": dims_attr(sizes)}
        return ctx.rebuild(op, operands, plan.results, changed)

    localize_by_factors(ctx, op, write=write)


def slice_(ctx: Localizer, op: stablehlo.SliceOp) -> None:
    """Partition a slice: dimensions that are kept whole split freely.

    Of other dimensions every device receives the elements of its part.
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

    def write(operands: list[Local], plan: Plan) -> list[Local]:
        starts = [start[dim] if dim in touched else 0 for dim in range(len(shape))]
        limits = [
            limit[dim] if dim in touched else size
            for dim, size in enumerate(plan.result_layout.local_shape)
        ]
        for window, halo in served.halos.items():
            limits[window.dim] = halo.size
        changed = {
            "start_indices": dims_attr(starts),
            "limit_indices": dims_attr(limits),
        }
        return ctx.rebuild(op, operands, plan.results, changed)

    localize_by_factors(
        ctx,
        op,
        whole=touched,
        operands=served.operands,
        write=write,
        planned=served.planned,
    )


def pad(ctx: Localizer, op: stablehlo.PadOp) -> None:
    """Partition a pad: dimensions without padding split freely.

    So do those in which every element only gets its own interior padding. Of dimensions
    that are shifted, cut or extended, every device receives the elements of its part.
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
    changed = {"edge_padding_low": dims_attr(low), "edge_padding_high": dims_attr(high)}
    localize_by_factors(
        ctx,
        op,
        whole=touched,
        operands=[*served.operands, filler],
        write=lambda operands, plan: ctx.rebuild(op, operands, plan.results, changed),
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
    operands = [mirrored(ctx, operand, swapped)]
    localize_by_factors(ctx, op, whole=touched, operands=operands)


def dimension_size(ctx: Localizer, op: stablehlo.GetDimensionSizeOp) -> None:
    """The size of the global dimension, which is static."""
    size = shape_of(op.operand)[op.dimension.value.data]
    value = ctx.emitter.number(size, element_of(op.result))
    ctx.define(op.result, Local(value, ctx.target(op.result)))


LOCALIZERS: Table = {
    stablehlo.BitcastConvertOp: by_factors,
    stablehlo.BroadcastInDimOp: by_factors,
    stablehlo.BroadcastOp: broadcast,
    stablehlo.ConcatenateOp: concatenate,
    stablehlo.GetDimensionSizeOp: dimension_size,
    stablehlo.PadOp: pad,
    stablehlo.ReshapeOp: by_factors,
    stablehlo.ReverseOp: reverse,
    stablehlo.SliceOp: slice_,
    stablehlo.TransposeOp: by_factors,
}
