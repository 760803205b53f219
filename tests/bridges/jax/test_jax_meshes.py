"""Scripts in which JAX writes several meshes: some of the arguments placed, callbacks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

from ttxdsl import from_jax
from ttxdsl.cli.main import main
from ttxdsl.diagnostics.errors import CompileError


def mesh_of(**axes: int) -> jax.sharding.Mesh:
    return jax.make_mesh(
        tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes)
    )


def placed(mesh: jax.sharding.Mesh, shape: tuple[int, ...], *axes: Any) -> jax.Array:
    values = np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)
    return jax.device_put(values, NamedSharding(mesh, P(*axes)))


def same_numbers(found: Any, wanted: Any) -> None:
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        if jax.dtypes.issubdtype(other.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-4, atol=1e-5)


@jax.tree_util.register_dataclass
@dataclass
class TrainState:
    """What flax and optax keep between steps: parameters, moments, a count, a key."""

    params: dict[str, jax.Array]
    mean: dict[str, jax.Array]
    square: dict[str, jax.Array]
    count: jax.Array
    key: jax.Array


def train_state() -> TrainState:
    keys = jax.random.split(jax.random.key(0), 2)
    params = {
        "w": jax.random.normal(keys[0], (4, 6)),
        "b": jnp.zeros((6,)),
        "v": jax.random.normal(keys[1], (6, 2)),
    }
    zeros = jax.tree.map(jnp.zeros_like, params)
    return TrainState(params, zeros, zeros, jnp.zeros((), jnp.int32), jax.random.key(1))


def loss_of(params: Any, key: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    hidden = jnp.tanh(x @ params["w"] + params["b"])
    kept = jax.random.bernoulli(key, 0.9, hidden.shape)
    return jnp.mean((jnp.where(kept, hidden / 0.9, 0) @ params["v"] - y) ** 2)


def train_step(
    state: TrainState, x: jax.Array, y: jax.Array
) -> tuple[TrainState, jax.Array]:
    """One step of Adam, as optax writes it."""
    key, dropout = jax.random.split(state.key)
    loss, grads = jax.value_and_grad(loss_of)(state.params, dropout, x, y)
    count = state.count + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state.mean, grads)
    square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, state.square, grads)

    def updated(p: jax.Array, m: jax.Array, s: jax.Array) -> jax.Array:
        return p - 0.01 * m / (1 - 0.9**count) / (
            jnp.sqrt(s / (1 - 0.99**count)) + 1e-8
        )

    params = jax.tree.map(updated, state.params, mean, square)
    return replace(
        state, params=params, mean=mean, square=square, count=count, key=key
    ), loss


def test_a_step_of_which_only_the_batch_is_placed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """The standard script: `count` and `key` are on the empty mesh, the rest on none."""
    mesh = mesh_of(data=8)
    step = jax.jit(train_step)
    args = train_state(), placed(mesh, (16, 4), "data"), placed(mesh, (16, 2), "data")
    program = from_jax(step, *args)
    assert any(one.is_empty for one in program.meshes.values())
    wanted = step(*args)
    parts = program.partition(strict=True)
    lowered = parts.lower("ttnn")
    assert not [*parts.remarks, *lowered.remarks]
    assert {c.kind for c in parts.collectives()} == {"all_reduce"}
    for form in (program, parts, lowered):
        same_numbers(form.simulate(*args), wanted)
    # the second step takes what the first one gave, all of which is placed
    same_numbers(
        from_jax(step, wanted[0], *args[1:]).partition().simulate(wanted[0], *args[1:]),
        step(wanted[0], *args[1:]),
    )
    file = tmp_path / "step.mlir"
    file.write_text(program.text)
    assert main(["run", str(file)]) == 0
    assert not capsys.readouterr().err


def test_nothing_but_a_key():
    def scaled(key: jax.Array, w: jax.Array) -> jax.Array:
        return w * jax.random.uniform(key)

    args = jax.random.key(0), jnp.ones(3)
    program = from_jax(jax.jit(scaled), *args)
    for form in (program, program.partition(), program.lower("ttnn")):
        same_numbers(form.simulate(*args), jax.jit(scaled)(*args))


def two_arguments() -> tuple[Callable[..., Any], tuple[jax.Array, ...]]:
    mesh, line = mesh_of(x=2, y=4), mesh_of(z=8)
    return jnp.matmul, (placed(mesh, (8, 16), "x", "y"), placed(line, (16, 8), "z"))


def constraints() -> tuple[Callable[..., Any], tuple[jax.Array, ...]]:
    mesh, other = mesh_of(x=2, y=4), mesh_of(a=4, b=2)

    def f(a: jax.Array) -> jax.Array:
        a = jnp.sin(
            jax.lax.with_sharding_constraint(a, NamedSharding(other, P("b", "a")))
        )
        return jax.lax.with_sharding_constraint(a @ a.T, NamedSharding(mesh, P("y")))

    return f, (placed(mesh, (8, 16), "x", "y"),)


def shard_maps() -> tuple[Callable[..., Any], tuple[jax.Array, ...]]:
    mesh, line, unit = mesh_of(x=2, y=4), mesh_of(z=8), mesh_of(u=1, w=8)

    def f(a: jax.Array) -> jax.Array:
        total = jax.shard_map(
            lambda a: jax.lax.psum(a, "z") * (1.0 + jax.lax.axis_index("z")),
            mesh=line, in_specs=P("z"), out_specs=P("z"),
        )  # fmt: skip
        moved = jax.shard_map(
            lambda a: jax.lax.all_gather(a, ("u", "w"), axis=1, tiled=True),
            mesh=unit, in_specs=P("w", None), out_specs=P(("u", "w"), None),
        )  # fmt: skip
        return moved(total(a)) + 1

    return f, (placed(mesh, (8, 16), "x", "y"),)


@pytest.mark.parametrize("made", [two_arguments, constraints, shard_maps])
def test_two_meshes_of_the_same_devices(made: Callable[[], Any]):
    function, args = made()
    jitted = jax.jit(function)
    program = from_jax(jitted, *args)
    assert len(program.meshes) > 1
    parts = program.partition(strict=True)
    assert len(parts.meshes) == 1
    # what the axes of another mesh become, nothing else
    assert all(" as <" in remark.message for remark in parts.remarks)
    wanted = jitted(*args)
    for form in (program, parts, parts.lower("ttnn")):
        same_numbers(form.simulate(*args), wanted)


def printing(a: jax.Array) -> jax.Array:
    jax.debug.print("sum {}", a.sum())
    return a * 2


def printing_of_each(a: jax.Array) -> jax.Array:
    """On each device, which JAX says by the empty mesh."""
    mesh = mesh_of(data=8)
    return jax.shard_map(printing, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(
        a
    )


def checking(a: jax.Array) -> jax.Array:
    """As equinox's `error_if`: the branch that raises calls back."""

    def fail(a: jax.Array) -> jax.Array:
        return jax.pure_callback(lambda a: a, jax.ShapeDtypeStruct(a.shape, a.dtype), a)

    return jax.lax.cond(jnp.any(jnp.isnan(a)), fail, lambda a: a, a) * 2


@pytest.mark.parametrize("function", [printing, printing_of_each, checking])
def test_callbacks(function: Callable[[jax.Array], jax.Array]):
    mesh = mesh_of(data=8)
    # for one device, and for eight
    for a in (jnp.arange(32.0).reshape(8, 4), placed(mesh, (8, 4), "data")):
        program = from_jax(jax.jit(function), a)
        assert not all(one.axes for one in program.meshes.values())
        for form in (program, program.partition(), program.lower("ttnn")):
            same_numbers(form.simulate(a), 2 * a)


def test_a_callback_that_is_needed():
    a = placed(mesh_of(data=8), (8, 4), "data").at[0].set(np.nan)
    program = from_jax(jax.jit(checking), a)
    for form in (program, program.partition()):
        with pytest.raises(CompileError, match=r"test_jax_meshes.py:.*calls back a"):
            form.simulate(a)
