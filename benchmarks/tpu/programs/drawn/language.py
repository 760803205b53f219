"""Decoder language models, drawn by a seed, for the TPU's compiler.

Each is a plain step of 80 lines: Llama's or GPT's layers in a scan or in Python, with or without
checkpoints, and a random choice of sizes, types, attention, loss, optimizer, chip, mesh, constraints,
donation and microbatches. NAME is decoder_NUMBER, its seed.

Of 40 steps that were planned by the rules before libtpu 0.0.52 was asked (30 November 2026), 25 were within
10% of its peak and 21 within 5%; after what they mended 29 and 23. Of 20 more (40 to 59), planned by those
rules, 15 and 14; after what these mended 18 and 12, and of the first 40 then 32 and 26. A check of those
mends by 12 more (60 to 71), planned before libtpu was asked: 10 and 8; by 11 more (72 to 82): 9 and 7.
"""
# pyright: basic

import random
from math import prod

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import PROGRAMS

COUNT = 83

TOPOLOGIES = {
    "v4": {4: "2x2x1", 8: "2x2x2", 16: "2x2x4", 32: "2x4x4"},
    "v5e": {4: "2x2", 8: "2x4", 16: "4x4", 32: "4x8"},
    "v5p": {4: "2x2x1", 8: "2x2x2", 16: "2x2x4", 32: "2x4x4"},
    "v6e": {4: "2x2", 8: "2x4", 16: "4x4", 32: "4x8"},
}
MEMORY = {"v4": 30.75, "v5e": 15.75, "v5p": 95.7, "v6e": 31.25}
"""GiB of a chip, of which a step may take 0.6 by a rough count."""

f32, bf16 = jnp.float32, jnp.bfloat16


def draw(seed):
    """Return the settings of a step; a rough count of its bytes keeps it within the chip."""
    r = random.Random(seed)
    while True:
        c = _draw(r)
        if c is not None:
            return c


