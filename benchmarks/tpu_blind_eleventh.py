"""Thirteenth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_eleventh.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind_tenth.py`: Llama among two copies of eight devices, adapters on a frozen Llama, a
ViT in Python whose sums are split along two axes, a translator in a scan with Adafactor, and
perceptrons of a recommender.
"""
# pyright: basic

from functools import partial

from tpu_blind_seventh import llama_block, llama_weights
from tpu_blind_sixth import attend, normed, token_loss, trained
from tpu_blind_tenth import clipped
from tpu_programs import PROGRAMS, main, program, shape

OTHERS = set(PROGRAMS)


def _cast(tree):
    import jax
    import jax.numpy as jnp

    return jax.tree.map(lambda w: w.astype(jnp.bfloat16), tree)


@program("v5p:2x2x4", data=2, fsdp=8)
def copied_llama():
    """Llama of 1.3e9 parameters in a scan, weights split among eight and held twice."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, groups, hidden, vocab = 20, 2048, 16, 8, 6144, 50304
    f32 = partial(shape, dtype="float32")
    both = P(("data", "fsdp"))
    block = jax.checkpoint(llama_block(heads, groups, both))

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        x, _ = jax.lax.scan(lambda x, p: (block(x, p), None), x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", None)
    params = {"embed": f32(vocab, width), "norm": f32(width)}
    params |= {"layers": {n: f32(layers, *sizes) for n, sizes in weights.items()}}
    params |= {"head": f32(width, vocab)}
    spec = {"embed": P("fsdp"), "norm": P(), "head": P("fsdp")}
    spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    batch = dict.fromkeys(("tokens", "targets"), shape(32, 2048, dtype="int32"))
    return trained(loss, clipped(3e-4), params, spec, batch, dict.fromkeys(batch, both))


@program("v5e:2x4", fsdp=8)
def adapted_llama():
    """Adapters of rank 32 on Llama of 3.2e9 parameters in bf16, in a scan with a checkpoint."""
    import jax
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, groups, hidden, vocab, rank = 26, 3072, 24, 8, 8192, 32000, 32
    bf16, f32 = partial(shape, dtype="bfloat16"), partial(shape, dtype="float32")
    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", None)
    adapted = {n: s for n, s in weights.items() if n in ("wq", "wv", "up", "down")}
    block = llama_block(heads, groups, P("fsdp"))

    @jax.checkpoint
    def turn(x, both):
        p, adapters = both
        sums = {n: a @ b for n, (a, b) in _cast(adapters).items()}
        return block(
            x, {n: w + sums[n] if n in sums else w for n, w in p.items()}
        ), None

    def step(adapters, state, base, batch):
        def loss(adapters):
            x = base["embed"][batch["tokens"]]
            x, _ = jax.lax.scan(turn, x, (base["layers"], adapters))
            return token_loss(normed(x, base["norm"]) @ base["head"], batch["targets"])

        value, grads = jax.value_and_grad(loss)(adapters)
        updates, state = optimizer.update(grads, state, adapters)
        return optax.apply_updates(adapters, updates), state, value

    optimizer = optax.adamw(1e-4)
    base = {
        "embed": bf16(vocab, width),
        "norm": bf16(width),
        "head": bf16(width, vocab),
    }
    base["layers"] = {n: bf16(layers, *s) for n, s in weights.items()}
    base_spec = {"embed": P("fsdp"), "norm": P(), "head": P("fsdp")}
    base_spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    adapters = {
        n: (f32(layers, rows, rank), f32(layers, rank, columns))
        for n, (rows, columns) in adapted.items()
    }
    state = jax.eval_shape(optimizer.init, adapters)
    whole = jax.tree.map(lambda _: P(), (adapters, state))
    batch = dict.fromkeys(("tokens", "targets"), shape(16, 2048, dtype="int32"))
    return (
        step,
        (adapters, state, base, batch),
        (*whole, base_spec, dict.fromkeys(batch, P("fsdp"))),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:4x4", data=4, tensor=4)
def tensor_vit():
    """ViT-H/14 with layers in Python and a tensor axis, no checkpoint, weights held by each of four."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, patches, classes, rows = 16, 1280, 16, 256, 1000, 128
    f32 = partial(shape, dtype="float32")

    def block(x, p):
        p = _cast(p)
        b, t, d = x.shape
        h = normed(x, p["n1"])
        q, k, v = ((h @ p[n]).reshape(b, t, heads, -1) for n in "qkv")
        x = x + attend(q, k, v, causal=False).reshape(b, t, d) @ p["o"]
        x = x + jax.nn.gelu(normed(x, p["n2"]) @ p["up"]) @ p["down"]
        return jax.lax.with_sharding_constraint(x, P("data"))

    def loss(params, batch):
        x = batch["patches"].astype(jnp.bfloat16) @ params["stem"].astype(jnp.bfloat16)
        x = x + params["places"].astype(x.dtype)
        for p in params["layers"]:
            x = block(x, p)
        x = normed(x, params["norm"]).mean(1)
        return token_loss(x @ params["head"].astype(x.dtype), batch["labels"])

    layer = dict.fromkeys("qkvo", f32(width, width))
    layer |= {"up": f32(width, 4 * width), "down": f32(4 * width, width)}
    layer |= {"n1": f32(width), "n2": f32(width)}
    split = dict.fromkeys(("q", "k", "v", "up"), P(None, "tensor"))
    split |= dict.fromkeys(("o", "down"), P("tensor")) | {"n1": P(), "n2": P()}
    params = {"stem": f32(588, width), "places": f32(patches, width)}
    params |= {"layers": [layer] * layers, "norm": f32(width)}
    params["head"] = f32(width, classes)
    spec = {"stem": P(), "places": P(), "layers": [split] * layers, "norm": P()}
    spec["head"] = P()
    batch = {"patches": f32(rows, patches, 588), "labels": shape(rows, dtype="int32")}
    return trained(
        loss, clipped(1e-3), params, spec, batch, dict.fromkeys(batch, P("data"))
    )


