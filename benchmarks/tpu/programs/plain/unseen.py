"""Twelve steps to try a plan on: other networks, libraries and axes than those of the plain sets."""
# pyright: basic

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program, specs, state_specs

hold = jax.lax.with_sharding_constraint


def replicated(tree):
    return jax.tree.map(lambda _: P(), tree)


def softmax_attention(q, k, v, bias=None):
    """Attention of (batch, time, heads, size)."""
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
    s = s.astype(jnp.float32)
    p = jax.nn.softmax(s if bias is None else s + bias, axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", p.astype(v.dtype), v)


class EncoderLayer(nn.Module):
    width: int
    heads: int

    @nn.compact
    def __call__(self, x, mask):
        h = nn.SelfAttention(self.heads, dtype=jnp.bfloat16)(x, mask)
        x = nn.LayerNorm(dtype=jnp.bfloat16)(x + h)
        h = nn.gelu(nn.Dense(4 * self.width, dtype=jnp.bfloat16)(x))
        h = nn.Dense(self.width, dtype=jnp.bfloat16)(h)
        x = nn.LayerNorm(dtype=jnp.bfloat16)(x + h)
        if not self.is_initializing():  # no mesh is set then
            x = hold(x, P("fsdp", None, None))
        return x, None


class MaskedEncoder(nn.Module):
    """An encoder with its norms behind the sums, whose layers Flax scans and makes again."""

    vocab: int = 30522
    width: int = 1024
    heads: int = 16
    depth: int = 24

    @nn.compact
    def __call__(self, tokens, kinds, mask, places):
        embed = nn.Embed(self.vocab, self.width, dtype=jnp.bfloat16)
        x = embed(tokens) + nn.Embed(2, self.width, dtype=jnp.bfloat16)(kinds)
        x = x + nn.Embed(512, self.width, dtype=jnp.bfloat16)(jnp.arange(512))
        x = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        layers = nn.scan(
            nn.remat(EncoderLayer, prevent_cse=False),
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=nn.broadcast,
            length=self.depth,
        )
        x, _ = layers(self.width, self.heads)(x, mask[:, None, None, :])
        picked = jnp.take_along_axis(x, places[..., None], axis=1)
        h = nn.gelu(nn.Dense(self.width, dtype=jnp.bfloat16)(picked))
        h = nn.LayerNorm(dtype=jnp.bfloat16)(h)
        bias = self.param("bias", nn.initializers.zeros, (self.vocab,))
        return embed.attend(h) + bias


@program("v5p:2x2x2", fsdp=8)
def scanned_masked_words():
    """BERT-large as Flax Linen has it, 20 words of each sequence predicted; clipped AdamW."""
    model = MaskedEncoder()
    batch = {
        **{n: array(128, 512, dtype="int32") for n in ("tokens", "kinds")},
        **{"mask": array(128, 512, dtype="bool")},
        **{n: array(128, 80, dtype="int32") for n in ("places", "labels")},
    }

    def of(params, b):
        return model.apply(params, b["tokens"], b["kinds"], b["mask"], b["places"])

    params = jax.eval_shape(
        lambda k, b: model.init(k, b["tokens"], b["kinds"], b["mask"], b["places"]),
        *(jax.random.key(0), batch),
    )
    split = specs(params, "fsdp")
    opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-4))

    def loss_fn(params, batch):
        logits = of(params, batch).astype(jnp.float32)
        return optax.softmax_cross_entropy_with_integer_labels(
            logits, batch["labels"]
        ).mean()

    def train_step(params, state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state, of_state = state_specs(opt, params, split)
    return (
        train_step,
        (params, state, batch),
        (split, of_state, P("fsdp")),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:4x4", data=4, fsdp=4)
def adaptive_denoiser():
    """A diffusion transformer with scales and shifts of the time, scanned; the loss is of noise."""
    depth, d, heads, patches, channels = 24, 1152, 16, 1024, 16

    def of(*s):
        return array(depth, *s)

    params = {
        "patch": array(channels, d),
        "place": array(patches, d),
        "time": [array(256, d), array(d, d)],
        "label": array(1001, d),
        "layers": {
            **{"qkv": of(d, 3 * d), "out": of(d, d), "up": of(d, 4 * d)},
            **{"down": of(4 * d, d), "ada": of(d, 6 * d), "ada_b": of(6 * d)},
        },
        "last_ada": array(d, 2 * d),
        "last": array(d, channels),
    }
    split = specs(params, "fsdp")
    opt = optax.adamw(1e-4, weight_decay=0.0)

    def norm(x):
        x32 = x.astype(jnp.float32)
        mean = x32.mean(-1, keepdims=True)
        var = jnp.square(x32 - mean).mean(-1, keepdims=True)
        return ((x32 - mean) * jax.lax.rsqrt(var + 1e-6)).astype(x.dtype)

    def predict(params, x, t, y):
        p = jax.tree.map(lambda a: a.astype(jnp.bfloat16), params)
        freqs = jnp.exp(-jnp.arange(128) / 128 * jnp.log(10000.0))
        angles = t[:, None] * freqs
        c = jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1)
        c = jax.nn.silu(c.astype(jnp.bfloat16) @ p["time"][0]) @ p["time"][1]
        c = jax.nn.silu(c + p["label"][y])
        x = x.astype(jnp.bfloat16) @ p["patch"] + p["place"]

        @jax.checkpoint
        def layer(x, w):
            mods = (c @ w["ada"] + w["ada_b"])[:, None]
            s1, b1, g1, s2, b2, g2 = jnp.split(mods, 6, axis=-1)
            h = norm(x) * (1 + s1) + b1
            b, n, _ = h.shape
            q, k, v = jnp.moveaxis((h @ w["qkv"]).reshape(b, n, 3, heads, -1), 2, 0)
            x = x + g1 * (softmax_attention(q, k, v).reshape(b, n, d) @ w["out"])
            h = norm(x) * (1 + s2) + b2
            x = x + g2 * (jax.nn.gelu(h @ w["up"]) @ w["down"])
            return hold(x, P(("data", "fsdp"))), None

        x, _ = jax.lax.scan(layer, x, p["layers"])
        scale, shift = jnp.split(c @ p["last_ada"], 2, axis=-1)
        return (norm(x) * (1 + scale[:, None]) + shift[:, None]) @ p["last"]

    def loss_fn(params, batch):
        a = batch["signal"][:, None, None]
        noisy = jnp.sqrt(a) * batch["x"] + jnp.sqrt(1 - a) * batch["noise"]
        out = predict(params, noisy, batch["t"], batch["y"])
        return jnp.mean(jnp.square(out.astype(jnp.float32) - batch["noise"]))

    def train_step(params, ema, state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        updates, state = opt.update(grads, state, params)
        params = optax.apply_updates(params, updates)
        ema = jax.tree.map(lambda e, p: 0.9999 * e + 0.0001 * p, ema, params)
        return params, ema, state, loss

    state, of_state = state_specs(opt, params, split)
    size = 256
    batch = {
        **{
            "x": array(size, patches, channels),
            "noise": array(size, patches, channels),
        },
        **{"t": array(size), "signal": array(size), "y": array(size, dtype="int32")},
    }
    return (
        train_step,
        (params, params, state, batch),
        (split, split, of_state, P(("data", "fsdp"))),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x2", data=4)
def stacked_lstm():
    """Two LSTM layers over time in one scan, and a softmax over words; clipped SGD, all f32."""
    vocab, d, hidden, batch, length = 20000, 1024, 1536, 128, 128
    cell = {"x": array(d, 4 * hidden), "h": array(hidden, 4 * hidden)}
    params = {
        "embed": array(vocab, d),
        "first": cell | {"b": array(4 * hidden)},
        "second": {
            **{"x": array(hidden, 4 * hidden), "h": array(hidden, 4 * hidden)},
            "b": array(4 * hidden),
        },
        "out": array(hidden, vocab),
    }
    opt = optax.chain(optax.clip_by_global_norm(5.0), optax.sgd(1.0))

    def lstm(w, state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ w["x"] + h @ w["h"] + w["b"], 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return h, c

    def loss_fn(params, tokens):
        x = params["embed"][tokens[:, :-1]].swapaxes(0, 1)
        zero = jnp.zeros((x.shape[1], hidden))

        def step(carry, x):
            first = lstm(params["first"], carry[0], x)
            second = lstm(params["second"], carry[1], first[0])
            return (first, second), second[0]

        _, h = jax.lax.scan(step, ((zero, zero), (zero, zero)), x)
        logits = h @ params["out"]
        logp = jax.nn.log_softmax(logits)
        labels = tokens[:, 1:].swapaxes(0, 1)
        return -jnp.take_along_axis(logp, labels[..., None], axis=-1).mean()

    def train_step(params, state, tokens):
        loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state = jax.eval_shape(opt.init, params)
    return (
        train_step,
        (params, state, array(batch, length + 1, dtype="int32")),
        (replicated(params), replicated(state), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x2", data=2, expert=4)
def gated_capacity_experts():
    """Four layers in Python of experts of two, that einsums with one-hot masks send rows to."""
    d, ff, experts, depth, batch, length = 2048, 8192, 8, 4, 16, 1024
    capacity = 2 * length // experts
    layer = {
        **{"gate": array(d, experts), "up": array(experts, d, ff)},
        **{"down": array(experts, ff, d), "scale": array(d)},
    }
    split = {"gate": P(), "up": P("expert"), "down": P("expert"), "scale": P()}
    params, split = [layer] * depth, [split] * depth

    def route(logits):
        """Return masks that send rows to experts and bring them back: (batch, time, expert, place)."""
        probs = jax.nn.softmax(logits.astype(jnp.float32))
        weights, chosen = jax.lax.top_k(probs, 2)
        weights = weights / weights.sum(-1, keepdims=True)
        masks = jax.nn.one_hot(chosen, experts)
        ordered = masks.swapaxes(1, 2).reshape(masks.shape[0], -1, experts)
        place = jnp.cumsum(ordered, axis=1) - ordered
        place = place.reshape(masks.shape[0], 2, length, experts).swapaxes(1, 2)
        place = (place * masks).sum(-1)
        places = jax.nn.one_hot(place, capacity)
        combine = jnp.einsum("btk,btke,btkc->btec", weights, masks, places)
        return (combine > 0).astype(jnp.bfloat16), combine.astype(jnp.bfloat16)

    def experts_of(w, x):
        w = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
        x32 = x.astype(jnp.float32)
        h = x32 * jax.lax.rsqrt(jnp.square(x32).mean(-1, keepdims=True) + 1e-6)
        h = h.astype(x.dtype) * w["scale"]
        dispatch, combine = route(h @ w["gate"])
        rows = jnp.einsum("btec,btd->ebcd", dispatch, h)
        rows = hold(rows, P("expert", "data"))
        hidden = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", rows, w["up"]))
        out = jnp.einsum("ebcf,efd->ebcd", hidden, w["down"])
        out = hold(out, P("expert", "data"))
        return hold(x + jnp.einsum("btec,ebcd->btd", combine, out), P("data"))

    def loss_fn(params, x, y):
        for w in params:
            x = experts_of(w, x)
        return jnp.mean(jnp.square((x - y).astype(jnp.float32)))

    opt = optax.adam(1e-4)

    def train_step(params, state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state, of_state = state_specs(opt, params, split)
    x = array(batch, length, d, dtype="bfloat16")
    return (
        train_step,
        (params, state, x, x),
        (split, of_state, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x2", fsdp=4, tensor=2)
def biased_translator():
    """An encoder and a decoder with learned biases of distances, two scans, and Adafactor."""
    d, heads, size, ff, vocab, depth, source, target = (
        *(1024, 16, 64, 2816, 32128),
        *(12, 512, 256),
    )

    def of(*s):
        return array(depth, *s)

    attend = {n: of(d, heads, size) for n in "qkv"} | {"o": of(heads, size, d)}
    attend_split = {n: P(None, "fsdp", "tensor") for n in "qkv"}
    attend_split |= {"o": P(None, "tensor", None, "fsdp")}
    mlp = {"wi": of(2, d, ff), "wo": of(ff, d)}
    mlp_split = {"wi": P(None, None, "fsdp", "tensor"), "wo": P(None, "tensor", "fsdp")}
    params = {
        "embed": array(vocab, d),
        "enc": {"self": attend, "mlp": mlp, "n1": of(d), "n2": of(d)},
        "enc_bias": array(32, heads),
        "dec": {
            **{"self": attend, "cross": attend, "mlp": mlp},
            **{"n1": of(d), "n2": of(d), "n3": of(d)},
        },
        "dec_bias": array(32, heads),
        "head": array(d, vocab),
    }
    split = {
        "embed": P("tensor", "fsdp"),
        "enc": {"self": attend_split, "mlp": mlp_split, "n1": P(), "n2": P()},
        "enc_bias": P(None, "tensor"),
        "dec": {
            **{"self": attend_split, "cross": attend_split, "mlp": mlp_split},
            **{"n1": P(), "n2": P(), "n3": P()},
        },
        "dec_bias": P(None, "tensor"),
        "head": P("fsdp", "tensor"),
    }

    def norm(x, g):
        x32 = x.astype(jnp.float32)
        y = x32 * jax.lax.rsqrt(jnp.square(x32).mean(-1, keepdims=True) + 1e-6)
        return (y * g).astype(jnp.bfloat16)

    def attention(w, x, given, bias):
        q = jnp.einsum("btd,dhk->bthk", x, w["q"].astype(x.dtype))
        k = jnp.einsum("bsd,dhk->bshk", given, w["k"].astype(x.dtype))
        v = jnp.einsum("bsd,dhk->bshk", given, w["v"].astype(x.dtype))
        o = softmax_attention(q, k, v, bias)
        return jnp.einsum("bthk,hkd->btd", o, w["o"].astype(x.dtype))

    def feed(w, x):
        gate, up = jnp.einsum("btd,cdf->cbtf", x, w["wi"].astype(x.dtype))
        return (jax.nn.gelu(gate) * up) @ w["wo"].astype(x.dtype)

    def distances(table, n):
        at = jnp.arange(n)
        buckets = jnp.clip(at[:, None] - at[None, :] + 16, 0, 31)
        return table[buckets].transpose(2, 0, 1)[None]

    def loss_fn(params, batch):
        embed = params["embed"].astype(jnp.bfloat16)
        x = embed[batch["source"]]
        bias = distances(params["enc_bias"], source)

        @jax.checkpoint
        def encode(x, w):
            h = norm(x, w["n1"])
            x = x + attention(w["self"], h, h, bias)
            x = x + feed(w["mlp"], norm(x, w["n2"]))
            return hold(x, P("fsdp")), None

        encoded, _ = jax.lax.scan(encode, x, params["enc"])
        causal = jnp.where(jnp.tril(jnp.ones((target, target), bool)), 0.0, -1e9)
        bias_d = distances(params["dec_bias"], target) + causal

        @jax.checkpoint
        def decode(x, w):
            h = norm(x, w["n1"])
            x = x + attention(w["self"], h, h, bias_d)
            x = x + attention(w["cross"], norm(x, w["n2"]), encoded, None)
            x = x + feed(w["mlp"], norm(x, w["n3"]))
            return hold(x, P("fsdp")), None

        y, _ = jax.lax.scan(decode, embed[batch["target"][:, :-1]], params["dec"])
        logits = (y @ params["head"].astype(y.dtype)).astype(jnp.float32)
        return optax.softmax_cross_entropy_with_integer_labels(
            logits, batch["target"][:, 1:]
        ).mean()

    opt = optax.adafactor(1e-3)

    def train_step(params, state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state = jax.eval_shape(opt.init, params)
    batch = {
        "source": array(128, source, dtype="int32"),
        "target": array(128, target + 1, dtype="int32"),
    }
    return (
        train_step,
        (params, state, batch),
        (split, replicated(state), P("fsdp")),
        {"donate_argnums": (0, 1)},
    )


class CausalBlock(nnx.Module):
    def __init__(self, width, heads, rngs):
        self.ln1 = nnx.LayerNorm(width, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(
            *(heads, width), decode=False, dtype=jnp.bfloat16, rngs=rngs
        )
        self.ln2 = nnx.LayerNorm(width, rngs=rngs)
        self.up = nnx.Linear(width, 4 * width, dtype=jnp.bfloat16, rngs=rngs)
        self.down = nnx.Linear(4 * width, width, dtype=jnp.bfloat16, rngs=rngs)

    def __call__(self, x, mask):
        x = x + self.attention(self.ln1(x), mask=mask)
        return x + self.down(nnx.gelu(self.up(self.ln2(x))))


class CausalModel(nnx.Module):
    def __init__(self, vocab, width, heads, depth, length, rngs):
        self.words = nnx.Embed(vocab, width, dtype=jnp.bfloat16, rngs=rngs)
        self.places = nnx.Embed(length, width, dtype=jnp.bfloat16, rngs=rngs)
        self.blocks = nnx.List([CausalBlock(width, heads, rngs) for _ in range(depth)])
        self.norm = nnx.LayerNorm(width, rngs=rngs)

    def __call__(self, tokens):
        length = tokens.shape[1]
        x = self.words(tokens) + self.places(jnp.arange(length))
        mask = jnp.tril(jnp.ones((1, 1, length, length), bool))
        for block in self.blocks:
            x = hold(nnx.remat(CausalBlock.__call__)(block, x, mask), P("fsdp"))
        return self.words.attend(self.norm(x))


@program("v6e:2x4", fsdp=8)
def module_gpt():
    """A GPT of Flax NNX modules, eight blocks in Python, each made again; AdamW, tied words."""

    def make():
        return CausalModel(50304, 1280, 20, 8, 1024, nnx.Rngs(0))

    graph, params = nnx.split(nnx.eval_shape(make))
    params = jax.tree.map(lambda a: array(*a.shape, dtype=a.dtype), params)
    opt = optax.adamw(3e-4, weight_decay=0.1)
    split = specs(params, "fsdp")

    def loss_fn(params, tokens):
        logits = nnx.merge(graph, params)(tokens[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(
            logits.astype(jnp.float32), tokens[:, 1:]
        ).mean()

    def train_step(params, state, tokens):
        loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state, of_state = state_specs(opt, params, split)
    return (
        train_step,
        (params, state, array(64, 1025, dtype="int32")),
        (split, of_state, P("fsdp")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:4x4", data=16)
def bottleneck_images():
    """ResNet-50 with running statistics that the step returns; images in f32, bf16 inside."""
    depths, widths = (3, 4, 6, 3), (64, 128, 256, 512)

    def norm_of(c):
        return {"g": array(c), "b": array(c)}

    def running(c):
        return {"mean": array(c), "var": array(c)}

    params = {"stem": array(7, 7, 3, 64), "stem_n": norm_of(64), "blocks": []}
    stats = {"stem_n": running(64), "blocks": []}
    given = 64
    for depth, width in zip(depths, widths, strict=True):
        for j in range(depth):
            w = {
                **{"a": array(1, 1, given, width), "b": array(3, 3, width, width)},
                **{"c": array(1, 1, width, 4 * width), "an": norm_of(width)},
                **{"bn": norm_of(width), "cn": norm_of(4 * width)},
            }
            s = {"an": running(width), "bn": running(width), "cn": running(4 * width)}
            if j == 0:
                w |= {"s": array(1, 1, given, 4 * width), "sn": norm_of(4 * width)}
                s |= {"sn": running(4 * width)}
            params["blocks"].append(w)
            stats["blocks"].append(s)
            given = 4 * width
    params["fc"] = array(given, 1000)
    params["fc_b"] = array(1000)
    strides = [2 if i and not j else 1 for i, n in enumerate(depths) for j in range(n)]

    def conv(x, w, stride=1):
        return jax.lax.conv_general_dilated(
            *(x, w.astype(jnp.bfloat16), (stride, stride), "SAME"),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )

    def norm(x, w, s):
        x32 = x.astype(jnp.float32)
        mean = jnp.mean(x32, (0, 1, 2))
        var = jnp.mean(jnp.square(x32), (0, 1, 2)) - jnp.square(mean)
        y = (x32 - mean) * jax.lax.rsqrt(var + 1e-5) * w["g"] + w["b"]
        new = {
            "mean": 0.9 * s["mean"] + 0.1 * mean,
            "var": 0.9 * s["var"] + 0.1 * var,
        }
        return y.astype(x.dtype), jax.lax.stop_gradient(new)

    def forward(params, stats, images):
        new = {"blocks": []}
        x = conv(images.astype(jnp.bfloat16), params["stem"], 2)
        x, new["stem_n"] = norm(x, params["stem_n"], stats["stem_n"])
        x = nn.max_pool(jax.nn.relu(x), (3, 3), strides=(2, 2), padding="SAME")
        for w, s, stride in zip(
            params["blocks"], stats["blocks"], strides, strict=True
        ):
            n = {}
            h, n["an"] = norm(conv(x, w["a"]), w["an"], s["an"])
            h, n["bn"] = norm(conv(jax.nn.relu(h), w["b"], stride), w["bn"], s["bn"])
            h, n["cn"] = norm(conv(jax.nn.relu(h), w["c"]), w["cn"], s["cn"])
            if "s" in w:
                x, n["sn"] = norm(conv(x, w["s"], stride), w["sn"], s["sn"])
            x = jax.nn.relu(x + h)
            new["blocks"].append(n)
        x = x.mean((1, 2)).astype(jnp.float32)
        return x @ params["fc"] + params["fc_b"], new

    def loss_fn(params, stats, images, labels):
        logits, new = forward(params, stats, images)
        smooth = optax.smooth_labels(jax.nn.one_hot(labels, 1000), 0.1)
        return optax.softmax_cross_entropy(logits, smooth).mean(), new

    opt = optax.chain(optax.add_decayed_weights(1e-4), optax.sgd(0.1, momentum=0.9))

    def train_step(params, stats, state, images, labels):
        grad = jax.value_and_grad(loss_fn, has_aux=True)
        (loss, stats), grads = grad(params, stats, images, labels)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), stats, state, loss

    state = jax.eval_shape(opt.init, params)
    return (
        train_step,
        (
            *(params, stats, state, array(1024, 224, 224, 3)),
            array(1024, dtype="int32"),
        ),
        (
            *(replicated(params), replicated(stats), replicated(state)),
            *(P("data"), P("data")),
        ),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x4", data=8)
def captioned_images():
    """Two transformers that a scan each runs, and a softmax over all pairs of a batch."""
    d, heads, depth, vocab, words, patches, shared = (
        *(768, 12, 12, 49408),
        *(76, 196, 512),
    )

    def tower():
        return {
            **{"qkv": array(depth, d, 3 * d), "o": array(depth, d, d)},
            **{"up": array(depth, d, 4 * d), "down": array(depth, 4 * d, d)},
            **{n: array(depth, d) for n in ("s1", "b1", "s2", "b2")},
        }

    params = {
        **{"image": tower(), "text": tower(), "patch": array(768, d)},
        **{"image_place": array(patches, d), "text_place": array(words, d)},
        **{"word": array(vocab, d), "image_out": array(d, shared)},
        **{"text_out": array(d, shared), "scale": array()},
    }

    def norm(x, s, b):
        x32 = x.astype(jnp.float32)
        y = (x32 - x32.mean(-1, keepdims=True)) * jax.lax.rsqrt(
            x32.var(-1, keepdims=True) + 1e-5
        )
        return (y * s + b).astype(x.dtype)

    def run(layers, x, mask=None):
        @jax.checkpoint
        def layer(x, w):
            b, n, _ = x.shape
            low = {k: w[k].astype(jnp.bfloat16) for k in ("qkv", "o", "up", "down")}
            h = norm(x, w["s1"], w["b1"]) @ low["qkv"]
            q, k, v = jnp.split(h.reshape(b, n, heads, -1), 3, axis=-1)
            x = x + softmax_attention(q, k, v, mask).reshape(b, n, d) @ low["o"]
            h = norm(x, w["s2"], w["b2"]) @ low["up"]
            return x + (h * jax.nn.sigmoid(1.702 * h)) @ low["down"], None

        return jax.lax.scan(layer, x, layers)[0]

    def unit(x):
        x = x.astype(jnp.float32)
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def loss_fn(params, images, text):
        x = images.astype(jnp.bfloat16) @ params["patch"].astype(jnp.bfloat16)
        x = x + params["image_place"].astype(jnp.bfloat16)
        x = run(params["image"], x).mean(1) @ params["image_out"].astype(x.dtype)
        y = params["word"].astype(jnp.bfloat16)[text]
        y = y + params["text_place"].astype(jnp.bfloat16)
        causal = jnp.where(jnp.tril(jnp.ones((words, words), bool)), 0.0, -1e9)
        y = run(params["text"], y, causal)[:, -1]
        y = y @ params["text_out"].astype(y.dtype)
        logits = unit(x) @ unit(y).T * jnp.exp(params["scale"])
        labels = jnp.arange(logits.shape[0])
        cross = optax.softmax_cross_entropy_with_integer_labels
        return (cross(logits, labels).mean() + cross(logits.T, labels).mean()) / 2

    opt = optax.adamw(5e-4, b2=0.98, weight_decay=0.2)

    def train_step(params, state, images, text):
        loss, grads = jax.value_and_grad(loss_fn)(params, images, text)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state = jax.eval_shape(opt.init, params)
    images, text = array(2048, patches, 768), array(2048, words, dtype="int32")
    return (
        train_step,
        (params, state, images, text),
        (replicated(params), replicated(state), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )
