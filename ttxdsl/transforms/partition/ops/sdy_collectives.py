"""Conversion of `sdy` collectives, which change shardings, to StableHLO's."""

from dataclasses import replace

from xdsl.ir import SSAValue

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import Axes, sort_by_mesh, subtract
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.reshard import collectives
from ttxdsl.transforms.partition.exchange.combiner import COMBINERS, SUM
from ttxdsl.transforms.partition.exchange.summands import (
    as_parts,
    summed,
    unreduced_parts,
)
from ttxdsl.transforms.partition.layout import unreduced_axes, without_trivial
from ttxdsl.transforms.partition.localizer import (
    Local,
    Localizer,
    Partial,
    Table,
    is_barrier,
)


def _text(axes: Axes) -> str:
    return "{" + ", ".join(str(axis) for axis in axes) + "}"


def _per_dim(axes_per_dim: tuple[Axes, ...], mesh: Mesh) -> tuple[Axes, ...]:
    return tuple(without_trivial(axes, mesh) for axes in axes_per_dim)


def _source(op: sdy.CollectiveOp) -> SSAValue:
    """Return the value that a collective moves; stage 10 planned it behind barriers."""
    return sdy.behind_barriers(op.tensor)


def _placed_operand(ctx: Localizer, op: sdy.CollectiveOp) -> Local:
    """The operand in its own sharding, which nobody moved a barrier's value to."""
    local = ctx.operand(_source(op), op)
    return (
        ctx.reshard_to(local, ctx.target(op.tensor)) if is_barrier(op.tensor) else local
    )


def _finish(ctx: Localizer, op: sdy.CollectiveOp, local: Local) -> None:
    """Define the result; check that it has the sharding of the op."""
    target = ctx.target(op.result)
    if target is None or not local.placed.same_placement(target):
        raise CompileError(
            f"its axes lead to {local.placed}, its out_sharding says {target}", op
        )
    ctx.define(op.result, local)


def _moved_otherwise(ctx: Localizer, op: sdy.CollectiveOp, local: Local) -> bool:
    """Step over uneven shards between two even layouts; whether that was to be done.

    The way from one even layout to another that stage 10 found may lead over one that
    is not. Nothing moves until the next even one, which is then reached another way.
    """
    if ctx.is_wanted_uneven(op.result):
        ctx.define(op.result, replace(local, deferred=True))
        return True
    if local.deferred:
        local = replace(local, deferred=False)
        ctx.define(op.result, ctx.reshard_to(local, ctx.target(op.result)))
        return True
    return False


def _move(ctx: Localizer, op: sdy.CollectiveOp, step: collectives.Collective) -> None:
    local = ctx.operand(_source(op), op)
    if _moved_otherwise(ctx, op, local):
        return
    try:
        moved = ctx.step(local, step)
    except ValueError as error:
        raise CompileError(str(error), op) from error
    _finish(ctx, op, moved)


def all_gather(ctx: Localizer, op: sdy.AllGatherOp) -> None:
    """Write one `stablehlo.all_gather` for each axis, minor axes first."""
    mesh = ctx.local(_source(op)).placed.mesh
    _move(ctx, op, collectives.AllGather(_per_dim(op.gathering_axes.data, mesh)))


def all_slice(ctx: Localizer, op: sdy.AllSliceOp) -> None:
    """One composite an axis, major ones first; no communication."""
    mesh = ctx.local(_source(op)).placed.mesh
    _move(ctx, op, collectives.AllSlice(_per_dim(op.slicing_axes.data, mesh)))


def all_to_all(ctx: Localizer, op: sdy.AllToAllOp) -> None:
    """One `stablehlo.all_to_all` a pair of dimensions."""
    mesh = ctx.local(_source(op)).placed.mesh
    moves = tuple(
        collectives.AllToAllParam(axes, param.src_dim, param.tgt_dim)
        for param in op.params.data
        if (axes := without_trivial(param.axes, mesh))
    )
    _move(ctx, op, collectives.AllToAll(moves))


def collective_permute(ctx: Localizer, op: sdy.CollectivePermuteOp) -> None:
    """Source-target pairs from where shards are to where they shall be."""
    local = ctx.operand(_source(op), op)
    if _moved_otherwise(ctx, op, local):
        return
    target = ctx.target(op.result)
    before = local.placed
    if target is None or target.local_shape != before.local_shape:
        raise CompileError(
            f"cannot permute shards of {before} into those of {target}", op
        )
    step = collectives.CollectivePermute(target.axes, target.mesh)
    moved = ctx.step(local, step)
    permuted = replace(local, value=moved.value, layout=target, moved=moved.moved)
    ctx.define(op.result, permuted)


