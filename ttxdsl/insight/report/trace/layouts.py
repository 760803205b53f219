"""The parts of tensors that devices hold, for every layout of a program.

A tensor of any rank on a mesh of any rank: for each device of the mesh the index of its
shard along each dimension. Programs have few layouts and many tensors.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh, mesh_positions
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.importing.sdy_remove_size_one_axes import (
    without_size_one_axes,
)


def axis_names(axes: Iterable[AxisRef]) -> list[str]:
    """The axes as text without quotes: `x`, and `x:(1)2` for a part of one."""
    return [str(axis).replace('"', "") for axis in axes]


MOST_DRAWN = 4096
"""Devices of a mesh of which the page draws who holds what."""


@dataclass(frozen=True, slots=True)
class _Key:
    mesh: int
    sharding: TensorSharding
    manual: tuple[str, ...]


@dataclass(slots=True)
class LayoutTable:
    """The layouts met so far, each with a number, and the meshes that they are on.

    Axes of size one split nothing: they are left out unless all are asked for.
    """

    all_axes: bool = False
    meshes: list[tuple[str, Mesh]] = field(default_factory=list[tuple[str, Mesh]])
    layouts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _numbers: dict[_Key, int] = field(default_factory=dict[_Key, int])
    _mesh_numbers: dict[tuple[str, Mesh], int] = field(
        default_factory=dict[tuple[str, Mesh], int]
    )
    """Of meshes by name, and of the first with its axes by no name."""
    parts_of_axes: dict[str, str] = field(default_factory=dict[str, str])
    """For the text of each part of an axis a sentence on its devices."""

    def tell_parts(self, axes: Iterable[AxisRef], mesh: Mesh) -> None:
        """Note what the parts of axes among some axes are."""
        for axis in axes:
            if not axis.is_full and mesh.has_axis(axis.name):
                (text,) = axis_names([axis])
                self.parts_of_axes[text] = axis.told_in(mesh)

    def mesh(self, name: str, mesh: Mesh) -> int:
        """The number of a mesh; without a name it is the one with the same axes."""
        mesh = mesh if self.all_axes else mesh.without_size_one_axes()
        number = self._mesh_numbers.get((name, mesh))
        if number is None:
            number = self._mesh_numbers[name, mesh] = len(self.meshes)
            self._mesh_numbers.setdefault(("", mesh), number)
            self.meshes.append((name, mesh))
        return number

    def layout(
        self, mesh: Mesh, sharding: TensorSharding, manual: tuple[str, ...] = ()
    ) -> int:
        """The number of a layout.

        Args:
            manual: mesh axes along which the program is written per device, so that
                the tensor is another one for each position along them.
        """
        name = sharding.mesh if isinstance(sharding.mesh, str) else ""
        at = self.mesh(name, mesh)
        if not self.all_axes:
            sharding = without_size_one_axes(sharding, mesh)
            mesh = mesh.without_size_one_axes()
            manual = tuple(axis for axis in manual if mesh.has_axis(axis))
        key = _Key(at, sharding.closed_like().with_mesh(""), manual)
        number = self._numbers.setdefault(key, len(self.layouts))
        if number == len(self.layouts):
            self.layouts.append(_as_data(at, mesh, sharding, manual))
            for dim in sharding.dims:
                self.tell_parts(dim.axes, mesh)
            self.tell_parts(sharding.unreduced, mesh)
        return number

    def meshes_data(self) -> list[dict[str, Any]]:
        """Return meshes as plain data: name, axes with sizes, ids of devices in order.

        Of more than `MOST_DRAWN` devices there are no ids.
        """
        return [
            {
                "name": name,
                "axes": [[axis, size] for axis, size in mesh.axes],
                "size": mesh.total_size,
                "devices": list(mesh.devices()) if _is_drawn(mesh) else [],
            }
            for name, mesh in self.meshes
        ]


def _as_data(
    at: int, mesh: Mesh, sharding: TensorSharding, manual: tuple[str, ...]
) -> dict[str, Any]:
    dims = [axis_names(dim.axes) for dim in sharding.dims]
    return {
        "mesh": at,
        "text": _text(dims, manual),
        "dims": dims,
        "parts": [dim.sharded_size(mesh) for dim in sharding.dims],
        "unreduced": axis_names(sharding.unreduced),
        "manual": list(manual),
        "shards": _shards(sharding, mesh) if _is_drawn(mesh) else [],
    }


def _is_drawn(mesh: Mesh) -> bool:
    return mesh.total_size <= MOST_DRAWN


def _shards(sharding: TensorSharding, mesh: Mesh) -> list[list[int]]:
    """Return for each device, in the mesh's order, its shard along each dimension."""
    if not mesh.axes:
        return [[0] * sharding.rank for _ in mesh.devices()]
    return [
        list(sharding.shard_index(position, mesh)) for position in mesh_positions(mesh)
    ]


def _text(dims: list[list[str]], manual: tuple[str, ...]) -> str:
    own = f" for each {', '.join(manual)}" if manual else ""
    if not any(dims):
        return f"whole{own or ' on every device'}"
    return f"[{', '.join('+'.join(axes) or '-' for axes in dims)}]{own}"
