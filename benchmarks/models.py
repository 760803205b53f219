"""The programs that benchmarks run: transformers of some layers, sharded on 2x4.

Made by JAX once and kept in `benchmarks/.cache`, so that every run and both sides
measure the same text.

    python benchmarks/models.py LAYERS KIND

compiles one with XLA for eight host devices and prints the seconds that takes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

CACHE = Path(__file__).parent / ".cache"

BATCH, LENGTH, WIDTH, HEADS, VOCABULARY = 8, 32, 64, 8, 128


def program_path(layers: int, kind: str) -> Path:
    """The file of a transformer's text; see `program`."""
    path = CACHE / f"transformer_{kind}_{layers}.mlir"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        # under another name first: several may run at once
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(lower(layers, kind).as_text())
        part.rename(path)
    return path


def program(layers: int, kind: str) -> str:
    """StableHLO text of a transformer.

    Args:
        layers: how many blocks.
        kind: `forward`, or `train` for a step of gradient descent.
    """
    return program_path(layers, kind).read_text()


def lower(layers: int, kind: str) -> Any:
    """The same as JAX holds it (a `jax.stages.Lowered`), on eight host devices.

    JAX reads the number of devices once: call this before anything else uses JAX.
    """
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def array(shape: tuple[int, ...], *axes: str | None, dtype: Any = jnp.float32):
        sharding = NamedSharding(mesh, P(*axes))
        return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)

    def norm(x: jax.Array, scale: jax.Array) -> jax.Array:
        centred = x - x.mean(-1, keepdims=True)
        return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale

    def layer(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        h = norm(x, p["norm1"])
        q, k, v = (jnp.einsum("btd,dhk->bhtk", h, p[name]) for name in ("q", "k", "v"))
        scores = jnp.einsum("bhtk,bhsk->bhts", q, k) / (WIDTH // HEADS) ** 0.5
        mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))
        mixed = jnp.einsum("bhts,bhsk->bthk", weights, v)
        x = x + jnp.einsum("bthk,hkd->btd", mixed, p["o"])
        h = jax.nn.gelu(norm(x, p["norm2"]) @ p["up"] + p["bias"])
        return x + h @ p["down"]

    def forward(p: dict[str, Any], tokens: jax.Array) -> jax.Array:
        x = p["embedding"][tokens]
        for weights in p["layers"]:
            x = layer(weights, x)
        return jnp.einsum("btd,vd->btv", x, p["embedding"])

    def loss(p: dict[str, Any], tokens: jax.Array, target: jax.Array) -> jax.Array:
        logits = jax.nn.log_softmax(forward(p, tokens))
        return -jnp.mean(jnp.sum(logits * target, -1))

    def train(p: dict[str, Any], tokens: jax.Array, target: jax.Array):
        value, gradient = jax.value_and_grad(loss)(p, tokens, target)
        return jax.tree.map(lambda w, g: w - 0.1 * g, p, gradient), value

    heads = (WIDTH, HEADS, WIDTH // HEADS)
    weights = {
        "norm1": array((WIDTH,), None),
        "norm2": array((WIDTH,), None),
        "q": array(heads, None, "model", None),
        "k": array(heads, None, "model", None),
        "v": array(heads, None, "model", None),
        "o": array((HEADS, WIDTH // HEADS, WIDTH), "model", None, None),
        "up": array((WIDTH, 4 * WIDTH), None, "model"),
        "bias": array((4 * WIDTH,), "model"),
        "down": array((4 * WIDTH, WIDTH), "model", None),
    }
    params = {
        "embedding": array((VOCABULARY, WIDTH), None, None),
        "layers": [weights] * layers,
    }
    tokens = array((BATCH, LENGTH), "data", None, dtype=jnp.int32)
    if kind == "forward":
        return jax.jit(forward).lower(params, tokens)
    target = array((BATCH, LENGTH, VOCABULARY), "data", None, None)
    return jax.jit(train).lower(params, tokens, target)


def _compile_with_xla(layers: int, kind: str) -> dict[str, float]:
    """Seconds of `.compile()` alone: JAX has traced and lowered the program before."""
    lowered = lower(layers, kind)
    wall, cpu = time.perf_counter(), time.process_time()
    lowered.compile()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


if __name__ == "__main__":
    print(json.dumps(_compile_with_xla(int(sys.argv[1]), sys.argv[2])))
