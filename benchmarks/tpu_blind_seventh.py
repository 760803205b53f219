"""Ninth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_seventh.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind_sixth.py`: Llama with layers in Python and in a scan, a ViT, experts that
each token has two of, and convolutions.
"""
# pyright: basic

from functools import partial

from tpu_blind_sixth import attend, normed, rotary, token_loss, trained
from tpu_programs import PROGRAMS, main, program, shape

OTHERS = set(PROGRAMS)


def llama_block(heads, groups, spec):
    """Return a layer of Llama whose keys and values are repeated for their queries."""
    import jax
    import jax.numpy as jnp

    def block(x, p):
        p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        batch, length, width = x.shape
        h = normed(x, p["n1"])
        q = rotary((h @ p["wq"]).reshape(batch, length, heads, -1))
        k = rotary((h @ p["wk"]).reshape(batch, length, groups, -1))
        v = (h @ p["wv"]).reshape(batch, length, groups, -1)
        k, v = (jnp.repeat(y, heads // groups, 2) for y in (k, v))
        x = x + attend(q, k, v).reshape(batch, length, width) @ p["wo"]
        h = normed(x, p["n2"])
        x = x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]
        return jax.lax.with_sharding_constraint(x, spec)

    return block


def llama_weights(width, heads, groups, hidden, fsdp, tensor):
    """Return the shapes of a layer's weights and how they are split."""
    from jax.sharding import PartitionSpec as P

    keys = width // heads * groups
    into, out = P(fsdp, tensor), P(tensor, fsdp)
    weights = {"wq": (width, width), "wk": (width, keys), "wv": (width, keys)}
    weights |= {"gate": (width, hidden), "up": (width, hidden)}
    specs = dict.fromkeys(weights, into) | {"wo": out, "down": out}
    weights |= {"wo": (width, width), "down": (hidden, width)}
    specs |= dict.fromkeys(("n1", "n2"), P())
    return weights | dict.fromkeys(("n1", "n2"), (width,)), specs


def layers_in_python(sizes, optimizer, rows):
    """Return a step of Llama with layers in Python, each with a checkpoint, all split by FSDP.

    Args:
        sizes: layers, width, heads, groups of keys, width of a layer's products, vocabulary.
        optimizer: of optax.
        rows: of 2,048 tokens, on all devices together.
    """
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, groups, hidden, vocab = sizes
    f32 = partial(shape, dtype="float32")
    block = jax.checkpoint(llama_block(heads, groups, P("fsdp")))

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens[:, :-1]]
        for p in params["layers"]:
            x = block(x, p)
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, tokens[:, 1:])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", None)
    layer = {n: f32(*sizes) for n, sizes in weights.items()}
    params = {"embed": f32(vocab, width), "layers": [layer] * layers}
    params |= {"norm": f32(width), "head": f32(width, vocab)}
    spec = {"embed": P("fsdp"), "layers": [specs] * layers, "norm": P()}
    spec["head"] = P("fsdp")
    tokens = shape(rows, 2049, dtype="int32")
    return trained(loss, optimizer, params, spec, tokens, P("fsdp"))


@program("v6e:4x4", fsdp=16)
def listed_llama():
    """Llama of 1.6e9 parameters, layers in Python, each with a checkpoint."""
    import optax

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    return layers_in_python((20, 2560, 20, 4, 6912, 50432), optimizer, 32)


@program("v5p:2x2x4", fsdp=8, tensor=2)
def scanned_llama():
    """Llama of 3.3e9 parameters with FSDP and a tensor axis, layers in a scan."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, groups, hidden, vocab = 28, 3072, 24, 8, 8192, 32768
    f32 = partial(shape, dtype="float32")
    block = jax.checkpoint(llama_block(heads, groups, P("fsdp")))

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        x, _ = jax.lax.scan(lambda x, p: (block(x, p), None), x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", "tensor")
    params = {"embed": f32(vocab, width), "norm": f32(width)}
    params["layers"] = {n: f32(layers, *sizes) for n, sizes in weights.items()}
    params["head"] = f32(width, vocab)
    spec = {"embed": P("tensor", "fsdp"), "norm": P(), "head": P("fsdp", "tensor")}
    spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    tokens = shape(16, 4096, dtype="int32")
    batch = dict.fromkeys(("tokens", "targets"), tokens)
    batch_spec = dict.fromkeys(batch, P("fsdp"))
    return trained(loss, optax.adamw(3e-4), params, spec, batch, batch_spec)


@program("v5e:2x4", fsdp=8)
def scanned_vit():
    """ViT-L/14 in a scan with a checkpoint, parameters split, AdamW."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, classes, images = 24, 1024, 16, 1000, 512
    f32 = partial(shape, dtype="float32")

    @jax.checkpoint
    def block(x, p):
        p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        h = normed(x, p["n1"])
        q, k, v = (
            (h @ p[n]).reshape(*x.shape[:2], heads, -1) for n in ("wq", "wk", "wv")
        )
        x = x + attend(q, k, v, causal=False).reshape(x.shape) @ p["wo"]
        x = x + jax.nn.gelu(normed(x, p["n2"]) @ p["up"] + p["b"]) @ p["down"]
        return jax.lax.with_sharding_constraint(x, P("fsdp")), None

    def loss(params, batch):
        x = batch["images"].astype(jnp.bfloat16).reshape(images, 16, 14, 16, 14, 3)
        x = x.transpose(0, 1, 3, 2, 4, 5).reshape(images, 256, 588)
        x = x @ params["patches"].astype(x.dtype) + params["places"].astype(x.dtype)
        x, _ = jax.lax.scan(block, x, params["layers"])
        x = normed(x, params["norm"]).mean(1)
        return token_loss(x @ params["head"].astype(x.dtype), batch["labels"])

    square = f32(layers, width, width)
    blocks = dict.fromkeys(("wq", "wk", "wv", "wo"), square)
    blocks |= {"up": f32(layers, width, 4 * width), "b": f32(layers, 4 * width)}
    blocks |= {"down": f32(layers, 4 * width, width)}
    blocks |= dict.fromkeys(("n1", "n2"), f32(layers, width))
    split = {
        n: P(None, "fsdp") if len(s.shape) == 3 else P() for n, s in blocks.items()
    }
    params = {"patches": f32(588, width), "places": f32(256, width), "layers": blocks}
    params |= {"norm": f32(width), "head": f32(width, classes)}
    spec = jax.tree.map(lambda _: P(), params) | {"layers": split}
    batch = {"images": f32(images, 224, 224, 3), "labels": shape(images, dtype="int32")}
    batch_spec = dict.fromkeys(batch, P("fsdp"))
    return trained(loss, optax.adamw(1e-3), params, spec, batch, batch_spec)


