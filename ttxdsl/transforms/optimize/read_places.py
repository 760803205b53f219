"""`read-places`: of what is gathered to be sliced, only what slices read is gathered.

The first row of a tensor whose rows are split is on one device, at its first place: where
nobody reads more, devices send their first rows.

**Why it is right.** The gathered dimension is the devices' parts one behind the other. Let
all places that slices read be between `low` and `high` of some part. What is gathered of
these places alone has them in the same order, part by part, so that place p of part i is at
i (high - low) + p - low. Slices by static places are all that looks at it.
"""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.transforms.local.pieces import cuts_only, owned
from ttxdsl.transforms.optimize.device_program import DeviceProgram
from ttxdsl.transforms.optimize.single_ops import erase_unused

NAME = "read-places"


def gather_read(program: DeviceProgram, block: Block) -> bool:
    """Gather less in one block; whether anywhere."""
    changed = False
    for op in program.sending(block):
        if isinstance(op, stablehlo.AllGatherOp) and len(op.operands) == 1:
            changed |= _gather_less(program, op)
    return changed


def _gather_less(program: DeviceProgram, gather: stablehlo.AllGatherOp) -> bool:
    axes, dim = program.axes(gather), gather.all_gather_dim.value.data
    whole, held = gather.results[0], gather.operands[0]
    users = [use.operation for use in whole.uses]
    slices = [
        op
        for op in users
        if isinstance(op, stablehlo.SliceOp)
        and op.parent is gather.parent
        and cuts_only(op, dim)
    ]
    if not axes or not slices or len(slices) < len(users):
        return False
    size = shape_of(held)[dim]
    read = {op: owned([_stretch(op, dim)], size) for op in slices}
    if not all(read.values()):  # of no places: nothing to put together
        return False
    stretches = [stretch for parts in read.values() for stretch, _ in parts]
    low = min(start for start, _ in stretches)
    high = max(end for _, end in stretches)
    if high - low == size:
        return False
    part = program.cut(held, dim, [(low, high)], gather, NAME)
    less = program.all_gather(part, gather, axes, dim, NAME)
    replaced: list[SSAValue] = []
    for op, parts in read.items():
        places = [
            (owner * (high - low) + start - low, owner * (high - low) + end - low)
            for (start, end), owner in parts
        ]
        op.result.replace_all_uses_with(program.cut(less, dim, places, op))
        replaced.append(op.result)
    erase_unused(replaced)
    return True


def _stretch(op: stablehlo.SliceOp, dim: int) -> tuple[int, int]:
    start = op.start_indices.get_values()[dim]
    return start, start + shape_of(op.result)[dim]
