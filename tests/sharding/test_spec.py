import itertools

import numpy as np
import pytest

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh, mesh_positions
from ttxdsl.sharding.spec import DimSharding, TensorSharding

MESH = Mesh((("x", 2), ("y", 4)))
X, Y = AxisRef("x"), AxisRef("y")


def dim(*axes: AxisRef) -> DimSharding:
    return DimSharding(axes)


def test_mesh() -> None:
    assert MESH.total_size == 8
    assert MESH.axis_size("y") == 4
    assert MESH.axis_index("y") == 1
    assert MESH.has_axis("x") and not MESH.has_axis("z")
    assert MESH.devices() == (0, 1, 2, 3, 4, 5, 6, 7)
    assert str(MESH) == '<["x"=2, "y"=4]>'
    assert not MESH.is_empty and not MESH.is_maximal
    with pytest.raises(ValueError, match='unknown axis name: "z"; the mesh is'):
        MESH.axis_size("z")
    with pytest.raises(ValueError, match='unknown axis name: "z"'):
        MESH.axis_index("z")


def test_empty_and_maximal_mesh() -> None:
    assert Mesh(()).is_empty
    maximal = Mesh((), (3,))
    assert maximal.is_maximal and not maximal.is_empty
    assert maximal.devices() == (3,)
    assert maximal.total_size == 1


def test_device_ids_order_the_positions() -> None:
    mesh = Mesh((("x", 2), ("y", 2)), (0, 2, 1, 3))
    assert mesh.devices() == (0, 2, 1, 3)
    assert mesh.same_axes(Mesh((("x", 2), ("y", 2))))
    assert mesh.without_device_ids() == Mesh((("x", 2), ("y", 2)))
    assert str(mesh) == '<["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>'


def test_uneven_dimension_names_dimension_axes_and_sizes() -> None:
    sharding = TensorSharding.closed("m", [(), (X, AxisRef("y", 1, 2))])
    with pytest.raises(ValueError) as error:
        sharding.local_shape((4, 6), MESH)
    assert str(error.value) == (
        "dimension 1 of size 6 is not divisible by 4, the product of its axes "
        '{"x"=2, "y":(1)2=2}'
    )
    with pytest.raises(ValueError, match="has 2 dimensions, the tensor 1"):
        sharding.local_shape((4,), MESH)


def test_positions_are_row_major() -> None:
    assert list(mesh_positions(Mesh((("x", 2), ("y", 2))))) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    assert list(mesh_positions(Mesh((), (3,)))) == [()]


@pytest.mark.parametrize(
    "axes_per_dim",
    [
        [(X,), (Y,)],
        [(Y, X), ()],
        [(AxisRef("y", 2, 2),), (X, AxisRef("y", 1, 2))],
        [(), (AxisRef("y", 1, 2),)],
    ],
)
def test_shards_tile_the_tensor(axes_per_dim: list[tuple[AxisRef, ...]]) -> None:
    """The shards of all devices, put back in place, are the tensor."""
    tensor = np.arange(8 * 16).reshape(8, 16)
    sharding = TensorSharding.closed("m", axes_per_dim)
    copies = np.zeros_like(tensor)
    for position in mesh_positions(MESH):
        part = sharding.shard_slices(position, tensor.shape, MESH)
        assert tensor[part].shape == sharding.local_shape(tensor.shape, MESH)
        copies[part] += 1
    assert (copies == MESH.total_size // sharding.sharded_size(MESH)).all()


def test_uneven_shards_are_cut_at_the_end() -> None:
    mesh = Mesh((("x", 4),))
    sharding = TensorSharding.closed("m", [(AxisRef("x"),)])
    parts = [sharding.shard_slices((i,), (5,), mesh)[0] for i in range(4)]
    assert parts == [slice(0, 2), slice(2, 4), slice(4, 5), slice(5, 5)]


def test_values_are_hashable_and_equal_by_content() -> None:
    one, other = (TensorSharding.closed("m", [(X,)]) for _ in itertools.repeat(0, 2))
    assert one == other and hash(one) == hash(other)
