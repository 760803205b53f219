"""What values are called where nobody wrote down what their author called them."""

import re
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

import ttxdsl
from tests.analysis.attribution.scanned_step import scanned
from ttxdsl.insight.why.explain import Explainer


def test_without_debug_info_values_of_called_functions_have_no_names_of_the_text():
    program = ttxdsl.load(ttxdsl.load(scanned()).text)
    answer = program.why()
    told = " ".join(f"{one.op} {one.summary}" for one in answer.collectives)
    assert answer.collectives and ":%" not in told
    # what a loop takes of a stacked argument is the argument's
    assert "[i]" in told


@cache
def constrained(again: bool) -> str:
    """Return the text of a step in which a helper puts constraints on values."""
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def keep(x: Any, *axes: str | None) -> Any:
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*axes)))

    def step(x: Any, w: Any, v: Any) -> Any:
        y = jnp.sin(jnp.tanh(keep(x, "data", "model")).T @ w)
        z = keep(v, "model", "data") if again else v
        return y, jnp.cos(z).sum(0)

    shapes = (256, 512), (256, 256), (512, 256)
    arrays = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    return jax.jit(step).lower(*arrays).as_text(debug_info=True)


def origins(text: str) -> set[str]:
    """Return the names of what the collectives of a program hang on."""
    collectives = Explainer(ttxdsl.load(text).module).collectives()
    return {
        name for one in collectives for names in one.origins.values() for name in names
    }


def test_constraints_of_a_helper_are_told_apart_by_who_calls_it():
    names = origins(constrained(again=True))
    assert len(names) == 2
    for name in names:
        assert re.fullmatch(
            r"constraint at line \d+ of keep called at line \d+ of step", name
        )


@cache
def handed_on() -> str:
    """Return the text of blocks that call a helper that calls a helper with a constraint."""
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def keep(x: Any) -> Any:
        spec = P("data", "model")
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, spec))

    def project(x: Any, w: Any) -> Any:
        return keep(jnp.tanh(x @ w))

    def encode(x: Any, w: Any) -> Any:
        return jnp.sin(project(x, w) @ w)

    def decode(x: Any, w: Any) -> Any:
        return jnp.cos(project(x, w) @ w)

    def step(x: Any, w: Any) -> Any:
        x = encode(encode(x, w), w)
        return encode(x, w) + decode(x.T, w).T

    arrays = [jax.ShapeDtypeStruct((256, 256), jnp.float32)] * 2
    return jax.jit(step).lower(*arrays).as_text(debug_info=True)


def test_constraints_are_told_apart_by_callers_of_callers():
    calls = {name.partition(" of keep ")[2] for name in origins(handed_on())}
    # two lines of `step` call `encode`, one of them twice
    assert {re.sub(r"line \d+", "line", call) for call in calls} == {
        "called at line of decode",
        "called at line of encode called at line of step",
    }


def test_a_constraint_that_stands_alone_is_told_in_few_words():
    (name,) = origins(constrained(again=False))
    assert re.fullmatch(r"constraint at line \d+ of keep", name)
