"""Seventeenth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_fifteenth.py DIR [NAME ...] [--dump]

Training steps in the manners of several libraries: pure functions over flat names, dataclasses as
trees, Flax's linen; GPT-2, Llama with adapters, ResNet-50, a diffusion transformer, a selective scan,
experts, ViT-L and T5, with AdamW, SGD, Lion, Adafactor and Muon. Five hold nothing but arguments.
Needs `flax` and `optax`.
"""
# pyright: basic

from dataclasses import dataclass
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P
from tpu_programs import PROGRAMS, main, program

OTHERS = set(PROGRAMS)

hold = jax.lax.with_sharding_constraint
bf16 = jnp.bfloat16


def array(*sizes, dtype="float32"):
    return jax.ShapeDtypeStruct(sizes, jnp.dtype(dtype))


def rows_of(tree, axis, at_least=1 << 16):
    """Return shardings that split each large array along its longest dimension."""

    def spec(x):
        if x.size < at_least:
            return P()
        longest = max(range(x.ndim), key=lambda at: (x.shape[at], at))
        return P(*[axis if at == longest else None for at in range(x.ndim)])

    return jax.tree.map(spec, tree)


def state_specs(optimizer, params, specs):
    """Return shardings of an optimizer's state: of each tree of parameters that of these."""
    state = jax.eval_shape(optimizer.init, params)
    like = jax.tree.structure(params)

    def is_params(tree):
        return jax.tree.structure(tree) == like

    def spec(part):
        if not is_params(part):
            return jax.tree.map(lambda _: P(), part)
        return jax.tree.map(
            lambda p, x, s: s if x.shape == p.shape else P(), params, part, specs
        )

    return state, jax.tree.map(spec, state, is_leaf=is_params)


def trained(loss, optimizer, params, specs, batch, batch_specs, *fixed):
    """Return a step over parameters and the optimizer's state; what is fixed has its shardings."""
    state, state_spec = state_specs(optimizer, params, specs)

    def step(params, state, batch, *frozen):
        value, grads = jax.value_and_grad(loss)(params, batch, *frozen)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return (
        step,
        (params, state, batch, *(tree for tree, _ in fixed)),
        (specs, state_spec, batch_specs, *(spec for _, spec in fixed)),
        {"donate_argnums": (0, 1)},
    )


def mean_loss(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(
        logits.astype(jnp.float32), labels
    ).mean()


def norm(x, scale, offset=None):
    y = x.astype(jnp.float32)
    y = y - y.mean(-1, keepdims=True) if offset is not None else y
    y = y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5) * scale
    return (y if offset is None else y + offset).astype(x.dtype)


def attention(q, k, v, mask=None):
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / q.shape[-1] ** 0.5
    scores = scores.astype(jnp.float32)
    if mask is not None:
        scores = jnp.where(mask, scores, -1e30)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores).astype(v.dtype), v)


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
        return mean_loss(norm(h, *params["ln"]) @ params["wte"].T.astype(bf16), y)

    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(optax.cosine_decay_schedule(3e-4, 10000), b2=0.95),
    )
    return trained(
        *(loss, optimizer, params, rows_of(params, "fsdp")),
        *(array(rows, length + 1, dtype="int32"), P("fsdp")),
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
        return mean_loss(x @ base["embed"].T, tokens[:, 1:])

    spec = {
        "embed": P("fsdp"),
        "norm": P(),
        "layers": {n: P(None, "fsdp") if n in sizes else P() for n in base["layers"]},
    }
    return trained(
        *(loss, optax.adamw(2e-4), adapters, rows_of(adapters, "none", 1 << 60)),
        *(array(rows, length + 1, dtype="int32"), P("fsdp"), (base, spec)),
    )


class Bottleneck(nn.Module):
    width: int
    stride: int

    @nn.compact
    def __call__(self, x):
        conv = partial(nn.Conv, use_bias=False, dtype=bf16)
        batch_norm = partial(nn.BatchNorm, use_running_average=False, dtype=bf16)
        y = nn.relu(batch_norm()(conv(self.width, (1, 1))(x)))
        y = conv(self.width, (3, 3), (self.stride, self.stride))(y)
        y = conv(4 * self.width, (1, 1))(nn.relu(batch_norm()(y)))
        y = batch_norm()(y)
        if x.shape != y.shape:
            x = conv(4 * self.width, (1, 1), (self.stride, self.stride))(x)
            x = batch_norm()(x)
        return nn.relu(x + y)


class ResNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(64, (7, 7), (2, 2), use_bias=False, dtype=bf16)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=False, dtype=bf16)(x))
        x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
        for stage, count in enumerate((3, 4, 6, 3)):
            for n in range(count):
                x = Bottleneck(64 << stage, 2 if stage and not n else 1)(x)
        return nn.Dense(1000, dtype=jnp.float32)(x.mean((1, 2)))


