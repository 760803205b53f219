"""The mesh that tiled shardings are over, found from where they put their devices.

A tiling that comes from a mesh lists the devices in the order of the mesh's axes, each
axis (or some of it) belonging to one dimension: as an array of the mesh's shape whose
dimensions were put in another order. So its list of devices is counting in mixed radix,
digit by digit, and the places where one digit ends and another begins are borders
between axes. The borders of all tilings together give the finest axes that are needed.

Source: XLA's import of shardings into Shardy finds such a mesh for devices in their
natural order; here they may be in another, the same for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.hlo import HloSharding, Kind
from ttxdsl.sharding.mesh import Mesh


@dataclass(frozen=True, slots=True)
class Digit:
    """Some of a mesh: `size` devices, `stride` apart in the mesh's order."""

    size: int
    stride: int


Digits = tuple[tuple[Digit, ...], ...]
"""The digits of each dimension of a tiling, major first."""


def digits_of(sharding: HloSharding, order: Sequence[int]) -> Digits | None:
    """The digits that each dimension of a tiling counts in; None if it counts not so.

    Devices that hold the same are in any order, so that they are put in the mesh's.

    Args:
        sharding: a tiled one.
        order: the devices in the mesh's order.
    """
    if len(order) != len(sharding.devices):
        return None
    place = np.empty(len(order), np.int64)
    place[list(order)] = np.arange(len(order))
    places = place[list(sharding.devices)].reshape(sharding.dims)
    same = [
        sharding.rank + index
        for index, kind in enumerate(sharding.subgroups)
        if kind is Kind.REPLICATED
    ]
    if same:
        last = range(places.ndim - len(same), places.ndim)
        moved = np.moveaxis(places, same, last)
        flat = moved.reshape(*moved.shape[: last[0]], -1)
        places = np.moveaxis(np.sort(flat, -1).reshape(moved.shape), last, same)
    numbers: list[int] = places.ravel().tolist()
    digits = _radix(numbers)
    return None if digits is None else _by_dimension(digits, sharding.dims)


def _radix(places: Sequence[int]) -> list[Digit] | None:
    """Major first, what a list from 0 counts in; None if it is no such counting."""
    digits: list[Digit] = []
    step = 1
    while step < len(places):
        stride = places[step] - places[0]
        size = 2
        while (
            step * size < len(places)
            and places[step * size] - places[0] == stride * size
        ):
            size += 1
        if stride <= 0 or len(places) % (step * size):
            return None
        digits.append(Digit(size, stride))
        step *= size
    expected = [0]
    for digit in digits:
        expected = [n + i * digit.stride for i in range(digit.size) for n in expected]
    return digits[::-1] if expected == list(places) else None


def _by_dimension(digits: Sequence[Digit], dims: Sequence[int]) -> Digits | None:
    """Digits cut where dimensions end; None if one would have to be cut unevenly."""
    rest = list(digits)
    found: list[tuple[Digit, ...]] = []
    for dim in dims:
        taken: list[Digit] = []
        while dim > 1:
            digit = rest.pop(0)
            if dim % digit.size == 0:
                taken.append(digit)
                dim //= digit.size
            elif digit.size % dim == 0:
                minor = digit.size // dim
                taken.append(Digit(dim, digit.stride * minor))
                rest.insert(0, Digit(minor, digit.stride))
                dim = 1
            else:
                return None
        found.append(tuple(taken))
    return tuple(found)


def mesh_of_tilings(tilings: Sequence[HloSharding]) -> Mesh:
    """The mesh with the fewest axes that describes all tilings.

    Its devices are in their natural order if that describes them, otherwise in that of
    the first tiling that does.

    Args:
        tilings: at least one; all of the same number of devices.

    Raises:
        ValueError: there is none.
    """
    size = len(tilings[0].devices)
    listed = sorted(tilings, key=lambda one: Kind.REPLICATED in one.subgroups)
    orders = dict.fromkeys([tuple(range(size)), *(one.devices for one in listed)])
    for natural, order in zip((True, *[False] * len(orders)), orders, strict=False):
        digits: list[Digits] = []
        for one in tilings:
            found = digits_of(one, order)
            if found is None:
                break
            digits.append(found)
        else:
            sizes = _axis_sizes(size, digits)
            if sizes is not None:
                axes = tuple((f"_axis_{index}", n) for index, n in enumerate(sizes))
                return Mesh(axes, () if natural else order)
    raise ValueError("no order of axes of a mesh")


def _axis_sizes(size: int, all_digits: Iterable[Digits]) -> list[int] | None:
    """Axes that end wherever a digit does; None if an end is amid another, unevenly."""
    borders = {1, size}
    for digits in all_digits:
        for digit in (digit for dim in digits for digit in dim):
            borders |= {digit.stride, digit.stride * digit.size}
    sizes: list[int] = []
    for minor, major in pairwise(sorted(borders)):
        if major % minor:
            return None
        sizes.insert(0, major // minor)
    return sizes or [1]


def axes_of(digits: Sequence[Digit], mesh: Mesh) -> tuple[AxisRef, ...] | None:
    """The axes, or parts of them, that a dimension counts in; None if none do."""
    axes: list[AxisRef] = []
    for digit in digits:
        stride, rest = prod(mesh.axis_sizes), digit.size * digit.stride
        for name, size in mesh.axes:
            outer, stride = stride, stride // size
            if size == 1 or rest <= stride or digit.stride >= outer:
                continue
            # of the axis, what lies between the ends of the digit
            top, bottom = min(outer, rest), max(stride, digit.stride)
            if outer % top or top % bottom or bottom % stride:
                return None
            axes.append(_axis(name, outer // top, top // bottom, size))
    return tuple(axes)


def _axis(name: str, pre_size: int, size: int, whole: int) -> AxisRef:
    return AxisRef(name) if size == whole else AxisRef(name, pre_size, size)
