"""Fifteenth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_thirteenth.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind_twelfth.py`: GPT-2 of Flax NNX with layers in Python and nothing that holds
activations, ConvNeXt, experts of which each token has two, T5 with a tensor axis, and a diffusion
transformer in Python without a checkpoint. Needs `flax`, too.
"""
# pyright: basic

from functools import partial
from itertools import pairwise

from tpu_blind_eleventh import _cast
from tpu_blind_sixth import attend, normed, token_loss, trained
from tpu_blind_tenth import _by_rows, clipped
from tpu_programs import PROGRAMS, main, program, shape

OTHERS = set(PROGRAMS)


@program("v5e:2x4", fsdp=8)
def nnx_gpt():
    """GPT-2 of 0.35e9 parameters of Flax NNX in bf16, layers in Python with a checkpoint, AdamW."""
    import jax
    import jax.numpy as jnp
    from flax import nnx
    from jax.sharding import PartitionSpec as P

    layers, width, heads, vocab, rows, length = 24, 1024, 16, 50304, 32, 1024

    class Layer(nnx.Module):
        def __init__(self, rngs):
            dense = partial(nnx.Linear, dtype=jnp.bfloat16, rngs=rngs)
            norm = partial(nnx.LayerNorm, width, dtype=jnp.bfloat16, rngs=rngs)
            self.first, self.second = norm(), norm()
            self.qkv, self.out = dense(width, 3 * width), dense(width, width)
            self.up, self.down = dense(width, 4 * width), dense(4 * width, width)

        def __call__(self, x):
            b, t, d = x.shape
            q, k, v = jnp.split(self.qkv(self.first(x)), 3, -1)
            q, k, v = (y.reshape(b, t, heads, -1) for y in (q, k, v))
            x = x + self.out(attend(q, k, v).reshape(b, t, d))
            return x + self.down(nnx.gelu(self.up(self.second(x))))

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(vocab, width, dtype=jnp.bfloat16, rngs=rngs)
            self.places = nnx.Embed(length, width, dtype=jnp.bfloat16, rngs=rngs)
            self.layers = nnx.List([Layer(rngs) for _ in range(layers)])
            self.norm = nnx.LayerNorm(width, dtype=jnp.bfloat16, rngs=rngs)

        def __call__(self, tokens):
            x = self.embed(tokens) + self.places(jnp.arange(tokens.shape[1]))
            for layer in self.layers:
                x = nnx.remat(Layer.__call__)(layer, x)
            return self.embed.attend(self.norm(x))

    graph, params = nnx.split(nnx.eval_shape(lambda: Model(nnx.Rngs(0))), nnx.Param)
    params = jax.tree.map(lambda p: shape(*p.shape, dtype="float32"), params)

    def loss(params, batch):
        logits = nnx.merge(graph, params)(batch["tokens"])
        return token_loss(logits, batch["targets"])

    batch = dict.fromkeys(("tokens", "targets"), shape(rows, length, dtype="int32"))
    return trained(
        *(loss, clipped(3e-4), params, _by_rows(params, "fsdp")),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )


@program("v6e:2x4", data=8)
def convnext_b():
    """ConvNeXt-B in bf16 with AdamW, 128 images a device, weights on every device."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    depths, widths, rows = (3, 3, 27, 3), (128, 256, 512, 1024), 1024
    f32 = partial(shape, dtype="float32")

    def scaled(x, scale):
        y = x.astype(jnp.float32)
        y = y - y.mean(-1, keepdims=True)
        y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6)
        return y.astype(x.dtype) * scale

    def conv(x, w, stride=1, groups=1):
        padding = "SAME" if stride == 1 else "VALID"
        return jax.lax.conv_general_dilated(
            *(x, w, (stride, stride), padding),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups,
        )

    def block(x, p):
        y = scaled(conv(x, p["deep"], groups=x.shape[-1]), p["norm"])
        return x + p["scale"] * (jax.nn.gelu(y @ p["up"]) @ p["down"])

    def loss(params, batch):
        params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
        x = conv(batch["images"], params["stem"], 4)
        for stage, blocks in enumerate(params["stages"]):
            if stage:
                first = params["halved"][stage - 1]
                x = conv(scaled(x, first["norm"]), first["conv"], 2)
            for p in blocks:
                x = block(x, p)
        logits = scaled(x.mean((1, 2)), params["norm"]) @ params["head"]
        return token_loss(logits, batch["labels"])

    def layer(d):
        sizes = {"deep": f32(7, 7, 1, d), "norm": f32(d), "scale": f32(d)}
        return sizes | {"up": f32(d, 4 * d), "down": f32(4 * d, d)}

    params = {"stem": f32(4, 4, 3, widths[0]), "norm": f32(widths[-1])}
    params |= {"head": f32(widths[-1], 1000)}
    stages = zip(depths, widths, strict=True)
    params["stages"] = [[layer(d)] * count for count, d in stages]
    params["halved"] = [
        {"norm": f32(a), "conv": f32(2, 2, a, b)} for a, b in pairwise(widths)
    ]
    batch = {"images": shape(rows, 224, 224, 3), "labels": shape(rows, dtype="int32")}
    return trained(
        *(loss, optax.adamw(4e-3), params, jax.tree.map(lambda _: P(), params)),
        *(batch, dict.fromkeys(batch, P("data"))),
    )


@program("v5p:2x2x2", data=2, expert=4)
def paired_experts():
    """Layers in a scan whose tokens go to two of 16 gated experts, by products with masks."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, hidden, experts, vocab = 16, 2048, 16, 4096, 16, 32000
    rows, length, capacity = 16, 2048, 320
    f32 = partial(shape, dtype="float32")
    both = P(("data", "expert"))

    @jax.checkpoint
    def block(x, p):
        p = _cast(p)
        b, t, d = x.shape
        h = normed(x, p["n1"])
        q, k, v = ((h @ p[n]).reshape(b, t, heads, -1) for n in "qkv")
        x = x + attend(q, k, v).reshape(b, t, d) @ p["o"]
        h = normed(x, p["n2"])
        gates = jax.nn.softmax((h @ p["router"]).astype(jnp.float32), -1)
        gate, expert = jax.lax.top_k(gates, 2)
        taken = jax.nn.one_hot(expert, experts, dtype=jnp.float32)
        taken = taken.reshape(b, 2 * t, experts)
        place = (jnp.cumsum(taken, 1) * taken).sum(-1) - 1
        where = jax.nn.one_hot(place, capacity, dtype=x.dtype)
        shares = taken * gate.reshape(b, 2 * t, 1)
        many = (b, t, 2, experts, capacity)
        mask = jnp.einsum("bse,bsc->bsec", taken.astype(x.dtype), where)
        back = jnp.einsum("bse,bsc->bsec", shares.astype(x.dtype), where)
        mask, back = mask.reshape(many).sum(2), back.reshape(many).sum(2)
        sent = jnp.einsum("btec,btd->ebcd", mask, h)
        sent = jax.lax.with_sharding_constraint(sent, P("expert", "data"))
        y = jax.nn.silu(jnp.einsum("ebcd,edf->ebcf", sent, p["gate"]))
        y = y * jnp.einsum("ebcd,edf->ebcf", sent, p["up"])
        y = jnp.einsum("ebcf,efd->ebcd", y, p["down"])
        y = jax.lax.with_sharding_constraint(y, P("expert", "data"))
        y = jnp.einsum("btec,ebcd->btd", back, y)
        return jax.lax.with_sharding_constraint(x + y, both), None

    def loss(params, batch):
        x = params["embed"].astype(jnp.bfloat16)[batch["tokens"]]
        x, _ = jax.lax.scan(block, x, params["layers"])
        logits = normed(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["targets"])

    sizes = dict.fromkeys("qkvo", (width, width)) | {"router": (width, experts)}
    sizes |= {"n1": (width,), "n2": (width,), "down": (experts, hidden, width)}
    sizes |= dict.fromkeys(("gate", "up"), (experts, width, hidden))
    params = {"embed": f32(vocab, width), "norm": f32(width), "head": f32(width, vocab)}
    params["layers"] = {n: f32(layers, *s) for n, s in sizes.items()}
    spec = {"embed": P(("data", "expert")), "norm": P(), "head": P(both[0])}
    spec["layers"] = dict.fromkeys("qkvo", P(None, both[0]))
    spec["layers"] |= dict.fromkeys(("router", "n1", "n2"), P())
    spec["layers"] |= dict.fromkeys(("gate", "up", "down"), P(None, "expert", "data"))
    batch = dict.fromkeys(("tokens", "targets"), shape(rows, length, dtype="int32"))
    return trained(loss, clipped(3e-4), params, spec, batch, dict.fromkeys(batch, both))


