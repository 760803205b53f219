"""Elementwise ops: one function of the elements at the same place of every operand.

Source: StableHLO specification, one section an op.
"""

import re
from abc import ABC
from collections.abc import Mapping
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    f32,
    f64,
    i1,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    BaseAttr,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Commutative, Pure
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.dialects.stablehlo import _infer as infer, _syntax as syntax
from ttxdsl.dialects.stablehlo._base import IntegerOf, PrettyOp, enum_codec
from ttxdsl.dialects.stablehlo._quantized import check_quantized_add
from ttxdsl.dialects.stablehlo.attributes import (
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
    ResultAccuracyAttr,
    ResultAccuracyMode,
)
from ttxdsl.dialects.stablehlo.types import (
    PRED_TENSOR,
    TENSOR,
    TENSOR_PER_AXIS,
    Kind,
    TensorOf,
    complex_part,
    element_of,
    expressed_type,
    shape_of,
    with_element,
)
from ttxdsl.dialects.traits import Elementwise, Linear, MovesData, RoundsOnce
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition

_FLOAT_COMPLEX_QUANT = TensorOf(Kind.FLOAT | Kind.COMPLEX | Kind.QUANT)
_FLOAT_QUANT = TensorOf(Kind.FLOAT | Kind.QUANT)
_SIGNED = TensorOf(Kind.SINT | Kind.FLOAT | Kind.COMPLEX | Kind.QUANT)
_NUMBER = TensorOf(Kind.INT | Kind.FLOAT | Kind.COMPLEX | Kind.QUANT)
_INT = TensorOf(Kind.INT)
_PRED_OR_INT = TensorOf(Kind.PRED | Kind.INT)
_FLOAT = TensorOf(Kind.FLOAT)
_FLOAT_OR_COMPLEX = TensorOf(Kind.FLOAT | Kind.COMPLEX)
_NOT_QUANT = TensorOf(Kind.PRED | Kind.INT | Kind.FLOAT | Kind.COMPLEX)
_QUANT = TensorOf(Kind.QUANT | Kind.QUANT_PER_AXIS)
_FLOAT_OR_ANY_QUANT = TensorOf(Kind.FLOAT | Kind.QUANT | Kind.QUANT_PER_AXIS)


# --- one operand -------------------------------------------------------------------


class ElementwiseUnaryOp(PrettyOp, ABC):
    """`result[i] = f(operand[i])`, of the operand's shape."""

    SHORTHAND: ClassVar[bool] = True

    operand = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure(), Elementwise())

    def __init__(self, operand: SSAValue, result_type: Attribute | None = None):
        if result_type is None:
            result_type = self.infer_type(operand.type)
        super().__init__(operands=[operand], result_types=[result_type])

    @classmethod
    def infer_type(cls, operand_type: Attribute) -> Attribute:
        """Return the result's type that follows from the operand's."""
        return operand_type

    def verify_(self) -> None:
        """The result's type is the one that follows from the operand's."""
        infer.require_type(self.result.type, self.infer_type(self.operand.type))


class _FloatUnaryOp(ElementwiseUnaryOp, ABC):
    """A function of floating-point numbers."""

    operand = operand_def(_FLOAT_QUANT)
    result = result_def(_FLOAT_QUANT)


class TranscendentalUnaryOp(ElementwiseUnaryOp, ABC):
    """Base of functions with a requested accuracy.

    Spec section "Result accuracy".
    """

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "result_accuracy": ResultAccuracyAttr.of(ResultAccuracyMode.DEFAULT)
    }

    operand = operand_def(_FLOAT_COMPLEX_QUANT)
    result = result_def(_FLOAT_COMPLEX_QUANT)
    result_accuracy = opt_prop_def(BaseAttr(ResultAccuracyAttr))


class _RealPartOp(ElementwiseUnaryOp, ABC):
    """Base of functions from complex or real numbers to real numbers."""

    @classmethod
    def infer_type(cls, operand_type: Attribute) -> Attribute:
        """Return the operand's type with the complex number's part as element."""
        element = element_of(operand_type)
        part = complex_part(element)
        return operand_type if part is element else with_element(operand_type, part)


@irdl_op_definition
class AbsOp(_RealPartOp):
    """Magnitude. Spec section "abs"."""

    name = "stablehlo.abs"

    operand = operand_def(_SIGNED)
    result = result_def(TensorOf(Kind.SINT | Kind.FLOAT | Kind.QUANT))

    traits = traits_def(RoundsOnce())


