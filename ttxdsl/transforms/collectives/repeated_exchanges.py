"""Replace an all_to_all of values repeated along the split dimension by an all_gather.

**Why it is right.** Device j gets the j-th part of what each device i holds. Where a
value is the same at all places of that dimension, as behind a broadcast, all parts are
the first one: all devices get the first parts of all. That sends as much, but
`move-all-gathers` can then gather ahead of the broadcast.
"""

from collections.abc import Sequence

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import is_tensor, shape_of
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.dims import held_in
from ttxdsl.transforms.collectives.program.in_order import places_in
from ttxdsl.transforms.collectives.program.single_ops import (
    erase_unused,
    is_elementwise,
)

_RESIZED = (
    stablehlo.BroadcastInDimOp,
    stablehlo.TransposeOp,
    stablehlo.ReshapeOp,
    stablehlo.ConcatenateOp,
    stablehlo.IotaOp,
    stablehlo.ConstantOp,
)
"""Ops beside elementwise ones that make less at once where less is wanted."""

_Place = tuple[SSAValue, int]
"""A value and one of its dimensions."""


def gather_repeated(program: DeviceProgram, block: Block, name: str) -> None:
    """Make all_gathers of those all_to_alls of one block that may be such."""
    for op in program.sending(block):
        if not isinstance(op, stablehlo.AllToAllOp) or len(op.operands) != 1:
            continue
        axes = program.axes(op)
        split, concat = op.split_dimension.value.data, op.concat_dimension.value.data
        if axes is None or split == concat:
            continue
        size = program.size(axes)
        made_of = _made_of((op.operands[0], split), block, size)
        if made_of is None:
            continue
        part = _part(program, made_of, size, op)
        gathered = program.all_gather(part, op, axes, concat, name)
        op.results[0].replace_all_uses_with(gathered)
        erase_unused(op.results)


def _made_of(
    start: _Place, block: Block, size: int
) -> dict[_Place, Sequence[_Place | None]] | None:
    """Return the repeated values that a repeated value is made of; None if it is none.

    The dimensions of its operands that hold a value's dimension, None where one has none.
    Each has `size` parts.
    """
    sources: dict[_Place, Sequence[_Place | None]] = {}
    waiting = [start]
    while waiting:
        place = value, dim = waiting.pop()
        if place in sources:
            continue
        if not isinstance(value, OpResult) or value.op.parent is not block:
            return None
        if shape_of(value)[dim] % size:
            return None
        op = value.op
        if not is_elementwise(op) and not isinstance(op, _RESIZED):
            return None
        dims = held_in(op, dim)
        if dims is None or not all(map(is_tensor, op.operands)):
            return None
        sources[place] = [
            None if dim is None else (operand, dim)
            for operand, dim in zip(op.operands, dims, strict=True)
        ]
        waiting += [source for source in sources[place] if source is not None]
    return sources


def _part(
    program: DeviceProgram,
    made_of: dict[_Place, Sequence[_Place | None]],
    size: int,
    before: Operation,
) -> SSAValue:
    """Write one of `size` parts of the first place of `made_of`, ahead of an op."""
    assert before.parent is not None
    order = places_in(before.parent)
    parts: dict[_Place, SSAValue] = {}
    for place in sorted(made_of, key=lambda place: order[_op(place[0])]):
        value, dim = place
        op = _op(value)
        operands = [
            operand if source is None else parts[source]
            for operand, source in zip(op.operands, made_of[place], strict=True)
        ]
        length = shape_of(value)[dim] // size
        parts[place] = program.copy(op, operands, {dim: length}, before)
    return parts[next(iter(made_of))]


def _op(value: SSAValue) -> Operation:
    assert isinstance(value, OpResult)
    return value.op
