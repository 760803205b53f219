"""A name that jaxlib knows is one that `xdsl-opt` knows, with the same options."""

from __future__ import annotations

from dataclasses import fields

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

# of the newest jaxlib; docs/evidence/differences.md says what they do
_DEVICES = {"replica-count", "partition-count"}
NOT_HERE = {
    "sdy-convert-global-to-local": _DEVICES,
    "sdy-resolve-permutation-factors": {*_DEVICES, "rng-bit-generator-unsafe"},
}
PASSES_NOT_HERE = {"sdy-per-instruction-partitioning"}


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


def test_what_the_newest_has_is_here_or_listed(newest_python: str) -> None:
    (registered,) = made_by_jax(
        "tests.differential.registered", "--passes", python=newest_python
    )
    assert registered.keys() - PASSES.keys() == PASSES_NOT_HERE
    for name in registered.keys() & PASSES.keys():
        missing = registered[name].keys() - options_of(name).keys()
        assert missing == NOT_HERE.get(name, set()), name
