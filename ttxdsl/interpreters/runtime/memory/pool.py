"""A pool of the memory of large dead arrays, reused for results of the same size.

The system maps and clears new memory page by page, which takes as long as an
elementwise op. The pool is small compared with a large program's values.
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
"""The least bytes of an array whose memory is kept."""

MOST = 5 << 23
"""Bytes that are kept in all."""


class Spare:
    """Arrays that own memory which nobody looks at any more, the latest last."""

    def __init__(self) -> None:
        self.kept: list[Array] = []
        self.bytes = 0

    def take(self, size: int) -> Array | None:
        """Return one of `size` bytes; else room is made for it."""
        for at in range(len(self.kept) - 1, -1, -1):
            if self.kept[at].nbytes == size:
                self.bytes -= size
                return self.kept.pop(at)
        self._drop(self.bytes + size - MOST)
        return None

    def _drop(self, size: int) -> None:
        """Free at least `size` bytes, if there are, small arrays first."""
        while size > 0 and self.kept:
            least = min(range(len(self.kept)), key=lambda at: self.kept[at].nbytes)
            owner = self.kept.pop(least)
            self.bytes -= owner.nbytes
            size -= owner.nbytes

    def keep(self, owner: Array) -> None:
        """Keep an array's memory, and not too much in all."""
        self.kept.append(owner)
        self.bytes += owner.nbytes
        self._drop(self.bytes - MOST)


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
    """Return an array whose elements are to be written."""
    dtype = np.dtype(dtype)
    size = prod(shape) * dtype.itemsize
    spare = _SPARE.get()
    if spare is None or size < LEAST or (owner := spare.take(size)) is None:
        return np.empty(shape, dtype)
    return owner.reshape(-1, order="A").view(np.uint8).view(dtype).reshape(shape)


def release(frame: list[Any], at: int) -> None:
    """Drop a value of a frame, and reuse its memory if it has no other owner."""
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
