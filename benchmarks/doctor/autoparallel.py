"""The doctor beside meta-pytorch/autoparallel's plan of its published case.

    python benchmarks/doctor/autoparallel.py --seconds 60

The case is a Llama of 8B parameters on 32 x 8 devices, here with 256 sequences of 2048. What
its solver chose (commit a54c252, PyTorch 2.13, prices of an H100, attention as products and
a softmax; layers of a model of two are alike) is written as JAX constraints: parameters
over all devices, the embedding by features, attention and the residual stream with the
batch over all devices, the hidden layer and the vocabulary over the 8 with the batch over
the 32. It and the doctor's plan of the same step without shardings are priced alike.
"""

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=256"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from experts import costs_of
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

from ttxdsl.analysis.usage.device import known_chip
from ttxdsl.insight.doctor.doctor import diagnose
from ttxdsl.loading.program import parse_program

WIDTH, HIDDEN, VOCABULARY, LAYERS = 4096, 14336, 128256, 32
HEADS, KV_HEADS, SIZE = 32, 8, 128
BATCH, LENGTH = 256, 2048

MESH = jax.make_mesh((32, 8), ("dp", "tp"), axis_types=(AxisType.Auto,) * 2)
ALL = ("dp", "tp")

AUTOPARALLEL = {
    "embedded": P(None, None, ALL),
    "residual": P(ALL),
    "gathered": P("dp"),
    "hidden": P("dp", None, "tp"),
    "logits": P("dp", None, "tp"),
}
"""Specs of values in its plan."""

EXPERT = {
    "residual": P("dp"),
    "heads": P("dp", None, "tp"),
    "hidden": P("dp", None, "tp"),
    "logits": P("dp", None, "tp"),
}
"""Data and tensor parallelism, as Megatron splits it."""

Hold = Callable[[str, Any], Any]


def norm(x: Any, scale: Any) -> Any:
    y = x.astype(jnp.float32)
    y *= jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)
    return (y * scale).astype(x.dtype)


def rotated(x: Any, angles: Any) -> Any:
    first, second = jnp.split(x.astype(jnp.float32), 2, -1)
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    parts = [first * cos - second * sin, second * cos + first * sin]
    return jnp.concatenate(parts, -1).astype(x.dtype)


