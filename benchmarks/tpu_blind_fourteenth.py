"""Sixteenth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_fourteenth.py DIR [NAME ...] [--dump]

Plain JAX that shares nothing with the other sets: Llama in a scan that saves its products, GPT with
layers in Python and microbatches in a scan, T5 in scans, experts by one-hot dispatch, ConvNeXt, and
a step of decoding.
"""
# pyright: basic

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P
from tpu_programs import PROGRAMS, main, program

OTHERS = set(PROGRAMS)

hold = jax.lax.with_sharding_constraint


def array(*d, dtype="float32"):
    return jax.ShapeDtypeStruct(d, jnp.dtype(dtype))


def adamw(loss, params, spec, batch, bspec, lr=1e-4, wd=0.1):
    m = jax.tree.map(lambda p: array(*p.shape), params)
    state = (params, m, m, array(dtype="int32"))
    sspec = (spec, spec, spec, P())

    def step(state, batch):
        p, m, v, t = state
        value, g = jax.value_and_grad(loss)(p, batch)
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g.astype(jnp.float32), m, g)
        v = jax.tree.map(
            lambda v, g: 0.95 * v + 0.05 * jnp.square(g.astype(jnp.float32)), v, g
        )
        tf = t.astype(jnp.float32)

        def up(p, m, v):
            mh = m / (1 - 0.9**tf)
            vh = v / (1 - 0.95**tf)
            return (p - lr * (mh / (jnp.sqrt(vh) + 1e-8) + wd * p)).astype(p.dtype)

        return (jax.tree.map(up, p, m, v), m, v, t), value

    return step, (state, batch), (sspec, bspec), {"donate_argnums": (0,)}


def xent(logits, labels):
    logits = logits.astype(jnp.float32)
    lse = jax.nn.logsumexp(logits, -1)
    return jnp.mean(lse - jnp.take_along_axis(logits, labels[..., None], -1)[..., 0])


def rms(x, w):
    y = x.astype(jnp.float32)
    return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(
        x.dtype
    ) * w.astype(x.dtype)


def rope(x):
    t, d = x.shape[1], x.shape[-1]
    f = 1 / (10000 ** (jnp.arange(0, d, 2) / d))
    a = jnp.arange(t)[:, None] * f
    c, s = jnp.cos(a)[None, :, None], jnp.sin(a)[None, :, None]
    a, b = jnp.split(x.astype(jnp.float32), 2, -1)
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1).astype(x.dtype)


@program("v6e:2x4", fsdp=4, tp=2)
def dotted_llama():
    """Llama of 0.8e9 parameters in a scan that saves products without a batch, FSDP by a tensor axis."""
    L, D, H, K, F, V, B, T = 16, 2048, 16, 8, 5632, 32000, 32, 2048
    p = {
        "emb": array(V, D),
        "out": array(D, V),
        "n": array(D),
        "l": {
            "wq": array(L, D, H * 128),
            "wk": array(L, D, K * 128),
            "wv": array(L, D, K * 128),
            "wo": array(L, H * 128, D),
            "g": array(L, D, F),
            "u": array(L, D, F),
            "d": array(L, F, D),
            "a": array(L, D),
            "b": array(L, D),
        },
    }
    sp = {
        "emb": P("tp", "fsdp"),
        "out": P("fsdp", "tp"),
        "n": P(),
        "l": {
            "wq": P(None, "fsdp", "tp"),
            "wk": P(None, "fsdp", "tp"),
            "wv": P(None, "fsdp", "tp"),
            "wo": P(None, "tp", "fsdp"),
            "g": P(None, "fsdp", "tp"),
            "u": P(None, "fsdp", "tp"),
            "d": P(None, "tp", "fsdp"),
            "a": P(),
            "b": P(),
        },
    }

    def loss(p, tok):
        x = p["emb"].astype(jnp.bfloat16)[tok[:, :-1]]
        x = hold(x, P("fsdp", None, None))

        def layer(x, w):
            w = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
            h = rms(x, w["a"])
            b, t, _ = h.shape
            q = rope((h @ w["wq"]).reshape(b, t, H, 128))
            k = rope((h @ w["wk"]).reshape(b, t, K, 128))
            v = (h @ w["wv"]).reshape(b, t, K, 128)
            o = jax.nn.dot_product_attention(q, k, v, is_causal=True)
            x = x + o.reshape(b, t, -1) @ w["wo"]
            x = hold(x, P("fsdp", None, None))
            h = rms(x, w["b"])
            x = x + (jax.nn.silu(h @ w["g"]) * (h @ w["u"])) @ w["d"]
            return hold(x, P("fsdp", None, None)), None

        x, _ = jax.lax.scan(
            jax.checkpoint(
                layer, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable
            ),
            x,
            p["l"],
        )
        return xent(rms(x, p["n"]) @ p["out"].astype(jnp.bfloat16), tok[:, 1:])

    return adamw(loss, p, sp, array(B, T + 1, dtype="int32"), P("fsdp"))


