"""Sharding rules of the ops that belong to no larger family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, Kind, pointwise
from ttxdsl.rules.table import OpRule, rule


def batch_norm_inference(op: stablehlo.BatchNormInferenceOp) -> Iterator[Factor]:
    """Pointwise; scale, offset, mean and variance lie along the features."""
    feature = op.feature_index.value.data
    for dim, size in enumerate(shape_of(op.operand)):
        statistics = (0 if dim == feature else None,) * 4
        yield Factor(size, (dim, *statistics), (dim,))


def cholesky(op: stablehlo.CholeskyOp) -> Iterable[Factor]:
    """Batch dimensions are independent; each matrix is decomposed on one device."""
    shape = shape_of(op.a)
    batch = len(shape) - 2
    return pointwise(
        shape, lambda dim: Kind.PASS_THROUGH if dim < batch else Kind.NEED_REPLICATION
    )


def rng_bit_generator(op: stablehlo.RngBitGeneratorOp) -> Iterator[Factor]:
    """Every device has the whole state, and makes its shard of the output from it."""
    for dim, size in enumerate(shape_of(op.initial_state)):
        yield Factor(size, (dim,), (dim, None), Kind.NEED_REPLICATION, True)
    for dim, size in enumerate(shape_of(op.output)):
        yield Factor(size, None, (None, dim))


RULES: tuple[OpRule, ...] = (
    rule(stablehlo.BatchNormInferenceOp, batch_norm_inference),
    rule(stablehlo.CholeskyOp, cholesky),
    rule(stablehlo.RngBitGeneratorOp, rng_bit_generator),
)
