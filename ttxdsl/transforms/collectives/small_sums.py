"""`small-sums`: sums along one axis are made of the parts along another.

An all_reduce moves ahead of an all_gather along other axes, and behind a reduce_scatter
along other axes, where it works on a part of what it did.

**Why it is right.** An all_reduce works element by element among devices that differ
along its own axes only. These hold the same part along the other axes, so that they may
combine it before it is put together with the rest, which gives each of its elements the
same combination. A reduce_scatter hands out parts of what is combined along its own axes;
combining along both in either order is one combination over all devices of both, of which
each gets its part. (Sums of floating-point numbers are rounded in another order then.)
"""

from xdsl.ir import Block, Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.sharding.axes import Axes, are_apart
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.single_ops import erase_unused, sum_of

NAME = "small-sums"


def sum_small(program: DeviceProgram, block: Block) -> bool:
    """Move the all_reduces of one block to where parts are; whether any moved."""
    changed = False
    for op in program.sending(block):
        if op.parent is None or sum_of(op) is None:
            continue
        made: SSAValue | None = None
        inner = op.operands[0].owner if len(op.operands) == 1 else None
        if not isinstance(inner, Operation) or inner.parent is not block:
            continue
        if not op.operands[0].has_one_use():
            continue
        if isinstance(op, stablehlo.AllReduceOp):
            made = _ahead_of_gather(program, op, inner)
        elif isinstance(op, stablehlo.ReduceScatterOp):
            made = _behind_scatter(program, op, inner)
        if made is not None:
            op.results[0].replace_all_uses_with(made)
            erase_unused(op.results)
            changed = True
    return changed


def _apart(program: DeviceProgram, op: Operation, inner: Operation) -> Axes | None:
    """The axes of the inner one, if they are others than those of the outer one."""
    axes, other = program.axes(op), program.axes(inner)
    if axes is None or other is None or not are_apart(axes, other):
        return None
    return other


def _ahead_of_gather(
    program: DeviceProgram, op: stablehlo.AllReduceOp, inner: Operation
) -> SSAValue | None:
    if not isinstance(inner, stablehlo.AllGatherOp) or sum_of(op) is None:
        return None
    other, axes = _apart(program, op, inner), program.axes(op)
    if other is None or axes is None:
        return None
    reduced = program.all_reduce(inner.operands[0], op, axes, NAME)
    dim = inner.all_gather_dim.value.data
    return program.all_gather(reduced, inner, other, dim, NAME)


def _behind_scatter(
    program: DeviceProgram, op: stablehlo.ReduceScatterOp, inner: Operation
) -> SSAValue | None:
    if not isinstance(inner, stablehlo.AllReduceOp):
        return None
    if sum_of(op) is None or sum_of(inner) != sum_of(op):
        return None
    other = _apart(program, op, inner)
    if other is None:
        return None
    part = program.copy(op, [*inner.operands])
    return program.all_reduce(part, inner, other, NAME)
