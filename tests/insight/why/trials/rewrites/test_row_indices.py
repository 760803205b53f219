"""Indices that count rows become a batch where each certainly stays in its row."""

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

ROWS, SIZE, WIDTH = 8, 16, 16
_Program = Callable[[Any, Any, Any], Any]


def text_of(compute: _Program) -> str:
    """A program of x, an integer a row and an update a row, split by rows."""
    mesh = jax.make_mesh(
        (2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2
    )
    placed = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    args = [
        jax.ShapeDtypeStruct(shape, dtype, sharding=placed)
        for shape, dtype in (
            ((ROWS, SIZE, WIDTH), jnp.float32),
            ((ROWS,), jnp.int32),
            ((ROWS, WIDTH), jnp.float32),
        )
    ]
    text: str = jax.jit(compute, keep_unused=True).lower(*args).as_text(debug_info=True)
    return text


def merged(x: Any) -> Any:
    return x.reshape(ROWS * SIZE, WIDTH)


def rows() -> Any:
    return jnp.arange(ROWS) * SIZE


def inputs() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [
        rng.standard_normal((ROWS, SIZE, WIDTH)).astype(np.float32),
        rng.integers(-40, 40, ROWS).astype(np.int32),
        rng.standard_normal((ROWS, WIDTH)).astype(np.float32),
    ]


@pytest.mark.parametrize(
    ("compute", "code"),
    sampled(
        [
            (lambda x, i, u: merged(x)[rows() + jnp.clip(i, 0, SIZE - 1)], "x[i]"),
            (lambda x, i, u: merged(x)[rows() + i % SIZE], "x[i]"),
            (lambda x, i, u: merged(x)[rows() + jnp.argmax(x[:, :, 0], 1)], "x[i]"),
            (lambda x, i, u: merged(x)[(rows() + SIZE - 1) - i % SIZE], "x[i]"),
            (
                lambda x, i, u: merged(x)[
                    rows()[:, None] + jnp.clip(i[:, None] + jnp.arange(4), 0, SIZE - 1)
                ],
                "x[i]",
            ),
            (lambda x, i, u: merged(x).T[:, rows() + i % SIZE], "x[:, i]"),
            (lambda x, i, u: merged(x).at[rows() + i % SIZE].set(u), "x.at[i].set(u)"),
            (
                lambda x, i, u: merged(x).at[rows() + i % SIZE].add(u).reshape(x.shape),
                "x.at[i].add(u)",
            ),
        ],
        4,
    ),
)
def test_rows_become_a_batch(compute: _Program, code: str):
    text = text_of(compute)
    (spelling,) = [one for one in candidates(text) if one.kind == "spelling"]
    assert f": {code}" in spelling.write
    other = applied(text, [spelling])
    assert compiled(text).bytes > 0 == compiled(other).bytes
    x, i, u = inputs()
    (mine,) = ttxdsl.load(other).partition().simulate(x, i, u)
    np.testing.assert_array_equal(mine, compute(*map(jnp.asarray, (x, i, u))))


@pytest.mark.parametrize(
    ("compute", "places"),
    [
        (lambda x, i, u: merged(x)[rows() + i % SIZE], lambda i: i % SIZE),
        (lambda x, i, u: merged(x).at[rows() + i % SIZE].max(u), lambda i: i % SIZE),
        (lambda x, i, u: merged(x).T[:, rows() + i % 3], lambda i: i % 3),
    ],
)
def test_the_code_computes_the_same_in_jax(
    compute: _Program, places: Callable[[Any], Any]
):
    (spelling,) = [
        one for one in candidates(text_of(compute)) if one.kind == "spelling"
    ]
    x, i, u = map(jnp.asarray, inputs())
    expected = compute(x, i, u)
    whole = jnp.transpose(x, (2, 0, 1)) if "x[:, i]" in spelling.write else x
    shown = eval(spelling.write, {"jax": jax, "x": whole, "i": places(i), "u": u})
    np.testing.assert_array_equal(shown.reshape(expected.shape), expected)


@pytest.mark.parametrize(
    "compute",
    [
        lambda x, i, u: merged(x)[rows() + i],  # anywhere
        lambda x, i, u: merged(x)[rows() + jnp.clip(i, 0, SIZE)],  # the next row
        lambda x, i, u: merged(x)[rows() + jnp.clip(i, -1, SIZE - 1)],
        lambda x, i, u: merged(x)[rows() // 2 + i % (SIZE // 2)],  # rows of other size
        lambda x, i, u: merged(x)[jnp.arange(ROWS) + i % SIZE],
        lambda x, i, u: merged(x)[jnp.arange(4) * SIZE + i[:4] % SIZE],  # some rows
        lambda x, i, u: merged(x)[i % SIZE],
    ],
)
def test_what_may_leave_its_row_stays(compute: _Program):
    assert not [one for one in candidates(text_of(compute)) if one.kind == "spelling"]


def test_it_is_prescribed():
    text = text_of(lambda x, i, u: merged(x)[rows() + i % SIZE])
    answer = search(text, on_step=after(4))
    everything = [*answer.prescriptions, *answer.tried]
    (spelling,) = [one for one in everything if one.kind == "spelling"]
    assert spelling.after is not None and spelling.after.bytes == 0
