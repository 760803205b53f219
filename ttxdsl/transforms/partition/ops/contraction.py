"""Products and what is solved with them: dot products, decompositions, transforms."""

from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.transforms.partition.by_factors import by_factors, localize_by_factors
from ttxdsl.transforms.partition.exchange.combiner import SUM
from ttxdsl.transforms.partition.localizer import Localizer, Table


def product(
    ctx: Localizer, op: stablehlo.DotGeneralOp | stablehlo.DotOp | chlo.RaggedDotOp
) -> None:
    """Contracted dimensions leave partial sums."""
    localize_by_factors(ctx, op, combine=SUM)


LOCALIZERS: Table = {
    stablehlo.DotGeneralOp: product,
    stablehlo.DotOp: product,
    chlo.RaggedDotOp: product,
    stablehlo.CholeskyOp: by_factors,
    stablehlo.TriangularSolveOp: by_factors,
    stablehlo.FftOp: by_factors,
}
