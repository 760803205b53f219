"""Transformers: trained, adapted, decoding, and one layer of attention."""
# pyright: basic

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program


def rms(x, g):
    x32 = x.astype(jnp.float32)
    scale = jax.lax.rsqrt(jnp.mean(x32**2, axis=-1, keepdims=True) + 1e-6)
    return (x32 * scale).astype(x.dtype) * g.astype(x.dtype)


def causal(q, k, v):
    t = q.shape[1]
    s = jnp.einsum("bihd,bjhd->bhij", q, k) / jnp.sqrt(q.shape[-1]).astype(q.dtype)
    s = jnp.where(jnp.arange(t)[:, None] >= jnp.arange(t)[None], s, -jnp.inf)
    p = jax.nn.softmax(s.astype(jnp.float32), axis=-1).astype(v.dtype)
    return jnp.einsum("bhij,bjhd->bihd", p, v)


def decoder_layer(x, w):
    w = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
    h = rms(x, w["ln1"])
    q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[n]) for n in ("q", "k", "v"))
    x = x + jnp.einsum("bthk,hkd->btd", causal(q, k, v), w["o"])
    h = rms(x, w["ln2"])
    return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]


def decoder_shapes(layers, d, heads, ff, dtype="float32"):
    def of(*sizes):
        return array(layers, *sizes, dtype=dtype)

    k = d // heads
    return {
        **{"ln1": of(d), "ln2": of(d), "o": of(heads, k, d)},
        **{name: of(d, heads, k) for name in "qkv"},
        **{"gate": of(d, ff), "up": of(d, ff), "down": of(ff, d)},
    }


