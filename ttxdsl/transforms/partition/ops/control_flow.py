"""Ops with bodies of their own, and ops that only pass values on.

What flows into a block argument, out of a body, or through a barrier lies as the
op's result does; where it does not, it is resharded on the way.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.replica_groups import device_groups
from ttxdsl.dialects.traits import Collective, ops_with
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.without import WITHOUT_RULE
from ttxdsl.sharding.manual import without_manual_axes
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.devices import shard_index_of_device
from ttxdsl.transforms.partition.exchange.summands import bring, unreduced_parts
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.partition.localizer import (
    Local,
    Localizer,
    Table,
    is_kept_consistent,
    local_type,
    sources,
)
from ttxdsl.transforms.partition.ops.opaque import replicated


class _Border(NamedTuple):
    """The layout and sharding with which a value crosses the border of a body."""

    layout: Layout | None
    sharding: TensorSharding | None

    @staticmethod
    def of(ctx: Localizer, results: Iterable[SSAValue]) -> "list[_Border]":
        """Return the borders that the results of an op define."""
        return [
            _Border(ctx.target(result), sdy.get_sharding(result)) for result in results
        ]

    def take(self, ctx: Localizer, value: SSAValue, where: Operation) -> Local:
        """Return a value in the layout of the border."""
        return bring(ctx, value, self.layout, self.sharding, where)

    def local(self, value: SSAValue) -> Local:
        """Return the local part of a value after it crossed."""
        if self.layout is None:
            return Local(value, None)
        parts = unreduced_parts(self.sharding, self.layout.mesh)
        return Local(value, self.layout, parts)


def _rewrite_block(
    ctx: Localizer,
    block: Block,
    arguments: Sequence[_Border],
    returned: Sequence[_Border],
) -> Block:
    """Return the local form of a block that ends in `stablehlo.return`."""
    new = Block(
        arg_types=[
            local_type(argument.type, border.layout)
            for argument, border in zip(block.args, arguments, strict=True)
        ]
    )
    for old, argument, border in zip(block.args, new.args, arguments, strict=True):
        argument.location = old.location
        ctx.define(old, border.local(argument))
    end = block.last_op
    if end is None:
        raise CompileError("a body has no terminator", block.parent_op())
    location = ctx.emitter.location
    with ctx.inside(new):
        ctx.localize_ops(op for op in block.ops if op is not end)
        ctx.emitter.location = end.location
        values = [
            border.take(ctx, value, end)
            for value, border in zip(end.operands, returned, strict=True)
        ]
        ctx.emitter.emit(type(end), [local.value for local in values], [])
    ctx.emitter.location = location
    return new


def while_(ctx: Localizer, op: stablehlo.WhileOp) -> None:
    """Partition a loop; its carries keep the layouts of its results."""
    carried = _Border.of(ctx, op.results)
    operands = [
        border.take(ctx, value, op)
        for value, border in zip(sources(op), carried, strict=True)
    ]
    scalar = _Border(Layout.replicated(ctx.mesh, ()), None)
    regions = [
        Region(_rewrite_block(ctx, op.cond.block, carried, [scalar])),
        Region(_rewrite_block(ctx, op.body.block, carried, carried)),
    ]
    _define(ctx, op, operands, carried, regions)


def _define(
    ctx: Localizer,
    op: Operation,
    operands: Sequence[Local],
    results: Sequence[_Border],
    regions: Sequence[Region],
) -> None:
    """Write an op whose results have the layouts of their borders."""
    layouts = [border.layout for border in results]
    locals_ = ctx.rebuild(op, operands, layouts, regions=regions)
    for result, border, local in zip(op.results, results, locals_, strict=True):
        ctx.define(result, border.local(local.value))


def branches(ctx: Localizer, op: stablehlo.CaseOp | stablehlo.IfOp) -> None:
    """All branches return values of one layout; all devices take the same branch."""
    wanted = _Border.of(ctx, op.results)
    operands = [ctx.gather_all(local) for local in ctx.operands(op)]
    regions = [
        Region(_rewrite_block(ctx, region.block, [], wanted)) for region in op.regions
    ]
    _define(ctx, op, operands, wanted, regions)


def barrier(ctx: Localizer, op: stablehlo.OptimizationBarrierOp) -> None:
    """Each result is its operand."""
    operands = ctx.parts(op)
    borders = _Border.of(ctx, op.results)
    if any(local.partial is not None for local in operands):
        operands = [
            border.take(ctx, value, op)
            for value, border in zip(sources(op), borders, strict=True)
        ]
        locals_ = ctx.rebuild(op, operands, [local.layout for local in operands])
        for result, border, local in zip(op.results, borders, locals_, strict=True):
            ctx.define(result, border.local(local.value))
        return
    locals_ = ctx.rebuild(op, operands, [local.layout for local in operands])
    ctx.define_results(op, locals_)


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
    """Drop an op that only guides propagation."""


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
    returned: Sequence[_Border],
) -> list[Local]:
    """Inline the ops of a body before its op."""
    for old, local in zip(block.args, arguments, strict=True):
        ctx.define(old, local)
    end = block.last_op
    if not isinstance(end, sdy.ReturnOp):
        raise CompileError("a body does not end in sdy.return", block.parent_op())
    ctx.localize_ops(op for op in block.ops if op is not end)
    ctx.emitter.location = end.location
    return [
        border.take(ctx, value, end)
        for value, border in zip(end.operands, returned, strict=True)
    ]


def named_computation(ctx: Localizer, op: sdy.NamedComputationOp) -> None:
    """Its body, with values resharded at its border."""
    arguments: list[Local] = []
    for argument, value in zip(op.body.block.args, sources(op), strict=True):
        sharding = sdy.get_sharding(argument)
        border = _Border(ctx.layout_of(argument.type, sharding, op), sharding)
        arguments.append(border.take(ctx, value, op))
    values = _inline(ctx, op.body.block, arguments, _Border.of(ctx, op.results))
    for result, local in zip(op.results, values, strict=True):
        ctx.define(result, local)


def manual_computation(ctx: Localizer, op: sdy.ManualComputationOp) -> None:
    """Partition a manual computation of the program itself.

    Its body is local along its manual axes. Values are resharded at its border; inside,
    only the free axes are made local.
    """
    block, manual = op.body.block, op.manual_axes.data
    outside = [
        [
            _Border(ctx.layout_of(value.type, sharding, op), sharding)
            for value, sharding in zip(values, shardings.data, strict=True)
        ]
        for values, shardings in (
            (op.operands, op.in_shardings),
            (op.results, op.out_shardings),
        )
    ]
    arguments = [
        border.take(ctx, value, op)
        for value, border in zip(sources(op), outside[0], strict=True)
    ]
    end = block.last_op
    with ctx.manual(manual):
        inside = [
            [
                # the body sees to the manual axes itself
                _Border(
                    ctx.layout_of(value.type, sharding, op),
                    without_manual_axes(sharding, manual),
                )
                for value, sharding in zip(values, shardings.data, strict=True)
            ]
            for values, shardings in (
                (block.args, op.in_shardings),
                (end.operands if end else (), op.out_shardings),
            )
        ]
        values = _inline(
            ctx,
            block,
            [
                border.local(local.value)
                for local, border in zip(arguments, inside[0], strict=True)
            ],
            inside[1],
        )
    for result, local, border in zip(op.results, values, outside[1], strict=True):
        ctx.define(result, border.local(local.value))


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
    """An op of devices that the program itself wrote, on shards as they are.

    Its groups and sizes are the program's; only types become local.
    """
    targets = [ctx.target(result) for result in op.results]
    for result, locals_ in zip(
        op.results, ctx.rebuild(op, ctx.operands(op), targets), strict=True
    ):
        ctx.define(result, locals_)


def collective(ctx: Localizer, op: Operation) -> None:
    """Write a collective of the program itself.

    Outside of a manual computation it is between devices that have the whole value.
    Between devices that hold the same shard it is copied, otherwise it works on the
    gathered value. One whose sizes are not those of whole values is meant for shards,
    and is copied.
    """
    if ctx.is_manual or not _joins_shards(ctx, op):
        as_it_is(ctx, op)
    else:
        replicated(ctx, op, "is between devices that hold different shards")


def _joins_shards(ctx: Localizer, op: Operation) -> bool:
    """Whether devices of one group hold different parts of an operand or result."""
    layouts = [local.layout for local in ctx.operands(op)]
    layouts += [ctx.target(result) for result in op.results]
    for layout in dict.fromkeys(layouts):
        if layout is None or not layout.is_sharded:
            continue
        count = layout.mesh.total_size
        try:
            groups = device_groups(op, count)
        except ValueError as error:
            raise CompileError(str(error), op) from error
        axes = tuple(axis for dim in layout.axes for axis in dim)
        shards = dict(enumerate(shard_index_of_device(layout.mesh, axes)))
        if any(len({shards.get(device) for device in group}) > 1 for group in groups):
            return _is_of_whole_values(op, max(map(len, groups)))
    return False


def _is_of_whole_values(op: Operation, group_size: int) -> bool:
    """Whether a collective's types fit to groups of that size."""
    match op:
        case stablehlo.AllGatherOp():
            dim, larger, smaller = op.all_gather_dim, op.outputs[0], op.inputs[0]
        case stablehlo.ReduceScatterOp():
            dim, larger, smaller = op.scatter_dimension, op.operand, op.result
        case _:
            return True
    at = dim.value.data
    return shape_of(larger)[at] == group_size * shape_of(smaller)[at]


def place_of_device(
    ctx: Localizer, op: stablehlo.PartitionIdOp | stablehlo.ReplicaIdOp
) -> None:
    """Keep the device id of a program that is already per device.

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
    **{
        op: collective
        for op in ops_with(Collective, stablehlo.StableHLO)
        if op not in WITHOUT_RULE
    },
    stablehlo.PartitionIdOp: place_of_device,
    stablehlo.ReplicaIdOp: place_of_device,
}
