"""Layers that programs share."""
# pyright: basic

import jax
import jax.numpy as jnp
import optax

bf16 = jnp.bfloat16


def in_bf16(tree):
    return jax.tree.map(lambda w: w.astype(jnp.bfloat16), tree)


def conv(x, w, stride=1):
    return jax.lax.conv_general_dilated(
        *(x, w, (stride, stride), "SAME"),
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )


def group_norm(x, scale, groups=32):
    y = x.astype(jnp.float32).reshape(*x.shape[:-1], groups, -1)
    mean = jnp.mean(y, (1, 2, 4), keepdims=True)
    var = jnp.var(y, (1, 2, 4), keepdims=True)
    y = ((y - mean) * jax.lax.rsqrt(var + 1e-5)).reshape(x.shape)
    return (y * scale).astype(x.dtype)


def batch_norm(x, w):
    y = x.astype(jnp.float32)
    mean, var = jnp.mean(y, (0, 1, 2)), jnp.var(y, (0, 1, 2))
    return ((y - mean) * jax.lax.rsqrt(var + 1e-5) * w).astype(x.dtype)


def rms_norm(x, w):
    y = x.astype(jnp.float32)
    y = y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)
    return (y * w).astype(x.dtype)


def rms_cast(x, w):
    y = x.astype(jnp.float32)
    return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(
        x.dtype
    ) * w.astype(x.dtype)


def normed(x, scale):
    y = x.astype(jnp.float32)
    y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-5)
    return y.astype(x.dtype) * scale.astype(x.dtype)


def norm(x, scale, offset=None):
    y = x.astype(jnp.float32)
    y = y - y.mean(-1, keepdims=True) if offset is not None else y
    y = y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5) * scale
    return (y if offset is None else y + offset).astype(x.dtype)


def layer_norm(x, w):
    y = x.astype(jnp.float32)
    y = y - jnp.mean(y, -1, keepdims=True)
    y = y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)
    return (y * w).astype(x.dtype)


def cross_entropy(logits, labels):
    logp = jax.nn.log_softmax(logits.astype(jnp.float32), -1)
    return -jnp.mean(jnp.take_along_axis(logp, labels[..., None], -1))


def token_loss(logits, targets):
    losses = optax.softmax_cross_entropy_with_integer_labels(
        logits.astype(jnp.float32), targets
    )
    return losses.mean()


def mean_negative(logits, labels):
    logits = logits.astype(jnp.float32)
    lse = jax.nn.logsumexp(logits, -1)
    return jnp.mean(lse - jnp.take_along_axis(logits, labels[..., None], -1)[..., 0])


def rotary(x):
    half = x.shape[-1] // 2
    frequencies = 1.0 / 10000 ** (jnp.arange(half) / half)
    angles = jnp.arange(x.shape[1])[:, None] * frequencies
    cos, sin = jnp.cos(angles)[:, None, :], jnp.sin(angles)[:, None, :]
    left, right = x[..., :half], x[..., half:]
    rotated = (left * cos - right * sin, right * cos + left * sin)
    return jnp.concatenate(rotated, -1).astype(x.dtype)


def rotary_in_f32(x):
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[None, :, None], jnp.sin(angles)[None, :, None]
    a, b = jnp.split(x.astype(jnp.float32), 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def rotary_of_pairs(x):
    t, d = x.shape[1], x.shape[-1]
    f = 1 / (10000 ** (jnp.arange(0, d, 2) / d))
    a = jnp.arange(t)[:, None] * f
    c, s = jnp.cos(a)[None, :, None], jnp.sin(a)[None, :, None]
    a, b = jnp.split(x.astype(jnp.float32), 2, -1)
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1).astype(x.dtype)


def rotary_of_base(x, base=1e4):
    """Rotate pairs of halves of heads, x is (batch, time, heads, size)."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] * base ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def attend(q, k, v, causal=True):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32)
    scores = scores * q.shape[-1] ** -0.5
    if causal:
        length = q.shape[1]
        mask = jnp.tril(jnp.ones((length, length), bool))
        scores = jnp.where(mask, scores, jnp.finfo(jnp.float32).min)
    weights = jax.nn.softmax(scores, -1).astype(q.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def attention(q, k, v, mask=None):
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / q.shape[-1] ** 0.5
    scores = scores.astype(jnp.float32)
    if mask is not None:
        scores = jnp.where(mask, scores, -1e30)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores).astype(v.dtype), v)


def grouped_attention(q, k, v):
    """Causal attention of grouped heads."""
    b, t, h, d = q.shape
    q = q.reshape(b, t, k.shape[2], -1, d)
    s = jnp.einsum("bqkgd,btkd->bkgqt", q, k).astype(jnp.float32) * d**-0.5
    s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e30)
    p = jax.nn.softmax(s, -1).astype(q.dtype)
    return jnp.einsum("bkgqt,btkd->bqkgd", p, v).reshape(b, t, h, d)


def put(x, spec):
    unknown = jax.sharding.get_abstract_mesh().empty  # while shapes are asked for
    return x if unknown else jax.lax.with_sharding_constraint(x, spec)
