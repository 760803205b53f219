"""Calls of tt-mlir's through all stages: what is sent, what is local, and the numbers."""

import re

import numpy as np
import pytest

import ttxdsl
from tests.bridges.tt_mlir.call_programs import CALLS
from ttxdsl.loading.doors import PIPELINES

COLLECTIVE = re.compile(
    r"stablehlo\.(all_gather|all_reduce|all_to_all|reduce_scatter|collective_permute)"
)

EXPECTED = {
    "attention, users and heads": ([], "2x2x32x16xf32"),
    "attention, groups of heads": ([], "2x2x32x16xf32"),
    "attention, more devices than heads of keys": (["all_gather"], "4x2x32x16xf32"),
    "attention, one head of keys": ([], "2x2x32x16xf32"),
    # users are split instead while each sequence is whole
    "attention, sequences": (["all_to_all"] * 4, "1x8x32x16xf32"),
    "attention, a mask of each user": ([], "2x2x32x16xf32"),
    "decode, users and heads": ([], "1x4x2x16xf32"),
    "chunked, users and heads": ([], "4x2x32x16xf32"),
    "update cache, heads": ([], "16x2x32x16xf32"),
    # all devices write what is new of all users, or their caches would differ
    "update cache, users": (["all_gather"] * 3, "16x2x32x16xf32"),
    "fill cache, heads": ([], "16x2x32x16xf32"),
    "latent decode, users and heads": ([], "1x4x2x8xf32"),
    "latent prefill, users and heads": ([], "2x2x32x8xf32"),
    "sparse product, experts and columns": ([], "2x4x1x4x32x8xf32"),
    "sparse product, experts and depth": (["all_reduce"], "2x4x1x4x32x32xf32"),
    "sparse product back, experts and depth": (["all_reduce"], "8x4x32x32xf32"),
    "indexer, users and heads": (["all_reduce"], "2x1x32x64xf32"),
    # where a query stands, only all of them tell
    "indexer, queries": (["all_gather"] * 2, "2x1x32x64xf32"),
    "sampling, rows": ([], "4xi32"),
    "dispatch": (["all_gather"] * 2, "1x16x32x64xf32"),
    "combine, experts": ([], "4x4x32x64xf32"),
}
NOT_RUN = {"sampling, rows", "dispatch", "combine, experts"}


def result_of_call(text: str) -> str:
    found = re.search(r"custom_call @tt\.[^\n]* -> \(?tensor<([^>]*)>", text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_on_each_device(name: str):
    program = ttxdsl.load(CALLS[name])
    made = program.partition(version="2026")
    collectives, local = EXPECTED[name]
    assert sorted(COLLECTIVE.findall(str(made))) == sorted(collectives)
    assert result_of_call(str(made)) == local
    assert not made.remarks
    if name not in NOT_RUN:
        inputs = program.random_inputs(0)
        for found, wanted in zip(
            made.simulate(inputs), program.simulate(inputs), strict=True
        ):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("version", PIPELINES)
def test_both_versions_know_the_rules(version: str):
    made = ttxdsl.load(CALLS["attention, users and heads"]).partition(version=version)
    assert result_of_call(str(made)) == "2x2x32x16xf32"
