"""Batch normalization on arrays.

Source: StableHLO specification, one section an op.
"""

from xdsl.interpreter import Interpreter

from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.interpreters.kernels import linalg
from ttxdsl.interpreters.kernels.elements import rank_of
from ttxdsl.interpreters.ops.registry import (
    implements,
)
from ttxdsl.interpreters.runtime.regions import Values


@implements(hlo.BatchNormInferenceOp)
def _batch_norm_inference(
    _: Interpreter, op: hlo.BatchNormInferenceOp, args: Values
) -> Values:
    """Normalised by given statistics."""
    rank, feature = rank_of(op.operand.type), op.feature_index.value.data
    epsilon = op.epsilon.value.data
    x, scale, offset, mean, variance = args
    return (
        linalg.batch_norm_inference(
            x, scale, offset, mean, variance, epsilon, rank, feature
        ),
    )


@implements(hlo.BatchNormTrainingOp)
def _batch_norm_training(
    _: Interpreter, op: hlo.BatchNormTrainingOp, args: Values
) -> Values:
    """Normalised by its own statistics."""
    rank, feature = rank_of(op.operand.type), op.feature_index.value.data
    epsilon = op.epsilon.value.data
    x, scale, offset = args
    return linalg.batch_norm_training(x, scale, offset, epsilon, rank, feature)


@implements(hlo.BatchNormGradOp)
def _batch_norm_grad(_: Interpreter, op: hlo.BatchNormGradOp, args: Values) -> Values:
    """Gradients of the training form."""
    rank, feature = rank_of(op.operand.type), op.feature_index.value.data
    epsilon = op.epsilon.value.data
    x, scale, mean, variance, grad = args
    return linalg.batch_norm_grad(
        x, scale, mean, variance, grad, epsilon, rank, feature
    )
