"""Recommenders with tables, and graphs."""
# pyright: basic

from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import cross_entropy
from tpu.programs.steps import (
    adam,
    array,
    hold,
    program,
    replicated,
    sgd,
    shape,
    trained,
)


@program("v5e:2x2", data=4)
def embedding_bag():
    def loss(params, ids, y):
        table, w = params
        x = jnp.sum(table[ids], 1)
        return jnp.mean((x @ w - y) ** 2)

    params = (shape(262144, 512, dtype="float32"), shape(512, 256, dtype="float32"))
    arguments = (
        params,
        shape(16384, 32, dtype="int32"),
        shape(16384, 256, dtype="float32"),
    )
    return (
        sgd(loss),
        arguments,
        ((P(), P()), P("data"), P("data")),
        {"donate_argnums": 0},
    )


@program("v6e:2x2", model=4)
def recommender():
    tables, rows, width, batch = 16, 400_000, 128, 16384

    def mlp(x, weights):
        for w in weights:
            x = jax.nn.relu(x @ w)
        return x

    def loss(params, dense, index, labels):
        low = mlp(dense, params["bottom"])
        found = jax.vmap(lambda t, i: t[i], (0, 1), 1)(params["tables"], index)
        every = jnp.concatenate([low[:, None], found.astype(low.dtype)], 1)
        crossed = jnp.einsum("bnd,bmd->bnm", every, every)
        at = jnp.triu_indices(tables + 1, 1)
        x = jnp.concatenate([low, crossed[:, at[0], at[1]]], -1)
        logits = mlp(x, params["top"]).astype(jnp.float32)[:, 0]
        return jnp.mean(jnp.logaddexp(0.0, logits) - labels * logits)

    pairs = tables * (tables + 1) // 2
    bottom = [shape(64, 512), shape(512, 256), shape(256, width)]
    top = [shape(width + pairs, 1024), shape(1024, 1024), shape(1024, 1)]
    tables_of = shape(tables, rows, width, dtype="float32")
    params = {"tables": tables_of, "bottom": bottom, "top": top}
    spec = replicated(params) | {"tables": P("model")}
    args = shape(batch, 64), shape(batch, tables, dtype="int32")
    return (
        sgd(loss),
        (params, *args, shape(batch, dtype="float32")),
        (spec, P("model"), P("model"), P("model")),
        {"donate_argnums": 0},
    )


@program("v6e:2x4", data=8)
def wide_perceptrons():
    """Perceptrons behind 26 tables of a recommender, on every device, in f32."""
    tables, entries, width, dense, rows = 26, 50000, 128, 13, 65536
    f32 = partial(shape, dtype="float32")
    bottom, top = (512, 256, width), (4096, 4096, 2048, 1)

    def chain(x, weights):
        for number, w in enumerate(weights):
            x = x @ w
            x = jax.nn.relu(x) if number < len(weights) - 1 else x
        return x

    def loss(params, batch):
        x = jax.nn.relu(chain(batch["dense"], params["bottom"]))
        looked = jnp.take_along_axis(
            params["tables"], batch["ids"].T[..., None], 1
        ).swapaxes(0, 1)
        all_of = jnp.concatenate([x[:, None], looked], 1)
        pairs = jnp.einsum("bid,bjd->bij", all_of, all_of)
        upper = pairs[:, *jnp.triu_indices(tables + 1, 1)]
        logits = chain(jnp.concatenate([x, upper], 1), params["top"])[:, 0]
        return optax.sigmoid_binary_cross_entropy(logits, batch["clicked"]).mean()

    def matrices(first, sizes):
        return [f32(a, b) for a, b in zip((first, *sizes), sizes, strict=False)]

    upper = tables * (tables + 1) // 2
    params = {"tables": f32(tables, entries, width), "bottom": matrices(dense, bottom)}
    params["top"] = matrices(width + upper, top)
    spec = jax.tree.map(lambda _: P(), params)
    batch = {"dense": f32(rows, dense), "ids": shape(rows, tables, dtype="int32")}
    batch["clicked"] = f32(rows)
    return trained(
        *(loss, optax.adagrad(1e-2), params, spec),
        *(batch, dict.fromkeys(batch, P("data"))),
    )