@program("v5e:2x4", data=8)
def linen_resnet50():
    """ResNet-50 of linen in bf16 with batch norms over all images, SGD with momentum."""
    images = array(1024, 224, 224, 3, dtype="bfloat16")
    model = ResNet()
    made = jax.eval_shape(model.init, jax.random.key(0), images)
    optimizer = optax.sgd(optax.cosine_decay_schedule(0.4, 1000), 0.9, nesterov=True)
    params, stats = made["params"], made["batch_stats"]
    state = jax.eval_shape(optimizer.init, params)

    def step(params, stats, state, batch):
        def loss(params):
            logits, new = model.apply(
                {"params": params, "batch_stats": stats},
                batch["x"],
                mutable=["batch_stats"],
            )
            decay = sum((p * p).sum() for p in jax.tree.leaves(params) if p.ndim > 1)
            return mean_loss(logits, batch["y"]) + 5e-5 * decay, new["batch_stats"]

        (value, new), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, state2 = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), new, state2, value

    batch = {"x": images, "y": array(1024, dtype="int32")}
    return (
        step,
        (params, stats, state, batch),
        (
            *(jax.tree.map(lambda _: P(), tree) for tree in (params, stats, state)),
            {"x": P("data"), "y": P("data")},
        ),
        {"donate_argnums": (0, 1, 2)},
    )


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["qkv", "out", "up", "down", "shift"],
    meta_fields=["heads"],
)
@dataclass
class DiffusionLayer:
    qkv: jax.Array
    out: jax.Array
    up: jax.Array
    down: jax.Array
    shift: jax.Array
    heads: int = 16

    def __call__(self, x, c):
        w = jax.tree.map(lambda a: a.astype(bf16), self)
        a, b, g, d, e, h = jnp.split((jax.nn.silu(c) @ w.shift)[:, None], 6, -1)
        ones = jnp.ones(x.shape[-1])
        z = norm(x, ones, 0.0) * (1 + a) + b
        q, k, v = jnp.split(z @ w.qkv, 3, -1)
        q, k, v = (y.reshape(*y.shape[:2], self.heads, -1) for y in (q, k, v))
        x = x + g * (attention(q, k, v).reshape(x.shape) @ w.out)
        z = norm(x, ones, 0.0) * (1 + d) + e
        x = x + h * (jax.nn.gelu(z @ w.up) @ w.down)
        return hold(x, P("data", None, None))


