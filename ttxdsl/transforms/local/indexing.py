"""Ops whose positions are data: slices at computed starts, gathers and scatters.

Where a positioned dimension is split, each device subtracts where its shard starts
and does what falls into it: a gather answers zero for the rest and the answers are
added up, a scatter and an update leave the rest alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from xdsl.dialects.builtin import BoolAttr, i64
from xdsl.ir import Attribute, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.transforms.local.by_factors import (
    Plan,
    finish,
    localize_except,
    plan,
    to_layout,
)
from ttxdsl.transforms.local.combiner import SUM, Combiner, combiner_of
from ttxdsl.transforms.local.emitter import (
    INDEX,
    Emitter,
    dims_attr,
    is_wider_than_index,
)
from ttxdsl.transforms.local.layout import Layout
from ttxdsl.transforms.local.localizer import Local, Localizer, Table
from ttxdsl.transforms.local.reduction import counted_once

GE, LT = ComparisonDirection.GE, ComparisonDirection.LT
FALSE = BoolAttr.from_bool(False)


def dynamic_slice(ctx: Localizer, op: stablehlo.DynamicSliceOp) -> None:
    """Dimensions that are taken whole split freely: they start at 0 on every device."""
    shape, sizes = shape_of(op.operand), op.slice_sizes.get_values()
    touched = [dim for dim, size in enumerate(shape) if size != sizes[dim]]

    def properties(decided: Plan) -> Mapping[str, Attribute]:
        (result,) = decided.results
        assert result is not None
        return {"slice_sizes": dims_attr(result.local_shape)}

    localize_except(ctx, op, touched, properties)


def dynamic_update_slice(ctx: Localizer, op: stablehlo.DynamicUpdateSliceOp) -> None:
    """Dimensions that are overwritten whole split freely.

    Along the others operand and result may be split, alike: each device writes the
    part of the update that falls into its shard. The update is whole there.
    """
    shape, update_shape = shape_of(op.operand), shape_of(op.update)
    rank = len(shape)
    partly = [dim for dim in range(rank) if shape[dim] != update_shape[dim]]
    whole = tuple((dim,) for dim in range(rank))
    of_update = tuple((rank + dim if dim in partly else dim,) for dim in range(rank))
    scalars = ((),) * len(op.start_indices)
    rule = OpShardingRule(
        (*shape, *update_shape), (whole, of_update, *scalars), (whole,)
    )
    operands = ctx.operands(op)
    target = ctx.target(op.result)
    before = operands[0].placed
    alike = {
        dim
        for dim in range(rank)
        if target is not None and target.axes[dim] == before.axes[dim]
    }
    layouts = [local.layout for local in operands]
    decided = plan(
        ctx,
        op,
        rule,
        layouts,
        [target],
        lambda factor: factor < rank and (factor in alike or factor not in partly),
    )
    gathered = [
        to_layout(ctx, local, layout)
        for local, layout in zip(operands, decided.operands, strict=True)
    ]
    split = [dim for dim in partly if gathered[0].placed.axes[dim]]
    if split:
        value = _update_shards(ctx, gathered, split)
        made = [Local(value, gathered[0].layout)]
    else:
        made = ctx.rebuild(op, gathered, decided.results)
    finish(ctx, op, rule, layouts, [target], decided, made, None)


def _update_shards(
    ctx: Localizer, operands: Sequence[Local], split: Sequence[int]
) -> SSAValue:
    """Write the part of an update that falls into this device's shard.

    Along each split dimension the update is laid out as the shard is: padded by a
    whole shard on both sides, then cut where the shard starts.

    Args:
        ctx: the localizer.
        operands: of the `dynamic_update_slice`; the update is whole along `split`.
        split: the partly overwritten dimensions that are split.
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
        ctx: the localizer.
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


