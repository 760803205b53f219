"""Remarks: choices of the compiler and their costs, told without stopping.

A remark names a choice and its reason; a warning names a cost. Callers of passes
may collect them with `collect_remarks`; otherwise they go to standard error in the
form of a compiler's diagnostics, so that `xdsl-opt`'s output stays a module.
"""

import re
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Literal

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation

from ttxdsl.diagnostics.errors import UnsupportedError, near, source_position
from ttxdsl.diagnostics.sanitize import visible, visible_lines


@dataclass(frozen=True, slots=True)
class Remark:
    """One message about one place of the program."""

    severity: Literal["remark", "warning"]
    message: str
    position: str | None = None

    def __str__(self) -> str:
        """`file:line:col: remark: message`, as compilers print it."""
        place = f"{visible(near(self.position))}: " if self.position else ""
        return f"{place}{self.severity}: {visible_lines(self.message)}"


_NAMED = re.compile(
    r"^('[^']*' op )|'[^']*'|\"[^\"]*\"|<[^>]*>|\[[^]]*\]|[%@#][\w$.-]+|\d+"
)
"""What differs in messages of one kind: names, types, shardings, numbers; but not the
op that a message starts with."""


def fold_remarks(remarks: Iterable[Remark]) -> list[Remark]:
    """The first remark of each kind, which says how many more there are."""
    kinds: dict[object, list[Remark]] = {}
    for remark in remarks:
        kind = remark.severity, _NAMED.sub(r"\1", remark.message)
        kinds.setdefault(kind, []).append(remark)
    return [
        replace(first, message=f"{first.message} (and {len(more)} more of this kind)")
        if more
        else first
        for first, *more in kinds.values()
    ]


_collector: ContextVar[list[Remark] | None] = ContextVar("remarks", default=None)


@contextmanager
def collect_remarks() -> Generator[list[Remark]]:
    """Gather the remarks of the enclosed code in the list that is yielded."""
    remarks: list[Remark] = []
    token = _collector.set(remarks)
    try:
        yield remarks
    finally:
        _collector.reset(token)


def _emit(
    severity: Literal["remark", "warning"], message: str, where: Operation | None
) -> None:
    position = source_position(where.location) if where is not None else None
    repeat_remarks([Remark(severity, message, position)])


def repeat_remarks(remarks: Iterable[Remark]) -> None:
    """Tell again what was collected."""
    collector = _collector.get()
    for remark in remarks:
        if collector is None:
            print(remark, file=sys.stderr)
        else:
            collector.append(remark)


def emit_remark(message: str, where: Operation | None = None) -> None:
    """Tell of a choice that the compiler made."""
    _emit("remark", message, where)


def emit_warning(message: str, where: Operation | None = None) -> None:
    """Tell of something that costs memory, time or bytes."""
    _emit("warning", message, where)


Described = str | Callable[[], str]
"""What is going on, or what says it when somebody asks."""

_doing: dict[int, list[Described]] = {}
"""By thread, the outermost first."""

_interrupted: list[str] = []
"""What was going on when an interrupt came."""


class doing:  # used as a function is
    """Say what the enclosed code does, for whoever asks meanwhile."""

    __slots__ = ("_described",)

    def __init__(self, described: Described):
        self._described = described

    def __enter__(self) -> None:
        """It begins."""
        _doing.setdefault(threading.get_ident(), []).append(self._described)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """It ends; an interrupt is told where it came."""
        if kind is KeyboardInterrupt and not _interrupted:
            _interrupted.append(what_is_done(threading.get_ident()))
        _doing[threading.get_ident()].pop()


def what_is_done(thread: int | None = None) -> str:
    """Return what a thread does now, the main one by default; nothing if it does not say.

    What the next entry begins with is left out.
    """
    if thread is None:
        thread = threading.main_thread().ident
    entries = [*_doing.get(thread or 0, ())]
    texts = [entry if isinstance(entry, str) else entry() for entry in entries]
    return ", ".join(
        text
        for text, following in zip(texts, [*texts[1:], ""], strict=False)
        if text and not following.startswith(text)
    )


def interrupted_text() -> str:
    """Return what an interrupted process says at its end."""
    where = _interrupted.pop() if _interrupted else ""
    _interrupted.clear()
    return visible(f"interrupted: {where}" if where else "interrupted")


OpsAt = Callable[[LocationAttr], Sequence[Operation]]
"""The ops that a program ends with, by where they come from."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A tensor that a pass leaves whole, and the bytes that it takes if it stays so.

    Attributes:
        judge: from the ops that the program ends with (None if not known yet) to the
            message and the op that it is about; None if it costs nothing.
        hint: what helps where it is an error.
        strict: whether it is an error, and no warning.
    """

    judge: Callable[[OpsAt | None], tuple[str, Operation] | None]
    hint: str
    strict: bool = False


_costs: ContextVar[list[Cost] | None] = ContextVar("costs", default=None)


@contextmanager
def holding_back(costs: list[Cost]) -> Generator[None]:
    """Keep what the enclosed code finds to cost bytes, for `tell_costs`."""
    token = _costs.set(costs)
    try:
        yield
    finally:
        _costs.reset(token)


def emit_cost(cost: Cost) -> None:
    """Tell of a cost when the program has ended, or now if nobody waits for that.

    Raises:
        UnsupportedError: it is told now, and is an error.
    """
    costs = _costs.get()
    if costs is None:
        tell_costs([cost])
    else:
        costs.append(cost)


def tell_costs(costs: Iterable[Cost], ops_at: OpsAt | None = None) -> None:
    """Tell of the costs that the program has as it ends, each once.

    Raises:
        UnsupportedError: the first that is an error.
    """
    told: set[tuple[str, Operation]] = set()
    for cost in costs:
        verdict = cost.judge(ops_at)
        if verdict is None or verdict in told:
            continue
        told.add(verdict)
        message, where = verdict
        if cost.strict:
            raise UnsupportedError(message, where, hint=cost.hint)
        emit_warning(f"'{where.name}' op {message}", where)


def rounds(most: int, work: str, where: Operation | None = None) -> Iterator[int]:
    """Count the rounds of a loop that provably ends before `most`.

    If the proof is wrong, the loop ends there with a warning.
    """
    yield from range(most)
    emit_warning(
        f"{work} was stopped after {most} rounds, since it did not come to an end:"
        " a mistake of the compiler. The program is right, but may send more than it need",
        where,
    )
