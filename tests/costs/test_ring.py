"""Bytes by the ring model."""

import pytest

from ttxdsl.costs.ring import Ring, ring_bytes
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding

MESH = Mesh((("x", 4), ("y", 2), ("one", 1)))
x, y, one = (AxisRef(name) for name in ("x", "y", "one"))


def sharding(*dims: tuple[AxisRef, ...]) -> TensorSharding:
    return TensorSharding.closed("mesh", dims)


@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        (Ring.ALL_GATHER, 300),
        (Ring.REDUCE_SCATTER, 75),
        (Ring.ALL_REDUCE, 150),
        (Ring.ALL_TO_ALL, 75),
        (Ring.COLLECTIVE_PERMUTE, 100),
        (Ring.ALL_SLICE, 0),
    ],
)
def test_ring(kind: Ring, sent: int):
    assert ring_bytes(kind, 100, 4) == sent
    assert ring_bytes(kind, 100, 1) == 0
    with pytest.raises(ValueError, match="at least one device"):
        ring_bytes(kind, 100, 0)


def test_fractions_are_rounded_up():
    assert ring_bytes(Ring.ALL_TO_ALL, 10, 4) == 8
