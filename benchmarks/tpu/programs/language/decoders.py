"""Decoders of tokens that share a transformer, and their schedules: offloads, accumulation, a pipeline."""
# pyright: basic

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import rms_norm
from tpu.programs.steps import adam, adam_on_fsdp, momentum, program, sgd, shape, specs


def transformer(
    layers,
    width,
    heads,
    hidden,
    vocab,
    batch,
    length,
    remat,
    experts=0,
    dtype="bfloat16",
    axis=None,
):
    """Return a loss, its parameters' shapes and its batch's; `axis` keeps the batch split."""
    head = width // heads

    def norm(x, scale):
        y = x.astype(jnp.float32)
        y = y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)
        return (y * scale).astype(x.dtype)

    def layer(x, w):
        if axis:
            x = jax.lax.with_sharding_constraint(x, P(axis))
        h = norm(x, w["n1"])
        q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[n].astype(x.dtype)) for n in "qkv")
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) * head**-0.5
        s = jnp.where(jnp.tril(jnp.ones((length, length), bool)), s, -1e30)
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
        x = x + jnp.einsum("bshk,hkd->bsd", o, w["o"].astype(x.dtype))
        h = norm(x, w["n2"])
        if experts:
            gates = jax.nn.softmax((h @ w["r"]).astype(jnp.float32), -1)
            top, index = jax.lax.top_k(gates, 2)
            mask = jnp.sum(jax.nn.one_hot(index, experts) * top[..., None], -2)
            up = jnp.einsum("bsd,edf->ebsf", h, w["up"].astype(x.dtype))
            act = jax.nn.silu(up) * mask.transpose(2, 0, 1)[..., None].astype(x.dtype)
            return x + jnp.einsum("ebsf,efd->bsd", act, w["down"].astype(x.dtype)), None
        g = jax.nn.silu(h @ w["gate"].astype(x.dtype)) * (h @ w["up"].astype(x.dtype))
        return x + g @ w["down"].astype(x.dtype), None

    if remat == "full":
        layer = jax.checkpoint(layer)
    elif remat == "dots":
        layer = jax.checkpoint(
            layer, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable
        )

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens]
        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = jnp.einsum(
            "bsd,vd->bsv", x, params["embed"].astype(jnp.bfloat16)
        ).astype(jnp.float32)
        logp = jax.nn.log_softmax(logits, -1)
        return -jnp.mean(
            jnp.take_along_axis(logp, jnp.roll(tokens, -1, 1)[..., None], -1)
        )

    def w(*sizes):
        return shape(layers, *sizes, dtype=dtype)

    weights = {"n1": w(width), "n2": w(width), "o": w(heads, head, width)}
    weights |= {n: w(width, heads, head) for n in "qkv"}
    if experts:
        weights |= {
            "r": w(width, experts),
            "up": w(experts, width, hidden),
            "down": w(experts, hidden, width),
        }
    else:
        weights |= {
            "gate": w(width, hidden),
            "up": w(width, hidden),
            "down": w(hidden, width),
        }
    params = {"embed": shape(vocab, width, dtype=dtype), "layers": weights}
    return loss, params, shape(batch, length, dtype="int32")


def tensor_parallel():
    """Return the specs of a transformer's parameters, split over `model`."""
    n = None
    weights = {"n1": P(), "n2": P(), "o": P(n, "model")}
    weights |= {k: P(n, n, "model") for k in "qkv"}
    weights |= {"gate": P(n, n, "model"), "up": P(n, n, "model"), "down": P(n, "model")}
    return {"embed": P("model"), "layers": weights}


@program("v5e:4x4", fsdp=16)
def lm_fsdp_adam():

    loss, params, tokens = transformer(
        12, 2048, 16, 8192, 32768, 32, 2048, "full", dtype="float32"
    )
    return adam_on_fsdp(loss, params, tokens)


