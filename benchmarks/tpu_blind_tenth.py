"""Twelfth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_tenth.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind_ninth.py`, all with gradients clipped by their global norm: GPT of Flax Linen in
f32, Llama whose head is its embedding, BERT in f32 in a scan, an MLP-Mixer, and experts of a fixed
capacity. Needs `flax`, too.
"""
# pyright: basic

from functools import partial

from tpu_blind_seventh import llama_block, llama_weights
from tpu_blind_sixth import attend, normed, token_loss, trained
from tpu_programs import PROGRAMS, main, program, shape

OTHERS = set(PROGRAMS)


def clipped(rate):
    """Return AdamW behind a bound on the gradients' global norm."""
    import optax

    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate))


def _by_rows(params, axis):
    """Return specs that split the first dimension of matrices of at least a million elements."""
    import jax
    from jax.sharding import PartitionSpec as P

    return jax.tree.map(lambda p: P(axis) if p.size >= 2**20 else P(), params)


@program("v5e:4x4", fsdp=16)
def linen_gpt():
    """GPT-2 medium of Flax Linen in f32, layers in Python, no checkpoint, the head tied."""
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, vocab, rows, length = 24, 1024, 16, 50304, 32, 1024

    def put(x):
        unknown = jax.sharding.get_abstract_mesh().empty  # while shapes are asked for
        return x if unknown else jax.lax.with_sharding_constraint(x, P("fsdp"))

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x):
            mask = nn.make_causal_mask(x[..., 0])
            h = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(heads)(h, mask=mask)
            h = nn.Dense(4 * width)(nn.LayerNorm()(x))
            return x + nn.Dense(width)(nn.gelu(h))

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            embed = nn.Embed(vocab, width)
            x = embed(tokens) + nn.Embed(length, width)(jnp.arange(length))
            for _ in range(layers):
                x = put(Layer()(x))
            return embed.attend(nn.LayerNorm()(x))

    model = Model()

    def loss(params, tokens):
        return token_loss(model.apply(params, tokens[:, :-1]), tokens[:, 1:])

    tokens = shape(rows, length + 1, dtype="int32")
    few = jax.ShapeDtypeStruct((1, length), jnp.int32)
    params = jax.eval_shape(model.init, jax.random.key(0), few)
    return trained(
        loss, clipped(3e-4), params, _by_rows(params, "fsdp"), tokens, P("fsdp")
    )


