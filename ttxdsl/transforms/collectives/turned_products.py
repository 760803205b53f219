"""`turned-products`: a product is split along the side that its users want split.

An all_to_all of a product whose right side is split, for users that want it split as the
left side is, is the product of a part of the left side and all of the right one. That
sends less where the right side is gathered anyway, or is smaller than the product.

**Why it is right.** Let R = U V be a product (of any number of batch and contracted
dimensions), V split along a free dimension: device i holds V_i, and makes R_i = U V_i of
the U that all devices hold. The all_to_all gives it the i-th part along a free dimension
of U of every R_j, which is U_i V_j; put together along j that is U_i V. An all_gather of
the V_j gives V. Ops between the product and the all_to_all that keep both dimensions
apart (`held_in` of `dims.py`), whose other operands are the same on all devices and have
neither dimension, and sums along other axes, do the same to U_i V as to U V_i.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ttxdsl.costs.ring import Ring
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.axes import Axes, are_apart
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.dims import held_in
from ttxdsl.transforms.collectives.program.single_ops import (
    erase_unused,
    is_elementwise,
)

NAME = "turned-products"

_BETWEEN = (stablehlo.TransposeOp, stablehlo.ReshapeOp)


@dataclass(frozen=True, slots=True)
class _Step:
    """An op between the product and the all_to_all.

    Attributes:
        op: the op.
        index: its operand that leads to the product.
        split: the dimension of its result that is split now.
        wanted: the one that is wanted split.
    """

    op: Operation
    index: int
    split: int
    wanted: int


def turn_products(program: DeviceProgram, block: Block) -> bool:
    """Turn the products of one block; whether any was turned."""
    changed = False
    gathered = {
        (op.operands[0], op.all_gather_dim.value.data, program.axes(op)): op
        for op in program.sending(block)
        if isinstance(op, stablehlo.AllGatherOp)
    }
    for op in program.sending(block):
        if isinstance(op, stablehlo.AllToAllOp) and op.parent is not None:
            changed |= _turn(program, op, gathered)
    return changed


_Gathered = dict[tuple[SSAValue, int, "Axes | None"], stablehlo.AllGatherOp]


def _turn(
    program: DeviceProgram, op: stablehlo.AllToAllOp, gathered: _Gathered
) -> bool:
    axes = program.axes(op)
    if axes is None or len(axes) != 1 or len(op.operands) != 1:
        return False
    split, wanted = op.concat_dimension.value.data, op.split_dimension.value.data
    steps = _steps(program, op, split, wanted, axes)
    if steps is None:
        return False
    last = steps[-1]
    sides = _sides(last)
    if sides is None:
        return False
    (whole, whole_dim), (parted, parted_dim) = sides
    product = last.op
    source, target = product.operands[whole], product.operands[parted]
    size = program.size(axes)
    if shape_of(source)[whole_dim] % size or not program.same_along(source, axes):
        return False
    known = gathered.get((target, parted_dim, axes))
    if known is not None and known.parent is None:
        known = None
    price = 0 if known else program.bytes(Ring.ALL_GATHER, target, axes)
    if price >= program.bytes(Ring.ALL_TO_ALL, op.operands[0], axes):
        return False
    if known is not None:
        program.move_up(known)
        everything = known.results[0]
    else:
        everything = program.all_gather(target, op, axes, parted_dim, NAME)
        made = everything.owner
        assert isinstance(made, stablehlo.AllGatherOp)
        gathered[target, parted_dim, axes] = made
    operands = list(product.operands)
    operands[whole] = _part(program, source, whole_dim, axes, product)
    operands[parted] = everything
    value = program.copy(product, operands, _turned(last, size))
    for step in reversed(steps[:-1]):
        operands = list(step.op.operands)
        operands[step.index] = value
        for index, operand in enumerate(operands):
            if index != step.index and shape_of(operand):
                operands[index] = _resized(program, step, operand, size)
        value = program.copy(step.op, operands, _turned(step, size))
    op.results[0].replace_all_uses_with(value)
    erase_unused(op.results)
    return True


def _turned(step: _Step, size: int) -> dict[int, int]:
    shape = shape_of(step.op.results[0])
    return {
        step.split: shape[step.split] * size,
        step.wanted: shape[step.wanted] // size,
    }


def _part(
    program: DeviceProgram, value: SSAValue, dim: int, axes: Axes, before: Operation
) -> SSAValue:
    """A device's part of what all hold."""
    op = value.owner
    if (
        isinstance(op, stablehlo.AllGatherOp)
        and op.all_gather_dim.value.data == dim
        and program.axes(op) == axes
    ):
        return op.operands[0]
    return program.all_slice(value, axes, dim, before)