@program("v5e:4x4", fsdp=4, tensor=4)
def t5_tensor():
    """An encoder and a decoder of T5's sizes in scans, gated, with a tensor axis and checkpoints."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, heads, hidden, vocab = 24, 1024, 16, 2816, 32128
    rows, source, target = 64, 1024, 512
    f32 = partial(shape, dtype="float32")

    def mixed(x, y, p, names, causal):
        q, k, v, o = (p[n] for n in names)
        b, t, d = x.shape
        q = (x @ q).reshape(b, t, heads, -1)
        k, v = ((y @ w).reshape(b, y.shape[1], heads, -1) for w in (k, v))
        return attend(q, k, v, causal=causal).reshape(b, t, d) @ o

    def gated(x, p):
        return (jax.nn.gelu(x @ p["gate"]) * (x @ p["up"])) @ p["down"]

    @jax.checkpoint
    def encode(x, p):
        p = _cast(p)
        h = normed(x, p["n1"])
        x = x + mixed(h, h, p, "qkvo", causal=False)
        x = x + gated(normed(x, p["n2"]), p)
        return jax.lax.with_sharding_constraint(x, P("fsdp")), None

    def loss(params, batch):
        embed = params["embed"].astype(jnp.bfloat16)
        x, _ = jax.lax.scan(encode, embed[batch["source"]], params["encoder"])
        x = normed(x, params["middle"])

        @jax.checkpoint
        def decode(y, p):
            p = _cast(p)
            h = normed(y, p["n1"])
            y = y + mixed(h, h, p, "qkvo", causal=True)
            y = y + mixed(normed(y, p["n3"]), x, p, "QKVO", causal=False)
            y = y + gated(normed(y, p["n2"]), p)
            return jax.lax.with_sharding_constraint(y, P("fsdp")), None

        y, _ = jax.lax.scan(decode, embed[batch["target"]], params["decoder"])
        logits = normed(y, params["norm"]) @ params["head"].astype(jnp.bfloat16)
        return token_loss(logits, batch["labels"])

    def stack(squares, norms):
        sizes = dict.fromkeys(squares, (width, width)) | dict.fromkeys(norms, (width,))
        sizes |= dict.fromkeys(("gate", "up"), (width, hidden))
        sizes |= {"down": (hidden, width)}
        split = {n: P(None, "fsdp", "tensor") for n in sizes if n in "qkvQKV"}
        split |= dict.fromkeys(("gate", "up"), P(None, "fsdp", "tensor"))
        split |= {n: P(None, "tensor", "fsdp") for n in ("o", "O", "down")}
        spec = {n: P() if n in norms else split[n] for n in sizes}
        return {n: f32(layers, *s) for n, s in sizes.items()}, spec

    params = {"embed": f32(vocab, width), "head": f32(width, vocab)}
    params |= dict.fromkeys(("middle", "norm"), f32(width))
    spec = {"embed": P("fsdp", "tensor"), "head": P("fsdp", "tensor")}
    spec |= dict.fromkeys(("middle", "norm"), P())
    params["encoder"], spec["encoder"] = stack("qkvo", ("n1", "n2"))
    params["decoder"], spec["decoder"] = stack("qkvoQKVO", ("n1", "n2", "n3"))
    batch = {"source": shape(rows, source, dtype="int32")}
    batch |= dict.fromkeys(("target", "labels"), shape(rows, target, dtype="int32"))
    return trained(
        *(loss, clipped(1e-3), params, spec),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )


@program("v6e:2x4", fsdp=8)
def listed_diffusion():
    """DiT-XL in Python without a checkpoint, conditioned on time and a class, 8 images a device."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.sharding import PartitionSpec as P

    layers, width, heads, patches, channels, rows = 28, 1152, 16, 256, 16, 64
    f32 = partial(shape, dtype="float32")

    def scaled(x, shift, scale):
        y = x.astype(jnp.float32)
        y = y - y.mean(-1, keepdims=True)
        y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6)
        return y.astype(x.dtype) * (1 + scale[:, None]) + shift[:, None]

    def block(x, told, p):
        p = _cast(p)
        b, t, d = x.shape
        s1, k1, g1, s2, k2, g2 = jnp.split(jax.nn.silu(told) @ p["told"], 6, -1)
        q, k, v = jnp.split(scaled(x, s1, k1) @ p["qkv"], 3, -1)
        q, k, v = (y.reshape(b, t, heads, -1) for y in (q, k, v))
        y = attend(q, k, v, causal=False).reshape(b, t, d) @ p["out"]
        x = x + g1[:, None] * y
        y = jax.nn.gelu(scaled(x, s2, k2) @ p["up"]) @ p["down"]
        return jax.lax.with_sharding_constraint(x + g2[:, None] * y, P("fsdp"))

    def loss(params, batch):
        noise = batch["noise"].astype(jnp.bfloat16)
        images = batch["images"].astype(jnp.bfloat16)
        time = batch["time"].astype(jnp.bfloat16)[:, None, None]
        x = ((1 - time) * images + time * noise) @ params["stem"].astype(noise.dtype)
        angles = batch["time"][:, None] * jnp.exp(jnp.linspace(0, 8, 128))
        waves = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)
        told = (waves @ params["time"] + params["classes"][batch["labels"]]).astype(
            noise.dtype
        )
        for p in params["layers"]:
            x = block(x, told, p)
        x = x @ params["last"].astype(x.dtype)
        return jnp.square((x - (noise - images)).astype(jnp.float32)).mean()

    sizes = {"qkv": (width, 3 * width), "out": (width, width)}
    sizes |= {"told": (width, 6 * width), "up": (width, 4 * width)}
    sizes |= {"down": (4 * width, width)}
    params = {"stem": f32(channels, width), "time": f32(256, width)}
    params |= {"classes": f32(1000, width), "last": f32(width, channels)}
    params["layers"] = [{n: f32(*s) for n, s in sizes.items()}] * layers
    spec = _by_rows(params, "fsdp")
    batch = dict.fromkeys(("images", "noise"), f32(rows, patches, channels))
    batch |= {"time": f32(rows), "labels": shape(rows, dtype="int32")}
    return trained(
        *(loss, optax.adamw(1e-4), params, spec),
        *(batch, dict.fromkeys(batch, P("fsdp"))),
    )


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 18")
