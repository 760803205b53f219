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
    "sdy-convert-global-to-local": {"replica-count", "partition-count", "newest"},
    "sdy-pad-for-divisibility": {"newest"},
    "sdy-resolve-permutation-factors": {
        "newest",
        "replica-count",
        "partition-count",
        "rng-bit-generator-unsafe",
    },
    "sdy-export-pipeline": {
        "enable-per-instruction-partitioning",
        "inline-meshes",
        "mark-partial-result-with-unreduced-axes",
        "newest",
        "partition-count",
        "partitioner-stage",
        "per-instruction-partitioning-filter",
        "replica-count",
        "rng-bit-generator-unsafe",
    },
    "sdy-propagation-pipeline": {"newest"},
}

# what the newest jaxlib has beside what ours has
_DEVICES = {"replica-count": "1", "partition-count": "1"}
_RANDOM = {"rng-bit-generator-unsafe": "true"}
NEWEST_PASSES: dict[str, dict[str, str]] = {
    "sdy-optimize-collectives": {},
    "sdy-per-instruction-partitioning": {
        "enable-halo-exchange": "true",
        "filter": "",
        **_DEVICES,
        **_RANDOM,
    },
    "sdy-resolve-single-device-sharding": _DEVICES,
    "sdy-verify-unreduced-axes": {},
}
NEWEST_OPTIONS: dict[str, dict[str, str]] = {
    "sdy-convert-global-to-local": _DEVICES,
    "sdy-drop-sharding-and-mesh": {"keep-module-sharding-metadata": "false"},
    "sdy-insert-explicit-reshards": {
        "mark-partial-result-with-unreduced-axes": "false"
    },
    "sdy-lift-inlined-meshes": {"use-single-device-mesh-names": "false"},
    "sdy-resolve-permutation-factors": {**_DEVICES, **_RANDOM},
}
NEWEST_DEFAULTS = {("sdy-convert-global-to-local", "enable-rgv3"): "true"}
NEWEST_OF_PIPELINES = {
    "sdy-export-pipeline": {
        "enable-per-instruction-partitioning",
        "inline-meshes",
        "mark-partial-result-with-unreduced-axes",
        "partition-count",
        "partitioner-stage",
        "per-instruction-partitioning-filter",
        "replica-count",
        "rng-bit-generator-unsafe",
    },
    "sdy-import-pipeline": set[str](),
    "sdy-propagation-pipeline": set[str](),
}
"""Their options cannot be asked for; in the fuzzing test all words are tried."""


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
    assert not registered.keys() - PASSES.keys()
    for name in registered:
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
    assert registered.keys() == of_ours.keys() | NEWEST_PASSES.keys()
    for name, found in registered.items():
        if name in NEWEST_OF_PIPELINES:
            continue
        known = NEWEST_PASSES.get(name)
        if known is None:
            known = of_ours[name] | NEWEST_OPTIONS.get(name, {})
        for (of, option), default in NEWEST_DEFAULTS.items():
            if of == name:
                known[option] = default
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
        assert set(taken[name]) == registered[name].keys() | beside, name
