"""The scopes of the author's program that an op is in: passes, functions, layers.

A path of scopes is put into the locations of ops when a program is loaded
(`ttxdsl.analysis.attribution.marking`), so whatever passes make of an op has it, too.
"""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FusedLoc,
    ModuleOp,
    NameLoc,
    UnknownLoc,
)
from xdsl.ir import Attribute

from ttxdsl.analysis.attribution.origins import AUTHORED, is_mark
from ttxdsl.ir.compat.faults.locations import ParsedLoc
from ttxdsl.ir.memo import by_identity
from ttxdsl.ir.traversal import all_ops

FORWARD, BACKWARD, OPTIMIZER = "forward", "backward", "optimizer"
PHASES = (FORWARD, BACKWARD, OPTIMIZER)
RECOMPUTED = "recomputed"
ITERATION = "iteration"

SEPARATOR = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "


class AuthorScope(NamedTuple):
    """A scope, and which of how many of its kind if it is called repeatedly.

    A tuple, for large programs compare and hash hundreds of thousands of them.

    Attributes:
        name: of a pass, a function, or what the author named.
        line: `file:line` of the call, empty of what is no function.
        number: of the call, from 0 in the order of the forward pass.
    """

    name: str
    line: str = ""
    number: int = 0
    calls: int = 1

    @property
    def text(self) -> str:
        """`block 3`, `rms`."""
        return f"{self.name} {self.number}" if self.calls > 1 else self.name


AuthorPath = tuple[AuthorScope, ...]


@by_identity
def author_path(location: Attribute) -> AuthorPath:
    """Return the scopes that a location of a loaded program is marked with, outermost first."""
    # each op has several marks around it: no memo of those inside
    while isinstance(location, NameLoc):
        text = location.desc.data
        if text.startswith(AUTHORED):
            return _path_of(text)
        if not is_mark(location):
            return ()
        location = location.location
    match location:
        case CallSiteLoc():
            return _inside(author_path(location.caller), author_path(location.callee))
        case FusedLoc():
            parts = cast(ArrayAttr[Attribute], location.locations)
            return next((path for part in parts if (path := author_path(part))), ())
        case _:
            return ()


def path_text(path: Iterable[AuthorScope]) -> str:
    """Return a path as it is told: pass, function and number, function."""
    return SEPARATOR.join(scope.text for scope in path)


def layer_of(path: AuthorPath) -> str:
    """Return the outermost repeated scope of a path, `block 3`, or the empty text."""
    return next((scope.text for scope in path if scope.calls > 1), "")


@lru_cache(maxsize=1 << 15)
def _path_of(text: str) -> AuthorPath:
    return tuple(AuthorScope(*each) for each in json.loads(text.removeprefix(AUTHORED)))


def _inside(caller: AuthorPath, callee: AuthorPath) -> AuthorPath:
    """Return the path of an op of a callee, which was traced in a call of its own."""
    if not caller or not callee:
        return caller or callee
    if callee[0].name in PHASES:
        callee = callee[1:]
    return (*caller, *callee[shared_names([each.name for each in caller], callee) :])


def shared_names(outer: Sequence[str], inner: AuthorPath) -> int:
    """Return how many of the first scopes of an inner path stand in an outer one, in a row."""
    shared = 0
    if inner and inner[0].name in outer:
        rest = outer[outer.index(inner[0].name) :]
        while (
            shared < min(len(rest), len(inner)) and inner[shared].name == rest[shared]
        ):
            shared += 1
    return shared


GET_DEBUG_INFO = "lowered.as_text(debug_info=True)"


def lines_hint(module: ModuleOp) -> str | None:
    """Return how to get lines and names for a text that JAX wrote without them."""
    name = module.sym_name.data if module.sym_name else ""
    # of a module with another name another exporter has to be asked
    of_jax = "mhlo.num_partitions" in module.attributes and not name
    if not (of_jax or name.startswith("jit_")) or any(
        _is_traced(op.location) for op in all_ops(module)
    ):
        return None
    return (
        "the text has no lines, functions and names of the source:"
        f" {GET_DEBUG_INFO} writes them"
    )


def _is_traced(location: Attribute) -> bool:
    """Return whether a location is more than a place in the text and passes' marks."""
    match location:
        case NameLoc() if is_mark(location):
            return _is_traced(location.location)
        case CallSiteLoc():
            return _is_traced(location.callee) or _is_traced(location.caller)
        case FusedLoc():
            return any(map(_is_traced, cast(ArrayAttr[Attribute], location.locations)))
        case _:
            return not isinstance(location, ParsedLoc | UnknownLoc)


def is_authored(module: ModuleOp) -> bool:
    """Return whether any op of a module that was read is marked with a path."""
    return any(
        isinstance(op.location, NameLoc) and op.location.desc.data.startswith(AUTHORED)
        for op in all_ops(module)
    )
