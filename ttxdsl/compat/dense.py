"""Mend: hexadecimal floats inside `dense<…>` are read as integers.

In `dense<0xFF800000> : tensor<f32>` the literal is the bit pattern of the element
(here -inf), as MLIR's language reference says; xDSL 0.74 reads 4286578688.0. JAX
prints infinities and NaNs so, in every softmax and max-pool. Complex elements with
one hexadecimal part are refused by xDSL; they are read here as well.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import AnyFloat, ComplexType
from xdsl.parser.attribute_parser import AttrParser
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

_Element = AttrParser._TensorLiteralElement  # pyright: ignore[reportPrivateUsage]


def _is_hexadecimal(element: _Element) -> bool:
    return element.span.text[:2] in ("0x", "0X") and isinstance(element.value, int)


def float_from_bits(parser: AttrParser, element: _Element, type: AnyFloat) -> float:
    """The value whose bit pattern in `type` is the element's integer literal."""
    bits = cast(int, element.value)
    size = type.compile_time_size
    if bits.bit_length() > 8 * size:
        parser.raise_error(
            f"hexadecimal float constant out of range for type '{type}'",
            at_position=element.span,
        )
    return type.unpack(bits.to_bytes(size, "little"), 1)[0]


def mend() -> None:
    """Read hexadecimal literals of float elements as bit patterns."""
    to_type = _Element.to_type
    to_complex = _Element.to_complex
    parse_element = AttrParser._parse_tensor_literal_element  # pyright: ignore[reportPrivateUsage]

    def bits_to_type(self: _Element, parser: AttrParser, type: Any) -> Any:
        if isinstance(type, AnyFloat) and _is_hexadecimal(self):
            return float_from_bits(parser, self, type)
        return to_type(self, parser, type)

    def parts_to_complex(
        self: _Element, parser: AttrParser, type: ComplexType[Any]
    ) -> Any:
        parts = cast(tuple[Any, ...], self.value)
        if all(isinstance(part, _Element) for part in parts):
            return tuple(part.to_type(parser, type.element_type) for part in parts)
        return to_complex(self, parser, type)

    def parse_part(parser: AttrParser) -> _Element:
        value, span = parser._parse_bool_int_or_float()  # pyright: ignore[reportPrivateUsage]
        return _Element(value < 0, value, span)

    def parse_complex_or_element(self: AttrParser) -> _Element:
        token = self._current_token  # pyright: ignore[reportPrivateUsage]
        if token.kind != MLIRTokenKind.L_PAREN:
            return parse_element(self)
        with self.in_parens():
            real = parse_part(self)
            self.parse_punctuation(",")
            imaginary = parse_part(self)
        span = Span(token.span.start, imaginary.span.end + 1, token.span.input)
        return _Element(False, cast(Any, (real, imaginary)), span)

    _Element.to_type = bits_to_type
    _Element.to_complex = parts_to_complex
    AttrParser._parse_tensor_literal_element = parse_complex_or_element  # pyright: ignore[reportPrivateUsage]
