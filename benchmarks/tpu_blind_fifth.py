"""Seventh set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_fifth.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind_third.py`, but written with the libraries that people use: Flax NNX and
Linen, optax's AdamW, Adafactor and EMA. Needs `flax` and `optax`, too.
"""
# pyright: basic

from functools import partial

from tpu_programs import PROGRAMS, main, program, shape, specs

OTHERS = set(PROGRAMS)


def trained(loss, optimizer, params):
    """Return a step with an optax optimizer, and the shapes of its state."""
    import jax
    import optax

    def step(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return step, jax.eval_shape(optimizer.init, params)


@program("v5e:2x4", data=8)
def nnx_translator():
    """An encoder and decoder of Flax NNX in bf16, pre-norm, with AdamW; data parallel."""
    import jax
    import jax.numpy as jnp
    import optax
    from flax import nnx
    from jax.sharding import PartitionSpec as P

    width, heads, vocab = 768, 12, 32000
    dense = partial(nnx.Linear, dtype=jnp.bfloat16)
    attention = partial(
        nnx.MultiHeadAttention, heads, width, dtype=jnp.bfloat16, decode=False
    )

    class Block(nnx.Module):
        def __init__(self, cross, rngs):
            self.n1, self.n2 = (
                nnx.LayerNorm(width, rngs=rngs),
                nnx.LayerNorm(width, rngs=rngs),
            )
            self.attend = attention(rngs=rngs)
            self.up, self.down = (
                dense(width, 3072, rngs=rngs),
                dense(3072, width, rngs=rngs),
            )
            self.cross = attention(rngs=rngs) if cross else None
            self.n3 = nnx.LayerNorm(width, rngs=rngs) if cross else None

        def __call__(self, x, memory=None, mask=None):
            x = x + self.attend(self.n1(x), mask=mask)
            if self.cross is not None:
                x = x + self.cross(self.n3(x), memory)
            return x + self.down(nnx.gelu(self.up(self.n2(x))))

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(vocab, width, dtype=jnp.bfloat16, rngs=rngs)
            self.encoder = nnx.List([Block(False, rngs) for _ in range(6)])
            self.decoder = nnx.List([Block(True, rngs) for _ in range(6)])
            self.norm = nnx.LayerNorm(width, rngs=rngs)

        def __call__(self, source, target):
            memory, y = self.embed(source), self.embed(target)
            for block in self.encoder:
                memory = block(memory)
            for block in self.decoder:
                y = block(y, memory, nnx.make_causal_mask(target))
            return self.embed.attend(self.norm(y))

    model = nnx.eval_shape(lambda: Model(nnx.Rngs(0)))
    graph, params, rest = nnx.split(model, nnx.Param, ...)

    def loss(params, rest, source, target):
        logits = nnx.merge(graph, params, rest)(source, target)
        losses = optax.softmax_cross_entropy_with_integer_labels(
            logits[:, :-1].astype(jnp.float32), target[:, 1:]
        )
        return losses.mean()

    def loss_of(params, source, target):
        return loss(params, rest_values(), source, target)

    def rest_values():
        return jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), rest)

    step, state = trained(loss_of, optax.adamw(1e-4), params)
    whole = partial(jax.tree.map, lambda _: P())
    tokens = shape(256, 512, dtype="int32")
    given = (whole(params), whole(state), P("data"), P("data"))
    return step, (params, state, tokens, tokens), given, {"donate_argnums": (0, 1)}


@program("v6e:4x4", fsdp=4, tensor=4)
def linen_gpt_adafactor():
    """GPT of Flax Linen, scanned with a checkpoint that saves dots, logical axes, Adafactor."""
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

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

    step, state = trained(loss, optax.adafactor(1e-3), params)
    spec = jax.tree_util.tree_map_with_path(spec_of, params)
    whole = jax.tree.map(lambda _: P(), state)
    given = (spec, whole, P("fsdp"))
    return step, (params, state, tokens), given, {"donate_argnums": (0, 1)}


