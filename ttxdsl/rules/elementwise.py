"""Sharding rules of elementwise ops: operands and results alike, dimension by dimension."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.sdy import ShardingConstraintOp
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, pointwise
from ttxdsl.rules.table import OpRule, rule
from ttxdsl.rules.without import WITHOUT_RULE

POINTWISE: tuple[type[Operation], ...] = (
    ShardingConstraintOp,
    stablehlo.CompareOp,
    stablehlo.ReducePrecisionOp,
    *(
        op_class
        for op_class in stablehlo.StableHLO.operations
        if issubclass(
            op_class, stablehlo.ElementwiseUnaryOp | stablehlo.ElementwiseBinaryOp
        )
        and op_class not in WITHOUT_RULE
    ),
)
"""Ops each element of whose results depends on the operands' elements there alone."""


def like_result(op: Operation) -> Iterable[Factor]:
    """A factor a dimension; operands that are scalars stand beside them."""
    return pointwise(shape_of(op.results[0]))


RULES: tuple[OpRule, ...] = (
    *(rule(op_class, like_result) for op_class in POINTWISE),
    rule(stablehlo.ClampOp, like_result),
    rule(stablehlo.SelectOp, like_result),
)
