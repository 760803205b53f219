"""Tenth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_eighth.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind_seventh.py`: Llama in Python with clipping, in a scan with microbatches,
a ViT by data alone, experts in a scan, and a step of decoding with caches.
"""
# pyright: basic

from functools import partial

from tpu_blind_seventh import layers_in_python, llama_block, llama_weights
from tpu_blind_sixth import attend, normed, token_loss, trained
from tpu_programs import PROGRAMS, main, program, shape

OTHERS = set(PROGRAMS)


@program("v5p:2x2x4", fsdp=16)
def clipped_llama():
    """Llama of 1.9e9 parameters, layers in Python, checkpoints, clipping, a cosine schedule."""
    import optax

    rate = optax.warmup_cosine_decay_schedule(0.0, 3e-4, 100, 1000)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate))
    return layers_in_python((16, 3072, 24, 8, 8192, 32000), optimizer, 64)


@program("v6e:2x4", fsdp=8)
def accumulated_llama():
    """Llama of 1.1e9 parameters in a scan, four microbatches by a scan, clipping, AdamW."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, groups, hidden, vocab = 22, 2048, 16, 4, 5632, 32000
    f32 = partial(shape, dtype="float32")
    block = jax.checkpoint(llama_block(heads, groups, P("fsdp")))

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens[:, :-1]]
        x, _ = jax.lax.scan(lambda x, p: (block(x, p), None), x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, tokens[:, 1:])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", None)
    params = {"embed": f32(vocab, width), "norm": f32(width), "head": f32(width, vocab)}
    params["layers"] = {n: f32(layers, *sizes) for n, sizes in weights.items()}
    spec = {"embed": P("fsdp"), "norm": P(), "head": P("fsdp")}
    spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    tokens = shape(4, 16, 2049, dtype="int32")
    _, arguments, specs, options = trained(
        loss, optimizer, params, spec, tokens, P(None, "fsdp")
    )

    def step(params, state, batches):
        def add(total, batch):
            value, grads = jax.value_and_grad(loss)(params, batch)
            return jax.tree.map(jnp.add, total, (value, grads)), None

        zero = jax.tree.map(jnp.zeros_like, params)
        total, _ = jax.lax.scan(add, (jnp.zeros(()), zero), batches)
        value, grads = jax.tree.map(lambda x: x / len(batches), total)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return step, arguments, specs, options


@program("v5e:2x4", data=8)
def listed_vit():
    """ViT-B/16 with dropout, layers in Python, parameters whole, AdamW."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, images = 12, 768, 12, 512
    f32 = partial(shape, dtype="float32")

    def dropped(x, key):
        return jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0)

    @jax.checkpoint
    def block(x, p, key):
        first, second = jax.random.split(key)
        p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        h = normed(x, p["n1"]) @ p["qkv"]
        q, k, v = (y.reshape(*x.shape[:2], heads, -1) for y in jnp.split(h, 3, axis=-1))
        h = attend(q, k, v, causal=False).reshape(x.shape) @ p["out"]
        x = x + dropped(h, first).astype(x.dtype)
        h = jax.nn.gelu(normed(x, p["n2"]) @ p["up"] + p["b"]) @ p["down"]
        return x + dropped(h, second).astype(x.dtype)

    def loss(params, batch):
        x = batch["images"].astype(jnp.bfloat16).reshape(images, 14, 16, 14, 16, 3)
        x = x.transpose(0, 1, 3, 2, 4, 5).reshape(images, 196, 768)
        x = x @ params["patches"].astype(x.dtype) + params["places"].astype(x.dtype)
        keys = jax.random.split(jax.random.wrap_key_data(batch["key"]), layers)
        for p, key in zip(params["layers"], keys, strict=True):
            x = block(x, p, key)
        x = normed(x, params["norm"]).mean(1)
        return token_loss(x @ params["head"].astype(x.dtype), batch["labels"])

    layer = {"qkv": f32(width, 3 * width), "out": f32(width, width)}
    layer |= {"up": f32(width, 4 * width), "down": f32(4 * width, width)}
    layer |= {"b": f32(4 * width), "n1": f32(width), "n2": f32(width)}
    params = {"patches": f32(768, width), "places": f32(196, width)}
    params |= {"layers": [layer] * layers, "norm": f32(width), "head": f32(width, 1000)}
    spec = jax.tree.map(lambda _: P(), params)
    batch = {"images": f32(images, 224, 224, 3), "labels": shape(images, dtype="int32")}
    batch_spec = dict.fromkeys(batch, P("data")) | {"key": P()}
    batch["key"] = shape(2, dtype="uint32")
    return trained(loss, optax.adamw(1e-3), params, spec, batch, batch_spec)