@program("v5p:2x2x2", fsdp=8)
def lm_fsdp_none():
    loss, params, tokens = transformer(
        8, 2048, 16, 8192, 32768, 16, 2048, "none", axis="fsdp"
    )
    spec = specs(params, "fsdp")
    return sgd(loss), (params, tokens), (spec, P("fsdp")), {"donate_argnums": 0}


@program("v6e:4x4", fsdp=16)
def lm_fsdp_dots():

    loss, params, tokens = transformer(
        16, 4096, 32, 14336, 32768, 16, 4096, "dots", dtype="float32", axis="fsdp"
    )
    return adam_on_fsdp(loss, params, tokens)


@program("v5p:2x2x2", data=2, model=4)
def lm_tensor():
    loss, params, tokens = transformer(
        8, 4096, 32, 16384, 32768, 8, 2048, "full", axis="data"
    )
    spec = tensor_parallel()
    return sgd(loss), (params, tokens), (spec, P("data")), {"donate_argnums": 0}


@program("v5e:2x2", fsdp=4)
def lm_unrolled():
    def loss(params, x):
        for w1, w2 in params:
            g, u = jnp.split(x @ w1, 2, axis=-1)
            x = x + (jax.nn.silu(g) * u) @ w2
        return jnp.mean(x.astype(jnp.float32) ** 2)

    params = [(shape(2048, 16384), shape(8192, 2048))] * 8
    spec = [(P("fsdp"), P(None, "fsdp"))] * 8
    return (
        sgd(loss),
        (params, shape(32768, 2048)),
        (spec, P("fsdp")),
        {"donate_argnums": 0},
    )


@program("v6e:2x4", expert=8)
def moe_expert_parallel():
    loss, params, tokens = transformer(
        6, 2048, 16, 4096, 32768, 16, 1024, "full", experts=16, axis="expert"
    )
    n = None
    weights = {k: P() for k in params["layers"]}
    weights |= {"up": P(n, "expert"), "down": P(n, "expert")}
    return (
        sgd(loss),
        (params, tokens),
        ({"embed": P(), "layers": weights}, P("expert")),
        {"donate_argnums": 0},
    )


@program("v6e:2x4", data=2, model=4)
def lm_tensor_dots():
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
    loss, params, tokens = transformer(
        8, 2048, 16, 8192, 65536, 16, 4096, "full", axis="fsdp"
    )
    spec = specs(params, "fsdp")
    return sgd(loss), (params, tokens), (spec, P("fsdp")), {"donate_argnums": 0}


@program("v5p:2x2x1", data=4)
def lm_accumulated():
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


