"""Between mesh axes and the groups of device ids that StableHLO's collectives name.

A collective along some axes runs in groups of devices that differ only along them.
Going back from groups to axes tells a reader of StableHLO which axes those were.

Source: StableHLO specification, "Collective ops"; Shardy's mesh device order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ttxdsl.sharding.axes import Axes, AxisRef, sort_and_merge
from ttxdsl.sharding.mesh import Mesh

Groups = tuple[tuple[int, ...], ...]
"""Device ids, one tuple a group."""


def _prime_factors(size: int) -> list[int]:
    factors: list[int] = []
    divisor = 2
    while size > 1:
        while size % divisor == 0:
            factors.append(divisor)
            size //= divisor
        divisor += 1
    return factors


@cache
def _prime_sub_axes(mesh: Mesh) -> tuple[AxisRef, ...]:
    """Every axis split as far as it goes, major to minor over the whole mesh."""
    parts: list[AxisRef] = []
    for name, size in mesh.axes:
        pre_size = 1
        for factor in _prime_factors(size):
            whole = factor == size
            parts.append(AxisRef(name) if whole else AxisRef(name, pre_size, factor))
            pre_size *= factor
    return tuple(parts)


@cache
def _digits_of_devices(mesh: Mesh) -> dict[int, tuple[int, ...]]:
    """For each device id its index along every prime sub-axis."""
    sizes = [part.size_in(mesh) for part in _prime_sub_axes(mesh)]
    digits: dict[int, tuple[int, ...]] = {}
    for position, device in enumerate(mesh.devices()):
        index: list[int] = []
        for size in reversed(sizes):
            position, digit = divmod(position, size)
            index.append(digit)
        digits[device] = tuple(reversed(index))
    return digits


def axes_of_groups(mesh: Mesh, groups: Sequence[Sequence[int]]) -> Axes | None:
    """The axes, in mesh order, along which the devices of each group differ.

    None if the groups are not all devices of the mesh divided along some axes. The
    order of devices within a group is not looked at.
    """
    digits = _digits_of_devices(mesh)
    named = [device for group in groups for device in group]
    if sorted(named) != sorted(digits) or not groups:
        return None
    parts = _prime_sub_axes(mesh)
    first = [digits[device] for device in groups[0]]
    varying = [k for k in range(len(parts)) if len({index[k] for index in first}) > 1]
    size = 1
    for k in varying:
        size *= parts[k].size_in(mesh)
    for group in groups:
        fixed = {
            tuple(d for k, d in enumerate(digits[device]) if k not in varying)
            for device in group
        }
        if len(group) != size or len(fixed) != 1:
            return None
    return sort_and_merge([parts[k] for k in varying], mesh)
