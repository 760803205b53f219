"""Ops that make values from nothing: constants, positions, random numbers."""

from typing import cast

from xdsl.dialects.builtin import (
    ComplexType,
    DenseIntOrFPElementsAttr,
    Float32Type,
    IntegerType,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, Operation

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import element_of
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.transforms.partition.exchange.combiner import SUM
from ttxdsl.transforms.partition.exchange.summands import on_first
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.partition.localizer import Local, Localizer, Table


def splat_of(value: Attribute, shape: tuple[int, ...]) -> Attribute | None:
    """Return a splat constant in another shape; None for other values."""
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return None
    dense = cast("DenseIntOrFPElementsAttr[IntegerType]", value)
    if not dense.is_splat():
        return None
    type_ = cast("TensorType[IntegerType]", dense.type)
    return DenseIntOrFPElementsAttr(
        TensorType(type_.element_type, shape, type_.encoding), dense.data
    )


def constant(ctx: Localizer, op: stablehlo.ConstantOp | sdy.ConstantOp) -> None:
    """Partition a constant: shrink a splat, or let each device slice its part."""
    target = ctx.target(op.output)
    # layers of a model repeat their constants, the very same attribute
    known_by = op.value, target
    key = stablehlo.ConstantOp, *map(id, known_by)
    known = ctx.plans.get(key)
    if known is None:
        known = ctx.plans.keep(key, _local_constant(*known_by), *known_by)
    value, layout = known
    new = ctx.emitter.emit(
        stablehlo.ConstantOp,
        [],
        [ctx.local_type(op.output.type, layout)],
        {"value": value},
    )
    ctx.define_results(op, [Local(new.results[0], layout)])


def _local_constant(
    value: Attribute, target: Layout | None
) -> tuple[Attribute, Layout | None]:
    """Return the constant that each device writes, and its layout."""
    if target is None:
        return value, None
    if target.is_sharded:
        splat = splat_of(value, target.local_shape)
        if splat is not None:
            return splat, target
    return value, Layout.replicated(target.mesh, target.shape)


_EXACT_INTEGERS: dict[Attribute, int] = {
    bf16: 1 << 8,
    f16: 1 << 11,
    f32: 1 << 24,
    f64: 1 << 53,
}
"""The bound below which each float type holds every integer; other types count as 0."""


def _counts_exactly(element: Attribute, size: int) -> bool:
    """Whether positions may be added up in an element type; integers wrap around."""
    if isinstance(element, ComplexType):
        element = cast("ComplexType[Float32Type]", element).element_type
    if isinstance(element, IntegerType):
        return True
    return size <= _EXACT_INTEGERS.get(element, 0)


def iota(ctx: Localizer, op: stablehlo.IotaOp) -> None:
    """Positions start where the device's shard starts."""
    target = ctx.target(op.output)
    dim = op.iota_dimension.value.data
    if target is None or not target.axes[dim]:
        (numbers,) = ctx.rebuild(op, [], [target])
        ctx.define(op.output, numbers)
        return
    emit, element = ctx.emitter, element_of(op.output)
    offset = ctx.offset(target, dim)
    if _counts_exactly(element, target.shape[dim]):
        (numbers,) = ctx.rebuild(op, [], [target])
        offset = emit.convert(offset, element)
        everywhere = emit.broadcast(offset, target.local_shape)
        value = emit.add(numbers.value, everywhere)
    else:
        # a sum of two rounded positions is not the rounded position
        positions = emit.iota(target.local_shape, dim)
        everywhere = emit.broadcast(offset, target.local_shape)
        value = emit.convert(emit.add(positions, everywhere), element)
    ctx.define(op.output, Local(value, target))


def random_bits(ctx: Localizer, op: stablehlo.RngBitGeneratorOp) -> None:
    """Every device makes all the bits, which follow from the state, and cuts its part.

    With `local_random_bits` it makes as many as its part has.
    """
    (state,) = (ctx.gather_all(local) for local in ctx.operands(op))
    targets = [ctx.target(result) for result in op.results]
    if ctx.local_random_bits:
        ctx.define_results(op, ctx.rebuild(op, [state], targets))
        return
    whole = [
        None if target is None else Layout.replicated(target.mesh, target.shape)
        for target in targets
    ]
    ctx.define_results(op, ctx.rebuild(op, [state], whole))


def random_numbers(ctx: Localizer, op: stablehlo.RngOp) -> None:
    """The numbers of the first device, for each device's generator has its own state."""
    operands = [ctx.gather_all(local) for local in ctx.operands(op)]
    target = ctx.target(op.result)
    if target is None:
        raise UnsupportedError("its shape is not static", op)
    (numbers,) = ctx.rebuild(
        op, operands, [Layout.replicated(target.mesh, target.shape)]
    )
    mesh = target.mesh
    axes = tuple(AxisRef(name) for name, size in mesh.axes if size > 1)
    if axes:
        mine = on_first(ctx, numbers.value, mesh, axes, 0)
        numbers = Local(
            ctx.collectives.all_reduce(mine, mesh, axes, SUM), numbers.layout
        )
    ctx.define_results(op, [numbers])


def unshardable(ctx: Localizer, op: Operation) -> None:
    """Ops at the border of the program, which every device would do again."""
    targets = [ctx.target(result) for result in op.results]
    if any(t is not None and t.is_sharded for t in targets) or any(
        local.is_sharded for local in ctx.operands(op)
    ):
        raise UnsupportedError(
            "cannot be split over devices",
            op,
            hint="replicate its operands and results",
        )
    ctx.define_results(op, ctx.rebuild(op, ctx.operands(op), targets))


LOCALIZERS: Table = {
    stablehlo.ConstantOp: constant,
    sdy.ConstantOp: constant,
    stablehlo.IotaOp: iota,
    stablehlo.RngBitGeneratorOp: random_bits,
    stablehlo.RngOp: random_numbers,
    stablehlo.InfeedOp: unshardable,
    stablehlo.OutfeedOp: unshardable,
    stablehlo.SendOp: unshardable,
    stablehlo.RecvOp: unshardable,
}
