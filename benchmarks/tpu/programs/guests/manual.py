"""Four steps in which a guest says more: microbatches, stages, shards, Adafactor's factors."""
# pyright: basic

import functools

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program, replicated, specs, state_specs, trained

hold = jax.lax.with_sharding_constraint
half = functools.partial(jax.tree.map, lambda a: a.astype(jnp.bfloat16))


def rms(x, w):
    y = x.astype(jnp.float32)
    y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-5)
    return (y * w).astype(x.dtype)


def attend(q, k, v, mask=None, bias=None):
    s = jnp.einsum("bqhs,bkhs->bhqk", q, k, preferred_element_type=jnp.float32)
    s = s / q.shape[-1] ** 0.5
    s = s if bias is None else s + bias
    s = s if mask is None else jnp.where(mask, s, -1e30)
    p = jax.nn.softmax(s, axis=-1).astype(v.dtype)
    return jnp.einsum("bhqk,bkhs->bqhs", p, v)


def nll(logits, labels):
    logits = logits.astype(jnp.float32)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def block(x, w, heads):
    """A layer with a gated perceptron; weights of any type, values of bf16."""
    w = half(w)
    b, t, d = x.shape
    q, k, v = (
        a.reshape(b, t, heads, -1)
        for a in jnp.split(rms(x, w["n1"]) @ w["qkv"], 3, axis=-1)
    )
    a = attend(q, k, v, jnp.tril(jnp.ones((t, t), bool))).reshape(b, t, d)
    x = x + a @ w["o"]
    h = rms(x, w["n2"])
    return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]


def block_weights(d, ff, *depth):
    return {
        **{"n1": array(*depth, d), "n2": array(*depth, d)},
        **{"qkv": array(*depth, d, 3 * d), "o": array(*depth, d, d)},
        **{"gate": array(*depth, d, ff), "up": array(*depth, d, ff)},
        **{"down": array(*depth, ff, d)},
    }


