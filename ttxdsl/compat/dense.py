"""Mends to `dense<…>`: hexadecimal floats, narrow blobs, and constants of many MiB.

In `dense<0xFF800000> : tensor<f32>` the literal is the bit pattern of the element
(here -inf), as MLIR's language reference says; xDSL 0.74 reads 4286578688.0. JAX
prints infinities and NaNs so, in every softmax and max-pool. Complex elements with
one hexadecimal part are refused by xDSL; they are read here as well.

In a blob (`dense<"0x…">`) an integer narrower than a byte has zeros above its bits, so
that -2 of i4 is `0E`; xDSL reads 14. Blobs are read and printed here without a Python
object an element, which xDSL needs several of.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from math import prod
from struct import error as StructError
from typing import Any, Never, cast

import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute
from xdsl.parser.attribute_parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from ttxdsl.compat.splats import elements

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


_CHUNK = 1 << 20
"""Hexadecimal digits, or bytes, to convert at a time."""

_LONGEST_LIST = 100
"""Elements that MLIR still prints one by one."""

Dense = DenseIntOrFPElementsAttr[Any]


def _blob(parser: AttrParser, span: Span) -> bytes:
    """The bytes of a `"0x…"` token, read without copying the text as a whole."""
    content = span.input.content
    blob = BytesIO()
    end = span.end - 1
    for start in range(span.start + 3, end, _CHUNK):
        try:
            blob.write(bytes.fromhex(content[start : min(start + _CHUNK, end)]))
        except ValueError:
            parser.raise_error("Hex string in denseAttr is invalid", span)
    return blob.getvalue()


def _narrow_bits(element: Attribute) -> int | None:
    """The width of an integer type that does not fill a byte."""
    if isinstance(element, IntegerType):
        width = element.bitwidth
        return width if width < 8 else None
    return None


def _widen(blob: bytes, element: Attribute) -> bytes:
    """From MLIR's bytes of narrow integers to xDSL's, which carry the sign."""
    bits = _narrow_bits(element)
    if bits is None:
        return blob
    values = np.frombuffer(blob, np.uint8)
    if bits == 1:
        return (values != 0).astype(np.uint8).tobytes()
    unused = 8 - bits
    signed = cast(IntegerType, element).signedness.data != Signedness.UNSIGNED
    shifted = values << np.uint8(unused)
    return (shifted.view(np.int8 if signed else np.uint8) >> unused).tobytes()


def _narrow(data: bytes, element: Attribute) -> bytes:
    """The opposite of `_widen`."""
    bits = _narrow_bits(element)
    if bits is None:
        return data
    return (np.frombuffer(data, np.uint8) & np.uint8((1 << bits) - 1)).tobytes()


def _elements(parser: AttrParser, span: Span, blob: bytes, type: Any) -> bytes:
    """The elements of a blob, or the one that it holds for all."""
    count = prod(type.get_shape())
    size = type.element_type.compile_time_size
    blob = _widen(blob, type.element_type)
    if len(blob) not in (size, size * count):
        parser.raise_error(
            f"Shape mismatch in dense literal. Expected {count} elements from the "
            f"type, but got {len(blob)} bytes.",
            span,
        )
    return blob


def _lex_blob(lexer: MLIRLexer, start: int) -> Token[MLIRTokenKind] | None:
    """The token of a `"0x…"` literal without copies of its text; None for others."""
    content = lexer.input.content
    if not content.startswith('"0x', start):
        return None
    end = content.find('"', start + 1)
    if end < 0 or any(content.find(mark, start, end) >= 0 for mark in "\\\n"):
        return None
    lexer.pos = end + 1
    return Token(MLIRTokenKind.STRING_LIT, Span(start, end + 1, lexer.input))


def _hexadecimal(self: Dense) -> Iterator[str]:
    data = _narrow(self.data.data, self.get_element_type())
    for start in range(0, len(data), _CHUNK):
        yield data[start : start + _CHUNK].hex().upper()


def _print_without_type(self: Dense, printer: Printer) -> None:
    printer.print_string("dense")
    length = elements(self)
    with printer.in_angle_brackets():
        if length == 0:
            return
        if self.is_splat():
            (value,) = self.get_element_type().unpack(self.data.data, 1)
            self._print_one_elem(value, printer)  # pyright: ignore[reportPrivateUsage]
        elif length > _LONGEST_LIST:
            printer.print_string('"0x')
            for digits in _hexadecimal(self):
                printer.print_string(digits)
            printer.print_string('"')
        else:
            shape = self.get_shape() if self.shape_is_complete else (length,)
            self._print_dense_list(self.get_values(), shape, printer)  # pyright: ignore[reportPrivateUsage]


def _dense_type(parser: AttrParser, type: Attribute | None) -> Any:
    if type is not None:
        return type
    parser.parse_punctuation(":", " in dense attribute")
    return parser._parse_dense_literal_type()  # pyright: ignore[reportPrivateUsage]


def _raise_out_of_range(
    parser: AttrParser, type: Attribute | None, span: Span
) -> Never:
    element = f" '{cast(Any, type).element_type}'" if type is not None else ""
    parser.raise_error(f"a constant is out of range for its type{element}", span)


def _parse_blob_or_splat(parser: AttrParser, type: Attribute | None) -> Dense | None:
    """Parse `<"0x…">` or `<element>`; None, with nothing consumed, for a list."""
    start = parser.pos
    parser.parse_punctuation("<", " in dense attribute")
    token = parser._current_token  # pyright: ignore[reportPrivateUsage]
    if token.kind == MLIRTokenKind.STRING_LIT:
        blob = _blob(parser, token.span)
        parser._consume_token(MLIRTokenKind.STRING_LIT)  # pyright: ignore[reportPrivateUsage]
        parser.parse_punctuation(">", " in dense attribute")
        type = _dense_type(parser, type)
        data = _elements(parser, token.span, blob, type)
    elif token.kind in (MLIRTokenKind.L_SQUARE, MLIRTokenKind.GREATER):
        parser._resume_from(start)  # pyright: ignore[reportPrivateUsage]
        return None
    else:
        element = parser._parse_tensor_literal_element()  # pyright: ignore[reportPrivateUsage]
        parser.parse_punctuation(">", " in dense attribute")
        type = _dense_type(parser, type)
        value = element.to_type(parser, cast(Any, type).element_type)
        try:
            data = cast(Any, type).element_type.pack((value,))
        except (OverflowError, ValueError, StructError):
            _raise_out_of_range(parser, type, element.span)
    return DenseIntOrFPElementsAttr(cast(Any, type), BytesAttr(data))


def mend() -> None:
    """Read and print dense constants as MLIR does, large ones without delay."""
    parse_dense = AttrParser.parse_dense_int_or_fp_elements_attr

    def parse_dense_attr(self: AttrParser, type: Any) -> Dense:
        start = self.pos
        parsed = _parse_blob_or_splat(self, type)
        if parsed is not None:
            return parsed
        try:
            return parse_dense(self, type)
        except (OverflowError, StructError):
            span = Span(start, self.pos, self.lexer.input)
            _raise_out_of_range(self, type, span)

    lex_string = MLIRLexer._lex_string_literal  # pyright: ignore[reportPrivateUsage]

    def lex_string_literal(self: MLIRLexer, start_pos: int) -> Token[MLIRTokenKind]:
        return _lex_blob(self, start_pos) or lex_string(self, start_pos)

    MLIRLexer._lex_string_literal = lex_string_literal  # pyright: ignore[reportPrivateUsage]
    AttrParser.parse_dense_int_or_fp_elements_attr = parse_dense_attr
    DenseIntOrFPElementsAttr.print_without_type = _print_without_type

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
