"""Ops with bodies of their own, and ops that only pass values on.

What flows into a block argument, out of a body, or through a barrier lies as the
op's result does; where it does not, it is resharded on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation, Region

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.errors import CompileError, UnsupportedError
from ttxdsl.transforms.local.layout import Layout
from ttxdsl.transforms.local.localizer import (
    Local,
    Localizer,
    Table,
    is_kept_consistent,
    local_type,
)


def _rewrite_block(
    ctx: Localizer,
    block: Block,
    arguments: Sequence[Layout | None],
    returned: Sequence[Layout | None],
) -> Block:
    """The local form of a block that ends in `stablehlo.return`."""
    new = Block(
        arg_types=[
            local_type(argument.type, layout)
            for argument, layout in zip(block.args, arguments, strict=True)
        ]
    )
    for old, argument, layout in zip(block.args, new.args, arguments, strict=True):
        argument.location = old.location
        ctx.define(old, Local(argument, layout))
    end = block.last_op
    if end is None:
        raise CompileError("a body has no terminator", block.parent_op())
    location = ctx.emitter.location
    with ctx.inside(new):
        ctx.localize_ops(op for op in block.ops if op is not end)
        ctx.emitter.location = end.location
        values = [
            ctx.reshard_to(ctx.operand(value, end), layout)
            for value, layout in zip(end.operands, returned, strict=True)
        ]
        ctx.emitter.emit(type(end), [local.value for local in values], [])
    ctx.emitter.location = location
    return new


def while_(ctx: Localizer, op: stablehlo.WhileOp) -> None:
    """What the loop carries keeps one layout, that of its results."""
    carried = [ctx.target(result) for result in op.results]
    operands = [
        ctx.reshard_to(local, layout)
        for local, layout in zip(ctx.operands(op), carried, strict=True)
    ]
    scalar = Layout.replicated(ctx.mesh, ())
    regions = [
        Region(_rewrite_block(ctx, op.cond.block, carried, [scalar])),
        Region(_rewrite_block(ctx, op.body.block, carried, carried)),
    ]
    made = ctx.rebuild(op, operands, carried, regions=regions)
    ctx.define_results(op, made)


def branches(ctx: Localizer, op: stablehlo.CaseOp | stablehlo.IfOp) -> None:
    """All branches return values of one layout; all devices take the same branch."""
    wanted = [ctx.target(result) for result in op.results]
    operands = [ctx.gather_all(local) for local in ctx.operands(op)]
    regions = [
        Region(_rewrite_block(ctx, region.block, [], wanted)) for region in op.regions
    ]
    ctx.define_results(op, ctx.rebuild(op, operands, wanted, regions=regions))


def barrier(ctx: Localizer, op: stablehlo.OptimizationBarrierOp) -> None:
    """Each result is its operand."""
    operands = ctx.operands(op)
    made = ctx.rebuild(op, operands, [local.layout for local in operands])
    ctx.define_results(op, made)


def data_flow_edge(ctx: Localizer, op: sdy.DataFlowEdgeOp) -> None:
    """Says something about its operand and answers with it."""
    ctx.define_results(op, ctx.operands(op))


def propagation_barrier(ctx: Localizer, op: sdy.PropagationBarrierOp) -> None:
    """Answers with its operand, moved to the barrier's sharding if anybody looks.

    Ops whose shardings agree by their rule look through the barrier instead.
    """
    if not all(is_kept_consistent(use.operation) for use in op.result.uses):
        ctx.define_results(op, ctx.operands(op))


def nothing(ctx: Localizer, op: sdy.ShardingGroupOp) -> None:
    """Says something about propagation, which is over."""


def unresolved(ctx: Localizer, op: sdy.ReshardOp | sdy.ShardingConstraintOp) -> None:
    """Should be collectives by now; one that changes nothing is let through.

    Raises:
        CompileError: if it changes where data is.
    """
    (local,) = ctx.operands(op)
    target = ctx.target(op.result)
    if target is not None and not local.placed.same_placement(target):
        raise CompileError(
            "must become a collective before types become local",
            op,
            hint="run sdy-sharding-constraint-to-reshard and "
            "sdy-reshard-to-collectives before this pass",
        )
    ctx.define(op.result, local)


def _inline(
    ctx: Localizer,
    block: Block,
    arguments: Sequence[Local],
    returned: Sequence[Layout | None],
) -> list[Local]:
    """Write a body's ops where its op stands."""
    for old, local in zip(block.args, arguments, strict=True):
        ctx.define(old, local)
    end = block.last_op
    if not isinstance(end, sdy.ReturnOp):
        raise CompileError("a body does not end in sdy.return", block.parent_op())
    ctx.localize_ops(op for op in block.ops if op is not end)
    ctx.emitter.location = end.location
    return [
        ctx.reshard_to(ctx.operand(value, end), layout)
        for value, layout in zip(end.operands, returned, strict=True)
    ]


