"""The one shape of error that users see: what, where, and what to do about it.

Everything that the compiler refuses is a `CompileError` (or an xDSL
`VerifyException`, which verifiers raise). Both derive from xDSL's
`DiagnosticException`, so that `xdsl-opt --verify-diagnostics` and the `ttxdsl`
command print them as diagnostics and not as tracebacks.
"""

from __future__ import annotations

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
    pending = [location]
    seen: set[int] = set()  # a part that several share is looked at once
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        match part:
            case FileLineColLoc() | FileLineColRange():
                file, line, column = part.filename, part.line, part.column
                return f"{file.data}:{line.data}:{column.data}"
            case ParsedLoc():
                return part.position
            case NameLoc():
                pending.append(part.location)
            case CallSiteLoc():
                pending += (part.caller, part.callee)
            case FusedLoc():
                parts = cast(ArrayAttr[Attribute], part.locations)
                pending += reversed(parts.data)
            case _:
                continue
    return None


_LONGEST = 4_000
"""Characters of a message; a type or a name in it may have a million."""


def _shortened(message: str) -> str:
    left_out = len(message) - _LONGEST
    if left_out <= 0:
        return message
    half = _LONGEST // 2
    return f"{message[:half]} [… {left_out} characters …] {message[-half:]}"


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
        place = f"{self.position}: " if self.position else ""
        op = f"'{self.op_name}' op: " if self.op_name else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{place}error: {op}{self.message}{hint}"


class UnsupportedError(CompileError):
    """A valid program that this version cannot translate or run yet."""
