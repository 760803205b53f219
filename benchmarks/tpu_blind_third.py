"""Fifth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_third.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind_second.py`: a speech encoder, two towers with a global contrastive loss,
sliding windows, a step of PPO, an autoencoder, attention on graphs, linear attention, convolutions
in 3D, relative biases, and experts with one that all share.
"""
# pyright: basic

from tpu_judges import momentum
from tpu_layers import conv, cross_entropy, group_norm, replicated, rms_norm
from tpu_programs import PROGRAMS, adam, main, program, shape, specs

OTHERS = set(PROGRAMS)


def layer_norm(x, w):
    import jax
    import jax.numpy as jnp

    y = x.astype(jnp.float32)
    y = y - jnp.mean(y, -1, keepdims=True)
    y = y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)
    return (y * w).astype(x.dtype)


@program("v5e:2x4", data=8)
def conformer():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    blocks, width, heads, hidden, kernel, mels, units = 4, 512, 8, 2048, 31, 80, 5000

    def feed_forward(x, w):
        return x + 0.5 * (jax.nn.silu(layer_norm(x, w["n"]) @ w["up"]) @ w["down"])

    def attention(x, w):
        h = layer_norm(x, w["n"])
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[n]) for n in "qkv")
        s = jnp.einsum("bqhk,bthk->bhqt", q, k).astype(jnp.float32) * 64**-0.5
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        return x + jnp.einsum(
            "bthk,hkd->btd", jnp.einsum("bhqt,bthk->bqhk", p, v), w["o"]
        )

    def convolution(x, w):
        a, b = jnp.split(layer_norm(x, w["n"]) @ w["in"], 2, -1)
        h = a * jax.nn.sigmoid(b)
        h = jax.lax.conv_general_dilated(
            *(h, w["depth"], (1,), "SAME"),
            dimension_numbers=("NTC", "TIO", "NTC"),
            feature_group_count=width,
        )
        return x + jax.nn.silu(layer_norm(h, w["n2"])) @ w["out"]

    def block(x, w):
        x = attention(feed_forward(x, w["ff1"]), w["attention"])
        return layer_norm(feed_forward(convolution(x, w["conv"]), w["ff2"]), w["n"])

    def loss(params, features, labels):
        x = features.astype(jnp.bfloat16)[..., None]
        x = jax.nn.relu(conv(x, params["sub1"].astype(x.dtype), 2))
        x = jax.nn.relu(conv(x, params["sub2"].astype(x.dtype), 2))
        x = x.reshape(*x.shape[:2], -1) @ params["in"].astype(x.dtype)
        for w in params["blocks"]:
            x = block(x, jax.tree.map(lambda p: p.astype(jnp.bfloat16), w))
        return cross_entropy(x @ params["head"].astype(x.dtype), labels)

    def f(*sizes):
        return shape(*sizes, dtype="float32")

    norm = f(width)
    ff = {"n": norm, "up": f(width, hidden), "down": f(hidden, width)}
    qkv = {n: f(width, heads, width // heads) for n in "qkv"}
    weights = {
        "ff1": ff,
        "ff2": ff,
        "attention": {**qkv, "o": f(heads, width // heads, width), "n": norm},
        "conv": {
            **{
                "n": norm,
                "n2": norm,
                "in": f(width, 2 * width),
                "out": f(width, width),
            },
            "depth": f(kernel, 1, width),
        },
        "n": norm,
    }
    params = {
        **{
            "sub1": f(3, 3, 1, 128),
            "sub2": f(3, 3, 128, 128),
            "blocks": [weights] * blocks,
        },
        **{"in": f(mels // 4 * 128, width), "head": f(width, units)},
    }
    spec = replicated(params)
    return (
        adam(loss),
        (*[params] * 3, f(64, 1600, mels), shape(64, 400, dtype="int32")),
        (spec, spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v6e:2x4", fsdp=8)
def two_towers():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def encoder(layers, width, heads, hidden, causal):
        @jax.checkpoint
        def layer(x, w):
            x = jax.lax.with_sharding_constraint(x, P("fsdp"))
            h = layer_norm(x, w["n1"])
            q, k, v = jnp.split(
                (h @ w["qkv"]).reshape(*x.shape[:2], 3 * heads, -1), 3, 2
            )
            s = jnp.einsum("bqhk,bthk->bhqt", q, k).astype(jnp.float32)
            s = s * (width // heads) ** -0.5
            if causal:
                s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e30)
            p = jax.nn.softmax(s, -1).astype(x.dtype)
            o = jnp.einsum("bhqt,bthk->bqhk", p, v).reshape(x.shape)
            x = x + o @ w["o"]
            return x + jax.nn.gelu(layer_norm(x, w["n2"]) @ w["up"]) @ w["down"], None

        def w(*sizes):
            return shape(layers, *sizes)

        weights = {"n1": w(width), "n2": w(width), "qkv": w(width, 3 * width)}
        weights |= {
            "o": w(width, width),
            "up": w(width, hidden),
            "down": w(hidden, width),
        }
        return layer, weights

    see, seeing = encoder(12, 1024, 16, 4096, False)
    read, reading = encoder(12, 768, 12, 3072, True)

    def loss(params, images, tokens):
        x = images.reshape(-1, 16, 14, 16, 14, 3).swapaxes(2, 3).reshape(-1, 256, 588)
        x = x @ params["patch"] + params["position"]
        x, _ = jax.lax.scan(see, x, params["see"])
        y, _ = jax.lax.scan(read, params["embed"][tokens], params["read"])
        x = jnp.mean(x, 1) @ params["image"]
        y = y[:, -1] @ params["text"]
        x, y = (
            v.astype(jnp.float32)
            / jnp.linalg.norm(v.astype(jnp.float32), axis=-1, keepdims=True)
            for v in (x, y)
        )
        logits = x @ y.T * jnp.exp(params["scale"])
        same = jnp.arange(logits.shape[0])
        return 0.5 * (cross_entropy(logits, same) + cross_entropy(logits.T, same))

    params = {"see": seeing, "read": reading, "patch": shape(588, 1024)}
    params |= {"position": shape(256, 1024), "embed": shape(49408, 768)}
    params |= {"image": shape(1024, 768), "text": shape(768, 768)}
    params |= {"scale": shape(dtype="float32")}
    spec = specs(params, "fsdp")
    return (
        adam(loss),
        (*[params] * 3, shape(1024, 224, 224, 3), shape(1024, 77, dtype="int32")),
        (spec, spec, spec, P("fsdp"), P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x4", fsdp=4, model=2)
def sliding_window():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, kv, head, hidden, vocab = 8, 2048, 16, 4, 128, 7168, 32000
    window, length, batch = 512, 2048, 16

    def rotate(x):
        angle = jnp.arange(length)[:, None] / 1e4 ** (jnp.arange(0, head, 2) / head)
        sin, cos = (f(angle)[:, None].astype(x.dtype) for f in (jnp.sin, jnp.cos))
        a, b = jnp.split(x, 2, -1)
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

    @jax.checkpoint
    def layer(x, w):
        x = jax.lax.with_sharding_constraint(x, P("fsdp"))
        w = jax.tree.map(lambda p: p.astype(x.dtype), w)
        h = rms_norm(x, w["n1"])
        q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[n]) for n in "qkv")
        q = rotate(q).reshape(batch, length, kv, heads // kv, head)
        s = (
            jnp.einsum("bqgrk,btgk->bgrqt", q, rotate(k)).astype(jnp.float32)
            * head**-0.5
        )
        ahead = jnp.arange(length)[:, None] - jnp.arange(length)
        s = jnp.where((ahead >= 0) & (ahead < window), s, -1e30)
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        o = jnp.einsum("bgrqt,btgk->bqgrk", p, v).reshape(batch, length, heads, head)
        x = x + jnp.einsum("bshk,hkd->bsd", o, w["o"])
        h = rms_norm(x, w["n2"])
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], None

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens]
        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = rms_norm(x, params["n"]) @ params["head"].astype(x.dtype)
        return cross_entropy(logits, jnp.roll(tokens, -1, 1))

    def w(*sizes):
        return shape(layers, *sizes, dtype="float32")

    weights = {"n1": w(width), "n2": w(width), "q": w(width, heads, head)}
    weights |= {"k": w(width, kv, head), "v": w(width, kv, head)}
    weights |= {"o": w(heads, head, width), "gate": w(width, hidden)}
    weights |= {"up": w(width, hidden), "down": w(hidden, width)}
    n = None
    spec = {k: P(n, "fsdp", "model") for k in ("q", "k", "v", "gate", "up")}
    spec |= {"o": P(n, "model", n, "fsdp"), "down": P(n, "model", "fsdp")}
    spec |= {"n1": P(), "n2": P()}
    params = {"layers": weights, "embed": shape(vocab, width, dtype="float32")}
    params |= {"head": shape(width, vocab, dtype="float32")}
    params |= {"n": shape(width, dtype="float32")}
    spec = {
        "layers": spec,
        "embed": P("model", "fsdp"),
        "head": P("fsdp", "model"),
        "n": P(),
    }
    return (
        adam(loss),
        (*[params] * 3, shape(batch, length, dtype="int32")),
        (spec, spec, spec, P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5p:2x2x2", fsdp=8)
def ppo():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

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


@program("v6e:2x2", data=4)
def autoencoder():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    widths, latent = (128, 256, 512), 8

    def block(x, w):
        h = conv(jax.nn.silu(group_norm(x, w["n1"])), w["c1"])
        h = conv(jax.nn.silu(group_norm(h, w["n2"])), w["c2"])
        return x + h

    def loss(params, images, noise):
        x = conv(images, params["in"])
        for w in params["down"]:
            x = conv(block(x, w), w["next"], 2)
        mean, log_var = jnp.split(conv(x, params["moments"]).astype(jnp.float32), 2, -1)
        z = mean + jnp.exp(0.5 * log_var) * noise
        x = conv(z.astype(x.dtype), params["back"])
        for w in params["up"]:
            x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
            x = block(conv(x, w["next"]), w)
        error = (conv(x, params["out"]) - images).astype(jnp.float32)
        kl = 0.5 * jnp.mean(mean**2 + jnp.exp(log_var) - 1 - log_var)
        return jnp.mean(error**2) + 1e-4 * kl

    def c(a, b, size=3):
        return shape(size, size, a, b)

    def of(width, following, to):
        norm = {"n1": shape(width), "n2": shape(width)}
        return {
            **norm,
            "c1": c(width, width),
            "c2": c(width, width),
            "next": c(following, to),
        }

    down = [of(a, a, b) for a, b in zip(widths, (*widths[1:], 512), strict=True)]
    up = [of(a, b, a) for a, b in zip(widths[::-1], (512, *widths[:0:-1]), strict=True)]
    params = {"in": c(3, 128), "down": down, "moments": c(512, 2 * latent)}
    params |= {"back": c(latent, 512), "up": up, "out": c(128, 3)}
    spec = replicated(params)
    return (
        momentum(loss),
        (
            params,
            params,
            shape(32, 128, 128, 3),
            shape(32, 16, 16, latent, dtype="float32"),
        ),
        (spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x2", data=4)
def graph_attention():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    nodes, edges, width, heads, classes = 65536, 1 << 20, 256, 4, 64

    def layer(x, w, senders, receivers):
        h = (x @ w["w"]).reshape(nodes, heads, -1)
        score = (
            jnp.sum(h * w["to"], -1)[receivers] + jnp.sum(h * w["from"], -1)[senders]
        )
        score = jax.nn.leaky_relu(score).astype(jnp.float32)
        most = jax.lax.stop_gradient(jax.ops.segment_max(score, receivers, nodes))
        weight = jnp.exp(score - most[receivers])
        total = jax.ops.segment_sum(weight, receivers, nodes)
        message = h[senders] * (weight / total[receivers])[..., None].astype(h.dtype)
        return jax.ops.segment_sum(message, receivers, nodes).reshape(nodes, -1)

    def loss(params, x, senders, receivers, labels):
        for w in params["layers"]:
            x = x + jax.nn.elu(layer(x, w, senders, receivers))
        return cross_entropy(x @ params["head"], labels)

    w = {"w": shape(width, width)}
    w |= {n: shape(heads, width // heads) for n in ("to", "from")}
    params = {"layers": [w] * 3, "head": shape(width, classes)}
    spec = replicated(params)
    index = shape(edges, dtype="int32")
    return (
        adam(loss),
        (*[params] * 3, shape(nodes, width), index, index, shape(nodes, dtype="int32")),
        (spec, spec, spec, P(), P("data"), P("data"), P()),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:4x4", fsdp=16)
def linear_attention():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, head, hidden, vocab = 8, 2048, 16, 128, 5632, 50304
    chunk, length, batch = 256, 4096, 32

    def attend(q, k, v):
        """Sums of keys and values so far, a chunk at a time."""

        def of_chunk(state, parts):
            q, k, v = parts
            s = jnp.einsum("bqhk,bthk->bhqt", q, k)
            s = jnp.where(jnp.tril(jnp.ones((chunk, chunk), bool)), s, 0)
            o = jnp.einsum("bhqt,bthd->bqhd", s, v)
            o = o + jnp.einsum("bqhk,bhkd->bqhd", q, state.astype(q.dtype))
            return state + jnp.einsum("bthk,bthd->bhkd", k, v).astype(state.dtype), o

        def split(x):
            return x.reshape(batch, -1, chunk, heads, head).swapaxes(0, 1)

        state = jnp.zeros((batch, heads, head, head), jnp.float32)
        _, o = jax.lax.scan(of_chunk, state, (split(q), split(k), split(v)))
        return o.swapaxes(0, 1).reshape(q.shape)

    @jax.checkpoint
    def layer(x, w):
        x = jax.lax.with_sharding_constraint(x, P("fsdp"))
        h = rms_norm(x, w["n1"])
        q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[n]) for n in "qkv")
        o = attend(jax.nn.elu(q) + 1, jax.nn.elu(k) + 1, v)
        x = x + jnp.einsum("bshk,hkd->bsd", rms_norm(o, w["n3"]), w["o"])
        h = rms_norm(x, w["n2"])
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], None

    def loss(params, tokens):
        x, _ = jax.lax.scan(layer, params["embed"][tokens], params["layers"])
        logits = rms_norm(x, params["n"]) @ params["head"]
        return cross_entropy(logits, jnp.roll(tokens, -1, 1))

    def w(*sizes):
        return shape(layers, *sizes)

    weights = {
        "n1": w(width),
        "n2": w(width),
        "n3": w(head),
        "o": w(heads, head, width),
    }
    weights |= {n: w(width, heads, head) for n in "qkv"}
    weights |= {
        "gate": w(width, hidden),
        "up": w(width, hidden),
        "down": w(hidden, width),
    }
    params = {"layers": weights, "embed": shape(vocab, width)}
    params |= {"head": shape(width, vocab), "n": shape(width)}
    spec = specs(params, "fsdp")
    return (
        adam(loss),
        (*[params] * 3, shape(batch, length, dtype="int32")),
        (spec, spec, spec, P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5p:2x2x1", data=4)
def volumes():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    widths, classes = (32, 64, 128, 256), 4

    def conv3(x, w, stride=1):
        return jax.lax.conv_general_dilated(
            *(x, w, (stride,) * 3, "SAME"),
            dimension_numbers=("NDHWC", "DHWIO", "NDHWC"),
        )

    def norm(x, scale):
        y = x.astype(jnp.float32)
        mean = jnp.mean(y, (1, 2, 3), keepdims=True)
        var = jnp.var(y, (1, 2, 3), keepdims=True)
        return ((y - mean) * jax.lax.rsqrt(var + 1e-5) * scale).astype(x.dtype)

    def block(x, w):
        x = jax.nn.relu(norm(conv3(x, w["c1"]), w["n1"]))
        return jax.nn.relu(norm(conv3(x, w["c2"]), w["n2"]))

    def loss(params, x, labels):
        kept = []
        for w in params["down"]:
            x = block(x, w)
            kept.append(x)
            x = conv3(x, w["next"], 2)
        x = block(x, params["middle"])
        for w, skip in zip(params["up"], kept[::-1], strict=True):
            for axis in (1, 2, 3):
                x = jnp.repeat(x, 2, axis)
            x = block(jnp.concatenate([conv3(x, w["next"]), skip], -1), w)
        return cross_entropy(conv3(x, params["head"]), labels)

    def c(a, b, size=3):
        return shape(size, size, size, a, b)

    def of(a, b):
        return {"c1": c(a, b), "c2": c(b, b), "n1": shape(b), "n2": shape(b)}

    pairs = list(zip((4, *widths), widths, strict=False))
    down = [{**of(a, b), "next": c(b, b)} for a, b in pairs]
    up = [{**of(2 * b, b), "next": c(min(256, 2 * b), b)} for b in widths[::-1]]
    params = {"down": down, "middle": of(256, 256), "up": up, "head": c(32, classes, 1)}
    spec = replicated(params)
    return (
        momentum(loss),
        (params, params, shape(8, 96, 96, 96, 4), shape(8, 96, 96, 96, dtype="int32")),
        (spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x4", data=2, model=4)
def relative_bias():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, head, hidden, vocab = 6, 1024, 16, 64, 2816, 32128
    buckets, batch, length = 32, 32, 1024

    def bias(table):
        """Buckets that grow with the distance, one table for all layers."""
        far = jnp.arange(length)[None] - jnp.arange(length)[:, None]
        sign = (far > 0) * (buckets // 2)
        far = jnp.abs(far)
        scaled = jnp.log(jnp.maximum(far, 1) / 8) / jnp.log(128 / 8) * (buckets // 4)
        large = jnp.minimum(buckets // 4 + scaled.astype(jnp.int32), buckets // 2 - 1)
        bucket = sign + jnp.where(far < buckets // 4, far, large)
        return table[bucket].transpose(2, 0, 1)

    def attention(x, w, position):
        h = rms_norm(x, w["n1"])
        q, k, v = (jnp.einsum("bsd,dhk->bhsk", h, w[n]) for n in "qkv")
        s = jnp.einsum("bhqk,bhtk->bhqt", q, k).astype(jnp.float32) + position
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        o = jnp.einsum("bhqt,bhtk->bhqk", p, v)
        return x + jnp.einsum("bhsk,hkd->bsd", o, w["o"])

    def feed_forward(x, w):
        h = rms_norm(x, w["n2"])
        return x + (jax.nn.gelu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

    def loss(params, tokens, labels):
        x = params["embed"][tokens]
        position = bias(params["bias"]).astype(jnp.float32)
        for w in params["layers"]:
            x = jax.checkpoint(lambda x, w: feed_forward(attention(x, w, position), w))(
                x, w
            )
        logits = x @ params["embed"].T * width**-0.5
        return cross_entropy(logits, labels)

    weights = {"n1": shape(width), "n2": shape(width), "o": shape(heads, head, width)}
    weights |= {n: shape(width, heads, head) for n in "qkv"}
    weights |= {"gate": shape(width, hidden), "up": shape(width, hidden)}
    weights |= {"down": shape(hidden, width)}
    params = {"layers": [weights] * layers, "embed": shape(vocab, width)}
    params |= {"bias": shape(buckets, heads)}
    split = {"n1": P(), "n2": P(), "o": P("model"), "down": P("model")}
    split |= {n: P(None, "model") for n in ("q", "k", "v", "gate", "up")}
    spec = {"layers": [split] * layers, "embed": P("model"), "bias": P(None, "model")}
    tokens = shape(batch, length, dtype="int32")
    return (
        adam(loss),
        (*[params] * 3, tokens, tokens),
        (spec, spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v6e:2x4", data=2, expert=4)
def shared_expert():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

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


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 7")
