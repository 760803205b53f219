"""Prefill, and steps of decoding with caches."""
# pyright: basic

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

from tpu.programs.language.llama import llama_shapes, llama_specs, llama_weights
from tpu.programs.layers import (
    grouped_attention,
    normed,
    rms_cast,
    rms_norm,
    rotary_in_f32,
)
from tpu.programs.steps import array, program, shape


@program("v5e:2x2", data=2, model=2)
def decode_cache_update():
    def f(cache_k, cache_v, q, k, v, at):
        zero = jnp.int32(0)
        cache_k = jax.lax.dynamic_update_slice(cache_k, k, (zero, at, zero, zero))
        cache_v = jax.lax.dynamic_update_slice(cache_v, v, (zero, at, zero, zero))
        s = jnp.einsum("bhd,bkhd->bhk", q, cache_k).astype(jnp.float32)
        s = jnp.where(jnp.arange(s.shape[-1]) <= at, s, -1e30)
        out = jnp.einsum("bhk,bkhd->bhd", jax.nn.softmax(s).astype(q.dtype), cache_v)
        return cache_k, cache_v, out

    cache = P("data", None, "model")
    arguments = (
        (shape(64, 8192, 16, 128),) * 2
        + (shape(64, 16, 128),)
        + (shape(64, 1, 16, 128),) * 2
        + (shape(dtype="int32"),)
    )
    return (
        f,
        arguments,
        (cache, cache, P("data", "model"), cache, cache, P()),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x2", data=2, model=2)
def prefill():
    width, heads, kv, head, hidden, layers = 4096, 32, 8, 128, 14336, 4

    def f(params, x):
        def layer(x, w):
            b, s, _ = x.shape
            q = (x @ w["q"]).reshape(b, s, kv, heads // kv, head)
            k = (x @ w["k"]).reshape(b, s, kv, head)
            v = (x @ w["v"]).reshape(b, s, kv, head)
            a = jnp.einsum("bqkgd,bskd->bkgqs", q, k).astype(jnp.float32) * head**-0.5
            a = jnp.where(jnp.tril(jnp.ones((s, s), bool)), a, -1e30)
            p = jax.nn.softmax(a, -1).astype(x.dtype)
            o = jnp.einsum("bkgqs,bskd->bqkgd", p, v).reshape(b, s, -1)
            x = x + o @ w["o"]
            g = jax.nn.silu(x @ w["gate"]) * (x @ w["up"])
            return x + g @ w["down"], (k, v)

        x, cache = jax.lax.scan(layer, x, params)
        return x[:, -1], cache

    def w(*sizes):
        return shape(layers, *sizes)

    params = {"q": w(width, heads * head), "o": w(heads * head, width)}
    params |= {n: w(width, kv * head) for n in "kv"}
    params |= {"gate": w(width, hidden), "up": w(width, hidden)}
    params |= {"down": w(hidden, width)}
    n = None
    spec = {k: P(n, n, "model") for k in params}
    spec |= {"o": P(n, "model"), "down": P(n, "model")}
    return f, (params, shape(8, 2048, width)), (spec, P("data")), {}


@program("v5e:2x2", data=4)
def decode_loop():
    layers, width, heads, head, length = 8, 2048, 16, 128, 4096

    def f(params, keys, values, x):
        def token(at, state):
            keys, values, x = state
            for i in range(layers):
                w = jax.tree.map(lambda p, i=i: p[i], params)
                q, k, v = (
                    (x @ w[n]).reshape(x.shape[0], 1, heads, head) for n in "qkv"
                )
                keys = jax.lax.dynamic_update_slice(keys, k[None], (i, 0, at, 0, 0))
                values = jax.lax.dynamic_update_slice(values, v[None], (i, 0, at, 0, 0))
                s = jnp.einsum("bqhd,bshd->bhqs", q, keys[i]).astype(jnp.float32)
                s = jnp.where(jnp.arange(length) <= at, s, -1e30)
                p = jax.nn.softmax(s, -1).astype(x.dtype)
                o = jnp.einsum("bhqs,bshd->bqhd", p, values[i])
                x = x + o.reshape(x.shape) @ w["o"]
                x = x + jax.nn.relu(x @ w["up"]) @ w["down"]
            return keys, values, x

        return jax.lax.fori_loop(0, 128, token, (keys, values, x))

    params = {n: shape(layers, width, width) for n in "qkvo"}
    params |= {"up": shape(layers, width, 8192), "down": shape(layers, 8192, width)}
    cache = shape(layers, 16, length, heads, head)
    split = P(None, "data")
    return (
        f,
        (params, cache, cache, shape(16, width)),
        (jax.tree.map(lambda _: P(), params), split, split, P("data")),
        {"donate_argnums": (1, 2)},
    )


@program("v5e:2x4", data=2, model=4)
def decode_kv():
    layers, width, heads, kv, head, hidden, length = 16, 4096, 32, 8, 128, 14336, 4096
    batch = 32

    def step(params, keys, values, token, position):
        x = params["embed"][token]

        def layer(x, slices):
            w, k_cache, v_cache = slices
            h = rms_norm(x, w["n1"])
            q = jnp.einsum("bd,dhk->bhk", h, w["q"]).reshape(-1, kv, heads // kv, head)
            k = jnp.einsum("bd,dhk->bhk", h, w["k"])[:, None]
            v = jnp.einsum("bd,dhk->bhk", h, w["v"])[:, None]
            k_cache = jax.lax.dynamic_update_slice(k_cache, k, (0, position, 0, 0))
            v_cache = jax.lax.dynamic_update_slice(v_cache, v, (0, position, 0, 0))
            s = jnp.einsum("bgrk,bsgk->bgrs", q, k_cache).astype(jnp.float32)
            s = jnp.where(jnp.arange(length) <= position, s * head**-0.5, -1e30)
            p = jax.nn.softmax(s, -1).astype(x.dtype)
            o = jnp.einsum("bgrs,bsgk->bgrk", p, v_cache).reshape(-1, heads, head)
            x = x + jnp.einsum("bhk,hkd->bd", o, w["o"])
            h = rms_norm(x, w["n2"])
            return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], (
                k_cache,
                v_cache,
            )

        x, (keys, values) = jax.lax.scan(layer, x, (params["layers"], keys, values))
        logits = x @ params["embed"].T
        return jnp.argmax(logits, -1), keys, values

    def w(*sizes):
        return shape(layers, *sizes)

    weights = {"n1": w(width), "n2": w(width), "q": w(width, heads, head)}
    weights |= {"k": w(width, kv, head), "v": w(width, kv, head)}
    weights |= {"o": w(heads, head, width), "gate": w(width, hidden)}
    weights |= {"up": w(width, hidden), "down": w(hidden, width)}
    spec = {n: P(None, None, "model") for n in ("q", "k", "v", "gate", "up")}
    spec |= {n: P(None, "model") for n in ("o", "down")} | {"n1": P(), "n2": P()}
    cache = shape(layers, batch, length, kv, head)
    split = P(None, "data", None, "model")
    return (
        step,
        (
            {"embed": shape(32768, width), "layers": weights},
            *(cache, cache, shape(batch, dtype="int32"), shape(dtype="int32")),
        ),
        ({"embed": P("model"), "layers": spec}, split, split, P("data"), P()),
        {"donate_argnums": (1, 2)},
    )


def serving(layers, width, heads, groups, hidden, vocab):
    params = llama_shapes(layers, width, heads, groups, hidden, vocab, "bfloat16")
    return params, llama_specs(None, "tensor"), P(None, None, None, "tensor")


@program("v5e:2x4", tensor=8)
def prefill_cache():
    """The logits of a batch's last tokens, and the keys and values of all layers."""

    def f(params, tokens):
        def layer(x, w):
            h = rms_norm(x, w["n1"])
            q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[n]) for n in "qkv")
            k = rotary_in_f32(k)
            x = x + jnp.einsum(
                "bthk,hkd->btd", grouped_attention(rotary_in_f32(q), k, v), w["o"]
            )
            h = rms_norm(x, w["n2"])
            x = x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
            return x, (k, v)

        x, cache = jax.lax.scan(layer, params["embed"][tokens], params["layers"])
        return rms_norm(x[:, -1], params["norm"]) @ params["head"], cache

    params, spec, _ = serving(32, 4096, 32, 8, 14336, 128256)
    return f, (params, shape(4, 4096, dtype="int32")), (spec, P()), {}


