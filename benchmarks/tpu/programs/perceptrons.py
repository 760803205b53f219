"""Perceptrons, and single ops."""
# pyright: basic

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import in_bf16, normed
from tpu.programs.steps import adam, program, sgd, shape, trained


@program("v5e:2x2", data=4)
def mlp_forward():
    def f(x, w1, w2, w3):
        h = jnp.maximum(x @ w1, 0)
        h = jnp.tanh(h @ w2)
        return h @ w3

    arguments = (
        shape(32768, 2048),
        shape(2048, 8192),
        shape(8192, 8192),
        shape(8192, 2048),
    )
    return f, arguments, (P("data"), P(), P(), P()), {}


@program("v5e:2x2", data=4)
def mlp_train_donated():
    def loss(params, x, y):
        h = x
        for w in params[:-1]:
            h = jnp.maximum(h @ w, 0)
        return jnp.mean((h @ params[-1] - y).astype(jnp.float32) ** 2)

    params = [shape(2048, 4096), *[shape(4096, 4096)] * 6, shape(4096, 1024)]
    arguments = (params, shape(65536, 2048), shape(65536, 1024))
    return (
        sgd(loss),
        arguments,
        ([P()] * 8, P("data"), P("data")),
        {"donate_argnums": 0},
    )


@program("v6e:2x2", data=4)
def mlp_adam_f32_kept():
    def loss(params, x, y):
        h = x
        for w in params:
            h = jnp.tanh(h @ w.astype(jnp.bfloat16))
        return jnp.mean((h - y).astype(jnp.float32) ** 2)

    params = [shape(4096, 4096, dtype="float32")] * 4
    spec = [P("data")] * 4
    arguments = (params, params, params, shape(32768, 4096), shape(32768, 4096))
    return adam(loss), arguments, (spec, spec, spec, P("data"), P("data")), {}


def scanned_mlp(policy):
    def layer(h, w):
        w1, w2 = w
        return h + jax.nn.gelu(h @ w1) @ w2, None

    if policy == "full":
        layer = jax.checkpoint(layer)
    elif policy == "dots":
        layer = jax.checkpoint(layer, policy=jax.checkpoint_policies.dots_saveable)

    def loss(params, x):
        h, _ = jax.lax.scan(layer, x, params)
        return jnp.mean(h.astype(jnp.float32) ** 2)

    params = (shape(16, 2048, 8192), shape(16, 8192, 2048))
    return loss, (params, shape(32, 1024, 2048))


@program("v5e:2x2", data=4)
def scan_mlp_residuals():
    loss, arguments = scanned_mlp("none")
    return sgd(loss), arguments, ((P(), P()), P("data")), {"donate_argnums": 0}


@program("v5e:2x2", data=4)
def scan_mlp_remat_full():
    loss, arguments = scanned_mlp("full")
    spec = P(None, "data")
    return sgd(loss), arguments, ((spec, spec), P("data")), {"donate_argnums": 0}


@program("v6e:2x2", data=4)
def scan_mlp_remat_dots():
    loss, arguments = scanned_mlp("dots")
    return (
        sgd(loss),
        arguments,
        ((P(None, None, "data"), P(None, "data")), P("data")),
        {"donate_argnums": 0},
    )


@program("v5e:2x2", data=4)
def softmax_classifier():
    def loss(w, x, labels):
        logits = (x @ w).astype(jnp.float32)
        return -jnp.mean(
            jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        )

    arguments = (shape(1024, 131072), shape(16384, 1024), shape(16384, dtype="int32"))
    return sgd(loss), arguments, (P(), P("data"), P("data")), {"donate_argnums": 0}


@program("v5e:2x2", data=4)
def elementwise_chain():
    def f(x, y):
        a = jnp.exp(-x * x) + y
        b = a - jnp.mean(a, -1, keepdims=True)
        c = b / jnp.sqrt(jnp.mean(b * b, -1, keepdims=True) + 1e-5)
        return c * y, jnp.cumsum(c, axis=1)

    one = shape(32768, 8192, dtype="float32")
    return f, (one, one), (P("data"), P("data")), {}


@program("v5p:2x2x1", data=4)
def gradient_accumulation():
    def loss(params, x):
        for w in params:
            x = jnp.tanh(x @ w.astype(x.dtype))
        return jnp.mean(x.astype(jnp.float32) ** 2)

    def step(params, batch):
        def micro(total, x):
            return jax.tree.map(
                lambda a, b: a + b, total, jax.grad(loss)(params, x)
            ), None

        zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, p.dtype), params)
        grads, _ = jax.lax.scan(micro, zeros, batch)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads)

    params = [shape(4096, 4096, dtype="float32")] * 6
    return (
        step,
        (params, shape(8, 16384, 4096)),
        ([P()] * 6, P(None, "data")),
        {"donate_argnums": 0},
    )


