"""Every stage as text, line by line, and what a stage changed, op by op.

Two texts are not compared as texts: inserting one op renumbers all values behind it.
Ops are followed instead. An op that is still the same object is the same op; one that a
stage made anew of a single other (`Origins` tells) takes its place. A line has changed
if it says something else apart from the names of values, or uses other values.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from io import StringIO
from operator import is_
from typing import NamedTuple, cast

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.printer import Printer

from ttxdsl.analysis.attribution.origins import Numbers, Origins
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.traversal import operands_of

SAME, CHANGED, ADDED, REMOVED = range(4)
"""What a stage did to a line."""

LONGEST_LINE = 20_000
"""Characters of a line that are kept; a constant may have millions."""

_NAME = re.compile(r"%[\w$.-]+(#\d+)?")


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The text of ops that differ in the names of values only."""

    pieces: tuple[str, ...]
    """What stands around the names."""
    slots: tuple[int, ...]
    """The values whose names stand there, counted through results and operands."""
    meaning: str


class _PatternPrinter(Printer):
    """Prints one op with NUL in place of names, and remembers whose names they are."""

    attributes_as_ever = True

    def __init__(self, op: Operation):
        self.text = StringIO()
        super().__init__(stream=self.text)
        self.numbers: dict[SSAValue, int] = {}
        for value in (*op.results, *op.operands):
            self.numbers.setdefault(value, len(self.numbers))
        self.slots: list[int] = []

    def print_ssa_value(self, value: SSAValue) -> str:
        # one of a region is none of these: then there is a name too few
        if value in self.numbers:
            self.slots.append(self.numbers[value])
        self._ssa_values[value] = "\0"
        self.print_string("\0")
        return ""


_patterns: dict[tuple[object, ...], _Pattern | None] = {}
"""By class, names of attributes, numbers of attributes and types, and which operands
are the same; the same of ops in regions. None of those that take several lines."""
_numbers = IdentityMemo[int]()
"""Of attributes: equal ones have the same, so that layers that are alike share patterns."""
_equal: dict[object, int] = {}
_MOST_KEPT = 1 << 15
_LONGEST_BODY = 4
"""Ops in a region that may be printed on the line of its op (`applies stablehlo.add`)."""


_Shape = tuple[_Pattern, list[SSAValue]] | None
_State = tuple[object, ...]
_Kept = dict[Operation, tuple[_State, _Shape]]


def _pattern_of(op: Operation) -> _Shape:
    """Return how an op that takes one line is printed, and the values that it names."""
    if op.successors or isinstance(op, UnregisteredOp):
        return None
    numbers: dict[SSAValue, int] = {}
    objects: list[object] = []
    key = _key_of(op, numbers, objects)
    values = list(numbers)
    for region in op.regions:
        body = _body_key(region, numbers, objects)
        if body is None:
            return None
        key = (*key, *body)
    key = (*key, *map(_number_of, objects))
    try:
        pattern = _patterns[key]
    except KeyError:
        pattern = _patterns[key] = _new_pattern(op)
    return None if pattern is None else (pattern, values)


def _number_of(attribute: object) -> int:
    number = _numbers.get(id(attribute))
    if number is None:
        number = _equal.setdefault(attribute, len(_equal))
        _numbers.keep(id(attribute), number, attribute)
    return number


def _forget_patterns() -> None:
    """Let go of what no longer pays; not while an op is being looked up."""
    if max(map(len, (_patterns, _numbers))) > _MOST_KEPT:
        for memo in (_patterns, _numbers, _equal):
            memo.clear()


def _key_of(
    op: Operation, numbers: dict[SSAValue, int], objects: list[object]
) -> tuple[object, ...]:
    """Number the values of an op, add its attributes; return what else it says."""
    named = [*op.results, *operands_of(op)]
    properties, attributes = op.properties, op.attributes
    objects += [value.type for value in named]
    objects += properties.values()
    objects += attributes.values()
    key = (type(op), len(op.results), *properties, "", *attributes)
    told = bool(numbers) or len(set(named)) < len(named)
    for value in named:
        numbers.setdefault(value, len(numbers))
    return (*key, *(numbers[value] for value in named)) if told else key


