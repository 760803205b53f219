"""Batch normalization: inference, training and its gradient.

Source: StableHLO specification, one section an op.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import VerificationContext, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.stablehlo import _infer as infer
from ttxdsl.dialects.stablehlo._base import NotNegative, PureOp
from ttxdsl.dialects.stablehlo.types import (
    FLOAT_OR_QUANT_TENSOR,
    FLOAT_OR_QUANT_VECTOR,
    FixedConstraint,
    shape_of,
    with_shape,
)
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition


@dataclass(frozen=True)
class _Epsilon(FixedConstraint[FloatAttr]):
    """An f32."""

    def verify(
        self, attr: Attribute, constraint_context: VerificationContext | None = None
    ) -> None:
        """Refuse another type."""
        if not isinstance(attr, FloatAttr) or cast(FloatAttr, attr).type != f32:
            raise VerifyException(f"expected an f32, got {attr}")


EPSILON = _Epsilon()


def check_norm(
    op: "BatchNormInferenceOp | BatchNormTrainingOp | BatchNormGradOp",
    batches: Sequence[SSAValue],
    features: Sequence[SSAValue],
) -> Attribute:
    """Check operands, and answer with the type of a value a feature."""
    operand = op.operand.type
    for value in (*batches, *features, *op.results):
        infer.require_element(value.type, operand, "C2: an operand or result")
    for value in batches:
        infer.require_shape(value.type, operand, "C3: grad_output")
    rank = len(shape_of(operand))
    index = op.feature_index.value.data
    if index >= rank:
        raise VerifyException(f"C1: feature_index {index} is not in [0, {rank})")
    expected = with_shape(operand, (shape_of(operand)[index],))
    for value in features:
        infer.require_shape(value.type, expected, "C3 to C6: a value for each feature")
        infer.require_shape(
            value.type, features[0].type, "C3 to C6: a value for each feature"
        )
    return expected


@irdl_op_definition
class BatchNormInferenceOp(PureOp):
    """Normalization by given statistics. Spec section "batch_norm_inference"."""

    name = "stablehlo.batch_norm_inference"

    operand = operand_def(FLOAT_OR_QUANT_TENSOR)
    scale = operand_def(FLOAT_OR_QUANT_VECTOR)
    offset = operand_def(FLOAT_OR_QUANT_VECTOR)
    mean = operand_def(FLOAT_OR_QUANT_VECTOR)
    variance = operand_def(FLOAT_OR_QUANT_VECTOR)
    epsilon = prop_def(EPSILON)
    feature_index = prop_def(NotNegative)
    result = result_def(FLOAT_OR_QUANT_TENSOR)

    def verify_(self) -> None:
        """C1: the feature; C2 to C6: element types and sizes; C7: the result."""
        check_norm(
            self, (self.operand,), (self.scale, self.offset, self.mean, self.variance)
        )
        infer.require_type(self.result.type, self.operand.type, "result (C7)")


@irdl_op_definition
class BatchNormTrainingOp(PureOp):
    """Normalization by the batch's statistics. Spec section "batch_norm_training"."""

    name = "stablehlo.batch_norm_training"

    operand = operand_def(FLOAT_OR_QUANT_TENSOR)
    scale = operand_def(FLOAT_OR_QUANT_VECTOR)
    offset = operand_def(FLOAT_OR_QUANT_VECTOR)
    epsilon = prop_def(EPSILON)
    feature_index = prop_def(NotNegative)
    output = result_def(FLOAT_OR_QUANT_TENSOR)
    batch_mean = result_def(FLOAT_OR_QUANT_VECTOR)
    batch_var = result_def(FLOAT_OR_QUANT_VECTOR)

    def verify_(self) -> None:
        """C1: the feature; C2 to C4: element types and sizes; C5 to C7: results."""
        features = check_norm(self, (self.operand,), (self.scale, self.offset))
        infer.require_results(self, [self.operand.type, features, features], "C5 to C7")


@irdl_op_definition
class BatchNormGradOp(PureOp):
    """Gradients of `batch_norm_training`. Spec section "batch_norm_grad"."""

    name = "stablehlo.batch_norm_grad"

    operand = operand_def(FLOAT_OR_QUANT_TENSOR)
    scale = operand_def(FLOAT_OR_QUANT_VECTOR)
    mean = operand_def(FLOAT_OR_QUANT_VECTOR)
    variance = operand_def(FLOAT_OR_QUANT_VECTOR)
    grad_output = operand_def(FLOAT_OR_QUANT_TENSOR)
    epsilon = prop_def(EPSILON)
    feature_index = prop_def(NotNegative)
    grad_operand = result_def(FLOAT_OR_QUANT_TENSOR)
    grad_scale = result_def(FLOAT_OR_QUANT_VECTOR)
    grad_offset = result_def(FLOAT_OR_QUANT_VECTOR)

    def verify_(self) -> None:
        """C1: the feature; C2 to C5: element types and sizes, of results too."""
        features = check_norm(
            self,
            (self.operand, self.grad_output),
            (self.scale, self.mean, self.variance),
        )
        infer.require_results(self, [self.operand.type, features, features], "C3, C4")
