import os

import numpy as np
import pytest

from tests.attack.isolation import Hang, checked, limits, workers
from tests.differential.campaign import Outcome


def _dies_at_two(seed: int) -> list[Outcome]:
    if seed == 2:
        os._exit(3)
    return [("seed", "odd" if seed % 2 else "even")]


def test_a_worker_that_dies_is_a_finding_and_replaced():
    found = dict(workers(1)(_dies_at_two, range(4)))
    assert found.keys() == {0, 1, 2, 3}
    assert found[3] == [("seed", "odd")]
    assert "dies (exit code 3)" in str(found[2])


def test_time_is_limited():
    with pytest.raises(Hang), limits(0.05):
        while True:
            pass


def test_memory_is_limited():
    with pytest.raises(MemoryError), limits(memory=1 << 30):
        np.ones(1 << 30)
    np.ones(1 << 10)


def test_a_finding_is_called_by_what_and_where():
    def check(seed: int) -> list[Outcome]:
        raise KeyError(f"the name '{seed}'")

    first, second = (checked(check, seed)[1] for seed in (1, 2))
    assert isinstance(first, str) and isinstance(second, str)
    assert first.splitlines()[0] == second.splitlines()[0]
    assert first.startswith("KeyError: …")
    assert "tests/attack/test_isolation.py check" in first
