"""GPT and BERT, as plain JAX, Flax Linen and Flax NNX have them."""
# pyright: basic

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import (
    attend,
    attention,
    bf16,
    in_bf16,
    mean_negative,
    norm,
    normed,
    put,
    rotary,
    token_loss,
)
from tpu.programs.steps import (
    array,
    clipped,
    hold,
    optimized,
    program,
    rows_of,
    shape,
    split_rows,
    state_specs,
    trained,
)


@program("v6e:4x4", fsdp=4, tensor=4)
def linen_gpt_adafactor():
    """GPT of Flax Linen, scanned with a checkpoint that saves dots, logical axes, Adafactor."""
    width, heads, layers, vocab = 2048, 16, 16, 50304

    def put(x, spec):
        unknown = jax.sharding.get_abstract_mesh().empty  # while shapes are asked for
        return x if unknown else jax.lax.with_sharding_constraint(x, spec)

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, _):
            dense = partial(nn.DenseGeneral, dtype=jnp.bfloat16, use_bias=False)
            h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
            q, k, v = (dense((heads, width // heads), name=n)(h) for n in "qkv")
            o = nn.dot_product_attention(q, k, v, mask=nn.make_causal_mask(x[..., 0]))
            x = x + dense(width, axis=(-2, -1), name="o")(o)
            h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
            h = put(nn.gelu(dense(4 * width, name="up")(h)), P("fsdp", None, "tensor"))
            return put(x + dense(width, name="down")(h), P("fsdp")), None

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(vocab, width, dtype=jnp.bfloat16)(tokens)
            x = x + self.param("positions", nn.initializers.normal(), (2048, width))[
                : tokens.shape[1]
            ].astype(jnp.bfloat16)
            policy = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
            layer = nn.remat(Layer, policy=policy, prevent_cse=False)
            x, _ = nn.scan(
                layer, {"params": 0}, split_rngs={"params": True}, length=layers
            )()(put(x, P("fsdp")), None)
            x = nn.LayerNorm(dtype=jnp.bfloat16)(x)
            return nn.Dense(vocab, use_bias=False, dtype=jnp.bfloat16)(x)

    model = Model()
    tokens = shape(64, 2048, dtype="int32")
    params = jax.eval_shape(model.init, jax.random.key(0), tokens)

    def loss(params, tokens):
        logits = model.apply(params, tokens).astype(jnp.float32)
        losses = optax.softmax_cross_entropy_with_integer_labels(
            logits, jnp.roll(tokens, -1, 1)
        )
        return losses.mean()

    def spec_of(path, leaf):
        names = [str(getattr(k, "key", k)) for k in path]
        if leaf.ndim < 2:
            return P()
        kind = names[-2]
        return (
            {
                **{n: P(None, "fsdp", "tensor") for n in ("q", "k", "v")},
                **{
                    "o": P(None, "tensor", None, "fsdp"),
                    "up": P(None, "fsdp", "tensor"),
                },
                **{"down": P(None, "tensor", "fsdp"), "Embed_0": P("tensor", "fsdp")},
                "Dense_0": P("fsdp", "tensor"),
            }.get(kind, P())
            if leaf.ndim > 1
            else P()
        )

    step, state = optimized(loss, optax.adafactor(1e-3), params)
    spec = jax.tree_util.tree_map_with_path(spec_of, params)
    whole = jax.tree.map(lambda _: P(), state)
    given = (spec, whole, P("fsdp"))
    return step, (params, state, tokens), given, {"donate_argnums": (0, 1)}


@program("v5p:2x2x2", fsdp=8)
def plain_fsdp():
    """Llama of 1.2e9 parameters, tokens and targets apart, AdamW of optax."""
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


@program("v5p:2x2x2", fsdp=8)
def lion_transformer():
    """A transformer of 0.7e9 parameters in a scan with a checkpoint, Lion; no constraint."""
    layers, width, heads, vocab, batch, length = 20, 1536, 12, 32000, 32, 2048
    f32 = partial(shape, dtype="float32")

    @jax.checkpoint
    def block(x, p):
        p = in_bf16(p)
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
def linen_gpt():
    """GPT-2 medium of Flax Linen in f32, layers in Python, no checkpoint, the head tied."""
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
        loss, clipped(3e-4), params, split_rows(params, "fsdp"), tokens, P("fsdp")
    )


@program("v6e:2x4", data=8)
def plain_bert():
    """BERT large in f32 in a scan without a checkpoint, the parameters on every device."""
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


@program("v6e:2x4", fsdp=8)
def linen_scan():
    """GPT of 0.8e9 parameters of Flax Linen, computed in bf16, its layers in a scan with a checkpoint."""
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
            return put(x + dense(width)(nn.gelu(dense(4 * width)(h))), P("fsdp")), None

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


@program("v5e:2x4", fsdp=8)
def nnx_gpt():
    """GPT-2 of 0.35e9 parameters of Flax NNX in bf16, layers in Python with a checkpoint, AdamW."""
    layers, width, heads, vocab, rows, length = 24, 1024, 16, 50304, 32, 1024

    class Layer(nnx.Module):
        def __init__(self, rngs):
            dense = partial(nnx.Linear, dtype=jnp.bfloat16, rngs=rngs)
            norm = partial(nnx.LayerNorm, width, dtype=jnp.bfloat16, rngs=rngs)
            self.first, self.second = norm(), norm()
            self.qkv, self.out = dense(width, 3 * width), dense(width, width)
            self.up, self.down = dense(width, 4 * width), dense(4 * width, width)

        def __call__(self, x):
            b, t, d = x.shape
            q, k, v = jnp.split(self.qkv(self.first(x)), 3, -1)
            q, k, v = (y.reshape(b, t, heads, -1) for y in (q, k, v))
            x = x + self.out(attend(q, k, v).reshape(b, t, d))
            return x + self.down(nnx.gelu(self.up(self.second(x))))

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(vocab, width, dtype=jnp.bfloat16, rngs=rngs)
            self.places = nnx.Embed(length, width, dtype=jnp.bfloat16, rngs=rngs)
            self.layers = nnx.List([Layer(rngs) for _ in range(layers)])
            self.norm = nnx.LayerNorm(width, dtype=jnp.bfloat16, rngs=rngs)

        def __call__(self, tokens):
            x = self.embed(tokens) + self.places(jnp.arange(tokens.shape[1]))
            for layer in self.layers:
                x = nnx.remat(Layer.__call__)(layer, x)
            return self.embed.attend(self.norm(x))

    graph, params = nnx.split(nnx.eval_shape(lambda: Model(nnx.Rngs(0))), nnx.Param)
    params = jax.tree.map(lambda p: shape(*p.shape, dtype="float32"), params)

    def loss(params, batch):
        logits = nnx.merge(graph, params)(batch["tokens"])
        return token_loss(logits, batch["targets"])

    batch = dict.fromkeys(("tokens", "targets"), shape(rows, length, dtype="int32"))
    return trained(
        *(loss, clipped(3e-4), params, split_rows(params, "fsdp")),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )


@program("v5p:2x2x2", dp=8)
def accumulated_gpt():
    """GPT of 0.35e9 parameters on every device in f32, layers in Python, microbatches in a scan."""
    L, D, H, V, B, T = 24, 1024, 16, 50257, 128, 1024
    p = {
        "wte": array(V, D),
        "wpe": array(T, D),
        "ln": array(2, D),
        "l": [
            {
                "qkv": array(D, 3 * D),
                "o": array(D, D),
                "u": array(D, 4 * D),
                "d": array(4 * D, D),
                "bu": array(4 * D),
                "bd": array(D),
                "ln": array(4, D),
            }
            for _ in range(L)
        ],
    }
    sp = jax.tree.map(lambda _: P(), p)

    def ln(x, s, b):
        y = x.astype(jnp.float32)
        y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(
            y.var(-1, keepdims=True) + 1e-5
        )
        return (y * s + b).astype(x.dtype)

    def fwd(p, tok):
        x = (p["wte"][tok] + p["wpe"][None]).astype(jnp.bfloat16)

        @jax.checkpoint
        def layer(x, w):
            h = ln(x, w["ln"][0], w["ln"][1])
            b, t, _ = h.shape
            q, k, v = jnp.split(
                (h @ w["qkv"].astype(jnp.bfloat16)).reshape(b, t, 3 * H, 64), 3, 2
            )
            s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / 8
            s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
            o = jnp.einsum(
                "bhqk,bkhd->bqhd", jax.nn.softmax(s, -1).astype(jnp.bfloat16), v
            ).reshape(b, t, D)
            x = x + o @ w["o"].astype(jnp.bfloat16)
            h = ln(x, w["ln"][2], w["ln"][3])
            return (
                x
                + jax.nn.gelu(
                    h @ w["u"].astype(jnp.bfloat16) + w["bu"].astype(jnp.bfloat16)
                )
                @ w["d"].astype(jnp.bfloat16)
                + w["bd"].astype(jnp.bfloat16)
            )

        for w in p["l"]:
            x = layer(x, w)
        return ln(x, p["ln"][0], p["ln"][1]) @ p["wte"].T.astype(jnp.bfloat16)

    def loss(p, tok):
        return mean_negative(fwd(p, tok[:, :-1]), tok[:, 1:])

    m = p
    state = (p, m, m, array(dtype="int32"))
    sspec = (sp, sp, sp, P())

    def step(state, tok):
        p, m, v, t = state
        mb = tok.reshape(4, -1, tok.shape[-1])
        mb = hold(mb, P(None, "dp"))

        def one(c, x):
            value, g = jax.value_and_grad(loss)(p, x)
            return (c[0] + value, jax.tree.map(jnp.add, c[1], g)), None

        (value, g), _ = jax.lax.scan(one, (0.0, jax.tree.map(jnp.zeros_like, p)), mb)
        g = jax.tree.map(lambda a: a / 4, g)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        p = jax.tree.map(lambda p, m, v: p - 1e-4 * m / (jnp.sqrt(v) + 1e-8), p, m, v)
        return (p, m, v, t + 1), value / 4

    return (
        step,
        (state, array(B, T + 1, dtype="int32")),
        (sspec, P("dp")),
        {"donate_argnums": (0,)},
    )


@program("v6e:2x4", fsdp=8)
def named_gpt2():
    """GPT-2 medium as pure functions over flat names, layers in Python, nothing held or saved less."""
    layers, width, heads, vocab, length, rows = 24, 1024, 16, 50304, 1024, 64
    params = {"wte": array(vocab, width), "wpe": array(length, width)}
    for n in range(layers):
        params |= {
            f"h{n}/qkv/w": array(width, 3 * width),
            f"h{n}/qkv/b": array(3 * width),
            f"h{n}/out/w": array(width, width),
            f"h{n}/out/b": array(width),
            f"h{n}/up/w": array(width, 4 * width),
            f"h{n}/up/b": array(4 * width),
            f"h{n}/down/w": array(4 * width, width),
            f"h{n}/down/b": array(width),
            f"h{n}/ln1": array(2, width),
            f"h{n}/ln2": array(2, width),
        }
    params["ln"] = array(2, width)

    def linear(params, name, x):
        return x @ params[f"{name}/w"].astype(bf16) + params[f"{name}/b"].astype(bf16)

    def loss(params, tokens):
        x, y = tokens[:, :-1], tokens[:, 1:]
        h = (params["wte"][x] + params["wpe"]).astype(bf16)
        mask = jnp.tril(jnp.ones((length, length), bool))
        for n in range(layers):
            z = norm(h, *params[f"h{n}/ln1"])
            q, k, v = jnp.split(linear(params, f"h{n}/qkv", z), 3, -1)
            q, k, v = (a.reshape(*a.shape[:2], heads, -1) for a in (q, k, v))
            h = h + linear(
                params, f"h{n}/out", attention(q, k, v, mask).reshape(h.shape)
            )
            z = norm(h, *params[f"h{n}/ln2"])
            z = jax.nn.gelu(linear(params, f"h{n}/up", z))
            h = h + linear(params, f"h{n}/down", z)
        return token_loss(norm(h, *params["ln"]) @ params["wte"].T.astype(bf16), y)

    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(optax.cosine_decay_schedule(3e-4, 10000), b2=0.95),
    )
    return trained(
        *(loss, optimizer, params, rows_of(params, "fsdp")),
        *(array(rows, length + 1, dtype="int32"), P("fsdp")),
    )


class BertLayer(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x, mask, train):
        width = x.shape[-1]
        y = nn.MultiHeadDotProductAttention(
            self.heads, dtype=bf16, dropout_rate=0.1, deterministic=not train
        )(x, mask=mask)
        y = nn.Dropout(0.1, deterministic=not train)(y)
        x = nn.LayerNorm(dtype=bf16)(x + y)
        y = nn.gelu(nn.Dense(4 * width, dtype=bf16)(x))
        y = nn.Dense(width, dtype=bf16)(y)
        y = nn.Dropout(0.1, deterministic=not train)(y)
        return nn.LayerNorm(dtype=bf16)(x + y)


class Bert(nn.Module):
    vocab: int = 30592
    width: int = 1024
    layers: int = 24

    @nn.compact
    def __call__(self, batch, train=True):
        words = nn.Embed(self.vocab, self.width, dtype=bf16, name="words")
        ids = batch["ids"]
        x = words(ids)
        x = x + nn.Embed(512, self.width, dtype=bf16)(jnp.arange(ids.shape[1]))
        x = x + nn.Embed(2, self.width, dtype=bf16)(batch["types"])
        x = nn.Dropout(0.1, deterministic=not train)(nn.LayerNorm(dtype=bf16)(x))
        mask = nn.make_attention_mask(batch["ids"] > 0, batch["ids"] > 0)
        for _ in range(self.layers):
            x = BertLayer(16)(x, mask, train)
        picked = jnp.take_along_axis(x, batch["positions"][..., None], axis=1)
        picked = nn.gelu(nn.Dense(self.width, dtype=bf16)(picked))
        logits = words.attend(nn.LayerNorm(dtype=bf16)(picked))
        logits = logits + self.param("bias", nn.initializers.zeros, (self.vocab,))
        pooled = nn.tanh(nn.Dense(self.width, dtype=bf16)(x[:, 0]))
        return logits, nn.Dense(2, dtype=bf16)(pooled)


@program("v5e:2x4", data=8)
def bert_masked():
    """BERT large of linen with dropout and 76 masked positions of 512, AdamW, data parallel."""
    rows, length, picked = 64, 512, 76
    ids = partial(array, dtype="int32")
    batch = {
        "ids": ids(rows, length),
        "types": ids(rows, length),
        "positions": ids(rows, picked),
        "labels": ids(rows, picked),
        "weights": array(rows, picked),
        "next": ids(rows),
    }
    model = Bert()
    params = jax.eval_shape(
        lambda key, batch: model.init({"params": key, "dropout": key}, batch),
        *(jax.random.key(0), batch),
    )["params"]
    optimizer = optax.adamw(1e-4, weight_decay=0.01)
    state, state_spec = state_specs(
        optimizer, params, jax.tree.map(lambda _: P(), params)
    )

    def step(params, state, batch, seed):
        key = jax.random.fold_in(jax.random.key(0), seed)

        def loss(params):
            logits, following = model.apply(
                {"params": params}, batch, rngs={"dropout": key}
            )
            per = optax.softmax_cross_entropy_with_integer_labels(
                logits.astype(jnp.float32), batch["labels"]
            )
            weights = batch["weights"]
            masked = (per * weights).sum() / (weights.sum() + 1e-5)
            return masked + token_loss(following, batch["next"])

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return (
        step,
        (params, state, batch, array(dtype="int32")),
        (
            *(jax.tree.map(lambda _: P(), params), state_spec),
            *(dict.fromkeys(batch, P("data")), P()),
        ),
        {"donate_argnums": (0, 1)},
    )
