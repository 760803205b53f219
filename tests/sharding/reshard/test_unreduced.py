"""Going from whole or sharded values to partial sums."""

import pytest

from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.reshard.unreduced import ToUnreduced, plan_to_unreduced
from ttxdsl.sharding.spec import TensorSharding

MESH = Mesh((("x", 4), ("y", 2), ("z", 2)))
x, y, z = (AxisRef(name) for name in "xyz")
x_major, x_minor = AxisRef("x", 1, 2), AxisRef("x", 2, 2)


def sharding(*dims: Axes, unreduced: Axes = ()) -> TensorSharding:
    return TensorSharding.closed("mesh", dims, unreduced)


def test_from_a_part_of_an_axis():
    source, target = sharding((x,)), sharding((x_major,), unreduced=(x_minor,))
    assert plan_to_unreduced(source, target, MESH) == ToUnreduced(
        None, (), None, ((x_minor,),), target
    )


def test_unreduced_axes_on_both_sides():
    with pytest.raises(ValueError, match="the other lacks"):
        plan_to_unreduced(
            sharding((), unreduced=(x,)), sharding((), unreduced=(y,)), MESH
        )