def _body_key(
    region: Region, numbers: dict[SSAValue, int], objects: list[object]
) -> tuple[object, ...] | None:
    """Return the same of the ops of a region; None if it is no short block of plain ops."""
    if len(region.blocks) != 1:
        return None
    for argument in region.block.args:
        numbers.setdefault(argument, len(numbers))
    objects += [argument.type for argument in region.block.args]
    key: tuple[object, ...] = (len(region.block.args),)
    for at, op in enumerate(region.block.ops):
        if at >= _LONGEST_BODY or op.regions or op.successors:
            return None
        key = (*key, *_key_of(op, numbers, objects))
    return key


def _new_pattern(op: Operation) -> _Pattern | None:
    printer = _PatternPrinter(op)
    Printer.print_op(printer, op)
    pieces = tuple(printer.text.getvalue().split("\0"))
    if len(pieces) != len(printer.slots) + 1 or any("\n" in one for one in pieces):
        return None
    # the sign of a name belongs to the text
    marked = tuple(f"{piece}%" for piece in pieces[:-1]) + pieces[-1:]
    meaning = _NAME.sub("%", "%".join(pieces))
    return _Pattern(marked, tuple(printer.slots), meaning)


class _FollowingPrinter(Printer):
    """Prints as ever, and remembers where ops began and what values are called."""

    attributes_as_ever = True

    def __init__(self, stream: StringIO, states: dict[Operation, _State], kept: _Kept):
        super().__init__(stream=stream)
        self.states = states
        self.kept = kept
        self.spans: list[tuple[Operation, int, int]] = []
        self.meanings: dict[int, str] = {}
        """Of lines that hold a whole op: the text without names."""
        self.names: dict[SSAValue, str] = {}

    def print_op(self, op: Operation) -> None:
        start = self._current_line
        shape = self._shape_of(op)
        if shape is None:
            at = len(self.spans)
            self.spans.append((op, start, start))
            super().print_op(op)
            self.spans[at] = (op, start, self._current_line)
            return
        pattern, values = shape
        names = self._ssa_values
        text = ""
        for piece, slot in zip(pattern.pieces, pattern.slots, strict=False):
            value = values[slot]
            name = names.get(value)
            text += piece + (self._name(value) if name is None else name)
        print(text + pattern.pieces[-1], end="", file=self.stream)
        self.spans.append((op, start, start))
        self.meanings[start] = pattern.meaning

    def _shape_of(self, op: Operation) -> _Shape:
        if op.regions:
            return _pattern_of(op)
        state, kept = self.states[op], self.kept.get(op)
        if kept is not None and kept[0] == state:
            return kept[1]
        shape = _pattern_of(op)
        self.kept[op] = state, shape
        return shape

    def print_ssa_value(self, value: SSAValue) -> str:
        name = self._ssa_values.get(value) or self._name(value)
        self.print_string(f"%{name}")
        return name

    def _name(self, value: SSAValue) -> str:
        """Return a name for a value that has none yet, as xDSL's printer chooses it."""
        hint = value.name_hint
        if hint:
            count = self.ssa_names.get(hint, 0)
            self.ssa_names[hint] = count + 1
            name = f"{hint}_{count}" if count else hint
        else:
            name = self._get_new_valid_name_id()
        self._ssa_values[value] = name
        self.names[value] = f"%{name}"
        return name


_ByMarks = dict[tuple[Numbers, str], list[Operation]]


class Line(NamedTuple):
    """One line of a module: its op, whether that starts here, and the text."""

    op: Operation
    part: int
    """0 where the op starts, then its other lines: ends of regions, block labels."""
    indent: int
    text: str
    meaning: str
    """The text without the names of values."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A module as text with its ops, and the names of its values (`%0`)."""

    lines: list[Line]
    names: dict[SSAValue, str]


