"""Meshes, dimension shardings and tensor shardings as plain immutable values.

These are the payload of the `sdy` attributes: `TensorShardingAttr.data` is a
`TensorSharding`, so that theory and IR share one truth.

Source: Shardy's `MeshAttr`, `DimensionShardingAttr` and `TensorShardingAttr`; the
sharding representation document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from ttxdsl.sharding.axes import Axes, AxisRef, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.text import symbol


@dataclass(frozen=True, slots=True)
class DimSharding:
    """The axes that shard one dimension, major to minor.

    An open dimension (`closed` is False, printed with `?`) may be sharded further
    by propagation. A lower `priority` number propagates earlier; None is 0.
    """

    axes: tuple[AxisRef, ...] = ()
    closed: bool = True
    priority: int | None = None

    @property
    def priority_or_default(self) -> int:
        """The priority, 0 if none is given."""
        return 0 if self.priority is None else self.priority

    def sharded_size(self, mesh: Mesh) -> int:
        """Into how many shards the dimension is split."""
        return total_size(self.axes, mesh)

    def with_axes(self, axes: Axes) -> DimSharding:
        """Return the same openness and priority with other axes.

        Closed and without axes it has nothing left to propagate, so that it loses its
        priority: the dialect refuses one there.
        """
        priority = None if self.closed and not axes else self.priority
        return DimSharding(axes, self.closed, priority)

    def closed_like(self) -> DimSharding:
        """The same axes and priority, closed; without axes there is no priority."""
        return DimSharding(self.axes, True, self.priority if self.axes else None)

    def without_priority(self) -> DimSharding:
        """Return the same axes and openness, no priority."""
        return DimSharding(self.axes, self.closed)

    def __str__(self) -> str:
        """Shardy's text, for example `{"x", "y":(1)2, ?}p1`."""
        parts = [str(axis) for axis in self.axes]
        if not self.closed:
            parts.append("?")
        priority = "" if self.priority is None else f"p{self.priority}"
        return f"{{{', '.join(parts)}}}{priority}"


OPEN_DIM = DimSharding(closed=False)
"""Not sharded, and propagation may shard it."""

CLOSED_DIM = DimSharding()
"""Not sharded, and propagation may not shard it."""


class ReductionKind(Enum):
    """The reduction that makes a value of the devices' parts along unreduced axes.

    Members are in the order of the numbers of Shardy's `ReductionOp`; only jaxlib newer
    than 0.10 knows others than sums.
    """

    SUM = "sum"
    MAX = "max"
    MIN = "min"

    @property
    def is_idempotent(self) -> bool:
        """Whether a value may be counted several times."""
        return self is not ReductionKind.SUM


