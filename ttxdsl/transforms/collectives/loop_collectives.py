"""`hoist-collectives` and `sink-collectives`: run once what each iteration of a loop repeats.

- A collective whose operands no iteration changes runs once, ahead of the loop.
- An all_reduce whose sum the loop only accumulates runs once, behind it.

**Why it is right.** (Ahead.) The operands are values from outside, carries handed on
unchanged, and what ops without effects and other such collectives make of them: every
iteration computes the same, as it does ahead of the loop. Only loops that surely
iterate are changed.

(Behind.) Let the body carry on f(c, s_1, …), s_j the all_reduces of p_j along some
axes, and f linear in all of them together (`sink_all_reduces.py`). If device i carries
c_i, and c is their sum, then the f(c_i, p_1i, …) sum up to f(c, s_1, …). By induction
the all_reduce of the last carries is the last c; the first device starts with c, the
others with zero. Nothing else in the loop may look at c or at what is on the way.
(Floating-point sums round in another order.) It is done where that sends no more.
"""

from collections.abc import Mapping

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ttxdsl.analysis.attribution.origins import HOISTED, optimized
from ttxdsl.costs.ring import Ring
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, is_tensor
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.in_order import places_in
from ttxdsl.transforms.collectives.program.single_ops import (
    depends_on_operands,
    erase_unused,
    is_collective,
    read_by,
)
from ttxdsl.transforms.collectives.sink_all_reduces import (
    LinearRegion,
    is_zero,
    sums_in,
)

HOIST = HOISTED
SINK = "sink-collectives"


def _loop_of(program: DeviceProgram, block: Block) -> stablehlo.WhileOp | None:
    """Return the loop that a block is the body of, if it surely iterates."""
    loop = block.parent_op()
    if not isinstance(loop, stablehlo.WhileOp) or block is not loop.body.blocks.first:
        return None
    return loop if program.trip_counts.of(loop) else None


def hoist_collectives(program: DeviceProgram, block: Block) -> bool:
    """Move collectives of a body ahead of its loop, and return True if any moved."""
    loop = _loop_of(program, block)
    if loop is None:
        return False
    moving = [op for op in program.sending(block) if is_collective(op)]
    unchanged = Unchanged(block, loop)
    replaced: list[SSAValue] = []
    for op in moving:
        if all(unchanged.holds(operand) for operand in op.operands):
            hoisted = unchanged.ahead(op)
            hoisted.location = optimized(op.location, HOIST)
            for old, new in zip(op.results, hoisted.results, strict=True):
                old.replace_all_uses_with(new)
                replaced.append(old)
    erase_unused(reversed(replaced))
    if replaced and loop.parent is not None:
        program.has_new_ops(block)
        program.has_new_ops(loop.parent)
    return bool(replaced)


class Unchanged:
    """The values that no iteration of a loop changes."""

    def __init__(self, body: Block, loop: stablehlo.WhileOp):
        self._body, self._loop = body, loop
        self._holds: dict[SSAValue, bool] = {}
        self._ahead: dict[SSAValue, SSAValue] = {}
        handed_on = body.last_op
        assert handed_on is not None
        for argument in body.args:
            same = handed_on.operands[argument.index] is argument
            self._holds[argument] = same
            self._ahead[argument] = loop.operands[argument.index]

    def holds(self, value: SSAValue) -> bool:
        """Whether a value is the same in each iteration."""
        waiting = [value]
        while waiting:
            current = waiting[-1]
            if current in self._holds:
                waiting.pop()
                continue
            op = current.owner
            if not isinstance(op, Operation) or op.parent is not self._body:
                # a region of the body has values of its own, which nobody asks for
                self._holds[current] = True
                continue
            same = depends_on_operands(op) and self._of(op, waiting)
            if same is not None:
                for result in op.results:
                    self._holds[result] = same
        return self._holds[value]

    def _of(self, op: Operation, waiting: list[SSAValue]) -> bool | None:
        """Return whether all operands are unchanged; None if some is not known yet."""
        needed = read_by(op)
        missing = [operand for operand in needed if operand not in self._holds]
        waiting.extend(missing)
        return None if missing else all(self._holds[operand] for operand in needed)

    def ahead(self, op: Operation) -> Operation:
        """Copy an op, and the ops that it depends on, ahead of the loop."""
        block = self._loop.parent
        assert block is not None
        for value in read_by(op):
            maker = value.owner
            if value in self._ahead:
                continue
            if isinstance(maker, Operation) and maker.parent is self._body:
                self.ahead(maker)
        clone = op.clone(dict(self._ahead))
        block.insert_op_before(clone, self._loop)
        self._ahead.update(zip(op.results, clone.results, strict=True))
        return clone