@program("v6e:4x4", data=2, fsdp=8)
def five_microbatches():
    """A decoder whose gradients a scan over five microbatches adds in f32, then clipped AdamW."""
    vocab, d, ff, depth, heads = 40_064, 1408, 3840, 18, 11
    params = {
        "embed": array(vocab, d),
        "layers": block_weights(d, ff, depth),
        "norm": array(d),
        "head": array(d, vocab),
    }
    split = specs(params, "fsdp")
    rows = ("data", "fsdp")

    def loss(params, tokens):
        x = hold(half(params["embed"])[tokens[:, :-1]], P(rows))

        @jax.checkpoint
        def layer(x, w):
            return hold(block(x, w, heads), P(rows)), None

        x, _ = jax.lax.scan(layer, x, params["layers"])
        return nll(rms(x, params["norm"]) @ half(params["head"]), tokens[:, 1:])

    opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    state, of_state = state_specs(opt, params, split)

    def step(params, state, tokens):
        def add(total, tokens):
            value, grads = jax.value_and_grad(loss)(params, tokens)
            return jax.tree.map(jnp.add, total, (value, grads)), None

        zeros = jnp.zeros(()), jax.tree.map(jnp.zeros_like, params)
        (value, grads), _ = jax.lax.scan(add, zeros, tokens)
        grads = jax.tree.map(lambda g: g / 5, grads)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value / 5

    tokens = array(5, 32, 1025, dtype="int32")
    return (
        step,
        (params, state, tokens),
        (split, of_state, P(None, rows)),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x2", stage=4, data=2)
def passing_stages():
    """Four stages of three layers each in `shard_map`, eight microbatches."""
    vocab, d, ff, heads, stages, micro = 32_000, 1536, 4608, 12, 4, 8
    params = {
        "embed": array(vocab, d),
        "layers": block_weights(d, ff, stages, 3),
        "norm": array(d),
        "head": array(d, vocab),
    }
    split = replicated(params)
    split["layers"] = jax.tree.map(lambda _: P("stage"), params["layers"])

    def staged(layers, x):
        """Pass (microbatches, batch, time, features) through all stages."""
        layers = jax.tree.map(lambda a: a[0], layers)
        at = jax.lax.axis_index("stage")

        @jax.checkpoint
        def one_stage(x):
            x, _ = jax.lax.scan(lambda x, w: (block(x, w, heads), None), x, layers)
            return x

        def tick(carry, i):
            now, out = carry
            now = jnp.where(at == 0, x[jnp.minimum(i, micro - 1)], now)
            now = one_stage(now)
            done = jnp.maximum(i - stages + 1, 0)
            out = out.at[done].set(jnp.where(at == stages - 1, now, out[done]))
            ring = [(s, (s + 1) % stages) for s in range(stages)]
            return (jax.lax.ppermute(now, "stage", ring), out), None

        start = jnp.zeros_like(x[0]), jnp.zeros_like(x)
        start = jax.lax.pcast(start, ("stage",), to="varying")
        (_, out), _ = jax.lax.scan(tick, start, jnp.arange(micro + stages - 1))
        return jax.lax.psum(jnp.where(at == stages - 1, out, 0), "stage")

    def loss(params, tokens):
        x = half(params["embed"])[tokens[..., :-1]]
        x = jax.shard_map(
            staged,
            in_specs=(split["layers"], P(None, "data")),
            out_specs=P(None, "data"),
        )(params["layers"], x)
        return nll(rms(x, params["norm"]) @ half(params["head"]), tokens[..., 1:])

    tokens = array(micro, 4, 769, dtype="int32")
    return trained(loss, optax.adamw(1e-4), params, split, tokens, P(None, "data"))


@program("v5e:4x2", data=8)
def summed_by_hand():
    """A GPT by `shard_map` over the batch: gradients are averaged by `pmean`, Muon for matrices."""
    vocab, d, ff, depth, heads = 32_768, 896, 2432, 14, 14
    params = {
        "embed": array(vocab, d),
        "layers": block_weights(d, ff, depth),
        "norm": array(d),
        "head": array(d, vocab),
    }

    def loss(params, tokens):
        x = half(params["embed"])[tokens[:, :-1]]

        @jax.checkpoint
        def layer(x, w):
            return block(x, w, heads), None

        x, _ = jax.lax.scan(layer, x, params["layers"])
        return nll(rms(x, params["norm"]) @ half(params["head"]), tokens[:, 1:])

    def newton(g):
        """Return (layers, rows, columns) with singular values near 1."""
        turn = g.shape[-2] > g.shape[-1]
        x = jnp.swapaxes(g, -1, -2) if turn else g
        x = x.astype(jnp.bfloat16)
        x = x / (jnp.linalg.norm(x, axis=(-2, -1), keepdims=True) + 1e-7)

        def turned(_, x):
            a = x @ jnp.swapaxes(x, -1, -2)
            b = -4.775 * a + 2.0315 * a @ a
            return 3.4445 * x + b @ x

        x = jax.lax.fori_loop(0, 5, turned, x)
        return jnp.swapaxes(x, -1, -2) if turn else x

    @functools.partial(
        jax.shard_map,
        in_specs=(P(), P(), P("data")),
        out_specs=(P(), P(), P()),
        check_vma=False,
    )
    def step(params, momentum, tokens):
        value, grads = jax.value_and_grad(loss)(params, tokens)
        value, grads = jax.lax.pmean((value, grads), "data")
        momentum = jax.tree.map(lambda m, g: 0.95 * m + g, momentum, grads)

        def update(p, m):
            m = newton(m) if m.ndim == 3 else m
            return p - 0.02 * m.astype(p.dtype)

        return jax.tree.map(update, params, momentum), momentum, value

    whole = replicated(params)
    tokens = array(48, 897, dtype="int32")
    return (
        step,
        (params, params, tokens),
        (whole, whole, P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v4:2x2x2", data=8)
def factored_translator():
    """A T5 with biases of distance, encoder and decoder scanned; Adafactor, whole weights."""
    vocab, d, ff, depth, heads, size = 32_128, 896, 2560, 10, 14, 64

    def of(*s):
        return array(depth, *s)

    def attention():
        return {"qkv": of(3, d, heads, size), "o": of(heads, size, d), "n": of(d)}

    def perceptron():
        return {"gate": of(d, ff), "up": of(d, ff), "down": of(ff, d), "m": of(d)}

    params = {
        "embed": array(vocab, d),
        "near": [array(32, heads), array(32, heads)],
        "encoder": attention() | perceptron(),
        "decoder": {"self": attention(), "cross": attention()} | perceptron(),
        "norm": array(d),
    }

    def attended(x, y, w, mask, bias):
        h = rms(x, w["n"])
        y = h if y is None else y
        q = jnp.einsum("btd,dhs->bths", h, w["qkv"][0])
        k, v = jnp.einsum("btd,cdhs->cbths", y, w["qkv"][1:])
        return x + jnp.einsum("bths,hsd->btd", attend(q, k, v, mask, bias), w["o"])

    def gated(x, w):
        h = rms(x, w["m"])
        return x + (jax.nn.gelu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

    def bias(table, t, both):
        gap = jnp.arange(t)[None] - jnp.arange(t)[:, None]
        gap = jnp.abs(gap) if both else jnp.maximum(-gap, 0)
        near = jnp.minimum(jnp.log2(gap + 1.0) * 3, 31).astype(jnp.int32)
        return jnp.transpose(table[near], (2, 0, 1))

    def loss(params, batch):
        table = half(params["embed"])
        x, target = table[batch["source"]], batch["target"]
        there = (batch["source"] != 0)[:, None, None, :]
        far = bias(params["near"][0], x.shape[1], True)

        @jax.checkpoint
        def encode(x, w):
            w = half(w)
            return gated(attended(x, None, w, there, far), w), None

        x, _ = jax.lax.scan(encode, x, params["encoder"])
        y = table[target[:, :-1]]
        t = y.shape[1]
        causal = jnp.tril(jnp.ones((t, t), bool))
        back = bias(params["near"][1], t, False)

        @jax.checkpoint
        def decode(y, w):
            w = half(w)
            y = attended(y, None, w["self"], causal, back)
            return gated(attended(y, x, w["cross"], there, None), w), None

        y, _ = jax.lax.scan(decode, y, params["decoder"])
        logits = rms(y, params["norm"]) @ table.T * d**-0.5
        return nll(logits, target[:, 1:])

    batch = {
        "source": array(96, 512, dtype="int32"),
        "target": array(96, 201, dtype="int32"),
    }
    opt = optax.adafactor(1e-3)
    return trained(loss, opt, params, replicated(params), batch, P("data"))
