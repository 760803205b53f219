"""Meshes as counting in mixed radix: how lists of devices go through a mesh.

An array of devices whose dimensions are the axes of a mesh, or parts of them, in any
order counts the places of the mesh digit by digit, and the places where one digit ends
and another begins are borders between axes. The borders of several such arrays together
give the finest axes that are needed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh


@dataclass(frozen=True, slots=True)
class Digit:
    """Some of a mesh: `size` devices, `stride` apart in the mesh's order."""

    size: int
    stride: int


Digits = tuple[tuple[Digit, ...], ...]
"""The digits of each dimension of a tiling, major first."""


def places_in(order: Sequence[int], devices: Sequence[int]) -> list[int]:
    """Return the position in `order` of each of the devices."""
    place = [0] * len(order)
    for at, device in enumerate(order):
        place[device] = at
    return [place[device] for device in devices]


def mixed_radix(places: Sequence[int]) -> list[Digit] | None:
    """Return the digits of a counter, major first, that counts through a list.

    None if no mixed radix counts through the list from its first entry.
    """
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


def cut_digits(digits: Sequence[Digit], dims: Sequence[int]) -> Digits | None:
    """Digits cut where dimensions end; None if one would have to be cut unevenly."""
    rest = list(digits)
    groups: list[tuple[Digit, ...]] = []
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
        groups.append(tuple(taken))
    return tuple(groups)


def axis_sizes(size: int, all_digits: Iterable[Digits]) -> list[int] | None:
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
            # the part of the axis between the ends of the digit
            top, bottom = min(outer, rest), max(stride, digit.stride)
            if outer % top or top % bottom or bottom % stride:
                return None
            part = AxisRef(name, outer // top, top // bottom)
            axes.append(AxisRef(name) if part.size == size else part)
    return tuple(axes)
