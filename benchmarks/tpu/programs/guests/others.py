"""Seven steps of images, tables, speech and graphs, as guests write them to try a plan."""
# pyright: basic

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program, replicated, rows_of, specs, trained

hold = jax.lax.with_sharding_constraint
half = functools.partial(jax.tree.map, lambda a: a.astype(jnp.bfloat16))


def layer_norm(x):
    y = x.astype(jnp.float32)
    y = y - y.mean(-1, keepdims=True)
    return (y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6)).astype(
        x.dtype
    )


class ImageBlock(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x):
        width = x.shape[-1]
        h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        x = x + nn.MultiHeadDotProductAttention(self.heads, dtype=jnp.bfloat16)(h, h)
        h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        h = nn.gelu(nn.Dense(4 * width, dtype=jnp.bfloat16)(h))
        return x + nn.Dense(width, dtype=jnp.bfloat16)(h)


class SmallVit(nn.Module):
    width: int = 576
    depth: int = 8
    heads: int = 9

    @nn.compact
    def __call__(self, images):
        x = nn.Conv(self.width, (16, 16), (16, 16), dtype=jnp.bfloat16)(images)
        x = x.reshape(x.shape[0], -1, self.width)
        token = self.param("token", nn.initializers.zeros, (1, 1, self.width))
        token = jnp.broadcast_to(token, (x.shape[0], 1, self.width))
        x = jnp.concatenate([token.astype(x.dtype), x], axis=1)
        x = x + self.param("place", nn.initializers.normal(0.02), (1, *x.shape[1:]))
        for _ in range(self.depth):
            x = ImageBlock(self.heads)(x)
        x = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        return nn.Dense(1000)(x[:, 0])


@program("v5e:4x2", data=8)
def classed_patches():
    """A small ViT of Linen with a class token, residuals of f32, layers in Python, nothing remade."""
    model = SmallVit()
    batch = {"image": array(640, 224, 224, 3), "label": array(640, dtype="int32")}
    params = jax.eval_shape(model.init, jax.random.key(0), array(1, 224, 224, 3))

    def loss(params, batch):
        logits = model.apply(params, batch["image"])
        targets = optax.smooth_labels(jax.nn.one_hot(batch["label"], 1000), 0.1)
        return optax.softmax_cross_entropy(logits, targets).mean()

    opt = optax.adamw(optax.cosine_decay_schedule(1e-3, 100_000))
    return trained(loss, opt, params, replicated(params), batch, P("data"))


class WideBlock(nn.Module):
    features: int
    stride: int

    @nn.compact
    def __call__(self, x):
        conv = functools.partial(nn.Conv, use_bias=False, dtype=jnp.bfloat16)
        batch_norm = functools.partial(
            nn.BatchNorm, use_running_average=False, dtype=jnp.bfloat16
        )
        h = nn.relu(batch_norm()(x))
        short = x
        if x.shape[-1] != self.features or self.stride > 1:
            short = conv(self.features, (1, 1), (self.stride, self.stride))(h)
        h = conv(self.features, (3, 3), (self.stride, self.stride))(h)
        h = nn.relu(batch_norm()(h))
        return short + conv(self.features, (3, 3))(h)


class WideResnet(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(16, (3, 3), use_bias=False, dtype=jnp.bfloat16)(x)
        for features, stride in ((128, 1), (256, 2), (512, 2)):
            for block in range(2):
                x = WideBlock(features, stride if block == 0 else 1)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=False)(x))
        return nn.Dense(100)(x.mean((1, 2)))