@program("v5p:2x2x2", dp=8)
def accumulated_gpt():
    """GPT of 0.35e9 parameters on every device in f32, layers in Python, microbatches in a scan."""
    L, D, H, V, B, T = 24, 1024, 16, 50257, 128, 1024
    p = {
        "wte": array(V, D),
        "wpe": array(T, D),
        "ln": array(2, D),
        "l": [
            {
                "qkv": array(D, 3 * D),
                "o": array(D, D),
                "u": array(D, 4 * D),
                "d": array(4 * D, D),
                "bu": array(4 * D),
                "bd": array(D),
                "ln": array(4, D),
            }
            for _ in range(L)
        ],
    }
    sp = jax.tree.map(lambda _: P(), p)

    def ln(x, s, b):
        y = x.astype(jnp.float32)
        y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(
            y.var(-1, keepdims=True) + 1e-5
        )
        return (y * s + b).astype(x.dtype)

    def fwd(p, tok):
        x = (p["wte"][tok] + p["wpe"][None]).astype(jnp.bfloat16)

        @jax.checkpoint
        def layer(x, w):
            h = ln(x, w["ln"][0], w["ln"][1])
            b, t, _ = h.shape
            q, k, v = jnp.split(
                (h @ w["qkv"].astype(jnp.bfloat16)).reshape(b, t, 3 * H, 64), 3, 2
            )
            s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / 8
            s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
            o = jnp.einsum(
                "bhqk,bkhd->bqhd", jax.nn.softmax(s, -1).astype(jnp.bfloat16), v
            ).reshape(b, t, D)
            x = x + o @ w["o"].astype(jnp.bfloat16)
            h = ln(x, w["ln"][2], w["ln"][3])
            return (
                x
                + jax.nn.gelu(
                    h @ w["u"].astype(jnp.bfloat16) + w["bu"].astype(jnp.bfloat16)
                )
                @ w["d"].astype(jnp.bfloat16)
                + w["bd"].astype(jnp.bfloat16)
            )

        for w in p["l"]:
            x = layer(x, w)
        return ln(x, p["ln"][0], p["ln"][1]) @ p["wte"].T.astype(jnp.bfloat16)

    def loss(p, tok):
        return xent(fwd(p, tok[:, :-1]), tok[:, 1:])

    m = p
    state = (p, m, m, array(dtype="int32"))
    sspec = (sp, sp, sp, P())

    def step(state, tok):
        p, m, v, t = state
        mb = tok.reshape(4, -1, tok.shape[-1])
        mb = hold(mb, P(None, "dp"))

        def one(c, x):
            value, g = jax.value_and_grad(loss)(p, x)
            return (c[0] + value, jax.tree.map(jnp.add, c[1], g)), None

        (value, g), _ = jax.lax.scan(one, (0.0, jax.tree.map(jnp.zeros_like, p)), mb)
        g = jax.tree.map(lambda a: a / 4, g)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        p = jax.tree.map(lambda p, m, v: p - 1e-4 * m / (jnp.sqrt(v) + 1e-8), p, m, v)
        return (p, m, v, t + 1), value / 4

    return (
        step,
        (state, array(B, T + 1, dtype="int32")),
        (sspec, P("dp")),
        {"donate_argnums": (0,)},
    )


