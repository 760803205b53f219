"""Ten more steps to try a plan on, planned by the rules that the twelve led to: transformers."""
# pyright: basic

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program, specs, state_specs

hold = jax.lax.with_sharding_constraint


def replicated(tree):
    return jax.tree.map(lambda _: P(), tree)


def low(tree):
    return jax.tree.map(lambda a: a.astype(jnp.bfloat16), tree)


def rms(x, g):
    x32 = x.astype(jnp.float32)
    y = x32 * jax.lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6)
    return (y * g).astype(x.dtype)


def turned(x):
    """Rotate halves of (batch, time, heads, size) by their positions."""
    half = x.shape[-1] // 2
    freq = 10000.0 ** (-jnp.arange(half) / half)
    angle = jnp.arange(x.shape[1])[:, None] * freq
    cos, sin = (f(angle)[:, None].astype(x.dtype) for f in (jnp.cos, jnp.sin))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def causal_attention(q, k, v):
    t = q.shape[1]
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) * q.shape[-1] ** -0.5
    s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, jnp.finfo(jnp.float32).min)
    p = jax.nn.softmax(s, axis=-1).astype(q.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", p, v)


def trained(loss_fn, opt, params, split, batch, batch_split):
    def train_step(params, state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state, of_state = state_specs(opt, params, split)
    return (
        train_step,
        (params, state, batch),
        (split, of_state, batch_split),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:4x4", fsdp=16)
def parallel_blocks():
    """A GPT-J: attention and perceptron of one norm, rotated, scanned and made again; AdamW."""
    depth, d, heads, vocab, length = 16, 2048, 16, 50400, 1024

    def of(*s):
        return array(depth, *s)

    params = {
        "words": array(vocab, d),
        "layers": {
            **{"q": of(d, d), "k": of(d, d), "v": of(d, d), "o": of(d, d)},
            **{"up": of(d, 4 * d), "down": of(4 * d, d), "scale": of(d)},
        },
        "scale": array(d),
        "head": array(d, vocab),
    }

    def loss_fn(params, tokens):
        x = params["words"][tokens[:, :-1]].astype(jnp.bfloat16)

        @jax.checkpoint
        def layer(x, w):
            h, w = rms(x, w["scale"]), low(w)
            q, k, v = (
                (h @ w[n]).reshape(*x.shape[:2], heads, d // heads) for n in "qkv"
            )
            a = causal_attention(turned(q), turned(k), v).reshape(x.shape) @ w["o"]
            m = jax.nn.gelu(h @ w["up"]) @ w["down"]
            return hold(x + a + m, P("fsdp")), None

        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = rms(x, params["scale"]) @ low(params["head"])
        return optax.softmax_cross_entropy_with_integer_labels(
            logits.astype(jnp.float32), tokens[:, 1:]
        ).mean()

    tokens = array(64, length + 1, dtype="int32")
    return trained(
        *(loss_fn, optax.adamw(2e-4), params, specs(params, "fsdp")),
        *(tokens, P("fsdp")),
    )


@program("v5p:2x2x2", expert=8)
def choosing_experts():
    """Experts that choose their rows by top_k, six layers in Python, each made again; SGD."""
    d, ff, experts, depth, batch, length = 1536, 6144, 16, 6, 32, 1024
    taken = 2 * length // experts
    layer = {
        **{"gate": array(d, experts), "up": array(experts, d, ff)},
        **{"down": array(experts, ff, d), "scale": array(d)},
        **{"qkv": array(d, 3 * d), "o": array(d, d), "scale2": array(d)},
    }
    split = {"gate": P(), "up": P("expert"), "down": P("expert"), "scale": P()}
    split |= {"qkv": P(), "o": P(), "scale2": P()}
    params, split = [layer] * depth, [split] * depth

    @jax.checkpoint
    def block(w, x):
        b, t, _ = x.shape
        qkv = (rms(x, w["scale2"]) @ low(w["qkv"])).reshape(b, t, 3, 12, -1)
        a = causal_attention(*jnp.moveaxis(qkv, 2, 0))
        x = x + a.reshape(x.shape) @ low(w["o"])
        h = rms(x, w["scale"])
        probs = jax.nn.softmax((h @ low(w["gate"])).astype(jnp.float32), axis=-1)
        gates, rows = jax.lax.top_k(probs.swapaxes(1, 2), taken)
        picked = jax.vmap(lambda h, rows: h[rows])(h, rows)
        picked = hold(picked, P(None, "expert"))
        y = jax.nn.gelu(jnp.einsum("becd,edf->becf", picked, low(w["up"])))
        y = jnp.einsum("becf,efd->becd", y, low(w["down"]))
        y = hold(y * gates[..., None].astype(y.dtype), P("expert"))

        def put(rows, y):
            return jnp.zeros((t, d), y.dtype).at[rows.reshape(-1)].add(y.reshape(-1, d))

        return hold(x + jax.vmap(put)(rows, y), P("expert"))

    def loss_fn(params, batch):
        x, y = batch
        for w in params:
            x = block(w, x)
        return jnp.mean(jnp.square((x - y).astype(jnp.float32)))

    x = array(batch, length, d, dtype="bfloat16")
    return trained(
        loss_fn, optax.sgd(1e-2), params, split, (x, x), (P("expert"), P("expert"))
    )


@program("v5p:2x2x4", data=2, fsdp=8)
def scanned_microbatches():
    """A Llama in bf16 with f32 moments: four microbatches in a scan, and dots saved of layers."""
    depth, d, heads, kv, ff, vocab, length = 12, 2560, 20, 5, 6912, 32000, 2048
    size = d // heads

    def of(*s):
        return array(depth, *s, dtype="bfloat16")

    params = {
        "words": array(vocab, d, dtype="bfloat16"),
        "layers": {
            **{"q": of(d, heads, size), "k": of(d, kv, size), "v": of(d, kv, size)},
            **{"o": of(heads, size, d), "gate": of(d, ff), "up": of(d, ff)},
            **{"down": of(ff, d), "n1": of(d), "n2": of(d)},
        },
        "norm": array(d, dtype="bfloat16"),
        "head": array(d, vocab, dtype="bfloat16"),
    }
    by_width = dict.fromkeys(("q", "k", "v", "gate", "up"), P(None, "fsdp"))
    split = {
        "words": P(None, "fsdp"),
        "layers": {
            **by_width,
            **{"o": P(None, None, None, "fsdp"), "down": P(None, None, "fsdp")},
            **{"n1": P(), "n2": P()},
        },
        **{"norm": P(), "head": P("fsdp")},
    }
    rows = ("data", "fsdp")

    def loss_fn(params, tokens):
        x = params["words"][tokens[:, :-1]]

        def layer(x, w):
            h = rms(x, w["n1"])
            q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[n]) for n in "qkv")
            k, v = (jnp.repeat(a, heads // kv, axis=2) for a in (turned(k), v))
            a = causal_attention(turned(q), k, v)
            x = x + jnp.einsum("bthk,hkd->btd", a, w["o"])
            h = rms(x, w["n2"])
            x = x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
            return hold(x, P(rows)), None

        saved = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
        x, _ = jax.lax.scan(
            jax.checkpoint(layer, policy=saved), hold(x, P(rows)), params["layers"]
        )
        logits = (rms(x, params["norm"]) @ params["head"]).astype(jnp.float32)
        logp = jax.nn.log_softmax(logits)
        picked = jnp.take_along_axis(logp, tokens[:, 1:, None], -1)
        return -picked.mean()

    def train_step(params, mu, nu, tokens):
        def part(total, tokens):
            tokens = hold(tokens, P(rows))
            loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
            total = jax.tree.map(lambda t, g: t + g.astype(jnp.float32), total, grads)
            return total, loss

        zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), params)
        zeros = hold(zeros, split)
        grads, losses = jax.lax.scan(part, zeros, tokens)
        mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g / 4, mu, grads)
        nu = jax.tree.map(lambda n, g: 0.95 * n + 0.05 * (g / 4) ** 2, nu, grads)
        params = jax.tree.map(
            lambda p, m, n: (p - 3e-4 * m / (jnp.sqrt(n) + 1e-8)).astype(p.dtype),
            *(params, mu, nu),
        )
        return params, mu, nu, losses.mean()

    moments = jax.tree.map(lambda p: array(*p.shape), params)
    tokens = array(4, 32, length + 1, dtype="int32")
    return (
        train_step,
        (params, moments, moments, tokens),
        (split, split, split, P(None, rows)),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x4", tensor=8)
def growing_cache():
    """One token of twelve layers in Python whose caches are a list; weights in bf16, greedy."""
    depth, d, heads, size, ff, vocab, batch, length = (
        *(12, 4096, 32, 128, 16384, 50432),
        *(16, 2048),
    )

    def weight(*s):
        return array(*s, dtype="bfloat16")

    layer = {
        **{"qkv": weight(d, 3, heads, size), "o": weight(heads, size, d)},
        **{"up": weight(d, ff), "down": weight(ff, d), "scale": weight(d)},
        **{"scale2": weight(d)},
    }
    split = {
        **{"qkv": P(None, None, "tensor"), "o": P("tensor"), "up": P(None, "tensor")},
        **{"down": P("tensor"), "scale": P(), "scale2": P()},
    }
    cache = {"k": weight(batch, length, heads, size)}
    cache |= {"v": weight(batch, length, heads, size)}
    by_heads = dict.fromkeys("kv", P(None, None, "tensor"))

    def step(params, caches, token, at):
        x = params["words"][token]
        new = []
        for w, cache in zip(params["layers"], caches, strict=True):
            q, k, v = jnp.einsum("bd,dchk->cbhk", rms(x, w["scale"]), w["qkv"])
            keys = cache["k"].at[:, at].set(k)
            values = cache["v"].at[:, at].set(v)
            s = jnp.einsum("bhk,bthk->bht", q, keys).astype(jnp.float32) * size**-0.5
            s = jnp.where(jnp.arange(length) <= at, s, -1e30)
            p = jax.nn.softmax(s, -1).astype(x.dtype)
            o = jnp.einsum("bht,bthk->bhk", p, values)
            x = x + jnp.einsum("bhk,hkd->bd", o, w["o"])
            x = x + jax.nn.relu(rms(x, w["scale2"]) @ w["up"]) @ w["down"]
            new.append({"k": keys, "v": values})
        return jnp.argmax(x @ params["words"].T, -1), new, at + 1

    params = {"words": weight(vocab, d), "layers": [layer] * depth}
    return (
        step,
        (params, [cache] * depth, array(batch, dtype="int32"), array(dtype="int32")),
        (
            {"words": P("tensor"), "layers": [split] * depth},
            [by_heads] * depth,
            P(),
            P(),
        ),
        {"donate_argnums": (1,)},
    )


@program("v5p:2x2x1", stage=4)
def staged_transformer():
    """Stages of three layers that pass eight microbatches on by ppermute, in a shard_map."""
    stages, each, d, heads, parts, batch, length = 4, 3, 2048, 16, 8, 4, 1024
    params = {
        **{"qkv": array(stages, each, d, 3 * d), "o": array(stages, each, d, d)},
        **{"up": array(stages, each, d, 4 * d), "down": array(stages, each, 4 * d, d)},
        **{"n1": array(stages, each, d), "n2": array(stages, each, d)},
    }

    def layer(x, w):
        h, half = rms(x, w["n1"]), low(w)
        qkv = (h @ half["qkv"]).reshape(*x.shape[:2], 3, heads, -1)
        a = causal_attention(*jnp.moveaxis(qkv, 2, 0)).reshape(x.shape)
        x = x + a @ half["o"]
        return x + jax.nn.gelu(rms(x, w["n2"]) @ half["up"]) @ half["down"], None

    def pipeline(params, x):
        """Run one stage on what comes from the one before, for as many turns as it takes."""
        mine = jax.tree.map(lambda a: a[0], params)
        at = jax.lax.axis_index("stage")
        to_next = [(i, (i + 1) % stages) for i in range(stages)]

        @jax.checkpoint
        def stage(x):
            return jax.lax.scan(layer, x, mine)[0]

        def turn(carry, i):
            given, out = carry
            first = x[jnp.minimum(i, parts - 1)]
            y = stage(jnp.where(at == 0, first, given))
            place = jnp.clip(i - stages + 1, 0, parts - 1)
            is_out = (at == stages - 1) & (i >= stages - 1)
            out = jnp.where(is_out, out.at[place].set(y), out)
            return (jax.lax.ppermute(y, "stage", to_next), out), None

        start = (jnp.zeros_like(x[0]), jnp.zeros_like(x))
        (_, out), _ = jax.lax.scan(turn, start, jnp.arange(parts + stages - 1))
        return jax.lax.psum(jnp.where(at == stages - 1, out, 0), "stage")

    run = jax.shard_map(
        pipeline, in_specs=(P("stage"), P()), out_specs=P(), check_vma=False
    )

    def loss_fn(params, batch):
        x, y = batch
        return jnp.mean(jnp.square((run(params, x) - y).astype(jnp.float32)))

    x = array(parts, batch, length, d, dtype="bfloat16")
    split = jax.tree.map(lambda _: P("stage"), params)
    return trained(loss_fn, optax.adam(1e-4), params, split, (x, x), (P(), P()))
