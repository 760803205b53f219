"""Training steps that JAX lowers: layers, norms, activations and optimizers at random.

Run as a script it prints one JSON line a program: its name and its text.
"""

import json
import random
import sys
from functools import cache
from typing import Any

from tests.differential.made_by_jax import EIGHT_DEVICES, made_by_jax


@cache
def training_steps(count: int) -> dict[str, str]:
    """The texts of the first programs by name, made in a process of their own."""
    made = made_by_jax(__name__, str(count), **EIGHT_DEVICES)
    return dict(made)


def _main(count: int) -> None:
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec as P

    auto = jax.sharding.AxisType.Auto
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(auto, auto))
    width, batch, length = 16, 8, 8

    norms: dict[str, Any] = {
        "plain": lambda x: x,
        "layernorm": lambda x: (
            (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        ),
        "rmsnorm": lambda x: (
            x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
        ),
        "softmax": lambda x: jax.nn.softmax(x, axis=-1),
        "batchnorm": lambda x: (x - x.mean((0, 1))) / (x.std((0, 1)) + 1e-3),
    }
    activations: dict[str, Any] = {
        "relu": jax.nn.relu,
        "gelu": jax.nn.gelu,
        "tanh": jnp.tanh,
        "exp": lambda x: jnp.exp(-x * x),
        "swish": jax.nn.swish,
        "log": lambda x: jnp.log1p(jnp.abs(x)),
    }

    def attention(x: Any, w: Any) -> Any:
        scores = jnp.einsum("bld,bmd->blm", x @ w, x) / jnp.sqrt(width)
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        return jnp.einsum("blm,bmd->bld", jax.nn.softmax(scores), x)

    def rnn(act: Any) -> Any:
        def mix(x: Any, w: Any) -> Any:
            def step(h: Any, part: Any) -> Any:
                h = act(part + h @ w)
                return h, h

            start = jnp.zeros((x.shape[0], width), x.dtype)
            return jnp.moveaxis(
                jax.lax.scan(step, start, jnp.moveaxis(x, 1, 0))[1], 0, 1
            )

        return mix

    def convolution(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(
            x,
            jnp.stack([w, w.T, w]),
            (1,),
            "SAME",
            dimension_numbers=("NWC", "WIO", "NWC"),
        )

    def sgd(p: Any, g: Any, m: Any, t: Any) -> Any:
        return p - 0.1 * g, m, t

    def momentum(p: Any, g: Any, m: Any, t: Any) -> Any:
        m = 0.9 * m + g
        return p - 0.1 * m, m, t

    def adam(p: Any, g: Any, m: Any, t: Any) -> Any:
        m, t = 0.9 * m + 0.1 * g, 0.99 * t + 0.01 * g * g
        return p - 0.01 * m / (jnp.sqrt(jnp.abs(t)) + 1e-8), m, t

    def clipped(p: Any, g: Any, m: Any, t: Any) -> Any:
        norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
        return p - 0.1 * g / jnp.maximum(1.0, norm), m, t

    splits = {
        "data": (P("data"), P()),
        "tensor": (P(), P(None, None, "model")),
        "both": (P("data"), P(None, None, "model")),
        "fsdp": (P(("data", "model")), P(None, ("data", "model"))),
        "sequence": (P("data", "model"), P()),
        "rows": (P("data"), P(None, "model", None)),
    }
    for number in range(count):
        chosen = random.Random(number)
        norm = chosen.choice(list(norms))
        act = chosen.choice(list(activations))
        layer = chosen.choice(["dense", "attention", "rnn", "convolution"])
        update = chosen.choice([sgd, momentum, adam, clipped])
        split = chosen.choice(list(splits))
        dtype = chosen.choice([jnp.float32] * 3 + [jnp.bfloat16])
        depth, scanned = chosen.choice([2, 3, 4]), chosen.random() < 0.4
        mix: Any = {
            "dense": lambda x, w: x @ w,
            "attention": attention,
            "rnn": rnn(activations[act]),
            "convolution": convolution,
        }[layer]

        def step(
            w: Any,
            m: Any,
            t: Any,
            x: Any,
            y: Any,
            *,
            mix: Any = mix,
            norm: str = norm,
            act: str = act,
            update: Any = update,
            scanned: bool = scanned,
        ) -> Any:
            def block(h: Any, one: Any) -> Any:
                return h + activations[act](mix(norms[norm](h), one)), None

            def loss(w: Any) -> Any:
                h = x
                if scanned:
                    h = jax.lax.scan(block, h, w)[0]
                else:
                    for one in w:
                        h = block(h, one)[0]
                wrong = jax.nn.log_softmax(h.astype(jnp.float32)) * jax.nn.one_hot(
                    y, width
                )
                return -jnp.mean(jnp.sum(wrong, -1))

            value, grad = jax.value_and_grad(loss)(w)
            return value, *update(w, grad, m, t)

        batch_split, weight_split = (NamedSharding(mesh, one) for one in splits[split])
        weights = jax.ShapeDtypeStruct(
            (depth, width, width), dtype, sharding=weight_split
        )
        data = jax.ShapeDtypeStruct((batch, length, width), dtype, sharding=batch_split)
        labels = jax.ShapeDtypeStruct((batch, length), jnp.int32)
        lowered = jax.jit(step).lower(weights, weights, weights, data, labels)
        parts = [layer, norm, act, update.__name__, split, dtype.__name__]
        name = " ".join([str(number), *parts, "scanned" if scanned else "unrolled"])
        print(json.dumps([name, lowered.as_text()]), flush=True)


if __name__ == "__main__":
    _main(int(sys.argv[1]))