@program("v5p:2x2x2", fsdp=8)
def grpo():
    """A policy and its reference model: advantages of groups, clipped ratios, a KL term."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    width, heads, groups, hidden, layers, vocab = 2048, 16, 8, 5632, 16, 64000

    def norm(x, w):
        x32 = x.astype(jnp.float32)
        return (
            x32 * jax.lax.rsqrt((x32**2).mean(-1, keepdims=True) + 1e-6) * w
        ).astype(x.dtype)

    def layer(x, w):
        w = jax.tree.map(lambda p: p.astype(jnp.bfloat16), w)
        h = norm(x, w["n1"])
        q = jnp.einsum("btd,dhk->bthk", h, w["q"])
        k, v = (jnp.einsum("btd,dhk->bthk", h, w[n]) for n in "kv")
        o = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        x = x + jnp.einsum("bthk,hkd->btd", o, w["o"])
        h = norm(x, w["n2"])
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], None

    def log_probabilities(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens]
        x = jax.lax.with_sharding_constraint(x, P("fsdp"))
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, params["layers"])
        x = norm(x, params["norm"])
        logits = (x[:, :-1] @ params["head"].astype(jnp.bfloat16)).astype(jnp.float32)
        chosen = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
        return chosen - jax.nn.logsumexp(logits, -1)

    def w(*sizes):
        return shape(layers, *sizes, dtype="float32")

    head = width // heads
    params = {
        "embed": shape(vocab, width, dtype="float32"),
        "layers": {
            **{"n1": w(width), "n2": w(width), "q": w(width, heads, head)},
            **{n: w(width, groups, head) for n in "kv"},
            **{"o": w(heads, head, width), "down": w(hidden, width)},
            **{n: w(width, hidden) for n in ("gate", "up")},
        },
        "norm": shape(width, dtype="float32"),
        "head": shape(width, vocab, dtype="float32"),
    }
    frozen = jax.tree.map(lambda s: shape(*s.shape), params)
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(1e-6, weight_decay=0.01)
    )

    def loss(params, reference, tokens, mask, rewards, old):
        now = log_probabilities(params, tokens)
        base = jax.lax.stop_gradient(log_probabilities(reference, tokens))
        grouped = rewards.reshape(-1, 8)
        gain = (grouped - grouped.mean(-1, keepdims=True)) / (
            grouped.std(-1, keepdims=True) + 1e-4
        )
        gain = gain.reshape(-1, 1)
        ratio = jnp.exp(now - old)
        clipped = jnp.clip(ratio, 0.8, 1.2)
        kl = jnp.exp(base - now) - (base - now) - 1
        terms = -jnp.minimum(ratio * gain, clipped * gain) + 0.04 * kl
        return (terms * mask).sum() / mask.sum()

    step, state = trained(loss, optimizer, params)

    def update(params, state, reference, *batch):
        return step(params, state, reference, *batch)

    spec = partial(specs, axis="fsdp")
    rows = 64
    tokens = shape(rows, 2048, dtype="int32")
    per_token = shape(rows, 2047, dtype="float32")
    batch = (tokens, per_token, shape(rows, dtype="float32"), per_token)
    given = (spec(params), spec(state), spec(frozen), *[P("fsdp")] * 4)
    arguments = (params, state, frozen, *batch)
    return update, arguments, given, {"donate_argnums": (0, 1)}


@program("v6e:2x4", data=2, expert=4)
def shard_map_experts():
    """Experts that tokens are sent to by `shard_map` and all_to_all, in eight scanned layers."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

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
    step, state = trained(loss, optimizer, params)
    states = jax.tree.map(lambda _: P(), state)
    states = (states[0]._replace(mu=spec, nu=spec), *states[1:])
    tokens = shape(64, 2048, dtype="int32")
    given = (spec, states, batch_spec)
    return step, (params, state, tokens), given, {"donate_argnums": (0, 1)}


