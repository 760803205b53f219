"""Mends to `dense<…>`: narrow blobs, and constants of many MiB.

In a blob (`dense<"0x…">`) an integer narrower than a byte has zeros above its bits, so
that -2 of i4 is `0E`; xDSL reads 14. Blobs are read and printed here without a Python
object an element, which xDSL needs several of. Long lists of numbers, the devices of a
collective on a pod, are read as the JSON that they are.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from itertools import chain
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute
from xdsl.parser import attribute_parser
from xdsl.parser.attribute_parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from ttxdsl.ir.compat.faults.splats import elements

_CHUNK = 1 << 20
"""Hexadecimal digits, or bytes, to convert at a time."""

_LONGEST_LIST = 100
"""Elements that MLIR still prints one by one."""

_LONG_LIST = 1 << 10
"""Characters from which on a list is worth being tried as JSON."""

_natural_numbers = re.compile(r"\[[\[\]0-9, \n]*\]").match

Dense = DenseIntOrFPElementsAttr[Any]


def _blob(parser: AttrParser, span: Span) -> bytes:
    """Return the bytes of a `"0x…"` token, read without copying the text as a whole."""
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
    """Return the width of an integer type that does not fill a byte."""
    if isinstance(element, IntegerType):
        width = element.bitwidth
        return width if width < 8 else None
    return None


def _widen(blob: bytes, element: Attribute) -> bytes:
    """From MLIR's bytes of narrow integers to xDSL's, which carry the sign."""
    bits = _narrow_bits(element)
    if bits is None:
        return blob
    if bits == 1:
        return blob.translate(bytes(byte != 0 for byte in range(256)))
    signed = cast(IntegerType, element).signedness.data != Signedness.UNSIGNED
    mask, sign = (1 << bits) - 1, 1 << (bits - 1) if signed else 0
    # of a negative number all bits before its own are set
    return blob.translate(
        bytes(byte & mask | (~mask & 0xFF if byte & sign else 0) for byte in range(256))
    )


def _narrow(data: bytes, element: Attribute) -> bytes:
    """Return the opposite of `_widen`."""
    bits = _narrow_bits(element)
    if bits is None:
        return data
    mask = (1 << bits) - 1
    return data.translate(bytes(byte & mask for byte in range(256)))


def _elements(parser: AttrParser, span: Span, blob: bytes, type: Any) -> bytes:
    """Return the elements of a blob, or the one that it holds for all."""
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


def _parse_long_list(
    parser: AttrParser, start: int, type: Attribute | None
) -> Dense | None:
    """Parse a long list of natural numbers; None for another, or one with a fault."""
    listed = _natural_numbers(parser.lexer.input.content, start)
    if listed is None or listed.end() - start < _LONG_LIST:
        return None
    try:
        numbers = json.loads(listed.group())
    except (ValueError, RecursionError):
        return None
    parser._resume_from(listed.end())  # pyright: ignore[reportPrivateUsage]
    if parser.parse_optional_punctuation(">") is None:
        return None
    dense_type = _dense_type(parser, type)
    element_type = dense_type.element_type
    if not isinstance(element_type, IntegerType | IndexType):
        return None
    values = _flattened(numbers, dense_type.get_shape())
    width = 64 if isinstance(element_type, IndexType) else element_type.bitwidth
    if values is None or max(values, default=0) >> (width - 1):
        return None
    return DenseIntOrFPElementsAttr(dense_type, BytesAttr(element_type.pack(values)))


def _flattened(numbers: Any, shape: tuple[int, ...]) -> list[int] | None:
    """Return the numbers of nested lists; None if these have another shape."""
    level: list[Any] = [numbers]
    for size in shape:
        rows = [cast(list[Any], row) for row in level if isinstance(row, list)]
        if len(rows) < len(level) or any(len(row) != size for row in rows):
            return None
        level = list(chain.from_iterable(rows))
    return level if all(isinstance(number, int) for number in level) else None


def _parse_blob_or_splat(parser: AttrParser, type: Attribute | None) -> Dense | None:
    """Parse `<"0x…">`, `<element>` or a long list; None, with nothing consumed, else."""
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
        dense = _parse_long_list(parser, token.span.start, type)
        if dense is None:
            parser._resume_from(start)  # pyright: ignore[reportPrivateUsage]
        return dense
    else:
        element = parser._parse_tensor_literal_element()  # pyright: ignore[reportPrivateUsage]
        parser.parse_punctuation(">", " in dense attribute")
        type = _dense_type(parser, type)
        element_type = cast(Any, type).element_type
        value = element.to_type(parser, element_type)
        data = element_type.pack((value,))
    return DenseIntOrFPElementsAttr(cast(Any, type), BytesAttr(data))


def mend() -> None:
    """Read and print dense constants as MLIR does, large ones without delay."""
    parse_dense = AttrParser.parse_dense_int_or_fp_elements_attr

    def parse_dense_attr(self: AttrParser, type: Any) -> Dense:
        parsed = _parse_blob_or_splat(self, type)
        return parse_dense(self, type) if parsed is None else parsed

    lex_string = MLIRLexer._lex_string_literal  # pyright: ignore[reportPrivateUsage]

    def lex_string_literal(self: MLIRLexer, start_pos: int) -> Token[MLIRTokenKind]:
        return _lex_blob(self, start_pos) or lex_string(self, start_pos)

    MLIRLexer._lex_string_literal = lex_string_literal  # pyright: ignore[reportPrivateUsage]
    AttrParser.parse_dense_int_or_fp_elements_attr = parse_dense_attr
    # makes the constraint of a dense type anew for each attribute, 1 ms
    attribute_parser.base = cache(attribute_parser.base)  # pyright: ignore[reportPrivateImportUsage]
    DenseIntOrFPElementsAttr.print_without_type = _print_without_type
