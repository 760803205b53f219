"""The element-by-element ops: one table, of which each op is a line.

Semantics of every op: the result's element at an index is the function of the
operands' elements at that index. A dimension of size 1 is stretched to the result's.
Unless the summary says more, the function is the StableHLO op's of the same meaning
(NaN handling, integer wrap-around and division by zero included).
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import Any, ClassVar, NamedTuple, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    AnyTensorTypeConstr,
    ArrayAttr,
    BoolAttr,
    ComplexType,
    NoneAttr,
    i1,
)
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt.op import ComputeOp, TTOp, op_of
from ttxdsl.dialects._tt.tensors import bit_width, shape_text, tensor_types
from ttxdsl.dialects.ttcore import TensorMeshAttr
from ttxdsl.ir.tensors import Tensor, tensor_type


class Typing(Enum):
    """The relation between element types of an elementwise op's operands and result."""

    SAME = auto()
    """All operands and the result have one element type."""
    COMPARE = auto()
    """All operands have one element type, the result is i1."""
    LOGICAL = auto()
    """All operands and the result are i1."""
    SELECT = auto()
    """The first operand is i1, the others have the result's element type."""
    CONVERT = auto()
    """Any element type to any other."""
    MAGNITUDE = auto()
    """As SAME, but of complex numbers the result is real."""
    BITCAST = auto()
    """Any element type to another of the same width."""


class TableLine(NamedTuple):
    """One elementwise op: its names, number of operands, typing and meaning."""

    ttir: str
    """Mnemonic in ttir, without `ttir.`."""
    arity: int
    summary: str
    typing: Typing = Typing.SAME
    ttnn_name: str = ""
    """Mnemonic in ttnn where it differs from ttir's."""
    composite: bool = False
    """Whether ttnn composes it of other kernels, so that it takes no activations."""

    @property
    def ttnn(self) -> str:
        """Mnemonic in ttnn, without `ttnn.`."""
        return self.ttnn_name or self.ttir


ELEMENTWISE: tuple[TableLine, ...] = (
    # one operand
    TableLine("abs", 1, "Absolute value; of complex, real.", Typing.MAGNITUDE),
    TableLine("acos", 1, "Inverse cosine."),
    TableLine("asin", 1, "Inverse sine."),
    TableLine("asinh", 1, "Inverse hyperbolic sine."),
    TableLine("atan", 1, "Inverse tangent."),
    TableLine(
        "bitcast_convert", 1, "The same bits read as another type.", Typing.BITCAST
    ),
    TableLine("bitwise_not", 1, "Every bit of an integer inverted."),
    TableLine("cbrt", 1, "Cubic root."),
    TableLine("ceil", 1, "Least integer that is not smaller."),
    TableLine("cos", 1, "Cosine of radians."),
    TableLine("erf", 1, "Error function."),
    TableLine("erfc", 1, "Complementary error function, 1 - erf."),
    TableLine("exp", 1, "Exponential."),
    TableLine("expm1", 1, "Exponential minus one, exact near zero."),
    TableLine("floor", 1, "Greatest integer that is not larger."),
    TableLine("gelu", 1, "x * (1 + erf(x / sqrt(2))) / 2, the exact form."),
    TableLine(
        "isfinite", 1, "Whether neither infinite nor NaN; a float.", Typing.COMPARE
    ),
    TableLine("log", 1, "Natural logarithm."),
    TableLine("log1p", 1, "Natural logarithm of 1 + x, exact near zero."),
    TableLine("logical_not", 1, "Truth inverted.", Typing.LOGICAL),
    TableLine("neg", 1, "Negation; integers wrap around."),
    TableLine("reciprocal", 1, "1 / x."),
    TableLine("relu", 1, "max(x, 0)."),
    TableLine("rsqrt", 1, "1 / sqrt(x)."),
    TableLine("sigmoid", 1, "1 / (1 + exp(-x))."),
    TableLine("sign", 1, "-1, 0 or 1; keeps NaN and signed zero of floats."),
    TableLine("silu", 1, "x * sigmoid(x)."),
    TableLine("sin", 1, "Sine of radians."),
    TableLine("sqrt", 1, "Square root."),
    TableLine("tan", 1, "Tangent of radians."),
    TableLine("tanh", 1, "Hyperbolic tangent."),
    TableLine(
        "typecast",
        1,
        "Conversion as stablehlo.convert: to i1 is `!= 0`, float to integer truncates.",
        Typing.CONVERT,
    ),
    # two operands
    TableLine("add", 2, "Sum; logical or on i1."),
    TableLine("atan2", 2, "Angle of the point (rhs, lhs) in radians.", composite=True),
    TableLine("bitwise_and", 2, "Bits set in both integers."),
    TableLine("bitwise_or", 2, "Bits set in either integer."),
    TableLine("bitwise_xor", 2, "Bits set in exactly one integer."),
    TableLine("div", 2, "Quotient; integers truncate toward zero.", ttnn_name="divide"),
    TableLine("eq", 2, "lhs == rhs.", Typing.COMPARE),
    TableLine("ge", 2, "lhs >= rhs.", Typing.COMPARE),
    TableLine("gt", 2, "lhs > rhs.", Typing.COMPARE),
    TableLine("le", 2, "lhs <= rhs.", Typing.COMPARE),
    TableLine("logical_and", 2, "Both are true.", Typing.LOGICAL),
    TableLine(
        "logical_left_shift", 2, "lhs * 2^rhs; 0 when rhs is not below the bit width."
    ),
    TableLine("logical_or", 2, "Either is true.", Typing.LOGICAL),
    TableLine(
        "logical_right_shift",
        2,
        "Bits moved right, zeros in from the left; 0 when rhs is not below the width.",
    ),
    TableLine("logical_xor", 2, "Exactly one is true.", Typing.LOGICAL),
    TableLine("lt", 2, "lhs < rhs.", Typing.COMPARE),
    TableLine("maximum", 2, "The larger; NaN if either is; logical or on i1."),
    TableLine("minimum", 2, "The smaller; NaN if either is; logical and on i1."),
    TableLine("multiply", 2, "Product; logical and on i1."),
    TableLine("ne", 2, "lhs != rhs.", Typing.COMPARE),
    TableLine("pow", 2, "lhs to the power rhs.", ttnn_name="pow_tensor"),
    TableLine("remainder", 2, "Rest of the truncated quotient; the sign is lhs's."),
    TableLine("subtract", 2, "Difference; integers wrap around."),
    # three operands
    TableLine("clamp_tensor", 3, "min(max(input, min), max)."),
    TableLine(
        "where", 3, "The second where the first is true, else the third.", Typing.SELECT
    ),
)
"""Every elementwise op of ttir and ttnn, by number of operands, then by name."""


