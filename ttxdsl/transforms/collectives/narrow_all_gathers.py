"""`narrow-all-gathers`: gather only the places that slices read.

Where only the first row of a split tensor is read, devices gather their first rows, or
sum that row and zeros of the others, which sends less than two rows.

**Why it is right.** The gathered dimension is the devices' parts in order. Let all
places that static slices read be between `low` and `high` of some part: gathered alone,
place p of part i is at i (high - low) + p - low. A sum of one number and zeros is that
number (floats add negative zeros).
"""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import AnyFloat, ComplexType, IntegerType
from xdsl.ir import Attribute, Block, SSAValue

from ttxdsl.costs.ring import Ring
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import Axes, are_apart
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.single_ops import erase_unused
from ttxdsl.transforms.partition.exchange.pieces import Stretch, owned

NAME = "narrow-all-gathers"

_Read = Mapping[stablehlo.SliceOp, Sequence[tuple[Stretch, int]]]
"""What slices read: stretches of parts, and whose these are."""


def narrow_all_gathers(program: DeviceProgram, block: Block) -> bool:
    """Narrow the all_gathers of a block, and return True if any changed."""
    changed = False
    for op in program.sending(block):
        if isinstance(op, stablehlo.AllGatherOp) and len(op.operands) == 1:
            changed |= _send_less(program, op)
    return changed


def _send_less(program: DeviceProgram, gather: stablehlo.AllGatherOp) -> bool:
    dim, whole = gather.all_gather_dim.value.data, gather.results[0]
    axes, held = gathered_in_steps(program, gather)
    users = [use.operation for use in whole.uses]
    slices = [
        op
        for op in users
        if isinstance(op, stablehlo.SliceOp)
        and op.parent is gather.parent
        and _cuts_along(op, dim)
    ]
    if not axes or not slices or len(slices) < len(users):
        return False
    size = shape_of(held)[dim]
    read = {op: owned([_stretch(op, dim)], size) for op in slices}
    if not all(read.values()):  # of no places: nothing to put together
        return False
    of_owner: dict[int, Stretch] = {}
    for parts in read.values():
        for (start, end), owner in parts:
            low, high = of_owner.get(owner, (start, end))
            of_owner[owner] = min(low, start), max(high, end)
    low = min(start for start, _ in of_owner.values())
    high = max(end for _, end in of_owner.values())

    def sent(kind: Ring, places: int) -> int:
        shape = list(shape_of(held))
        shape[dim] = places
        return program.bytes_of(kind, shape, element_of(held), axes)

    added = sum(end - start for start, end in of_owner.values())
    if _adds_up(element_of(held)) and (
        sent(Ring.ALL_REDUCE, added) < sent(Ring.ALL_GATHER, high - low)
    ):
        sums = _sum(program, gather, held, axes, of_owner)
        _cut_again(program, sums, dim, read, _one_behind_other(of_owner))
        return True
    if high - low == size:
        return False
    part = program.cut(held, dim, [(low, high)], gather, NAME)
    less = program.all_gather(part, gather, axes, dim, NAME)
    starts = {owner: owner * (high - low) - low for owner in of_owner}
    _cut_again(program, less, dim, read, starts)
    return True


def gathered_in_steps(
    program: DeviceProgram, gather: stablehlo.AllGatherOp
) -> tuple[Axes, SSAValue]:
    """Return the axes along which all_gathers that follow each other gather, and what.

    The first gathers along the minor axes; what it makes has no other user.
    """
    axes, held = program.axes(gather) or (), gather.operands[0]
    while axes and isinstance(held.owner, stablehlo.AllGatherOp):
        inner, before = held.owner, program.axes(held.owner)
        if (
            not before
            or not held.has_one_use()
            or inner.all_gather_dim != gather.all_gather_dim
            or inner.parent is not gather.parent
            or not are_apart(axes, before)
        ):
            break
        axes, held = (*axes, *before), inner.operands[0]
    return axes, held


def _sum(
    program: DeviceProgram,
    gather: stablehlo.AllGatherOp,
    held: SSAValue,
    axes: Axes,
    of_owner: Mapping[int, Stretch],
) -> SSAValue:
    """Write the owners' stretches, one behind the other, on all devices."""
    dim = gather.all_gather_dim.value.data
    parts = [
        program.on_one(
            program.cut(held, dim, [stretch], gather, NAME), axes, owner, gather
        )
        for owner, stretch in of_owner.items()
    ]
    value = program.concatenate(parts, dim, gather)
    return program.all_reduce(value, gather, axes, NAME)


def _one_behind_other(of_owner: Mapping[int, Stretch]) -> dict[int, int]:
    """Return each owner's offset: its part's start if stretches are concatenated."""
    starts: dict[int, int] = {}
    behind = 0
    for owner, (low, high) in of_owner.items():
        starts[owner] = behind - low
        behind += high - low
    return starts


def _cut_again(
    program: DeviceProgram,
    less: SSAValue,
    dim: int,
    read: _Read,
    starts: Mapping[int, int],
) -> None:
    """Let slices cut what they read out of less.

    Args:
        less: what all devices have now.
        starts: for each owner, where in `less` the first place of its part would be.
    """
    replaced: list[SSAValue] = []
    for op, parts in read.items():
        places = [
            (starts[owner] + start, starts[owner] + end)
            for (start, end), owner in parts
        ]
        part = program.cut(less, dim, places, op)
        step = op.strides.get_values()[dim]
        if step > 1:
            part = program.every(part, dim, step, op)
        op.result.replace_all_uses_with(part)
        replaced.append(op.result)
    erase_unused(replaced)


def _cuts_along(op: stablehlo.SliceOp, dim: int) -> bool:
    """Whether a slice takes places of one dimension, neighbours or not."""
    before, after = shape_of(op.operand), shape_of(op.result)
    return all(at == dim or size == after[at] for at, size in enumerate(before))


def _stretch(op: stablehlo.SliceOp, dim: int) -> Stretch:
    """Return the first place that a slice takes, and the one behind its last."""
    start, count = op.start_indices.get_values()[dim], shape_of(op.result)[dim]
    return start, start + (count - 1) * op.strides.get_values()[dim] + bool(count)


def _adds_up(element: Attribute) -> bool:
    """Whether backends can all_reduce elements of a type."""
    if isinstance(element, IntegerType | AnyFloat):
        return element.bitwidth >= (8 if isinstance(element, IntegerType) else 16)
    return isinstance(element, ComplexType)
