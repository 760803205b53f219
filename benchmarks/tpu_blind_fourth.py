"""Sixth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_fourth.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind_third.py`: Llama's training steps on meshes of one and two axes, with
AdamW in f32 and bf16, remat policies, microbatches and sequence parallelism; experts, prefill and
decoding, ViT, a U-Net and a contrastive loss.
"""
# pyright: basic

from tpu_judges import momentum
from tpu_layers import conv, cross_entropy, group_norm, replicated, rms_norm
from tpu_programs import PROGRAMS, adam, main, program, shape

OTHERS = set(PROGRAMS)


def adamw(loss, dtype="float32", clip=1.0):
    """A step with clipping by the global norm, moments in a type, and bias correction."""
    import jax
    import jax.numpy as jnp

    def step(params, mu, nu, count, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        squares = [
            jnp.sum(jnp.square(g.astype(jnp.float32))) for g in jax.tree.leaves(grads)
        ]
        norm = jnp.sqrt(sum(squares))
        grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, clip / norm), grads)
        mu = jax.tree.map(lambda m, g: (0.9 * m + 0.1 * g).astype(dtype), mu, grads)
        nu = jax.tree.map(
            lambda n, g: (0.95 * n + 0.05 * g * g).astype(dtype), nu, grads
        )
        count = count + 1

        def update(p, m, n):
            m, n = m / (1 - 0.9**count), n / (1 - 0.95**count)
            return (p - 3e-4 * (m / (jnp.sqrt(n) + 1e-8) + 0.1 * p)).astype(p.dtype)

        return jax.tree.map(update, params, mu, nu), mu, nu, count, value

    return step


def rope(x):
    import jax.numpy as jnp

    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[None, :, None], jnp.sin(angles)[None, :, None]
    a, b = jnp.split(x.astype(jnp.float32), 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def grouped_attention(q, k, v):
    """Causal attention of grouped heads."""
    import jax
    import jax.numpy as jnp

    b, t, h, d = q.shape
    q = q.reshape(b, t, k.shape[2], -1, d)
    s = jnp.einsum("bqkgd,btkd->bkgqt", q, k).astype(jnp.float32) * d**-0.5
    s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e30)
    p = jax.nn.softmax(s, -1).astype(q.dtype)
    return jnp.einsum("bkgqt,btkd->bqkgd", p, v).reshape(b, t, h, d)


def llama_layer(residual=None, heads=None, hidden=None):
    """A layer in bf16 whose activations have the specs that are given."""
    import jax
    import jax.numpy as jnp

    def put(x, spec):
        return x if spec is None else jax.lax.with_sharding_constraint(x, spec)

    def layer(x, w):
        w = jax.tree.map(lambda p: p.astype(jnp.bfloat16), w)
        h = rms_norm(x, w["n1"])
        q, k, v = (put(jnp.einsum("btd,dhk->bthk", h, w[n]), heads) for n in "qkv")
        o = grouped_attention(rope(q), rope(k), v)
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
    from jax.sharding import PartitionSpec as P

    weights = {n: P(None, fsdp, tensor) for n in ("q", "k", "v", "gate", "up")}
    weights |= {"o": P(None, tensor, None, fsdp), "down": P(None, tensor, fsdp)}
    weights |= {"n1": P(), "n2": P()}
    embed, head = P(tensor, fsdp), P(fsdp, tensor)
    return {"embed": embed, "layers": weights, "norm": P(), "head": head}


def llama_loss(layer, policy="nothing_saveable"):
    """The loss of a scan over layers, with a checkpoint's policy, or None."""
    import jax
    import jax.numpy as jnp

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


