"""Named axes of devices, and the leading dimensions of values on them.

Mesh axes may be cut into sub-axes; groups of devices may be lines along axes. Both are
found out once for each mesh and remembered.

Source: DESIGN.md section 7.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.sharding.axes import AxisRef, split_mesh_at
from ttxdsl.sharding.devices.mesh import Mesh

Array = NDArray[Any]
Groups = tuple[tuple[int, ...], ...]
"""One tuple of process ids (or positions) a group."""

Dims = Sequence[Sequence[AxisRef]]
"""For each tensor dimension the axes that split it, major to minor."""


@dataclass(frozen=True, slots=True)
class AxisAtoms:
    """Mesh axes cut into atoms, so that every sub-axis is a run of whole atoms.

    Attributes:
        sizes: of the atoms, major to minor.
        axis_of: the axis that each atom is a part of.
        runs: the atoms of each reference.
    """

    sizes: tuple[int, ...]
    axis_of: tuple[int, ...]
    runs: dict[AxisRef, tuple[int, ...]]

    def extents(self, lead: Sequence[int]) -> list[int]:
        """Return extents of the atoms of an array whose leading extents are `lead`."""
        pairs = zip(self.sizes, self.axis_of, strict=True)
        return [size if lead[axis] > 1 else 1 for size, axis in pairs]


@cache
def layout_of(
    axes: tuple[tuple[str, int], ...], refs: tuple[AxisRef, ...]
) -> AxisAtoms:
    """Return mesh axes cut so that each of these references is a run of atoms.

    Raises:
        InterpretationError: a reference to no axis, or sub-axes that do not nest.
    """
    mesh = Mesh(axes)
    for ref in refs:
        if not mesh.has_axis(ref.name):
            names = ", ".join(mesh.axis_names) or "()"
            raise InterpretationError(
                f'axis "{ref.name}" is not one of the mesh: {names}'
            )
    try:
        atoms = split_mesh_at(mesh, refs)
    except ValueError as error:
        raise InterpretationError(f"sub-axes do not nest: {error}") from error
    return AxisAtoms(
        tuple(atom.size_in(mesh) for atom in atoms),
        tuple(mesh.axis_index(atom.name) for atom in atoms),
        {
            ref: tuple(at for at, atom in enumerate(atoms) if ref.overlaps(atom))
            for ref in refs
        },
    )


@cache
def whole_axes(sizes: tuple[int, ...], groups: Groups) -> tuple[int, ...] | None:
    """Return the mesh axes, major first, along which `groups` of positions run, if any.

    None when the groups are not exactly the lines along some set of whole axes.
    """
    lengths = {len(group) for group in groups}
    if len(lengths) != 1 or sum(map(len, groups)) != prod(sizes):
        return None
    table: Array = np.array(groups, dtype=np.int64)
    first = np.indices(sizes).reshape(len(sizes), prod(sizes))[:, table[0]]
    moves = first != first[:, :1]
    varying = [axis for axis in range(len(sizes)) if moves[axis].any()]
    if prod(sizes[axis] for axis in varying) != table.shape[1]:
        return None
    # the axis whose coordinate changes last along the group is the major one
    varying.sort(key=lambda axis: -int(moves[axis].argmax()))
    rest = [axis for axis in range(len(sizes)) if axis not in varying]
    lines = np.arange(prod(sizes)).reshape(sizes).transpose(rest + varying)
    lines = lines.reshape(table.shape)
    if not np.array_equal(
        lines[np.argsort(lines[:, 0])], table[np.argsort(table[:, 0])]
    ):
        return None
    return tuple(varying)


def bits_of(x: Array) -> Array:
    """Return the same memory as unsigned integers where NumPy has the width."""
    if x.dtype.itemsize in (1, 2, 4, 8):
        return x.view(np.dtype(f"u{x.dtype.itemsize}"))
    return x


def same_values(a: Array, b: Array) -> Array:
    """Elementwise exact equality in which NaN equals NaN."""
    return np.asarray((a == b) | ((a != a) & (b != b)))


@cache
def _fits(lead: tuple[int, ...], extents: tuple[int, ...]) -> bool:
    pairs = zip(lead, extents, strict=False)
    return len(lead) == len(extents) and all(n in (1, size) for n, size in pairs)


def _ends_alike(x: Array, axis: int) -> bool:
    """Whether two elements at the ends of an axis are equal, which is soon known."""
    if not x.size:
        return True
    first, last = [0] * x.ndim, [0] * x.ndim
    last[axis] = -1
    return bool(same_values(x[tuple(first)], x[tuple(last)]))


@dataclass(frozen=True)
class MeshAxes:
    """Named axes of devices, and the leading dimensions of values on them.

    Args:
        axes: names and sizes, major first.
        device_ids: the process id of each position, row-major; empty is 0, 1, 2, ….
        num_partitions: processes a replica; None when all are one replica's.
    """

    axes: tuple[tuple[str, int], ...] = ()
    device_ids: tuple[int, ...] = ()
    num_partitions: int | None = None

    @cached_property
    def rank(self) -> int:
        """The number of leading dimensions of a value."""
        return len(self.axes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the axes, major first."""
        return tuple(name for name, _ in self.axes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the axes, major first."""
        return tuple(size for _, size in self.axes)

    @cached_property
    def num_devices(self) -> int:
        """The product of the axis sizes."""
        return prod(self.sizes)

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """The number of devices along each axis whose values are here: all of them."""
        return self.sizes

    def here(self, table: Array) -> Array:
        """Return the entries of a table over the mesh for devices whose values are here."""
        return table.reshape(self.sizes)

    @cached_property
    def _process_ids(self) -> Array:
        if self.device_ids:
            return np.array(self.device_ids, dtype=np.int64)
        return np.arange(self.num_devices)

    @cached_property
    def _position_of(self) -> dict[int, int]:
        return {int(process): at for at, process in enumerate(self._process_ids)}

    def coordinates(self, position: int) -> dict[str, int]:
        """Return the coordinate of a position along each axis, by name."""
        where = np.unravel_index(position, self.sizes) if self.sizes else ()
        return {name: int(at) for name, at in zip(self.names, where, strict=True)}

    def partition_id(self) -> Array:
        """Return every device's partition id (ui32, local rank 0, full extents)."""
        ids = self._process_ids
        if self.num_partitions is not None:
            ids = ids % self.num_partitions
        return self.here(ids.astype(np.uint32))

    def replica_id(self) -> Array:
        """Return every device's replica id (ui32, local rank 0, no needless extents)."""
        if self.num_partitions is None:
            return np.zeros((1,) * self.rank, np.uint32)
        ids = self._process_ids // self.num_partitions
        return self.compress(self.here(ids.astype(np.uint32)), 0)

    # leading dimensions

    def lift(self, x: Array, rank: int) -> Array:
        """`x` with its leading dimensions, of extent 1 where it had none."""
        if x.ndim == rank and self.rank:
            return x.reshape((1,) * self.rank + x.shape)
        if not self.holds(x, rank):
            raise InterpretationError(
                f"a value with leading extents {x.shape[: x.ndim - rank]} is not one on"
                f" the mesh {self.extents}"
            )
        return x

    def holds(self, x: Array, rank: int) -> bool:
        """Whether `x` has its leading dimensions."""
        return _fits(x.shape[: x.ndim - rank], self.extents)

    def spread(self, x: Array, rank: int, axes: Iterable[int]) -> Array:
        """`x`, lifted, with full extent on the given axes (a view)."""
        x = self.lift(x, rank)
        shape = list(x.shape)
        for axis in axes:
            shape[axis] = self.extents[axis]
        return np.broadcast_to(x, shape)

    def compress(self, x: Array, rank: int) -> Array:
        """`x` with extent 1 on each axis along which all its values are found equal.

        For small values, such as the start indices that `partition_id` leads to,
        which would make everything computed from them differ by device.
        """
        if not self.holds(x, rank):
            x = self.lift(x, rank)
        for axis in range(self.rank):
            if x.shape[axis] > 1 and _ends_alike(x, axis):
                first = x[(slice(None),) * axis + (slice(0, 1),)]
                if bool(same_values(x, first).all()):
                    x = first
        return x

    def linear(self, x: Array, rank: int) -> Array:
        """Return one row a position of those that are here."""
        full = self.spread(x, rank, range(self.rank))
        return full.reshape((prod(self.extents), *full.shape[self.rank :]))

    def gridded(self, x: Array) -> Array:
        """Rows, one a position, with the mesh axes in front."""
        return x.reshape(self.extents + x.shape[1:])
