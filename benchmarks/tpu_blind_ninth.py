"""Eleventh set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_ninth.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind_eighth.py`, but that nothing says how activations are split in half of
them: a transformer in a scan with Lion, a ViT in a scan with AdamW, perceptrons with a tensor
axis, Llama in Python with a tensor axis, and a step of decoding in a scan.
"""
# pyright: basic

from functools import partial

from tpu_blind_seventh import llama_block, llama_weights
from tpu_blind_sixth import attend, normed, token_loss, trained
from tpu_programs import PROGRAMS, main, program, shape

OTHERS = set(PROGRAMS)


def _cast(tree):
    import jax
    import jax.numpy as jnp

    return jax.tree.map(lambda w: w.astype(jnp.bfloat16), tree)


@program("v5p:2x2x2", fsdp=8)
def lion_transformer():
    """A transformer of 0.7e9 parameters in a scan with a checkpoint, Lion; no constraint."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, vocab, batch, length = 20, 1536, 12, 32000, 32, 2048
    f32 = partial(shape, dtype="float32")

    @jax.checkpoint
    def block(x, p):
        p = _cast(p)
        b, t, d = x.shape
        h = normed(x, p["n1"])
        q, k, v = ((h @ p[n]).reshape(b, t, heads, d // heads) for n in ("q", "k", "v"))
        x = x + attend(q, k, v).reshape(b, t, d) @ p["o"]
        return x + jax.nn.gelu(normed(x, p["n2"]) @ p["u"]) @ p["d"], None

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        x, _ = jax.lax.scan(block, x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    sizes = dict.fromkeys(("q", "k", "v", "o"), (width, width))
    sizes |= {
        "u": (width, 4 * width),
        "d": (4 * width, width),
        "n1": (width,),
        "n2": (width,),
    }
    stacked = {n: f32(layers, *s) for n, s in sizes.items()}
    split = {n: P(None, "fsdp") if len(s) == 2 else P() for n, s in sizes.items()}
    params = {
        "embed": f32(vocab, width),
        "head": f32(width, vocab),
        "norm": f32(width),
        "layers": stacked,
    }
    specs = {"embed": P("fsdp"), "head": P("fsdp"), "norm": P(), "layers": split}
    tokens = shape(batch, length, dtype="int32")
    data = {"tokens": tokens, "targets": tokens}
    return trained(
        loss, optax.lion(1e-4), params, specs, data, dict.fromkeys(data, P("fsdp"))
    )


@program("v5e:4x4", fsdp=16)
def scanned_vit_l():
    """ViT-L in a scan with a checkpoint, weights cast at the start, AdamW and clipping."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, patches, batch = 24, 1024, 16, 256, 512
    f32 = partial(shape, dtype="float32")

    @jax.checkpoint
    def block(x, p):
        b, t, d = x.shape
        h = normed(x, p["n1"])
        q, k, v = (
            a.reshape(b, t, heads, d // heads) for a in jnp.split(h @ p["qkv"], 3, -1)
        )
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (d // heads) ** -0.5
        weights = jax.nn.softmax(scores.astype(jnp.float32), -1).astype(x.dtype)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(b, t, d) @ p["o"]
        x = x + jax.nn.gelu(normed(x, p["n2"]) @ p["u"]) @ p["d"]
        return jax.lax.with_sharding_constraint(x, P("fsdp")), None

    def loss(params, batch):
        params = _cast(params)
        x = batch["images"].astype(jnp.bfloat16) @ params["patch"] + params["place"]
        x, _ = jax.lax.scan(block, x, params["layers"])
        logits = normed(x, params["norm"]).mean(1) @ params["head"]
        logits = logits.astype(jnp.float32)
        return optax.softmax_cross_entropy_with_integer_labels(
            logits, batch["labels"]
        ).mean()

    sizes = {"qkv": (width, 3 * width), "o": (width, width), "u": (width, 4 * width)}
    sizes |= {"d": (4 * width, width), "n1": (width,), "n2": (width,)}
    stacked = {n: f32(layers, *s) for n, s in sizes.items()}
    split = {n: P(None, "fsdp") if len(s) == 2 else P() for n, s in sizes.items()}
    params = {
        "patch": f32(768, width),
        "place": f32(patches, width),
        "norm": f32(width),
    }
    params |= {"head": f32(width, 1000), "layers": stacked}
    specs = {"patch": P(), "place": P(), "norm": P(), "head": P(), "layers": split}
    data = {"images": f32(batch, patches, 768), "labels": shape(batch, dtype="int32")}
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    return trained(loss, optimizer, params, specs, data, dict.fromkeys(data, P("fsdp")))


@program("v6e:2x4", data=2, model=4)
def tensor_perceptrons():
    """Eight gated perceptrons in Python by a tensor axis, Adam; weights alone are split."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    width, hidden, rows = 4096, 16384, 16384
    f32 = partial(shape, dtype="float32")

    def loss(params, batch):
        x = batch["x"].astype(jnp.bfloat16)
        for p in map(_cast, params):
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


@program("v6e:4x4", fsdp=4, tensor=4)
def listed_llama_tensor():
    """Llama of 1.3e9 parameters, layers in Python with checkpoints, a tensor axis, clipping."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, groups, hidden, vocab = 16, 2048, 16, 8, 8192, 32768
    f32 = partial(shape, dtype="float32")
    block = jax.checkpoint(llama_block(heads, groups, P("fsdp")))

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        for weights in params["layers"]:
            x = block(x, weights)
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", "tensor")
    layer = {n: f32(*sizes) for n, sizes in weights.items()}
    params = {"embed": f32(vocab, width), "layers": [layer] * layers}
    params |= {"norm": f32(width), "head": f32(width, vocab)}
    spec = {"embed": P("tensor", "fsdp"), "layers": [specs] * layers, "norm": P()}
    spec["head"] = P("fsdp", "tensor")
    tokens = shape(32, 2048, dtype="int32")
    batch = dict.fromkeys(("tokens", "targets"), tokens)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    return trained(
        *(loss, optimizer, params, spec, batch, dict.fromkeys(batch, P("fsdp")))
    )


@program("v5e:2x4", data=2, model=4)
def scanned_decoding():
    """One step of decoding of Llama 3 8B's size in bf16 in a scan over layers with their caches."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, groups, hidden, vocab = 32, 4096, 32, 8, 14336, 128256
    rows, length, size = 16, 4096, width // heads

    def layer(carry, p):
        x, at = carry
        h = normed(x, p["n1"])
        q = (h @ p["wq"]).reshape(rows, groups, heads // groups, size)
        k = (h @ p["wk"]).reshape(rows, 1, groups, size)
        v = (h @ p["wv"]).reshape(rows, 1, groups, size)
        keys = jax.lax.dynamic_update_slice(p["keys"], k, (0, at, 0, 0))
        values = jax.lax.dynamic_update_slice(p["values"], v, (0, at, 0, 0))
        scores = jnp.einsum("bghd,btgd->bght", q, keys) * size**-0.5
        scores = jnp.where(jnp.arange(length) <= at, scores.astype(jnp.float32), -1e30)
        weights = jax.nn.softmax(scores, -1).astype(x.dtype)
        mixed = jnp.einsum("bght,btgd->bghd", weights, values)
        x = x + mixed.reshape(rows, width) @ p["wo"]
        h = normed(x, p["n2"])
        x = x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]
        return (x, at), {"keys": keys, "values": values}

    def step(params, caches, tokens, at):
        x = params["embed"][tokens]
        (x, _), caches = jax.lax.scan(layer, (x, at), params["layers"] | caches)
        logits = normed(x, params["norm"]) @ params["head"]
        return jnp.argmax(logits, -1), caches

    weights, specs = llama_weights(width, heads, groups, hidden, None, "model")
    params = {n: shape(layers, *sizes) for n, sizes in weights.items()}
    spec = {n: P(None, *s) for n, s in specs.items()}
    cache = shape(layers, rows, length, groups, size)
    names = ("keys", "values")
    ends = {
        "embed": shape(vocab, width),
        "norm": shape(width),
        "head": shape(width, vocab),
    }
    ends_spec = {"embed": P("model"), "norm": P(), "head": P(None, "model")}
    arguments = (
        *({**ends, "layers": params}, dict.fromkeys(names, cache)),
        *(shape(rows, dtype="int32"), shape(dtype="int32")),
    )
    split = P(None, "data", None, "model")
    all_specs = (
        *({**ends_spec, "layers": spec}, dict.fromkeys(names, split)),
        *(P("data"), P()),
    )
    return step, arguments, all_specs, {"donate_argnums": (1,)}


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 13")
