"""Fourteenth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_twelfth.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind_eleventh.py`: GPT of Flax Linen in a scan, ResNet-50 of Flax Linen with
batch statistics, experts of which each token has one, a diffusion transformer with a moving
average of its weights, and an encoder and decoder in Python. Needs `flax`, too.
"""
# pyright: basic

from functools import partial

from tpu_blind_eleventh import _cast
from tpu_blind_sixth import attend, normed, token_loss, trained
from tpu_blind_tenth import _by_rows, clipped
from tpu_programs import PROGRAMS, main, program, shape

OTHERS = set(PROGRAMS)


def _put(x, spec):
    import jax

    unknown = jax.sharding.get_abstract_mesh().empty  # while shapes are asked for
    return x if unknown else jax.lax.with_sharding_constraint(x, spec)


@program("v6e:2x4", fsdp=8)
def linen_scan():
    """GPT of 0.8e9 parameters of Flax Linen, computed in bf16, its layers in a scan with a checkpoint."""
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, vocab, rows, length = 24, 1536, 16, 50304, 64, 2048
    dense = partial(nn.Dense, dtype=jnp.bfloat16, use_bias=False)

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, _):
            b, t, d = x.shape
            h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
            q, k, v = jnp.split(dense(3 * width)(h), 3, -1)
            q, k, v = (y.reshape(b, t, heads, -1) for y in (q, k, v))
            x = x + dense(width)(attend(q, k, v).reshape(b, t, d))
            h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
            return _put(x + dense(width)(nn.gelu(dense(4 * width)(h))), P("fsdp")), None

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(vocab, width, dtype=jnp.bfloat16)(tokens)
            many = nn.scan(
                nn.remat(Layer, prevent_cse=False),
                variable_axes={"params": 0},
                split_rngs={"params": True},
                length=layers,
            )
            x, _ = many()(x, None)
            return dense(vocab)(nn.LayerNorm(dtype=jnp.bfloat16)(x))

    model = Model()

    def loss(params, tokens):
        return token_loss(model.apply(params, tokens[:, :-1]), tokens[:, 1:])

    few = jax.ShapeDtypeStruct((1, length), jnp.int32)
    params = jax.eval_shape(model.init, jax.random.key(0), few)
    spec = jax.tree.map(
        lambda p: P(*[None] * (p.ndim - 2), "fsdp") if p.size >= 2**20 else P(), params
    )
    tokens = shape(rows, length + 1, dtype="int32")
    return trained(loss, clipped(3e-4), params, spec, tokens, P("fsdp"))


@program("v5e:2x4", data=8)
def linen_resnet():
    """ResNet-50 of Flax Linen in bf16 with batch statistics and momentum, weights on every device."""
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

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


