"""The origins of ops of later stages: numbers kept in the locations of ops.

Passes give the ops that they make the location of what they were made from. So a
location with a number in it, `loc("ttxdsl.op0=12"(…))`, leads from an op of a later stage
to the op that it came from, whatever passes did in between. It changes neither the
printed program nor the positions in messages, and calls that are inlined keep both
sides: the number of the op in the callee, and that of the call.
"""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from ttxdsl.ir.compat.faults.locations import ParsedLoc
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.traversal import all_ops

_PREFIX = "ttxdsl.op"
_COUNT = count()

_OPTIMIZED = "ttxdsl.optimized="

_WHOLE = "ttxdsl.whole"

_JOINED = "ttxdsl.joined"

_WRITTEN = "ttxdsl.written"
_RESHARDED = "ttxdsl.resharded"

AUTHORED = "ttxdsl.in="
"""Before the path that `ttxdsl.analysis.attribution.authored` reads."""

HOISTED = "hoist-collectives"
"""The optimization that moves collectives ahead of the loops that repeat them."""

_MARKS = (_PREFIX, _OPTIMIZED, _WHOLE, _JOINED, _WRITTEN, _RESHARDED, AUTHORED)

Numbers = tuple[int, ...]


def is_mark(location: NameLoc) -> bool:
    """Return whether a name is one that passes put around a location."""
    return location.desc.data.startswith(_MARKS)


def _named(name: str, location: Attribute) -> LocationAttr:
    """Return a location with a name around it.

    Each op of a program gets several: they are filled in directly, without a verification.
    """
    text, named = StringAttr.__new__(StringAttr), NameLoc.__new__(NameLoc)
    fill = object.__setattr__
    fill(text, "data", name)
    fill(named, "desc", text)
    fill(named, "location", location)
    return cast(Any, named)


def optimized(location: Attribute, name: str) -> LocationAttr:
    """The location of an op that an optimization of this name made of one there."""
    return _named(f"{_OPTIMIZED}{name}", location)


def optimizations(location: Attribute) -> tuple[str, ...]:
    """The names of the optimizations that an op went through, the last one first."""
    names: list[str] = []
    while isinstance(location, NameLoc):
        text = location.desc.data
        if text.startswith(_OPTIMIZED):
            names.append(text.removeprefix(_OPTIMIZED))
        if text == _JOINED:
            parts = joined_parts(location)
            names += (name for part in parts for name in optimizations(part))
            break
        location = location.location
    return tuple(dict.fromkeys(names))


def joined(locations: Iterable[Attribute]) -> LocationAttr:
    """Return the location of an op that does what several ops did, one an operand."""
    fused = FusedLoc(cast(Any, tuple(locations)), NoneAttr())
    return _named(_JOINED, fused)


def joined_parts(location: Attribute) -> tuple[Attribute, ...]:
    """Return the locations of the ops that were joined, of another op its own."""
    inner = location
    while isinstance(inner, NameLoc):
        if inner.desc.data == _JOINED:
            parts = cast(ArrayAttr[Attribute], cast(FusedLoc, inner.location).locations)
            return tuple(
                inner_part for part in parts for inner_part in joined_parts(part)
            )
        inner = inner.location
    return (location,)


def on_whole_values(location: Attribute) -> LocationAttr:
    """Return the location of a local op that does what it did to values of all devices.

    An op of a global program works on whole values as on one device, so devices that
    have them whole need nothing of each other for it, whatever it is.
    """
    return _named(_WHOLE, location)


def is_on_whole_values(location: Attribute) -> bool:
    """Return whether a location is one that `on_whole_values` gave."""
    return _outermost(location, (_WHOLE,)) is not None


def written(location: Attribute) -> LocationAttr:
    """Return the location of a collective that the program has and no stage chose."""
    return _named(_WRITTEN, location)


def resharded(location: Attribute) -> LocationAttr:
    """Return the location of a reshard of the value that an op there makes."""
    return _named(_RESHARDED, location) if is_written(location) else cast(Any, location)


def is_written(location: Attribute) -> bool:
    """Return whether an op is what `written` was given, all that it was joined of."""
    return all(
        _outermost(part, (_WRITTEN, _RESHARDED)) == _WRITTEN
        for part in joined_parts(location)
    )


def _outermost(location: Attribute, names: Sequence[str]) -> str | None:
    """Return the first of some names around the location of an op, calls left out."""
    while isinstance(location, NameLoc | CallSiteLoc):
        if isinstance(location, NameLoc):
            if location.desc.data in names:
                return location.desc.data
            location = location.location
        else:
            location = location.callee
    return None


