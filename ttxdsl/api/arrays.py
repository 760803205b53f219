"""JAX's arrays, as the devices hold them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ttxdsl.api import from_jax

if TYPE_CHECKING:
    from ttxdsl.insight.show.slices import Picture


def show(arrays: Any, *, devices: bool = False) -> Picture:
    """Draw which device holds which slice of an array, or list those of a tree.

    Args:
        arrays: a `jax.Array`, a `jax.ShapeDtypeStruct` with its sharding, or a tree of such.
        devices: list every device with its slice, of one array.

    Raises:
        CompileError: JAX is not installed; arrays are on several sets of devices.
    """
    from ttxdsl.bridges.jax.arrays import device_ids
    from ttxdsl.insight.show.slices import picture_of_arrays, print_picture

    ids = device_ids(arrays)
    picture = picture_of_arrays(from_jax(_identity, arrays), ids)
    return picture.shown_by(partial(print_picture, picture=picture, devices=devices))


def _identity(array: Any) -> Any:
    return array
