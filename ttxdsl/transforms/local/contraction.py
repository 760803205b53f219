"""Products and what is solved with them: dot products, decompositions, transforms."""

from __future__ import annotations

from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.errors import UnsupportedError
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.transforms.local.by_factors import localize_by_factors, localize_except
from ttxdsl.transforms.local.combiner import SUM
from ttxdsl.transforms.local.localizer import Localizer, Table


def required_rule(ctx: Localizer, op: Operation) -> OpShardingRule:
    """The sharding rule of an op that has one whenever its shapes are static.

    Raises:
        UnsupportedError: its shapes are dynamic.
    """
    rule = ctx.signature(op).rule
    if rule is None:
        raise UnsupportedError("its shapes are not static", op)
    return rule


def product(ctx: Localizer, op: stablehlo.DotGeneralOp | stablehlo.DotOp) -> None:
    """Batch and free dimensions split freely; contracted ones leave partial sums."""
    rule = required_rule(ctx, op)
    localize_by_factors(ctx, op, rule, lambda _: True, combine=SUM)


def batched_matrices(ctx: Localizer, op: Operation) -> None:
    """The last two dimensions are a matrix, all before them are a batch."""
    rank = len(shape_of(op.operands[0]))
    localize_except(ctx, op, (rank - 2, rank - 1))


def triangular_solve(ctx: Localizer, op: stablehlo.TriangularSolveOp) -> None:
    """Batches, and the many right-hand sides, are independent."""
    rank = len(shape_of(op.a))
    batch: tuple[tuple[int, ...], ...] = tuple((dim,) for dim in range(rank - 2))
    rows, columns, sides = rank - 2, rank - 1, rank
    shape_a, shape_b = shape_of(op.a), shape_of(op.b)
    left = bool(op.left_side.value.data)
    b = (*batch, (rows,), (sides,)) if left else (*batch, (sides,), (columns,))
    rule = OpShardingRule(
        (*shape_a, shape_b[-1] if left else shape_b[-2]),
        ((*batch, (rows,), (columns,)), b),
        (b,),
    )
    localize_by_factors(ctx, op, rule, lambda factor: factor not in (rows, columns))


def fft(ctx: Localizer, op: stablehlo.FftOp) -> None:
    """The last dimensions are transformed, all before them are a batch."""
    rank = len(shape_of(op.operand))
    transformed = len(op.fft_length.get_values())
    localize_except(ctx, op, range(rank - transformed, rank))


LOCALIZERS: Table = {
    stablehlo.DotGeneralOp: product,
    stablehlo.DotOp: product,
    stablehlo.CholeskyOp: batched_matrices,
    stablehlo.TriangularSolveOp: triangular_solve,
    stablehlo.FftOp: fft,
}