@program("v5e:2x4", data=2, tensor=4)
def crossed_features():
    """A recommender of 26 tables of 200,000 split by rows, dot products of features, Adagrad."""
    rows, tables, width, size = 65536, 26, 128, 200_000
    bottom, top = (13, 512, 256, width), (479, 1024, 1024, 512, 256, 1)

    def perceptron(sizes):
        return [{"w": array(a, b), "b": array(b)} for a, b in pairwise(sizes)]

    params = {
        "tables": array(tables, size, width),
        "bottom": perceptron(bottom),
        "top": perceptron(top),
    }
    spec = jax.tree.map(lambda _: P(), params) | {"tables": P(None, "tensor")}

    def run(layers, x):
        for n, layer in enumerate(layers):
            x = x @ layer["w"] + layer["b"]
            x = jax.nn.relu(x) if n + 1 < len(layers) else x
        return x

    def loss(params, batch):
        dense = run(params["bottom"], batch["dense"])
        picked = jax.vmap(lambda table, ids: table[ids], (0, 1), 1)(
            params["tables"], batch["ids"]
        )
        picked = hold(picked, P("data", None, None))
        features = jnp.concatenate([dense[:, None], picked], 1)
        products = jnp.einsum("bfd,bgd->bfg", features, features)
        first, second = jnp.tril_indices(tables + 1, -1)
        crossed = jnp.concatenate([dense, products[:, first, second]], -1)
        logits = run(params["top"], crossed)[:, 0]
        return optax.sigmoid_binary_cross_entropy(logits, batch["labels"]).mean()

    batch = {
        "dense": array(rows, 13),
        "ids": array(rows, tables, dtype="int32"),
        "labels": array(rows),
    }
    return trained(
        *(loss, optax.adagrad(0.02), params, spec),
        *(batch, dict.fromkeys(batch, P("data"))),
    )


@program("v5p:2x2x1", data=4)
def graph():
    nodes, edges, width, layers = 65536, 524288, 256, 4

    def loss(params, x, source, target, labels):
        for w in params["layers"]:
            messages = jax.nn.relu(x[source] @ w["m"] + x[target] @ w["t"])
            summed = jax.ops.segment_sum(messages, target, nodes)
            x = jax.nn.relu(x @ w["s"] + summed @ w["a"])
        return cross_entropy(x @ params["head"], labels)

    w = {n: shape(width, width) for n in "mtsa"}
    params = {"layers": [w] * layers, "head": shape(width, 64)}
    index = shape(edges, dtype="int32")
    return (
        sgd(loss),
        (params, shape(nodes, width), index, index, shape(nodes, dtype="int32")),
        (replicated(params), P(), P("data"), P("data"), P()),
        {"donate_argnums": 0},
    )


@program("v5e:2x2", data=4)
def graph_attention():
    nodes, edges, width, heads, classes = 65536, 1 << 20, 256, 4, 64

    def layer(x, w, senders, receivers):
        h = (x @ w["w"]).reshape(nodes, heads, -1)
        score = (
            jnp.sum(h * w["to"], -1)[receivers] + jnp.sum(h * w["from"], -1)[senders]
        )
        score = jax.nn.leaky_relu(score).astype(jnp.float32)
        most = jax.lax.stop_gradient(jax.ops.segment_max(score, receivers, nodes))
        weight = jnp.exp(score - most[receivers])
        total = jax.ops.segment_sum(weight, receivers, nodes)
        message = h[senders] * (weight / total[receivers])[..., None].astype(h.dtype)
        return jax.ops.segment_sum(message, receivers, nodes).reshape(nodes, -1)

    def loss(params, x, senders, receivers, labels):
        for w in params["layers"]:
            x = x + jax.nn.elu(layer(x, w, senders, receivers))
        return cross_entropy(x @ params["head"], labels)

    w = {"w": shape(width, width)}
    w |= {n: shape(heads, width // heads) for n in ("to", "from")}
    params = {"layers": [w] * 3, "head": shape(width, classes)}
    spec = replicated(params)
    index = shape(edges, dtype="int32")
    return (
        adam(loss),
        (*[params] * 3, shape(nodes, width), index, index, shape(nodes, dtype="int32")),
        (spec, spec, spec, P(), P("data"), P("data"), P()),
        {"donate_argnums": (0, 1, 2)},
    )
