"""Programs with another batch, beside what JAX exports with that batch."""

from fractions import Fraction
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import ttxdsl
from tests.sampling import sampled
from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.memory import memory_profile
from ttxdsl.analysis.usage.work import operations_of
from ttxdsl.costs.compilers import TPU
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.plan.batch import scale_batch

WIDTH, HEADS, LENGTH, VOCAB = 16, 2, 8, 32


def layer(x: Any, w: Any) -> Any:
    rows = x.reshape(-1, WIDTH)  # batch and positions in one dimension
    q = (rows @ w["q"]).reshape(x.shape[0], LENGTH, HEADS, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, q)
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), q)
    return x + jax.nn.gelu(mixed.reshape(x.shape) @ w["up"]), None


def loss(params: Any, tokens: Any) -> Any:
    x = params["embed"][tokens]
    x, _ = jax.lax.scan(jax.checkpoint(layer), x, params["layers"])
    logits = jax.nn.log_softmax(x @ params["embed"].T)
    picked = jnp.take_along_axis(logits, jnp.roll(tokens, -1, 1)[..., None], -1)
    return -picked.mean()


def step(params: Any, tokens: Any) -> Any:
    grads = jax.grad(loss)(params, tokens)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def exported(batch: int) -> Any:
    shape = jax.ShapeDtypeStruct
    weights = {name: shape((3, WIDTH, WIDTH), "float32") for name in ("q", "up")}
    params = {"embed": shape((VOCAB, WIDTH), "float32"), "layers": weights}
    return ttxdsl.from_jax(step, params, shape((batch, LENGTH), "int32")).module


def figures(module: Any) -> tuple[int, int, int]:
    plain, fused = memory_profile(module), memory_profile(module, compiler=TPU)
    operations = operations_of(module, Runs(module, None))
    return operations, plain.peak_bytes, fused.peak_bytes


@pytest.mark.parametrize(
    "factor", sampled([Fraction(1, 2), Fraction(2), Fraction(4)], 1)
)
def test_as_exported_with_that_batch(factor: Fraction):
    scaled = scale_batch(exported(4), factor)
    same = scale_batch(exported(int(4 * factor)), Fraction(1))  # inlines calls, too
    assert figures(scaled) == figures(same)


def test_a_batch_of_no_whole_number():
    with pytest.raises(CompileError, match="3 of the batch cannot be taken times 1/2"):
        scale_batch(exported(3), Fraction(1, 2))


def test_what_counts_on_the_size():
    def shifted(w: Any, x: Any) -> Any:
        y = x @ w
        return w - jnp.concatenate([y[1:], y[:1]]).T @ x

    shape = jax.ShapeDtypeStruct
    program = ttxdsl.from_jax(
        jax.jit(shifted, donate_argnums=0),
        *(shape((8, 8), "float32"), shape((4, 8), "float32")),
    )
    with pytest.raises(CompileError, match="the batch"):
        scale_batch(program.module, Fraction(2))


def test_the_program_itself_stays():
    module = exported(4)
    before = str(module)
    scale_batch(module, Fraction(2))
    assert str(module) == before


def test_a_batch_of_one_that_a_reshape_drops():
    def dropped(w: Any, x: Any) -> Any:
        return w - x.reshape(4, 8).T @ x[0]

    shape = jax.ShapeDtypeStruct
    program = ttxdsl.from_jax(
        jax.jit(dropped, donate_argnums=0),
        *(shape((8, 8), "float32"), shape((1, 4, 8), "float32")),
    )
    with pytest.raises(CompileError, match="drops the batch of one"):
        scale_batch(program.module, Fraction(2))


def test_the_batch_beside_frozen_weights_and_micro_batches():
    """Neither layers of frozen weights nor micro-batches are the batch, and a cache has it."""

    def tuned(w: Any, frozen: Any, x: Any) -> Any:
        def loss(w: Any, x: Any) -> Any:
            h, _ = jax.lax.scan(lambda h, f: (jnp.tanh(h @ f + h @ w), None), x, frozen)
            return (h**2).sum()

        grads, _ = jax.lax.scan(
            lambda sum_, rows: (sum_ + jax.grad(loss)(w, rows), None), w * 0, x
        )
        return w - grads

    def decoded(cache: Any, w: Any, x: Any) -> Any:
        return jnp.concatenate([cache[:, 1:], (x @ w)[:, None]], 1)

    def arguments(batch: int) -> tuple[Any, Any]:
        shape = partial(jax.ShapeDtypeStruct, dtype="float32")
        tuning = shape((8, 8)), shape((6, 8, 8)), shape((2, batch, 8))
        decoding = shape((batch, 5, 8)), shape((8, 8)), shape((batch, 8))
        return tuning, decoding

    for at, function in enumerate((tuned, decoded)):
        step = jax.jit(function, donate_argnums=0)
        four, two = (ttxdsl.from_jax(step, *arguments(n)[at]).module for n in (4, 2))
        half = scale_batch(four, Fraction(1, 2))
        assert figures(half) == figures(scale_batch(two, Fraction(1)))
