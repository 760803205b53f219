"""The uses on which data flows into regions and results, and what they should bring."""

from collections.abc import Iterator, Sequence

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.dialects import sdy
from ttxdsl.ir.data_flow import Operand, data_flow_of
from ttxdsl.sharding.manual import without_manual_axes
from ttxdsl.sharding.spec import TensorSharding


def data_flow_edges(
    op: Operation,
) -> Iterator[tuple[TensorSharding | None, Sequence[Operand]]]:
    """Yield the edges on which data flows into results and block arguments of an op.

    Yields for each edge the sharding that its sources are expected to have, seen from
    where they stand, and the sources: operands of the op or of its regions' ends.
    """
    edges = data_flow_of(type(op))
    if edges is not None:
        for owner in edges.edge_owners(op):
            yield _expected(op, owner), edges.edge_sources(op, owner)


def _expected(op: Operation, owner: SSAValue) -> TensorSharding | None:
    """Return an op's own sharding of a value it owns, whatever data flow edges say."""
    assert isinstance(owner, OpResult | BlockArgument)
    inwards = isinstance(owner, BlockArgument)
    match op:
        case sdy.ManualComputationOp():
            if inwards:
                return op.in_shardings.data[owner.index]
            outer = op.out_shardings.data[owner.index]
            return without_manual_axes(outer, op.manual_axes.data)
        case sdy.NamedComputationOp():
            shardings = op.in_shardings if inwards else op.out_shardings
        case _:
            name = sdy.BLOCK_ARGUMENT_SHARDING if inwards else sdy.SHARDING
            shardings = op.attributes.get(name)
    if isinstance(shardings, sdy.TensorShardingPerValueAttr):
        return shardings.data[owner.index]
    return None
