"""The layout of one value on the mesh: its global shape and the axes that split it.

A layout is what is left of a sharding when only the position of data matters:
openness, priorities and axes of size one are gone, so two values with equal layouts
hold the same part of the same tensor on every device.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import gcd

from ttxdsl.sharding.axes import (
    Axes,
    AxisRef,
    concatenate_merged,
    sort_by_mesh,
    total_size,
)
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding


@dataclass(frozen=True)
class Layout:
    """A global shape, and for each dimension the axes that split it, major first.

    Attributes:
        mesh: the mesh of the axes; its device ids say where each shard is.
        shape: the global shape.
        axes: one list of axes a dimension, none of size one, neighbours merged.
    """

    mesh: Mesh
    shape: tuple[int, ...]
    axes: tuple[Axes, ...]

    @staticmethod
    def replicated(mesh: Mesh, shape: Sequence[int]) -> "Layout":
        """Return the layout in which every device holds the whole tensor."""
        return Layout(mesh, tuple(shape), ((),) * len(shape))

    @staticmethod
    def of(
        sharding: TensorSharding | None,
        mesh: Mesh,
        shape: Sequence[int],
        *,
        without: frozenset[str] = frozenset(),
    ) -> "Layout":
        """Return the layout that a sharding over `mesh` means; None is replicated.

        Args:
            sharding: one dimension sharding a dimension of `shape`.
            shape: the global shape, or, inside a manual computation, the shape
                that is already local to the axes in `without`.
            without: manual axes, which say nothing about the values inside.

        Raises:
            ValueError: if the rank differs.
        """
        return _layout_of(sharding, mesh, tuple(shape), without)

    @cached_property
    def is_sharded(self) -> bool:
        """Whether some device does not hold all of the tensor."""
        return any(self.axes)

    def shards(self, dim: int) -> int:
        """Into how many parts a dimension is split."""
        return total_size(self.axes[dim], self.mesh)

    @cached_property
    def local_shape(self) -> tuple[int, ...]:
        """The shape of one device's part; `uneven` says whether there is one."""
        return tuple(size // self.shards(dim) for dim, size in enumerate(self.shape))

    @cached_property
    def uneven(self) -> int | None:
        """The first dimension that its axes do not divide, if any."""
        for dim, size in enumerate(self.shape):
            if size % self.shards(dim):
                return dim
        return None

    def with_axes(self, axes: Iterable[Axes]) -> "Layout":
        """Return the same tensor, split otherwise."""
        return replace(
            self, axes=tuple(without_trivial(each, self.mesh) for each in axes)
        )

    def with_dim(self, dim: int, axes: Axes) -> "Layout":
        """Return the same tensor with one dimension split otherwise."""
        return self.with_axes((*self.axes[:dim], axes, *self.axes[dim + 1 :]))

    def same_placement(self, other: "Layout") -> bool:
        """Whether every device holds the same part under both layouts."""
        return self is other or (
            self.shape == other.shape
            and self.axes == other.axes
            and (not self.is_sharded or self.mesh == other.mesh)
        )

    def __str__(self) -> str:
        """Return the axes of each dimension, as Shardy prints them."""
        dims = ", ".join(
            "{" + ", ".join(str(axis) for axis in axes) + "}" for axes in self.axes
        )
        return f"[{dims}]"


@lru_cache(maxsize=4096)
def _layout_of(
    sharding: TensorSharding | None,
    mesh: Mesh,
    shape: tuple[int, ...],
    without: frozenset[str],
) -> Layout:
    """`Layout.of`, remembered: layers of a model repeat shapes and shardings."""
    if sharding is None:
        return Layout.replicated(mesh, shape)
    if sharding.rank != len(shape):
        raise ValueError(
            f"sharding {sharding} has {sharding.rank} dimensions, "
            f"the tensor {len(shape)}"
        )
    free = (
        tuple(axis for axis in axes if axis.name not in without)
        for axes in sharding.axes_per_dim
    )
    return Layout(mesh, shape, tuple(without_trivial(axes, mesh) for axes in free))


def without_trivial(axes: Iterable[AxisRef], mesh: Mesh) -> Axes:
    """Return the axes of more than one device, neighbours that join merged."""
    return concatenate_merged(
        (), (axis for axis in axes if axis.size_in(mesh) > 1), mesh
    )


def cut(axes: Axes, sizes: Sequence[int], mesh: Mesh) -> tuple[tuple[Axes, ...], Axes]:
    """Distribute the axes of one dimension over its factors, major first.

    A factor takes axes, or the sub-axes that divide it, while they divide what is
    left of it. A minor factor gets axes only when the major ones are used up.

    Args:
        sizes: the sizes of its factors; their product is the size of the dimension.

    Returns:
        The axes of each factor, and those that fit nowhere.
    """
    pending = list(axes)
    parts: list[Axes] = []
    for size in sizes:
        taken: list[AxisRef] = []
        while pending and size > 1:
            axis = pending[0]
            extent = axis.size_in(mesh)
            part = gcd(size, extent)
            if part == 1:
                break
            size //= part
            if part == extent:
                taken.append(pending.pop(0))
            else:
                taken.append(AxisRef(axis.name, axis.pre_size, part))
                pending[0] = AxisRef(axis.name, axis.pre_size * part, extent // part)
        parts.append(tuple(taken))
        if size > 1:
            break
    parts.extend([()] * (len(sizes) - len(parts)))
    return tuple(parts), tuple(pending)


def unreduced_axes(sharding: TensorSharding | None, mesh: Mesh) -> Axes:
    """Return the axes that a sharding calls unreduced, without those of one device."""
    if sharding is None or not sharding.unreduced:
        return ()
    return without_trivial(sort_by_mesh(sharding.unreduced, mesh), mesh)
