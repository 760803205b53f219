"""More programs for the TPU's compiler: nobody looked at them while rules were found.

    python benchmarks/tpu_judges.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_programs.py`, with other models, optimizers and meshes.
"""
# pyright: basic

from itertools import pairwise

from tpu_programs import (
    PROGRAMS,
    adam_on_fsdp,
    main,
    program,
    sgd,
    shape,
    specs,
    tensor_parallel,
    transformer,
)

OTHERS = set(PROGRAMS)


def momentum(loss, rate=1e-3):
    import jax

    def step(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        state = jax.tree.map(lambda m, g: 0.9 * m + g.astype(m.dtype), state, grads)
        new = jax.tree.map(lambda p, m: (p - rate * m).astype(p.dtype), params, state)
        return new, state, value

    return step


@program("v5e:2x2", data=4)
def vit_train():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

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


@program("v6e:2x2", data=4)
def unet_train():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

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


@program("v6e:2x4", data=2, model=4)
def lm_tensor_dots():
    from jax.sharding import PartitionSpec as P

    loss, params, tokens = transformer(
        6, 2048, 16, 8192, 32768, 16, 2048, "dots", axis="data"
    )
    spec = tensor_parallel()
    return (
        momentum(loss),
        (params, params, tokens),
        (spec, spec, P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x2", fsdp=8)
def lm_short_none():

    loss, params, tokens = transformer(
        8, 2048, 16, 8192, 32768, 32, 1024, "none", dtype="float32", axis="fsdp"
    )
    return adam_on_fsdp(loss, params, tokens)


@program("v5e:4x4", fsdp=16)
def lm_long_full():
    from jax.sharding import PartitionSpec as P

    loss, params, tokens = transformer(
        8, 2048, 16, 8192, 65536, 16, 4096, "full", axis="fsdp"
    )
    spec = specs(params, "fsdp")
    return sgd(loss), (params, tokens), (spec, P("fsdp")), {"donate_argnums": 0}


@program("v5e:2x2", data=2, model=2)
def prefill():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    width, heads, kv, head, hidden, layers = 4096, 32, 8, 128, 14336, 4

    def f(params, x):
        def layer(x, w):
            b, s, _ = x.shape
            q = (x @ w["q"]).reshape(b, s, kv, heads // kv, head)
            k = (x @ w["k"]).reshape(b, s, kv, head)
            v = (x @ w["v"]).reshape(b, s, kv, head)
            a = jnp.einsum("bqkgd,bskd->bkgqs", q, k).astype(jnp.float32) * head**-0.5
            a = jnp.where(jnp.tril(jnp.ones((s, s), bool)), a, -1e30)
            p = jax.nn.softmax(a, -1).astype(x.dtype)
            o = jnp.einsum("bkgqs,bskd->bqkgd", p, v).reshape(b, s, -1)
            x = x + o @ w["o"]
            g = jax.nn.silu(x @ w["gate"]) * (x @ w["up"])
            return x + g @ w["down"], (k, v)

        x, cache = jax.lax.scan(layer, x, params)
        return x[:, -1], cache

    def w(*sizes):
        return shape(layers, *sizes)

    params = {"q": w(width, heads * head), "o": w(heads * head, width)}
    params |= {n: w(width, kv * head) for n in "kv"}
    params |= {"gate": w(width, hidden), "up": w(width, hidden)}
    params |= {"down": w(hidden, width)}
    n = None
    spec = {k: P(n, n, "model") for k in params}
    spec |= {"o": P(n, "model"), "down": P(n, "model")}
    return f, (params, shape(8, 2048, width)), (spec, P("data")), {}


@program("v5e:2x2", data=4)
def decode_loop():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, head, length = 8, 2048, 16, 128, 4096

    def f(params, keys, values, x):
        def token(at, state):
            keys, values, x = state
            for i in range(layers):
                w = jax.tree.map(lambda p, i=i: p[i], params)
                q, k, v = (
                    (x @ w[n]).reshape(x.shape[0], 1, heads, head) for n in "qkv"
                )
                keys = jax.lax.dynamic_update_slice(keys, k[None], (i, 0, at, 0, 0))
                values = jax.lax.dynamic_update_slice(values, v[None], (i, 0, at, 0, 0))
                s = jnp.einsum("bqhd,bshd->bhqs", q, keys[i]).astype(jnp.float32)
                s = jnp.where(jnp.arange(length) <= at, s, -1e30)
                p = jax.nn.softmax(s, -1).astype(x.dtype)
                o = jnp.einsum("bhqs,bshd->bqhd", p, values[i])
                x = x + o.reshape(x.shape) @ w["o"]
                x = x + jax.nn.relu(x @ w["up"]) @ w["down"]
            return keys, values, x

        return jax.lax.fori_loop(0, 128, token, (keys, values, x))

    params = {n: shape(layers, width, width) for n in "qkvo"}
    params |= {"up": shape(layers, width, 8192), "down": shape(layers, 8192, width)}
    cache = shape(layers, 16, length, heads, head)
    split = P(None, "data")
    return (
        f,
        (params, cache, cache, shape(16, width)),
        (jax.tree.map(lambda _: P(), params), split, split, P("data")),
        {"donate_argnums": (1, 2)},
    )


@program("v6e:2x2", data=4)
def lora_train():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    width, hidden, layers, rank = 4096, 16384, 6, 16

    def loss(adapters, base, x, y):
        for w, a in zip(base, adapters, strict=True):
            h = x @ w["up"] + (x @ a["a1"]) @ a["b1"]
            h = jax.nn.silu(h)
            x = x + h @ w["down"] + (h @ a["a2"]) @ a["b2"]
        return jnp.mean((x - y).astype(jnp.float32) ** 2)

    base = [{"up": shape(width, hidden), "down": shape(hidden, width)}] * layers
    adapter = {"a1": shape(width, rank), "b1": shape(rank, hidden)}
    adapter |= {"a2": shape(hidden, rank), "b2": shape(rank, width)}
    adapters = [adapter] * layers
    batch = shape(16384, width)

    def everywhere(tree):
        return jax.tree.map(lambda _: P(), tree)

    return (
        momentum(loss),
        (adapters, adapters, base, batch, batch),
        (*map(everywhere, (adapters, adapters, base)), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x4", data=8)
def contrastive():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def tower(params, x):
        for w in params[:-1]:
            x = jax.nn.gelu(x @ w)
        x = (x @ params[-1]).astype(jnp.float32)
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def loss(params, images, texts):
        a, b = tower(params[0], images), tower(params[1], texts)
        logits = a @ b.T * 20
        rows = jnp.diagonal(jax.nn.log_softmax(logits, 1))
        columns = jnp.diagonal(jax.nn.log_softmax(logits, 0))
        return -jnp.mean(rows + columns)

    one = [shape(1024, 8192), shape(8192, 8192), shape(8192, 512)]
    batch = shape(32768, 1024)
    return (
        sgd(loss),
        ([one, one], batch, batch),
        ([[P()] * 3] * 2, P("data"), P("data")),
        {"donate_argnums": 0},
    )


@program("v5p:2x2x1", data=4)
def lm_accumulated():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    loss, params, tokens = transformer(4, 2048, 16, 8192, 32768, 8, 1024, "full")

    def step(params, batch):
        def micro(total, tokens):
            grads = jax.grad(loss)(params, tokens)
            return jax.tree.map(lambda a, b: a + b.astype(a.dtype), total, grads), None

        zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), params)
        grads, _ = jax.lax.scan(micro, zeros, batch)
        return jax.tree.map(lambda p, g: (p - 1e-3 * g).astype(p.dtype), params, grads)

    return (
        step,
        (params, shape(8, *tokens.shape, dtype="int32")),
        (jax.tree.map(lambda _: P(), params), P(None, "data")),
        {"donate_argnums": 0},
    )


@program("v6e:2x2", fsdp=4)
def adafactor_mlp():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

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


@program("v5p:2x2x1", expert=4)
def moe_dispatch():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    width, hidden, experts, room = 2048, 8192, 16, 256

    def loss(params, x):
        def constrain(y):
            return jax.lax.with_sharding_constraint(y, P("expert"))

        for w in params:
            gates = jax.nn.softmax((x @ w["r"]).astype(jnp.float32), -1)
            best = jnp.argmax(gates, -1)
            chosen = jax.nn.one_hot(best, experts)
            at = jnp.cumsum(chosen, 1) * chosen - 1
            slot = jax.nn.one_hot(at.astype(jnp.int32), room, dtype=x.dtype)
            sent = jnp.einsum("gsec,gsd->egcd", slot, x)
            h = jax.nn.relu(jnp.einsum("egcd,edf->egcf", constrain(sent), w["up"]))
            back = constrain(jnp.einsum("egcf,efd->egcd", h, w["down"]))
            weight = jnp.max(gates, -1)[..., None, None].astype(x.dtype)
            x = x + jnp.einsum("gsec,egcd->gsd", slot * weight, back)
        return jnp.mean(x.astype(jnp.float32) ** 2)

    layer = {"r": shape(width, experts), "up": shape(experts, width, hidden)}
    layer |= {"down": shape(experts, hidden, width)}
    spec = {"r": P(), "up": P("expert"), "down": P("expert")}
    return (
        sgd(loss),
        ([layer] * 2, shape(16, 2048, width)),
        ([spec] * 2, P("expert")),
        {"donate_argnums": 0},
    )


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "fresh")
