"""Losses of plain training steps, each a family of choices (`settings.py` draws them)."""
# pyright: basic

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

FAMILIES = {}


def family(build):
    """Register a function from a `Setting` to a loss, parameters, batch and its bytes a row."""
    FAMILIES[build.__name__] = build
    return build


def value(*sizes, dtype="float32"):
    return jax.ShapeDtypeStruct(sizes, jnp.dtype(dtype))


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(
        logits.astype(jnp.float32), labels
    ).mean()


def norm(x, scale, offset):
    """Normalize rows in f32."""
    y = x.astype(jnp.float32)
    y = y - y.mean(-1, keepdims=True)
    y = y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)
    return (y * scale + offset).astype(x.dtype)


def attend(q, k, v, heads, f32, mask=None):
    """Attention of (batch, time, width), with the softmax in f32 or in the type of scores."""
    split = [x.reshape(*x.shape[:2], heads, -1) for x in (q, k, v)]
    scores = jnp.einsum("bthd,bshd->bhts", split[0], split[1])
    scores = scores * (split[0].shape[-1] ** -0.5)
    scores = scores.astype(jnp.float32) if f32 else scores
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    weights = jax.nn.softmax(scores, -1).astype(split[2].dtype)
    return jnp.einsum("bhts,bshd->bthd", weights, split[2]).reshape(q.shape)


def block_shapes(width, hidden):
    return {
        **dict.fromkeys("qkvo", (width, width)),
        "up": (width, hidden),
        "down": (hidden, width),
        **dict.fromkeys(("s1", "o1", "s2", "o2"), (width,)),
    }


def block(s, heads, f32, act):
    """Return a layer of an encoder: attention and a perceptron behind norms."""

    def layer(x, p):
        h = norm(x, p["s1"], p["o1"])
        q, k, v = (h @ s.cast(p[key]) for key in "qkv")
        x = x + attend(q, k, v, heads, f32) @ s.cast(p["o"])
        h = norm(x, p["s2"], p["o2"])
        x = x + act(h @ s.cast(p["up"])) @ s.cast(p["down"])
        return s.hold(x)

    return layer


def block_bytes(s, time, width, hidden, heads, layers):
    """Bytes that a row's layers save for their gradients."""
    if s.checkpoint:
        saved = layers * width + 6 * width + 2 * hidden + 2 * heads * time
    else:
        saved = layers * (8 * width + 2 * hidden + heads * time * 2)
    return time * saved * s.dtype.itemsize


@family
def perceptron(s):
    width = s.pick(1024, 2048, 4096, 8192)
    hidden = width * s.pick(1, 2, 4)
    count = s.pick(4, 6, 8, 12)
    act = s.pick(jax.nn.relu, jax.nn.gelu, jnp.tanh, jax.nn.silu)
    bias, residual, classes = s.pick(True, False), s.pick(True, False), s.pick(0, 1000)
    shapes = {"up": (width, hidden), "down": (hidden, width)}
    if bias:
        shapes |= {"bu": (hidden,), "bd": (width,)}
    params = {"layers": s.layers(count, **shapes)}
    if classes:
        params["head"] = s.weight(width, classes)

    def layer(x, p):
        h = x @ s.cast(p["up"])
        h = act(h + s.cast(p["bu"]) if bias else h)
        h = h @ s.cast(p["down"])
        h = h + s.cast(p["bd"]) if bias else h
        return s.hold(x + h if residual else act(h))

    def loss(params, batch):
        x = s.run(layer, s.cast(batch["x"]), params["layers"])
        if classes:
            return cross_entropy(x @ s.cast(params["head"]), batch["y"])
        return jnp.square(x.astype(jnp.float32) - batch["y"]).mean()

    saved = count * width + 2 * hidden if s.checkpoint else count * (width + 2 * hidden)
    rows = s.rows(saved * s.dtype.itemsize)
    y = value(rows, dtype="int32") if classes else value(rows, width)
    return loss, params, {"x": value(rows, width), "y": y}


def conv(x, w, stride=1):
    return jax.lax.conv_general_dilated(
        *(x, w.astype(x.dtype), (stride, stride), "SAME"),
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )


