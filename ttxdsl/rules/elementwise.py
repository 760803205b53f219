"""Sharding rules of elementwise ops: operands and results alike, dimension by dimension."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.sdy import ShardingConstraintOp
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, pointwise
from ttxdsl.rules.table import OpRule, rule

POINTWISE: tuple[type[Operation], ...] = (
    ShardingConstraintOp,
    stablehlo.AbsOp,
    stablehlo.AddOp,
    stablehlo.AndOp,
    stablehlo.Atan2Op,
    stablehlo.CbrtOp,
    stablehlo.CeilOp,
    stablehlo.ClzOp,
    stablehlo.CompareOp,
    stablehlo.ComplexOp,
    stablehlo.ConvertOp,
    stablehlo.CosineOp,
    stablehlo.DivOp,
    stablehlo.ExpOp,
    stablehlo.Expm1Op,
    stablehlo.FloorOp,
    stablehlo.ImagOp,
    stablehlo.IsFiniteOp,
    stablehlo.Log1pOp,
    stablehlo.LogOp,
    stablehlo.LogisticOp,
    stablehlo.MaxOp,
    stablehlo.MinOp,
    stablehlo.MulOp,
    stablehlo.NegOp,
    stablehlo.NotOp,
    stablehlo.OrOp,
    stablehlo.PopulationCountOp,
    stablehlo.PowOp,
    stablehlo.RealOp,
    stablehlo.ReducePrecisionOp,
    stablehlo.RemOp,
    stablehlo.RoundNearestEvenOp,
    stablehlo.RoundOp,
    stablehlo.RsqrtOp,
    stablehlo.ShiftLeftOp,
    stablehlo.ShiftRightArithmeticOp,
    stablehlo.ShiftRightLogicalOp,
    stablehlo.SignOp,
    stablehlo.SineOp,
    stablehlo.SqrtOp,
    stablehlo.SubtractOp,
    stablehlo.TanOp,
    stablehlo.TanhOp,
    stablehlo.XorOp,
)


def like_result(op: Operation) -> Iterable[Factor]:
    """A factor a dimension; operands that are scalars stand beside them."""
    return pointwise(shape_of(op.results[0]))


RULES: tuple[OpRule, ...] = (
    *(rule(op_class, like_result) for op_class in POINTWISE),
    rule(stablehlo.ClampOp, like_result),
    rule(stablehlo.SelectOp, like_result),
)
