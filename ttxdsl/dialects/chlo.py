"""The CHLO dialect: functions and broadcasts that lower to StableHLO.

JAX emits its special functions; other frontends also the ops that broadcast.
Source: ChloOps.td in the StableHLO repository.
"""

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple, Self, TypeVar, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float32Type,
    IntegerAttr,
    IntegerType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    BaseAttr,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    Commutative,
    ConstantLike,
    IsolatedFromAbove,
    Pure,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.definitions import dialect_of
from ttxdsl.dialects.stablehlo import _infer as infer, _syntax as syntax
from ttxdsl.dialects.stablehlo._base import (
    Bool,
    Integer,
    Integers,
    ListOf,
    NotNegative,
    PrettyOp,
    PureOp,
    PurePrettyOp,
    StableHLOOp,
)
from ttxdsl.dialects.stablehlo._regions import block_of, returned_types
from ttxdsl.dialects.stablehlo._shapes import (
    dot_general,
    require,
    require_dims,
    require_unique,
    sizes_fit,
)
from ttxdsl.dialects.stablehlo.attributes import (
    ComparisonDirection,
    ComparisonType,
    DimsAttr,
    DotDims,
    Precision,
)
from ttxdsl.dialects.stablehlo.contraction import check_precision
from ttxdsl.dialects.stablehlo.control_flow import require_same_types
from ttxdsl.dialects.stablehlo.data_movement import ConstantFolds
from ttxdsl.dialects.stablehlo.types import (
    AnyTensorOf,
    Kind,
    TensorOf,
    element_of,
    is_tensor,
    shape_of,
    with_element,
    with_shape,
)
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.ir.compat.speed.definitions import irdl_attr_definition, irdl_op_definition

_ANY = AnyTensorOf(Kind.ANY_PER_AXIS)
_PRED = AnyTensorOf(Kind.PRED)
_PRED_OR_INT = AnyTensorOf(Kind.PRED | Kind.INT)
_FLOAT = AnyTensorOf(Kind.FLOAT)
_COMPLEX = AnyTensorOf(Kind.COMPLEX)
_FLOAT_OR_COMPLEX = AnyTensorOf(Kind.FLOAT | Kind.COMPLEX)
_INT = TensorOf(Kind.INT)

# --- attributes --------------------------------------------------------------------


@irdl_attr_definition
class ComparisonDirectionAttr(
    EnumAttribute[ComparisonDirection], SpacedOpaqueSyntaxAttribute
):
    """`#chlo<comparison_direction EQ>`."""

    name = "chlo.comparison_direction"


@irdl_attr_definition
class ComparisonTypeAttr(EnumAttribute[ComparisonType], SpacedOpaqueSyntaxAttribute):
    """`#chlo<comparison_type FLOAT>`."""

    name = "chlo.comparison_type"


@irdl_attr_definition
class PrecisionAttr(EnumAttribute[Precision], SpacedOpaqueSyntaxAttribute):
    """`#chlo<precision DEFAULT>`."""

    name = "chlo.precision"


class RaggedDotDims(NamedTuple):
    """The roles of the dimensions of a `ragged_dot`."""

    lhs_batching_dimensions: tuple[int, ...] = ()
    rhs_batching_dimensions: tuple[int, ...] = ()
    lhs_contracting_dimensions: tuple[int, ...] = ()
    rhs_contracting_dimensions: tuple[int, ...] = ()
    lhs_ragged_dimensions: tuple[int, ...] = ()
    rhs_group_dimensions: tuple[int, ...] = ()


@irdl_attr_definition
class RaggedDotDimensionNumbersAttr(DimsAttr[RaggedDotDims]):
    """`#chlo.ragged_dot<…>`: dimension numbers of a `ragged_dot`."""

    name = "chlo.ragged_dot"

    STRUCT = RaggedDotDims


_OpT = TypeVar("_OpT", bound=StableHLOOp)