@program("v4:2x2x1", data=4)
def wide_small_images():
    """A WideResNet for images of 32 by 32 with batch norms; SGD with Nesterov's momentum."""
    model = WideResnet()
    batch = {
        "image": array(2560, 32, 32, 3, dtype="bfloat16"),
        "label": array(2560, dtype="int32"),
    }
    variables = jax.eval_shape(
        model.init, jax.random.key(0), array(4, 32, 32, 3, dtype="bfloat16")
    )
    params, stats = variables["params"], variables["batch_stats"]
    opt = optax.chain(optax.add_decayed_weights(5e-4), optax.sgd(0.1, 0.9, True))
    state = jax.eval_shape(opt.init, params)

    def loss(params, stats, batch):
        logits, new = model.apply(
            {"params": params, "batch_stats": stats},
            batch["image"],
            mutable=["batch_stats"],
        )
        labels = batch["label"]
        value = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return value, new["batch_stats"]

    def step(params, stats, state, batch):
        (value, stats), grads = jax.value_and_grad(loss, has_aux=True)(
            params, stats, batch
        )
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), stats, state, value

    whole = replicated(params), replicated(stats), replicated(state)
    return (
        step,
        (params, stats, state, batch),
        (*whole, P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


class Twice(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = nn.Conv(self.features, (3, 3), dtype=jnp.bfloat16)(x)
            x = nn.relu(nn.GroupNorm(8, dtype=jnp.bfloat16)(x))
        return x


class SegmentingUnet(nn.Module):
    @nn.compact
    def __call__(self, x):
        kept = []
        for features in (32, 64, 128):
            x = Twice(features)(x)
            kept.append(x)
            x = nn.max_pool(x, (2, 2), (2, 2))
        x = Twice(256)(x)
        for features in (128, 64, 32):
            x = nn.ConvTranspose(features, (2, 2), (2, 2), dtype=jnp.bfloat16)(x)
            x = Twice(features)(jnp.concatenate([kept.pop(), x], axis=-1))
        return nn.Conv(4, (1, 1), dtype=jnp.float32)(x)


@program("v5p:2x2x2", data=8)
def segmented_slices():
    """A U-Net for medical images with group norms and pools; cross entropy and overlap, Adam."""
    model = SegmentingUnet()
    batch = {
        "image": array(128, 192, 192, 1, dtype="bfloat16"),
        "mask": array(128, 192, 192, dtype="int32"),
    }
    params = jax.eval_shape(
        model.init, jax.random.key(0), array(1, 192, 192, 1, dtype="bfloat16")
    )

    def loss(params, batch):
        logits = model.apply(params, batch["image"])
        labels = jax.nn.one_hot(batch["mask"], 4)
        p = jax.nn.softmax(logits)
        overlap = 2 * (p * labels).sum((1, 2)) + 1.0
        overlap = overlap / (p.sum((1, 2)) + labels.sum((1, 2)) + 1.0)
        entropy = optax.softmax_cross_entropy(logits, labels).mean()
        return entropy + 1.0 - overlap.mean()

    return trained(loss, optax.adam(1e-3), params, replicated(params), batch, P("data"))


@program("v6e:4x2", fsdp=8)
def joined_modes():
    """A rectified flow of Stable Diffusion 3's kind: words and patches attend together, scanned."""
    depth, d, heads, patches, words, channels = 16, 1152, 18, 1024, 154, 64

    def of(*s):
        return array(depth, *s)

    def stream():
        return {
            **{"ada": of(d, 6 * d), "ada_b": of(6 * d), "qkv": of(d, 3 * d)},
            **{"out": of(d, d), "up": of(d, 4 * d), "down": of(4 * d, d)},
        }

    params = {
        "patch": array(channels, d),
        "place": array(patches, d),
        "words": array(2048, d),
        "time": [array(256, d), array(d, d)],
        "layers": {"image": stream(), "text": stream()},
        "last": array(d, channels),
    }

    def modulated(x, w, c):
        parts = jnp.split(jax.nn.silu(c) @ w["ada"] + w["ada_b"], 6, axis=-1)
        shift, scale, gate, shift2, scale2, gate2 = (a[:, None] for a in parts)
        h = layer_norm(x) * (1 + scale) + shift
        q, k, v = jnp.split(h @ w["qkv"], 3, axis=-1)

        def finish(a):
            y = x + gate * (a @ w["out"])
            h = layer_norm(y) * (1 + scale2) + shift2
            return y + gate2 * (jax.nn.gelu(h @ w["up"]) @ w["down"])

        return (q, k, v), finish

    @jax.checkpoint
    def layer(carry, w):
        x, y, c = carry
        w = half(w)
        ours, finish_image = modulated(x, w["image"], c)
        theirs, finish_text = modulated(y, w["text"], c)
        q, k, v = (
            jnp.concatenate(pair, 1).reshape(x.shape[0], -1, heads, d // heads)
            for pair in zip(theirs, ours, strict=True)
        )
        a = jax.nn.dot_product_attention(q, k, v).reshape(x.shape[0], -1, d)
        y = hold(finish_text(a[:, :words]), P("fsdp"))
        return (hold(finish_image(a[:, words:]), P("fsdp")), y, c), None

    def loss(params, batch):
        p = half(params)
        t = batch["time"][:, None, None]
        noisy = (1 - t) * batch["latent"] + t * batch["noise"]
        x = hold(noisy.astype(jnp.bfloat16) @ p["patch"] + p["place"], P("fsdp"))
        y = batch["text"].astype(jnp.bfloat16) @ p["words"]
        angle = 1000 * batch["time"][:, None] * jnp.exp(-jnp.arange(128) / 14.0)
        c = jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1).astype(x.dtype)
        c = jax.nn.silu(c @ p["time"][0]) @ p["time"][1]
        (x, _, _), _ = jax.lax.scan(layer, (x, y, c), params["layers"])
        guess = (layer_norm(x) @ p["last"]).astype(jnp.float32)
        return jnp.square(guess - (batch["noise"] - batch["latent"])).mean()

    batch = {
        "latent": array(64, patches, channels),
        "noise": array(64, patches, channels),
        "text": array(64, words, 2048),
        "time": array(64),
    }
    split = specs(params, "fsdp")
    return trained(loss, optax.adamw(1e-4), params, split, batch, P("fsdp"))


@program("v5e:4x2", data=8)
def listening_lstm():
    """Three LSTMs in both directions over frames of sound, CTC over letters; clipped Adam."""
    frames, features, d, letters, longest = 480, 80, 640, 30, 90
    params = {
        "first": {"w": array(features, d), "b": array(d)},
        "cells": [
            {
                way: {
                    "in": array(d if at == 0 else 2 * d, 4 * d),
                    "hidden": array(d, 4 * d),
                    "bias": array(4 * d),
                }
                for way in ("left", "right")
            }
            for at in range(3)
        ],
        "last": {"w": array(2 * d, letters), "b": array(letters)},
    }

    def run(w, x, reverse):
        ahead = x @ w["in"] + w["bias"]

        def cell(carry, now):
            h, c = carry
            i, f, g, o = jnp.split(now + h @ w["hidden"], 4, axis=-1)
            c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        start = jnp.zeros((x.shape[1], d), x.dtype)
        return jax.lax.scan(cell, (start, start), ahead, reverse=reverse)[1]

    def loss(params, batch):
        x = jnp.swapaxes(batch["sound"], 0, 1)
        x = jax.nn.relu(x @ params["first"]["w"] + params["first"]["b"])
        for w in params["cells"]:
            x = jnp.concatenate(
                [run(w["left"], x, False), run(w["right"], x, True)], -1
            )
        logits = x @ params["last"]["w"] + params["last"]["b"]
        return optax.ctc_loss(
            jnp.swapaxes(logits, 0, 1),
            batch["quiet"],
            batch["text"],
            batch["past"],
        ).mean()

    batch = {
        "sound": array(256, frames, features),
        "quiet": array(256, frames),
        "text": array(256, longest, dtype="int32"),
        "past": array(256, longest),
    }
    opt = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(1e-4))
    return trained(loss, opt, params, replicated(params), batch, P("data"))


@program("v5p:2x2x2", data=2, rows=4)
def retrieving_towers():
    """Two towers for retrieval: bags of ids in tables split by rows, logits within the batch."""
    d, users, items, bag, batch_size = 96, 1_500_000, 700_000, 30, 12_288
    params = {
        "users": array(users, d),
        "items": array(items, d),
        "query": [array(2 * d, 768), array(768, 384), array(384, 128)],
        "item": [array(d, 768), array(768, 384), array(384, 128)],
    }
    split = replicated(params) | {"users": P("rows"), "items": P("rows")}
    everywhere = P(("data", "rows"))

    def tower(x, layers):
        for w in layers[:-1]:
            x = jax.nn.relu(x @ w)
        x = x @ layers[-1]
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def loss(params, batch):
        user = params["users"][batch["user"]]
        seen = params["items"][batch["seen"]]
        weight = (batch["seen"] > 0)[..., None]
        seen = (seen * weight).sum(1) / jnp.maximum(weight.sum(1), 1)
        query = tower(jnp.concatenate([user, seen], -1), params["query"])
        item = tower(params["items"][batch["next"]], params["item"])
        logits = hold(query @ item.T / 0.05, everywhere)
        labels = jnp.arange(batch_size)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    batch = {
        "user": array(batch_size, dtype="int32"),
        "seen": array(batch_size, bag, dtype="int32"),
        "next": array(batch_size, dtype="int32"),
    }
    return trained(loss, optax.adagrad(0.05), params, split, batch, everywhere)


@program("v6e:2x2", data=4)
def attending_nodes():
    """A graph of edges that attend (GAT): edges are split, nodes are whole; five layers, AdamW."""
    nodes, edges, d, heads, classes = 120_000, 1_600_000, 192, 6, 47
    params = {
        "in": array(128, d),
        "layers": [
            {"w": array(d, d), "to": array(heads, d // heads)}
            | {"from": array(heads, d // heads), "bias": array(d)}
            for _ in range(5)
        ],
        "out": array(d, classes),
    }

    @jax.checkpoint
    def layer(x, w, senders, receivers):
        h = (x @ w["w"]).reshape(nodes, heads, -1)
        a = (h * w["to"]).sum(-1)[receivers] + (h * w["from"]).sum(-1)[senders]
        a = jax.nn.leaky_relu(a, 0.2)
        top = jax.ops.segment_max(a, receivers, nodes)
        a = jnp.exp(a - jax.lax.stop_gradient(top)[receivers])
        total = jax.ops.segment_sum(a, receivers, nodes)
        a = a / (total[receivers] + 1e-9)
        out = jax.ops.segment_sum(a[..., None] * h[senders], receivers, nodes)
        return x + jax.nn.elu(out.reshape(nodes, d) + w["bias"])

    def loss(params, batch):
        x = batch["features"] @ params["in"]
        for w in params["layers"]:
            x = layer(x, w, batch["senders"], batch["receivers"])
        logits = x @ params["out"]
        each = optax.softmax_cross_entropy_with_integer_labels(logits, batch["labels"])
        return (each * batch["known"]).sum() / batch["known"].sum()

    batch = {
        "features": array(nodes, 128),
        "senders": array(edges, dtype="int32"),
        "receivers": array(edges, dtype="int32"),
        "labels": array(nodes, dtype="int32"),
        "known": array(nodes),
    }
    places = {n: P() for n in batch} | {n: P("data") for n in ("senders", "receivers")}
    params_spec = rows_of(params, None)
    return trained(loss, optax.adamw(3e-3), params, params_spec, batch, places)
