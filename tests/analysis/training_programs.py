"""Steps of training and inference whose random inputs have to make sense.

Each is `(function, *arguments)`, of shapes and types only: what the arguments are, only
the program says.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import ShapeDtypeStruct as Shape

PROGRAMS: dict[str, tuple[Any, ...]] = {}


def program(*arguments: Any) -> Callable[[Any], Any]:
    def add(function: Any) -> Any:
        PROGRAMS[function.__name__] = (function, *arguments)
        return function

    return add


def f32(*shape: int) -> Any:
    return Shape(shape, jnp.float32)


def bf16(*shape: int) -> Any:
    return Shape(shape, jnp.bfloat16)


def i32(*shape: int) -> Any:
    return Shape(shape, jnp.int32)


LAYERS = {"embed": f32(96, 16), "norm": f32(16), "bias": f32(16), "out": f32(16, 96)}
TOKENS = i32(4, 8)


def logits_of(params: Any, tokens: Any) -> Any:
    x = params["embed"][tokens]
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    x = (x - mean) / jnp.sqrt(variance + 1e-6) * params["norm"] + params["bias"]
    return x @ params["out"]


def loss_of(params: Any, tokens: Any, targets: Any) -> Any:
    log_probs = jax.nn.log_softmax(logits_of(params, tokens))
    return -(jax.nn.one_hot(targets, 96) * log_probs).sum(-1).mean()


def step_of(update: Any, state: Any) -> Any:
    def step(params: Any, state: Any, count: Any, tokens: Any, targets: Any) -> Any:
        grads = jax.grad(loss_of)(params, tokens, targets)
        return update(params, grads, state, count)

    step.__name__ = update.__name__
    return program(LAYERS, state, i32(), TOKENS, TOKENS)(step)


def _map(function: Any, *trees: Any) -> Any:
    return jax.tree.map(function, *trees)


@lambda update: step_of(update, {"m": LAYERS, "v": LAYERS})
def adam(params: Any, grads: Any, state: Any, count: Any) -> Any:
    m = _map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = _map(lambda v, g: 0.999 * v + (1 - 0.999) * g**2, state["v"], grads)
    t = count + 1
    rate = 1e-3 * jnp.minimum(t**-0.5, t * 4000**-1.5)
    mean = _map(lambda m: m / (1 - 0.9**t), m)
    var = _map(lambda v: v / (1 - 0.999**t), v)
    new = _map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, mean, var)
    return new, {"m": m, "v": v}, t


@lambda update: step_of(update, {"m": LAYERS, "v": LAYERS})
def adam_that_counts_from_one(params: Any, grads: Any, state: Any, count: Any) -> Any:
    m = _map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = _map(lambda v, g: 0.999 * v + 0.001 * (g * g), state["v"], grads)
    t = count.astype(jnp.float32)
    scale = jnp.sqrt(1 - jnp.power(0.999, t)) / (1 - jnp.power(0.9, t))
    new = _map(lambda p, m, v: p - scale * m * jax.lax.rsqrt(v + 1e-8), params, m, v)
    return new, {"m": m, "v": v}, count + 1


@lambda update: step_of(update, {"v": LAYERS, "m": LAYERS, "largest": LAYERS})
def amsgrad(params: Any, grads: Any, state: Any, count: Any) -> Any:
    m = _map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = _map(lambda v, g: 0.999 * v + 0.001 * g * g, state["v"], grads)
    largest = _map(jnp.maximum, state["largest"], v)
    new = _map(lambda p, m, v: p - 0.01 * m / jnp.sqrt(v), params, m, largest)
    return new, {"m": m, "v": v, "largest": largest}, count + 1


@lambda update: step_of(update, LAYERS)
def rmsprop(params: Any, grads: Any, state: Any, count: Any) -> Any:
    v = _map(lambda v, g: 0.9 * v + 0.1 * jnp.square(g), state, grads)
    new = _map(lambda p, v, g: p - 0.01 * g * jax.lax.rsqrt(v), params, v, grads)
    return new, v, count


@lambda update: step_of(update, {"mean": LAYERS, "square": LAYERS})
def centered_rmsprop(params: Any, grads: Any, state: Any, count: Any) -> Any:
    mean = _map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], grads)
    square = _map(lambda v, g: 0.9 * v + 0.1 * g * g, state["square"], grads)

    def updated(p: Any, m: Any, v: Any, g: Any) -> Any:
        return p - 0.01 * g / jnp.sqrt(jnp.maximum(v - m * m, 0) + 1e-8)

    new = _map(updated, params, mean, square, grads)
    return new, {"mean": mean, "square": square}, count


@lambda update: step_of(update, LAYERS)
def adagrad(params: Any, grads: Any, state: Any, count: Any) -> Any:
    total = _map(lambda a, g: a + g * g, state, grads)
    new = _map(lambda p, a, g: p - 0.1 * g / (a**0.5 + 1e-10), params, total, grads)
    return new, total, count


@lambda update: step_of(update, {"v": LAYERS, "d": LAYERS})
def adadelta(params: Any, grads: Any, state: Any, count: Any) -> Any:
    v = _map(lambda v, g: 0.95 * v + 0.05 * g * g, state["v"], grads)

    def change(d: Any, v: Any, g: Any) -> Any:
        return -jnp.sqrt(d + 1e-6) / jnp.sqrt(v + 1e-6) * g

    delta = _map(change, state["d"], v, grads)
    d = _map(lambda d, x: 0.95 * d + 0.05 * x * x, state["d"], delta)
    return _map(jnp.add, params, delta), {"v": v, "d": d}, count


@lambda update: step_of(update, LAYERS)
def lion(params: Any, grads: Any, state: Any, count: Any) -> Any:
    def updated(p: Any, m: Any, g: Any) -> Any:
        return p - 1e-4 * (jnp.sign(0.9 * m + 0.1 * g) + 0.1 * p)

    new = _map(updated, params, state, grads)
    return new, _map(lambda m, g: 0.99 * m + 0.01 * g, state, grads), count


@lambda update: step_of(update, LAYERS)
def clipped_momentum(params: Any, grads: Any, state: Any, count: Any) -> Any:
    norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
    grads = _map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), grads)
    velocity = _map(lambda v, g: 0.9 * v + g, state, grads)
    warm = jnp.where(count < 10, count / 10, 0.5 * (1 + jnp.cos(count / 100)))
    return _map(lambda p, v: p - warm * v, params, velocity), velocity, count + 1


ROWS = {"row": f32(96), "column": f32(16)}


@program(f32(96, 16), ROWS, i32(), TOKENS, f32(4, 8, 16))
def adafactor(table: Any, state: Any, count: Any, tokens: Any, wanted: Any) -> Any:
    grad = jax.grad(lambda w: jnp.square(w[tokens] - wanted).mean())(table)
    decay = 1 - jnp.power(count + 1.0, -0.8)
    square = grad * grad + 1e-30
    row = decay * state["row"] + (1 - decay) * square.mean(1)
    column = decay * state["column"] + (1 - decay) * square.mean(0)
    second = jnp.outer(row / row.mean(), column)
    update = grad * jax.lax.rsqrt(second)
    update = update / jnp.maximum(1.0, jnp.sqrt(jnp.mean(update**2)))
    scale = jnp.maximum(1e-3, jnp.sqrt(jnp.mean(table**2)))
    return table - 1e-2 * scale * update, {"row": row, "column": column}, count + 1


HYPER = {"rate": f32(), "b1": f32(), "b2": f32(), "eps": f32()}


@program(bf16(32, 16), f32(32, 16), f32(32, 16), HYPER, i32(), bf16(8, 32))
def adam_with_its_numbers_given(w: Any, m: Any, v: Any, h: Any, t: Any, x: Any) -> Any:
    grad = jax.grad(lambda w: jnp.square(x @ w).astype(jnp.float32).mean())(w)
    grad = grad.astype(jnp.float32)
    m = h["b1"] * m + (1 - h["b1"]) * grad
    v = h["b2"] * v + (1 - h["b2"]) * grad * grad
    step = m / (1 - h["b1"] ** t) / (jnp.sqrt(v / (1 - h["b2"] ** t)) + h["eps"])
    return (w.astype(jnp.float32) - h["rate"] * step).astype(w.dtype), m, v


STACKED = {"w": f32(3, 16, 16), "norm": f32(3, 16)}


@program(STACKED, STACKED, STACKED, i32(), f32(4, 16))
def adam_in_a_scan(params: Any, m: Any, v: Any, count: Any, x: Any) -> Any:
    def loss(params: Any) -> Any:
        def layer(x: Any, p: Any) -> Any:
            scale = jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)
            return x + jnp.tanh((x * scale * p["norm"]) @ p["w"]), None

        return jax.lax.scan(jax.checkpoint(layer), x, params)[0].var()

    grads, t = jax.grad(loss)(params), count + 1

    def one(_: Any, each: Any) -> Any:
        p, m, v, g = each

        def leaf(p: Any, m: Any, v: Any, g: Any) -> Any:
            m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
            var = v / (1 - 0.99**t)
            return p - 0.1 * m / (1 - 0.9**t) / (jnp.sqrt(var) + 1e-8), m, v

        made = jax.tree.map(leaf, p, m, v, g)
        parts = zip(*(made[name] for name in p), strict=True)
        return None, tuple(dict(zip(p, part, strict=True)) for part in parts)

    return jax.lax.scan(one, None, (params, m, v, grads))[1]


@program(f32(2, 64, 4, 8), f32(2, 64, 4, 8), f32(2, 1, 4, 8), i32(), i32(2))
def attention_with_a_cache(k: Any, v: Any, q: Any, position: Any, lengths: Any) -> Any:
    k = jax.lax.dynamic_update_slice(k, q, (0, position, 0, 0))
    v = v.at[jnp.arange(2), lengths].set(q[:, 0])
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(8.0)
    places = jnp.arange(64)
    mask = (places <= position) | (places[None] < lengths[:, None, None, None])
    probs = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))
    return jnp.einsum("bhqk,bkhd->bqhd", probs, v), k, v


@program(Shape((2,), jnp.uint32), f32(8, 16), f32(16, 16), Shape((8, 16), jnp.bool_))
def dropout(key: Any, x: Any, w: Any, mask: Any) -> Any:
    keep = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.8, x.shape)
    x = jnp.where(keep & mask, x / 0.8, 0)
    return jax.nn.gelu(x @ w)


@program(f32(12, 12), f32(12), f32(12, 3))
def gaussian(covariance: Any, mean: Any, x: Any) -> Any:
    factor = jnp.linalg.cholesky(covariance)
    away = jax.scipy.linalg.solve_triangular(factor, x - mean[:, None], lower=True)
    log_det = 2 * jnp.log(jnp.diagonal(factor)).sum()
    return -0.5 * (jnp.square(away).sum() + log_det + 12 * jnp.log(2 * jnp.pi))


@program(f32(9, 2), f32(9), f32(), f32(), f32())
def gaussian_process(x: Any, y: Any, length: Any, scale: Any, noise: Any) -> Any:
    def loss(length: Any, scale: Any, noise: Any) -> Any:
        apart = jnp.square(x[:, None] - x[None]).sum(-1) / length**2
        kernel = scale**2 * jnp.exp(-0.5 * apart) + (noise**2 + 1e-2) * jnp.eye(9)
        factor = jax.scipy.linalg.cho_factor(kernel, lower=True)
        solved = jax.scipy.linalg.cho_solve(factor, y)
        return 0.5 * y @ solved + jnp.log(jnp.diagonal(factor[0])).sum()

    return jax.value_and_grad(loss, (0, 1, 2))(length, scale, noise)


@program(f32(6, 5), f32(6, 5))
def divergence(p: Any, q: Any) -> Any:
    return jnp.sum(p * (jnp.log(p) - jnp.log(q)) + (1 - p) * jnp.log1p(-p), -1)


@program(f32(32), f32(32), f32(32))
def functions_of_intervals(u: Any, x: Any, y: Any) -> Any:
    gumbel = -jnp.log(-jnp.log(u))
    angles = jnp.arccos(x) + jnp.arctanh(x * 0.5) + jax.scipy.special.erfinv(x)
    return gumbel, angles, jax.scipy.special.gammaln(y) + jnp.arccosh(y), y**1.5


@program(f32(8, 4, 6, 6), f32(4, 4, 3, 3), f32(4), f32(4), f32(4), f32(4))
def batch_norm(x: Any, w: Any, scale: Any, bias: Any, mean: Any, var: Any) -> Any:
    x = jax.lax.conv(x, w, (1, 1), "SAME")
    shape = (1, 4, 1, 1)
    scaled = (x - mean.reshape(shape)) * jax.lax.rsqrt(var.reshape(shape) + 1e-5)
    return jax.nn.relu(scaled * scale.reshape(shape) + bias.reshape(shape))


@program(f32(24, 8), f32(24, 8), f32(24, 8), i32(5), i32(5))
def row_wise_adagrad(table: Any, total: Any, grads: Any, ids: Any, other: Any) -> Any:
    part = grads[other]
    total = total.at[ids].add(part * part)
    return table.at[ids].add(-0.1 * part / jnp.sqrt(total[ids])), total


@program(f32(4, 8, 16), f32(16, 6), f32(6, 16, 16), i32(4, 8))
def experts(x: Any, router: Any, w: Any, chosen: Any) -> Any:
    gates = jax.nn.softmax(x @ router)
    weight = jnp.take_along_axis(gates, chosen[..., None], -1)
    hot = jax.nn.one_hot(chosen, 6)
    entropy = -jnp.sum(gates * jnp.log(gates), -1).mean()
    return jnp.einsum("bse,bsd,edf->bsf", hot, x, w) * weight, entropy