@program("v6e:4x4", fsdp=16)
def scanned_t5():
    """T5 with relative biases, encoder and decoder in scans with checkpoints."""
    L, D, H, F, V, B, T = 12, 2048, 32, 5120, 32128, 64, 512

    def A():
        return {
            "q": array(L, D, H * 64),
            "k": array(L, D, H * 64),
            "v": array(L, D, H * 64),
            "o": array(L, H * 64, D),
            "n": array(L, D),
        }

    def M():
        return {
            "wi0": array(L, D, F),
            "wi1": array(L, D, F),
            "wo": array(L, F, D),
            "n": array(L, D),
        }

    p = {
        "emb": array(V, D),
        "head": array(D, V),
        "rb": array(2, 32, H),
        "n": array(2, D),
        "enc": {"a": A(), "m": M()},
        "dec": {"a": A(), "x": A(), "m": M()},
    }

    def sp_of(a):
        return (
            P(None, "fsdp")
            if a.ndim == 3 and a.shape[0] == L
            else P("fsdp")
            if a.ndim == 2 and a.shape[0] > 1000
            else P()
        )

    sp = jax.tree.map(sp_of, p)

    def bias(rb, t, two):
        r = jnp.arange(t)[None] - jnp.arange(t)[:, None]
        n = jnp.abs(r) if two else jnp.maximum(-r, 0)
        b = jnp.where(
            n < 16,
            n,
            jnp.minimum(
                16 + (jnp.log(n / 16 + 1e-6) / jnp.log(8) * 16).astype(jnp.int32), 31
            ),
        )
        return jnp.transpose(rb[b], (2, 0, 1))[None]

    def att(x, kv, w, bias):
        b, t, _ = x.shape

        def bf(n):
            return w[n].astype(jnp.bfloat16)

        q = (x @ bf("q")).reshape(b, t, H, 64)
        k = (kv @ bf("k")).reshape(b, -1, H, 64)
        v = (kv @ bf("v")).reshape(b, -1, H, 64)
        s = (
            jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32)
            + bias
        )
        return jnp.einsum(
            "bhqk,bkhd->bqhd", jax.nn.softmax(s).astype(jnp.bfloat16), v
        ).reshape(b, t, -1) @ bf("o")

    def mlp(x, w):
        return (
            jax.nn.gelu(x @ w["wi0"].astype(jnp.bfloat16))
            * (x @ w["wi1"].astype(jnp.bfloat16))
        ) @ w["wo"].astype(jnp.bfloat16)

    def loss(p, batch):
        x = p["emb"].astype(jnp.bfloat16)[batch["src"]]
        x = hold(x, P("fsdp"))
        eb = bias(p["rb"][0], T, True)

        @jax.checkpoint
        def enc(x, w):
            h = rms(x, w["a"]["n"])
            x = x + att(h, h, w["a"], eb)
            return hold(x + mlp(rms(x, w["m"]["n"]), w["m"]), P("fsdp")), None

        x, _ = jax.lax.scan(enc, x, p["enc"])
        mem = rms(x, p["n"][0])
        y = p["emb"].astype(jnp.bfloat16)[batch["tgt"][:, :-1]]
        y = hold(y, P("fsdp"))
        db = bias(p["rb"][1], T, False) + jnp.where(
            jnp.tril(jnp.ones((T, T), bool)), 0.0, -1e9
        )

        @jax.checkpoint
        def dec(y, w):
            h = rms(y, w["a"]["n"])
            y = y + att(h, h, w["a"], db)
            y = y + att(rms(y, w["x"]["n"]), mem, w["x"], 0.0)
            return hold(y + mlp(rms(y, w["m"]["n"]), w["m"]), P("fsdp")), None

        y, _ = jax.lax.scan(dec, y, p["dec"])
        return xent(
            rms(y, p["n"][1]) @ p["head"].astype(jnp.bfloat16), batch["tgt"][:, 1:]
        )

    return adamw(
        loss,
        p,
        sp,
        {"src": array(B, T, dtype="int32"), "tgt": array(B, T + 1, dtype="int32")},
        {"src": P("fsdp"), "tgt": P("fsdp")},
    )


