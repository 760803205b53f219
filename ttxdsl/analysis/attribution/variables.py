"""The names of values in an author's source, where the file of a traceback is at hand.

A location says which characters of a file compute a value. Where these are all that is
assigned to a variable, the value has a name; where a function returns them, it is that of
the call. Only files below the current folder are read, for a program from others may name
any.
"""

import ast
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ttxdsl.diagnostics.errors import Frame

_LARGEST_FILE = 2 << 20
"""Bytes of a source that is read."""

RETURNED = "return"
"""In place of a name: what a function returns."""

_Span = tuple[int, int, int, int]
"""First line and column, last line and column, from 1 and 0."""


@dataclass(frozen=True, slots=True)
class _Source:
    """The names of what a file's expressions are assigned to, by where they stand."""

    names: dict[_Span, str]
    calls: dict[_Span, str]
    """The functions that calls name: `jax.lax.scan`."""


def variable_at(frames: Sequence[Frame]) -> tuple[str, Frame] | None:
    """Return the variable that a value becomes, and the frame in which it does.

    Args:
        frames: of the author's traceback, innermost first.
    """
    for frame in frames:
        name = _at(frame, "names")
        if name is None:
            return None
        if name != RETURNED:
            return name, frame
    return None


def called_at(frame: Frame) -> str | None:
    """Return the function whose call is at a place of a file, as it is written there."""
    return _at(frame, "calls")


def _at(frame: Frame, table: str) -> str | None:
    span = _span(frame)
    if span is None:
        return None
    source = _source(frame.position.rsplit(":", 2)[0], Path.cwd())
    return getattr(source, table).get(span) if source else None


@lru_cache(maxsize=64)
def _source(file: str, here: Path) -> _Source | None:
    """Read a file of a traceback if it lies below the current folder, which is no root."""
    path = Path(os.path.realpath(file))
    is_below = here != here.parent and path.is_relative_to(here)
    return _read(str(path)) if is_below else None


def _span(frame: Frame) -> _Span | None:
    parts = frame.position.rsplit(":", 2)
    if frame.end is None or len(parts) < 3:
        return None
    end_line, _, end_column = frame.end.partition(":")
    numbers = (parts[1], parts[2], end_line, end_column)
    if not all(map(str.isdecimal, numbers)):
        return None
    first, column, last, end = map(int, numbers)
    return first, column, last, end


@lru_cache(maxsize=64)
def _read(path: str) -> _Source | None:
    """Read a Python file; None if it is not there, is no such file or has changed much."""
    try:
        status = Path(path).stat()
        if (
            not path.endswith(".py")
            or not stat.S_ISREG(status.st_mode)
            or status.st_size > _LARGEST_FILE
        ):
            return None
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names: dict[_Span, str] = {}
    calls: dict[_Span, str] = {}
    for node in ast.walk(tree):
        for value, name in _assigned(node):
            names[_place(value)] = name
        if isinstance(node, ast.Call):
            calls[_place(node)] = ast.unparse(node.func)
    return _Source(names, calls)


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield value, name
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield value, name
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield value, name
        case ast.AugAssign(target=ast.Name(id=name)):
            # the place of the addition is the statement's
            yield node, name
        case ast.Return(value=ast.expr() as value):
            yield value, RETURNED
        case _:
            pass


def _place(node: ast.expr | ast.stmt) -> _Span:
    last = node.end_lineno or node.lineno
    return node.lineno, node.col_offset, last, node.end_col_offset or node.col_offset