@program("v5p:2x2x2", data=2, fsdp=4)
def remat_decoder():
    """A decoder of 0.9e9 parameters: scan, full remat, AdamW, weights split over fsdp."""
    layers, d, heads, ff, vocab = 16, 2048, 16, 5504, 32768
    params = {
        "wte": array(vocab, d),
        "layers": decoder_shapes(layers, d, heads, ff),
        "ln_f": array(d),
        "head": array(d, vocab),
    }
    by_rows = P(None, "fsdp")
    specs = {
        "wte": P(None, "fsdp"),
        "layers": {
            **{"ln1": P(), "ln2": P(), "o": P(None, None, None, "fsdp")},
            **dict.fromkeys("qkv", by_rows),
            **{"gate": by_rows, "up": by_rows, "down": P(None, None, "fsdp")},
        },
        "ln_f": P(),
        "head": P("fsdp"),
    }
    opt = optax.adamw(3e-4)

    def loss_fn(params, tokens):
        x = params["wte"].astype(jnp.bfloat16)[tokens[:, :-1]]
        x = jax.lax.with_sharding_constraint(x, P(("data", "fsdp")))
        layer = jax.checkpoint(lambda x, w: (decoder_layer(x, w), None))
        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = rms(x, params["ln_f"]) @ params["head"].astype(jnp.bfloat16)
        losses = optax.softmax_cross_entropy_with_integer_labels(
            logits.astype(jnp.float32), tokens[:, 1:]
        )
        return losses.mean()

    def train_step(params, opt_state, tokens):
        loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
        updates, opt_state = opt.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    state = jax.eval_shape(opt.init, params)
    adam = state[0]._replace(count=P(), mu=specs, nu=specs)
    tokens = array(32, 2049, dtype="int32")
    return (
        train_step,
        (params, state, tokens),
        (specs, (adam, *state[1:]), P(("data", "fsdp"))),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x4", data=2, tensor=4)
def masked_attention():
    """Gradients of one layer of causal attention whose heads are split."""
    d, heads, batch, length = 3072, 24, 8, 2048
    names = "qkvo"
    params = {n: array(d, d, dtype="bfloat16") for n in names}
    specs = {n: P(None, "tensor") for n in "qkv"} | {"o": P("tensor", None)}

    def layer(params, x):
        b, t, _ = x.shape
        q, k, v = (
            (x @ params[n]).reshape(b, t, heads, d // heads).transpose(0, 2, 1, 3)
            for n in "qkv"
        )
        mask = jnp.tril(jnp.ones((t, t), dtype=bool))
        scores = q @ k.transpose(0, 1, 3, 2) * (d // heads) ** -0.5
        scores = jnp.where(mask, scores.astype(jnp.float32), -1e9)
        out = jax.nn.softmax(scores, -1).astype(x.dtype) @ v
        return out.transpose(0, 2, 1, 3).reshape(b, t, d) @ params["o"]

    def loss(params, x, y):
        return jnp.mean((layer(params, x) - y).astype(jnp.float32) ** 2)

    x = array(batch, length, d, dtype="bfloat16")
    return jax.grad(loss), (params, x, x), (specs, P("data"), P("data")), {}


@program("v5p:2x2x2", fsdp=8)
def lora_decoder():
    """Adapters of rank 8 on queries and values of a frozen decoder in bf16."""
    layers, d, heads, ff, vocab, rank = 20, 2560, 20, 6912, 50304, 8
    base = {
        "wte": array(vocab, d, dtype="bfloat16"),
        "layers": decoder_shapes(layers, d, heads, ff, "bfloat16"),
        "ln_f": array(d, dtype="bfloat16"),
    }
    lora = {n: {"a": array(layers, d, rank), "b": array(layers, rank, d)} for n in "qv"}
    opt = optax.adam(1e-4)

    def forward(lora, base, tokens):
        x = base["wte"][tokens]

        def layer(x, ws):
            w, ab = ws
            w = dict(w)
            for n in "qv":
                a, b = (ab[n][s].astype(jnp.bfloat16) for s in "ab")
                w[n] = w[n] + (a @ b).reshape(w[n].shape) * 2.0
            return decoder_layer(x, w), None

        x, _ = jax.lax.scan(jax.checkpoint(layer), x, (base["layers"], lora))
        return rms(x, base["ln_f"]) @ base["wte"].T

    def loss_fn(lora, base, tokens):
        logits = forward(lora, base, tokens[:, :-1]).astype(jnp.float32)
        logp = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(logp, tokens[:, 1:, None], axis=-1).mean()

    def train_step(lora, opt_state, base, tokens):
        loss, grads = jax.value_and_grad(loss_fn)(lora, base, tokens)
        updates, opt_state = opt.update(grads, opt_state)
        return optax.apply_updates(lora, updates), opt_state, loss

    def split(w):
        at = next((i for i, s in enumerate(w.shape) if i and s % 8 == 0), None)
        return P(*("fsdp" if i == at else None for i in range(w.ndim)))

    state = jax.eval_shape(opt.init, lora)
    whole = jax.tree.map(lambda _: P(), lora)
    wide = jax.tree.map(split, base["layers"])
    return (
        train_step,
        (lora, state, base, array(16, 1025, dtype="int32")),
        (
            whole,
            jax.tree.map(lambda _: P(), state),
            {"wte": P("fsdp"), "layers": wide, "ln_f": P()},
            P("fsdp"),
        ),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:4x4", data=4, tensor=4)
def cache_step():
    """One new token of 64 sequences, whose keys and values are written into caches."""
    layers, d, heads, kv, head, ff, vocab = 24, 4096, 32, 8, 128, 11008, 32000
    batch, length = 64, 4096
    bf16 = jnp.bfloat16

    def of(*sizes):
        return array(layers, *sizes, dtype=bf16)

    params = {
        "embed": array(vocab, d, dtype=bf16),
        "layers": {
            **{"wq": of(d, heads, head), "wo": of(heads, head, d)},
            **{"wk": of(d, kv, head), "wv": of(d, kv, head)},
            **{"w1": of(d, ff), "w2": of(ff, d), "n1": of(d), "n2": of(d)},
        },
        "unembed": array(d, vocab, dtype=bf16),
    }
    specs = {
        "embed": P(None, "tensor"),
        "layers": {
            **{n: P(None, None, "tensor") for n in ("wq", "wk", "wv", "w1")},
            **{"wo": P(None, "tensor"), "w2": P(None, "tensor"), "n1": P(), "n2": P()},
        },
        "unembed": P(None, "tensor"),
    }
    cache = {n: of(batch, length, kv, head) for n in "kv"}

    def step(params, cache, token, pos):
        x = params["embed"][token]

        def layer(x, ws):
            w, k_cache, v_cache = ws
            h = rms(x, w["n1"])
            q = jnp.einsum("bd,dhk->bhk", h, w["wq"])
            k = jnp.einsum("bd,dhk->bhk", h, w["wk"])
            v = jnp.einsum("bd,dhk->bhk", h, w["wv"])
            k_cache = jax.lax.dynamic_update_slice(k_cache, k[:, None], (0, pos, 0, 0))
            v_cache = jax.lax.dynamic_update_slice(v_cache, v[:, None], (0, pos, 0, 0))
            q = q.reshape(-1, kv, heads // kv, head)
            s = jnp.einsum("bgqk,btgk->bgqt", q, k_cache).astype(jnp.float32)
            s = jnp.where(jnp.arange(length) <= pos, s * head**-0.5, -1e30)
            p = jax.nn.softmax(s, -1).astype(bf16)
            o = jnp.einsum("bgqt,btgk->bgqk", p, v_cache).reshape(-1, heads, head)
            x = x + jnp.einsum("bhk,hkd->bd", o, w["wo"])
            h = rms(x, w["n2"])
            return x + jax.nn.gelu(h @ w["w1"]) @ w["w2"], (k_cache, v_cache)

        x, (ks, vs) = jax.lax.scan(layer, x, (params["layers"], cache["k"], cache["v"]))
        logits = (x @ params["unembed"]).astype(jnp.float32)
        return jnp.argmax(logits, -1), {"k": ks, "v": vs}

    held = P(None, "data", None, "tensor")
    return (
        step,
        (params, cache, array(batch, dtype="int32"), array(dtype="int32")),
        (specs, {"k": held, "v": held}, P("data"), P()),
        {"donate_argnums": (1,)},
    )


@program("v6e:4x4", fsdp=16)
def microbatched_decoder():
    """A decoder of 1.6e9 parameters whose gradients four microbatches in a scan add up."""
    layers, d, heads, ff, vocab = 24, 2304, 18, 6144, 49152
    params = {
        "wte": array(vocab, d),
        "layers": decoder_shapes(layers, d, heads, ff),
        "ln_f": array(d),
    }

    def split(w):
        at = w.shape.index(d) if w.ndim > 1 else None
        at = None if w.shape == (layers, d) else at
        return P(*("fsdp" if i == at else None for i in range(w.ndim)))

    specs = jax.tree.map(split, params)

    def loss_fn(params, tokens):
        x = params["wte"][tokens[:, :-1]].astype(jnp.bfloat16)
        layer = jax.checkpoint(
            lambda x, w: (decoder_layer(x, w), None),
            policy=jax.checkpoint_policies.nothing_saveable,
        )
        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = rms(x, params["ln_f"]) @ params["wte"].T.astype(jnp.bfloat16)
        logits = logits.astype(jnp.float32)
        label = jax.nn.one_hot(tokens[:, 1:], vocab)
        return -jnp.mean(jnp.sum(label * jax.nn.log_softmax(logits), -1))

    def train_step(params, m, v, tokens):
        def micro(total, batch):
            loss, grads = jax.value_and_grad(loss_fn)(params, batch)
            return jax.tree.map(jnp.add, total, grads), loss

        zeros = jax.tree.map(jnp.zeros_like, params)
        grads, losses = jax.lax.scan(micro, zeros, tokens)
        grads = jax.tree.map(lambda g: g / tokens.shape[0], grads)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g**2, v, grads)
        params = jax.tree.map(
            lambda p, m, v: p - 1e-4 * m / (jnp.sqrt(v) + 1e-8), params, m, v
        )
        return params, m, v, losses.mean()

    return (
        train_step,
        (params, params, params, array(4, 32, 1025, dtype="int32")),
        (specs, specs, specs, P(None, "fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v6e:2x2", data=4)
def patch_encoder():
    """An image classifier of patches, its layers a Python loop, each of them recomputed."""
    depth, d, heads, patch, image, classes = 12, 1024, 16, 16, 224, 1000
    block = {
        **{"qkv": array(d, 3 * d), "proj": array(d, d)},
        **{"fc1": array(d, 4 * d), "b1": array(4 * d), "fc2": array(4 * d, d)},
        **{"b2": array(d), "g1": array(d), "g2": array(d)},
    }
    params = {
        "embed": array(patch * patch * 3, d),
        "pos": array((image // patch) ** 2, d),
        "blocks": [block] * depth,
        "head": array(d, classes),
    }

    def norm(x, g):
        x = x.astype(jnp.float32)
        mean = x.mean(-1, keepdims=True)
        return ((x - mean) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-6) * g).astype(
            jnp.bfloat16
        )

    @jax.checkpoint
    def apply(w, x):
        b, n, _ = x.shape
        qkv = norm(x, w["g1"]) @ w["qkv"].astype(x.dtype)
        q, k, v = jnp.moveaxis(qkv.reshape(b, n, 3, heads, -1), 2, 0)
        s = jnp.einsum("bnhd,bmhd->bhnm", q, k) * (d // heads) ** -0.5
        a = jnp.einsum("bhnm,bmhd->bnhd", jax.nn.softmax(s, axis=-1), v)
        x = x + a.reshape(b, n, d) @ w["proj"].astype(x.dtype)
        h = norm(x, w["g2"]) @ w["fc1"].astype(x.dtype) + w["b1"].astype(x.dtype)
        h = jax.nn.gelu(h)
        return x + h @ w["fc2"].astype(x.dtype) + w["b2"].astype(x.dtype)

    def loss_fn(params, images, labels):
        b, g = images.shape[0], image // patch
        x = images.reshape(b, g, patch, g, patch, 3).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(b, g * g, -1).astype(jnp.bfloat16)
        x = x @ params["embed"].astype(x.dtype) + params["pos"].astype(x.dtype)
        for w in params["blocks"]:
            x = apply(w, x)
        logits = x.mean(1).astype(jnp.float32) @ params["head"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    opt = optax.adam(1e-3)

    def train_step(params, state, images, labels):
        loss, grads = jax.value_and_grad(loss_fn)(params, images, labels)
        updates, state = opt.update(grads, state)
        return optax.apply_updates(params, updates), state, loss

    state = jax.eval_shape(opt.init, params)
    whole = jax.tree.map(lambda _: P(), (params, state))
    images, labels = array(512, image, image, 3), array(512, dtype="int32")
    return (
        train_step,
        (params, state, images, labels),
        (*whole, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )
