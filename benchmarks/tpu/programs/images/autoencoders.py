"""Autoencoders and adversaries."""
# pyright: basic

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import bf16, conv, group_norm
from tpu.programs.steps import (
    array,
    hold,
    momentum,
    program,
    replicated,
    shape,
    trained,
)


@program("v6e:2x2", data=4)
def adversaries():
    widths = [512, 256, 128]

    def generate(params, z):
        x = (z @ params["in"]).reshape(-1, 8, 8, widths[0])
        for w in params["up"]:
            x = jax.lax.conv_transpose(
                x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x)
        return jnp.tanh(conv(x, params["out"]))

    def judge(params, x):
        for w in params["down"]:
            x = jax.nn.leaky_relu(conv(x, w, 2), 0.2)
        return (jnp.mean(x, (1, 2)) @ params["head"]).astype(jnp.float32)[:, 0]

    def step(maker, judges, images, z):
        def of_judge(params):
            real, fake = judge(params, images), judge(params, generate(maker, z))
            return jnp.mean(jax.nn.softplus(-real) + jax.nn.softplus(fake))

        def of_maker(params):
            return jnp.mean(jax.nn.softplus(-judge(judges, generate(params, z))))

        new = []
        for params, loss in ((maker, of_maker), (judges, of_judge)):
            grads = jax.grad(loss)(params)
            new.append(
                jax.tree.map(lambda p, g: (p - 1e-3 * g).astype(p.dtype), params, grads)
            )
        return tuple(new)

    up = [shape(4, 4, a, b) for a, b in zip(widths, [256, 128, 128], strict=True)]
    down = [
        shape(4, 4, a, b) for a, b in zip([3, 128, 256], [128, 256, 512], strict=True)
    ]
    maker = {"in": shape(128, 64 * widths[0]), "up": up, "out": shape(3, 3, 128, 3)}
    judges = {"down": down, "head": shape(512, 1)}
    return (
        step,
        (maker, judges, shape(1024, 64, 64, 3), shape(1024, 128)),
        (replicated(maker), replicated(judges), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x2", data=4)
def autoencoder():
    widths, latent = (128, 256, 512), 8

    def block(x, w):
        h = conv(jax.nn.silu(group_norm(x, w["n1"])), w["c1"])
        h = conv(jax.nn.silu(group_norm(h, w["n2"])), w["c2"])
        return x + h

    def loss(params, images, noise):
        x = conv(images, params["in"])
        for w in params["down"]:
            x = conv(block(x, w), w["next"], 2)
        mean, log_var = jnp.split(conv(x, params["moments"]).astype(jnp.float32), 2, -1)
        z = mean + jnp.exp(0.5 * log_var) * noise
        x = conv(z.astype(x.dtype), params["back"])
        for w in params["up"]:
            x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
            x = block(conv(x, w["next"]), w)
        error = (conv(x, params["out"]) - images).astype(jnp.float32)
        kl = 0.5 * jnp.mean(mean**2 + jnp.exp(log_var) - 1 - log_var)
        return jnp.mean(error**2) + 1e-4 * kl

    def c(a, b, size=3):
        return shape(size, size, a, b)

    def of(width, following, to):
        norm = {"n1": shape(width), "n2": shape(width)}
        return {
            **norm,
            "c1": c(width, width),
            "c2": c(width, width),
            "next": c(following, to),
        }

    down = [of(a, a, b) for a, b in zip(widths, (*widths[1:], 512), strict=True)]
    up = [of(a, b, a) for a, b in zip(widths[::-1], (512, *widths[:0:-1]), strict=True)]
    params = {"in": c(3, 128), "down": down, "moments": c(512, 2 * latent)}
    params |= {"back": c(latent, 512), "up": up, "out": c(128, 3)}
    spec = replicated(params)
    return (
        momentum(loss),
        (
            params,
            params,
            shape(32, 128, 128, 3),
            shape(32, 16, 16, latent, dtype="float32"),
        ),
        (spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
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