@dataclass(frozen=True, slots=True)
class TensorSharding:
    """The layout of a tensor over a mesh, one `DimSharding` a dimension.

    `mesh` is the symbol name of an `sdy.mesh` or an inlined `Mesh`. Axes in
    `replicated` may not shard further; along axes in `unreduced` each device
    holds a part of the result of `reduction`, which is a sum where there are no such
    axes.
    """

    mesh: str | Mesh
    dims: tuple[DimSharding, ...]
    replicated: tuple[AxisRef, ...] = ()
    unreduced: tuple[AxisRef, ...] = ()
    reduction: ReductionKind = ReductionKind.SUM

    @staticmethod
    def fully_open(mesh: str | Mesh, rank: int) -> TensorSharding:
        """Return a sharding with all dimensions open, like a missing attribute."""
        return TensorSharding(mesh, (OPEN_DIM,) * rank)

    @staticmethod
    def fully_closed(mesh: str | Mesh, rank: int) -> TensorSharding:
        """Sharded by nothing, every dimension closed: replicated for good."""
        return TensorSharding(mesh, (CLOSED_DIM,) * rank)

    @staticmethod
    def closed(
        mesh: str | Mesh, axes_per_dim: Iterable[Axes], unreduced: Axes = ()
    ) -> TensorSharding:
        """Return closed dimensions with the given axes, without replicated axes."""
        dims = tuple(DimSharding(axes) for axes in axes_per_dim)
        return TensorSharding(mesh, dims, (), unreduced)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dims)

    @property
    def axes_per_dim(self) -> tuple[Axes, ...]:
        """The axes that shard each dimension."""
        return tuple(dim.axes for dim in self.dims)

    @property
    def sharding_axes(self) -> Axes:
        """The axes that shard some dimension, in order of dimensions."""
        return tuple(axis for dim in self.dims for axis in dim.axes)

    @property
    def all_axes(self) -> Axes:
        """The axes named anywhere: in dimensions, replicated, unreduced."""
        return self.sharding_axes + self.replicated + self.unreduced

    @property
    def is_replicated(self) -> bool:
        """Whether no dimension is sharded and nothing is unreduced.

        Every device then holds the whole tensor, open or closed.
        """
        return not self.unreduced and not any(dim.axes for dim in self.dims)

    @property
    def names_no_axes(self) -> bool:
        """Whether no axis appears at all, not even as replicated or unreduced."""
        return self.is_replicated and not self.replicated

    @property
    def is_fully_closed(self) -> bool:
        """Whether every dimension is closed."""
        return all(dim.closed for dim in self.dims)

    def sharded_size(self, mesh: Mesh) -> int:
        """Into how many shards the tensor is split, over all dimensions."""
        return total_size(self.sharding_axes, mesh)

    def same_layout(self, other: TensorSharding | None) -> bool:
        """Whether each device holds the same data under both, None being replicated.

        Openness, priorities and explicitly replicated axes do not matter.
        """
        if other is None:
            return self.is_replicated
        if self.is_replicated or other.is_replicated:
            return self.is_replicated and other.is_replicated
        return (
            self.mesh == other.mesh
            and self.same_unreduced(other)
            and self.axes_per_dim == other.axes_per_dim
        )

    def same_unreduced(self, other: TensorSharding) -> bool:
        """Whether parts of results lie along the same axes, and join alike."""
        return self.unreduced == other.unreduced and self.reduction is other.reduction

    def with_dim(self, index: int, dim: DimSharding) -> TensorSharding:
        """Return the same with one dimension replaced."""
        return self.with_dims((*self.dims[:index], dim, *self.dims[index + 1 :]))

    def with_dims(self, dims: Sequence[DimSharding]) -> TensorSharding:
        """Return the same with all dimensions replaced."""
        return replace(self, dims=tuple(dims))

    def with_mesh(self, mesh: str | Mesh) -> TensorSharding:
        """Return the same sharding over another mesh, or another name of it."""
        return replace(self, mesh=mesh)

    def with_replicated(self, axes: Axes) -> TensorSharding:
        """Return the same with other explicitly replicated axes."""
        return replace(self, replicated=axes)

    def with_unreduced(
        self, axes: Axes, reduction: ReductionKind | None = None
    ) -> TensorSharding:
        """Return the same sharding with other unreduced axes and their reduction."""
        kept = (reduction or self.reduction) if axes else ReductionKind.SUM
        return replace(self, unreduced=axes, reduction=kept)

    def map_axes(self, change: Callable[[Axes], Axes]) -> TensorSharding:
        """The same with `change` of the axes of each dimension, and of the others."""
        return (
            self.with_dims([dim.with_axes(change(dim.axes)) for dim in self.dims])
            .with_replicated(change(self.replicated))
            .with_unreduced(change(self.unreduced))
        )

    def closed_like(self) -> TensorSharding:
        """Return the same layout with every dimension closed and no replicated axes."""
        dims = tuple(dim.closed_like() for dim in self.dims)
        return replace(self, dims=dims, replicated=())

    def without_priorities(self) -> TensorSharding:
        """Return the same with no priorities."""
        return self.with_dims([dim.without_priority() for dim in self.dims])

    def even_shape(self, shape: Sequence[int], mesh: Mesh) -> tuple[int, ...]:
        """The least shape from `shape` up that the axes divide; dynamic sizes stay."""
        counts = (dim.sharded_size(mesh) for dim in self.dims)
        return tuple(
            size if size < 0 else -(-size // count) * count
            for size, count in zip(shape, counts, strict=True)
        )

    def local_shape(
        self, shape: Sequence[int], mesh: Mesh, *, pad: bool = False
    ) -> tuple[int, ...]:
        """Return the shape of one device's shard of a tensor of `shape`.

        Args:
            shape: the global shape; negative sizes are dynamic and stay.
            mesh: the mesh that `self.mesh` names.
            pad: round uneven shards up (all but the last devices' are full)
                instead of refusing them.

        Raises:
            ValueError: if the rank differs, or axes do not divide a dimension and
                `pad` is not set; it names the dimension, the axes and the sizes.
        """
        self._check_rank(shape)
        local: list[int] = []
        for index, (size, dim) in enumerate(zip(shape, self.dims, strict=True)):
            shards = dim.sharded_size(mesh)
            if size >= 0 and size % shards and not pad:
                axes = ", ".join(f"{axis}={axis.size_in(mesh)}" for axis in dim.axes)
                raise ValueError(
                    f"dimension {index} of size {size} is not divisible by {shards}, "
                    f"the product of its axes {{{axes}}}"
                )
            local.append(size if size < 0 else -(-size // shards))
        return tuple(local)

    def shard_index(self, position: Sequence[int], mesh: Mesh) -> tuple[int, ...]:
        """Return the shard of each dimension that the device at a mesh position holds.

        Args:
            position: one coordinate a mesh axis, in the order of the mesh.
            mesh: the mesh that `self.mesh` names.

        Returns:
            One index a dimension, counting its shards from 0.
        """
        index: list[int] = []
        for dim in self.dims:
            shard = 0
            for axis in dim.axes:
                coordinate = _coordinate_along(axis, position, mesh)
                shard = shard * axis.size_in(mesh) + coordinate
            index.append(shard)
        return tuple(index)

    def shard_slices(
        self, position: Sequence[int], shape: Sequence[int], mesh: Mesh
    ) -> tuple[slice, ...]:
        """Return the part of a tensor of global `shape` that a device holds.

        Uneven shards are the padded ones of `local_shape(…, pad=True)`, cut at the
        end of the tensor; they may be empty.
        """
        local = self.local_shape(shape, mesh, pad=True)
        shards = self.shard_index(position, mesh)
        return tuple(
            slice(min(shard * part, size), min((shard + 1) * part, size))
            for shard, part, size in zip(shards, local, shape, strict=True)
        )

    def __str__(self) -> str:
        """Shardy's text, for example `<@mesh, [{"x"}, {?}], replicated={"y"}>`."""
        mesh = symbol(self.mesh) if isinstance(self.mesh, str) else f"mesh{self.mesh}"
        text = f"<{mesh}, [{', '.join(str(dim) for dim in self.dims)}]"
        function = "" if self.reduction is ReductionKind.SUM else self.reduction.value
        for label, axes in (
            ("replicated=", self.replicated),
            (f"unreduced={function}", self.unreduced),
        ):
            if axes:
                text += f", {label}{{{', '.join(str(axis) for axis in axes)}}}"
        return text + ">"

    def _check_rank(self, shape: Sequence[int]) -> None:
        if len(shape) != self.rank:
            raise ValueError(
                f"sharding {self} has {self.rank} dimensions, the tensor {len(shape)}"
            )


def _coordinate_along(axis: AxisRef, position: Sequence[int], mesh: Mesh) -> int:
    """Return the coordinate of a mesh position along an axis or sub-axis."""
    coordinate = position[mesh.axis_index(axis.name)]
    if axis.size is None:
        return coordinate
    minor = mesh.axis_size(axis.name) // (axis.pre_size * axis.size)
    return coordinate // minor % axis.size
