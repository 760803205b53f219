"""Llama: FSDP, tensor and sequence axes, layers in a scan and in Python, microbatches, windows."""
# pyright: basic

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.layers import (
    attend,
    attention,
    bf16,
    cross_entropy,
    grouped_attention,
    mean_negative,
    norm,
    normed,
    rms_cast,
    rms_norm,
    rotary,
    rotary_in_f32,
    rotary_of_base,
    rotary_of_pairs,
    token_loss,
)
from tpu.programs.steps import (
    adamw_step,
    array,
    clipped,
    clipped_adamw,
    decayed_adamw,
    hold,
    program,
    shape,
    state_specs,
    trained,
)


def llama_layer(residual=None, heads=None, hidden=None):
    """A layer in bf16 whose activations have the specs that are given."""

    def put(x, spec):
        return x if spec is None else jax.lax.with_sharding_constraint(x, spec)

    def layer(x, w):
        w = jax.tree.map(lambda p: p.astype(jnp.bfloat16), w)
        h = rms_norm(x, w["n1"])
        q, k, v = (put(jnp.einsum("btd,dhk->bthk", h, w[n]), heads) for n in "qkv")
        o = grouped_attention(rotary_in_f32(q), rotary_in_f32(k), v)
        x = put(x + jnp.einsum("bthk,hkd->btd", o, w["o"]), residual)
        h = rms_norm(x, w["n2"])
        h = put(jax.nn.silu(h @ w["gate"]) * (h @ w["up"]), hidden)
        return put(x + h @ w["down"], residual)

    return layer


def llama_shapes(layers, width, heads, groups, hidden, vocab, dtype):
    def w(*sizes):
        return shape(*(() if layers is None else (layers,)), *sizes, dtype=dtype)

    head = width // heads
    weights = {"n1": w(width), "n2": w(width), "q": w(width, heads, head)}
    weights |= {n: w(width, groups, head) for n in "kv"}
    weights |= {"o": w(heads, head, width), "down": w(hidden, width)}
    weights |= {n: w(width, hidden) for n in ("gate", "up")}
    return {
        "embed": shape(vocab, width, dtype=dtype),
        "layers": weights,
        "norm": shape(width, dtype=dtype),
        "head": shape(width, vocab, dtype=dtype),
    }


def llama_specs(fsdp, tensor=None):
    weights = {n: P(None, fsdp, tensor) for n in ("q", "k", "v", "gate", "up")}
    weights |= {"o": P(None, tensor, None, fsdp), "down": P(None, tensor, fsdp)}
    weights |= {"n1": P(), "n2": P()}
    embed, head = P(tensor, fsdp), P(fsdp, tensor)
    return {"embed": embed, "layers": weights, "norm": P(), "head": head}


def llama_loss(layer, policy="nothing_saveable"):
    """The loss of a scan over layers, with a checkpoint's policy, or None."""
    if policy is not None:
        layer = jax.checkpoint(
            layer, policy=getattr(jax.checkpoint_policies, policy), prevent_cse=False
        )

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens]
        x, _ = jax.lax.scan(lambda x, w: (layer(x, w), None), x, params["layers"])
        x = rms_norm(x, params["norm"])
        logits = x @ params["head"].astype(jnp.bfloat16)
        return cross_entropy(logits[:, :-1], tokens[:, 1:])

    return loss


@program("v5e:4x4", fsdp=16)
def llama_fsdp():
    params = llama_shapes(16, 2048, 32, 8, 8192, 128256, "float32")
    loss = llama_loss(llama_layer(P("fsdp")))
    tokens = shape(32, 2048, dtype="int32")
    return adamw_step(
        clipped_adamw(loss), params, llama_specs("fsdp"), tokens, P("fsdp")
    )


@program("v6e:4x4", fsdp=4, tensor=4)
def llama_fsdp_tp():
    params = llama_shapes(12, 4096, 32, 8, 14336, 32000, "bfloat16")
    layer = llama_layer(
        *(P("fsdp"), P("fsdp", None, "tensor"), P("fsdp", None, "tensor"))
    )
    loss = llama_loss(layer, "dots_with_no_batch_dims_saveable")
    tokens = shape(16, 2048, dtype="int32")
    spec = llama_specs("fsdp", "tensor")
    step = clipped_adamw(loss, "bfloat16")
    return adamw_step(step, params, spec, tokens, P("fsdp"), params)


