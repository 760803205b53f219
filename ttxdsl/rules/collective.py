"""Sharding rules of StableHLO collectives in a program that is still global."""

from collections.abc import Iterator

from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, FactorType
from ttxdsl.rules.elementwise import like_result
from ttxdsl.rules.table import OpRule, rule


def _replaced(op: Operation, *dims: int) -> Iterator[Factor]:
    """Return a pointwise rule in which the factors of `dims` need replication.

    The collective itself distributes the contents of these dimensions.
    """
    before, after = shape_of(op.operands[0]), shape_of(op.results[0])
    for dim, size in enumerate(before):
        if dim not in dims:
            yield Factor(size, dim, dim)
    for dim in dict.fromkeys(dims):
        yield Factor(before[dim], dim, None, FactorType.NEED_REPLICATION)
        yield Factor(after[dim], None, dim, FactorType.NEED_REPLICATION)


def all_gather(op: stablehlo.AllGatherOp) -> Iterator[Factor]:
    """Pointwise but for the gathered dimension."""
    return _replaced(op, op.all_gather_dim.value.data)


def all_to_all(op: stablehlo.AllToAllOp) -> Iterator[Factor]:
    """Return a pointwise rule but for the split and the concatenated dimension."""
    split, concat = op.split_dimension.value.data, op.concat_dimension.value.data
    return _replaced(op, split, concat)


def reduce_scatter(op: stablehlo.ReduceScatterOp) -> Iterator[Factor]:
    """Pointwise but for the scattered dimension."""
    return _replaced(op, op.scatter_dimension.value.data)


RULES: tuple[OpRule, ...] = (
    rule(stablehlo.AllGatherOp, all_gather),
    rule(stablehlo.AllReduceOp, like_result),
    rule(stablehlo.AllToAllOp, all_to_all),
    rule(stablehlo.CollectiveBroadcastOp, like_result),
    rule(stablehlo.CollectivePermuteOp, like_result),
    rule(stablehlo.CrossReplicaSumOp, like_result),
    rule(stablehlo.ReduceScatterOp, reduce_scatter),
)
