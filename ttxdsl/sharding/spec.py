"""Meshes, dimension shardings and tensor shardings as plain immutable values.

These are the payload of the `sdy` attributes: `TensorShardingAttr.data` is a
`TensorSharding`, so that theory and IR share one truth.

Source: Shardy's `MeshAttr`, `DimensionShardingAttr` and `TensorShardingAttr`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ttxdsl.sharding.axes import AxisRef


@dataclass(frozen=True, slots=True)
class Mesh:
    """Named axes with sizes, major first, and an optional explicit device order.

    No axes and no device ids is the empty mesh; no axes and one device id is a
    maximal mesh (everything lives on that device).
    """

    axes: tuple[tuple[str, int], ...]
    device_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DimSharding:
    """The axes that shard one dimension, major to minor.

    An open dimension (`closed` is False, printed with `?`) may be sharded further
    by propagation. A lower `priority` number propagates earlier; None is 0.
    """

    axes: tuple[AxisRef, ...] = ()
    closed: bool = True
    priority: int | None = None


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
