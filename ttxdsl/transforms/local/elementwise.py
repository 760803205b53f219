"""Ops that do the same to each element, wherever it is."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.transforms.local.by_factors import localize_except
from ttxdsl.transforms.local.combiner import SUM
from ttxdsl.transforms.local.localizer import Localizer, Table


def elementwise(ctx: Localizer, op: Operation) -> None:
    """All tensors have one shape and one layout; scalars belong to every element."""
    localize_except(ctx, op, ())


def sum_of_partials(ctx: Localizer, op: Operation) -> None:
    """Sums may be taken before partial sums are combined, if all operands are partial.

    So a gradient may be accumulated unreduced and reduced once.
    """
    locals_ = ctx.parts(op)
    first = locals_[0]
    partial = first.partial
    target = ctx.target(op.results[0])
    if (
        partial is None
        or partial.combine != SUM
        or target is None
        or any(local.partial != partial for local in locals_)
        or any(not local.placed.same_placement(target) for local in locals_)
    ):
        localize_except(ctx, op, ())
        return
    (made,) = ctx.rebuild(op, locals_, [first.placed])
    ctx.define(op.results[0], replace(made, partial=partial))


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
