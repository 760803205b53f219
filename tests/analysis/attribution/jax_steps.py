"""Small steps as JAX writes them: layers in a loop, jitted, with checkpoints, named."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P

WIDTH = 8


def norm(x: Any) -> Any:
    """Call it twice in a layer."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def block(x: Any, w: Any) -> Any:
    """One layer."""
    h = norm(x)
    x = x + jnp.tanh(h @ w)
    return x + norm(x) @ w.T


def expert(x: Any, w: Any) -> Any:
    """Call it in a loop in a layer."""
    return jnp.tanh(x @ w) * jnp.exp(x)


def mixture(x: Any, w: Any) -> Any:
    """One layer that calls a function again and again."""
    for _ in range(2):
        x = x + expert(norm(x), w)
    return jnp.cos(x) / jnp.sqrt(x)


def tower(x: Any, w: Any) -> Any:
    """One layer whose gradients are all of functions that it calls."""
    h = x + mixer(norm(x), w)
    return h + gate(norm(h), w)


def mixer(x: Any, w: Any) -> Any:
    """Call it once in a layer."""
    return jnp.tanh(x @ w) @ w.T


def gate(x: Any, w: Any) -> Any:
    """Call it once in a layer."""
    return jnp.exp(x @ w)


def trained(layer: Any) -> Any:
    """A step of gradient descent over layers of a kind."""

    def loss(weights: Any, x: Any) -> Any:
        x = x * 2.0
        for w in weights:
            x = layer(x, w)
        return jnp.sum(x**2)

    def step(weights: Any, x: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, x)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients), value

    return step


def nested(weights: Any, x: Any) -> Any:
    """A step whose loss has no ops of its own: layers in a function, an end in another."""

    def layers(weights: Any, x: Any) -> Any:
        for w in weights:
            x = block(x, w)
        return x

    def end(x: Any) -> Any:
        return jnp.mean(jnp.exp(x))

    def loss(weights: Any, x: Any) -> Any:
        return end(layers(weights, x))

    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, x))


def loop(weights: Any, x: Any) -> Any:
    """Layers without a function of their own."""
    for w in weights:
        x = jnp.tanh(x @ w) + jnp.exp(x)
    return x


def named(weights: Any, x: Any) -> Any:
    """Scopes that the author named."""
    with jax.named_scope("encoder"):
        for name, w in zip(("first", "second"), weights, strict=False):
            with jax.named_scope(name):
                x = block(x, w)
    return x


def update(weights: Any, x: Any) -> Any:
    """One function over all leaves."""
    return jax.tree.map(lambda w: w - 0.1 * w * w, weights)


def mapped(weights: Any, x: Any) -> Any:
    """One call that maps."""
    return update(weights, x), x + 1.0


def manual(weights: Any, x: Any) -> Any:
    """A step of layers on shards."""
    mesh = jax.make_mesh((2,), ("data",), axis_types=(AxisType.Auto,))

    def layers(weights: Any, x: Any) -> Any:
        for w in weights:
            x = block(x, w)
        return x

    def loss(weights: Any, x: Any) -> Any:
        specs = (P(), P("data"))
        run = jax.shard_map(layers, mesh=mesh, in_specs=specs, out_specs=P("data"))
        return jnp.mean(run(weights, x) ** 2)

    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, x))


def shards(weights: Any, x: Any) -> Any:
    """Nearly all of it on shards."""
    mesh = jax.make_mesh((2,), ("data",), axis_types=(AxisType.Auto,))

    def local(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jnp.tanh(x @ w) + jnp.exp(x)
        return x

    specs = (P(), P("data"))
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P("data"))(
        weights, x
    )


STEPS = {
    "layers": (trained(block), 3),
    "nested": (nested, 12),
    "towers": (trained(tower), 3),
    "mixtures": (trained(mixture), 3),
    "checkpoints": (trained(jax.checkpoint(block)), 3),
    "jitted": (trained(jax.jit(block)), 3),
    "loop": (loop, 4),
    "named": (named, 2),
    "mapped": (mapped, 5),
    "manual": (manual, 3),
    "shards": (shards, 3),
    "shard": (shards, 1),
}
"""Each with how many layers it has."""


@cache
def text_of(name: str, *, debug_info: bool = True) -> str:
    """The text of a step."""
    function, layers = STEPS[name]
    weights = [jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32)] * layers
    x = jax.ShapeDtypeStruct((4, WIDTH), jnp.float32)
    return jax.jit(function).lower(weights, x).as_text(debug_info=debug_info)
