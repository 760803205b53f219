"""Ten steps of models of text, as visitors write them: training, tuning, serving."""
# pyright: basic

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program, specs, state_specs, trained

hold = jax.lax.with_sharding_constraint


def rms(x, scale):
    y = x.astype(jnp.float32)
    y = y * jax.lax.rsqrt(jnp.mean(y * y, axis=-1, keepdims=True) + 1e-5)
    return (y * scale).astype(x.dtype)


def rotary(x, base=500_000.0):
    """Turn the halves of (batch, time, heads, size) by their places."""
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None] * base ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
    a, b = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def causal(q, k, v):
    """Grouped causal attention: (b, t, k, g, h) beside (b, t, k, h)."""
    s = jnp.einsum("btkgh,bskh->bkgts", q, k, preferred_element_type=jnp.float32)
    t = s.shape[-1]
    s = jnp.where(jnp.tri(t, dtype=bool), s / q.shape[-1] ** 0.5, -1e30)
    p = jax.nn.softmax(s, axis=-1).astype(v.dtype)
    return jnp.einsum("bkgts,bskh->btkgh", p, v)


def cross_entropy(logits, labels):
    logits = logits.astype(jnp.float32)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@program("v5p:2x2x2", fsdp=8)
def tied_grouped_llama():
    """A Llama of 1.3e9 parameters whose head is its embedding; dots without a batch are saved."""
    vocab, d, ff, depth, kv, groups, size = 64_128, 2048, 5632, 20, 8, 4, 64

    def stacked(*s):
        return array(depth, *s)

    params = {
        "embed": array(vocab, d),
        "layers": {
            **{"n1": stacked(d), "n2": stacked(d)},
            **{"q": stacked(d, kv, groups, size), "k": stacked(d, kv, size)},
            **{"v": stacked(d, kv, size), "o": stacked(kv, groups, size, d)},
            **{"gate": stacked(d, ff), "up": stacked(d, ff), "down": stacked(ff, d)},
        },
        "norm": array(d),
    }

    def layer(x, w):
        w = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
        h = rms(x, w["n1"])
        q = jnp.einsum("btd,dkgh->btkgh", h, w["q"])
        b, t = q.shape[:2]
        q = rotary(q.reshape(b, t, -1, size)).reshape(q.shape)
        k = rotary(jnp.einsum("btd,dkh->btkh", h, w["k"]))
        v = jnp.einsum("btd,dkh->btkh", h, w["v"])
        x = x + jnp.einsum("btkgh,kghd->btd", causal(q, k, v), w["o"])
        h = rms(x, w["n2"])
        h = jax.nn.silu(h @ w["gate"]) * (h @ w["up"])
        return hold(x + h @ w["down"], P("fsdp")), None

    def loss(params, tokens):
        table = params["embed"].astype(jnp.bfloat16)
        x = hold(table[tokens[:, :-1]], P("fsdp"))
        policy = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
        x, _ = jax.lax.scan(jax.checkpoint(layer, policy=policy), x, params["layers"])
        logits = rms(x, params["norm"]) @ table.T
        return cross_entropy(hold(logits, P("fsdp")), tokens[:, 1:])

    tokens = array(24, 2049, dtype="int32")
    opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4, b2=0.95))
    return trained(loss, opt, params, specs(params, "fsdp"), tokens, P("fsdp"))


class Block(nn.Module):
    width: int
    heads: int
    rate: float

    @nn.compact
    def __call__(self, x):
        mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
        h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        h = nn.MultiHeadDotProductAttention(
            self.heads, dtype=jnp.bfloat16, dropout_rate=self.rate, deterministic=False
        )(h, mask=mask)
        x = x + nn.Dropout(self.rate, deterministic=False)(h)
        h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        h = nn.gelu(nn.Dense(4 * self.width, dtype=jnp.bfloat16)(h))
        h = nn.Dense(self.width, dtype=jnp.bfloat16)(h)
        return x + nn.Dropout(self.rate, deterministic=False)(h)


