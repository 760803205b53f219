"""StableHLO's types, and the constraints its operands and results put on types.

Source: StableHLO specification, section "Types".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from math import inf
from typing import TypeAlias, cast

from typing_extensions import TypeVar
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E3M4Type,
    Float8E4M3B11FNUZType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E4M3Type,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    TensorType,
    TupleType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import AttrConstraint, IntConstraint, VerificationContext, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.quant import QuantizedType, full_range
from ttxdsl.dialects.stablehlo.attributes import TypeExtensionsAttr
from ttxdsl.ir.compat.speed.definitions import irdl_attr_definition

Tensor: TypeAlias = TensorType[Attribute]


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """Orders side effects: values that ops pass on and never look into."""

    name = "stablehlo.token"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """There is nothing to parse, not even empty brackets."""
        return ()


@irdl_attr_definition
class FutureType(ParametrizedAttribute, TypeAttribute):
    """The results, not yet there, of an `async_start`."""

    name = "stablehlo.future"

    types: ArrayAttr[Attribute] = param_def(converter=ArrayAttr[Attribute].get)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse `<type, …>`."""
        return [
            ArrayAttr[Attribute](
                parser.parse_comma_separated_list(
                    parser.Delimiter.ANGLE, parser.parse_type
                )
            )
        ]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.types.data, printer.print_attribute)


class Kind(Flag):
    """The families of element types that the specification's constraints name."""

    PRED = auto()
    SINT = auto()
    UINT = auto()
    FLOAT = auto()
    COMPLEX = auto()
    QUANT = auto()
    """Integers quantized with one scale for the tensor."""
    QUANT_PER_AXIS = auto()
    INDEX = auto()

    INT = SINT | UINT
    PRED_OR_INT = PRED | INT
    FLOAT_OR_COMPLEX = FLOAT | COMPLEX
    INT_OR_FLOAT = INT | FLOAT
    ANY = PRED | INT | FLOAT | COMPLEX | QUANT
    ANY_PER_AXIS = ANY | QUANT_PER_AXIS
    DIMENSION = INT | INDEX


_KIND_WORDS: Mapping[Kind, str] = {
    Kind.PRED: "i1",
    Kind.SINT: "2/4/8/16/32/64-bit signless integer",
    Kind.UINT: "2/4/8/16/32/64-bit unsigned integer",
    Kind.FLOAT: "4/6/8/16/32/64-bit float",
    Kind.COMPLEX: "complex of f32 or f64",
    Kind.QUANT: "2/4/8/16/32-bit quantized integer",
    Kind.QUANT_PER_AXIS: "per-axis quantized integer of these widths",
    Kind.INDEX: "index",
}

_INTEGER_WIDTHS = frozenset({2, 4, 8, 16, 32, 64})
_STORED_WIDTHS = _INTEGER_WIDTHS - {64}
"""Of quantized integers; MLIR has none of more than 32 bits."""

_KINDS: dict[type[Attribute], Kind] = dict.fromkeys(
    (
        BFloat16Type,
        Float16Type,
        Float32Type,
        Float64Type,
        Float4E2M1FNType,
        Float6E2M3FNType,
        Float6E3M2FNType,
        Float8E3M4Type,
        Float8E4M3Type,
        Float8E4M3FNType,
        Float8E4M3FNUZType,
        Float8E4M3B11FNUZType,
        Float8E5M2Type,
        Float8E5M2FNUZType,
        Float8E8M0FNUType,
    ),
    Kind.FLOAT,
)
_KINDS[IndexType] = Kind.INDEX
_NO_KIND = Kind(0)


def element_kind(element: Attribute) -> Kind:
    """The family of an element type; no bit is set if StableHLO has no such element."""
    kind = _KINDS.get(type(element))
    if kind is not None:
        return kind
    if isinstance(element, IntegerType):
        integer = cast("IntegerType[int, Signedness]", element)
        width = integer.width.data
        if integer.signedness.data is Signedness.UNSIGNED:
            return Kind.UINT if width in _INTEGER_WIDTHS else _NO_KIND
        if integer.signedness.data is Signedness.SIGNLESS:
            if width == 1:
                return Kind.PRED
            return Kind.SINT if width in _INTEGER_WIDTHS else _NO_KIND
        return _NO_KIND
    if isinstance(element, ComplexType):
        part = complex_part(cast(Attribute, element))
        if isinstance(part, Float32Type | Float64Type):
            return Kind.COMPLEX
    if isinstance(element, QuantizedType):
        how = element.data
        if (
            how.storage_type.width.data not in _STORED_WIDTHS
            or _KINDS.get(type(how.expressed_type)) is not Kind.FLOAT
        ):
            return _NO_KIND
        return Kind.QUANT if how.axis is None else Kind.QUANT_PER_AXIS
    return _NO_KIND


