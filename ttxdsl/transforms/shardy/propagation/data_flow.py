"""Data flow edges as propagation asks for them.

An edge has sources, from which data flows in, and targets, which are the same data: of
a loop's i-th value the sources are the operand and what the body returns, the targets
the block arguments of condition and body and the result. One target is the owner; an
edge op behind it holds the sharding of all. `ttxdsl.ir.data_flow` asks the ops.

Source: Shardy's propagation document ("Data flow ops").
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue, Use

from ttxdsl.dialects import sdy
from ttxdsl.dialects.sdy import DataFlowEdgeOp, ManualComputationOp
from ttxdsl.ir.data_flow import DataFlowTrait, Operand, data_flow_of
from ttxdsl.sharding.manual import with_manual_axes, without_manual_axes
from ttxdsl.sharding.spec import TensorSharding


def _owned_by(owner: SSAValue) -> tuple[Operation, DataFlowTrait] | None:
    """Return the op whose edge a value owns; None if it owns none.

    A program may have an edge op behind any value: behind an argument of a loop, whose
    edge the loop's result owns, or where there are no edges at all. Such ones link nothing.
    """
    op = sdy.owning_op(owner)
    edges = None if op is None else data_flow_of(type(op))
    if op is None or edges is None or sdy.edge_owner(owner) is not owner:
        return None
    return op, edges


def edge_sources(owner: SSAValue) -> list[SSAValue]:
    """Return the values that flow into the edge that `owner` owns."""
    if (owner_and_edges := _owned_by(owner)) is None:
        return []
    op, edges = owner_and_edges
    return [source.value for source in edges.edge_sources(op, owner)]


def other_targets(owner: SSAValue) -> Sequence[SSAValue]:
    """Return the targets of the edge besides its owner."""
    if (owner_and_edges := _owned_by(owner)) is None:
        return ()
    op, edges = owner_and_edges
    return edges.other_targets(op, owner)


def edge_of_use(use: Use, *, ends_region: bool) -> DataFlowEdgeOp | None:
    """Return the edge op of the edge that a use is a source of, if there is one.

    Args:
        ends_region: whether the user is a terminator.
    """
    op = use.operation.parent_op() if ends_region else use.operation
    edges = None if op is None else data_flow_of(type(op))
    if op is None or edges is None:
        return None
    owner = edges.owner_of_source(op, Operand(use.operation, use.index))
    edge = None if owner is None else owner.get_user_of_unique_use()
    return edge if isinstance(edge, DataFlowEdgeOp) else None


class Border(NamedTuple):
    """The border of a manual computation that an edge crosses.

    The edge op holds the sharding of its own side; steps happen on the side of the
    sources. `outer` is the sharding that the computation states for the value.
    """

    outer: TensorSharding
    manual: tuple[str, ...]
    inwards: bool
    """Whether the edge is that of a block argument, with its source outside."""

    def at_sources(self, sharding: TensorSharding) -> TensorSharding:
        """Return the edge's sharding as its sources see it."""
        if self.inwards:
            return with_manual_axes(self.outer, sharding, self.manual)
        return without_manual_axes(sharding, self.manual)

    def at_edge(self, sharding: TensorSharding) -> TensorSharding:
        """Return the sources' sharding as the edge holds it."""
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
