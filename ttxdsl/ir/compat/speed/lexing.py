"""Mend: strings that never end take exponential time, and bytes of UTF-8 are no strings.

For a quotation mark without a second one in its line, xDSL's regular expression for
strings backtracks. It is used here without. A byte order mark is skipped.

xDSL looks at the first character of a token, then calls for each kind, and the text of
a token is cut out of the source each time a parser compares it. Here a single regular
expression finds the token and its kind. What it does not match, xDSL lexes: the end of
the source, strings with escapes or bytes, and errors.
"""

import re
from contextlib import suppress
from typing import Any, cast

from xdsl.parser.generic_parser import GenericParser
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRTokenKind,
    StringLiteral,
)

_string = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

_SUFFIX = r"(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*+)"
_KINDS = {
    MLIRTokenKind.BARE_IDENT: r"[a-zA-Z_][a-zA-Z0-9_$.]*+",
    MLIRTokenKind.PERCENT_IDENT: f"%{_SUFFIX}",
    MLIRTokenKind.INTEGER_LIT: r"0x[0-9a-fA-F]++|[0-9]++(?!\.)",
    MLIRTokenKind.STRING_LIT: r'"(?!0x)[^"\\\n\v\f]*+"',
    MLIRTokenKind.HASH_IDENT: rf"#(?!-\}}){_SUFFIX}",
    MLIRTokenKind.AT_IDENT: r"@[a-zA-Z_][a-zA-Z0-9_$.]*+",
    MLIRTokenKind.FLOAT_LIT: r"[0-9]++\.[0-9]*+(?:[eE][+-]?[0-9]++)?",
    MLIRTokenKind.EXCLAMATION_IDENT: f"!{_SUFFIX}",
    MLIRTokenKind.CARET_IDENT: rf"\^{_SUFFIX}",
}
_next_token = re.compile(
    r"(?://[^\n]*+\n?|\s++)*+(?:([:,()}\[\]<>=+/*?|]|->?|\{(?!-#))|"
    + "|".join(f"({spelling})" for spelling in _KINDS.values())
    + ")",
    re.ASCII,
).match
_KIND_OF_GROUP = (MLIRTokenKind.EOF, MLIRTokenKind.EOF, *_KINDS)

BYTE_ORDER_MARK = "\ufeff"


class _Token(Token[MLIRTokenKind, str]):
    """A token that knows its text."""

    text: Any = ""  # in place of a property

    def __init__(self, kind: MLIRTokenKind, span: Span[str], text: str) -> None:
        self.kind, self.span, self.text = kind, span, text


def _span(source: Input[str], start: int, end: int) -> Span[str]:
    """Return a span; what is frozen sets each field by a call."""
    span = object.__new__(Span)
    fields = span.__dict__
    fields["start"], fields["end"], fields["input"] = start, end, source
    return span


def _parse_optional_characters(self: GenericParser[Any, Any], text: str) -> str | None:
    state = self._parser_state  # pyright: ignore[reportPrivateUsage]
    if state.current_token.text != text:
        return None
    state.current_token = state.lexer.lex()
    return text


def mend() -> None:
    """Read strings in linear time, as text where they are; skip a byte order mark.

    Find most tokens at once.
    """
    post_init = Input.__post_init__

    def without_mark(self: Input[Any]) -> None:
        if isinstance(self.content, str):
            text = self.content.removeprefix(BYTE_ORDER_MARK)
            object.__setattr__(self, "content", text)
        post_init(self)

    Input.__post_init__ = without_mark
    MLIRLexer._unescaped_characters_regex = _string  # pyright: ignore[reportPrivateUsage]
    lex_string = MLIRLexer._lex_string_literal  # pyright: ignore[reportPrivateUsage]

    def lex_string_literal(self: MLIRLexer, start_pos: int) -> Token[MLIRTokenKind]:
        token = lex_string(self, start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT:
            with suppress(UnicodeDecodeError):
                StringLiteral.from_span(token.span).bytes_contents.decode()
                return Token(MLIRTokenKind.STRING_LIT, token.span)
        return token

    MLIRLexer._lex_string_literal = lex_string_literal  # pyright: ignore[reportPrivateUsage]
    lex_any = MLIRLexer.lex

    def lex(self: MLIRLexer) -> Token[MLIRTokenKind, str]:
        source = self.input
        # a lexer derived from it has other identifiers
        exact = type(self) is MLIRLexer
        match = _next_token(source.content, self.pos) if exact else None
        if match is None:
            return lex_any(self)
        group = cast(int, match.lastindex)
        start, self.pos = match.span(group)
        text = match[group]
        kind = (
            KIND_BY_PUNCTUATION_SPELLING[text] if group == 1 else _KIND_OF_GROUP[group]
        )
        return _Token(kind, _span(source, start, self.pos), text)

    MLIRLexer.lex = lex
    GenericParser.parse_optional_characters = _parse_optional_characters
