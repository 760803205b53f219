"""`sdy-resolve-permutation-factors` against both C++ and by numbers, at random."""

from __future__ import annotations

import re
from functools import partial

import pytest

from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.equal_text import run_ours
from tests.differential.newest import newest_oracle
from tests.differential.oracle import Oracle
from tests.differential.padded_programs import MOVING_OPS, padded_program
from tests.differential.test_padding import same_numbers

NAME = "sdy-resolve-permutation-factors"
PAIRS = re.compile(r"source_target_pairs = dense<.*?> : tensor<\d+x2xi64>")


def check_permutations(oracle: Oracle, seed: int) -> list[Outcome]:
    """The same text, but for the devices of an exchange, and the same numbers."""
    text = oracle.run(padded_program(seed, MOVING_OPS))
    outcomes: list[Outcome] = []
    for pipeline in (NAME, f"{NAME}{{enable-halo-exchange=false}}"):
        (theirs,) = oracle.run_all([(text, pipeline)])
        ours = oracle.run(run_ours(text, pipeline))
        assert same_numbers(text, ours, seed), ours
        if theirs is None:
            outcome = "C++ refuses or crashes"
        elif ours == theirs:
            outcome = "equal" if ours != text else "equal, nothing to do"
        else:
            assert PAIRS.sub("", ours) == PAIRS.sub("", theirs), ours
            outcome = "C++ numbers devices along the manual axes only"
        outcomes.append((pipeline, outcome))
    return outcomes


def check_newest_permutations(newest: Oracle, seed: int) -> list[Outcome]:
    """The same text, and the same numbers."""
    text = newest.run(padded_program(seed, MOVING_OPS))
    outcomes: list[Outcome] = []
    for option in ("enable-halo-exchange=true", "enable-halo-exchange=false"):
        pipeline = f"{NAME}{{{option}}}"
        (theirs,) = newest.run_all([(text, pipeline)])
        ours = newest.run(run_ours(text, f"{NAME}{{{option} newest=true}}"))
        assert same_numbers(text, ours, seed), ours
        if theirs is None:
            outcome = "C++ refuses or crashes"
        elif ours == theirs:
            outcome = "equal" if ours != text else "equal, nothing to do"
        else:
            outcome = "in other words"  # C++ leaves pads that grow shards in place
        outcomes.append((f"newest {pipeline}", outcome))
    return outcomes


def test_random_permutations(oracle: Oracle) -> None:
    outcomes = [one for seed in range(30) for one in check_permutations(oracle, seed)]
    assert sum(outcome == "equal" for _, outcome in outcomes) > 30


def test_random_permutations_of_the_newest(newest: Oracle) -> None:
    seeds = range(20)
    outcomes = [
        one for seed in seeds for one in check_newest_permutations(newest, seed)
    ]
    assert sum(outcome == "equal" for _, outcome in outcomes) > 20


@pytest.mark.fuzz
def test_many_random_permutations() -> None:
    run_campaign("permutations", partial(asking, Oracle, check_permutations))


@pytest.mark.fuzz
@pytest.mark.usefixtures("newest_python")
def test_many_random_permutations_of_the_newest() -> None:
    check = partial(asking, newest_oracle, check_newest_permutations)
    run_campaign("permutations of the newest", check)
