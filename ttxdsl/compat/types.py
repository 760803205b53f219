"""Mend: xDSL parses a type from its characters wherever it stands.

`tensor<4x16x64xf32>` is nine tokens and five objects that check themselves, and a
program has few different ones. A tensor type whose text depends on nothing around it
(no alias, no encoding) is parsed once in a process. Equal types are then also the same
object, which is what comparing and hashing them ask first.
"""

from __future__ import annotations

import re
from typing import Any, cast

from xdsl.ir import TypeAttribute
from xdsl.parser.attribute_parser import AttrParser

_MOST_KEPT = 1 << 14

_tensor = re.compile(
    r"tensor<(?:(?:[0-9]+|\?)x)*+(?:[a-z][a-zA-Z0-9]*|complex<[a-z][0-9]+>)>"
).match

_types: dict[str, TypeAttribute] = {}


def mend() -> None:
    """Parse each simple tensor type once."""
    parse_optional_type = AttrParser.parse_optional_type

    def parse_remembered(self: AttrParser) -> TypeAttribute | None:
        start = self.pos
        found = _tensor(self.lexer.input.content, start)
        if found is None:
            return parse_optional_type(self)
        text = found.group()
        known = _types.get(text)
        if known is not None:
            self._resume_from(found.end())  # pyright: ignore[reportPrivateUsage]
            return known
        parsed = parse_optional_type(self)
        if parsed is not None and len(_types) < _MOST_KEPT:
            _types[text] = parsed
        return parsed

    AttrParser.parse_optional_type = cast(Any, parse_remembered)
