"""A common mesh says of every device what the meshes that it stands for say."""

from math import prod
from random import Random

import numpy as np
import pytest

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.common_mesh import ApartError, CommonMesh, common_mesh
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding


def index_of_devices(axes: tuple[AxisRef, ...], mesh: Mesh) -> dict[int, int]:
    """Which part of a dimension split by `axes` each device holds."""
    sharding = TensorSharding("", (DimSharding(axes),))
    positions = np.ndindex(mesh.axis_sizes)
    return {
        device: sharding.shard_index(position, mesh)[0]
        for device, position in zip(mesh.devices(), positions, strict=True)
    }


def grouped(rng: Random, letters: str, sizes: list[int], ids: list[int]) -> Mesh:
    """A mesh whose axes are runs of axes of those sizes."""
    axes: list[tuple[str, int]] = []
    for size in sizes:
        if axes and rng.random() < 0.5:
            axes[-1] = (axes[-1][0], axes[-1][1] * size)
        else:
            axes.append((letters[len(axes)], size))
    return Mesh(tuple(axes), tuple(ids) if ids != sorted(ids) else ())


def parts_of(mesh: Mesh, sizes: list[int]) -> list[AxisRef]:
    """All axes, and what they can be cut into where the fine axes end."""
    refs = [AxisRef(name) for name in mesh.axis_names]
    at = iter(sizes)
    for name, whole in mesh.axes:
        pre = 1
        while pre < whole:
            size = next(at)
            if size < whole:
                refs.append(AxisRef(name, pre, size))
            pre *= size
    return refs


@pytest.mark.parametrize("seed", range(60))
def test_devices_hold_the_same(seed: int):
    rng = Random(seed)
    fine = [rng.choice([2, 3]) for _ in range(rng.randint(1, 4))]
    devices = list(range(prod(fine)))
    if rng.random() < 0.3:
        rng.shuffle(devices)
    meshes: dict[Mesh, list[int]] = {}
    for letters in ("abcd", "efgh", "iabc"):
        order = [*range(len(fine))]
        if rng.random() < 0.5:
            rng.shuffle(order)
        ids = np.array(devices).reshape(fine).transpose(order).ravel().tolist()
        sizes = [fine[at] for at in order]
        meshes.setdefault(grouped(rng, letters, sizes, ids), sizes)
    common = common_mesh({mesh: mesh.axis_names for mesh in meshes})
    assert len(common.mesh.axes) <= len(fine)
    assert sorted(common.mesh.devices()) == sorted(devices)
    assert len(set(common.mesh.axis_names)) == len(common.mesh.axes)
    for mesh, sizes in meshes.items():
        for axis in parts_of(mesh, sizes):
            axes = common.axes_of(axis, mesh)
            assert axes is not None
            assert index_of_devices(axes, common.mesh) == index_of_devices(
                (axis,), mesh
            )


XY = Mesh((("x", 2), ("y", 4)))
Z = Mesh((("z", 8),))


def of_all(*meshes: Mesh) -> CommonMesh:
    return common_mesh({mesh: mesh.axis_names for mesh in meshes})


def test_axes_are_called_as_in_the_first_mesh_that_has_them():
    other = Mesh((("y", 4), ("x", 2)))
    assert of_all(XY, other).mesh.axes == (("x", 2), ("y_part", 2), ("x_0", 2))
    assert of_all(Z, other).mesh == other


def test_a_part_that_ends_amid_an_axis_is_none():
    twelve, common = Mesh((("z", 12),)), of_all(Mesh((("x", 3), ("y", 4))))
    assert common.mesh.axes == (("x", 3), ("y", 4))
    common = of_all(Mesh((("x", 3), ("y", 4))), twelve)
    assert common.axes_of(AxisRef("z", 1, 6), twelve) is not None
    assert common.axes_of(AxisRef("z", 1, 4), twelve) is None


def test_axes_of_size_one_stay_apart():
    one = Mesh((("u", 1), ("z", 8), ("x", 1)))
    common = common_mesh({XY: ("x", "y"), one: ("u", "z", "x")})
    assert common.mesh.axes == (*XY.axes, ("u", 1), ("x_0", 1))
    assert common.axes_of(AxisRef("x"), one) == (AxisRef("x_0"),)
    # what nobody names is left out
    assert common_mesh({XY: ("x",), one: ("z",)}).mesh == XY


@pytest.mark.parametrize(
    "other",
    [
        Mesh((("a", 3), ("b", 2))),
        Mesh((("x", 2), ("y", 3)), (5, 4, 3, 2, 1, 0)),
        Mesh((("x", 6),), (0, 2, 1, 3, 4, 5)),
    ],
)
def test_meshes_that_do_not_meet(other: Mesh):
    mesh = Mesh((("x", 2), ("y", 3)))
    with pytest.raises(ApartError) as error:
        of_all(mesh, other)
    assert error.value.meshes == (mesh, other)
