"""Networks without attention: perceptrons, images, words, experts, recurrence, a pipeline."""
# pyright: basic

from itertools import pairwise

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program


@program("v5e:2x4", data=8)
def wide_mlp_adam():
    """A perceptron in f32 with Adam; every device has all weights."""
    sizes = [3072, 8192, 8192, 8192, 1024]
    pairs = [*pairwise(sizes)]
    params = [{"w": array(a, b), "b": array(b)} for a, b in pairs]
    opt = optax.adam(1e-3)

    def predict(params, x):
        for layer in params[:-1]:
            x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return x @ params[-1]["w"] + params[-1]["b"]

    def loss(params, x, y):
        return jnp.mean((predict(params, x) - y) ** 2)

    def train_step(params, opt_state, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        updates, opt_state = opt.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, value

    state = jax.eval_shape(opt.init, params)
    return (
        train_step,
        (params, state, array(32768, sizes[0]), array(32768, sizes[-1])),
        (*jax.tree.map(lambda _: P(), (params, state)), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x2", data=4)
def striding_convnet():
    """A convolutional classifier in bf16 whose stages halve the image; SGD with momentum."""
    widths, classes, size = (64, 128, 256, 512), 1000, 128
    params, channels = {}, 3
    for i, width in enumerate(widths):
        params[f"down{i}"] = array(3, 3, channels, width)
        params[f"same{i}"] = array(3, 3, width, width)
        params[f"bias{i}"] = array(width)
        channels = width
    params["out"] = array(channels, classes)

    def conv(x, w, stride):
        return jax.lax.conv_general_dilated(
            x,
            w.astype(x.dtype),
            window_strides=(stride, stride),
            padding="SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )

    def loss_fn(params, images, labels):
        x = images.astype(jnp.bfloat16)
        for i in range(len(widths)):
            x = jax.nn.relu(conv(x, params[f"down{i}"], 2))
            y = conv(x, params[f"same{i}"], 1) + params[f"bias{i}"].astype(x.dtype)
            x = jax.nn.relu(x + y)
        logits = jnp.mean(x, axis=(1, 2)).astype(jnp.float32) @ params["out"]
        onehot = jax.nn.one_hot(labels, classes)
        return -jnp.mean(jnp.sum(onehot * jax.nn.log_softmax(logits), axis=-1))

    def train_step(params, velocity, images, labels):
        loss, grads = jax.value_and_grad(loss_fn)(params, images, labels)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
        params = jax.tree.map(lambda p, v: p - 0.01 * v, params, velocity)
        return params, velocity, loss

    whole = jax.tree.map(lambda _: P(), params)
    return (
        train_step,
        (params, params, array(2048, size, size, 3), array(2048, dtype="int32")),
        (whole, whole, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x4", data=8)
def words_by_context():
    """The mean of a context's word vectors predicts the word with a softmax over all words."""
    vocab, d, batch, context = 80000, 512, 16384, 8
    params = {"input": array(vocab, d), "output": array(d, vocab)}

    def loss_fn(params, contexts, words):
        h = jnp.take(params["input"], contexts, axis=0).mean(axis=1)
        logits = h @ params["output"]
        logp = jax.nn.log_softmax(logits, axis=-1)
        return -logp[jnp.arange(words.shape[0]), words].mean()

    def train_step(params, accumulators, contexts, words):
        loss, grads = jax.value_and_grad(loss_fn)(params, contexts, words)
        accumulators = jax.tree.map(lambda a, g: a + g * g, accumulators, grads)
        params = jax.tree.map(
            lambda p, g, a: p - 0.05 * g / (jnp.sqrt(a) + 1e-7),
            *(params, grads, accumulators),
        )
        return params, accumulators, loss

    whole = jax.tree.map(lambda _: P(), params)
    words = array(batch, dtype="int32")
    return (
        train_step,
        (params, params, array(batch, context, dtype="int32"), words),
        (whole, whole, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x4", data=2, expert=4)
def one_hot_experts():
    """Layers of eight experts; one-hot masks send each row to two of them, with a capacity."""
    layers, d, ff, experts, groups, rows = 4, 2048, 5632, 8, 16, 1024
    capacity = 2 * rows // experts
    params = [
        {
            "router": array(d, experts),
            "w1": array(experts, d, ff, dtype="bfloat16"),
            "w2": array(experts, ff, d, dtype="bfloat16"),
        }
        for _ in range(layers)
    ]
    specs = [{"router": P(), "w1": P("expert"), "w2": P("expert")}] * layers

    def experts_layer(w, x):
        probs = jax.nn.softmax(x.astype(jnp.float32) @ w["router"], axis=-1)
        gates, chosen = jax.lax.top_k(probs, 2)
        mask = jax.nn.one_hot(chosen, experts)  # g s 2 e
        flat = mask.reshape(groups, rows * 2, experts)
        place = (jnp.cumsum(flat, axis=1) - 1).reshape(mask.shape)
        kept = mask * (place < capacity)
        slot = jax.nn.one_hot(place.astype(jnp.int32), capacity) * kept[..., None]
        combine = jnp.einsum("gsk,gskec->gsec", gates, slot).astype(x.dtype)
        dispatch = (combine > 0).astype(x.dtype)
        inside = jnp.einsum("gsec,gsd->egcd", dispatch, x)
        inside = jax.lax.with_sharding_constraint(inside, P("expert", "data"))
        h = jax.nn.relu(jnp.einsum("egcd,edf->egcf", inside, w["w1"]))
        out = jnp.einsum("egcf,efd->egcd", h, w["w2"])
        return x + jnp.einsum("gsec,egcd->gsd", combine, out)

    def loss(params, x, y):
        for w in params:
            x = experts_layer(w, x)
        return jnp.mean(jnp.square((x - y).astype(jnp.float32)))

    def train_step(params, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads), value

    x = array(groups, rows, d, dtype="bfloat16")
    split = P(("data", "expert"))
    return (
        train_step,
        (params, x, x),
        (specs, split, split),
        {"donate_argnums": (0,)},
    )


@program("v4:2x2x2", data=8)
def gru_scan():
    """A stack of gated recurrent units over 256 steps, each a scan over time."""
    layers, d, vocab, batch, length = 3, 1024, 16384, 512, 256
    cell = {"wx": array(d, 3 * d), "wh": array(d, 3 * d), "b": array(3 * d)}
    params = {
        "embed": array(vocab, d),
        "cells": [cell] * layers,
        "out": array(d, vocab),
    }

    def unit(w, h, x):
        rz_x, n_x = jnp.split(x @ w["wx"] + w["b"], [2 * d], axis=-1)
        rz_h, n_h = jnp.split(h @ w["wh"], [2 * d], axis=-1)
        r, z = jnp.split(jax.nn.sigmoid(rz_x + rz_h), 2, axis=-1)
        n = jnp.tanh(n_x + r * n_h)
        return (1 - z) * n + z * h

    def loss_fn(params, tokens):
        xs = params["embed"][tokens[:, :-1].T]  # time first
        for w in params["cells"]:

            def turn(h, x, w=w):
                h = unit(w, h, x)
                return h, h

            _, xs = jax.lax.scan(turn, jnp.zeros(xs.shape[1:]), xs)
        logits = xs @ params["out"]
        return optax.softmax_cross_entropy_with_integer_labels(
            logits, tokens[:, 1:].T
        ).mean()

    def train_step(params, tokens):
        loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
        norm = optax.global_norm(grads)
        scale = jnp.minimum(1.0, 1.0 / norm)
        return jax.tree.map(lambda p, g: p - 0.5 * scale * g, params, grads), loss

    return (
        train_step,
        (params, array(batch, length + 1, dtype="int32")),
        (jax.tree.map(lambda _: P(), params), P("data")),
        {"donate_argnums": (0,)},
    )


@program("v5p:2x2x1", stage=4)
def permuted_pipeline():
    """Four stages of perceptrons; microbatches go from device to device in a shard_map."""
    stages, depth, d, ff, micro, rows = 4, 3, 4096, 16384, 8, 1024
    bf16 = "bfloat16"
    params = {
        "w1": array(stages, depth, d, ff, dtype=bf16),
        "w2": array(stages, depth, ff, d, dtype=bf16),
    }

    def stage_fn(w, x):
        for i in range(depth):
            x = x + jax.nn.gelu(x @ w["w1"][i]) @ w["w2"][i]
        return x

    def forward(params, x):
        w = jax.tree.map(lambda p: p[0], params)
        me = jax.lax.axis_index("stage")
        ring = [(i, (i + 1) % stages) for i in range(stages)]

        def tick(carry, t):
            held, outputs = carry
            fresh = x[jnp.minimum(t, micro - 1)]
            y = stage_fn(w, jnp.where(me == 0, fresh, held))
            at = jnp.maximum(t - stages + 1, 0)
            written = jax.lax.dynamic_update_index_in_dim(outputs, y, at, 0)
            outputs = jnp.where(t >= stages - 1, written, outputs)
            return (jax.lax.ppermute(y, "stage", ring), outputs), None

        start = (jnp.zeros_like(x[0]), jnp.zeros_like(x))
        start = jax.lax.pcast(start, "stage", to="varying")
        (_, outputs), _ = jax.lax.scan(tick, start, jnp.arange(micro + stages - 1))
        is_last = (me == stages - 1).astype(outputs.dtype)
        return jax.lax.psum(outputs * is_last, "stage")

    piped = jax.shard_map(forward, in_specs=(P("stage"), P()), out_specs=P())

    def loss(params, x, y):
        return jnp.mean((piped(params, x) - y).astype(jnp.float32) ** 2)

    def train_step(params, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), value

    x = array(micro, rows, d, dtype=bf16)
    held = {"w1": P("stage"), "w2": P("stage")}
    return train_step, (params, x, x), (held, P(), P()), {"donate_argnums": (0,)}