@program("v5p:2x2x2", fsdp=8)
def scanned_translator():
    """An encoder and a decoder with cross attention, both in scans with checkpoints, Adafactor."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, vocab, rows, length = 12, 2048, 16, 32128, 64, 1024
    f32 = partial(shape, dtype="float32")

    def mixed(x, y, p, names, causal):
        q, k, v, o = (p[n] for n in names)
        b, t, d = x.shape
        q = (x @ q).reshape(b, t, heads, -1)
        k, v = ((y @ w).reshape(b, y.shape[1], heads, -1) for w in (k, v))
        return attend(q, k, v, causal=causal).reshape(b, t, d) @ o

    def put(x):
        return jax.lax.with_sharding_constraint(x, P("fsdp"))

    @jax.checkpoint
    def encode(x, p):
        p = _cast(p)
        h = normed(x, p["n1"])
        x = x + mixed(h, h, p, "qkvo", causal=False)
        return put(x + jax.nn.relu(normed(x, p["n2"]) @ p["up"]) @ p["down"]), None

    def loss(params, batch):
        embed = params["embed"].astype(jnp.bfloat16)
        x, _ = jax.lax.scan(encode, embed[batch["source"]], params["encoder"])
        x = normed(x, params["norm"])

        @jax.checkpoint
        def decode(y, p):
            p = _cast(p)
            h = normed(y, p["n1"])
            y = y + mixed(h, h, p, "qkvo", causal=True)
            y = y + mixed(normed(y, p["n3"]), x, p, "QKVO", causal=False)
            return put(y + jax.nn.relu(normed(y, p["n2"]) @ p["up"]) @ p["down"]), None

        tokens = batch["target"]
        y, _ = jax.lax.scan(decode, embed[tokens[:, :-1]], params["decoder"])
        return token_loss(normed(y, params["last"]) @ embed.T, tokens[:, 1:])

    def stack(squares, norms):
        sizes = dict.fromkeys(squares, (width, width)) | dict.fromkeys(norms, (width,))
        sizes |= {"up": (width, 4 * width), "down": (4 * width, width)}
        split = {n: P(None, "fsdp") if len(s) > 1 else P() for n, s in sizes.items()}
        return {n: f32(layers, *s) for n, s in sizes.items()}, split

    encoder, encoder_spec = stack("qkvo", ("n1", "n2"))
    decoder, decoder_spec = stack("qkvoQKVO", ("n1", "n2", "n3"))
    params = {"embed": f32(vocab, width), "norm": f32(width), "last": f32(width)}
    params |= {"encoder": encoder, "decoder": decoder}
    spec = {"embed": P("fsdp"), "norm": P(), "last": P()}
    spec |= {"encoder": encoder_spec, "decoder": decoder_spec}

    def step(params, state, batch):
        value, grads = jax.value_and_grad(loss)(params, batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    optimizer = optax.adafactor(1e-3)
    state = jax.eval_shape(optimizer.init, params)
    state_spec = jax.tree.map(lambda _: P(), state)
    batch = {"source": shape(rows, length, dtype="int32")}
    batch["target"] = shape(rows, length + 1, dtype="int32")
    arguments = (params, state, batch)
    split = dict.fromkeys(batch, P("fsdp"))
    return step, arguments, (spec, state_spec, split), {"donate_argnums": (0, 1)}


@program("v6e:2x4", data=8)
def wide_perceptrons():
    """Perceptrons behind 26 tables of a recommender, on every device, in f32."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

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


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 15")
