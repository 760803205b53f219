"""Going from whole or sharded values to partial sums."""

from __future__ import annotations

import pytest

from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.reshard.unreduced import ToUnreduced, plan_to_unreduced
from ttxdsl.sharding.spec import DimSharding, TensorSharding

MESH = Mesh((("x", 4), ("y", 2), ("z", 2)))
x, y, z = (AxisRef(name) for name in "xyz")
x_major, x_minor = AxisRef("x", 1, 2), AxisRef("x", 2, 2)


def sharding(*dims: Axes, unreduced: Axes = ()) -> TensorSharding:
    return TensorSharding.closed("mesh", dims, unreduced)


def test_nothing_new():
    one = sharding((x,), unreduced=(y,))
    assert plan_to_unreduced(one, one, MESH) is None
    assert plan_to_unreduced(one, sharding((x,)), MESH) is None


def test_from_replicated():
    target = sharding((x,), (), unreduced=(y, z))
    source = sharding((x,), (), unreduced=(z,))
    assert plan_to_unreduced(source, target, MESH) == ToUnreduced(
        None, (y,), target, ((), ()), None
    )


def test_from_sharded():
    source, target = sharding((x, y), (z,)), sharding((x,), (z,), unreduced=(y,))
    assert plan_to_unreduced(source, target, MESH) == ToUnreduced(
        None, (), None, ((y,), ()), target
    )


def test_from_a_part_of_an_axis():
    source, target = sharding((x,)), sharding((x_major,), unreduced=(x_minor,))
    assert plan_to_unreduced(source, target, MESH) == ToUnreduced(
        None, (), None, ((x_minor,),), target
    )


def test_from_both_the_replicated_first():
    source, target = sharding((x, y)), sharding((x,), unreduced=(y, z))
    between = sharding((x, y), unreduced=(z,))
    assert plan_to_unreduced(source, target, MESH) == ToUnreduced(
        None, (z,), between, ((y,),), target
    )


def test_dimensions_that_differ_are_brought_in_line_first():
    source, target = sharding((x, y), ()), sharding((x,), (z,), unreduced=(y,))
    assert plan_to_unreduced(source, target, MESH) == ToUnreduced(
        sharding((x, y), (z,)), (), None, ((y,), ()), target
    )


def test_dimensions_take_replicated_axes():
    source = sharding((x,), ()).with_replicated((z,))
    target = sharding((), (z,), unreduced=(y,))
    plan = plan_to_unreduced(source, target, MESH)
    assert plan is not None
    assert plan.reshard == sharding((), (z,))


def test_suffix_that_does_not_become_unreduced():
    source, target = sharding((x, z)), sharding((x,), unreduced=(y,))
    plan = plan_to_unreduced(source, target, MESH)
    assert plan == ToUnreduced(sharding((x,)), (y,), target, ((),), None)


def test_openness_of_the_source_is_kept():
    source = TensorSharding("mesh", (DimSharding((x,), closed=False),))
    plan = plan_to_unreduced(source, sharding((x,), unreduced=(y,)), MESH)
    assert plan is not None
    assert plan.reshard is None
    assert plan.replicated == source.with_unreduced((y,))


def test_unreduced_axes_on_both_sides():
    with pytest.raises(ValueError, match="the other lacks"):
        plan_to_unreduced(
            sharding((), unreduced=(x,)), sharding((), unreduced=(y,)), MESH
        )


def test_parts_of_an_axis_that_cut_across_each_other():
    """Of an axis of six, the last three by two are no part of the last two by three."""
    mesh = Mesh((("a", 6),))
    shards, wanted = AxisRef("a", 2, 3), AxisRef("a", 3, 2)
    target = sharding((), unreduced=(wanted,))
    plan = plan_to_unreduced(sharding((shards,)), target, mesh)
    assert plan is not None
    assert plan.sharded is None
    assert plan.reshard == sharding(())
    assert plan.replicated_axes == (wanted,)
