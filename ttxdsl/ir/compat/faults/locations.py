"""Mends to locations: forward aliases, ranges, fused metadata, and where an op stood.

MLIR prints `loc(#loc1)` beside an op and defines `#loc1` at the end of the file;
xDSL 0.74 knows an alias only after its definition. It cannot read ranges
(`loc("a.py":1:2 to :9)`), which JAX writes for every op, nor `fused<…>[…]`.

An op that carries no location at all gets, as in MLIR, the position of its own text:
a `ParsedLoc`, so that errors can name the line. It prints as `unknown`, so no output
of xDSL changes by it.

An op that no dialect has is reported where its name stands; xDSL points behind it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

import xdsl.dialects.builtin as builtin
from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, BuiltinAttribute, Data, Operation, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import Parser
from xdsl.parser.attribute_parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ttxdsl.ir.memo import by_identity

_ALIAS_LINE = re.compile(r"^(#[\w.$-]+)\s*=\s*loc\(", re.MULTILINE)

UNDEFINED_ALIAS = "undefined location alias"
"""The beginning of the error of an alias that the text does not define."""


@irdl_attr_definition
class FileLineColRange(ParametrizedAttribute, BuiltinAttribute):
    """A range of source text: `loc("file":line:column to end_line:end_column)`."""

    name = "builtin.file_line_range"

    filename: StringAttr
    line: IntAttr
    column: IntAttr
    end_line: IntAttr
    end_column: IntAttr

    def print_builtin(self, printer: Printer) -> None:
        """Print as MLIR does: the end line only if it differs."""
        end_line = "" if self.end_line == self.line else str(self.end_line.data)
        with printer.in_location():
            printer.print_string_literal(self.filename.data)
            printer.print_string(
                f":{self.line.data}:{self.column.data}"
                f" to {end_line}:{self.end_column.data}"
            )


class SourceOffset:
    """A place in a parsed text; there is one for each op that is parsed."""

    __slots__ = ("offset", "source")

    def __init__(self, source: Input, offset: int):
        self.source = source
        self.offset = offset


@lru_cache(maxsize=8)
def _line_starts(text: str) -> list[int]:
    """Return the offsets of a text's lines; cached, since tools ask for every op."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


class PositionPrinter(Printer):
    """Prints locations, of ops without one the position of their text."""


@irdl_attr_definition
class ParsedLoc(Data[SourceOffset], BuiltinAttribute):
    """The position in the parsed text of an op without a location.

    Line and column are counted on demand: most ops never need them.
    """

    name = "builtin.parsed_loc"

    def __post_init__(self) -> None:
        """There is nothing to check."""

    @property
    def position(self) -> str:
        """`file:line:column`, lines and columns from 1 as in MLIR's diagnostics."""
        source, offset = self.data.source, self.data.offset
        starts = _line_starts(source.content)
        line = bisect_right(starts, offset)
        return f"{source.name}:{line}:{offset - starts[line - 1] + 1}"

    def print_builtin(self, printer: Printer) -> None:
        """Print as unknown: the program carried no location. MLIR's tools print it."""
        with printer.in_location():
            if not isinstance(printer, PositionPrinter):
                printer.print_string("unknown")
                return
            name, line, column = self.position.rsplit(":", 2)
            printer.print_string_literal(name)
            printer.print_string(f":{line}:{column}")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> SourceOffset:
        """Raise: a parsed location has no spelling of its own."""
        parser.raise_error("a parsed location cannot be written")

    def print_parameter(self, printer: Printer) -> None:
        """Never reached: `print_builtin` prints the whole attribute."""
        self.print_builtin(printer)


Location = (
    UnknownLoc
    | FileLineColLoc
    | CallSiteLoc
    | NameLoc
    | FusedLoc
    | FileLineColRange
    | ParsedLoc
)
"""xDSL's location attributes and the two added here."""


_LIBRARY = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python3[^/]*/")
"""Files of installed packages, which whoever wrote the program did not write."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback: the function, or nothing, and `file:line:col`.

    `end` is the `line:col` behind the expression, if the location has a range.
    """

    function: str
    position: str
    end: str | None = field(default=None, compare=False)