def listing_of(
    module: ModuleOp,
    states: dict[Operation, _State] | None = None,
    kept: _Kept | None = None,
) -> Listing:
    """Return the module as `Printer` prints it, each line with the op that it belongs to.

    Args:
        module: to be printed.
        states: of its ops, if these are known.
        kept: how ops were printed before, which is used and added to.
    """
    _forget_patterns()
    stream = StringIO()
    states = _states_of(module) if states is None else states
    printer = _FollowingPrinter(stream, states, {} if kept is None else kept)
    printer.print_op(module)
    texts = stream.getvalue().split("\n")
    owners: list[Operation] = [module] * len(texts)
    # ops come in the order in which they start: inner ones after outer ones
    for op, start, end in printer.spans:
        owners[start : end + 1] = [op] * (end + 1 - start)
    parts: dict[Operation, int] = defaultdict(int)
    lines: list[Line] = []
    meanings = printer.meanings
    for at, (op, text) in enumerate(zip(owners, texts, strict=True)):
        stripped = text.lstrip(" ")
        indent = len(text) - len(stripped)
        if len(stripped) > LONGEST_LINE:
            stripped = f"{stripped[:LONGEST_LINE]} … ({len(stripped):,} characters)"
        meaning = meanings.get(at) or _NAME.sub("%", stripped)
        lines.append(Line(op, parts[op], indent, stripped, meaning))
        parts[op] += 1
    return Listing(lines, printer.names)


class ListingRow(NamedTuple):
    """A line of a stage's listing, or one that is not there any more.

    `key` names the op through all stages; `text` and `before` are numbers of texts in
    the log, `before` the old text of a changed line.
    """

    key: int
    text: int
    indent: int
    change: int
    before: int = -1


@dataclass(frozen=True, slots=True)
class StageRecord:
    """A stage: what it is called, the time it took, and its text with the changes."""

    number: int | None
    name: str
    seconds: float
    skipped: bool
    rows: list[ListingRow]

    def count(self, change: int) -> int:
        """Return the number of lines with this change."""
        return sum(row.change == change for row in self.rows)


class _Old(NamedTuple):
    """A line of the stage before, as it is compared."""

    row: ListingRow
    meaning: tuple[object, ...]