@program("v5p:2x2x2", data=2, tensor=4)
def llama_sequence():
    params = llama_shapes(8, 4096, 32, 8, 11008, 32000, "float32")
    heads = P("data", None, "tensor")
    layer = llama_layer(P("data", "tensor"), heads, heads)
    spec = llama_specs(None, "tensor")
    tokens = shape(8, 2048, dtype="int32")
    return adamw_step(clipped_adamw(llama_loss(layer)), params, spec, tokens, P("data"))


@program("v5e:2x4", fsdp=8)
def llama_microbatches():
    """Microbatches by a scan over layers of a list, with gradients summed in f32."""
    layers, count = 8, 4
    layer = jax.checkpoint(llama_layer(P("fsdp")))

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens]
        for w in params["layers"]:
            x = layer(x, w)
        logits = rms_norm(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return cross_entropy(logits[:, :-1], tokens[:, 1:])

    def step(params, mu, tokens):
        def turn(total, batch):
            grads = jax.grad(loss)(params, batch)
            return jax.tree.map(jnp.add, total, grads), None

        zeros = jax.tree.map(jnp.zeros_like, params)
        grads, _ = jax.lax.scan(turn, zeros, tokens)
        mu = jax.tree.map(lambda m, g: 0.9 * m + g / count, mu, grads)
        return jax.tree.map(lambda p, m: p - 1e-3 * m, params, mu), mu

    params = llama_shapes(None, 2048, 16, 16, 5632, 32000, "float32")
    params["layers"] = [params["layers"]] * layers
    spec = llama_specs("fsdp")
    spec["layers"] = [{n: P(*s[1:]) for n, s in spec["layers"].items()}] * layers
    return (
        step,
        (params, params, shape(count, 16, 2048, dtype="int32")),
        (spec, spec, P(None, "fsdp")),
        {"donate_argnums": (0, 1)},
    )


def llama_block(heads, groups, spec):
    """Return a layer of Llama whose keys and values are repeated for their queries."""

    def block(x, p):
        p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
        batch, length, width = x.shape
        h = normed(x, p["n1"])
        q = rotary((h @ p["wq"]).reshape(batch, length, heads, -1))
        k = rotary((h @ p["wk"]).reshape(batch, length, groups, -1))
        v = (h @ p["wv"]).reshape(batch, length, groups, -1)
        k, v = (jnp.repeat(y, heads // groups, 2) for y in (k, v))
        x = x + attend(q, k, v).reshape(batch, length, width) @ p["wo"]
        h = normed(x, p["n2"])
        x = x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]
        return jax.lax.with_sharding_constraint(x, spec)

    return block


def llama_weights(width, heads, groups, hidden, fsdp, tensor):
    """Return the shapes of a layer's weights and how they are split."""
    keys = width // heads * groups
    into, out = P(fsdp, tensor), P(tensor, fsdp)
    weights = {"wq": (width, width), "wk": (width, keys), "wv": (width, keys)}
    weights |= {"gate": (width, hidden), "up": (width, hidden)}
    specs = dict.fromkeys(weights, into) | {"wo": out, "down": out}
    weights |= {"wo": (width, width), "down": (hidden, width)}
    specs |= dict.fromkeys(("n1", "n2"), P())
    return weights | dict.fromkeys(("n1", "n2"), (width,)), specs


def layers_in_python(sizes, optimizer, rows):
    """Return a step of Llama with layers in Python, each with a checkpoint, all split by FSDP.

    Args:
        sizes: layers, width, heads, groups of keys, width of a layer's products, vocabulary.
        optimizer: of optax.
        rows: of 2,048 tokens, on all devices together.
    """
    layers, width, heads, groups, hidden, vocab = sizes
    f32 = partial(shape, dtype="float32")
    block = jax.checkpoint(llama_block(heads, groups, P("fsdp")))

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens[:, :-1]]
        for p in params["layers"]:
            x = block(x, p)
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, tokens[:, 1:])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", None)
    layer = {n: f32(*sizes) for n, sizes in weights.items()}
    params = {"embed": f32(vocab, width), "layers": [layer] * layers}
    params |= {"norm": f32(width), "head": f32(width, vocab)}
    spec = {"embed": P("fsdp"), "layers": [specs] * layers, "norm": P()}
    spec["head"] = P("fsdp")
    tokens = shape(rows, 2049, dtype="int32")
    return trained(loss, optimizer, params, spec, tokens, P("fsdp"))


