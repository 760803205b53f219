"""Eight steps whose layers Python writes, fully sharded over a host of four chips."""
# pyright: basic

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program, specs, trained

half = jnp.bfloat16


def normed(x, scale, bias=None):
    y = x.astype(jnp.float32)
    y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-6)
    y = y * scale if bias is None else y * scale + bias
    return y.astype(x.dtype)


def attend(x, w, heads, is_causal):
    """Self-attention of (batch, time, width) by weights of (width, width)."""
    b, t, d = x.shape
    q, k, v = ((x @ w[n].astype(half)).reshape(b, t, heads, -1) for n in "qkv")
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) * (heads / d) ** 0.5
    if is_causal:
        s = jnp.where(jnp.tri(t, dtype=bool), s, -1e9)
    p = jax.nn.softmax(s, axis=-1).astype(half)
    return jnp.einsum("bhqk,bkhd->bqhd", p, v).reshape(b, t, d) @ w["o"].astype(half)


def of_rows(spec):
    """Split every matrix by its rows."""
    return jax.tree.map(lambda _: P("fsdp"), spec)


def square_error(layer, batch, layers, opt, split=of_rows):
    """A step that fits what layers make of a batch to another one."""

    def loss(layers, batch):
        x, y = batch
        for w in layers:
            x = layer(x, w)
        return jnp.mean(jnp.square((x - y).astype(jnp.float32)))

    data = (array(*batch, dtype="bfloat16"),) * 2
    return trained(loss, opt, layers, split(layers), data, (P("fsdp"), P("fsdp")))


@program("v5e:2x2", fsdp=4)
def gated_rows():
    """Gated layers that a checkpoint computes again."""

    @jax.checkpoint
    def layer(x, w):
        gate, up, down = (w[n].astype(half) for n in ("gate", "up", "down"))
        h = normed(x, 1.0)
        return x + (jax.nn.silu(h @ gate) * (h @ up)) @ down

    d, ff = 1536, 6144
    w = {"gate": array(d, ff), "up": array(d, ff), "down": array(ff, d)}
    return square_error(layer, (48, 768, d), [w] * 6, optax.adam(1e-4))


@program("v6e:2x2", fsdp=4)
def rectified_rows():
    """A wide regression with momentum."""

    def layer(x, w):
        return jax.nn.relu(x @ w["a"].astype(half) + w["b"].astype(half))

    w = {"a": array(3072, 3072), "b": array(3072)}
    opt = optax.sgd(0.1, momentum=0.9)
    return square_error(layer, (40_960, 3072), [w] * 9, opt)


@program("v5e:2x2", fsdp=4)
def centered_rows():
    """Layers with learned norms, by AdamW."""

    def layer(x, w):
        h = normed(x, w["scale"], w["bias"])
        return x + jax.nn.gelu(h @ w["a"].astype(half)) @ w["b"].astype(half)

    d, ff = 2048, 5120
    w = {"a": array(d, ff), "b": array(ff, d), "scale": array(d), "bias": array(d)}
    return square_error(layer, (32, 640, d), [w] * 7, optax.adamw(1e-4))


@program("v6e:2x2", fsdp=4)
def encoding_rows():
    """An encoder in checkpoints, by AdamW."""

    @jax.checkpoint
    def layer(x, w):
        x = x + attend(normed(x, 1.0), w, 12, is_causal=False)
        h = jax.nn.gelu(normed(x, 1.0) @ w["a"].astype(half))
        return x + h @ w["b"].astype(half)

    d = 1536
    w = {**{n: array(d, d) for n in "qkvo"}, "a": array(d, 4 * d), "b": array(4 * d, d)}
    return square_error(layer, (32, 512, d), [w] * 8, optax.adamw(2e-4))


def decoder(d, depth, heads, vocab, batch, opt, is_checkpointed):
    """A language model whose embedding is no head."""

    def layer(x, w):
        x = x + attend(normed(x, w["n1"]), w, heads, is_causal=True)
        h = jax.nn.gelu(normed(x, w["n2"]) @ w["a"].astype(half))
        return x + h @ w["b"].astype(half)

    layer = jax.checkpoint(layer) if is_checkpointed else layer

    def loss(params, tokens):
        x = params["embed"].astype(half)[tokens[:, :-1]]
        for w in params["layers"]:
            x = layer(x, w)
        logits = (normed(x, 1.0) @ params["head"].astype(half)).astype(jnp.float32)
        labels = tokens[:, 1:]
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    w = {**{n: array(d, d) for n in "qkvo"}, "a": array(d, 4 * d), "b": array(4 * d, d)}
    w |= {"n1": array(d), "n2": array(d)}
    params = {"embed": array(vocab, d), "layers": [w] * depth, "head": array(d, vocab)}
    tokens = array(*batch, dtype="int32")
    return trained(loss, opt, params, specs(params, "fsdp"), tokens, P("fsdp"))


@program("v5e:2x2", fsdp=4)
def speaking_rows():
    """A decoder without a checkpoint, by AdamW."""
    return decoder(1024, 8, 8, 16_000, (16, 513), optax.adamw(3e-4), False)


@program("v6e:2x2", fsdp=4)
def recalling_rows():
    """A decoder in checkpoints, by AdamW."""
    return decoder(1280, 10, 10, 24_576, (16, 1025), optax.adamw(3e-4), True)


@program("v5e:2x2", fsdp=4)
def clipped_rows():
    """A decoder in checkpoints whose gradients are clipped by their norm."""
    opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    return decoder(1280, 8, 10, 16_384, (16, 1025), opt, True)


@program("v6e:2x2", fsdp=4)
def narrow_rows():
    """Weights in bf16, by Lion."""

    def layer(x, w):
        return x + jnp.tanh(x @ w["a"]) @ w["b"]

    d, ff = 2560, 7680
    w = {"a": array(d, ff, dtype="bfloat16"), "b": array(ff, d, dtype="bfloat16")}
    return square_error(layer, (24, 896, d), [w] * 5, optax.lion(1e-4))
