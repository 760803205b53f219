"""Ten steps of language models, as guests write them to try a plan."""
# pyright: basic

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program, replicated, specs, state_specs, trained

hold = jax.lax.with_sharding_constraint
half = functools.partial(jax.tree.map, lambda a: a.astype(jnp.bfloat16))


def rms(x, w=None):
    y = x.astype(jnp.float32)
    y = (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(x.dtype)
    return y if w is None else y * (1 + w)


def norm(x, scale, bias):
    y = x.astype(jnp.float32)
    mean, var = y.mean(-1, keepdims=True), y.var(-1, keepdims=True)
    return ((y - mean) / jnp.sqrt(var + 1e-5)).astype(x.dtype) * scale + bias


def rotate(x, places, base=10_000.0):
    """Rotate (batch, time, heads, size) by the places of (time)."""
    size = x.shape[-1] // 2
    angle = places[:, None] * base ** (-jnp.arange(size) / size)
    sin, cos = (f(angle)[:, None, :].astype(x.dtype) for f in (jnp.sin, jnp.cos))
    a, b = x[..., :size], x[..., size:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def nll(logits, labels):
    logp = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.take_along_axis(logp, labels[..., None], axis=-1).mean()


@program("v6e:4x4", fsdp=16)
def sandwiched_gemma():
    """Gemma-2: norms before and behind, soft caps, a window each second layer; scanned pairs."""
    vocab, d, ff, pairs, heads, kv, size = 96_256, 1792, 7168, 9, 8, 4, 224

    def of(*s):
        return array(pairs, *s)

    def weights():
        return {
            **{f"n{i}": of(d) for i in range(4)},
            **{"q": of(d, heads, size), "k": of(d, kv, size), "v": of(d, kv, size)},
            **{"o": of(heads, size, d), "gate": of(d, ff), "up": of(d, ff)},
            **{"down": of(ff, d)},
        }

    params = {
        "embed": array(vocab, d),
        "layers": {"local": weights(), "global": weights()},
        "norm": array(d),
    }

    def layer(x, w, mask):
        t = x.shape[1]
        h = rms(x, w["n0"])
        q = rotate(jnp.einsum("btd,dhs->bths", h, w["q"]), jnp.arange(t))
        k = rotate(jnp.einsum("btd,dhs->bths", h, w["k"]), jnp.arange(t))
        v = jnp.einsum("btd,dhs->bths", h, w["v"])
        k, v = (jnp.repeat(a, heads // kv, axis=2) for a in (k, v))
        s = jnp.einsum("bqhs,bkhs->bhqk", q, k).astype(jnp.float32) * size**-0.5
        s = jnp.where(mask, 50.0 * jnp.tanh(s / 50.0), -1e9)
        p = jax.nn.softmax(s).astype(x.dtype)
        a = jnp.einsum("bhqk,bkhs->bqhs", p, v)
        x = x + rms(jnp.einsum("bqhs,hsd->bqd", a, w["o"]), w["n1"])
        h = rms(x, w["n2"])
        h = (jax.nn.gelu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
        return hold(x + rms(h, w["n3"]), P("fsdp"))

    def loss(params, tokens):
        params = half(params)
        inputs, labels = tokens[:, :-1], tokens[:, 1:]
        t = inputs.shape[1]
        causal = jnp.tril(jnp.ones((t, t), bool))
        near = causal & ~jnp.tril(causal, -512)
        x = hold(params["embed"][inputs] * d**0.5, P("fsdp"))

        @jax.checkpoint
        def pair(x, w):
            x = layer(x, w["local"], near)
            return layer(x, w["global"], causal), None

        x, _ = jax.lax.scan(pair, x, params["layers"])
        logits = rms(x, params["norm"]) @ params["embed"].T
        return nll(30.0 * jnp.tanh(logits.astype(jnp.float32) / 30.0), labels)

    tokens = array(32, 1537, dtype="int32")
    opt = optax.adamw(2e-4, mu_dtype=jnp.bfloat16)
    return trained(loss, opt, params, specs(params, "fsdp"), tokens, P("fsdp"))


@program("v5p:2x2x2", data=2, model=4)
def parallel_branches():
    """GPT-NeoX: attention beside the perceptron, a quarter rotated, a tensor axis, dots saved."""
    vocab, d, ff, depth, heads, size = 50_432, 2560, 10_240, 16, 20, 128

    def of(*s):
        return array(depth, *s)

    params = {
        "embed": array(vocab, d),
        "layers": {
            **{"s0": of(d), "b0": of(d), "s1": of(d), "b1": of(d)},
            **{"qkv": of(d, 3, heads, size), "qkv_b": of(3, heads, size)},
            **{"o": of(heads, size, d), "o_b": of(d), "up": of(d, ff), "up_b": of(ff)},
            **{"down": of(ff, d), "down_b": of(d)},
        },
        "s": array(d),
        "b": array(d),
        "head": array(d, vocab),
    }
    rows = P(None, None, "model")
    split = replicated(params) | {"embed": P("model"), "head": P(None, "model")}
    split["layers"] |= {
        **{"qkv": P(None, None, None, "model"), "qkv_b": P(None, None, "model")},
        **{"o": P(None, "model"), "up": rows, "up_b": P(None, "model")},
        **{"down": P(None, "model")},
    }

    def layer(x, w):
        w = half(w)
        h = norm(x, w["s0"], w["b0"])
        qkv = jnp.einsum("btd,dchs->cbths", h, w["qkv"]) + w["qkv_b"][:, None, None]
        q, k, v = hold(qkv, P(None, "data", None, "model"))
        t, turned = x.shape[1], size // 4
        q, k = (
            jnp.concatenate(
                [rotate(a[..., :turned], jnp.arange(t)), a[..., turned:]], -1
            )
            for a in (q, k)
        )
        s = jnp.einsum("bqhs,bkhs->bhqk", q, k) / size**0.5
        s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
        p = jax.nn.softmax(s.astype(jnp.float32)).astype(x.dtype)
        a = jnp.einsum("bhqk,bkhs->bqhs", p, v)
        a = jnp.einsum("bqhs,hsd->bqd", a, w["o"]) + w["o_b"]
        h = norm(x, w["s1"], w["b1"])
        h = hold(jax.nn.gelu(h @ w["up"] + w["up_b"]), P("data", None, "model"))
        return hold(x + a + h @ w["down"] + w["down_b"], P("data")), None

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens[:, :-1]]
        policy = jax.checkpoint_policies.checkpoint_dots_with_no_batch_dims
        x, _ = jax.lax.scan(jax.checkpoint(layer, policy=policy), x, params["layers"])
        x = norm(x, *half((params["s"], params["b"])))
        logits = hold(x @ half(params["head"]), P("data", None, "model"))
        return nll(logits, tokens[:, 1:])

    tokens = array(12, 1025, dtype="int32")
    return trained(loss, optax.adam(1e-4), params, split, tokens, P("data"))


@program("v5p:2x2x2", fsdp=4, expert=2)
def every_expert():
    """Eight experts that all rows pass, the best two weighted; Lion, layers scanned and remade."""
    vocab, d, ff, depth, heads, experts = 32_000, 1024, 1792, 12, 16, 8

    def of(*s):
        return array(depth, *s)

    params = {
        "embed": array(vocab, d),
        "layers": {
            **{"n1": of(d), "n2": of(d), "qkv": of(d, 3 * d), "o": of(d, d)},
            **{"route": of(d, experts), "up": of(experts, d, ff)},
            **{"gate": of(experts, d, ff), "down": of(experts, ff, d)},
        },
        "norm": array(d),
        "head": array(d, vocab),
    }
    split = specs(params, "fsdp")
    split["layers"] |= {
        **{"up": P(None, "expert", "fsdp"), "gate": P(None, "expert", "fsdp")},
        **{"down": P(None, "expert", None, "fsdp"), "route": P()},
    }
    rows = P(("fsdp", "expert"))

    def layer(x, w):
        w = half(w)
        b, t, _ = x.shape
        q, k, v = jnp.split(rms(x, w["n1"]) @ w["qkv"], 3, axis=-1)
        q, k, v = (a.reshape(b, t, heads, -1) for a in (q, k, v))
        a = jax.nn.dot_product_attention(
            rotate(q, jnp.arange(t)), rotate(k, jnp.arange(t)), v, is_causal=True
        )
        x = hold(x + a.reshape(b, t, d) @ w["o"], rows)
        h = rms(x, w["n2"])
        scores = jax.nn.softmax((h @ w["route"]).astype(jnp.float32))
        best, at = jax.lax.top_k(scores, 2)
        best = best / best.sum(-1, keepdims=True)
        shares = (jax.nn.one_hot(at, experts) * best[..., None]).sum(-2)
        up = jnp.einsum("btd,edf->ebtf", h, w["up"])
        gate = jax.nn.silu(jnp.einsum("btd,edf->ebtf", h, w["gate"]))
        out = jnp.einsum("ebtf,efd->ebtd", gate * up, w["down"])
        out = jnp.einsum("ebtd,bte->btd", out, shares.astype(x.dtype))
        return hold(x + out, rows), scores.mean((0, 1))

    def loss(params, tokens):
        x = hold(half(params["embed"])[tokens[:, :-1]], rows)
        x, shares = jax.lax.scan(jax.checkpoint(layer), x, params["layers"])
        logits = rms(x, params["norm"].astype(x.dtype)) @ half(params["head"])
        return nll(logits, tokens[:, 1:]) + 0.01 * jnp.square(shares).sum()

    tokens = array(40, 1025, dtype="int32")
    return trained(loss, optax.lion(1e-4), params, split, tokens, rows)


class NormedLayer(nn.Module):
    width: int
    heads: int
    ff: int

    @nn.compact
    def __call__(self, x, _):
        dense = functools.partial(nn.DenseGeneral, use_bias=False, dtype=jnp.bfloat16)
        size, t = self.width // self.heads, x.shape[1]
        h = nn.RMSNorm(dtype=jnp.bfloat16)(x)
        q, k, v = (dense((self.heads, size), name=n)(h) for n in "qkv")
        q = rotate(nn.RMSNorm(dtype=jnp.bfloat16, name="qn")(q), jnp.arange(t))
        k = rotate(nn.RMSNorm(dtype=jnp.bfloat16, name="kn")(k), jnp.arange(t))
        mask = nn.make_causal_mask(jnp.ones((1, t)))
        a = nn.dot_product_attention(q, k, v, mask=mask, dtype=jnp.bfloat16)
        x = x + dense(self.width, axis=(-2, -1))(a)
        h = nn.RMSNorm(dtype=jnp.bfloat16)(x)
        h = nn.silu(dense(self.ff)(h)) * dense(self.ff)(h)
        return x + dense(self.width)(h), None


class NormedDecoder(nn.Module):
    vocab: int = 73_472
    width: int = 1280
    depth: int = 14

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocab, self.width, dtype=jnp.bfloat16)(tokens)
        layers = nn.scan(
            nn.remat(NormedLayer, prevent_cse=False),
            variable_axes={"params": 0},
            split_rngs={"params": True},
            length=self.depth,
        )
        x, _ = layers(self.width, 10, 3456)(x, None)
        x = nn.RMSNorm(dtype=jnp.bfloat16)(x)
        return nn.Dense(self.vocab, use_bias=False, dtype=jnp.bfloat16)(x)


@program("v5e:4x4", data=4, fsdp=4)
def normed_queries():
    """A decoder of Linen with norms of queries and keys, scanned; only the arguments are placed."""
    model = NormedDecoder()
    tokens = array(48, 1025, dtype="int32")
    params = jax.eval_shape(model.init, jax.random.key(0), array(1, 8, dtype="int32"))

    def loss(params, tokens):
        return nll(model.apply(params, tokens[:, :-1]), tokens[:, 1:])

    opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    split = specs(params, "fsdp")
    return trained(loss, opt, params, split, tokens, P(("data", "fsdp")))


class NnxBlock(nnx.Module):
    def __init__(self, d, heads, rngs):
        self.n1, self.n2 = nnx.LayerNorm(d, rngs=rngs), nnx.LayerNorm(d, rngs=rngs)
        self.attn = nnx.MultiHeadAttention(
            heads, d, decode=False, dtype=jnp.bfloat16, rngs=rngs
        )
        self.up = nnx.Linear(d, 4 * d, dtype=jnp.bfloat16, rngs=rngs)
        self.down = nnx.Linear(4 * d, d, dtype=jnp.bfloat16, rngs=rngs)

    def __call__(self, x):
        mask = nnx.make_causal_mask(jnp.ones(x.shape[:2]))
        x = x + self.attn(self.n1(x), mask=mask)
        return x + self.down(nnx.gelu(self.up(self.n2(x))))


class NnxGpt(nnx.Module):
    def __init__(self, rngs, vocab=32_768, d=896, heads=14, depth=6, length=640):
        self.words = nnx.Embed(vocab, d, rngs=rngs)
        self.places = nnx.Embed(length, d, rngs=rngs)
        self.blocks = nnx.List([NnxBlock(d, heads, rngs) for _ in range(depth)])
        self.norm = nnx.LayerNorm(d, rngs=rngs)
        self.head = nnx.Linear(d, vocab, use_bias=False, dtype=jnp.bfloat16, rngs=rngs)

    def __call__(self, tokens):
        x = self.words(tokens) + self.places(jnp.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


@program("v6e:2x2", data=4)
def nested_gpt():
    """A GPT of NNX as its guide has it: six layers, residuals of f32, nothing saved by choice."""
    graph, params = nnx.split(nnx.eval_shape(lambda: NnxGpt(nnx.Rngs(0))))

    def loss(params, tokens):
        return nll(nnx.merge(graph, params)(tokens[:, :-1]), tokens[:, 1:])

    tokens = array(48, 641, dtype="int32")
    opt = optax.adamw(1e-3)
    return trained(loss, opt, params, replicated(params), tokens, P("data"))


@program("v5e:4x2", data=8)
def split_moments():
    """ZeRO-1: whole bf16 weights, f32 masters and moments split; scanned and remade."""
    vocab, d, depth, heads = 50_304, 1024, 20, 16

    def of(*s):
        return array(depth, *s)

    masters = {
        "embed": array(vocab, d),
        "place": array(1024, d),
        "layers": {
            **{"s0": of(d), "b0": of(d), "s1": of(d), "b1": of(d)},
            **{"qkv": of(d, 3 * d), "o": of(d, d), "up": of(d, 4 * d)},
            **{"down": of(4 * d, d)},
        },
    }
    weights = jax.tree.map(lambda a: array(*a.shape, dtype="bfloat16"), masters)
    split = specs(masters, "data")

    def layer(x, w):
        b, t, _ = x.shape
        qkv = norm(x, w["s0"], w["b0"]) @ w["qkv"]
        q, k, v = jnp.moveaxis(qkv.reshape(b, t, 3, heads, -1), 2, 0)
        s = jnp.einsum("bqhs,bkhs->bhqk", q, k).astype(jnp.float32) / 8.0
        s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -jnp.inf)
        p = jax.nn.softmax(s).astype(x.dtype)
        a = jnp.einsum("bhqk,bkhs->bqhs", p, v).reshape(b, t, d)
        x = x + a @ w["o"]
        h = jax.nn.gelu(norm(x, w["s1"], w["b1"]) @ w["up"])
        return x + h @ w["down"], None

    def loss(w, tokens):
        x = w["embed"][tokens[:, :-1]] + w["place"]
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, w["layers"])
        return nll(x @ w["embed"].T, tokens[:, 1:])

    opt = optax.adamw(3e-4)
    state, of_state = state_specs(opt, masters, split)

    def step(weights, masters, state, tokens):
        value, grads = jax.value_and_grad(loss)(weights, tokens)
        grads = jax.tree.map(lambda g, s: hold(g.astype("float32"), s), grads, split)
        updates, state = opt.update(grads, state, masters)
        masters = optax.apply_updates(masters, updates)
        weights = jax.tree.map(lambda m: hold(m.astype("bfloat16"), P()), masters)
        return weights, masters, state, value

    tokens = array(64, 1025, dtype="int32")
    return (
        step,
        (weights, masters, state, tokens),
        (replicated(weights), split, of_state, P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5p:2x2x2", data=2, seq=4)
def split_positions():
    """Rows of 6,144 positions split four ways: keys and values are gathered in each layer."""
    vocab, d, ff, depth, heads, kv, size = 32_128, 1536, 4096, 10, 12, 4, 128

    def of(*s):
        return array(depth, *s)

    params = {
        "embed": array(vocab, d),
        "layers": {
            **{"n1": of(d), "n2": of(d), "q": of(d, heads, size)},
            **{"kv": of(d, 2, kv, size), "o": of(heads, size, d)},
            **{"gate": of(d, ff), "up": of(d, ff), "down": of(ff, d)},
        },
        "norm": array(d),
        "head": array(d, vocab),
    }
    rows = P("data", "seq")
    length = 6144

    def layer(x, w):
        w = half(w)
        at = jnp.arange(length)
        h = rms(x, w["n1"])
        q = rotate(jnp.einsum("btd,dhs->bths", h, w["q"]), at, 500_000.0)
        k, v = jnp.moveaxis(jnp.einsum("btd,dchs->btchs", h, w["kv"]), 2, 0)
        k = rotate(k, at, 500_000.0)
        k, v = (hold(a, P("data")) for a in (k, v))
        q = q.reshape(*q.shape[:2], kv, heads // kv, size)
        s = jnp.einsum("bqkgs,btks->bkgqt", q, k).astype(jnp.float32) / size**0.5
        s = jnp.where(at[:, None] >= at, s, -1e30)
        p = jax.nn.softmax(s).astype(x.dtype)
        a = jnp.einsum("bkgqt,btks->bqkgs", p, v).reshape(*x.shape[:2], heads, size)
        x = hold(x + jnp.einsum("bths,hsd->btd", a, w["o"]), rows)
        h = rms(x, w["n2"])
        return hold(
            x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], rows
        ), None

    def loss(params, batch):
        x = hold(half(params["embed"])[batch["inputs"]], rows)
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, params["layers"])
        logits = rms(x, params["norm"].astype(x.dtype)) @ half(params["head"])
        return nll(hold(logits, rows), batch["labels"])

    batch = {n: array(4, length, dtype="int32") for n in ("inputs", "labels")}
    places = {"inputs": rows, "labels": rows}
    return trained(loss, optax.adamw(3e-4), params, specs(params, "seq"), batch, places)


@program("v5e:4x2", fsdp=4, tensor=2)
def adapted_projections():
    """LoRA of rank 24 on queries and values; bf16 weights stay, layers scanned and remade."""
    vocab, d, ff, depth, heads, kv, size = 32_000, 3072, 8192, 18, 24, 8, 128
    rank = 24

    def of(*s):
        return array(depth, *s, dtype="bfloat16")

    frozen = {
        "embed": array(vocab, d, dtype="bfloat16"),
        "layers": {
            **{"n1": of(d), "n2": of(d), "q": of(d, heads * size)},
            **{"k": of(d, kv * size), "v": of(d, kv * size), "o": of(heads * size, d)},
            **{"gate": of(d, ff), "up": of(d, ff), "down": of(ff, d)},
        },
        "norm": array(d, dtype="bfloat16"),
        "head": array(d, vocab, dtype="bfloat16"),
    }
    across = P(None, "fsdp", "tensor")
    back = P(None, "tensor", "fsdp")
    fixed = {
        "embed": P("tensor", "fsdp"),
        "layers": {
            **{"n1": P(), "n2": P(), "q": across, "k": across, "v": across},
            **{"o": back, "gate": across, "up": across, "down": back},
        },
        "norm": P(),
        "head": P("fsdp", "tensor"),
    }
    params = {
        name + end: array(depth, *s)
        for name, width in (("q", heads * size), ("v", kv * size))
        for end, s in (("a", (d, rank)), ("b", (rank, width)))
    }

    def layer(x, w):
        w, lora = w[0], half(w[1])
        b, t, _ = x.shape
        h = rms(x, w["n1"])
        q = h @ w["q"] + 2.0 * (h @ lora["qa"]) @ lora["qb"]
        v = h @ w["v"] + 2.0 * (h @ lora["va"]) @ lora["vb"]
        q, k, v = (a.reshape(b, t, -1, size) for a in (q, h @ w["k"], v))
        a = jax.nn.dot_product_attention(
            rotate(q, jnp.arange(t)), rotate(k, jnp.arange(t)), v, is_causal=True
        )
        x = hold(x + a.reshape(b, t, -1) @ w["o"], P("fsdp"))
        h = rms(x, w["n2"])
        h = (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
        return hold(x + h, P("fsdp")), None

    def loss(params, tokens, w):
        x = hold(w["embed"][tokens[:, :-1]], P("fsdp"))
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, (w["layers"], params))
        return nll(rms(x, w["norm"]) @ w["head"], tokens[:, 1:])

    tokens = array(16, 1025, dtype="int32")
    opt = optax.adamw(2e-4)
    return trained(
        loss, opt, params, replicated(params), tokens, P("fsdp"), (frozen, fixed)
    )


@program("v5e:4x2", data=2, model=4)
def sampled_token():
    """One token of 48 sequences: layers write caches in a scan, the next word is drawn."""
    vocab, d, ff, depth, heads, kv, size, length = (
        64_000,
        3072,
        8192,
        20,
        24,
        4,
        128,
        3072,
    )

    def of(*s):
        return array(depth, *s, dtype="bfloat16")

    weights = {
        "embed": array(vocab, d, dtype="bfloat16"),
        "layers": {
            **{"n1": of(d), "n2": of(d), "q": of(d, heads, size)},
            **{"k": of(d, kv, size), "v": of(d, kv, size), "o": of(heads, size, d)},
            **{"gate": of(d, ff), "up": of(d, ff), "down": of(ff, d)},
        },
        "norm": array(d, dtype="bfloat16"),
        "head": array(d, vocab, dtype="bfloat16"),
    }
    across = P(None, None, "model")
    split = {
        "embed": P("model"),
        "layers": {
            **{"n1": P(), "n2": P(), "q": across, "k": across, "v": across},
            **{"o": P(None, "model"), "gate": across, "up": across},
            **{"down": P(None, "model")},
        },
        "norm": P(),
        "head": P(None, "model"),
    }
    cache = {n: of(48, length, kv, size) for n in "kv"}
    places = {n: P(None, "data", None, "model") for n in "kv"}

    def step(weights, cache, token, at, key):
        x = weights["embed"][token][:, None]

        def layer(x, w):
            w, k_old, v_old = w
            h = rms(x, w["n1"])
            q = rotate(jnp.einsum("btd,dhs->bths", h, w["q"]), at[None])
            k = rotate(jnp.einsum("btd,dhs->bths", h, w["k"]), at[None])
            v = jnp.einsum("btd,dhs->bths", h, w["v"])
            k = jax.lax.dynamic_update_slice(k_old, k, (0, at, 0, 0))
            v = jax.lax.dynamic_update_slice(v_old, v, (0, at, 0, 0))
            q = q.reshape(q.shape[0], kv, heads // kv, size)
            s = jnp.einsum("bkgs,btks->bkgt", q, k).astype(jnp.float32) / size**0.5
            s = jnp.where(jnp.arange(length) <= at, s, -1e30)
            p = jax.nn.softmax(s).astype(x.dtype)
            a = jnp.einsum("bkgt,btks->bkgs", p, v).reshape(-1, 1, heads, size)
            x = x + jnp.einsum("bths,hsd->btd", a, w["o"])
            h = rms(x, w["n2"])
            h = (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
            return x + h, (k, v)

        x, (k, v) = jax.lax.scan(layer, x, (weights["layers"], cache["k"], cache["v"]))
        logits = (rms(x[:, 0], weights["norm"]) @ weights["head"]).astype(jnp.float32)
        best, _ = jax.lax.top_k(logits, 40)
        logits = jnp.where(logits < best[:, -1:], -1e30, logits / 0.8)
        return jax.random.categorical(key, logits), {"k": k, "v": v}

    key = jax.eval_shape(lambda: jax.random.PRNGKey(0))
    return (
        step,
        (weights, cache, array(48, dtype="int32"), array(dtype="int32"), key),
        (split, places, P("data"), P(), P()),
        {"donate_argnums": (1,), "out_shardings": (P("data"), places)},
    )