@irdl_op_definition
class CbrtOp(TranscendentalUnaryOp):
    """Cubic root. Spec section "cbrt"."""

    name = "stablehlo.cbrt"


@irdl_op_definition
class CeilOp(_FloatUnaryOp):
    """Least integer not below. Spec section "ceil"."""

    name = "stablehlo.ceil"


@irdl_op_definition
class ConvertOp(ElementwiseUnaryOp):
    """The nearest value of another element type. Spec section "convert"."""

    name = "stablehlo.convert"

    operand = operand_def(_NOT_QUANT)
    result = result_def(_NOT_QUANT)

    traits = traits_def(RoundsOnce())

    def verify_(self) -> None:
        """C1: operand and result have the same shape."""
        infer.require_shape(self.result.type, self.operand.type)


@irdl_op_definition
class ClzOp(ElementwiseUnaryOp):
    """Number of leading zero bits. Spec section "count_leading_zeros"."""

    name = "stablehlo.count_leading_zeros"

    operand = operand_def(_INT)
    result = result_def(_INT)


@irdl_op_definition
class CosineOp(TranscendentalUnaryOp):
    """Cosine. Spec section "cosine"."""

    name = "stablehlo.cosine"


@irdl_op_definition
class ExpOp(TranscendentalUnaryOp):
    """Exponential. Spec section "exponential"."""

    name = "stablehlo.exponential"


@irdl_op_definition
class Expm1Op(TranscendentalUnaryOp):
    """Exponential minus one. Spec section "exponential_minus_one"."""

    name = "stablehlo.exponential_minus_one"


@irdl_op_definition
class FloorOp(_FloatUnaryOp):
    """Greatest integer not above. Spec section "floor"."""

    name = "stablehlo.floor"


@irdl_op_definition
class ImagOp(_RealPartOp):
    """Imaginary part; zero of a real number. Spec section "imag"."""

    name = "stablehlo.imag"

    operand = operand_def(_FLOAT_OR_COMPLEX)
    result = result_def(_FLOAT)

    traits = traits_def(Linear())


@irdl_op_definition
class IsFiniteOp(ElementwiseUnaryOp):
    """A test for numbers that are neither infinite nor NaN. Spec section "is_finite".

    StableHLO calls the operand `x` and the result `y`; here they have the names that
    all other elementwise ops use.
    """

    name = "stablehlo.is_finite"

    SHORTHAND: ClassVar[bool] = False

    operand = operand_def(_FLOAT_QUANT)
    result = result_def(PRED_TENSOR)

    @classmethod
    def infer_type(cls, operand_type: Attribute) -> Attribute:
        """Return the operand's shape, of i1."""
        return with_element(operand_type, i1)


@irdl_op_definition
class LogOp(TranscendentalUnaryOp):
    """Natural logarithm. Spec section "log"."""

    name = "stablehlo.log"


@irdl_op_definition
class Log1pOp(TranscendentalUnaryOp):
    """Logarithm of one plus the operand. Spec section "log_plus_one"."""

    name = "stablehlo.log_plus_one"


@irdl_op_definition
class LogisticOp(TranscendentalUnaryOp):
    """`1 / (1 + exp(-x))`. Spec section "logistic"."""

    name = "stablehlo.logistic"


@irdl_op_definition
class NotOp(ElementwiseUnaryOp):
    """Logical or bitwise negation. Spec section "not"."""

    name = "stablehlo.not"

    operand = operand_def(_PRED_OR_INT)
    result = result_def(_PRED_OR_INT)

    traits = traits_def(RoundsOnce())


@irdl_op_definition
class NegOp(ElementwiseUnaryOp):
    """Additive inverse. Spec section "negate"."""

    name = "stablehlo.negate"

    operand = operand_def(_NUMBER)
    result = result_def(_NUMBER)

    traits = traits_def(RoundsOnce(), Linear())


@irdl_op_definition
class PopulationCountOp(ElementwiseUnaryOp):
    """Number of set bits. Spec section "popcnt"."""

    name = "stablehlo.popcnt"

    operand = operand_def(_INT)
    result = result_def(_INT)


