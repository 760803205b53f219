"""Replica groups read as mesh axes: which axes a collective runs along, in which order.

Devices are given by position in the mesh (row-major). ttir's collectives know one mesh
axis each, so groups that are exactly the devices along some axes become one step an
axis; groups that are less regular are covered by the smallest set of axes and each
device picks its part afterwards.

Pure functions on integers.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

Groups = Sequence[Sequence[int]]


def coordinates(position: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the coordinate along each mesh axis of a device position."""
    numbers: list[int] = []
    for size in reversed(shape):
        position, coordinate = divmod(position, size)
        numbers.append(coordinate)
    return tuple(reversed(numbers))


def position(coordinate: Sequence[int], shape: Sequence[int]) -> int:
    """Return the position of a device with these coordinates."""
    number = 0
    for value, size in zip(coordinate, shape, strict=True):
        number = number * size + value
    return number


def covering_axes(groups: Groups, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the mesh axes along which members of a group differ, major first."""
    axes: set[int] = set()
    for group in groups:
        first = coordinates(group[0], shape)
        for member in group[1:]:
            other = coordinates(member, shape)
            axes.update(
                i
                for i, pair in enumerate(zip(first, other, strict=True))
                if pair[0] != pair[1]
            )
    return tuple(sorted(axes))


def along_axes(
    start: int, axes: Sequence[int], shape: Sequence[int]
) -> tuple[int, ...]:
    """The devices that differ from `start` in these axes only, first axis major."""
    base = list(coordinates(start, shape))
    positions: list[int] = []
    for values in product(*(range(shape[axis]) for axis in axes)):
        for axis, value in zip(axes, values, strict=True):
            base[axis] = value
        positions.append(position(base, shape))
    return tuple(positions)


def ordered_axes(groups: Groups, shape: Sequence[int]) -> tuple[int, ...] | None:
    """The axes, major to minor, whose devices each group lists in that very order.

    Returns:
        None if the groups are no such sets of devices, or in another order.
    """
    axes = covering_axes(groups, shape)
    first = groups[0]
    if len(first) != prod(shape[axis] for axis in axes):
        return None
    # the minor axis is the one whose coordinate changes first along the list
    start = coordinates(first[0], shape)
    changes = {
        axis: next(
            place
            for place, member in enumerate(first)
            if coordinates(member, shape)[axis] != start[axis]
        )
        for axis in axes
        if any(coordinates(member, shape)[axis] != start[axis] for member in first)
    }
    if len(changes) != len(axes):
        return None
    order = tuple(sorted(axes, key=lambda axis: -changes[axis]))
    expected = all(
        tuple(group) == along_axes(group[0], order, shape)
        and all(coordinates(group[0], shape)[axis] == 0 for axis in order)
        for group in groups
    )
    return order if expected else None
