"""`same-values`: what is sent already is not sent again.

A collective of the same values as an earlier one gives what that gave: as the sum that a
mean needs, and the variance beside it once more.

**Why it is right.** Two ops of one kind, with the same properties, regions and operands,
make the same of them on every device if what they make depends on nothing else: ops
without effects, collectives, and slices by device. By induction the same holds of operands
that such ops made of the same values. So the results of both collectives are the same on
every device, and those of the first, which stands above, may stand for those of the second.
What is no collective stays where it is, for it costs nothing that is counted here.
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ttxdsl.analysis.origins import optimized
from ttxdsl.transforms.optimize.device_program import (
    DeviceProgram,
    ToldApart,
    depends_on_operands,
    does_the_same,
    erase_unused,
    is_collective,
)

NAME = "same-values"


_NEAR = 16
"""How many ops collectives are told apart by, before any two are compared."""

_STEPS = 200
"""How many ops two collectives are compared by: what goes back further is another."""


def share_same(program: DeviceProgram, block: Block) -> bool:
    """Drop the collectives of one block that do what others did; whether there are any."""
    sending = [op for op in program.sending(block) if is_collective(op)]
    if len(sending) < 2:
        return False
    known = program.told_apart.setdefault(block, ToldApart())
    replaced: list[SSAValue] = []
    for op in sending:
        if op in known.looked_at:
            continue
        known.looked_at.add(op)
        alike = known.by_kind.setdefault(_kind(op, block), [])
        earlier = next((one for one in alike if _same(block, one, op)), None)
        if earlier is None:
            alike.append(op)
            continue
        if not earlier.is_before_in_block(op):
            earlier, op = op, earlier
            alike[alike.index(op)] = earlier
        for mine, theirs in zip(op.results, earlier.results, strict=True):
            mine.replace_all_uses_with(theirs)
            replaced.append(mine)
        earlier.location = optimized(earlier.location, NAME)
    erase_unused(reversed(replaced))
    return bool(replaced)


def _kind(op: Operation, block: Block) -> int:
    """A number that is the same for ops that do the same: by what is near them."""
    near: list[object] = []
    waiting = [op]
    for one in islice(waiting, _NEAR):
        near.append(type(one))
        for value in one.operands:
            if type(value) is OpResult and value.op.parent is block:
                waiting.append(value.op)
            else:
                near.append(value)
    return hash(tuple(near))


def _same(block: Block, one: Operation, other: Operation) -> bool:
    """Whether two ops of a block surely make the same."""
    waiting = deque([(one, other)])
    seen: set[tuple[Operation, Operation]] = set()
    while waiting:  # the nearest first: most differ there
        pair = mine, theirs = waiting.popleft()
        if mine is theirs or pair in seen:
            continue
        seen.add(pair)
        if (
            len(seen) > _STEPS
            or type(mine) is not type(theirs)
            or mine.parent is not block
            or theirs.parent is not block
            or not depends_on_operands(mine)
        ):
            return False
        operands = _pairs(mine, theirs)
        if operands is None:
            return False
        waiting += operands
    return all(does_the_same(*pair) for pair in seen)


def _pairs(
    one: Operation, other: Operation
) -> list[tuple[Operation, Operation]] | None:
    """What makes the operands that are not the same value; None if they differ."""
    if len(one.operands) != len(other.operands):
        return None
    found: list[tuple[Operation, Operation]] = []
    for mine, theirs in zip(one.operands, other.operands, strict=True):
        if mine is theirs:
            continue
        if not isinstance(mine, OpResult) or not isinstance(theirs, OpResult):
            return None
        if mine.index != theirs.index:
            return None
        found.append((mine.op, theirs.op))
    return found
