"""Ops that sum products: matrix products of all kinds, and linear algebra on them.

Source: StableHLO specification, sections "dot_general", "cholesky",
"triangular_solve", "fft".
"""

from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    ComplexType,
    Float32Type,
    Float64Type,
    f32,
    f64,
)
from xdsl.ir import Attribute
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
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.stablehlo import _infer as infer, _shapes as shapes
from ttxdsl.dialects.stablehlo._base import (
    Bool,
    Field,
    Integers,
    Precisions,
    PureOp,
    PurePrettyOp,
    String,
    enum_codec,
)
from ttxdsl.dialects.stablehlo._quantized import check_quantized_dot
from ttxdsl.dialects.stablehlo._shapes import require
from ttxdsl.dialects.stablehlo._syntax import BOOL, I64S, STRING, dims_text, parse_dims
from ttxdsl.dialects.stablehlo.attributes import (
    DotAlgorithmAttr,
    DotDimensionNumbersAttr,
    DotDims,
    FftType,
    FftTypeAttr,
    Precision,
    PrecisionAttr,
    Transpose,
    TransposeAttr,
)
from ttxdsl.dialects.stablehlo.types import (
    FLOAT_OR_COMPLEX_TENSOR,
    TENSOR,
    TENSOR_PER_AXIS,
    Kind,
    TensorOf,
    element_of,
    shape_of,
)
from ttxdsl.dialects.traits import Linear
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition


def parse_precision(parser: Parser) -> Attribute:
    """Parse `precision = [DEFAULT, DEFAULT]`."""
    parser.parse_keyword("precision")
    parser.parse_punctuation("=")
    return ArrayAttr(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE,
            lambda: PrecisionAttr(PrecisionAttr.parse_parameter(parser)),
        )
    )


def precision_text(config: ArrayAttr[Attribute] | None) -> str:
    """`, precision = [DEFAULT, DEFAULT]`, or nothing."""
    if config is None:
        return ""
    names = (cast("PrecisionAttr", precision).data.value for precision in config.data)
    return f", precision = [{', '.join(names)}]"


def check_precision(config: ArrayAttr[Attribute] | None, constraint: str) -> None:
    """At most one entry an operand."""
    if config is not None and len(config.data) > 2:
        raise VerifyException(
            f"{constraint}: precision must have one entry an operand, got {config}"
        )


@irdl_op_definition
class DotGeneralOp(PurePrettyOp):
    """Sums of products over the contracted dimensions. Spec section "dot_general".

    The result has the batch dimensions, then the left operand's others, then the
    right one's.
    """

    name = "stablehlo.dot_general"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR_PER_AXIS)
    dot_dimension_numbers = prop_def(BaseAttr(DotDimensionNumbersAttr))
    precision_config = opt_prop_def(Precisions)
    algorithm = opt_prop_def(BaseAttr(DotAlgorithmAttr))
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Linear(is_product=True))

    @classmethod
    def parse_fields(cls, parser: Parser, comma: bool) -> dict[str, Attribute]:
        """Parse dimensions, then optional precision and algorithm."""

        def parse_pair() -> tuple[tuple[int, ...], tuple[int, ...]]:
            parser.parse_punctuation("=")
            left = parse_dims(parser)
            parser.parse_keyword("x")
            return left, parse_dims(parser)

        batching: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
        if parser.parse_optional_keyword("batching_dims") is not None:
            batching = parse_pair()
            parser.parse_punctuation(",")
        parser.parse_keyword("contracting_dims")
        contracting = parse_pair()
        properties: dict[str, Attribute] = {
            "dot_dimension_numbers": DotDimensionNumbersAttr(
                DotDims(*batching, *contracting)
            )
        }
        more = parser.parse_optional_punctuation(",") is not None
        if more and parser.parse_optional_keyword("algorithm") is None:
            properties["precision_config"] = parse_precision(parser)
            more = parser.parse_optional_punctuation(",") is not None
            if more:
                parser.parse_keyword("algorithm")
        if more:
            parser.parse_punctuation("=")
            properties["algorithm"] = DotAlgorithmAttr(
                DotAlgorithmAttr.parse_parameter(parser)
            )
        return properties

    def print_fields(self, printer: Printer) -> None:
        dims = self.dot_dimension_numbers.data
        text = ""
        if dims.lhs_batching_dimensions or dims.rhs_batching_dimensions:
            text = (
                f", batching_dims = {dims_text(dims.lhs_batching_dimensions)}"
                f" x {dims_text(dims.rhs_batching_dimensions)}"
            )
        text += (
            f", contracting_dims = {dims_text(dims.lhs_contracting_dimensions)}"
            f" x {dims_text(dims.rhs_contracting_dimensions)}"
        )
        text += precision_text(self.precision_config)
        if self.algorithm is not None:
            text += f", algorithm = {self.algorithm.text}"
        printer.print_string(text)

    @classmethod
    def printed_properties(cls) -> tuple[str, ...]:
        """Return all properties."""
        return ("algorithm", "dot_dimension_numbers", "precision_config")

    def verify_(self) -> None:
        """C1 to C10: dimensions; C11, C21: precision; C12, C13: the result."""
        lhs, rhs, result = self.lhs.type, self.rhs.type, self.result.type
        check_precision(self.precision_config, "C11")
        dims = self.dot_dimension_numbers.data
        shape = shapes.dot_general(shape_of(lhs), shape_of(rhs), dims)
        infer.require_sizes(result, shape, "result (C12)")
        config = self.precision_config
        require(
            self.algorithm is None
            or config is None
            or all(
                precision == PrecisionAttr(Precision.DEFAULT)
                for precision in config.data
            ),
            "C21: with an algorithm, precision must be DEFAULT",
        )
        check_quantized_dot(lhs, rhs, result, dims.rhs_contracting_dimensions)