def block(hold: Hold, x: Any, w: dict[str, Any]) -> Any:
    x = hold("residual", x)
    w = {name: value.astype(jnp.bfloat16) for name, value in w.items()}
    h = norm(x, w["n1"])
    q, k, v = (hold("heads", jnp.einsum("bsd,dhk->bshk", h, w[name])) for name in "qkv")
    angles = jnp.arange(LENGTH)[:, None] * 5e5 ** -jnp.linspace(0, 1, SIZE // 2)
    q, k = rotated(q, angles), rotated(k, angles)
    q = q.reshape(BATCH, LENGTH, KV_HEADS, HEADS // KV_HEADS, SIZE)
    scores = jnp.einsum("bqhgd,bkhd->bhgqk", q, k).astype(jnp.float32) * SIZE**-0.5
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e30)
    p = jax.nn.softmax(scores, -1).astype(x.dtype)
    o = jnp.einsum("bhgqk,bkhd->bqhgd", p, v).reshape(BATCH, LENGTH, HEADS, SIZE)
    x = hold("residual", x + jnp.einsum("bshk,hkd->bsd", hold("heads", o), w["o"]))
    h = hold("gathered", norm(x, w["n2"]))
    hidden = jax.nn.silu(hold("hidden", h @ w["gate"])) * hold("hidden", h @ w["up"])
    return hold("residual", x + hold("residual", hidden @ w["down"]))


def lowered(values: dict[str, P], parameters: Callable[[str], P] | None) -> str:
    """Return the step as text: Adam on all parameters, layers scanned and recomputed.

    Args:
        values: specs of values inside.
        parameters: a parameter's spec by its name; without it nothing is sharded.
    """

    def hold(name: str, x: Any) -> Any:
        if name not in values:
            return x
        return jax.lax.with_sharding_constraint(x, NamedSharding(MESH, values[name]))

    def loss(p: Any, tokens: Any) -> Any:
        x = hold("embedded", p["embed"].astype(jnp.bfloat16)[tokens])
        layer = jax.checkpoint(lambda x, w: (block(hold, x, w), None))
        x, _ = jax.lax.scan(layer, x, p["layers"])
        h = hold("gathered", norm(x, p["norm"]))
        logits = hold("logits", h @ p["head"].astype(jnp.bfloat16))
        chosen = jax.nn.log_softmax(logits.astype(jnp.float32), -1)
        targets = jnp.roll(tokens, -1, 1)[..., None]
        return -jnp.mean(jnp.take_along_axis(chosen, targets, -1))

    def step(state: Any, tokens: Any) -> Any:
        p, m, v = state
        value, g = jax.value_and_grad(loss)(p, tokens)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, v, g)
        p = jax.tree.map(lambda p, m, v: p - 1e-4 * m / (jnp.sqrt(v) + 1e-8), p, m, v)
        return (p, m, v), value

    def of(name: str, *sizes: int) -> jax.ShapeDtypeStruct:
        placed = parameters and NamedSharding(MESH, parameters(name))
        return jax.ShapeDtypeStruct(sizes, jnp.float32, sharding=placed)

    sizes = {
        "q": (WIDTH, HEADS, SIZE),
        "k": (WIDTH, KV_HEADS, SIZE),
        "v": (WIDTH, KV_HEADS, SIZE),
        "o": (HEADS, SIZE, WIDTH),
        "gate": (WIDTH, HIDDEN),
        "up": (WIDTH, HIDDEN),
        "down": (HIDDEN, WIDTH),
        "n1": (WIDTH,),
        "n2": (WIDTH,),
    }
    p = {
        "embed": of("embed", VOCABULARY, WIDTH),
        "head": of("head", WIDTH, VOCABULARY),
        "norm": of("norm", WIDTH),
        "layers": {name: of(name, LAYERS, *shape) for name, shape in sizes.items()},
    }
    batch = NamedSharding(MESH, P("dp")) if parameters else None
    tokens = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32, sharding=batch)
    shardings = jax.tree.map(lambda x: x.sharding, (p, p, p))
    results = (shardings, None) if parameters else None
    jitted = jax.jit(step, donate_argnums=0, out_shardings=results)
    return jitted.lower((p, p, p), tokens).as_text()


def over_all(name: str) -> P:
    """Return the spec of a parameter in autoparallel's plan."""
    specs = {
        "embed": P(None, ALL),
        "head": P(None, ALL),
        "norm": P(ALL),
        "n1": P(None, ALL),
        "n2": P(None, ALL),
        "down": P(None, "tp", "dp"),
        "gate": P(None, None, ALL),
        "up": P(None, None, ALL),
        "o": P(None, None, None, ALL),
    }
    return specs.get(name, P(None, ALL))


def by_tensor(name: str) -> P:
    """Return the spec of a parameter as an expert splits it."""
    specs = {
        "embed": P("tp", "dp"),
        "head": P("dp", "tp"),
        "down": P(None, "tp", "dp"),
        "gate": P(None, "dp", "tp"),
        "up": P(None, "dp", "tp"),
        "o": P(None, "tp", None, "dp"),
        "norm": P(),
        "n1": P(),
        "n2": P(),
    }
    return specs.get(name, P(None, "dp", "tp"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--chip", default="v5p")
    options = parser.parse_args()
    chip = known_chip(options.chip)
    print("| plan | step, ms | memory, GiB | sent, GiB |\n|---|--:|--:|--:|")
    plans = {
        "autoparallel's, 32 x 8": lowered(AUTOPARALLEL, over_all),
        "an expert's, 32 x 8": lowered(EXPERT, by_tensor),
    }
    for name, text in plans.items():
        figures = costs_of(text, chip)
        memory, sent = (figures.peak_bytes or 0) / 2**30, figures.bytes / 2**30
        milliseconds = figures.program_seconds * 1e3
        print(f"| {name} | {milliseconds:.0f} | {memory:.1f} | {sent:.1f} |")
    module = parse_program(lowered({}, None))
    until = time.monotonic() + options.seconds
    answer = diagnose(module, MESH.size, chip=chip, until=until)
    for row in answer.rows[:5]:
        costs = row.measurement
        memory, sent = costs.peak_bytes / 2**30, costs.bytes_sent / 2**30
        milliseconds = costs.seconds * 1e3
        print(f"| {row.candidate} | {milliseconds:.0f} | {memory:.1f} | {sent:.1f} |")


if __name__ == "__main__":
    main()
