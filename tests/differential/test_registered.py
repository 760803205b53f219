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
}


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