def _gather_rule(op: stablehlo.GatherOp) -> tuple[OpShardingRule, dict[int, int]]:
    """The factors of a gather, and which factor each positioned dimension has alone.

    Returns:
        A rule, and from operand dimensions of slice size 1 to their factors.
    """
    numbers = op.dimension_numbers
    shape, indices = shape_of(op.operand), shape_of(op.start_indices)
    result, sizes = shape_of(op.result), op.slice_sizes.get_values()
    factors: list[int] = []

    def factor(size: int) -> tuple[int, ...]:
        factors.append(size)
        return (len(factors) - 1,)

    of_indices = {
        dim: factor(size)
        for dim, size in enumerate(indices)
        if dim != numbers.index_vector_dim
    }
    vector = factor(1)
    batching = dict(
        zip(
            numbers.operand_batching_dims,
            numbers.start_indices_batching_dims,
            strict=True,
        )
    )
    of_operand: list[tuple[int, ...]] = []
    of_result: dict[int, tuple[int, ...]] = {}
    offsets = iter(numbers.offset_dims)
    alone: dict[int, int] = {}
    for dim, size in enumerate(shape):
        if dim in batching:
            of_operand.append(of_indices[batching[dim]])
            continue
        own = factor(size)
        of_operand.append(own)
        if dim not in numbers.collapsed_slice_dims:
            place = next(offsets)
            whole = sizes[dim] == size
            of_result[place] = own if whole else factor(result[place])
            if not whole and sizes[dim] == 1:
                alone[dim] = own[0]
        else:
            alone[dim] = own[0]
    batch = iter(of_indices.values())
    mapped = tuple(
        of_result[dim] if dim in of_result else next(batch)
        for dim in range(len(result))
    )
    of_vector = tuple(of_indices.get(dim, vector) for dim in range(len(indices)))
    rule = OpShardingRule(tuple(factors), (tuple(of_operand), of_vector), (mapped,))
    return rule, alone


def gather(ctx: Localizer, op: stablehlo.GatherOp) -> None:
    """Batches and whole window dimensions split freely.

    Along a dimension of which each index takes one element, each device answers for
    the indices in its shard and with zero for the others: partial sums.
    """
    numbers = op.dimension_numbers
    rule, alone = _gather_rule(op)
    singles = set(alone.values())
    in_result = {factor for dim in rule.results[0] for factor in dim}
    in_operands = {f for tensor in rule.operands for dim in tensor for f in dim}
    operands = ctx.operands(op)
    layouts = [local.layout for local in operands]
    wanted = [ctx.target(op.result)]
    vector = (
        rule.operands[1][numbers.index_vector_dim]
        if numbers.index_vector_dim < len(rule.operands[1])
        else ()
    )
    decided = plan(
        ctx,
        op,
        rule,
        layouts,
        [ctx.target(op.result)],
        lambda f: (
            (f in singles or (f in in_result and f in in_operands)) and f not in vector
        ),
    )
    operand, indices = (
        to_layout(ctx, local, layout)
        for local, layout in zip(operands, decided.operands, strict=True)
    )
    sizes = op.slice_sizes.get_values()
    layout = operand.placed
    local_sizes = [
        local if size == whole else size
        for size, whole, local in zip(
            sizes, layout.shape, layout.local_shape, strict=True
        )
    ]
    properties: dict[str, Attribute] = {"slice_sizes": dims_attr(local_sizes)}
    split = [dim for dim in alone if layout.axes[dim]]
    if not split:
        made = ctx.rebuild(op, [operand, indices], decided.results, properties)
    else:
        made = _gather_shards(ctx, op, operand, indices, decided, properties, split)
    finish(ctx, op, rule, layouts, wanted, decided, made, SUM, singles)


def _gather_shards(
    ctx: Localizer,
    op: stablehlo.GatherOp,
    operand: Local,
    indices: Local,
    decided: Plan,
    properties: Mapping[str, Attribute],
    split: Sequence[int],
) -> list[Local]:
    """What falls into this device's shard along `split`, and zeros."""
    emit = ctx.emitter
    numbers = op.dimension_numbers
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
    zeros = emit.splat(0, element_of(result.value), shape)
    return [Local(emit.select(inside, result.value, zeros), result.layout)]


