"""Convolutions: ResNet, ConvNeXt, in 3D."""
# pyright: basic

from functools import partial
from itertools import pairwise

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import (
    batch_norm,
    bf16,
    conv,
    cross_entropy,
    group_norm,
    mean_negative,
    token_loss,
)
from tpu.programs.steps import (
    array,
    decayed_adamw,
    momentum,
    program,
    replicated,
    sgd,
    shape,
    trained,
)


@program("v5e:2x2", data=4)
def conv_forward():
    def f(x, k1, k2, k3):
        for k in (k1, k2, k3):
            x = jax.lax.conv_general_dilated(
                x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jnp.maximum(x, 0)
        return jnp.mean(x, (1, 2))

    return (
        f,
        (
            shape(128, 128, 128, 128),
            shape(3, 3, 128, 256),
            shape(3, 3, 256, 256),
            shape(3, 3, 256, 256),
        ),
        (P("data"), P(), P(), P()),
        {},
    )


@program("v5p:2x2x1", data=4)
def conv_train():
    def loss(params, x):
        for k in params:
            x = jax.lax.conv_general_dilated(
                x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            mean = jnp.mean(x.astype(jnp.float32), (0, 1, 2))
            x = jnp.maximum(x - mean.astype(x.dtype), 0)
        return jnp.mean(x.astype(jnp.float32))

    params = [shape(3, 3, 128, 128)] * 6
    return (
        sgd(loss),
        (params, shape(64, 128, 128, 128)),
        ([P()] * 6, P("data")),
        {"donate_argnums": 0},
    )


@program("v5e:2x4", data=8)
def resnet_train():
    stages = [(256, 64, 3, 1), (512, 128, 4, 2), (1024, 256, 6, 2), (2048, 512, 3, 2)]

    def block(x, w, stride):
        h = jax.nn.relu(batch_norm(conv(x, w["a"]), w["na"]))
        h = jax.nn.relu(batch_norm(conv(h, w["b"], stride), w["nb"]))
        h = batch_norm(conv(h, w["c"]), w["nc"])
        x = conv(x, w["skip"], stride) if "skip" in w else x
        return jax.nn.relu(x + h)

    def loss(params, images, labels):
        x = jax.nn.relu(batch_norm(conv(images, params["stem"], 2), params["nstem"]))
        x = jax.lax.reduce_window(
            *(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        )
        for blocks, (*_, stride) in zip(params["stages"], stages, strict=True):
            for at, w in enumerate(blocks):
                x = block(x, w, 1 if at else stride)
        return cross_entropy((jnp.mean(x, (1, 2)) @ params["head"]), labels)

    built, width = [], 64
    for out, inner, count, _ in stages:
        built.append([])
        for at in range(count):
            w = {"a": shape(1, 1, width, inner), "b": shape(3, 3, inner, inner)}
            w |= {"c": shape(1, 1, inner, out), "na": shape(inner)}
            w |= {"nb": shape(inner), "nc": shape(out)}
            if not at:
                w["skip"] = shape(1, 1, width, out)
            built[-1].append(w)
            width = out
    params = {"stem": shape(7, 7, 3, 64), "nstem": shape(64), "stages": built}
    params["head"] = shape(2048, 1000)
    spec = replicated(params)
    return (
        momentum(loss),
        (params, params, shape(512, 224, 224, 3), shape(512, dtype="int32")),
        (spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x1", data=4)
def resnet_small():
    widths = [128, 256, 512]

    def block(x, w, stride):
        h = jax.nn.relu(batch_norm(conv(x, w["a"], stride), w["na"]))
        h = batch_norm(conv(h, w["b"]), w["nb"])
        return jax.nn.relu(h + (conv(x, w["skip"], stride) if "skip" in w else x))

    def loss(params, images, labels):
        x = jax.nn.relu(batch_norm(conv(images, params["stem"]), params["n"]))
        for at, w in enumerate(params["blocks"]):
            x = block(x, w, 2 if "skip" in w and at else 1)
        return cross_entropy(jnp.mean(x, (1, 2)) @ params["head"], labels)

    blocks, width = [], widths[0]
    for out in widths:
        for _ in range(2):
            w = {"a": shape(3, 3, width, out), "b": shape(3, 3, out, out)}
            w |= {"na": shape(out), "nb": shape(out)}
            if width != out:
                w["skip"] = shape(1, 1, width, out)
            blocks.append(w)
            width = out
    params = {"stem": shape(3, 3, 3, widths[0]), "n": shape(widths[0])}
    params |= {"blocks": blocks, "head": shape(width, 1000)}
    spec = replicated(params)
    return (
        momentum(loss),
        (params, params, shape(1024, 64, 64, 3), shape(1024, dtype="int32")),
        (spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x1", data=4)
def volumes():
    widths, classes = (32, 64, 128, 256), 4

    def conv3(x, w, stride=1):
        return jax.lax.conv_general_dilated(
            *(x, w, (stride,) * 3, "SAME"),
            dimension_numbers=("NDHWC", "DHWIO", "NDHWC"),
        )

    def norm(x, scale):
        y = x.astype(jnp.float32)
        mean = jnp.mean(y, (1, 2, 3), keepdims=True)
        var = jnp.var(y, (1, 2, 3), keepdims=True)
        return ((y - mean) * jax.lax.rsqrt(var + 1e-5) * scale).astype(x.dtype)

    def block(x, w):
        x = jax.nn.relu(norm(conv3(x, w["c1"]), w["n1"]))
        return jax.nn.relu(norm(conv3(x, w["c2"]), w["n2"]))

    def loss(params, x, labels):
        kept = []
        for w in params["down"]:
            x = block(x, w)
            kept.append(x)
            x = conv3(x, w["next"], 2)
        x = block(x, params["middle"])
        for w, skip in zip(params["up"], kept[::-1], strict=True):
            for axis in (1, 2, 3):
                x = jnp.repeat(x, 2, axis)
            x = block(jnp.concatenate([conv3(x, w["next"]), skip], -1), w)
        return cross_entropy(conv3(x, params["head"]), labels)

    def c(a, b, size=3):
        return shape(size, size, size, a, b)

    def of(a, b):
        return {"c1": c(a, b), "c2": c(b, b), "n1": shape(b), "n2": shape(b)}

    pairs = list(zip((4, *widths), widths, strict=False))
    down = [{**of(a, b), "next": c(b, b)} for a, b in pairs]
    up = [{**of(2 * b, b), "next": c(min(256, 2 * b), b)} for b in widths[::-1]]
    params = {"down": down, "middle": of(256, 256), "up": up, "head": c(32, classes, 1)}
    spec = replicated(params)
    return (
        momentum(loss),
        (params, params, shape(8, 96, 96, 96, 4), shape(8, 96, 96, 96, dtype="int32")),
        (spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x4", data=8)
def convolutions():
    """A residual network of 3 x 3 convolutions with group normalization, Adam."""
    f32 = partial(shape, dtype="float32")
    sizes = [(128, 3), (256, 4), (512, 6), (1024, 3)]

    def loss(params, batch):
        def apply(x, w, stride=1):
            return conv(x, w.astype(x.dtype), stride)

        x = apply(batch["images"].astype(jnp.bfloat16), params["stem"], 2)
        for stage in params["stages"]:
            x = apply(x, stage["down"], 2)
            for p in stage["blocks"]:
                h = jax.nn.relu(group_norm(apply(x, p["a"]), p["na"]))
                x = jax.nn.relu(x + group_norm(apply(h, p["b"]), p["nb"]))
        x = x.mean((1, 2))
        return token_loss(x @ params["head"].astype(x.dtype), batch["labels"])

    stages, before = [], 64
    for width, count in sizes:
        square = f32(3, 3, width, width)
        block = {"a": square, "b": square, "na": f32(width), "nb": f32(width)}
        down = f32(3, 3, before, width)
        stages.append({"down": down, "blocks": [block] * count})
        before = width
    params = {"stem": f32(7, 7, 3, 64), "stages": stages, "head": f32(before, 1000)}
    spec = jax.tree.map(lambda _: P(), params)
    batch = {"images": f32(512, 256, 256, 3), "labels": shape(512, dtype="int32")}
    batch_spec = dict.fromkeys(batch, P("data"))
    return trained(loss, optax.adam(1e-3), params, spec, batch, batch_spec)


@program("v5e:2x4", data=8)
def linen_resnet():
    """ResNet-50 of Flax Linen in bf16 with batch statistics and momentum, weights on every device."""
    conv = partial(nn.Conv, use_bias=False, dtype=jnp.bfloat16)
    norm = partial(nn.BatchNorm, use_running_average=False, dtype=jnp.bfloat16)

    class Block(nn.Module):
        width: int
        strides: int

        @nn.compact
        def __call__(self, x):
            y = nn.relu(norm()(conv(self.width, (1, 1))(x)))
            y = nn.relu(norm()(conv(self.width, (3, 3), strides=self.strides)(y)))
            y = norm()(conv(4 * self.width, (1, 1))(y))
            if x.shape != y.shape:
                x = norm()(conv(4 * self.width, (1, 1), strides=self.strides)(x))
            return nn.relu(x + y)

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(norm()(conv(64, (7, 7), strides=2)(x)))
            x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
            for stage, blocks in enumerate((3, 4, 6, 3)):
                for number in range(blocks):
                    strides = 2 if stage and not number else 1
                    x = Block(64 * 2**stage, strides)(x)
            return nn.Dense(1000, dtype=jnp.bfloat16)(x.mean((1, 2)))

    model, optimizer = Model(), optax.sgd(0.1, momentum=0.9, nesterov=True)

    def step(params, stats, state, batch):
        def loss(params):
            logits, changed = model.apply(
                {"params": params, "batch_stats": stats},
                batch["images"],
                mutable=["batch_stats"],
            )
            return token_loss(logits, batch["labels"]), changed["batch_stats"]

        (value, stats_), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), stats_, state, value

    rows = 2048
    images = jax.ShapeDtypeStruct((1, 224, 224, 3), jnp.bfloat16)
    variables = jax.eval_shape(model.init, jax.random.key(0), images)
    params, stats = variables["params"], variables["batch_stats"]
    state = jax.eval_shape(optimizer.init, params)
    whole = jax.tree.map(lambda _: P(), (params, stats, state))
    batch = {"images": shape(rows, 224, 224, 3, dtype="bfloat16")}
    batch["labels"] = shape(rows, dtype="int32")
    return (
        step,
        (params, stats, state, batch),
        (*whole, dict.fromkeys(batch, P("data"))),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v6e:2x4", data=8)
def convnext_b():
    """ConvNeXt-B in bf16 with AdamW, 128 images a device, weights on every device."""
    depths, widths, rows = (3, 3, 27, 3), (128, 256, 512, 1024), 1024
    f32 = partial(shape, dtype="float32")

    def scaled(x, scale):
        y = x.astype(jnp.float32)
        y = y - y.mean(-1, keepdims=True)
        y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6)
        return y.astype(x.dtype) * scale

    def conv(x, w, stride=1, groups=1):
        padding = "SAME" if stride == 1 else "VALID"
        return jax.lax.conv_general_dilated(
            *(x, w, (stride, stride), padding),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups,
        )

    def block(x, p):
        y = scaled(conv(x, p["deep"], groups=x.shape[-1]), p["norm"])
        return x + p["scale"] * (jax.nn.gelu(y @ p["up"]) @ p["down"])

    def loss(params, batch):
        params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
        x = conv(batch["images"], params["stem"], 4)
        for stage, blocks in enumerate(params["stages"]):
            if stage:
                first = params["halved"][stage - 1]
                x = conv(scaled(x, first["norm"]), first["conv"], 2)
            for p in blocks:
                x = block(x, p)
        logits = scaled(x.mean((1, 2)), params["norm"]) @ params["head"]
        return token_loss(logits, batch["labels"])

    def layer(d):
        sizes = {"deep": f32(7, 7, 1, d), "norm": f32(d), "scale": f32(d)}
        return sizes | {"up": f32(d, 4 * d), "down": f32(4 * d, d)}

    params = {"stem": f32(4, 4, 3, widths[0]), "norm": f32(widths[-1])}
    params |= {"head": f32(widths[-1], 1000)}
    stages = zip(depths, widths, strict=True)
    params["stages"] = [[layer(d)] * count for count, d in stages]
    params["halved"] = [
        {"norm": f32(a), "conv": f32(2, 2, a, b)} for a, b in pairwise(widths)
    ]
    batch = {"images": shape(rows, 224, 224, 3), "labels": shape(rows, dtype="int32")}
    return trained(
        *(loss, optax.adamw(4e-3), params, jax.tree.map(lambda _: P(), params)),
        *(batch, dict.fromkeys(batch, P("data"))),
    )


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
        return mean_negative(x.mean((1, 2)) @ p["head"].astype(x.dtype), b["y"])

    return decayed_adamw(
        loss,
        p,
        sp,
        {
            "x": array(512, 224, 224, 3, dtype="bfloat16"),
            "y": array(512, dtype="int32"),
        },
        {"x": P("dp"), "y": P("dp")},
    )


class Bottleneck(nn.Module):
    width: int
    stride: int

    @nn.compact
    def __call__(self, x):
        conv = partial(nn.Conv, use_bias=False, dtype=bf16)
        batch_norm = partial(nn.BatchNorm, use_running_average=False, dtype=bf16)
        y = nn.relu(batch_norm()(conv(self.width, (1, 1))(x)))
        y = conv(self.width, (3, 3), (self.stride, self.stride))(y)
        y = conv(4 * self.width, (1, 1))(nn.relu(batch_norm()(y)))
        y = batch_norm()(y)
        if x.shape != y.shape:
            x = conv(4 * self.width, (1, 1), (self.stride, self.stride))(x)
            x = batch_norm()(x)
        return nn.relu(x + y)


class ResNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(64, (7, 7), (2, 2), use_bias=False, dtype=bf16)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=False, dtype=bf16)(x))
        x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
        for stage, count in enumerate((3, 4, 6, 3)):
            for n in range(count):
                x = Bottleneck(64 << stage, 2 if stage and not n else 1)(x)
        return nn.Dense(1000, dtype=jnp.float32)(x.mean((1, 2)))


@program("v5e:2x4", data=8)
def linen_resnet50():
    """ResNet-50 of linen in bf16 with batch norms over all images, SGD with momentum."""
    images = array(1024, 224, 224, 3, dtype="bfloat16")
    model = ResNet()
    made = jax.eval_shape(model.init, jax.random.key(0), images)
    optimizer = optax.sgd(optax.cosine_decay_schedule(0.4, 1000), 0.9, nesterov=True)
    params, stats = made["params"], made["batch_stats"]
    state = jax.eval_shape(optimizer.init, params)

    def step(params, stats, state, batch):
        def loss(params):
            logits, new = model.apply(
                {"params": params, "batch_stats": stats},
                batch["x"],
                mutable=["batch_stats"],
            )
            decay = sum((p * p).sum() for p in jax.tree.leaves(params) if p.ndim > 1)
            return token_loss(logits, batch["y"]) + 5e-5 * decay, new["batch_stats"]

        (value, new), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, state2 = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), new, state2, value

    batch = {"x": images, "y": array(1024, dtype="int32")}
    return (
        step,
        (params, stats, state, batch),
        (
            *(jax.tree.map(lambda _: P(), tree) for tree in (params, stats, state)),
            {"x": P("data"), "y": P("data")},
        ),
        {"donate_argnums": (0, 1, 2)},
    )