@irdl_op_definition
class RealOp(_RealPartOp):
    """Real part. Spec section "real"."""

    name = "stablehlo.real"

    operand = operand_def(_FLOAT_OR_COMPLEX)
    result = result_def(_FLOAT)

    traits = traits_def(Linear())


@irdl_op_definition
class RoundOp(_FloatUnaryOp):
    """Nearest integer, ties away from zero. Spec section "round_nearest_afz"."""

    name = "stablehlo.round_nearest_afz"


@irdl_op_definition
class RoundNearestEvenOp(_FloatUnaryOp):
    """Nearest integer, ties to even. Spec section "round_nearest_even"."""

    name = "stablehlo.round_nearest_even"


@irdl_op_definition
class RsqrtOp(TranscendentalUnaryOp):
    """Reciprocal of the square root. Spec section "rsqrt"."""

    name = "stablehlo.rsqrt"


@irdl_op_definition
class SignOp(ElementwiseUnaryOp):
    """Sign: -1, 0 or 1; of a complex number its direction. Spec section "sign"."""

    name = "stablehlo.sign"

    operand = operand_def(_SIGNED)
    result = result_def(_SIGNED)


@irdl_op_definition
class SineOp(TranscendentalUnaryOp):
    """Sine. Spec section "sine"."""

    name = "stablehlo.sine"


@irdl_op_definition
class SqrtOp(TranscendentalUnaryOp):
    """Square root. Spec section "sqrt"."""

    name = "stablehlo.sqrt"


@irdl_op_definition
class TanOp(TranscendentalUnaryOp):
    """Tangent. Spec section "tan"."""

    name = "stablehlo.tan"


@irdl_op_definition
class TanhOp(TranscendentalUnaryOp):
    """Hyperbolic tangent. Spec section "tanh"."""

    name = "stablehlo.tanh"


@irdl_op_definition
class UniformQuantizeOp(ElementwiseUnaryOp):
    """Conversion to a quantized type. Spec section "uniform_quantize"."""

    name = "stablehlo.uniform_quantize"

    operand = operand_def(_FLOAT_OR_ANY_QUANT)
    result = result_def(_QUANT)

    def verify_(self) -> None:
        """C1: one shape; C2: the result expresses the operand's type."""
        infer.require_shape(self.result.type, self.operand.type)
        expected = expressed_type(element_of(self.operand.type))
        got = expressed_type(element_of(self.result.type))
        if got != expected:
            raise VerifyException(f"C2: the result expresses {got}, not {expected}")


@irdl_op_definition
class UniformDequantizeOp(ElementwiseUnaryOp):
    """Conversion from a quantized type. Spec section "uniform_dequantize"."""

    name = "stablehlo.uniform_dequantize"

    operand = operand_def(_QUANT)
    result = result_def(_FLOAT)

    @classmethod
    def infer_type(cls, operand_type: Attribute) -> Attribute:
        """Return the operand's shape, of the type that the quantization expresses."""
        return with_element(operand_type, expressed_type(element_of(operand_type)))


def _parse_exponent_mantissa(parser: Parser) -> tuple[int, int]:
    """Parse `e5m10`."""
    position = parser.pos
    match = re.fullmatch(r"e(\d+)m(\d+)", parser.parse_identifier())
    if match is None:
        parser.raise_error("expected a format such as e5m10", position)
    return int(match[1]), int(match[2])


@irdl_op_definition
class ReducePrecisionOp(PrettyOp):
    """Rounding to fewer bits and back. Spec section "reduce_precision"."""

    name = "stablehlo.reduce_precision"

    SHORTHAND: ClassVar[bool] = True

    operand = operand_def(_FLOAT_QUANT)
    output = result_def(_FLOAT_QUANT)
    exponent_bits = prop_def(IntegerOf(32, 1))
    mantissa_bits = prop_def(IntegerOf(32, 0))

    traits = traits_def(Pure(), Elementwise())

    @classmethod
    def parse_fields(cls, parser: Parser, comma: bool) -> dict[str, Attribute]:
        """Parse `format = e5m10`."""
        parser.parse_keyword("format")
        parser.parse_punctuation("=")
        exponent, mantissa = _parse_exponent_mantissa(parser)
        return {
            "exponent_bits": IntegerAttr(exponent, i32),
            "mantissa_bits": IntegerAttr(mantissa, i32),
        }

    def print_fields(self, printer: Printer) -> None:
        exponent, mantissa = (
            self.exponent_bits.value.data,
            self.mantissa_bits.value.data,
        )
        printer.print_string(f", format = e{exponent}m{mantissa}")

    @classmethod
    def printed_properties(cls) -> tuple[str, ...]:
        """Both bit counts."""
        return ("exponent_bits", "mantissa_bits")

    def verify_(self) -> None:
        """C1: operand and output have one type; C2, C3 belong to the properties."""
        infer.require_type(self.output.type, self.operand.type)


