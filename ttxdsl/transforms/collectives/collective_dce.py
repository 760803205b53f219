"""`collective-dce`: remove collectives whose results nobody uses.

Loops and branches around collectives go too.

**Why it is right.** An unused op without effects changes nothing. All devices run the same
ops, so nobody waits for a collective that is gone.
"""

from xdsl.ir import Block, Operation, OpResult

from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.single_ops import is_collective

NAME = "collective-dce"


def eliminate_dead_collectives(program: DeviceProgram, block: Block) -> bool:
    """Remove dead collectives of a block, and return True if there are any."""
    dead: dict[Operation, None] = {}
    assert block.last_op is not None
    op = block.last_op.prev_op
    while op is not None:
        results = op.results
        if (
            results
            and (dead or results[0].first_use is None)  # most are used, and not by dead
            and _is_only_for(dead, block, op)
            and program.nesting.has_no_effect(op)
        ):
            dead[op] = None
        op = op._prev_op  # pyright: ignore[reportPrivateUsage]  # no call
    if not any(program.nesting.sends(op) or _reads_sent(op) for op in dead):
        return False
    for op in dead:  # users first
        op.detach()
        op.erase()
    program.has_new_ops(block)
    return True


def _reads_sent(op: Operation) -> bool:
    """Whether an op reads a collective's result."""
    return any(
        isinstance(operand, OpResult) and is_collective(operand.op)
        for operand in op.operands
    )


def _is_only_for(users: dict[Operation, None], block: Block, op: Operation) -> bool:
    """Whether an op has results that no other ops use."""
    for result in op.results:
        if result.first_use is None:
            continue
        if not users:
            return False
        for use in result.uses:
            if block.find_ancestor_op_in_block(use.operation) not in users:
                return False
    return bool(op.results)
