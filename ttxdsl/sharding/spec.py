"""Meshes, dimension shardings and tensor shardings as plain immutable values.

These are the payload of the `sdy` attributes: `TensorShardingAttr.data` is a
`TensorSharding`, so that theory and IR share one truth.

Source: Shardy's `MeshAttr`, `DimensionShardingAttr` and `TensorShardingAttr`; the
sharding representation document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod

from ttxdsl.sharding.axes import Axes, AxisRef, split_mesh_at, total_size
from ttxdsl.sharding.text import quoted, symbol

MOST_DEVICES = 1 << 20
"""Devices of a mesh: replica groups and device orders list them one by one."""

MOST_AXES = 1 << 10
"""Axes of a mesh, nearly all of size one then; they are looked for one by one."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """Named axes with sizes, major first, and an optional explicit device order.

    No axes and no device ids is the empty mesh; no axes and one device id is a
    maximal mesh (everything lives on that device).
    """

    axes: tuple[tuple[str, int], ...]
    device_ids: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether this is a placeholder: no axes, no devices."""
        return not self.axes and not self.device_ids

    @property
    def is_maximal(self) -> bool:
        """Whether everything lives on one named device."""
        return not self.axes and len(self.device_ids) == 1

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The names, major first."""
        return tuple(name for name, _ in self.axes)

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """The sizes, major first: the shape of the array of devices."""
        return tuple(size for _, size in self.axes)

    @property
    def total_size(self) -> int:
        """The number of devices, the product of the axis sizes."""
        return prod(self.axis_sizes)

    def devices(self) -> tuple[int, ...]:
        """The device ids in row-major order of mesh positions."""
        return self.device_ids or tuple(range(self.total_size))

    def has_axis(self, name: str) -> bool:
        """Whether an axis of that name exists."""
        return any(name == axis for axis, _ in self.axes)

    def axis_size(self, name: str) -> int:
        """The size of the axis.

        Raises:
            ValueError: if the mesh has no such axis.
        """
        for axis, size in self.axes:
            if axis == name:
                return size
        raise ValueError(self._no_axis(name))

    def axis_index(self, name: str) -> int:
        """The position of the axis, 0 for the major one.

        Raises:
            ValueError: if the mesh has no such axis.
        """
        for index, (axis, _) in enumerate(self.axes):
            if axis == name:
                return index
        raise ValueError(self._no_axis(name))

    def same_axes(self, other: Mesh) -> bool:
        """Whether the two are equal but for the order of devices."""
        return self.axes == other.axes and self.is_maximal == other.is_maximal

    def without_device_ids(self) -> Mesh:
        """The same axes with devices in their natural order."""
        return Mesh(self.axes)

    def __str__(self) -> str:
        """Shardy's text, for example `<["x"=2, "y"=4]>`."""
        axes = ", ".join(f"{quoted(name)}={size}" for name, size in self.axes)
        ids = ", ".join(str(device) for device in self.device_ids)
        return f"<[{axes}], device_ids=[{ids}]>" if ids else f"<[{axes}]>"

    def _no_axis(self, name: str) -> str:
        return f'unknown axis name: "{name}"; the mesh is {self}'


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
        """The same openness and priority with other axes.

        Closed and without axes it has nothing left to propagate, so that it loses its
        priority: the dialect refuses one there.
        """
        priority = None if self.closed and not axes else self.priority
        return DimSharding(axes, self.closed, priority)

    def closed_like(self) -> DimSharding:
        """The same axes and priority, closed; without axes there is no priority."""
        return DimSharding(self.axes, True, self.priority if self.axes else None)

    def opened_like(self) -> DimSharding:
        """The same axes and priority, open."""
        return DimSharding(self.axes, False, self.priority)

    def without_priority(self) -> DimSharding:
        """The same axes and openness, no priority."""
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


