"""`collective-dce`: remove collectives whose results nobody uses.

Loops and branches around collectives go too, and so do carries that a loop keeps for
itself.

**Why it is right.** An unused op without effects changes nothing. Neither does a carry
that is not read by the condition nor behind the loop, and in the body only for such
carries: its initial value stands for it in every iteration. All devices run the same
ops, so nobody waits for a collective that is gone.
"""

from collections.abc import Iterable

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.single_ops import is_collective, read_by

NAME = "collective-dce"


def eliminate_dead_collectives(program: DeviceProgram, block: Block) -> bool:
    """Remove dead collectives of a block and its loops, and return True if there are any."""
    changed = _drop_dead(program, block)
    for loop in program.nesting.loops_and_branches(block):
        if not isinstance(loop, stablehlo.WhileOp) or not program.nesting.sends(loop):
            continue
        if _keep_carries(program, loop):
            changed |= eliminate_dead_collectives(program, loop.body.block)
    if changed:
        program.has_new_ops(block)
    return changed


def _drop_dead(program: DeviceProgram, block: Block) -> bool:
    """Remove the ops of a block that nobody uses, if they are about what is sent."""
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


def _keep_carries(program: DeviceProgram, loop: stablehlo.WhileOp) -> bool:
    """Hand on carries that are for themselves alone; return whether any sends."""
    body, condition = loop.body.block, loop.cond.block
    end = body.last_op
    assert end is not None
    wanted = {
        argument.index
        for argument, result in zip(condition.args, loop.results, strict=True)
        if argument.first_use is not None or result.first_use is not None
    }
    # what nobody wants is handed on as it is: no op is for it alone
    if all(
        end.operands[argument.index] is argument
        for argument in body.args
        if argument.index not in wanted
    ):
        return False
    effects = [
        op for op in body.ops if op is not end and not program.nesting.has_no_effect(op)
    ]
    needed = _needed(body, wanted, effects)
    if all(op in needed for op in body.ops if program.nesting.sends(op)):
        return False
    for argument in body.args:
        if argument.index not in wanted:
            end.operands[argument.index] = argument
    return True


def _needed(
    body: Block, wanted: set[int], effects: Iterable[Operation]
) -> set[Operation]:
    """Return the ops of a body that wanted carries, or ops with effects, depend on.

    Those carries are added to `wanted` that these ops read.
    """
    end = body.last_op
    assert end is not None
    needed = set(effects)
    waiting: list[SSAValue] = [value for op in needed for value in read_by(op)]
    waiting += [end.operands[index] for index in wanted]
    while waiting:
        value = waiting.pop()
        if isinstance(value, BlockArgument) and value.block is body:
            if value.index not in wanted:
                wanted.add(value.index)
                waiting.append(end.operands[value.index])
        elif (
            isinstance(value, OpResult)
            and value.op.parent is body
            and value.op not in needed
        ):
            needed.add(value.op)
            waiting += read_by(value.op)
    return needed