@program("v6e:2x4", data=4, tensor=2)
def tree_dit():
    """DiT-XL over 32 x 32 patches as dataclasses, a tensor axis, checkpoints in Python, Lion."""
    layers, width, rows, patches = 28, 1152, 64, 1024
    layer = DiffusionLayer(
        array(width, 3 * width),
        array(width, width),
        array(width, 4 * width),
        array(4 * width, width),
        array(width, 6 * width),
    )
    split = DiffusionLayer(
        *(P("data", "tensor"), P("tensor", "data"), P("data", "tensor")),
        *(P("tensor", "data"), P("data", "tensor")),
    )
    params = {
        "patch": array(16, width),
        "place": array(patches, width),
        "time": array(256, width),
        "layers": [layer] * layers,
        "last": array(width, 16),
    }
    spec = dict.fromkeys(params, P()) | {"layers": [split] * layers}

    def loss(params, batch):
        x0, noise, t = batch["x"], batch["noise"], batch["t"][:, None, None]
        x = ((1 - t) * x0 + t * noise).astype(bf16)
        angles = batch["t"][:, None] * jnp.exp(-jnp.arange(128) / 16)
        c = jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1).astype(bf16)
        c = c @ params["time"].astype(bf16)
        h = x @ params["patch"].astype(bf16) + params["place"].astype(bf16)
        for layer in params["layers"]:
            h = jax.checkpoint(lambda layer, h: layer(h, c))(layer, h)
        out = h @ params["last"].astype(bf16)
        return jnp.square(out.astype(jnp.float32) - (noise - x0)).mean()

    batch = {
        "x": array(rows, patches, 16),
        "noise": array(rows, patches, 16),
        "t": array(rows),
    }
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-4))
    return trained(
        loss, optimizer, params, spec, batch, dict.fromkeys(batch, P("data"))
    )


