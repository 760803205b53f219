"""Ten steps to try a plan on, of networks and losses that no other set has."""
# pyright: basic

from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, hold, program, replicated, specs, state_specs

BF16 = jnp.bfloat16


def layer_norm(x, w):
    x32 = x.astype(jnp.float32)
    mean = x32.mean(-1, keepdims=True)
    var = x32.var(-1, keepdims=True)
    return ((x32 - mean) * jax.lax.rsqrt(var + 1e-5) * w).astype(x.dtype)


def rms_norm(x, w):
    x32 = x.astype(jnp.float32)
    scale = jax.lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6)
    return (x32 * scale * w).astype(x.dtype)


def heads_of(x, heads):
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads)


def attend(q, k, v, bias=None):
    """Attention of (batch, time, heads, size)."""
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32)
    s = s * q.shape[-1] ** -0.5
    if bias is not None:
        s = s + bias
    p = jax.nn.softmax(s, axis=-1).astype(v.dtype)
    o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
    return o.reshape(*o.shape[:2], -1)


def trained(loss_fn, opt):
    def train_step(params, state, *batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, *batch)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    return train_step


def token_loss(logits, labels):
    logits = logits.astype(jnp.float32)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@program("v5e:2x4", data=8)
def latent_reader():
    """A Perceiver: latents read long sequences once, then eight layers of their own, with LAMB."""
    d, width, latents, length, depth, heads = 1024, 256, 512, 4096, 8, 16

    def block(*front):
        return {
            **{n: array(*front, d, d) for n in ("q", "k", "v", "o")},
            **{"up": array(*front, d, 4 * d), "down": array(*front, 4 * d, d)},
            **{"n1": array(*front, d), "n2": array(*front, d)},
        }

    cross = block() | {"k": array(width, d), "v": array(width, d), "nx": array(width)}
    params = {
        **{"latents": array(latents, d), "places": array(length, width)},
        **{"words": array(262, width), "cross": cross, "layers": block(depth)},
        **{"out": array(d, 1000)},
    }
    opt = optax.lamb(1e-3, weight_decay=0.01)
    state = jax.eval_shape(opt.init, params)

    def mlp(w, x):
        h = layer_norm(x, w["n2"]) @ w["up"].astype(BF16)
        return x + jax.nn.gelu(h) @ w["down"].astype(BF16)

    def cross_attend(w, x, seen):
        seen, h = layer_norm(seen, w["nx"]), layer_norm(x, w["n1"])
        q, k, v = (
            heads_of(a @ w[n].astype(BF16), heads)
            for n, a in (("q", h), ("k", seen), ("v", seen))
        )
        return mlp(w, x + attend(q, k, v) @ w["o"].astype(BF16))

    def self_attend(x, w):
        h = layer_norm(x, w["n1"])
        q, k, v = (heads_of(h @ w[n].astype(BF16), heads) for n in "qkv")
        return mlp(w, x + attend(q, k, v) @ w["o"].astype(BF16)), None

    def loss_fn(params, tokens, labels):
        seen = (params["words"][tokens] + params["places"]).astype(BF16)
        x = jnp.broadcast_to(params["latents"], (tokens.shape[0], latents, d))
        x = cross_attend(params["cross"], x.astype(BF16), seen)
        x, _ = jax.lax.scan(self_attend, x, params["layers"])
        return token_loss(x.mean(1) @ params["out"].astype(BF16), labels)

    return (
        trained(loss_fn, opt),
        (params, state, array(64, length, dtype="int32"), array(64, dtype="int32")),
        (replicated(params), replicated(state), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x2", fsdp=8)
def preferred_adapters():
    """Direct preferences of a frozen Llama in bf16 with adapters of rank 16, pairs of 1,024 words."""
    depth, d, hidden, heads, kv, vocab, rank = 16, 2048, 8192, 32, 8, 128256, 16
    size = d // heads

    def of(*s, dtype="bfloat16"):
        return array(depth, *s, dtype=dtype)

    base = {
        "embed": array(vocab, d, dtype="bfloat16"),
        "norm": array(d, dtype="bfloat16"),
        "layers": {
            **{"q": of(d, d), "k": of(d, kv * size), "v": of(d, kv * size)},
            **{"o": of(d, d), "gate": of(d, hidden), "up": of(d, hidden)},
            **{"down": of(hidden, d), "n1": of(d), "n2": of(d)},
        },
    }
    wide = {"q": (d, d), "v": (d, kv * size), "gate": (d, hidden), "down": (hidden, d)}
    low = partial(of, dtype="float32")
    lora = {n: {"a": low(r, rank), "b": low(rank, c)} for n, (r, c) in wide.items()}
    opt = optax.adamw(2e-5)
    state = jax.eval_shape(opt.init, lora)
    base_spec = specs(base, "fsdp")
    angles = jnp.outer(jnp.arange(1024), 1 / 5e5 ** (jnp.arange(0, size, 2) / size))

    def rotate(x):
        a, b = jnp.split(x, 2, -1)
        sin, cos = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
        rotated = jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
        return rotated.astype(x.dtype)

    def log_probabilities(base, lora, tokens):
        causal = jnp.where(jnp.tril(jnp.ones((1024, 1024), bool)), 0.0, -1e9)

        def layer(x, w):
            w, low = w

            def dense(name, h):
                y = h @ w[name]
                if low and name in low:
                    a, b = (low[name][n].astype(BF16) for n in "ab")
                    y = y + 2.0 * ((h @ a) @ b)
                return y

            h = rms_norm(x, w["n1"])
            q = rotate(heads_of(dense("q", h), heads))
            k = rotate(heads_of(dense("k", h), kv))
            v = heads_of(dense("v", h), kv)
            k, v = (jnp.repeat(a, heads // kv, axis=2) for a in (k, v))
            x = x + dense("o", attend(q, k, v, causal))
            h = rms_norm(x, w["n2"])
            x = x + dense("down", jax.nn.silu(dense("gate", h)) * dense("up", h))
            return hold(x, P("fsdp")), None

        x = hold(base["embed"][tokens], P("fsdp"))
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, (base["layers"], lora))
        logits = rms_norm(x, base["norm"])[:, :-1] @ base["embed"].T
        logps = jax.nn.log_softmax(logits.astype(jnp.float32), -1)
        picked = jnp.take_along_axis(logps, tokens[:, 1:, None], -1)
        return picked[..., 0].sum(-1)

    def loss_fn(lora, base, chosen, rejected):
        tokens = jnp.concatenate([chosen, rejected])
        old = jax.lax.stop_gradient(log_probabilities(base, None, tokens))
        better, worse = jnp.split(log_probabilities(base, lora, tokens) - old, 2)
        return -jax.nn.log_sigmoid(0.1 * (better - worse)).mean()

    tokens = array(8, 1024, dtype="int32")
    return (
        trained(loss_fn, opt),
        (lora, state, base, tokens, tokens),
        (replicated(lora), replicated(state), base_spec, P("fsdp"), P("fsdp")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x2", data=4)
def passed_messages():
    """A graph network: edges on four devices send messages, nodes sum them, in four layers."""
    nodes, edges, d = 50_000, 800_000, 256
    params = {
        "encode": array(128, d),
        "layers": [
            {
                **{"edge": array(2 * d + 16, d), "edge2": array(d, d)},
                **{"node": array(2 * d, d), "node2": array(d, d), "b": array(d)},
            }
            for _ in range(4)
        ],
        "decode": array(d, 40),
    }
    opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    state = jax.eval_shape(opt.init, params)

    def loss_fn(params, graph):
        h = graph["nodes"] @ params["encode"]
        senders, receivers = graph["senders"], graph["receivers"]
        for w in params["layers"]:
            joined = jnp.concatenate([h[senders], h[receivers], graph["edges"]], -1)
            m = jax.nn.relu(joined @ w["edge"]) @ w["edge2"]
            total = jax.ops.segment_sum(m, receivers, num_segments=nodes)
            both = jnp.concatenate([h, total], -1)
            h = h + jax.nn.relu(both @ w["node"] + w["b"]) @ w["node2"]
        logits = h @ params["decode"]
        labels, mask = graph["labels"], graph["mask"]
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        return jnp.sum(losses * mask) / jnp.sum(mask)

    graph = {
        **{"nodes": array(nodes, 128), "edges": array(edges, 16)},
        **{n: array(edges, dtype="int32") for n in ("senders", "receivers")},
        **{"labels": array(nodes, dtype="int32"), "mask": array(nodes)},
    }
    of_graph = {n: P("data") for n in ("edges", "senders", "receivers")}
    return (
        trained(loss_fn, opt),
        (params, state, graph),
        (
            replicated(params),
            replicated(state),
            of_graph | {n: P() for n in ("nodes", "labels", "mask")},
        ),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x4", data=4, model=2)
def heard_words():
    """Whisper: two convolutions, an encoder of 1,500 frames, a decoder of 448 words; Megatron's axes."""
    d, heads, depth, vocab, mels = 1024, 16, 12, 51865, 80

    def block(cross):
        names = ["q", "k", "v", "o"] + (["cq", "ck", "cv", "co"] if cross else [])
        return {
            **{n: array(depth, d, d) for n in names},
            **{"up": array(depth, d, 4 * d), "bu": array(depth, 4 * d)},
            **{"down": array(depth, 4 * d, d), "bd": array(depth, d)},
            **{n: array(depth, d) for n in ["n1", "n2"] + ["n3"] * cross},
        }

    params = {
        "conv1": array(3, mels, d),
        "conv2": array(3, d, d),
        "encoder": block(False),
        "decoder": block(True),
        "words": array(vocab, d),
        "places": array(448, d),
    }
    columns = {"q", "k", "v", "cq", "ck", "cv", "up"}

    def spec_of(path, leaf):
        name = path[-1].key
        if leaf.ndim == 3 and leaf.shape[0] == depth:
            at = (None, None, "model") if name in columns else (None, "model", None)
            return P(*at)
        return P(None, "model") if name == "bu" else P()

    split = jax.tree_util.tree_map_with_path(spec_of, params)
    opt = optax.adamw(optax.warmup_cosine_decay_schedule(0, 1e-4, 100, 1000))
    state, of_state = state_specs(opt, params, split)

    def project(h, w):
        return heads_of(h @ w.astype(BF16), heads)

    def mlp(x, w, norm):
        h = layer_norm(x, norm) @ w["up"].astype(BF16) + w["bu"].astype(BF16)
        h = jax.nn.gelu(h) @ w["down"].astype(BF16)
        return x + h + w["bd"].astype(BF16)

    def encode(x, w):
        h = layer_norm(x, w["n1"])
        o = attend(*(project(h, w[n]) for n in "qkv"))
        x = mlp(x + o @ w["o"].astype(BF16), w, w["n2"])
        return hold(x, P("data")), None

    def loss_fn(params, mel, words, labels):
        x = mel.astype(BF16)
        for name, stride in (("conv1", 1), ("conv2", 2)):
            x = jax.lax.conv_general_dilated(
                *(x, params[name].astype(BF16), (stride,), "SAME"),
                dimension_numbers=("NWC", "WIO", "NWC"),
            )
            x = jax.nn.gelu(x)
        angles = jnp.outer(
            jnp.arange(1500), 1e4 ** -(jnp.arange(d // 2) / (d // 2 - 1))
        )
        x = x + jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1).astype(BF16)
        seen, _ = jax.lax.scan(jax.checkpoint(encode), x, params["encoder"])
        causal = jnp.triu(jnp.full((448, 448), -1e9), 1)

        def decode(x, w):
            h = layer_norm(x, w["n1"])
            o = attend(*(project(h, w[n]) for n in "qkv"), causal)
            x = x + o @ w["o"].astype(BF16)
            h = layer_norm(x, w["n2"])
            at = (("cq", h), ("ck", seen), ("cv", seen))
            o = attend(*(project(a, w[n]) for n, a in at))
            x = mlp(x + o @ w["co"].astype(BF16), w, w["n3"])
            return hold(x, P("data")), None

        x = (params["words"][words] + params["places"]).astype(BF16)
        x, _ = jax.lax.scan(jax.checkpoint(decode), x, params["decoder"])
        return token_loss(x @ params["words"].T.astype(BF16), labels)

    words = array(32, 448, dtype="int32")
    return (
        trained(loss_fn, opt),
        (params, state, array(32, 3000, mels), words, words),
        (split, of_state, P("data"), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:4x4", data=4, model=4)
def wide_and_deep():
    """Clicks by a wide and a deep part; 26 tables joined as one on an axis, Adagrad in f32."""
    rows, d, fields, dense, batch = 4_000_000, 64, 26, 13, 32768
    sizes = [fields * d + dense, 2048, 1024, 512, 1]
    params = {
        "table": array(rows, d),
        "wide": array(rows, 1),
        "deep": [{"w": array(a, b), "b": array(b)} for a, b in pairwise(sizes)],
    }
    split = replicated(params) | {"table": P("model"), "wide": P("model")}
    opt = optax.adagrad(0.05)
    state, of_state = state_specs(opt, params, split)

    def loss_fn(params, ids, numbers, clicked):
        found = params["table"][ids]
        h = jnp.concatenate([found.reshape(batch, -1), jnp.log1p(numbers)], -1)
        for i, w in enumerate(params["deep"]):
            h = h @ w["w"] + w["b"]
            h = h if i == len(params["deep"]) - 1 else jax.nn.relu(h)
        logits = h[:, 0] + params["wide"][ids][..., 0].sum(-1)
        return optax.sigmoid_binary_cross_entropy(logits, clicked).mean()

    return (
        trained(loss_fn, opt),
        (
            params,
            state,
            array(batch, fields, dtype="int32"),
            array(batch, dense),
            array(batch),
        ),
        (split, of_state, P("data"), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:4x4", fsdp=16)
def linear_biases():
    """A decoder with ALiBi; the loss of a large vocabulary in eight chunks made again; Lion."""
    depth, d, heads, vocab, batch, length = 16, 1536, 16, 50304, 64, 2048

    def of(*s):
        return array(depth, *s)

    params = {
        "embed": array(vocab, d),
        "head": array(d, vocab),
        "layers": {
            **{"qkv": of(d, 3 * d), "o": of(d, d), "n1": of(d), "n2": of(d)},
            **{"up": of(d, 4 * d), "down": of(4 * d, d)},
        },
        "norm": array(d),
    }
    split = specs(params, "fsdp")
    opt = optax.lion(1e-4, weight_decay=0.1)
    state, of_state = state_specs(opt, params, split)

    def loss_fn(params, tokens):
        slopes = 2.0 ** (-8 * (jnp.arange(heads) + 1) / heads)
        at = jnp.arange(length)
        far = (at[None, :] - at[:, None]).astype(jnp.float32)
        bias = jnp.where(far <= 0, slopes[:, None, None] * far, -jnp.inf)

        @jax.checkpoint
        def layer(x, w):
            w = jax.tree.map(lambda a: a.astype(BF16), w)
            h = layer_norm(x, w["n1"])
            q, k, v = (heads_of(a, heads) for a in jnp.split(h @ w["qkv"], 3, -1))
            x = x + attend(q, k, v, bias) @ w["o"]
            h = layer_norm(x, w["n2"]) @ w["up"]
            x = x + jax.nn.gelu(h) @ w["down"]
            return hold(x, P("fsdp")), None

        x = hold(params["embed"].astype(BF16)[tokens], P("fsdp"))
        x, _ = jax.lax.scan(layer, x, params["layers"])
        x = layer_norm(x, params["norm"])
        labels = jnp.roll(tokens, -1, 1)
        head = params["head"].astype(BF16)
        chunks = 8
        xs = x.reshape(batch, chunks, -1, d).swapaxes(0, 1)
        ys = labels.reshape(batch, chunks, -1).swapaxes(0, 1)

        @jax.checkpoint
        def chunk(total, xy):
            x, y = xy
            logits = (x @ head).astype(jnp.float32)
            picked = jnp.take_along_axis(logits, y[..., None], -1)[..., 0]
            return total + jnp.sum(jax.nn.logsumexp(logits, -1) - picked), None

        total, _ = jax.lax.scan(chunk, jnp.float32(0), (xs, ys))
        return total / (batch * length)

    return (
        trained(loss_fn, opt),
        (params, state, array(batch, length, dtype="int32")),
        (split, of_state, P("fsdp")),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x4", ep=8)
def exchanged_experts():
    """Experts of SwiGLU that devices exchange rows for by all_to_all in shard_map, top 2, layers in Python."""
    depth, d, hidden, experts, heads, vocab = 6, 1024, 2816, 16, 16, 32000
    batch, length, ways = 32, 1024, 8
    tokens_here = batch * length // ways
    capacity = 2 * tokens_here * 5 // 4 // experts

    def layer_of():
        return {
            **{"qkv": array(d, 3 * d), "o": array(d, d)},
            **{"n1": array(d), "n2": array(d), "router": array(d, experts)},
            **{"gate": array(experts, d, hidden), "up": array(experts, d, hidden)},
            **{"down": array(experts, hidden, d)},
        }

    params = {
        "embed": array(vocab, d),
        "layers": [layer_of() for _ in range(depth)],
        "head": array(d, vocab),
    }
    split = jax.tree.map(lambda p: P("ep") if p.ndim == 3 else P(), params)
    opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-4))
    state, of_state = state_specs(opt, params, split)

    @partial(
        jax.shard_map,
        in_specs=(P("ep"), P(), P("ep"), P("ep"), P("ep")),
        out_specs=P("ep"),
    )
    def mixture(x, router, gate, up, down):
        rows = x.reshape(-1, d)
        chances = jax.nn.softmax((rows @ router.astype(BF16)).astype(jnp.float32), -1)
        weights, picks = jax.lax.top_k(chances, 2)
        weights = weights / weights.sum(-1, keepdims=True)
        chosen = jax.nn.one_hot(picks.reshape(-1), experts, dtype=jnp.int32)
        place = (jnp.cumsum(chosen, 0) * chosen).sum(-1) - 1
        kept = place < capacity
        slot = jnp.where(kept, picks.reshape(-1) * capacity + place, experts * capacity)
        doubled = jnp.repeat(rows, 2, axis=0)
        sent = (
            jnp.zeros((experts * capacity, d), BF16).at[slot].set(doubled, mode="drop")
        )
        sent = sent.reshape(ways, experts // ways, capacity, d)
        got = jax.lax.all_to_all(sent, "ep", 0, 0, tiled=False)
        got = got.swapaxes(0, 1).reshape(experts // ways, -1, d)
        h = jnp.einsum("ecd,edf->ecf", got, gate.astype(BF16))
        h = jax.nn.silu(h) * jnp.einsum("ecd,edf->ecf", got, up.astype(BF16))
        y = jnp.einsum("ecf,efd->ecd", h, down.astype(BF16))
        y = y.reshape(experts // ways, ways, capacity, d).swapaxes(0, 1)
        back = jax.lax.all_to_all(y, "ep", 0, 0, tiled=False).reshape(-1, d)
        taken = jnp.take(back, slot, axis=0, mode="fill", fill_value=0)
        taken = taken * (weights.reshape(-1, 1) * kept[:, None]).astype(BF16)
        return taken.reshape(-1, 2, d).sum(1).reshape(x.shape)

    def loss_fn(params, tokens):
        causal = jnp.where(jnp.tril(jnp.ones((length, length), bool)), 0.0, -1e9)
        x = hold(params["embed"][tokens].astype(BF16), P("ep"))
        for w in params["layers"]:
            h = rms_norm(x, w["n1"]) @ w["qkv"].astype(BF16)
            q, k, v = (heads_of(a, heads) for a in jnp.split(h, 3, -1))
            x = x + attend(q, k, v, causal) @ w["o"].astype(BF16)
            h = rms_norm(x, w["n2"])
            x = x + mixture(h, w["router"], w["gate"], w["up"], w["down"])
        return token_loss(x[:, :-1] @ params["head"].astype(BF16), tokens[:, 1:])

    return (
        trained(loss_fn, opt),
        (params, state, array(batch, length, dtype="int32")),
        (split, of_state, P("ep")),
        {"donate_argnums": (0, 1)},
    )


@program("v4:2x2x1", data=4)
def long_convolutions():
    """Hyena: long convolutions by FFT between gates, a loop of twelve layers, AdamW."""
    depth, d, length, batch, vocab = 12, 768, 2048, 16, 32000

    def of(*s):
        return array(depth, *s)

    params = {
        "embed": array(vocab, d),
        "layers": {
            **{"in": of(d, 3 * d), "out": of(d, d), "short": of(3, 3 * d)},
            **{"f1": of(33, 64), "f2": of(64, 64), "f3": of(64, d), "decay": of(d)},
            **{"skip": of(d), "up": of(d, 4 * d), "down": of(4 * d, d)},
            **{"n1": of(d), "n2": of(d)},
        },
    }
    opt = optax.adamw(6e-4)
    state = jax.eval_shape(opt.init, params)

    def filters(w):
        t = jnp.linspace(0, 1, length)[:, None]
        waves = 2 * jnp.pi * t * jnp.arange(1, 17)
        z = jnp.concatenate([t, jnp.cos(waves), jnp.sin(waves)], -1)
        h = jnp.sin(jnp.sin(z @ w["f1"]) @ w["f2"]) @ w["f3"]
        return h * jnp.exp(-t * jnp.abs(w["decay"]))

    def long(u, h):
        n = 2 * length
        transformed = jnp.fft.rfft(u.astype(jnp.float32), n=n, axis=1)
        y = jnp.fft.irfft(transformed * jnp.fft.rfft(h, n=n, axis=0), n=n, axis=1)
        return y[:, :length].astype(u.dtype)

    @jax.checkpoint
    def layer(x, w):
        z = layer_norm(x, w["n1"]) @ w["in"].astype(BF16)
        padded = jnp.pad(z, ((0, 0), (2, 0), (0, 0)))
        z = sum(
            padded[:, i : i + length] * w["short"][i].astype(BF16) for i in range(3)
        )
        a, b, v = jnp.split(z, 3, -1)
        u = b * v
        y = a * (long(u, filters(w)) + u * w["skip"].astype(BF16))
        x = x + y @ w["out"].astype(BF16)
        h = jax.nn.gelu(layer_norm(x, w["n2"]) @ w["up"].astype(BF16))
        return x + h @ w["down"].astype(BF16), None

    def loss_fn(params, tokens):
        x = params["embed"].astype(BF16)[tokens]
        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = x @ params["embed"].T.astype(BF16)
        return token_loss(logits[:, :-1], tokens[:, 1:])

    return (
        trained(loss_fn, opt),
        (params, state, array(batch, length, dtype="int32")),
        (replicated(params), replicated(state), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x1", data=2, fsdp=2)
def scaled_student():
    """A ViT taught by a larger frozen one: microbatches by fori_loop, a loss scale, averaged weights."""
    patches, classes, microbatches, batch = 196, 1000, 4, 256

    def network(depth, d, dtype="float32"):
        a = partial(array, dtype=dtype)
        return {
            **{"patch": a(768, d), "place": a(patches, d), "head": a(d, classes)},
            "layers": [
                {
                    **{"qkv": a(d, 3 * d), "o": a(d, d), "n1": a(d), "n2": a(d)},
                    **{"up": a(d, 4 * d), "down": a(4 * d, d)},
                }
                for _ in range(depth)
            ],
        }

    student, teacher = network(12, 768), network(24, 1024, "bfloat16")
    split, of_teacher = specs(student, "fsdp"), specs(teacher, "fsdp")
    opt = optax.adamw(1e-3, b2=0.95)
    state, of_state = state_specs(opt, student, split)

    def logits_of(params, images, heads):
        params = jax.tree.map(lambda a: a.astype(BF16), params)
        x = images.astype(BF16) @ params["patch"] + params["place"]
        for w in params["layers"]:
            h = layer_norm(x, w["n1"]) @ w["qkv"]
            q, k, v = (heads_of(a, heads) for a in jnp.split(h, 3, -1))
            x = x + attend(q, k, v) @ w["o"]
            x = x + jax.nn.gelu(layer_norm(x, w["n2"]) @ w["up"]) @ w["down"]
            x = hold(x, P(("data", "fsdp")))
        return (x.mean(1) @ params["head"]).astype(jnp.float32)

    def loss_fn(student, scale, teacher, images, labels):
        ours = logits_of(student, images, 12)
        theirs = jax.lax.stop_gradient(logits_of(teacher, images, 16))
        hard = optax.softmax_cross_entropy_with_integer_labels(ours, labels).mean()
        soft = optax.softmax_cross_entropy(ours / 2, jax.nn.softmax(theirs / 2)).mean()
        return scale * (0.5 * hard + 2.0 * soft)

    def train_step(carry, teacher, images, labels):
        student, ema, state, scale = carry
        size = batch // microbatches

        def one(i, total):
            part = jax.lax.dynamic_slice_in_dim(images, i * size, size)
            named = jax.lax.dynamic_slice_in_dim(labels, i * size, size)
            g = jax.grad(loss_fn)(student, scale, teacher, part, named)
            return jax.tree.map(jnp.add, total, g)

        zeros = jax.tree.map(jnp.zeros_like, student)
        grads = jax.lax.fori_loop(0, microbatches, one, zeros)
        grads = jax.tree.map(lambda g: g / (scale * microbatches), grads)
        known = [jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(grads)]
        finite = jnp.all(jnp.stack(known))
        updates, new_state = opt.update(grads, state, student)
        new = optax.apply_updates(student, updates)
        new, state = jax.tree.map(
            lambda a, b: jnp.where(finite, a, b), (new, new_state), (student, state)
        )
        ema = jax.tree.map(lambda e, p: 0.999 * e + 0.001 * p, ema, new)
        scale = jnp.where(finite, scale * 1.001, scale * 0.5)
        return (new, ema, state, scale), finite

    return (
        train_step,
        (
            (student, student, state, array()),
            teacher,
            array(batch, patches, 768),
            array(batch, dtype="int32"),
        ),
        (
            (split, split, of_state, P()),
            of_teacher,
            P(("data", "fsdp")),
            P(("data", "fsdp")),
        ),
        {"donate_argnums": (0,)},
    )


@program("v6e:2x2", data=4)
def sharpness_aware():
    """A ConvNeXt with two gradients a step (SAM), in f32 weights and bf16 convolutions, SGD."""
    depths, widths, batch = (3, 3, 9, 3), (96, 192, 384, 768), 128

    def block(d):
        return {
            **{"deep": array(7, 7, 1, d), "n": array(d), "gamma": array(d)},
            **{"up": array(d, 4 * d), "down": array(4 * d, d)},
        }

    params = {
        "stem": array(4, 4, 3, 96),
        "stages": [
            [block(d) for _ in range(n)] for n, d in zip(depths, widths, strict=True)
        ],
        "shrink": [array(2, 2, a, b) for a, b in pairwise(widths)],
        "head": array(768, 1000),
    }
    opt = optax.sgd(0.1, momentum=0.9, nesterov=True)
    state = jax.eval_shape(opt.init, params)

    def convolve(x, w, stride, groups=1, padding="VALID"):
        return jax.lax.conv_general_dilated(
            *(x, w.astype(BF16), (stride, stride), padding),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups,
        )

    def loss_fn(params, images, labels):
        x = convolve(images.astype(BF16), params["stem"], 4)
        for i, stage in enumerate(params["stages"]):
            if i:
                x = convolve(x, params["shrink"][i - 1], 2)
            for w in stage:
                h = convolve(x, w["deep"], 1, x.shape[-1], "SAME")
                h = jax.nn.gelu(layer_norm(h, w["n"]) @ w["up"].astype(BF16))
                x = x + (h @ w["down"].astype(BF16)) * w["gamma"].astype(BF16)
        return token_loss(x.mean((1, 2)) @ params["head"].astype(BF16), labels)

    def train_step(params, state, images, labels):
        grads = jax.grad(loss_fn)(params, images, labels)
        norm = optax.global_norm(grads)
        near = jax.tree.map(lambda p, g: p + 0.05 * g / (norm + 1e-12), params, grads)
        loss, grads = jax.value_and_grad(loss_fn)(near, images, labels)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    return (
        train_step,
        (params, state, array(batch, 224, 224, 3), array(batch, dtype="int32")),
        (replicated(params), replicated(state), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )
