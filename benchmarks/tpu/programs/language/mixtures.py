"""Experts of which each token has several."""
# pyright: basic

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.language.llama import llama_loss, llama_shapes, llama_specs
from tpu.programs.layers import (
    attend,
    attention,
    bf16,
    cross_entropy,
    grouped_attention,
    in_bf16,
    mean_negative,
    norm,
    normed,
    rms_cast,
    rms_norm,
    rotary,
    rotary_in_f32,
    token_loss,
)
from tpu.programs.steps import (
    adam,
    adamw_step,
    array,
    clipped,
    clipped_adamw,
    decayed_adamw,
    hold,
    optimized,
    program,
    shape,
    trained,
)


@program("v6e:2x4", expert=8)
def moe_capacity():
    width, hidden, experts, group, capacity, layers = 2048, 8192, 16, 1024, 160, 4

    @jax.checkpoint
    def layer(x, w):
        h = rms_norm(x, w["n"])
        gates = jax.nn.softmax((h @ w["router"]).astype(jnp.float32), -1)
        top, index = jax.lax.top_k(gates, 2)
        mask = jax.nn.one_hot(index, experts, dtype=jnp.int32)
        flat = mask.swapaxes(1, 2).reshape(x.shape[0], 2 * group, experts)
        place = (jnp.cumsum(flat, 1) - 1) * flat
        place = jnp.sum(place, -1).reshape(-1, 2, group).swapaxes(1, 2)
        slot = jax.nn.one_hot(place, capacity, dtype=x.dtype)
        send = jnp.einsum("gske,gskc->gsec", mask.astype(x.dtype), slot)
        back = jnp.einsum(
            *("gske,gskc,gsk->gsec", mask.astype(x.dtype), slot, top.astype(x.dtype))
        )
        sent = jnp.einsum("gsec,gsd->egcd", send, h)
        sent = jax.lax.with_sharding_constraint(sent, P("expert"))
        out = jnp.einsum("egcd,edf->egcf", sent, w["up"])
        out = jnp.einsum("egcf,efd->egcd", jax.nn.gelu(out), w["down"])
        out = jax.lax.with_sharding_constraint(out, P(None, "expert"))
        return x + jnp.einsum("gsec,egcd->gsd", back, out), None

    def loss(params, x):
        y, _ = jax.lax.scan(layer, x, params)
        return jnp.mean(y.astype(jnp.float32) ** 2)

    def w(*sizes):
        return shape(layers, *sizes)

    params = {"n": w(width), "router": w(width, experts)}
    params |= {"up": w(experts, width, hidden), "down": w(experts, hidden, width)}
    spec = {"n": P(), "router": P(), "up": P(None, "expert"), "down": P(None, "expert")}
    return (
        adam(loss),
        (*[params] * 3, shape(64, group, width)),
        (spec, spec, spec, P("expert")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v6e:2x4", data=2, expert=4)
def shared_expert():
    layers, width, heads, hidden, experts, chosen = 4, 1024, 8, 1408, 16, 4
    vocab, batch, length, capacity = 32000, 32, 1024, 320

    def moe(x, w):
        gates = jax.nn.softmax((x @ w["router"]).astype(jnp.float32), -1)
        top, index = jax.lax.top_k(gates, chosen)
        top = top / jnp.sum(top, -1, keepdims=True)
        mask = jax.nn.one_hot(index, experts, dtype=jnp.float32)
        place = jnp.cumsum(jnp.sum(mask, 2), 1)[:, :, None] * mask - 1
        slot = jax.nn.one_hot(jnp.max(place, -1), capacity, dtype=x.dtype)
        send = jnp.einsum("bske,bskc->bsec", mask.astype(x.dtype), slot)
        back = jnp.einsum(
            "bske,bskc,bsk->bsec", mask.astype(x.dtype), slot, top.astype(x.dtype)
        )
        sent = jnp.einsum("bsec,bsd->ebcd", send, x)
        sent = jax.lax.with_sharding_constraint(sent, P("expert", "data"))
        h = jax.nn.silu(jnp.einsum("ebcd,edf->ebcf", sent, w["gate"]))
        h = h * jnp.einsum("ebcd,edf->ebcf", sent, w["up"])
        out = jnp.einsum("ebcf,efd->ebcd", h, w["down"])
        shared = (jax.nn.silu(x @ w["s_gate"]) * (x @ w["s_up"])) @ w["s_down"]
        return jnp.einsum("bsec,ebcd->bsd", back, out) + shared

    @jax.checkpoint
    def layer(x, w):
        h = rms_norm(x, w["n1"])
        q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[n]) for n in "qkv")
        s = jnp.einsum("bqhk,bthk->bhqt", q, k).astype(jnp.float32) * 128**-0.5
        s = jnp.where(jnp.tril(jnp.ones((length, length), bool)), s, -1e30)
        o = jnp.einsum("bhqt,bthk->bqhk", jax.nn.softmax(s, -1).astype(x.dtype), v)
        x = x + jnp.einsum("bshk,hkd->bsd", o, w["o"])
        x = x + moe(rms_norm(x, w["n2"]), w)
        return jax.lax.with_sharding_constraint(x, P(("data", "expert"))), None

    def loss(params, tokens):
        x, _ = jax.lax.scan(layer, params["embed"][tokens], params["layers"])
        return cross_entropy(x @ params["head"], jnp.roll(tokens, -1, 1))

    def w(*sizes):
        return shape(layers, *sizes)

    weights = {"n1": w(width), "n2": w(width), "o": w(heads, 128, width)}
    weights |= {n: w(width, heads, 128) for n in "qkv"} | {"router": w(width, experts)}
    weights |= {n: w(experts, width, hidden) for n in ("gate", "up")}
    weights |= {"down": w(experts, hidden, width), "s_down": w(2 * hidden, width)}
    weights |= {n: w(width, 2 * hidden) for n in ("s_gate", "s_up")}
    params = {
        "layers": weights,
        "embed": shape(vocab, width),
        "head": shape(width, vocab),
    }
    spec = {n: P() for n in weights}
    spec |= {n: P(None, "expert") for n in ("gate", "up", "down")}
    spec = {"layers": spec, "embed": P(), "head": P()}
    return (
        adam(loss),
        (*[params] * 3, shape(batch, length, dtype="int32")),
        (spec, spec, spec, P(("data", "expert"))),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5p:2x2x2", fsdp=2, expert=4)
def mixtral_small():
    layers, width, heads, groups, hidden, experts, chosen = 6, 2048, 16, 8, 5632, 8, 2
    vocab, batch, length = 32000, 16, 2048
    capacity = length * chosen // experts * 5 // 4

    def experts_of(x, w):
        gates = jax.nn.softmax((x @ w["router"]).astype(jnp.float32), -1)
        top, index = jax.lax.top_k(gates, chosen)
        mask = jax.nn.one_hot(index, experts, dtype=jnp.int32)
        place = jnp.cumsum(mask.reshape(x.shape[0], -1, experts), 1)
        place = (place.reshape(mask.shape) * mask).sum(-1) - 1
        slot = jax.nn.one_hot(place, capacity, dtype=x.dtype)
        mask = mask.astype(x.dtype)
        send = jnp.einsum("bske,bskc->bsec", mask, slot)
        back = jnp.einsum("bske,bskc,bsk->bsec", mask, slot, top.astype(x.dtype))
        sent = jnp.einsum("bsec,bsd->ebcd", send, x)
        sent = jax.lax.with_sharding_constraint(sent, P("expert", "fsdp"))
        h = jax.nn.silu(jnp.einsum("ebcd,edf->ebcf", sent, w["gate"]))
        h = h * jnp.einsum("ebcd,edf->ebcf", sent, w["up"])
        out = jnp.einsum("ebcf,efd->ebcd", h, w["down"])
        return jnp.einsum("bsec,ebcd->bsd", back, out)

    def layer(x, w):
        w = jax.tree.map(lambda p: p.astype(jnp.bfloat16), w)
        h = rms_norm(x, w["n1"])
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[n]) for n in "qkv")
        o = grouped_attention(rotary_in_f32(q), rotary_in_f32(k), v)
        x = x + jnp.einsum("bthk,hkd->btd", o, w["o"])
        x = x + experts_of(rms_norm(x, w["n2"]), w)
        return jax.lax.with_sharding_constraint(x, P(("fsdp", "expert")))

    params = llama_shapes(layers, width, heads, groups, hidden, vocab, "float32")
    spec = llama_specs("fsdp")
    for name in ("gate", "up", "down"):
        of = params["layers"][name].shape
        params["layers"][name] = shape(layers, experts, *of[1:], dtype="float32")
        spec["layers"][name] = P(None, "expert", "fsdp")
    params["layers"]["router"] = shape(layers, width, experts, dtype="float32")
    spec["layers"]["router"] = P()
    tokens = shape(batch, length, dtype="int32")
    step = clipped_adamw(llama_loss(layer))
    return adamw_step(step, params, spec, tokens, P(("fsdp", "expert")))