# --- two operands ------------------------------------------------------------------


class ElementwiseBinaryOp(PrettyOp, ABC):
    """`result[i] = f(lhs[i], rhs[i])`; all three have one type."""

    SHORTHAND: ClassVar[bool] = True

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure(), Elementwise())

    def __init__(
        self, lhs: SSAValue, rhs: SSAValue, result_type: Attribute | None = None
    ):
        if result_type is None:
            result_type = self.infer_type(lhs.type)
        super().__init__(operands=[lhs, rhs], result_types=[result_type])

    @classmethod
    def infer_type(cls, operand_type: Attribute) -> Attribute:
        """Return the result's type that follows from the operands'."""
        return operand_type

    def verify_(self) -> None:
        """C1: operands and result have one type."""
        lhs = self.lhs.type
        infer.require_type(self.rhs.type, lhs, "rhs (C1)")
        infer.require_type(self.result.type, self.infer_type(lhs), "result (C1)")
        infer.require_shape(self.result.type, self.rhs.type, "result (C1)")


class _NumberBinaryOp(ElementwiseBinaryOp, ABC):
    """A function of two numbers."""

    lhs = operand_def(_NUMBER)
    rhs = operand_def(_NUMBER)
    result = result_def(_NUMBER)


class _IntBinaryOp(ElementwiseBinaryOp, ABC):
    """A function of two integers."""

    lhs = operand_def(_INT)
    rhs = operand_def(_INT)
    result = result_def(_INT)


class _LogicBinaryOp(ElementwiseBinaryOp, ABC):
    """A function of the bits of two integers, or of two truth values."""

    lhs = operand_def(_PRED_OR_INT)
    rhs = operand_def(_PRED_OR_INT)
    result = result_def(_PRED_OR_INT)

    traits = traits_def(Commutative(), RoundsOnce())


@irdl_op_definition
class AddOp(ElementwiseBinaryOp):
    """Sum; of truth values: or. Spec section "add"."""

    name = "stablehlo.add"

    lhs = operand_def(TENSOR_PER_AXIS)
    rhs = operand_def(TENSOR_PER_AXIS)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Commutative(), RoundsOnce(), Linear())

    def verify_(self) -> None:
        """C1: one type; C2 to C7: quantized types."""
        lhs, rhs, result = self.lhs.type, self.rhs.type, self.result.type
        if lhs is rhs and rhs is result:
            return
        infer.require_shape(rhs, lhs, "rhs (C1)")
        infer.require_shape(result, lhs, "result (C1)")
        infer.require_shape(result, rhs, "result (C1)")
        check_quantized_add(lhs, rhs, result)
        if not isinstance(element_of(lhs), QuantizedType):
            infer.require_element(rhs, lhs, "rhs (C1)")
            infer.require_element(result, lhs, "result (C1)")


@irdl_op_definition
class Atan2Op(ElementwiseBinaryOp):
    """Angle of the point (rhs, lhs). Spec section "atan2"."""

    name = "stablehlo.atan2"

    lhs = operand_def(_FLOAT_COMPLEX_QUANT)
    rhs = operand_def(_FLOAT_COMPLEX_QUANT)
    result = result_def(_FLOAT_COMPLEX_QUANT)


_F32_OR_F64 = TensorOf(Kind.FLOAT)


