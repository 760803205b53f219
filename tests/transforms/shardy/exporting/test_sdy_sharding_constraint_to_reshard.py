"""`sdy-sharding-constraint-to-reshard` leaves what the C++ pass leaves."""

import pytest

from tests.differential.oracle import Oracle
from tests.transforms.constraint_programs import constraint_program
from tests.transforms.run_pass import run_passes

NAME = "sdy-sharding-constraint-to-reshard"
CPP = f"func.func({NAME})"


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_like_cpp(oracle: Oracle, seed: int):
    text = constraint_program(seed)
    after = run_passes(text, NAME)
    assert oracle.run(after) == oracle.run(text, CPP)
    assert after.count("sdy.reshard") == text.count("sdy.sharding_constraint")