def adamw_step(step, params, spec, batch, batch_spec, moments=None):
    import jax
    from jax.sharding import PartitionSpec as P

    moments = moments or jax.tree.map(
        lambda p: shape(*p.shape, dtype="float32"), params
    )
    count = shape(dtype="int32")
    return (
        step,
        (params, moments, moments, count, batch),
        (spec, spec, spec, P(), batch_spec),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:4x4", fsdp=16)
def llama_fsdp():
    from jax.sharding import PartitionSpec as P

    params = llama_shapes(16, 2048, 32, 8, 8192, 128256, "float32")
    loss = llama_loss(llama_layer(P("fsdp")))
    tokens = shape(32, 2048, dtype="int32")
    return adamw_step(adamw(loss), params, llama_specs("fsdp"), tokens, P("fsdp"))


@program("v6e:4x4", fsdp=4, tensor=4)
def llama_fsdp_tp():
    from jax.sharding import PartitionSpec as P

    params = llama_shapes(12, 4096, 32, 8, 14336, 32000, "bfloat16")
    layer = llama_layer(
        *(P("fsdp"), P("fsdp", None, "tensor"), P("fsdp", None, "tensor"))
    )
    loss = llama_loss(layer, "dots_with_no_batch_dims_saveable")
    tokens = shape(16, 2048, dtype="int32")
    spec = llama_specs("fsdp", "tensor")
    step = adamw(loss, "bfloat16")
    return adamw_step(step, params, spec, tokens, P("fsdp"), params)


@program("v5p:2x2x2", data=2, tensor=4)
def llama_sequence():
    from jax.sharding import PartitionSpec as P

    params = llama_shapes(8, 4096, 32, 8, 11008, 32000, "float32")
    heads = P("data", None, "tensor")
    layer = llama_layer(P("data", "tensor"), heads, heads)
    spec = llama_specs(None, "tensor")
    tokens = shape(8, 2048, dtype="int32")
    return adamw_step(adamw(llama_loss(layer)), params, spec, tokens, P("data"))


@program("v5e:2x4", fsdp=8)
def llama_microbatches():
    """Microbatches by a scan over layers of a list, with gradients summed in f32."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

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


@program("v5p:2x2x2", fsdp=2, expert=4)
def mixtral_small():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, groups, hidden, experts, chosen = 6, 2048, 16, 8, 5632, 8, 2
    vocab, batch, length = 32000, 16, 2048
    capacity = length * chosen // experts * 5 // 4

    def experts_of(x, w):
        gates = jax.nn.softmax((x @ w["router"]).astype(jnp.float32), -1)
        top, index = jax.lax.top_k(gates, chosen)
        mask = jax.nn.one_hot(index, experts, dtype=jnp.int32)
        place = jnp.cumsum(mask.reshape(x.shape[0], -1, experts), 1)
        place = (place.reshape(mask.shape) * mask).sum(-1) - 1
        slot = jax.nn.one_hot(place, capacity, dtype=x.dtype)
        mask = mask.astype(x.dtype)
        send = jnp.einsum("bske,bskc->bsec", mask, slot)
        back = jnp.einsum("bske,bskc,bsk->bsec", mask, slot, top.astype(x.dtype))
        sent = jnp.einsum("bsec,bsd->ebcd", send, x)
        sent = jax.lax.with_sharding_constraint(sent, P("expert", "fsdp"))
        h = jax.nn.silu(jnp.einsum("ebcd,edf->ebcf", sent, w["gate"]))
        h = h * jnp.einsum("ebcd,edf->ebcf", sent, w["up"])
        out = jnp.einsum("ebcf,efd->ebcd", h, w["down"])
        return jnp.einsum("bsec,ebcd->bsd", back, out)

    def layer(x, w):
        w = jax.tree.map(lambda p: p.astype(jnp.bfloat16), w)
        h = rms_norm(x, w["n1"])
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[n]) for n in "qkv")
        o = grouped_attention(rope(q), rope(k), v)
        x = x + jnp.einsum("bthk,hkd->btd", o, w["o"])
        x = x + experts_of(rms_norm(x, w["n2"]), w)
        return jax.lax.with_sharding_constraint(x, P(("fsdp", "expert")))

    params = llama_shapes(layers, width, heads, groups, hidden, vocab, "float32")
    spec = llama_specs("fsdp")
    for name in ("gate", "up", "down"):
        of = params["layers"][name].shape
        params["layers"][name] = shape(layers, experts, *of[1:], dtype="float32")
        spec["layers"][name] = P(None, "expert", "fsdp")
    params["layers"]["router"] = shape(layers, width, experts, dtype="float32")
    spec["layers"]["router"] = P()
    tokens = shape(batch, length, dtype="int32")
    step = adamw(llama_loss(layer))
    return adamw_step(step, params, spec, tokens, P(("fsdp", "expert")))


def serving(layers, width, heads, groups, hidden, vocab):
    from jax.sharding import PartitionSpec as P

    params = llama_shapes(layers, width, heads, groups, hidden, vocab, "bfloat16")
    return params, llama_specs(None, "tensor"), P(None, None, None, "tensor")


@program("v5e:2x4", tensor=8)
def prefill_cache():
    """The logits of a batch's last tokens, and the keys and values of all layers."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def f(params, tokens):
        def layer(x, w):
            h = rms_norm(x, w["n1"])
            q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[n]) for n in "qkv")
            k = rope(k)
            x = x + jnp.einsum(
                "bthk,hkd->btd", grouped_attention(rope(q), k, v), w["o"]
            )
            h = rms_norm(x, w["n2"])
            x = x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
            return x, (k, v)

        x, cache = jax.lax.scan(layer, params["embed"][tokens], params["layers"])
        return rms_norm(x[:, -1], params["norm"]) @ params["head"], cache

    params, spec, _ = serving(32, 4096, 32, 8, 14336, 128256)
    return f, (params, shape(4, 4096, dtype="int32")), (spec, P()), {}


