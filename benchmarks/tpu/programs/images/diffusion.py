"""Diffusion: U-Nets and transformers."""
# pyright: basic

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import attend, attention, bf16, conv, group_norm, in_bf16, norm
from tpu.programs.steps import (
    adam,
    array,
    hold,
    momentum,
    optimized,
    program,
    replicated,
    sgd,
    shape,
    split_rows,
    state_specs,
    trained,
)


@program("v6e:2x2", data=4)
def unet_train():
    def conv(x, w, stride=1):
        return jax.lax.conv_general_dilated(
            *(x, w, (stride, stride), "SAME"),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )

    def loss(params, x, y):
        kept = []
        for w in params["down"]:
            kept.append(x)
            x = jax.nn.relu(conv(x, w, 2))
        for w in params["up"]:
            skip = kept.pop()
            big = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
            x = jax.nn.relu(conv(jnp.concatenate([big, skip], -1), w))
        return jnp.mean((x - y).astype(jnp.float32) ** 2)

    widths = [64, 128, 256, 512]
    down = [shape(3, 3, a, b) for a, b in pairwise(widths)]
    up = [
        shape(3, 3, a + b, b)
        for a, b in zip(widths[:0:-1], widths[-2::-1], strict=True)
    ]
    params = {"down": down, "up": up}
    spec = jax.tree.map(lambda _: P(), params)
    one = shape(64, 256, 256, 64)
    return (
        sgd(loss),
        (params, one, one),
        (spec, P("data"), P("data")),
        {"donate_argnums": 0},
    )


