"""`sdy-op-priority-propagate`: some kinds of ops propagate before others.

Source: Shardy's propagation passes documentation; the talk's "Op priorities".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects.builtin import ShapedType
from xdsl.ir import Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.sdy import DataFlowEdgeOp, FuncDataFlowEdgeOp
from ttxdsl.sharding.step import Direction, Directions
from ttxdsl.transforms.propagation.aggressive import AggressivePropagatePass
from ttxdsl.transforms.propagation.engine import DirectionsOf, Propagation
from ttxdsl.transforms.propagation.graph import Node
from ttxdsl.transforms.propagation.op_properties import (
    is_elementwise,
    is_offload_call,
)

Heuristic = Callable[[Node, int], Direction]
"""From an op and a factor to the direction in which it propagates along the factor."""


def _has_shared_operand(op: Operation) -> bool:
    """Whether an operand with dimensions has other uses besides this one.

    Then propagating forward might make a conflict for each of its uses, and
    propagating backward one between them.
    """
    return any(
        not operand.has_one_use() and not _is_scalar(operand) for operand in op.operands
    )


def _is_scalar(value: SSAValue) -> bool:
    return isinstance(value.type, ShapedType) and not value.type.get_shape()


def _passes_through(op: Operation) -> Direction:
    """The direction for ops that keep every element; NONE for all others."""
    if isinstance(
        op,
        stablehlo.ReshapeOp
        | stablehlo.TransposeOp
        | DataFlowEdgeOp
        | FuncDataFlowEdgeOp,
    ):
        return Direction.BOTH
    if is_elementwise(op) or is_offload_call(op):
        return Direction.BOTH
    if isinstance(op, stablehlo.DynamicSliceOp | stablehlo.DynamicUpdateSliceOp):
        return Direction.FORWARD
    return Direction.NONE


def pass_through_single_use(node: Node, factor: int) -> Direction:
    """Ops that keep every element, if nobody else uses their operands."""
    direction = _passes_through(node.op)
    if direction is Direction.NONE or _has_shared_operand(node.op):
        return Direction.NONE
    return direction


def pass_through(node: Node, factor: int) -> Direction:
    """Ops that keep every element."""
    return _passes_through(node.op)


def pass_through_factors_broadcast_backward(node: Node, factor: int) -> Direction:
    """Along factors that need no communication; broadcasts only to their operand."""
    if node.rule is not None and not node.rule.is_pass_through(factor):
        return Direction.NONE
    return all_but_broadcast_forward(node, factor)


def all_but_broadcast_forward(node: Node, factor: int) -> Direction:
    """Everything, but broadcasts only to their operand."""
    if isinstance(node.op, stablehlo.BroadcastInDimOp):
        return Direction.BACKWARD
    return Direction.BOTH


def everything(node: Node, factor: int) -> Direction:
    """Everything, in both directions."""
    return Direction.BOTH


SCHEDULE: tuple[Heuristic, ...] = (
    pass_through_single_use,
    pass_through,
    pass_through_factors_broadcast_backward,
    all_but_broadcast_forward,
    everything,
)
"""Each iteration propagates what its heuristic or one before it allows."""


def directions_until(priority: int) -> DirectionsOf:
    """What the heuristics up to that of `priority` allow together."""
    heuristics = SCHEDULE[: priority + 1]

    def directions_of(node: Node) -> Directions:
        return tuple(
            reduce(
                lambda known, heuristic: known | heuristic(node, factor),
                heuristics,
                Direction.NONE,
            )
            for factor in range(len(node.both))
        )

    return directions_of


@dataclass(frozen=True)
class OpPriorityPropagatePass(AggressivePropagatePass):
    """Propagate in iterations, through one more kind of op in each.

    Options:
        run_op_priority_propagation: whether to do so, or to propagate through all ops
            at once.
    """

    name = "sdy-op-priority-propagate"

    run_op_priority_propagation: bool = True

    def propagate(self, propagation: Propagation) -> None:
        """One run of the strategies for each op priority."""
        if not self.run_op_priority_propagation:
            self.run_strategies(propagation, None)
            return
        for priority in range(len(SCHEDULE)):
            everywhere = SCHEDULE[priority] is everything
            self.run_strategies(
                propagation, None if everywhere else directions_until(priority)
            )
