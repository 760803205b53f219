"""Data flow edges: which values an `sdy.data_flow_edge` links.

An edge has sources, from which data flows in, and targets, which are the same data: of
a loop's i-th value the sources are the operand and what the body returns, the targets
the block arguments of condition and body and the result. One target is the owner; an
edge op behind it holds the sharding of all.

Source: Shardy's propagation document ("Data flow ops") and its
`ShardableDataFlowOpInterface`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import BlockArgument, OpResult, Region, SSAValue, Use

from ttxdsl.dialects import sdy
from ttxdsl.dialects.sdy import (
    DataFlowEdgeOp,
    ManualComputationOp,
    NamedComputationOp,
)
from ttxdsl.sharding.manual import with_manual_axes, without_manual_axes
from ttxdsl.sharding.spec import TensorSharding

_WHILE = "stablehlo.while"
_CASE = "stablehlo.case"
_BARRIER = "stablehlo.optimization_barrier"
OPS_WITH_EDGES = frozenset((_WHILE, _CASE, _BARRIER))
"""Ops outside sdy through which data flows along edges that their results own."""


def edge_sources(owner: SSAValue) -> list[SSAValue]:
    """The values that flow into the edge that `owner` owns."""
    op = sdy.owning_op(owner)
    if op is None or not isinstance(owner, OpResult | BlockArgument):
        return []
    index = owner.index
    if isinstance(op, ManualComputationOp | NamedComputationOp):
        if isinstance(owner, BlockArgument):
            return [op.operands[index]]
        return [_returned(op.body, index)]
    if op.name == _WHILE:
        return [op.operands[index], _returned(op.regions[1], index)]
    if op.name == _CASE:
        return [_returned(region, index) for region in op.regions]
    if op.name == _BARRIER:
        return [op.operands[index]]
    return []


def other_targets(owner: SSAValue) -> list[SSAValue]:
    """The targets of the edge besides its owner."""
    op = sdy.owning_op(owner)
    if op is None or op.name != _WHILE or not isinstance(owner, OpResult):
        return []
    return [region.block.args[owner.index] for region in op.regions]


def _returned(region: Region, index: int) -> SSAValue:
    end = region.block.last_op
    assert end is not None
    return end.operands[index]


def edge_of_use(use: Use, *, ends_region: bool) -> DataFlowEdgeOp | None:
    """The edge op of the edge that a use is a source of, if there is one.

    Args:
        use: a use of a value.
        ends_region: whether the user is a terminator.

    As in C++, operands of manual and named computations do not lead to their edge: a
    change of the operand does not make propagation visit the edge again.
    """
    op = use.operation.parent_op() if ends_region else use.operation
    if op is None or use.index >= len(op.results):
        return None
    if op.name in OPS_WITH_EDGES or (
        ends_region and isinstance(op, ManualComputationOp | NamedComputationOp)
    ):
        edge = op.results[use.index].get_user_of_unique_use()
        return edge if isinstance(edge, DataFlowEdgeOp) else None
    return None


@dataclass(frozen=True, slots=True)
class Border:
    """The border of a manual computation that an edge crosses.

    The edge op holds the sharding of its own side; steps happen on the side of the
    sources. `outer` is the sharding that the computation states for the value.
    """

    outer: TensorSharding
    manual: tuple[str, ...]
    inwards: bool
    """Whether the edge is that of a block argument, with its source outside."""

    def at_sources(self, sharding: TensorSharding) -> TensorSharding:
        """The edge's sharding as its sources see it."""
        if self.inwards:
            return with_manual_axes(self.outer, sharding, self.manual)
        return without_manual_axes(sharding, self.manual)

    def at_edge(self, sharding: TensorSharding) -> TensorSharding:
        """The sources' sharding as the edge holds it."""
        if self.inwards:
            return without_manual_axes(sharding, self.manual)
        return with_manual_axes(self.outer, sharding, self.manual)


def border_of(owner: SSAValue) -> Border | None:
    """The border that the edge of `owner` crosses, None if both sides are alike."""
    op = sdy.owning_op(owner)
    if not isinstance(op, ManualComputationOp) or not op.manual_axes.data:
        return None
    assert isinstance(owner, OpResult | BlockArgument)
    inwards = isinstance(owner, BlockArgument)
    shardings = op.in_shardings if inwards else op.out_shardings
    return Border(shardings.data[owner.index], op.manual_axes.data, inwards)
