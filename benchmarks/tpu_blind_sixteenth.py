"""Eighteenth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_sixteenth.py DIR [NAME ...] [--dump]

Ten training steps: BERT with masked positions, a U-Net with attention, windows with grouped heads, a
speech encoder and decoder, a recommender, LSTMs, VQ-GAN's first stage, SigLIP, experts by ragged
products and Llama with accumulation, on v5e, v5p and v6e. Five hold nothing but arguments.
Needs `flax` and `optax`.
"""
# pyright: basic

from functools import partial
from itertools import pairwise

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P
from tpu_blind_fifteenth import (
    array,
    attention,
    bf16,
    hold,
    mean_loss,
    norm,
    rows_of,
    state_specs,
    trained,
)
from tpu_programs import PROGRAMS, main, program

OTHERS = set(PROGRAMS)


def rotary(x, base=1e4):
    """Rotate pairs of halves of heads, x is (batch, time, heads, size)."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] * base ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


class BertLayer(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x, mask, train):
        width = x.shape[-1]
        y = nn.MultiHeadDotProductAttention(
            self.heads, dtype=bf16, dropout_rate=0.1, deterministic=not train
        )(x, mask=mask)
        y = nn.Dropout(0.1, deterministic=not train)(y)
        x = nn.LayerNorm(dtype=bf16)(x + y)
        y = nn.gelu(nn.Dense(4 * width, dtype=bf16)(x))
        y = nn.Dense(width, dtype=bf16)(y)
        y = nn.Dropout(0.1, deterministic=not train)(y)
        return nn.LayerNorm(dtype=bf16)(x + y)


class Bert(nn.Module):
    vocab: int = 30592
    width: int = 1024
    layers: int = 24

    @nn.compact
    def __call__(self, batch, train=True):
        words = nn.Embed(self.vocab, self.width, dtype=bf16, name="words")
        ids = batch["ids"]
        x = words(ids)
        x = x + nn.Embed(512, self.width, dtype=bf16)(jnp.arange(ids.shape[1]))
        x = x + nn.Embed(2, self.width, dtype=bf16)(batch["types"])
        x = nn.Dropout(0.1, deterministic=not train)(nn.LayerNorm(dtype=bf16)(x))
        mask = nn.make_attention_mask(batch["ids"] > 0, batch["ids"] > 0)
        for _ in range(self.layers):
            x = BertLayer(16)(x, mask, train)
        picked = jnp.take_along_axis(x, batch["positions"][..., None], axis=1)
        picked = nn.gelu(nn.Dense(self.width, dtype=bf16)(picked))
        logits = words.attend(nn.LayerNorm(dtype=bf16)(picked))
        logits = logits + self.param("bias", nn.initializers.zeros, (self.vocab,))
        pooled = nn.tanh(nn.Dense(self.width, dtype=bf16)(x[:, 0]))
        return logits, nn.Dense(2, dtype=bf16)(pooled)


@program("v5e:2x4", data=8)
def bert_masked():
    """BERT large of linen with dropout and 76 masked positions of 512, AdamW, data parallel."""
    rows, length, picked = 64, 512, 76
    ids = partial(array, dtype="int32")
    batch = {
        "ids": ids(rows, length),
        "types": ids(rows, length),
        "positions": ids(rows, picked),
        "labels": ids(rows, picked),
        "weights": array(rows, picked),
        "next": ids(rows),
    }
    model = Bert()
    params = jax.eval_shape(
        lambda key, batch: model.init({"params": key, "dropout": key}, batch),
        *(jax.random.key(0), batch),
    )["params"]
    optimizer = optax.adamw(1e-4, weight_decay=0.01)
    state, state_spec = state_specs(
        optimizer, params, jax.tree.map(lambda _: P(), params)
    )

    def step(params, state, batch, seed):
        key = jax.random.fold_in(jax.random.key(0), seed)

        def loss(params):
            logits, following = model.apply(
                {"params": params}, batch, rngs={"dropout": key}
            )
            per = optax.softmax_cross_entropy_with_integer_labels(
                logits.astype(jnp.float32), batch["labels"]
            )
            weights = batch["weights"]
            masked = (per * weights).sum() / (weights.sum() + 1e-5)
            return masked + mean_loss(following, batch["next"])

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return (
        step,
        (params, state, batch, array(dtype="int32")),
        (
            *(jax.tree.map(lambda _: P(), params), state_spec),
            *(dict.fromkeys(batch, P("data")), P()),
        ),
        {"donate_argnums": (0, 1)},
    )


class UnetBlock(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, time):
        y = nn.Conv(self.width, (3, 3))(nn.silu(nn.GroupNorm(32)(x)))
        y = y + nn.Dense(self.width)(nn.silu(time))[:, None, None]
        y = nn.Conv(self.width, (3, 3))(nn.silu(nn.GroupNorm(32)(y)))
        if x.shape[-1] != self.width:
            x = nn.Conv(self.width, (1, 1))(x)
        return x + y


class UnetAttention(nn.Module):
    @nn.compact
    def __call__(self, x):
        b, h, w, c = x.shape
        y = nn.GroupNorm(32)(x).reshape(b, h * w, c)
        y = nn.MultiHeadDotProductAttention(c // 64)(y)
        return x + y.reshape(x.shape)


class Unet(nn.Module):
    @nn.compact
    def __call__(self, x, time):
        angles = time[:, None] * jnp.exp(-jnp.arange(64) * 0.14)
        t = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)
        t = nn.Dense(512)(nn.silu(nn.Dense(512)(t)))
        x = nn.Conv(128, (3, 3))(x)
        kept = [x]
        for level, width in enumerate((128, 256, 256, 512)):
            for _ in range(2):
                x = UnetBlock(width)(x, t)
                x = UnetAttention()(x) if level > 1 else x
                kept.append(x)
            if level < 3:
                x = nn.Conv(width, (3, 3), (2, 2))(x)
                kept.append(x)
        x = UnetBlock(512)(UnetAttention()(UnetBlock(512)(x, t)), t)
        for level, width in reversed(list(enumerate((128, 256, 256, 512)))):
            for _ in range(3):
                x = UnetBlock(width)(jnp.concatenate([x, kept.pop()], -1), t)
                x = UnetAttention()(x) if level > 1 else x
            if level:
                b, h, w, c = x.shape
                x = jax.image.resize(x, (b, 2 * h, 2 * w, c), "nearest")
                x = nn.Conv(c, (3, 3))(x)
        return nn.Conv(3, (3, 3))(nn.silu(nn.GroupNorm(32)(x)))


@program("v6e:2x4", data=8)
def averaged_unet():
    """A U-Net of linen in f32 with groups' norms and attention over 64 x 64 images, Adam, an average."""
    rows = 128
    model = Unet()
    image = array(rows, 64, 64, 3)
    params = jax.eval_shape(model.init, jax.random.key(0), image, array(rows))["params"]
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(2e-4))
    state, state_spec = state_specs(
        optimizer, params, jax.tree.map(lambda _: P(), params)
    )

    def step(params, average, state, images, seed):
        key, other = jax.random.split(jax.random.fold_in(jax.random.key(1), seed))
        time = jax.random.uniform(key, (rows,))
        noise = jax.random.normal(other, images.shape)
        signal = jnp.cos(time * jnp.pi / 2)[:, None, None, None]
        amount = jnp.sin(time * jnp.pi / 2)[:, None, None, None]

        def loss(params):
            guess = model.apply(
                {"params": params}, signal * images + amount * noise, 1000 * time
            )
            return jnp.square(guess - (signal * noise - amount * images)).mean()

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(grads, state, params)
        params = optax.apply_updates(params, updates)
        average = optax.incremental_update(params, average, 1e-4)
        return params, average, state, value

    whole = jax.tree.map(lambda _: P(), params)
    return (
        step,
        (params, params, state, image, array(dtype="int32")),
        (whole, whole, state_spec, P("data"), P()),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5p:2x2x2", fsdp=4, tensor=2)
def windowed_decoder():
    """A decoder of windows of 1,024 and grouped heads in a scan that keeps products, held, AdamW."""
    layers, width, heads, groups, size, hidden = 16, 2048, 16, 4, 128, 8192
    vocab, rows, length, window = 32768, 16, 4096, 1024
    sizes = {
        "q": (width, heads, size),
        "k": (width, groups, size),
        "v": (width, groups, size),
        "o": (heads, size, width),
        "gate": (width, hidden),
        "up": (width, hidden),
        "down": (hidden, width),
        "n1": (width,),
        "n2": (width,),
    }
    split = {
        **dict.fromkeys("qkv", P(None, "fsdp", "tensor")),
        "o": P(None, "tensor", None, "fsdp"),
        **dict.fromkeys(("gate", "up"), P(None, "fsdp", "tensor")),
        "down": P(None, "tensor", "fsdp"),
        **dict.fromkeys(("n1", "n2"), P()),
    }
    params = {
        "embed": array(vocab, width),
        "head": array(width, vocab),
        "norm": array(width),
        "layers": {n: array(layers, *s) for n, s in sizes.items()},
    }
    spec = {
        "embed": P("tensor", "fsdp"),
        "head": P("fsdp", "tensor"),
        "norm": P(),
        "layers": split,
    }

    def loss(params, batch):
        x = params["embed"].astype(bf16)[batch["inputs"]]
        x = hold(x, P("fsdp", None, None))
        at = jnp.arange(length)
        near = (at[:, None] >= at) & (at[:, None] - at < window)

        def layer(x, w):
            w = {n: a if n in ("n1", "n2") else a.astype(bf16) for n, a in w.items()}
            h = norm(x, w["n1"])
            q = rotary(jnp.einsum("btd,dhk->bthk", h, w["q"]))
            k = rotary(jnp.einsum("btd,dhk->bthk", h, w["k"]))
            v = jnp.einsum("btd,dhk->bthk", h, w["v"])
            q = hold(q, P("fsdp", None, "tensor", None))
            q = q.reshape(*q.shape[:2], groups, heads // groups, size)
            scores = jnp.einsum("btgrk,bsgk->bgrts", q, k).astype(jnp.float32)
            scores = jnp.where(near, scores / size**0.5, -1e9)
            weights = jax.nn.softmax(scores).astype(bf16)
            y = jnp.einsum("bgrts,bsgk->btgrk", weights, v)
            y = y.reshape(*y.shape[:2], heads, size)
            x = x + jnp.einsum("bthk,hkd->btd", y, w["o"])
            h = norm(x, w["n2"])
            h = jax.nn.silu(h @ w["gate"]) * (h @ w["up"])
            h = hold(h, P("fsdp", None, "tensor"))
            return hold(x + h @ w["down"], P("fsdp", None, None)), None

        layer = jax.checkpoint(
            layer,
            policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable,
            prevent_cse=False,
        )
        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = norm(x, params["norm"]) @ params["head"].astype(bf16)
        logits = hold(logits, P("fsdp", None, "tensor"))
        return mean_loss(logits, batch["targets"])

    batch = dict.fromkeys(("inputs", "targets"), array(rows, length, dtype="int32"))
    return trained(
        *(loss, optax.adamw(3e-4, b2=0.95), params, spec),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
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


@program("v5e:2x4", data=2, tensor=4)
def crossed_features():
    """A recommender of 26 tables of 200,000 split by rows, dot products of features, Adagrad."""
    rows, tables, width, size = 65536, 26, 128, 200_000
    bottom, top = (13, 512, 256, width), (479, 1024, 1024, 512, 256, 1)

    def perceptron(sizes):
        return [{"w": array(a, b), "b": array(b)} for a, b in pairwise(sizes)]

    params = {
        "tables": array(tables, size, width),
        "bottom": perceptron(bottom),
        "top": perceptron(top),
    }
    spec = jax.tree.map(lambda _: P(), params) | {"tables": P(None, "tensor")}

    def run(layers, x):
        for n, layer in enumerate(layers):
            x = x @ layer["w"] + layer["b"]
            x = jax.nn.relu(x) if n + 1 < len(layers) else x
        return x

    def loss(params, batch):
        dense = run(params["bottom"], batch["dense"])
        picked = jax.vmap(lambda table, ids: table[ids], (0, 1), 1)(
            params["tables"], batch["ids"]
        )
        picked = hold(picked, P("data", None, None))
        features = jnp.concatenate([dense[:, None], picked], 1)
        products = jnp.einsum("bfd,bgd->bfg", features, features)
        first, second = jnp.tril_indices(tables + 1, -1)
        crossed = jnp.concatenate([dense, products[:, first, second]], -1)
        logits = run(params["top"], crossed)[:, 0]
        return optax.sigmoid_binary_cross_entropy(logits, batch["labels"]).mean()

    batch = {
        "dense": array(rows, 13),
        "ids": array(rows, tables, dtype="int32"),
        "labels": array(rows),
    }
    return trained(
        *(loss, optax.adagrad(0.02), params, spec),
        *(batch, dict.fromkeys(batch, P("data"))),
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
        return mean_loss(logits, batch["targets"])

    batch = dict.fromkeys(("inputs", "targets"), array(rows, length, dtype="int32"))
    optimizer = optax.chain(optax.clip_by_global_norm(0.25), optax.sgd(1.0, 0.9))
    return trained(
        *(loss, optimizer, params, jax.tree.map(lambda _: P(), params)),
        *(batch, dict.fromkeys(batch, P("data"))),
    )


@program("v6e:2x2", data=4)
def quantized_images():
    """VQ-GAN's encoder, code book of 8,192 and decoder in bf16 over 128 x 128 images, held, Adam."""
    rows, codes, size, widths = 64, 8192, 256, (128, 128, 256, 256)
    params = {"book": array(codes, size)}

    def conv(name, a, b, k=3):
        params[name] = array(k, k, a, b)
        params[f"{name}/b"] = array(b)

    def block(name, a, b):
        conv(f"{name}/1", a, b)
        conv(f"{name}/2", b, b)
        params[f"{name}/n1"] = array(2, a)
        params[f"{name}/n2"] = array(2, b)
        if a != b:
            conv(f"{name}/skip", a, b, 1)

    conv("in", 3, widths[0])
    before = widths[0]
    for n, width in enumerate(widths):
        block(f"down{n}/0", before, width)
        block(f"down{n}/1", width, width)
        if n < 3:
            conv(f"down{n}/half", width, width)
        before = width
    conv("code", before, size, 1)
    conv("decode", size, before)
    for n, width in reversed(list(enumerate(widths))):
        block(f"up{n}/0", before, width)
        block(f"up{n}/1", width, width)
        if n:
            conv(f"up{n}/twice", width, width)
        before = width
    conv("out", before, 3)

    def loss(params, images):
        def conv(name, x, stride=1):
            y = jax.lax.conv_general_dilated(
                *(x, params[name].astype(bf16), (stride, stride), "SAME"),
                dimension_numbers=("NHWC", "HWIO", "NHWC"),
            )
            return hold(y + params[f"{name}/b"].astype(bf16), P("data"))

        def group_norm(name, x):
            groups = x.astype(jnp.float32).reshape(*x.shape[:3], 32, -1)
            mean = groups.mean((1, 2, 4), keepdims=True)
            spread = groups.var((1, 2, 4), keepdims=True)
            y = ((groups - mean) * jax.lax.rsqrt(spread + 1e-6)).reshape(x.shape)
            return (y * params[name][0] + params[name][1]).astype(bf16)

        def block(name, x):
            y = conv(f"{name}/1", jax.nn.swish(group_norm(f"{name}/n1", x)))
            y = conv(f"{name}/2", jax.nn.swish(group_norm(f"{name}/n2", y)))
            return y + (conv(f"{name}/skip", x) if f"{name}/skip" in params else x)

        x = conv("in", images.astype(bf16))
        for n in range(4):
            x = block(f"down{n}/1", block(f"down{n}/0", x))
            x = conv(f"down{n}/half", x, 2) if n < 3 else x
        z = conv("code", x).astype(jnp.float32)
        flat = z.reshape(-1, size)
        book = params["book"]
        far = (flat**2).sum(1)[:, None] - 2 * flat @ book.T + (book**2).sum(1)
        near = book[far.argmin(1)].reshape(z.shape)
        commit = jnp.square(jax.lax.stop_gradient(near) - z).mean()
        codes = jnp.square(near - jax.lax.stop_gradient(z)).mean()
        x = conv("decode", (z + jax.lax.stop_gradient(near - z)).astype(bf16))
        for n in (3, 2, 1, 0):
            x = block(f"up{n}/1", block(f"up{n}/0", x))
            if n:
                x = conv(f"up{n}/twice", x.repeat(2, 1).repeat(2, 2))
        out = conv("out", x).astype(jnp.float32)
        return jnp.abs(out - images).mean() + codes + 0.25 * commit

    return trained(
        *(loss, optax.adam(4.5e-6, 0.5, 0.9), params),
        *(jax.tree.map(lambda _: P(), params), array(rows, 128, 128, 3), P("data")),
    )


@program("v6e:2x4", data=2, fsdp=2, tensor=2)
def sigmoid_towers():
    """SigLIP's two towers in scans with checkpoints, a mesh of three axes, half held, Lion."""
    width, heads, hidden, layers, rows = 1024, 16, 4096, 24, 512
    patches, words, vocab = 256, 64, 32000
    sizes = {
        "q": (width, width),
        "k": (width, width),
        "v": (width, width),
        "o": (width, width),
        "up": (width, hidden),
        "down": (hidden, width),
        "n1": (2, width),
        "n2": (2, width),
    }
    split = {
        **dict.fromkeys(("q", "k", "v", "up"), P(None, "fsdp", "tensor")),
        **dict.fromkeys(("o", "down"), P(None, "tensor", "fsdp")),
        **dict.fromkeys(("n1", "n2"), P()),
    }
    tower = {n: array(layers, *s) for n, s in sizes.items()}
    params = {
        "patch": array(14 * 14 * 3, width),
        "places": array(patches, width),
        "words": array(vocab, width),
        "spots": array(words, width),
        "image": tower,
        "text": tower,
        "scale": array(),
        "bias": array(),
    }
    spec = dict.fromkeys(params, P()) | {
        "patch": P(None, "tensor"),
        "words": P("tensor", "fsdp"),
        "image": split,
        "text": split,
    }
    batch_axes = ("data", "fsdp")

    def encode(tower, x):
        @jax.checkpoint
        def layer(x, w):
            w = {n: a if n in ("n1", "n2") else a.astype(bf16) for n, a in w.items()}
            h = norm(x, w["n1"][0], w["n1"][1])
            q, k, v = (
                (h @ w[n]).reshape(*h.shape[:2], heads, width // heads) for n in "qkv"
            )
            x = x + attention(q, k, v).reshape(h.shape) @ w["o"]
            h = norm(x, w["n2"][0], w["n2"][1])
            h = jax.nn.gelu(h @ w["up"]) @ w["down"]
            return hold(x + h, P(batch_axes, None, None)), None

        x, _ = jax.lax.scan(layer, x, tower)
        x = x.astype(jnp.float32).mean(1)
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def loss(params, batch):
        images = batch["images"].reshape(rows, 16, 14, 16, 14, 3)
        images = images.transpose(0, 1, 3, 2, 4, 5).reshape(rows, patches, -1)
        x = images.astype(bf16) @ params["patch"].astype(bf16)
        y = params["words"].astype(bf16)[batch["text"]]
        a = encode(params["image"], x + params["places"].astype(bf16))
        b = encode(params["text"], y + params["spots"].astype(bf16))
        logits = a @ b.T * jnp.exp(params["scale"]) + params["bias"]
        sign = 2 * jnp.eye(rows) - 1
        return -jax.nn.log_sigmoid(sign * logits).sum() / rows

    batch = {
        "images": array(rows, 224, 224, 3),
        "text": array(rows, words, dtype="int32"),
    }
    return trained(
        *(loss, optax.lion(1e-4, weight_decay=0.1), params, spec),
        *(batch, dict.fromkeys(batch, P(batch_axes))),
    )


@program("v5p:2x2x2", fsdp=8)
def ragged_experts():
    """Sixteen experts by ragged products of sorted tokens in a scan with checkpoints, nothing held."""
    layers, width, hidden, experts, chosen = 8, 1024, 2048, 16, 2
    vocab, rows, length, heads = 50304, 32, 1024, 16
    sizes = {
        "qkv": (width, 3 * width),
        "o": (width, width),
        "router": (width, experts),
        "up": (experts, width, hidden),
        "gate": (experts, width, hidden),
        "down": (experts, hidden, width),
        "norms": (2, width),
    }
    params = {
        "embed": array(vocab, width, dtype="bfloat16"),
        "norm": array(width),
        "layers": {
            n: array(layers, *s, dtype="float32" if n == "norms" else "bfloat16")
            for n, s in sizes.items()
        },
    }
    spec = {
        "embed": P("fsdp"),
        "norm": P(),
        "layers": {
            "qkv": P(None, "fsdp"),
            "o": P(None, "fsdp"),
            "router": P(),
            "up": P(None, None, "fsdp"),
            "gate": P(None, None, "fsdp"),
            "down": P(None, None, "fsdp"),
            "norms": P(),
        },
    }

    def loss(params, tokens):
        x = params["embed"][tokens[:, :-1]]
        mask = jnp.tril(jnp.ones((length, length), bool))

        @jax.checkpoint
        def layer(x, w):
            h = norm(x, w["norms"][0])
            q, k, v = jnp.split(h @ w["qkv"], 3, -1)
            q, k, v = (a.reshape(rows, length, heads, -1) for a in (q, k, v))
            x = x + attention(q, k, v, mask).reshape(x.shape) @ w["o"]
            h = norm(x, w["norms"][1]).reshape(-1, width)
            scores = jax.nn.softmax((h @ w["router"]).astype(jnp.float32))
            weight, expert = jax.lax.top_k(scores, chosen)
            order = jnp.argsort(expert.reshape(-1))
            sent = h[order // chosen]
            groups = jnp.bincount(expert.reshape(-1), length=experts)
            y = jax.nn.silu(jax.lax.ragged_dot(sent, w["gate"], groups))
            y = y * jax.lax.ragged_dot(sent, w["up"], groups)
            y = jax.lax.ragged_dot(y, w["down"], groups)
            y = y[jnp.argsort(order)].reshape(-1, chosen, width)
            y = (y * weight[..., None].astype(y.dtype)).sum(1)
            return x + y.reshape(x.shape), None

        x, _ = jax.lax.scan(layer, x, params["layers"])
        return mean_loss(norm(x, params["norm"]) @ params["embed"].T, tokens[:, 1:])

    optimizer = optax.adamw(3e-4, mu_dtype=jnp.float32)
    return trained(
        *(loss, optimizer, params, spec),
        *(array(rows, length + 1, dtype="int32"), P("fsdp")),
    )


@program("v5e:4x4", fsdp=4, tensor=4)
def llama_in_parts():
    """Llama of 1.6e9 in a scan with checkpoints, eight microbatches by a scan, held, SGD with momentum."""
    layers, width, heads, groups, size, hidden = 20, 2048, 32, 8, 64, 8192
    vocab, rows, parts, length = 32000, 128, 8, 2048
    sizes = {
        "q": (width, heads * size),
        "k": (width, groups * size),
        "v": (width, groups * size),
        "o": (heads * size, width),
        "gate": (width, hidden),
        "up": (width, hidden),
        "down": (hidden, width),
        "n1": (width,),
        "n2": (width,),
    }
    split = {
        **dict.fromkeys(("q", "k", "v", "gate", "up"), P(None, "fsdp", "tensor")),
        **dict.fromkeys(("o", "down"), P(None, "tensor", "fsdp")),
        **dict.fromkeys(("n1", "n2"), P()),
    }
    params = {
        "embed": array(vocab, width),
        "norm": array(width),
        "layers": {n: array(layers, *s) for n, s in sizes.items()},
        "head": array(width, vocab),
    }
    spec = {
        "embed": P("tensor", "fsdp"),
        "norm": P(),
        "layers": split,
        "head": P("fsdp", "tensor"),
    }

    def loss(params, tokens):
        inputs, targets = tokens[:, :-1], tokens[:, 1:]
        x = hold(params["embed"].astype(bf16)[inputs], P("fsdp", None, None))
        mask = jnp.tril(jnp.ones((length, length), bool))

        @jax.checkpoint
        def layer(x, w):
            w = jax.tree.map(lambda a: a.astype(bf16), w)
            h = norm(x, w["n1"])
            q = rotary((h @ w["q"]).reshape(*h.shape[:2], heads, size), 5e5)
            k = rotary((h @ w["k"]).reshape(*h.shape[:2], groups, size), 5e5)
            v = (h @ w["v"]).reshape(*h.shape[:2], groups, size)
            k, v = (jnp.repeat(a, heads // groups, 2) for a in (k, v))
            q, k, v = (hold(a, P("fsdp", None, "tensor", None)) for a in (q, k, v))
            x = x + attention(q, k, v, mask).reshape(h.shape) @ w["o"]
            h = norm(x, w["n2"])
            h = jax.nn.silu(h @ w["gate"]) * (h @ w["up"])
            return hold(x + h @ w["down"], P("fsdp", None, None)), None

        x, _ = jax.lax.scan(layer, x, params["layers"])
        return mean_loss(norm(x, params["norm"]) @ params["head"].astype(bf16), targets)

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, 0.9))
    state, state_spec = state_specs(optimizer, params, spec)

    def step(params, state, tokens):
        def part(carry, tokens):
            total, grads = carry
            value, new = jax.value_and_grad(loss)(params, tokens)
            return (total + value, jax.tree.map(jnp.add, grads, new)), None

        tokens = hold(tokens.reshape(parts, rows // parts, -1), P(None, "fsdp"))
        zero = jax.tree.map(jnp.zeros_like, params)
        (total, grads), _ = jax.lax.scan(part, (0.0, zero), tokens)
        grads = jax.tree.map(lambda g: g / parts, grads)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, total / parts

    return (
        step,
        (params, state, array(rows, length + 1, dtype="int32")),
        (spec, state_spec, P("fsdp")),
        {"donate_argnums": (0, 1)},
    )


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 22")