@program("v6e:2x4", data=2, expert=4)
def scanned_experts():
    """Eight experts of a fixed capacity by one-hot products, layers in a scan, AdamW."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, hidden, vocab, experts = 12, 1024, 16, 4096, 32000, 8
    capacity = 640
    f32 = partial(shape, dtype="float32")
    rows = P(("data", "expert"))

    def mixture(x, p):
        gates = jax.nn.softmax((x @ p["router"]).astype(jnp.float32), -1)
        share, index = gates.max(-1), gates.argmax(-1)
        chosen = jax.nn.one_hot(index, experts)
        place = (jnp.cumsum(chosen, 1) - 1) * chosen
        slots = jax.nn.one_hot(place.sum(-1).astype(jnp.int32), capacity)
        sent = (chosen[..., None] * slots[:, :, None]).astype(x.dtype)
        h = jnp.einsum("btd,btec->ebcd", x, sent)
        h = jax.lax.with_sharding_constraint(h, P("expert", "data"))
        h = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", h, p["up"]))
        h = jnp.einsum("ebcf,efd->ebcd", h, p["down"])
        y = jnp.einsum("ebcd,btec->btd", h, sent)
        return y * share[..., None].astype(x.dtype)

    @jax.checkpoint
    def block(x, p):
        p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        h = normed(x, p["n1"])
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, p[n]) for n in "qkv")
        x = x + jnp.einsum("bthk,hkd->btd", attend(q, k, v), p["o"])
        x = x + mixture(normed(x, p["n2"]), p)
        return jax.lax.with_sharding_constraint(x, rows), None

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        x, _ = jax.lax.scan(block, x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    head = width // heads
    blocks = {n: f32(layers, width, heads, head) for n in "qkv"}
    blocks |= {"o": f32(layers, heads, head, width)}
    blocks |= {"router": f32(layers, width, experts)}
    blocks |= {"up": f32(layers, experts, width, hidden)}
    blocks |= {"down": f32(layers, experts, hidden, width)}
    blocks |= dict.fromkeys(("n1", "n2"), f32(layers, width))
    split = {n: P(None, "expert") if n in ("up", "down") else P() for n in blocks}
    params = {"embed": f32(vocab, width), "layers": blocks, "norm": f32(width)}
    params["head"] = f32(width, vocab)
    spec = {"embed": P(), "layers": split, "norm": P(), "head": P()}
    tokens = shape(32, 2048, dtype="int32")
    batch = dict.fromkeys(("tokens", "targets"), tokens)
    batch_spec = dict.fromkeys(batch, rows)
    return trained(loss, optax.adamw(1e-4), params, spec, batch, batch_spec)


@program("v5e:2x4", tensor=8)
def decoding():
    """A token of Llama 8B in bf16, layers and caches in a scan, heads among eight."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, groups, hidden, vocab = 32, 4096, 32, 8, 14336, 128256
    batch, length = 32, 2048

    def step(params, caches, tokens, at):
        def block(x, layer):
            p, keys, values = layer
            h = normed(x, p["n1"])
            q = (h @ p["wq"]).reshape(batch, groups, heads // groups, -1)
            k, v = ((h @ p[n]).reshape(batch, 1, groups, -1) for n in ("wk", "wv"))
            keys = jax.lax.dynamic_update_slice(keys, k, (0, at, 0, 0))
            values = jax.lax.dynamic_update_slice(values, v, (0, at, 0, 0))
            scores = jnp.einsum("bgrk,btgk->bgrt", q, keys).astype(jnp.float32)
            scores = jnp.where(jnp.arange(length) <= at, scores / 128**0.5, -1e30)
            shares = jax.nn.softmax(scores, -1).astype(x.dtype)
            h = jnp.einsum("bgrt,btgk->bgrk", shares, values).reshape(batch, -1)
            x = x + h @ p["wo"]
            h = normed(x, p["n2"])
            x = x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]
            return x, (keys, values)

        x = params["embed"][tokens]
        x, caches = jax.lax.scan(block, x, (params["layers"], *caches))
        logits = normed(x, params["norm"]) @ params["head"]
        return jnp.argmax(logits, -1), caches

    weights, specs = llama_weights(width, heads, groups, hidden, None, "tensor")
    params = {"embed": shape(vocab, width), "norm": shape(width)}
    params["layers"] = {n: shape(layers, *sizes) for n, sizes in weights.items()}
    params["head"] = shape(width, vocab)
    spec = {"embed": P(None, "tensor"), "norm": P(), "head": P(None, "tensor")}
    spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    cache = shape(layers, batch, length, groups, width // heads)
    cache_spec = P(None, None, None, "tensor")
    arguments = (params, (cache, cache), shape(batch, dtype="int32"))
    arguments = (*arguments, shape(dtype="int32"))
    spec = (spec, (cache_spec, cache_spec), P(), P())
    return step, arguments, spec, {"donate_argnums": 1}


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 12")
