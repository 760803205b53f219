"""The rest of the twelve: a perceptron on two axes, a ring and int8 weights, and a convolutional VAE."""
# pyright: basic

from itertools import pairwise

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program, state_specs

hold = jax.lax.with_sharding_constraint


def replicated(tree):
    return jax.tree.map(lambda _: P(), tree)


@program("v5e:2x4", x=2, y=4)
def grid_perceptron():
    """Six pairs of products whose weights lie on both axes of a mesh; rows on the first."""
    d, ff, depth, rows = 4096, 16384, 6, 8192
    layer = {"w1": array(d, ff), "b1": array(ff), "w2": array(ff, d)}
    spec = {"w1": P("x", "y"), "b1": P("y"), "w2": P("y", "x")}
    params, split = [layer] * depth, [spec] * depth

    def loss_fn(params, x, y):
        for w in params:
            h = x @ w["w1"].astype(jnp.bfloat16) + w["b1"].astype(jnp.bfloat16)
            h = hold(jax.nn.gelu(h), P("x", "y"))
            x = hold(x + h @ w["w2"].astype(jnp.bfloat16), P("x"))
        return jnp.mean(jnp.square(x.astype(jnp.float32) - y.astype(jnp.float32)))

    opt = optax.sgd(1e-2, momentum=0.9)

    def train_step(params, state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state, of_state = state_specs(opt, params, split)
    x = array(rows, d, dtype="bfloat16")
    return (
        train_step,
        (params, state, x, x),
        (split, of_state, P("x"), P("x")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x2", ring=8)
def ring_decoder():
    """Four layers in Python with attention that passes keys and values round a ring of devices."""
    d, heads, ff, depth, length, ring = 2048, 16, 8192, 4, 32768, 8
    layer = {
        **{"qkv": array(d, 3, heads, d // heads), "o": array(heads, d // heads, d)},
        **{"up": array(d, ff), "down": array(ff, d), "n1": array(d), "n2": array(d)},
    }
    params = [layer] * depth
    mesh_spec = P(None, "ring", None, None)

    def attend(q, k, v):
        """Attend of a device's part of the time to all parts, one in each turn."""
        size = q.shape[-1]
        me = jax.lax.axis_index("ring")
        at = jnp.arange(q.shape[1])
        to_next = [(i, (i + 1) % ring) for i in range(ring)]

        def turn(carry, i):
            k, v, total, norm, top = carry
            source = (me - i) % ring
            s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) * size**-0.5
            ahead = (me * len(at) + at)[:, None] >= (source * len(at) + at)[None]
            s = jnp.where(ahead, s, -1e30)
            new_top = jnp.maximum(top, s.max(-1))
            p = jnp.exp(s - new_top[..., None])
            fade = jnp.exp(top - new_top)
            norm = norm * fade + p.sum(-1)
            part = jnp.einsum("bhqk,bkhd->bhqd", p.astype(v.dtype), v)
            total = total * fade[..., None] + part.astype(jnp.float32)
            k, v = (jax.lax.ppermute(a, "ring", to_next) for a in (k, v))
            return (k, v, total, norm, new_top), None

        b, t, h, _ = q.shape
        zero = jax.lax.pcast(jnp.zeros((b, h, t)), "ring", to="varying")
        total = jax.lax.pcast(jnp.zeros((b, h, t, size)), "ring", to="varying")
        start = (k, v, total, zero, zero - 1e30)
        (_, _, total, norm, _), _ = jax.lax.scan(
            jax.checkpoint(turn), start, jnp.arange(ring)
        )
        return (total / norm[..., None]).astype(q.dtype).swapaxes(1, 2)

    def norm(x, g):
        x32 = x.astype(jnp.float32)
        y = x32 * jax.lax.rsqrt(jnp.square(x32).mean(-1, keepdims=True) + 1e-6)
        return (y * g).astype(x.dtype)

    @jax.checkpoint
    def block(w, x):
        low = {n: a.astype(jnp.bfloat16) for n, a in w.items()}
        q, k, v = jnp.einsum("btd,dchk->cbthk", norm(x, w["n1"]), low["qkv"])
        around = jax.shard_map(attend, in_specs=(mesh_spec,) * 3, out_specs=mesh_spec)
        x = x + jnp.einsum("bthk,hkd->btd", around(q, k, v), low["o"])
        h = jax.nn.gelu(norm(x, w["n2"]) @ low["up"])
        return x + h @ low["down"]

    def loss_fn(params, x, y):
        for w in params:
            x = block(w, x)
        return jnp.mean(jnp.square((x - y).astype(jnp.float32)))

    def train_step(params, m, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, grads)
        return jax.tree.map(lambda p, m: p - 1e-3 * m, params, m), m, loss

    x = array(1, length, d, dtype="bfloat16")
    by_time = P(None, "ring")
    return (
        train_step,
        (params, params, x, x),
        (replicated(params), replicated(params), by_time, by_time),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x2", tensor=4)
def quantized_token():
    """One token of a decoder with int8 weights and scales, caches of 4,096 rows, layers scanned."""
    layers, d, heads, kv, size, ff, vocab = 32, 4096, 32, 8, 128, 14336, 32000
    batch, length = 32, 4096

    def quantized(*s):
        return {
            "w": array(layers, *s, dtype="int8"),
            "scale": array(layers, s[-1], dtype="bfloat16"),
        }

    params = {
        "embed": array(vocab, d, dtype="bfloat16"),
        "layers": {
            **{"q": quantized(d, heads * size), "k": quantized(d, kv * size)},
            **{"v": quantized(d, kv * size), "o": quantized(heads * size, d)},
            **{"gate": quantized(d, ff), "up": quantized(d, ff)},
            **{
                "down": quantized(ff, d),
                "n1": array(layers, d),
                "n2": array(layers, d),
            },
        },
        "head": array(d, vocab, dtype="bfloat16"),
    }
    columns = {"w": P(None, None, "tensor"), "scale": P(None, "tensor")}
    rows = {"w": P(None, "tensor"), "scale": P()}
    split = {
        "embed": P(None, "tensor"),
        "layers": {
            **dict.fromkeys(("q", "k", "v", "gate", "up"), columns),
            **{"o": rows, "down": rows, "n1": P(), "n2": P()},
        },
        "head": P(None, "tensor"),
    }

    def linear(x, w):
        return (x @ w["w"].astype(x.dtype)) * w["scale"]

    def norm(x, g):
        x32 = x.astype(jnp.float32)
        y = x32 * jax.lax.rsqrt(jnp.square(x32).mean(-1, keepdims=True) + 1e-6)
        return (y * g).astype(x.dtype)

    def decode(params, caches, token, at):
        x = params["embed"][token]

        def layer(x, inputs):
            w, keys, values = inputs
            h = norm(x, w["n1"])
            q = linear(h, w["q"]).reshape(batch, kv, heads // kv, size)
            k = linear(h, w["k"]).reshape(batch, 1, kv, size)
            v = linear(h, w["v"]).reshape(batch, 1, kv, size)
            keys = jax.lax.dynamic_update_slice(keys, k, (0, at, 0, 0))
            values = jax.lax.dynamic_update_slice(values, v, (0, at, 0, 0))
            s = jnp.einsum("bgqk,btgk->bgqt", q, keys).astype(jnp.float32)
            s = jnp.where(jnp.arange(length) <= at, s * size**-0.5, -1e30)
            p = jax.nn.softmax(s).astype(x.dtype)
            o = jnp.einsum("bgqt,btgk->bgqk", p, values).reshape(batch, -1)
            x = x + linear(o, w["o"])
            h = norm(x, w["n2"])
            h = jax.nn.silu(linear(h, w["gate"])) * linear(h, w["up"])
            return x + linear(h, w["down"]), (keys, values)

        x, caches = jax.lax.scan(layer, x, (params["layers"], *caches))
        return (x @ params["head"]).argmax(-1), caches

    cache = array(layers, batch, length, kv, size, dtype="bfloat16")
    by_heads = P(None, None, None, "tensor")
    return (
        decode,
        (params, (cache, cache), array(batch, dtype="int32"), array(dtype="int32")),
        (split, (by_heads, by_heads), P(), P()),
        {"donate_argnums": (1,)},
    )


@program("v4:2x2x1", data=4)
def convolved_vae():
    """A convolutional VAE in f32: strides down, transposed convolutions up, and Adam."""
    widths, latent, batch, size = (64, 128, 256, 512), 256, 512, 64
    ways, params = [3, *widths], {"down": [], "up": []}
    for given, width in pairwise(ways):
        params["down"].append({"w": array(4, 4, given, width), "b": array(width)})
        made = given if given > 3 else 64
        params["up"].insert(0, {"w": array(4, 4, width, made), "b": array(made)})
    flat = widths[-1] * (size // 16) ** 2
    params |= {"mean": array(flat, latent), "logvar": array(flat, latent)}
    params |= {"start": array(latent, flat), "last": array(3, 3, 64, 3)}
    dims = ("NHWC", "HWIO", "NHWC")

    def loss_fn(params, images, key):
        x = images
        for w in params["down"]:
            x = jax.lax.conv_general_dilated(
                x, w["w"], (2, 2), "SAME", dimension_numbers=dims
            )
            x = jax.nn.leaky_relu(x + w["b"], 0.2)
        x = x.reshape(x.shape[0], -1)
        mean, logvar = x @ params["mean"], x @ params["logvar"]
        z = mean + jnp.exp(logvar / 2) * jax.random.normal(key, mean.shape)
        x = (z @ params["start"]).reshape(-1, size // 16, size // 16, widths[-1])
        for w in params["up"]:
            x = jax.lax.conv_transpose(
                x, w["w"], (2, 2), "SAME", dimension_numbers=dims
            )
            x = jax.nn.relu(x + w["b"])
        x = jax.lax.conv_general_dilated(
            x, params["last"], (1, 1), "SAME", dimension_numbers=dims
        )
        kl = -0.5 * jnp.sum(1 + logvar - mean**2 - jnp.exp(logvar), -1)
        return jnp.square(x - images).sum((1, 2, 3)).mean() + kl.mean()

    opt = optax.adam(1e-3)

    def train_step(params, state, images, key):
        loss, grads = jax.value_and_grad(loss_fn)(params, images, key)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state = jax.eval_shape(opt.init, params)
    key = jax.eval_shape(lambda: jax.random.key(0))
    return (
        train_step,
        (params, state, array(4 * batch, size, size, 3), key),
        (replicated(params), replicated(state), P("data"), P()),
        {"donate_argnums": (0, 1)},
    )
