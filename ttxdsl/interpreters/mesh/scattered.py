"""A whole value whose parts stay with the processes that hold them.

Where each process has only some devices, results of a program have this form; they are
put together only for a caller that wants them whole.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Part = tuple[tuple[slice, ...], Array]
"""The place of a part in the whole value, and the part."""


@dataclass(frozen=True, slots=True)
class Scattered:
    """A value of which every element is in one part, of one process.

    Args:
        parts: those that this process answers for.
        gather: every process calls it together: the whole value on process `root`, on
            all of them for None; None elsewhere.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    parts: tuple[Part, ...]
    gather: Callable[[int | None], Array | None]

    def first(self, shape: tuple[int, ...]) -> "Scattered":
        """Return the first elements along each dimension."""
        parts: list[Part] = []
        for index, part in self.parts:
            ends = [
                min(bounds.stop, size)
                for bounds, size in zip(index, shape, strict=True)
            ]
            kept = tuple(
                slice(bounds.start, max(bounds.start, end))
                for bounds, end in zip(index, ends, strict=True)
            )
            sizes = [bounds.stop - bounds.start for bounds in kept]
            if all(sizes):
                parts.append((kept, part[tuple(map(slice, sizes))]))

        def gather(root: int | None) -> Array | None:
            whole = self.gather(root)
            return None if whole is None else whole[tuple(map(slice, shape))]

        return Scattered(shape, self.dtype, tuple(parts), gather)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the whole value, on every process; all of them call this together."""
        whole = self.gather(None)
        assert whole is not None
        return whole if dtype is None else whole.astype(dtype, copy=False)
