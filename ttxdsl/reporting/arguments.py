"""Which arguments of the function a value is a piece of, updates, or is made with."""

from math import prod

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.facts import Collective, Elementwise
from ttxdsl.ir.tensors import element_of, shape_of

_MOVES = (
    stablehlo.BroadcastInDimOp,
    stablehlo.ConvertOp,
    stablehlo.DynamicSliceOp,
    stablehlo.OptimizationBarrierOp,
    stablehlo.ReshapeOp,
    stablehlo.SliceOp,
    stablehlo.TransposeOp,
)
_FARTHEST = 32
"""Ops between a sum and the results that it goes to."""


def source_argument(
    value: SSAValue, *, through_collectives: bool = False, spread: bool = True
) -> BlockArgument | None:
    """The argument of the function that a value is, or is a piece of.

    Args:
        value: of a per-device program.
        through_collectives: look at what was sent, too.
        spread: an argument that is broadcast counts, too.
    """
    while True:
        if isinstance(value, BlockArgument):
            owner = value.block.parent_op()
            if isinstance(owner, FuncOp):
                return value
            if not isinstance(owner, sdy.ManualComputationOp | stablehlo.WhileOp):
                return None
            value = owner.operands[value.index]
        elif isinstance(value, OpResult) and (
            (isinstance(value.op, _MOVES) and (spread or not _spreads(value.op)))
            or (through_collectives and value.op.get_trait(Collective) is not None)
        ):
            value = value.op.operands[0]
        else:
            return None


def _spreads(op: Operation) -> bool:
    return isinstance(op, stablehlo.BroadcastInDimOp) and (
        prod(shape_of(op.operands[0])) != prod(shape_of(op.results[0]))
    )


def _size(value: SSAValue) -> object:
    """Its dimensions in any order, for gradients are transposed where products end."""
    return tuple(sorted(shape_of(value))), element_of(value)


def updated_arguments(
    value: SSAValue, left: int = _FARTHEST
) -> frozenset[BlockArgument] | None:
    """The arguments of its size that are updated by a value that only goes to results.

    Returns:
        None if anything but elementwise work is between it and the results.
    """
    updates: frozenset[BlockArgument] = frozenset()
    for use in value.uses if left else ():
        user = use.operation
        if isinstance(user, ReturnOp):
            continue
        if isinstance(user, sdy.ReturnOp) and (owner := user.parent_op()) is not None:
            behind = [updated_arguments(owner.results[use.index], left - 1)]
        elif user.get_trait(Elementwise) is not None or isinstance(user, _MOVES):
            behind = [updated_arguments(one, left - 1) for one in user.results]
            others = (
                source_argument(other, spread=False)  # a bias is not updated
                for other in user.operands
                if other is not value and _size(other) == _size(value)
            )
            updates |= {one for one in others if one is not None}
        else:
            return None
        for one in behind:
            if one is None:
                return None
            updates |= one
    return updates if left else None


def arguments_of(op: Operation) -> list[BlockArgument]:
    """The arguments that a collective is there for, the nearest that there are.

    What it sends pieces of; else what its sum updates; else what the op before it reads,
    or the ops behind it.
    """
    sent = source_argument(op.operands[0], through_collectives=True)
    if sent is not None:
        return [sent]
    updated = [updated_arguments(result) or () for result in op.results]
    if any(updated):
        found = {one for some in updated for one in some}
        return sorted(found, key=lambda one: one.index)
    before = _maker(op.operands[0])
    behind = [use.operation for result in op.results for use in result.uses]
    return (before and _read(before)) or [one for user in behind for one in _read(user)]


def _maker(value: SSAValue) -> Operation | None:
    while isinstance(value, OpResult) and isinstance(value.op, _MOVES):
        value = value.op.operands[0]
    return value.op if isinstance(value, OpResult) else None


def _read(op: Operation) -> list[BlockArgument]:
    found = (source_argument(one, through_collectives=True) for one in op.operands)
    return list(dict.fromkeys(one for one in found if one is not None))
