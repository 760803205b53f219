"""Sharding rules of batch normalizations; Shardy has one for inference only."""

from collections.abc import Iterator

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor
from ttxdsl.rules.table import OpRule, rule

BatchNorm = (
    stablehlo.BatchNormInferenceOp
    | stablehlo.BatchNormTrainingOp
    | stablehlo.BatchNormGradOp
)


def batch_norm(op: BatchNorm) -> Iterator[Factor]:
    """Pointwise; scale, offset, mean and variance lie along the features.

    Where means over the other dimensions are taken, devices sum up theirs.
    """
    feature = op.feature_index.value.data
    operands, results = (
        [shape_of(value) for value in values] for values in (op.operands, op.results)
    )
    rank = len(operands[0])

    def along(shape: tuple[int, ...], dim: int) -> int | None:
        if len(shape) == rank:
            return dim
        return 0 if dim == feature else None

    for dim, size in enumerate(operands[0]):
        yield Factor(
            size,
            tuple(along(shape, dim) for shape in operands),
            tuple(along(shape, dim) for shape in results),
        )


RULES: tuple[OpRule, ...] = (rule(stablehlo.BatchNormInferenceOp, batch_norm),)