class Unmarked:
    """Locations without numbers; of a call, only where both ends are known.

    Equal locations become one object, and each is settled once: an op in n nested calls
    has a location of n parts that it shares with its neighbours, and walking them all for
    each op would be quadratic.
    """

    def __init__(self) -> None:
        self._settled = IdentityMemo[LocationAttr]()
        self._leaves: dict[Attribute, LocationAttr] = {}
        self._calls: dict[tuple[int, int], LocationAttr] = {}

    def __len__(self) -> int:
        return len(self._settled)

    def clear(self) -> None:
        """Forget all locations."""
        self._settled.clear()
        self._leaves.clear()
        self._calls.clear()

    def __call__(self, location: Attribute) -> LocationAttr:
        """Return the location without numbers."""
        settled = self._settled.get(id(location))
        if settled is None:
            settled = self._settled.keep(id(location), self._settle(location), location)
        return settled

    def _settle(self, location: Attribute) -> LocationAttr:
        match location:
            case NameLoc() if location.desc.data == _JOINED:
                parts = dict.fromkeys(map(self, joined_parts(location)))
                leaf = FusedLoc(cast(Any, tuple(parts)), NoneAttr())
                return self._leaves.setdefault(leaf, cast(Any, leaf))
            case NameLoc() if is_mark(location):
                return self(location.location)
            case CallSiteLoc():
                callee, caller = self(location.callee), self(location.caller)
                if isinstance(caller, ParsedLoc | UnknownLoc):
                    return callee
                call = self._calls.get((id(callee), id(caller)))
                if call is None:
                    call = cast(Any, CallSiteLoc(cast(Any, callee), cast(Any, caller)))
                    self._calls[id(callee), id(caller)] = call
                return call
            case _:
                return self._leaves.setdefault(location, cast(Any, location))


_unmarked = Unmarked()
_MOST_KEPT = 1 << 16


def unmarked(location: Attribute) -> LocationAttr:
    """Return a location without numbers; what was asked before is remembered."""
    while isinstance(location, NameLoc) and is_mark(location):
        if location.desc.data == _JOINED:
            break
        location = location.location
    if isinstance(location, NameLoc | CallSiteLoc):
        if len(_unmarked) > _MOST_KEPT:
            _unmarked.clear()
        return _unmarked(location)
    return cast(Any, location)


def take_marks_off(module: ModuleOp) -> None:
    """Give the ops of a module, which is to be read by others, locations without numbers."""
    for op in all_ops(module):
        op.location = unmarked(op.location)


class Origins:
    """Numbers on the ops of a module, several times over as it changes.

    Several may number the ops of one module; none reads what another wrote.
    """

    def __init__(self) -> None:
        self._prefix = f"{_PREFIX}{next(_COUNT)}="
        self._marked: list[tuple[Operation, LocationAttr]] = []
        self._read = IdentityMemo[tuple[Numbers, Numbers]]()

    def mark(self, ops: Iterable[Operation]) -> range:
        """Give each op a number of its own; these, in order."""
        return self.mark_like((op, op) for op in ops)

    def mark_like(self, pairs: Iterable[tuple[Operation, Operation]]) -> range:
        """Give the first op of each pair a number that stands for the second one."""
        start = len(self._marked)
        for op, other in pairs:
            mark = f"{self._prefix}{len(self._marked)}"
            self._marked.append((other, op.location))
            op.location = cast(Any, _named(mark, op.location))
        return range(start, len(self._marked))

    def marked(self, number: int) -> tuple[Operation, LocationAttr]:
        """The op that a number stands for, and the location that it was put around."""
        return self._marked[number]

    def chain(self, op: Operation) -> Numbers:
        """All numbers of an op, calls before callees: the same for all it became."""
        calls, own = self._numbers(op.location)
        return calls + own

    def parts(self, op: Operation) -> list[list[Operation]]:
        """Return the origins of each op that was joined to this one, or its own."""
        return [
            [self._marked[number][0] for number in self._numbers(part)[1]]
            for part in joined_parts(op.location)
        ]

    def callers(self, op: Operation) -> list[Operation]:
        """The calls through which `op` was inlined, the outermost first."""
        return [self._marked[number][0] for number in self._numbers(op.location)[0]]

    def origins(self, op: Operation) -> list[Operation]:
        """Return an op's origins: in the last marking, in the one before, and so on."""
        return [self._marked[number][0] for number in self._numbers(op.location)[1]]

    def own_numbers(self, location: Attribute) -> Numbers:
        """Return the numbers of an op without those of calls, the last that was put first."""
        return self._numbers(location)[1]

    def origin(self, op: Operation) -> Operation | None:
        """The op that had the number that was put last."""
        return next(iter(self.origins(op)), None)

    def _numbers(self, location: Attribute) -> tuple[Numbers, Numbers]:
        """The numbers of calls, and those of the op itself, the last first."""
        read = self._read
        known = read.get(id(location))
        if known is not None:
            return known
        inner, prefix = location, self._prefix
        last: list[int] = []
        while known is None and type(inner) is NameLoc:
            text = inner.desc.data
            if text.startswith(prefix):
                last.append(int(text[len(prefix) :]))
            inner = inner.location
            known = read.get(id(inner))
        if known is None:
            known = self._look(inner)
            if inner is not location:
                read.keep(id(inner), known, inner)
        if last:
            known = known[0], (*last, *known[1])
        return read.keep(id(location), known, location)

    def _look(self, location: Attribute) -> tuple[Numbers, Numbers]:
        """Return the numbers of a location that is no name."""
        match location:
            case CallSiteLoc():
                outer, caller = self._numbers(location.caller)
                calls, own = self._numbers(location.callee)
                return (*outer, *caller, *calls), own
            case FusedLoc():
                parts = cast(ArrayAttr[Attribute], location.locations)
                numbers_of_parts = map(self._numbers, parts)
                return next(
                    (numbers for numbers in numbers_of_parts if any(numbers)), ((), ())
                )
            case _:
                return (), ()