@irdl_op_definition
class ComplexOp(ElementwiseBinaryOp):
    """A complex number from its real and imaginary part. Spec section "complex"."""

    name = "stablehlo.complex"

    lhs = operand_def(_F32_OR_F64)
    rhs = operand_def(_F32_OR_F64)
    result = result_def(TensorOf(Kind.COMPLEX))

    @classmethod
    def infer_type(cls, operand_type: Attribute) -> Attribute:
        """Return the operands' shape, of complex numbers of their elements."""
        element = element_of(operand_type)
        if element not in (f32, f64):
            raise VerifyException(
                f"C1: the parts of a complex number must be f32 or f64, got {element}"
            )
        return with_element(
            operand_type, ComplexType(cast("Float32Type | Float64Type", element))
        )

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> syntax.Signature:
        """Parse the result's type, which says the operands' too, or a signature."""
        if syntax.next_text(parser) == "(":
            return syntax.parse_signature(parser)
        position = parser.pos
        result = parser.parse_type()
        if not isinstance(result, TensorType):
            parser.raise_error("expected a tensor of complex numbers", position)
        element = element_of(cast(Attribute, result))
        if not isinstance(element, ComplexType):
            parser.raise_error("expected a tensor of complex numbers", position)
        part = with_element(
            cast(Attribute, result), complex_part(cast(Attribute, element))
        )
        return (part, part), (cast(Attribute, result),)

    def print_types(self, printer: Printer) -> None:
        """Print the result's type if the operands' follow from it."""
        result = self.result.type
        element = element_of(result)
        if isinstance(element, ComplexType):
            part = with_element(result, complex_part(cast(Attribute, element)))
            if self.lhs.type == part and self.rhs.type == part:
                printer.print_attribute(result)
                return
        syntax.print_signature(printer, self)


@irdl_op_definition
class DivOp(_NumberBinaryOp):
    """Quotient; of integers rounded to zero. Spec section "divide"."""

    name = "stablehlo.divide"

    traits = traits_def(Linear(stop=1))


@irdl_op_definition
class MaxOp(ElementwiseBinaryOp):
    """The greater one; of truth values: or. Spec section "maximum"."""

    name = "stablehlo.maximum"

    traits = traits_def(Commutative(), RoundsOnce())


@irdl_op_definition
class MinOp(ElementwiseBinaryOp):
    """The lesser one; of truth values: and. Spec section "minimum"."""

    name = "stablehlo.minimum"

    traits = traits_def(Commutative(), RoundsOnce())


@irdl_op_definition
class MulOp(ElementwiseBinaryOp):
    """Product; of truth values: and. Spec section "multiply"."""

    name = "stablehlo.multiply"

    traits = traits_def(Commutative(), RoundsOnce(), Linear(is_product=True))


@irdl_op_definition
class PowOp(_NumberBinaryOp):
    """Power. Spec section "power"."""

    name = "stablehlo.power"


@irdl_op_definition
class RemOp(_NumberBinaryOp):
    """Remainder, with the sign of the dividend. Spec section "remainder"."""

    name = "stablehlo.remainder"


@irdl_op_definition
class ShiftLeftOp(_IntBinaryOp):
    """Shift of bits to the left. Spec section "shift_left"."""

    name = "stablehlo.shift_left"


@irdl_op_definition
class ShiftRightArithmeticOp(_IntBinaryOp):
    """Shift to the right that copies the sign. Spec: "shift_right_arithmetic"."""

    name = "stablehlo.shift_right_arithmetic"


@irdl_op_definition
class ShiftRightLogicalOp(_IntBinaryOp):
    """Shift to the right that fills with zeros. Spec: "shift_right_logical"."""

    name = "stablehlo.shift_right_logical"


@irdl_op_definition
class SubtractOp(_NumberBinaryOp):
    """Difference. Spec section "subtract"."""

    name = "stablehlo.subtract"

    traits = traits_def(RoundsOnce(), Linear())


@irdl_op_definition
class AndOp(_LogicBinaryOp):
    """Bitwise or logical and. Spec section "and"."""

    name = "stablehlo.and"


@irdl_op_definition
class OrOp(_LogicBinaryOp):
    """Bitwise or logical or. Spec section "or"."""

    name = "stablehlo.or"


@irdl_op_definition
class XorOp(_LogicBinaryOp):
    """Bitwise or logical exclusive or. Spec section "xor"."""

    name = "stablehlo.xor"


_DIRECTION: syntax.Codec = enum_codec(ComparisonDirectionAttr)
_COMPARE_TYPE: syntax.Codec = enum_codec(ComparisonTypeAttr)


_NOTYPE = ComparisonType.NOTYPE
"""As the elements say."""


