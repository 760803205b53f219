"""Values of which devices hold summands: made whole, and made of whole ones.

A sharding calls the axes along which devices hold summands unreduced. What an op left
to be combined is `Local.partial`, whatever the sharding says; both meet where a value
crosses the border of a body.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.sharding.axes import Axes, sort_and_merge
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.local.combiner import SUM
from ttxdsl.transforms.local.emitter import element_of, shape_of
from ttxdsl.transforms.local.layout import Layout, unreduced_axes
from ttxdsl.transforms.local.localizer import Local, Localizer, Partial


def summed(axes: Axes) -> Partial | None:
    """What is left to do where devices hold summands along the axes."""
    return Partial(axes, SUM) if axes else None


def as_summands(ctx: Localizer, local: Local, axes: Axes) -> Local:
    """The first device along the axes keeps a whole value, the others hold zero."""
    if not axes:
        return local
    mesh, emit = local.placed.mesh, ctx.emitter
    index = ctx.collectives.index_along(mesh, axes)
    first = emit.compare(index, emit.position(0), ComparisonDirection.EQ)
    zero = emit.splat(0, element_of(local.value), shape_of(local.value))
    value = emit.select(first, local.value, zero)
    return replace(local, value=value, partial=summed(axes))


def bring(
    ctx: Localizer,
    value: SSAValue,
    layout: Layout | None,
    sharding: TensorSharding | None,
    where: Operation,
) -> Local:
    """A value as it crosses a border: in the layout and unreduced as the sharding says.

    Where it is unreduced along other axes it is combined here, once; a value that is
    whole becomes summands.

    Raises:
        CompileError: partial results that its own sharding says nothing of.
    """
    local = ctx.local(value)
    if layout is None:
        return local
    wanted = unreduced_axes(sharding, layout.mesh)
    if (
        local.partial is not None
        and local.partial.combine == SUM
        and sort_and_merge(local.partial.axes, local.placed.mesh) == wanted
        and local.placed.same_placement(layout)
    ):
        return local
    whole = ctx.reshard_to(ctx.operand(value, where), layout)
    return as_summands(ctx, whole, wanted)