def sink_collectives(program: DeviceProgram, block: Block) -> bool:
    """Move all_reduces that a body accumulates behind its loop; return True if any moved."""
    loop = _loop_of(program, block)
    if loop is None:
        return False
    sums = sums_in(program, block)
    if not sums:
        return False
    carries = [
        argument
        for argument in block.args
        if not loop.cond.block.args[argument.index].uses
        and argument.has_one_use()
        and is_tensor(argument)
        and element_of(argument) != i1
    ]
    changed = False
    for axes, ops in sums.items():
        region = LinearRegion(program, axes)
        for op in ops:
            if op.parent is not None:
                region.add(op.results[0], op)
        for carry in carries:
            region.add(carry, ops[0])
        region.grow(places_in(block))
        order = {value: at for at, value in enumerate(region.vertices)}
        for carry in carries:
            if _combine_behind(region, block, loop, carry, order):
                changed = True
                carries = [other for other in carries if other is not carry]
    return changed


def _combine_behind(
    region: LinearRegion,
    block: Block,
    loop: stablehlo.WhileOp,
    carry: BlockArgument,
    order: Mapping[SSAValue, int],
) -> bool:
    """Let devices carry what they hold of a sum, if nobody else wants the sum.

    `order` has each value of the region behind those that it is linear in.
    """
    handed_on = block.last_op
    assert handed_on is not None
    index = carry.index
    last = handed_on.operands[index]
    way = _way_to(region, last)
    sums = [
        value
        for value in way
        if not region.vertices[value].linear and value is not carry
    ]
    if carry not in way or not sums or any(_is_carry(value, block) for value in sums):
        return False
    for value in way:
        for use in value.uses:
            result = use.operation.results[0] if use.operation.results else None
            if use.operation is handed_on:
                if (value, use.index) != (last, index):
                    return False
            elif (
                result is None
                or result not in way
                or use.index not in region.vertices[result].linear
            ):
                return False
    program, axes = region.program, region.axes
    result = loop.results[index]
    each = sum(program.bytes(Ring.ALL_REDUCE, value, axes) for value in sums)
    iterations = program.trip_counts.of(loop) or 0
    if program.bytes(Ring.ALL_REDUCE, result, axes) > iterations * each:
        return False
    like = region.vertices[sums[0]].template
    held: dict[SSAValue, SSAValue] = {carry: carry}
    linear_values = sorted(way - {carry}, key=order.__getitem__)
    for value in linear_values:
        held[value] = region.partly(region.vertices[value], held)
    handed_on.operands[index] = held[last]
    start = loop.operands[index]
    if not is_zero(start):
        loop.operands[index] = program.on_one(start, axes, 0, loop)
    users = list(result.uses)
    whole = program.all_reduce(result, like, axes, SINK)
    for use in users:
        use.operation.operands[use.index] = whole
    erase_unused(reversed(linear_values))
    return True


def _is_carry(value: SSAValue, block: Block) -> bool:
    return isinstance(value, BlockArgument) and value.owner is block


def _way_to(region: LinearRegion, value: SSAValue) -> set[SSAValue]:
    """Return the values that a value is linear in, transitively, with itself."""
    way: set[SSAValue] = set()
    waiting = [value] if value in region.vertices else []
    while waiting:
        current = waiting.pop()
        if current not in way:
            way.add(current)
            vertex = region.vertices[current]
            waiting += [vertex.op.operands[index] for index in vertex.linear]
    return way
