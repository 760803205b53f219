"""Shifts, windows and pieces of a split dimension: what crosses is sent, and no more."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

from tests.differential.campaign import run_campaign
from tests.differential.made_by_jax import EIGHT_DEVICES, made_by_jax
from tests.differential.partitioning import arguments_of, assert_same, only_moves
from tests.differential.shifted_programs import shifted_program
from ttxdsl.interpreters.run import run_module
from ttxdsl.program import make_context, parse_program
from ttxdsl.remarks import collect_remarks
from ttxdsl.reporting.collectives import list_collectives
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import compare_xla_corpus  # noqa: E402


def sent(text: str, seed: int = 0) -> tuple[int, int]:
    """Bytes a device and collectives of a program that computes what it shall."""
    whole, module = parse_program(text), parse_program(text)
    with collect_remarks():
        stages = TTStableHLOPipelinePass(verify_each=True, pad_borders=True)
        stages.apply(make_context(), module)
    for tagged in (True, False) if only_moves(whole) else (False,):
        arguments = arguments_of(whole, seed, tagged=tagged)
        pairs = zip(
            run_module(module, arguments), run_module(whole, arguments), strict=True
        )
        for found, wanted in pairs:
            assert_same(found, wanted)
    collectives = list_collectives(module)
    return sum(one.bytes_per_device for one in collectives), len(collectives)


@cache
def by_jax() -> dict[tuple[str, str], str]:
    lines = made_by_jax("tests.differential.shifts_by_jax", **EIGHT_DEVICES)
    return {(name, mesh): text for name, mesh, text in lines}


# what a device sends on eight devices, of the function and of its gradient
BYTES: dict[str, tuple[int, int]] = {}


@pytest.mark.parametrize("name", BYTES)
def test_functions_of_jax(name: str):
    forward, backward = (by_jax()[name + kind, "8"] for kind in ("", "_grad"))
    assert (sent(forward)[0], sent(backward)[0]) == BYTES[name]
