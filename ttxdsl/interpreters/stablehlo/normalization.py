"""Batch normalization on arrays.

Source: StableHLO specification, one section an op.
"""

from __future__ import annotations

from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)

from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters import linalg
from ttxdsl.interpreters.elements import rank_of


@register_impls
class NormalizationFunctions(InterpreterFunctions):
    """Inference, training and its gradient."""

    @impl(stablehlo.BatchNormInferenceOp)
    def run_batch_norm_inference(
        self,
        interpreter: Interpreter,
        op: stablehlo.BatchNormInferenceOp,
        args: PythonValues,
    ) -> PythonValues:
        """Normalised by given statistics."""
        rank, feature = rank_of(op.operand.type), op.feature_index.value.data
        epsilon = op.epsilon.value.data
        x, scale, offset, mean, variance = args
        return (
            linalg.batch_norm_inference(
                x, scale, offset, mean, variance, epsilon, rank, feature
            ),
        )

    @impl(stablehlo.BatchNormTrainingOp)
    def run_batch_norm_training(
        self,
        interpreter: Interpreter,
        op: stablehlo.BatchNormTrainingOp,
        args: PythonValues,
    ) -> PythonValues:
        """Normalised by its own statistics."""
        rank, feature = rank_of(op.operand.type), op.feature_index.value.data
        epsilon = op.epsilon.value.data
        x, scale, offset = args
        return linalg.batch_norm_training(x, scale, offset, epsilon, rank, feature)

    @impl(stablehlo.BatchNormGradOp)
    def run_batch_norm_grad(
        self,
        interpreter: Interpreter,
        op: stablehlo.BatchNormGradOp,
        args: PythonValues,
    ) -> PythonValues:
        """Gradients of the training form."""
        rank, feature = rank_of(op.operand.type), op.feature_index.value.data
        epsilon = op.epsilon.value.data
        x, scale, mean, variance, grad = args
        return linalg.batch_norm_grad(
            x, scale, mean, variance, grad, epsilon, rank, feature
        )
