"""`known-branches` and `out-of-branches`: no branch sends what is known ahead of it.

- A branch of which the program says that it is taken stands where the choice stood.
- What every branch sends is sent once, ahead of them or behind them. A collective that each
  branch does to the same value from outside is done ahead; where each branch ends by the
  same collective of a value of its own, that is handed out and the collective is done
  behind.

**Why it is right.** (known) The index is a constant, so that branch runs, and no other one.
What it sends others may join, or find sent already.

(out of) One of the branches runs, whichever it is: it does the collective, on
the value from outside, or on what it hands out. Ahead and behind that is done to the same
values. Each device sends what it sent before; but there is one collective in the program
instead of several, and others may join it.

**Why it ends.** A choice that is taken is gone, and brings in only those that were in it.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation
from xdsl.rewriter import Rewriter

from ttxdsl.analysis.attribution.origins import optimized
from ttxdsl.dialects import stablehlo
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.single_ops import (
    does_the_same,
    is_collective,
)

KNOWN = "known-branches"
NAME = "out-of-branches"


def take_known(program: DeviceProgram, block: Block) -> bool:
    """Put branches that are surely taken where the choice is; whether there are any."""
    changed = False
    while known := _known(program, block):  # a branch may have others in it
        changed = True
        for choice, taken in known:
            *inside, end = choice.regions[taken].block.ops
            for op in inside:
                op.detach()
                if is_collective(op):
                    op.location = optimized(op.location, KNOWN)
                block.insert_op_before(op, choice)
            for mine, theirs in zip(choice.results, end.operands, strict=True):
                mine.replace_all_uses_with(theirs)
            choice.detach()
            choice.erase()
        program.has_new_ops(block)
    return changed


def _known(program: DeviceProgram, block: Block) -> list[tuple[Operation, int]]:
    """The choices of a block of which the program says which branch is taken."""
    return [
        (op, taken)
        for op in program.nesting.loops_and_branches(block)
        if isinstance(op, stablehlo.IfOp | stablehlo.CaseOp)
        and (taken := program.trip_counts.taken(op)) is not None
    ]


def move_out(program: DeviceProgram, block: Block) -> bool:
    """Move collectives out of the branches of which a block is the last; whether any."""
    choice = block.parent_op()
    if (
        not isinstance(choice, stablehlo.IfOp | stablehlo.CaseOp)
        or block is not choice.regions[-1].blocks.first
        or len(choice.regions) < 2
        or not program.sending(block)
    ):
        return False
    others = [region.block for region in choice.regions[:-1]]
    changed = _ahead(program, choice, block, others)
    changed |= _behind(choice, [block, *others])
    if changed:
        assert choice.parent is not None
        for one in (block, *others, choice.parent):
            program.has_new_ops(one)
    return changed


def _ahead(
    program: DeviceProgram, choice: Operation, block: Block, others: list[Block]
) -> bool:
    changed = False
    assert choice.parent is not None
    for op in program.sending(block):
        if not is_collective(op) or any(
            isinstance(one.owner, Operation) and one.owner.parent is block
            for one in op.operands
        ):
            continue
        alike = [
            next(
                (
                    one
                    for one in program.sending(other)
                    if type(one) is type(op)
                    and _has_same_operands(one, op)
                    and does_the_same(one, op)
                ),
                None,
            )
            for other in others
        ]
        if None in alike:
            continue
        op.detach()
        op.location = optimized(op.location, NAME)
        choice.parent.insert_op_before(op, choice)
        for one in alike:
            assert one is not None
            for mine, theirs in zip(one.results, op.results, strict=True):
                mine.replace_all_uses_with(theirs)
            one.detach()
            one.erase()
        changed = True
    return changed


def _has_same_operands(one: Operation, other: Operation) -> bool:
    return tuple(one.operands) == tuple(other.operands)


def _behind(choice: Operation, blocks: list[Block]) -> bool:
    changed = False
    for index in range(len(choice.results)):
        made = [_last_of(block, index) for block in blocks]
        first = made[0]
        if first is None or not all(
            one is not None
            and type(one) is type(first)
            and one.operands[0].type == first.operands[0].type
            and does_the_same(one, first)
            for one in made
        ):
            continue
        result, parent = choice.results[index], choice.parent
        assert parent is not None
        behind = first.clone({first.operands[0]: result})
        behind.location = optimized(first.location, NAME)
        result.replace_all_uses_with(behind.results[0])
        behind.operands[0] = Rewriter.replace_value_with_new_type(
            result, first.operands[0].type
        )
        parent.insert_op_after(behind, choice)
        for block, one in zip(blocks, made, strict=True):
            assert block.last_op is not None and one is not None
            block.last_op.operands[index] = one.operands[0]
            one.detach()
            one.erase()
        changed = True
    return changed


def _last_of(block: Block, index: int) -> Operation | None:
    """The collective of one value that a branch hands out and nobody else uses."""
    assert block.last_op is not None
    value = block.last_op.operands[index]
    op = value.owner
    if (
        not isinstance(op, Operation)
        or op.parent is not block
        or not is_collective(op)
        or len(op.operands) != 1
        or not value.has_one_use()
    ):
        return None
    return op
