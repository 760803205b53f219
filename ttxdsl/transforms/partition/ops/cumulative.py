"""Running sums, maxima and products along a split dimension (`jnp.cumsum`).

A `reduce_window` whose windows reach from each element to the first, or the last, is a
running combination. Every device runs it over its own elements and combines each with
the totals of the shards before, one number a shard. (Floating-point sums round in
another order.)
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.dialects.stablehlo.windowed import padding_pairs, window_values
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import subtract
from ttxdsl.transforms.partition.by_factors import Plan, localize_by_factors
from ttxdsl.transforms.partition.emitter import dims_attr
from ttxdsl.transforms.partition.exchange.combiner import Combiner, combiner_of
from ttxdsl.transforms.partition.exchange.halo import meeting, padding_attr
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.partition.localizer import Local, Localizer
from ttxdsl.transforms.partition.ops.reduction import is_constant_number


class Running(NamedTuple):
    """A running combination along one dimension.

    Attributes:
        combine: how elements join.
        backwards: whether it begins at the end.
    """

    dim: int
    combine: Combiner
    backwards: bool


def running_of(op: stablehlo.ReduceWindowOp) -> Running | None:
    """Return the running combination that an op computes; None for other ops."""
    combine = combiner_of(op.body) if len(op.inputs) == 1 else None
    if combine is None or not (
        combine.is_idempotent or is_constant_number(op.init_values[0], combine.neutral)
    ):
        return None  # the padding has the initial value, and counts, too
    shape = shape_of(op.inputs[0])
    rank = len(shape)
    sizes = op.window_dimensions.get_values()
    padding = padding_pairs(op.padding, rank)
    ones = (1,) * rank
    dims = [d for d in range(rank) if (sizes[d], padding[d]) != (1, (0, 0))]
    if len(dims) != 1 or any(
        window_values(some, rank) != ones
        for some in (op.window_strides, op.base_dilations, op.window_dilations)
    ):
        return None
    (dim,) = dims
    others = shape[dim] - 1
    if sizes[dim] != shape[dim] or padding[dim] not in ((others, 0), (0, others)):
        return None
    return Running(dim, combine, padding[dim][0] == 0)


def localize_running(
    ctx: Localizer, op: stablehlo.ReduceWindowOp, running: Running
) -> bool:
    """Write a running combination locally if both sides are split alike; whether so."""
    dim = running.dim
    operand, initial = ctx.operands(op)
    met = meeting(operand.placed, dim, ctx.target(op.results[0]), dim)
    if met is None or operand.placed.uneven is not None or met[1].uneven is not None:
        return False
    before, planned = met
    rest = subtract(operand.placed.axes[dim], before.axes[dim], before.mesh)
    operand = ctx.gather(operand, dim, rest)
    rank, size = len(before.shape), before.local_shape[dim]
    sizes = list(op.window_dimensions.get_values())
    sizes[dim] = size
    padding = [(0, 0)] * rank
    padding[dim] = (0, size - 1) if running.backwards else (size - 1, 0)
    changed: Mapping[str, Attribute] = {
        "window_dimensions": dims_attr(sizes),
        "padding": padding_attr(padding),
    }

    def write(operands: list[Local], plan: Plan) -> list[Local]:
        (local,) = ctx.rebuild(op, operands, plan.results, changed)
        earlier = _earlier(ctx, operands[0], operands[1].value, running)
        shape = shape_of(local.value)
        kept = [other for other in range(rank) if other != dim]
        everywhere = ctx.emitter.broadcast(earlier, shape, kept)
        op_class = running.combine.op_class
        value = ctx.emitter.binary(op_class, local.value, everywhere)
        return [replace(local, value=value)]

    localize_by_factors(
        ctx, op, operands=[operand, initial], planned=[planned], write=write
    )
    return True


def _earlier(
    ctx: Localizer, local: Local, initial: SSAValue, running: Running
) -> SSAValue:
    """Write the combination of all earlier shards; the dimension is gone."""
    emit, layout, dim = ctx.emitter, local.placed, running.dim
    element, shape = element_of(local.value), shape_of(local.value)
    combine = running.combine
    # an idempotent function may combine the initial value repeatedly
    start = (
        initial if combine.neutral is None else emit.number(combine.neutral, element)
    )

    def joined(value: SSAValue) -> SSAValue:
        return emit.one(
            stablehlo.ReduceOp,
            [value, start],
            TensorType(element, [s for i, s in enumerate(shape) if i != dim]),
            {"dimensions": dims_attr([dim])},
            [combine.body(element)],
        )

    single = list(shape)
    single[dim] = 1
    total = emit.reshape(joined(local.value), single)
    shards = list(layout.shape)
    shards[dim] = layout.shards(dim)
    stacked = Layout(layout.mesh, tuple(shards), layout.axes)
    totals = ctx.gather(Local(total, stacked), dim, layout.axes[dim]).value
    index = emit.broadcast(ctx.index_along(layout, dim), shape_of(totals))
    before = emit.compare(
        emit.iota(shape_of(totals), dim),
        index,
        ComparisonDirection.GT if running.backwards else ComparisonDirection.LT,
    )
    nothing = emit.broadcast(start, shape_of(totals))
    return joined(emit.select(before, totals, nothing))