@program("v6e:2x4", data=8)
def latent_diffusion():
    """A text-conditioned U-Net of Flax Linen with attention, Adam and an average of weights."""
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    bf16 = jnp.bfloat16

    class Residual(nn.Module):
        features: int

        @nn.compact
        def __call__(self, x, time):
            conv = partial(nn.Conv, dtype=bf16)
            h = conv(self.features, (3, 3))(nn.silu(nn.GroupNorm(dtype=bf16)(x)))
            h = h + nn.Dense(self.features, dtype=bf16)(nn.silu(time))[:, None, None]
            h = conv(self.features, (3, 3))(nn.silu(nn.GroupNorm(dtype=bf16)(h)))
            if x.shape[-1] != self.features:
                x = conv(self.features, (1, 1))(x)
            return x + h

    class Attention(nn.Module):
        @nn.compact
        def __call__(self, x, text):
            b, height, across, c = x.shape
            h = nn.LayerNorm(dtype=bf16)(x.reshape(b, height * across, c))
            attend = partial(nn.MultiHeadDotProductAttention, 8, dtype=bf16)
            h = h + attend()(h)
            h = h + attend()(nn.LayerNorm(dtype=bf16)(h), text)
            f = nn.Dense(4 * c, dtype=bf16)(nn.LayerNorm(dtype=bf16)(h))
            return x + (h + nn.Dense(c, dtype=bf16)(nn.gelu(f))).reshape(x.shape)

    class UNet(nn.Module):
        @nn.compact
        def __call__(self, x, time, text):
            angles = time[:, None] * jnp.exp(-jnp.arange(160) / 16.0)
            time = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1).astype(bf16)
            time = nn.Dense(1280, dtype=bf16)(nn.silu(nn.Dense(1280, dtype=bf16)(time)))
            x, saved = nn.Conv(320, (3, 3), dtype=bf16)(x.astype(bf16)), []
            for level, features in enumerate((320, 640, 1280)):
                for _ in range(2):
                    x = Residual(features)(x, time)
                    x = Attention()(x, text) if level else x
                    saved.append(x)
                x = nn.Conv(features, (3, 3), (2, 2), dtype=bf16)(x)
            x = Residual(1280)(Attention()(Residual(1280)(x, time), text), time)
            for level, features in reversed([*enumerate((320, 640, 1280))]):
                b, height, across, c = x.shape
                x = jax.image.resize(x, (b, 2 * height, 2 * across, c), "nearest")
                x = nn.Conv(features, (3, 3), dtype=bf16)(x)
                for _ in range(2):
                    x = Residual(features)(jnp.concatenate([x, saved.pop()], -1), time)
                    x = Attention()(x, text) if level else x
            return nn.Conv(4, (3, 3), dtype=bf16)(nn.silu(nn.GroupNorm(dtype=bf16)(x)))

    model, rows = UNet(), 64
    images = shape(rows, 64, 64, 4, dtype="float32")
    text, times = shape(rows, 77, 768), shape(rows, dtype="float32")
    params = jax.eval_shape(model.init, jax.random.key(0), images, times, text)

    def loss(params, images, noise, times, text):
        level = jnp.cos(times * jnp.pi / 2)[:, None, None, None]
        noisy = images * level + noise * jnp.sqrt(1 - level**2)
        predicted = model.apply(params, noisy, times, text)
        return jnp.mean((predicted.astype(jnp.float32) - noise) ** 2)

    adam, state = trained(loss, optax.adamw(1e-4), params)

    def step(params, state, average, *batch):
        params, state, value = adam(params, state, *batch)
        average = optax.incremental_update(params, average, 0.001)
        return params, state, average, value

    whole = partial(jax.tree.map, lambda _: P())
    given = (whole(params), whole(state), whole(params), *[P("data")] * 4)
    arguments = (params, state, params, images, images, times, text)
    return step, arguments, given, {"donate_argnums": (0, 1, 2)}


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], half="blind 9")
