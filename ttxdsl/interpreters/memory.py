"""Memory of large arrays that died, for results of the same size.

The system gives new memory away page by page and full of zeros, which takes as long as
an elementwise op. What a run keeps here is less than what it gave back: before it asks
for new memory it lets go of as much.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from sys import getrefcount
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

LEAST = 1 << 20
"""Bytes of an array whose memory is kept."""

MOST = 1 << 26
"""Bytes that are kept in all."""


class Spare:
    """Arrays that own memory which nobody looks at any more, by their bytes."""

    def __init__(self) -> None:
        self.kept: dict[int, list[Array]] = {}
        self.bytes = 0

    def take(self, size: int) -> Array | None:
        """One of `size` bytes; else room is made for as many."""
        if found := self.kept.get(size):
            self.bytes -= size
            return found.pop()
        self.drop(size)
        return None

    def drop(self, size: int) -> None:
        """Let go of at least `size` bytes, if there are."""
        for each in sorted(self.kept, reverse=True):
            while size > 0 and self.kept[each]:
                self.kept[each].pop()
                self.bytes -= each
                size -= each

    def keep(self, owner: Array) -> None:
        """Keep an array's memory, if there is not too much already."""
        if self.bytes + owner.nbytes <= MOST:
            self.kept.setdefault(owner.nbytes, []).append(owner)
            self.bytes += owner.nbytes


_SPARE: ContextVar[Spare | None] = ContextVar("spare", default=None)


@contextmanager
def reusing(spare: Spare) -> Generator[None]:
    """Results take memory from `spare` inside."""
    before = _SPARE.set(spare)
    try:
        yield
    finally:
        _SPARE.reset(before)


def empty(shape: Sequence[int], dtype: Any) -> Array:
    """An array whose elements are to be written."""
    dtype = np.dtype(dtype)
    size = prod(shape) * dtype.itemsize
    spare = _SPARE.get()
    if spare is None or size < LEAST or (owner := spare.take(size)) is None:
        return np.empty(shape, dtype)
    return owner.reshape(-1, order="A").view(np.uint8).view(dtype).reshape(shape)


def release(frame: list[Any], at: int) -> None:
    """Forget a value of a frame; its memory stays for the next, if nobody else looks."""
    value = frame[at]
    frame[at] = None
    if type(value) is not np.ndarray or value.nbytes < LEAST:
        return
    spare = _SPARE.get()
    # the name here, and a question
    if spare is None or getrefcount(value) > 2:
        return
    owner = value if value.base is None else cast(Any, value.base)
    del value
    if type(owner) is not np.ndarray or owner.nbytes < LEAST:
        return
    # the view that is gone referred to it, too
    if getrefcount(owner) == 2 and owner.dtype.kind != "O":
        flags = owner.flags
        if flags.owndata and flags.forc and flags.writeable:
            spare.keep(owner)
