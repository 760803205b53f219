"""Eight steps of other models, as visitors write them: images, sound, tables, graphs, stages."""
# pyright: basic

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program, specs, state_specs, trained

hold = jax.lax.with_sharding_constraint


def replicated(tree):
    return jax.tree.map(lambda _: P(), tree)


def layer_norm(x, w):
    y = x.astype(jnp.float32)
    y = y - y.mean(-1, keepdims=True)
    y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6)
    return (y * w["scale"] + w["bias"]).astype(x.dtype)


def attend(q, k, v):
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32)
    p = jax.nn.softmax(s / q.shape[-1] ** 0.5, axis=-1).astype(v.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", p, v)


class VitBlock(nn.Module):
    width: int
    heads: int

    @nn.compact
    def __call__(self, x, _):
        h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        x = x + nn.SelfAttention(self.heads, dtype=jnp.bfloat16)(h)
        h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        h = nn.gelu(nn.Dense(4 * self.width, dtype=jnp.bfloat16)(h))
        return x + nn.Dense(self.width, dtype=jnp.bfloat16)(h), None


class Vit(nn.Module):
    width: int = 1024
    heads: int = 16
    depth: int = 24
    classes: int = 1000

    @nn.compact
    def __call__(self, images):
        x = nn.Conv(self.width, (14, 14), strides=(14, 14), dtype=jnp.bfloat16)(images)
        x = x.reshape(x.shape[0], -1, self.width)
        x = x + self.param("place", nn.initializers.normal(0.02), x.shape[1:])
        layers = nn.scan(
            nn.remat(VitBlock, prevent_cse=False),
            variable_axes={"params": 0},
            split_rngs={"params": True},
            length=self.depth,
        )
        x, _ = layers(self.width, self.heads)(x.astype(jnp.bfloat16), None)
        x = nn.LayerNorm(dtype=jnp.bfloat16)(x).mean(axis=1)
        return nn.Dense(self.classes)(x)


@program("v5e:4x2", data=8)
def pooled_vit():
    """ViT-L/14 of Linen, its layers scanned and made again; smoothed labels, data parallel."""
    model = Vit()
    batch = {"image": array(256, 224, 224, 3), "label": array(256, dtype="int32")}
    params = jax.eval_shape(
        lambda k, x: model.init(k, x), jax.random.key(0), batch["image"]
    )

    def loss(params, batch):
        logits = model.apply(params, batch["image"].astype(jnp.bfloat16))
        labels = optax.smooth_labels(jax.nn.one_hot(batch["label"], 1000), 0.1)
        return optax.softmax_cross_entropy(logits.astype(jnp.float32), labels).mean()

    of_batch = jax.tree.map(lambda _: P("data"), batch)
    opt = optax.adamw(1e-3, weight_decay=0.05)
    return trained(loss, opt, params, replicated(params), batch, of_batch)


@program("v4:2x2x2", data=8)
def plain_resnet():
    """ResNet-101 in plain JAX: batch norms over all devices, bf16 features, SGD with momentum."""
    stages = ((3, 64, 256), (4, 128, 512), (23, 256, 1024), (3, 512, 2048))

    def convolution(size, given, out):
        return {
            "w": array(size, size, given, out),
            "scale": array(out),
            "bias": array(out),
        }

    params, given = {"stem": convolution(7, 3, 64), "blocks": []}, 64
    for count, inner, out in stages:
        for at in range(count):
            block = {
                "a": convolution(1, given, inner),
                "b": convolution(3, inner, inner),
                "c": convolution(1, inner, out),
            }
            if at == 0:
                block["skip"] = convolution(1, given, out)
            params["blocks"].append(block)
            given = out
    params["head"] = {"w": array(2048, 1000), "b": array(1000)}

    def convolve(x, w, stride=1):
        x = jax.lax.conv_general_dilated(
            x,
            w["w"].astype(x.dtype),
            (stride, stride),
            "SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        y = x.astype(jnp.float32)
        mean = y.mean((0, 1, 2))
        var = jnp.square(y).mean((0, 1, 2)) - jnp.square(mean)
        y = (y - mean) * jax.lax.rsqrt(var + 1e-5) * w["scale"] + w["bias"]
        return y.astype(x.dtype)

    def loss(params, batch):
        x = batch["image"].astype(jnp.bfloat16)
        x = jax.nn.relu(convolve(x, params["stem"], 2))
        x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
        blocks = iter(params["blocks"])
        for stage, (count, _, _) in enumerate(stages):
            for at in range(count):
                w, stride = next(blocks), 2 if at == 0 and stage else 1
                h = jax.nn.relu(convolve(x, w["a"]))
                h = jax.nn.relu(convolve(h, w["b"], stride))
                h = convolve(h, w["c"])
                skip = convolve(x, w["skip"], stride) if "skip" in w else x
                x = jax.nn.relu(h + skip)
        x = x.mean((1, 2)).astype(jnp.float32)
        logits = x @ params["head"]["w"] + params["head"]["b"]
        each = optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"])
        return each.mean()

    batch = {"image": array(512, 224, 224, 3), "label": array(512, dtype="int32")}
    of_batch = jax.tree.map(lambda _: P("data"), batch)
    opt = optax.sgd(0.1, momentum=0.9, nesterov=True)
    return trained(loss, opt, params, replicated(params), batch, of_batch)


class Residual(nn.Module):
    out: int

    @nn.compact
    def __call__(self, x, time):
        conv = functools.partial(nn.Conv, dtype=jnp.bfloat16)
        h = conv(self.out, (3, 3))(nn.silu(nn.GroupNorm(32, dtype=jnp.bfloat16)(x)))
        h = h + nn.Dense(self.out, dtype=jnp.bfloat16)(nn.silu(time))[:, None, None]
        h = conv(self.out, (3, 3))(nn.silu(nn.GroupNorm(32, dtype=jnp.bfloat16)(h)))
        if x.shape[-1] != self.out:
            x = conv(self.out, (1, 1))(x)
        return x + h


class SpatialAttention(nn.Module):
    @nn.compact
    def __call__(self, x):
        b, height, width, d = x.shape
        h = nn.GroupNorm(32, dtype=jnp.bfloat16)(x).reshape(b, -1, d)
        h = nn.SelfAttention(8, dtype=jnp.bfloat16)(h)
        return x + h.reshape(b, height, width, d)


class Unet(nn.Module):
    width: int = 128
    factors: tuple = (1, 2, 4)

    @nn.compact
    def __call__(self, x, time):
        half = jnp.exp(-jnp.arange(64) * (jnp.log(10_000.0) / 63))
        angle = time[:, None] * half
        t = jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1).astype(jnp.bfloat16)
        t = nn.silu(nn.Dense(512, dtype=jnp.bfloat16)(t))
        x = nn.Conv(self.width, (3, 3), dtype=jnp.bfloat16)(x)
        kept = [x]
        for at, factor in enumerate(self.factors):
            for _ in range(2):
                x = Residual(self.width * factor)(x, t)
                if at == 2:
                    x = SpatialAttention()(x)
                kept.append(x)
            if at < 2:
                x = nn.Conv(x.shape[-1], (3, 3), (2, 2), dtype=jnp.bfloat16)(x)
                kept.append(x)
        x = Residual(x.shape[-1])(SpatialAttention()(Residual(x.shape[-1])(x, t)), t)
        for at, factor in reversed(list(enumerate(self.factors))):
            for _ in range(3):
                x = jnp.concatenate([x, kept.pop()], axis=-1)
                x = Residual(self.width * factor)(x, t)
            if at:
                b, height, width, d = x.shape
                x = jax.image.resize(x, (b, 2 * height, 2 * width, d), "nearest")
                x = nn.Conv(d, (3, 3), dtype=jnp.bfloat16)(x)
        x = nn.silu(nn.GroupNorm(32, dtype=jnp.bfloat16)(x))
        return nn.Conv(3, (3, 3))(x)


@program("v6e:2x2", data=4)
def averaged_denoiser():
    """A U-Net of Linen that says the noise of images of 64 x 64, and an average of its weights."""
    model = Unet()
    image, time = array(128, 64, 64, 3), array(128)
    params = jax.eval_shape(
        lambda k, x, t: model.init(k, x.astype(jnp.bfloat16), t),
        *(jax.random.key(0), image, time),
    )
    opt = optax.adam(2e-4)

    def loss(params, image, noise, time):
        level = jnp.cos(time * jnp.pi / 2)[:, None, None, None]
        noisy = level * image + jnp.sqrt(1 - level**2) * noise
        said = model.apply(params, noisy.astype(jnp.bfloat16), time)
        return jnp.mean(jnp.square(said.astype(jnp.float32) - noise))

    def train_step(params, average, state, batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        updates, state = opt.update(grads, state, params)
        params = optax.apply_updates(params, updates)
        average = jax.tree.map(lambda a, p: 0.9999 * a + 1e-4 * p, average, params)
        return params, average, state, value

    whole = replicated(params)
    state, of_state = state_specs(opt, params, whole)
    return (
        train_step,
        (params, params, state, (image, image, time)),
        (whole, whole, of_state, (P("data"),) * 3),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:4x2", data=8)
def recurrent_words():
    """Three layers of LSTM by a scan over 256 words, a head of 33,000; clipped SGD, f32."""
    vocab, d, b, t = 33_280, 1536, 256, 256
    params = {
        "embed": array(vocab, d),
        "layers": [
            {"x": array(d, 4 * d), "h": array(d, 4 * d), "b": array(4 * d)}
            for _ in range(3)
        ],
        "head": array(d, vocab),
        "bias": array(vocab),
    }

    def cell(w, carried, x):
        h, c = carried
        gates = x + h @ w["h"]
        i, f, g, o = jnp.split(gates, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def loss(params, tokens):
        x = params["embed"][tokens[:, :-1]]
        zero = jnp.zeros((x.shape[0], d))
        x = jnp.moveaxis(x, 1, 0)
        for w in params["layers"]:
            x = x @ w["x"] + w["b"]
            _, x = jax.lax.scan(functools.partial(cell, w), (zero, zero), x)
        logits = x @ params["head"] + params["bias"]
        labels = jnp.moveaxis(tokens[:, 1:], 1, 0)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    tokens = array(b, t + 1, dtype="int32")
    opt = optax.chain(optax.clip_by_global_norm(0.25), optax.sgd(1.0))
    return trained(loss, opt, params, replicated(params), tokens, P("data"))


@program("v5p:2x2x2", devices=8)
def crossed_tables():
    """A recommender: 26 tables among the devices by rows, products of their pairs; Adagrad."""
    rows = (1_000_000,) * 6 + (200_000,) * 10 + (10_000,) * 10
    d, b = 64, 32_768
    params = {
        "tables": [array(r, d) for r in rows],
        "bottom": [array(13, 512), array(512, 256), array(256, d)],
        "top": [array(d + 27 * 26 // 2, 1024), array(1024, 512), array(512, 1)],
    }
    split = {
        "tables": [P("devices") for _ in rows],
        "bottom": [P()] * 3,
        "top": [P()] * 3,
    }

    def mlp(x, ws):
        for w in ws[:-1]:
            x = jax.nn.relu(x @ w)
        return x @ ws[-1]

    def loss(params, batch):
        dense = jax.nn.relu(mlp(jnp.log1p(batch["dense"]), params["bottom"]))
        looked = [
            jnp.take(table, batch["ids"][:, at], axis=0)
            for at, table in enumerate(params["tables"])
        ]
        x = hold(jnp.stack([dense, *looked], axis=1), P("devices"))
        pairs = jnp.einsum("bid,bjd->bij", x, x)
        i, j = jnp.triu_indices(27, k=1)
        x = jnp.concatenate([dense, pairs[:, i, j]], axis=-1)
        said = mlp(x, params["top"])[:, 0]
        return optax.sigmoid_binary_cross_entropy(said, batch["clicked"]).mean()

    batch = {
        "dense": array(b, 13),
        "ids": array(b, 26, dtype="int32"),
        "clicked": array(b),
    }
    of_batch = jax.tree.map(lambda _: P("devices"), batch)
    return trained(loss, optax.adagrad(0.01), params, split, batch, of_batch)


@program("v6e:2x4", edges=8)
def messages_of_edges():
    """Six layers of a network of a mesh's nodes, whose edges are split; sums by segments."""
    nodes, edges, d = 40_960, 327_680, 256

    def perceptron(given):
        return {
            **{"up": array(given, d), "up_b": array(d)},
            **{"down": array(d, d), "down_b": array(d)},
            "norm": {"scale": array(d), "bias": array(d)},
        }

    params = {
        **{"node": perceptron(32), "edge": perceptron(8)},
        "layers": [{"edge": perceptron(3 * d), "node": perceptron(2 * d)}] * 6,
        "out": array(d, 3),
    }

    def apply(w, x):
        w16 = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
        h = jax.nn.silu(x @ w16["up"] + w16["up_b"]) @ w16["down"] + w16["down_b"]
        return layer_norm(h, w["norm"])

    def loss(params, batch):
        x = apply(params["node"], batch["node"].astype(jnp.bfloat16))
        e = apply(params["edge"], batch["edge"].astype(jnp.bfloat16))
        e = hold(e, P("edges"))

        def layer(x, e, w):
            ends = jnp.concatenate([e, x[batch["from"]], x[batch["to"]]], axis=-1)
            e = e + apply(w["edge"], ends)
            got = jax.ops.segment_sum(e, batch["to"], num_segments=nodes)
            x = x + apply(w["node"], jnp.concatenate([x, got], axis=-1))
            return x, hold(e, P("edges"))

        for w in params["layers"]:
            x, e = jax.checkpoint(layer)(x, e, w)
        said = x.astype(jnp.float32) @ params["out"]
        return jnp.mean(jnp.square(said - batch["target"]))

    batch = {
        **{"node": array(nodes, 32), "edge": array(edges, 8)},
        **{"from": array(edges, dtype="int32"), "to": array(edges, dtype="int32")},
        "target": array(nodes, 3),
    }
    of_batch = {
        **{"node": P(), "edge": P("edges"), "from": P("edges"), "to": P("edges")},
        "target": P(),
    }
    opt = optax.adamw(1e-3)
    return trained(loss, opt, params, replicated(params), batch, of_batch)


@program("v5p:2x2x2", stage=4, data=2)
def staged_mlps():
    """Four stages of six layers that send microbatches on by `ppermute`, in `shard_map`."""
    stages, per_stage, d, ff, micro, count = 4, 6, 2048, 8192, 4096, 8
    params = {
        "up": array(stages, per_stage, d, ff),
        "down": array(stages, per_stage, ff, d),
        "norm": array(stages, per_stage, d),
    }

    def stage_of(w, x):
        def layer(x, w):
            y = x.astype(jnp.float32)
            y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6)
            h = (y * w["norm"]).astype(x.dtype) @ w["up"].astype(x.dtype)
            return x + jax.nn.gelu(h) @ w["down"].astype(x.dtype), None

        return jax.lax.scan(jax.checkpoint(layer), x, w)[0]

    @functools.partial(
        jax.shard_map,
        in_specs=(P("stage"), P(None, "data")),
        out_specs=P(None, "data"),
        check_vma=False,
    )
    def pipeline(params, xs):
        w = jax.tree.map(lambda a: a[0], params)
        at = jax.lax.axis_index("stage")

        def turn(carried, i):
            x, out = carried
            x = jnp.where(at == 0, xs[jnp.minimum(i, count - 1)], x)
            x = stage_of(w, x)
            place = jnp.maximum(i - stages + 1, 0)
            out = out.at[place].set(jnp.where(at == stages - 1, x, out[place]))
            x = jax.lax.ppermute(x, "stage", [(s, s + 1) for s in range(stages - 1)])
            return (x, out), None

        zero = jnp.zeros_like(xs[0]), jnp.zeros_like(xs)
        (_, out), _ = jax.lax.scan(turn, zero, jnp.arange(count + stages - 1))
        return jax.lax.psum(jnp.where(at == stages - 1, out, 0), "stage")

    def loss(params, batch):
        said = pipeline(params, batch["x"])
        return jnp.mean(jnp.square((said - batch["y"]).astype(jnp.float32)))

    batch = {n: array(count, micro, d, dtype="bfloat16") for n in "xy"}
    of_batch = jax.tree.map(lambda _: P(None, "data"), batch)
    split = jax.tree.map(lambda _: P("stage"), params)
    return trained(loss, optax.adam(1e-4), params, split, batch, of_batch)


@program("v5p:2x2x4", fsdp=16)
def paired_towers():
    """Images and captions in two scanned towers, all pairs of the batch compared; fully sharded."""

    def tower(depth, d):
        def of(*s):
            return array(depth, *s)

        return {
            **{"qkv": of(d, 3 * d), "out": of(d, d)},
            **{"up": of(d, 4 * d), "down": of(4 * d, d)},
            **{n: {"scale": of(d), "bias": of(d)} for n in ("n1", "n2")},
        }

    wide, narrow, both = 1280, 768, 768
    params = {
        "image": {"patch": array(14 * 14 * 3, wide), "tower": tower(32, wide)},
        "text": {"embed": array(49_408, narrow), "tower": tower(12, narrow)},
        "image_out": array(wide, both),
        "text_out": array(narrow, both),
        "scale": array(),
    }

    def run(x, layers, heads):
        def layer(x, w):
            norms = w.pop("n1"), w.pop("n2")
            w = jax.tree.map(lambda a: a.astype(x.dtype), w)
            q, k, v = jnp.split(layer_norm(x, norms[0]) @ w["qkv"], 3, axis=-1)
            shape = (*x.shape[:2], heads, -1)
            h = attend(q.reshape(shape), k.reshape(shape), v.reshape(shape))
            x = x + h.reshape(x.shape) @ w["out"]
            h = jax.nn.gelu(layer_norm(x, norms[1]) @ w["up"]) @ w["down"]
            return hold(x + h, P("fsdp")), None

        return jax.lax.scan(jax.checkpoint(layer), x, layers)[0]

    def unit(x):
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def loss(params, batch):
        images = batch["image"].astype(jnp.bfloat16)
        b = images.shape[0]
        x = images.reshape(b, 16, 14, 16, 14, 3).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(b, 256, -1) @ params["image"]["patch"].astype(jnp.bfloat16)
        x = run(hold(x, P("fsdp")), params["image"]["tower"], 16).mean(1)
        t = params["text"]["embed"].astype(jnp.bfloat16)[batch["text"]]
        t = run(hold(t, P("fsdp")), params["text"]["tower"], 12)[:, -1]
        x = unit(x.astype(jnp.float32) @ params["image_out"])
        t = unit(t.astype(jnp.float32) @ params["text_out"])
        alike = jnp.exp(params["scale"]) * x @ t.T
        labels = jnp.arange(b)
        each = optax.softmax_cross_entropy_with_integer_labels
        return (each(alike, labels).mean() + each(alike.T, labels).mean()) / 2

    batch = {
        "image": array(1024, 224, 224, 3),
        "text": array(1024, 77, dtype="int32"),
    }
    of_batch = jax.tree.map(lambda _: P("fsdp"), batch)
    split = specs(params, "fsdp")
    return trained(loss, optax.adamw(5e-4), params, split, batch, of_batch)
