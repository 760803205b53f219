"""Vision transformers, and an MLP-Mixer."""
# pyright: basic

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import (
    attend,
    bf16,
    in_bf16,
    normed,
    rms_norm,
    token_loss,
)
from tpu.programs.steps import (
    adam,
    array,
    clipped,
    momentum,
    program,
    replicated,
    rows_of,
    shape,
    specs,
    split_rows,
    trained,
)


@program("v5e:2x2", data=4)
def vit_train():
    width, heads, hidden, layers = 1024, 16, 4096, 6

    def norm(x, scale):
        y = x.astype(jnp.float32)
        mean = jnp.mean(y, -1, keepdims=True)
        var = jnp.mean((y - mean) ** 2, -1, keepdims=True)
        return ((y - mean) * jax.lax.rsqrt(var + 1e-6) * scale).astype(x.dtype)

    def loss(params, images, labels):
        x = jax.lax.conv_general_dilated(
            *(images, params["patch"], (16, 16), "VALID"),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        x = x.reshape(x.shape[0], -1, width)
        for w in params["layers"]:
            h = norm(x, w["n1"])
            q, k, v = (jnp.einsum("bsd,dhk->bhsk", h, w[n]) for n in "qkv")
            s = jnp.einsum("bhqk,bhsk->bhqs", q, k) * (width // heads) ** -0.5
            p = jax.nn.softmax(s, -1)
            o = jnp.einsum("bhqs,bhsk->bhqk", p, v)
            x = x + jnp.einsum("bhqk,hkd->bqd", o, w["o"])
            x = x + jax.nn.gelu(norm(x, w["n2"]) @ w["up"]) @ w["down"]
        logits = (jnp.mean(x, 1) @ params["head"]).astype(jnp.float32)
        logp = jax.nn.log_softmax(logits)
        return -jnp.mean(jnp.take_along_axis(logp, labels[:, None], 1))

    head = width // heads
    layer = {n: shape(width, heads, head) for n in "qkv"}
    layer |= {"o": shape(heads, head, width), "n1": shape(width), "n2": shape(width)}
    layer |= {"up": shape(width, hidden), "down": shape(hidden, width)}
    params = {
        "patch": shape(16, 16, 3, width),
        "layers": [layer] * layers,
        "head": shape(width, 1000),
    }
    spec = jax.tree.map(lambda _: P(), params)
    images, labels = shape(256, 224, 224, 3), shape(256, dtype="int32")
    return (
        momentum(loss),
        (params, params, images, labels),
        (spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x4", fsdp=8)
def vit_fsdp():
    width, heads, hidden, layers = 1280, 16, 5120, 16

    def norm(x, w):
        y = x.astype(jnp.float32)
        y = (y - jnp.mean(y, -1, keepdims=True)) * jax.lax.rsqrt(
            jnp.var(y, -1, keepdims=True) + 1e-6
        )
        return (y * w).astype(x.dtype)

    @jax.checkpoint
    def layer(x, w):
        w = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
        h = norm(x, w["n1"])
        q, k, v = jnp.split(h @ w["qkv"], 3, -1)
        q, k, v = (
            a.reshape(*a.shape[:2], heads, -1).transpose(0, 2, 1, 3) for a in (q, k, v)
        )
        s = (q @ k.swapaxes(-1, -2)).astype(jnp.float32) * (width // heads) ** -0.5
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        o = (p @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + o @ w["o"]
        return x + jax.nn.gelu(norm(x, w["n2"]) @ w["up"]) @ w["down"], None

    def loss(params, images, labels):
        b, size, _, c = images.shape
        n = size // 14
        x = images.reshape(b, n, 14, n, 14, c).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(b, n * n, -1) @ params["patch"].astype(jnp.bfloat16)
        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = jnp.mean(x, 1).astype(jnp.float32) @ params["head"]
        logp = jax.nn.log_softmax(logits)
        return -jnp.mean(jnp.take_along_axis(logp, labels[:, None], 1))

    def w(*sizes):
        return shape(layers, *sizes, dtype="float32")

    layers_of = {"qkv": w(width, 3 * width), "o": w(width, width), "n1": w(width)}
    layers_of |= {"up": w(width, hidden), "down": w(hidden, width), "n2": w(width)}
    params = {
        "patch": shape(588, width, dtype="float32"),
        "layers": layers_of,
        "head": shape(width, 1000, dtype="float32"),
    }
    spec = specs(params, "fsdp")
    return (
        adam(loss),
        (*[params] * 3, shape(256, 224, 224, 3), shape(256, dtype="int32")),
        (spec, spec, spec, P("fsdp"), P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


def vit_block(heads):
    def block(x, w):
        w = jax.tree.map(lambda p: p.astype(x.dtype), w)
        h = rms_norm(x, w["n1"])
        q, k, v = jnp.split(h @ w["qkv"], 3, -1)
        q, k, v = (a.reshape(*a.shape[:2], heads, -1) for a in (q, k, v))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        p = jax.nn.softmax(s.astype(jnp.float32), -1).astype(x.dtype)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v).reshape(x.shape)
        x = x + o @ w["o"]
        return x + jax.nn.gelu(rms_norm(x, w["n2"]) @ w["up"]) @ w["down"]

    return block


def vit_shapes(width, hidden, dtype="float32"):
    weights = {"n1": (width,), "n2": (width,), "qkv": (width, 3 * width)}
    weights |= {"o": (width, width), "up": (width, hidden), "down": (hidden, width)}
    return {n: shape(*sizes, dtype=dtype) for n, sizes in weights.items()}


def patches(images, size):
    b, side, _, c = images.shape
    n = side // size
    x = images.reshape(b, n, size, n, size, c).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(b, n * n, -1)


@program("v6e:2x4", data=8)
def vit_large():
    """ViT-L/16 on images of 256, its blocks one by one, nothing computed again."""
    block = vit_block(16)

    def loss(params, images, labels):
        x = patches(images, 16).astype(jnp.bfloat16) @ params["patch"].astype(
            "bfloat16"
        )
        x = x + params["place"].astype(x.dtype)
        for w in params["blocks"]:
            x = block(x, w)
        logits = jnp.mean(x, 1).astype(jnp.float32) @ params["head"]
        one_hot = jax.nn.one_hot(labels, 1000) * 0.9 + 0.1 / 1000
        return -jnp.mean(jnp.sum(one_hot * jax.nn.log_softmax(logits), -1))

    params = {"patch": shape(768, 1024, dtype="float32")}
    params |= {"place": shape(256, 1024, dtype="float32")}
    params |= {"blocks": [vit_shapes(1024, 4096)] * 24}
    params |= {"head": shape(1024, 1000, dtype="float32")}
    spec = replicated(params)
    images = shape(128, 256, 256, 3, dtype="float32")
    return (
        adam(loss),
        (*[params] * 3, images, shape(128, dtype="int32")),
        (spec, spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x4", data=8)
def plain_vit():
    """ViT-B/16 with layers in a list and nothing computed again, parameters whole, AdamW."""
    layers, width, heads, classes = 12, 768, 12, 1000
    f32 = partial(shape, dtype="float32")

    def layer_norm(x, p):
        y = x.astype(jnp.float32)
        y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(
            y.var(-1, keepdims=True) + 1e-6
        )
        return (y * p["scale"] + p["bias"]).astype(jnp.bfloat16)

    def dense(x, p):
        return x @ p["w"].astype(x.dtype) + p["b"].astype(x.dtype)

    def loss(params, batch):
        images = batch["images"].astype(jnp.bfloat16)
        n = images.shape[0]
        x = images.reshape(n, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5)
        x = dense(x.reshape(n, 196, 768), params["patches"])
        x = x + params["positions"].astype(x.dtype)
        for p in params["layers"]:
            qkv = dense(layer_norm(x, p["n1"]), p["qkv"])
            q, k, v = jnp.split(qkv.reshape(n, 196, heads, -1), 3, -1)
            o = attend(q, k, v, causal=False).reshape(n, 196, width)
            x = x + dense(o, p["out"])
            h = jax.nn.gelu(dense(layer_norm(x, p["n2"]), p["up"]))
            x = x + dense(h, p["down"])
        x = layer_norm(x, params["norm"]).mean(1)
        return token_loss(dense(x, params["head"]), batch["labels"])

    def linear(a, b):
        return {"w": f32(a, b), "b": f32(b)}

    norm = {"scale": f32(width), "bias": f32(width)}
    layer = {"n1": norm, "n2": norm, "qkv": linear(width, 3 * width)}
    layer |= {"out": linear(width, width), "up": linear(width, 4 * width)}
    layer |= {"down": linear(4 * width, width)}
    params = {"patches": linear(768, width), "positions": f32(196, width)}
    params |= {"layers": [layer] * layers, "norm": norm}
    params["head"] = linear(width, classes)
    spec = jax.tree.map(lambda _: P(), params)
    batch = {"images": f32(1024, 224, 224, 3), "labels": shape(1024, dtype="int32")}
    batch_spec = dict.fromkeys(batch, P("data"))
    return trained(loss, optax.adamw(1e-3), params, spec, batch, batch_spec)


@program("v5e:2x4", fsdp=8)
def scanned_vit():
    """ViT-L/14 in a scan with a checkpoint, parameters split, AdamW."""
    layers, width, heads, classes, images = 24, 1024, 16, 1000, 512
    f32 = partial(shape, dtype="float32")

    @jax.checkpoint
    def block(x, p):
        p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        h = normed(x, p["n1"])
        q, k, v = (
            (h @ p[n]).reshape(*x.shape[:2], heads, -1) for n in ("wq", "wk", "wv")
        )
        x = x + attend(q, k, v, causal=False).reshape(x.shape) @ p["wo"]
        x = x + jax.nn.gelu(normed(x, p["n2"]) @ p["up"] + p["b"]) @ p["down"]
        return jax.lax.with_sharding_constraint(x, P("fsdp")), None

    def loss(params, batch):
        x = batch["images"].astype(jnp.bfloat16).reshape(images, 16, 14, 16, 14, 3)
        x = x.transpose(0, 1, 3, 2, 4, 5).reshape(images, 256, 588)
        x = x @ params["patches"].astype(x.dtype) + params["places"].astype(x.dtype)
        x, _ = jax.lax.scan(block, x, params["layers"])
        x = normed(x, params["norm"]).mean(1)
        return token_loss(x @ params["head"].astype(x.dtype), batch["labels"])

    square = f32(layers, width, width)
    blocks = dict.fromkeys(("wq", "wk", "wv", "wo"), square)
    blocks |= {"up": f32(layers, width, 4 * width), "b": f32(layers, 4 * width)}
    blocks |= {"down": f32(layers, 4 * width, width)}
    blocks |= dict.fromkeys(("n1", "n2"), f32(layers, width))
    split = {
        n: P(None, "fsdp") if len(s.shape) == 3 else P() for n, s in blocks.items()
    }
    params = {"patches": f32(588, width), "places": f32(256, width), "layers": blocks}
    params |= {"norm": f32(width), "head": f32(width, classes)}
    spec = jax.tree.map(lambda _: P(), params) | {"layers": split}
    batch = {"images": f32(images, 224, 224, 3), "labels": shape(images, dtype="int32")}
    batch_spec = dict.fromkeys(batch, P("fsdp"))
    return trained(loss, optax.adamw(1e-3), params, spec, batch, batch_spec)


@program("v5e:2x4", data=8)
def listed_vit():
    """ViT-B/16 with dropout, layers in Python, parameters whole, AdamW."""
    layers, width, heads, images = 12, 768, 12, 512
    f32 = partial(shape, dtype="float32")

    def dropped(x, key):
        return jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0)

    @jax.checkpoint
    def block(x, p, key):
        first, second = jax.random.split(key)
        p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        h = normed(x, p["n1"]) @ p["qkv"]
        q, k, v = (y.reshape(*x.shape[:2], heads, -1) for y in jnp.split(h, 3, axis=-1))
        h = attend(q, k, v, causal=False).reshape(x.shape) @ p["out"]
        x = x + dropped(h, first).astype(x.dtype)
        h = jax.nn.gelu(normed(x, p["n2"]) @ p["up"] + p["b"]) @ p["down"]
        return x + dropped(h, second).astype(x.dtype)

    def loss(params, batch):
        x = batch["images"].astype(jnp.bfloat16).reshape(images, 14, 16, 14, 16, 3)
        x = x.transpose(0, 1, 3, 2, 4, 5).reshape(images, 196, 768)
        x = x @ params["patches"].astype(x.dtype) + params["places"].astype(x.dtype)
        keys = jax.random.split(jax.random.wrap_key_data(batch["key"]), layers)
        for p, key in zip(params["layers"], keys, strict=True):
            x = block(x, p, key)
        x = normed(x, params["norm"]).mean(1)
        return token_loss(x @ params["head"].astype(x.dtype), batch["labels"])

    layer = {"qkv": f32(width, 3 * width), "out": f32(width, width)}
    layer |= {"up": f32(width, 4 * width), "down": f32(4 * width, width)}
    layer |= {"b": f32(4 * width), "n1": f32(width), "n2": f32(width)}
    params = {"patches": f32(768, width), "places": f32(196, width)}
    params |= {"layers": [layer] * layers, "norm": f32(width), "head": f32(width, 1000)}
    spec = jax.tree.map(lambda _: P(), params)
    batch = {"images": f32(images, 224, 224, 3), "labels": shape(images, dtype="int32")}
    batch_spec = dict.fromkeys(batch, P("data")) | {"key": P()}
    batch["key"] = shape(2, dtype="uint32")
    return trained(loss, optax.adamw(1e-3), params, spec, batch, batch_spec)


@program("v5e:4x4", fsdp=16)
def scanned_vit_l():
    """ViT-L in a scan with a checkpoint, weights cast at the start, AdamW and clipping."""
    layers, width, heads, patches, batch = 24, 1024, 16, 256, 512
    f32 = partial(shape, dtype="float32")

    @jax.checkpoint
    def block(x, p):
        b, t, d = x.shape
        h = normed(x, p["n1"])
        q, k, v = (
            a.reshape(b, t, heads, d // heads) for a in jnp.split(h @ p["qkv"], 3, -1)
        )
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (d // heads) ** -0.5
        weights = jax.nn.softmax(scores.astype(jnp.float32), -1).astype(x.dtype)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(b, t, d) @ p["o"]
        x = x + jax.nn.gelu(normed(x, p["n2"]) @ p["u"]) @ p["d"]
        return jax.lax.with_sharding_constraint(x, P("fsdp")), None

    def loss(params, batch):
        params = in_bf16(params)
        x = batch["images"].astype(jnp.bfloat16) @ params["patch"] + params["place"]
        x, _ = jax.lax.scan(block, x, params["layers"])
        logits = normed(x, params["norm"]).mean(1) @ params["head"]
        logits = logits.astype(jnp.float32)
        return optax.softmax_cross_entropy_with_integer_labels(
            logits, batch["labels"]
        ).mean()

    sizes = {"qkv": (width, 3 * width), "o": (width, width), "u": (width, 4 * width)}
    sizes |= {"d": (4 * width, width), "n1": (width,), "n2": (width,)}
    stacked = {n: f32(layers, *s) for n, s in sizes.items()}
    split = {n: P(None, "fsdp") if len(s) == 2 else P() for n, s in sizes.items()}
    params = {
        "patch": f32(768, width),
        "place": f32(patches, width),
        "norm": f32(width),
    }
    params |= {"head": f32(width, 1000), "layers": stacked}
    specs = {"patch": P(), "place": P(), "norm": P(), "head": P(), "layers": split}
    data = {"images": f32(batch, patches, 768), "labels": shape(batch, dtype="int32")}
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    return trained(loss, optimizer, params, specs, data, dict.fromkeys(data, P("fsdp")))


@program("v5e:2x4", fsdp=8)
def mixer():
    """MLP-Mixer L/16 with layers in Python, weights in bf16 for products, no constraint."""
    layers, patches, width, classes, rows = 24, 196, 1024, 1000, 256
    f32 = partial(shape, dtype="float32")

    def block(x, p):
        p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        h = normed(x, p["n1"]).swapaxes(1, 2)
        x = x + (jax.nn.gelu(h @ p["t1"]) @ p["t2"]).swapaxes(1, 2)
        return x + jax.nn.gelu(normed(x, p["n2"]) @ p["c1"]) @ p["c2"]

    def loss(params, batch):
        x = batch["images"].astype(jnp.bfloat16)
        x = x.reshape(rows, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(rows, patches, 768) @ params["stem"].astype(x.dtype)
        for p in params["layers"]:
            x = block(x, p)
        x = normed(x, params["norm"]).mean(1)
        return token_loss(x @ params["head"].astype(x.dtype), batch["labels"])

    layer = {"t1": f32(patches, 512), "t2": f32(512, patches)}
    layer |= {"c1": f32(width, 4096), "c2": f32(4096, width)}
    layer |= {"n1": f32(width), "n2": f32(width)}
    params = {"stem": f32(768, width), "layers": [layer] * layers}
    params |= {"norm": f32(width), "head": f32(width, classes)}
    batch = {"images": f32(rows, 224, 224, 3), "labels": shape(rows, dtype="int32")}
    return trained(
        *(loss, clipped(1e-3), params, split_rows(params, "fsdp")),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )


@program("v6e:4x4", data=4, tensor=4)
def tensor_vit():
    """ViT-H/14 with layers in Python and a tensor axis, no checkpoint, weights held by each of four."""
    layers, width, heads, patches, classes, rows = 16, 1280, 16, 256, 1000, 128
    f32 = partial(shape, dtype="float32")

    def block(x, p):
        p = in_bf16(p)
        b, t, d = x.shape
        h = normed(x, p["n1"])
        q, k, v = ((h @ p[n]).reshape(b, t, heads, -1) for n in "qkv")
        x = x + attend(q, k, v, causal=False).reshape(b, t, d) @ p["o"]
        x = x + jax.nn.gelu(normed(x, p["n2"]) @ p["up"]) @ p["down"]
        return jax.lax.with_sharding_constraint(x, P("data"))

    def loss(params, batch):
        x = batch["patches"].astype(jnp.bfloat16) @ params["stem"].astype(jnp.bfloat16)
        x = x + params["places"].astype(x.dtype)
        for p in params["layers"]:
            x = block(x, p)
        x = normed(x, params["norm"]).mean(1)
        return token_loss(x @ params["head"].astype(x.dtype), batch["labels"])

    layer = dict.fromkeys("qkvo", f32(width, width))
    layer |= {"up": f32(width, 4 * width), "down": f32(4 * width, width)}
    layer |= {"n1": f32(width), "n2": f32(width)}
    split = dict.fromkeys(("q", "k", "v", "up"), P(None, "tensor"))
    split |= dict.fromkeys(("o", "down"), P("tensor")) | {"n1": P(), "n2": P()}
    params = {"stem": f32(588, width), "places": f32(patches, width)}
    params |= {"layers": [layer] * layers, "norm": f32(width)}
    params["head"] = f32(width, classes)
    spec = {"stem": P(), "places": P(), "layers": [split] * layers, "norm": P()}
    spec["head"] = P()
    batch = {"patches": f32(rows, patches, 588), "labels": shape(rows, dtype="int32")}
    return trained(
        loss, clipped(1e-3), params, spec, batch, dict.fromkeys(batch, P("data"))
    )


class VitLayer(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        y = nn.LayerNorm(dtype=bf16)(x)
        x = x + nn.MultiHeadDotProductAttention(16, dtype=bf16)(y, y)
        y = nn.Dense(4096, dtype=bf16)(nn.LayerNorm(dtype=bf16)(x))
        return x + nn.Dense(1024, dtype=bf16)(nn.gelu(y)), None


class Vit(nn.Module):
    @nn.compact
    def __call__(self, images):
        x = nn.Conv(1024, (14, 14), (14, 14), dtype=bf16)(images)
        x = x.reshape(x.shape[0], -1, 1024)
        x = x + self.param("places", nn.initializers.normal(), (1, 256, 1024))
        layer = nn.scan(
            nn.remat(VitLayer, prevent_cse=False),
            variable_axes={"params": 0},
            split_rngs={"params": True},
            length=24,
        )
        x, _ = layer()(x.astype(bf16), None)
        return nn.Dense(1000, dtype=bf16)(nn.LayerNorm(dtype=bf16)(x).mean(1))


@program("v5e:4x4", fsdp=16)
def linen_vit():
    """ViT-L of linen in a scan with checkpoints, its weights split, Adafactor, nothing held."""
    images = array(1024, 224, 224, 3, dtype="bfloat16")
    model = Vit()
    params = jax.eval_shape(model.init, jax.random.key(0), images)["params"]

    def loss(params, batch):
        return token_loss(model.apply({"params": params}, batch["x"]), batch["y"])

    batch = {"x": images, "y": array(1024, dtype="int32")}
    return trained(
        *(loss, optax.adafactor(1e-3), params, rows_of(params, "fsdp")),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )
