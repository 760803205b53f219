"""Between whole values and the parts of them that the devices of a mesh hold.

A part is a view where it can be: splitting a dimension along an axis of the mesh is
another way to step through the same memory.

Source: DESIGN.md section 7.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import prod

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.interpreters.kernels.contraction import is_apart
from ttxdsl.interpreters.kernels.reduction import AllReducer, Reducer
from ttxdsl.interpreters.mesh.axes import (
    Array,
    AxisAtoms,
    Dims,
    MeshAxes,
    bits_of,
    layout_of,
    same_values,
)
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import indices_along
from ttxdsl.sharding.spec import ReductionKind

_COMBINE = {
    kind: AllReducer(Reducer.named(name))
    for kind, name in (
        (ReductionKind.SUM, "add"),
        (ReductionKind.MAX, "maximum"),
        (ReductionKind.MIN, "minimum"),
    )
}
"""The reductions of partial values, by kind."""


def settled(x: Array, lead: int) -> Array:
    """Return `x` with each device's value contiguous, copied if needed.

    NumPy's order of additions depends on an array's strides: in this form it is the
    same for a device whatever the mesh. Values that broadcast over devices are not
    copied.
    """
    once = _once(x)
    span, apart = x.itemsize, True
    for axis in reversed(range(x.ndim)):
        size, stride = once.shape[axis], once.strides[axis]
        if size > 1:
            apart &= stride == span if axis >= lead else stride >= span
        span *= size if axis >= lead else 1
    if apart:
        return x
    return copied(x)


def _once(x: Array) -> Array:
    """Return a view of `x` without broadcast dimensions."""
    return x[tuple(slice(0, 1) if step == 0 else slice(None) for step in x.strides)]


def copied(x: Array) -> Array:
    """Return a copy, in which what is repeated is not."""
    copy = np.array(_once(x), order="C")
    return copy if copy.shape == x.shape else np.broadcast_to(copy, x.shape)


_Refs = tuple[AxisRef, ...]


@dataclass(frozen=True, slots=True)
class _Split:
    """The atoms of a mesh by what they do with a value.

    Attributes:
        atoms: the axes of the mesh, cut.
        used: for each dimension the atoms that split it, major first.
        summed: those along which devices hold partial values, in order.
    """

    atoms: AxisAtoms
    used: tuple[tuple[int, ...], ...]
    splitting: frozenset[int]
    summed: tuple[int, ...]


@lru_cache(maxsize=1 << 12)
def _split_of(
    axes: tuple[tuple[str, int], ...], dims: tuple[_Refs, ...], unreduced: _Refs
) -> _Split:
    atoms = layout_of(axes, (*chain.from_iterable(dims), *unreduced))
    used = tuple(tuple(atom for ref in d for atom in atoms.runs[ref]) for d in dims)
    summed = tuple(chain.from_iterable(atoms.runs[ref] for ref in unreduced))
    return _Split(atoms, used, frozenset(chain.from_iterable(used)), summed)


@dataclass(frozen=True, slots=True)
class _ShardViews:
    """The devices' parts of values of one shape, as views of these.

    Attributes:
        shape: the shape with every dimension cut in its parts; without the atoms that
            take one of the parts, unless devices already hold values of their own.
        diagonals: pairs of such an atom and the parts that it takes.
        order: of the dimensions then: the atoms, and one part's.
    """

    split: _Split
    shape: tuple[int, ...]
    diagonals: tuple[tuple[int, int], ...]
    order: tuple[int, ...]


@lru_cache(maxsize=1 << 12)
def _cut_of(
    axes: tuple[tuple[str, int], ...],
    dims: tuple[_Refs, ...],
    unreduced: _Refs,
    shape: tuple[int, ...],
) -> _ShardViews:
    """Return the cut of values of a shape, whose first dimensions are the axes."""
    split = _split_of(axes, dims, unreduced)
    sizes, extents = split.atoms.sizes, split.atoms.extents(shape[: len(axes)])
    cut: dict[object, int] = {
        ("atom", atom): extent
        for atom, extent in enumerate(extents)
        if extent > 1 or atom not in split.splitting
    }
    for dim, (refs, used, size) in enumerate(
        zip(dims, split.used, shape[len(axes) :], strict=True)
    ):
        parts = prod(sizes[atom] for atom in used)
        if size % parts:
            raise InterpretationError(
                f"dimension {dim} of size {size} is not divisible by the {parts} "
                f"parts that {{{', '.join(map(str, refs))}}} makes of it"
            )
        cut.update((("part", atom), sizes[atom]) for atom in used)
        cut["local", dim] = size // parts
    there, diagonals = list(cut), list[tuple[int, int]]()
    for atom in sorted(split.splitting):
        own, part = ("atom", atom), ("part", atom)
        if own in cut:
            diagonals.append((there.index(own), there.index(part)))
            there = [key for key in there if key not in (own, part)] + [part]
    wanted = [
        ("part" if atom in split.splitting else "atom", atom)
        for atom in range(len(sizes))
    ]
    wanted += [("local", dim) for dim in range(len(dims))]
    order = tuple(map(there.index, wanted))
    return _ShardViews(split, tuple(cut.values()), tuple(diagonals), order)


@dataclass(frozen=True)
class MeshShards(MeshAxes):
    """A mesh that splits values into shards and puts these together again."""

    def shard(self, x: Array, dims: Dims, unreduced: Sequence[AxisRef] = ()) -> Array:
        """Return every device's part of `x`, whose dimensions `dims` splits.

        Along `unreduced` axes the first device holds the value and the others zero,
        so that the partial values sum to it. Axes that no reference names keep their
        extent.

        Raises:
            InterpretationError: a dimension that its axes do not divide.
        """
        x = self.lift(x, len(dims))
        cut = _cut_of(self.axes, tuple(map(tuple, dims)), tuple(unreduced), x.shape)
        y = x.reshape(cut.shape)
        for own, part in cut.diagonals:
            y = np.diagonal(y, 0, own, part)
        y = y.transpose(cut.order)
        y.flags.writeable = False
        atoms = cut.split.atoms
        for atom in cut.split.summed:
            here = np.arange(atoms.sizes[atom]) == 0
            here = here.reshape((-1,) + (1,) * (y.ndim - atom - 1))
            y = np.where(here, y, np.zeros((), y.dtype))
        if len(atoms.sizes) > self.rank:
            y = self._merge(y, atoms)
        # a view is what products take best: they become one for all devices
        return settled(y, self.rank) if is_apart() else y

    def _merge(self, y: Array, layout: AxisAtoms) -> Array:
        """Leading atoms back to leading axes."""
        count = len(layout.sizes)
        whole = {
            axis for axis, n in zip(layout.axis_of, y.shape, strict=False) if n > 1
        }
        lead = [size if axis in whole else 1 for axis, size in enumerate(self.sizes)]
        wide, local = layout.extents(lead), y.shape[count:]
        return np.broadcast_to(y, (*wide, *local)).reshape((*lead, *local))

    def unshard(
        self,
        x: Array,
        dims: Dims,
        unreduced: Sequence[AxisRef] = (),
        axes: Iterable[str] | None = None,
        reduction: ReductionKind = ReductionKind.SUM,
    ) -> Array:
        """Return the whole value whose parts the devices hold, extent 1 along `axes`.

        Args:
            dims: how they split the whole one.
            unreduced: axes whose partial values are to be combined.
            axes: the axes to leave (all of the mesh unless given). Along those that
                split nothing, all devices must hold the same value.
            reduction: how partial values are combined.

        Raises:
            ReplicaMismatchError: they do not.
        """
        x = self.lift(x, len(dims))
        leaving = self.names if axes is None else frozenset(axes)
        split = _split_of(self.axes, tuple(map(tuple, dims)), tuple(unreduced))
        layout = split.atoms
        atoms, axis_of = layout.sizes, layout.axis_of
        y = x.reshape((*layout.extents(x.shape[: self.rank]), *x.shape[self.rank :]))
        for atom in range(len(atoms)):
            if atom in split.splitting or self.names[axis_of[atom]] not in leaving:
                continue
            if atom in split.summed:
                wide = list(y.shape)
                wide[atom] = atoms[atom]
                y = _COMBINE[reduction](np.broadcast_to(y, wide), (atom,))
            elif y.shape[atom] > 1:
                y = self._agreed(y, atom, layout)
        wide = list(y.shape)
        for atom in split.splitting:
            wide[atom] = atoms[atom]
        if y.shape != (*wide,):
            y = np.broadcast_to(y, wide)
        order = [atom for atom in range(len(atoms)) if atom not in split.splitting]
        shape = [1] * self.rank
        for atom in order:
            shape[axis_of[atom]] *= wide[atom]
        for local, run in enumerate(split.used, len(atoms)):
            order += [*run, local]
            shape.append(prod([wide[at] for at in run]) * wide[local])
        return y.transpose(order).reshape(shape)

    def whole(
        self,
        x: Array,
        dims: Dims,
        unreduced: Sequence[AxisRef] = (),
        reduction: ReductionKind = ReductionKind.SUM,
    ) -> Array | Scattered:
        """Return the whole value, without leading dimensions; see `unshard`."""
        y = self.unshard(x, dims, unreduced, reduction=reduction)
        return y.reshape(y.shape[self.rank :])

    def _agreed(self, y: Array, atom: int, layout: AxisAtoms) -> Array:
        """Return the one value along `atom`, or an error if there are several."""
        first = y[(slice(None),) * atom + (slice(0, 1),)]
        if bool((bits_of(y) == bits_of(first)).all()):
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
        self, at: Sequence[int | np.intp], layout: AxisAtoms
    ) -> dict[str, int]:
        coordinates = dict.fromkeys(self.names, 0)
        for index, size, axis in zip(at, layout.sizes, layout.axis_of, strict=False):
            name = self.names[axis]
            coordinates[name] = coordinates[name] * size + int(index)
        return coordinates

    # shards by table

    def place(self, x: Array, counts: Sequence[int], part_of: Sequence[int]) -> Array:
        """Return every device's part of `x`, which a table says.

        Args:
            counts: how many parts each dimension is split in, evenly.
            part_of: for each position the number of its part, row-major over `counts`.
        """
        shape: list[int] = []
        for size, parts in zip(x.shape, counts, strict=True):
            shape += [parts, size // parts]
        order = (*range(0, len(shape), 2), *range(1, len(shape), 2))
        parts = x.reshape(shape).transpose(order)
        grid = self._same_along(self.here(np.array(part_of)))
        return parts[np.unravel_index(grid, tuple(counts))] if counts else parts

    def _same_along(self, grid: Array) -> Array:
        """Return a table over the mesh with extent 1 along axes where it is constant."""
        for axis in range(self.rank):
            first = grid.take([0], axis)
            if bool((grid == first).all()):
                grid = first
        return grid

    def parts_of(self, dims: Dims) -> tuple[int, ...]:
        """Return for each position the number of the part that `shard` gives it."""
        refs = tuple(ref for axes in dims for ref in axes)
        return indices_along(Mesh(self.axes), refs)

    def first_summands(self, x: Array, rank: int, summand_of: Sequence[int]) -> Array:
        """Return the value where `summand_of` is 0, and zero on the other devices."""
        first = self._same_along(self.here(np.array(summand_of) == 0))
        first = first.reshape((*first.shape, *(1,) * rank))
        return np.where(first, self.lift(x, rank), np.zeros((), x.dtype))

    def collect(
        self,
        x: Array,
        counts: Sequence[int],
        part_of: Sequence[int],
        summand_of: Sequence[int] = (),
    ) -> Array | Scattered:
        """Return the whole value of which devices hold the parts that `place` gave them.

        Args:
            counts: how many parts each dimension is split in, evenly.
            part_of: for each position the number of its part, row-major over `counts`.
            summand_of: for each position the number of the summand of its part that
                it holds, from 0; nothing to be summed unless given.

        Raises:
            ReplicaMismatchError: devices hold different values of one part.
            InterpretationError: a summand of a part that no device holds.
        """
        lines = self.linear(x, len(counts))
        summands = max(summand_of, default=0) + 1
        table = np.array(part_of) * summands
        if summand_of:
            table += np.array(summand_of)
        held, holder = np.unique(table, return_index=True)
        if len(held) != prod(counts) * summands:
            raise InterpretationError("no device holds one of the summands of a part")
        parts = lines[holder]
        same = same_values(lines, parts[table])
        if not same.all():
            at = np.unravel_index(int(np.argmin(same)), same.shape)
            other = int(holder[table[at[0]]])
            where = tuple(int(i) for i in at[1:])
            raise ReplicaMismatchError(
                self.coordinates(int(at[0])),
                where,
                lines[at],
                lines[(other, *where)],
                self.coordinates(other),
            )
        if summands > 1:
            parts = parts.reshape((len(parts) // summands, summands, *parts.shape[1:]))
            parts = _COMBINE[ReductionKind.SUM](parts, (1,))[:, 0]
        local = parts.shape[1:]
        spread = parts.reshape((*counts, *local))
        count = len(counts)
        order = [d for dim in range(count) for d in (dim, count + dim)]
        shape = [n * size for n, size in zip(counts, local, strict=True)]
        return spread.transpose(order).reshape(shape)