@program("v5p:2x2x2", data=2, expert=4)
def listed_experts():
    """Two of eight experts for a token, all computed, layers in Python, AdamW."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, hidden, vocab, experts = 6, 2048, 16, 4096, 32000, 8
    f32 = partial(shape, dtype="float32")
    rows = P(("data", "expert"))

    def mixture(x, p):
        gates = x.astype(jnp.float32) @ p["router"]
        best, index = jax.lax.top_k(gates, 2)
        shares = jax.nn.softmax(best, -1)[..., None] * jax.nn.one_hot(index, experts)
        shares = shares.sum(-2).astype(x.dtype)
        h = jax.nn.silu(jnp.einsum("btd,edf->ebtf", x, p["gate"]))
        h = h * jnp.einsum("btd,edf->ebtf", x, p["up"])
        h = jax.lax.with_sharding_constraint(h, P("expert", "data"))
        return jnp.einsum("ebtf,efd,bte->btd", h, p["down"], shares)

    @jax.checkpoint
    def block(x, p):
        p = {n: w if n == "router" else w.astype(jnp.bfloat16) for n, w in p.items()}
        h = normed(x, p["n1"])
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, p[n]) for n in "qkv")
        o = attend(rotary(q), rotary(k), v)
        x = x + jnp.einsum("bthk,hkd->btd", o, p["o"])
        x = x + mixture(normed(x, p["n2"]), p)
        return jax.lax.with_sharding_constraint(x, rows)

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens]
        for p in params["layers"]:
            x = block(x, p)
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits[:, :-1], tokens[:, 1:])

    head = width // heads
    layer = {n: f32(width, heads, head) for n in "qkv"} | {"o": f32(heads, head, width)}
    layer |= {"router": f32(width, experts), "down": f32(experts, hidden, width)}
    layer |= dict.fromkeys(("gate", "up"), f32(experts, width, hidden))
    layer |= dict.fromkeys(("n1", "n2"), f32(width))
    split = {n: P("expert") if n in ("gate", "up", "down") else P() for n in layer}
    params = {"embed": f32(vocab, width), "layers": [layer] * layers}
    params |= {"norm": f32(width), "head": f32(width, vocab)}
    spec = {"embed": P(), "layers": [split] * layers, "norm": P(), "head": P()}
    tokens = shape(16, 2048, dtype="int32")
    return trained(loss, optax.adamw(1e-4), params, spec, tokens, rows)


@program("v6e:2x4", data=8)
def convolutions():
    """A residual network of 3 x 3 convolutions with group normalization, Adam."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P
    from tpu_layers import conv, group_norm

    f32 = partial(shape, dtype="float32")
    sizes = [(128, 3), (256, 4), (512, 6), (1024, 3)]

    def loss(params, batch):
        def apply(x, w, stride=1):
            return conv(x, w.astype(x.dtype), stride)

        x = apply(batch["images"].astype(jnp.bfloat16), params["stem"], 2)
        for stage in params["stages"]:
            x = apply(x, stage["down"], 2)
            for p in stage["blocks"]:
                h = jax.nn.relu(group_norm(apply(x, p["a"]), p["na"]))
                x = jax.nn.relu(x + group_norm(apply(h, p["b"]), p["nb"]))
        x = x.mean((1, 2))
        return token_loss(x @ params["head"].astype(x.dtype), batch["labels"])

    stages, before = [], 64
    for width, count in sizes:
        square = f32(3, 3, width, width)
        block = {"a": square, "b": square, "na": f32(width), "nb": f32(width)}
        down = f32(3, 3, before, width)
        stages.append({"down": down, "blocks": [block] * count})
        before = width
    params = {"stem": f32(7, 7, 3, 64), "stages": stages, "head": f32(before, 1000)}
    spec = jax.tree.map(lambda _: P(), params)
    batch = {"images": f32(512, 256, 256, 3), "labels": shape(512, dtype="int32")}
    batch_spec = dict.fromkeys(batch, P("data"))
    return trained(loss, optax.adam(1e-3), params, spec, batch, batch_spec)


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 11")
