"""The same step with other checkpoints: loops of gradients compute again what was saved.

A scan over layers saves values in stacks that the loop of the gradients reads. What makes
such a value is copied into that loop, from the layer's saved input and whatever else stays
saved, as `jax.checkpoint` has it with a policy; stacks that nobody reads any more go.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.usage.buffers.narrow import keeps_operand
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.kernels import is_product
from ttxdsl.dialects.stablehlo._syntax import i64_array
from ttxdsl.insight.plan.saved import stacks
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.stages.inline import InlinePass

POLICIES: Mapping[str, Callable[[Operation], bool]] = {
    "compute layers again: jax.checkpoint": lambda _: False,
    "compute layers again but for their saved products": is_product,
}
"""Whether a policy saves what an op makes, if it is saved now."""


@dataclass(frozen=True, slots=True)
class _Stack:
    """A value that each iteration of a loop writes into a part of an operand."""

    index: int
    update: stablehlo.DynamicUpdateSliceOp
    value: SSAValue
    """What is written, before it gets a dimension for the layers."""


def with_policy(module: ModuleOp, saves: Callable[[Operation], bool]) -> ModuleOp:
    """Return a copy of a program whose layers save what a policy says, and their input.

    Args:
        module: a step as it was loaded.
        saves: whether what an op makes stays saved.

    Raises:
        CompileError: no loop saves more, or what it saves cannot be made of its input.
    """
    _, changed = InlinePass().apply_to_clone(make_context(), module)
    loops: dict[stablehlo.WhileOp, list[_Stack]] = {}
    for loop, index in stacks(changed):
        last = loop.body.block.last_op
        assert last is not None, "a loop's body returns"
        update = last.operands[index].owner
        assert isinstance(update, stablehlo.DynamicUpdateSliceOp)
        value = _before_shape(update.update)
        loops.setdefault(loop, []).append(_Stack(index, update, value))
    done = False
    for loop, saved in loops.items():
        kept = [
            stack
            for stack in saved
            if isinstance(stack.value, BlockArgument)
            or (isinstance(stack.value, OpResult) and saves(stack.value.op))
        ]
        again = [stack for stack in saved if stack not in kept]
        if again:
            _recompute(loop, kept, again)
            done = True
    if not done:
        raise CompileError("no loop saves what such a checkpoint would compute again")
    changed.verify()
    return changed


def _before_shape(value: SSAValue) -> SSAValue:
    """Return a value before reshapes and broadcasts that repeat nothing."""
    while isinstance(value, OpResult) and isinstance(
        value.op, stablehlo.ReshapeOp | stablehlo.BroadcastInDimOp
    ):
        operand = value.op.operands[0]
        if prod(shape_of(operand)) != prod(shape_of(value)):
            break
        value = operand
    if isinstance(value, OpResult) and isinstance(
        value.op, stablehlo.ReducePrecisionOp
    ):
        return value.op.operand
    return value


def _recompute(
    loop: stablehlo.WhileOp, kept: Sequence[_Stack], again: Sequence[_Stack]
) -> None:
    """Make what some stacks hold in the loops that read them, and drop the stacks."""
    for stack in again:
        readers = list(loop.results[stack.index].uses)
        for use in readers:
            reader = use.operation
            if not (
                isinstance(reader, stablehlo.WhileOp)
                and keeps_operand(reader, use.index)
                and "sdy.sharding" not in reader.attributes
            ):
                raise CompileError("not only the loop of gradients reads what is saved")
        for use in readers:
            assert isinstance(use.operation, stablehlo.WhileOp)
            _Reader(loop, use.operation, kept).replace(stack, use.index)
    dropped = {stack.index for stack in again}
    for reader in {use.operation for i in dropped for use in loop.results[i].uses}:
        assert isinstance(reader, stablehlo.WhileOp)
        gone = {
            index
            for index, operand in enumerate(reader.operands)
            if isinstance(operand, OpResult)
            and operand.op is loop
            and operand.index in dropped
        }
        _rebuilt(reader, dropped=gone)
    for stack in again:
        argument = loop.body.block.args[stack.index]
        users = {use.operation for use in argument.uses}
        returned = {use.operation for use in stack.update.results[0].uses}
        if users != {stack.update} or returned != {loop.body.block.last_op}:
            raise CompileError("a loop reads what it saves itself")
    _rebuilt(loop, dropped=dropped)


class _Reader:
    """A loop of gradients, in which values of the loop before are made again."""

    def __init__(
        self,
        source: stablehlo.WhileOp,
        loop: stablehlo.WhileOp,
        kept: Sequence[_Stack],
    ):
        self.source, self.loop = source, loop
        self.saved = {stack.value: stack for stack in kept}

    def replace(self, stack: _Stack, index: int) -> None:
        """Replace all slices of a stack in the loop by what makes it."""
        argument = self.loop.body.block.args[index]
        slices: list[stablehlo.DynamicSliceOp] = []
        for use in list(argument.uses):
            if isinstance(use.operation, stablehlo.DynamicSliceOp):
                slices.append(use.operation)
            elif use.operation is not self.loop.body.block.last_op:
                raise CompileError("a saved value is not read layer by layer")
        for op in slices:
            Rewriter.replace_op(op, [], [_Copy(self, op).of(stack.update.update)])

    def argument_of(self, value: SSAValue) -> BlockArgument:
        """Return the argument of the loop's body that is an outer value, maybe a new one."""
        for index, operand in enumerate(self.loop.operands):
            if operand is value and keeps_operand(self.loop, index):
                return self.loop.body.block.args[index]
        self.loop = _rebuilt(self.loop, added=[value])
        return self.loop.body.block.args[-1]