@program("v6e:2x4", data=2, expert=4)
def shard_map_experts():
    """Experts that tokens are sent to by `shard_map` and all_to_all, in eight scanned layers."""
    width, hidden, experts, layers, vocab, chosen = 1536, 4096, 16, 8, 32000, 2
    heads = 12

    def dispatch(h, router, up, down):
        rows = h.reshape(-1, width)
        scores = jax.nn.softmax(rows.astype(jnp.float32) @ router)
        weight, index = jax.lax.top_k(scores, chosen)
        count = rows.shape[0] * chosen // experts * 5 // 4
        flat = index.reshape(-1)
        onehot = jax.nn.one_hot(flat, experts, dtype=jnp.int32)
        place = (jnp.cumsum(onehot, 0) * onehot).sum(-1) - 1
        slots = jnp.where(place < count, flat * count + place, experts * count)
        sent = jnp.zeros((experts * count + 1, width), h.dtype)
        sent = sent.at[slots].set(jnp.repeat(rows, chosen, 0))[:-1]
        sent = sent.reshape(experts, count, width)
        there = jax.lax.all_to_all(sent, "expert", 0, 1, tiled=True)
        out = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", there, up.astype(h.dtype)))
        out = jnp.einsum("ecf,efd->ecd", out, down.astype(h.dtype))
        back = jax.lax.all_to_all(out, "expert", 1, 0, tiled=True).reshape(-1, width)
        back = jnp.concatenate([back, jnp.zeros((1, width), h.dtype)])[slots]
        mixed = back.reshape(-1, chosen, width) * weight[..., None].astype(h.dtype)
        return mixed.sum(1).reshape(h.shape)

    batch_spec = P(("data", "expert"))
    of_experts = P("expert")
    mixture = jax.shard_map(
        dispatch,
        in_specs=(batch_spec, P(), of_experts, of_experts),
        out_specs=batch_spec,
    )

    def layer(x, w):
        h = jax.nn.standardize(x)
        q, k, v = jnp.split(h @ w["qkv"].astype(x.dtype), 3, -1)
        q, k, v = (a.reshape(*a.shape[:2], heads, -1) for a in (q, k, v))
        o = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        x = x + o.reshape(x.shape) @ w["o"].astype(x.dtype)
        return x + mixture(jax.nn.standardize(x), w["router"], w["up"], w["down"]), None

    def loss(params, tokens):
        x = params["embed"][tokens].astype(jnp.bfloat16)
        policy = jax.checkpoint_policies.nothing_saveable
        x, _ = jax.lax.scan(jax.checkpoint(layer, policy=policy), x, params["layers"])
        logits = (x @ params["embed"].T.astype(x.dtype)).astype(jnp.float32)
        return optax.softmax_cross_entropy_with_integer_labels(
            logits[:, :-1], tokens[:, 1:]
        ).mean()

    def w(*sizes):
        return shape(layers, *sizes, dtype="float32")

    layers_of = {"qkv": w(width, 3 * width), "o": w(width, width)}
    layers_of |= {"router": w(width, experts), "up": w(experts, width, hidden)}
    layers_of |= {"down": w(experts, hidden, width)}
    params = {"embed": shape(vocab, width, dtype="float32"), "layers": layers_of}
    spec = {"embed": P(), "layers": dict.fromkeys(layers_of, P())}
    spec["layers"] |= dict.fromkeys(("up", "down"), P(None, "expert"))
    optimizer = optax.adam(1e-4, mu_dtype=jnp.bfloat16)
    step, state = optimized(loss, optimizer, params)
    states = jax.tree.map(lambda _: P(), state)
    states = (states[0]._replace(mu=spec, nu=spec), *states[1:])
    tokens = shape(64, 2048, dtype="int32")
    given = (spec, states, batch_spec)
    return step, (params, state, tokens), given, {"donate_argnums": (0, 1)}


