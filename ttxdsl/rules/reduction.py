"""Sharding rules of reductions and sorts."""

from collections.abc import Iterator

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, FactorType
from ttxdsl.rules.table import OpRule, rule


def reduce(op: stablehlo.ReduceOp) -> Iterator[Factor]:
    """Shards are reduced on their own, their results then across devices."""
    reduced = op.dimensions.get_values()
    inputs = len(op.inputs)
    init_values = (None,) * len(op.init_values)
    out = 0
    for dim, size in enumerate(shape_of(op.inputs[0])):
        operands = (dim,) * inputs + init_values
        if dim in reduced:
            yield Factor(size, operands, None, FactorType.REDUCTION)
        else:
            yield Factor(size, operands, out)
            out += 1


def sort(op: stablehlo.SortOp) -> Iterator[Factor]:
    """Rows are independent; the sorted dimension is needed whole.

    A sharding still travels along it, for it may move to another dimension later,
    but not when there is none that could take it.
    """
    shape = shape_of(op.inputs[0])
    along = op.dimension.value.data
    if along < 0:
        along += len(shape)
    alone = all(dim == along or size == 1 for dim, size in enumerate(shape))
    for dim, size in enumerate(shape):
        if dim == along:
            yield Factor(size, dim, dim, FactorType.NEED_REPLICATION, alone)
        else:
            yield Factor(size, dim, dim)


RULES: tuple[OpRule, ...] = (
    rule(stablehlo.ReduceOp, reduce),
    rule(stablehlo.SortOp, sort),
)
