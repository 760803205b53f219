"""Between mesh axes and the groups of device ids that StableHLO's collectives name.

A collective along some axes runs in groups of devices that differ only along them.
Going back from groups to axes tells a reader of StableHLO which axes those were.

A device is a process of a grid of replicas and partitions: process p is replica
`p // partitions` and partition `p % partitions`. What ids mean depends on the collective.

Source: StableHLO specification, "Collective ops"; Shardy's mesh device order.
"""

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import prod
from operator import itemgetter
from typing import Literal

from ttxdsl.sharding.axes import (
    Axes,
    AxisRef,
    sort_and_merge,
    split_mesh_at,
    total_size,
)
from ttxdsl.sharding.devices.mesh import Mesh

Groups = tuple[tuple[int, ...], ...]
"""Device ids, one tuple a group."""

Strategy = Literal[
    "cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_ids"
]
"""What the ids in replica groups are: replicas, partitions, replicas, or devices."""


def expand_groups(
    groups: Groups, strategy: Strategy, devices: int, partitions: int
) -> Groups:
    """The devices in each process group that replica groups mean; none means all.

    Where all devices are partitions of one replica, replica ids other than 0 make no
    sense: ids are then read as device ids whatever the strategy, which is how
    partitioned programs are written.

    Args:
        groups: ids as they are listed, without the -1 that fill a group up.
        strategy: what the ids are.
        partitions: how many of them make a replica.
    """
    replicas = devices // partitions
    if replicas == 1 and any(process for group in groups for process in group):
        strategy = "flattened_ids"
    every_partition, every_replica = range(partitions), range(replicas)
    match strategy:
        case "cross_replica":
            groups_of_processes = [
                [r * partitions + p for r in group]
                for group in groups or (every_replica,)
                for p in every_partition
            ]
        case "cross_partition":
            groups_of_processes = [
                [r * partitions + p for p in group]
                for group in groups or (every_partition,)
                for r in every_replica
            ]
        case "cross_replica_and_partition":
            groups_of_processes = [
                [r * partitions + p for p in every_partition for r in group]
                for group in groups or (every_replica,)
            ]
        case "flattened_ids":
            groups_of_processes = groups or (range(devices),)
    return tuple(tuple(group) for group in groups_of_processes)


@cache
def indices_along(mesh: Mesh, axes: Axes) -> tuple[int, ...]:
    """For each mesh position, row-major, its index along `axes`, major first."""
    devices = mesh.total_size
    coordinates = [0] * devices
    for axis in axes:
        whole, size = mesh.axis_size(axis.name), axis.size_in(mesh)
        inner = prod(mesh.axis_sizes[mesh.axis_index(axis.name) + 1 :])
        inner *= whole // axis.next_pre_size_in(mesh)
        along = [index for index in range(size) for _ in range(inner)]
        along *= devices // len(along)
        coordinates = [
            major * size + minor
            for major, minor in zip(coordinates, along, strict=True)
        ]
    return tuple(coordinates)


@cache
def groups_along(mesh: Mesh, axes: Axes) -> Groups:
    """Return the groups of devices that differ only along `axes`.

    Devices of a group come in the order of their index along `axes`, major to
    minor; groups in the order of the rest of the mesh.
    """
    rest = tuple(
        part
        for part in split_mesh_at(mesh, axes)
        if not any(axis.overlaps(part) for axis in axes)
    )
    size = total_size(axes, mesh)
    members = [0] * mesh.total_size
    for device, group, place in zip(
        mesh.devices(),
        indices_along(mesh, rest),
        indices_along(mesh, axes),
        strict=True,
    ):
        members[group * size + place] = device
    return tuple(
        tuple(members[start : start + size]) for start in range(0, len(members), size)
    )


def groups_joined(devices: Sequence[int], pairs: Groups) -> Groups:
    """Return the groups of devices that pairs of them join, in order."""
    joined = {device: {device} for device in devices}
    for source, target in pairs:
        both = joined[source] | joined[target]
        for device in both:
            joined[device] = both
    return tuple(sorted({tuple(sorted(group)) for group in joined.values()}))


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
    """Return the sub-axes of prime size of every axis, major to minor over the mesh."""
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
    return dict(zip(mesh.devices(), product(*map(range, sizes)), strict=True))


def axes_of_groups(mesh: Mesh, groups: Sequence[Sequence[int]]) -> Axes | None:
    """Return the axes, in mesh order, along which the devices of each group differ.

    None if the groups are not all devices of the mesh divided along some axes. The
    order of devices within a group is not looked at.
    """
    digits = _digits_of_devices(mesh)
    named = [device for group in groups for device in group]
    if sorted(named) != sorted(digits) or not groups:
        return None
    parts = _prime_sub_axes(mesh)
    columns = zip(*(digits[device] for device in groups[0]), strict=True)
    varying = [k for k, column in enumerate(columns) if len(set(column)) > 1]
    size = prod(parts[k].size_in(mesh) for k in varying)
    constant = [k for k in range(len(parts)) if k not in varying]
    place = itemgetter(*constant) if constant else None
    for group in groups:
        if len(group) != size:
            return None
        if place is not None and len({place(digits[device]) for device in group}) != 1:
            return None
    return sort_and_merge([parts[k] for k in varying], mesh)