def source_frames(location: Attribute) -> Iterator[Frame]:
    """Yield the traceback that a location holds, innermost frame first, each once.

    A name around a file's position is the function's where it stands in a call site or in
    another name, as JAX writes tracebacks, and has no slash; else it is the op's.
    """
    pending = [(location, "", False)]
    seen: set[int] = set()  # a part that several share is looked at once
    while pending:
        part, function, inside = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        kind = type(part)  # of every op, often: no `isinstance` of a class with an ABC
        if kind is NameLoc:
            name = cast(NameLoc, part).desc.data
            function = name if inside and "/" not in name else ""
            pending.append((cast(NameLoc, part).location, function, True))
        elif kind is CallSiteLoc:
            call = cast(CallSiteLoc, part)
            pending += ((call.caller, "", True), (call.callee, "", True))
        elif kind is ParsedLoc:
            yield Frame("", cast(ParsedLoc, part).position)
        elif kind is FileLineColLoc or kind is FileLineColRange:
            at = cast(FileLineColLoc, part)
            end = None
            if isinstance(part, FileLineColRange):
                end = f"{part.end_line.data}:{part.end_column.data}"
            position = f"{at.filename.data}:{at.line.data}:{at.column.data}"
            yield Frame(function, position, end)
        elif kind is FusedLoc:
            parts = cast(ArrayAttr[Attribute], cast(FusedLoc, part).locations)
            pending += ((each, function, inside) for each in reversed(parts.data))


@lru_cache(maxsize=4096)
def is_of_library(position: str) -> bool:
    """Return whether a file is of an installed package or of Python itself."""
    return _LIBRARY.search(position) is not None


@by_identity
def author_frames(location: Attribute) -> tuple[Frame, ...]:
    """Return the frames of a location that are in no library, innermost first."""
    frames = source_frames(location)
    return tuple(frame for frame in frames if not is_of_library(frame.position))


def own_first(frames: Iterable[Frame]) -> list[Frame]:
    """Return the user's frames before those of libraries, otherwise in their order."""
    return sorted(frames, key=lambda frame: is_of_library(frame.position))


def own_frame(frames: Iterable[Frame]) -> Frame | None:
    """Return the first frame that is not in a library, else the first; None of none."""
    first: Frame | None = None
    for frame in frames:
        if not is_of_library(frame.position):
            return frame
        first = first or frame
    return first


@by_identity
def source_frame(location: Attribute) -> Frame | None:
    """Return the frame that a location leads to, or None if it leads nowhere.

    A call site answers with its callee (the innermost frame, as MLIR's own
    diagnostics do) unless that is in a library and a caller is not; a fused location with
    the first part that knows a position.
    """
    return own_frame(source_frames(location))


def source_position(location: Attribute) -> str | None:
    """Return the `file:line:col` of `source_frame`."""
    frame = source_frame(location)
    return None if frame is None else frame.position


class OpError(VerifyException):
    """An op breaks a rule that a whole module is held to."""

    def __init__(self, message: str, op: Operation):
        self.message = message
        self.op = op
        position = source_position(op.location)
        place = f"{position}: " if position else ""
        name = op.op_name.data if isinstance(op, builtin.UnregisteredOp) else op.name
        super().__init__(f"{place}'{name}' op {message}")


@dataclass
class _AliasTable:
    """Location aliases of one text, found by one scan and each parsed once.

    `parsing` are those whose definition is being read, `ends` is where the others' end.
    """

    offsets: dict[str, int]
    parsing: set[str] = field(default_factory=set[str])
    parsed: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    ends: dict[str, int] = field(default_factory=dict[str, int])


def _aliases(parser: AttrParser) -> _AliasTable:
    # kept in the state that a parser shares with its nested parsers
    state = cast(Any, parser._parser_state)  # pyright: ignore[reportPrivateUsage]
    table = getattr(state, "location_aliases", None)
    if table is None:
        content = parser.lexer.input.content
        places = {m.group(1): m.end() - 4 for m in _ALIAS_LINE.finditer(content)}
        table = state.location_aliases = _AliasTable(places)
    return table


def location_of_alias(parser: AttrParser, name: str) -> Attribute | None:
    """The location that the text defines an alias as, before or after this place.

    The parser may stand elsewhere afterwards when the alias is used the first time.
    """
    table = _aliases(parser)
    if (known := table.parsed.get(name)) is not None:
        return known
    if (offset := table.offsets.get(name)) is None:
        return None
    if name in table.parsing:
        parser.raise_error(f"location alias '{name}' is defined by itself")
    table.parsing.add(name)
    parser._resume_from(offset)  # pyright: ignore[reportPrivateUsage]
    location = parser.parse_optional_location()
    assert location is not None
    table.parsed[name] = location
    table.ends[name] = parser.pos
    table.parsing.remove(name)
    return location


def _parse_alias(parser: AttrParser) -> Attribute:
    token = parser._consume_token(MLIRTokenKind.HASH_IDENT)  # pyright: ignore[reportPrivateUsage]
    resume = parser.pos
    location = location_of_alias(parser, token.text)
    if location is None:
        parser.raise_error(f"{UNDEFINED_ALIAS} '{token.text}'", token.span)
    if parser.pos != resume:
        parser._resume_from(resume)  # pyright: ignore[reportPrivateUsage]
    return location


