"""The one shape of error that users see: what, where, and what to do about it.

Everything that the compiler refuses is a `CompileError` (or an xDSL
`VerifyException`, which verifiers raise). Both derive from xDSL's
`DiagnosticException`, so that `xdsl-opt --verify-diagnostics` and the `ttxdsl`
command print them as diagnostics and not as tracebacks.
"""

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from ttxdsl.diagnostics.sanitize import visible, visible_lines
from ttxdsl.ir.compat.faults.locations import (
    Frame,
    author_frames,
    is_of_library,
    own_first,
    own_frame,
    source_frame,
    source_frames,
    source_position,
)


def _below(text: str) -> str:
    """Text that is safe to show; a line break in a name starts no new diagnostic."""
    return re.sub(r"\n(?=\S)", "\n  ", visible_lines(text))


_LONGEST = 4_000
"""Characters of a message; a type or a name in it may have a million."""


def _shortened(message: str) -> str:
    left_out = len(message) - _LONGEST
    if left_out <= 0:
        return message
    half = _LONGEST // 2
    return f"{message[:half]} [… {left_out} characters …] {message[-half:]}"


def near(position: str) -> str:
    """A `file:line:col`, from the current folder if the file is in it."""
    try:
        return position.removeprefix(f"{Path.cwd()}/")
    except FileNotFoundError:  # somebody took the folder away
        return position


__all__ = [
    "CompileError",
    "Frame",
    "UnsupportedError",
    "author_frames",
    "is_of_library",
    "line_text",
    "memory_errors",
    "near",
    "own_first",
    "own_frame",
    "place_text",
    "source_frame",
    "source_frames",
    "source_position",
]

_LONGEST_PATH = 40
"""Columns of a file's name in a sentence or a table."""


def place_text(position: str | None, function: str | None = None) -> str:
    """`train.py:33 in block`, for people; nothing of no position.

    Args:
        position: `file:line:col`. It is told from the current folder; of a long path the
            folders in the middle are left out.
        function: which the line is in, as Python calls it, of a module that is called its
            class; the column is told if nobody knows it.
    """
    if position is None:
        return ""
    *folders, place = near(position).split("/")
    if not function:
        return "/".join((*_fewer(folders, len(place)), place))
    line = place.rpartition(":")[0] or place
    name = function.rpartition("<locals>.")[2].removesuffix(".__call__")
    return f"{'/'.join((*_fewer(folders, len(line)), line))} in {name}"


def line_text(frame: Frame) -> str:
    """Return a line in words, for a sentence about it: `line 12 of rms`."""
    function = frame.function.rpartition("<locals>.")[2].removesuffix(".__call__")
    return f"line {frame.position.rsplit(':', 2)[-2]} of {function}"


def _fewer(folders: list[str], rest: int) -> list[str]:
    """Folders without some in the middle, where they would take too many columns."""
    if len("/".join(folders)) + 1 + rest <= _LONGEST_PATH or len(folders) < 2:
        return folders
    first, *others = folders
    while others and len("/".join((first, "…", *others))) + 1 + rest > _LONGEST_PATH:
        others = others[1:]
    return [first, "…", *others]


class CompileError(DiagnosticException):
    """A program that the compiler cannot take, with its place and a way out.

    Args:
        message: what is wrong, naming the constraint, the axis and the dimension.
        where: the op (or a value, whose owner is meant) that is to blame.
        hint: what the user can do about it, one sentence.
        position: `file:line:col`, where `where` cannot say it.
    """

    def __init__(
        self,
        message: str,
        where: Operation | SSAValue | None = None,
        *,
        hint: str | None = None,
        position: str | None = None,
    ):
        self.message = _shortened(message)
        self.hint = hint
        if isinstance(where, SSAValue):
            owner = where.owner
            where = owner.parent_op() if isinstance(owner, Block) else owner
        self.op_name = None
        if where is not None:
            unregistered = isinstance(where, UnregisteredOp)
            self.op_name = where.op_name.data if unregistered else where.name
        if position is None and where is not None:
            position = source_position(where.location)
        self.position = position
        super().__init__(self._render())

    def _render(self) -> str:
        place = f"{visible(near(self.position))}: " if self.position else ""
        op = f"'{visible(self.op_name)}' op: " if self.op_name else ""
        hint = f"\n  hint: {_below(self.hint)}" if self.hint else ""
        return f"{place}error: {op}{_below(self.message)}{hint}"


class UnsupportedError(CompileError):
    """A valid program that this version cannot translate or run yet."""


@contextmanager
def memory_errors() -> Generator[None]:
    """Tell what is done here, or in a function that this decorates, by a diagnostic.

    Raises:
        CompileError: Python or NumPy got no memory for it.
    """
    try:
        yield
    except MemoryError as error:
        reason = str(error).rstrip(".")
        raise CompileError(
            "there is not enough memory" + (f": {reason}" if reason else ""),
            hint="a smaller program, or smaller values, would do",
        ) from error