@program("v5p:2x2x1", data=4)
def diffusion_unet():
    widths = [192, 384, 768]

    def res(x, w, time):
        h = conv(jax.nn.silu(group_norm(x, w["n1"])), w["a"])
        h = h + (time @ w["t"])[:, None, None]
        h = conv(jax.nn.silu(group_norm(h, w["n2"])), w["b"])
        return h + (conv(x, w["skip"]) if "skip" in w else x)

    def attend(x, w):
        b, n, m, c = x.shape
        h = group_norm(x, w["n"]).reshape(b, n * m, c)
        q, k, v = (h @ w[one] for one in "qkv")
        s = jnp.einsum("bqc,bkc->bqk", q, k).astype(jnp.float32) * c**-0.5
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        return x + (jnp.einsum("bqk,bkc->bqc", p, v) @ w["o"]).reshape(x.shape)

    def loss(params, noisy, time, noise):
        x, kept = conv(noisy, params["in"]), []
        for at, w in enumerate(params["down"]):
            x = res(x, w["r"], time)
            if at:
                x = attend(x, w["a"])
            kept.append(x)
            x = conv(x, w["d"], 2)
        x = res(x, params["mid"], time)
        for w in params["up"]:
            x = jax.image.resize(
                x, (x.shape[0], *(2 * s for s in x.shape[1:3]), x.shape[3]), "nearest"
            )
            x = res(jnp.concatenate([x, kept.pop()], -1), w, time)
        out = conv(jax.nn.silu(group_norm(x, params["n"])), params["out"])
        return jnp.mean((out - noise).astype(jnp.float32) ** 2)

    def block(a, b):
        w = {"n1": shape(a), "a": shape(3, 3, a, b), "t": shape(512, b)}
        w |= {"n2": shape(b), "b": shape(3, 3, b, b)}
        return w | ({"skip": shape(1, 1, a, b)} if a != b else {})

    down, width = [], widths[0]
    for out in widths:
        attention = {"n": shape(out), **{n: shape(out, out) for n in "qkvo"}}
        down.append(
            {"r": block(width, out), "a": attention, "d": shape(3, 3, out, out)}
        )
        width = out
    up = []
    for out in reversed(widths):
        up.append(block(width + out, out))
        width = out
    params = {"in": shape(3, 3, 4, widths[0]), "down": down, "mid": block(768, 768)}
    params |= {"up": up, "n": shape(widths[0]), "out": shape(3, 3, widths[0], 4)}
    spec = replicated(params)
    images = shape(64, 64, 64, 4)
    return (
        adam(loss),
        (*[params] * 3, images, shape(64, 512), images),
        (spec, spec, spec, P("data"), P("data"), P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x4", data=8)
def latent_unet():
    """A U-Net on latents with attention at two sizes and an average of its weights."""
    widths = (192, 384, 768)

    def resnet(x, t, w):
        h = conv(jax.nn.silu(group_norm(x, w["n1"])), w["a"])
        h = h + (jax.nn.silu(t) @ w["t"])[:, None, None]
        h = conv(jax.nn.silu(group_norm(h, w["n2"])), w["b"])
        return h + (x @ w["skip"] if "skip" in w else x)

    def attention(x, w):
        b, height, width, c = x.shape
        h = group_norm(x, w["n"]).reshape(b, -1, c)
        q, k, v = jnp.split(h @ w["qkv"], 3, -1)
        q, k, v = (a.reshape(b, height * width, -1, 64) for a in (q, k, v))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / 8
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        return x + (
            jnp.einsum("bhqk,bkhd->bqhd", p, v).reshape(h.shape) @ w["o"]
        ).reshape(x.shape)

    def model(params, x, t):
        t = jax.nn.silu(t[:, None] * params["frequencies"]) @ params["t"]
        x = conv(x, params["in"])
        saved = []
        for level, w in enumerate(params["down"]):
            x = resnet(x, t, w["res"])
            x = attention(x, w["attention"]) if level else x
            saved.append(x)
            x = conv(x, w["sample"], 2)
        x = resnet(x, t, params["middle"])
        for level, w in reversed(list(enumerate(params["up"]))):
            b, height, width, c = x.shape
            x = jax.image.resize(x, (b, 2 * height, 2 * width, c), "nearest")
            x = resnet(jnp.concatenate([x, saved[level]], -1), t, w["res"])
            x = attention(x, w["attention"]) if level else x
        return conv(x, params["out"])

    def loss(params, x, noise, t):
        params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
        noisy = x * (1 - t)[:, None, None, None] + noise * t[:, None, None, None]
        out = model(params, noisy.astype(jnp.bfloat16), t.astype(jnp.bfloat16))
        return jnp.mean((out.astype(jnp.float32) - noise) ** 2)

    def step(params, velocity, average, *batch):
        params, velocity, value = momentum(loss)(params, velocity, *batch)
        average = jax.tree.map(lambda a, p: 0.999 * a + 0.001 * p, average, params)
        return params, velocity, average, value

    def f(*sizes):
        return shape(*sizes, dtype="float32")

    def res(before, after):
        w = {"n1": f(before), "n2": f(after), "t": f(768, after)}
        w |= {"a": f(3, 3, before, after), "b": f(3, 3, after, after)}
        return w if before == after else w | {"skip": f(before, after)}

    def level(before, inner, after):
        w = {"res": res(before, inner), "sample": f(3, 3, inner, after)}
        w["attention"] = {
            "n": f(inner),
            "qkv": f(inner, 3 * inner),
            "o": f(inner, inner),
        }
        return w

    down = [
        level(a, a, b) for a, b in zip(widths, (*widths[1:], widths[-1]), strict=True)
    ]
    up = [
        level(a + b, a, a)
        for a, b in zip(widths, (*widths[1:], widths[-1]), strict=True)
    ]
    for w in up:
        del w["sample"]
    params = {"frequencies": f(192), "t": f(192, 768), "in": f(3, 3, 4, widths[0])}
    params |= {"down": down, "up": up, "middle": res(widths[-1], widths[-1])}
    params |= {"out": f(3, 3, widths[0], 4)}
    spec = replicated(params)
    latents = f(128, 64, 64, 4)
    return (
        step,
        (*[params] * 3, latents, latents, f(128)),
        (spec, spec, spec, *[P("data")] * 3),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v6e:2x4", data=8)
def latent_diffusion():
    """A text-conditioned U-Net of Flax Linen with attention, Adam and an average of weights."""
    bf16 = jnp.bfloat16

    class Residual(nn.Module):
        features: int

        @nn.compact
        def __call__(self, x, time):
            conv = partial(nn.Conv, dtype=bf16)
            h = conv(self.features, (3, 3))(nn.silu(nn.GroupNorm(dtype=bf16)(x)))
            h = h + nn.Dense(self.features, dtype=bf16)(nn.silu(time))[:, None, None]
            h = conv(self.features, (3, 3))(nn.silu(nn.GroupNorm(dtype=bf16)(h)))
            if x.shape[-1] != self.features:
                x = conv(self.features, (1, 1))(x)
            return x + h

    class Attention(nn.Module):
        @nn.compact
        def __call__(self, x, text):
            b, height, across, c = x.shape
            h = nn.LayerNorm(dtype=bf16)(x.reshape(b, height * across, c))
            attend = partial(nn.MultiHeadDotProductAttention, 8, dtype=bf16)
            h = h + attend()(h)
            h = h + attend()(nn.LayerNorm(dtype=bf16)(h), text)
            f = nn.Dense(4 * c, dtype=bf16)(nn.LayerNorm(dtype=bf16)(h))
            return x + (h + nn.Dense(c, dtype=bf16)(nn.gelu(f))).reshape(x.shape)

    class UNet(nn.Module):
        @nn.compact
        def __call__(self, x, time, text):
            angles = time[:, None] * jnp.exp(-jnp.arange(160) / 16.0)
            time = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1).astype(bf16)
            time = nn.Dense(1280, dtype=bf16)(nn.silu(nn.Dense(1280, dtype=bf16)(time)))
            x, saved = nn.Conv(320, (3, 3), dtype=bf16)(x.astype(bf16)), []
            for level, features in enumerate((320, 640, 1280)):
                for _ in range(2):
                    x = Residual(features)(x, time)
                    x = Attention()(x, text) if level else x
                    saved.append(x)
                x = nn.Conv(features, (3, 3), (2, 2), dtype=bf16)(x)
            x = Residual(1280)(Attention()(Residual(1280)(x, time), text), time)
            for level, features in reversed([*enumerate((320, 640, 1280))]):
                b, height, across, c = x.shape
                x = jax.image.resize(x, (b, 2 * height, 2 * across, c), "nearest")
                x = nn.Conv(features, (3, 3), dtype=bf16)(x)
                for _ in range(2):
                    x = Residual(features)(jnp.concatenate([x, saved.pop()], -1), time)
                    x = Attention()(x, text) if level else x
            return nn.Conv(4, (3, 3), dtype=bf16)(nn.silu(nn.GroupNorm(dtype=bf16)(x)))

    model, rows = UNet(), 64
    images = shape(rows, 64, 64, 4, dtype="float32")
    text, times = shape(rows, 77, 768), shape(rows, dtype="float32")
    params = jax.eval_shape(model.init, jax.random.key(0), images, times, text)

    def loss(params, images, noise, times, text):
        level = jnp.cos(times * jnp.pi / 2)[:, None, None, None]
        noisy = images * level + noise * jnp.sqrt(1 - level**2)
        predicted = model.apply(params, noisy, times, text)
        return jnp.mean((predicted.astype(jnp.float32) - noise) ** 2)

    adam, state = optimized(loss, optax.adamw(1e-4), params)

    def step(params, state, average, *batch):
        params, state, value = adam(params, state, *batch)
        average = optax.incremental_update(params, average, 0.001)
        return params, state, average, value

    whole = partial(jax.tree.map, lambda _: P())
    given = (whole(params), whole(state), whole(params), *[P("data")] * 4)
    arguments = (params, state, params, images, images, times, text)
    return step, arguments, given, {"donate_argnums": (0, 1, 2)}


@program("v5e:4x4", fsdp=16)
def averaged_diffusion():
    """A diffusion transformer in a scan with a checkpoint, conditioned on time, and averaged weights."""
    layers, width, heads, patches, channels, rows = 28, 1152, 16, 1024, 16, 256
    f32 = partial(shape, dtype="float32")

    def scaled(x, shift, scale):
        y = x.astype(jnp.float32)
        y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(
            y.var(-1, keepdims=True) + 1e-6
        )
        return y.astype(x.dtype) * (1 + scale[:, None]) + shift[:, None]

    def loss(params, batch):
        noise = batch["noise"].astype(jnp.bfloat16)
        time = batch["time"].astype(jnp.bfloat16)
        x = (1 - time[:, None, None]) * batch["latents"].astype(jnp.bfloat16) + time[
            :, None, None
        ] * noise
        x = x @ params["stem"].astype(x.dtype)
        angles = batch["time"][:, None] * jnp.exp(jnp.linspace(0, 8, 128))
        waves = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)
        told = jax.nn.silu(waves.astype(x.dtype) @ params["time"].astype(x.dtype))

        @jax.checkpoint
        def block(x, p):
            p = in_bf16(p)
            b, t, d = x.shape
            s1, k1, g1, s2, k2, g2 = jnp.split(told @ p["told"], 6, -1)
            h = scaled(x, s1, k1)
            q, k, v = ((h @ p[n]).reshape(b, t, heads, -1) for n in "qkv")
            y = attend(q, k, v, causal=False).reshape(b, t, d) @ p["o"]
            x = x + g1[:, None] * y
            y = jax.nn.gelu(scaled(x, s2, k2) @ p["up"]) @ p["down"]
            return jax.lax.with_sharding_constraint(
                x + g2[:, None] * y, P("fsdp")
            ), None

        x, _ = jax.lax.scan(block, x, params["layers"])
        x = x @ params["last"].astype(x.dtype)
        return jnp.square((x - (noise - batch["latents"])).astype(jnp.float32)).mean()

    optimizer = optax.adamw(1e-4)

    def step(params, average, state, batch):
        value, grads = jax.value_and_grad(loss)(params, batch)
        updates, state = optimizer.update(grads, state, params)
        params = optax.apply_updates(params, updates)
        average = optax.incremental_update(params, average, 1e-4)
        return params, average, state, value

    sizes = dict.fromkeys("qkvo", (width, width)) | {"told": (width, 6 * width)}
    sizes |= {"up": (width, 4 * width), "down": (4 * width, width)}
    params = {"stem": f32(channels, width), "time": f32(256, width)}
    params |= {"last": f32(width, channels)}
    params["layers"] = {n: f32(layers, *s) for n, s in sizes.items()}
    spec = {"stem": P(), "time": P(), "last": P()}
    spec["layers"] = dict.fromkeys(sizes, P(None, "fsdp"))
    state = jax.eval_shape(optimizer.init, params)
    state_spec = optax.tree_map_params(
        optimizer, lambda _, s: s, state, spec, transform_non_params=lambda _: P()
    )
    batch = dict.fromkeys(("latents", "noise"), f32(rows, patches, channels))
    batch["time"] = f32(rows)
    return (
        step,
        (params, params, state, batch),
        (spec, spec, state_spec, dict.fromkeys(batch, P("fsdp"))),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v6e:2x4", fsdp=8)
def listed_diffusion():
    """DiT-XL in Python without a checkpoint, conditioned on time and a class, 8 images a device."""
    layers, width, heads, patches, channels, rows = 28, 1152, 16, 256, 16, 64
    f32 = partial(shape, dtype="float32")

    def scaled(x, shift, scale):
        y = x.astype(jnp.float32)
        y = y - y.mean(-1, keepdims=True)
        y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6)
        return y.astype(x.dtype) * (1 + scale[:, None]) + shift[:, None]

    def block(x, told, p):
        p = in_bf16(p)
        b, t, d = x.shape
        s1, k1, g1, s2, k2, g2 = jnp.split(jax.nn.silu(told) @ p["told"], 6, -1)
        q, k, v = jnp.split(scaled(x, s1, k1) @ p["qkv"], 3, -1)
        q, k, v = (y.reshape(b, t, heads, -1) for y in (q, k, v))
        y = attend(q, k, v, causal=False).reshape(b, t, d) @ p["out"]
        x = x + g1[:, None] * y
        y = jax.nn.gelu(scaled(x, s2, k2) @ p["up"]) @ p["down"]
        return jax.lax.with_sharding_constraint(x + g2[:, None] * y, P("fsdp"))

    def loss(params, batch):
        noise = batch["noise"].astype(jnp.bfloat16)
        images = batch["images"].astype(jnp.bfloat16)
        time = batch["time"].astype(jnp.bfloat16)[:, None, None]
        x = ((1 - time) * images + time * noise) @ params["stem"].astype(noise.dtype)
        angles = batch["time"][:, None] * jnp.exp(jnp.linspace(0, 8, 128))
        waves = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)
        told = (waves @ params["time"] + params["classes"][batch["labels"]]).astype(
            noise.dtype
        )
        for p in params["layers"]:
            x = block(x, told, p)
        x = x @ params["last"].astype(x.dtype)
        return jnp.square((x - (noise - images)).astype(jnp.float32)).mean()

    sizes = {"qkv": (width, 3 * width), "out": (width, width)}
    sizes |= {"told": (width, 6 * width), "up": (width, 4 * width)}
    sizes |= {"down": (4 * width, width)}
    params = {"stem": f32(channels, width), "time": f32(256, width)}
    params |= {"classes": f32(1000, width), "last": f32(width, channels)}
    params["layers"] = [{n: f32(*s) for n, s in sizes.items()}] * layers
    spec = split_rows(params, "fsdp")
    batch = dict.fromkeys(("images", "noise"), f32(rows, patches, channels))
    batch |= {"time": f32(rows), "labels": shape(rows, dtype="int32")}
    return trained(
        *(loss, optax.adamw(1e-4), params, spec),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["qkv", "out", "up", "down", "shift"],
    meta_fields=["heads"],
)
@dataclass
class DiffusionLayer:
    qkv: jax.Array
    out: jax.Array
    up: jax.Array
    down: jax.Array
    shift: jax.Array
    heads: int = 16

    def __call__(self, x, c):
        w = jax.tree.map(lambda a: a.astype(bf16), self)
        a, b, g, d, e, h = jnp.split((jax.nn.silu(c) @ w.shift)[:, None], 6, -1)
        ones = jnp.ones(x.shape[-1])
        z = norm(x, ones, 0.0) * (1 + a) + b
        q, k, v = jnp.split(z @ w.qkv, 3, -1)
        q, k, v = (y.reshape(*y.shape[:2], self.heads, -1) for y in (q, k, v))
        x = x + g * (attention(q, k, v).reshape(x.shape) @ w.out)
        z = norm(x, ones, 0.0) * (1 + d) + e
        x = x + h * (jax.nn.gelu(z @ w.up) @ w.down)
        return hold(x, P("data", None, None))