def complex_part(element: Attribute) -> Attribute:
    """Return the type of a complex number's parts; of another element type, itself."""
    if isinstance(element, ComplexType):
        return cast("ComplexType[Float32Type]", element).element_type
    return element


def kind_words(kind: Kind) -> str:
    """Return a family in words, for messages."""
    return " or ".join(words for name, words in _KIND_WORDS.items() if name in kind)


_TypeT = TypeVar("_TypeT", bound=Attribute, covariant=True, default=Attribute)


class FixedConstraint(AttrConstraint[_TypeT]):
    """A constraint without type variables."""

    def mapping_type_vars(
        self,
        type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint],  # pyright: ignore[reportGeneralTypeIssues]
    ) -> AttrConstraint[_TypeT]:
        """Return itself."""
        return self


_QUANTIZED = Kind.QUANT | Kind.QUANT_PER_AXIS


def check_tensor(tensor: Tensor) -> None:
    """Refuse a tensor type whose bounds or quantization do not fit its shape.

    Spec section "Types": bounds belong to dynamic dimensions; quantized types C3, C5 to
    C8, C12, C13.
    """
    shape = tensor.get_shape()
    if isinstance(tensor.encoding, TypeExtensionsAttr):
        bounds = tensor.encoding.data
        if len(bounds) != len(shape):
            raise VerifyException(
                f"{tensor} has {len(bounds)} bounds, but rank {len(shape)}"
            )
        for dim, (size, bound) in enumerate(zip(shape, bounds, strict=True)):
            if DYNAMIC_INDEX not in (size, bound):
                raise VerifyException(
                    f"{tensor}: dimension {dim} has a size and cannot have a bound"
                )
    element = tensor.element_type
    if isinstance(element, QuantizedType):
        how = element.data
        low, high = full_range(how.storage_type.width.data, how.is_signed)
        if not low <= how.storage_min < how.storage_max <= high:
            raise VerifyException(
                f"{tensor} stores [{how.storage_min}, {how.storage_max}], which is no "
                f"range within [{low}, {high}]"
            )
        for scale in how.scales:
            if not 0 < scale < inf:
                raise VerifyException(f"{tensor}: scale {scale} is not positive")
        for zero in how.zero_points:
            if not how.storage_min <= zero <= how.storage_max:
                raise VerifyException(
                    f"{tensor}: zero point {zero} is not in [{how.storage_min}, "
                    f"{how.storage_max}]"
                )
        if how.axis is None:
            return
        if how.axis >= len(shape):
            raise VerifyException(
                f"{tensor} is quantized along dimension {how.axis}, which it has not"
            )
        if shape[how.axis] not in (DYNAMIC_INDEX, len(how.scales)):
            raise VerifyException(
                f"{tensor} has {len(how.scales)} scales for the {shape[how.axis]} "
                f"slices along dimension {how.axis}"
            )


@dataclass(frozen=True)
class TensorOf(FixedConstraint[Tensor]):
    """A ranked tensor whose elements are of one of the kinds.

    One object answers with two dictionary look-ups and no allocation: verification
    of a module visits it for every operand and result.

    Args:
        static: whether every dimension must be known.
    """

    kinds: Kind
    rank: int | None = None
    static: bool = False

    def verify(
        self, attr: Attribute, constraint_context: VerificationContext | None = None
    ) -> None:
        """Refuse any other attribute; the error has the expected and the actual type."""
        if not isinstance(attr, TensorType):
            raise VerifyException(f"expected a ranked tensor, got {attr}")
        tensor = cast(Tensor, attr)
        kind = element_kind(tensor.element_type)
        if not kind or kind not in self.kinds:
            raise VerifyException(
                f"expected a tensor of {kind_words(self.kinds)}, got {attr}"
            )
        if not isinstance(tensor.encoding, NoneAttr) or kind & _QUANTIZED:
            check_tensor(tensor)
        if self.rank is not None and len(tensor.shape.data) != self.rank:
            raise VerifyException(f"expected a tensor of rank {self.rank}, got {attr}")
        if self.static and any(dim.data == DYNAMIC_INDEX for dim in tensor.shape.data):
            raise VerifyException(f"expected a tensor of static shape, got {attr}")


@dataclass(frozen=True)
class AnyTensorOf(FixedConstraint[Attribute]):
    """A tensor, ranked or not, whose elements are of one of the kinds."""

    kinds: Kind

    def verify(
        self, attr: Attribute, constraint_context: VerificationContext | None = None
    ) -> None:
        """Refuse any other attribute; the error has the expected and the actual type."""
        if isinstance(attr, TensorType | UnrankedTensorType):
            tensor = cast("TensorType[Attribute] | UnrankedTensorType[Attribute]", attr)
            kind = element_kind(tensor.element_type)
            if kind and kind in self.kinds:
                return
        raise VerifyException(
            f"expected a tensor of {kind_words(self.kinds)}, got {attr}"
        )


