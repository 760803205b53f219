"""What is measured is what XLA runs."""

import jax
import jax.numpy as jnp
import pytest

from ttxdsl.bridges.xla.stopwatch import (
    FEATURES,
    LONG,
    convolution_steps,
    local_steps,
    row_of,
)


@pytest.mark.parametrize(
    ("what", "op"), [("memory", " while("), ("op", " dot("), ("product", " dot(")]
)
def test_steps_are_not_joined(what: str, op: str):
    _, _, shape, step = next(one for one in local_steps() if one[0] == what)
    lowered = jax.jit(row_of(step, LONG)).lower(jnp.ones(shape))
    assert lowered.compile().as_text().count(op) == LONG


def test_every_convolution_of_a_row_is_done():
    steps = convolution_steps()
    assert [one[0] for one in steps] == [(i, o) for i in FEATURES for o in FEATURES]
    (features, operations, shape, step) = steps[FEATURES.index(8)]
    assert (features, operations) == ((1, 8), 2 * 32 * 32 * 9 * 8)
    lowered = jax.jit(row_of(step, LONG)).lower(jnp.ones(shape))
    assert lowered.compile().as_text().count(" convolution(") == LONG
