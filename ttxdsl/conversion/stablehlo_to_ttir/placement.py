"""The placement of a tensor on a mesh, in terms of `mesh_shard`.

A mesh_shard splits tensor dimensions by whole mesh axes, in mesh order. A sharding may
also use sub-axes, or name the axes of a dimension in another order. Both are data
here, so that the lowering can add the steps that mesh_shard cannot take.

Pure functions on the values of `ttxdsl.sharding`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from ttxdsl.conversion.stablehlo_to_ttir.group_axes import coordinates, position
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.devices.mesh import Mesh, mesh_positions
from ttxdsl.sharding.devices.replica_groups import indices_along
from ttxdsl.sharding.spec import TensorSharding


@dataclass(frozen=True, slots=True)
class Placement:
    """A distribution of a tensor of rank r over a mesh of n axes.

    Attributes:
        shard_shape: parts of each tensor dimension that whole axes make (r entries).
        shard_dims: the tensor dimension each mesh axis splits, -1 for none (n entries).
        moves: (source, target) positions: after mesh_shard's own distribution, the
            device at `target` must get what `source` has. Empty when all is in place.
        picks: (dimension, axes) for dimensions that sub-axes split: each device keeps
            one part of what it has, by its place along these axes.
        parts: parts of each tensor dimension that all its axes make (r entries).
        device_parts: for each device position the number of the part that it holds,
            row-major over `parts`; empty when whole axes in mesh order say it.
        summed: the axes along which devices hold summands of their parts.
        device_summands: for each device position the number of the summand that it
            holds; empty when nothing is summed.
    """

    shard_shape: tuple[int, ...]
    shard_dims: tuple[int, ...]
    moves: tuple[tuple[int, int], ...] = ()
    picks: tuple[tuple[int, Axes], ...] = ()
    parts: tuple[int, ...] = ()
    device_parts: tuple[int, ...] = ()
    summed: Axes = ()
    device_summands: tuple[int, ...] = ()

    @property
    def is_replicated(self) -> bool:
        """Whether mesh_shard splits nothing."""
        return all(parts == 1 for parts in self.shard_shape)

    def in_place(self) -> "Placement":
        """Return the same placement for data on the devices: nothing moves.

        A table of parts takes the place of mesh_shard's arrays, which cannot express
        sub-axes or axes out of mesh order.
        """
        if self.is_plain:
            return self
        dims = (-1,) * len(self.shard_dims)
        return replace(
            self, shard_shape=self.parts, shard_dims=dims, moves=(), picks=()
        )

    @property
    def is_plain(self) -> bool:
        """Whether mesh_shard alone does it."""
        return not self.moves and not self.picks


def place(sharding: TensorSharding, mesh: Mesh) -> Placement:
    """Return the placement of a tensor with that sharding."""
    sizes = mesh.axis_sizes
    shard_shape: list[int] = []
    shard_dims = [-1] * len(sizes)
    picks: list[tuple[int, Axes]] = []
    reordered: list[tuple[int, ...]] = []
    for dim, dim_sharding in enumerate(sharding.dims):
        axes = dim_sharding.axes
        if all(axis.is_full for axis in axes):
            indices = tuple(mesh.axis_index(axis.name) for axis in axes)
            for index in indices:
                shard_dims[index] = dim
            shard_shape.append(dim_sharding.sharded_size(mesh))
            splitting = tuple(index for index in indices if sizes[index] > 1)
            if splitting != tuple(sorted(splitting)):
                reordered.append(splitting)
        else:
            shard_shape.append(1)
            picks.append((dim, axes))
    if all(parts == 1 for parts in shard_shape):
        shard_dims = [-1] * len(sizes)
    moves = _moves(reordered, sizes)
    parts = tuple(dim.sharded_size(mesh) for dim in sharding.dims)
    summed = tuple(axis for axis in sharding.unreduced if axis.size_in(mesh) > 1)
    return Placement(
        tuple(shard_shape),
        tuple(shard_dims),
        moves,
        tuple(picks),
        parts,
        _parts_held(sharding, mesh, parts) if moves or picks else (),
        summed,
        indices_along(mesh, summed) if summed else (),
    )


def _parts_held(
    sharding: TensorSharding, mesh: Mesh, parts: tuple[int, ...]
) -> tuple[int, ...]:
    return tuple(
        position(sharding.shard_index(where, mesh), parts)
        for where in mesh_positions(mesh)
    )


def _moves(
    reordered: Sequence[tuple[int, ...]], sizes: tuple[int, ...]
) -> tuple[tuple[int, int], ...]:
    """Return the moves after which axes out of mesh order count in their own order.

    The device with coordinates c must have the part number that c gives in the
    sharding's order of axes; mesh_shard gave that part to the device whose coordinates
    give the same number in mesh order.
    """
    if not reordered:
        return ()
    pairs: list[tuple[int, int]] = []
    for target in product(*(range(size) for size in sizes)):
        source = list(target)
        for axes in reordered:
            part = position([target[a] for a in axes], [sizes[a] for a in axes])
            in_order = sorted(axes)
            for axis, value in zip(
                in_order, coordinates(part, [sizes[a] for a in in_order]), strict=True
            ):
                source[axis] = value
        pairs.append((position(source, sizes), position(target, sizes)))
    return tuple(pairs)
