"""Sums of one loop, as gradients of micro-batches, are held by one constraint."""

from typing import Any

import numpy as np
import pytest

import ttxdsl
from tests.insight.doctor.jax_models import jax, jnp
from tests.insight.doctor.prescriptions.test_prescribe import (
    applied,
    candidates,
    compiled,
)
from ttxdsl.loading.program import parse_program, program_text

WIDTH = 64


def accumulation(*, at_once: bool, fsdp: tuple[Any, ...] = ()) -> str:
    """A step of four micro-batches; the sums are made in one line, or in two.

    Parameters are split as `fsdp` says.
    """
    mesh = jax.make_mesh(
        (2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2
    )

    def loss(p: Any, x: Any) -> Any:
        return jnp.mean(jnp.tanh(jnp.tanh(x @ p["up"]) @ p["down"]) ** 2)

    def micro(sums: Any, x: Any) -> Any:
        new = jax.grad(loss)(sums[1], x)
        if at_once:
            added = jax.tree.map(lambda a, b: a + b, sums[0], new)
        else:
            down = sums[0]["down"] + new["down"]
            added = {"up": sums[0]["up"] + new["up"], "down": down}
        return (added, sums[1]), ()

    def step(p: Any, x: Any) -> Any:
        zeros = jax.tree.map(jnp.zeros_like, p)
        (sums, _), _ = jax.lax.scan(micro, (zeros, p), x)
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, sums)

    def spread(shape: tuple[int, ...], *spec: Any) -> Any:
        placed = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=placed)

    shapes = {"up": (WIDTH, 2 * WIDTH), "down": (2 * WIDTH, WIDTH)}
    p = {name: spread(shape, *fsdp) for name, shape in shapes.items()}
    x = spread((4, 32, WIDTH), None, "data")
    text: str = jax.jit(step).lower(p, x).as_text(debug_info=True)
    return text


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("debug", [True, False])
def test_sums_of_one_loop_are_one_candidate(at_once: bool, debug: bool):
    text = accumulation(at_once=at_once)
    if not debug:
        text = program_text(parse_program(text))
    wanted = {f"tensor<{WIDTH}x{2 * WIDTH}xf32>", f"tensor<{2 * WIDTH}x{WIDTH}xf32>"}
    held = [
        one
        for one in candidates(text)
        if one.kind == "constraint"
        and {place.op for place in one.places} == {"stablehlo.add"}
        and {str(edit.value.type) for edit in one.edits if edit.value} == wanted
    ]
    assert {one.write.partition("(x, ")[2] for one in held} >= {
        'P("data"))',
        'P(None, "data"))',
    }


def test_parameters_are_gathered_once_before_the_loop():
    text = accumulation(at_once=True, fsdp=("data",))
    held = {
        tuple(one.write.split("\n")[1:]): one
        for one in candidates(text)
        if one.write.startswith("# before the loop")
    }
    by_data = (
        "p['down'] = jax.lax.with_sharding_constraint(p['down'], P())",
        "p['up'] = jax.lax.with_sharding_constraint(p['up'], P())",
    )
    assert list(held) == [by_data]
    other = applied(text, [held[by_data]])
    before, after = compiled(text), compiled(other)
    gathers = [dict(side.collectives).get("all_gather", 0) for side in (before, after)]
    assert gathers[1] < gathers[0] and after.bytes < before.bytes
    program = ttxdsl.load(other)
    for mine, theirs in zip(
        program.partition().interpret(*program.random_inputs(0)).results,
        ttxdsl.load(text).interpret(*program.random_inputs(0)).results,
        strict=True,
    ):
        np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-4)
