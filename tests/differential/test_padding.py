"""`sdy-pad-for-divisibility` against C++ and by numbers, at random."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.equal_text import run_ours
from tests.differential.oracle import Oracle
from tests.differential.padded_programs import padded_program
from tests.differential.partitioning import Array, arguments_of
from ttxdsl.dialects import sdy
from ttxdsl.errors import UnsupportedError
from ttxdsl.interpreters.run import run_module
from ttxdsl.ir.tensors import shape_of
from ttxdsl.program import parse_program
from ttxdsl.transforms.shardy.meshes import mesh_lookup

NAME = "sdy-pad-for-divisibility"


def results_of(text: str, arguments: list[Array]) -> list[Array]:
    return [*run_module(parse_program(text), arguments)]


def same_numbers(text: str, padded: str, seed: int) -> bool:
    """Whether both compute the same of random arguments."""
    arguments = arguments_of(parse_program(text), seed, tagged=False)
    pairs = zip(results_of(text, arguments), results_of(padded, arguments), strict=True)
    return all(
        one.shape == other.shape and np.allclose(one, other) for one, other in pairs
    )


def is_even(text: str) -> bool:
    """Whether every value is divided by its sharding."""
    module = parse_program(text)
    mesh_of = mesh_lookup(module)
    shardings = (
        (value, sdy.get_sharding(value)) for op in module.walk() for value in op.results
    )
    return all(
        size % dim.sharded_size(mesh_of(sharding)) == 0
        for value, sharding in shardings
        if sharding is not None
        for size, dim in zip(shape_of(value), sharding.dims, strict=True)
    )


def check_padding(oracle: Oracle, seed: int) -> list[Outcome]:
    text = oracle.run(padded_program(seed))
    (theirs,) = oracle.run_all([(text, f"func.func({NAME})")])
    try:
        ours = run_ours(text, NAME)
    except UnsupportedError:
        assert theirs is None
        return [(NAME, "both refuse")]
    assert is_even(ours) and same_numbers(text, ours, seed)
    if theirs is None:
        return [(NAME, "C++ refuses or crashes")]
    if oracle.run(ours) == theirs:
        return [(NAME, "equal")]
    # it sums over the surplus, which may be zero by chance, or leaves values uneven
    assert "stablehlo.reduce" in theirs or not is_even(theirs), theirs
    return [(NAME, "C++ sums over the surplus")]


def test_random_padding(oracle: Oracle) -> None:
    outcomes = [one for seed in range(40) for one in check_padding(oracle, seed)]
    assert outcomes.count((NAME, "equal")) > 10


@pytest.mark.fuzz
def test_many_random_paddings() -> None:
    run_campaign("padding", partial(asking, Oracle, check_padding))
