"""Kinds of attention: naive, in a ring, in windows, with relative biases."""
# pyright: basic

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import cross_entropy, rms_norm
from tpu.programs.steps import adam, program, replicated, sgd, shape


@program("v5p:2x2x1", data=4)
def attention_naive():
    def f(q, k, v):
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 11.3
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e9)
        p = jax.nn.softmax(s.astype(jnp.float32), axis=-1).astype(q.dtype)
        return jnp.einsum("bhqk,bkhd->bqhd", p, v)

    one = shape(8, 4096, 16, 128)
    return f, (one, one, one), (P("data"),) * 3, {}


@program("v5p:2x2x1", data=4)
def attention_train():
    def loss(params, x):
        wq, wk, wv, wo = params
        q, k, v = (jnp.einsum("bsd,dhk->bshk", x, w) for w in (wq, wk, wv))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / 11.3
        p = jax.nn.softmax(s, axis=-1).astype(q.dtype)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
        out = jnp.einsum("bshk,hkd->bsd", o, wo)
        return jnp.mean((out - x).astype(jnp.float32) ** 2)

    params = [shape(2048, 16, 128)] * 3 + [shape(16, 128, 2048)]
    return (
        sgd(loss),
        (params, shape(8, 2048, 2048)),
        ([P()] * 4, P("data")),
        {"donate_argnums": 0},
    )


@program("v5e:2x4", ring=8)
def ring_attention():
    heads, head, size, width = 16, 128, 8, 2048

    def attend(q, k, v):
        def turn(_, state):
            k, v, out, most, total = state
            s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) * head**-0.5
            new = jnp.maximum(most, jnp.max(s, -1))
            p, scale = jnp.exp(s - new[..., None]), jnp.exp(most - new)
            out = out * scale[..., None] + jnp.einsum(
                "bhqk,bkhd->bhqd", p.astype(v.dtype), v
            )
            total = total * scale + jnp.sum(p, -1)
            around = [(i, (i + 1) % size) for i in range(size)]
            k, v = (jax.lax.ppermute(x, "ring", around) for x in (k, v))
            return k, v, out, new, total

        b, n = q.shape[:2]
        zeros = jnp.zeros((b, heads, n), jnp.float32)
        most = jax.lax.pcast(zeros - 1e30, "ring", to="varying")
        total = jax.lax.pcast(zeros, "ring", to="varying")
        out = jax.lax.pcast(
            jnp.zeros((b, heads, n, head), jnp.float32), "ring", to="varying"
        )
        state = jax.lax.fori_loop(0, size, turn, (k, v, out, most, total))
        return (state[2] / state[4][..., None]).astype(q.dtype)

    split = P(None, "ring")
    ring = jax.shard_map(attend, in_specs=(split,) * 3, out_specs=P(None, None, "ring"))

    def loss(params, x):
        for w in params:
            h = rms_norm(x, w["n"])
            q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[n]) for n in "qkv")
            x = x + jnp.einsum("bhsk,hkd->bsd", jax.checkpoint(ring)(q, k, v), w["o"])
            x = x + jax.nn.silu(rms_norm(x, w["n"]) @ w["up"]) @ w["down"]
        return jnp.mean(x.astype(jnp.float32) ** 2)

    w = {n: shape(width, heads, head) for n in "qkv"}
    w |= {"o": shape(heads, head, width), "n": shape(width)}
    w |= {"up": shape(width, 4 * width), "down": shape(4 * width, width)}
    params = [w] * 3
    return (
        sgd(loss),
        (params, shape(2, 16384, width)),
        (replicated(params), P(None, "ring")),
        {"donate_argnums": 0},
    )


