from __future__ import annotations

from ttxdsl.conversion.stablehlo_to_ttir.placement import place
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import groups_along, indices_along
from ttxdsl.sharding.spec import DimSharding, TensorSharding

MESH = Mesh((("x", 2), ("y", 4)))
X, Y = AxisRef("x"), AxisRef("y")


def sharding(*dims: tuple[AxisRef, ...]) -> TensorSharding:
    return TensorSharding("mesh", tuple(DimSharding(axes) for axes in dims))


def test_each_axis_names_its_dimension():
    placed = place(sharding((Y,), (), (X,)), MESH)
    assert placed.shard_shape == (4, 1, 2)
    assert placed.shard_dims == (2, 0)
    assert placed.is_plain
    assert not placed.is_replicated


def test_several_axes_on_a_dimension_in_mesh_order():
    placed = place(sharding((X, Y)), MESH)
    assert (placed.shard_shape, placed.shard_dims) == ((8,), (0, 0))
    assert placed.is_plain


def test_axes_out_of_mesh_order_move_data():
    placed = place(sharding((Y, X)), MESH)
    assert (placed.shard_shape, placed.shard_dims) == ((8,), (0, 0))
    # the device (x=1, y=0), position 4, holds part 1, which mesh_shard gave to 1
    assert (1, 4) in placed.moves
    assert sorted(source for source, _ in placed.moves) == list(range(8))


def test_nothing_is_split():
    placed = place(sharding((), ()), MESH)
    assert (placed.shard_shape, placed.shard_dims) == ((1, 1), (-1, -1))
    assert placed.is_replicated


def test_axes_of_one_device_split_nothing():
    mesh = Mesh((("x", 1), ("y", 2)))
    assert place(sharding((X,)), mesh).shard_dims == (-1, -1)
    assert place(sharding((X,), (Y,)), mesh).shard_dims == (0, 1)
    assert place(sharding((Y, X)), mesh).is_plain


def test_sub_axes_are_picked_afterwards():
    half = AxisRef("y", 1, 2)
    placed = place(sharding((half,), (X,)), MESH)
    assert (placed.shard_shape, placed.shard_dims) == ((1, 2), (1, -1))
    assert placed.picks == ((0, (half,)),)
    assert indices_along(MESH, (half,)) == (0, 0, 1, 1, 0, 0, 1, 1)
    assert groups_along(MESH, (half,)) == ((0, 2), (1, 3), (4, 6), (5, 7))
