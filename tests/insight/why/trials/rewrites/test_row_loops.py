"""Loops over rows that end on each device: the same numbers, or nothing is offered."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttxdsl
from tests.insight.doctor.jax_models import jax, jnp
from tests.insight.doctor.prescriptions.test_prescribe import (
    after,
    applied,
    candidates,
    compiled,
    search,
)
from tests.sampling import sampled
from ttxdsl.insight.doctor.prescriptions.candidates.changes import Candidate

P = jax.sharding.PartitionSpec
SPLIT, WHOLE = P("data"), P()
BATCH, WIDTH = 8, 16


def mesh() -> Any:
    return jax.make_mesh(
        (2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2
    )


def settle(x: Any, n: Any, w: Any) -> Any:
    """Steps until a row is long, at most `n`."""

    def goes_on(carry: Any) -> Any:
        return (jnp.sum(carry[0] ** 2) < 50.0) & (carry[1] < n)

    def step(carry: Any) -> Any:
        return jnp.tanh(w @ carry[0]) * 1.5 + carry[0], carry[1] + 1

    return jax.lax.while_loop(goes_on, step, (x, 0))


def batched(x: Any, n: Any, w: Any) -> Any:
    return jax.vmap(settle, in_axes=(0, 0, None))(x, n, w)


def of_rows(condition: Any, body: Any) -> Callable[..., Any]:
    """A loop as one would write it without vmap, over rows and what is counted."""

    def run(x: Any, n: Any, w: Any) -> Any:
        return jax.lax.while_loop(condition, body, (x, n, w))

    return run


def short(x: Any) -> Any:
    return jnp.sum(x**2, axis=1) < 50.0


def kept(x: Any, new: Any) -> Any:
    return jnp.where(short(x)[:, None], new, x)


def text_of(
    run: Callable[..., Any], x: Any = SPLIT, w: Any = WHOLE, batch: Any = (BATCH,)
) -> str:
    """A program of rows, a limit a row, and weights."""
    spec_of_n = P(*x[: len(batch)])

    def spread(shape: tuple[int, ...], spec: Any, dtype: Any) -> Any:
        placed = jax.sharding.NamedSharding(mesh(), spec)
        return jax.ShapeDtypeStruct(shape, dtype, sharding=placed)

    args = (
        spread((*batch, WIDTH), x, jnp.float32),
        spread(tuple(batch), spec_of_n, jnp.int32),
        spread((WIDTH, WIDTH), w, jnp.float32),
    )
    text: str = jax.jit(run, keep_unused=True).lower(*args).as_text(debug_info=True)
    return text


def inputs_of(text: str) -> list[np.ndarray]:
    """Rows of which some are long from the beginning, and limits of 0 to 9."""
    x, n, w = ttxdsl.load(text).random_inputs(0)
    rng = np.random.default_rng(0)
    x = rng.standard_normal(np.shape(x)).astype(np.float32)
    scales = np.logspace(-2, 1, BATCH).astype(np.float32)
    x *= scales.reshape(-1, *(1,) * (x.ndim - 1))
    return [x, rng.integers(0, 10, np.shape(n)).astype(np.int32), np.asarray(w) * 0.3]


def loops(text: str) -> list[Candidate]:
    return [one for one in candidates(text) if one.kind == "spelling"]


def scanned(x: Any, n: Any, w: Any) -> Any:
    def step(x: Any, scale: Any) -> Any:
        y, count = batched(x, n, w * scale)
        return y * 0.1, count

    return jax.lax.scan(step, x, jnp.arange(1.0, 4.0))


def of_pairs(x: Any, n: Any, w: Any) -> Any:
    return jax.vmap(batched, in_axes=(0, 0, None))(x, n, w)


@pytest.mark.parametrize(
    ("run", "axes", "given"),
    sampled(
        [
            (batched, '{"data"}', {}),
            (batched, '{"data"}', {"w": P("model")}),
            (batched, '{"data", "model"}', {"x": P(("data", "model"))}),
            (scanned, '{"data"}', {}),
            (of_pairs, '{"data"}', {"batch": (BATCH, 3)}),
            (
                of_pairs,
                '{"data", "model"}',
                {"x": P("data", "model"), "batch": (8, 4)},
            ),
            (
                of_rows(
                    lambda c: short(c[0]).any(),
                    lambda c: (kept(c[0], c[0] * 2 + c[2][0]), c[1], c[2]),
                ),
                '{"data"}',
                {},
            ),
        ],
        3,
    ),
    ids=["vmap", "weights", "axes", "scan", "vmaps", "two dims", "written"],
)
def test_devices_end_when_their_rows_have(
    run: Callable[..., Any], axes: str, given: dict[str, Any]
):
    text = text_of(run, **given)
    (spelling,) = loops(text)
    assert f"axis_names={axes}" in spelling.write
    other = applied(text, [spelling])
    before, after = compiled(text), compiled(other)
    # the condition's all_reduce is gone, and nothing else comes
    assert after.launches < before.launches and after.bytes < before.bytes
    inputs = inputs_of(text)
    expected = ttxdsl.load(text).interpret(*inputs).results
    partitioned = ttxdsl.load(other).partition()
    for form in (partitioned, ttxdsl.load(other).lower("ttnn")):
        for mine, theirs in zip(form.simulate(*inputs), expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=1e-5)


def test_the_code_computes_the_same_in_jax():
    """On eight devices of XLA, of which the first four end before the others."""
    text = text_of(batched)
    (spelling,) = loops(text)
    x, n, w = inputs_of(text)
    names = {
        "f": lambda x, n: settle(x, n, w),
        "jax": jax,
        "mesh": mesh(),
        "P": P,
        "rows": (x, n),
    }
    shown = eval(spelling.write, names)
    for mine, theirs in zip(shown, batched(x, n, w), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)
    results = ttxdsl.load(applied(text, [spelling])).partition().simulate(x, n, w)
    for mine, theirs in zip(results, shown, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


@pytest.mark.parametrize(
    "run",
    [
        of_rows(  # all rows count together
            lambda c: short(c[0]).any(),
            lambda c: (kept(c[0], c[0] * 2), c[1], c[2] + 1),
        ),
        of_rows(  # rows read the mean of all
            lambda c: short(c[0]).any(),
            lambda c: (kept(c[0], c[0] + c[0].mean(0) + 0.1), c[1], c[2]),
        ),
        of_rows(  # long rows go on, too
            lambda c: short(c[0]).any(), lambda c: (c[0] * 2 + 0.1, c[1], c[2])
        ),
        of_rows(  # rows that have ended are those of another predicate
            lambda c: short(c[0]).any(),
            lambda c: (
                jnp.where(jnp.sum(c[0] ** 2, axis=1)[:, None] < 60.0, c[0] * 2, c[0]),
                c[1],
                c[2],
            ),
        ),
        of_rows(  # a row that has ended is 0
            lambda c: short(c[0]).any(),
            lambda c: (jnp.where(short(c[0])[:, None], c[0] * 2, 0), c[1], c[2]),
        ),
        of_rows(  # each row knows its number of all
            lambda c: short(c[0]).any(),
            lambda c: (
                kept(c[0], c[0] * 2 + jnp.arange(float(BATCH))[:, None]),
                c[1],
                c[2],
            ),
        ),
        of_rows(  # it ends when one row has
            lambda c: short(c[0]).all(),
            lambda c: (kept(c[0], c[0] * 2 + 0.1), c[1], c[2]),
        ),
    ],
    ids=["count", "mean", "go on", "other", "zero", "number", "all"],
)
def test_loops_that_are_not_certainly_of_rows_stay(run: Callable[..., Any]):
    assert not loops(text_of(run))


def test_rows_that_are_whole_on_each_device_stay():
    assert not loops(text_of(batched, x=WHOLE))


def test_it_is_prescribed():
    answer = search(text_of(batched), on_step=after(6))
    assert answer.prescriptions[0].kind == "spelling"
    assert (answer.before.launches, answer.prescriptions[0].after.launches) == (1, 0)
