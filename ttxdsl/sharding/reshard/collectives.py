"""Collectives as data: what each does to a sharding, without any IR.

A collective turns a tensor laid out under one sharding into the same tensor (or its
sum) under another. Each class has the parameters of the `sdy` op of its name; `after`
returns the sharding of the result for an operand's sharding, or raises where the
collective cannot be applied.

Source: the collective ops of the `sdy` dialect.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from ttxdsl.sharding.axes import (
    Axes,
    concatenate_merged,
    lists_overlap,
    subtract,
    total_size,
)
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding

AxesPerDim = tuple[Axes, ...]
"""One list of axes a dimension, each major to minor."""


def without_suffix(axes: Axes, suffix: Axes, mesh: Mesh) -> Axes:
    """`axes` without the minor-most `suffix`, which may begin inside an axis.

    Raises:
        ValueError: if `axes` does not end in `suffix`.
    """
    rest = list(axes)
    for axis in reversed(suffix):
        last = rest.pop() if rest else None
        if last is None or not axis.is_suffix_of(last, mesh):
            wanted = ", ".join(str(axis) for axis in suffix)
            given = ", ".join(str(axis) for axis in axes)
            raise ValueError(f"{{{wanted}}} is not a suffix of {{{given}}}")
        major = last.prefix_without(axis)
        if major is not None:
            rest.append(major)
    return tuple(rest)


def suffix_behind(prefix: Axes, axes: Axes, mesh: Mesh) -> Axes:
    """Return the rest of `axes` after a prefix, which may end inside an axis."""
    rest = axes[len(prefix) :]
    if prefix and prefix[-1] != axes[len(prefix) - 1]:
        minor = axes[len(prefix) - 1].suffix_without(prefix[-1], mesh)
        return rest if minor is None else (minor, *rest)
    return rest


def _closed(
    before: TensorSharding, axes_per_dim: Sequence[Axes], unreduced: Axes | None = None
) -> TensorSharding:
    """Closed dimensions with these axes on the mesh that `before` names."""
    kept = before.unreduced if unreduced is None else unreduced
    after = TensorSharding.closed(before.mesh, axes_per_dim).with_unreduced(
        kept, before.reduction
    )
    for axis, other in combinations(after.all_axes, 2):
        if axis.overlaps(other) or not axis.can_coexist(other):
            raise ValueError(f"axes {axis} and {other} cannot both be used in {after}")
    return after


@dataclass(frozen=True, slots=True)
class AllGather:
    """Removes `axes`, a suffix of each dimension's axes, from the sharding."""

    axes: AxesPerDim

    def after(self, before: TensorSharding, mesh: Mesh) -> TensorSharding:
        """Return the sharding of the result.

        Raises:
            ValueError: if the axes are not the minor-most ones of their dimension.
        """
        pairs = zip(before.axes_per_dim, self.axes, strict=True)
        return _closed(before, [without_suffix(old, new, mesh) for old, new in pairs])


@dataclass(frozen=True, slots=True)
class AllSlice:
    """Each dimension is split further along `axes`; no communication."""

    axes: AxesPerDim

    def after(self, before: TensorSharding, mesh: Mesh) -> TensorSharding:
        """Return the sharding of the result.

        Raises:
            ValueError: if an axis already shards the tensor or is unreduced.
        """
        pairs = zip(before.axes_per_dim, self.axes, strict=True)
        return _closed(before, [concatenate_merged(a, b, mesh) for a, b in pairs])


@dataclass(frozen=True, slots=True)
class AllToAllParam:
    """`axes` stop sharding `src_dim` and go on sharding `tgt_dim`."""

    axes: Axes
    src_dim: int
    tgt_dim: int


@dataclass(frozen=True, slots=True)
class AllToAll:
    """Axes move between pairs of dimensions; no dimension is in two moves."""

    moves: tuple[AllToAllParam, ...]

    def after(self, before: TensorSharding, mesh: Mesh) -> TensorSharding:
        """Return the sharding of the result.

        Raises:
            ValueError: if the axes are not the minor-most ones of the source.
        """
        dims = list(before.axes_per_dim)
        for move in self.moves:
            source, target = move.src_dim, move.tgt_dim
            dims[source] = without_suffix(dims[source], move.axes, mesh)
            dims[target] = concatenate_merged(dims[target], move.axes, mesh)
        return _closed(before, dims)


@dataclass(frozen=True, slots=True)
class CollectivePermute:
    """Every device sends its shard to one other: axes change, shard sizes do not.

    `mesh` names the mesh afterwards: it may order devices differently.
    """

    axes: AxesPerDim
    mesh: str | Mesh

    def after(self, before: TensorSharding, mesh: Mesh) -> TensorSharding:
        """Return the sharding of the result.

        Raises:
            ValueError: if a dimension would be split into more or fewer parts.
        """
        for dim, (old, new) in enumerate(
            zip(before.axes_per_dim, self.axes, strict=True)
        ):
            if total_size(old, mesh) != total_size(new, mesh):
                raise ValueError(
                    f"a permute cannot change how many shards dimension {dim} has: "
                    f"{total_size(old, mesh)} != {total_size(new, mesh)}"
                )
        return _closed(before.with_mesh(self.mesh), self.axes)


@dataclass(frozen=True, slots=True)
class AllReduce:
    """Partial results along `axes` are combined; every device gets the whole."""

    axes: Axes

    def after(self, before: TensorSharding, mesh: Mesh) -> TensorSharding:
        """Return the sharding of the result.

        Raises:
            ValueError: if one of the axes shards the tensor.
        """
        if lists_overlap(self.axes, before.sharding_axes):
            raise ValueError(f"reduced axes shard the tensor: {before}")
        left = subtract(before.unreduced, self.axes, mesh)
        return _closed(before, before.axes_per_dim, left)


@dataclass(frozen=True, slots=True)
class ReduceScatter:
    """Partial results along `axes` are combined and split along their dimension."""

    axes: AxesPerDim

    def after(self, before: TensorSharding, mesh: Mesh) -> TensorSharding:
        """Return the sharding of the result.

        Raises:
            ValueError: if one of the axes shards the tensor already.
        """
        flat = tuple(axis for axes in self.axes for axis in axes)
        reduced = AllReduce(flat).after(before, mesh)
        return AllSlice(self.axes).after(reduced, mesh)


Collective = (
    AllGather | AllSlice | AllToAll | CollectivePermute | AllReduce | ReduceScatter
)
"""Any of the collectives."""