@program("v5e:4x4", data=4, expert=4)
def moe_topk():
    loss, params, tokens = transformer(
        *(6, 1024, 8, 2048, 32000, 32, 1024, "full"), experts=8, axis=("data", "expert")
    )
    spec = specs(params, "data")
    spec["layers"] |= {n: P(None, "expert") for n in ("up", "down")}
    return (
        momentum(loss),
        (params, params, tokens),
        (spec, spec, P(("data", "expert"))),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:4x4", fsdp=16)
def fsdp_remat_dots():
    return adam_on_fsdp(
        *transformer(
            *(12, 2048, 16, 8192, 50304, 64, 1024, "dots"), dtype="float32", axis="fsdp"
        )
    )


@program("v6e:2x4", data=2, model=4)
def lm_tied_vocab():
    loss, params, tokens = transformer(
        *(4, 2048, 16, 8192, 128256, 16, 2048, "full"), axis="data"
    )
    spec = {n: P(None, None, "model") for n in ("q", "k", "v", "gate", "up")}
    spec |= {n: P(None, "model") for n in ("o", "down")} | {"n1": P(), "n2": P()}
    spec = {"embed": P("model"), "layers": spec}
    return (
        sgd(loss),
        (params, tokens),
        (spec, P("data")),
        {"donate_argnums": 0},
    )


@program("v5p:2x2x1", fsdp=4)
def accumulate_offload():
    layers, width, hidden, parts = 8, 2048, 8192, 4
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["hidden"],
        names_which_can_be_offloaded=["input"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def layer(x, w):
        x = checkpoint_name(x, "input")
        h = checkpoint_name(rms_norm(x, w["n"]) @ w["up"], "hidden")
        return x + jax.nn.gelu(h) @ w["down"], None

    layer = jax.checkpoint(layer, policy=policy)

    def loss(params, x):
        y, _ = jax.lax.scan(layer, x, params)
        return jnp.mean(y.astype(jnp.float32) ** 2)

    def step(params, mu, x):
        def add(grads, part):
            new = jax.grad(loss)(params, part)
            return jax.tree.map(lambda g, n: g + n.astype(g.dtype), grads, new), None

        zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), params)
        split = x.reshape(-1, parts, *x.shape[1:]).swapaxes(0, 1)
        grads, _ = jax.lax.scan(add, zeros, split)
        mu = jax.tree.map(lambda m, g: 0.9 * m + g, mu, grads)
        return jax.tree.map(lambda p, m: (p - 0.1 * m).astype(p.dtype), params, mu), mu

    def w(*sizes, dtype="bfloat16"):
        return shape(layers, *sizes, dtype=dtype)

    params = {"n": w(width), "up": w(width, hidden), "down": w(hidden, width)}
    mu = jax.tree.map(lambda p: shape(*p.shape, dtype="float32"), params)
    spec = {"n": P(), "up": P(None, "fsdp"), "down": P(None, None, "fsdp")}
    return (
        step,
        (params, mu, shape(64, 2048, width)),
        (spec, spec, P("fsdp")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x1", stage=4)
def pipeline():
    stages, layers, width, hidden, parts, rows = 4, 3, 2048, 8192, 8, 4096

    def forward(weights, x):
        weights = jax.tree.map(lambda w: w[0], weights)
        at = jax.lax.axis_index("stage")

        def layer(x, w):
            return x + jax.nn.gelu(rms_norm(x, w["n"]) @ w["up"]) @ w["down"], None

        @jax.checkpoint
        def tick(held, t):
            first = jax.lax.dynamic_index_in_dim(
                x, jnp.minimum(t, parts - 1), 0, keepdims=False
            )
            h = jnp.where(at == 0, first, held)
            h, _ = jax.lax.scan(layer, h, weights)
            sent = jax.lax.ppermute(h, "stage", [(i, i + 1) for i in range(stages - 1)])
            return sent, h

        held = jax.lax.pcast(jnp.zeros(x.shape[1:], x.dtype), "stage", to="varying")
        _, out = jax.lax.scan(tick, held, jnp.arange(parts + stages - 1))
        return out[stages - 1 :]

    run = jax.shard_map(forward, in_specs=(P("stage"), P()), out_specs=P("stage"))

    def loss(params, x):
        out = run(params, x)[-parts:]
        return jnp.mean(out.astype(jnp.float32) ** 2)

    def w(*sizes):
        return shape(stages, layers, *sizes)

    params = {"n": w(width), "up": w(width, hidden), "down": w(hidden, width)}
    spec = jax.tree.map(lambda _: P("stage"), params)
    return (
        adam(loss),
        (*[params] * 3, shape(parts, rows, width)),
        (spec, spec, spec, P()),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x4", fsdp=4, model=2)
def lm_tensor_fsdp():
    loss, params, tokens = transformer(
        *(6, 2048, 16, 8192, 32768, 32, 1024, "full"), axis="fsdp"
    )
    n = None
    spec = {k: P(n, "fsdp", "model") for k in ("q", "k", "v", "gate", "up")}
    spec |= {"o": P(n, "model", n, "fsdp"), "down": P(n, "model", "fsdp")}
    spec |= {"n1": P(), "n2": P()}
    spec = {"embed": P("model", "fsdp"), "layers": spec}
    return (
        adam(loss),
        (*[params] * 3, tokens),
        (spec, spec, spec, P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )
