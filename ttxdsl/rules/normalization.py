"""Sharding rules of batch normalizations; Shardy has one for inference only."""

from collections.abc import Iterator

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, FactorType
from ttxdsl.rules.table import OpRule, rule

BatchNorm = (
    stablehlo.BatchNormInferenceOp
    | stablehlo.BatchNormTrainingOp
    | stablehlo.BatchNormGradOp
)


def batch_norm(op: BatchNorm) -> Iterator[Factor]:
    """Pointwise; scale, offset, mean and variance lie along the features.

    Where the mean over all other dimensions is taken, these are needed whole.
    """
    feature = op.feature_index.value.data
    inference = isinstance(op, stablehlo.BatchNormInferenceOp)
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
            FactorType.PASS_THROUGH
            if inference or dim == feature
            else FactorType.NEED_REPLICATION,
        )


RULES: tuple[OpRule, ...] = (rule(stablehlo.BatchNormInferenceOp, batch_norm),)
