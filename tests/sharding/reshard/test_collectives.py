"""What each collective makes of a sharding, and where it cannot be applied."""

import pytest

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.reshard.collectives import (
    AllReduce,
    AllSlice,
    AllToAll,
    AllToAllParam,
    CollectivePermute,
    without_suffix,
)
from ttxdsl.sharding.spec import TensorSharding

MESH = Mesh((("x", 4), ("y", 2), ("z", 2)))
x, y, z = (AxisRef(name) for name in "xyz")
x_major, x_minor = AxisRef("x", 1, 2), AxisRef("x", 2, 2)


def sharding(*dims: tuple[AxisRef, ...]) -> TensorSharding:
    return TensorSharding.closed("mesh", dims)


def test_suffix_inside_an_axis():
    assert without_suffix((y, x), (x_minor,), MESH) == (y, x_major)
    assert without_suffix((y, x), (x,), MESH) == (y,)
    assert without_suffix((y, x), (y, x), MESH) == ()
    with pytest.raises(ValueError, match="not a suffix"):
        without_suffix((y, x), (y,), MESH)
    with pytest.raises(ValueError, match="not a suffix"):
        without_suffix((x,), (x_major,), MESH)
    with pytest.raises(ValueError, match="not a suffix"):
        without_suffix((), (x,), MESH)


def test_all_slice_along_a_used_axis():
    with pytest.raises(ValueError, match="cannot both be used"):
        AllSlice(((), (x_major,))).after(sharding((x,), ()), MESH)
    partial = sharding((), ()).with_unreduced((y,))
    with pytest.raises(ValueError, match="cannot both be used"):
        AllSlice(((y,), ())).after(partial, MESH)


def test_all_to_all_moves_a_suffix():
    step = AllToAll((AllToAllParam((y,), 0, 1),))
    assert step.after(sharding((x, y), (z,)), MESH) == sharding((x,), (z, y))
    with pytest.raises(ValueError, match="not a suffix"):
        step.after(sharding((y, x), ()), MESH)


def test_collective_permute_keeps_shard_sizes():
    before = sharding((x,), ())
    step = CollectivePermute(((y, z), ()), "mesh")
    assert step.after(before, MESH) == sharding((y, z), ())
    with pytest.raises(ValueError, match="4 != 2"):
        CollectivePermute(((y,), ()), "mesh").after(before, MESH)
    with pytest.raises(ValueError, match="cannot both be used"):
        CollectivePermute(((y, z), (y,)), "mesh").after(sharding((x,), (y,)), MESH)


def test_all_reduce_ends_unreduced():
    before = sharding((x,), ()).with_unreduced((y, z))
    after = AllReduce((y,)).after(before, MESH)
    assert after == sharding((x,), ()).with_unreduced((z,))
    with pytest.raises(ValueError, match="shard the tensor"):
        AllReduce((x_minor,)).after(before, MESH)
