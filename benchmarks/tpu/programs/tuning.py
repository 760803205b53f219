"""Tuned models: adapters, a teacher and its student, and policies that rewards train."""
# pyright: basic

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.language.llama import llama_block, llama_weights
from tpu.programs.layers import (
    attention,
    bf16,
    in_bf16,
    norm,
    normed,
    rms_norm,
    token_loss,
)
from tpu.programs.steps import (
    adam,
    array,
    hold,
    momentum,
    optimized,
    program,
    replicated,
    rows_of,
    shape,
    specs,
    trained,
)


@program("v6e:2x2", data=4)
def lora_train():
    width, hidden, layers, rank = 4096, 16384, 6, 16

    def loss(adapters, base, x, y):
        for w, a in zip(base, adapters, strict=True):
            h = x @ w["up"] + (x @ a["a1"]) @ a["b1"]
            h = jax.nn.silu(h)
            x = x + h @ w["down"] + (h @ a["a2"]) @ a["b2"]
        return jnp.mean((x - y).astype(jnp.float32) ** 2)

    base = [{"up": shape(width, hidden), "down": shape(hidden, width)}] * layers
    adapter = {"a1": shape(width, rank), "b1": shape(rank, hidden)}
    adapter |= {"a2": shape(hidden, rank), "b2": shape(rank, width)}
    adapters = [adapter] * layers
    batch = shape(16384, width)

    def everywhere(tree):
        return jax.tree.map(lambda _: P(), tree)

    return (
        momentum(loss),
        (adapters, adapters, base, batch, batch),
        (*map(everywhere, (adapters, adapters, base)), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x4", fsdp=8)
def adapted_llama():
    """Adapters of rank 32 on Llama of 3.2e9 parameters in bf16, in a scan with a checkpoint."""
    layers, width, heads, groups, hidden, vocab, rank = 26, 3072, 24, 8, 8192, 32000, 32
    bf16, f32 = partial(shape, dtype="bfloat16"), partial(shape, dtype="float32")
    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", None)
    adapted = {n: s for n, s in weights.items() if n in ("wq", "wv", "up", "down")}
    block = llama_block(heads, groups, P("fsdp"))

    @jax.checkpoint
    def turn(x, both):
        p, adapters = both
        sums = {n: a @ b for n, (a, b) in in_bf16(adapters).items()}
        return block(
            x, {n: w + sums[n] if n in sums else w for n, w in p.items()}
        ), None

    def step(adapters, state, base, batch):
        def loss(adapters):
            x = base["embed"][batch["tokens"]]
            x, _ = jax.lax.scan(turn, x, (base["layers"], adapters))
            return token_loss(normed(x, base["norm"]) @ base["head"], batch["targets"])

        value, grads = jax.value_and_grad(loss)(adapters)
        updates, state = optimizer.update(grads, state, adapters)
        return optax.apply_updates(adapters, updates), state, value

    optimizer = optax.adamw(1e-4)
    base = {
        "embed": bf16(vocab, width),
        "norm": bf16(width),
        "head": bf16(width, vocab),
    }
    base["layers"] = {n: bf16(layers, *s) for n, s in weights.items()}
    base_spec = {"embed": P("fsdp"), "norm": P(), "head": P("fsdp")}
    base_spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    adapters = {
        n: (f32(layers, rows, rank), f32(layers, rank, columns))
        for n, (rows, columns) in adapted.items()
    }
    state = jax.eval_shape(optimizer.init, adapters)
    whole = jax.tree.map(lambda _: P(), (adapters, state))
    batch = dict.fromkeys(("tokens", "targets"), shape(16, 2048, dtype="int32"))
    return (
        step,
        (adapters, state, base, batch),
        (*whole, base_spec, dict.fromkeys(batch, P("fsdp"))),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x4", fsdp=8)
def adapted_scan():
    """Llama of 1.2e9 frozen parameters in bf16 in a scan with a checkpoint, adapters of rank 16."""
    layers, width, heads, groups, hidden = 16, 2048, 32, 8, 8192
    vocab, length, rows, rank = 128256, 2048, 16, 16
    half = partial(array, dtype="bfloat16")
    sizes = {
        "q": (width, width),
        "k": (width, groups * 64),
        "v": (width, groups * 64),
        "o": (width, width),
        "gate": (width, hidden),
        "up": (width, hidden),
        "down": (hidden, width),
    }
    base = {
        "embed": half(vocab, width),
        "norm": half(width),
        "layers": {n: half(layers, *s) for n, s in sizes.items()}
        | {n: half(layers, width) for n in ("n1", "n2")},
    }
    adapters = {
        n: {
            "a": array(layers, sizes[n][0], rank),
            "b": array(layers, rank, sizes[n][1]),
        }
        for n in ("q", "v", "up", "down")
    }

    def rotate(x):
        angles = jnp.arange(x.shape[1])[:, None] / 5e5 ** (jnp.arange(0, 1, 1 / 32))
        cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
        a, b = jnp.split(x.astype(jnp.float32), 2, -1)
        turned = jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
        return turned.astype(x.dtype)

    def loss(adapters, tokens, base):
        x = hold(base["embed"][tokens[:, :-1]], P("fsdp"))
        mask = jnp.tril(jnp.ones((length, length), bool))

        @jax.checkpoint
        def layer(x, weights):
            w, extra = weights

            def linear(name, h):
                y = h @ w[name]
                if name in extra:
                    low = h @ extra[name]["a"].astype(bf16)
                    y = y + low @ extra[name]["b"].astype(bf16) * 2
                return y

            b, t, _ = x.shape
            h = norm(x, w["n1"].astype(jnp.float32))
            q = rotate(linear("q", h).reshape(b, t, heads, 64))
            k = rotate(linear("k", h).reshape(b, t, groups, 64))
            v = linear("v", h).reshape(b, t, groups, 64)
            k, v = (jnp.repeat(a, heads // groups, 2) for a in (k, v))
            x = x + linear("o", attention(q, k, v, mask).reshape(b, t, width))
            h = norm(x, w["n2"].astype(jnp.float32))
            h = jax.nn.silu(linear("gate", h)) * linear("up", h)
            return hold(x + linear("down", h), P("fsdp")), None

        x, _ = jax.lax.scan(layer, x, (base["layers"], adapters))
        x = norm(x, base["norm"].astype(jnp.float32))
        return token_loss(x @ base["embed"].T, tokens[:, 1:])

    spec = {
        "embed": P("fsdp"),
        "norm": P(),
        "layers": {n: P(None, "fsdp") if n in sizes else P() for n in base["layers"]},
    }
    return trained(
        *(loss, optax.adamw(2e-4), adapters, rows_of(adapters, "none", 1 << 60)),
        *(array(rows, length + 1, dtype="int32"), P("fsdp"), (base, spec)),
    )


@program("v6e:2x2", fsdp=4)
def distill():
    layers, vocab, length = 4, 32000, 1024

    def logits_of(params, tokens):
        def layer(x, w):
            h = rms_norm(x, w["n"])
            mixed = (
                jnp.cumsum(h.astype(jnp.float32), 1)
                / jnp.arange(1, length + 1)[:, None]
            )
            x = x + mixed.astype(x.dtype) @ w["mix"]
            return x + jax.nn.gelu(rms_norm(x, w["n"]) @ w["up"]) @ w["down"], None

        x, _ = jax.lax.scan(layer, params["embed"][tokens], params["layers"])
        return (x @ params["head"]).astype(jnp.float32)

    def loss(params, teacher, tokens):
        theirs = jax.nn.log_softmax(logits_of(teacher, tokens) / 2, -1)
        ours = jax.nn.log_softmax(logits_of(params, tokens) / 2, -1)
        return jnp.mean(jnp.sum(jnp.exp(theirs) * (theirs - ours), -1))

    def model(width):
        def w(*sizes):
            return shape(layers, *sizes)

        weights = {"n": w(width), "mix": w(width, width)}
        weights |= {"up": w(width, 4 * width), "down": w(4 * width, width)}
        ends = {"embed": shape(vocab, width), "head": shape(width, vocab)}
        return ends | {"layers": weights}

    student, teacher = model(1024), model(4096)
    ours, theirs = specs(student, "fsdp"), specs(teacher, "fsdp")
    return (
        momentum(loss),
        (student, student, teacher, shape(32, length, dtype="int32")),
        (ours, ours, theirs, P("fsdp")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x2", data=4)
def rollouts():
    width, hidden, actions, horizon, batch = 256, 2048, 64, 128, 8192

    def policy(params, x):
        h = jax.nn.relu(x @ params["a"])
        h = jax.nn.relu(h @ params["b"])
        return h @ params["pi"], (h @ params["v"])[:, 0]

    def step(params, world, state, seed):
        def act(carry):
            t, state, kept = carry
            logits, _ = policy(params, state.astype(jnp.bfloat16))
            noise = jnp.sin(jnp.arange(actions) * (t + seed).astype(jnp.float32))
            action = jnp.argmax(logits.astype(jnp.float32) + noise, -1)
            push = jax.nn.one_hot(action, actions, dtype=jnp.bfloat16) @ world["push"]
            new = jnp.tanh(state @ world["move"] + push.astype(jnp.float32))
            reward = -jnp.mean(new * new, -1)
            kept = tuple(
                jax.lax.dynamic_update_index_in_dim(stack, value, t, 0)
                for stack, value in zip(kept, (state, action, reward), strict=True)
            )
            return t + 1, new, kept

        kept = (
            jnp.zeros((horizon, batch, width)),
            jnp.zeros((horizon, batch), jnp.int32),
            jnp.zeros((horizon, batch)),
        )
        kept = jax.tree.map(
            lambda x: jax.lax.with_sharding_constraint(x, P(None, "data")), kept
        )
        _, last, (states, taken, rewards) = jax.lax.while_loop(
            lambda c: c[0] < horizon, act, (jnp.int32(0), state, kept)
        )

        def back(value, reward):
            value = reward + 0.99 * value
            return value, value

        _, returns = jax.lax.scan(back, jnp.zeros(batch), rewards, reverse=True)

        def loss(params, parts):
            states, taken, returns = parts
            logits, value = policy(params, states.astype(jnp.bfloat16))
            logp = jax.nn.log_softmax(logits.astype(jnp.float32), -1)
            chosen = jnp.take_along_axis(logp, taken[:, None], -1)[:, 0]
            gain = returns - value.astype(jnp.float32)
            return jnp.mean(gain**2 - chosen * jax.lax.stop_gradient(gain))

        def learn(params, parts):
            grads = jax.grad(loss)(params, parts)
            new = jax.tree.map(
                lambda p, g: (p - 0.1 * g).astype(p.dtype), params, grads
            )
            return new, None

        params, _ = jax.lax.scan(learn, params, (states, taken, returns))
        return params, last

    params = {"a": shape(width, hidden), "b": shape(hidden, hidden)}
    params |= {"pi": shape(hidden, actions), "v": shape(hidden, 1)}
    world = {
        "push": shape(actions, width),
        "move": shape(width, width, dtype="float32"),
    }
    args = shape(batch, width, dtype="float32"), shape(dtype="int32")
    return (
        step,
        (params, world, *args),
        (replicated(params), replicated(world), P("data"), P()),
        {"donate_argnums": (0, 2)},
    )


@program("v5p:2x2x2", fsdp=8)
def ppo():
    layers, width, heads, hidden, vocab, batch, length = (
        12,
        1536,
        12,
        6144,
        32000,
        64,
        512,
    )

    @jax.checkpoint
    def layer(x, w):
        x = jax.lax.with_sharding_constraint(x, P("fsdp"))
        h = rms_norm(x, w["n1"])
        q, k, v = (jnp.einsum("bsd,dhk->bhsk", h, w[n]) for n in "qkv")
        s = jnp.einsum("bhqk,bhtk->bhqt", q, k).astype(jnp.float32) * 128**-0.5
        s = jnp.where(jnp.tril(jnp.ones((length, length), bool)), s, -1e30)
        o = jnp.einsum("bhqt,bhtk->bhqk", jax.nn.softmax(s, -1).astype(x.dtype), v)
        x = x + jnp.einsum("bhsk,hkd->bsd", o, w["o"])
        return x + jax.nn.gelu(rms_norm(x, w["n2"]) @ w["up"]) @ w["down"], None

    def hidden_states(params, tokens):
        x, _ = jax.lax.scan(layer, params["embed"][tokens], params["layers"])
        return x

    def log_probs(params, x, tokens):
        logits = (x[:, :-1] @ params["embed"].T).astype(jnp.float32)
        logp = jax.nn.log_softmax(logits, -1)
        chosen = jnp.take_along_axis(logp, tokens[:, 1:, None], -1)[..., 0]
        return chosen, -jnp.sum(jnp.exp(logp) * logp, -1)

    def advantages(values, rewards):
        def back(carry, parts):
            value, reward, following = parts
            carry = reward + 0.99 * following - value + 0.95 * 0.99 * carry
            return carry, carry

        following = jnp.concatenate([values[:, 1:], jnp.zeros_like(values[:, :1])], 1)
        parts = (values.T, rewards.T, following.T)
        _, advantage = jax.lax.scan(back, jnp.zeros(batch), parts, reverse=True)
        return advantage.T

    def loss(params, reference, tokens, old, old_values, rewards):
        x = hidden_states(params, tokens)
        new, entropy = log_probs(params, x, tokens)
        values = (x[:, :-1] @ params["value"]).astype(jnp.float32)[..., 0]
        states = hidden_states(reference, tokens)
        kept, _ = log_probs(reference, states, tokens)
        rewards = rewards - 0.1 * jax.lax.stop_gradient(old - kept)
        advantage = advantages(old_values, rewards)
        target = advantage + old_values
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = jnp.exp(new - old)
        clipped = jnp.clip(ratio, 0.8, 1.2)
        policy = -jnp.mean(jnp.minimum(ratio * advantage, clipped * advantage))
        return (
            policy + 0.5 * jnp.mean((values - target) ** 2) - 0.01 * jnp.mean(entropy)
        )

    def w(*sizes):
        return shape(layers, *sizes)

    weights = {"n1": w(width), "n2": w(width), "o": w(heads, 128, width)}
    weights |= {n: w(width, heads, 128) for n in "qkv"}
    weights |= {"up": w(width, hidden), "down": w(hidden, width)}
    params = {"layers": weights, "embed": shape(vocab, width), "value": shape(width, 1)}
    spec = specs(params, "fsdp")
    steps = shape(batch, length - 1, dtype="float32")
    return (
        adam(loss),
        (*[params] * 4, shape(batch, length, dtype="int32"), *[steps] * 3),
        (*[spec] * 4, *[P("fsdp")] * 4),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5p:2x2x2", fsdp=8)
def grpo():
    """A policy and its reference model: advantages of groups, clipped ratios, a KL term."""
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

    step, state = optimized(loss, optimizer, params)

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
