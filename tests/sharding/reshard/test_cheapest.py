"""Plans that send least: they arrive, and never send more than Shardy's."""

from random import Random

import pytest

from tests.sharding.random_shardings import random_reshard
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.reshard.cheapest import cheapest_reshard, plan_bytes
from ttxdsl.sharding.reshard.plan import plan_reshard, reaches

MESH = Mesh((("x", 2), ("y", 4)))
X, Y = (AxisRef("x"),), (AxisRef("y"),)


@pytest.mark.parametrize("sizes", [(2, 4, 8), (1, 2, 3, 4, 6)])
def test_they_arrive_and_send_no_more(sizes: tuple[int, ...]):
    random, less = Random(1), 0
    for _ in range(400):
        case = random_reshard(random, sizes)
        arguments = case.source, case.target, (case.mesh, case.mesh), case.shape
        plan, cheapest = plan_reshard(*arguments), cheapest_reshard(*arguments)
        sharding = case.source
        for step in cheapest:
            sharding = step.after(sharding, case.mesh)
        assert reaches(sharding, case.target, case.mesh)
        old, new = (
            plan_bytes(one, case.source, case.mesh, case.shape)
            for one in (plan, cheapest)
        )
        assert new <= old
        less += new < old
    assert less > 5
