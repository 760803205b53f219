"""What the compiler decided or could not do well, told to the user without stopping.

A remark names a choice and its reason; a warning names a cost. Whoever runs passes
may collect them with `collect_remarks`; otherwise they go to standard error in the
form of a compiler's diagnostics, so that `xdsl-opt`'s output stays a module.
"""

import re
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Literal

from xdsl.ir import Operation

from ttxdsl.errors import near, source_position
from ttxdsl.visible import visible, visible_lines


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
    found: list[Remark] = []
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)


def _emit(
    severity: Literal["remark", "warning"], message: str, where: Operation | None
) -> None:
    position = source_position(where.location) if where is not None else None
    remark = Remark(severity, message, position)
    collector = _collector.get()
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
