"""Ops that do the same to each element, wherever it is."""

from dataclasses import replace

from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.rules.builder import Shapes
from ttxdsl.rules.division import Division
from ttxdsl.rules.elementwise import like_result
from ttxdsl.transforms.partition.by_factors import localize_by_factors
from ttxdsl.transforms.partition.exchange.combiner import SUM
from ttxdsl.transforms.partition.localizer import Localizer, Table


def elementwise(ctx: Localizer, op: Operation) -> None:
    """All tensors have one shape and one layout; scalars belong to every element."""
    operands = ctx.operands(op)
    wanted = [ctx.target(result) for result in op.results]
    first = wanted[0] if wanted else None
    layouts = [local.layout for local in operands]
    others = [layout for layout in (*layouts, *wanted[1:]) if layout is not first]
    if first is None or any(
        layout is None or (layout.shape and not layout.same_placement(first))
        for layout in others
    ):
        # also those that Shardy has no rule for, such as quantizations
        shapes = Shapes.of(op)
        assert shapes is not None, "its layouts were found"
        division = Division.of(op, shapes, like_result(op))
        localize_by_factors(ctx, op, division, operands=operands)
        return
    locals_ = ctx.rebuild(op, operands, wanted)
    for result, local in zip(op.results, locals_, strict=True):
        ctx.define(result, local)


def sum_of_partials(ctx: Localizer, op: Operation) -> None:
    """Sums may be taken before partial sums are combined, if all operands are partial.

    So a gradient may be accumulated unreduced and reduced once.
    """
    locals_ = ctx.parts(op)
    first = locals_[0]
    partial = first.partial
    if partial is None:
        elementwise(ctx, op)
        return
    target = ctx.target(op.results[0])
    if (
        partial.combine != SUM
        or target is None
        or any(local.partial != partial for local in locals_)
        or any(not local.placed.same_placement(target) for local in locals_)
    ):
        elementwise(ctx, op)
        return
    (summed,) = ctx.rebuild(op, locals_, [first.placed])
    ctx.define(op.results[0], replace(summed, partial=partial))


LOCALIZERS: Table = {
    stablehlo.ElementwiseUnaryOp: elementwise,
    stablehlo.ElementwiseBinaryOp: elementwise,
    stablehlo.AddOp: sum_of_partials,
    stablehlo.SubtractOp: sum_of_partials,
    stablehlo.NegOp: sum_of_partials,
    stablehlo.CompareOp: elementwise,
    stablehlo.SelectOp: elementwise,
    stablehlo.ClampOp: elementwise,
    stablehlo.ReducePrecisionOp: elementwise,
    stablehlo.MapOp: elementwise,
}
"""Base classes stand for all their ops."""
