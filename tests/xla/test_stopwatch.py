"""What is measured is what XLA runs."""

import jax
import jax.numpy as jnp
import pytest

from ttxdsl.xla.stopwatch import LONG, local_steps, row_of


@pytest.mark.parametrize(
    ("what", "op"), [("memory", " while("), ("op", " dot("), ("product", " dot(")]
)
def test_steps_are_not_joined(what: str, op: str):
    _, _, shape, step = next(one for one in local_steps() if one[0] == what)
    lowered = jax.jit(row_of(step, LONG)).lower(jnp.ones(shape))
    assert lowered.compile().as_text().count(op) == LONG
