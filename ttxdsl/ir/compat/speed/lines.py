"""Mend: xDSL parses every op from its characters, however often it saw one like it.

A program of a hundred thousand ops has some hundred different lines: those of repeated
layers differ in the names of values only. A line that an op fills is parsed by xDSL
once; from it the op's *template* is known, that is everything but the names. A later
line of the same template in the same text becomes an op without any token being made.

Sound because of what a template is kept for, and compared with:

- the op ended where its line did, it has no successors, and its regions use no value
  from outside;
- each name in the line stands for exactly one operand, in a known order, so a name can
  only be an operand's (or, before the `=`, a result's);
- all other characters are the same, and so is the stack of dialects that gives a name
  without a dialect its meaning;
- each operand has the type that it had then, so nothing can depend on types but not
  on the text;
- what begins the next line is of the same kind;
- in custom syntax the op is of a dialect whose parse methods look at nothing else.

Whatever does not fit (a value that is not defined yet, a name given twice, a type that
differs) is left to xDSL, errors and their positions included. Templates are forgotten
with the parser: aliases and registered dialects are those of one text.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from ttxdsl.ir.compat.faults.locations import ParsedLoc, SourceOffset, location_of_alias

_LONGEST = 4096
"""Characters of a line that is looked at; a longer one holds a constant of its own."""

_LARGEST = 8
"""Ops in the regions of a template, which are copied for each line."""

_OWN_SYNTAX = frozenset({"chlo", "func", "sdy", "stablehlo", "ttcore", "ttir", "ttnn"})
"""Dialects whose custom syntax depends on the text and on the operands' types only."""

_split_at_names = re.compile(r"%([A-Za-z0-9_$.-]+(?:#[0-9]+)?)").split
_location_alias = re.compile(r" loc\((#[\w.$-]+)\)$").search
_strings = re.compile(r'"(?:[^"\\]|\\.)*"').findall
_results = re.compile(r"(?::([0-9]+))? *= *").match
_next_line = re.compile(
    r"""\n[ \t\r\n]*(?:
        (?P<value>%) | (?P<end>\}) | (?P<block>\^)
        | (?P<generic>"[\w$]+\.[\w$.]+"\() | (?P<custom>(?:[a-z_]\w*\.[\w$.]+|return)\b)
    )""",
    re.VERBOSE,
).match


class _Template(NamedTuple):
    """All of an op but the names of its values."""

    op_class: type[Operation]
    names: int
    """How many names the line has."""
    bound: int
    """The number of results that the first name stands for; 0 if it is an operand's."""
    operands: tuple[tuple[int, Attribute], ...]
    """Which name of the line each operand is, and its type."""
    result_types: tuple[Attribute, ...]
    properties: Mapping[str, Attribute]
    attributes: Mapping[str, Attribute]
    regions: tuple[Region, ...]
    location: Attribute | None
    """The result of parsing the template's text; None for the location of the line."""


_Templates = dict[str, _Template]


def _templates_of(parser: Parser) -> _Templates:
    # kept in the state that a parser shares with its nested parsers
    state = cast(Any, parser._parser_state)  # pyright: ignore[reportPrivateUsage]
    tables: dict[tuple[str, ...], _Templates] | None
    tables = getattr(state, "line_templates", None)
    if tables is None:
        tables = state.line_templates = {}
    return tables.setdefault(tuple(state.dialect_stack), {})


def _value(values: Mapping[str, tuple[SSAValue, ...]], name: str) -> SSAValue | None:
    """Return the value of a name, or None while it is not defined."""
    known = values.get(name)
    if known is not None:
        return known[0]
    base, _, index = name.partition("#")
    known = values.get(base)
    place = int(index) if index else 0
    return known[place] if known is not None and place < len(known) else None


def _make(
    parser: Parser, template: _Template, names: list[str], location: Attribute
) -> Operation | None:
    """Return the op that a line stands for; None if xDSL has to look at it."""
    if len(names) != template.names:
        return None
    values = parser.ssa_values
    operands: list[SSAValue] = []
    for place, wanted in template.operands:
        value = _value(values, names[place])
        if value is None:
            return None
        type = value.type
        if type is not wanted and type != wanted:
            return None
        operands.append(value)
    name = names[0] if template.bound else None
    if name in values or name in parser.forward_ssa_references:
        return None
    regions = template.regions
    op = template.op_class.create(
        operands=operands,
        result_types=template.result_types,
        properties=template.properties,
        attributes=template.attributes,
        location=cast(Any, location),
        regions=[region.clone() for region in regions] if regions else (),
    )
    if name is not None:
        values[name] = results = tuple(op.results)
        if SSAValue.is_valid_name(name):
            for result in results:
                result.name_hint = name
    return op