@program("v6e:2x4", data=4, tensor=2)
def tree_dit():
    """DiT-XL over 32 x 32 patches as dataclasses, a tensor axis, checkpoints in Python, Lion."""
    layers, width, rows, patches = 28, 1152, 64, 1024
    layer = DiffusionLayer(
        array(width, 3 * width),
        array(width, width),
        array(width, 4 * width),
        array(4 * width, width),
        array(width, 6 * width),
    )
    split = DiffusionLayer(
        *(P("data", "tensor"), P("tensor", "data"), P("data", "tensor")),
        *(P("tensor", "data"), P("data", "tensor")),
    )
    params = {
        "patch": array(16, width),
        "place": array(patches, width),
        "time": array(256, width),
        "layers": [layer] * layers,
        "last": array(width, 16),
    }
    spec = dict.fromkeys(params, P()) | {"layers": [split] * layers}

    def loss(params, batch):
        x0, noise, t = batch["x"], batch["noise"], batch["t"][:, None, None]
        x = ((1 - t) * x0 + t * noise).astype(bf16)
        angles = batch["t"][:, None] * jnp.exp(-jnp.arange(128) / 16)
        c = jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1).astype(bf16)
        c = c @ params["time"].astype(bf16)
        h = x @ params["patch"].astype(bf16) + params["place"].astype(bf16)
        for layer in params["layers"]:
            h = jax.checkpoint(lambda layer, h: layer(h, c))(layer, h)
        out = h @ params["last"].astype(bf16)
        return jnp.square(out.astype(jnp.float32) - (noise - x0)).mean()

    batch = {
        "x": array(rows, patches, 16),
        "noise": array(rows, patches, 16),
        "t": array(rows),
    }
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-4))
    return trained(
        loss, optimizer, params, spec, batch, dict.fromkeys(batch, P("data"))
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