@program("v5e:2x2", data=4)
def sort_top():
    def f(x, w):
        y = jnp.sort(x, axis=-1)
        values, index = jax.lax.top_k((y @ w).astype(jnp.float32), 64)
        return values.sum(), index

    return (
        f,
        (shape(16384, 4096, dtype="float32"), shape(4096, 4096, dtype="float32")),
        (P("data"), P()),
        {},
    )


@program("v5e:2x2", sequence=4)
def sequence_parallel_mlp():
    def loss(params, x):
        w1, w2 = params
        h = jax.lax.with_sharding_constraint(x, P())
        h = jax.nn.silu(h @ w1)
        out = jax.lax.with_sharding_constraint(h @ w2, P("sequence"))
        return jnp.mean((x + out).astype(jnp.float32) ** 2)

    params = (shape(4096, 16384), shape(16384, 4096))
    return (
        sgd(loss),
        (params, shape(16384, 4096)),
        ((P(None, "sequence"), P("sequence")), P("sequence")),
        {"donate_argnums": 0},
    )


@program("v6e:2x2", fsdp=4)
def adafactor_mlp():
    def loss(params, x, y):
        for w in params:
            x = jax.nn.gelu(x @ w.astype(jnp.bfloat16))
        return jnp.mean((x - y).astype(jnp.float32) ** 2)

    def step(params, rows, columns, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        rows = [
            0.99 * r + 0.01 * jnp.mean(g * g, 1)
            for r, g in zip(rows, grads, strict=True)
        ]
        columns = [
            0.99 * c + 0.01 * jnp.mean(g * g, 0)
            for c, g in zip(columns, grads, strict=True)
        ]
        new = [
            p - 1e-3 * g * jax.lax.rsqrt(r[:, None] * c[None] / jnp.mean(r) + 1e-30)
            for p, g, r, c in zip(params, grads, rows, columns, strict=True)
        ]
        return new, rows, columns, value

    params = [shape(8192, 8192, dtype="float32")] * 4
    vector = [shape(8192, dtype="float32")] * 4
    batch = shape(16384, 8192)
    split, whole = [P("fsdp")] * 4, [P()] * 4
    return (
        step,
        (params, vector, vector, batch, batch),
        (split, whole, whole, P("fsdp"), P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x4", fsdp=8)
def plain_perceptrons():
    """Residual perceptrons in a scan with a checkpoint, Adam of optax."""
    layers, width, hidden = 24, 4096, 16384
    f32 = partial(shape, dtype="float32")

    @jax.checkpoint
    def block(x, p):
        up, down = (p[n].astype(jnp.bfloat16) for n in ("up", "down"))
        h = jax.nn.gelu(normed(x, p["scale"]) @ up)
        return x + h @ down, None

    def loss(params, batch):
        x, _ = jax.lax.scan(block, batch["x"].astype(jnp.bfloat16), params)
        return jnp.mean(jnp.square(x.astype(jnp.float32) - batch["y"]))

    params = {"up": f32(layers, width, hidden), "down": f32(layers, hidden, width)}
    params["scale"] = f32(layers, width)
    spec = {"up": P(None, "fsdp"), "down": P(None, "fsdp"), "scale": P()}
    batch = dict.fromkeys("xy", f32(32768, width))
    batch_spec = dict.fromkeys("xy", P("fsdp"))
    return trained(loss, optax.adam(1e-4), params, spec, batch, batch_spec)


@program("v6e:2x4", data=2, model=4)
def tensor_perceptrons():
    """Eight gated perceptrons in Python by a tensor axis, Adam; weights alone are split."""
    width, hidden, rows = 4096, 16384, 16384
    f32 = partial(shape, dtype="float32")

    def loss(params, batch):
        x = batch["x"].astype(jnp.bfloat16)
        for p in map(in_bf16, params):
            x = x + (jax.nn.silu(x @ p["g"]) * (x @ p["u"])) @ p["d"]
        return jnp.mean(jnp.square(x.astype(jnp.float32) - batch["y"]))

    weights = {
        "g": f32(width, hidden),
        "u": f32(width, hidden),
        "d": f32(hidden, width),
    }
    split = {"g": P(None, "model"), "u": P(None, "model"), "d": P("model")}
    data = {"x": f32(rows, width), "y": f32(rows, width)}
    return trained(
        *(loss, optax.adam(1e-4), [weights] * 8, [split] * 8),
        *(data, dict.fromkeys(data, P("data"))),
    )