def _op(base: type[_OpT], name: str, summary: str) -> type[_OpT]:
    """The op of a line of a table: `broadcast_add` is the class `BroadcastAddOp`."""
    title = "".join(part.capitalize() for part in name.split("_")) + "Op"
    members = {"name": f"chlo.{name}", "__doc__": summary, "__module__": __name__}
    return irdl_op_definition(cast(type[_OpT], type(title, (base,), members)))


# --- one operand -------------------------------------------------------------------


class ChloUnaryOp(PrettyOp, ABC):
    """`result[i] = f(operand[i])`, written `%x : type -> type`."""

    operand = operand_def(_FLOAT_OR_COMPLEX)
    result = result_def(_FLOAT_OR_COMPLEX)

    traits = traits_def(Pure(), Elementwise())

    @classmethod
    def infer_type(cls, operand_type: Attribute) -> Attribute:
        """Return the result's type that follows from the operand's."""
        return operand_type

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> syntax.Signature:
        """Parse `type -> type`."""
        operand = parser.parse_type()
        parser.parse_punctuation("->")
        return (operand,), (parser.parse_type(),)

    def print_types(self, printer: Printer) -> None:
        printer.print_attribute(self.operand.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        """The result's type is the one that follows from the operand's."""
        infer.require_type(self.result.type, self.infer_type(self.operand.type))


class _ComplexUnaryOp(ChloUnaryOp, ABC):
    operand = operand_def(_COMPLEX)
    result = result_def(_COMPLEX)


class _FloatUnaryOp(ChloUnaryOp, ABC):
    operand = operand_def(_FLOAT)
    result = result_def(_FLOAT)


class _PredicateOp(ChloUnaryOp, ABC):
    operand = operand_def(_FLOAT)
    result = result_def(_PRED)

    @classmethod
    def infer_type(cls, operand_type: Attribute) -> Attribute:
        """Return the operand's shape, of i1."""
        return with_element(operand_type, i1)


_UNARY = (
    _op(_ComplexUnaryOp, "_asin_acos_kernel", "What complex `asin` and `acos` share."),
    _op(ChloUnaryOp, "acos", "Inverse cosine."),
    _op(ChloUnaryOp, "acosh", "Inverse hyperbolic cosine."),
    _op(ChloUnaryOp, "asin", "Inverse sine."),
    _op(ChloUnaryOp, "asinh", "Inverse hyperbolic sine."),
    _op(ChloUnaryOp, "atan", "Inverse tangent."),
    _op(ChloUnaryOp, "atanh", "Inverse hyperbolic tangent."),
    _op(
        ChloUnaryOp,
        "bessel_i1e",
        "Modified Bessel function of order 1, scaled by `exp(-|x|)`.",
    ),
    _op(ChloUnaryOp, "conj", "Complex conjugate."),
    _op(ChloUnaryOp, "cosh", "Hyperbolic cosine."),
    _op(ChloUnaryOp, "sinh", "Hyperbolic sine."),
    _op(ChloUnaryOp, "tan", "Tangent."),
    _op(ChloUnaryOp, "square", "Square."),
    _op(_FloatUnaryOp, "digamma", "Derivative of `lgamma`."),
    _op(_FloatUnaryOp, "erf", "Gauss error function."),
    _op(_FloatUnaryOp, "erf_inv", "Inverse of the error function."),
    _op(_FloatUnaryOp, "erfc", "One minus the error function."),
    _op(_FloatUnaryOp, "lgamma", "Logarithm of the gamma function's magnitude."),
    _op(_PredicateOp, "is_inf", "Whether a number is infinite."),
    _op(_PredicateOp, "is_neg_inf", "Whether a number is negative infinity."),
    _op(_PredicateOp, "is_pos_inf", "Whether a number is positive infinity."),
)


# --- two operands ------------------------------------------------------------------


class ChloBinaryOp(PrettyOp, ABC):
    """`result[i] = f(a[i], b[i])`, written `%a, %b : type, type -> type`.

    CHLO has no common names for the operands: `n, x` of `polygamma`, `x, q` of `zeta`,
    `x, y` of `next_after`. Here all are `lhs` and `rhs`.
    """

    lhs = operand_def(_FLOAT)
    rhs = operand_def(_FLOAT)
    result = result_def(_FLOAT)

    traits = traits_def(Pure(), Elementwise())

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> syntax.Signature:
        """Parse `type, type -> type`."""
        types = syntax.parse_type_list(parser)
        parser.parse_punctuation("->")
        return tuple(types), (parser.parse_type(),)

    def print_types(self, printer: Printer) -> None:
        syntax.print_type_list(printer, (self.lhs.type, self.rhs.type))
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        """Operands and result have one type."""
        infer.require_type(self.rhs.type, self.lhs.type, "rhs")
        infer.require_type(self.result.type, self.lhs.type)


class _IntBinaryOp(ChloBinaryOp, ABC):
    lhs = operand_def(_INT)
    rhs = operand_def(_INT)
    result = result_def(_INT)

    traits = traits_def(Commutative())


_BINARY = (
    _op(
        ChloBinaryOp,
        "next_after",
        "The next number after `lhs` in the direction of `rhs`.",
    ),
    _op(ChloBinaryOp, "polygamma", "The `lhs`-th derivative of `digamma` at `rhs`."),
    _op(ChloBinaryOp, "zeta", "Hurwitz zeta function of `lhs` and offset `rhs`."),
    _op(_IntBinaryOp, "mulhi", "The upper half of an integer product."),
)


# --- broadcasts --------------------------------------------------------------------


def broadcast(
    lhs: tuple[int, ...], rhs: tuple[int, ...], dims: Sequence[int] | None
) -> tuple[int, ...]:
    """Return the shape that two shapes are broadcast to.

    Args:
        lhs, rhs: the operands' shapes.
        dims: the dimensions of the longer shape that the shorter one's are; without,
            the shorter shape is aligned at the end, as NumPy does.
    """
    small, large = sorted((lhs, rhs), key=len)
    if dims is None:
        dims = range(len(large) - len(small), len(large))
    require(
        len(dims) == len(small) and all(0 <= dim < len(large) for dim in dims),
        f"broadcast_dimensions {list(dims)} must be a dimension of {list(large)} for "
        f"each one of {list(small)}",
    )
    result = list(large)
    for size, dim in zip(small, dims, strict=True):
        if result[dim] == 1 or (result[dim] == DYNAMIC_INDEX and size != 1):
            result[dim] = size
        require(
            size == 1 or sizes_fit(size, result[dim]),
            f"shapes {list(lhs)} and {list(rhs)} cannot be broadcast to one",
        )
    return tuple(result)


class ChloBroadcastOp(PurePrettyOp, ABC):
    """A StableHLO function of two operands that are first broadcast to one shape."""

    lhs = operand_def(_ANY)
    rhs = operand_def(_ANY)
    broadcast_dimensions = opt_prop_def(Integers)
    result = result_def(_ANY)

    @classmethod
    def infer_element(cls, element: Attribute) -> Attribute:
        """Return the result's element type that follows from the operands'."""
        return element

    def verify_(self) -> None:
        """Operands of one element type, broadcast to the result's shape."""
        lhs, rhs, result = self.lhs.type, self.rhs.type, self.result.type
        if not infer.elements_fit(element_of(lhs), element_of(rhs)):
            raise VerifyException(f"operands are {lhs} and {rhs}")
        expected = self.infer_element(element_of(lhs))
        if not infer.elements_fit(element_of(result), expected):
            raise VerifyException(
                f"the result must have elements {expected}, got {result}"
            )
        if all(map(is_tensor, (lhs, rhs, result))):
            dims = self.broadcast_dimensions
            shape = broadcast(
                shape_of(lhs),
                shape_of(rhs),
                None if dims is None else dims.get_values(),
            )
            infer.require_sizes(result, shape)


class _CommutativeBroadcastOp(ChloBroadcastOp, ABC):
    traits = traits_def(Commutative())


class _LogicBroadcastOp(_CommutativeBroadcastOp, ABC):
    lhs = operand_def(_PRED_OR_INT)
    rhs = operand_def(_PRED_OR_INT)


class _FloatBroadcastOp(ChloBroadcastOp, ABC):
    lhs = operand_def(_FLOAT)
    rhs = operand_def(_FLOAT)
    result = result_def(_FLOAT)


_BROADCAST = (
    _op(_CommutativeBroadcastOp, "broadcast_add", "Sum."),
    _op(ChloBroadcastOp, "broadcast_atan2", "Angle."),
    _op(ChloBroadcastOp, "broadcast_divide", "Quotient."),
    _op(_CommutativeBroadcastOp, "broadcast_maximum", "The greater one."),
    _op(_CommutativeBroadcastOp, "broadcast_minimum", "The lesser one."),
    _op(_CommutativeBroadcastOp, "broadcast_multiply", "Product."),
    _op(ChloBroadcastOp, "broadcast_next_after", "The next number in a direction."),
    _op(ChloBroadcastOp, "broadcast_polygamma", "Derivatives of `digamma`."),
    _op(ChloBroadcastOp, "broadcast_power", "Power."),
    _op(ChloBroadcastOp, "broadcast_remainder", "Remainder."),
    _op(ChloBroadcastOp, "broadcast_shift_left", "Shift to the left."),
    _op(
        ChloBroadcastOp,
        "broadcast_shift_right_arithmetic",
        "Shift to the right that copies the sign.",
    ),
    _op(
        ChloBroadcastOp,
        "broadcast_shift_right_logical",
        "Shift to the right that fills with zeros.",
    ),
    _op(ChloBroadcastOp, "broadcast_subtract", "Difference."),
    _op(_FloatBroadcastOp, "broadcast_zeta", "Hurwitz zeta function."),
    _op(_LogicBroadcastOp, "broadcast_and", "Logical and."),
    _op(_LogicBroadcastOp, "broadcast_or", "Logical or."),
    _op(_LogicBroadcastOp, "broadcast_xor", "Logical exclusive or."),
)


@irdl_op_definition
class BroadcastComplexOp(_FloatBroadcastOp):
    """A complex number from its parts."""

    name = "chlo.broadcast_complex"

    result = result_def(_COMPLEX)

    @classmethod
    def infer_element(cls, element: Attribute) -> Attribute:
        """Return the complex number of two such parts."""
        return ComplexType(cast("Float32Type", element))


@irdl_op_definition
class BroadcastCompareOp(ChloBroadcastOp):
    """A relation."""

    name = "chlo.broadcast_compare"

    comparison_direction = prop_def(BaseAttr(ComparisonDirectionAttr))
    compare_type = opt_prop_def(BaseAttr(ComparisonTypeAttr))
    result = result_def(_PRED)

    @classmethod
    def infer_element(cls, element: Attribute) -> Attribute:
        """Return a truth value."""
        return i1


@irdl_op_definition
class BroadcastSelectOp(PurePrettyOp):
    """One of two values by a truth value."""

    name = "chlo.broadcast_select"

    pred = operand_def(TensorOf(Kind.PRED))
    on_true = operand_def(_ANY)
    on_false = operand_def(_ANY)
    result = result_def(_ANY)

    def verify_(self) -> None:
        """Values of one element type, broadcast to the result's shape."""
        on_true, on_false = self.on_true.type, self.on_false.type
        result = self.result.type
        for value in (on_false, result):
            if not infer.elements_fit(element_of(value), element_of(on_true)):
                raise VerifyException(
                    f"on_true is {on_true}, but another value {value}"
                )
        if all(map(is_tensor, (on_true, on_false, result))):
            values = broadcast(shape_of(on_true), shape_of(on_false), None)
            shape = broadcast(shape_of(self.pred.type), values, None)
            infer.require_sizes(result, shape)


# --- others ------------------------------------------------------------------------


@irdl_op_definition
class ConstantOp(StableHLOOp):
    """A tensor that is written in the program."""

    name = "chlo.constant"

    value = prop_def(BaseAttr(DenseIntOrFPElementsAttr))
    output = result_def(TensorOf(Kind.ANY, static=True))

    traits = traits_def(Pure(), ConstantLike(), ConstantFolds())

    def verify_(self) -> None:
        """The result has the value's type."""
        infer.require_type(self.output.type, self.value.get_type())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `dense<…> : type`."""
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            parser.raise_error("expected dense elements", position)
        dense = cast("DenseIntOrFPElementsAttr", value)
        return cls.create(
            result_types=(dense.get_type(),),
            properties={"value": dense},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        syntax.print_attr_dict(printer, self, ("value",))
        printer.print_string(" ")
        printer.print_attribute(self.value)


@irdl_op_definition
class ConstantLikeOp(PureOp):
    """A number repeated in the shape of the operand."""

    name = "chlo.constant_like"

    value = prop_def(AnyAttr())
    operand = operand_def(_ANY)
    result = result_def(_ANY)

    def verify_(self) -> None:
        """The value has the result's element type; shapes agree."""
        value_type = cast("IntegerAttr[IntegerType]", self.value).type
        if value_type != element_of(self.result.type):
            raise VerifyException(
                f"the value is {self.value}, the result {self.result.type}"
            )
        if is_tensor(self.operand.type) and is_tensor(self.result.type):
            infer.require_shape(self.result.type, self.operand.type)


@irdl_op_definition
class TopKOp(PureOp):
    """The greatest numbers along the last dimension, and where they are."""

    name = "chlo.top_k"

    operand = operand_def(_ANY)
    k = prop_def(Integer)
    is_stable = opt_prop_def(Bool, BoolAttr.from_bool(True))
    values = result_def(_ANY)
    indices = result_def(_ANY)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `(%x, k = 2) : type -> (type, type)`."""
        properties: dict[str, Attribute] = {}
        with parser.in_parens():
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(",")
            parser.parse_keyword("k")
            parser.parse_punctuation("=")
            properties["k"] = IntegerAttr(parser.parse_integer(), i64)
            if parser.parse_optional_punctuation(",") is not None:
                parser.parse_keyword("is_stable")
                parser.parse_punctuation("=")
                properties["is_stable"] = BoolAttr.from_bool(parser.parse_boolean())
        attributes = syntax.parse_attr_dict(parser, cls, properties)
        parser.parse_punctuation(":")
        operand_type = parser.parse_type()
        parser.parse_punctuation("->")
        with parser.in_parens():
            result_types = syntax.parse_type_list(parser)
        return cls.create(
            operands=[parser.resolve_operand(operand, operand_type)],
            result_types=result_types,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_ssa_value(self.operand)
            printer.print_string(f", k = {self.k.value.data}")
            if "is_stable" in self.properties:
                stable = "true" if self.is_stable.value.data else "false"
                printer.print_string(f", is_stable = {stable}")
        syntax.print_attr_dict(printer, self, ("k", "is_stable"))
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)
        printer.print_string(" -> ")
        with printer.in_parens():
            syntax.print_type_list(printer, self.result_types)

    def verify_(self) -> None:
        """The last dimension has at least k elements; results have k."""
        operand = self.operand.type
        if not is_tensor(operand):
            return
        shape = shape_of(operand)
        k = self.k.value.data
        require(bool(shape), "the operand must have rank 1 or more")
        require(
            shape[-1] == DYNAMIC_INDEX or shape[-1] >= k,
            f"the last dimension has {shape[-1]} elements, fewer than k = {k}",
        )
        values = with_shape(operand, (*shape[:-1], k))
        infer.require_results(self, [values, with_element(values, i32)], "results")


def ragged_dot(
    lhs: tuple[int, ...],
    rhs: tuple[int, ...],
    group_sizes: tuple[int, ...],
    dims: RaggedDotDims,
) -> tuple[int, ...]:
    """Result of `ragged_dot`.

    The ragged dimension of lhs may be a batch dimension, a contracted one, or, with a
    group dimension of rhs, neither.
    """
    plain = DotDims(
        dims.lhs_batching_dimensions,
        dims.rhs_batching_dimensions,
        dims.lhs_contracting_dimensions,
        dims.rhs_contracting_dimensions,
    )
    shape = list(dot_general(lhs, rhs, plain))
    require(
        len(dims.lhs_ragged_dimensions) == 1,
        f"there must be one ragged dimension, got {list(dims.lhs_ragged_dimensions)}",
    )
    ragged = dims.lhs_ragged_dimensions[0]
    require_dims(dims.lhs_ragged_dimensions, len(lhs), "ragged", "ragged_dot", "lhs")
    batch, contracted = plain.lhs_batching_dimensions, plain.lhs_contracting_dimensions
    if ragged in batch:
        prefix = batch[: batch.index(ragged)]
    elif ragged in contracted:
        prefix = (*batch, *contracted[: contracted.index(ragged)])
    else:
        free = (dim for dim in range(ragged) if dim not in (*batch, *contracted))
        prefix = (*batch, *free)
    require(bool(group_sizes), "group_sizes must have rank 1 or more")
    require(
        len(group_sizes) == 1 or group_sizes[:-1] == tuple(lhs[dim] for dim in prefix),
        f"group_sizes has shape {list(group_sizes)}, expected one size a group, for "
        f"each position along dimensions {list(prefix)} of lhs",
    )
    groups = group_sizes[-1]
    group_dims = dims.rhs_group_dimensions
    require_dims(group_dims, len(rhs), "rhs_group_dimensions", "ragged_dot", "rhs")
    require_unique(
        (
            *group_dims,
            *plain.rhs_batching_dimensions,
            *plain.rhs_contracting_dimensions,
        ),
        "group, batch and contracted dimensions of rhs",
        "ragged_dot",
    )
    if ragged in batch or ragged in contracted:
        require(not group_dims, "rhs can have no group dimension here")
        return (groups, *shape) if ragged in contracted else tuple(shape)
    require(len(group_dims) == 1, "rhs must have one group dimension")
    if not sizes_fit(groups, rhs[group_dims[0]]):
        raise VerifyException(
            f"there are {groups} groups, but rhs has {rhs[group_dims[0]]}"
        )
    gone = {*plain.rhs_batching_dimensions, *plain.rhs_contracting_dimensions}
    free_rhs = [dim for dim in range(len(rhs)) if dim not in gone]
    del shape[len(shape) - len(free_rhs) + free_rhs.index(group_dims[0])]
    return tuple(shape)


@irdl_op_definition
class RaggedDotOp(PureOp):
    """A product over groups of rows of different sizes."""

    name = "chlo.ragged_dot"

    lhs = operand_def(_ANY)
    rhs = operand_def(_ANY)
    group_sizes = operand_def(_INT)
    ragged_dot_dimension_numbers = prop_def(BaseAttr(RaggedDotDimensionNumbersAttr))
    precision_config = opt_prop_def(ListOf(BaseAttr(PrecisionAttr)))
    result = result_def(_ANY)

    def verify_(self) -> None:
        """Dimension numbers fit; there is one ragged dimension."""
        check_precision(self.precision_config, "precision_config")
        shape = ragged_dot(
            shape_of(self.lhs.type),
            shape_of(self.rhs.type),
            shape_of(self.group_sizes.type),
            self.ragged_dot_dimension_numbers.data,
        )
        infer.require_sizes(self.result.type, shape)


_SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")


@irdl_op_definition
class ScanOp(StableHLOOp):
    """A computation carried along a dimension."""

    name = "chlo.scan"

    inputs = var_operand_def(_ANY)
    inits = var_operand_def(_ANY)
    dimension = prop_def(NotNegative)
    scan_dim_size = opt_prop_def(Integer)
    is_reverse = opt_prop_def(Bool, BoolAttr.from_bool(False))
    is_associative = opt_prop_def(Bool)
    body = region_def()
    outputs = var_result_def(_ANY)
    carries = var_result_def(_ANY)

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {}

    irdl_options = (
        AttrSizedOperandSegments(as_property=True),
        AttrSizedResultSegments(as_property=True),
    )
    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `(%x) inits (%y) dimension=0 attributes {…} {…} : (…) -> …`."""
        with parser.in_parens():
            inputs, _ = syntax.parse_operands(parser)
        parser.parse_keyword("inits")
        with parser.in_parens():
            inits, _ = syntax.parse_operands(parser)
        parser.parse_keyword("dimension")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {
            "dimension": IntegerAttr(parser.parse_integer(), i64)
        }
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("attributes") is not None:
            attributes = syntax.parse_attr_dict(parser, cls, properties)
        body = parser.parse_region()
        parser.parse_punctuation(":")
        position = parser.pos
        operand_types, result_types = syntax.parse_signature(parser)
        outputs = len(result_types) - len(inits)
        if outputs < 0:
            parser.raise_error("fewer results than inits", position)
        properties |= {
            "operandSegmentSizes": _segments(len(inputs), len(inits)),
            "resultSegmentSizes": _segments(outputs, len(inits)),
        }
        return cls.create(
            operands=parser.resolve_operands(
                [*inputs, *inits], operand_types, position
            ),
            result_types=result_types,
            properties={name: properties[name] for name in sorted(properties)},
            attributes=attributes,
            regions=(body,),
        )

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            syntax.print_values(printer, self.inputs)
        printer.print_string(" inits ")
        with printer.in_parens():
            syntax.print_values(printer, self.inits)
        printer.print_string(f" dimension={self.dimension.value.data} ")
        syntax.print_attr_dict(printer, self, ("dimension", *_SEGMENTS), keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)
        printer.print_string(" : ")
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        """The dimension is one of every input; the body takes slices and carries."""
        dim = self.dimension.value.data
        require(
            bool(self.inputs or self.outputs), "there must be an input or an output"
        )
        size = None if self.scan_dim_size is None else self.scan_dim_size.value.data
        expected: list[Attribute] = []
        for index, value in enumerate(self.inputs):
            shape = shape_of(value.type)
            if dim >= len(shape):
                raise VerifyException(
                    f"input {index} {value.type} has no dimension {dim}"
                )
            if shape[dim] != DYNAMIC_INDEX:
                if size not in (None, shape[dim]):
                    raise VerifyException(
                        f"input {index} has size {shape[dim]} in dimension {dim}, not "
                        f"{size}"
                    )
                size = shape[dim]
            expected.append(with_shape(value.type, shape[:dim] + shape[dim + 1 :]))
        expected += [init.type for init in self.inits]
        block = block_of(self.body, "body")
        require_same_types(tuple(block.arg_types), expected, "arguments of body")
        returned = returned_types(self.body)
        outputs = len(returned) - len(self.inits)
        require(outputs >= 0, f"body must return at least {len(self.inits)} values")
        length = DYNAMIC_INDEX if size is None else size
        results: list[Attribute] = []
        for index, value in enumerate(returned):
            shape = shape_of(value)
            if index < outputs:
                shape = (*shape[:dim], length, *shape[dim:])
            results.append(with_shape(value, shape))
        infer.require_results(self, results, "results")


def _segments(first: int, second: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, (first, second))


Chlo = dialect_of(
    "chlo", __name__, (*_UNARY, *_BINARY, *_BROADCAST, *globals().values())
)
