"""Numbers stay: the JAX corpus and random programs, partitioned over several meshes.

`make fuzz` runs many; `FUZZ` says how many, `FUZZ_REPORT` where counts go.
"""

from __future__ import annotations

import pytest

from tests.differential.campaign import Outcome, run_campaign
from tests.differential.corpus import programs
from tests.differential.partitioning import (
    EQUAL,
    MESHES,
    NOT_RUN,
    REFUSED,
    partition_and_compare,
    sharded_program,
    with_even_borders,
)
from tests.differential.random_programs import FAMILIES, Options, random_program
from ttxdsl.program import parse_program

RUNNABLE = tuple(family for family in FAMILIES if family != "calls")
"""Most custom calls have no kernel, so that most programs with some cannot be run."""


def check_random(seed: int) -> Outcome:
    families = RUNNABLE if seed % 8 else ()
    options = Options(ops=8 + seed % 10, manual=seed % 2 == 0, families=families)
    module = with_even_borders(parse_program(random_program(seed, options)))
    return partition_and_compare(module, seed)


def check_corpus(seed: int) -> Outcome:
    """The program and the mesh of a number; the numbers go round all of them."""
    round_, index = divmod(seed, len(programs()) * len(MESHES))
    which, mesh = divmod(index, len(MESHES))
    program, name = programs()[which], list(MESHES)[mesh]
    module = sharded_program(
        program.pretty, MESHES[name], f"{program.name} {name} {round_}"
    )
    if module is None:
        return NOT_RUN, "has shardings of its own"
    return partition_and_compare(module, seed)


@pytest.mark.parametrize("block", range(8))
def test_random_programs(block: int) -> None:
    outcomes = [check_random(seed)[0] for seed in range(block * 20, block * 20 + 20)]
    assert outcomes.count(EQUAL) > 10
    assert outcomes.count(REFUSED) <= 1


@pytest.mark.parametrize("block", range(8))
def test_corpus(block: int) -> None:
    """Every 40th pair of a program and a mesh."""
    total = len(programs()) * len(MESHES)
    outcomes = [check_corpus(seed)[0] for seed in range(block * 41, total, 8 * 41)]
    assert outcomes.count(EQUAL) > len(outcomes) / 2


@pytest.mark.fuzz
def test_many_random_programs() -> None:
    run_campaign("partitioned random programs", check_random)


@pytest.mark.fuzz
def test_many_corpus_programs() -> None:
    run_campaign("partitioned corpus", check_corpus)
