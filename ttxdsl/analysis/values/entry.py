"""The program of one device: the function that is meant, and its arguments there."""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.analysis.values.state import DONATED
from ttxdsl.dialects import sdy, stablehlo

_Value = TypeVar("_Value")

_OUTER = (FuncOp, sdy.ManualComputationOp)

PROGRAMS = (
    sdy.ManualComputationOp,
    sdy.NamedComputationOp,
    stablehlo.AsyncStartOp,
    stablehlo.CaseOp,
    stablehlo.IfOp,
    stablehlo.WhileOp,
)
"""Ops whose regions work on buffers and not on elements."""


def is_partitioned(block: Block) -> bool:
    """Whether a function does nothing but manual computations."""
    *ops, _ = block.ops
    return bool(ops) and all(isinstance(op, sdy.ManualComputationOp) for op in ops)


def local_type(argument: SSAValue, partitioned: bool) -> Attribute:
    """Return the type of an argument on a device; one that nothing splits stays whole."""
    if partitioned:
        for use in argument.uses:
            if isinstance(use.operation, sdy.ManualComputationOp):
                return use.operation.body.block.args[use.index].type
    return argument.type


def donated_arguments(function: FuncOp) -> set[int]:
    """Return the indices of the arguments that the caller gives away."""
    return {
        index
        for index, told in enumerate(function.arg_attrs or ())
        if any(name in told.data for name in DONATED)
    }


def given_away(block: Block) -> list[BlockArgument]:
    """Return the arguments of what a device runs that the caller gives away."""
    around = block.parent_op()
    values: Sequence[SSAValue] = block.args
    if isinstance(around, sdy.ManualComputationOp):
        values, around = around.operands, around.parent_op()
    if not isinstance(around, FuncOp):
        return []
    donated = donated_arguments(around)
    return [
        inner
        for inner, value in zip(block.args, values, strict=True)
        if isinstance(value, BlockArgument) and value.index in donated
    ]


def replaced_arguments(block: Block) -> dict[SSAValue, SSAValue]:
    """Return for what a device's program returns the donated argument whose place it takes."""
    returned = dict.fromkeys(block.last_op.operands if block.last_op else ())
    free = (argument for argument in given_away(block) if argument not in returned)
    computed = (value for value in returned if not isinstance(value, BlockArgument))
    return first_alike(computed, free, lambda value: value.type)


def first_alike(
    values: Iterable[_Value],
    places: Iterable[_Value],
    kind: Callable[[_Value], Hashable],
) -> dict[_Value, _Value]:
    """Return for values the first free place of their kind each, for those that have one.

    XLA gives outputs the places of donated arguments so (`OptimizeInputOutputBufferAlias`).
    """
    free: defaultdict[Hashable, deque[_Value]] = defaultdict(deque)
    for place in places:
        free[kind(place)].append(place)
    return {value: free[kind(value)].popleft() for value in values if free[kind(value)]}


def is_argument(value: SSAValue) -> bool:
    """Whether a value is an argument of a function or of what each device runs."""
    return isinstance(value, BlockArgument) and isinstance(
        value.owner.parent_op(), _OUTER
    )


def on_device(value: SSAValue) -> SSAValue:
    """Return what a device's program returns as a value of the function."""
    op = value.owner
    if not isinstance(value, OpResult) or not isinstance(op, sdy.ManualComputationOp):
        return value
    assert op.body.block.last_op is not None, "a manual computation returns"
    return op.body.block.last_op.operands[value.index]


def is_returned(op: Operation, result: SSAValue) -> bool:
    """Whether a device's program returns a result of an op that is no loop."""
    around = op.parent_op()
    if isinstance(op, stablehlo.WhileOp) or not isinstance(around, _OUTER):
        return False
    return any(use.operation is around.body.block.last_op for use in result.uses)