@program("v5p:2x2x4", data=4, expert=4)
def dispatched_experts():
    """Experts of which each token has two, dispatched by one-hot products to an axis of their own."""
    L, D, H, E, F, V, B, T = 8, 1024, 16, 16, 4096, 32000, 64, 1024
    p = {
        "emb": array(V, D),
        "out": array(D, V),
        "l": {
            "qkv": array(L, D, 3 * D),
            "o": array(L, D, D),
            "r": array(L, D, E),
            "wi": array(L, E, D, F),
            "wo": array(L, E, F, D),
            "n": array(L, 2, D),
        },
    }
    sp = {
        "emb": P("data"),
        "out": P(None, "data"),
        "l": {
            "qkv": P(None, "data"),
            "o": P(None, None, "data"),
            "r": P(),
            "wi": P(None, "expert", "data"),
            "wo": P(None, "expert", None, "data"),
            "n": P(),
        },
    }
    cap = 2 * T * 2 // E

    def loss(p, tok):
        x = p["emb"].astype(jnp.bfloat16)[tok[:, :-1]]
        x = hold(x, P(("data", "expert")))

        def layer(x, w):
            f = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
            h = rms(x, w["n"][0])
            b, t, _ = h.shape
            q, k, v = jnp.split((h @ f["qkv"]).reshape(b, t, 3 * H, 64), 3, 2)
            o = jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(b, t, D)
            x = x + o @ f["o"]
            h = rms(x, w["n"][1])
            pr = jax.nn.softmax((h @ f["r"]).astype(jnp.float32), -1)
            g, i = jax.lax.top_k(pr, 2)
            oh = jax.nn.one_hot(i, E, dtype=jnp.float32)  # b t 2 e
            pos = (jnp.cumsum(oh.reshape(b, t * 2, E), 1) - 1).reshape(b, t, 2, E)
            keep = (pos < cap) & (oh > 0)
            slot = jax.nn.one_hot(
                jnp.where(keep, pos, -1).astype(jnp.int32), cap, dtype=jnp.bfloat16
            )  # b t 2 e c
            disp = slot.sum(2)
            comb = (slot * g[..., None, None].astype(jnp.bfloat16)).sum(2)
            z = jnp.einsum("btec,btd->ebcd", disp, h)
            z = hold(z, P("expert", "data"))
            y = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", z, f["wi"]))
            y = jnp.einsum("ebcf,efd->ebcd", y, f["wo"])
            y = hold(y, P("expert", "data"))
            x = x + jnp.einsum("btec,ebcd->btd", comb, y)
            return hold(x, P(("data", "expert"))), None

        x, _ = jax.lax.scan(jax.checkpoint(layer), x, p["l"])
        return xent(x @ p["out"].astype(jnp.bfloat16), tok[:, 1:])

    return adamw(loss, p, sp, array(B, T + 1, dtype="int32"), P(("data", "expert")))


@program("v5e:2x4", dp=8)
def replicated_convnext():
    """ConvNeXt-B in bf16, its weights on every device."""
    dims, depths = (128, 256, 512, 1024), (3, 3, 27, 3)
    p = {
        "stem": array(4, 4, 3, 128),
        "head": array(1024, 1000),
        "down": [array(2, 2, dims[i], dims[i + 1]) for i in range(3)],
        "b": [
            [
                {
                    "dw": array(7, 7, 1, d),
                    "n": array(2, d),
                    "u": array(d, 4 * d),
                    "d": array(4 * d, d),
                    "g": array(d),
                }
                for _ in range(n)
            ]
            for d, n in zip(dims, depths, strict=True)
        ],
    }
    sp = jax.tree.map(lambda _: P(), p)

    def conv(x, w, s, pad="VALID", g=1):
        return jax.lax.conv_general_dilated(
            x,
            w.astype(x.dtype),
            (s, s),
            pad,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=g,
        )

    def ln(x, n):
        y = x.astype(jnp.float32)
        y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(
            y.var(-1, keepdims=True) + 1e-6
        )
        return (y * n[0] + n[1]).astype(x.dtype)

    def loss(p, b):
        x = conv(b["x"], p["stem"], 4)
        for i, blocks in enumerate(p["b"]):
            if i:
                x = conv(x, p["down"][i - 1], 2)
            for w in blocks:
                h = ln(conv(x, w["dw"], 1, "SAME", dims[i]), w["n"])
                x = x + (
                    jax.nn.gelu(h @ w["u"].astype(x.dtype)) @ w["d"].astype(x.dtype)
                ) * w["g"].astype(x.dtype)
        return xent(x.mean((1, 2)) @ p["head"].astype(x.dtype), b["y"])

    return adamw(
        loss,
        p,
        sp,
        {
            "x": array(512, 224, 224, 3, dtype="bfloat16"),
            "y": array(512, dtype="int32"),
        },
        {"x": P("dp"), "y": P("dp")},
    )


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
            h = rms(x, w["a"])
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
            h = rms(x, w["b"])
            return x + (jax.nn.silu(h @ w["g"]) * (h @ w["u"])) @ w["d"], (ck, cv)

        x, (k, v) = jax.lax.scan(layer, x, (p["l"], cache["k"], cache["v"]))
        return jnp.argmax(rms(x, p["n"]) @ p["out"], -1), {"k": k, "v": v}

    return (
        step,
        (p, cache, array(B, dtype="int32"), array(dtype="int32")),
        (sp, cs, P("dp"), P()),
        {"donate_argnums": (1,)},
    )


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 19")