class _Copy:
    """Ops copied in front of the slice of a stack that they make unnecessary."""

    def __init__(self, reader: _Reader, at: stablehlo.DynamicSliceOp):
        self.reader, self.at = reader, at
        self.copies: dict[SSAValue, SSAValue] = {}

    def of(self, value: SSAValue) -> SSAValue:
        """Return a value of the source loop's body in the reader's."""
        for op in self._needed(value):
            for operand in op.operands:
                self._known(operand)
            self._insert(op.clone(self.copies))
        return self._known(value)

    def _needed(self, value: SSAValue) -> list[Operation]:
        """Return the ops that make a value of what is saved, in their order."""
        block = self.reader.source.body.block
        needed: set[Operation] = set()
        pending = [value]
        while pending:
            current = pending.pop()
            owner = current.owner
            if current in self.reader.saved or not isinstance(owner, Operation):
                continue
            if owner.parent is block and owner not in needed:
                needed.add(owner)
                pending += [v for inner in owner.walk() for v in inner.operands]
        return [op for op in block.ops if op in needed]

    def _known(self, value: SSAValue) -> SSAValue:
        if value not in self.copies:
            if (stack := self.reader.saved.get(value)) is not None:
                self.copies[value] = self._slice(stack, value)
            elif isinstance(value, BlockArgument):
                self.copies[value] = self._argument(value)
            else:
                self.copies[value] = value  # from outside both loops
        return self.copies[value]

    def _argument(self, argument: BlockArgument) -> SSAValue:
        source = self.reader.source
        if argument.block is not source.body.block:
            return argument
        if keeps_operand(source, argument.index):
            return self.reader.argument_of(source.operands[argument.index])
        if not shape_of(argument):
            return self.at.operands[1]  # the counter
        raise CompileError("the input of a layer is not saved")

    def _slice(self, stack: _Stack, value: SSAValue) -> SSAValue:
        """Return the part of a stack that the iteration reads, as the value that it was."""
        results = self.reader.source.results
        whole = self.reader.argument_of(results[stack.index])
        sizes = shape_of(stack.update.update)
        if element_of(whole) != element_of(value):
            raise CompileError("the input of a layer is saved in another type")
        part = self._insert(
            stablehlo.DynamicSliceOp.create(
                operands=[whole, self.at.operands[1], *self._zeros(len(sizes) - 1)],
                result_types=[TensorType(element_of(whole), sizes)],
                properties={"slice_sizes": i64_array(sizes)},
            )
        )
        if part.results[0].type == value.type:
            return part.results[0]
        reshaped = stablehlo.ReshapeOp.create(
            operands=part.results, result_types=[value.type]
        )
        return self._insert(reshaped).results[0]

    def _zeros(self, count: int) -> list[SSAValue]:
        """Return starts of 0 in the type of the counter: those of a slice of a whole rest."""
        if count == 0:
            return []
        rest = list(self.at.operands[2:])
        return (rest * count)[:count] if rest else [self.at.operands[1]] * count

    def _insert(self, op: Operation) -> Operation:
        Rewriter.insert_op(op, InsertPoint.before(self.at))
        return op


def _rebuilt(
    loop: stablehlo.WhileOp,
    *,
    added: Sequence[SSAValue] = (),
    dropped: set[int] | frozenset[int] = frozenset(),
) -> stablehlo.WhileOp:
    """Replace a loop by one that carries more values as they are, or some no more."""
    body, cond = loop.body.block, loop.cond.block
    last = body.last_op
    assert last is not None, "a loop's body returns"
    ends = [end for index, end in enumerate(last.operands) if index not in dropped]
    stale = [last.operands[index].owner for index in dropped]
    for value in added:
        ends.append(body.insert_arg(value.type, len(body.args)))
        cond.insert_arg(value.type, len(cond.args))
    last.operands = ends
    for op in stale:
        if isinstance(op, stablehlo.DynamicUpdateSliceOp):
            Rewriter.erase_op(op)
    for index in sorted(dropped, reverse=True):
        for block in (body, cond):
            block.erase_arg(block.args[index])
    kept = [index for index in range(len(loop.operands)) if index not in dropped]
    operands = [*(loop.operands[index] for index in kept), *added]
    new = stablehlo.WhileOp.create(
        operands=operands,
        result_types=[operand.type for operand in operands],
        attributes=dict(loop.attributes),
        regions=[loop.detach_region(region) for region in (loop.cond, loop.body)],
    )
    Rewriter.insert_op(new, InsertPoint.before(loop))
    for index, result in zip(kept, new.results, strict=False):
        loop.results[index].replace_all_uses_with(result)
    Rewriter.erase_op(loop)
    return new
