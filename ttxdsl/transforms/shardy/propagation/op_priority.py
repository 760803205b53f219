"""`sdy-op-priority-propagate`: some kinds of ops propagate before others.

Source: Shardy's propagation passes documentation; the talk's "Op priorities".
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce

from xdsl.dialects.builtin import ShapedType
from xdsl.ir import Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.sdy import DataFlowEdgeOp, FuncDataFlowEdgeOp
from ttxdsl.ir.traversal import operands_of
from ttxdsl.sharding.step import Directions, PropagationDirection
from ttxdsl.transforms.shardy.propagation.aggressive import AggressivePropagatePass
from ttxdsl.transforms.shardy.propagation.engine import Propagation, Ways
from ttxdsl.transforms.shardy.propagation.graph import Node
from ttxdsl.transforms.shardy.propagation.op_properties import (
    is_elementwise,
    is_offload_call,
)

Heuristic = Callable[[Node], Directions]
"""From an op to the directions in which it propagates, one a factor."""


def _everywhere(node: Node, direction: PropagationDirection) -> Directions:
    return (direction,) * len(node.both)


def _has_shared_operand(op: Operation) -> bool:
    """Whether an operand with dimensions has other uses besides this one.

    Then propagating forward might make a conflict for each of its uses, and
    propagating backward one between them.
    """
    for operand in operands_of(op):
        if not operand.has_one_use() and not _is_scalar(operand):
            return True
    return False


def _is_scalar(value: SSAValue) -> bool:
    return isinstance(value.type, ShapedType) and not value.type.get_shape()


_WITHOUT_ELEMENTS_CHANGED = frozenset(
    (
        stablehlo.ReshapeOp,
        stablehlo.TransposeOp,
        DataFlowEdgeOp,
        FuncDataFlowEdgeOp,
    )
)
_SLICES = frozenset((stablehlo.DynamicSliceOp, stablehlo.DynamicUpdateSliceOp))


def pass_through(node: Node) -> Directions:
    """Ops that keep every element."""
    op = node.op
    if type(op) in _WITHOUT_ELEMENTS_CHANGED or is_elementwise(op):
        return _everywhere(node, PropagationDirection.BOTH)
    if type(op) in _SLICES:
        return _everywhere(node, PropagationDirection.FORWARD)
    keeps = is_offload_call(op)
    return _everywhere(
        node, PropagationDirection.BOTH if keeps else PropagationDirection.NONE
    )


_SINGLE_USE = Ways(pass_through, unless=_has_shared_operand)
"""It looks at uses, which change when dead ops are erased."""


def pass_through_single_use(node: Node) -> Directions:
    """Ops that keep every element, if nobody else uses their operands."""
    return _SINGLE_USE(node)


def pass_through_factors_broadcast_backward(node: Node) -> Directions:
    """Along factors that need no communication; broadcasts only to their operand."""
    directions = all_but_broadcast_forward(node)
    rule = node.rule
    if rule is None:
        return directions
    return tuple(
        direction if rule.is_pass_through(factor) else PropagationDirection.NONE
        for factor, direction in enumerate(directions)
    )


def all_but_broadcast_forward(node: Node) -> Directions:
    """Everything, but broadcasts only to their operand."""
    if type(node.op) is stablehlo.BroadcastInDimOp:
        return _everywhere(node, PropagationDirection.BACKWARD)
    return _everywhere(node, PropagationDirection.BOTH)


def everything(node: Node) -> Directions:
    """Everything, in both directions."""
    return _everywhere(node, PropagationDirection.BOTH)


SCHEDULE: tuple[Heuristic, ...] = (
    pass_through_single_use,
    pass_through,
    pass_through_factors_broadcast_backward,
    all_but_broadcast_forward,
    everything,
)
"""Each iteration propagates what its heuristic or one before it allows."""


@cache
def directions_until(priority: int) -> Ways:
    """Return the directions that heuristics up to that of `priority` allow together."""
    if priority == 0:
        return _SINGLE_USE
    heuristics = SCHEDULE[1 : priority + 1]  # the second allows what the first does

    def of_kind(node: Node) -> Directions:
        return reduce(_union, (heuristic(node) for heuristic in heuristics))

    return Ways(of_kind)


@cache
def _union(first: Directions, second: Directions) -> Directions:
    return tuple(mine | other for mine, other in zip(first, second, strict=True))


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