@program("v6e:2x4", data=2, tensor=4)
def decode_grouped():
    """A token for each sequence; the cache is donated and written in place."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    length, batch, groups = 4096, 64, 8

    def f(params, cache, tokens, at):
        def layer(x, parts):
            w, k_cache, v_cache = parts
            h = rms_norm(x, w["n1"])
            q, k, v = (jnp.einsum("bd,dhk->bhk", h, w[n]) for n in "qkv")
            k_cache = jax.lax.dynamic_update_slice(k_cache, k[:, None], (0, at, 0, 0))
            v_cache = jax.lax.dynamic_update_slice(v_cache, v[:, None], (0, at, 0, 0))
            q = q.reshape(q.shape[0], groups, -1, q.shape[-1])
            s = jnp.einsum("bkgd,btkd->bkgt", q, k_cache).astype(jnp.float32)
            s = jnp.where(jnp.arange(length) <= at, s * q.shape[-1] ** -0.5, -1e30)
            p = jax.nn.softmax(s, -1).astype(x.dtype)
            o = jnp.einsum("bkgt,btkd->bkgd", p, v_cache).reshape(q.shape[0], -1, 128)
            x = x + jnp.einsum("bhk,hkd->bd", o, w["o"])
            h = rms_norm(x, w["n2"])
            x = x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
            return x, (k_cache, v_cache)

        x = params["embed"][tokens]
        x, cache = jax.lax.scan(layer, x, (params["layers"], *cache))
        logits = rms_norm(x, params["norm"]) @ params["head"]
        return jnp.argmax(logits, -1), cache

    params, spec, _ = serving(16, 4096, 32, groups, 14336, 128256)
    cache = [shape(16, batch, length, groups, 128)] * 2
    of_cache = [P(None, "data", None, "tensor")] * 2
    return (
        f,
        (params, cache, shape(batch, dtype="int32"), shape(dtype="int32")),
        (spec, of_cache, P("data"), P()),
        {"donate_argnums": 1},
    )


def vit_block(heads):
    import jax
    import jax.numpy as jnp

    def block(x, w):
        w = jax.tree.map(lambda p: p.astype(x.dtype), w)
        h = rms_norm(x, w["n1"])
        q, k, v = jnp.split(h @ w["qkv"], 3, -1)
        q, k, v = (a.reshape(*a.shape[:2], heads, -1) for a in (q, k, v))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        p = jax.nn.softmax(s.astype(jnp.float32), -1).astype(x.dtype)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v).reshape(x.shape)
        x = x + o @ w["o"]
        return x + jax.nn.gelu(rms_norm(x, w["n2"]) @ w["up"]) @ w["down"]

    return block


def vit_shapes(width, hidden, dtype="float32"):
    weights = {"n1": (width,), "n2": (width,), "qkv": (width, 3 * width)}
    weights |= {"o": (width, width), "up": (width, hidden), "down": (hidden, width)}
    return {n: shape(*sizes, dtype=dtype) for n, sizes in weights.items()}


def patches(images, size):
    b, side, _, c = images.shape
    n = side // size
    x = images.reshape(b, n, size, n, size, c).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(b, n * n, -1)


@program("v6e:2x4", data=8)
def vit_large():
    """ViT-L/16 on images of 256, its blocks one by one, nothing computed again."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    block = vit_block(16)

    def loss(params, images, labels):
        x = patches(images, 16).astype(jnp.bfloat16) @ params["patch"].astype(
            "bfloat16"
        )
        x = x + params["place"].astype(x.dtype)
        for w in params["blocks"]:
            x = block(x, w)
        logits = jnp.mean(x, 1).astype(jnp.float32) @ params["head"]
        one_hot = jax.nn.one_hot(labels, 1000) * 0.9 + 0.1 / 1000
        return -jnp.mean(jnp.sum(one_hot * jax.nn.log_softmax(logits), -1))

    params = {"patch": shape(768, 1024, dtype="float32")}
    params |= {"place": shape(256, 1024, dtype="float32")}
    params |= {"blocks": [vit_shapes(1024, 4096)] * 24}
    params |= {"head": shape(1024, 1000, dtype="float32")}
    spec = replicated(params)
    images = shape(128, 256, 256, 3, dtype="float32")
    return (
        adam(loss),
        (*[params] * 3, images, shape(128, dtype="int32")),
        (spec, spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x4", data=8)
def latent_unet():
    """A U-Net on latents with attention at two sizes and an average of its weights."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    widths = (192, 384, 768)

    def resnet(x, t, w):
        h = conv(jax.nn.silu(group_norm(x, w["n1"])), w["a"])
        h = h + (jax.nn.silu(t) @ w["t"])[:, None, None]
        h = conv(jax.nn.silu(group_norm(h, w["n2"])), w["b"])
        return h + (x @ w["skip"] if "skip" in w else x)

    def attention(x, w):
        b, height, width, c = x.shape
        h = group_norm(x, w["n"]).reshape(b, -1, c)
        q, k, v = jnp.split(h @ w["qkv"], 3, -1)
        q, k, v = (a.reshape(b, height * width, -1, 64) for a in (q, k, v))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / 8
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        return x + (
            jnp.einsum("bhqk,bkhd->bqhd", p, v).reshape(h.shape) @ w["o"]
        ).reshape(x.shape)

    def model(params, x, t):
        t = jax.nn.silu(t[:, None] * params["frequencies"]) @ params["t"]
        x = conv(x, params["in"])
        saved = []
        for level, w in enumerate(params["down"]):
            x = resnet(x, t, w["res"])
            x = attention(x, w["attention"]) if level else x
            saved.append(x)
            x = conv(x, w["sample"], 2)
        x = resnet(x, t, params["middle"])
        for level, w in reversed(list(enumerate(params["up"]))):
            b, height, width, c = x.shape
            x = jax.image.resize(x, (b, 2 * height, 2 * width, c), "nearest")
            x = resnet(jnp.concatenate([x, saved[level]], -1), t, w["res"])
            x = attention(x, w["attention"]) if level else x
        return conv(x, params["out"])

    def loss(params, x, noise, t):
        params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
        noisy = x * (1 - t)[:, None, None, None] + noise * t[:, None, None, None]
        out = model(params, noisy.astype(jnp.bfloat16), t.astype(jnp.bfloat16))
        return jnp.mean((out.astype(jnp.float32) - noise) ** 2)

    def step(params, velocity, average, *batch):
        params, velocity, value = momentum(loss)(params, velocity, *batch)
        average = jax.tree.map(lambda a, p: 0.999 * a + 0.001 * p, average, params)
        return params, velocity, average, value

    def f(*sizes):
        return shape(*sizes, dtype="float32")

    def res(before, after):
        w = {"n1": f(before), "n2": f(after), "t": f(768, after)}
        w |= {"a": f(3, 3, before, after), "b": f(3, 3, after, after)}
        return w if before == after else w | {"skip": f(before, after)}

    def level(before, inner, after):
        w = {"res": res(before, inner), "sample": f(3, 3, inner, after)}
        w["attention"] = {
            "n": f(inner),
            "qkv": f(inner, 3 * inner),
            "o": f(inner, inner),
        }
        return w

    down = [
        level(a, a, b) for a, b in zip(widths, (*widths[1:], widths[-1]), strict=True)
    ]
    up = [
        level(a + b, a, a)
        for a, b in zip(widths, (*widths[1:], widths[-1]), strict=True)
    ]
    for w in up:
        del w["sample"]
    params = {"frequencies": f(192), "t": f(192, 768), "in": f(3, 3, 4, widths[0])}
    params |= {"down": down, "up": up, "middle": res(widths[-1], widths[-1])}
    params |= {"out": f(3, 3, widths[0], 4)}
    spec = replicated(params)
    latents = f(128, 64, 64, 4)
    return (
        step,
        (*[params] * 3, latents, latents, f(128)),
        (spec, spec, spec, *[P("data")] * 3),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5p:2x2x1", fsdp=4)
def clip():
    """Images and captions: both towers are scans with checkpoints, the loss is global."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def tower(heads):
        block = vit_block(heads)

        @jax.checkpoint
        def layer(x, w):
            return jax.lax.with_sharding_constraint(block(x, w), P("fsdp")), None

        return layer

    def loss(params, images, texts):
        x = patches(images, 16) @ params["patch"].astype(images.dtype)
        x, _ = jax.lax.scan(tower(12), x, params["images"])
        y = params["embed"].astype(x.dtype)[texts]
        y, _ = jax.lax.scan(tower(8), y, params["texts"])
        x = jnp.mean(x, 1) @ params["x"].astype(x.dtype)
        y = y[:, -1] @ params["y"].astype(x.dtype)
        x, y = (
            a / jnp.linalg.norm(a.astype(jnp.float32), axis=-1, keepdims=True)
            for a in (x, y)
        )
        logits = x @ y.T * 100
        labels = jnp.arange(x.shape[0])
        return cross_entropy(logits, labels) + cross_entropy(logits.T, labels)

    def stack(layers, width):
        weights = vit_shapes(width, 4 * width)
        return {n: shape(layers, *w.shape, dtype="float32") for n, w in weights.items()}

    f = {
        n: shape(*s, dtype="float32")
        for n, s in {
            "patch": (768, 768),
            "embed": (49408, 512),
            "x": (768, 512),
            "y": (512, 512),
        }.items()
    }
    params = f | {"images": stack(12, 768), "texts": stack(12, 512)}
    spec = replicated(params)
    for name in ("images", "texts"):
        spec[name] = {
            n: P() if "n" in n and len(n) == 2 else P(None, "fsdp")
            for n in params[name]
        }
    spec["embed"] = P(None, "fsdp")
    return (
        adam(loss),
        (*[params] * 3, shape(2048, 224, 224, 3), shape(2048, 77, dtype="int32")),
        (spec, spec, spec, P("fsdp"), P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 8")
