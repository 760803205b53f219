"""Mend: xDSL parses a type from its characters wherever it occurs.

`tensor<4x16x64xf32>` is nine tokens and five objects that verify themselves, and a
program has few different types. A tensor type without an alias or an encoding is parsed
once in a process, another once in a text: aliases and registered dialects are those of
the text. Equal types are then the same object, which makes comparing and hashing them
fast. Its shape as a tuple is computed once, too.

The dimensions of a shape are read at once: xDSL splits the token `x4x16xf32` at its
first letter and lexes the rest again, for each dimension. Dimensions beyond 64 bits are
left to xDSL, which refuses them.
"""

import re
from functools import cached_property
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import TypeAttribute
from xdsl.parser.attribute_parser import AttrParser
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

_MOST_KEPT = 1 << 14
_LARGEST = (1 << 63) - 1
_DIGITS = 100
"""More are not even counted."""

_DIMENSION_TOKENS = (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.QUESTION)

_dimensions = re.compile(r"(?:[0-9]+|\?)(?:x(?:[0-9]+|\?))*+").match

_tensor = re.compile(
    r"tensor<(?:(?:[0-9]+|\?)x)*+(?:[a-z][a-zA-Z0-9]*|complex<[a-z][0-9]+>)>"
).match

_types: dict[str, TypeAttribute] = {}

_PART = r"""[^<>"\n]++|"[^<>"\\\n]*+\""""
_encoded = re.compile(rf"tensor<(?:{_PART})*+(?:<(?:{_PART})*+>(?:{_PART})*+)*+>").match


def _types_of(parser: AttrParser) -> dict[str, TypeAttribute]:
    # kept in the state that a parser shares with its nested parsers
    state: dict[str, Any] = vars(parser._parser_state)  # pyright: ignore[reportPrivateUsage]
    return state.setdefault("encoded_types", {})


def _shape(type_: Any) -> tuple[int, ...]:
    return tuple([size.data for size in type_.shape.data])


def _known_shape(type_: Any) -> tuple[int, ...]:
    return type_._known_shape


def mend() -> None:
    """Parse each simple tensor type once, and make its shape once."""
    shape: Any = cached_property(_shape)
    shape.__set_name__(TensorType, "_known_shape")
    mended = cast(Any, TensorType)
    mended._known_shape, mended.get_shape = shape, _known_shape
    parse_optional_type = AttrParser.parse_optional_type

    def parse_remembered(self: AttrParser) -> TypeAttribute | None:
        start = self.pos
        content = self.lexer.input.content
        match, types = _tensor(content, start), _types
        if match is None:
            match = _encoded(content, start)
            if match is None:
                return parse_optional_type(self)
            types = _types_of(self)
        text = match.group()
        known = types.get(text)
        if known is not None:
            self._resume_from(match.end())  # pyright: ignore[reportPrivateUsage]
            return known
        parsed = parse_optional_type(self)
        if parsed is None or len(types) >= _MOST_KEPT:
            return parsed
        end, after = match.end(), self.pos
        if end <= after and not content[end:after].strip():
            types[text] = parsed
        return parsed

    def parse_dimensions(self: AttrParser) -> list[int]:
        dimensions: list[int] = []
        if self._current_token.kind not in _DIMENSION_TOKENS:  # pyright: ignore[reportPrivateUsage]
            return dimensions
        text = self.lexer.input.content
        resume = self._resume_from  # pyright: ignore[reportPrivateUsage]
        while True:
            start = self._current_token.span.start  # pyright: ignore[reportPrivateUsage]
            listed = _dimensions(text, start)
            assert listed is not None
            for size in listed.group().split("x"):
                digits = len(size)
                if digits > _DIGITS or (size != "?" and int(size) > _LARGEST):
                    span = Span(start, start + digits, self.lexer.input)
                    self.raise_error("the dimension does not fit in 64 bits", span)
                dimensions.append(DYNAMIC_INDEX if size == "?" else int(size))
                start += digits + 1
            resume(listed.end())
            if not self._parse_optional_shape_delimiter():  # pyright: ignore[reportPrivateUsage]
                return dimensions
            if self._current_token.kind not in _DIMENSION_TOKENS:  # pyright: ignore[reportPrivateUsage]
                # the `x` before the element type is for the caller
                resume(self._current_token.span.start - 1)  # pyright: ignore[reportPrivateUsage]
                return dimensions

    AttrParser.parse_optional_type = cast(Any, parse_remembered)
    AttrParser.parse_dimension_list = parse_dimensions
