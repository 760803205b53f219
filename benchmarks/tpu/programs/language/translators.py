"""Encoders with decoders: translators, T5, speech to text."""
# pyright: basic

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import (
    attend,
    attention,
    bf16,
    cross_entropy,
    in_bf16,
    mean_negative,
    norm,
    normed,
    rms_cast,
    rms_norm,
    token_loss,
)
from tpu.programs.steps import (
    adam,
    array,
    clipped,
    decayed_adamw,
    hold,
    optimized,
    program,
    replicated,
    rows_of,
    shape,
    split_rows,
    trained,
)


@program("v5p:2x2x2", data=8)
def seq2seq_cross():
    width, heads, hidden, vocab = 1024, 16, 4096, 32128

    def attend(x, y, w, mask=None):
        q = jnp.einsum("bsd,dhk->bhsk", x, w["q"])
        k, v = (jnp.einsum("bsd,dhk->bhsk", y, w[n]) for n in "kv")
        s = jnp.einsum("bhqk,bhsk->bhqs", q, k).astype(jnp.float32)
        if mask is not None:
            s = jnp.where(mask, s, -1e9)
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        return jnp.einsum("bhsk,hkd->bsd", jnp.einsum("bhqs,bhsk->bhqk", p, v), w["o"])

    def mlp(x, w):
        return jax.nn.relu(x @ w["up"]) @ w["down"]

    def encode(x, w):
        h = rms_norm(x, w["n1"])
        x = x + attend(h, h, w["self"])
        return x + mlp(rms_norm(x, w["n2"]), w), None

    def loss(params, source, target):
        x, _ = jax.lax.scan(encode, params["embed"][source], params["encoder"])
        length = target.shape[1]
        causal = jnp.tril(jnp.ones((length, length), bool))

        def decode(y, w):
            h = rms_norm(y, w["n1"])
            y = y + attend(h, h, w["self"], causal)
            y = y + attend(rms_norm(y, w["n3"]), x, w["cross"])
            return y + mlp(rms_norm(y, w["n2"]), w), None

        y, _ = jax.lax.scan(decode, params["embed"][target], params["decoder"])
        return cross_entropy(jnp.einsum("bsd,vd->bsv", y, params["embed"]), target)

    def w(*sizes):
        return shape(8, *sizes)

    def attention():
        head = width // heads
        return {n: w(width, heads, head) for n in "qkv"} | {"o": w(heads, head, width)}

    encoder = {"self": attention(), "n1": w(width), "n2": w(width)}
    encoder |= {"up": w(width, hidden), "down": w(hidden, width)}
    decoder = encoder | {"cross": attention(), "n3": w(width)}
    params = {"embed": shape(vocab, width), "encoder": encoder, "decoder": decoder}
    spec = replicated(params)
    return (
        adam(loss),
        (*[params] * 3, shape(64, 512, dtype="int32"), shape(64, 512, dtype="int32")),
        (spec, spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x4", data=8)
def nnx_translator():
    """An encoder and decoder of Flax NNX in bf16, pre-norm, with AdamW; data parallel."""
    width, heads, vocab = 768, 12, 32000
    dense = partial(nnx.Linear, dtype=jnp.bfloat16)
    attention = partial(
        nnx.MultiHeadAttention, heads, width, dtype=jnp.bfloat16, decode=False
    )

    class Block(nnx.Module):
        def __init__(self, cross, rngs):
            self.n1, self.n2 = (
                nnx.LayerNorm(width, rngs=rngs),
                nnx.LayerNorm(width, rngs=rngs),
            )
            self.attend = attention(rngs=rngs)
            self.up, self.down = (
                dense(width, 3072, rngs=rngs),
                dense(3072, width, rngs=rngs),
            )
            self.cross = attention(rngs=rngs) if cross else None
            self.n3 = nnx.LayerNorm(width, rngs=rngs) if cross else None

        def __call__(self, x, memory=None, mask=None):
            x = x + self.attend(self.n1(x), mask=mask)
            if self.cross is not None:
                x = x + self.cross(self.n3(x), memory)
            return x + self.down(nnx.gelu(self.up(self.n2(x))))

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(vocab, width, dtype=jnp.bfloat16, rngs=rngs)
            self.encoder = nnx.List([Block(False, rngs) for _ in range(6)])
            self.decoder = nnx.List([Block(True, rngs) for _ in range(6)])
            self.norm = nnx.LayerNorm(width, rngs=rngs)

        def __call__(self, source, target):
            memory, y = self.embed(source), self.embed(target)
            for block in self.encoder:
                memory = block(memory)
            for block in self.decoder:
                y = block(y, memory, nnx.make_causal_mask(target))
            return self.embed.attend(self.norm(y))

    model = nnx.eval_shape(lambda: Model(nnx.Rngs(0)))
    graph, params, rest = nnx.split(model, nnx.Param, ...)

    def loss(params, rest, source, target):
        logits = nnx.merge(graph, params, rest)(source, target)
        losses = optax.softmax_cross_entropy_with_integer_labels(
            logits[:, :-1].astype(jnp.float32), target[:, 1:]
        )
        return losses.mean()

    def loss_of(params, source, target):
        return loss(params, rest_values(), source, target)

    def rest_values():
        return jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), rest)

    step, state = optimized(loss_of, optax.adamw(1e-4), params)
    whole = partial(jax.tree.map, lambda _: P())
    tokens = shape(256, 512, dtype="int32")
    given = (whole(params), whole(state), P("data"), P("data"))
    return step, (params, state, tokens, tokens), given, {"donate_argnums": (0, 1)}


