"""Shards and collectives against a slow reference that treats each device alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import strategies as st
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.interpreters.mesh.collectives import DeviceMesh, ReplicaMismatchError
from ttxdsl.sharding.axes import AxisRef

MESHES = [
    DeviceMesh((("x", 2),)),
    DeviceMesh((("x", 2), ("y", 4))),
    DeviceMesh((("x", 2), ("one", 1), ("y", 3))),
    DeviceMesh((("x", 2), ("y", 2), ("z", 2))),
    DeviceMesh((("x", 4), ("y", 2)), device_ids=(7, 0, 3, 4, 1, 2, 6, 5)),
]


def add(x, axes):
    return x.sum(axis=axes, keepdims=True).astype(x.dtype)


def per_device(mesh, x, rank):
    """A list of the local arrays, by position."""
    full = mesh.spread(x, rank, range(mesh.rank))
    return list(full.reshape((mesh.num_devices, *full.shape[mesh.rank :])))


def random_value(rng, mesh, local):
    lead = tuple(int(rng.choice([1, size])) for size in mesh.sizes)
    return rng.integers(-9, 9, (*lead, *local)).astype(np.float32)


def all_refs(mesh):
    """Every axis, whole or as its sub-axes of sizes (2, rest) where it has some."""
    options = []
    for name, size in mesh.axes:
        choices = [[AxisRef(name)]]
        if size == 4:
            choices.append([AxisRef(name, 1, 2), AxisRef(name, 2, 2)])
        options.append(choices)
    return options


@st.composite
def shardings(draw):
    mesh = draw(st.sampled_from(MESHES))
    refs = [r for choices in all_refs(mesh) for r in draw(st.sampled_from(choices))]
    refs = draw(st.permutations(refs))
    rank = draw(st.integers(0, 3))
    dims = [[] for _ in range(rank)]
    for ref in refs:
        where = draw(st.integers(-1, rank - 1)) if rank else -1
        if where >= 0:
            dims[where].append(ref)
    return mesh, dims


def test_a_differing_replica_is_named():
    mesh = MESHES[1]
    value = np.zeros((2, 4, 2, 3), np.float32)
    value[:, 2] = np.nan
    mesh.unshard(value, [[AxisRef("y")], []])  # replicas agree, NaN included
    value[1, 3, 1, 2] = 5
    with pytest.raises(ReplicaMismatchError) as error:
        mesh.unshard(value, [[AxisRef("y")], []])
    assert error.value.coordinates == {"x": 1, "y": 3}
    assert error.value.index == (1, 2)
    assert "(x=1, y=3) holds 5.0 at local index [1, 2]" in str(error.value)


def test_uneven_sharding_is_refused():
    with pytest.raises(InterpretationError, match=r"size 6 is not divisible by the 4"):
        MESHES[1].shard(np.arange(6), [[AxisRef("y")]])


def test_unknown_axis_and_overlapping_sub_axes_are_refused():
    with pytest.raises(InterpretationError, match="not one of the mesh"):
        MESHES[0].shard(np.arange(6), [[AxisRef("q")]])
    mesh = DeviceMesh((("x", 12),))
    with pytest.raises(InterpretationError, match="do not nest"):
        mesh.shard(np.zeros((12, 12)), [[AxisRef("x", 1, 3)], [AxisRef("x", 2, 2)]])


def test_sharding_a_value_that_differs_takes_each_devices_own_part():
    mesh = MESHES[0]
    value = np.array([[0, 1, 2, 3], [10, 11, 12, 13]])
    assert mesh.shard(value, [[AxisRef("x")]]).tolist() == [[0, 1], [12, 13]]


# collectives


def group_choices(mesh):
    """Groups along whole axes in both orders, and some that no axis names."""
    n = mesh.num_devices
    found = [((i,) for i in range(n))]
    for count in range(1, mesh.rank + 1):
        for axes in itertools.permutations(range(mesh.rank), count):
            found.append(mesh.axis_groups(axes))
    found.append(tuple((i, n - 1 - i) for i in range(n // 2)))
    found.append(tuple((i + 1, i) for i in range(0, n, 2)))
    return [tuple(tuple(group) for group in groups) for groups in found]


CASES = [
    pytest.param(mesh, groups, id=f"{'x'.join(map(str, mesh.sizes))}-{groups}")
    for mesh in MESHES
    for groups in dict.fromkeys(group_choices(mesh))
    if sum(map(len, groups)) == mesh.num_devices
]


def check(mesh, got, rank, wanted):
    for position, local in enumerate(per_device(mesh, got, rank)):
        np.testing.assert_array_equal(local, wanted[position], err_msg=str(position))


@pytest.mark.parametrize(("mesh", "groups"), CASES)
def test_collectives_equal_the_reference(mesh, groups):
    rng = np.random.default_rng(len(groups))
    size = len(groups[0])
    for _ in range(3):
        x = random_value(rng, mesh, (2, size * 3, 2))
        each = per_device(mesh, x, 3)
        group_of = {p: g for g in groups for p in g}
        devices = range(mesh.num_devices)

        sums = [sum(each[q] for q in group_of[p]) for p in devices]
        check(mesh, mesh.all_reduce(x, 3, groups, add), 3, sums)

        gathered = [np.concatenate([each[q] for q in group_of[p]], 1) for p in devices]
        check(mesh, mesh.all_gather(x, 3, 1, groups), 3, gathered)

        sliced = [part_of(each[p], size, group_of[p].index(p)) for p in devices]
        check(mesh, mesh.all_slice(x, 3, 1, groups), 3, sliced)

        scattered = [part_of(sums[p], size, group_of[p].index(p)) for p in devices]
        check(mesh, mesh.reduce_scatter(x, 3, 1, groups, add), 3, scattered)

        for concat in (0, 1, 2):
            exchanged = [
                np.concatenate(
                    [part_of(each[q], size, group_of[p].index(p)) for q in group_of[p]],
                    concat,
                )
                for p in devices
            ]
            got = mesh.all_to_all(x, 3, 1, concat, groups)
            check(mesh, got, 3, exchanged)

        sent = [each[group_of[p][0]] for p in devices]
        check(mesh, mesh.collective_broadcast(x, 3, groups), 3, sent)


def part_of(array, size, index):
    return np.split(array, size, 1)[index]


def test_all_reduce_takes_groups_of_several_sizes():
    mesh = DeviceMesh((("x", 5),))
    x = np.arange(5.0).reshape(5, 1)
    got = mesh.all_reduce(x, 1, ((0, 3), (1, 2, 4)), add)
    assert got.ravel().tolist() == [3, 7, 7, 3, 7]


def test_groups_that_leave_a_device_out_are_refused():
    with pytest.raises(InterpretationError, match="name 2 of 8 devices"):
        MESHES[1].all_reduce(np.ones((2, 4, 1)), 1, ((0, 5),), add)


# process ids


GRID = DeviceMesh((("replica", 4), ("partition", 2)), num_partitions=2)


def test_groups_name_processes_not_positions():
    assert MESHES[4].positions_of(((7, 0),)) == ((0, 1),)
    with pytest.raises(InterpretationError, match="process 8 is not one of the 8"):
        MESHES[4].positions_of(((7, 8),))


def test_an_array_of_another_mesh_is_refused():
    with pytest.raises(InterpretationError, match=r"leading extents \(3, 2\)"):
        GRID.lift(np.zeros((3, 2, 5)), 1)


def test_parts_by_a_table_and_back():
    mesh = DeviceMesh((("x", 2), ("y", 2)))
    x = np.arange(8).reshape(4, 2)
    # the devices of a column hold the same half
    held = mesh.place(x, (2, 1), (1, 0, 1, 0))
    assert held.shape == (1, 2, 2, 2)
    np.testing.assert_array_equal(held[0, 0], x[2:])
    np.testing.assert_array_equal(mesh.collect(held, (2, 1), (1, 0, 1, 0)), x)
    quarters = mesh.place(x, (2, 2), (3, 1, 2, 0))
    np.testing.assert_array_equal(quarters[0, 0], x[2:, 1:])
    np.testing.assert_array_equal(mesh.collect(quarters, (2, 2), (3, 1, 2, 0)), x)


def test_parts_that_should_be_the_same():
    mesh = DeviceMesh((("x", 2), ("y", 2)))
    held = np.arange(8.0).reshape(2, 2, 2, 1)
    with pytest.raises(ReplicaMismatchError) as caught:
        mesh.collect(held, (2, 1), (0, 1, 0, 1))
    assert caught.value.coordinates == {"x": 1, "y": 0}


def test_summands_by_a_table_and_back():
    mesh = DeviceMesh((("x", 2), ("y", 2)))
    x = np.arange(8).reshape(4, 2)
    halves, summands = (0, 1, 0, 1), (0, 0, 1, 1)
    held = mesh.first_summands(mesh.place(x, (2, 1), halves), 2, summands)
    np.testing.assert_array_equal(held[0, 1], x[2:])
    assert not held[1].any()
    whole = mesh.collect(held + 1, (2, 1), halves, summands)
    np.testing.assert_array_equal(whole, x + 2)
    with pytest.raises(InterpretationError, match="no device holds"):
        mesh.collect(held, (2, 1), halves, halves)
    with pytest.raises(ReplicaMismatchError):
        mesh.collect(held, (1, 1), (0, 0, 0, 0), summands)
