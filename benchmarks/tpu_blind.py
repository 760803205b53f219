"""Third set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_programs.py`, with kinds of networks that the other two sets lack.
"""
# pyright: basic

from tpu_judges import momentum
from tpu_layers import (
    batch_norm,
    conv,
    cross_entropy,
    group_norm,
    replicated,
    rms_norm,
)
from tpu_programs import (
    PROGRAMS,
    adam,
    adam_on_fsdp,
    main,
    program,
    sgd,
    shape,
    specs,
    transformer,
)

OTHERS = set(PROGRAMS)


@program("v5e:2x4", data=8)
def resnet_train():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    stages = [(256, 64, 3, 1), (512, 128, 4, 2), (1024, 256, 6, 2), (2048, 512, 3, 2)]

    def block(x, w, stride):
        h = jax.nn.relu(batch_norm(conv(x, w["a"]), w["na"]))
        h = jax.nn.relu(batch_norm(conv(h, w["b"], stride), w["nb"]))
        h = batch_norm(conv(h, w["c"]), w["nc"])
        x = conv(x, w["skip"], stride) if "skip" in w else x
        return jax.nn.relu(x + h)

    def loss(params, images, labels):
        x = jax.nn.relu(batch_norm(conv(images, params["stem"], 2), params["nstem"]))
        x = jax.lax.reduce_window(
            *(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        )
        for blocks, (*_, stride) in zip(params["stages"], stages, strict=True):
            for at, w in enumerate(blocks):
                x = block(x, w, 1 if at else stride)
        return cross_entropy((jnp.mean(x, (1, 2)) @ params["head"]), labels)

    built, width = [], 64
    for out, inner, count, _ in stages:
        built.append([])
        for at in range(count):
            w = {"a": shape(1, 1, width, inner), "b": shape(3, 3, inner, inner)}
            w |= {"c": shape(1, 1, inner, out), "na": shape(inner)}
            w |= {"nb": shape(inner), "nc": shape(out)}
            if not at:
                w["skip"] = shape(1, 1, width, out)
            built[-1].append(w)
            width = out
    params = {"stem": shape(7, 7, 3, 64), "nstem": shape(64), "stages": built}
    params["head"] = shape(2048, 1000)
    spec = replicated(params)
    return (
        momentum(loss),
        (params, params, shape(512, 224, 224, 3), shape(512, dtype="int32")),
        (spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x4", fsdp=8)
def vit_fsdp():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    width, heads, hidden, layers = 1280, 16, 5120, 16

    def norm(x, w):
        y = x.astype(jnp.float32)
        y = (y - jnp.mean(y, -1, keepdims=True)) * jax.lax.rsqrt(
            jnp.var(y, -1, keepdims=True) + 1e-6
        )
        return (y * w).astype(x.dtype)

    @jax.checkpoint
    def layer(x, w):
        w = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
        h = norm(x, w["n1"])
        q, k, v = jnp.split(h @ w["qkv"], 3, -1)
        q, k, v = (
            a.reshape(*a.shape[:2], heads, -1).transpose(0, 2, 1, 3) for a in (q, k, v)
        )
        s = (q @ k.swapaxes(-1, -2)).astype(jnp.float32) * (width // heads) ** -0.5
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        o = (p @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + o @ w["o"]
        return x + jax.nn.gelu(norm(x, w["n2"]) @ w["up"]) @ w["down"], None

    def loss(params, images, labels):
        b, size, _, c = images.shape
        n = size // 14
        x = images.reshape(b, n, 14, n, 14, c).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(b, n * n, -1) @ params["patch"].astype(jnp.bfloat16)
        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = jnp.mean(x, 1).astype(jnp.float32) @ params["head"]
        logp = jax.nn.log_softmax(logits)
        return -jnp.mean(jnp.take_along_axis(logp, labels[:, None], 1))

    def w(*sizes):
        return shape(layers, *sizes, dtype="float32")

    layers_of = {"qkv": w(width, 3 * width), "o": w(width, width), "n1": w(width)}
    layers_of |= {"up": w(width, hidden), "down": w(hidden, width), "n2": w(width)}
    params = {
        "patch": shape(588, width, dtype="float32"),
        "layers": layers_of,
        "head": shape(width, 1000, dtype="float32"),
    }
    spec = specs(params, "fsdp")
    return (
        adam(loss),
        (*[params] * 3, shape(256, 224, 224, 3), shape(256, dtype="int32")),
        (spec, spec, spec, P("fsdp"), P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5p:2x2x1", data=4)
def diffusion_unet():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    widths = [192, 384, 768]

    def res(x, w, time):
        h = conv(jax.nn.silu(group_norm(x, w["n1"])), w["a"])
        h = h + (time @ w["t"])[:, None, None]
        h = conv(jax.nn.silu(group_norm(h, w["n2"])), w["b"])
        return h + (conv(x, w["skip"]) if "skip" in w else x)

    def attend(x, w):
        b, n, m, c = x.shape
        h = group_norm(x, w["n"]).reshape(b, n * m, c)
        q, k, v = (h @ w[one] for one in "qkv")
        s = jnp.einsum("bqc,bkc->bqk", q, k).astype(jnp.float32) * c**-0.5
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        return x + (jnp.einsum("bqk,bkc->bqc", p, v) @ w["o"]).reshape(x.shape)

    def loss(params, noisy, time, noise):
        x, kept = conv(noisy, params["in"]), []
        for at, w in enumerate(params["down"]):
            x = res(x, w["r"], time)
            if at:
                x = attend(x, w["a"])
            kept.append(x)
            x = conv(x, w["d"], 2)
        x = res(x, params["mid"], time)
        for w in params["up"]:
            x = jax.image.resize(
                x, (x.shape[0], *(2 * s for s in x.shape[1:3]), x.shape[3]), "nearest"
            )
            x = res(jnp.concatenate([x, kept.pop()], -1), w, time)
        out = conv(jax.nn.silu(group_norm(x, params["n"])), params["out"])
        return jnp.mean((out - noise).astype(jnp.float32) ** 2)

    def block(a, b):
        w = {"n1": shape(a), "a": shape(3, 3, a, b), "t": shape(512, b)}
        w |= {"n2": shape(b), "b": shape(3, 3, b, b)}
        return w | ({"skip": shape(1, 1, a, b)} if a != b else {})

    down, width = [], widths[0]
    for out in widths:
        attention = {"n": shape(out), **{n: shape(out, out) for n in "qkvo"}}
        down.append(
            {"r": block(width, out), "a": attention, "d": shape(3, 3, out, out)}
        )
        width = out
    up = []
    for out in reversed(widths):
        up.append(block(width + out, out))
        width = out
    params = {"in": shape(3, 3, 4, widths[0]), "down": down, "mid": block(768, 768)}
    params |= {"up": up, "n": shape(widths[0]), "out": shape(3, 3, widths[0], 4)}
    spec = replicated(params)
    images = shape(64, 64, 64, 4)
    return (
        adam(loss),
        (*[params] * 3, images, shape(64, 512), images),
        (spec, spec, spec, P("data"), P("data"), P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x4", data=2, model=4)
def decode_kv():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, kv, head, hidden, length = 16, 4096, 32, 8, 128, 14336, 4096
    batch = 32

    def step(params, keys, values, token, position):
        x = params["embed"][token]

        def layer(x, slices):
            w, k_cache, v_cache = slices
            h = rms_norm(x, w["n1"])
            q = jnp.einsum("bd,dhk->bhk", h, w["q"]).reshape(-1, kv, heads // kv, head)
            k = jnp.einsum("bd,dhk->bhk", h, w["k"])[:, None]
            v = jnp.einsum("bd,dhk->bhk", h, w["v"])[:, None]
            k_cache = jax.lax.dynamic_update_slice(k_cache, k, (0, position, 0, 0))
            v_cache = jax.lax.dynamic_update_slice(v_cache, v, (0, position, 0, 0))
            s = jnp.einsum("bgrk,bsgk->bgrs", q, k_cache).astype(jnp.float32)
            s = jnp.where(jnp.arange(length) <= position, s * head**-0.5, -1e30)
            p = jax.nn.softmax(s, -1).astype(x.dtype)
            o = jnp.einsum("bgrs,bsgk->bgrk", p, v_cache).reshape(-1, heads, head)
            x = x + jnp.einsum("bhk,hkd->bd", o, w["o"])
            h = rms_norm(x, w["n2"])
            return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], (
                k_cache,
                v_cache,
            )

        x, (keys, values) = jax.lax.scan(layer, x, (params["layers"], keys, values))
        logits = x @ params["embed"].T
        return jnp.argmax(logits, -1), keys, values

    def w(*sizes):
        return shape(layers, *sizes)

    weights = {"n1": w(width), "n2": w(width), "q": w(width, heads, head)}
    weights |= {"k": w(width, kv, head), "v": w(width, kv, head)}
    weights |= {"o": w(heads, head, width), "gate": w(width, hidden)}
    weights |= {"up": w(width, hidden), "down": w(hidden, width)}
    spec = {n: P(None, None, "model") for n in ("q", "k", "v", "gate", "up")}
    spec |= {n: P(None, "model") for n in ("o", "down")} | {"n1": P(), "n2": P()}
    cache = shape(layers, batch, length, kv, head)
    split = P(None, "data", None, "model")
    return (
        step,
        (
            {"embed": shape(32768, width), "layers": weights},
            *(cache, cache, shape(batch, dtype="int32"), shape(dtype="int32")),
        ),
        ({"embed": P("model"), "layers": spec}, split, split, P("data"), P()),
        {"donate_argnums": (1, 2)},
    )


@program("v5e:4x4", data=4, expert=4)
def moe_topk():
    from jax.sharding import PartitionSpec as P

    loss, params, tokens = transformer(
        *(6, 1024, 8, 2048, 32000, 32, 1024, "full"), experts=8, axis=("data", "expert")
    )
    spec = specs(params, "data")
    spec["layers"] |= {n: P(None, "expert") for n in ("up", "down")}
    return (
        momentum(loss),
        (params, params, tokens),
        (spec, spec, P(("data", "expert"))),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:4x4", fsdp=16)
def fsdp_remat_dots():
    return adam_on_fsdp(
        *transformer(
            *(12, 2048, 16, 8192, 50304, 64, 1024, "dots"), dtype="float32", axis="fsdp"
        )
    )


@program("v5p:2x2x2", data=8)
def seq2seq_cross():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    width, heads, hidden, vocab = 1024, 16, 4096, 32128

    def attend(x, y, w, mask=None):
        q = jnp.einsum("bsd,dhk->bhsk", x, w["q"])
        k, v = (jnp.einsum("bsd,dhk->bhsk", y, w[n]) for n in "kv")
        s = jnp.einsum("bhqk,bhsk->bhqs", q, k).astype(jnp.float32)
        if mask is not None:
            s = jnp.where(mask, s, -1e9)
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        return jnp.einsum("bhsk,hkd->bsd", jnp.einsum("bhqs,bhsk->bhqk", p, v), w["o"])

    def mlp(x, w):
        return jax.nn.relu(x @ w["up"]) @ w["down"]

    def encode(x, w):
        h = rms_norm(x, w["n1"])
        x = x + attend(h, h, w["self"])
        return x + mlp(rms_norm(x, w["n2"]), w), None

    def loss(params, source, target):
        x, _ = jax.lax.scan(encode, params["embed"][source], params["encoder"])
        length = target.shape[1]
        causal = jnp.tril(jnp.ones((length, length), bool))

        def decode(y, w):
            h = rms_norm(y, w["n1"])
            y = y + attend(h, h, w["self"], causal)
            y = y + attend(rms_norm(y, w["n3"]), x, w["cross"])
            return y + mlp(rms_norm(y, w["n2"]), w), None

        y, _ = jax.lax.scan(decode, params["embed"][target], params["decoder"])
        return cross_entropy(jnp.einsum("bsd,vd->bsv", y, params["embed"]), target)

    def w(*sizes):
        return shape(8, *sizes)

    def attention():
        head = width // heads
        return {n: w(width, heads, head) for n in "qkv"} | {"o": w(heads, head, width)}

    encoder = {"self": attention(), "n1": w(width), "n2": w(width)}
    encoder |= {"up": w(width, hidden), "down": w(hidden, width)}
    decoder = encoder | {"cross": attention(), "n3": w(width)}
    params = {"embed": shape(vocab, width), "encoder": encoder, "decoder": decoder}
    spec = replicated(params)
    return (
        adam(loss),
        (*[params] * 3, shape(64, 512, dtype="int32"), shape(64, 512, dtype="int32")),
        (spec, spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v6e:2x4", data=2, model=4)
def lm_tied_vocab():
    from jax.sharding import PartitionSpec as P

    loss, params, tokens = transformer(
        *(4, 2048, 16, 8192, 128256, 16, 2048, "full"), axis="data"
    )
    spec = {n: P(None, None, "model") for n in ("q", "k", "v", "gate", "up")}
    spec |= {n: P(None, "model") for n in ("o", "down")} | {"n1": P(), "n2": P()}
    spec = {"embed": P("model"), "layers": spec}
    return (
        sgd(loss),
        (params, tokens),
        (spec, P("data")),
        {"donate_argnums": 0},
    )


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind")
