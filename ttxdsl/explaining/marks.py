"""Numbers on ops, kept in their locations, to find an op again in what became of it.

Every pass gives the ops that it makes the location of what they were made from. So a
location that has a number in it leads from an op of a later stage to the op that it
came from, whatever passes did in between, and errors still name the right line.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import (
    CallSiteLoc,
    LocationAttr,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from ttxdsl.compat.faults.locations import ParsedLoc

_PREFIX = "ttxdsl.why:"


def _number(location: Attribute) -> int | None:
    match location:
        case NameLoc() if location.desc.data.startswith(_PREFIX):
            return int(location.desc.data.removeprefix(_PREFIX))
        case NameLoc():
            return _number(location.location)
        case CallSiteLoc():
            return _number(location.callee)
        case _:
            return None


def _callers(location: Attribute) -> list[int]:
    """The numbers of the call sites in a location, innermost first."""
    match location:
        case NameLoc():
            return _callers(location.location)
        case CallSiteLoc():
            number = _number(location.caller)
            own = [] if number is None else [number]
            return [*_callers(location.callee), *own, *_callers(location.caller)]
        case _:
            return []


def unmarked(location: Attribute) -> LocationAttr:
    """The location without numbers; of a call, only where both ends are known."""
    match location:
        case NameLoc() if location.desc.data.startswith(_PREFIX):
            return unmarked(location.location)
        case CallSiteLoc():
            callee, caller = unmarked(location.callee), unmarked(location.caller)
            if isinstance(caller, ParsedLoc | UnknownLoc):
                return callee
            return cast(Any, CallSiteLoc(callee, caller))
        case _:
            return cast(Any, location)


class Marks:
    """Numbers on the ops of a module, several times over as it changes."""

    def __init__(self) -> None:
        self._marked: list[tuple[Operation, int | None]] = []

    def mark(self, root: Operation) -> None:
        """Give every op in `root` a number of its own; `origin` asks for them."""
        for op in root.walk():
            self._put(op, op)

    def mark_like(self, root: Operation, twin: Operation) -> None:
        """Give every op in `root` a number that stands for the op of a copy of it."""
        for op, other in zip(root.walk(), twin.walk(), strict=True):
            self._put(op, other)

    def _put(self, op: Operation, stands_for: Operation) -> None:
        previous = _number(op.location)
        text = StringAttr(f"{_PREFIX}{len(self._marked)}")
        op.location = cast(Any, NameLoc(text, unmarked(op.location)))
        self._marked.append((stands_for, previous))

    def origin(self, op: Operation) -> Operation | None:
        """The op that had the number that stands on `op` now."""
        number = _number(op.location)
        return None if number is None else self._marked[number][0]

    def callers(self, op: Operation) -> list[Operation]:
        """The calls through which `op` was inlined, the innermost first."""
        return [self._marked[number][0] for number in _callers(op.location)]

    def origins(self, op: Operation) -> list[Operation]:
        """That op, the op that it came from at the marking before, and so on."""
        found: list[Operation] = []
        number = _number(op.location)
        while number is not None:
            marked, number = self._marked[number]
            found.append(marked)
        return found