def _parse_file_position(parser: AttrParser, filename: str) -> Attribute:
    line = parser.parse_integer(False, False)
    parser.parse_punctuation(":")
    column = parser.parse_integer(False, False)
    if parser.parse_optional_keyword("to") is None:
        return FileLineColLoc(StringAttr(filename), IntAttr(line), IntAttr(column))
    end_line = parser.parse_optional_integer(False, False)
    parser.parse_punctuation(":")
    end_column = parser.parse_integer(False, False)
    return FileLineColRange(
        StringAttr(filename),
        IntAttr(line),
        IntAttr(column),
        IntAttr(line if end_line is None else end_line),
        IntAttr(end_column),
    )


def parse_location(parser: AttrParser) -> Attribute:
    """Parse the text between the parentheses of `loc(…)`."""
    if parser.parse_optional_keyword("unknown"):
        # not the shared UNKNOWN_LOC: that one means that nothing was written
        return UnknownLoc()
    if (text := parser.parse_optional_str_literal()) is not None:
        if parser.parse_optional_punctuation(":") is not None:
            return _parse_file_position(parser, text)
        child: Attribute = NoneAttr()
        if parser.parse_optional_punctuation("(") is not None:
            child = parse_location(parser)
            parser.parse_punctuation(")")
        return NameLoc(StringAttr(text), child)
    if parser._current_token.kind == MLIRTokenKind.HASH_IDENT:  # pyright: ignore[reportPrivateUsage]
        return _parse_alias(parser)
    if parser.parse_optional_keyword("callsite"):
        with parser.in_parens():
            callee = parse_location(parser)
            parser.parse_keyword("at")
            return CallSiteLoc(callee, parse_location(parser))
    if parser.parse_optional_keyword("fused"):
        metadata: Attribute = NoneAttr()
        if parser.parse_optional_punctuation("<") is not None:
            metadata = parser.parse_attribute()
            parser.parse_punctuation(">")
        parts = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_location(parser)
        )
        return FusedLoc(tuple(parts), metadata)
    parser.raise_error("expected a location")


def mend() -> None:
    """Read every location that MLIR prints, and remember where ops stood."""
    builtin.LocationAttr = Location  # what xDSL's own constraints check against
    AttrParser._parse_location = cast(Any, parse_location)  # pyright: ignore[reportPrivateUsage]
    parse_alias_definition = Parser._parse_alias_def  # pyright: ignore[reportPrivateUsage]
    parse_operation = Parser.parse_operation

    def skip_known_alias(self: Parser) -> None:
        token = self._current_token  # pyright: ignore[reportPrivateUsage]
        name, table = token.text, _aliases(self)
        if name in table.offsets:
            if name in self.attribute_aliases:
                self.raise_error(f"re-declaration of alias '{name}'")
            between = self.lexer.input.content[token.span.end : table.offsets[name]]
            if (
                between.strip() == "="
            ):  # otherwise it is a definition without a location, or a comment
                location = location_of_alias(self, name)
                assert location is not None, "it has a definition"
                self.attribute_aliases[name] = location
                if self.pos != table.ends[name]:  # it was used before
                    self._resume_from(table.ends[name])  # pyright: ignore[reportPrivateUsage]
                return
            self.attribute_aliases[name] = _parse_alias(self)
            self.parse_punctuation("=", "after attribute alias name")
            self.parse_optional_location()
            return
        parse_alias_definition(self)

    def parse_with_position(self: Parser) -> Operation:
        offset = self._current_token.span.start  # pyright: ignore[reportPrivateUsage]
        operation = parse_operation(self)
        if operation.location is builtin.UNKNOWN_LOC:
            operation.location = cast(
                Any, ParsedLoc(SourceOffset(self.lexer.input, offset))
            )
        return operation

    op_by_name = Parser._get_op_by_name  # pyright: ignore[reportPrivateUsage]

    def op_by_name_or_point_at_it(self: Parser, name: str) -> type[Operation]:
        try:
            return op_by_name(self, name)
        except ParseError as error:
            # xDSL points at what follows the name, often on the next line
            source = self.lexer.input
            start = source.content.rfind(name, 0, error.span.start)
            if start < 0:
                raise
            span = Span(start, start + len(name), source)
            raise ParseError(span, error.msg) from None

    Parser._get_op_by_name = op_by_name_or_point_at_it  # pyright: ignore[reportPrivateUsage]
    Parser._parse_alias_def = skip_known_alias  # pyright: ignore[reportPrivateUsage]
    Parser.parse_operation = parse_with_position
