"""A name that jaxlib knows is one that `xdsl-opt` knows, with the same options."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tests.differential.made_by_jax import made_by_jax
from ttxdsl.universe import PASSES, load

# the eighth stage, as tt-mlir runs it
OTHER_DEFAULTS = {("sdy-insert-explicit-reshards", "enable-full-version"): "true"}

# what C++ has not: the plan that sends least, and options of newer jaxlibs
OWN_OPTIONS = {
    "sdy-reshard-to-collectives": {"cheapest"},
    "sdy-lift-inlined-meshes": {"use-single-device-mesh-names"},
    "sdy-drop-sharding-and-mesh": {"keep-module-sharding-metadata"},
    "sdy-insert-explicit-reshards": {"mark-partial-result-with-unreduced-axes"},
    "sdy-export-pipeline": {
        "inline-meshes",
        "mark-partial-result-with-unreduced-axes",
        "newest",
    },
    "sdy-propagation-pipeline": {"newest"},
}

# stage 11 does what Shardy's own per-device partitioner does: docs/evidence/differences.md
NOT_HERE = {
    "sdy-convert-global-to-local",
    "sdy-optimize-collectives",
    "sdy-pad-for-divisibility",
    "sdy-per-instruction-partitioning",
    "sdy-resolve-permutation-factors",
    "sdy-resolve-single-device-sharding",
}

# what the newest jaxlib has beside what ours has
NEWEST_PASSES: dict[str, dict[str, str]] = {"sdy-verify-unreduced-axes": {}}
NEWEST_OPTIONS: dict[str, dict[str, str]] = {
    "sdy-drop-sharding-and-mesh": {"keep-module-sharding-metadata": "false"},
    "sdy-insert-explicit-reshards": {
        "mark-partial-result-with-unreduced-axes": "false"
    },
    "sdy-lift-inlined-meshes": {"use-single-device-mesh-names": "false"},
}
NEWEST_OF_PIPELINES = {
    "sdy-export-pipeline": {"inline-meshes", "mark-partial-result-with-unreduced-axes"},
    "sdy-import-pipeline": set[str](),
    "sdy-propagation-pipeline": set[str](),
}
"""Their options cannot be asked for; in the fuzzing test all words are tried."""

PARTITIONER_OPTIONS = {
    "enable-per-instruction-partitioning",
    "partition-count",
    "partitioner-stage",
    "per-instruction-partitioning-filter",
    "replica-count",
    "rng-bit-generator-unsafe",
}
"""Options of the export pipeline for the passes of `NOT_HERE`."""


def options_of(name: str) -> dict[str, str]:
    """Our options of a pass, as C++ writes them and their defaults."""
    return {
        field.name.replace("_", "-"): str(field.default).lower()
        if isinstance(field.default, bool)
        else str(field.default)
        for field in fields(load(PASSES[name]))
    }


def test_every_pass_with_every_option() -> None:
    (registered,) = made_by_jax("tests.differential.registered")
    assert registered.keys() - PASSES.keys() <= NOT_HERE
    for name in registered.keys() - NOT_HERE:
        ours, theirs = options_of(name), registered[name]
        assert ours.keys() == theirs.keys() | OWN_OPTIONS.get(name, set()), name
        for option, default in theirs.items():
            expected = OTHER_DEFAULTS.get((name, option), default)
            assert expected in (None, ours[option]), (name, option)


def test_what_the_newest_has_beside(newest_python: str) -> None:
    """Every pass, every option and every default, and nothing else."""
    (registered,) = made_by_jax(
        "tests.differential.registered", "--passes", python=newest_python
    )
    (of_ours,) = made_by_jax("tests.differential.registered")
    assert registered.keys() == of_ours.keys() | NEWEST_PASSES.keys() | NOT_HERE
    for name, found in registered.items():
        if name in NEWEST_OF_PIPELINES or name in NOT_HERE:
            continue
        known = NEWEST_PASSES.get(name)
        if known is None:
            known = of_ours[name] | NEWEST_OPTIONS.get(name, {})
        assert found == known, name


def test_what_the_newest_has_is_here() -> None:
    for name, options in NEWEST_PASSES.items():
        assert options_of(name) == options
    for name, options in (*NEWEST_OPTIONS.items(), *NEWEST_OF_PIPELINES.items()):
        assert options_of(name).keys() >= set(options), name


@pytest.mark.fuzz
def test_every_word_as_an_option_of_the_newest_pipelines(newest_python: str) -> None:
    """Of 3,500 words with hyphens those that are taken are the ones known."""
    (registered,) = made_by_jax("tests.differential.registered")
    (taken,) = made_by_jax(
        "tests.differential.registered", "--options", python=newest_python
    )
    for name, beside in NEWEST_OF_PIPELINES.items():
        known = registered[name].keys() | beside
        assert set(taken[name]) - PARTITIONER_OPTIONS == known, name
