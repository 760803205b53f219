"""Bytes by the ring model."""

from __future__ import annotations

import pytest

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.collectives import (
    AllGather,
    AllReduce,
    AllSlice,
    AllToAll,
    AllToAllParam,
    CollectivePermute,
    ReduceScatter,
)
from ttxdsl.sharding.cost import (
    Ring,
    collective_bytes,
    plan_bytes,
    ring_bytes,
    tensor_bytes,
)
from ttxdsl.sharding.spec import Mesh, TensorSharding

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
    assert tensor_bytes((3, 3), 4) == 5
    assert tensor_bytes((), 32) == 4


def test_collectives_of_a_tensor():
    before = sharding((x,), (y,))  # 64x64 f32 in 16x32 shards of 2048 bytes
    shape = (64, 64)

    def sent(step: object) -> int:
        return collective_bytes(step, before, MESH, shape, 32)  # type: ignore[arg-type]

    assert sent(AllGather(((x,), ()))) == 3 * 2048
    assert sent(AllGather(((x,), (y,)))) == 7 * 2048
    assert sent(AllSlice(((), (one,)))) == 0
    assert sent(AllToAll((AllToAllParam((y,), 1, 0),))) == 1024
    assert sent(CollectivePermute(((x,), (y,)), "mesh")) == 0
    assert sent(CollectivePermute(((x, one), (y,)), "mesh")) == 0
    assert sent(CollectivePermute(((x,), (y,)), "other")) == 2048
    whole = sharding((), ())
    assert collective_bytes(AllReduce((y,)), whole, MESH, shape, 16) == 8192
    assert collective_bytes(ReduceScatter(((x,), ())), whole, MESH, shape, 16) == 6144


def test_all_reduce_costs_scatter_and_gather():
    shape, whole = (64, 64), sharding((), ())
    parts = (ReduceScatter(((x,), ())), AllGather(((x,), ())))
    assert plan_bytes(parts, whole, MESH, shape, 32) == collective_bytes(
        AllReduce((x,)), whole, MESH, shape, 32
    )


def test_uneven_shards_count_as_padded():
    before = sharding((x,))
    assert collective_bytes(AllGather(((x,),)), before, MESH, (10,), 8) == 9
