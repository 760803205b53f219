"""Shardy's pipelines change where a program is computed, and not what."""

import pytest

from tests.differential.campaign import Outcome, run_campaign
from tests.differential.equal_text import run_ours
from tests.differential.partitioning import arguments_of, assert_same
from tests.differential.random_programs import FAMILIES, random_program
from tests.differential.random_writer import Options
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import parse_program

EXPLICIT = "enable-insert-explicit-collectives=true"
CMV1 = "remove-all-gather-reduce-scatter-for-cmv1=true"
IMPORT = "sdy-import-pipeline{dedup-functions-fully=true},sdy-user-priority-propagate"
ONE_DEVICE_CAN = tuple(
    name for name in FAMILIES if name not in ("calls", "linear_algebra")
)
PIPELINES = (
    "sdy-propagation-pipeline",
    "sdy-explicit-gather-scatter-batching",
    f"{IMPORT},sdy-export-pipeline{{{EXPLICIT}}}",
    f"{IMPORT},sdy-export-pipeline{{{EXPLICIT} {CMV1}}}",
)


def check_numbers(seed: int) -> list[Outcome]:
    """What a random program computes, before and after each pipeline."""
    options = Options(
        ops=10,
        numbers=True,
        manual=False,
        priorities=seed % 3 == 0,
        families=ONE_DEVICE_CAN,
    )
    text = random_program(seed, options)
    module = parse_program(text)
    arguments = arguments_of(module, seed, tagged=False)
    expected = run_module(module, arguments)
    for pipeline in PIPELINES:
        after = run_module(parse_program(run_ours(text, pipeline)), arguments)
        for found, wanted in zip(after, expected, strict=True):
            assert_same(found, wanted)
    return [(pipeline, "equal") for pipeline in PIPELINES]


@pytest.mark.parametrize("seed", range(5))
def test_random_programs(seed: int) -> None:
    check_numbers(seed)


@pytest.mark.fuzz
def test_many_random_programs() -> None:
    run_campaign("numbers of Shardy's pipelines", check_numbers, 2_000)
