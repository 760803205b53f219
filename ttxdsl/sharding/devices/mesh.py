"""Meshes as plain immutable values: named axes of devices.

Source: Shardy's `MeshAttr`; the sharding representation document.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ttxdsl.sharding.text import quoted

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
        """Return the device ids in row-major order of mesh positions."""
        return self.device_ids or tuple(range(self.total_size))

    def has_axis(self, name: str) -> bool:
        """Whether an axis of that name exists."""
        return any(name == axis for axis, _ in self.axes)

    def axis_size(self, name: str) -> int:
        """Return the size of the axis.

        Raises:
            ValueError: if the mesh has no such axis.
        """
        for axis, size in self.axes:
            if axis == name:
                return size
        raise ValueError(self._no_axis(name))

    def axis_index(self, name: str) -> int:
        """Return the position of the axis, 0 for the major one.

        Raises:
            ValueError: if the mesh has no such axis.
        """
        for index, (axis, _) in enumerate(self.axes):
            if axis == name:
                return index
        raise ValueError(self._no_axis(name))

    def same_axes(self, other: "Mesh") -> bool:
        """Whether the two are equal but for the order of devices."""
        return self.axes == other.axes and self.is_maximal == other.is_maximal

    def without_device_ids(self) -> "Mesh":
        """Return the same axes with devices in their natural order."""
        return Mesh(self.axes)

    def without_size_one_axes(self) -> "Mesh":
        """The mesh to print: axes of size one split nothing. All, if no other is left."""
        axes = tuple((name, size) for name, size in self.axes if size > 1)
        return Mesh(axes or self.axes, self.device_ids)

    @property
    def title(self) -> str:
        """The text without axes of size one, for messages."""
        return str(self.without_size_one_axes())

    def __str__(self) -> str:
        """Shardy's text, for example `<["x"=2, "y"=4]>`."""
        axes = ", ".join(f"{quoted(name)}={size}" for name, size in self.axes)
        ids = ", ".join(str(device) for device in self.device_ids)
        return f"<[{axes}], device_ids=[{ids}]>" if ids else f"<[{axes}]>"

    def _no_axis(self, name: str) -> str:
        return f'unknown axis name: "{name}"; the mesh is {self.title}'


_MOST_IDS = 16
"""Device ids that are told in words."""


def mesh_words(mesh: Mesh, *, all_axes: bool = False) -> str:
    """Return a mesh in words, `data=2 x model=4`; `all_axes` has those of size one."""
    axes = [(name, size) for name, size in mesh.axes if all_axes or size > 1]
    ids = [str(device) for device in mesh.device_ids[:_MOST_IDS]]
    if len(mesh.device_ids) > _MOST_IDS:
        ids.append("…")
    if not axes:
        return f"device {ids[0]}" if ids else "one device"
    text = " x ".join(f"{name}={size}" for name, size in axes)
    return f"{text}, devices in the order {' '.join(ids)}" if ids else text


def mesh_titles(meshes: Mapping[str, Mesh], *, all_axes: bool = False) -> list[str]:
    """Return the meshes of a program in words, of several each with its name."""
    words = [mesh_words(mesh, all_axes=all_axes) for mesh in meshes.values()]
    if len(words) < 2:
        return words
    return [f"{name}: {text}" for name, text in zip(meshes, words, strict=True)]


def mesh_heading(titles: Sequence[str]) -> str:
    """Return `mesh data=2 x model=4`, of the meshes of a program by `mesh_titles`."""
    if not titles:
        return "no mesh"
    return f"mesh{'es' if len(titles) > 1 else ''} {'; '.join(titles)}"


def mesh_positions(mesh: Mesh) -> Iterable[tuple[int, ...]]:
    """Return all positions of the mesh in row-major order, one coordinate an axis."""
    positions: list[tuple[int, ...]] = [()]
    for size in mesh.axis_sizes:
        positions = [(*head, i) for head in positions for i in range(size)]
    return positions
