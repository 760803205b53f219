"""Numbers stay: random programs of windows, pads, slices, shifts and reversals.

`make fuzz` runs many; `FUZZ` says how many, `FUZZ_REPORT` where counts go.
"""

from collections import Counter

import pytest

from tests.differential.campaign import Outcome, run_campaign
from tests.differential.partitioning import (
    EQUAL,
    MESHES,
    partition_and_compare,
    with_even_borders,
)
from tests.differential.windowed_programs import windowed_program
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.loading.program import parse_program

MESH_NAMES = tuple(MESHES)


def check(seed: int, kinds: Counter[str] | None = None) -> Outcome:
    """Partition the program of a seed; count what it sends."""
    mesh = MESHES[MESH_NAMES[seed % len(MESH_NAMES)]]
    module = with_even_borders(parse_program(windowed_program(seed, mesh)))
    outcome = partition_and_compare(module, seed)
    if kinds is not None:
        kinds.update(one.kind for one in list_collectives(module))
    return outcome


def test_windows_over_shards() -> None:
    kinds: Counter[str] = Counter()
    outcomes = Counter(check(seed, kinds)[0] for seed in range(24))
    assert outcomes[EQUAL] >= 23
    # neighbours send, and not only whole dimensions are gathered
    assert kinds["collective_permute"] > 4


def check_seed(seed: int) -> list[Outcome]:
    return [check(seed)]


@pytest.mark.fuzz
def test_many_windows_over_shards() -> None:
    run_campaign("partitioned windows", check_seed)
