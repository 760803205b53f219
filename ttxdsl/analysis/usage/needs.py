"""The op and the line of the author's program that a collective is for."""

from collections import deque
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttxdsl.analysis.attribution.origins import (
    joined_parts,
    optimizations,
    unmarked,
)
from ttxdsl.analysis.attribution.words import path_of
from ttxdsl.analysis.calls.call_graph import callers
from ttxdsl.analysis.calls.symbols import PRIVATE
from ttxdsl.diagnostics.errors import Frame, source_frame
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.traits import Collective
from ttxdsl.ir.memo import by_identity
from ttxdsl.ir.tensors import value_bytes

_RETURNS = (sdy.ReturnOp, ReturnOp, stablehlo.ReturnOp)
MOVING = (
    stablehlo.ConvertOp,
    stablehlo.DynamicSliceOp,
    stablehlo.ReshapeOp,
    stablehlo.SliceOp,
    stablehlo.TransposeOp,
)
_MOST_USERS = 16
"""Values behind a collective that are looked at for who needs it."""


def needing(op: Operation, result: SSAValue) -> Operation | None:
    """Return the op for which a collective moves a value; in a loop that takes it, its op.

    An op that only moves data may need it, too, but not where an optimization has put the
    collective before it.
    """
    through = MOVING if optimizations(op.location) else ()
    pending, seen = deque([result]), {result}
    for _ in range(_MOST_USERS):
        if not pending:
            break
        value = pending.popleft()
        for use in value.uses:
            user, at = use.operation, use.index
            if isinstance(user, stablehlo.WhileOp):
                moved = [user.body.block.args[at]]
            elif only_moves(user):
                moved = [user.results[at]]
            elif isinstance(user, through):
                moved = user.results if at == 0 else ()
            elif isinstance(user, _RETURNS):
                continue
            else:
                return user
            pending.extend(each for each in moved if each not in seen)
            seen.update(moved)
    return None


def only_moves(op: Operation) -> bool:
    """Return whether an op's results are its operands, perhaps elsewhere."""
    if isinstance(op, stablehlo.OptimizationBarrierOp):
        return True
    fact = op.get_trait(Collective)
    return (
        fact is not None and not fact.combines and len(op.operands) == len(op.results)
    )


_frame_at = by_identity(source_frame)


def _frame_of(location: Attribute) -> Frame | None:
    # each op has marks of its own around a location that it shares with others
    return _frame_at(unmarked(location))


def _lines_of_results(op: Operation) -> list[Frame | None]:
    """Return for each result of a collective which line it is for.

    That which needs it if the collective moves values, unless its author wrote it; else
    that of the op whose parts it combines.
    """
    parts = joined_parts(op.location)
    if len(parts) != len(op.results):
        parts = (op.location,) * len(op.results)
    lines: list[Frame | None] = []
    for result, part in zip(op.results, parts, strict=True):
        user = None
        if only_moves(op) and not _is_written(part):
            user = needing(op, result)
        frame = None if user is None else _frame_of(user.location)
        lines.append(frame or _frame_of(part))
    return lines


_WRITTEN = ("all_gather", "all_to_all", "pbroadcast", "ppermute", "ragged_all_to_all")
"""JAX's names of the collectives that a program itself writes to move values."""


def _is_written(location: Attribute) -> bool:
    name = path_of(unmarked(location)) or ""
    return name.rpartition("/")[2].startswith(_WRITTEN)


def place_of(
    op: Operation, calls: Mapping[str, Sequence[Operation]] | None = None
) -> Frame | None:
    """Return the line of an op; of a collective that which asked for most of it.

    An argument that is gathered before the first op has no line of its own. An op of a function
    without lines, as slices are that several values share, has that of all its calls.

    Args:
        calls: `callers` of its module, for whoever asks about many ops.
    """
    return _place_in_function(op) or _place_of_calls(op, calls)


def _place_of_calls(
    op: Operation, calls: Mapping[str, Sequence[Operation]] | None
) -> Frame | None:
    function = op.parent_op()
    if not isinstance(function, FuncOp) or function.sym_visibility != PRIVATE:
        return None
    module = function.parent_op()
    assert isinstance(module, ModuleOp), "functions are in modules"
    if calls is None:
        calls = callers(module)
    frames = [
        _place_in_function(call) for call in calls.get(function.sym_name.data, ())
    ]
    lines = {frame and frame.position.rpartition(":")[0] for frame in frames}
    return frames[0] if len(lines) == 1 else None


def _place_in_function(op: Operation) -> Frame | None:
    if op.get_trait(Collective) is not None:
        lines = _lines_of_results(op)
        sizes = [*map(value_bytes, op.results)]
        for at in sorted(range(len(lines)), key=lambda at: -sizes[at]):
            if (frame := lines[at]) is not None:
                return frame
    pending, seen = deque([op]), {op}
    for _ in range(_MOST_USERS):
        if not pending:
            break
        at = pending.popleft()
        if (frame := _frame_of(at.location)) is not None:
            return frame
        for result in sorted(at.results, key=value_bytes, reverse=True):
            users = [use.operation for use in result.uses]
            pending.extend(user for user in users if user not in seen)
            seen.update(users)
    return None


def other_lines_of(op: Operation) -> int:
    """Return for how many lines a collective of several values is, besides its own."""
    if len(op.results) < 2:
        return 0
    lines: set[str | None] = set()
    for result, own in zip(op.results, _lines_of_results(op), strict=True):
        users = (_frame_of(use.operation.location) for use in result.uses)
        lines.add(_line(own or next(filter(None, users), None)))
    return len(lines - {None, _line(place_of(op))})


def _line(frame: Frame | None) -> str | None:
    return frame.position.rpartition(":")[0] if frame and frame.function else None
