"""Ops whose positions are data: slices at computed starts, gathers and scatters.

Where a positioned dimension is split, each device subtracts where its shard starts
and does what falls into it: a gather answers zero for the rest and the answers are
added up, a scatter and an update leave the rest alone.
"""

from collections.abc import Collection, Mapping, Sequence

from xdsl.dialects.builtin import BoolAttr, i64
from xdsl.ir import Attribute, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.transforms.partition.by_factors import (
    Plan,
    division_of,
    localize_by_factors,
)
from ttxdsl.transforms.partition.emitter import (
    INDEX,
    Emitter,
    dims_attr,
    is_wider_than_index,
)
from ttxdsl.transforms.partition.exchange.combiner import SUM, combiner_of
from ttxdsl.transforms.partition.exchange.summands import counted_once
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.partition.localizer import Local, Localizer, Table

GE, LT = ComparisonDirection.GE, ComparisonDirection.LT
FALSE = BoolAttr.from_bool(False)


def dynamic_slice(ctx: Localizer, op: stablehlo.DynamicSliceOp) -> None:
    """Dimensions that are taken whole split freely: they start at 0 on every device."""

    def write(operands: list[Local], plan: Plan) -> list[Local]:
        changed = {"slice_sizes": dims_attr(plan.result_layout.local_shape)}
        return ctx.rebuild(op, operands, plan.results, changed)

    localize_by_factors(ctx, op, write=write)


def dynamic_update_slice(ctx: Localizer, op: stablehlo.DynamicUpdateSliceOp) -> None:
    """Dimensions that are overwritten whole split freely.

    Along the others operand and result may be split, alike: each device writes the
    part of the update that falls into its shard. The update is whole there.
    """
    sizes = zip(shape_of(op.operand), shape_of(op.update), strict=True)
    partly = [dim for dim, (size, updated) in enumerate(sizes) if size != updated]
    operands = ctx.operands(op)
    before, target = operands[0].placed, ctx.target(op.result)
    division = division_of(ctx, op)

    def write(operands: list[Local], plan: Plan) -> list[Local]:
        layout = operands[0].placed
        split = [dim for dim in partly if layout.axes[dim]]
        if not split:
            return ctx.rebuild(op, operands, plan.results)
        return [Local(_update_shards(ctx, operands, split), layout)]

    whole = [
        factor
        for dim in partly
        if target is None or target.axes[dim] != before.axes[dim]
        for factor in division.rule.operands[0][dim]
    ]
    localize_by_factors(ctx, op, division, whole=whole, operands=operands, write=write)


def _update_shards(
    ctx: Localizer, operands: Sequence[Local], split: Sequence[int]
) -> SSAValue:
    """Write the part of an update that falls into this device's shard.

    Along each split dimension the update is laid out as the shard is: padded by a
    whole shard on both sides, then cut where the shard starts.
    """
    emit = ctx.emitter
    operand, update, *start_locals = operands
    layout = operand.placed
    starts = [start.value for start in start_locals]
    zero = emit.number(0, element_of(starts[0]))
    patch = update.value
    within: list[tuple[int, SSAValue]] = []
    for dim in split:
        size, part = shape_of(update.value)[dim], layout.local_shape[dim]
        last = emit.position(layout.shape[dim] - size)
        start = emit.convert(starts[dim], INDEX)
        start = emit.clamp(emit.position(0), start, last)
        offset = ctx.offset(layout, dim)
        amounts = [part if d == dim else 0 for d in range(len(layout.shape))]
        filler = emit.number(0, element_of(patch))
        padded = emit.pad(patch, filler, amounts, amounts)
        ahead = emit.subtract(offset, start)
        cut = emit.add(emit.position(part), ahead)
        patch = emit.dynamic_slice_dim(padded, dim, cut, part)
        place = emit.add(emit.iota([part], 0), emit.broadcast(ahead, [part]))
        within.append((dim, in_range(emit, place, 0, size)))
        starts[dim] = zero
    shape = shape_of(patch)
    inside = emit.broadcast(within[0][1], shape, [within[0][0]])
    for dim, mask in within[1:]:
        inside = emit.both(inside, emit.broadcast(mask, shape, [dim]))
    old = emit.dynamic_slice(operand.value, starts, shape)
    new = emit.select(inside, patch, old)
    return emit.dynamic_update_slice(operand.value, new, starts)


def in_range(emit: Emitter, value: SSAValue, low: int, high: int) -> SSAValue:
    """Elementwise `low <= value < high`, for positions."""
    shape = shape_of(value)
    floor = emit.broadcast(emit.position(low), shape)
    ceiling = emit.broadcast(emit.position(high), shape)
    return emit.both(emit.compare(value, floor, GE), emit.compare(value, ceiling, LT))


# Gathers and scatters


def as_positions(emit: Emitter, indices: SSAValue) -> SSAValue:
    """Indices of any integer type as signed ones in which no value is lost."""
    wide = is_wider_than_index(element_of(indices))
    return emit.convert(indices, i64 if wide else INDEX)


def per_component(
    emit: Emitter, values: Sequence[SSAValue], indices: SSAValue, vector_dim: int
) -> SSAValue:
    """One scalar position a component, in the shape and type of the indices."""
    element, shape = element_of(indices), shape_of(indices)
    scalars = [emit.convert(value, element) for value in values]
    if vector_dim == len(shape):
        return emit.broadcast(scalars[0], shape)
    vector = emit.concatenate([emit.reshape(value, [1]) for value in scalars], 0)
    return emit.broadcast(vector, shape, [vector_dim])


