"""Sequences without attention of all to all: state spaces, recurrences, linear attention, a conformer."""
# pyright: basic

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import (
    bf16,
    conv,
    cross_entropy,
    layer_norm,
    norm,
    rms_norm,
    token_loss,
)
from tpu.programs.steps import (
    adam,
    array,
    momentum,
    program,
    replicated,
    shape,
    specs,
    trained,
)


@program("v5e:2x2", data=4)
def mamba_scan():
    layers, width, inner, state, chunk, length = 6, 1024, 2048, 16, 64, 2048

    def ssm(u, dt, b, c, a):
        """Chunks one after the other, an associative scan inside each."""

        def of_chunk(h, parts):
            u, dt, b, c = parts
            decay = jnp.exp(dt[..., None] * a)
            add = (dt * u)[..., None] * b[:, :, None]

            def join(x, y):
                return x[0] * y[0], x[1] * y[0] + y[1]

            products, sums = jax.lax.associative_scan(join, (decay, add), axis=1)
            states = products * h[:, None] + sums
            return states[:, -1], jnp.einsum("btds,bts->btd", states, c)

        def split(x):
            return x.reshape(x.shape[0], -1, chunk, x.shape[-1]).swapaxes(0, 1)

        h = jnp.zeros((u.shape[0], inner, state), jnp.float32)
        _, y = jax.lax.scan(
            jax.checkpoint(of_chunk), h, tuple(map(split, (u, dt, b, c)))
        )
        return y.swapaxes(0, 1).reshape(u.shape)

    @jax.checkpoint
    def layer(x, w):
        u, gate = jnp.split(rms_norm(x, w["n"]) @ w["in"], 2, -1)
        shifted = jnp.pad(u, ((0, 0), (3, 0), (0, 0)))
        u = jax.nn.silu(
            sum(shifted[:, i : i + length] * w["conv"][i] for i in range(4))
        )
        f = u.astype(jnp.float32)
        b, c = jnp.split((u @ w["bc"]).astype(jnp.float32), 2, -1)
        dt = jax.nn.softplus((u @ w["dt"]).astype(jnp.float32))
        y = ssm(f, dt, b, c, -jnp.exp(w["a"].astype(jnp.float32)))
        return x + (y.astype(x.dtype) * jax.nn.silu(gate)) @ w["out"], None

    def loss(params, tokens):
        x, _ = jax.lax.scan(layer, params["embed"][tokens], params["layers"])
        return cross_entropy(x @ params["embed"].T, jnp.roll(tokens, -1, 1))

    def w(*sizes):
        return shape(layers, *sizes)

    weights = {"n": w(width), "in": w(width, 2 * inner), "conv": w(4, inner)}
    weights |= {"bc": w(inner, 2 * state), "dt": w(inner, inner), "a": w(inner, state)}
    params = {
        "embed": shape(32000, width),
        "layers": weights | {"out": w(inner, width)},
    }
    spec = replicated(params)
    return (
        momentum(loss),
        (params, params, shape(16, length, dtype="int32")),
        (spec, spec, P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x2", data=4)
def recurrent():
    width, vocab, length, batch = 1024, 16384, 256, 256

    def loss(params, tokens):
        x = params["embed"][tokens].swapaxes(0, 1)
        for w in params["layers"]:
            inputs = x @ w["x"]

            def turn(h, part, w=w):
                z, r, n = jnp.split(part, 3, -1)
                a, b, c = jnp.split(h @ w["h"], 3, -1)
                z, r = jax.nn.sigmoid(z + a), jax.nn.sigmoid(r + b)
                h = (1 - z) * jnp.tanh(n + r * c) + z * h
                return h, h

            start = jnp.zeros((x.shape[1], width), x.dtype)
            start = jax.lax.with_sharding_constraint(start, P("data"))
            _, x = jax.lax.scan(turn, start, inputs)
        labels = jnp.roll(tokens, -1, 1).swapaxes(0, 1)
        return cross_entropy(x @ params["embed"].T, labels)

    w = {"x": shape(width, 3 * width), "h": shape(width, 3 * width)}
    params = {"embed": shape(vocab, width), "layers": [w] * 2}
    spec = replicated(params)
    return (
        adam(loss),
        (*[params] * 3, shape(batch, length, dtype="int32")),
        (spec, spec, spec, P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x4", data=8)
def conformer():
    blocks, width, heads, hidden, kernel, mels, units = 4, 512, 8, 2048, 31, 80, 5000

    def feed_forward(x, w):
        return x + 0.5 * (jax.nn.silu(layer_norm(x, w["n"]) @ w["up"]) @ w["down"])

    def attention(x, w):
        h = layer_norm(x, w["n"])
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[n]) for n in "qkv")
        s = jnp.einsum("bqhk,bthk->bhqt", q, k).astype(jnp.float32) * 64**-0.5
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        return x + jnp.einsum(
            "bthk,hkd->btd", jnp.einsum("bhqt,bthk->bqhk", p, v), w["o"]
        )

    def convolution(x, w):
        a, b = jnp.split(layer_norm(x, w["n"]) @ w["in"], 2, -1)
        h = a * jax.nn.sigmoid(b)
        h = jax.lax.conv_general_dilated(
            *(h, w["depth"], (1,), "SAME"),
            dimension_numbers=("NTC", "TIO", "NTC"),
            feature_group_count=width,
        )
        return x + jax.nn.silu(layer_norm(h, w["n2"])) @ w["out"]

    def block(x, w):
        x = attention(feed_forward(x, w["ff1"]), w["attention"])
        return layer_norm(feed_forward(convolution(x, w["conv"]), w["ff2"]), w["n"])

    def loss(params, features, labels):
        x = features.astype(jnp.bfloat16)[..., None]
        x = jax.nn.relu(conv(x, params["sub1"].astype(x.dtype), 2))
        x = jax.nn.relu(conv(x, params["sub2"].astype(x.dtype), 2))
        x = x.reshape(*x.shape[:2], -1) @ params["in"].astype(x.dtype)
        for w in params["blocks"]:
            x = block(x, jax.tree.map(lambda p: p.astype(jnp.bfloat16), w))
        return cross_entropy(x @ params["head"].astype(x.dtype), labels)

    def f(*sizes):
        return shape(*sizes, dtype="float32")

    norm = f(width)
    ff = {"n": norm, "up": f(width, hidden), "down": f(hidden, width)}
    qkv = {n: f(width, heads, width // heads) for n in "qkv"}
    weights = {
        "ff1": ff,
        "ff2": ff,
        "attention": {**qkv, "o": f(heads, width // heads, width), "n": norm},
        "conv": {
            **{
                "n": norm,
                "n2": norm,
                "in": f(width, 2 * width),
                "out": f(width, width),
            },
            "depth": f(kernel, 1, width),
        },
        "n": norm,
    }
    params = {
        **{
            "sub1": f(3, 3, 1, 128),
            "sub2": f(3, 3, 128, 128),
            "blocks": [weights] * blocks,
        },
        **{"in": f(mels // 4 * 128, width), "head": f(width, units)},
    }
    spec = replicated(params)
    return (
        adam(loss),
        (*[params] * 3, f(64, 1600, mels), shape(64, 400, dtype="int32")),
        (spec, spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:4x4", fsdp=16)
def linear_attention():
    layers, width, heads, head, hidden, vocab = 8, 2048, 16, 128, 5632, 50304
    chunk, length, batch = 256, 4096, 32

    def attend(q, k, v):
        """Sums of keys and values so far, a chunk at a time."""

        def of_chunk(state, parts):
            q, k, v = parts
            s = jnp.einsum("bqhk,bthk->bhqt", q, k)
            s = jnp.where(jnp.tril(jnp.ones((chunk, chunk), bool)), s, 0)
            o = jnp.einsum("bhqt,bthd->bqhd", s, v)
            o = o + jnp.einsum("bqhk,bhkd->bqhd", q, state.astype(q.dtype))
            return state + jnp.einsum("bthk,bthd->bhkd", k, v).astype(state.dtype), o

        def split(x):
            return x.reshape(batch, -1, chunk, heads, head).swapaxes(0, 1)

        state = jnp.zeros((batch, heads, head, head), jnp.float32)
        _, o = jax.lax.scan(of_chunk, state, (split(q), split(k), split(v)))
        return o.swapaxes(0, 1).reshape(q.shape)

    @jax.checkpoint
    def layer(x, w):
        x = jax.lax.with_sharding_constraint(x, P("fsdp"))
        h = rms_norm(x, w["n1"])
        q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[n]) for n in "qkv")
        o = attend(jax.nn.elu(q) + 1, jax.nn.elu(k) + 1, v)
        x = x + jnp.einsum("bshk,hkd->bsd", rms_norm(o, w["n3"]), w["o"])
        h = rms_norm(x, w["n2"])
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], None

    def loss(params, tokens):
        x, _ = jax.lax.scan(layer, params["embed"][tokens], params["layers"])
        logits = rms_norm(x, params["n"]) @ params["head"]
        return cross_entropy(logits, jnp.roll(tokens, -1, 1))

    def w(*sizes):
        return shape(layers, *sizes)

    weights = {
        "n1": w(width),
        "n2": w(width),
        "n3": w(head),
        "o": w(heads, head, width),
    }
    weights |= {n: w(width, heads, head) for n in "qkv"}
    weights |= {
        "gate": w(width, hidden),
        "up": w(width, hidden),
        "down": w(hidden, width),
    }
    params = {"layers": weights, "embed": shape(vocab, width)}
    params |= {"head": shape(width, vocab), "n": shape(width)}
    spec = specs(params, "fsdp")
    return (
        adam(loss),
        (*[params] * 3, shape(batch, length, dtype="int32")),
        (spec, spec, spec, P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5p:2x2x2", fsdp=8)
def selective_scan():
    """A state space model whose recurrence is an associative scan, in a scan of layers, nothing held."""
    layers, width, inner, state, vocab = 24, 1024, 2048, 16, 50304
    rows, length = 16, 1024
    sizes = {
        "in": (width, 2 * inner),
        "conv": (4, inner),
        "bc": (inner, 2 * state),
        "dt": (inner, inner),
        "a": (inner, state),
        "out": (inner, width),
        "norm": (width,),
    }
    params = {
        "embed": array(vocab, width),
        "norm": array(width),
        "layers": {n: array(layers, *s) for n, s in sizes.items()},
    }
    spec = {
        "embed": P("fsdp"),
        "norm": P(),
        "layers": {
            n: P(None, "fsdp") if n in ("in", "dt", "out") else P() for n in sizes
        },
    }

    def join(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]

    def loss(params, tokens):
        x = params["embed"].astype(bf16)[tokens[:, :-1]]

        @jax.checkpoint
        def layer(x, w):
            h, gate = jnp.split(norm(x, w["norm"]) @ w["in"].astype(bf16), 2, -1)
            padded = jnp.pad(h, ((0, 0), (3, 0), (0, 0)))
            kernel = w["conv"].astype(bf16)
            h = sum(padded[:, n : n + length] * kernel[n] for n in range(4))
            h = jax.nn.silu(h)
            dt = jax.nn.softplus(h @ w["dt"].astype(bf16))
            b, c = jnp.split(h @ w["bc"].astype(bf16), 2, -1)
            decay = jnp.exp(-jnp.exp(w["a"].astype(bf16)) * dt[..., None])
            put = (dt * h)[..., None] * b[:, :, None]
            _, states = jax.lax.associative_scan(join, (decay, put), axis=1)
            y = jnp.einsum("btis,bts->bti", states, c) * jax.nn.silu(gate)
            return x + y @ w["out"].astype(bf16), None

        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = norm(x, params["norm"]) @ params["embed"].T.astype(bf16)
        return token_loss(logits, tokens[:, 1:])

    return trained(
        *(loss, optax.adamw(1e-3), params, spec),
        *(array(rows, length + 1, dtype="int32"), P("fsdp")),
    )


@program("v5p:2x2x2", data=8)
def lstm_language():
    """A language model of three LSTMs of 2,048 in scans over time in f32, SGD with clipping."""
    layers, width, vocab, rows, length = 3, 2048, 50304, 256, 256
    params = {
        "embed": array(vocab, width),
        "layers": [
            {
                "x": array(width, 4 * width),
                "h": array(width, 4 * width),
                "b": array(4 * width),
            }
            for _ in range(layers)
        ],
        "out": array(width, vocab),
        "bias": array(vocab),
    }

    def lstm(w, xs):
        def cell(carry, x):
            h, c = carry
            i, f, g, o = jnp.split(x @ w["x"] + h @ w["h"] + w["b"], 4, -1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((rows, width))
        return jax.lax.scan(cell, (zero, zero), xs)[1]

    def loss(params, batch):
        x = params["embed"][batch["inputs"]].swapaxes(0, 1)
        for w in params["layers"]:
            x = lstm(w, x)
        logits = x.swapaxes(0, 1) @ params["out"] + params["bias"]
        return token_loss(logits, batch["targets"])

    batch = dict.fromkeys(("inputs", "targets"), array(rows, length, dtype="int32"))
    optimizer = optax.chain(optax.clip_by_global_norm(0.25), optax.sgd(1.0, 0.9))
    return trained(
        *(loss, optimizer, params, jax.tree.map(lambda _: P(), params)),
        *(batch, dict.fromkeys(batch, P("data"))),
    )
