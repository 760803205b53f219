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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.interpreters.kernels.matrices import Operand, Summands
from ttxdsl.interpreters.kernels.reduction import AllReducer
from ttxdsl.interpreters.mesh.axes import (
    Array as Array,
    Groups as Groups,
    same_values as same_values,
    whole_axes,
)
from ttxdsl.interpreters.mesh.mismatch import (
    ReplicaMismatchError as ReplicaMismatchError,
)
from ttxdsl.interpreters.mesh.shards import MeshShards
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import groups_along

Reduce = Callable[[Array, tuple[int, ...]], Array]
"""Reduces an array over some of its axes, keeping them with extent 1."""


@dataclass(frozen=True)
class DeviceMesh(MeshShards):
    """Named axes of devices, and everything that happens along them."""

    # process groups

    def positions_of(self, groups: Groups) -> Groups:
        """Return the positions of the processes in groups.

        Raises:
            InterpretationError: an id that no device has.
        """
        try:
            return tuple(tuple(self._position_of[i] for i in g) for g in groups)
        except KeyError as missing:
            raise InterpretationError(
                f"process {missing.args[0]} is not one of the {self.num_devices} "
                f"devices of the mesh ({', '.join(f'{n}={s}' for n, s in self.axes)})"
            ) from None

    def axis_groups(self, axes: Sequence[int]) -> Groups:
        """Return the groups of positions along whole axes, the first axis major."""
        refs = tuple(AxisRef(self.names[axis]) for axis in axes)
        return groups_along(Mesh(self.axes), refs)

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

    def all_reduce(
        self, x: Operand, rank: int, groups: Groups, reduce: Reduce
    ) -> Array:
        """Return every device's value reduced over its group."""
        axes = whole_axes(self.sizes, tuple(tuple(sorted(g)) for g in groups))
        if isinstance(x, Summands):
            apart = [x.shape[axis] == self.sizes[axis] for axis in axes or ()]
            if axes is not None and all(apart) and isinstance(reduce, AllReducer):
                return reduce(x, axes)
            x = np.asarray(x)
        if axes is not None:
            axes = tuple(sorted(axes))
            return reduce(self.spread(x, rank, axes), axes)
        lines = self.linear(x, rank)
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
        return self.gridded(result)

    def all_gather(self, x: Array, rank: int, dim: int, groups: Groups) -> Array:
        """Return the values of the group's devices, concatenated along `dim`."""
        axes = whole_axes(self.sizes, groups)
        if axes is not None:
            y = self.spread(x, rank, axes)
            y = np.expand_dims(y, tuple(range(self.rank, self.rank + len(axes))))
            for offset, axis in enumerate(axes):
                y = y.swapaxes(axis, self.rank + offset)
            return self._join(y, self.rank, len(axes), dim)
        table = self._covering(groups)
        gathered = self._join(self.linear(x, rank)[table], 1, 1, dim)
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
        return self.gridded(result)

    def all_slice(self, x: Array, rank: int, dim: int, groups: Groups) -> Array:
        """Of its own value, each device's part along `dim`: local, no communication."""
        axes = whole_axes(self.sizes, groups)
        if axes is not None:
            refs: list[list[AxisRef]] = [[] for _ in range(rank)]
            refs[dim] = [AxisRef(self.names[axis]) for axis in axes]
            return self.shard(self.lift(x, rank), refs)
        table = self._covering(groups)
        lines = self.linear(x, rank)
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
        self, x: Operand, rank: int, dim: int, groups: Groups, reduce: Reduce
    ) -> Array:
        """Return each device's part along `dim` of its group's reduced value."""
        reduced = self.all_reduce(x, rank, groups, reduce)
        return self.all_slice(reduced, rank, dim, groups)

    def all_to_all(
        self, x: Array, rank: int, split_dim: int, concat_dim: int, groups: Groups
    ) -> Array:
        """Send part j along `split_dim` to member j; concatenate the received parts."""
        axes = whole_axes(self.sizes, groups)
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
        lines = self.linear(x, rank)[table]
        parts = self._parts(lines, split_dim + 2, table.shape[1])
        # [group, sender, receiver, …] -> [group, receiver, sender, …]
        parts = np.moveaxis(parts, split_dim + 2, 1)
        return self._scattered(self._join(parts, 2, 1, concat_dim), table)

    def ragged_all_to_all(
        self, values: Sequence[Array], rank: int, groups: Groups
    ) -> tuple[Array, str | None]:
        """Slices of rows from each device to the members of its group.

        Args:
            values: the rows to send, those to write into, and four lists of numbers:
                where slices start, their sizes, where the receiver puts them, and the
                sizes of those received. Slices for one member stand in a row.
            rank: of the rows.
            groups: positions.

        Returns:
            What was written into, and the first slice that does not fit, if any.
        """
        self._covering(groups)
        size_of_group = len(groups[0])
        operand, output = (self.linear(x, rank) for x in values[:2])
        starts, sizes, places, received = (
            self.linear(x, 1).astype(np.int64) for x in values[2:]
        )
        result, fault = output.copy(), None
        each, over = divmod(starts.shape[1], size_of_group)
        if over:
            raise InterpretationError(
                f"{starts.shape[1]} slices cannot be shared out to the"
                f" {size_of_group} devices of a group"
            )
        for group in groups:
            # the order in which JAX says that slices are received
            for (to, target), (of, source), at in product(
                enumerate(group), enumerate(group), range(each)
            ):
                start, size, place = (
                    int(numbers[source, to * each + at])
                    for numbers in (starts, sizes, places)
                )
                taken = int(received[target, of * each + at])
                held, room = len(operand[source]), len(result[target])
                first = max(0, -start, -place)
                last = min(size, held - start, room - place)
                if first < last:
                    rows = operand[source, start + first : start + last]
                    result[target, place + first : place + last] = rows
                fits = size == taken >= 0 and (first, last) == (0, size)
                if fault is None and not fits:
                    fault = (
                        f"device {source} sends rows {start} to {start + size} of {held}"
                        f" to device {target}, which takes {taken} from row {place} of"
                        f" {room} on"
                    )
        return self._once_along(self.gridded(result), values, groups), fault

    def _once_along(self, x: Array, values: Sequence[Array], groups: Groups) -> Array:
        """Return a result once along axes on which no value and no group depends."""
        axes = whole_axes(self.sizes, groups)
        idle = [
            axes is not None
            and axis not in axes
            and all(
                value.ndim < self.rank or value.shape[axis] == 1 for value in values
            )
            for axis in range(self.rank)
        ]
        return x[tuple(slice(0, 1) if once else slice(None) for once in idle)]

    def collective_permute(
        self, x: Array, rank: int, pairs: Sequence[tuple[int, int]]
    ) -> Array:
        """Return each target position gets its source's value, others get zeros."""
        sources = np.full(self.num_devices, -1)
        for source, target in pairs:
            sources[target] = source
        return self._taken(x, rank, sources)

    def collective_broadcast(self, x: Array, rank: int, groups: Groups) -> Array:
        """Return the value of each group's first device; zeros on devices in no group."""
        sources = np.full(self.num_devices, -1)
        for group in groups:
            sources[list(group)] = group[0]
        return self._taken(x, rank, sources)

    def _taken(self, x: Array, rank: int, sources: Array) -> Array:
        """Return for each position p the value at `sources[p]`, zeros for -1."""
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
        taken = front.reshape((prod(sizes), *rest))[rows]
        taken[picked < 0] = 0
        return np.moveaxis(taken.reshape((*sizes, *rest)), range(len(axes)), axes)

    def _axes_that_matter(self, sources: Array) -> tuple[int, ...]:
        """Return the axes along which values move or the pattern of moves differs."""
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
