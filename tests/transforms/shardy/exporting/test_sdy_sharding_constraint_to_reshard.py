"""`sdy-sharding-constraint-to-reshard` leaves what the C++ pass leaves."""

from __future__ import annotations

import pytest

from tests.dialects.sdy_cases import SHARDINGS, constraint, func
from tests.differential.oracle import Oracle
from tests.transforms.constraint_programs import constraint_program
from tests.transforms.run_pass import parse, run_passes
from ttxdsl.dialects import sdy
from ttxdsl.transforms.shardy.exporting.sdy_sharding_constraint_to_reshard import (
    ShardingConstraintToReshardPass,
)

NAME = "sdy-sharding-constraint-to-reshard"
CPP = f"func.func({NAME})"


@pytest.mark.parametrize(
    "sharding", [s for s in SHARDINGS if "device_ids=[5]" not in s]
)
def test_like_cpp(oracle: Oracle, sharding: str):
    text = constraint(sharding)
    assert oracle.run(run_passes(text, NAME)) == oracle.run(text, CPP)


def test_attributes_and_place_stay(oracle: Oracle):
    text = func(
        '%c = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> {unit, test.n = 1 : i32} '
        ': tensor<8x8xf32> loc("model.py":3:7)'
    )
    assert oracle.run(run_passes(text, NAME)) == oracle.run(text, CPP)
    context, module = parse(text)
    ShardingConstraintToReshardPass().apply(context, module)
    (reshard,) = (op for op in module.walk() if isinstance(op, sdy.ReshardOp))
    assert '"model.py":3:7' in str(reshard.location)
    assert reshard.result.name_hint == "c"


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_like_cpp(oracle: Oracle, seed: int):
    text = constraint_program(seed)
    after = run_passes(text, NAME)
    assert oracle.run(after) == oracle.run(text, CPP)
    assert after.count("sdy.reshard") == text.count("sdy.sharding_constraint")