@dataclass(frozen=True)
class ValueOf(FixedConstraint[Attribute]):
    """A value that is a tensor, a token, a tuple, a buffer or a future.

    Args:
        kinds: the element types of tensors and buffers.
        token, nested, buffer, future, unranked: which other types are taken.
        static: whether every dimension of a tensor must be known.
    """

    kinds: Kind
    token: bool = False
    nested: bool = False
    buffer: bool = False
    future: bool = False
    unranked: bool = False
    static: bool = False

    def verify(
        self, attr: Attribute, constraint_context: VerificationContext | None = None
    ) -> None:
        """Refuse with the type that is there."""
        if not self._holds(attr):
            raise VerifyException(f"a value of type {attr} is not allowed here")

    def _holds(self, attr: Attribute) -> bool:
        match attr:
            case TensorType():
                shape = attr.shape.data
                return bool(element_kind(attr.element_type) & self.kinds) and not (
                    self.static and any(dim.data == DYNAMIC_INDEX for dim in shape)
                )
            case TokenType():
                return self.token
            case TupleType():
                return self.nested and all(
                    self._holds(part) or isinstance(part, MemRefType | TokenType)
                    for part in cast(Iterable[Attribute], attr.types)
                )
            case MemRefType():
                return self.buffer and bool(
                    element_kind(attr.element_type) & self.kinds
                )
            case FutureType():
                return self.future
            case UnrankedTensorType():
                kind = element_kind(attr.element_type)
                return self.unranked and bool(kind & self.kinds)
            case _:
                return False


TENSOR = TensorOf(Kind.ANY)
TENSOR_PER_AXIS = TensorOf(Kind.ANY_PER_AXIS)
STATIC_TENSOR_PER_AXIS = TensorOf(Kind.ANY_PER_AXIS, static=True)
PRED_TENSOR = TensorOf(Kind.PRED)
INT_TENSOR = TensorOf(Kind.INT)
FLOAT_OR_COMPLEX_TENSOR = TensorOf(Kind.FLOAT_OR_COMPLEX)
FLOAT_OR_QUANT_TENSOR = TensorOf(Kind.FLOAT | Kind.QUANT)
FLOAT_OR_QUANT_VECTOR = TensorOf(Kind.FLOAT | Kind.QUANT, rank=1)
SCALAR_TENSOR = TensorOf(Kind.ANY, rank=0)
SCALAR_INT_TENSOR = TensorOf(Kind.INT, rank=0)
DIMENSION_TENSOR = TensorOf(Kind.DIMENSION, rank=1)
STATIC_DIMENSION_TENSOR = TensorOf(Kind.DIMENSION, rank=1, static=True)

TENSOR_OR_TOKEN = ValueOf(Kind.ANY, token=True)
TENSOR_PER_AXIS_OR_TOKEN = ValueOf(Kind.ANY_PER_AXIS, token=True)
STATIC_TENSOR_OR_TOKEN = ValueOf(Kind.ANY_PER_AXIS, token=True, static=True)
REGION_VALUE = ValueOf(Kind.ANY_PER_AXIS, token=True, buffer=True)
TUPLE_PART = ValueOf(Kind.ANY_PER_AXIS, token=True, nested=True, buffer=True)
COMPOSITE_VALUE = ValueOf(Kind.ANY_PER_AXIS, token=True, nested=True)
CUSTOM_CALL_VALUE = ValueOf(
    Kind.ANY_PER_AXIS, token=True, nested=True, buffer=True, future=True, unranked=True
)


def is_tensor(value_type: Attribute) -> bool:
    """Whether a type is a ranked tensor's."""
    return isinstance(value_type, TensorType)


def shape_of(value_type: Attribute) -> tuple[int, ...]:
    """Return the shape of a tensor type, with -1 (`DYNAMIC_INDEX`) for unknown sizes."""
    return cast(Tensor, value_type).get_shape()


def element_of(value_type: Attribute) -> Attribute:
    """Return the element type of a tensor type."""
    return cast(Tensor, value_type).element_type


def with_shape(value_type: Attribute, shape: Iterable[int]) -> Tensor:
    """Return a tensor type of the same elements and another shape, without encoding."""
    return TensorType(cast(Tensor, value_type).element_type, shape)


def with_element(value_type: Attribute, element: Attribute) -> Tensor:
    """Return a tensor type of the same shape and another element type."""
    tensor = cast(Tensor, value_type)
    return TensorType(element, tensor.get_shape(), tensor.encoding)


def scalar_of(value_type: Attribute) -> Tensor:
    """Return the rank-0 tensor type of the same elements."""
    return TensorType(cast(Tensor, value_type).element_type, ())


def expressed_type(element: Attribute) -> Attribute:
    """Return the floating-point type that a quantized element type expresses."""
    return element.expressed_type if isinstance(element, QuantizedType) else element
