from __future__ import annotations

import pytest

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import (
    Groups,
    Strategy,
    axes_of_groups,
    expand_groups,
)

MESH = Mesh((("x", 2), ("y", 4)))


@pytest.mark.parametrize(
    ("groups", "axes"),
    [
        ([[0, 1, 2, 3], [4, 5, 6, 7]], (AxisRef("y"),)),
        ([[0, 4], [1, 5], [2, 6], [3, 7]], (AxisRef("x"),)),
        ([[0, 1, 2, 3, 4, 5, 6, 7]], (AxisRef("x"), AxisRef("y"))),
        ([[0, 2], [1, 3], [4, 6], [5, 7]], (AxisRef("y", 1, 2),)),
        ([[0, 1], [2, 3], [4, 5], [6, 7]], (AxisRef("y", 2, 2),)),
        ([[k] for k in range(8)], ()),
    ],
)
def test_axes(groups: list[list[int]], axes: tuple[AxisRef, ...]):
    assert axes_of_groups(MESH, groups) == axes


@pytest.mark.parametrize(
    "groups",
    [
        [[0, 1, 2, 3]],  # half of the devices
        [[0, 1], [2, 3], [4, 6], [5, 7]],  # not the same axes everywhere
        [[0, 3], [1, 2], [4, 7], [5, 6]],  # two parts of y vary together
        [[0, 1, 2], [3, 4, 5, 6, 7]],
        [],
    ],
)
def test_no_axes(groups: list[list[int]]):
    assert axes_of_groups(MESH, groups) is None


def test_explicit_device_order():
    mesh = Mesh((("x", 2), ("y", 2)), (0, 2, 1, 3))
    assert axes_of_groups(mesh, [[0, 1], [2, 3]]) == (AxisRef("x"),)
    assert axes_of_groups(mesh, [[0, 2], [1, 3]]) == (AxisRef("y"),)


def test_axes_that_are_no_power_of_two():
    mesh = Mesh((("x", 6),))
    assert axes_of_groups(mesh, [[0, 3], [1, 4], [2, 5]]) == (AxisRef("x", 1, 2),)
    assert axes_of_groups(mesh, [[0, 1, 2], [3, 4, 5]]) == (AxisRef("x", 2, 3),)


def test_axes_of_one_device_take_no_part():
    mesh = Mesh((("x", 1), ("y", 2)))
    assert axes_of_groups(mesh, [[0, 1]]) == (AxisRef("y"),)


def processes(groups: Groups, strategy: Strategy) -> list[list[tuple[int, int]]]:
    """(replica, partition) of four replicas of two partitions."""
    found = expand_groups(groups, strategy, 8, 2)
    return [[divmod(process, 2) for process in group] for group in found]


def test_strategies_follow_the_specification():
    assert processes(((0, 1), (2, 3)), "cross_replica") == [
        [(0, 0), (1, 0)],
        [(0, 1), (1, 1)],
        [(2, 0), (3, 0)],
        [(2, 1), (3, 1)],
    ]
    assert processes(((0, 1),), "cross_partition") == [
        [(r, 0), (r, 1)] for r in range(4)
    ]
    assert processes(((0, 1), (2, 3)), "cross_replica_and_partition") == [
        [(0, 0), (1, 0), (0, 1), (1, 1)],
        [(2, 0), (3, 0), (2, 1), (3, 1)],
    ]
    assert processes(((0, 1, 2, 3), (4, 5, 6, 7)), "flattened_ids") == [
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        [(2, 0), (2, 1), (3, 0), (3, 1)],
    ]


@pytest.mark.parametrize(
    ("strategy", "groups"),
    [
        ("cross_replica", ((0,), (1,), (2,), (3,))),
        ("cross_partition", ((0, 1, 2, 3),)),
        ("cross_replica_and_partition", ((0, 1, 2, 3),)),
        ("flattened_ids", ((0, 1, 2, 3),)),
    ],
)
def test_no_groups_are_all(strategy: Strategy, groups: Groups):
    assert expand_groups((), strategy, 4, 4) == groups


def test_ids_of_one_replica_are_devices():
    assert expand_groups(((0, 2), (1, 3)), "cross_replica", 4, 4) == ((0, 2), (1, 3))
