"""Sharding rules of elementwise ops: operands and results alike, dimension by dimension."""

from collections.abc import Iterable

from xdsl.ir import Operation

from ttxdsl.dialects.sdy import ShardingConstraintOp
from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.dialects.traits import Elementwise, ops_with
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, pointwise
from ttxdsl.rules.table import OpRule, rule
from ttxdsl.rules.without import WITHOUT_RULE

POINTWISE: tuple[type[Operation], ...] = (
    ShardingConstraintOp,
    *(op for op in ops_with(Elementwise, StableHLO) if op not in WITHOUT_RULE),
)
"""Shardy's elementwise ops; of StableHLO's those of quantized types have no rule there."""


def like_result(op: Operation) -> Iterable[Factor]:
    """Yield a factor for each result dimension; scalar operands have none."""
    return pointwise(shape_of(op.results[0]))


RULES: tuple[OpRule, ...] = tuple(rule(op_class, like_result) for op_class in POINTWISE)
