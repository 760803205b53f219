"""A second set of plain steps: other models, axes and optimizers than those of the first."""
# pyright: basic

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.steps import array, program


def halved(tree):
    return jax.tree.map(lambda a: a.astype(jnp.bfloat16), tree)


def layer_norm(x, p):
    x32 = x.astype(jnp.float32)
    mean = x32.mean(-1, keepdims=True)
    var = ((x32 - mean) ** 2).mean(-1, keepdims=True)
    y = (x32 - mean) * jax.lax.rsqrt(var + 1e-5)
    return (y * p["scale"] + p["bias"]).astype(x.dtype)


def heads_first(q, k, v, mask=None):
    """Attention of (batch, heads, time, size)."""
    s = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32)
    s = s / q.shape[-1] ** 0.5
    if mask is not None:
        s = jnp.where(mask, s, -1e30)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(s, -1).astype(q.dtype), v)


def everywhere(tree):
    return jax.tree.map(lambda _: P(), tree)


@program("v5e:4x4", fsdp=16)
def split_gpt():
    """A GPT with learned positions and biases: no remat, weights and batch over fsdp, clipping."""
    layers, d, heads, vocab, length = 12, 1536, 12, 50304, 1024

    def of(*s):
        return array(layers, *s)

    norm = {"scale": of(d), "bias": of(d)}
    params = {
        "tok": array(vocab, d),
        "pos": array(length, d),
        "h": {
            **{"n1": norm, "n2": norm, "wqkv": of(d, 3 * d), "wo": of(d, d)},
            **{"w1": of(d, 4 * d), "b1": of(4 * d), "w2": of(4 * d, d), "b2": of(d)},
        },
        "nf": {"scale": array(d), "bias": array(d)},
    }

    def spec(p):
        if p.ndim < 2 or p.shape == (layers, d) or p.shape == (layers, 4 * d):
            return P()
        at = 0 if p.shape[0] != layers else 1
        return P(*("fsdp" if i == at else None for i in range(p.ndim)))

    specs = jax.tree.map(spec, params)
    opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(6e-4))

    def loss_fn(params, tokens):
        x = params["tok"][tokens[:, :-1]] + params["pos"]
        x = x.astype(jnp.bfloat16)

        def block(x, w):
            w = {n: a if n in ("n1", "n2") else halved(a) for n, a in w.items()}
            b, t, _ = x.shape
            qkv = (layer_norm(x, w["n1"]) @ w["wqkv"]).reshape(b, t, 3, heads, -1)
            q, k, v = qkv.transpose(2, 0, 3, 1, 4)
            mask = jnp.tril(jnp.ones((t, t), bool))
            o = heads_first(q, k, v, mask).transpose(0, 2, 1, 3).reshape(b, t, d)
            x = x + o @ w["wo"]
            h = jax.nn.gelu(layer_norm(x, w["n2"]) @ w["w1"] + w["b1"])
            x = x + h @ w["w2"] + w["b2"]
            return jax.lax.with_sharding_constraint(x, P("fsdp")), None

        x, _ = jax.lax.scan(block, x, params["h"])
        logits = layer_norm(x, params["nf"]) @ params["tok"].T.astype(x.dtype)
        return optax.softmax_cross_entropy_with_integer_labels(
            logits.astype(jnp.float32), tokens[:, 1:]
        ).mean()

    def train_step(params, state, tokens):
        loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state = jax.eval_shape(opt.init, params)
    adam = state[1][0]._replace(count=P(), mu=specs, nu=specs)
    return (
        train_step,
        (params, state, array(64, length + 1, dtype="int32")),
        (specs, (state[0], (adam, *state[1][1:])), P("fsdp")),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x4", data=2, model=4)
def tensor_llama():
    """Eight layers in Python, their products split by columns, then by rows; plain SGD."""
    d, heads, kv, ff, vocab, depth = 4096, 32, 8, 14336, 32000, 8
    size = d // heads
    layer = {
        **{"q": (d, heads * size), "k": (d, kv * size), "v": (d, kv * size)},
        **{"o": (heads * size, d), "gate": (d, ff), "up": (d, ff), "down": (ff, d)},
    }
    by_columns = P(None, "model")
    split = dict.fromkeys(("q", "k", "v", "gate", "up"), by_columns)
    split |= dict.fromkeys(("o", "down"), P("model", None))
    layer = {n: array(*s, dtype="bfloat16") for n, s in layer.items()}
    params = {
        "embed": array(vocab, d, dtype="bfloat16"),
        "layers": [layer] * depth,
        "head": array(d, vocab, dtype="bfloat16"),
    }
    specs = {"embed": P(), "layers": [split] * depth, "head": by_columns}

    def norm(x):
        x32 = x.astype(jnp.float32)
        return (x32 * jax.lax.rsqrt((x32 * x32).mean(-1, keepdims=True))).astype(
            x.dtype
        )

    @jax.checkpoint
    def block(w, x):
        b, t, _ = x.shape
        h = norm(x)
        q = (h @ w["q"]).reshape(b, t, heads, size)
        k = jnp.repeat((h @ w["k"]).reshape(b, t, kv, size), heads // kv, axis=2)
        v = jnp.repeat((h @ w["v"]).reshape(b, t, kv, size), heads // kv, axis=2)
        mask = jnp.arange(t)[:, None] >= jnp.arange(t)
        o = heads_first(*(a.swapaxes(1, 2) for a in (q, k, v)), mask)
        x = x + o.swapaxes(1, 2).reshape(b, t, -1) @ w["o"]
        h = norm(x)
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

    def loss_fn(params, tokens):
        x = params["embed"][tokens[:, :-1]]
        for w in params["layers"]:
            x = jax.lax.with_sharding_constraint(block(w, x), P("data"))
        logits = (norm(x) @ params["head"]).astype(jnp.float32)
        logp = jax.nn.log_softmax(logits, -1)
        return -jnp.take_along_axis(logp, tokens[:, 1:, None], -1).mean()

    def train_step(params, tokens):
        loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), loss

    return (
        train_step,
        (params, array(8, 2049, dtype="int32")),
        (specs, P("data")),
        {"donate_argnums": (0,)},
    )


@program("v5p:2x2x1", data=4)
def residual_images():
    """A residual network with batch statistics, three stages of four blocks, in bf16; Nesterov."""
    widths, blocks, classes, size = (128, 256, 512), 4, 1000, 64
    params, channels = {"stem": array(5, 5, 3, 128)}, 128
    for i, width in enumerate(widths):
        for j in range(blocks):
            name, given = f"{i}.{j}", channels if not j else width
            params[name] = {
                **{"a": array(3, 3, given, width), "b": array(3, 3, width, width)},
                **{"ga": array(width), "gb": array(width)},
            }
            if given != width:
                params[name]["skip"] = array(1, 1, given, width)
        channels = width
    params["fc"] = array(channels, classes)
    opt = optax.sgd(0.1, momentum=0.9, nesterov=True)

    def conv(x, w, stride=1):
        return jax.lax.conv_general_dilated(
            *(x, w.astype(x.dtype), (stride, stride), "SAME"),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )

    def norm(x, g):
        x32 = x.astype(jnp.float32)
        mean = x32.mean((0, 1, 2))
        var = (x32**2).mean((0, 1, 2)) - mean**2
        return ((x32 - mean) * jax.lax.rsqrt(var + 1e-5) * g).astype(x.dtype)

    def loss_fn(params, images, labels):
        x = conv(images.astype(jnp.bfloat16), params["stem"])
        for i in range(len(widths)):
            for j in range(blocks):
                w = params[f"{i}.{j}"]
                stride = 2 if i and not j else 1
                h = jax.nn.relu(norm(conv(x, w["a"], stride), w["ga"]))
                h = norm(conv(h, w["b"]), w["gb"])
                x = jax.nn.relu(h + (conv(x, w["skip"], stride) if "skip" in w else x))
        logits = x.mean((1, 2)).astype(jnp.float32) @ params["fc"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    def train_step(params, state, images, labels):
        loss, grads = jax.value_and_grad(loss_fn)(params, images, labels)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state = jax.eval_shape(opt.init, params)
    return (
        train_step,
        (params, state, array(1024, size, size, 3), array(1024, dtype="int32")),
        (everywhere(params), everywhere(state), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x2", data=4)
def variational_images():
    """A perceptron that encodes images to means and variances, samples, and decodes; AdamW."""
    pixels, hidden, latent, batch = 12288, 4096, 256, 8192
    params = {
        "enc": [array(pixels, hidden), array(hidden, hidden)],
        "mean": array(hidden, latent),
        "logvar": array(hidden, latent),
        "dec": [array(latent, hidden), array(hidden, hidden), array(hidden, pixels)],
    }
    opt = optax.adamw(1e-3)

    def loss_fn(params, x, noise):
        h = x
        for w in params["enc"]:
            h = jnp.tanh(h @ w)
        mean, logvar = h @ params["mean"], h @ params["logvar"]
        h = mean + jnp.exp(0.5 * logvar) * noise
        for w in params["dec"][:-1]:
            h = jnp.tanh(h @ w)
        logits = h @ params["dec"][-1]
        nll = jnp.maximum(logits, 0) - logits * x + jnp.log1p(jnp.exp(-abs(logits)))
        kl = -0.5 * (1 + logvar - mean**2 - jnp.exp(logvar)).sum(-1)
        return (nll.sum(-1) + kl).mean()

    def train_step(params, state, x, noise):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, noise)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state = jax.eval_shape(opt.init, params)
    return (
        train_step,
        (params, state, array(batch, pixels), array(batch, latent)),
        (everywhere(params), everywhere(state), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x2", data=2, expert=4)
def switched_layers():
    """Attention and experts of one in a scan; a cumulative sum places rows in their buffers."""
    layers, d, ff, heads, experts, batch, length = 6, 2048, 4096, 16, 16, 16, 1024
    capacity = batch * length // experts

    def of(*s, dtype="float32"):
        return array(layers, *s, dtype=dtype)

    params = {
        **{"wqkv": of(d, 3, heads, d // heads), "wo": of(heads, d // heads, d)},
        **{"router": of(d, experts), "up": of(experts, d, ff)},
        **{"down": of(experts, ff, d), "n1": of(d), "n2": of(d)},
    }
    specs = {
        **{"wqkv": P(), "wo": P(), "router": P(), "n1": P(), "n2": P()},
        **{"up": P(None, "expert"), "down": P(None, "expert")},
    }

    def norm(x, g):
        x32 = x.astype(jnp.float32)
        y = x32 * jax.lax.rsqrt((x32**2).mean(-1, keepdims=True) + 1e-6)
        return (y * g).astype(x.dtype)

    def experts_of(x, w):
        rows = x.reshape(-1, d)
        probs = jax.nn.softmax((rows @ halved(w["router"])).astype(jnp.float32))
        gate, chosen = probs.max(-1), probs.argmax(-1)
        onehot = jax.nn.one_hot(chosen, experts, dtype=jnp.int32)
        place = (jnp.cumsum(onehot, 0) * onehot).sum(-1) - 1
        kept = place < capacity
        slot = jnp.where(kept, chosen * capacity + place, experts * capacity)
        buffer = jnp.zeros((experts * capacity, d), x.dtype)
        buffer = buffer.at[slot].set(rows, mode="drop")
        buffer = buffer.reshape(experts, capacity, d)
        buffer = jax.lax.with_sharding_constraint(buffer, P("expert"))
        h = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", buffer, halved(w["up"])))
        out = jnp.einsum("ecf,efd->ecd", h, halved(w["down"])).reshape(-1, d)
        back = out.at[slot].get(mode="fill", fill_value=0)
        return (back * gate[:, None].astype(x.dtype)).reshape(x.shape)

    @jax.checkpoint
    def block(x, w):
        q, k, v = jnp.einsum("btd,dchk->cbhtk", norm(x, w["n1"]), halved(w["wqkv"]))
        mask = jnp.tril(jnp.ones((length, length), bool))
        o = heads_first(q, k, v, mask)
        x = x + jnp.einsum("bhtk,hkd->btd", o, halved(w["wo"]))
        x = x + experts_of(norm(x, w["n2"]), w)
        return jax.lax.with_sharding_constraint(x, P(("data", "expert"))), None

    def loss(params, x, y):
        x, _ = jax.lax.scan(block, x, params)
        return jnp.mean((x - y).astype(jnp.float32) ** 2)

    def train_step(params, m, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, grads)
        return jax.tree.map(lambda p, m: p - 1e-3 * m, params, m), m, value

    x = array(batch, length, d, dtype="bfloat16")
    rows = P(("data", "expert"))
    return (
        train_step,
        (params, params, x, x),
        (specs, specs, rows, rows),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x2", data=4)
def attending_translator():
    """An encoder and a decoder of six layers each in Python, with cross attention; Adam."""
    d, heads, ff, vocab, depth, source, target = 1024, 16, 4096, 32000, 6, 256, 256
    attend = {n: array(d, d) for n in ("q", "k", "v", "o")}
    norm = {"scale": array(d), "bias": array(d)}
    mlp = {"w1": array(d, ff), "w2": array(ff, d)}
    params = {
        "embed": array(vocab, d),
        "enc": [{"self": attend, "mlp": mlp, "n": [norm] * 2}] * depth,
        "dec": [{"self": attend, "cross": attend, "mlp": mlp, "n": [norm] * 3}] * depth,
        "out": array(d, vocab),
    }
    opt = optax.adam(1e-4)

    def multi(w, x, y, mask=None):
        w = halved(w)

        def part(a):
            return a.reshape(*a.shape[:2], heads, -1).swapaxes(1, 2)

        o = heads_first(part(x @ w["q"]), part(y @ w["k"]), part(y @ w["v"]), mask)
        return o.swapaxes(1, 2).reshape(x.shape) @ w["o"]

    def dense(w, x):
        w = halved(w)
        return jax.nn.relu(x @ w["w1"]) @ w["w2"]

    def loss_fn(params, src, tgt):
        embed = params["embed"].astype(jnp.bfloat16)
        x = embed[src]
        for w in params["enc"]:
            h = layer_norm(x, w["n"][0])
            x = x + multi(w["self"], h, h)
            x = x + dense(w["mlp"], layer_norm(x, w["n"][1]))
        y = embed[tgt[:, :-1]]
        mask = jnp.tril(jnp.ones((target, target), bool))
        for w in params["dec"]:
            h = layer_norm(y, w["n"][0])
            y = y + multi(w["self"], h, h, mask)
            y = y + multi(w["cross"], layer_norm(y, w["n"][1]), x)
            y = y + dense(w["mlp"], layer_norm(y, w["n"][2]))
        logits = (y @ params["out"].astype(y.dtype)).astype(jnp.float32)
        smooth = 0.9 * jax.nn.one_hot(tgt[:, 1:], vocab) + 0.1 / vocab
        return -(smooth * jax.nn.log_softmax(logits)).sum(-1).mean()

    def train_step(params, state, src, tgt):
        loss, grads = jax.value_and_grad(loss_fn)(params, src, tgt)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state = jax.eval_shape(opt.init, params)
    batch = 128
    return (
        train_step,
        (
            *(params, state, array(batch, source, dtype="int32")),
            array(batch, target + 1, dtype="int32"),
        ),
        (everywhere(params), everywhere(state), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v4:2x2x2", data=2, fsdp=4)
def saved_dots_decoder():
    """Queries that share keys, saved products (`dots_with_no_batch_dims_saveable`), Lion."""
    layers, d, heads, kv, size, ff, vocab = 10, 2560, 20, 4, 128, 6912, 32768

    def of(*s):
        return array(layers, *s)

    params = {
        "embed": array(vocab, d),
        "blocks": {
            **{"q": of(d, heads * size), "kv": of(d, 2 * kv * size)},
            **{"o": of(heads * size, d), "up": of(d, 2 * ff), "down": of(ff, d)},
            **{"n1": of(d), "n2": of(d)},
        },
        "head": array(d, vocab),
    }
    wide = dict.fromkeys(("q", "kv", "o", "up", "down"), P(None, "fsdp"))
    specs = {
        "embed": P("fsdp"),
        "blocks": wide | {"n1": P(), "n2": P()},
        "head": P("fsdp"),
    }
    opt = optax.lion(1e-4)

    def norm(x, g):
        x32 = x.astype(jnp.float32)
        y = x32 * jax.lax.rsqrt((x32**2).mean(-1, keepdims=True) + 1e-6)
        return (y * g).astype(x.dtype)

    def block(x, w):
        w = halved(w)
        b, t, _ = x.shape
        h = norm(x, w["n1"])
        q = (h @ w["q"]).reshape(b, t, kv, heads // kv, size)
        k, v = jnp.split((h @ w["kv"]).reshape(b, t, kv, 2 * size), 2, -1)
        s = jnp.einsum("btgqd,bsgd->bgqts", q, k).astype(jnp.float32) * size**-0.5
        s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e30)
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        o = jnp.einsum("bgqts,bsgd->btgqd", p, v).reshape(b, t, -1)
        x = x + o @ w["o"]
        gate, up = jnp.split(norm(x, w["n2"]) @ w["up"], 2, -1)
        x = x + (jax.nn.silu(gate) * up) @ w["down"]
        return jax.lax.with_sharding_constraint(x, P(("data", "fsdp"))), None

    def loss_fn(params, tokens):
        x = params["embed"][tokens[:, :-1]].astype(jnp.bfloat16)
        policy = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
        x, _ = jax.lax.scan(jax.checkpoint(block, policy=policy), x, params["blocks"])
        logits = (x @ params["head"].astype(x.dtype)).astype(jnp.float32)
        lse = jax.nn.logsumexp(logits, -1)
        label = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
        return (lse - label).mean()

    def train_step(params, state, tokens):
        loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state = jax.eval_shape(opt.init, params)
    lion = state[0]._replace(count=P(), mu=specs)
    return (
        train_step,
        (params, state, array(16, 1025, dtype="int32")),
        (specs, (lion, *state[1:]), P(("data", "fsdp"))),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x4", data=8)
def state_space_scan():
    """Layers that mix time by an associative scan of gates, and rows by a gated product."""
    layers, d, inner, batch, length = 6, 1024, 2048, 64, 1024
    layer = {
        **{"in": array(d, 2 * inner), "gate": array(inner, inner)},
        **{"out": array(inner, d), "scale": array(d)},
    }
    params = [layer] * layers

    def mix(w, x):
        w = halved(w)
        h = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w["scale"]
        u, z = jnp.split(h @ w["in"], 2, -1)
        a = jax.nn.sigmoid(u @ w["gate"])

        def combine(left, right):
            (a1, b1), (a2, b2) = left, right
            return a1 * a2, a2 * b1 + b2

        _, s = jax.lax.associative_scan(combine, (a, (1 - a) * u), axis=1)
        return x + (s * jax.nn.silu(z)) @ w["out"]

    def loss(params, x, y):
        for w in params:
            x = jax.checkpoint(mix)(w, x)
        return jnp.mean((x - y).astype(jnp.float32) ** 2)

    def train_step(params, m, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, grads)
        return jax.tree.map(lambda p, m: p - 1e-3 * m, params, m), m, value

    x = array(batch, length, d, dtype="bfloat16")
    return (
        train_step,
        (params, params, x, x),
        (everywhere(params), everywhere(params), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x2", data=8)
def two_tower_retrieval():
    """Tables of users and items, a tower each, and a softmax over the batch's items."""
    users, items, d, hidden, batch = 500_000, 200_000, 128, 1024, 16384
    tower = {"w1": array(4 * d, hidden), "w2": array(hidden, hidden)}
    tower |= {"w3": array(hidden, d)}
    params = {
        **{"users": array(users, d), "items": array(items, d)},
        **{"user": tower, "item": tower},
    }
    opt = optax.adagrad(0.01)

    def embed(table, w, ids):
        x = table[ids].reshape(ids.shape[0], -1)
        x = jax.nn.relu(x @ w["w1"])
        x = jax.nn.relu(x @ w["w2"]) @ w["w3"]
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def loss_fn(params, u, i):
        u = embed(params["users"], params["user"], u)
        i = embed(params["items"], params["item"], i)
        scores = u @ i.T * 20.0
        return -jnp.mean(jnp.diagonal(jax.nn.log_softmax(scores, -1)))

    def train_step(params, state, u, i):
        loss, grads = jax.value_and_grad(loss_fn)(params, u, i)
        updates, state = opt.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    state = jax.eval_shape(opt.init, params)
    ids = array(batch, 4, dtype="int32")
    return (
        train_step,
        (params, state, ids, ids),
        (everywhere(params), everywhere(state), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:4x4", data=4, tensor=4)
def prompt_pass():
    """The pass over prompts that fills caches of keys and values, and the last rows' logits."""
    layers, d, heads, kv, size, ff, vocab = 20, 4096, 32, 8, 128, 11008, 64000
    batch, length = 16, 2048
    bf16 = "bfloat16"

    def of(*s):
        return array(layers, *s, dtype=bf16)

    params = {
        "embed": array(vocab, d, dtype=bf16),
        "layers": {
            **{"q": of(d, heads, size), "k": of(d, kv, size), "v": of(d, kv, size)},
            **{"o": of(heads, size, d), "g": of(d, ff), "u": of(d, ff)},
            **{"w": of(ff, d), "n1": of(d), "n2": of(d)},
        },
        "head": array(d, vocab, dtype=bf16),
    }
    by_heads = dict.fromkeys("qkv", P(None, None, "tensor"))
    specs = {
        "embed": P("tensor"),
        "layers": by_heads
        | {"o": P(None, "tensor"), "g": P(None, None, "tensor")}
        | {"u": P(None, None, "tensor"), "w": P(None, "tensor"), "n1": P(), "n2": P()},
        "head": P(None, "tensor"),
    }

    def norm(x, g):
        x32 = x.astype(jnp.float32)
        y = x32 * jax.lax.rsqrt((x32**2).mean(-1, keepdims=True) + 1e-6)
        return y.astype(x.dtype) * g

    def step(params, tokens):
        x = params["embed"][tokens]
        mask = jnp.tril(jnp.ones((length, length), bool))

        def layer(x, w):
            h = norm(x, w["n1"])
            q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[n]) for n in "qkv")
            grouped = q.reshape(*q.shape[:2], kv, -1, size)
            s = jnp.einsum("btgqk,bsgk->bgqts", grouped, k).astype(jnp.float32)
            p = jax.nn.softmax(jnp.where(mask, s * size**-0.5, -1e30), -1)
            o = jnp.einsum("bgqts,bsgk->btgqk", p.astype(x.dtype), v)
            x = x + jnp.einsum("bthk,hkd->btd", o.reshape(q.shape), w["o"])
            h = norm(x, w["n2"])
            return x + (jax.nn.silu(h @ w["g"]) * (h @ w["u"])) @ w["w"], (k, v)

        x, caches = jax.lax.scan(layer, x, params["layers"])
        return x[:, -1] @ params["head"], caches

    tokens = array(batch, length, dtype="int32")
    return step, (params, tokens), (specs, P("data")), {}