@program("v6e:2x4", data=2, tensor=4)
def decode_grouped():
    """A token for each sequence; the cache is donated and written in place."""
    length, batch, groups = 4096, 64, 8

    def f(params, cache, tokens, at):
        def layer(x, parts):
            w, k_cache, v_cache = parts
            h = rms_norm(x, w["n1"])
            q, k, v = (jnp.einsum("bd,dhk->bhk", h, w[n]) for n in "qkv")
            k_cache = jax.lax.dynamic_update_slice(k_cache, k[:, None], (0, at, 0, 0))
            v_cache = jax.lax.dynamic_update_slice(v_cache, v[:, None], (0, at, 0, 0))
            q = q.reshape(q.shape[0], groups, -1, q.shape[-1])
            s = jnp.einsum("bkgd,btkd->bkgt", q, k_cache).astype(jnp.float32)
            s = jnp.where(jnp.arange(length) <= at, s * q.shape[-1] ** -0.5, -1e30)
            p = jax.nn.softmax(s, -1).astype(x.dtype)
            o = jnp.einsum("bkgt,btkd->bkgd", p, v_cache).reshape(q.shape[0], -1, 128)
            x = x + jnp.einsum("bhk,hkd->bd", o, w["o"])
            h = rms_norm(x, w["n2"])
            x = x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
            return x, (k_cache, v_cache)

        x = params["embed"][tokens]
        x, cache = jax.lax.scan(layer, x, (params["layers"], *cache))
        logits = rms_norm(x, params["norm"]) @ params["head"]
        return jnp.argmax(logits, -1), cache

    params, spec, _ = serving(16, 4096, 32, groups, 14336, 128256)
    cache = [shape(16, batch, length, groups, 128)] * 2
    of_cache = [P(None, "data", None, "tensor")] * 2
    return (
        f,
        (params, cache, shape(batch, dtype="int32"), shape(dtype="int32")),
        (spec, of_cache, P("data"), P()),
        {"donate_argnums": 1},
    )


