"""`move-collective-permutes`: permute what a value is computed from, if that is less.

A permute moves ahead of a convert to a wider type, a broadcast, and other ops that
every device does alike with one operand, and ahead of the slice of such an op.

**Why it is right.** Device t of a pair (s, t) gets f(x_s) as well by computing it of
x_s, if f is the same on all devices. Other devices get zeros, not f of zeros: only
permutes with every device as a target move.
"""

from xdsl.ir import Block, Operation, OpResult

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of, value_bytes
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.dims import held_in
from ttxdsl.transforms.collectives.program.single_ops import (
    erase_unused,
    is_elementwise,
    slice_of,
)

NAME = "move-collective-permutes"

_ALIKE = (
    stablehlo.BroadcastInDimOp,
    stablehlo.TransposeOp,
    stablehlo.ReshapeOp,
    stablehlo.PadOp,
)


def move_permutes(program: DeviceProgram, block: Block) -> bool:
    """Move the collective_permutes of a block, and return True if any moved."""
    changed = False
    for op in program.sending(block):
        if isinstance(op, stablehlo.CollectivePermuteOp) and _is_total(program, op):
            changed |= _move(program, op)
    return changed


def _is_total(program: DeviceProgram, op: stablehlo.CollectivePermuteOp) -> bool:
    pairs = [int(device) for device in op.source_target_pairs.get_values()]
    return sorted(pairs[1::2]) == sorted(program.mesh.devices())


def _move(program: DeviceProgram, op: Operation) -> bool:
    """Move a permute back to where its operand is smallest."""
    value = op.operands[0]
    steps: list[tuple[Operation, int]] = []
    sliced: tuple[AxisRef, int] | None = None
    parts = 1
    best: tuple[int, int] = value_bytes(value), 0
    dims: list[int] = []
    while isinstance(value, OpResult) and value.op.parent is op.parent:
        inner = value.op
        part = slice_of(inner)
        if part is not None and sliced is None and not steps:
            sliced, value = part, inner.operands[0]
            parts = part[0].size_in(program.mesh)
            dims.append(part[1])
            continue
        index = _only_operand(program, inner)
        if index is None:
            break
        if sliced is not None:
            held = held_in(inner, dims[-1])
            place = held[index] if held is not None else None
            if place is None or shape_of(inner.operands[index])[place] % parts:
                break
            dims.append(place)
        steps.append((inner, index))
        value = inner.operands[index]
        best = min(best, (value_bytes(value) // parts, len(steps)))
    if not best[1]:
        return False
    steps = steps[: best[1]]
    last, index = steps[-1]
    sent = last.operands[index]
    if sliced is not None:
        sent = program.all_slice(sent, (sliced[0],), dims[len(steps)], op)
    sent = program.permute(sent, op, NAME)
    for number, (inner, index) in reversed(list(enumerate(steps))):
        operands = list(inner.operands)
        operands[index] = sent
        result = inner.results[0]
        sizes: dict[int, int] | None = None
        if sliced is not None:
            dim = dims[number]
            size = shape_of(result)[dim] // parts
            sizes = {dim: size}
            for other, operand in enumerate(operands):
                if other != index and shape_of(operand):
                    maker = operand.owner
                    assert isinstance(maker, Operation), "asked before"
                    operands[other] = program.copy(maker, maker.operands, sizes, op)
        sent = program.copy(inner, operands, sizes, op)
    op.results[0].replace_all_uses_with(sent)
    erase_unused(op.results)
    return True


def _only_operand(program: DeviceProgram, op: Operation) -> int | None:
    """Return the index of the only operand that differs by device, or None."""
    if len(op.results) != 1:
        return None
    if not is_elementwise(op) and not isinstance(op, _ALIKE):
        return None
    place: int | None = None
    for index, operand in enumerate(op.operands):
        maker = operand.owner
        repeated = not shape_of(operand) or (
            isinstance(maker, stablehlo.BroadcastInDimOp)
            and not shape_of(maker.operand)
        )
        if repeated and program.same_along(operand, program.every_axis):
            continue
        if place is not None:
            return None
        place = index
    return place