def _resized(
    program: DeviceProgram, step: _Step, value: SSAValue, size: int
) -> SSAValue:
    """A number that is repeated, repeated in the other shape."""
    op = value.owner
    assert isinstance(op, Operation), "asked before"
    shape = shape_of(value)
    sizes = {
        step.split: shape[step.split] * size,
        step.wanted: shape[step.wanted] // size,
    }
    return program.copy(op, op.operands, sizes, step.op)


def _steps(
    program: DeviceProgram, op: Operation, split: int, wanted: int, axes: Axes
) -> list[_Step] | None:
    """The ops between an all_to_all and a product, which is the last of them."""
    steps: list[_Step] = []
    value = op.operands[0]
    while True:
        inner = value.owner
        if (
            not isinstance(value, OpResult)
            or not isinstance(inner, Operation)
            or inner.parent is not op.parent
            or not value.has_one_use()
        ):
            return None
        if isinstance(inner, stablehlo.DotGeneralOp):
            steps.append(_Step(inner, 0, split, wanted))
            return steps
        found = _between(program, inner, split, wanted, axes)
        if found is None:
            return None
        index, places = found
        steps.append(_Step(inner, index, split, wanted))
        split, wanted = places
        value = inner.operands[index]


def _between(
    program: DeviceProgram, op: Operation, split: int, wanted: int, axes: Axes
) -> tuple[int, tuple[int, int]] | None:
    """The operand that has both dimensions, and where."""
    if isinstance(op, stablehlo.AllReduceOp):
        other = program.axes(op)
        if other is None or not are_apart(other, axes):
            return None
    elif not is_elementwise(op) and not isinstance(op, _BETWEEN):
        return None
    first, second = held_in(op, split), held_in(op, wanted)
    if first is None or second is None:
        return None
    chosen: int | None = None
    for index, operand in enumerate(op.operands):
        if not shape_of(operand) and not program.same_along(operand, axes):
            return None
        if not shape_of(operand) or _is_repeated(program, operand, axes):
            continue
        if chosen is not None:
            return None
        chosen = index
    if chosen is None:
        return None
    places = first[chosen], second[chosen]
    if places[0] is None or places[1] is None:
        return None
    if shape_of(op.operands[chosen])[places[1]] % program.size(axes):
        return None
    return chosen, (places[0], places[1])


def _is_repeated(program: DeviceProgram, value: SSAValue, axes: Axes) -> bool:
    """Whether a value is one number, the same on all devices, again and again."""
    op = value.owner
    if isinstance(op, stablehlo.ConstantOp):
        return bool(shape_of(value)) and held_in(op, 0) == []
    return (
        isinstance(op, stablehlo.BroadcastInDimOp)
        and not shape_of(op.operand)
        and program.same_along(op.operand, axes)
    )


def _sides(step: _Step) -> Sequence[tuple[int, int]] | None:
    """The operands and dimensions that are wanted split, and that are split."""
    found: list[tuple[int, int]] = []
    for dim in (step.wanted, step.split):
        dims = held_in(step.op, dim)
        if dims is None:
            return None
        places = [
            (index, place) for index, place in enumerate(dims) if place is not None
        ]
        if len(places) != 1:
            return None
        found.append(places[0])
    return found if found[0][0] != found[1][0] else None
