"""Two towers with a contrastive loss."""
# pyright: basic

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.images.transformers import patches, vit_block, vit_shapes
from tpu.programs.layers import attention, bf16, cross_entropy, layer_norm, norm
from tpu.programs.steps import (
    adam,
    array,
    hold,
    program,
    replicated,
    sgd,
    shape,
    specs,
    trained,
)


@program("v5e:2x4", data=8)
def contrastive():
    def tower(params, x):
        for w in params[:-1]:
            x = jax.nn.gelu(x @ w)
        x = (x @ params[-1]).astype(jnp.float32)
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def loss(params, images, texts):
        a, b = tower(params[0], images), tower(params[1], texts)
        logits = a @ b.T * 20
        rows = jnp.diagonal(jax.nn.log_softmax(logits, 1))
        columns = jnp.diagonal(jax.nn.log_softmax(logits, 0))
        return -jnp.mean(rows + columns)

    one = [shape(1024, 8192), shape(8192, 8192), shape(8192, 512)]
    batch = shape(32768, 1024)
    return (
        sgd(loss),
        ([one, one], batch, batch),
        ([[P()] * 3] * 2, P("data"), P("data")),
        {"donate_argnums": 0},
    )


@program("v6e:2x4", fsdp=8)
def two_towers():
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


@program("v5p:2x2x1", fsdp=4)
def clip():
    """Images and captions: both towers are scans with checkpoints, the loss is global."""

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


@program("v6e:2x4", data=2, fsdp=2, tensor=2)
def sigmoid_towers():
    """SigLIP's two towers in scans with checkpoints, a mesh of three axes, half held, Lion."""
    width, heads, hidden, layers, rows = 1024, 16, 4096, 24, 512
    patches, words, vocab = 256, 64, 32000
    sizes = {
        "q": (width, width),
        "k": (width, width),
        "v": (width, width),
        "o": (width, width),
        "up": (width, hidden),
        "down": (hidden, width),
        "n1": (2, width),
        "n2": (2, width),
    }
    split = {
        **dict.fromkeys(("q", "k", "v", "up"), P(None, "fsdp", "tensor")),
        **dict.fromkeys(("o", "down"), P(None, "tensor", "fsdp")),
        **dict.fromkeys(("n1", "n2"), P()),
    }
    tower = {n: array(layers, *s) for n, s in sizes.items()}
    params = {
        "patch": array(14 * 14 * 3, width),
        "places": array(patches, width),
        "words": array(vocab, width),
        "spots": array(words, width),
        "image": tower,
        "text": tower,
        "scale": array(),
        "bias": array(),
    }
    spec = dict.fromkeys(params, P()) | {
        "patch": P(None, "tensor"),
        "words": P("tensor", "fsdp"),
        "image": split,
        "text": split,
    }
    batch_axes = ("data", "fsdp")

    def encode(tower, x):
        @jax.checkpoint
        def layer(x, w):
            w = {n: a if n in ("n1", "n2") else a.astype(bf16) for n, a in w.items()}
            h = norm(x, w["n1"][0], w["n1"][1])
            q, k, v = (
                (h @ w[n]).reshape(*h.shape[:2], heads, width // heads) for n in "qkv"
            )
            x = x + attention(q, k, v).reshape(h.shape) @ w["o"]
            h = norm(x, w["n2"][0], w["n2"][1])
            h = jax.nn.gelu(h @ w["up"]) @ w["down"]
            return hold(x + h, P(batch_axes, None, None)), None

        x, _ = jax.lax.scan(layer, x, tower)
        x = x.astype(jnp.float32).mean(1)
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def loss(params, batch):
        images = batch["images"].reshape(rows, 16, 14, 16, 14, 3)
        images = images.transpose(0, 1, 3, 2, 4, 5).reshape(rows, patches, -1)
        x = images.astype(bf16) @ params["patch"].astype(bf16)
        y = params["words"].astype(bf16)[batch["text"]]
        a = encode(params["image"], x + params["places"].astype(bf16))
        b = encode(params["text"], y + params["spots"].astype(bf16))
        logits = a @ b.T * jnp.exp(params["scale"]) + params["bias"]
        sign = 2 * jnp.eye(rows) - 1
        return -jax.nn.log_sigmoid(sign * logits).sum() / rows

    batch = {
        "images": array(rows, 224, 224, 3),
        "text": array(rows, words, dtype="int32"),
    }
    return trained(
        *(loss, optax.lion(1e-4, weight_decay=0.1), params, spec),
        *(batch, dict.fromkeys(batch, P(batch_axes))),
    )
