"""Which devices take part in a collective, from mesh axes to device ids.

StableHLO's collectives name devices by process id. A mesh places them row-major, or
in the order of its explicit `device_ids`.
"""

from __future__ import annotations

from functools import cache
from math import prod

from ttxdsl.sharding.axes import Axes, split_mesh_at, total_size
from ttxdsl.sharding.spec import Mesh
from ttxdsl.transforms.local.layout import Layout

Groups = tuple[tuple[int, ...], ...]
"""Device ids, one tuple a group."""


@cache
def indices_along(mesh: Mesh, axes: Axes) -> tuple[int, ...]:
    """For each mesh position, row-major, its index along `axes`, major first."""
    devices = mesh.total_size
    found = [0] * devices
    for axis in axes:
        whole, size = mesh.axis_size(axis.name), axis.size_in(mesh)
        inner = prod(mesh.axis_sizes[mesh.axis_index(axis.name) + 1 :])
        inner *= whole // axis.next_pre_size_in(mesh)
        along = [index for index in range(size) for _ in range(inner)]
        along *= devices // len(along)
        found = [
            major * size + minor for major, minor in zip(found, along, strict=True)
        ]
    return tuple(found)


@cache
def replica_groups(mesh: Mesh, axes: Axes) -> Groups:
    """The groups of devices that differ only along `axes`.

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


@cache
def shard_index_of_device(mesh: Mesh, axes: Axes) -> tuple[int, ...]:
    """For each device id its index along `axes`."""
    by_device = dict(zip(mesh.devices(), indices_along(mesh, axes), strict=True))
    return tuple(by_device[device] for device in range(len(by_device)))


def _holders(layout: Layout) -> dict[tuple[int, ...], list[int]]:
    """For each shard (one index a dimension) the devices that hold it, in order."""
    per_dim = [indices_along(layout.mesh, axes) for axes in layout.axes]
    holders: dict[tuple[int, ...], list[int]] = {}
    for place, device in enumerate(layout.mesh.devices()):
        shard = tuple(indices[place] for indices in per_dim)
        holders.setdefault(shard, []).append(device)
    return holders


def source_target_pairs(before: Layout, after: Layout) -> Groups:
    """The pairs that turn one layout into another with as many shards a dimension.

    Every device is the target of one pair and the source of one: a device that
    already holds what it needs sends to itself, the others are matched in order.
    """
    pairs: list[tuple[int, int]] = []
    sources = _holders(before)
    for shard, targets in _holders(after).items():
        givers = sources[shard]
        staying = set(givers) & set(targets)
        pairs.extend((device, device) for device in staying)
        moving = [device for device in givers if device not in staying]
        arriving = [device for device in targets if device not in staying]
        pairs.extend(zip(moving, arriving, strict=True))
    return tuple(sorted(pairs))
