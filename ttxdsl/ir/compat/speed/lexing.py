"""Mend: strings that never end take exponential time, and bytes of UTF-8 are no strings.

For a quotation mark without a second one in its line, xDSL's regular expression for
strings backtracks. It is used here without. A byte order mark is skipped.
"""

import re
from contextlib import suppress
from typing import Any

from xdsl.utils.lexer import Input, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind, StringLiteral

_string = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

BYTE_ORDER_MARK = "\ufeff"


def mend() -> None:
    """Read strings in linear time, as text where they are; skip a byte order mark."""
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
