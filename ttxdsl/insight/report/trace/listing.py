"""Every stage as text, line by line, and what a stage changed, op by op.

Ops are followed. An op that is still the same object is the same op; one that a stage
made anew of a single other (`Origins` tells) takes its place. Values keep the names that
they have in the text that was read, so that inserting one op renumbers no others: a line
that reads the same says the same.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from operator import is_
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.printer import Printer

from ttxdsl.analysis.attribution.origins import Numbers, Origins
from ttxdsl.dialects.sdy import ManualComputationOp
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.traversal import all_ops, are_of, operands_of

SAME, CHANGED, ADDED, REMOVED = range(4)
"""What a stage did to a line."""

LONGEST_LINE = 20_000
"""Characters of a line that are kept; a constant may have millions."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The text of ops that differ in the names of values only."""

    pieces: tuple[str, ...]
    """What stands around the names."""
    slots: tuple[int, ...]
    """The values whose names stand there, counted through results and operands."""


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
_identical = IdentityMemo[_Pattern | None]()
"""The same of ops without regions, by the identities of attributes and types."""
_numbers = IdentityMemo[int]()
"""Of attributes: equal ones have the same, so that layers that are alike share patterns."""
_equal: dict[object, int] = {}
_MOST_KEPT = 1 << 15
_SEVERAL_LINES = are_of((FuncOp, ManualComputationOp, ModuleOp, UnregisteredOp))
"""Ops that never are one line, or (unregistered ones) may print as anything."""
_LONGEST_BODY = 4
"""Ops in a region that may be printed on the line of its op (`applies stablehlo.add`)."""


_Shape = tuple[_Pattern, list[SSAValue]] | None
_State = tuple[object, ...]


def _pattern_of(op: Operation) -> _Shape:
    """Return how an op that takes one line is printed, and the values that it names."""
    if _SEVERAL_LINES[type(op)] or op.successors:
        return None
    numbers: dict[SSAValue, int] = {}
    objects: list[object] = []
    key = _key_of(op, numbers, objects)
    values = list(numbers)
    same: tuple[object, ...] | None = None
    if not op.regions:
        # most ops have the very attributes of others
        same = (*key, *map(id, objects))
        if same in _identical:
            pattern = _identical[same]
            return None if pattern is None else (pattern, values)
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
    if same is not None:
        _identical.keep(same, pattern, *objects)
    return None if pattern is None else (pattern, values)


def _number_of(attribute: object) -> int:
    number = _numbers.get(id(attribute))
    if number is None:
        number = _equal.setdefault(attribute, len(_equal))
        _numbers.keep(id(attribute), number, attribute)
    return number


def _forget_patterns() -> None:
    """Let go of what no longer pays; not while an op is being looked up."""
    if max(map(len, (_patterns, _identical, _numbers))) > _MOST_KEPT:
        for memo in (_patterns, _identical, _numbers, _equal):
            memo.clear()


def _key_of(
    op: Operation, numbers: dict[SSAValue, int], objects: list[object]
) -> tuple[object, ...]:
    """Number the values of an op, add its attributes; return what else it says."""
    results = op.results
    named = [*results, *operands_of(op)]
    properties, attributes = op.properties, op.attributes
    objects += [value.type for value in named]
    objects += properties.values()
    objects += attributes.values()
    key = (type(op), len(results), *properties, "", *attributes)
    told = bool(numbers) or len(set(named)) < len(named)
    for value in named:
        if value not in numbers:
            numbers[value] = len(numbers)
    return (*key, *[numbers[value] for value in named]) if told else key


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
    if len(pieces) != len(printer.slots) + 1 or any("\n" in piece for piece in pieces):
        return None
    # the sign of a name belongs to the text
    marked = tuple(f"{piece}%" for piece in pieces[:-1]) + pieces[-1:]
    return _Pattern(marked, tuple(printer.slots))