@program("v6e:4x4", fsdp=16)
def listed_llama():
    """Llama of 1.6e9 parameters, layers in Python, each with a checkpoint."""
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    return layers_in_python((20, 2560, 20, 4, 6912, 50432), optimizer, 32)


@program("v5p:2x2x4", fsdp=8, tensor=2)
def scanned_llama():
    """Llama of 3.3e9 parameters with FSDP and a tensor axis, layers in a scan."""
    layers, width, heads, groups, hidden, vocab = 28, 3072, 24, 8, 8192, 32768
    f32 = partial(shape, dtype="float32")
    block = jax.checkpoint(llama_block(heads, groups, P("fsdp")))

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        x, _ = jax.lax.scan(lambda x, p: (block(x, p), None), x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", "tensor")
    params = {"embed": f32(vocab, width), "norm": f32(width)}
    params["layers"] = {n: f32(layers, *sizes) for n, sizes in weights.items()}
    params["head"] = f32(width, vocab)
    spec = {"embed": P("tensor", "fsdp"), "norm": P(), "head": P("fsdp", "tensor")}
    spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    tokens = shape(16, 4096, dtype="int32")
    batch = dict.fromkeys(("tokens", "targets"), tokens)
    batch_spec = dict.fromkeys(batch, P("fsdp"))
    return trained(loss, optax.adamw(3e-4), params, spec, batch, batch_spec)


@program("v5p:2x2x4", fsdp=16)
def clipped_llama():
    """Llama of 1.9e9 parameters, layers in Python, checkpoints, clipping, a cosine schedule."""
    rate = optax.warmup_cosine_decay_schedule(0.0, 3e-4, 100, 1000)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate))
    return layers_in_python((16, 3072, 24, 8, 8192, 32000), optimizer, 64)


@program("v6e:2x4", fsdp=8)
def accumulated_llama():
    """Llama of 1.1e9 parameters in a scan, four microbatches by a scan, clipping, AdamW."""
    layers, width, heads, groups, hidden, vocab = 22, 2048, 16, 4, 5632, 32000
    f32 = partial(shape, dtype="float32")
    block = jax.checkpoint(llama_block(heads, groups, P("fsdp")))

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens[:, :-1]]
        x, _ = jax.lax.scan(lambda x, p: (block(x, p), None), x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, tokens[:, 1:])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", None)
    params = {"embed": f32(vocab, width), "norm": f32(width), "head": f32(width, vocab)}
    params["layers"] = {n: f32(layers, *sizes) for n, sizes in weights.items()}
    spec = {"embed": P("fsdp"), "norm": P(), "head": P("fsdp")}
    spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    tokens = shape(4, 16, 2049, dtype="int32")
    _, arguments, specs, options = trained(
        loss, optimizer, params, spec, tokens, P(None, "fsdp")
    )

    def step(params, state, batches):
        def add(total, batch):
            value, grads = jax.value_and_grad(loss)(params, batch)
            return jax.tree.map(jnp.add, total, (value, grads)), None

        zero = jax.tree.map(jnp.zeros_like, params)
        total, _ = jax.lax.scan(add, (jnp.zeros(()), zero), batches)
        value, grads = jax.tree.map(lambda x: x / len(batches), total)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return step, arguments, specs, options


