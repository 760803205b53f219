"""Numbers stay when values of random programs are put on one device of several."""

import random
from collections import Counter

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import OpResult

from tests.differential.campaign import Outcome, run_campaign
from tests.differential.partitioning import (
    EQUAL,
    partition_and_compare,
    with_even_borders,
)
from tests.differential.random_cases import runnable_program
from ttxdsl.dialects import sdy
from ttxdsl.loading.program import parse_program
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding


def _values(module: ModuleOp) -> list[OpResult]:
    """What functions compute, outside of regions."""
    return [
        result
        for op in module.walk()
        if isinstance(op.parent_op(), FuncOp) and op.dialect_name() != "sdy"
        for result in op.results
        if isinstance(result.type, TensorType)
    ]


def put_on_one_device(rng: random.Random, module: ModuleOp) -> None:
    """Shard one or two values onto a device, or reshard them to it."""
    (mesh, *_) = sdy.mesh_table(module).values()
    device = Mesh((), (rng.randrange(mesh.total_size),))
    values = _values(module)
    for value in rng.sample(values, min(2, len(values))):
        there = TensorSharding(device, ())
        # other results of the op would need a sharding too
        if len(value.op.results) == 1 and rng.random() < 0.5:
            sdy.set_sharding(value, there)
            continue
        moved = rng.choice((sdy.ReshardOp, sdy.ShardingConstraintOp))(value, there)
        assert value.op.parent is not None
        value.op.parent.insert_op_after(moved, value.op)
        value.replace_uses_with_if(
            moved.results[0], lambda use, moved=moved: use.operation is not moved
        )


def check(seed: int) -> list[Outcome]:
    module = with_even_borders(parse_program(runnable_program(seed)))
    if not sdy.mesh_table(module):
        return []
    put_on_one_device(random.Random(f"one device {seed}"), module)
    module.verify()
    return [partition_and_compare(module, seed)]


def test_values_on_one_device() -> None:
    outcomes = Counter(kind for seed in range(12) for kind, _ in check(seed))
    assert outcomes[EQUAL] >= 10


@pytest.mark.fuzz
def test_many_values_on_one_device() -> None:
    run_campaign("values on one device", check, 2_000)
