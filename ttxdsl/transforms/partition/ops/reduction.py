"""Reductions and sorts.

A reduction over a split dimension leaves partial results. Its initial value must then
be counted once and not once a device, and the all-reduce that follows must combine
by the same function. Where either cannot be had, the operand is gathered first.

An argmax has no such function, but the candidates of all devices are few: they are
gathered, and the same reduction picks among them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType
from xdsl.ir import OpResult, SSAValue

from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.axes import Axes, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.partition.by_factors import (
    Plan,
    by_factors,
    division_of,
    localize_by_factors,
)
from ttxdsl.transforms.partition.emitter import dims_attr
from ttxdsl.transforms.partition.exchange.combiner import combiners_of, selects
from ttxdsl.transforms.partition.exchange.summands import counted_once
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.partition.localizer import Local, Localizer, Table


def is_constant_number(value: SSAValue, number: float | None) -> bool:
    """Whether a scalar is known to be that number."""
    if isinstance(value.owner, stablehlo.BroadcastInDimOp):
        value = value.owner.operand  # to a scalar, as JAX writes it
    if not isinstance(value, OpResult) or not isinstance(
        value.op, stablehlo.ConstantOp
    ):
        return False
    constant = value.op.value
    if not isinstance(constant, DenseIntOrFPElementsAttr):
        return False
    dense = cast("DenseIntOrFPElementsAttr[IntegerType]", constant)
    return len(dense) == 1 and dense.get_values()[0] in (number, (number, 0))


def reduce(ctx: Localizer, op: stablehlo.ReduceOp) -> None:
    """Partition a reduction: kept dimensions split freely, reduced ones if combinable."""
    count = len(op.inputs)
    combine = combiners_of(op.body)
    division = division_of(ctx, op)
    reduced = division.rule.reduction
    # candidates must stay in order: one dimension of them
    picks = not combine and len(reduced) == 1 and selects(op.body)

    def write(operands: list[Local], plan: Plan) -> list[Local]:
        for at, combiner in enumerate(combine, count):
            if not is_constant_number(op.operands[at], combiner.neutral):
                operands[at] = counted_once(
                    ctx, operands[at], plan.mesh, plan.partial, combiner
                )
        locals_ = ctx.rebuild(op, operands, plan.results)
        if picks and plan.partial and plan.mesh:
            axes = plan.axes[reduced[0]]
            locals_ = _pick(ctx, op, locals_, operands[count:], plan.mesh, axes)
        return locals_

    whole = () if combine or picks else reduced
    localize_by_factors(ctx, op, division, whole=whole, combine=combine, write=write)


def _pick(
    ctx: Localizer,
    op: stablehlo.ReduceOp,
    candidates: Sequence[Local],
    initial: Sequence[Local],
    mesh: Mesh,
    axes: Axes,
) -> list[Local]:
    """Reduce the candidates of all devices along some axes, in their order."""
    emit = ctx.emitter
    shards = total_size(axes, mesh)
    rows: list[Local] = []
    for local in candidates:
        layout = local.placed
        row = emit.reshape(local.value, (1, *shape_of(local.value)))
        stacked = Layout(mesh, (shards, *layout.shape), (axes, *layout.axes))
        rows.append(ctx.gather(Local(row, stacked), 0, axes))
    reduced = emit.emit(
        stablehlo.ReduceOp,
        [reduced_value.value for reduced_value in (*rows, *initial)],
        [local.value.type for local in candidates],
        {"dimensions": dims_attr([0])},
        regions=ctx.copy_regions(op),
    )
    return [
        replace(local, value=value)
        for local, value in zip(candidates, reduced.results, strict=True)
    ]


LOCALIZERS: Table = {
    stablehlo.ReduceOp: reduce,
    stablehlo.SortOp: by_factors,
    chlo.TopKOp: by_factors,
}