@program("v6e:4x4", fsdp=4, tensor=4)
def listed_llama_tensor():
    """Llama of 1.3e9 parameters, layers in Python with checkpoints, a tensor axis, clipping."""
    layers, width, heads, groups, hidden, vocab = 16, 2048, 16, 8, 8192, 32768
    f32 = partial(shape, dtype="float32")
    block = jax.checkpoint(llama_block(heads, groups, P("fsdp")))

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        for weights in params["layers"]:
            x = block(x, weights)
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", "tensor")
    layer = {n: f32(*sizes) for n, sizes in weights.items()}
    params = {"embed": f32(vocab, width), "layers": [layer] * layers}
    params |= {"norm": f32(width), "head": f32(width, vocab)}
    spec = {"embed": P("tensor", "fsdp"), "layers": [specs] * layers, "norm": P()}
    spec["head"] = P("fsdp", "tensor")
    tokens = shape(32, 2048, dtype="int32")
    batch = dict.fromkeys(("tokens", "targets"), tokens)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    return trained(
        *(loss, optimizer, params, spec, batch, dict.fromkeys(batch, P("fsdp")))
    )


@program("v5p:2x2x2", fsdp=8)
def tied_llama():
    """Llama of 1.1e9 parameters in a scan with a checkpoint, whose head is its embedding."""
    layers, width, heads, groups, hidden, vocab = 16, 2048, 32, 8, 8192, 65536
    f32 = partial(shape, dtype="float32")
    block = jax.checkpoint(llama_block(heads, groups, P("fsdp")))

    def loss(params, batch):
        embed = params["embed"].astype(jnp.bfloat16)
        x, _ = jax.lax.scan(
            lambda x, p: (block(x, p), None), embed[batch["tokens"]], params["layers"]
        )
        return token_loss(normed(x, params["norm"]) @ embed.T, batch["targets"])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", None)
    params = {"embed": f32(vocab, width), "norm": f32(width)}
    params["layers"] = {n: f32(layers, *sizes) for n, sizes in weights.items()}
    spec = {"embed": P(None, "fsdp"), "norm": P()}
    spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    batch = dict.fromkeys(("tokens", "targets"), shape(16, 2048, dtype="int32"))
    return trained(
        loss, clipped(3e-4), params, spec, batch, dict.fromkeys(batch, P("fsdp"))
    )


