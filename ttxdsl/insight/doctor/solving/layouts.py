"""Layouts of values on a mesh, and the time from one to another.

A layout says for each mesh axis which dimension it splits, or `WHOLE`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

from ttxdsl.costs.links import Link
from ttxdsl.costs.machines import Machine
from ttxdsl.costs.ring import Ring
from ttxdsl.insight.doctor.solving.problem import Floats

Layout = tuple[int, ...]
"""For each mesh axis the dimension that it splits, or `WHOLE`."""

WHOLE = -1


def layouts_of(shape: Sequence[int], sizes: Sequence[int]) -> tuple[Layout, ...]:
    """Return the layouts whose axes divide what they split, the whole value first."""
    choices = product((WHOLE, *range(len(shape))), repeat=len(sizes))
    return tuple(
        layout for layout in choices if is_even(shape, split_sizes(layout, sizes))
    )


def split_sizes(layout: Layout, sizes: Sequence[int]) -> dict[int, int]:
    """Return for each dimension that is split in how many parts."""
    parts: dict[int, int] = {}
    for dim, size in zip(layout, sizes, strict=True):
        if dim != WHOLE:
            parts[dim] = parts.get(dim, 1) * size
    return parts


def is_even(shape: Sequence[int], parts: dict[int, int]) -> bool:
    """Return True if every dimension can be split in its number of parts."""
    return all(shape[dim] % count == 0 for dim, count in parts.items())


@dataclass(frozen=True)
class Axes:
    """The axes of a mesh, and the links along them.

    Attributes:
        sizes: of the axes, the devices of the last one are neighbours.
        links: along each axis.
    """

    sizes: tuple[int, ...]
    links: tuple[Link, ...]
    _seconds: dict[tuple[int, Layout, Layout], float] = field(
        default_factory=dict[tuple[int, Layout, Layout], float], compare=False
    )

    @staticmethod
    def of(sizes: Sequence[int], machine: Machine) -> "Axes":
        """Return axes of these sizes with the links that a machine has along them."""
        links: list[Link] = []
        for at, size in enumerate(sizes):
            stride = prod(sizes[at + 1 :])
            group = [stride * place for place in range(size)]
            links.append(machine.link_of(None, (group,)))
        return Axes(tuple(sizes), tuple(links))

    def share(self, layout: Layout) -> float:
        """Return the part of a value that a device has."""
        split = (n for n, dim in zip(self.sizes, layout, strict=True) if dim != WHOLE)
        return 1 / prod(split)

    def local_bytes(self, whole: int, layout: Layout) -> float:
        """Return the bytes that a device has of a value."""
        return whole * self.share(layout)

    def collective(self, kind: Ring, axis: int, local_bytes: float) -> float:
        """Return the seconds of a collective along an axis."""
        return self.links[axis].seconds(kind, round(local_bytes), self.sizes[axis])

    def reshard(self, whole: int, old: Layout, new: Layout) -> float:
        """Return the seconds to cut, exchange, then gather a value of `whole` bytes."""
        if old == new:
            return 0.0
        key = whole, old, new
        if (known := self._seconds.get(key)) is not None:
            return known
        seconds, now = 0.0, self.local_bytes(whole, old)
        pairs = list(zip(old, new, strict=True))
        for size, (was, becomes) in zip(self.sizes, pairs, strict=True):
            if was == WHOLE != becomes:
                now /= size
        for axis, (was, becomes) in enumerate(pairs):
            if WHOLE not in (was, becomes) and was != becomes:
                seconds += self.collective(Ring.ALL_TO_ALL, axis, now)
        for axis, (was, becomes) in enumerate(pairs):
            if was != WHOLE == becomes:
                seconds += self.collective(Ring.ALL_GATHER, axis, now)
                now *= self.sizes[axis]
        self._seconds[key] = seconds
        return seconds

    def reshards(
        self, whole: int, old: Sequence[Layout], new: Sequence[Layout]
    ) -> Floats:
        """Return the seconds of all pairs; layouts that repeat are asked once."""
        rows, columns = list(dict.fromkeys(old)), list(dict.fromkeys(new))
        seconds = np.array([[self.reshard(whole, a, b) for b in columns] for a in rows])
        row_at = {layout: at for at, layout in enumerate(rows)}
        column_at = {layout: at for at, layout in enumerate(columns)}
        return seconds[np.ix_([row_at[a] for a in old], [column_at[b] for b in new])]