class _Names:
    """The names of values, without `%`, which they keep through all stages."""

    def __init__(self) -> None:
        self.of: dict[SSAValue, str] = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = defaultdict(int)

    def reserve(self) -> None:
        """Never give a value that comes later a name that one has now."""
        self._used.update(self.of.values())

    def new(self, value: SSAValue) -> str:
        """Give a value a name that no other ever had."""
        hint = value.name_hint or ""
        stem = f"{hint}_" if hint else ""
        name = hint
        while not name or name in self._used:
            name = f"{stem}{self._counts[stem]}"
            self._counts[stem] += 1
        self._used.add(name)
        self.of[value] = name
        return name

    def inherit(self, op: Operation, old: Operation) -> None:
        """Give the values of an op the names of those of the op that it replaces."""
        self._take(op.results, old.results)
        for region, old_region in zip(op.regions, old.regions, strict=False):
            for block, other in zip(region.blocks, old_region.blocks, strict=False):
                self._take(block.args, other.args)

    def _take(self, values: Sequence[SSAValue], old: Sequence[SSAValue]) -> None:
        for value, other in zip(values, old, strict=False):
            if value not in self.of and other in self.of:
                self.of[value] = self.of[other]


@dataclass(slots=True)
class _Printed:
    """An op as it was printed last."""

    state: _State
    shape: _Shape
    line: int = -1
    """The number of its text if that is one line, -1 where it is to be printed anew."""


class _FollowingPrinter(Printer):
    """Prints the rows of a module, by place: the key of an op and the line of it.

    Only what takes several lines is printed; a line that holds a whole op is looked up.
    """

    attributes_as_ever = True

    def __init__(self, log: "StageLog", module: ModuleOp):
        self.text = StringIO()
        super().__init__(stream=self.text)
        self.rows: dict[int, ListingRow] = {}
        self._log = log
        self._before = log.before
        self._first = not log.stages
        self._names = log.names
        self._ssa_values = log.names.of
        self._defined: list[dict[str, SSAValue]] = [{}]
        self._renamed: set[SSAValue] = set()
        self._around: list[Operation] = []
        self._owner: Operation = module
        """The op that the line being printed belongs to: the last that began there."""
        self._is_open = True
        """Whether a line is being printed."""
        self._parts: dict[int, int] = defaultdict(int)
        self.print_op(module)
        self._end_line()

    def print_op(self, op: Operation) -> None:
        printed = self._log.printed[op]
        if printed.shape is not None:
            self._is_open = False
            self._whole_line(op, printed, len(self._taken_text()))
            return
        self._owner = op
        for result in op.results:
            self._define(result)
        self._around.append(op)
        super().print_op(op)
        self._around.pop()

    def print_block(
        self,
        block: Block,
        print_block_args: bool = True,
        print_block_terminator: bool = True,
    ) -> None:
        if print_block_args or not print_block_terminator:
            super().print_block(block, print_block_args, print_block_terminator)
            return
        printed_ops = self._log.printed
        with self.indented():
            indent = self._indent * self.indent_num_spaces
            for op in block.ops:
                printed = printed_ops[op]
                if printed.shape is None:
                    self._print_new_line()
                    self.print_op(op)
                    continue
                if self._is_open:
                    self._end_line()
                self._whole_line(op, printed, indent)

    def _whole_line(self, op: Operation, printed: _Printed, indent: int) -> None:
        """Add the row of an op that takes one line."""
        names, defined = self._ssa_values, self._defined[-1]
        for result in op.results:
            name = names.get(result)
            if name is None or defined.setdefault(name, result) is not result:
                self._define(result)
        if printed.line < 0 or (
            self._renamed and not self._renamed.isdisjoint(operands_of(op))
        ):
            assert printed.shape is not None
            pattern, values = printed.shape
            text = ""
            for piece, slot in zip(pattern.pieces, pattern.slots, strict=False):
                text += piece + self._name(values[slot])
            printed.line = self._log.number(text + pattern.pieces[-1])
        key = self._log.keys[op]
        self._add_row(key, key, printed.line, indent)

    def _add_row(self, place: int, key: int, text: int, indent: int) -> None:
        old = self._before.get(place)
        if self._first or (old is not None and old.text == text):
            if old is None or old.change != SAME or old.indent != indent:
                old = ListingRow(key, text, indent, SAME)
            self.rows[place] = old
        elif old is not None:
            self.rows[place] = ListingRow(key, text, indent, CHANGED, old.text)
        else:
            self.rows[place] = ListingRow(key, text, indent, ADDED)

    def _taken_text(self) -> str:
        """Return what has been printed since the last line."""
        text = self.text.getvalue()
        self.text.seek(0)
        self.text.truncate()
        return text

    def _end_line(self) -> None:
        """Add the row of the line that has been printed."""
        self._is_open = False
        key = self._log.keys[self._owner]
        for text in self._taken_text().split("\n"):
            stripped = text.lstrip(" ")
            place = key + self._parts[key] * _LINE_OF_OP
            self._parts[key] += 1
            indent = len(text) - len(stripped)
            self._add_row(place, key, self._log.number(stripped), indent)

    def print_ssa_value(self, value: SSAValue) -> str:
        name = self._name(value)
        self.print_string(f"%{name}")
        return name

    def _print_new_line(
        self, indent: int | None = None, print_message: bool = True
    ) -> None:
        if self._is_open:
            self._end_line()
        indent = self._indent if indent is None else indent
        self._is_open, self._owner = True, self._around[-1]
        self._current_column = indent * self.indent_num_spaces
        self.text.write(" " * self._current_column)

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        self._define(arg)
        super().print_block_argument(arg, print_type)

    def enter_scope(self) -> None:
        super().enter_scope()
        self._defined.append({})

    def exit_scope(self) -> None:
        super().exit_scope()
        self._defined.pop()

    def _define(self, value: SSAValue) -> None:
        """Give a value another name if one in the same function has it."""
        name = self._name(value)
        if self._defined[-1].setdefault(name, value) is not value:
            self._defined[-1][self._names.new(value)] = value
            self._renamed.add(value)
            owner = value.owner
            if isinstance(owner, Operation):
                self._log.printed[owner].line = -1

    def _name(self, value: SSAValue) -> str:
        name = self._ssa_values.get(value)
        if name is not None:
            return name
        if not self._first:
            return self._names.new(value)
        # as xDSL's printer chooses it
        hint = value.name_hint
        if hint:
            count = self.ssa_names.get(hint, 0)
            self.ssa_names[hint] = count + 1
            name = f"{hint}_{count}" if count else hint
        else:
            name = self._get_new_valid_name_id()
        self._ssa_values[value] = name
        return name