@program("v5p:2x2x4", data=2, fsdp=8)
def copied_llama():
    """Llama of 1.3e9 parameters in a scan, weights split among eight and held twice."""
    layers, width, heads, groups, hidden, vocab = 20, 2048, 16, 8, 6144, 50304
    f32 = partial(shape, dtype="float32")
    both = P(("data", "fsdp"))
    block = jax.checkpoint(llama_block(heads, groups, both))

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        x, _ = jax.lax.scan(lambda x, p: (block(x, p), None), x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    weights, specs = llama_weights(width, heads, groups, hidden, "fsdp", None)
    params = {"embed": f32(vocab, width), "norm": f32(width)}
    params |= {"layers": {n: f32(layers, *sizes) for n, sizes in weights.items()}}
    params |= {"head": f32(width, vocab)}
    spec = {"embed": P("fsdp"), "norm": P(), "head": P("fsdp")}
    spec["layers"] = {n: P(None, *s) for n, s in specs.items()}
    batch = dict.fromkeys(("tokens", "targets"), shape(32, 2048, dtype="int32"))
    return trained(loss, clipped(3e-4), params, spec, batch, dict.fromkeys(batch, both))


@program("v6e:2x4", fsdp=4, tp=2)
def dotted_llama():
    """Llama of 0.8e9 parameters in a scan that saves products without a batch, FSDP by a tensor axis."""
    L, D, H, K, F, V, B, T = 16, 2048, 16, 8, 5632, 32000, 32, 2048
    p = {
        "emb": array(V, D),
        "out": array(D, V),
        "n": array(D),
        "l": {
            "wq": array(L, D, H * 128),
            "wk": array(L, D, K * 128),
            "wv": array(L, D, K * 128),
            "wo": array(L, H * 128, D),
            "g": array(L, D, F),
            "u": array(L, D, F),
            "d": array(L, F, D),
            "a": array(L, D),
            "b": array(L, D),
        },
    }
    sp = {
        "emb": P("tp", "fsdp"),
        "out": P("fsdp", "tp"),
        "n": P(),
        "l": {
            "wq": P(None, "fsdp", "tp"),
            "wk": P(None, "fsdp", "tp"),
            "wv": P(None, "fsdp", "tp"),
            "wo": P(None, "tp", "fsdp"),
            "g": P(None, "fsdp", "tp"),
            "u": P(None, "fsdp", "tp"),
            "d": P(None, "tp", "fsdp"),
            "a": P(),
            "b": P(),
        },
    }

    def loss(p, tok):
        x = p["emb"].astype(jnp.bfloat16)[tok[:, :-1]]
        x = hold(x, P("fsdp", None, None))

        def layer(x, w):
            w = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
            h = rms_cast(x, w["a"])
            b, t, _ = h.shape
            q = rotary_of_pairs((h @ w["wq"]).reshape(b, t, H, 128))
            k = rotary_of_pairs((h @ w["wk"]).reshape(b, t, K, 128))
            v = (h @ w["wv"]).reshape(b, t, K, 128)
            o = jax.nn.dot_product_attention(q, k, v, is_causal=True)
            x = x + o.reshape(b, t, -1) @ w["wo"]
            x = hold(x, P("fsdp", None, None))
            h = rms_cast(x, w["b"])
            x = x + (jax.nn.silu(h @ w["g"]) * (h @ w["u"])) @ w["d"]
            return hold(x, P("fsdp", None, None)), None

        x, _ = jax.lax.scan(
            jax.checkpoint(
                layer, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable
            ),
            x,
            p["l"],
        )
        return mean_negative(
            rms_cast(x, p["n"]) @ p["out"].astype(jnp.bfloat16), tok[:, 1:]
        )

    return decayed_adamw(loss, p, sp, array(B, T + 1, dtype="int32"), P("fsdp"))


@program("v5p:2x2x2", fsdp=4, tensor=2)
def windowed_decoder():
    """A decoder of windows of 1,024 and grouped heads in a scan that keeps products, held, AdamW."""
    layers, width, heads, groups, size, hidden = 16, 2048, 16, 4, 128, 8192
    vocab, rows, length, window = 32768, 16, 4096, 1024
    sizes = {
        "q": (width, heads, size),
        "k": (width, groups, size),
        "v": (width, groups, size),
        "o": (heads, size, width),
        "gate": (width, hidden),
        "up": (width, hidden),
        "down": (hidden, width),
        "n1": (width,),
        "n2": (width,),
    }
    split = {
        **dict.fromkeys("qkv", P(None, "fsdp", "tensor")),
        "o": P(None, "tensor", None, "fsdp"),
        **dict.fromkeys(("gate", "up"), P(None, "fsdp", "tensor")),
        "down": P(None, "tensor", "fsdp"),
        **dict.fromkeys(("n1", "n2"), P()),
    }
    params = {
        "embed": array(vocab, width),
        "head": array(width, vocab),
        "norm": array(width),
        "layers": {n: array(layers, *s) for n, s in sizes.items()},
    }
    spec = {
        "embed": P("tensor", "fsdp"),
        "head": P("fsdp", "tensor"),
        "norm": P(),
        "layers": split,
    }

    def loss(params, batch):
        x = params["embed"].astype(bf16)[batch["inputs"]]
        x = hold(x, P("fsdp", None, None))
        at = jnp.arange(length)
        near = (at[:, None] >= at) & (at[:, None] - at < window)

        def layer(x, w):
            w = {n: a if n in ("n1", "n2") else a.astype(bf16) for n, a in w.items()}
            h = norm(x, w["n1"])
            q = rotary_of_base(jnp.einsum("btd,dhk->bthk", h, w["q"]))
            k = rotary_of_base(jnp.einsum("btd,dhk->bthk", h, w["k"]))
            v = jnp.einsum("btd,dhk->bthk", h, w["v"])
            q = hold(q, P("fsdp", None, "tensor", None))
            q = q.reshape(*q.shape[:2], groups, heads // groups, size)
            scores = jnp.einsum("btgrk,bsgk->bgrts", q, k).astype(jnp.float32)
            scores = jnp.where(near, scores / size**0.5, -1e9)
            weights = jax.nn.softmax(scores).astype(bf16)
            y = jnp.einsum("bgrts,bsgk->btgrk", weights, v)
            y = y.reshape(*y.shape[:2], heads, size)
            x = x + jnp.einsum("bthk,hkd->btd", y, w["o"])
            h = norm(x, w["n2"])
            h = jax.nn.silu(h @ w["gate"]) * (h @ w["up"])
            h = hold(h, P("fsdp", None, "tensor"))
            return hold(x + h @ w["down"], P("fsdp", None, None)), None

        layer = jax.checkpoint(
            layer,
            policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable,
            prevent_cse=False,
        )
        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = norm(x, params["norm"]) @ params["head"].astype(bf16)
        logits = hold(logits, P("fsdp", None, "tensor"))
        return token_loss(logits, batch["targets"])

    batch = dict.fromkeys(("inputs", "targets"), array(rows, length, dtype="int32"))
    return trained(
        *(loss, optax.adamw(3e-4, b2=0.95), params, spec),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )


@program("v5e:4x4", fsdp=4, tensor=4)
def llama_in_parts():
    """Llama of 1.6e9 in a scan with checkpoints, eight microbatches by a scan, held, SGD with momentum."""
    layers, width, heads, groups, size, hidden = 20, 2048, 32, 8, 64, 8192
    vocab, rows, parts, length = 32000, 128, 8, 2048
    sizes = {
        "q": (width, heads * size),
        "k": (width, groups * size),
        "v": (width, groups * size),
        "o": (heads * size, width),
        "gate": (width, hidden),
        "up": (width, hidden),
        "down": (hidden, width),
        "n1": (width,),
        "n2": (width,),
    }
    split = {
        **dict.fromkeys(("q", "k", "v", "gate", "up"), P(None, "fsdp", "tensor")),
        **dict.fromkeys(("o", "down"), P(None, "tensor", "fsdp")),
        **dict.fromkeys(("n1", "n2"), P()),
    }
    params = {
        "embed": array(vocab, width),
        "norm": array(width),
        "layers": {n: array(layers, *s) for n, s in sizes.items()},
        "head": array(width, vocab),
    }
    spec = {
        "embed": P("tensor", "fsdp"),
        "norm": P(),
        "layers": split,
        "head": P("fsdp", "tensor"),
    }

    def loss(params, tokens):
        inputs, targets = tokens[:, :-1], tokens[:, 1:]
        x = hold(params["embed"].astype(bf16)[inputs], P("fsdp", None, None))
        mask = jnp.tril(jnp.ones((length, length), bool))

        @jax.checkpoint
        def layer(x, w):
            w = jax.tree.map(lambda a: a.astype(bf16), w)
            h = norm(x, w["n1"])
            q = rotary_of_base((h @ w["q"]).reshape(*h.shape[:2], heads, size), 5e5)
            k = rotary_of_base((h @ w["k"]).reshape(*h.shape[:2], groups, size), 5e5)
            v = (h @ w["v"]).reshape(*h.shape[:2], groups, size)
            k, v = (jnp.repeat(a, heads // groups, 2) for a in (k, v))
            q, k, v = (hold(a, P("fsdp", None, "tensor", None)) for a in (q, k, v))
            x = x + attention(q, k, v, mask).reshape(h.shape) @ w["o"]
            h = norm(x, w["n2"])
            h = jax.nn.silu(h @ w["gate"]) * (h @ w["up"])
            return hold(x + h @ w["down"], P("fsdp", None, None)), None

        x, _ = jax.lax.scan(layer, x, params["layers"])
        return token_loss(
            norm(x, params["norm"]) @ params["head"].astype(bf16), targets
        )

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, 0.9))
    state, state_spec = state_specs(optimizer, params, spec)

    def step(params, state, tokens):
        def part(carry, tokens):
            total, grads = carry
            value, new = jax.value_and_grad(loss)(params, tokens)
            return (total + value, jax.tree.map(jnp.add, grads, new)), None

        tokens = hold(tokens.reshape(parts, rows // parts, -1), P(None, "fsdp"))
        zero = jax.tree.map(jnp.zeros_like, params)
        (total, grads), _ = jax.lax.scan(part, (0.0, zero), tokens)
        grads = jax.tree.map(lambda g: g / parts, grads)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, total / parts

    return (
        step,
        (params, state, array(rows, length + 1, dtype="int32")),
        (spec, state_spec, P("fsdp")),
        {"donate_argnums": (0, 1)},
    )