def _scatter_rule(
    op: stablehlo.ScatterOp,
) -> tuple[OpShardingRule, set[int], set[int], set[int]]:
    """The factors of a scatter.

    Returns:
        A rule; the factors that pass through; those of indexed input dimensions that
        updates have no part of; and those of updates that no input has.
    """
    numbers = op.scatter_dimension_numbers
    shape = shape_of(op.inputs[0])
    indices, update = shape_of(op.scatter_indices), shape_of(op.updates[0])
    factors: list[int] = []

    def factor(size: int) -> tuple[int, ...]:
        factors.append(size)
        return (len(factors) - 1,)

    of_indices = {
        dim: factor(size)
        for dim, size in enumerate(indices)
        if dim != numbers.index_vector_dim
    }
    vector = factor(1)
    batching = dict(
        zip(
            numbers.input_batching_dims,
            numbers.scatter_indices_batching_dims,
            strict=True,
        )
    )
    passing = {of_indices[dim][0] for dim in batching.values()}
    contributing = {own[0] for own in of_indices.values()} - passing
    indexed: set[int] = set()
    of_input: list[tuple[int, ...]] = []
    of_update: dict[int, tuple[int, ...]] = {}
    windows = iter(numbers.update_window_dims)
    for dim, size in enumerate(shape):
        if dim in batching:
            of_input.append(of_indices[batching[dim]])
            continue
        own = factor(size)
        of_input.append(own)
        if dim in numbers.inserted_window_dims:
            if dim in numbers.scatter_dims_to_operand_dims:
                indexed.add(own[0])
            continue
        place = next(windows)
        whole = update[place] == size
        of_update[place] = own if whole else factor(update[place])
        # a window that an index moves sticks out, but what is inside is written
        if whole and dim not in numbers.scatter_dims_to_operand_dims:
            passing.add(own[0])
    batch = iter(of_indices.values())
    of_updates = tuple(
        of_update[dim] if dim in of_update else next(batch)
        for dim in range(len(update))
    )
    count = len(op.inputs)
    inputs = (tuple(of_input),) * count
    of_vector = tuple(of_indices.get(dim, vector) for dim in range(len(indices)))
    rule = OpShardingRule(
        tuple(factors), (*inputs, of_vector, *((of_updates,) * count)), inputs
    )
    return rule, passing, indexed, contributing


def scatter(ctx: Localizer, op: stablehlo.ScatterOp) -> None:
    """Batches and whole window dimensions that no index moves split freely.

    Along an indexed dimension each device writes what falls into its shard. If the
    updates themselves are split, devices hold partial results that combine as the
    update computation does; the input is then counted once.
    """
    rule, passing, indexed, contributing = _scatter_rule(op)
    count = len(op.inputs)
    combine = combiner_of(op.update_computation) if count == 1 else None
    local_factors = passing | indexed | (contributing if combine else set[int]())
    operands = ctx.operands(op)
    layouts = [local.layout for local in operands]
    wanted = [ctx.target(result) for result in op.results]
    decided = plan(ctx, op, rule, layouts, wanted, lambda f: f in local_factors)
    gathered = [
        to_layout(ctx, local, layout)
        for local, layout in zip(operands, decided.operands, strict=True)
    ]
    layout = gathered[0].placed
    dims = op.scatter_dimension_numbers
    properties: dict[str, Attribute] = {}
    if any(layout.axes[d] for d in dims.inserted_window_dims):
        places = local_indices(
            ctx,
            as_positions(ctx.emitter, gathered[count].value),
            dims.index_vector_dim,
            dims.scatter_dims_to_operand_dims,
            _only_split(layout, dims.inserted_window_dims),
        )
        gathered[count] = Local(places, gathered[count].layout)
        properties["indices_are_sorted"] = FALSE
    if decided.partial and decided.mesh and combine:
        gathered[0] = _input_once(ctx, gathered[0], decided, combine)
    made = ctx.rebuild(op, gathered, decided.results, properties)
    finish(ctx, op, rule, layouts, wanted, decided, made, combine, contributing)


def _only_split(layout: Layout, dims: Collection[int]) -> Layout:
    """The layout with none but these dimensions split."""
    return layout.with_axes(
        axes if dim in dims else () for dim, axes in enumerate(layout.axes)
    )


def _input_once(
    ctx: Localizer, value: Local, decided: Plan, combine: Combiner
) -> Local:
    """The input of a scatter with partial results, so that it counts once."""
    neutral = combine.neutral
    if combine.is_idempotent or neutral is None or decided.mesh is None:
        return value
    return counted_once(ctx, value, decided.mesh, decided.partial, neutral)


LOCALIZERS: Table = {
    stablehlo.DynamicSliceOp: dynamic_slice,
    stablehlo.DynamicUpdateSliceOp: dynamic_update_slice,
    stablehlo.GatherOp: gather,
    stablehlo.ScatterOp: scatter,
}
