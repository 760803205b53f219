"""The one shape of error that users see: what, where, and what to do about it.

Everything that the compiler refuses is a `CompileError` (or an xDSL
`VerifyException`, which verifiers raise). Both derive from xDSL's
`DiagnosticException`, so that `xdsl-opt --verify-diagnostics` and the `ttxdsl`
command print them as diagnostics and not as tracebacks.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from ttxdsl.compat.locations import FileLineColRange, ParsedLoc


def source_position(location: Attribute) -> str | None:
    """The `file:line:col` that a location leads to, or None if it leads nowhere.

    A call site answers with its callee (the innermost frame, as MLIR's own
    diagnostics do); a fused location with the first part that knows a position.
    """
    match location:
        case FileLineColLoc() | FileLineColRange():
            file, line, column = location.filename, location.line, location.column
            return f"{file.data}:{line.data}:{column.data}"
        case ParsedLoc():
            return location.position
        case NameLoc():
            return source_position(location.location)
        case CallSiteLoc():
            return source_position(location.callee) or source_position(location.caller)
        case FusedLoc():
            parts = cast(ArrayAttr[Attribute], location.locations)
            found = (source_position(part) for part in parts)
            return next((position for position in found if position), None)
        case _:
            return None


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
        self.message = message
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
        place = f"{self.position}: " if self.position else ""
        op = f"'{self.op_name}' op: " if self.op_name else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{place}error: {op}{self.message}{hint}"


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