class Gpt(nn.Module):
    vocab: int = 50_304
    width: int = 1024
    heads: int = 16
    depth: int = 12

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocab, self.width, dtype=jnp.bfloat16)(tokens)
        x = x + nn.Embed(1024, self.width, dtype=jnp.bfloat16)(jnp.arange(1024))
        for _ in range(self.depth):
            x = Block(self.width, self.heads, 0.1)(x)
        x = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        return nn.Dense(self.vocab, use_bias=False, dtype=jnp.bfloat16)(x)


@program("v5e:4x4", data=16)
def dropped_gpt():
    """GPT-2 medium's width, twelve layers of Linen with dropout; the batch alone is split."""
    model = Gpt()
    tokens = array(64, 1025, dtype="int32")
    key = jax.eval_shape(lambda: jax.random.PRNGKey(0))
    params = jax.eval_shape(
        lambda k, t: model.init({"params": k, "dropout": k}, t[:, :-1]), key, tokens
    )

    def loss(params, tokens, key):
        logits = model.apply(params, tokens[:, :-1], rngs={"dropout": key})
        return cross_entropy(logits, tokens[:, 1:])

    whole = jax.tree.map(lambda _: P(), params)
    opt = optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 6e-4, 2000, 100_000))
    return trained(loss, opt, params, whole, tokens, P("data"), (key, P()))


