"""The devices that hold each shard, and those that send shards to each other.

StableHLO's collectives name devices by process id. A mesh places them row-major, or
in the order of its explicit `device_ids`.
"""

from functools import cache, lru_cache

from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import Groups, indices_along
from ttxdsl.transforms.partition.layout import Layout


@cache
def shard_index_of_device(mesh: Mesh, axes: Axes) -> tuple[int, ...]:
    """For each device id its index along `axes`."""
    by_device = dict(zip(mesh.devices(), indices_along(mesh, axes), strict=True))
    return tuple(by_device[device] for device in range(len(by_device)))


def source_target_pairs(before: Layout, after: Layout) -> Groups:
    """The pairs that turn one layout into another with as many shards a dimension.

    Every device is the target of one pair and the source of one: a device that
    already holds what it needs sends to itself, the others are matched in order.
    """
    return _pairs((before.mesh, before.axes), (after.mesh, after.axes))


_Split = tuple[Mesh, tuple[Axes, ...]]


@lru_cache(maxsize=256)  # of 8,192 devices each is a megabyte
def _pairs(before: _Split, after: _Split) -> Groups:
    pairs: list[tuple[int, int]] = []
    sources = _holders(*before)
    for shard, targets in _holders(*after).items():
        givers = sources[shard]
        staying = set(givers) & set(targets)
        pairs.extend((device, device) for device in staying)
        moving = [device for device in givers if device not in staying]
        arriving = [device for device in targets if device not in staying]
        pairs.extend(zip(moving, arriving, strict=True))
    return tuple(sorted(pairs))


def _holders(mesh: Mesh, axes: tuple[Axes, ...]) -> dict[tuple[int, ...], list[int]]:
    """For each shard (one index a dimension) the devices that hold it, in order."""
    shards = zip(*(indices_along(mesh, along) for along in ((), *axes)), strict=True)
    holders: dict[tuple[int, ...], list[int]] = {}
    for shard, device in zip(shards, mesh.devices(), strict=True):
        holders.setdefault(shard, []).append(device)
    return holders