def _to_combine(op: sdy.CombiningOp, local: Local, axes: Axes) -> Axes:
    """Those of `axes` along which there still is something to combine.

    Nothing is where a sharding calls unreduced what is whole on every device.

    Raises:
        CompileError: if along some of them nobody left partial results, or such as
            another function combines. Sums are not said: they may be what a program of
            jaxlib 0.10 leaves to the op that made the parts.
    """
    combine = COMBINERS[op.reduction]
    if combine != SUM and local.partial and local.partial.combine != combine:
        raise CompileError(
            f"it combines by {op.reduction.value} what"
            f" '{local.partial.combine.op_class.name}' combines",
            op,
        )
    mesh = local.placed.mesh
    pending = subtract(axes, local.complete, mesh)
    partial = local.partial.axes if local.partial else ()
    unknown = subtract(pending, partial, mesh)
    declared = unreduced_axes(sdy.get_sharding(op.tensor), mesh)
    if subtract(unknown, declared, mesh):
        raise CompileError(
            f"no op before it leaves partial results along {_text(unknown)}, "
            "so what to combine, and by which function, is not known",
            op,
            hint="it must follow the op whose sharded reduction it completes",
        )
    return subtract(pending, unknown, mesh)


def _combined(local: Local, axes: Axes) -> Local:
    """Return the same with nothing left to combine along `axes`."""
    mesh = local.placed.mesh
    partial = local.partial
    if partial is not None:
        left = subtract(partial.axes, axes, mesh)
        partial = Partial(left, partial.combine) if left else None
    return replace(
        local, partial=partial, complete=subtract(local.complete, axes, mesh)
    )


def all_reduce(ctx: Localizer, op: sdy.AllReduceOp) -> None:
    """Combine by the function of the op that made the partial results."""
    local = ctx.local(_source(op))
    if local.partial is None and is_barrier(op.tensor):
        local = ctx.reshard_to(local, ctx.target(op.result))
    mesh = local.placed.mesh
    axes = without_trivial(op.reduction_axes.data, mesh)
    pending = sort_by_mesh(_to_combine(op, local, axes), mesh)
    if pending and local.partial:
        value = ctx.collectives.all_reduce(
            local.value, mesh, pending, local.partial.combine
        )
        local = replace(local, value=value)
    _finish(ctx, op, _combined(local, axes))


def reduce_scatter(ctx: Localizer, op: sdy.ReduceScatterOp) -> None:
    """Combine and split; where nothing is left to combine, only split."""
    local = ctx.local(_source(op))
    mesh = local.placed.mesh
    for dim, axes in enumerate(_per_dim(op.reduce_scatter_axes.data, mesh)):
        for axis in axes:
            layout = local.placed
            after = layout.with_dim(dim, (*layout.axes[dim], axis))
            pending = _to_combine(op, local, (axis,))
            if pending == (axis,) and local.partial:
                value = ctx.collectives.reduce_scatter(
                    local.value, mesh, dim, axis, local.partial.combine
                )
            elif not pending:
                value = ctx.slice(local, dim, (axis,)).value
            else:
                raise CompileError(f"{axis} is only partly left to combine", op)
            local = _combined(replace(local, value=value, layout=after), (axis,))
    _finish(ctx, op, local)


def replicated_to_unreduced(ctx: Localizer, op: sdy.ReplicatedToUnreducedOp) -> None:
    """The first device along the axes keeps the value, the others hold zero."""
    local = _placed_operand(ctx, op)
    axes = without_trivial(op.axes.data, local.placed.mesh)
    combine = COMBINERS[op.out_sharding.data.reduction]
    _finish(ctx, op, as_parts(ctx, local, Partial(axes, combine) if axes else None))


def sharded_to_unreduced(ctx: Localizer, op: sdy.ShardedToUnreducedOp) -> None:
    """Every device puts its shard at its place among zeros.

    Only sums have a number that changes nothing in every type: for maxima and minima
    shards are gathered, since copies are parts of them.
    """
    local = _placed_operand(ctx, op)
    mesh, emit = local.placed.mesh, ctx.emitter
    axes_per_dim = _per_dim(op.axes.data, mesh)
    layout = ctx.target(op.result)
    moved = tuple(axis for axes in axes_per_dim for axis in axes)
    parts = unreduced_parts(op.out_sharding.data, mesh)
    if parts is not None and parts.combine.is_idempotent:
        local = replace(ctx.reshard_to(local, layout), partial=parts)
    elif moved and layout is not None:
        zeros = emit.splat(-0.0, element_of(local.value), layout.local_shape)
        starts = [
            emit.scaled(
                ctx.collectives.index_along(mesh, axes), shape_of(local.value)[dim]
            )
            for dim, axes in enumerate(axes_per_dim)
        ]
        value = emit.dynamic_update_slice(zeros, local.value, starts)
        local = Local(value, layout, summed(sort_by_mesh(moved, mesh)))
    _finish(ctx, op, local)


LOCALIZERS: Table = {
    sdy.AllGatherOp: all_gather,
    sdy.AllSliceOp: all_slice,
    sdy.AllToAllOp: all_to_all,
    sdy.CollectivePermuteOp: collective_permute,
    sdy.AllReduceOp: all_reduce,
    sdy.ReduceScatterOp: reduce_scatter,
    sdy.ReplicatedToUnreducedOp: replicated_to_unreduced,
    sdy.ShardedToUnreducedOp: sharded_to_unreduced,
}