@program("v5p:2x2x4", data=4, expert=4)
def switch_experts():
    """Layers in a scan whose tokens go to one of 32 experts each, by products with one-hot masks."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, hidden, experts, vocab = 12, 1536, 12, 6144, 32, 32128
    rows, length, capacity = 64, 1024, 40
    f32 = partial(shape, dtype="float32")
    both = P(("data", "expert"))

    @jax.checkpoint
    def block(x, p):
        p = _cast(p)
        b, t, d = x.shape
        h = normed(x, p["n1"])
        q, k, v = ((h @ p[n]).reshape(b, t, heads, -1) for n in "qkv")
        x = x + attend(q, k, v).reshape(b, t, d) @ p["o"]
        h = normed(x, p["n2"])
        gates = jax.nn.softmax((h @ p["router"]).astype(jnp.float32), -1)
        gate, expert = gates.max(-1), gates.argmax(-1)
        taken = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
        place = (jnp.cumsum(taken, 1) * taken).sum(-1) - 1
        where = jax.nn.one_hot(place, capacity, dtype=x.dtype)
        mask = jnp.einsum("bte,btc->btec", taken.astype(x.dtype), where)
        sent = jnp.einsum("btec,btd->ebcd", mask, h)
        sent = jax.lax.with_sharding_constraint(sent, P("expert", "data"))
        y = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", sent, p["up"]))
        y = jnp.einsum("ebcf,efd->ebcd", y, p["down"])
        y = jax.lax.with_sharding_constraint(y, P("expert", "data"))
        y = jnp.einsum(
            "btec,ebcd->btd", mask * gate[..., None, None].astype(x.dtype), y
        )
        return jax.lax.with_sharding_constraint(x + y, both), None

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        x, _ = jax.lax.scan(block, x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    sizes = dict.fromkeys("qkvo", (width, width)) | {"router": (width, experts)}
    sizes |= {"n1": (width,), "n2": (width,)}
    sizes |= {"up": (experts, width, hidden), "down": (experts, hidden, width)}
    params = {"embed": f32(vocab, width), "norm": f32(width), "head": f32(width, vocab)}
    params["layers"] = {n: f32(layers, *s) for n, s in sizes.items()}
    spec = {"embed": P("data"), "norm": P(), "head": P("data")}
    spec["layers"] = dict.fromkeys("qkvo", P(None, "data"))
    spec["layers"] |= dict.fromkeys(("router", "n1", "n2"), P())
    spec["layers"] |= dict.fromkeys(("up", "down"), P(None, "expert", "data"))
    batch = dict.fromkeys(("tokens", "targets"), shape(rows, length, dtype="int32"))
    return trained(loss, clipped(3e-4), params, spec, batch, dict.fromkeys(batch, both))


@program("v5e:4x4", fsdp=16)
def averaged_diffusion():
    """A diffusion transformer in a scan with a checkpoint, conditioned on time, and averaged weights."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

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
            p = _cast(p)
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


@program("v6e:4x4", fsdp=16)
def listed_summaries():
    """An encoder and a decoder of 0.7e9 parameters in Python, each layer with a checkpoint."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, vocab, rows, length = 12, 1536, 12, 50272, 128, 1024
    f32 = partial(shape, dtype="float32")

    def mixed(x, y, p, names, causal):
        q, k, v, o = (p[n] for n in names)
        b, t, d = x.shape
        q = (x @ q).reshape(b, t, heads, -1)
        k, v = ((y @ w).reshape(b, y.shape[1], heads, -1) for w in (k, v))
        return attend(q, k, v, causal=causal).reshape(b, t, d) @ o

    @jax.checkpoint
    def encode(x, p):
        p = _cast(p)
        h = normed(x, p["n1"])
        x = x + mixed(h, h, p, "qkvo", causal=False)
        x = x + jax.nn.gelu(normed(x, p["n2"]) @ p["up"]) @ p["down"]
        return jax.lax.with_sharding_constraint(x, P("fsdp"))

    @jax.checkpoint
    def decode(y, x, p):
        p = _cast(p)
        h = normed(y, p["n1"])
        y = y + mixed(h, h, p, "qkvo", causal=True)
        y = y + mixed(normed(y, p["n3"]), x, p, "QKVO", causal=False)
        y = y + jax.nn.gelu(normed(y, p["n2"]) @ p["up"]) @ p["down"]
        return jax.lax.with_sharding_constraint(y, P("fsdp"))

    def loss(params, batch):
        embed = params["embed"].astype(jnp.bfloat16)
        x = embed[batch["source"]]
        for p in params["encoder"]:
            x = encode(x, p)
        y = embed[batch["target"]]
        for p in params["decoder"]:
            y = decode(y, x, p)
        return token_loss(normed(y, params["norm"]) @ embed.T, batch["labels"])

    def layer(squares, norms):
        sizes = dict.fromkeys(squares, f32(width, width)) | dict.fromkeys(
            norms, f32(width)
        )
        return sizes | {"up": f32(width, 4 * width), "down": f32(4 * width, width)}

    params = {"embed": f32(vocab, width), "norm": f32(width)}
    params["encoder"] = [layer("qkvo", ("n1", "n2"))] * layers
    params["decoder"] = [layer("qkvoQKVO", ("n1", "n2", "n3"))] * layers
    batch = dict.fromkeys(
        ("source", "target", "labels"), shape(rows, length, dtype="int32")
    )
    return trained(
        *(loss, clipped(3e-4), params, _by_rows(params, "fsdp")),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 16")
