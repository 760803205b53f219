"""The devices that arrays of JAX are on."""

import sys
from typing import Any

from ttxdsl.diagnostics.errors import CompileError


def device_ids(arrays: Any) -> tuple[int, ...]:
    """Return the ids of the devices of arrays in the order in which a program numbers them.

    Args:
        arrays: a tree of arrays, or of their shapes with shardings.

    Returns:
        Nothing where that is the order of their ids, or nobody says on which they are.

    Raises:
        CompileError: two arrays are on other devices, or on the same in another order.
    """
    jax: Any = sys.modules.get("jax")
    if jax is None:  # nobody has arrays of it
        return ()
    orders: dict[tuple[int, ...], None] = {}
    for leaf in jax.tree.leaves(arrays):
        sharding: Any = getattr(leaf, "sharding", None)
        mesh: Any = getattr(sharding, "mesh", None)
        if isinstance(mesh, jax.sharding.AbstractMesh) or sharding is None:
            continue
        devices = sharding._device_assignment if mesh is None else mesh.devices.flat
        ids = tuple(device.id for device in devices)
        if len(ids) > 1:
            orders.setdefault(ids)
    if len(orders) > 1:
        raise CompileError(
            "the arrays are on several sets of devices, or in several orders of them",
            hint="show them one by one",
        )
    ids = next(iter(orders), ())
    return () if ids == tuple(range(len(ids))) else ids