@dataclass(slots=True)
class StageLog:
    """The stages of one module, which is changed in place between the records."""

    origins: Origins
    texts: list[str] = field(default_factory=list[str])
    stages: list[StageRecord] = field(default_factory=list[StageRecord])
    keys: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """The key of every op that ever was; it keeps them, so that none is confused."""
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    _before: dict[tuple[int, int], _Old] = field(
        default_factory=dict[tuple[int, int], _Old]
    )
    _states: dict[Operation, _State] = field(default_factory=dict[Operation, _State])
    _listing: Listing | None = None
    """The last listing, and all that it was printed of."""
    _kept: _Kept = field(default_factory=_Kept)
    _ops: dict[int, Operation] = field(default_factory=dict[int, Operation])
    """The op that has a key now, or had it last."""
    _next: int = 0

    def record(
        self,
        number: int | None,
        name: str,
        module: ModuleOp,
        *,
        seconds: float = 0.0,
        skipped: bool = False,
    ) -> Listing:
        """Note the module as a stage left it; the first record is where it starts."""
        states, before = _states_of(module), self._states
        if self._listing is not None and _is_same(states, before):
            self.stages.append(
                StageRecord(number, name, seconds, skipped, self._as_before())
            )
            return self._listing
        self._states = states
        self._listing = listing = listing_of(module, states, self._kept)
        self._name_ops(dict.fromkeys(line.op for line in listing.lines))
        first = not self.stages
        rows: list[ListingRow] = []
        now: dict[tuple[int, int], _Old] = {}
        gone = self._gone({(self.keys[one.op], one.part) for one in listing.lines})
        rows.extend(gone.pop(None, ()))
        for line in listing.lines:
            op = line.op
            at = self.keys[op], line.part
            text = self._number(line.text)
            old = self._before.get(at)
            if old is not None and not op.regions and states[op] == before.get(op):
                meaning = old.meaning
            else:
                meaning = self._meaning(line)
            if first or (old is not None and old.meaning == meaning):
                row = ListingRow(at[0], text, line.indent, SAME)
            elif old is not None:
                row = ListingRow(at[0], text, line.indent, CHANGED, old.row.text)
            else:
                row = ListingRow(at[0], text, line.indent, ADDED)
            rows.append(row)
            now[at] = _Old(row, meaning)
            rows.extend(gone.pop(at, ()))
        self._before = now
        self.stages.append(StageRecord(number, name, seconds, skipped, rows))
        return listing

    def _as_before(self) -> list[ListingRow]:
        """Return the rows of a stage that changes nothing."""
        rows = (old.row for old in self._before.values())
        return [ListingRow(row.key, row.text, row.indent, SAME) for row in rows]

    def _gone(
        self, there: set[tuple[int, int]]
    ) -> dict[tuple[int, int] | None, list[ListingRow]]:
        """Lines that are not there any more, by the line that they stood behind."""
        gone: dict[tuple[int, int] | None, list[ListingRow]] = defaultdict(list)
        last: tuple[int, int] | None = None
        for at, old in self._before.items():
            if at in there:
                last = at
            else:
                row = old.row
                gone[last].append(ListingRow(row.key, row.text, row.indent, REMOVED))
        return gone

    def _number(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def _meaning(self, line: Line) -> tuple[object, ...]:
        """Return the meaning of a line, without the names of values."""
        operands = line.op.operands if line.part == 0 else ()
        return (line.meaning, *map(self._meant, operands))

    def _meant(self, value: SSAValue) -> tuple[int, int, bool]:
        if type(value) is OpResult:
            return self.keys.get(value.op, -1), value.index, True
        argument = cast(BlockArgument, value)
        op = argument.block.parent_op()
        return (self.keys.get(op, -1) if op else -1, argument.index, False)

    # --- which op is which --------------------------------------------------

    def _name_ops(self, ops: Iterable[Operation]) -> None:
        """Give every op a key: its old one, that of the op it replaces, or a new one."""
        there = list(ops)
        kept = {self.keys[op] for op in there if op in self.keys}
        fresh = [op for op in there if op not in self.keys]
        lost = dict.fromkeys(key for key, _ in self._before if key not in kept)
        gone = [self._ops[key] for key in lost]
        fresh, gone = self._pair(fresh, gone, _kind)
        fresh, _ = self._pair(fresh, gone, _nothing)
        for op in fresh:
            self._give(op, self._next)
            self._next += 1

    def _give(self, op: Operation, key: int) -> None:
        self.keys[op] = key
        self._ops[key] = op

    def _pair(
        self,
        fresh: list[Operation],
        gone: list[Operation],
        kind: Callable[[Operation], str],
    ) -> tuple[list[Operation], list[Operation]]:
        """Give new ops the keys of lost ones with the same marks, of the same kind.

        Where a stage made other numbers of them, nothing says which is which.
        """

        def sorted_by_marks(ops: list[Operation]) -> _ByMarks:
            found: _ByMarks = defaultdict(list)
            for op in ops:
                found[self.origins.chain(op), kind(op)].append(op)
            return found

        lost = sorted_by_marks(gone)
        paired: set[Operation] = set()
        for mark, made in sorted_by_marks(fresh).items():
            old = lost.get(mark, [])
            if mark[0] and len(old) == len(made):
                for one, other in zip(made, old, strict=True):
                    self._give(one, self.keys[other])
                paired.update((*made, *old))
        return (
            [op for op in fresh if op not in paired],
            [op for op in gone if op not in paired],
        )


def _states_of(module: ModuleOp) -> dict[Operation, _State]:
    """Return for each op of a module, in order, all that it is printed of."""
    states: dict[Operation, _State] = {}
    for op in module.walk():
        properties, attributes = op.properties, op.attributes
        state = (
            *(op.parent, *op.results, None, *operands_of(op)),
            *(value.type for value in op.results),
            *(*properties, *properties.values(), *attributes, *attributes.values()),
        )
        for region in op.regions:
            for block in region.blocks:
                state += (block, *block.args, *(value.type for value in block.args))
        states[op] = state
    return states


def _is_same(one: dict[Operation, _State], other: dict[Operation, _State]) -> bool:
    return one == other and all(map(is_, one, other))


def _kind(op: Operation) -> str:
    """`add` of both `stablehlo.add` and `ttir.add`."""
    return op.name.rpartition(".")[2]


def _nothing(op: Operation) -> str:
    """So that a `dot_general` and the `matmul` that was made of it are the same."""
    return ""
