"""Eighth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_sixth.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind_third.py`: plain training steps as somebody writes them first, a language
model with FSDP, one with a tensor axis, perceptrons in a scan, a ViT and experts.
"""
# pyright: basic

from functools import partial

from tpu_programs import PROGRAMS, main, program, shape

OTHERS = set(PROGRAMS)


def trained(loss, optimizer, params, spec, batch, batch_spec):
    """Return a step with an optax optimizer whose state is split as the parameters are."""
    import jax
    import optax
    from jax.sharding import PartitionSpec as P

    def step(params, state, batch):
        value, grads = jax.value_and_grad(loss)(params, batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    state = jax.eval_shape(optimizer.init, params)
    state_spec = optax.tree_map_params(
        optimizer, lambda _, s: s, state, spec, transform_non_params=lambda _: P()
    )
    arguments = (params, state, batch)
    return step, arguments, (spec, state_spec, batch_spec), {"donate_argnums": (0, 1)}


def token_loss(logits, targets):
    import jax.numpy as jnp
    import optax

    losses = optax.softmax_cross_entropy_with_integer_labels(
        logits.astype(jnp.float32), targets
    )
    return losses.mean()


def normed(x, scale):
    import jax
    import jax.numpy as jnp

    y = x.astype(jnp.float32)
    y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-5)
    return y.astype(x.dtype) * scale.astype(x.dtype)