@irdl_op_definition
class DotOp(PurePrettyOp):
    """Product of vectors or matrices. Deprecated, not in the specification."""

    name = "stablehlo.dot"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR_PER_AXIS)
    precision_config = opt_prop_def(Precisions)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Linear(is_product=True))

    @classmethod
    def parse_fields(cls, parser: Parser, comma: bool) -> dict[str, Attribute]:
        """Parse the precision if it is there."""
        return {"precision_config": parse_precision(parser)} if comma else {}

    def print_fields(self, printer: Printer) -> None:
        """Print the precision if it is there."""
        printer.print_string(precision_text(self.precision_config))

    @classmethod
    def printed_properties(cls) -> tuple[str, ...]:
        """Return the precision."""
        return ("precision_config",)

    def verify_(self) -> None:
        """Inner sizes agree."""
        check_precision(self.precision_config, "precision_config")
        shape = shapes.dot(shape_of(self.lhs.type), shape_of(self.rhs.type))
        infer.require_sizes(self.result.type, shape)


@irdl_op_definition
class EinsumOp(PurePrettyOp):
    """Einstein summation of two tensors. Deprecated, not in the specification."""

    name = "stablehlo.einsum"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("config", "einsum_config", STRING),)

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    einsum_config = prop_def(String)
    result = result_def(TENSOR)


@irdl_op_definition
class UnaryEinsumOp(PurePrettyOp):
    """Einstein summation of one tensor. Deprecated, not in the specification."""

    name = "stablehlo.unary_einsum"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("config", "einsum_config", STRING),)

    operand = operand_def(TENSOR)
    einsum_config = prop_def(String)
    result = result_def(TENSOR)


_FLOAT_COMPLEX_QUANT = TensorOf(Kind.FLOAT | Kind.COMPLEX | Kind.QUANT)


@irdl_op_definition
class CholeskyOp(PurePrettyOp):
    """Cholesky factors of a batch of matrices. Spec section "cholesky"."""

    name = "stablehlo.cholesky"

    SHORTHAND: ClassVar[bool] = True
    FIELDS: ClassVar[tuple[Field, ...]] = (Field("lower", "lower", BOOL, True),)

    a = operand_def(_FLOAT_COMPLEX_QUANT)
    lower = opt_prop_def(Bool, BoolAttr.from_bool(False))
    result = result_def(_FLOAT_COMPLEX_QUANT)

    def verify_(self) -> None:
        """C1: one type; C2, C3: square matrices."""
        infer.require_type(self.result.type, self.a.type, "result (C1)")
        shapes.check_cholesky(shape_of(self.a.type))


@irdl_op_definition
class TriangularSolveOp(PureOp):
    """Solutions of triangular systems. Spec section "triangular_solve"."""

    name = "stablehlo.triangular_solve"

    a = operand_def(FLOAT_OR_COMPLEX_TENSOR)
    b = operand_def(FLOAT_OR_COMPLEX_TENSOR)
    left_side = prop_def(Bool)
    lower = prop_def(Bool)
    unit_diagonal = prop_def(Bool)
    transpose_a = prop_def(BaseAttr(TransposeAttr))
    result = result_def(FLOAT_OR_COMPLEX_TENSOR)

    def verify_(self) -> None:
        """C1: element types; C2, C3: shapes; C4: the result."""
        a, b = self.a.type, self.b.type
        infer.require_element(b, a, "b (C1)")
        shapes.check_triangular_solve(
            shape_of(a), shape_of(b), bool(self.left_side.value.data)
        )
        require(
            self.transpose_a.data is not Transpose.TRANSPOSE_INVALID,
            "transpose_a must not be TRANSPOSE_INVALID",
        )
        infer.require_type(self.result.type, b, "result (C4)")


@irdl_op_definition
class FftOp(PurePrettyOp):
    """Fourier transform of the last dimensions. Spec section "fft"."""

    name = "stablehlo.fft"

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("type", "fft_type", enum_codec(FftTypeAttr)),
        Field("length", "fft_length", I64S),
    )

    operand = operand_def(FLOAT_OR_COMPLEX_TENSOR)
    fft_type = prop_def(BaseAttr(FftTypeAttr))
    fft_length = prop_def(Integers)
    result = result_def(FLOAT_OR_COMPLEX_TENSOR)

    def verify_(self) -> None:
        """C1, C3: ranks; C2: element types; C4, C5: sizes."""
        operand, result = self.operand.type, self.result.type
        kind = self.fft_type.data
        element = element_of(operand)
        expected = element
        if kind is FftType.RFFT:
            if element not in (f32, f64):
                raise VerifyException(f"C2: an RFFT takes f32 or f64, got {element}")
            expected = ComplexType(cast("Float32Type | Float64Type", element))
        else:
            if not isinstance(element, ComplexType):
                raise VerifyException(
                    f"C2: {kind.value} takes complex numbers, got {element}"
                )
            if kind is FftType.IRFFT:
                expected = cast("ComplexType[Float32Type]", element).element_type
        shape = shapes.fft(shape_of(operand), kind.value, self.fft_length.get_values())
        if element_of(result) != expected:
            raise VerifyException(
                f"C2: the result of {kind.value} has elements {expected}, got {result}"
            )
        infer.require_sizes(result, shape, "result (C4, C5)")
