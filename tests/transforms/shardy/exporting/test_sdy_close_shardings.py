"""`sdy-close-shardings` leaves what the C++ pass leaves."""

import pytest

from tests.dialects.sdy_refusals import ACCEPTED
from tests.differential.oracle import Oracle
from tests.sampling import sampled
from tests.transforms.constraint_programs import constraint_program
from tests.transforms.run_pass import run_passes
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.spec import DimSharding, TensorSharding

NAME = "sdy-close-shardings"

CASES = {
    name: text
    for name, text in ACCEPTED.items()
    # the C++ pass makes an empty closed dimension with a priority and fails
    if "{?}p" not in text
    # and forgets that these have one sharding but no result
    and name not in ("per_value_none", "per_value_replicated")
}


@pytest.mark.parametrize("name", sampled(CASES, 40))
def test_like_cpp(oracle: Oracle, name: str):
    ours = run_passes(CASES[name], NAME)
    assert oracle.run(ours) == oracle.run(CASES[name], NAME)


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_like_cpp(oracle: Oracle, seed: int):
    text = constraint_program(seed)
    after = run_passes(text, NAME)
    assert oracle.run(after) == oracle.run(text, NAME)
    assert "?" not in after
    assert "replicated=" not in after


def test_closed():
    x, y = AxisRef("x"), AxisRef("y")
    sharding = TensorSharding(
        "mesh",
        (DimSharding((x,), closed=False, priority=1), DimSharding(closed=False)),
        replicated=(AxisRef("z"),),
        unreduced=(y,),
    )
    dims = (DimSharding((x,), priority=1), DimSharding())
    assert sharding.closed_like() == TensorSharding("mesh", dims, (), (y,))
    assert sharding.closed_like().closed_like() == sharding.closed_like()
