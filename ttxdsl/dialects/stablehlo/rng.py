"""Random numbers and random bits.

Source: StableHLO specification, one section an op.
"""

from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.irdl import BaseAttr, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.stablehlo._base import Field, PrettyOp, PurePrettyOp, enum_codec
from ttxdsl.dialects.stablehlo._infer import constant_ints, require_shape, require_sizes
from ttxdsl.dialects.stablehlo.attributes import (
    RngAlgorithmAttr,
    RngDistribution,
    RngDistributionAttr,
)
from ttxdsl.dialects.stablehlo.types import (
    STATIC_DIMENSION_TENSOR,
    Kind,
    TensorOf,
    element_kind,
    element_of,
    shape_of,
)
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition

_RNG_BOUND = TensorOf(Kind.PRED | Kind.INT | Kind.FLOAT, rank=0)


@irdl_op_definition
class RngOp(PrettyOp):
    """Numbers of a distribution, from no state. Deprecated. Spec section "rng"."""

    name = "stablehlo.rng"

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("distribution", "rng_distribution", enum_codec(RngDistributionAttr)),
    )

    a = operand_def(_RNG_BOUND)
    b = operand_def(_RNG_BOUND)
    shape = operand_def(STATIC_DIMENSION_TENSOR)
    rng_distribution = prop_def(BaseAttr(RngDistributionAttr))
    result = result_def(TensorOf(Kind.PRED | Kind.INT | Kind.FLOAT))

    def verify_(self) -> None:
        """C1: element types; C2: floats; C3: the shape."""
        element = element_of(self.result.type)
        for name, bound in (("a", self.a.type), ("b", self.b.type)):
            if element_of(bound) != element:
                raise VerifyException(
                    f"C1: {name} is {bound}, the result {self.result.type}"
                )
        if (
            self.rng_distribution.data is not RngDistribution.UNIFORM
            and element_kind(element) is not Kind.FLOAT
        ):
            raise VerifyException(
                f"C2: a normal distribution is of floats, got {element}"
            )
        (rank,) = shape_of(self.shape.type)
        require_sizes(
            self.result.type,
            constant_ints(self.shape) or (DYNAMIC_INDEX,) * rank,
            "result (C3)",
        )


@irdl_op_definition
class RngBitGeneratorOp(PurePrettyOp):
    """Random bits and the generator's next state. Spec: "rng_bit_generator"."""

    name = "stablehlo.rng_bit_generator"

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("algorithm", "rng_algorithm", enum_codec(RngAlgorithmAttr)),
    )

    initial_state = operand_def(TensorOf(Kind.INT | Kind.FLOAT))
    rng_algorithm = prop_def(BaseAttr(RngAlgorithmAttr))
    output_state = result_def(TensorOf(Kind.INT | Kind.FLOAT))
    output = result_def(TensorOf(Kind.INT | Kind.FLOAT, static=True))

    def verify_(self) -> None:
        """C1: the state keeps its shape."""
        require_shape(
            self.output_state.type, self.initial_state.type, "output_state (C1)"
        )