@program("v5e:2x4", tensor=8)
def decoding():
    """A token of Llama 8B in bf16, layers and caches in a scan, heads among eight."""
    layers, width, heads, groups, hidden, vocab = 32, 4096, 32, 8, 14336, 128256
    batch, length = 32, 2048

    def step(params, caches, tokens, at):
        def block(x, layer):
            p, keys, values = layer
            h = normed(x, p["n1"])
            q = (h @ p["wq"]).reshape(batch, groups, heads // groups, -1)
            k, v = ((h @ p[n]).reshape(batch, 1, groups, -1) for n in ("wk", "wv"))
            keys = jax.lax.dynamic_update_slice(keys, k, (0, at, 0, 0))
            values = jax.lax.dynamic_update_slice(values, v, (0, at, 0, 0))
            scores = jnp.einsum("bgrk,btgk->bgrt", q, keys).astype(jnp.float32)
            scores = jnp.where(jnp.arange(length) <= at, scores / 128**0.5, -1e30)
            shares = jax.nn.softmax(scores, -1).astype(x.dtype)
            h = jnp.einsum("bgrt,btgk->bgrk", shares, values).reshape(batch, -1)
            x = x + h @ p["wo"]
            h = normed(x, p["n2"])
            x = x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]
            return x, (keys, values)

        x = params["embed"][tokens]
        x, caches = jax.lax.scan(block, x, (params["layers"], *caches))
        logits = normed(x, params["norm"]) @ params["head"]
        return jnp.argmax(logits, -1), caches

    weights, specs = llama_weights(width, heads, groups, hidden, None, "tensor")
    params = {"embed": shape(vocab, width), "norm": shape(width)}
    params["layers"] = {n: shape(layers, *sizes) for n, sizes in weights.items()}
    params["head"] = shape(width, vocab)
    spec = {"embed": P(None, "tensor"), "norm": P(), "head": P(None, "tensor")}
    spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    cache = shape(layers, batch, length, groups, width // heads)
    cache_spec = P(None, None, None, "tensor")
    arguments = (params, (cache, cache), shape(batch, dtype="int32"))
    arguments = (*arguments, shape(dtype="int32"))
    spec = (spec, (cache_spec, cache_spec), P(), P())
    return step, arguments, spec, {"donate_argnums": 1}


@program("v5e:2x4", data=2, model=4)
def scanned_decoding():
    """One step of decoding of Llama 3 8B's size in bf16 in a scan over layers with their caches."""
    layers, width, heads, groups, hidden, vocab = 32, 4096, 32, 8, 14336, 128256
    rows, length, size = 16, 4096, width // heads

    def layer(carry, p):
        x, at = carry
        h = normed(x, p["n1"])
        q = (h @ p["wq"]).reshape(rows, groups, heads // groups, size)
        k = (h @ p["wk"]).reshape(rows, 1, groups, size)
        v = (h @ p["wv"]).reshape(rows, 1, groups, size)
        keys = jax.lax.dynamic_update_slice(p["keys"], k, (0, at, 0, 0))
        values = jax.lax.dynamic_update_slice(p["values"], v, (0, at, 0, 0))
        scores = jnp.einsum("bghd,btgd->bght", q, keys) * size**-0.5
        scores = jnp.where(jnp.arange(length) <= at, scores.astype(jnp.float32), -1e30)
        weights = jax.nn.softmax(scores, -1).astype(x.dtype)
        mixed = jnp.einsum("bght,btgd->bghd", weights, values)
        x = x + mixed.reshape(rows, width) @ p["wo"]
        h = normed(x, p["n2"])
        x = x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]
        return (x, at), {"keys": keys, "values": values}

    def step(params, caches, tokens, at):
        x = params["embed"][tokens]
        (x, _), caches = jax.lax.scan(layer, (x, at), params["layers"] | caches)
        logits = normed(x, params["norm"]) @ params["head"]
        return jnp.argmax(logits, -1), caches

    weights, specs = llama_weights(width, heads, groups, hidden, None, "model")
    params = {n: shape(layers, *sizes) for n, sizes in weights.items()}
    spec = {n: P(None, *s) for n, s in specs.items()}
    cache = shape(layers, rows, length, groups, size)
    names = ("keys", "values")
    ends = {
        "embed": shape(vocab, width),
        "norm": shape(width),
        "head": shape(width, vocab),
    }
    ends_spec = {"embed": P("model"), "norm": P(), "head": P(None, "model")}
    arguments = (
        *({**ends, "layers": params}, dict.fromkeys(names, cache)),
        *(shape(rows, dtype="int32"), shape(dtype="int32")),
    )
    split = P(None, "data", None, "model")
    all_specs = (
        *({**ends_spec, "layers": spec}, dict.fromkeys(names, split)),
        *(P("data"), P()),
    )
    return step, arguments, all_specs, {"donate_argnums": (1,)}


@program("v6e:2x4", dp=2, tp=4)
def cached_llama():
    """A step of decoding of Llama 3 8B, whose cache is updated in place."""
    L, D, H, K, F, V, B, T = 32, 4096, 32, 8, 14336, 128256, 64, 4096
    bf = "bfloat16"
    p = {
        "emb": array(V, D, dtype=bf),
        "out": array(D, V, dtype=bf),
        "n": array(D, dtype=bf),
        "l": {
            "q": array(L, D, H * 128, dtype=bf),
            "k": array(L, D, K * 128, dtype=bf),
            "v": array(L, D, K * 128, dtype=bf),
            "o": array(L, H * 128, D, dtype=bf),
            "g": array(L, D, F, dtype=bf),
            "u": array(L, D, F, dtype=bf),
            "d": array(L, F, D, dtype=bf),
            "a": array(L, D, dtype=bf),
            "b": array(L, D, dtype=bf),
        },
    }
    sp = {
        "emb": P(None, "tp"),
        "out": P(None, "tp"),
        "n": P(),
        "l": {
            "q": P(None, None, "tp"),
            "k": P(None, None, "tp"),
            "v": P(None, None, "tp"),
            "o": P(None, "tp"),
            "g": P(None, None, "tp"),
            "u": P(None, None, "tp"),
            "d": P(None, "tp"),
            "a": P(),
            "b": P(),
        },
    }
    cache = {
        "k": array(L, B, T, K, 128, dtype=bf),
        "v": array(L, B, T, K, 128, dtype=bf),
    }
    cs = {"k": P(None, "dp", None, "tp"), "v": P(None, "dp", None, "tp")}

    def step(p, cache, tok, pos):
        x = p["emb"][tok]

        def layer(x, wc):
            w, ck, cv = wc
            h = rms_cast(x, w["a"])
            q = (h @ w["q"]).reshape(B, H, 128)
            k = (h @ w["k"]).reshape(B, 1, K, 128)
            v = (h @ w["v"]).reshape(B, 1, K, 128)
            ck = jax.lax.dynamic_update_slice(ck, k, (0, pos, 0, 0))
            cv = jax.lax.dynamic_update_slice(cv, v, (0, pos, 0, 0))
            qg = q.reshape(B, K, H // K, 128)
            s = jnp.einsum("bkgd,btkd->bkgt", qg, ck).astype(jnp.float32) / jnp.sqrt(
                128.0
            )
            s = jnp.where(jnp.arange(T) <= pos, s, -1e30)
            o = jnp.einsum(
                "bkgt,btkd->bkgd", jax.nn.softmax(s).astype(x.dtype), cv
            ).reshape(B, -1)
            x = x + o @ w["o"]
            h = rms_cast(x, w["b"])
            return x + (jax.nn.silu(h @ w["g"]) * (h @ w["u"])) @ w["d"], (ck, cv)

        x, (k, v) = jax.lax.scan(layer, x, (p["l"], cache["k"], cache["v"]))
        return jnp.argmax(rms_cast(x, p["n"]) @ p["out"], -1), {"k": k, "v": v}

    return (
        step,
        (p, cache, array(B, dtype="int32"), array(dtype="int32")),
        (sp, cs, P("dp"), P()),
        {"donate_argnums": (1,)},
    )
