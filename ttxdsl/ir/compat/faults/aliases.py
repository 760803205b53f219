"""Mend: an alias of an alias may stand for more than any machine can write out.

`#b = [#a, #a]`, `#c = [#b, #b]` and so on double with every line. xDSL reads that
quickly, as parts are shared, and then prints, hashes and compares attributes as if they
were not. What an alias stands for is counted when it is defined, from what the aliases
in it stand for; one that is too large is refused, and so is one that is too deep for
the recursion that attributes are printed with.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.parser import Parser

from ttxdsl.ir.memo import IdentityMemo

MOST_PARTS = 1 << 16
"""Parts that an alias may have when all of it is written out, for a short text; a long
one may have as many as it has characters."""

MOST_LEVELS = 1_000
"""Of attributes inside each other; locations, which nothing prints, may be deeper."""

_Measures = IdentityMemo[tuple[int, int]]
"""Parts and levels of attributes."""


def _parts(attribute: Attribute) -> Iterable[Attribute]:
    match attribute:
        case ArrayAttr():
            return attribute.data
        case DictionaryAttr():
            return cast(Mapping[str, Attribute], attribute.data).values()
        case ParametrizedAttribute():
            return attribute.parameters
        case _:
            return ()


def _measure(attribute: Attribute, known: _Measures) -> tuple[int, int]:
    """Return the numbers of parts and levels of an attribute; shared parts count once."""
    pending = [attribute]
    while pending:
        current = pending[-1]
        if id(current) in known:
            pending.pop()
            continue
        parts = tuple(_parts(current))
        unknown = [part for part in parts if id(part) not in known]
        if unknown:
            pending += unknown
            continue
        count = 1 + sum(known[id(part)][0] for part in parts)
        levels = 1 + max((known[id(part)][1] for part in parts), default=0)
        known.keep(id(current), (count, levels), current)
        pending.pop()
    return known[id(attribute)]


def _known(parser: Parser) -> _Measures:
    # kept in the state that a parser shares with its nested parsers
    state = cast(Any, parser._parser_state)  # pyright: ignore[reportPrivateUsage]
    known: _Measures | None = getattr(state, "alias_measures", None)
    if known is None:
        known = state.alias_measures = _Measures()
    return known


def mend() -> None:
    """Refuse aliases that stand for too much."""
    parse_definition = Parser._parse_alias_def  # pyright: ignore[reportPrivateUsage]

    def parse_measured(self: Parser) -> None:
        token = self._current_token  # pyright: ignore[reportPrivateUsage]
        parse_definition(self)
        attribute = self.attribute_aliases[token.text]
        parts, levels = _measure(attribute, _known(self))
        most = max(MOST_PARTS, len(self.lexer.input.content))
        if parts > most:
            self.raise_error(
                f"alias '{token.text}' stands for {parts} parts when it is written out:"
                f" more than {most}",
                token.span,
            )
        if levels > MOST_LEVELS and not attribute.name.endswith("loc"):
            self.raise_error(
                f"alias '{token.text}' has {levels} levels inside each other:"
                f" more than {MOST_LEVELS}",
                token.span,
            )

    Parser._parse_alias_def = parse_measured  # pyright: ignore[reportPrivateUsage]