def local_indices(
    ctx: Localizer,
    indices: SSAValue,
    vector_dim: int,
    positioned: Sequence[int],
    operand: Layout,
) -> SSAValue:
    """Index vectors counted from where this device's shard starts.

    Args:
        indices: index vectors along `vector_dim`, as signed integers.
        vector_dim: may be one past the last dimension: indices are then scalars.
        positioned: the operand dimension of each component.
        operand: how the indexed tensor lies.
    """
    emit = ctx.emitter
    offsets = [
        ctx.offset(operand, dim) if operand.axes[dim] else emit.position(0)
        for dim in positioned
    ]
    return emit.subtract(indices, per_component(emit, offsets, indices, vector_dim))


def gather(ctx: Localizer, op: stablehlo.GatherOp) -> None:
    """Batches and whole window dimensions split freely.

    Along a dimension of which each index takes one element, each device answers for
    the indices in its shard and with zero for the others: partial sums.
    """
    division = division_of(ctx, op)
    of_operand = division.rule.operands[0]
    alone = [d for d, (f,) in enumerate(of_operand) if f in division.rule.reduction]

    def write(operands: list[Local], plan: Plan) -> list[Local]:
        operand, indices = operands
        layout = operand.placed
        local_sizes = [
            local if size == whole else size
            for size, whole, local in zip(
                op.slice_sizes.get_values(),
                layout.shape,
                layout.local_shape,
                strict=True,
            )
        ]
        changed = {"slice_sizes": dims_attr(local_sizes)}
        split = [dim for dim in alone if layout.axes[dim]]
        if not split:
            return ctx.rebuild(op, operands, plan.results, changed)
        return _gather_shards(ctx, op, operand, indices, plan, changed, split)

    localize_by_factors(ctx, op, division, combine=SUM, write=write)


def _gather_shards(
    ctx: Localizer,
    op: stablehlo.GatherOp,
    operand: Local,
    indices: Local,
    decided: Plan,
    properties: Mapping[str, Attribute],
    split: Sequence[int],
) -> list[Local]:
    """Gather what falls into this device's shard along `split`, and zeros elsewhere."""
    emit = ctx.emitter
    numbers = op.dimension_numbers.data
    layout, vector_dim = operand.placed, numbers.index_vector_dim
    positioned = numbers.start_index_map
    sizes = op.slice_sizes.get_values()
    places = as_positions(emit, indices.value)
    last = [emit.position(layout.shape[dim] - sizes[dim]) for dim in positioned]
    zero = emit.number(0, element_of(places))
    ceiling = per_component(emit, last, places, vector_dim)
    floor = emit.broadcast(zero, shape_of(places))
    places = emit.clamp(floor, places, ceiling)
    # dimensions that are taken whole start at 0 in every shard
    places = local_indices(
        ctx, places, vector_dim, positioned, _only_split(layout, split)
    )
    (result,) = ctx.rebuild(
        op,
        [operand, Local(places, indices.layout)],
        decided.results,
        {**properties, "indices_are_sorted": FALSE},
    )
    inside = emit.compare(places, floor, GE)
    limits = [emit.position(layout.local_shape[dim]) for dim in positioned]
    limit = per_component(emit, limits, places, vector_dim)
    inside = emit.both(inside, emit.compare(places, limit, LT))
    if vector_dim < len(shape_of(places)):
        inside = emit.all_along(inside, vector_dim)
    shape = shape_of(result.value)
    batch = [dim for dim in range(len(shape)) if dim not in numbers.offset_dims]
    inside = emit.broadcast(inside, shape, batch)
    for dim in split:
        if dim not in positioned:  # every index takes element 0: the first shard has it
            first = emit.compare(
                ctx.index_along(layout, dim),
                emit.position(0),
                ComparisonDirection.EQ,
            )
            inside = emit.both(inside, emit.broadcast(first, shape))
    zeros = emit.splat(-0.0, element_of(result.value), shape)
    return [Local(emit.select(inside, result.value, zeros), result.layout)]


def scatter(ctx: Localizer, op: stablehlo.ScatterOp) -> None:
    """Batches and whole window dimensions that no index moves split freely.

    Along an indexed dimension each device writes what falls into its shard. If the
    updates themselves are split, devices hold partial results that combine as the
    update computation does; the input is then counted once.
    """
    count = len(op.inputs)
    combine = combiner_of(op.update_computation) if count == 1 else None
    dims = op.scatter_dimension_numbers.data
    division = division_of(ctx, op)

    def write(operands: list[Local], plan: Plan) -> list[Local]:
        layout, indices = operands[0].placed, operands[count]
        changed: dict[str, Attribute] = {}
        if any(layout.axes[dim] for dim in dims.inserted_window_dims):
            places = local_indices(
                ctx,
                as_positions(ctx.emitter, indices.value),
                dims.index_vector_dim,
                dims.scatter_dims_to_operand_dims,
                _only_split(layout, dims.inserted_window_dims),
            )
            operands[count] = Local(places, indices.layout)
            changed["indices_are_sorted"] = FALSE
        if combine:
            operands[0] = counted_once(
                ctx, operands[0], plan.mesh, plan.partial, combine
            )
        return ctx.rebuild(op, operands, plan.results, changed)

    result_factors = {factor for dim in division.rule.results[0] for factor in dim}
    whole = () if combine else division.local - result_factors
    localize_by_factors(ctx, op, division, whole=whole, combine=combine, write=write)


def _only_split(layout: Layout, dims: Collection[int]) -> Layout:
    """Return the layout with none but these dimensions split."""
    return layout.with_axes(
        axes if dim in dims else () for dim, axes in enumerate(layout.axes)
    )


LOCALIZERS: Table = {
    stablehlo.DynamicSliceOp: dynamic_slice,
    stablehlo.DynamicUpdateSliceOp: dynamic_update_slice,
    stablehlo.GatherOp: gather,
    stablehlo.ScatterOp: scatter,
}
