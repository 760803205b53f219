"""Mends to numbers in text: hexadecimal floats, and what fits into a type.

In `dense<0xFF800000> : tensor<f32>` the literal is the bit pattern of the element
(here -inf), as MLIR's language reference says; xDSL 0.74 reads 4286578688.0. JAX
prints infinities and NaNs so, in every softmax and max-pool. Complex elements with
one hexadecimal part are refused by xDSL; they are read here as well.

What an element may be is what MLIR says, for one that fills a tensor, each of a list, a
part of a complex one, one of an array and the value of an attribute: `255 : i8` and
`-1 : i8` are the same, and `256`, `-129` and `-0` do not fit. xDSL takes `32 : i4` for
all of a tensor, and does not take `255 : i8` there. A float that is too large is
infinite, which is an `OverflowError` in xDSL. As in xDSL, `1` is taken for `1.0`.
"""

from contextlib import suppress
from math import copysign, inf
from typing import Any, Never, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    f64,
    i64,
)
from xdsl.ir import Attribute
from xdsl.parser.attribute_parser import AttrParser
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

_Element = AttrParser._TensorLiteralElement  # pyright: ignore[reportPrivateUsage]

_AS_INDEX = IntegerType(64, Signedness.SIGNED)
"""The numbers that an index holds."""


def raise_out_of_range(parser: AttrParser, type: Attribute, span: Span) -> Never:
    """Raise a parse error for a number that its type does not hold."""
    parser.raise_error(f"a constant is out of range for its type '{type}'", span)


def _float_of(element: _Element, parser: AttrParser, type: AnyFloat) -> float:
    """The value of an element: a number, or what has the bits of a hexadecimal one."""
    text = element.span.text
    if isinstance(element.value, bool) or text[:3] in ("-0x", "-0X"):
        parser.raise_error(f"'{text}' is no value of type '{type}'", element.span)
    if text[:2] in ("0x", "0X"):
        bits = cast(int, element.value)
        if bits.bit_length() > type.bitwidth:
            raise_out_of_range(parser, type, element.span)
        return type.unpack(bits.to_bytes(type.compile_time_size, "little"), 1)[0]
    try:
        value = element.to_float(parser)
        with suppress(NotImplementedError):  # of a type that xDSL does not round to
            type.pack((value,))
    except OverflowError:
        return copysign(inf, -1 if element.is_negative else 1)
    return value


def _integer_of(element: _Element, parser: AttrParser, type: IntegerType) -> int:
    """The value of an element: of two that have the same bits the negative one."""
    value = element.to_int(parser, allow_booleans=type.bitwidth == 1)
    normal = type.normalized_value(value)
    if isinstance(element.value, bool):
        return value
    if normal is None or (value == 0 and element.span.text.startswith("-")):
        raise_out_of_range(parser, type, element.span)
    return normal


def _parse_element(parser: AttrParser) -> _Element:
    value, span = parser._parse_bool_int_or_float()  # pyright: ignore[reportPrivateUsage]
    return _Element(value < 0, value, span)


def _parse_complex_element(parser: AttrParser) -> _Element:
    with parser.in_parens():
        real = _parse_element(parser)
        parser.parse_punctuation(",")
        imaginary = _parse_element(parser)
    span = Span(real.span.start, imaginary.span.end, real.span.input)
    return _Element(False, cast(Any, (real, imaginary)), span)


def mend() -> None:
    """Read numbers as MLIR does."""
    to_type = _Element.to_type

    def value_of_type(self: _Element, parser: AttrParser, type: Any) -> Any:
        if isinstance(type, ComplexType):
            if not isinstance(self.value, tuple):
                parser.raise_error("expected the two parts of a complex", self.span)
            parts = cast(tuple[_Element, _Element], self.value)
            element_type = cast("ComplexType[Any]", type).element_type
            return tuple(part.to_type(parser, element_type) for part in parts)
        if isinstance(self.value, tuple):
            parser.raise_error(f"a complex is no value of type '{type}'", self.span)
        if isinstance(type, AnyFloat):
            return _float_of(self, parser, type)
        if isinstance(type, IndexType):
            return _integer_of(self, parser, _AS_INDEX)
        if isinstance(type, IntegerType):
            return _integer_of(self, parser, cast(IntegerType, type))
        return to_type(self, parser, type)

    def parse_element(self: AttrParser) -> _Element:
        token = self._current_token  # pyright: ignore[reportPrivateUsage]
        is_complex = token.kind == MLIRTokenKind.L_PAREN
        return (_parse_complex_element if is_complex else _parse_element)(self)

    def parse_attribute(self: AttrParser) -> Attribute | None:
        boolean = self.try_parse_builtin_boolean_attr()
        if boolean is not None:
            return boolean
        number = self._parse_optional_bool_int_or_float()  # pyright: ignore[reportPrivateUsage]
        if number is None:
            return None
        value, span = number
        type: Any = f64 if isinstance(value, float) else i64
        if self._current_token.kind == MLIRTokenKind.COLON:  # pyright: ignore[reportPrivateUsage]
            type = self._parse_attribute_type()  # pyright: ignore[reportPrivateUsage]
        read = value_of_type(_Element(value < 0, value, span), self, type)
        if isinstance(type, AnyFloat):
            return FloatAttr(read, cast(Any, type))
        if isinstance(type, IntegerType | IndexType):
            return IntegerAttr(read, cast(Any, type))
        self.raise_error(f"a number is no value of type '{type}'", span)

    def parse_of_array(
        self: AttrParser,
        type: IntegerType,
        allow_boolean: bool = True,
        allow_negative: bool = True,
        context_msg: str = "",
    ) -> int:
        return _integer_of(_parse_element(self), self, type)

    _Element.to_type = value_of_type
    AttrParser._parse_tensor_literal_element = parse_element  # pyright: ignore[reportPrivateUsage]
    AttrParser.parse_optional_builtin_int_or_float_attr = cast(Any, parse_attribute)
    AttrParser._parse_typed_integer = parse_of_array  # pyright: ignore[reportPrivateUsage]