def normalizer(s):
    """Return a norm of features: of the whole batch, or of groups of each image."""
    if s.pick(True, False):

        def batch_norm(x, p):
            y = x.astype(jnp.float32)
            mean = y.mean((0, 1, 2))
            var = jnp.square(y - mean).mean((0, 1, 2))
            y = (y - mean) * jax.lax.rsqrt(var + 1e-5)
            return (y * p[0] + p[1]).astype(x.dtype)

        return batch_norm

    def group_norm(x, p):
        y = x.astype(jnp.float32).reshape(*x.shape[:3], 32, -1)
        mean = y.mean((1, 2, 4), keepdims=True)
        var = jnp.square(y - mean).mean((1, 2, 4), keepdims=True)
        y = ((y - mean) * jax.lax.rsqrt(var + 1e-5)).reshape(x.shape)
        return (y * p[0] + p[1]).astype(x.dtype)

    return group_norm


@family
def resnet(s):
    side = s.pick(64, 128, 224)
    blocks = s.pick((2, 2, 2, 2), (3, 4, 6, 3))
    base, narrow = s.pick(64, 128), s.pick(True, False)
    normal = normalizer(s)
    params = {"stem": s.weight(7, 7, 3, base), "ns": s.weight(2, base)}
    wide = base
    for stage, count in enumerate(blocks):
        width = base << stage
        out = 4 * width if narrow else width
        for n in range(count):
            sizes = [(3, 3, wide, width), (3, 3, width, out)]
            if narrow:
                sizes = [(1, 1, wide, width), (3, 3, width, width), (1, 1, width, out)]
            p = {f"c{i}": s.weight(*size) for i, size in enumerate(sizes)}
            p |= {f"n{i}": s.weight(2, size[-1]) for i, size in enumerate(sizes)}
            if wide != out or (stage and not n):
                p["skip"] = s.weight(1, 1, wide, out)
            params[f"b{stage}_{n}"] = p
            wide = out
    params["head"] = s.weight(wide, 1000)

    def unit(stride):
        def apply(x, p):
            y = x
            for i in range(3 if narrow else 2):
                at = 1 if narrow else 0
                y = normal(conv(y, p[f"c{i}"], stride if i == at else 1), p[f"n{i}"])
                y = jax.nn.relu(y) if i < (2 if narrow else 1) else y
            x = conv(x, p["skip"], stride) if "skip" in p else x
            return s.hold(jax.nn.relu(x + y))

        return jax.checkpoint(apply) if s.checkpoint else apply

    def loss(params, batch):
        x = conv(s.cast(batch["x"]), params["stem"], 2)
        x = jax.nn.relu(normal(x, params["ns"]))
        x = jax.lax.reduce_window(
            *(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        )
        for stage, count in enumerate(blocks):
            for n in range(count):
                stride = 2 if stage and not n else 1
                x = unit(stride)(x, params[f"b{stage}_{n}"])
        x = x.astype(jnp.float32).mean((1, 2))
        return cross_entropy(x @ params["head"].astype(jnp.float32), batch["y"])

    each = sum(
        count * (side >> 2 + stage) ** 2 * (base << stage) * (12 if narrow else 4)
        for stage, count in enumerate(blocks)
    )
    each *= s.dtype.itemsize
    rows = s.rows(each / 2 if s.checkpoint else each)
    batch = {"x": value(rows, side, side, 3), "y": value(rows, dtype="int32")}
    return loss, params, batch


@family
def unet(s):
    """U-Net that segments images, or guesses their noise with the time embedded."""
    side, base, levels = s.pick(64, 128), s.pick(64, 128), s.pick(3, 4)
    diffusion = s.pick(True, False)
    normal = normalizer(s)
    widths = [base << min(level, 2) for level in range(levels)]

    def part(wide, width):
        p = {"c1": s.weight(3, 3, wide, width), "n1": s.weight(2, width)}
        p |= {"c2": s.weight(3, 3, width, width), "n2": s.weight(2, width)}
        if diffusion:
            p["time"] = s.weight(256, width)
        return p

    params, wide = {"stem": s.weight(3, 3, 3, base)}, base
    for level, width in enumerate(widths):
        params[f"d{level}"] = part(wide, width)
        wide = width
    params["mid"] = part(wide, wide)
    for level, width in reversed(list(enumerate(widths))):
        params[f"u{level}"] = part(wide + width, width)
        wide = width
    params["last"] = s.weight(1, 1, base, 3)

    def apply(x, p, t):
        x = jax.nn.silu(normal(conv(x, p["c1"]), p["n1"]))
        if diffusion:
            x = x + (t @ s.cast(p["time"]))[:, None, None]
        return s.hold(jax.nn.silu(normal(conv(x, p["c2"]), p["n2"])))

    run = jax.checkpoint(apply) if s.checkpoint else apply

    def model(params, x, t):
        x, kept = conv(x, params["stem"]), []
        for level in range(levels):
            x = run(x, params[f"d{level}"], t)
            kept.append(x)
            b, h, w, c = x.shape
            x = x.reshape(b, h // 2, 2, w // 2, 2, c).mean((2, 4))
        x = run(x, params["mid"], t)
        for level in reversed(range(levels)):
            x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
            x = run(jnp.concatenate([x, kept[level]], -1), params[f"u{level}"], t)
        return conv(x, params["last"])

    def loss(params, batch):
        x = s.cast(batch["x"])
        if not diffusion:
            logits = model(params, x, None).astype(jnp.float32)
            return cross_entropy(logits, batch["y"])
        time = batch["y"][:, None]
        angles = time * jnp.exp(-jnp.arange(128) * 0.07)
        t = s.cast(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1))
        mix = s.cast(jnp.sqrt(1 - time / 1000))[..., None, None]
        noise = s.cast(batch["noise"])
        guess = model(params, mix * x + (1 - mix) * noise, t)
        return jnp.square((guess - noise).astype(jnp.float32)).mean()

    each = side * side * base * 20 * s.dtype.itemsize
    rows = s.rows(each / 2 if s.checkpoint else each)
    batch = {"x": value(rows, side, side, 3)}
    if diffusion:
        return loss, params, batch | {"noise": batch["x"], "y": value(rows)}
    return loss, params, batch | {"y": value(rows, side, side, dtype="int32")}


@family
def vit(s):
    """ViT of patches, or a diffusion transformer of them whose norms read the time."""
    width, count = s.pick(384, 768, 1024), s.pick(6, 12)
    heads, side, patch = width // 64, 224, s.pick(14, 16)
    f32, act = s.pick(True, False), s.pick(jax.nn.gelu, jax.nn.relu)
    time = (side // patch) ** 2
    pooled = s.pick(True, False)
    params = {
        "patch": s.weight(patch * patch * 3, width),
        "at": s.weight(time, width),
        "layers": s.layers(count, **block_shapes(width, 4 * width)),
        "head": s.weight(width, 1000),
    }
    layer = block(s, heads, f32, act)

    def loss(params, batch):
        x = s.cast(batch["x"])
        n = side // patch
        x = x.reshape(-1, n, patch, n, patch, 3).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(-1, time, patch * patch * 3) @ s.cast(params["patch"])
        x = s.run(layer, s.hold(x + s.cast(params["at"])), params["layers"])
        x = x.mean(1) if pooled else x[:, 0]
        return cross_entropy(x @ s.cast(params["head"]), batch["y"])

    rows = s.rows(block_bytes(s, time, width, 4 * width, heads, count))
    batch = {"x": value(rows, side, side, 3), "y": value(rows, dtype="int32")}
    return loss, params, batch


@family
def experts(s):
    """Perceptrons of experts on rows: one-hot with a capacity, ragged products or all_to_all."""
    width, hidden = s.pick(512, 1024, 2048), s.pick(2048, 4096)
    count, layers = s.pick(8, 16, 32), s.pick(2, 4)
    time = s.pick(512, 1024)
    way = s.pick(
        "capacity", "ragged", "exchanged" if s.mesh != "tensor" else "capacity"
    )
    axis = s.batch[-1]
    ways = s.axes[axis]
    count = max(count, ways)
    params = {
        "layers": s.layers(
            layers,
            router=(width, count),
            up=(count, width, hidden),
            down=(count, hidden, width),
            s1=(width,),
            o1=(width,),
        ),
        "head": s.weight(width, 256),
    }

    def mlp(x, p):
        h = jax.nn.gelu(jnp.einsum("ecd,edh->ech", x, s.cast(p["up"])))
        return jnp.einsum("ech,ehd->ecd", h, s.cast(p["down"]))

    def dispatch(gates, size):
        """Masks of (rows, experts, places) of each row's first expert, as far as there is room."""
        gate, index = gates.max(-1), gates.argmax(-1)
        chosen = jax.nn.one_hot(index, count)
        place = (jnp.cumsum(chosen, 0) - 1) * chosen
        place = jnp.sum(place, -1).astype(jnp.int32)
        mask = chosen[:, :, None] * jax.nn.one_hot(place, size)[:, None]
        return s.cast(mask), s.cast(mask * gate[:, None, None])

    def capacity(h, gates, p):
        send, back = jax.vmap(lambda g: dispatch(g, 2 * time // count))(gates)
        x = jnp.einsum("btec,btd->becd", send, h)
        y = jax.nn.gelu(jnp.einsum("becd,edh->bech", x, s.cast(p["up"])))
        y = jnp.einsum("bech,ehd->becd", y, s.cast(p["down"]))
        return jnp.einsum("btec,becd->btd", back, y)

    def ragged(h, gates, p):
        flat, gates = h.reshape(-1, width), gates.reshape(-1, count)
        gate, index = gates.max(-1), gates.argmax(-1)
        order = jnp.argsort(index)
        sizes = jnp.bincount(index, length=count).astype(jnp.int32)
        y = jax.nn.gelu(jax.lax.ragged_dot(flat[order], s.cast(p["up"]), sizes))
        y = jax.lax.ragged_dot(y, s.cast(p["down"]), sizes)
        y = jnp.zeros_like(y).at[order].set(y) * s.cast(gate)[:, None]
        return y.reshape(h.shape)

    def exchanged(h, gates, p):
        def local(h, gates, up, down):
            flat, gates = h.reshape(-1, width), gates.reshape(-1, count)
            send, back = dispatch(gates, 2 * flat.shape[0] // count)
            x = jnp.einsum("nec,nd->ecd", send, flat)
            x = jax.lax.all_to_all(x, axis, 0, 1, tiled=True)
            y = mlp(x, {"up": up, "down": down})
            y = jax.lax.all_to_all(y, axis, 1, 0, tiled=True)
            return jnp.einsum("nec,ecd->nd", back, y).reshape(h.shape)

        rows = P(s.batch, None, None)
        each = P(axis, None, None)
        return jax.shard_map(
            local, in_specs=(rows, rows, each, each), out_specs=rows, check_vma=False
        )(h, gates, p["up"], p["down"])

    route = {"capacity": capacity, "ragged": ragged, "exchanged": exchanged}[way]

    def layer(x, p):
        h = norm(x, p["s1"], p["o1"])
        gates = jax.nn.softmax((h @ s.cast(p["router"])).astype(jnp.float32), -1)
        return s.hold(x + route(h, gates, p))

    def loss(params, batch):
        x = s.run(layer, s.cast(batch["x"]), params["layers"])
        return cross_entropy(x.mean(1) @ s.cast(params["head"]), batch["y"])

    each = layers * time * (4 * width + 3 * hidden) * s.dtype.itemsize
    rows = s.rows(each)
    return (
        loss,
        params,
        {"x": value(rows, time, width), "y": value(rows, dtype="int32")},
    )


@family
def seq2seq(s):
    """Encoder of features and decoder of tokens, with attention across."""
    width, count, vocab = s.pick(512, 1024), s.pick(4, 6), s.pick(8192, 32768)
    heads, source, target = width // 64, s.pick(256, 512), s.pick(128, 256)
    f32, act = s.pick(True, False), s.pick(jax.nn.gelu, jax.nn.relu)
    shapes = block_shapes(width, 4 * width)
    across = {f"x{key}": (width, width) for key in "qkvo"}
    across |= {"s3": (width,), "o3": (width,)}
    params = {
        "embed": s.weight(vocab, width),
        "at": s.weight(max(source, target), width),
        "encoder": s.layers(count, **shapes),
        "decoder": s.layers(count, **shapes, **across),
        "head": s.weight(width, vocab),
    }
    encode = block(s, heads, f32, act)

    def decode(memory):
        def layer(x, p):
            mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
            h = norm(x, p["s1"], p["o1"])
            q, k, v = (h @ s.cast(p[key]) for key in "qkv")
            x = x + attend(q, k, v, heads, f32, mask) @ s.cast(p["o"])
            q = norm(x, p["s3"], p["o3"]) @ s.cast(p["xq"])
            k, v = memory @ s.cast(p["xk"]), memory @ s.cast(p["xv"])
            split = attend_across(q, k, v, heads, f32)
            x = x + split @ s.cast(p["xo"])
            h = norm(x, p["s2"], p["o2"])
            x = x + act(h @ s.cast(p["up"])) @ s.cast(p["down"])
            return s.hold(x)

        return layer

    def loss(params, batch):
        table, at = s.cast(params["embed"]), s.cast(params["at"])
        x = s.hold(table[batch["x"]] + at[:source])
        memory = s.run(encode, x, params["encoder"])
        x = s.hold(table[batch["y"][:, :-1]] + at[:target])
        x = s.run(decode(memory), x, params["decoder"])
        return cross_entropy(x @ s.cast(params["head"]), batch["y"][:, 1:])

    each = block_bytes(s, source, width, 4 * width, heads, count)
    each += 1.5 * block_bytes(s, target, width, 4 * width, heads, count)
    rows = s.rows(each + target * vocab * 6)
    ids = {"dtype": "int32"}
    return (
        loss,
        params,
        {"x": value(rows, source, **ids), "y": value(rows, target + 1, **ids)},
    )


def attend_across(q, k, v, heads, f32):
    split = [x.reshape(*x.shape[:2], heads, -1) for x in (q, k, v)]
    scores = jnp.einsum("bthd,bshd->bhts", split[0], split[1])
    scores = scores / split[0].shape[-1] ** 0.5
    scores = scores.astype(jnp.float32) if f32 else scores
    weights = jax.nn.softmax(scores, -1).astype(v.dtype)
    return jnp.einsum("bhts,bshd->bthd", weights, split[2]).reshape(q.shape)


@family
def recurrent(s):
    """LSTMs or GRUs by scans over time, of features, with a head at each step or the last."""
    width, time, count = s.pick(512, 1024, 2048), s.pick(64, 128, 256), s.pick(1, 2, 3)
    gates, each, classes = s.pick(3, 4), s.pick(True, False), s.pick(64, 4096)
    before = s.pick(True, False)
    params = {
        "cells": [
            {
                "up": s.weight(width, gates * width),
                "again": s.weight(width, gates * width),
                "bias": s.weight(gates * width),
            }
            for _ in range(count)
        ],
        "head": s.weight(width, classes),
    }

    def cell(p, state, x):
        h, c = state
        x = x if before else x @ s.cast(p["up"])
        if gates == 4:
            z = x + h @ s.cast(p["again"]) + s.cast(p["bias"])
            i, f, g, o = jnp.split(z, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h
        x = x + s.cast(p["bias"])
        y = h @ s.cast(p["again"])
        r, z, n = jnp.split(x, 3, -1)
        a, b, d = jnp.split(y, 3, -1)
        r, z = jax.nn.sigmoid(r + a), jax.nn.sigmoid(z + b)
        h = (1 - z) * jnp.tanh(n + r * d) + z * h
        return (h, c), h

    def loss(params, batch):
        x = s.cast(batch["x"]).swapaxes(0, 1)
        for p in params["cells"]:
            step = jax.checkpoint(cell) if s.checkpoint else cell
            start = jnp.zeros((*x.shape[1:2], width), x.dtype)
            x = x @ s.cast(p["up"]) if before else x
            x = jax.lax.scan(partial(step, p), (start, start), x)[1]
            x = jax.nn.relu(x) if s.scan else x
        x = x if each else x[-1]
        y = batch["y"].T if each else batch["y"]
        return cross_entropy(x @ s.cast(params["head"]), y)

    saved = count * time * width * (4 + 2 * gates) + (time * classes * 2 if each else 0)
    rows = s.rows(saved * s.dtype.itemsize)
    y = value(rows, time, dtype="int32") if each else value(rows, dtype="int32")
    return loss, params, {"x": value(rows, time, width), "y": y}


@family
def recommender(s):
    """Embedding tables, perceptrons and products of all pairs of features (DLRM)."""
    tables, size = s.pick(8, 16, 26), s.pick(64, 128)
    entries = s.pick(100_000, 200_000, 1 << 18)
    stacked, pairs = s.pick(True, False), s.pick(True, False)
    width = s.pick(512, 1024)
    wide = (tables + 1) * (tables + 1) + size if pairs else (tables + 1) * size
    params = {
        "tables": s.weight(tables, entries, size)
        if stacked
        else [s.weight(entries, size) for _ in range(tables)],
        "bottom": [s.weight(16, width), s.weight(width, size)],
        "top": [s.weight(wide, 2 * width), s.weight(2 * width, width)],
        "last": s.weight(width, 1),
    }

    def loss(params, batch):
        x = s.cast(batch["dense"])
        for w in params["bottom"]:
            x = jax.nn.relu(x @ s.cast(w))
        ids = batch["ids"]
        if stacked:
            parts = jax.vmap(lambda t, i: t[i], (0, 1), 1)(params["tables"], ids)
        else:
            parts = jnp.stack([t[ids[:, i]] for i, t in enumerate(params["tables"])], 1)
        z = jnp.concatenate([x[:, None], s.cast(parts)], 1)
        if pairs:
            dots = jnp.einsum("bnd,bmd->bnm", z, z).reshape(len(x), -1)
            z = jnp.concatenate([dots, x], -1)
        z = s.hold(z.reshape(len(x), -1))
        for w in params["top"]:
            z = jax.nn.relu(z @ s.cast(w))
        logit = (z @ s.cast(params["last"]))[:, 0].astype(jnp.float32)
        return optax.sigmoid_binary_cross_entropy(logit, batch["y"]).mean()

    rows = s.rows(8 * (tables * size * 4 + 8 * width) * s.dtype.itemsize)
    ids = value(rows, tables, dtype="int32")
    return loss, params, {"dense": value(rows, 16), "ids": ids, "y": value(rows)}


@family
def contrastive(s):
    """Two towers of tokens and patches whose similarities are a softmax or sigmoids."""
    width, count, joint = s.pick(512, 768), s.pick(6, 12), s.pick(256, 512)
    heads, patches, words = width // 64, s.pick(196, 256), s.pick(64, 128)
    f32, sigmoid = s.pick(True, False), s.pick(True, False)
    shapes = block_shapes(width, 4 * width)
    params = {
        "patch": s.weight(768, width),
        "embed": s.weight(32768, width),
        "encoder": s.layers(count, **shapes),
        "decoder": s.layers(count, **shapes),
        "images": s.weight(width, joint),
        "texts": s.weight(width, joint),
        "scale": s.weight(1),
    }
    layer = block(s, heads, f32, jax.nn.gelu)

    def unit(x, w):
        x = (x.mean(1) @ s.cast(w)).astype(jnp.float32)
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def loss(params, batch):
        x = s.hold(s.cast(batch["x"]) @ s.cast(params["patch"]))
        x = unit(s.run(layer, x, params["encoder"]), params["images"])
        y = s.hold(s.cast(params["embed"])[batch["y"]])
        y = unit(s.run(layer, y, params["decoder"]), params["texts"])
        logits = x @ y.T * jnp.exp(params["scale"].astype(jnp.float32))
        if sigmoid:
            sign = 2 * jnp.eye(len(logits)) - 1
            return -jax.nn.log_sigmoid(sign * logits).sum(-1).mean()
        at = jnp.arange(len(logits))
        return (cross_entropy(logits, at) + cross_entropy(logits.T, at)) / 2

    each = block_bytes(s, patches, width, 4 * width, heads, count)
    each += block_bytes(s, words, width, 4 * width, heads, count)
    rows = s.rows(each)
    ids = value(rows, words, dtype="int32")
    return loss, params, {"x": value(rows, patches, 768), "y": ids}
