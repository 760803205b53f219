"""Dimensions that become several: the numbers stay, and nothing else changes shape."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

import ttxdsl
from tests.sampling import sampled
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.ir.tensors import shape_of
from ttxdsl.loading.program import make_context, parse_program, program_text
from ttxdsl.transforms.shardy.split_dimensions import SharedDimensions
from ttxdsl.transforms.stages.inline import InlinePass

BATCH, LENGTH, WIDTH, HEADS, SIZE, LAYERS = 4, 8, 16, 4, 2, 3
HIDDEN = HEADS * SIZE
MESH = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


@cache
def lowered(
    step: Callable[..., Any], stacked: tuple[int, ...] = (), merged: int = HIDDEN
) -> str:
    """A step of a weight `w` that is split by columns and a batch `x`, from JAX."""

    def of(shape: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(
            shape, jnp.float32, sharding=NamedSharding(MESH, P(*spec))
        )

    w = of((*stacked, WIDTH, merged), *(None,) * len(stacked), None, "model")
    return jax.jit(step).lower(w, of((BATCH, LENGTH, WIDTH), "data")).as_text()


def heads(x: Any) -> Any:
    """A product's columns as heads, the width first."""
    return x.reshape(*x.shape[:-1], SIZE, HEADS)


def attend(w: Any, x: Any) -> Any:
    h = heads(x @ w)
    scores = jax.nn.softmax(jnp.einsum("bsdh,btdh->bhst", h, h))
    mixed = jnp.einsum("bhst,btdh->bsdh", scores, h)
    return x + mixed.reshape(*x.shape[:2], -1) @ w.T


def fused(w: Any, x: Any) -> Any:
    h = (x @ w).reshape(*x.shape[:-1], 3, HEADS, SIZE)
    return h[:, :, 0] * h[:, :, 1] + h[:, :, 2]


def train(layer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def step(w: Any, x: Any) -> Any:
        gradient = jax.grad(lambda w: jnp.mean(layer(w, x) ** 2))(w)
        scale = jnp.minimum(1.0, 1.0 / jnp.sqrt(jnp.sum(gradient**2)))
        return w - 0.1 * scale * gradient.astype(jnp.bfloat16).astype(jnp.float32)

    return step


def scanned(w: Any, x: Any) -> Any:
    return jax.lax.scan(lambda c, w: (attend(w, c), None), x, w)[0]


def accumulated(w: Any, x: Any) -> Any:
    """Gradients that are added up in a loop, whose carry has the weight's shape."""
    step = jax.grad(lambda w, x: jnp.mean(heads(x @ w) ** 3))
    total = jnp.zeros_like(w)
    return jax.lax.fori_loop(0, BATCH, lambda n, total: total + step(w, x[n]), total)


def chosen(w: Any, x: Any) -> Any:
    w = jax.lax.cond(jnp.sum(x) > 0, lambda w: w * 2, jnp.sin, w)
    w *= np.arange(w.size, dtype=np.float32).reshape(w.shape)  # a constant
    return heads(x @ jax.lax.optimization_barrier(w))


def borders(w: Any, x: Any) -> Any:
    """The weight's columns go to ops that need them whole."""
    order = jnp.sort(w, axis=1)
    rolled = jnp.concatenate([w[:, 1:], w[:, :1]], axis=1)
    written = jax.lax.dynamic_update_slice(w, w[:, :3], (0, 2))
    return heads(x @ (w + order + rolled)), w[:, :3], jnp.argmax(w, axis=1), written


def held(w: Any, x: Any) -> Any:
    columns = NamedSharding(MESH, P("data", None, "model"))
    return heads(jax.lax.with_sharding_constraint(x @ w, columns))


PROGRAMS: dict[str, tuple[Callable[[], str], tuple[int, ...]]] = {
    "attention": (partial(lowered, attend), (SIZE, HEADS)),
    "training": (partial(lowered, train(attend)), (SIZE, HEADS)),
    "fused": (partial(lowered, fused, merged=3 * HIDDEN), (3, HEADS, SIZE)),
    "fused training": (
        partial(lowered, train(fused), merged=3 * HIDDEN),
        (3, HEADS, SIZE),
    ),
    "scan": (partial(lowered, scanned, (LAYERS,)), (SIZE, HEADS)),
    "scan training": (partial(lowered, train(scanned), (LAYERS,)), (SIZE, HEADS)),
    "accumulation": (partial(lowered, accumulated), (SIZE, HEADS)),
    "branches": (partial(lowered, chosen), (SIZE, HEADS)),
    "held": (partial(lowered, held), (SIZE, HEADS)),
    "borders": (partial(lowered, borders), (SIZE, HEADS)),
}


def split(text: str, parts: tuple[int, ...], at: int) -> str:
    """The program with the last dimension of its weight stored as parts."""
    module = parse_program(text)
    InlinePass().apply(make_context(), module)
    entry = entry_function(module)
    weight = entry.body.block.args[0]
    dim = weight, len(shape_of(weight)) - 1
    shared = SharedDimensions(module, entry)
    assert shared.parts(dim) == parts
    assert (0, dim[1]) in shared.arguments(dim)
    shared.split([dim], parts, at)
    module.verify()
    return program_text(module)


@pytest.mark.parametrize("name", sampled(PROGRAMS, 5))
def test_numbers_are_those_of_the_merged_dimension(name: str):
    lower, parts = PROGRAMS[name]
    text = lower()
    program, other = ttxdsl.load(text), ttxdsl.load(split(text, parts, 1))
    w, x = map(np.asarray, program.random_inputs(0))
    expected = program.interpret(w, x).results
    results = other.partition().interpret(w.reshape(*w.shape[:-1], *parts), x).results
    for mine, theirs in zip(results, expected, strict=True):
        theirs = np.asarray(theirs)
        np.testing.assert_allclose(
            np.asarray(mine).reshape(theirs.shape), theirs, rtol=2e-4, atol=1e-5
        )


@pytest.mark.parametrize(
    "name", ["training", "fused training", "scan training", "branches"]
)
def test_no_op_of_a_step_gets_the_merged_dimension_back(name: str):
    """Gradients, new weights and constants are of the parts."""
    lower, parts = PROGRAMS[name]
    text = lower()
    stored = split(text, parts, 1)
    merged = f"{WIDTH}x{parts[0] * parts[1] * (parts[2:] or (1,))[0]}x"
    assert merged in text and merged not in stored


def test_a_constraint_gives_its_axes_to_the_part():
    lower, parts = PROGRAMS["held"]
    text = lower()
    assert '[{"data"}, {}, {}, {"model"}]' in split(text, parts, 1)


def test_axes_that_do_not_divide_the_part_are_an_error():
    lower, parts = PROGRAMS["fused"]
    text = lower()
    with pytest.raises(UnsupportedError, match="does not divide"):
        split(text, parts, 0)