def _compare_types(element: Attribute) -> tuple[ComparisonType, ...]:
    """Return the comparison types that are allowed for an element type."""
    if isinstance(element, AnyFloat):
        return ComparisonType.FLOAT, ComparisonType.TOTALORDER
    if isinstance(element, ComplexType):
        return (ComparisonType.FLOAT,)
    if not isinstance(element, IntegerType):
        return tuple(ComparisonType)
    integer = cast(IntegerType, element)
    unsigned = integer.signedness.data == Signedness.UNSIGNED or integer == i1
    return (ComparisonType.UNSIGNED if unsigned else ComparisonType.SIGNED,)


@irdl_op_definition
class CompareOp(PrettyOp):
    """A relation between elements. Spec section "compare"."""

    name = "stablehlo.compare"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(PRED_TENSOR)
    comparison_direction = prop_def(BaseAttr(ComparisonDirectionAttr))
    compare_type = opt_prop_def(BaseAttr(ComparisonTypeAttr))

    traits = traits_def(Pure(), Elementwise(), RoundsOnce())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `EQ, %lhs, %rhs, FLOAT : (…) -> …`."""
        properties = {"comparison_direction": _DIRECTION[0](parser)}
        parser.parse_punctuation(",")
        operands, comma = syntax.parse_operands(parser)
        if comma:
            properties["compare_type"] = _COMPARE_TYPE[0](parser)
        return cls.parse_end(parser, operands, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.comparison_direction.data.value}, ")
        syntax.print_values(printer, self.operands)
        if self.compare_type is not None:
            printer.print_string(f", {self.compare_type.data.value}")
        syntax.print_attr_dict(printer, self, ("comparison_direction", "compare_type"))
        printer.print_string(" : ")
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        """C1: operands of one element type; C2: one shape; C3: their order."""
        infer.require_type(self.rhs.type, self.lhs.type, "rhs (C1, C2)")
        infer.require_shape(self.result.type, self.lhs.type, "result (C2)")
        infer.require_shape(self.result.type, self.rhs.type, "result (C2)")
        if self.compare_type is None or self.compare_type.data == _NOTYPE:
            return
        given, element = self.compare_type.data, element_of(self.lhs.type)
        fitting = _compare_types(element)
        if given not in fitting:
            raise VerifyException(
                f"elements of type {element} are compared as {' or '.join(fitting)}, "
                f"not as {given} (C3)"
            )


# --- three operands ----------------------------------------------------------------


@irdl_op_definition
class SelectOp(PrettyOp):
    """One of two values by a truth value. Spec section "select"."""

    name = "stablehlo.select"

    pred = operand_def(PRED_TENSOR)
    on_true = operand_def(TENSOR)
    on_false = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure(), Elementwise(), MovesData(), Linear(start=1))

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> syntax.Signature:
        """Parse `pred, value` types, or a signature."""
        if syntax.next_text(parser) == "(":
            return syntax.parse_signature(parser)
        position = parser.pos
        types = syntax.parse_type_list(parser)
        if len(types) != 2:
            parser.raise_error("expected two types or a signature", position)
        pred, value = types
        return (pred, value, value), (value,)

    def print_types(self, printer: Printer) -> None:
        """Print `pred, value` types if the values have one type."""
        value = self.result.type
        if self.on_true.type == value and self.on_false.type == value:
            syntax.print_type_list(printer, (self.pred.type, value))
        else:
            syntax.print_signature(printer, self)

    def verify_(self) -> None:
        """C1: the predicate is a scalar or has the values' shape; C2: one type."""
        infer.require_type(self.on_false.type, self.on_true.type, "on_false (C2)")
        infer.require_type(self.result.type, self.on_true.type, "result (C2)")
        if shape_of(self.pred.type):
            infer.require_shape(self.pred.type, self.on_true.type, "pred (C1)")


@irdl_op_definition
class ClampOp(PrettyOp):
    """A value between two bounds. Spec section "clamp"."""

    name = "stablehlo.clamp"

    SHORTHAND: ClassVar[bool] = True

    min = operand_def(TENSOR)
    operand = operand_def(TENSOR)
    max = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure(), Elementwise(), RoundsOnce())

    def verify_(self) -> None:
        """C1, C2: bounds are scalars or have the shape; C3, C4: one element type."""
        operand = self.operand.type
        for name, bound in (("min (C1)", self.min.type), ("max (C2)", self.max.type)):
            if shape_of(bound):
                infer.require_shape(bound, operand, name)
            infer.require_element(bound, operand, name)
        infer.require_type(self.result.type, operand)