@program("v5p:2x2x2", fsdp=8)
def tied_llama():
    """Llama of 1.1e9 parameters in a scan with a checkpoint, whose head is its embedding."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, groups, hidden, vocab = 16, 2048, 32, 8, 8192, 65536
    f32 = partial(shape, dtype="float32")
    block = jax.checkpoint(llama_block(heads, groups, P("fsdp")))

    def loss(params, batch):
        embed = params["embed"].astype(jnp.bfloat16)
        x, _ = jax.lax.scan(
            lambda x, p: (block(x, p), None), embed[batch["tokens"]], params["layers"]
        )
        return token_loss(normed(x, params["norm"]) @ embed.T, batch["targets"])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", None)
    params = {"embed": f32(vocab, width), "norm": f32(width)}
    params["layers"] = {n: f32(layers, *sizes) for n, sizes in weights.items()}
    spec = {"embed": P(None, "fsdp"), "norm": P()}
    spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    batch = dict.fromkeys(("tokens", "targets"), shape(16, 2048, dtype="int32"))
    return trained(
        loss, clipped(3e-4), params, spec, batch, dict.fromkeys(batch, P("fsdp"))
    )


@program("v6e:2x4", data=8)
def plain_bert():
    """BERT large in f32 in a scan without a checkpoint, the parameters on every device."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, vocab, rows, length = 24, 1024, 16, 30720, 128, 512
    f32 = partial(shape, dtype="float32")

    def block(x, p):
        b, t, d = x.shape
        q, k, v = jnp.split(x @ p["qkv"] + p["bias"], 3, -1)
        q, k, v = (y.reshape(b, t, heads, d // heads) for y in (q, k, v))
        o = attend(q, k, v, causal=False).reshape(b, t, d)
        x = normed(x + o @ p["o"], p["n1"])
        return normed(x + jax.nn.gelu(x @ p["up"]) @ p["down"], p["n2"]), None

    def loss(params, batch):
        x = params["embed"][batch["tokens"]] + params["places"]
        x, _ = jax.lax.scan(block, x, params["layers"])
        places = batch["places"][..., None]
        x = jnp.take_along_axis(x, places, 1)  # those that are masked
        return token_loss(x @ params["embed"].T, batch["labels"])

    sizes = {"qkv": (width, 3 * width), "bias": (3 * width,), "o": (width, width)}
    sizes |= {"up": (width, 4 * width), "down": (4 * width, width)}
    sizes |= {"n1": (width,), "n2": (width,)}
    params = {"embed": f32(vocab, width), "places": f32(length, width)}
    params["layers"] = {n: f32(layers, *s) for n, s in sizes.items()}
    masked = shape(rows, 76, dtype="int32")
    batch = {"tokens": shape(rows, length, dtype="int32")}
    batch |= {"places": masked, "labels": masked}
    spec = jax.tree.map(lambda _: P(), params)
    return trained(
        loss, clipped(1e-4), params, spec, batch, dict.fromkeys(batch, P("data"))
    )


@program("v5e:2x4", fsdp=8)
def mixer():
    """MLP-Mixer L/16 with layers in Python, weights in bf16 for products, no constraint."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, patches, width, classes, rows = 24, 196, 1024, 1000, 256
    f32 = partial(shape, dtype="float32")

    def block(x, p):
        p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        h = normed(x, p["n1"]).swapaxes(1, 2)
        x = x + (jax.nn.gelu(h @ p["t1"]) @ p["t2"]).swapaxes(1, 2)
        return x + jax.nn.gelu(normed(x, p["n2"]) @ p["c1"]) @ p["c2"]

    def loss(params, batch):
        x = batch["images"].astype(jnp.bfloat16)
        x = x.reshape(rows, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(rows, patches, 768) @ params["stem"].astype(x.dtype)
        for p in params["layers"]:
            x = block(x, p)
        x = normed(x, params["norm"]).mean(1)
        return token_loss(x @ params["head"].astype(x.dtype), batch["labels"])

    layer = {"t1": f32(patches, 512), "t2": f32(512, patches)}
    layer |= {"c1": f32(width, 4096), "c2": f32(4096, width)}
    layer |= {"n1": f32(width), "n2": f32(width)}
    params = {"stem": f32(768, width), "layers": [layer] * layers}
    params |= {"norm": f32(width), "head": f32(width, classes)}
    batch = {"images": f32(rows, 224, 224, 3), "labels": shape(rows, dtype="int32")}
    return trained(
        *(loss, clipped(1e-3), params, _by_rows(params, "fsdp")),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )


@program("v6e:4x4", data=4, expert=4)
def capacity_experts():
    """Experts that take a fixed number of tokens each, by products of masks, layers in a scan."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, hidden, vocab, experts = 12, 2048, 16, 4096, 32000, 8
    rows, length, capacity = 32, 2048, 320
    f32 = partial(shape, dtype="float32")
    split = P(("data", "expert"))

    def mixture(x, p):
        gates = jax.nn.softmax(x.astype(jnp.float32) @ p["router"], -1)
        chosen = jax.nn.one_hot(gates.argmax(-1), experts)
        place = (jnp.cumsum(chosen, 1) * chosen).sum(-1).astype(jnp.int32) - 1
        sent = chosen[..., None] * jax.nn.one_hot(place, capacity)[..., None, :]
        taken = jnp.einsum("btec,btd->ebcd", sent.astype(x.dtype), x)
        taken = jax.lax.with_sharding_constraint(taken, P("expert", "data"))
        h = jax.nn.silu(jnp.einsum("ebcd,edf->ebcf", taken, p["up"]))
        given = jnp.einsum("ebcf,efd->ebcd", h, p["down"])
        shares = (sent * gates[..., None]).astype(x.dtype)
        return jnp.einsum("btec,ebcd->btd", shares, given)

    @jax.checkpoint
    def block(x, p):
        p = {n: w if n == "router" else w.astype(jnp.bfloat16) for n, w in p.items()}
        h = normed(x, p["n1"])
        q, k, v = ((h @ p[n]).reshape(rows, length, heads, -1) for n in "qkv")
        x = x + attend(q, k, v).reshape(x.shape) @ p["o"]
        x = x + mixture(normed(x, p["n2"]), p)
        return jax.lax.with_sharding_constraint(x, split), None

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        x, _ = jax.lax.scan(block, x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    square = f32(layers, width, width)
    blocks = dict.fromkeys("qkvo", square) | {"router": f32(layers, width, experts)}
    blocks |= {"up": f32(layers, experts, width, hidden)}
    blocks |= {"down": f32(layers, experts, hidden, width)}
    blocks |= dict.fromkeys(("n1", "n2"), f32(layers, width))
    specs = {n: P(None, "data") if n in "qkvo" else P() for n in blocks}
    specs |= dict.fromkeys(("up", "down"), P(None, "expert", "data"))
    params = {"embed": f32(vocab, width), "norm": f32(width), "layers": blocks}
    params["head"] = f32(width, vocab)
    spec = {"embed": P(), "norm": P(), "layers": specs, "head": P("data")}
    batch = dict.fromkeys(("tokens", "targets"), shape(rows, length, dtype="int32"))
    return trained(
        loss, clipped(3e-4), params, spec, batch, dict.fromkeys(batch, split)
    )


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 14")