@program("v5p:2x2x2", fsdp=8)
def selective_scan():
    """A state space model whose recurrence is an associative scan, in a scan of layers, nothing held."""
    layers, width, inner, state, vocab = 24, 1024, 2048, 16, 50304
    rows, length = 16, 1024
    sizes = {
        "in": (width, 2 * inner),
        "conv": (4, inner),
        "bc": (inner, 2 * state),
        "dt": (inner, inner),
        "a": (inner, state),
        "out": (inner, width),
        "norm": (width,),
    }
    params = {
        "embed": array(vocab, width),
        "norm": array(width),
        "layers": {n: array(layers, *s) for n, s in sizes.items()},
    }
    spec = {
        "embed": P("fsdp"),
        "norm": P(),
        "layers": {
            n: P(None, "fsdp") if n in ("in", "dt", "out") else P() for n in sizes
        },
    }

    def join(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]

    def loss(params, tokens):
        x = params["embed"].astype(bf16)[tokens[:, :-1]]

        @jax.checkpoint
        def layer(x, w):
            h, gate = jnp.split(norm(x, w["norm"]) @ w["in"].astype(bf16), 2, -1)
            padded = jnp.pad(h, ((0, 0), (3, 0), (0, 0)))
            kernel = w["conv"].astype(bf16)
            h = sum(padded[:, n : n + length] * kernel[n] for n in range(4))
            h = jax.nn.silu(h)
            dt = jax.nn.softplus(h @ w["dt"].astype(bf16))
            b, c = jnp.split(h @ w["bc"].astype(bf16), 2, -1)
            decay = jnp.exp(-jnp.exp(w["a"].astype(bf16)) * dt[..., None])
            put = (dt * h)[..., None] * b[:, :, None]
            _, states = jax.lax.associative_scan(join, (decay, put), axis=1)
            y = jnp.einsum("btis,bts->bti", states, c) * jax.nn.silu(gate)
            return x + y @ w["out"].astype(bf16), None

        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = norm(x, params["norm"]) @ params["embed"].T.astype(bf16)
        return mean_loss(logits, tokens[:, 1:])

    return trained(
        *(loss, optax.adamw(1e-3), params, spec),
        *(array(rows, length + 1, dtype="int32"), P("fsdp")),
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
        return mean_loss(x @ params["head"].astype(bf16), tokens[:, 1:])

    return trained(
        *(loss, optax.adamw(1e-4), params, spec),
        *(array(rows, length + 1, dtype="int32"), P(("fsdp", "expert"))),
    )


class VitLayer(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        y = nn.LayerNorm(dtype=bf16)(x)
        x = x + nn.MultiHeadDotProductAttention(16, dtype=bf16)(y, y)
        y = nn.Dense(4096, dtype=bf16)(nn.LayerNorm(dtype=bf16)(x))
        return x + nn.Dense(1024, dtype=bf16)(nn.gelu(y)), None


class Vit(nn.Module):
    @nn.compact
    def __call__(self, images):
        x = nn.Conv(1024, (14, 14), (14, 14), dtype=bf16)(images)
        x = x.reshape(x.shape[0], -1, 1024)
        x = x + self.param("places", nn.initializers.normal(), (1, 256, 1024))
        layer = nn.scan(
            nn.remat(VitLayer, prevent_cse=False),
            variable_axes={"params": 0},
            split_rngs={"params": True},
            length=24,
        )
        x, _ = layer()(x.astype(bf16), None)
        return nn.Dense(1000, dtype=bf16)(nn.LayerNorm(dtype=bf16)(x).mean(1))


@program("v5e:4x4", fsdp=16)
def linen_vit():
    """ViT-L of linen in a scan with checkpoints, its weights split, Adafactor, nothing held."""
    images = array(1024, 224, 224, 3, dtype="bfloat16")
    model = Vit()
    params = jax.eval_shape(model.init, jax.random.key(0), images)["params"]

    def loss(params, batch):
        return mean_loss(model.apply({"params": params}, batch["x"]), batch["y"])

    batch = {"x": images, "y": array(1024, dtype="int32")}
    return trained(
        *(loss, optax.adafactor(1e-3), params, rows_of(params, "fsdp")),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )


@program("v5p:2x2x4", data=4, tensor=4)
def muon_t5():
    """T5 with twelve layers in Python on each side, data by a tensor axis, Muon and AdamW."""
    layers, width, heads, hidden, vocab = 12, 1024, 16, 2816, 32128
    rows, length = 128, 512

    def attending():
        return {n: array(width, width) for n in "qkvo"} | {"norm": array(width)}

    def perceptron():
        return {
            "gate": array(width, hidden),
            "up": array(width, hidden),
            "down": array(hidden, width),
            "norm": array(width),
        }

    def side(cross):
        extra = {"cross": attending()} if cross else {}
        return [
            {"own": attending(), "mlp": perceptron()} | extra for _ in range(layers)
        ]

    params = {
        "embed": array(vocab, width),
        "encoder": side(False),
        "decoder": side(True),
        "norms": array(2, width),
    }

    def split(path, x):
        name = path[-1].key
        if x.ndim < 2 or name == "norms":
            return P()
        return (
            P("tensor", None) if name in ("o", "down", "embed") else P(None, "tensor")
        )

    spec = jax.tree_util.tree_map_with_path(split, params)

    def attend(w, x, other, mask=None):
        h = norm(x, w["norm"])
        other = h if other is None else other
        q, k, v = (
            (a @ w[n].astype(bf16)).reshape(*a.shape[:2], heads, -1)
            for n, a in (("q", h), ("k", other), ("v", other))
        )
        return x + attention(q, k, v, mask).reshape(x.shape) @ w["o"].astype(bf16)

    def mlp(w, x):
        h = norm(x, w["norm"])
        h = jax.nn.gelu(h @ w["gate"].astype(bf16)) * (h @ w["up"].astype(bf16))
        return hold(x + h @ w["down"].astype(bf16), P("data", None, None))

    def loss(params, batch):
        table = params["embed"].astype(bf16)
        x = hold(table[batch["source"]], P("data", None, None))
        for w in params["encoder"]:
            x = jax.checkpoint(lambda w, x: mlp(w["mlp"], attend(w["own"], x, None)))(
                w, x
            )
        memory = norm(x, params["norms"][0])
        y = hold(table[batch["target"][:, :-1]], P("data", None, None))
        mask = jnp.tril(jnp.ones((length, length), bool))

        @jax.checkpoint
        def decode(w, y):
            y = attend(w["own"], y, None, mask)
            return mlp(w["mlp"], attend(w["cross"], y, memory))

        for w in params["decoder"]:
            y = decode(w, y)
        logits = norm(y, params["norms"][1]) @ table.T
        return mean_loss(logits, batch["target"][:, 1:])

    batch = {
        "source": array(rows, length, dtype="int32"),
        "target": array(rows, length + 1, dtype="int32"),
    }
    return trained(
        *(loss, optax.contrib.muon(2e-3), params, spec),
        *(batch, dict.fromkeys(batch, P("data"))),
    )


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 20")
