"""Partial values: combined into whole ones, and made from whole ones.

A sharding calls the axes along which devices hold partial values unreduced.
`Local.partial` names the axes that an op left to combine, whatever the sharding says.
Both meet where a value crosses the border of a body.
"""

from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import Axes, sort_and_merge
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.exchange.combiner import COMBINERS, SUM, Combiner
from ttxdsl.transforms.partition.layout import Layout, unreduced_axes
from ttxdsl.transforms.partition.localizer import Local, Localizer, Partial


def summed(axes: Axes) -> Partial | None:
    """Return the sum left to do where devices hold summands along the axes, or None."""
    return Partial(axes, SUM) if axes else None


def unreduced_parts(sharding: TensorSharding | None, mesh: Mesh) -> Partial | None:
    """Return the reduction left to do for values of a sharding, or None."""
    axes = unreduced_axes(sharding, mesh)
    return Partial(axes, COMBINERS[sharding.reduction]) if sharding and axes else None


def on_first(
    ctx: Localizer, value: SSAValue, mesh: Mesh, axes: Axes, others: float
) -> SSAValue:
    """A value on the first device along some axes, and a number on the others."""
    emit = ctx.emitter
    index = ctx.collectives.index_along(mesh, axes)
    first = emit.compare(index, emit.position(0), ComparisonDirection.EQ)
    neutral = emit.splat(others, element_of(value), shape_of(value))
    return emit.select(first, value, neutral)


def counted_once(
    ctx: Localizer, local: Local, mesh: Mesh | None, axes: Axes, combine: Combiner
) -> Local:
    """Return a start value that counts once when results partial along `axes` join."""
    if mesh is None or not axes or combine.is_idempotent or combine.neutral is None:
        return local
    value = on_first(ctx, local.value, mesh, axes, combine.neutral)
    return Local(value, local.layout)


def as_parts(ctx: Localizer, local: Local, parts: Partial | None) -> Local:
    """Return a whole value as parts that combine to it.

    The first device along the axes keeps it and the others hold zero; maxima and
    minima of copies are what was copied.
    """
    if parts is None:
        return local
    mesh = local.placed.mesh
    whole = counted_once(ctx, local, mesh, parts.axes, parts.combine)
    return replace(local, value=whole.value, partial=parts)


def bring(
    ctx: Localizer,
    value: SSAValue,
    layout: Layout | None,
    sharding: TensorSharding | None,
    where: Operation,
) -> Local:
    """Return a value that crosses a border, in the layout and reduction of a sharding.

    Partial results along other axes are combined here, once; a whole value becomes
    summands.

    Raises:
        CompileError: partial results that its own sharding says nothing of.
    """
    local = ctx.local(value)
    if layout is None:
        return local
    wanted = unreduced_parts(sharding, layout.mesh)
    if (
        local.partial is not None
        and wanted is not None
        and local.partial.combine == wanted.combine
        and sort_and_merge(local.partial.axes, local.placed.mesh) == wanted.axes
        and local.placed.same_placement(layout)
    ):
        return local
    whole = ctx.reshard_to(ctx.operand(value, where), layout)
    return as_parts(ctx, whole, wanted)