class ElementwiseOp(ComputeOp):
    """Base of the elementwise ops."""

    SPEC: ClassVar[TableLine]

    result = result_def(AnyTensorTypeConstr)

    @classmethod
    def mnemonic(cls) -> str:
        """ttir's, also of ttnn's op."""
        return cls.SPEC.ttir

    def verify_shapes(self) -> None:
        """Operands stretch to the result; element types as the table's typing says."""
        operands, result = tensor_types(*self.reads), tensor_type(self.result)
        wanted = result.get_shape()
        for number, operand in enumerate(operands):
            shape = operand.get_shape()
            # tt-mlir stretches as NumPy does: dimensions in front may be missing
            stretches = len(shape) <= len(wanted) and all(
                size in (1, full)
                for size, full in zip(reversed(shape), reversed(wanted), strict=False)
            )
            if not stretches:
                raise VerifyException(
                    f"operand {number} of shape {shape_text(operand)} does not stretch "
                    f"to the result of shape {shape_text(result)}: counted from the "
                    "last, each dimension 1 or equal"
                )
        elements = [operand.element_type for operand in operands]
        _expect_elements(
            elements, result.element_type, self.SPEC.typing, has_layout(result)
        )


def has_layout(type: Tensor) -> bool:
    """Whether a tensor lies where tt-mlir's ttnn says, and not on a mesh by name."""
    return not isinstance(type.encoding, NoneAttr | TensorMeshAttr)


def _expect_elements(
    operands: Sequence[Attribute], result: Attribute, typing: Typing, numbers: bool
) -> None:
    """Element types relate as the op's typing says.

    Args:
        numbers: whether numbers may stand for truth, as in tt-mlir's ttnn: 0 is false.
            A float result may be rounded to another type there.
    """
    if typing == Typing.CONVERT:
        return
    if typing == Typing.BITCAST:
        if bit_width(operands[0]) != bit_width(result):
            raise VerifyException(
                f"{operands[0]} and {result} have different bit widths"
            )
        return
    truth = typing in (Typing.COMPARE, Typing.LOGICAL)
    if truth and result != i1 and not numbers:
        raise VerifyException(f"the result has elements of {result}, expected i1")
    if typing == Typing.SELECT and operands[0] != i1 and not numbers:
        raise VerifyException(
            f"the condition has elements of {operands[0]}, expected i1"
        )
    same = operands[1:] if typing == Typing.SELECT else operands
    if typing == Typing.MAGNITUDE:
        same = [_magnitude(attribute) for attribute in same]
    rounds = numbers and isinstance(result, AnyFloat) and isinstance(same[0], AnyFloat)
    if not rounds and (not truth or (typing == Typing.LOGICAL and not numbers)):
        same = [*same, result]
    if len(set(same)) > 1:
        names = ", ".join(str(type) for type in same)
        raise VerifyException(f"element types must be the same, got {names}")


def _magnitude(type: Attribute) -> Attribute:
    """Return the type of a number's size: of a complex number that of its parts."""
    if isinstance(type, ComplexType):
        return cast("ComplexType[Any]", type).element_type
    return type


class UnaryOp(ElementwiseOp):
    """Base of elementwise ops of one operand."""

    input = operand_def(AnyTensorTypeConstr)


class BinaryOp(ElementwiseOp):
    """Base of elementwise ops of two operands."""

    lhs = operand_def(AnyTensorTypeConstr)
    rhs = operand_def(AnyTensorTypeConstr)


class TernaryOp(ElementwiseOp):
    """Base of elementwise ops of three operands."""

    first = operand_def(AnyTensorTypeConstr)
    second = operand_def(AnyTensorTypeConstr)
    third = operand_def(AnyTensorTypeConstr)


ACTIVATIONS = (
    "input_tensor_a_activations",
    "input_tensor_b_activations",
    "activations",
)
"""Where an op of two operands of ttnn says what happens to them and to its result."""


def op_of_line(spec: TableLine, dialect: type[TTOp], name: str) -> type[ElementwiseOp]:
    """Return the op that a line of the table is in a dialect, which calls it so."""
    base = (UnaryOp, BinaryOp, TernaryOp)[spec.arity - 1]
    members: dict[str, Any] = {"SPEC": spec}
    members["__annotations__"] = {"SPEC": "ClassVar[TableLine]"}
    if dialect.DIALECT == "ttnn" and spec.arity == 2 and not spec.composite:
        members |= {where: opt_prop_def(ArrayAttr) for where in ACTIVATIONS}
    elif spec.typing == Typing.CONVERT:
        members["conservative_folding"] = opt_prop_def(BoolAttr)
    return op_of(base, dialect, name, spec.summary, **members)
