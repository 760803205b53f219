"""Mend: xDSL's lexer takes half of the time that a module needs to be parsed.

It calls four to eight functions for each token, and builds a table of punctuation each
time. Here one regular expression skips blanks and recognizes the token's kind. Tokens
that it does not recognize (strings, characters outside ASCII, errors) are left to
xDSL's own function.

For a quotation mark without a second one in its line, xDSL's regular expression for
strings takes exponential time. It is used here without backtracking.
"""

import re
from contextlib import suppress
from typing import Any

from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind, StringLiteral

_Kind = MLIRTokenKind

_token = re.compile(
    r"""(?:[ \t\r\n]++|//[^\n]*+)*+
    (?:
        ([a-zA-Z_][a-zA-Z0-9_$.]*)
      | %(?:([0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))
      | ([:,()\[\]<>=}+*?/|])
      | ([0-9]+)(?![0-9.xX])
      | \#(?!-\})(?:([0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))
      | !(?:([0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))
      | \^(?:([0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))
      | (->)
      | (\{(?!-\#))
      | ([0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?)
      | (-(?!>))
      | @([a-zA-Z_][a-zA-Z0-9_$.]*)
    )""",
    re.VERBOSE | re.ASCII,
).match

_string = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

_PUNCTUATION = 3
_KINDS = (
    _Kind.EOF,  # no group is 0
    _Kind.BARE_IDENT,
    _Kind.PERCENT_IDENT,
    _Kind.EOF,  # punctuation, by its spelling
    _Kind.INTEGER_LIT,
    _Kind.HASH_IDENT,
    _Kind.EXCLAMATION_IDENT,
    _Kind.CARET_IDENT,
    _Kind.ARROW,
    _Kind.L_BRACE,
    _Kind.FLOAT_LIT,
    _Kind.MINUS,
    _Kind.AT_IDENT,
)
"""The kind of each group of `_token`."""

_WITH_SIGN = frozenset({2, 5, 6, 7, 12})
"""Groups of `_token` that start after the token's first character."""

_BY_SPELLING = {
    kind.value: kind
    for kind in (
        *(_Kind.COLON, _Kind.COMMA, _Kind.L_PAREN, _Kind.R_PAREN, _Kind.L_SQUARE),
        *(_Kind.R_SQUARE, _Kind.LESS, _Kind.GREATER, _Kind.EQUAL, _Kind.R_BRACE),
        *(_Kind.PLUS, _Kind.STAR, _Kind.QUESTION, _Kind.SLASH, _Kind.VERTICAL_BAR),
    )
}


BYTE_ORDER_MARK = "\ufeff"


def mend() -> None:
    """Lex what is common with one regular expression, and skip a byte order mark."""
    post_init = Input.__post_init__

    def without_mark(self: Input[Any]) -> None:
        if isinstance(self.content, str):
            text = self.content.removeprefix(BYTE_ORDER_MARK)
            object.__setattr__(self, "content", text)
        post_init(self)

    Input.__post_init__ = without_mark
    MLIRLexer._unescaped_characters_regex = _string  # pyright: ignore[reportPrivateUsage]
    lex = MLIRLexer.lex
    lex_string = MLIRLexer._lex_string_literal  # pyright: ignore[reportPrivateUsage]

    def lex_string_literal(self: MLIRLexer, start_pos: int) -> Token[MLIRTokenKind]:
        token = lex_string(self, start_pos)
        if token.kind is _Kind.BYTES_LIT:
            with suppress(UnicodeDecodeError):
                StringLiteral.from_span(token.span).bytes_contents.decode()
                return Token(_Kind.STRING_LIT, token.span)
        return token

    def lex_token(self: MLIRLexer) -> Token[MLIRTokenKind]:
        if type(self) is not MLIRLexer:  # one with tokens of its own
            return lex(self)
        source = self.input
        match = _token(source.content, self.pos)
        if match is None or (group := match.lastindex) is None:
            return lex(self)
        start, end = match.span(group)
        self.pos = end
        if group == _PUNCTUATION:
            kind = _BY_SPELLING[source.content[start]]
        else:
            kind = _KINDS[group]
            if group in _WITH_SIGN:
                start -= 1
        return Token(kind, Span(start, end, source))

    MLIRLexer.lex = lex_token
    MLIRLexer._lex_string_literal = lex_string_literal  # pyright: ignore[reportPrivateUsage]