_LINE_OF_OP = 1 << 40
"""A place is the key of an op and this times the number of its line."""

_ByMarks = dict[tuple[Numbers, str], list[Operation]]


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


@dataclass(slots=True)
class StageLog:
    """The stages of one module, which is changed in place between the records."""

    origins: Origins
    texts: list[str] = field(default_factory=list[str])
    stages: list[StageRecord] = field(default_factory=list[StageRecord])
    keys: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """The key of every op that ever was; it keeps them, so that none is confused."""
    names: _Names = field(default_factory=_Names)
    printed: dict[Operation, _Printed] = field(
        default_factory=dict[Operation, _Printed]
    )
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    before: dict[int, ListingRow] = field(default_factory=dict[int, ListingRow])
    """The lines of the last listing, by place."""
    _states: dict[Operation, _State] = field(default_factory=dict[Operation, _State])
    """All that the last listing was printed of."""
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
    ) -> None:
        """Note the module as a stage left it; the first record is where it starts."""
        states = _states_of(module)
        if self.stages and _is_same(states, self._states):
            rows = self._as_before()
        else:
            self._name_ops(self._shape(states))
            self._states = states
            rows = self._compared(module)
        self.stages.append(StageRecord(number, name, seconds, skipped, rows))

    def _shape(self, states: dict[Operation, _State]) -> list[Operation]:
        """Find how each op is printed; return those that are not on a line of another."""
        hidden: set[Block] = set()
        shown: list[Operation] = []
        printed = self.printed
        for op, state in states.items():
            if op.parent in hidden:
                continue
            shown.append(op)
            known = printed.get(op)
            if known is None or op.regions or known.state != state:
                printed[op] = known = _Printed(state, _pattern_of(op))
                if known.shape is not None:
                    hidden.update(block for part in op.regions for block in part.blocks)
        return shown

    def _compared(self, module: ModuleOp) -> list[ListingRow]:
        """Return the lines of a module, and those that are not there any more."""
        _forget_patterns()
        now = _FollowingPrinter(self, module).rows
        self.names.reserve()
        gone = self._gone(now)
        self.before = now
        if not gone:
            return list(now.values())
        rows = gone.pop(None, [])
        for place, row in now.items():
            rows.append(row)
            if place in gone:
                rows += gone[place]
        return rows

    def _as_before(self) -> list[ListingRow]:
        """Return the rows of a stage that changes nothing."""
        return [
            row
            if row.change == SAME
            else ListingRow(row.key, row.text, row.indent, SAME)
            for row in self.before.values()
        ]

    def _gone(
        self, there: Mapping[int, ListingRow]
    ) -> dict[int | None, list[ListingRow]]:
        """Lines that are not there any more, by the place that they stood behind."""
        gone: dict[int | None, list[ListingRow]] = {}
        if self.before.keys() <= there.keys():
            return gone
        last: int | None = None
        for place, row in self.before.items():
            if place in there:
                last = place
            else:
                old = ListingRow(row.key, row.text, row.indent, REMOVED)
                gone.setdefault(last, []).append(old)
        return gone

    def number(self, text: str) -> int:
        """Return the number of a line's text, which is cut if it is very long."""
        if len(text) > LONGEST_LINE:
            text = f"{text[:LONGEST_LINE]} … ({len(text):,} characters)"
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    # --- which op is which --------------------------------------------------

    def _name_ops(self, there: Sequence[Operation]) -> None:
        """Give every op a key: its old one, that of the op it replaces, or a new one."""
        kept = {self.keys[op] for op in there if op in self.keys}
        fresh = [op for op in there if op not in self.keys]
        lost = dict.fromkeys(
            row.key for row in self.before.values() if row.key not in kept
        )
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
            by_marks: _ByMarks = defaultdict(list)
            for op in ops:
                if chain := self.origins.chain(op):
                    by_marks[chain, kind(op)].append(op)
            return by_marks

        if not (fresh and gone):
            return fresh, gone
        lost = sorted_by_marks(gone)
        paired: set[Operation] = set()
        for mark, new in sorted_by_marks(fresh).items():
            old = lost.get(mark, [])
            if len(old) == len(new):
                for new_op, old_op in zip(new, old, strict=True):
                    self._give(new_op, self.keys[old_op])
                    self.names.inherit(new_op, old_op)
                paired.update((*new, *old))
        return (
            [op for op in fresh if op not in paired],
            [op for op in gone if op not in paired],
        )


def _states_of(module: ModuleOp) -> dict[Operation, _State]:
    """Return for each op of a module, in order, all that it is printed of."""
    states: dict[Operation, _State] = {}
    for op in all_ops(module):
        properties, attributes, results = op.properties, op.attributes, op.results
        state: _State = (
            *(op.parent, results, operands_of(op), *[value.type for value in results]),
            *(*properties, *properties.values(), *attributes, *attributes.values()),
        )
        for region in op.regions:
            for block in region.blocks:
                state += (block, *block.args, *[value.type for value in block.args])
        states[op] = state
    return states


def _is_same(
    states: dict[Operation, _State], other_states: dict[Operation, _State]
) -> bool:
    return states == other_states and all(map(is_, states, other_states))


def _kind(op: Operation) -> str:
    """`add` of both `stablehlo.add` and `ttir.add`."""
    return op.name.rpartition(".")[2]


def _nothing(op: Operation) -> str:
    """So that a `dot_general` and the `matmul` that was made of it are the same."""
    return ""