def _draw(r):
    c = {"chip": r.choice(["v5e", "v5p", "v6e", "v6e", "v5e", "v5p", "v4"])}
    n, c["topology"] = r.choice(list(TOPOLOGIES[c["chip"]].items()))
    width = c["width"] = r.choice([768, 1024, 1536, 2048, 2560, 3072, 4096])
    layers = c["layers"] = r.choice([4, 6, 8, 12, 16, 24])
    size = c["head"] = r.choice([64, 128])
    heads = c["heads"] = width // size
    c["kv_heads"] = heads // r.choice([1, 1, 2, 4]) if heads % 4 == 0 else heads
    c["gated"] = r.choice(["gelu", "swiglu"]) == "swiglu"
    hidden = 4 * width
    if c["gated"]:
        hidden = r.choice([width * 8 // 3 // 256 * 256, 3 * width])
    c["hidden"] = hidden
    c["tied"] = r.random() < 0.4
    vocab = c["vocab"] = r.choice([32000, 32768, 50304, 50304, 65536, 128256])
    time = c["time"] = r.choice([512, 1024, 1024, 2048, 2048, 4096])
    rows = r.choice([1, 2, 2, 4, 8])
    c["scan"] = r.choice(["scan", "scan", "python"]) == "scan"
    remat = c["remat"] = r.choice(["none", "full", "full", "dots", "dots_nb"])
    c["dtype"] = r.choice(["mixed", "mixed", "mixed", "bf16", "f32"])
    c["optimizer"] = r.choice(["sgd", "momentum", "adam", "adamw", "optax"])
    c["attention"] = r.choice(["einsum", "einsum32", "library"])
    c["loss"] = r.choice(["logsoftmax", "lse", "onehot", "optax"])
    mesh = r.choice(["data", "fsdp", "fsdp", "data_fsdp", "fsdp_tensor", "data_tensor"])
    c["constraints"] = r.random() < 0.6
    c["donates"] = r.random() < 0.75
    c["out_shardings"] = r.random() < 0.4
    t = r.choice([2, 4]) if n > 4 else 2
    c["axes"] = {
        "data": {"data": n},
        "fsdp": {"fsdp": n},
        "data_fsdp": {"data": 2, "fsdp": n // 2},
        "fsdp_tensor": {"fsdp": n // t, "tensor": t},
        "data_tensor": {"data": n // t, "tensor": t},
    }[mesh]
    t = c["axes"].get("tensor", 1)
    if c["kv_heads"] % t or heads % t:
        return None
    c["batch"] = rows * n // t
    c["microbatches"] = r.choice([1, 1, 1, 1, 2]) if rows > 1 else 1

    layer = 2 * width * size * (heads + c["kv_heads"])
    layer += width * hidden * (3 if c["gated"] else 2)
    params = layer * layers + vocab * width * (1 if c["tied"] else 2)
    ways = prod(size for axis, size in c["axes"].items() if axis != "data")
    weights = params * (2 if c["dtype"] == "bf16" else 4) / ways
    copies = {"sgd": 1, "momentum": 2}.get(c["optimizer"], 3)
    tokens = rows * time
    saved = tokens * (width * 12 + hidden * 3 // t) * (4 if c["dtype"] == "f32" else 2)
    saved += rows * heads // t * time**2 * 6
    saved *= {"none": layers, "full": 1.5}.get(remat, layers / 2)
    logits = tokens * vocab // t * 6
    state = weights * copies * (1.4 if c["donates"] else 2.4)
    total = (state + saved + logits + weights) / 2**30
    fits = 0.4 < total < 0.6 * MEMORY[c["chip"]]
    return c if fits and params <= 2.5e9 else None


class Decoder:
    """A model of drawn settings: its parameters with their specs, and its loss."""

    def __init__(self, c):
        self.c = c
        self.stored = bf16 if c["dtype"] == "bf16" else f32
        self.computed = f32 if c["dtype"] == "f32" else bf16
        self.batch = tuple(axis for axis in ("data", "fsdp") if axis in c["axes"])
        self.fsdp = "fsdp" if "fsdp" in c["axes"] else None
        self.tensor = "tensor" if "tensor" in c["axes"] else None

    def shapes(self):
        """Return the tree of parameters, each as its shape and its spec."""
        c, fsdp, tensor = self.c, self.fsdp, self.tensor
        d, h, k, size, f = (
            c[name] for name in ("width", "heads", "kv_heads", "head", "hidden")
        )
        norm = {"scale": ((d,), P())}
        if not c["gated"]:
            norm["bias"] = ((d,), P())
        layer = {
            **{"ln1": norm, "ln2": norm, "q": ((d, h, size), P(fsdp, tensor))},
            **{name: ((d, k, size), P(fsdp, tensor)) for name in "kv"},
            "o": ((h, size, d), P(tensor, None, fsdp)),
            "up": ((d, f), P(fsdp, tensor)),
            "down": ((f, d), P(tensor, fsdp)),
        }
        if c["gated"]:
            layer["gate"] = ((d, f), P(fsdp, tensor))
        else:
            layer |= {"bup": ((f,), P(tensor)), "bdown": ((d,), P())}
        count = c["layers"]
        layers = [layer] * count
        if c["scan"]:
            layers = jax.tree.map(
                lambda x: ((count, *x[0]), P(None, *x[1])), layer, is_leaf=_is_shape
            )
        tree = {"embed": ((c["vocab"], d), P(tensor, fsdp)), "layers": layers}
        tree["final"] = norm
        if not c["gated"]:
            tree["pos"] = ((c["time"], d), P(None, fsdp))
        if not c["tied"]:
            tree["head"] = ((d, c["vocab"]), P(fsdp, tensor))
        return tree

    def hold(self, x, *spec):
        if not self.c["constraints"]:
            return x
        return lax.with_sharding_constraint(x, P(*spec))

    def norm(self, x, w):
        wide, scale = x.astype(f32), w["scale"].astype(x.dtype)
        if self.c["gated"]:
            mean = jnp.mean(wide * wide, -1, keepdims=True)
            return (wide * lax.rsqrt(mean + 1e-6)).astype(x.dtype) * scale
        mean = jnp.mean(wide, -1, keepdims=True)
        variance = jnp.mean((wide - mean) ** 2, -1, keepdims=True)
        normal = ((wide - mean) * lax.rsqrt(variance + 1e-5)).astype(x.dtype)
        return normal * scale + w["bias"].astype(x.dtype)

    def attend(self, x, w):
        c, to = self.c, self.computed
        q, k, v = (jnp.einsum("btd,dhk->bthk", x, w[n].astype(to)) for n in "qkv")
        if c["gated"]:
            q, k = rotate(q), rotate(k)
        if c["attention"] == "library":
            o = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        else:
            if c["kv_heads"] != c["heads"]:
                repeats = c["heads"] // c["kv_heads"]
                k, v = jnp.repeat(k, repeats, 2), jnp.repeat(v, repeats, 2)
            wide = c["attention"] == "einsum32"
            scores = jnp.einsum(
                "bthk,bshk->bhts", q, k, preferred_element_type=f32 if wide else None
            )
            scores = scores / c["head"] ** 0.5
            least = -1e9 if wide else jnp.finfo(scores.dtype).min
            mask = jnp.tril(jnp.ones((c["time"], c["time"]), bool))
            scores = jnp.where(mask, scores, least)
            p = jax.nn.softmax(scores, -1).astype(to)
            o = jnp.einsum("bhts,bshk->bthk", p, v)
        return jnp.einsum("bthk,hkd->btd", o, w["o"].astype(to))

    def feed_forward(self, x, w):
        to, columns = self.computed, (self.batch, None, self.tensor)
        up = x @ w["up"].astype(to)
        if self.c["gated"]:
            h = jax.nn.silu(x @ w["gate"].astype(to)) * up
            return self.hold(h, *columns) @ w["down"].astype(to)
        h = self.hold(jax.nn.gelu(up + w["bup"].astype(to)), *columns)
        return h @ w["down"].astype(to) + w["bdown"].astype(to)

    def layer(self, x, w):
        x = self.hold(x + self.attend(self.norm(x, w["ln1"]), w), self.batch)
        return self.hold(x + self.feed_forward(self.norm(x, w["ln2"]), w), self.batch)

    def loss(self, params, tokens, targets):
        c, to = self.c, self.computed
        policies = jax.checkpoint_policies
        policy = {
            "dots": policies.dots_saveable,
            "dots_nb": policies.dots_with_no_batch_dims_saveable,
        }.get(c["remat"])
        layer = self.layer
        if c["remat"] != "none":
            layer = jax.checkpoint(layer, policy=policy)
        x = params["embed"].astype(to)[tokens]
        if not c["gated"]:
            x = x + params["pos"].astype(to)
        x = self.hold(x, self.batch)
        if c["scan"]:
            x, _ = lax.scan(lambda x, w: (layer(x, w), None), x, params["layers"])
        else:
            for w in params["layers"]:
                x = layer(x, w)
        head = params["embed"].T if c["tied"] else params["head"]
        logits = self.norm(x, params["final"]) @ head.astype(to)
        logits = self.hold(logits.astype(f32), self.batch, None, self.tensor)
        return self.cross_entropy(logits, targets)

    def cross_entropy(self, logits, targets):
        kind, at = self.c["loss"], targets[..., None]
        if kind == "logsoftmax":
            return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), at, -1))
        if kind == "lse":
            label = jnp.take_along_axis(logits, at, -1)[..., 0]
            return jnp.mean(jax.nn.logsumexp(logits, -1) - label)
        if kind == "onehot":
            labels = jax.nn.one_hot(targets, self.c["vocab"])
            return -jnp.mean(jnp.sum(labels * jax.nn.log_softmax(logits), -1))
        return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()

    def gradients(self, params, tokens, targets):
        count = self.c["microbatches"]
        if count == 1:
            return jax.value_and_grad(self.loss)(params, tokens, targets)

        def add(total, part):
            new = jax.value_and_grad(self.loss)(params, *part)
            return jax.tree.map(jnp.add, total, new), None

        parts = tuple(
            x.reshape(-1, count, self.c["time"]).swapaxes(0, 1)
            for x in (tokens, targets)
        )
        zero = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, params))
        (loss, grads), _ = lax.scan(add, zero, parts)
        return loss / count, jax.tree.map(lambda g: g / count, grads)


def rotate(x):
    half, time = x.shape[-1] // 2, x.shape[1]
    angles = jnp.arange(time)[:, None] / 1e4 ** (jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    a, b = x[..., :half].astype(f32), x[..., half:].astype(f32)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def _is_shape(x):
    return isinstance(x, tuple) and isinstance(x[0], tuple)


def adam(w, m, v, t, decay):
    m, v = m / (1 - 0.9**t), v / (1 - 0.95**t)
    return (w - 3e-4 * (m / (jnp.sqrt(v) + 1e-8) + decay * w)).astype(w.dtype)


def step_of(model):
    """Return a step, its arguments, their specs, and how many of them are its state."""
    kind, apply = model.c["optimizer"], jax.tree.map
    tree = model.shapes()
    params = apply(
        lambda x: jax.ShapeDtypeStruct(x[0], model.stored), tree, is_leaf=_is_shape
    )
    spec = apply(lambda x: x[1], tree, is_leaf=_is_shape)
    if kind == "sgd":

        def step(p, tokens, targets):
            loss, g = model.gradients(p, tokens, targets)
            return apply(lambda w, g: w - 1e-3 * g, p, g), loss

        return step, (params,), (spec,)
    if kind == "momentum":

        def step(p, m, tokens, targets):
            loss, g = model.gradients(p, tokens, targets)
            m = apply(lambda m, g: 0.9 * m + g, m, g)
            return apply(lambda w, m: w - 1e-3 * m, p, m), m, loss

        return step, (params, params), (spec, spec)
    if kind in ("adam", "adamw"):
        decay = 0.1 if kind == "adamw" else 0.0

        def step(p, m, v, t, tokens, targets):
            loss, g = model.gradients(p, tokens, targets)
            t = t + 1
            if decay:
                squares = sum(
                    jnp.sum(jnp.square(x.astype(f32))) for x in jax.tree.leaves(g)
                )
                most = jnp.minimum(1.0, 1.0 / jnp.sqrt(squares))
                g = apply(lambda x: (x * most).astype(x.dtype), g)
            m = apply(lambda m, g: 0.9 * m + 0.1 * g, m, g)
            v = apply(lambda v, g: 0.95 * v + 0.05 * g * g, v, g)
            return (
                apply(lambda w, m, v: adam(w, m, v, t, decay), p, m, v),
                m,
                v,
                t,
                loss,
            )

        count = jax.ShapeDtypeStruct((), f32)
        return step, (params, params, params, count), (spec, spec, spec, P())
    rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))

    def step(p, state, tokens, targets):
        loss, g = model.gradients(p, tokens, targets)
        updates, state = rule.update(g, state, p)
        return optax.apply_updates(p, updates), state, loss

    state = jax.eval_shape(rule.init, params)
    specs = optax.tree_map_params(
        rule, lambda _, s: s, state, spec, transform_non_params=lambda _: P()
    )
    return step, (params, state), (spec, specs)


def built(c):
    """Return a program of settings: a function, its arguments, their specs, and jit's options."""
    model = Decoder(c)
    step, state, specs = step_of(model)
    tokens = jax.ShapeDtypeStruct((c["batch"], c["time"]), jnp.int32)
    options = {}
    if c["donates"]:
        options["donate_argnums"] = tuple(range(len(state)))
    if c["out_shardings"]:
        options["out_shardings"] = (*specs, P())
    at = P(model.batch)
    return step, (*state, tokens, tokens), (*specs, at, at), options


for seed in range(COUNT):
    settings = draw(seed)
    PROGRAMS[f"decoder_{seed}"] = (
        lambda settings=settings: built(settings),
        f"{settings['chip']}:{settings['topology']}",
        settings["axes"],
    )