def _repetition(names: list[str]) -> str:
    """Return the positions of equal names of a line; empty if they all differ."""
    if len(set(names)) == len(names):
        return ""
    return f" {[names.index(name) for name in names]}"


def _add_known_lines(
    parser: Parser, block: Block, templates: _Templates, start: int
) -> int:
    """Add the ops of lines that are like earlier ones; return where another begins."""
    source = parser.lexer.input
    content = source.content
    while True:
        end = content.find("\n", start, start + _LONGEST)
        if end < 0 or (after := _next_line(content, end)) is None:
            return start
        text = content[start:end]
        alias = _location_alias(text) if text[-1] == ")" else None
        if alias is not None:
            text = text[: alias.start()]
        pieces = _split_at_names(text)
        kind = cast(str, after.lastgroup)
        names = pieces[1::2]
        key = kind + "%".join(pieces[::2])
        template = templates.get(key) or templates.get(key + _repetition(names))
        if template is None:
            return start
        if alias is not None:
            location = location_of_alias(parser, alias.group(1))
            if location is None or template.location is not None or template.regions:
                return start
        elif template.location is not None:
            location = template.location
        else:
            location = ParsedLoc(SourceOffset(source, start))
        op = _make(parser, template, names, location)
        if op is None:
            return start
        block.add_op(op)
        start = after.start(kind)


def _learn(parser: Parser, templates: _Templates, start: int, op: Operation) -> None:
    """Keep the template of a line that xDSL parsed, if the line is all of the op."""
    content = parser.lexer.input.content
    end = content.find("\n", start, start + _LONGEST)
    if end < 0 or (after := _next_line(content, end)) is None:
        return
    kind = cast(str, after.lastgroup)
    if after.start(kind) != parser.pos:
        return
    text = content[start:end]
    alias = _location_alias(text)
    if alias is not None:
        text = text[: alias.start()]
    pieces = _split_at_names(text)
    template = _template(parser, op, text, pieces, alias is not None)
    if template is not None:
        key = kind + "%".join(pieces[::2])
        templates[key + _repetition(pieces[1::2])] = template


def _template(
    parser: Parser, op: Operation, text: str, pieces: list[str], has_alias: bool
) -> _Template | None:
    shape, names = pieces[::2], pieces[1::2]
    if (
        any("%" in piece or "//" in piece for piece in shape)
        or "dense_resource" in text
    ):
        return None
    if any("%" in string for string in _strings(text)):
        return None
    bound = 0
    syntax = text
    if not shape[0]:
        results = _results(shape[1]) if names else None
        if results is None:
            return None
        bound = int(results.group(1) or 1)
        syntax = shape[1][results.end() :]
        if bound == 0 or bound != len(op.results):
            return None
    if not syntax.startswith('"') and op.dialect_name() not in _OWN_SYNTAX:
        return None
    first = 1 if bound else 0
    places: dict[SSAValue, int] = {}
    for place, name in enumerate(names[first:], first):
        value = _value(parser.ssa_values, name)
        if value is None or (value in places and name not in names[:place]):
            return None
        places[value] = place
    if set(places) != set(op.operands) or len(names) - first != len(op.operands):
        return None
    if op.successors or not _closed(op.regions) or (op.regions and has_alias):
        return None
    if type(op).create.__func__ is not Operation.create.__func__:
        return None
    here = has_alias or isinstance(op.location, ParsedLoc)
    return _Template(
        type(op),
        len(names),
        bound,
        tuple((places[operand], operand.type) for operand in op.operands),
        tuple(op.result_types),
        dict(op.properties),
        dict(op.attributes),
        tuple(region.clone() for region in op.regions),
        None if here else op.location,
    )


def _closed(regions: Iterable[Region]) -> bool:
    """Whether regions are small and use no outside values."""
    inside: set[SSAValue] = set()
    ops: list[Operation] = []
    for region in regions:
        for block in region.blocks:
            inside.update(block.args)
        for op in region.walk():
            if len(ops) == _LARGEST or op.regions or op.successors:
                return False
            ops.append(op)
            inside.update(op.results)
    return all(operand in inside for op in ops for operand in op.operands)


def mend() -> None:
    """Parse a line that is like an earlier one by looking up what differs."""
    parse_block_body = Parser._parse_block_body  # pyright: ignore[reportPrivateUsage]

    def parse_lines(self: Parser, block: Block) -> None:
        if type(self) is not Parser:  # one that may parse ops in its own way
            parse_block_body(self, block)
            return
        templates = _templates_of(self)
        while True:
            start = _add_known_lines(self, block, templates, self.pos)
            if start != self.pos:
                self._resume_from(start)  # pyright: ignore[reportPrivateUsage]
            op = self.parse_optional_operation()
            if op is None:
                return
            block.add_op(op)
            _learn(self, templates, start, op)

    Parser._parse_block_body = parse_lines  # pyright: ignore[reportPrivateUsage]
