"""The mesh that tiled shardings are over, found from where they put their devices.

A tiling that comes from a mesh lists the devices in the order of the mesh's axes, each
axis (or some of it) belonging to one dimension: as an array of the mesh's shape whose
dimensions were put in another order.

Source: XLA's import of shardings into Shardy finds such a mesh for devices in their
natural order; here they may be in another, the same for all.
"""

from collections.abc import Sequence

from ttxdsl.sharding.devices.hlo import HloKind, HloSharding
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.mixed_radix import (
    Digits,
    axis_sizes,
    cut_digits,
    mixed_radix,
    places_in,
)


def digits_of(sharding: HloSharding, order: Sequence[int]) -> Digits | None:
    """The digits that each dimension of a tiling counts in; None if it counts not so.

    Devices that hold the same are in any order, so that they are put in the mesh's.

    Args:
        order: the devices in the mesh's order.
    """
    if len(order) != len(sharding.devices):
        return None
    places = places_in(order, sharding.devices)
    same = {
        sharding.rank + index
        for index, kind in enumerate(sharding.subgroups)
        if kind is HloKind.REPLICATED
    }
    if same:
        tiles = [0]  # the number of each device's tile
        for dim, size in enumerate(sharding.dims):
            steps = [0] * size if dim in same else range(size)
            tiles = [tile * size + step for tile in tiles for step in steps]
        holders: dict[int, list[int]] = {}
        for at, tile in enumerate(tiles):
            holders.setdefault(tile, []).append(at)
        for held_at in holders.values():
            in_order = sorted(places[at] for at in held_at)
            for at, place in zip(held_at, in_order, strict=True):
                places[at] = place
    digits = mixed_radix(places)
    return None if digits is None else cut_digits(digits, sharding.dims)


def mesh_of_tilings(tilings: Sequence[HloSharding]) -> Mesh:
    """Return the mesh with the fewest axes that describes all tilings.

    Its devices are in their natural order if that describes them, otherwise in that of
    the first tiling that does.

    Args:
        tilings: at least one; all of the same number of devices.

    Raises:
        ValueError: there is none.
    """
    size = len(tilings[0].devices)
    listed = sorted(tilings, key=lambda tiling: HloKind.REPLICATED in tiling.subgroups)
    orders = dict.fromkeys([tuple(range(size)), *(tiling.devices for tiling in listed)])
    for natural, order in zip((True, *[False] * len(orders)), orders, strict=False):
        digits: list[Digits] = []
        for tiling in tilings:
            digits_of_tiling = digits_of(tiling, order)
            if digits_of_tiling is None:
                break
            digits.append(digits_of_tiling)
        else:
            sizes = axis_sizes(size, digits)
            if sizes is not None:
                axes = tuple((f"_axis_{index}", n) for index, n in enumerate(sizes))
                return Mesh(axes, () if natural else order)
    raise ValueError("no order of axes of a mesh")