@program("v5e:2x4", fsdp=4, model=2)
def sliding_window():
    layers, width, heads, kv, head, hidden, vocab = 8, 2048, 16, 4, 128, 7168, 32000
    window, length, batch = 512, 2048, 16

    def rotate(x):
        angle = jnp.arange(length)[:, None] / 1e4 ** (jnp.arange(0, head, 2) / head)
        sin, cos = (f(angle)[:, None].astype(x.dtype) for f in (jnp.sin, jnp.cos))
        a, b = jnp.split(x, 2, -1)
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

    @jax.checkpoint
    def layer(x, w):
        x = jax.lax.with_sharding_constraint(x, P("fsdp"))
        w = jax.tree.map(lambda p: p.astype(x.dtype), w)
        h = rms_norm(x, w["n1"])
        q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[n]) for n in "qkv")
        q = rotate(q).reshape(batch, length, kv, heads // kv, head)
        s = (
            jnp.einsum("bqgrk,btgk->bgrqt", q, rotate(k)).astype(jnp.float32)
            * head**-0.5
        )
        ahead = jnp.arange(length)[:, None] - jnp.arange(length)
        s = jnp.where((ahead >= 0) & (ahead < window), s, -1e30)
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        o = jnp.einsum("bgrqt,btgk->bqgrk", p, v).reshape(batch, length, heads, head)
        x = x + jnp.einsum("bshk,hkd->bsd", o, w["o"])
        h = rms_norm(x, w["n2"])
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], None

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens]
        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = rms_norm(x, params["n"]) @ params["head"].astype(x.dtype)
        return cross_entropy(logits, jnp.roll(tokens, -1, 1))

    def w(*sizes):
        return shape(layers, *sizes, dtype="float32")

    weights = {"n1": w(width), "n2": w(width), "q": w(width, heads, head)}
    weights |= {"k": w(width, kv, head), "v": w(width, kv, head)}
    weights |= {"o": w(heads, head, width), "gate": w(width, hidden)}
    weights |= {"up": w(width, hidden), "down": w(hidden, width)}
    n = None
    spec = {k: P(n, "fsdp", "model") for k in ("q", "k", "v", "gate", "up")}
    spec |= {"o": P(n, "model", n, "fsdp"), "down": P(n, "model", "fsdp")}
    spec |= {"n1": P(), "n2": P()}
    params = {"layers": weights, "embed": shape(vocab, width, dtype="float32")}
    params |= {"head": shape(width, vocab, dtype="float32")}
    params |= {"n": shape(width, dtype="float32")}
    spec = {
        "layers": spec,
        "embed": P("model", "fsdp"),
        "head": P("fsdp", "model"),
        "n": P(),
    }
    return (
        adam(loss),
        (*[params] * 3, shape(batch, length, dtype="int32")),
        (spec, spec, spec, P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v6e:2x4", data=2, model=4)
def relative_bias():
    layers, width, heads, head, hidden, vocab = 6, 1024, 16, 64, 2816, 32128
    buckets, batch, length = 32, 32, 1024

    def bias(table):
        """Buckets that grow with the distance, one table for all layers."""
        far = jnp.arange(length)[None] - jnp.arange(length)[:, None]
        sign = (far > 0) * (buckets // 2)
        far = jnp.abs(far)
        scaled = jnp.log(jnp.maximum(far, 1) / 8) / jnp.log(128 / 8) * (buckets // 4)
        large = jnp.minimum(buckets // 4 + scaled.astype(jnp.int32), buckets // 2 - 1)
        bucket = sign + jnp.where(far < buckets // 4, far, large)
        return table[bucket].transpose(2, 0, 1)

    def attention(x, w, position):
        h = rms_norm(x, w["n1"])
        q, k, v = (jnp.einsum("bsd,dhk->bhsk", h, w[n]) for n in "qkv")
        s = jnp.einsum("bhqk,bhtk->bhqt", q, k).astype(jnp.float32) + position
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        o = jnp.einsum("bhqt,bhtk->bhqk", p, v)
        return x + jnp.einsum("bhsk,hkd->bsd", o, w["o"])

    def feed_forward(x, w):
        h = rms_norm(x, w["n2"])
        return x + (jax.nn.gelu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

    def loss(params, tokens, labels):
        x = params["embed"][tokens]
        position = bias(params["bias"]).astype(jnp.float32)
        for w in params["layers"]:
            x = jax.checkpoint(lambda x, w: feed_forward(attention(x, w, position), w))(
                x, w
            )
        logits = x @ params["embed"].T * width**-0.5
        return cross_entropy(logits, labels)

    weights = {"n1": shape(width), "n2": shape(width), "o": shape(heads, head, width)}
    weights |= {n: shape(width, heads, head) for n in "qkv"}
    weights |= {"gate": shape(width, hidden), "up": shape(width, hidden)}
    weights |= {"down": shape(hidden, width)}
    params = {"layers": [weights] * layers, "embed": shape(vocab, width)}
    params |= {"bias": shape(buckets, heads)}
    split = {"n1": P(), "n2": P(), "o": P("model"), "down": P("model")}
    split |= {n: P(None, "model") for n in ("q", "k", "v", "gate", "up")}
    spec = {"layers": [split] * layers, "embed": P("model"), "bias": P(None, "model")}
    tokens = shape(batch, length, dtype="int32")
    return (
        adam(loss),
        (*[params] * 3, tokens, tokens),
        (spec, spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1, 2)},
    )
