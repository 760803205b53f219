"""`sdy-resolve-permutation-factors` against both C++ and by numbers, at random."""

from __future__ import annotations

import re
from collections.abc import Callable
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

    def otherwise(ours: str, theirs: str) -> str:
        assert PAIRS.sub("", ours) == PAIRS.sub("", theirs), ours
        return "C++ numbers devices along the manual axes only"

    without = f"{NAME}{{enable-halo-exchange=false}}"
    return _checked(oracle, seed, {NAME: NAME, without: without}, otherwise)


def check_newest_permutations(newest: Oracle, seed: int) -> list[Outcome]:
    """The same text, and the same numbers."""
    pipelines = {
        f"{NAME}{{enable-halo-exchange={on}}}": (
            f"{NAME}{{enable-halo-exchange={on} newest=true}}"
        )
        for on in ("true", "false")
    }
    # C++ leaves pads that grow shards in place
    found = _checked(newest, seed, pipelines, lambda ours, theirs: "in other words")
    return [(f"newest {pipeline}", outcome) for pipeline, outcome in found]


def _checked(
    oracle: Oracle,
    seed: int,
    pipelines: dict[str, str],
    otherwise: Callable[[str, str], str],
) -> list[Outcome]:
    """What comes of a random program by each pipeline, theirs and ours.

    `otherwise` says what it is where the texts differ.
    """
    text = oracle.run(padded_program(seed, MOVING_OPS))
    outcomes: list[Outcome] = []
    for pipeline, own in pipelines.items():
        (theirs,) = oracle.run_all([(text, pipeline)])
        ours = oracle.run(run_ours(text, own))
        assert same_numbers(text, ours, seed), ours
        if theirs is None:
            outcome = "C++ refuses or crashes"
        elif ours == theirs:
            outcome = "equal" if ours != text else "equal, nothing to do"
        else:
            outcome = otherwise(ours, theirs)
        outcomes.append((pipeline, outcome))
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