def named_computation(ctx: Localizer, op: sdy.NamedComputationOp) -> None:
    """Its body, with values resharded at its border."""
    operands = ctx.operands(op)
    ins = [
        ctx.layout_of(argument.type, sdy.get_sharding(argument), op)
        for argument in op.body.block.args
    ]
    outs = [ctx.target(result) for result in op.results]
    arguments = [
        ctx.reshard_to(local, layout)
        for local, layout in zip(operands, ins, strict=True)
    ]
    values = _inline(ctx, op.body.block, arguments, outs)
    ctx.define_results(op, values)


def manual_computation(ctx: Localizer, op: sdy.ManualComputationOp) -> None:
    """The body of one inside the program: it is already local along its manual axes.

    Values are resharded at its border to what its shardings say; inside, only the
    free axes are left to make local.
    """
    operands = ctx.operands(op)
    block = op.body.block
    ins = [
        ctx.layout_of(value.type, sharding, op)
        for value, sharding in zip(op.operands, op.in_shardings.data, strict=True)
    ]
    outs = [
        ctx.layout_of(value.type, sharding, op)
        for value, sharding in zip(op.results, op.out_shardings.data, strict=True)
    ]
    arguments = [
        ctx.reshard_to(local, layout)
        for local, layout in zip(operands, ins, strict=True)
    ]
    end = block.last_op
    with ctx.manual(op.manual_axes.data):
        inner_ins = [
            ctx.layout_of(argument.type, sharding, op)
            for argument, sharding in zip(block.args, op.in_shardings.data, strict=True)
        ]
        inner_outs = [
            ctx.layout_of(value.type, sharding, op)
            for value, sharding in zip(
                end.operands if end else (), op.out_shardings.data, strict=True
            )
        ]
        values = _inline(
            ctx,
            block,
            [
                Local(local.value, layout)
                for local, layout in zip(arguments, inner_ins, strict=True)
            ],
            inner_outs,
        )
    ctx.define_results(
        op,
        [
            Local(local.value, layout)
            for local, layout in zip(values, outs, strict=True)
        ],
    )


def call(ctx: Localizer, op: CallOp) -> None:
    """Functions do not know how their callers shard.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        f"a call of '@{op.callee.string_value()}' cannot be made local",
        op,
        hint="run the inline pass first",
    )


def as_it_is(ctx: Localizer, op: Operation) -> None:
    """A collective that the program itself wrote, between shards as it has them.

    Its groups and sizes are the program's; only types become local.
    """
    targets = [ctx.target(result) for result in op.results]
    for result, made in zip(
        op.results, ctx.rebuild(op, ctx.operands(op), targets), strict=True
    ):
        ctx.define(result, made)


def place_of_device(
    ctx: Localizer, op: stablehlo.PartitionIdOp | stablehlo.ReplicaIdOp
) -> None:
    """What a program that is already per device knows of its place.

    Raises:
        UnsupportedError: in a global program, of which there are not several.
    """
    if not ctx.is_manual and ctx.mesh.total_size > 1:
        raise UnsupportedError(
            "has no meaning in a program that all devices run as one",
            op,
            hint="use it inside of an sdy.manual_computation (JAX: shard_map)",
        )
    as_it_is(ctx, op)


LOCALIZERS: Table = {
    stablehlo.WhileOp: while_,
    stablehlo.CaseOp: branches,
    stablehlo.IfOp: branches,
    stablehlo.OptimizationBarrierOp: barrier,
    sdy.DataFlowEdgeOp: data_flow_edge,
    sdy.PropagationBarrierOp: propagation_barrier,
    sdy.ShardingGroupOp: nothing,
    sdy.ReshardOp: unresolved,
    sdy.ShardingConstraintOp: unresolved,
    sdy.NamedComputationOp: named_computation,
    sdy.ManualComputationOp: manual_computation,
    CallOp: call,
    stablehlo.AllGatherOp: as_it_is,
    stablehlo.AllReduceOp: as_it_is,
    stablehlo.AllToAllOp: as_it_is,
    stablehlo.CollectiveBroadcastOp: as_it_is,
    stablehlo.CollectivePermuteOp: as_it_is,
    stablehlo.CrossReplicaSumOp: as_it_is,
    stablehlo.ReduceScatterOp: as_it_is,
    stablehlo.PartitionIdOp: place_of_device,
    stablehlo.ReplicaIdOp: place_of_device,
}