@program("v6e:4x4", data=4, expert=4)
def slotted_experts():
    """Sixteen experts of which each token takes two, by one-hot products within a capacity."""
    vocab, d, ff, depth, heads, experts = 32_000, 1536, 4096, 12, 12, 16
    b, t, capacity = 32, 1024, 160

    def stacked(*s):
        return array(depth, *s)

    params = {
        "embed": array(vocab, d),
        "layers": {
            **{"n1": stacked(d), "n2": stacked(d), "router": stacked(d, experts)},
            **{"qkv": stacked(d, 3, heads, d // heads), "o": stacked(d, d)},
            **{"up": stacked(experts, d, ff), "down": stacked(experts, ff, d)},
        },
        "norm": array(d),
        "head": array(d, vocab),
    }
    split = {
        "embed": P(),
        "layers": {
            **{"n1": P(), "n2": P(), "router": P(), "qkv": P(), "o": P()},
            **{"up": P(None, "expert"), "down": P(None, "expert")},
        },
        "norm": P(),
        "head": P(None, "expert"),
    }

    def experts_of(x, w):
        gates = jax.nn.softmax((x @ w["router"]).astype(jnp.float32), axis=-1)
        weights, chosen = jax.lax.top_k(gates, 2)
        one_hot = jax.nn.one_hot(chosen, experts, dtype=jnp.int32)
        flat = one_hot.reshape(x.shape[0], -1, experts)
        place = (jnp.cumsum(flat, axis=1) - 1).reshape(one_hot.shape)
        place = jnp.sum(place * one_hot, axis=-1)
        kept = (place < capacity)[..., None, None]
        slots = (
            one_hot[..., None] * jax.nn.one_hot(place, capacity)[..., None, :] * kept
        )
        combine = jnp.einsum("btk,btkec->btec", weights, slots).astype(x.dtype)
        dispatch = (combine > 0).astype(x.dtype)
        h = hold(jnp.einsum("btec,btd->ebcd", dispatch, x), P("expert", "data"))
        h = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", h, w["up"]))
        h = hold(jnp.einsum("ebcf,efd->ebcd", h, w["down"]), P("expert", "data"))
        return jnp.einsum("btec,ebcd->btd", combine, h)

    def layer(x, w):
        w = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
        q, k, v = jnp.einsum("btd,dchs->cbths", rms(x, w["n1"]), w["qkv"])
        h = causal(q[:, :, :, None], k, v)
        x = x + h.reshape(x.shape) @ w["o"]
        return hold(x + experts_of(rms(x, w["n2"]), w), P("data")), None

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens[:, :-1]]
        x, _ = jax.lax.scan(jax.checkpoint(layer), hold(x, P("data")), params["layers"])
        logits = rms(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return cross_entropy(hold(logits, P("data", None, "expert")), tokens[:, 1:])

    tokens = array(b, t + 1, dtype="int32")
    return trained(loss, optax.adamw(2e-4), params, split, tokens, P("data"))


@program("v5e:4x2", fsdp=8)
def adapted_frozen_model():
    """Rank 16 on queries and values of a frozen bf16 model, whose layers are made again."""
    vocab, d, ff, depth, heads, rank = 32_768, 2560, 6912, 32, 20, 16

    def stacked(*s, dtype="bfloat16"):
        return array(depth, *s, dtype=dtype)

    frozen = {
        "embed": array(vocab, d, dtype="bfloat16"),
        "layers": {
            **{name: stacked(d, d) for name in "qkvo"},
            **{"gate": stacked(d, ff), "up": stacked(d, ff), "down": stacked(ff, d)},
            **{"n1": stacked(d), "n2": stacked(d)},
        },
        "norm": array(d, dtype="bfloat16"),
        "head": array(d, vocab, dtype="bfloat16"),
    }
    params = {
        f"{name}_{part}": stacked(*s, dtype="float32")
        for name in "qv"
        for part, s in (("a", (d, rank)), ("b", (rank, d)))
    }

    def layer(x, w):
        w, low = w
        low = jax.tree.map(lambda a: a.astype(jnp.bfloat16), low)
        h = rms(x, w["n1"])
        q = h @ w["q"] + 2.0 * (h @ low["q_a"]) @ low["q_b"]
        v = h @ w["v"] + 2.0 * (h @ low["v_a"]) @ low["v_b"]
        shape = (*x.shape[:2], heads, d // heads)
        q, k = rotary(q.reshape(shape)), rotary((h @ w["k"]).reshape(shape))
        h = causal(q[:, :, :, None], k, v.reshape(shape)).reshape(x.shape)
        x = x + h @ w["o"]
        h = rms(x, w["n2"])
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], None

    def loss(params, batch, frozen):
        x = hold(frozen["embed"][batch["tokens"]], P("fsdp"))
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, (frozen["layers"], params))
        logits = (rms(x, frozen["norm"]) @ frozen["head"]).astype(jnp.float32)
        each = optax.softmax_cross_entropy_with_integer_labels(logits, batch["labels"])
        return jnp.sum(each * batch["mask"]) / jnp.sum(batch["mask"])

    batch = {
        "tokens": array(16, 1536, dtype="int32"),
        "labels": array(16, 1536, dtype="int32"),
        "mask": array(16, 1536),
    }
    of_batch = jax.tree.map(lambda _: P("fsdp"), batch)
    whole = jax.tree.map(lambda _: P(), params)
    base = (frozen, specs(frozen, "fsdp"))
    return trained(loss, optax.adamw(1e-4), params, whole, batch, of_batch, base)


@program("v6e:4x2", fsdp=8)
def preferred_answers():
    """Two answers by a policy and by its reference in bf16, a loss of their likelihoods."""
    vocab, d, ff, depth, heads = 50_432, 1536, 6144, 24, 12

    def stacked(*s):
        return array(depth, *s)

    params = {
        "embed": array(vocab, d),
        "layers": {
            **{"n1": stacked(d), "n2": stacked(d), "qkv": stacked(d, 3 * d)},
            **{"o": stacked(d, d), "up": stacked(d, ff), "down": stacked(ff, d)},
        },
        "norm": array(d),
    }
    reference = jax.tree.map(lambda p: array(*p.shape, dtype="bfloat16"), params)

    def layer(x, w):
        w = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
        q, k, v = jnp.split(rms(x, w["n1"]) @ w["qkv"], 3, axis=-1)
        shape = (*x.shape[:2], heads, d // heads)
        q, k, v = rotary(q.reshape(shape)), rotary(k.reshape(shape)), v.reshape(shape)
        x = x + causal(q[:, :, :, None], k, v).reshape(x.shape) @ w["o"]
        x = x + jax.nn.gelu(rms(x, w["n2"]) @ w["up"]) @ w["down"]
        return hold(x, P("fsdp")), None

    def likelihood(params, tokens, mask):
        x = params["embed"].astype(jnp.bfloat16)[tokens[:, :-1]]
        x, _ = jax.lax.scan(jax.checkpoint(layer), hold(x, P("fsdp")), params["layers"])
        logits = rms(x, params["norm"]) @ params["embed"].astype(jnp.bfloat16).T
        logs = jax.nn.log_softmax(logits.astype(jnp.float32), axis=-1)
        taken = jnp.take_along_axis(logs, tokens[:, 1:, None], axis=-1)[..., 0]
        return jnp.sum(taken * mask[:, 1:], axis=-1)

    def loss(params, batch, reference):
        good = likelihood(params, batch["good"], batch["good_mask"])
        bad = likelihood(params, batch["bad"], batch["bad_mask"])
        good -= likelihood(reference, batch["good"], batch["good_mask"])
        bad -= likelihood(reference, batch["bad"], batch["bad_mask"])
        return -jnp.mean(jax.nn.log_sigmoid(0.1 * (good - bad)))

    batch = {
        **{n: array(16, 1024, dtype="int32") for n in ("good", "bad")},
        **{n: array(16, 1024) for n in ("good_mask", "bad_mask")},
    }
    of_batch = jax.tree.map(lambda _: P("fsdp"), batch)
    split = specs(params, "fsdp")
    opt = optax.chain(optax.clip_by_global_norm(10.0), optax.adam(5e-7))
    return trained(loss, opt, params, split, batch, of_batch, (reference, split))


class Attention(nnx.Module):
    def __init__(self, width, heads, rngs):
        self.heads = heads
        self.qkv = nnx.Linear(width, 3 * width, rngs=rngs, dtype=jnp.bfloat16)
        self.out = nnx.Linear(width, width, rngs=rngs, dtype=jnp.bfloat16)

    def __call__(self, x):
        q, k, v = jnp.split(self.qkv(x), 3, axis=-1)
        shape = (*x.shape[:2], self.heads, -1)
        h = nnx.dot_product_attention(
            *(a.reshape(shape) for a in (q, k, v)),
            mask=jnp.tri(x.shape[1], dtype=bool),
        )
        return self.out(h.reshape(x.shape))


class Layer(nnx.Module):
    def __init__(self, width, heads, rngs):
        self.norm1 = nnx.RMSNorm(width, rngs=rngs, dtype=jnp.bfloat16)
        self.attention = Attention(width, heads, rngs)
        self.norm2 = nnx.RMSNorm(width, rngs=rngs, dtype=jnp.bfloat16)
        self.up = nnx.Linear(width, 4 * width, rngs=rngs, dtype=jnp.bfloat16)
        self.down = nnx.Linear(4 * width, width, rngs=rngs, dtype=jnp.bfloat16)

    def __call__(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(jax.nn.gelu(self.up(self.norm2(x))))


class Decoder(nnx.Module):
    def __init__(self, vocab, width, heads, depth, rngs):
        self.embed = nnx.Embed(vocab, width, rngs=rngs, dtype=jnp.bfloat16)
        self.layers = nnx.List([Layer(width, heads, rngs) for _ in range(depth)])
        self.norm = nnx.RMSNorm(width, rngs=rngs, dtype=jnp.bfloat16)
        self.head = nnx.Linear(
            width, vocab, use_bias=False, rngs=rngs, dtype=jnp.bfloat16
        )

    def __call__(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = nnx.remat(Layer.__call__)(layer, x)
        return self.head(self.norm(x))


@program("v5p:2x2x1", fsdp=4)
def remade_modules():
    """A decoder of sixteen NNX modules, each made again for its gradient; Lion, fully sharded."""
    model = nnx.eval_shape(lambda: Decoder(32_000, 1792, 14, 16, nnx.Rngs(0)))
    graph, params = nnx.split(model, nnx.Param)
    split = specs(params, "fsdp")

    def loss(params, tokens):
        logits = nnx.merge(graph, params)(tokens[:, :-1])
        return cross_entropy(logits, tokens[:, 1:])

    tokens = array(16, 2049, dtype="int32")
    return trained(loss, optax.lion(1e-4), params, split, tokens, P("fsdp"))


@program("v5p:2x2x2", fsdp=8)
def spanned_translator():
    """An encoder and a decoder with relative places, as T5 has them; Adafactor, fully sharded."""
    vocab, d, ff, depth, heads, size = 32_128, 1024, 2816, 24, 16, 64

    def stacked(*s):
        return array(depth, *s)

    def attends():
        inner = heads * size
        return {
            **{n: stacked(d, inner) for n in "qkv"},
            **{"o": stacked(inner, d), "n": stacked(d)},
        }

    def feeds():
        return {"wi": stacked(d, 2, ff), "wo": stacked(ff, d), "n": stacked(d)}

    params = {
        "embed": array(vocab, d),
        "encoder": {"self": attends(), "mlp": feeds()},
        "decoder": {"self": attends(), "cross": attends(), "mlp": feeds()},
        "bias": {n: array(32, heads) for n in ("encoder", "decoder")},
        "norm": {n: array(d) for n in ("encoder", "decoder")},
        "head": array(d, vocab),
    }

    def attention(x, memory, w, bias):
        h = rms(x, w["n"])
        memory = h if memory is None else memory
        q, k, v = (
            (a @ w[n]).reshape(*a.shape[:2], heads, size)
            for a, n in ((h, "q"), (memory, "k"), (memory, "v"))
        )
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) + bias
        p = jax.nn.softmax(s, axis=-1).astype(x.dtype)
        h = jnp.einsum("bhqk,bkhd->bqhd", p, v)
        return x + h.reshape(*x.shape[:2], -1) @ w["o"]

    def feed(x, w):
        a, b = jnp.einsum("btd,dcf->cbtf", rms(x, w["n"]), w["wi"])
        return x + (jax.nn.gelu(a) * b) @ w["wo"]

    def places(table, t, both):
        at = jnp.arange(t)[None] - jnp.arange(t)[:, None]
        far = jnp.log1p(jnp.abs(at)) / jnp.log(128.0) * 15
        bucket = jnp.clip(far.astype(jnp.int32), 0, 15) + 16 * (at > 0)
        bias = jnp.moveaxis(table[bucket], -1, 0)[None].astype(jnp.float32)
        return bias if both else jnp.where(at <= 0, bias, -1e9)

    def cast(w):
        return jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)

    def loss(params, batch):
        table = params["embed"].astype(jnp.bfloat16)
        bias = places(params["bias"]["encoder"], batch["source"].shape[1], True)

        def encode(x, w):
            w = cast(w)
            x = attention(x, None, w["self"], bias)
            return hold(feed(x, w["mlp"]), P("fsdp")), None

        x = hold(table[batch["source"]], P("fsdp"))
        x, _ = jax.lax.scan(jax.checkpoint(encode), x, params["encoder"])
        memory = rms(x, params["norm"]["encoder"])
        later = places(params["bias"]["decoder"], batch["target"].shape[1], False)

        def decode(x, w):
            w = cast(w)
            x = attention(x, None, w["self"], later)
            x = attention(x, memory, w["cross"], 0.0)
            return hold(feed(x, w["mlp"]), P("fsdp")), None

        before = jnp.pad(batch["target"][:, :-1], ((0, 0), (1, 0)))
        x = hold(table[before], P("fsdp"))
        x, _ = jax.lax.scan(jax.checkpoint(decode), x, params["decoder"])
        logits = rms(x, params["norm"]["decoder"]) @ params["head"].astype(x.dtype)
        return cross_entropy(logits, batch["target"])

    batch = {
        "source": array(48, 768, dtype="int32"),
        "target": array(48, 256, dtype="int32"),
    }
    of_batch = jax.tree.map(lambda _: P("fsdp"), batch)
    split = specs(params, "fsdp")
    return trained(loss, optax.adafactor(1e-3), params, split, batch, of_batch)


@program("v6e:4x2", tensor=8)
def tensor_prefill():
    """The pass over a prompt of a model of 8e9 parameters, its cache returned; heads are split."""
    vocab, d, ff, depth, heads, kv, size = 128_256, 4096, 14_336, 32, 32, 8, 128

    def stacked(*s):
        return array(depth, *s, dtype="bfloat16")

    params = {
        "embed": array(vocab, d, dtype="bfloat16"),
        "layers": {
            **{"n1": stacked(d), "n2": stacked(d), "q": stacked(d, heads, size)},
            **{"k": stacked(d, kv, size), "v": stacked(d, kv, size)},
            **{"o": stacked(heads, size, d), "gate": stacked(d, ff)},
            **{"up": stacked(d, ff), "down": stacked(ff, d)},
        },
        "norm": array(d, dtype="bfloat16"),
        "head": array(d, vocab, dtype="bfloat16"),
    }
    by_head = P(None, None, "tensor")
    split = {
        "embed": P("tensor"),
        "layers": {
            **{"n1": P(), "n2": P(), "q": by_head, "k": by_head, "v": by_head},
            **{"o": P(None, "tensor"), "gate": by_head, "up": by_head},
            "down": P(None, "tensor"),
        },
        "norm": P(),
        "head": P(None, "tensor"),
    }

    def layer(x, w):
        h = rms(x, w["n1"])
        q = rotary(jnp.einsum("btd,dhs->bths", h, w["q"]))
        k = rotary(jnp.einsum("btd,dhs->bths", h, w["k"]))
        v = jnp.einsum("btd,dhs->bths", h, w["v"])
        grouped = q.reshape(*q.shape[:2], kv, heads // kv, size)
        h = causal(grouped, k, v).reshape(q.shape)
        x = x + jnp.einsum("bths,hsd->btd", h, w["o"])
        h = rms(x, w["n2"])
        x = x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
        return x, (k, v)

    def prefill(params, tokens, lengths):
        x = params["embed"][tokens]
        x, cache = jax.lax.scan(layer, x, params["layers"])
        last = jnp.take_along_axis(x, (lengths - 1)[:, None, None], axis=1)
        logits = rms(last, params["norm"]) @ params["head"]
        return jnp.argmax(logits[:, 0], axis=-1), cache

    tokens = array(4, 2048, dtype="int32")
    lengths = array(4, dtype="int32")
    return prefill, (params, tokens, lengths), (split, P(), P()), {}


@program("v5e:4x2", tensor=8)
def sixteen_tokens():
    """Sixteen tokens by a loop over a cache, layers in Python lists, argmax; tensor-parallel."""
    vocab, d, ff, depth, heads, size, b, t = 32_000, 4096, 11_008, 12, 32, 128, 16, 2048

    def w(*s):
        return array(*s, dtype="bfloat16")

    layer = {
        **{"n1": w(d), "n2": w(d), "qkv": w(d, 3, heads, size)},
        **{"o": w(heads, size, d), "gate": w(d, ff), "up": w(d, ff), "down": w(ff, d)},
    }
    of_layer = {
        **{"n1": P(), "n2": P(), "qkv": P(None, None, "tensor"), "o": P("tensor")},
        **{"gate": P(None, "tensor"), "up": P(None, "tensor"), "down": P("tensor")},
    }
    params = {"embed": w(vocab, d), "layers": [layer] * depth, "head": w(d, vocab)}
    split = {
        "embed": P(None, "tensor"),
        "layers": [of_layer] * depth,
        "head": P(None, "tensor"),
    }
    cache = [{"k": w(b, t, heads, size), "v": w(b, t, heads, size)}] * depth
    of_cache = [{"k": P(None, None, "tensor"), "v": P(None, None, "tensor")}] * depth

    def token(params, cache, last, at):
        x, after = params["embed"][last], []
        for w, c in zip(params["layers"], cache, strict=True):
            h = rms(x, w["n1"])
            q, k, v = jnp.einsum("bd,dchs->cbhs", h, w["qkv"])
            k = jax.lax.dynamic_update_slice(c["k"], k[:, None], (0, at, 0, 0))
            v = jax.lax.dynamic_update_slice(c["v"], v[:, None], (0, at, 0, 0))
            after.append({"k": k, "v": v})
            s = jnp.einsum("bhs,bths->bht", q, k).astype(jnp.float32) / size**0.5
            s = jnp.where(jnp.arange(t) <= at, s, -1e30)
            p = jax.nn.softmax(s, axis=-1).astype(v.dtype)
            x = x + jnp.einsum("bht,bths,hsd->bd", p, v, w["o"])
            h = rms(x, w["n2"])
            x = x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
        return jnp.argmax(x @ params["head"], axis=-1).astype(jnp.int32), after

    def generate(params, cache, last, start):
        def body(at, carried):
            cache, last, out = carried
            last, cache = token(params, cache, last, start + at)
            return cache, last, out.at[:, at].set(last)

        out = jnp.zeros((b, 16), jnp.int32)
        cache, _, out = jax.lax.fori_loop(0, 16, body, (cache, last, out))
        return out, cache

    last, start = array(b, dtype="int32"), array(dtype="int32")
    return (
        generate,
        (params, cache, last, start),
        (split, of_cache, P(), P()),
        {"donate_argnums": (1,)},
    )


@program("v5e:4x4", data=4, tensor=4)
def accumulated_megatron():
    """GPT whose heads and features are split, four microbatches in a scan, f32 sums of gradients."""
    vocab, d, ff, depth, heads = 50_304, 2048, 8192, 16, 16

    def stacked(*s):
        return array(depth, *s)

    params = {
        "embed": array(vocab, d),
        "place": array(1024, d),
        "layers": {
            **{"n1": stacked(d), "n2": stacked(d), "qkv": stacked(d, 3, d)},
            **{"qkv_b": stacked(3, d), "o": stacked(d, d), "o_b": stacked(d)},
            **{"up": stacked(d, ff), "up_b": stacked(ff), "down": stacked(ff, d)},
            "down_b": stacked(d),
        },
        "norm": array(d),
    }
    columns, rows = P(None, None, "tensor"), P(None, "tensor")
    split = {
        "embed": P("tensor"),
        "place": P(),
        "layers": {
            **{"n1": P(), "n2": P(), "qkv": P(None, None, None, "tensor")},
            **{"qkv_b": columns, "o": rows, "o_b": P(), "up": columns},
            **{"up_b": rows, "down": rows, "down_b": P()},
        },
        "norm": P(),
    }

    def layer(x, w):
        w = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
        h = jnp.einsum("btd,dcf->cbtf", rms(x, w["n1"]), w["qkv"])
        h = h + w["qkv_b"][:, None, None]
        q, k, v = h.reshape(*h.shape[:3], heads, d // heads)
        h = causal(q[:, :, :, None], k, v).reshape(x.shape)
        x = x + h @ w["o"] + w["o_b"]
        h = jax.nn.gelu(rms(x, w["n2"]) @ w["up"] + w["up_b"])
        return hold(x + h @ w["down"] + w["down_b"], P("data")), None

    def loss(params, tokens):
        table = params["embed"].astype(jnp.bfloat16)
        x = table[tokens[:, :-1]] + params["place"].astype(jnp.bfloat16)
        x, _ = jax.lax.scan(jax.checkpoint(layer), hold(x, P("data")), params["layers"])
        logits = rms(x, params["norm"]) @ table.T
        return cross_entropy(hold(logits, P("data", None, "tensor")), tokens[:, 1:])

    opt = optax.adamw(1e-4)
    state, of_state = state_specs(opt, params, split)

    def train_step(params, state, tokens):
        def micro(carried, tokens):
            total, grads = carried
            value, grad = jax.value_and_grad(loss)(params, tokens)
            return (total + value, jax.tree.map(jnp.add, grads, grad)), None

        zero = jnp.zeros(()), jax.tree.map(jnp.zeros_like, params)
        (total, grads), _ = jax.lax.scan(micro, zero, tokens)
        grads = jax.tree.map(lambda g: g / tokens.shape[0], grads)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, total / tokens.shape[0]

    tokens = array(4, 16, 1025, dtype="int32")
    return (
        train_step,
        (params, state, tokens),
        (split, of_state, P(None, "data")),
        {"donate_argnums": (0, 1)},
    )
