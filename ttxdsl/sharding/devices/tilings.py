"""The mesh that tiled shardings are over, found from where they put their devices.

A tiling that comes from a mesh lists the devices in the order of the mesh's axes, each
axis (or some of it) belonging to one dimension: as an array of the mesh's shape whose
dimensions were put in another order.

Source: XLA's import of shardings into Shardy finds such a mesh for devices in their
natural order; here they may be in another, the same for all.
"""

from collections.abc import Sequence

import numpy as np

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
        sharding: a tiled one.
        order: the devices in the mesh's order.
    """
    if len(order) != len(sharding.devices):
        return None
    places = np.array(places_in(order, sharding.devices)).reshape(sharding.dims)
    same = [
        sharding.rank + index
        for index, kind in enumerate(sharding.subgroups)
        if kind is HloKind.REPLICATED
    ]
    if same:
        last = range(places.ndim - len(same), places.ndim)
        moved = np.moveaxis(places, same, last)
        flat = moved.reshape(*moved.shape[: last[0]], -1)
        places = np.moveaxis(np.sort(flat, -1).reshape(moved.shape), last, same)
    numbers: list[int] = places.ravel().tolist()
    digits = mixed_radix(numbers)
    return None if digits is None else cut_digits(digits, sharding.dims)


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
    listed = sorted(tilings, key=lambda one: HloKind.REPLICATED in one.subgroups)
    orders = dict.fromkeys([tuple(range(size)), *(one.devices for one in listed)])
    for natural, order in zip((True, *[False] * len(orders)), orders, strict=False):
        digits: list[Digits] = []
        for one in tilings:
            found = digits_of(one, order)
            if found is None:
                break
            digits.append(found)
        else:
            sizes = axis_sizes(size, digits)
            if sizes is not None:
                axes = tuple((f"_axis_{index}", n) for index, n in enumerate(sizes))
                return Mesh(axes, () if natural else order)
    raise ValueError("no order of axes of a mesh")