@program("v5p:2x2x2", fsdp=8)
def scanned_translator():
    """An encoder and a decoder with cross attention, both in scans with checkpoints, Adafactor."""
    layers, width, heads, vocab, rows, length = 12, 2048, 16, 32128, 64, 1024
    f32 = partial(shape, dtype="float32")

    def mixed(x, y, p, names, causal):
        q, k, v, o = (p[n] for n in names)
        b, t, d = x.shape
        q = (x @ q).reshape(b, t, heads, -1)
        k, v = ((y @ w).reshape(b, y.shape[1], heads, -1) for w in (k, v))
        return attend(q, k, v, causal=causal).reshape(b, t, d) @ o

    def put(x):
        return jax.lax.with_sharding_constraint(x, P("fsdp"))

    @jax.checkpoint
    def encode(x, p):
        p = in_bf16(p)
        h = normed(x, p["n1"])
        x = x + mixed(h, h, p, "qkvo", causal=False)
        return put(x + jax.nn.relu(normed(x, p["n2"]) @ p["up"]) @ p["down"]), None

    def loss(params, batch):
        embed = params["embed"].astype(jnp.bfloat16)
        x, _ = jax.lax.scan(encode, embed[batch["source"]], params["encoder"])
        x = normed(x, params["norm"])

        @jax.checkpoint
        def decode(y, p):
            p = in_bf16(p)
            h = normed(y, p["n1"])
            y = y + mixed(h, h, p, "qkvo", causal=True)
            y = y + mixed(normed(y, p["n3"]), x, p, "QKVO", causal=False)
            return put(y + jax.nn.relu(normed(y, p["n2"]) @ p["up"]) @ p["down"]), None

        tokens = batch["target"]
        y, _ = jax.lax.scan(decode, embed[tokens[:, :-1]], params["decoder"])
        return token_loss(normed(y, params["last"]) @ embed.T, tokens[:, 1:])

    def stack(squares, norms):
        sizes = dict.fromkeys(squares, (width, width)) | dict.fromkeys(norms, (width,))
        sizes |= {"up": (width, 4 * width), "down": (4 * width, width)}
        split = {n: P(None, "fsdp") if len(s) > 1 else P() for n, s in sizes.items()}
        return {n: f32(layers, *s) for n, s in sizes.items()}, split

    encoder, encoder_spec = stack("qkvo", ("n1", "n2"))
    decoder, decoder_spec = stack("qkvoQKVO", ("n1", "n2", "n3"))
    params = {"embed": f32(vocab, width), "norm": f32(width), "last": f32(width)}
    params |= {"encoder": encoder, "decoder": decoder}
    spec = {"embed": P("fsdp"), "norm": P(), "last": P()}
    spec |= {"encoder": encoder_spec, "decoder": decoder_spec}

    def step(params, state, batch):
        value, grads = jax.value_and_grad(loss)(params, batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    optimizer = optax.adafactor(1e-3)
    state = jax.eval_shape(optimizer.init, params)
    state_spec = jax.tree.map(lambda _: P(), state)
    batch = {"source": shape(rows, length, dtype="int32")}
    batch["target"] = shape(rows, length + 1, dtype="int32")
    arguments = (params, state, batch)
    split = dict.fromkeys(batch, P("fsdp"))
    return step, arguments, (spec, state_spec, split), {"donate_argnums": (0, 1)}


@program("v6e:4x4", fsdp=16)
def listed_summaries():
    """An encoder and a decoder of 0.7e9 parameters in Python, each layer with a checkpoint."""
    layers, width, heads, vocab, rows, length = 12, 1536, 12, 50272, 128, 1024
    f32 = partial(shape, dtype="float32")

    def mixed(x, y, p, names, causal):
        q, k, v, o = (p[n] for n in names)
        b, t, d = x.shape
        q = (x @ q).reshape(b, t, heads, -1)
        k, v = ((y @ w).reshape(b, y.shape[1], heads, -1) for w in (k, v))
        return attend(q, k, v, causal=causal).reshape(b, t, d) @ o

    @jax.checkpoint
    def encode(x, p):
        p = in_bf16(p)
        h = normed(x, p["n1"])
        x = x + mixed(h, h, p, "qkvo", causal=False)
        x = x + jax.nn.gelu(normed(x, p["n2"]) @ p["up"]) @ p["down"]
        return jax.lax.with_sharding_constraint(x, P("fsdp"))

    @jax.checkpoint
    def decode(y, x, p):
        p = in_bf16(p)
        h = normed(y, p["n1"])
        y = y + mixed(h, h, p, "qkvo", causal=True)
        y = y + mixed(normed(y, p["n3"]), x, p, "QKVO", causal=False)
        y = y + jax.nn.gelu(normed(y, p["n2"]) @ p["up"]) @ p["down"]
        return jax.lax.with_sharding_constraint(y, P("fsdp"))

    def loss(params, batch):
        embed = params["embed"].astype(jnp.bfloat16)
        x = embed[batch["source"]]
        for p in params["encoder"]:
            x = encode(x, p)
        y = embed[batch["target"]]
        for p in params["decoder"]:
            y = decode(y, x, p)
        return token_loss(normed(y, params["norm"]) @ embed.T, batch["labels"])

    def layer(squares, norms):
        sizes = dict.fromkeys(squares, f32(width, width)) | dict.fromkeys(
            norms, f32(width)
        )
        return sizes | {"up": f32(width, 4 * width), "down": f32(4 * width, width)}

    params = {"embed": f32(vocab, width), "norm": f32(width)}
    params["encoder"] = [layer("qkvo", ("n1", "n2"))] * layers
    params["decoder"] = [layer("qkvoQKVO", ("n1", "n2", "n3"))] * layers
    batch = dict.fromkeys(
        ("source", "target", "labels"), shape(rows, length, dtype="int32")
    )
    return trained(
        *(loss, clipped(3e-4), params, split_rows(params, "fsdp")),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )


@program("v5e:4x4", fsdp=4, tensor=4)
def t5_tensor():
    """An encoder and a decoder of T5's sizes in scans, gated, with a tensor axis and checkpoints."""
    layers, width, heads, hidden, vocab = 24, 1024, 16, 2816, 32128
    rows, source, target = 64, 1024, 512
    f32 = partial(shape, dtype="float32")

    def mixed(x, y, p, names, causal):
        q, k, v, o = (p[n] for n in names)
        b, t, d = x.shape
        q = (x @ q).reshape(b, t, heads, -1)
        k, v = ((y @ w).reshape(b, y.shape[1], heads, -1) for w in (k, v))
        return attend(q, k, v, causal=causal).reshape(b, t, d) @ o

    def gated(x, p):
        return (jax.nn.gelu(x @ p["gate"]) * (x @ p["up"])) @ p["down"]

    @jax.checkpoint
    def encode(x, p):
        p = in_bf16(p)
        h = normed(x, p["n1"])
        x = x + mixed(h, h, p, "qkvo", causal=False)
        x = x + gated(normed(x, p["n2"]), p)
        return jax.lax.with_sharding_constraint(x, P("fsdp")), None

    def loss(params, batch):
        embed = params["embed"].astype(jnp.bfloat16)
        x, _ = jax.lax.scan(encode, embed[batch["source"]], params["encoder"])
        x = normed(x, params["middle"])

        @jax.checkpoint
        def decode(y, p):
            p = in_bf16(p)
            h = normed(y, p["n1"])
            y = y + mixed(h, h, p, "qkvo", causal=True)
            y = y + mixed(normed(y, p["n3"]), x, p, "QKVO", causal=False)
            y = y + gated(normed(y, p["n2"]), p)
            return jax.lax.with_sharding_constraint(y, P("fsdp")), None

        y, _ = jax.lax.scan(decode, embed[batch["target"]], params["decoder"])
        logits = normed(y, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["labels"])

    def stack(squares, norms):
        sizes = dict.fromkeys(squares, (width, width)) | dict.fromkeys(norms, (width,))
        sizes |= dict.fromkeys(("gate", "up"), (width, hidden))
        sizes |= {"down": (hidden, width)}
        split = {n: P(None, "fsdp", "tensor") for n in sizes if n in "qkvQKV"}
        split |= dict.fromkeys(("gate", "up"), P(None, "fsdp", "tensor"))
        split |= {n: P(None, "tensor", "fsdp") for n in ("o", "O", "down")}
        spec = {n: P() if n in norms else split[n] for n in sizes}
        return {n: f32(layers, *s) for n, s in sizes.items()}, spec

    params = {"embed": f32(vocab, width), "head": f32(width, vocab)}
    params |= dict.fromkeys(("middle", "norm"), f32(width))
    spec = {"embed": P("fsdp", "tensor"), "head": P("fsdp", "tensor")}
    spec |= dict.fromkeys(("middle", "norm"), P())
    params["encoder"], spec["encoder"] = stack("qkvo", ("n1", "n2"))
    params["decoder"], spec["decoder"] = stack("qkvoQKVO", ("n1", "n2", "n3"))
    batch = {"source": shape(rows, source, dtype="int32")}
    batch |= dict.fromkeys(("target", "labels"), shape(rows, target, dtype="int32"))
    return trained(
        *(loss, clipped(1e-3), params, spec),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
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
            h = rms_cast(x, w["a"]["n"])
            x = x + att(h, h, w["a"], eb)
            return hold(x + mlp(rms_cast(x, w["m"]["n"]), w["m"]), P("fsdp")), None

        x, _ = jax.lax.scan(enc, x, p["enc"])
        mem = rms_cast(x, p["n"][0])
        y = p["emb"].astype(jnp.bfloat16)[batch["tgt"][:, :-1]]
        y = hold(y, P("fsdp"))
        db = bias(p["rb"][1], T, False) + jnp.where(
            jnp.tril(jnp.ones((T, T), bool)), 0.0, -1e9
        )

        @jax.checkpoint
        def dec(y, w):
            h = rms_cast(y, w["a"]["n"])
            y = y + att(h, h, w["a"], db)
            y = y + att(rms_cast(y, w["x"]["n"]), mem, w["x"], 0.0)
            return hold(y + mlp(rms_cast(y, w["m"]["n"]), w["m"]), P("fsdp")), None

        y, _ = jax.lax.scan(dec, y, p["dec"])
        return mean_negative(
            rms_cast(y, p["n"][1]) @ p["head"].astype(jnp.bfloat16), batch["tgt"][:, 1:]
        )

    return decayed_adamw(
        loss,
        p,
        sp,
        {"src": array(B, T, dtype="int32"), "tgt": array(B, T + 1, dtype="int32")},
        {"src": P("fsdp"), "tgt": P("fsdp")},
    )


@program("v5p:2x2x4", data=4, tensor=4)
def muon_t5():
    """T5 with twelve layers in Python on each side, data by a tensor axis, Muon and AdamW."""
    layers, width, heads, hidden, vocab = 12, 1024, 16, 2816, 32128
    rows, length = 128, 512

    def attending():
        return {n: array(width, width) for n in "qkvo"} | {"norm": array(width)}

    def perceptron():
        return {
            "gate": array(width, hidden),
            "up": array(width, hidden),
            "down": array(hidden, width),
            "norm": array(width),
        }

    def side(cross):
        extra = {"cross": attending()} if cross else {}
        return [
            {"own": attending(), "mlp": perceptron()} | extra for _ in range(layers)
        ]

    params = {
        "embed": array(vocab, width),
        "encoder": side(False),
        "decoder": side(True),
        "norms": array(2, width),
    }

    def split(path, x):
        name = path[-1].key
        if x.ndim < 2 or name == "norms":
            return P()
        return (
            P("tensor", None) if name in ("o", "down", "embed") else P(None, "tensor")
        )

    spec = jax.tree_util.tree_map_with_path(split, params)

    def attend(w, x, other, mask=None):
        h = norm(x, w["norm"])
        other = h if other is None else other
        q, k, v = (
            (a @ w[n].astype(bf16)).reshape(*a.shape[:2], heads, -1)
            for n, a in (("q", h), ("k", other), ("v", other))
        )
        return x + attention(q, k, v, mask).reshape(x.shape) @ w["o"].astype(bf16)

    def mlp(w, x):
        h = norm(x, w["norm"])
        h = jax.nn.gelu(h @ w["gate"].astype(bf16)) * (h @ w["up"].astype(bf16))
        return hold(x + h @ w["down"].astype(bf16), P("data", None, None))

    def loss(params, batch):
        table = params["embed"].astype(bf16)
        x = hold(table[batch["source"]], P("data", None, None))
        for w in params["encoder"]:
            x = jax.checkpoint(lambda w, x: mlp(w["mlp"], attend(w["own"], x, None)))(
                w, x
            )
        memory = norm(x, params["norms"][0])
        y = hold(table[batch["target"][:, :-1]], P("data", None, None))
        mask = jnp.tril(jnp.ones((length, length), bool))

        @jax.checkpoint
        def decode(w, y):
            y = attend(w["own"], y, None, mask)
            return mlp(w["mlp"], attend(w["cross"], y, memory))

        for w in params["decoder"]:
            y = decode(w, y)
        logits = norm(y, params["norms"][1]) @ table.T
        return token_loss(logits, batch["target"][:, 1:])

    batch = {
        "source": array(rows, length, dtype="int32"),
        "target": array(rows, length + 1, dtype="int32"),
    }
    return trained(
        *(loss, optax.contrib.muon(2e-3), params, spec),
        *(batch, dict.fromkeys(batch, P("data"))),
    )


class SpeechLayer(nn.Module):
    width: int
    heads: int
    crossed: bool = False

    @nn.compact
    def __call__(self, x, memory=None, mask=None):
        norm = partial(nn.LayerNorm, dtype=bf16)
        attend = partial(nn.MultiHeadDotProductAttention, self.heads, dtype=bf16)
        x = x + attend()(norm()(x), mask=mask)
        if self.crossed:
            x = x + attend()(norm()(x), memory)
        y = nn.gelu(nn.Dense(4 * self.width, dtype=bf16)(norm()(x)))
        return x + nn.Dense(self.width, dtype=bf16)(y)


class Speech(nn.Module):
    width: int = 768
    heads: int = 12
    layers: int = 12
    vocab: int = 51968

    @nn.compact
    def __call__(self, sound, tokens):
        x = nn.gelu(nn.Conv(self.width, (3,), dtype=bf16)(sound))
        x = nn.gelu(nn.Conv(self.width, (3,), (2,), dtype=bf16)(x))
        x = x + self.param(
            "places", nn.initializers.normal(), (x.shape[1], self.width)
        ).astype(bf16)
        layer = nn.remat(SpeechLayer)
        for _ in range(self.layers):
            x = layer(self.width, self.heads)(x)
        memory = nn.LayerNorm(dtype=bf16)(x)
        words = nn.Embed(self.vocab, self.width, dtype=bf16)
        y = words(tokens) + nn.Embed(448, self.width, dtype=bf16)(
            jnp.arange(tokens.shape[1])
        )
        mask = nn.make_causal_mask(tokens)
        for _ in range(self.layers):
            y = layer(self.width, self.heads, True)(y, memory, mask)
        return words.attend(nn.LayerNorm(dtype=bf16)(y))


@program("v5e:4x4", fsdp=16)
def speech_to_text():
    """Whisper small of linen with a checkpoint a layer, everything split over one axis, AdamW."""
    rows, frames, length = 256, 3000, 448
    model = Speech()
    sound = array(rows, frames, 80, dtype="bfloat16")
    tokens = array(rows, length, dtype="int32")
    params = jax.eval_shape(model.init, jax.random.key(0), sound, tokens)["params"]

    def loss(params, batch):
        logits = model.apply({"params": params}, batch["sound"], batch["tokens"])
        per = optax.softmax_cross_entropy_with_integer_labels(
            logits.astype(jnp.float32), batch["labels"]
        )
        keep = batch["labels"] != 50257
        return jnp.where(keep, per, 0).sum() / keep.sum()

    batch = {"sound": sound, "tokens": tokens, "labels": tokens}
    spec = rows_of(params, "fsdp") | {"places": P(None, "fsdp")}
    return trained(
        *(loss, optax.adamw(1e-4, b2=0.98), params, spec),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )
