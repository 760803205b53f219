"""From jitted JAX functions: shardings, locations, order of arguments, refusals."""

from __future__ import annotations

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

import ttxdsl
from ttxdsl.frontends.jax import from_jax


@pytest.fixture(scope="module")
def mesh() -> jax.sharding.Mesh:
    return jax.make_mesh(
        (2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto)
    )


def layer(params: dict[str, jax.Array], x: jax.Array) -> dict[str, jax.Array]:
    hidden = jnp.tanh(x @ params["w"])
    return {"y": hidden @ params["v"], "norm": jnp.sum(hidden)}


def shapes(mesh: jax.sharding.Mesh) -> tuple[dict[str, Any], Any]:
    def array(shape: tuple[int, ...], *axes: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(
            shape, jnp.float32, sharding=NamedSharding(mesh, P(*axes))
        )

    params = {"w": array((16, 8), None, "model"), "v": array((8, 4), "model", None)}
    return params, array((6, 16), "data", None)


def test_shapes_carry_the_shardings(mesh: jax.sharding.Mesh):
    program = from_jax(jax.jit(layer), *shapes(mesh))
    assert program.meshes["mesh"].axes == (("data", 2), ("model", 4))
    kinds = {(c.kind, c.axes_text) for c in program.partition().collectives()}
    assert ("all_reduce", "model") in kinds


def test_arrays_carry_the_shardings_and_give_the_numbers(mesh: jax.sharding.Mesh):
    values = jax.tree.map(
        lambda a: jax.device_put(
            np.random.default_rng(0).normal(size=a.shape).astype(a.dtype), a.sharding
        ),
        shapes(mesh),
    )
    jitted = jax.jit(layer)
    expected = jax.tree.leaves(jitted(*values))
    program = from_jax(jitted, *values)
    for form in (program, program.partition(), program.lower("ttnn")):
        for found, wanted in zip(form.simulate(*values), expected, strict=True):
            np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-4, atol=1e-5)


def test_plain_functions_and_keywords(mesh: jax.sharding.Mesh):
    params, x = shapes(mesh)
    assert from_jax(layer, params=params, x=x).source == "<jax layer>"


def test_errors_name_the_line_of_the_function(mesh: jax.sharding.Mesh):
    result = jax.ShapeDtypeStruct((8, 8), jnp.float32)

    def user(x: jax.Array) -> jax.Array:
        return jax.pure_callback(lambda x: x, result, x)  # the line that is meant

    line = user.__code__.co_firstlineno + 1
    x = jax.ShapeDtypeStruct(
        (8, 8), jnp.float32, sharding=NamedSharding(mesh, P("data"))
    )
    with pytest.raises(ttxdsl.CompileError, match=rf"test_jax\.py:{line}:"):
        from_jax(user, x).partition(strict=True)


def test_dropped_arguments_are_refused():
    def second(x: jax.Array, y: jax.Array) -> jax.Array:
        return y + 1

    x = jax.ShapeDtypeStruct((2,), jnp.float32)
    with pytest.raises(ttxdsl.CompileError, match="dropped 1 of 2 arguments"):
        from_jax(jax.jit(second), x, x)
    kept = from_jax(jax.jit(second, keep_unused=True), x, x)
    assert len(kept.random_inputs()) == 2


def test_static_arguments_are_no_arguments():
    def scaled(x: jax.Array, times: int) -> jax.Array:
        return x * times

    x = jax.ShapeDtypeStruct((2,), jnp.float32)
    program = from_jax(jax.jit(scaled, static_argnums=1), x, 3)
    assert program.simulate(np.ones(2, np.float32))[0][0] == 3


def test_without_jax(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ttxdsl.CompileError, match="JAX is not installed"):
        from_jax(layer)
