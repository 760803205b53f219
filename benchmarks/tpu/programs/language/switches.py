"""Experts of which each token has one."""
# pyright: basic

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import attend, in_bf16, normed, token_loss
from tpu.programs.steps import clipped, program, sgd, shape, trained


@program("v5p:2x2x1", expert=4)
def moe_dispatch():
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


@program("v6e:2x4", data=2, expert=4)
def plain_experts():
    """Switch layers of a fixed capacity between attention, in a scan with a checkpoint."""
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


@program("v6e:2x4", data=2, expert=4)
def scanned_experts():
    """Eight experts of a fixed capacity by one-hot products, layers in a scan, AdamW."""
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


@program("v6e:4x4", data=4, expert=4)
def capacity_experts():
    """Experts that take a fixed number of tokens each, by products of masks, layers in a scan."""
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


@program("v5p:2x2x4", data=4, expert=4)
def switch_experts():
    """Layers in a scan whose tokens go to one of 32 experts each, by products with one-hot masks."""
    layers, width, heads, hidden, experts, vocab = 12, 1536, 12, 6144, 32, 32128
    rows, length, capacity = 64, 1024, 40
    f32 = partial(shape, dtype="float32")
    both = P(("data", "expert"))

    @jax.checkpoint
    def block(x, p):
        p = in_bf16(p)
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