@program("v5p:2x2x2", data=2, expert=4)
def listed_experts():
    """Two of eight experts for a token, all computed, layers in Python, AdamW."""
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


@program("v5p:2x2x2", data=2, expert=4)
def paired_experts():
    """Layers in a scan whose tokens go to two of 16 gated experts, by products with masks."""
    layers, width, heads, hidden, experts, vocab = 16, 2048, 16, 4096, 16, 32000
    rows, length, capacity = 16, 2048, 320
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
        gate, expert = jax.lax.top_k(gates, 2)
        taken = jax.nn.one_hot(expert, experts, dtype=jnp.float32)
        taken = taken.reshape(b, 2 * t, experts)
        place = (jnp.cumsum(taken, 1) * taken).sum(-1) - 1
        where = jax.nn.one_hot(place, capacity, dtype=x.dtype)
        shares = taken * gate.reshape(b, 2 * t, 1)
        many = (b, t, 2, experts, capacity)
        mask = jnp.einsum("bse,bsc->bsec", taken.astype(x.dtype), where)
        back = jnp.einsum("bse,bsc->bsec", shares.astype(x.dtype), where)
        mask, back = mask.reshape(many).sum(2), back.reshape(many).sum(2)
        sent = jnp.einsum("btec,btd->ebcd", mask, h)
        sent = jax.lax.with_sharding_constraint(sent, P("expert", "data"))
        y = jax.nn.silu(jnp.einsum("ebcd,edf->ebcf", sent, p["gate"]))
        y = y * jnp.einsum("ebcd,edf->ebcf", sent, p["up"])
        y = jnp.einsum("ebcf,efd->ebcd", y, p["down"])
        y = jax.lax.with_sharding_constraint(y, P("expert", "data"))
        y = jnp.einsum("btec,ebcd->btd", back, y)
        return jax.lax.with_sharding_constraint(x + y, both), None

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        x, _ = jax.lax.scan(block, x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    sizes = dict.fromkeys("qkvo", (width, width)) | {"router": (width, experts)}
    sizes |= {"n1": (width,), "n2": (width,), "down": (experts, hidden, width)}
    sizes |= dict.fromkeys(("gate", "up"), (experts, width, hidden))
    params = {"embed": f32(vocab, width), "norm": f32(width), "head": f32(width, vocab)}
    params["layers"] = {n: f32(layers, *s) for n, s in sizes.items()}
    spec = {"embed": P(("data", "expert")), "norm": P(), "head": P(both[0])}
    spec["layers"] = dict.fromkeys("qkvo", P(None, both[0]))
    spec["layers"] |= dict.fromkeys(("router", "n1", "n2"), P())
    spec["layers"] |= dict.fromkeys(("gate", "up", "down"), P(None, "expert", "data"))
    batch = dict.fromkeys(("tokens", "targets"), shape(rows, length, dtype="int32"))
    return trained(loss, clipped(3e-4), params, spec, batch, dict.fromkeys(batch, both))


@program("v5p:2x2x4", data=4, expert=4)
def dispatched_experts():
    """Experts of which each token has two, dispatched by one-hot products to an axis of their own."""
    L, D, H, E, F, V, B, T = 8, 1024, 16, 16, 4096, 32000, 64, 1024
    p = {
        "emb": array(V, D),
        "out": array(D, V),
        "l": {
            "qkv": array(L, D, 3 * D),
            "o": array(L, D, D),
            "r": array(L, D, E),
            "wi": array(L, E, D, F),
            "wo": array(L, E, F, D),
            "n": array(L, 2, D),
        },
    }
    sp = {
        "emb": P("data"),
        "out": P(None, "data"),
        "l": {
            "qkv": P(None, "data"),
            "o": P(None, None, "data"),
            "r": P(),
            "wi": P(None, "expert", "data"),
            "wo": P(None, "expert", None, "data"),
            "n": P(),
        },
    }
    cap = 2 * T * 2 // E

    def loss(p, tok):
        x = p["emb"].astype(jnp.bfloat16)[tok[:, :-1]]
        x = hold(x, P(("data", "expert")))

        def layer(x, w):
            f = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
            h = rms_cast(x, w["n"][0])
            b, t, _ = h.shape
            q, k, v = jnp.split((h @ f["qkv"]).reshape(b, t, 3 * H, 64), 3, 2)
            o = jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(b, t, D)
            x = x + o @ f["o"]
            h = rms_cast(x, w["n"][1])
            pr = jax.nn.softmax((h @ f["r"]).astype(jnp.float32), -1)
            g, i = jax.lax.top_k(pr, 2)
            oh = jax.nn.one_hot(i, E, dtype=jnp.float32)  # b t 2 e
            pos = (jnp.cumsum(oh.reshape(b, t * 2, E), 1) - 1).reshape(b, t, 2, E)
            keep = (pos < cap) & (oh > 0)
            slot = jax.nn.one_hot(
                jnp.where(keep, pos, -1).astype(jnp.int32), cap, dtype=jnp.bfloat16
            )  # b t 2 e c
            disp = slot.sum(2)
            comb = (slot * g[..., None, None].astype(jnp.bfloat16)).sum(2)
            z = jnp.einsum("btec,btd->ebcd", disp, h)
            z = hold(z, P("expert", "data"))
            y = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", z, f["wi"]))
            y = jnp.einsum("ebcf,efd->ebcd", y, f["wo"])
            y = hold(y, P("expert", "data"))
            x = x + jnp.einsum("btec,ebcd->btd", comb, y)
            return hold(x, P(("data", "expert"))), None

        x, _ = jax.lax.scan(jax.checkpoint(layer), x, p["l"])
        return mean_negative(x @ p["out"].astype(jnp.bfloat16), tok[:, 1:])

    return decayed_adamw(
        loss, p, sp, array(B, T + 1, dtype="int32"), P(("data", "expert"))
    )


@program("v6e:4x4", fsdp=4, expert=4)
def unheld_experts():
    """Eight experts as Mixtral has them in a scan, each token's two of them by one-hot, nothing held."""
    layers, width, hidden, experts, vocab = 8, 2048, 5632, 8, 32000
    rows, length, heads = 32, 2048, 16
    capacity = length * 2 * 5 // (4 * experts)
    sizes = {
        "qkv": (width, 3 * width),
        "o": (width, width),
        "router": (width, experts),
        "gate": (experts, width, hidden),
        "up": (experts, width, hidden),
        "down": (experts, hidden, width),
        "norms": (2, width),
    }
    split = {
        "qkv": P(None, "fsdp"),
        "o": P(None, "fsdp"),
        "router": P(),
        "gate": P(None, "expert", "fsdp"),
        "up": P(None, "expert", "fsdp"),
        "down": P(None, "expert", None, "fsdp"),
        "norms": P(),
    }
    params = {
        "embed": array(vocab, width),
        "head": array(width, vocab),
        "layers": {n: array(layers, *s) for n, s in sizes.items()},
    }
    spec = {"embed": P("fsdp"), "head": P("fsdp"), "layers": split}

    def loss(params, tokens):
        x = params["embed"].astype(bf16)[tokens[:, :-1]]
        mask = jnp.tril(jnp.ones((length, length), bool))

        @jax.checkpoint
        def layer(x, w):
            w = jax.tree.map(lambda a: a.astype(bf16), w)
            h = norm(x, w["norms"][0])
            q, k, v = jnp.split(h @ w["qkv"], 3, -1)
            q, k, v = (a.reshape(*a.shape[:2], heads, -1) for a in (q, k, v))
            x = x + attention(q, k, v, mask).reshape(x.shape) @ w["o"]
            h = norm(x, w["norms"][1])
            scores = jax.nn.softmax((h @ w["router"]).astype(jnp.float32))
            weight, chosen = jax.lax.top_k(scores, 2)
            hot = jax.nn.one_hot(chosen, experts)
            place = (jnp.cumsum(hot.sum(2), 1) - 1)[:, :, None] * hot
            slot = jax.nn.one_hot(place.sum(-1).astype(jnp.int32), capacity, dtype=bf16)
            sent = jnp.einsum("btke,btkc->btec", hot.astype(bf16), slot)
            back = jnp.einsum(
                "btke,btkc,btk->btec", hot.astype(bf16), slot, weight.astype(bf16)
            )
            z = jnp.einsum("btec,btd->ebcd", sent, h)
            y = jax.nn.silu(jnp.einsum("ebcd,edf->ebcf", z, w["gate"]))
            y = y * jnp.einsum("ebcd,edf->ebcf", z, w["up"])
            y = jnp.einsum("ebcf,efd->ebcd", y, w["down"])
            return x + jnp.einsum("btec,ebcd->btd", back, y), None

        x, _ = jax.lax.scan(layer, x, params["layers"])
        return token_loss(x @ params["head"].astype(bf16), tokens[:, 1:])

    return trained(
        *(loss, optax.adamw(1e-4), params, spec),
        *(array(rows, length + 1, dtype="int32"), P(("fsdp", "expert"))),
    )


@program("v5p:2x2x2", fsdp=8)
def ragged_experts():
    """Sixteen experts by ragged products of sorted tokens in a scan with checkpoints, nothing held."""
    layers, width, hidden, experts, chosen = 8, 1024, 2048, 16, 2
    vocab, rows, length, heads = 50304, 32, 1024, 16
    sizes = {
        "qkv": (width, 3 * width),
        "o": (width, width),
        "router": (width, experts),
        "up": (experts, width, hidden),
        "gate": (experts, width, hidden),
        "down": (experts, hidden, width),
        "norms": (2, width),
    }
    params = {
        "embed": array(vocab, width, dtype="bfloat16"),
        "norm": array(width),
        "layers": {
            n: array(layers, *s, dtype="float32" if n == "norms" else "bfloat16")
            for n, s in sizes.items()
        },
    }
    spec = {
        "embed": P("fsdp"),
        "norm": P(),
        "layers": {
            "qkv": P(None, "fsdp"),
            "o": P(None, "fsdp"),
            "router": P(),
            "up": P(None, None, "fsdp"),
            "gate": P(None, None, "fsdp"),
            "down": P(None, None, "fsdp"),
            "norms": P(),
        },
    }

    def loss(params, tokens):
        x = params["embed"][tokens[:, :-1]]
        mask = jnp.tril(jnp.ones((length, length), bool))

        @jax.checkpoint
        def layer(x, w):
            h = norm(x, w["norms"][0])
            q, k, v = jnp.split(h @ w["qkv"], 3, -1)
            q, k, v = (a.reshape(rows, length, heads, -1) for a in (q, k, v))
            x = x + attention(q, k, v, mask).reshape(x.shape) @ w["o"]
            h = norm(x, w["norms"][1]).reshape(-1, width)
            scores = jax.nn.softmax((h @ w["router"]).astype(jnp.float32))
            weight, expert = jax.lax.top_k(scores, chosen)
            order = jnp.argsort(expert.reshape(-1))
            sent = h[order // chosen]
            groups = jnp.bincount(expert.reshape(-1), length=experts)
            y = jax.nn.silu(jax.lax.ragged_dot(sent, w["gate"], groups))
            y = y * jax.lax.ragged_dot(sent, w["up"], groups)
            y = jax.lax.ragged_dot(y, w["down"], groups)
            y = y[jnp.argsort(order)].reshape(-1, chosen, width)
            y = (y * weight[..., None].astype(y.dtype)).sum(1)
            return x + y.reshape(x.shape), None

        x, _ = jax.lax.scan(layer, x, params["layers"])
        return token_loss(norm(x, params["norm"]) @ params["embed"].T, tokens[:, 1:])

    optimizer = optax.adamw(3e-4, mu_dtype=jnp.float32)
    return trained(
        *(loss, optimizer, params, spec),
        *(array(rows, length + 1, dtype="int32"), P("fsdp")),
    )