@dataclass(frozen=True, slots=True)
class TensorSharding:
    """How a tensor is laid out over a mesh, one `DimSharding` a dimension.

    `mesh` is the symbol name of an `sdy.mesh` or an inlined `Mesh`. Axes in
    `replicated` may not shard further; along axes in `unreduced` each device
    holds a partial sum.
    """

    mesh: str | Mesh
    dims: tuple[DimSharding, ...]
    replicated: tuple[AxisRef, ...] = ()
    unreduced: tuple[AxisRef, ...] = ()

    @staticmethod
    def fully_open(mesh: str | Mesh, rank: int) -> TensorSharding:
        """Sharded by nothing, every dimension open; what no attribute means."""
        return TensorSharding(mesh, (OPEN_DIM,) * rank)

    @staticmethod
    def fully_closed(mesh: str | Mesh, rank: int) -> TensorSharding:
        """Sharded by nothing, every dimension closed: replicated for good."""
        return TensorSharding(mesh, (CLOSED_DIM,) * rank)

    @staticmethod
    def closed(
        mesh: str | Mesh, axes_per_dim: Iterable[Axes], unreduced: Axes = ()
    ) -> TensorSharding:
        """Closed dimensions with the given axes, nothing explicitly replicated."""
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
            and self.unreduced == other.unreduced
            and self.axes_per_dim == other.axes_per_dim
        )

    def with_dim(self, index: int, dim: DimSharding) -> TensorSharding:
        """The same with one dimension replaced."""
        return self.with_dims((*self.dims[:index], dim, *self.dims[index + 1 :]))

    def with_dims(self, dims: Sequence[DimSharding]) -> TensorSharding:
        """The same with all dimensions replaced."""
        return replace(self, dims=tuple(dims))

    def with_axes_per_dim(self, axes_per_dim: Sequence[Axes]) -> TensorSharding:
        """The same openness and priorities with other axes."""
        return self.map_axes_per_dim(lambda index, _: axes_per_dim[index])

    def map_axes_per_dim(self, change: Callable[[int, Axes], Axes]) -> TensorSharding:
        """The same with the axes of each dimension changed by `change(dim, axes)`."""
        return self.with_dims(
            [
                dim.with_axes(change(index, dim.axes))
                for index, dim in enumerate(self.dims)
            ]
        )

    def with_mesh(self, mesh: str | Mesh) -> TensorSharding:
        """The same over another mesh (or another name of it)."""
        return replace(self, mesh=mesh)

    def with_replicated(self, axes: Axes) -> TensorSharding:
        """The same with other explicitly replicated axes."""
        return replace(self, replicated=axes)

    def with_unreduced(self, axes: Axes) -> TensorSharding:
        """The same with other unreduced axes."""
        return replace(self, unreduced=axes)

    def closed_like(self) -> TensorSharding:
        """The same layout with every dimension closed and no replicated axes."""
        dims = tuple(dim.closed_like() for dim in self.dims)
        return TensorSharding(self.mesh, dims, (), self.unreduced)

    def opened_like(self) -> TensorSharding:
        """The same with every dimension open."""
        return self.with_dims([dim.opened_like() for dim in self.dims])

    def without_priorities(self) -> TensorSharding:
        """The same with no priorities."""
        return self.with_dims([dim.without_priority() for dim in self.dims])

    def local_shape(
        self, shape: Sequence[int], mesh: Mesh, *, pad: bool = False
    ) -> tuple[int, ...]:
        """The shape of one device's shard of a tensor of `shape`.

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

    def global_shape(self, shape: Sequence[int], mesh: Mesh) -> tuple[int, ...]:
        """The shape of the tensor whose shards have the local `shape`.

        Raises:
            ValueError: if the rank differs.
        """
        self._check_rank(shape)
        return tuple(
            size if size < 0 else size * dim.sharded_size(mesh)
            for size, dim in zip(shape, self.dims, strict=True)
        )

    def shard_index(self, position: Sequence[int], mesh: Mesh) -> tuple[int, ...]:
        """Which shard of each dimension the device at a mesh position holds.

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
        """Which part of a tensor of global `shape` a device at `position` holds.

        Uneven shards are the padded ones of `local_shape(…, pad=True)`, cut at the
        end of the tensor; they may be empty.
        """
        local = self.local_shape(shape, mesh, pad=True)
        shards = self.shard_index(position, mesh)
        return tuple(
            slice(min(shard * part, size), min((shard + 1) * part, size))
            for shard, part, size in zip(shards, local, shape, strict=True)
        )

    def implicitly_replicated(self, mesh: Mesh) -> Axes:
        """The axes and sub-axes of the mesh that appear nowhere in this sharding."""
        used = self.all_axes
        return tuple(
            part
            for part in split_mesh_at(mesh, used)
            if not any(axis.overlaps(part) for axis in used)
        )

    def __str__(self) -> str:
        """Shardy's text, for example `<@mesh, [{"x"}, {?}], replicated={"y"}>`."""
        mesh = symbol(self.mesh) if isinstance(self.mesh, str) else f"mesh{self.mesh}"
        text = f"<{mesh}, [{', '.join(str(dim) for dim in self.dims)}]"
        for label, axes in (
            ("replicated", self.replicated),
            ("unreduced", self.unreduced),
        ):
            if axes:
                text += f", {label}={{{', '.join(str(axis) for axis in axes)}}}"
        return text + ">"

    def _check_rank(self, shape: Sequence[int]) -> None:
        if len(shape) != self.rank:
            raise ValueError(
                f"sharding {self} has {self.rank} dimensions, the tensor {len(shape)}"
            )


def _coordinate_along(axis: AxisRef, position: Sequence[int], mesh: Mesh) -> int:
    """The coordinate of a mesh position along an axis or sub-axis."""
    coordinate = position[mesh.axis_index(axis.name)]
    if axis.size is None:
        return coordinate
    minor = mesh.axis_size(axis.name) // (axis.pre_size * axis.size)
    return coordinate // minor % axis.size


def mesh_positions(mesh: Mesh) -> Iterable[tuple[int, ...]]:
    """All positions of the mesh in row-major order, one coordinate an axis."""
    positions: list[tuple[int, ...]] = [()]
    for size in mesh.axis_sizes:
        positions = [(*head, i) for head in positions for i in range(size)]
    return positions
