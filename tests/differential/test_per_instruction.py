"""`sdy-per-instruction-partitioning` against the newest C++ and by numbers, at random."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest

from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.equal_text import run_ours
from tests.differential.newest import newest_oracle
from tests.differential.oracle import Oracle
from tests.differential.padded_programs import MOVING_OPS, OPS, padded_program
from tests.differential.partitioning import arguments_of, assert_same
from tests.differential.random_cases import EVEN_SIZES
from tests.differential.random_programs import Options, random_program
from tests.differential.test_global_to_local import COMPUTED
from tests.differential.test_padding import results_of
from ttxdsl.errors import CompileError, UnsupportedError
from ttxdsl.interpreters.mismatch import ReplicaMismatchError
from ttxdsl.program import parse_program

NAME = "sdy-per-instruction-partitioning"
FULL = (
    "sdy-insert-explicit-reshards{enable-full-version=true "
    "mark-partial-result-with-unreduced-axes=true}"
)
OPTIONS = (
    "",
    "",
    "{enable-halo-exchange=false}",
    '{filter="selectLow=2"}',
    '{filter="selectLow=1,selectHigh=4"}',
    '{filter="add,dot,reduce"}',
    "{partition-count=8}",
)


def program(seed: int) -> tuple[str, str]:
    """A program, and the passes that bring its shardings in line."""
    match seed % 3:
        case 0:
            return padded_program(seed, OPS), FULL
        case 1:
            return padded_program(seed, MOVING_OPS), FULL
        case _:
            options = Options(
                ops=8,
                sizes=EVEN_SIZES,
                devices=8,
                sharded=0.9,
                numbers=True,
                families=COMPUTED,
            )
            return random_program(seed, options), (
                "sdy-propagation-pipeline,sdy-sink-data-flow-edges,"
                f"sdy-constant-or-scalar-merger,{FULL}"
            )


def assert_computes(text: str, made: str, seed: int) -> None:
    """Hold what was made of a program to give the same numbers."""
    arguments = arguments_of(parse_program(text), seed, tagged=False)
    pairs = zip(results_of(made, arguments), results_of(text, arguments), strict=True)
    for found, wanted in pairs:
        assert_same(found, wanted)


def computes(text: str, made: str, seed: int) -> bool:
    """Whether it does."""
    try:
        assert_computes(text, made, seed)
    except (AssertionError, CompileError, ReplicaMismatchError):
        return False
    return True


def check_per_instruction(newest: Oracle, seed: int) -> list[Outcome]:
    """The same text as C++, or the same numbers."""
    text, before = program(seed)
    text = newest.run(run_ours(text, before))
    pipeline = NAME + Random(f"per instruction {seed}").choice(OPTIONS)
    (theirs,) = newest.run_all([(text, pipeline)])
    try:
        ours = newest.run(run_ours(text, pipeline))
    except UnsupportedError:
        if theirs is None:
            return [(NAME, "both refuse")]
        right = computes(text, theirs, seed)
        return [(NAME, "only ours refuses" if right else "C++ computes otherwise")]
    if ours == theirs:
        return [(NAME, "equal" if ours != text else "equal, nothing to do")]
    try:
        assert_computes(text, ours, seed)
    except ReplicaMismatchError:
        return [(NAME, "not run: replicas differ")]
    if theirs is None:
        return [(NAME, "C++ refuses or crashes")]
    if not computes(text, theirs, seed):
        return [(NAME, "C++ computes something else")]
    return [(NAME, "in other words")]


def test_random_programs_op_by_op(newest: Oracle) -> None:
    outcomes = [
        one for seed in range(12) for one in check_per_instruction(newest, seed)
    ]
    assert outcomes.count((NAME, "equal")) > 2


@pytest.mark.fuzz
@pytest.mark.usefixtures("newest_python")
def test_many_random_programs_op_by_op() -> None:
    run_campaign("op by op", partial(asking, newest_oracle, check_per_instruction))
