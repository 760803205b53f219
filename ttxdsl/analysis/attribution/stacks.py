"""The source positions that a program carries: JAX's name stack, and tracebacks."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FusedLoc,
    ModuleOp,
    NameLoc,
)
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation

from ttxdsl.analysis.attribution.authored import author_path, is_authored
from ttxdsl.analysis.attribution.origins import Origins, is_mark
from ttxdsl.diagnostics.errors import Frame, own_first, source_frames
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.traversal import all_ops

_TRANSFORMATION = re.compile(r"(jvp|transpose|vmap)\((.*)\)")

MAX_DEPTH = 100
"""Calls around an op, and lines of its traceback, that are told: without a limit the
ops of n calls inside each other would take n² lines, which nobody reads."""


@dataclass(frozen=True, slots=True)
class ScopeName:
    """One scope on the way to an op: its name, and which call it is if it is one.

    `line` is where the author calls it, empty where nobody knows it; `turns` the
    iterations of the loop of which it is the body or the condition; `is_counted` of one call of those
    of a function that the author calls repeatedly.
    """

    name: str
    call: int = -1
    line: str = ""
    turns: int = 1
    is_counted: bool = False


def name_stack(location: Attribute) -> tuple[str, ...]:
    """The parts of JAX's name stack that a location starts with, the primitive last.

    A transformation is a part of its own: `transpose(jvp(a/b))/dot` has the parts
    `transpose(jvp)`, `a`, `b`, `dot`.
    """
    return stack_parts(location.desc.data) if isinstance(location, NameLoc) else ()


def names_in(locations: Iterable[Attribute]) -> Iterator[str]:
    """Yield the names in locations, those of calls as well; a shared part is read once."""
    pending = list(locations)
    seen: set[int] = set()
    while pending:
        location = pending.pop()
        if id(location) in seen:
            continue
        seen.add(id(location))
        match location:
            case NameLoc():
                if not is_mark(location):
                    yield location.desc.data
                pending.append(location.location)
            case CallSiteLoc():
                pending += (location.callee, location.caller)
            case FusedLoc():
                pending += cast(ArrayAttr[Attribute], location.locations)
            case _:
                pass


def stack_parts(text: str) -> tuple[str, ...]:
    """The parts of a name stack: between slashes that are in no parentheses, transformations taken off."""
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
    while match := _TRANSFORMATION.fullmatch(part):
        around.append(match[1])
        part = match[2]
    if not around:
        return (part,) if part else ()
    return ("(".join(around) + ")" * (len(around) - 1), *stack_parts(part))


class Stacks:
    """The places in the user's program that ops of later stages came from."""

    def __init__(self, module: ModuleOp):
        """Number every op of the module, which changes its locations only."""
        self._is_authored = is_authored(module)
        self.origins = Origins()
        self._read = self.origins.mark(all_ops(module))
        self._nodes: dict[int, int] = {}
        self._node_of = IdentityMemo[int | None]()
        self._chains = IdentityMemo[tuple[int, ...]]()
        self._frames = IdentityMemo[list[Frame]]()

    def mark_nodes(self, nodes: Sequence[Operation | None]) -> None:
        """Number ops once more, as the nodes of a graph: node n is `nodes[n]`."""
        there = [(at, op) for at, op in enumerate(nodes) if op is not None]
        numbers = self.origins.mark(op for _, op in there)
        self._nodes.update(zip(numbers, (at for at, _ in there), strict=True))
        self._node_of.clear()

    def node(self, op: Operation) -> int | None:
        """Return the node of `mark_nodes` that the op was made of, or None."""
        location = op.location
        if id(location) in self._node_of:
            return self._node_of[id(location)]
        nodes = self._nodes
        node = next((nodes[n] for n in self.origins.chain(op) if n in nodes), None)
        return self._node_of.keep(id(location), node, location)

    def source_chain(self, op: Operation) -> tuple[int, ...]:
        """Return the numbers that it had when it was read, or of what it was made of."""
        chain = self._chains.get(id(op.location))
        if chain is None:
            chain = tuple(n for n in self.origins.chain(op) if n in self._read)
            self._chains.keep(id(op.location), chain, op.location)
        return chain

    def scopes(self, op: Operation) -> tuple[ScopeName, ...]:
        """Return the scopes of an op, outermost first: the author's, or else functions.

        Without debug info every call is a scope of its own, also where one function is
        called twice; of more than `MAX_DEPTH` calls, only the outermost count.
        """
        if self._is_authored:
            path = author_path(op.location)
            return tuple(
                ScopeName(step.text, line=step.line, is_counted=step.calls > 1)
                for step in path
            )
        numbers = self.source_chain(op)
        names: list[ScopeName] = []
        for number in numbers[:-1][:MAX_DEPTH]:
            call, location = self.origins.marked(number)
            callee = call.callee.string_value() if isinstance(call, CallOp) else None
            *outer, last = name_stack(location) or (f"@{callee}",)
            names.extend(ScopeName(name) for name in outer)
            names.append(ScopeName(last, number))
        if numbers:
            stack = name_stack(self.origins.marked(numbers[-1])[1])
            names.extend(ScopeName(name) for name in stack[:-1])
        return tuple(names)

    def frames(self, op: Operation) -> list[Frame]:
        """Return the traceback of an op, innermost first, libraries' behind the user's.

        Of more than `MAX_DEPTH` frames, the innermost.
        """
        chain = self.source_chain(op)
        if len(chain) == 1:
            location = self.origins.marked(chain[0])[1]
            known = self._frames.get(id(location))
            if known is None:
                frames = own_first(islice(source_frames(location), MAX_DEPTH))
                known = self._frames.keep(id(location), frames, location)
            return known
        frames = (
            frame
            for number in reversed(chain)
            for frame in source_frames(self.origins.marked(number)[1])
        )
        return own_first(islice(frames, MAX_DEPTH))
