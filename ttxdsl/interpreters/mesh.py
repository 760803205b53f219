"""Values on a mesh of devices, and the collectives on them, in plain NumPy.

A value on all devices is one array: one leading dimension a mesh axis, then the
local shape. A mesh axis along which every device holds the same value has extent 1
there, by construction, so that replicated work is done once and NumPy's broadcasting
is the SPMD execution. An array without leading dimensions at all is the same value
everywhere. `DeviceMesh` moves, splits and reduces the leading dimensions; no function
here loops over devices or elements.

Positions number the places of the mesh row-major; process ids (`device_ids`) are what
StableHLO's replica groups name. Process `p` is replica `p // num_partitions` and
partition `p % num_partitions`.

Source: DESIGN.md section 7; StableHLO specification, "Collective ops".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.interpreters.mismatch import ReplicaMismatchError
from ttxdsl.sharding.axes import AxisRef

Array = NDArray[Any]
Groups = tuple[tuple[int, ...], ...]
"""One tuple of process ids (or positions) a group."""

Dims = Sequence[Sequence[AxisRef]]
"""For each tensor dimension the axes that split it, major to minor."""

Reduce = Callable[[Array, tuple[int, ...]], Array]
"""Reduces an array over some of its axes, keeping them with extent 1."""

Strategy = Literal[
    "cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_ids"
]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Mesh axes cut into atoms, so that every sub-axis is a run of whole atoms."""

    atoms: tuple[tuple[int, ...], ...]
    """Sizes of the atoms of each axis, major to minor."""
    runs: dict[AxisRef, tuple[int, ...]]
    """The atoms of each reference, numbered through all axes."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(size for axis in self.atoms for size in axis)

    @property
    def axis_of(self) -> tuple[int, ...]:
        return tuple(i for i, axis in enumerate(self.atoms) for _ in axis)

    def extents(self, lead: Sequence[int]) -> list[int]:
        """Extents of the atoms of an array whose leading extents are `lead`."""
        return [
            size if lead[i] > 1 else 1
            for i, axis in enumerate(self.atoms)
            for size in axis
        ]


@cache
def _layout(axes: tuple[tuple[str, int], ...], refs: tuple[AxisRef, ...]) -> _Layout:
    sizes = dict(axes)
    cuts: dict[str, set[int]] = {name: {1, size} for name, size in axes}
    for ref in refs:
        if ref.name not in sizes:
            raise InterpretationError(
                f'axis "{ref.name}" is not one of the mesh: {", ".join(sizes) or "()"}'
            )
        if ref.size is not None:
            cuts[ref.name] |= {ref.pre_size, ref.pre_size * ref.size}
    atoms: list[tuple[int, ...]] = []
    starts: dict[str, dict[int, int]] = {}
    count = 0
    for name, _ in axes:
        points = sorted(cuts[name])
        steps: list[int] = []
        starts[name] = {points[0]: count}
        for low, high in pairwise(points):
            if high % low:
                raise InterpretationError(
                    f'sub-axes of "{name}" do not nest: cuts at {low} and {high}'
                )
            steps.append(high // low)
            starts[name][high] = count + len(steps)
        # an axis of size one still is one (leading) dimension
        steps = steps or [1]
        count += len(steps)
        atoms.append(tuple(steps))
    runs: dict[AxisRef, tuple[int, ...]] = {}
    for ref in refs:
        at = starts[ref.name]
        if sizes[ref.name] == 1:
            runs[ref] = (at[1],)
        elif ref.size is None:
            runs[ref] = tuple(range(at[1], at[sizes[ref.name]]))
        else:
            runs[ref] = tuple(range(at[ref.pre_size], at[ref.pre_size * ref.size]))
    return _Layout(tuple(atoms), runs)


@cache
def _whole_axes(sizes: tuple[int, ...], groups: Groups) -> tuple[int, ...] | None:
    """The mesh axes, major first, along which `groups` of positions run, if any.

    None when the groups are not exactly the lines along some set of whole axes.
    """
    lengths = {len(group) for group in groups}
    if len(lengths) != 1 or sum(map(len, groups)) != prod(sizes):
        return None
    table: Array = np.array(groups, dtype=np.int64)
    first = np.indices(sizes).reshape(len(sizes), -1)[:, table[0]]
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


def ref_groups(
    axes: tuple[tuple[str, int], ...],
    device_ids: tuple[int, ...],
    refs: Sequence[AxisRef],
) -> Groups:
    """The groups of process ids along axes or sub-axes, the first one major."""
    layout = _layout(axes, tuple(refs))
    chosen = [atom for ref in refs for atom in layout.runs[ref]]
    rest = [atom for atom in range(len(layout.sizes)) if atom not in chosen]
    size = prod(layout.sizes)
    ids = np.array(device_ids or range(size)).reshape(layout.sizes)
    lines = ids.transpose([*rest, *chosen])
    lines = lines.reshape(-1, prod(layout.sizes[atom] for atom in chosen))
    return tuple(tuple(int(i) for i in line) for line in lines)


def _bits(x: Array) -> Array:
    """The same memory as unsigned integers where NumPy has the width."""
    if x.dtype.itemsize in (1, 2, 4, 8):
        return x.view(np.dtype(f"u{x.dtype.itemsize}"))
    return x


def same_values(a: Array, b: Array) -> Array:
    """Elementwise exact equality in which NaN equals NaN."""
    return np.asarray((a == b) | ((a != a) & (b != b)))


@dataclass(frozen=True)
class DeviceMesh:
    """Named axes of devices, and everything that happens along them.

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
        """How many leading dimensions a value has."""
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
    def _process_ids(self) -> Array:
        if self.device_ids:
            return np.array(self.device_ids, dtype=np.int64)
        return np.arange(self.num_devices)

    @cached_property
    def _position_of(self) -> dict[int, int]:
        return {int(process): at for at, process in enumerate(self._process_ids)}

    def coordinates(self, position: int) -> dict[str, int]:
        """The coordinate of a position along each axis, by name."""
        where = np.unravel_index(position, self.sizes) if self.sizes else ()
        return {name: int(at) for name, at in zip(self.names, where, strict=True)}

    def partition_id(self) -> Array:
        """The partition id of every device (ui32, local rank 0, full extents)."""
        ids = self._process_ids
        if self.num_partitions is not None:
            ids = ids % self.num_partitions
        return ids.astype(np.uint32).reshape(self.sizes)

    def replica_id(self) -> Array:
        """The replica id of every device (ui32, local rank 0, no needless extents)."""
        if self.num_partitions is None:
            return np.zeros((1,) * self.rank, np.uint32)
        ids = self._process_ids // self.num_partitions
        return self.compress(ids.astype(np.uint32).reshape(self.sizes), 0)

    # leading dimensions

    def lift(self, x: Array, rank: int) -> Array:
        """`x` with its leading dimensions, of extent 1 where it had none."""
        if x.ndim == rank and self.rank:
            return x.reshape((1,) * self.rank + x.shape)
        lead = x.shape[: x.ndim - rank]
        if len(lead) != self.rank or any(
            extent not in (1, size)
            for extent, size in zip(lead, self.sizes, strict=True)
        ):
            raise InterpretationError(
                f"a value with leading extents {lead} is not one on the mesh {self.sizes}"
            )
        return x

    def spread(self, x: Array, rank: int, axes: Iterable[int]) -> Array:
        """`x`, lifted, with full extent on the given axes (a view)."""
        x = self.lift(x, rank)
        shape = list(x.shape)
        for axis in axes:
            shape[axis] = self.sizes[axis]
        return np.broadcast_to(x, shape)

    def compress(self, x: Array, rank: int) -> Array:
        """`x` with extent 1 on each axis along which all its values are found equal.

        For small values, such as the start indices that `partition_id` leads to,
        which would make everything computed from them differ by device.
        """
        x = self.lift(x, rank)
        for axis in range(self.rank):
            if x.shape[axis] > 1:
                first = x[(slice(None),) * axis + (slice(0, 1),)]
                if bool(same_values(x, first).all()):
                    x = first
        return x

    def _linear(self, x: Array, rank: int) -> Array:
        """One row a position."""
        full = self.spread(x, rank, range(self.rank))
        return full.reshape((self.num_devices, *full.shape[self.rank :]))

    def _gridded(self, x: Array) -> Array:
        return x.reshape(self.sizes + x.shape[1:])

    # shards

    def shard(self, x: Array, dims: Dims, unreduced: Sequence[AxisRef] = ()) -> Array:
        """Every device's part of `x`, whose dimensions `dims` splits.

        Along `unreduced` axes the first device holds the value and the others zero,
        so that the partial values sum to it. Axes that no reference names keep their
        extent.

        Raises:
            InterpretationError: a dimension that its axes do not divide.
        """
        rank = len(dims)
        x = self.lift(x, rank)
        layout = _layout(
            self.axes, (*(ref for refs in dims for ref in refs), *unreduced)
        )
        atoms = layout.sizes
        split_at: dict[int, int] = {}
        local_at: list[int] = []
        shape = layout.extents(x.shape[: self.rank])
        for dim, refs in enumerate(dims):
            used = [atom for ref in refs for atom in layout.runs[ref]]
            parts = prod(atoms[atom] for atom in used)
            size = x.shape[self.rank + dim]
            if size % parts:
                raise InterpretationError(
                    f"dimension {dim} of size {size} is not divisible by the {parts} "
                    f"parts that {{{', '.join(map(str, refs))}}} makes of it"
                )
            for atom in used:
                split_at[atom] = len(shape)
                shape.append(atoms[atom])
            local_at.append(len(shape))
            shape.append(size // parts)
        y = x.reshape(shape)
        new_shape: list[int] = []
        strides: list[int] = []
        for atom in range(len(atoms)):
            extent, stride = y.shape[atom], y.strides[atom]
            if (at := split_at.get(atom)) is not None:
                # a device that already holds its own value takes its part of that
                stride = y.strides[at] + (stride if extent > 1 else 0)
                extent = y.shape[at]
            new_shape.append(extent)
            strides.append(stride)
        for at in local_at:
            new_shape.append(y.shape[at])
            strides.append(y.strides[at])
        # as plain bytes: as_strided does not know the narrow floats of ml_dtypes
        raw = y.view(f"V{y.itemsize}")
        y = as_strided(raw, new_shape, strides, writeable=False).view(y.dtype)
        for ref in unreduced:
            for atom in layout.runs[ref]:
                here = np.arange(atoms[atom]) == 0
                here = here.reshape((-1,) + (1,) * (y.ndim - atom - 1))
                y = np.where(here, y, np.zeros((), y.dtype))
        return self._merge(y, layout)

    def _merge(self, y: Array, layout: _Layout) -> Array:
        """Leading atoms back to leading axes."""
        lead: list[int] = []
        wide: list[int] = []
        at = 0
        for axis in layout.atoms:
            extents = y.shape[at : at + len(axis)]
            at += len(axis)
            whole = any(extent > 1 for extent in extents)
            lead.append(prod(axis) if whole else 1)
            wide.extend(axis if whole else extents)
        local = y.shape[at:]
        return np.broadcast_to(y, (*wide, *local)).reshape((*lead, *local))

    def unshard(
        self,
        x: Array,
        dims: Dims,
        unreduced: Sequence[AxisRef] = (),
        axes: Iterable[str] | None = None,
    ) -> Array:
        """The whole value whose parts the devices hold, extent 1 along `axes`.

        Args:
            x: local values.
            dims: how they split the whole one.
            unreduced: axes whose partial values are to be summed.
            axes: the axes to leave (all of the mesh unless given). Along those that
                split nothing, all devices must hold the same value.

        Raises:
            ReplicaMismatchError: they do not.
        """
        rank = len(dims)
        x = self.lift(x, rank)
        leaving = set(self.names if axes is None else axes)
        layout = _layout(
            self.axes, (*(ref for refs in dims for ref in refs), *unreduced)
        )
        atoms, axis_of = layout.sizes, layout.axis_of
        y = x.reshape((*layout.extents(x.shape[: self.rank]), *x.shape[self.rank :]))
        used = [[atom for ref in refs for atom in layout.runs[ref]] for refs in dims]
        split = {atom for run in used for atom in run}
        summed = {atom for ref in unreduced for atom in layout.runs[ref]}
        for atom in range(len(atoms)):
            if atom in split or self.names[axis_of[atom]] not in leaving:
                continue
            if atom in summed:
                wide = list(y.shape)
                wide[atom] = atoms[atom]
                total = np.broadcast_to(y, wide).sum(axis=atom, keepdims=True)
                y = total.astype(y.dtype)
            elif y.shape[atom] > 1:
                y = self._agreed(y, atom, layout)
        wide = list(y.shape)
        for atom in split:
            wide[atom] = atoms[atom]
        y = np.broadcast_to(y, wide)
        order = [atom for atom in range(len(atoms)) if atom not in split]
        shape = [1] * self.rank
        for atom in order:
            shape[axis_of[atom]] *= y.shape[atom]
        for dim, run in enumerate(used):
            local = len(atoms) + dim
            order += [*run, local]
            shape.append(prod(y.shape[at] for at in (*run, local)))
        return y.transpose(order).reshape(shape)

    def _agreed(self, y: Array, atom: int, layout: _Layout) -> Array:
        """The one value along `atom`, or an error if there are several."""
        first = y[(slice(None),) * atom + (slice(0, 1),)]
        if bool((_bits(y) == _bits(first)).all()):
            return first
        differs = ~same_values(y, first)
        if not differs.any():
            return first
        at = np.unravel_index(int(differs.argmax()), y.shape)
        there = (*at[:atom], 0, *at[atom + 1 :])
        raise ReplicaMismatchError(
            self._coordinates_of_atoms(at, layout),
            tuple(int(i) for i in at[len(layout.sizes) :]),
            y[at],
            y[there],
            self._coordinates_of_atoms(there, layout),
        )

    def _coordinates_of_atoms(
        self, at: Sequence[int | np.intp], layout: _Layout
    ) -> dict[str, int]:
        coordinates: dict[str, int] = {}
        atoms = iter(at)
        for name, axis in zip(self.names, layout.atoms, strict=True):
            index = 0
            for size in axis:
                index = index * size + int(next(atoms))
            coordinates[name] = index
        return coordinates

    # process groups

    def process_groups(self, groups: Groups, strategy: Strategy) -> Groups:
        """The positions in each process group that a collective's `groups` name.

        Where all devices are partitions of one replica, replica ids other than 0 make
        no sense: ids are then read as device ids whatever the strategy, which is how
        partitioned programs are written.

        Raises:
            InterpretationError: an id that no device has, or one named twice.
        """
        groups = tuple(tuple(i for i in group if i >= 0) for group in groups)
        partitions = self.num_partitions or self.num_devices
        replicas = self.num_devices // partitions
        ids = {i for group in groups for i in group}
        if replicas == 1 and ids - {0}:
            strategy = "flattened_ids"
        match strategy:
            case "cross_replica":
                groups = groups or (tuple(range(replicas)),)
                found = [
                    [r * partitions + p for r in group]
                    for group in groups
                    for p in range(partitions)
                ]
            case "cross_partition":
                groups = groups or (tuple(range(partitions)),)
                found = [
                    [r * partitions + p for p in group]
                    for group in groups
                    for r in range(replicas)
                ]
            case "cross_replica_and_partition":
                groups = groups or (tuple(range(replicas)),)
                found = [
                    [r * partitions + p for p in range(partitions) for r in group]
                    for group in groups
                ]
            case "flattened_ids":
                found = groups or [list(range(self.num_devices))]
        try:
            placed = tuple(tuple(self._position_of[i] for i in g) for g in found)
        except KeyError as missing:
            raise InterpretationError(
                f"process {missing.args[0]} is not one of the {self.num_devices} "
                f"devices of the mesh ({', '.join(f'{n}={s}' for n, s in self.axes)})"
            ) from None
        flat = [position for group in placed for position in group]
        if len(set(flat)) != len(flat):
            raise InterpretationError("a process is named twice in the replica groups")
        return placed

    def axis_groups(self, axes: Sequence[int]) -> Groups:
        """The groups of positions along whole axes, the first axis major."""
        rest = [axis for axis in range(self.rank) if axis not in axes]
        lines = np.arange(self.num_devices).reshape(self.sizes)
        lines = lines.transpose([*rest, *axes])
        lines = lines.reshape(-1, prod(self.sizes[axis] for axis in axes))
        return tuple(tuple(int(at) for at in line) for line in lines)

    def _covering(self, groups: Groups) -> Array:
        """`groups` as a table; every device must be in one."""
        if len({len(group) for group in groups}) != 1:
            raise InterpretationError("the process groups differ in size")
        table = np.array(groups, dtype=np.int64)
        if table.size != self.num_devices:
            raise InterpretationError(
                f"the replica groups name {table.size} of {self.num_devices} devices: "
                "the others would have no value"
            )
        return table

    # collectives: `groups` are positions, each group in its order

    def all_reduce(self, x: Array, rank: int, groups: Groups, reduce: Reduce) -> Array:
        """Every device's value reduced over its group."""
        axes = _whole_axes(self.sizes, tuple(tuple(sorted(g)) for g in groups))
        if axes is not None:
            axes = tuple(sorted(axes))
            return reduce(self.spread(x, rank, axes), axes)
        lines = self._linear(x, rank)
        if sum(map(len, groups)) != self.num_devices:
            self._covering(groups)
        result: Array | None = None
        # groups of one size are one array operation
        for size in sorted({len(group) for group in groups}):
            table = np.array([group for group in groups if len(group) == size])
            reduced = reduce(lines[table], (1,))
            if result is None:
                result = np.empty(lines.shape, reduced.dtype)
            result[table] = reduced
        assert result is not None
        return self._gridded(result)

    def all_gather(self, x: Array, rank: int, dim: int, groups: Groups) -> Array:
        """The values of the group's devices, concatenated along `dim`."""
        axes = _whole_axes(self.sizes, groups)
        if axes is not None:
            y = self.spread(x, rank, axes)
            y = np.expand_dims(y, tuple(range(self.rank, self.rank + len(axes))))
            for offset, axis in enumerate(axes):
                y = y.swapaxes(axis, self.rank + offset)
            return self._join(y, self.rank, len(axes), dim)
        table = self._covering(groups)
        gathered = self._join(self._linear(x, rank)[table], 1, 1, dim)
        return self._scattered(gathered[:, None], table)

    @staticmethod
    def _join(y: Array, at: int, count: int, dim: int) -> Array:
        """`count` dimensions at `at` moved before local dimension `dim`, and merged."""
        parts = range(at, at + count)
        y = np.moveaxis(y, parts, range(at + dim, at + dim + count))
        shape = list(y.shape)
        merged = prod(shape[at + dim : at + dim + count + 1])
        shape[at + dim : at + dim + count + 1] = [merged]
        return y.reshape(shape)

    def _scattered(self, rows: Array, table: Array) -> Array:
        """Rows `[group, member or 1, …]` at the positions that the table names."""
        result = np.empty((self.num_devices, *rows.shape[2:]), rows.dtype)
        result[table] = rows
        return self._gridded(result)

    def all_slice(self, x: Array, rank: int, dim: int, groups: Groups) -> Array:
        """Of its own value, each device's part along `dim`: local, no communication."""
        axes = _whole_axes(self.sizes, groups)
        if axes is not None:
            refs: list[list[AxisRef]] = [[] for _ in range(rank)]
            refs[dim] = [AxisRef(self.names[axis]) for axis in axes]
            return self.shard(self.lift(x, rank), refs)
        table = self._covering(groups)
        lines = self._linear(x, rank)
        parts = self._parts(lines[table], dim + 2, table.shape[1])
        # member j keeps part j: the diagonal of (member, part)
        members = np.arange(len(groups[0]))
        own = np.moveaxis(parts, dim + 2, 2)[:, members, members]
        return self._scattered(own, table)

    @staticmethod
    def _parts(y: Array, at: int, parts: int) -> Array:
        """Dimension `at` as (part, within part)."""
        size = y.shape[at]
        if size % parts:
            raise InterpretationError(
                f"a dimension of size {size} cannot be split into {parts} parts"
            )
        return y.reshape((*y.shape[:at], parts, size // parts, *y.shape[at + 1 :]))

    def reduce_scatter(
        self, x: Array, rank: int, dim: int, groups: Groups, reduce: Reduce
    ) -> Array:
        """The group's reduced value, each device keeping its part along `dim`."""
        reduced = self.all_reduce(x, rank, groups, reduce)
        return self.all_slice(reduced, rank, dim, groups)

    def all_to_all(
        self, x: Array, rank: int, split_dim: int, concat_dim: int, groups: Groups
    ) -> Array:
        """Part j along `split_dim` goes to member j, which concatenates what it gets."""
        axes = _whole_axes(self.sizes, groups)
        if axes is not None:
            sizes = [self.sizes[axis] for axis in axes]
            y = self.spread(x, rank, axes)
            y = self._parts(y, self.rank + split_dim, prod(sizes))
            at = self.rank + split_dim
            y = y.reshape((*y.shape[:at], *sizes, *y.shape[at + 1 :]))
            y = np.moveaxis(
                y,
                range(at, at + len(axes)),
                range(self.rank, self.rank + len(axes)),
            )
            for offset, axis in enumerate(axes):
                y = y.swapaxes(axis, self.rank + offset)
            return self._join(y, self.rank, len(axes), concat_dim)
        table = self._covering(groups)
        lines = self._linear(x, rank)[table]
        parts = self._parts(lines, split_dim + 2, table.shape[1])
        # [group, sender, receiver, …] -> [group, receiver, sender, …]
        parts = np.moveaxis(parts, split_dim + 2, 1)
        return self._scattered(self._join(parts, 2, 1, concat_dim), table)

    def collective_permute(
        self, x: Array, rank: int, pairs: Sequence[tuple[int, int]]
    ) -> Array:
        """Each target position gets its source's value, others get zeros."""
        sources = np.full(self.num_devices, -1)
        for source, target in pairs:
            sources[target] = source
        return self._taken(x, rank, sources)

    def collective_broadcast(self, x: Array, rank: int, groups: Groups) -> Array:
        """The value of each group's first device; zeros on devices in no group."""
        sources = np.full(self.num_devices, -1)
        for group in groups:
            sources[list(group)] = group[0]
        return self._taken(x, rank, sources)

    def _taken(self, x: Array, rank: int, sources: Array) -> Array:
        """The value at position `sources[p]` for each position p, zeros for -1."""
        axes = self._axes_that_matter(sources)
        y = self.spread(x, rank, axes)
        if not axes:
            return y if int(sources[0]) >= 0 else np.zeros_like(y)
        grid = sources.reshape(self.sizes)
        line = tuple(slice(None) if a in axes else 0 for a in range(self.rank))
        picked = grid[line].reshape(-1)
        sizes = [self.sizes[axis] for axis in axes]
        places = np.unravel_index(np.maximum(picked, 0), self.sizes)
        rows = np.ravel_multi_index([places[axis] for axis in axes], sizes)
        front = np.moveaxis(y, axes, range(len(axes)))
        rest = front.shape[len(axes) :]
        taken = front.reshape((-1, *rest))[rows]
        taken[picked < 0] = 0
        return np.moveaxis(taken.reshape((*sizes, *rest)), range(len(axes)), axes)

    def _axes_that_matter(self, sources: Array) -> tuple[int, ...]:
        """The axes along which values move or the pattern of the moves differs."""
        if not self.rank:
            return ()
        grid = sources.reshape(self.sizes)
        none = grid < 0
        here = np.indices(self.sizes)
        there = np.stack(np.unravel_index(np.maximum(grid, 0), self.sizes))
        moved = {
            axis
            for axis in range(self.rank)
            if bool(((there[axis] != here[axis]) & ~none).any())
        }
        axes = set(moved)
        for axis in range(self.rank):
            if axis in axes:
                continue
            patterns = [none, *(np.where(none, -1, there[m]) for m in moved)]
            if any(bool((p != p.take([0], axis)).any()) for p in patterns):
                axes.add(axis)
        return tuple(sorted(axes))