def attend(q, k, v, causal=True):
    import jax
    import jax.numpy as jnp

    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32)
    scores = scores * q.shape[-1] ** -0.5
    if causal:
        length = q.shape[1]
        mask = jnp.tril(jnp.ones((length, length), bool))
        scores = jnp.where(mask, scores, jnp.finfo(jnp.float32).min)
    weights = jax.nn.softmax(scores, -1).astype(q.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def rotary(x):
    import jax.numpy as jnp

    half = x.shape[-1] // 2
    frequencies = 1.0 / 10000 ** (jnp.arange(half) / half)
    angles = jnp.arange(x.shape[1])[:, None] * frequencies
    cos, sin = jnp.cos(angles)[:, None, :], jnp.sin(angles)[:, None, :]
    left, right = x[..., :half], x[..., half:]
    rotated = (left * cos - right * sin, right * cos + left * sin)
    return jnp.concatenate(rotated, -1).astype(x.dtype)


@program("v5p:2x2x2", fsdp=8)
def plain_fsdp():
    """Llama of 1.2e9 parameters, tokens and targets apart, AdamW of optax."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, hidden, vocab = 22, 2048, 16, 5632, 32000
    f32 = partial(shape, dtype="float32")

    def block(x, p):
        p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        batch, length, _ = x.shape
        h = normed(x, p["attn_norm"])
        q, k, v = (
            (h @ p[name]).reshape(batch, length, heads, -1)
            for name in ("wq", "wk", "wv")
        )
        o = attend(rotary(q), rotary(k), v).reshape(batch, length, width)
        x = x + o @ p["wo"]
        h = normed(x, p["mlp_norm"])
        x = x + (jax.nn.silu(h @ p["w1"]) * (h @ p["w3"])) @ p["w2"]
        return jax.lax.with_sharding_constraint(x, P("fsdp")), None

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        x = jax.lax.with_sharding_constraint(x, P("fsdp"))
        x, _ = jax.lax.scan(jax.checkpoint(block), x, params["layers"])
        x = normed(x, params["norm"])
        return token_loss(x @ params["head"].astype(jnp.bfloat16), batch["targets"])

    square, wide = f32(layers, width, width), f32(layers, width, hidden)
    blocks = dict.fromkeys(("wq", "wk", "wv", "wo"), square)
    blocks |= {"w1": wide, "w3": wide, "w2": f32(layers, hidden, width)}
    blocks |= dict.fromkeys(("attn_norm", "mlp_norm"), f32(layers, width))
    spec = {n: P() if "norm" in n else P(None, "fsdp") for n in blocks}
    params = {"embed": f32(vocab, width), "layers": blocks, "norm": f32(width)}
    params["head"] = f32(width, vocab)
    spec = {"embed": P("fsdp"), "layers": spec, "norm": P(), "head": P("fsdp")}
    tokens = shape(32, 2048, dtype="int32")
    batch = {"tokens": tokens, "targets": tokens}
    batch_spec = dict.fromkeys(batch, P("fsdp"))
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    return trained(loss, optimizer, params, spec, batch, batch_spec)


@program("v6e:2x4", data=2, tensor=4)
def plain_tensor():
    """GPT in bf16 with heads and features among four, dots saved, AdamW in f32."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, hidden, vocab = 16, 3072, 24, 12288, 50304
    f32 = partial(shape, dtype="float32")
    policy = jax.checkpoint_policies.dots_with_no_batch_dims_saveable

    @partial(jax.checkpoint, policy=policy)
    def block(x, p):
        p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        h = normed(x, p["n1"])
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, p[n]) for n in "qkv")
        x = x + jnp.einsum("bthk,hkd->btd", attend(q, k, v), p["o"])
        h = normed(x, p["n2"])
        x = x + jax.nn.gelu(h @ p["up"]) @ p["down"]
        return jax.lax.with_sharding_constraint(x, P("data")), None

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch[:, :-1]]
        x, _ = jax.lax.scan(block, x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        logits = jax.lax.with_sharding_constraint(logits, P("data", None, "tensor"))
        return token_loss(logits, batch[:, 1:])

    head = width // heads
    blocks = {n: f32(layers, width, heads, head) for n in "qkv"}
    blocks |= {"o": f32(layers, heads, head, width)}
    blocks |= {"up": f32(layers, width, hidden), "down": f32(layers, hidden, width)}
    blocks |= dict.fromkeys(("n1", "n2"), f32(layers, width))
    spec = {n: P(None, None, "tensor") for n in ("q", "k", "v", "up")}
    spec |= {"o": P(None, "tensor"), "down": P(None, "tensor"), "n1": P(), "n2": P()}
    params = {"embed": f32(vocab, width), "layers": blocks, "norm": f32(width)}
    params["head"] = f32(width, vocab)
    spec = {"embed": P("tensor"), "layers": spec, "norm": P()}
    spec["head"] = P(None, "tensor")
    tokens = shape(8, 2049, dtype="int32")
    return trained(loss, optax.adamw(1e-4), params, spec, tokens, P("data"))


@program("v5e:2x4", fsdp=8)
def plain_perceptrons():
    """Residual perceptrons in a scan with a checkpoint, Adam of optax."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, hidden = 24, 4096, 16384
    f32 = partial(shape, dtype="float32")

    @jax.checkpoint
    def block(x, p):
        up, down = (p[n].astype(jnp.bfloat16) for n in ("up", "down"))
        h = jax.nn.gelu(normed(x, p["scale"]) @ up)
        return x + h @ down, None

    def loss(params, batch):
        x, _ = jax.lax.scan(block, batch["x"].astype(jnp.bfloat16), params)
        return jnp.mean(jnp.square(x.astype(jnp.float32) - batch["y"]))

    params = {"up": f32(layers, width, hidden), "down": f32(layers, hidden, width)}
    params["scale"] = f32(layers, width)
    spec = {"up": P(None, "fsdp"), "down": P(None, "fsdp"), "scale": P()}
    batch = dict.fromkeys("xy", f32(32768, width))
    batch_spec = dict.fromkeys("xy", P("fsdp"))
    return trained(loss, optax.adam(1e-4), params, spec, batch, batch_spec)


@program("v5e:2x4", data=8)
def plain_vit():
    """ViT-B/16 with layers in a list and nothing computed again, parameters whole, AdamW."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, classes = 12, 768, 12, 1000
    f32 = partial(shape, dtype="float32")

    def layer_norm(x, p):
        y = x.astype(jnp.float32)
        y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(
            y.var(-1, keepdims=True) + 1e-6
        )
        return (y * p["scale"] + p["bias"]).astype(jnp.bfloat16)

    def dense(x, p):
        return x @ p["w"].astype(x.dtype) + p["b"].astype(x.dtype)

    def loss(params, batch):
        images = batch["images"].astype(jnp.bfloat16)
        n = images.shape[0]
        x = images.reshape(n, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5)
        x = dense(x.reshape(n, 196, 768), params["patches"])
        x = x + params["positions"].astype(x.dtype)
        for p in params["layers"]:
            qkv = dense(layer_norm(x, p["n1"]), p["qkv"])
            q, k, v = jnp.split(qkv.reshape(n, 196, heads, -1), 3, -1)
            o = attend(q, k, v, causal=False).reshape(n, 196, width)
            x = x + dense(o, p["out"])
            h = jax.nn.gelu(dense(layer_norm(x, p["n2"]), p["up"]))
            x = x + dense(h, p["down"])
        x = layer_norm(x, params["norm"]).mean(1)
        return token_loss(dense(x, params["head"]), batch["labels"])

    def linear(a, b):
        return {"w": f32(a, b), "b": f32(b)}

    norm = {"scale": f32(width), "bias": f32(width)}
    layer = {"n1": norm, "n2": norm, "qkv": linear(width, 3 * width)}
    layer |= {"out": linear(width, width), "up": linear(width, 4 * width)}
    layer |= {"down": linear(4 * width, width)}
    params = {"patches": linear(768, width), "positions": f32(196, width)}
    params |= {"layers": [layer] * layers, "norm": norm}
    params["head"] = linear(width, classes)
    spec = jax.tree.map(lambda _: P(), params)
    batch = {"images": f32(1024, 224, 224, 3), "labels": shape(1024, dtype="int32")}
    batch_spec = dict.fromkeys(batch, P("data"))
    return trained(loss, optax.adamw(1e-3), params, spec, batch, batch_spec)


@program("v6e:2x4", data=2, expert=4)
def plain_experts():
    """Switch layers of a fixed capacity between attention, in a scan with a checkpoint."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, hidden, vocab, experts = 8, 1024, 16, 4096, 32000, 16
    batch, length = 32, 1024
    capacity = length * 2 // experts
    f32 = partial(shape, dtype="float32")

    def switch(x, p):
        gates = jax.nn.softmax(x.astype(jnp.float32) @ p["router"], -1)
        index = jnp.argmax(gates, -1)
        chosen = jax.nn.one_hot(index, experts)
        place = (jnp.cumsum(chosen, 1) - 1) * chosen
        kept = chosen * (place < capacity)
        slots = jax.nn.one_hot(place.sum(-1).astype(jnp.int32), capacity)
        send = (kept[..., None] * slots[:, :, None, :]).astype(jnp.bfloat16)
        back = send * (gates * kept).sum(-1)[..., None, None].astype(jnp.bfloat16)
        rows = jnp.einsum("btec,btd->ebcd", send, x)
        rows = jax.lax.with_sharding_constraint(rows, P("expert", "data"))
        h = jax.nn.relu(jnp.einsum("ebcd,edf->ebcf", rows, p["up"]))
        rows = jnp.einsum("ebcf,efd->ebcd", h, p["down"])
        return jnp.einsum("btec,ebcd->btd", back, rows)

    @jax.checkpoint
    def block(x, p):
        p = {n: w if n == "router" else w.astype(jnp.bfloat16) for n, w in p.items()}
        h = normed(x, p["n1"])
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, p[n]) for n in "qkv")
        x = x + jnp.einsum("bthk,hkd->btd", attend(q, k, v), p["o"])
        x = x + switch(normed(x, p["n2"]), p)
        return jax.lax.with_sharding_constraint(x, P(("data", "expert"))), None

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens]
        x, _ = jax.lax.scan(block, x, params["layers"])
        logits = normed(x, params["norm"]) @ params["embed"].T.astype(jnp.bfloat16)
        return token_loss(logits[:, :-1], tokens[:, 1:])

    head = width // heads
    blocks = {n: f32(layers, width, heads, head) for n in "qkv"}
    blocks |= {"o": f32(layers, heads, head, width)}
    blocks["router"] = f32(layers, width, experts)
    blocks["up"] = f32(layers, experts, width, hidden)
    blocks["down"] = f32(layers, experts, hidden, width)
    blocks |= dict.fromkeys(("n1", "n2"), f32(layers, width))
    spec = {n: P(None, "expert") if n in ("up", "down") else P() for n in blocks}
    params = {"embed": f32(vocab, width), "layers": blocks, "norm": f32(width)}
    spec = {"embed": P(), "layers": spec, "norm": P()}
    tokens = shape(batch, length, dtype="int32")
    split = P(("data", "expert"))
    return trained(loss, optax.adamw(1e-3), params, spec, tokens, split)


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 10")
