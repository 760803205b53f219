"""A decoder block with Megatron sharding: embedding, attention and MLP over "model".

Vocabulary rows, attention heads and the hidden layer of the MLP are split over the
axis "model", sequences over "data". Three all-reduces are all it needs: after the
embedding, after the attention and after the MLP.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

BATCH, LENGTH, WIDTH, HEADS, VOCABULARY, HIDDEN = 4, 32, 64, 8, 128, 256
HEAD_WIDTH = WIDTH // HEADS

Parameters = dict[str, jax.Array]


def layer_norm(x: jax.Array, scale: jax.Array, shift: jax.Array) -> jax.Array:
    """Normalize the last dimension."""
    mean = x.mean(-1, keepdims=True)
    variance = x.var(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + shift


def attention(params: Parameters, x: jax.Array) -> jax.Array:
    """Causal multi-head attention; `x` is [batch, length, width]."""
    query = jnp.einsum("btd,dhk->bhtk", x, params["query"])
    key = jnp.einsum("btd,dhk->bhtk", x, params["key"])
    value = jnp.einsum("btd,dhk->bhtk", x, params["value"])
    scores = jnp.einsum("bhtk,bhsk->bhts", query, key) / jnp.sqrt(HEAD_WIDTH)
    causal = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -jnp.inf))
    mixed = jnp.einsum("bhts,bhsk->bthk", weights, value)
    return jnp.einsum("bthk,hkd->btd", mixed, params["output"])


def block(params: Parameters, tokens: jax.Array) -> jax.Array:
    """Embed `tokens` ([batch, length] of ids) and run one block."""
    x = params["embedding"][tokens] + params["positions"]
    normed = layer_norm(x, params["scale1"], params["shift1"])
    x = x + attention(params, normed)
    normed = layer_norm(x, params["scale2"], params["shift2"])
    hidden = jax.nn.gelu(normed @ params["up"] + params["up_bias"])
    return x + hidden @ params["down"] + params["down_bias"]


def arguments(mesh: Mesh):
    """Shapes and Megatron shardings of the arguments on a mesh data x model."""

    def array(shape: tuple[int, ...], *axes: str | None) -> jax.ShapeDtypeStruct:
        sharding = NamedSharding(mesh, P(*axes))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

    heads = (WIDTH, HEADS, HEAD_WIDTH)
    params = {
        "embedding": array((VOCABULARY, WIDTH), "model", None),
        "positions": array((LENGTH, WIDTH), None, None),
        "query": array(heads, None, "model", None),
        "key": array(heads, None, "model", None),
        "value": array(heads, None, "model", None),
        "output": array((HEADS, HEAD_WIDTH, WIDTH), "model", None, None),
        "up": array((WIDTH, HIDDEN), None, "model"),
        "up_bias": array((HIDDEN,), "model"),
        "down": array((HIDDEN, WIDTH), "model", None),
        "down_bias": array((WIDTH,), None),
    }
    for norm in ("scale1", "shift1", "scale2", "shift2"):
        params[norm] = array((WIDTH,), None)
    tokens = jax.ShapeDtypeStruct(
        (BATCH, LENGTH), jnp.int32, sharding=NamedSharding(mesh, P("data", None))
    )
    return params, tokens
