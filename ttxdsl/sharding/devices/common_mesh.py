"""One mesh for what was written over several of the same devices.

Two meshes meet where the axes of each are runs of axes of a third, in whatever order:
`<["x"=2, "y"=4]>` and `<["z"=8]>` in the former, `"z"` being `"x", "y"`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count
from math import prod

from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.mixed_radix import (
    Digit,
    Digits,
    axes_of,
    axis_sizes,
    cut_digits,
    mixed_radix,
    places_in,
)


class ApartError(ValueError):
    """Two meshes without a common refinement."""

    def __init__(self, first: Mesh, second: Mesh):
        super().__init__("no mesh has the axes of both")
        self.meshes = first, second


@dataclass(frozen=True)
class CommonMesh:
    """A mesh, and where the axes of others are in it.

    Attributes:
        mesh: whose axes are whole ones or parts of them in all others.
        digits: those of each axis of the other meshes.
        units: what needed axes of size one of the other meshes are called here.
    """

    mesh: Mesh
    digits: Mapping[Mesh, Mapping[str, tuple[Digit, ...]]]
    units: Mapping[tuple[Mesh, str], str]

    def axes_of(self, axis: AxisRef, mesh: Mesh) -> Axes | None:
        """Return the axes of the common mesh that an axis of one mesh is, major first.

        None if it is a part of an axis that ends amid one of the common axes, unevenly.
        """
        if mesh.axis_size(axis.name) == 1:
            return (AxisRef(self.units[mesh, axis.name]),)
        digits = self.digits[mesh][axis.name]
        if axis.size is not None:
            end = axis.next_pre_size_in(mesh)
            sizes = axis.pre_size, axis.size, mesh.axis_size(axis.name) // end
            parts = cut_digits(digits, sizes)
            if parts is None:
                return None
            digits = parts[1]
        return axes_of(digits, self.mesh)


def common_mesh(meshes: Mapping[Mesh, Collection[str]]) -> CommonMesh:
    """Return the mesh with the fewest axes whose axes make up those of all others.

    It is one of them if one will do. Its devices are in their natural order if those of
    one are, otherwise in that of the first. An axis that a mesh has, whole, is called as in
    the first one that has it; a part is called after what it is a part of.

    Args:
        meshes: at least one, all with axes and of as many devices; of each the names of
            the axes that are needed even if their size is one.

    Raises:
        ApartError: there is none.
    """
    first = next(iter(meshes))
    base = next((mesh for mesh in meshes if not mesh.device_ids), first)
    order, size = base.devices(), base.total_size
    digits: dict[Mesh, Digits] = {}
    for mesh in meshes:
        radix = mixed_radix(places_in(order, mesh.devices()))
        cut = None if radix is None else cut_digits(radix, mesh.axis_sizes)
        if cut is None:
            raise ApartError(base, mesh)
        digits[mesh] = cut
    for left, other in combinations(meshes, 2):
        if axis_sizes(size, (digits[left], digits[other])) is None:
            raise ApartError(left, other)
    sizes = axis_sizes(size, digits.values())
    assert sizes is not None, "borders that divide each other two by two all do"
    of_axis = {
        mesh: dict(zip(mesh.axis_names, cut, strict=True))
        for mesh, cut in digits.items()
    }
    fitting = (
        mesh
        for mesh in meshes
        if mesh.devices() == order
        and [n for n in mesh.axis_sizes if n > 1] == [n for n in sizes if n > 1]
    )
    chosen = next(fitting, None) or Mesh(_named(sizes, of_axis), base.device_ids)
    axes = list(chosen.axes)
    units: dict[tuple[Mesh, str], str] = {}
    for mesh, names in meshes.items():
        for name in (name for name in names if mesh.axis_size(name) == 1):
            if (name, 1) not in axes:
                axes.append((_free(name, axes), 1))
            units[mesh, name] = name if (name, 1) in axes else axes[-1][0]
    return CommonMesh(Mesh(tuple(axes), chosen.device_ids), of_axis, units)


def _free(wanted: str, axes: Iterable[tuple[str, int]]) -> str:
    """Return the name, or one made of it, that no axis has."""
    taken = {name for name, _ in axes}
    names = chain((wanted,), (f"{wanted}_{index}" for index in count()))
    return next(name for name in names if name not in taken)


def _named(
    sizes: Sequence[int], of_axis: Mapping[Mesh, Mapping[str, tuple[Digit, ...]]]
) -> tuple[tuple[str, int], ...]:
    """Axes of those sizes, each with a name."""
    every = [axis for axes in of_axis.values() for axis in axes.items()]
    axes: list[tuple[str, int]] = []
    stride = prod(sizes)
    for size in sizes:
        end, stride = stride, stride // size
        whole = (name for name, digits in every if digits == (Digit(size, stride),))
        part = (
            f"{name}_part"
            for name, digits in every
            for digit in digits
            if digit.stride <= stride and end <= digit.stride * digit.size
        )
        axes.append((_free(next(chain(whole, part)), axes), size))
    return tuple(axes)
