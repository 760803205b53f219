"""Marks on ops that survive the compiler, so that each result knows where it came from.

Passes hand the location of an op on to what they make of it. A mark is a named location
around the one that was there: `loc("ttxdsl.op=12"(…))`. It changes neither the printed
program nor the positions in messages, and calls that are inlined keep both sides: the
mark of the op in the callee, and that of the call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FusedLoc,
    ModuleOp,
    NameLoc,
    StringAttr,
)
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation

from ttxdsl.errors import source_position

_MARK = "ttxdsl.op="
_NODE = "ttxdsl.node="

_TRANSFORMATION = re.compile(r"(jvp|transpose|vmap)\((.*)\)")


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of the user's traceback: the function (or nothing) and `file:line:col`."""

    function: str
    position: str


@dataclass(frozen=True, slots=True)
class _Source:
    """An op of the program as it was read."""

    location: Attribute
    callee: str | None
    """The function that it calls."""


@dataclass(frozen=True, slots=True)
class ScopeName:
    """One scope on the way to an op: its name, and which call it is if it is one."""

    name: str
    call: int = -1


def name_stack(location: Attribute) -> tuple[str, ...]:
    """The parts of JAX's name stack that a location starts with, the primitive last.

    A transformation is a part of its own: `transpose(jvp(a/b))/dot` has the parts
    `transpose(jvp)`, `a`, `b`, `dot`.
    """
    return _parts(location.desc.data) if isinstance(location, NameLoc) else ()


def _parts(text: str) -> tuple[str, ...]:
    """The parts between slashes that are in no parentheses, transformations taken off."""
    parts: list[str] = []
    depth, current = 0, ""
    for character in f"{text}/":
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "/" and depth <= 0:
            parts.extend(_without_transformations(current))
            current = ""
        else:
            current += character
    return tuple(parts)


def _without_transformations(part: str) -> Sequence[str]:
    around: list[str] = []
    while found := _TRANSFORMATION.fullmatch(part):
        around.append(found[1])
        part = found[2]
    if not around:
        return (part,) if part else ()
    return ("(".join(around) + ")" * (len(around) - 1), *_parts(part))


def frames_of(location: Attribute) -> list[Frame]:
    """The traceback that a location holds, innermost frame first."""
    match location:
        case CallSiteLoc():
            return [*frames_of(location.callee), *frames_of(location.caller)]
        case FusedLoc():
            parts = cast(ArrayAttr[Attribute], location.locations)
            return [frame for part in parts for frame in frames_of(part)]
        case NameLoc():
            inner = location.location
            if isinstance(inner, NameLoc | CallSiteLoc | FusedLoc):
                return frames_of(inner)
            position = source_position(inner)
            return [Frame(location.desc.data, position)] if position else []
        case _:
            position = source_position(location)
            return [Frame("", position)] if position else []


class Origins:
    """The ops of a program as it was read, and which of them any later op is from."""

    def __init__(self, module: ModuleOp):
        """Mark every op of the module, which changes its locations only."""
        self._sources: list[_Source] = []
        self._marks: dict[int, tuple[Attribute, tuple[str, ...]]] = {}
        for number, op in enumerate(module.walk()):
            callee = op.callee.string_value() if isinstance(op, CallOp) else None
            self._sources.append(_Source(op.location, callee))
            _mark(op, f"{_MARK}{number}")

    def mark_nodes(self, nodes: Sequence[Operation | None]) -> None:
        """Mark ops once more, as the nodes of a graph: node n is `nodes[n]`."""
        for number, op in enumerate(nodes):
            if op is not None:
                _mark(op, f"{_NODE}{number}")

    def chain(self, op: Operation) -> tuple[str, ...]:
        """All marks of an op, calls before callees: the same for all it became."""
        return self._chain(op.location)

    def node(self, op: Operation) -> int | None:
        """Which node of `mark_nodes` the op was made of."""
        for mark in self.chain(op):
            if mark.startswith(_NODE):
                return int(mark.removeprefix(_NODE))
        return None

    def source_chain(self, op: Operation) -> tuple[str, ...]:
        """The marks that the op had when it was read, or of what it was made of."""
        return tuple(mark for mark in self.chain(op) if mark.startswith(_MARK))

    def scopes(self, op: Operation) -> tuple[ScopeName, ...]:
        """Where an op belongs, outermost first: functions and parts of JAX's name stack.

        Every call is a scope of its own, also where one function is called twice.
        """
        numbers = self._numbers(op)
        found: list[ScopeName] = []
        for number in numbers[:-1]:
            call = self._sources[number]
            *outer, last = name_stack(call.location) or (f"@{call.callee}",)
            found.extend(ScopeName(name) for name in outer)
            found.append(ScopeName(last, number))
        if numbers:
            stack = name_stack(self._sources[numbers[-1]].location)
            found.extend(ScopeName(name) for name in stack[:-1])
        return tuple(found)

    def frames(self, op: Operation) -> list[Frame]:
        """The user's traceback of an op, innermost frame first."""
        numbers = self._numbers(op)
        return [
            frame
            for number in reversed(numbers)
            for frame in frames_of(self._sources[number].location)
        ]

    def _numbers(self, op: Operation) -> list[int]:
        return [int(mark.removeprefix(_MARK)) for mark in self.source_chain(op)]

    def _chain(self, location: Attribute) -> tuple[str, ...]:
        known = self._marks.get(id(location))
        if known is None:
            # the location is kept with its marks, or its id could be another's later
            known = self._marks[id(location)] = (location, self._read(location))
        return known[1]

    def _read(self, location: Attribute) -> tuple[str, ...]:
        match location:
            case NameLoc():
                mark = location.desc.data
                inner = self._chain(location.location)
                return (mark, *inner) if mark.startswith((_MARK, _NODE)) else inner
            case CallSiteLoc():
                return (*self._chain(location.caller), *self._chain(location.callee))
            case FusedLoc():
                parts = cast(ArrayAttr[Attribute], location.locations)
                return next((c for part in parts if (c := self._chain(part))), ())
            case _:
                return ()


def _mark(op: Operation, mark: str) -> None:
    op.location = NameLoc(StringAttr(mark), op.location)
