"""The programs that benchmarks run: transformers of some layers, sharded on 2x4.

Made by JAX once and kept in `benchmarks/speed/.cache`, so that every run and both sides
measure the same text.

    python benchmarks/speed/models.py LAYERS KIND

compiles one with XLA for eight host devices and prints the seconds that takes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

CACHE = Path(__file__).parent / ".cache"


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


@dataclass(frozen=True)
class Sizes:
    """Of a transformer; every size is a multiple of the devices."""

    batch: int = 8
    length: int = 32
    width: int = 64
    heads: int = 8
    vocabulary: int = 128


SCHEMES = {"data and model": (2, 4), "data": (8, 1), "model": (1, 8), "fsdp": (8, 1)}
"""How a transformer is split: devices along the batch, and along heads and hidden units.

FSDP splits every weight along its first dimension too, by the axis of the batch.
"""

LARGE = "data and model, 16 x 16"
"""The first of these on 256 devices."""


def lower(
    layers: int,
    kind: str,
    sizes: Sizes = Sizes(),
    scheme: str = "data and model",
    *,
    scanned: bool = False,
) -> Any:
    """The same as JAX holds it (a `jax.stages.Lowered`), on host devices.

    JAX reads the number of devices once: call this before anything else uses JAX.
    """
    shape = (16, 16) if scheme == LARGE else SCHEMES[scheme]
    flag = f"--xla_force_host_platform_device_count={prod(shape)}"
    os.environ.setdefault("XLA_FLAGS", flag)
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

    mesh = jax.make_mesh(shape, ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def array(shape: tuple[int, ...], *axes: str | None, dtype: Any = jnp.float32):
        sharding = NamedSharding(mesh, P(*axes))
        return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)

    def weight(shape: tuple[int, ...], *axes: str | None):
        if scheme == "fsdp":
            axes = ("data", *(None for _ in shape[1:]))
        return array(shape, *axes)

    def norm(x: jax.Array, scale: jax.Array) -> jax.Array:
        centred = x - x.mean(-1, keepdims=True)
        return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale

    def layer(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        h = norm(x, p["norm1"])
        q, k, v = (jnp.einsum("btd,dhk->bhtk", h, p[name]) for name in ("q", "k", "v"))
        scores = (
            jnp.einsum("bhtk,bhsk->bhts", q, k) / (sizes.width // sizes.heads) ** 0.5
        )
        mask = jnp.tril(jnp.ones((sizes.length, sizes.length), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))
        mixed = jnp.einsum("bhts,bhsk->bthk", weights, v)
        x = x + jnp.einsum("bthk,hkd->btd", mixed, p["o"])
        h = jax.nn.gelu(norm(x, p["norm2"]) @ p["up"] + p["bias"])
        return x + h @ p["down"]

    def forward(p: dict[str, Any], tokens: jax.Array) -> jax.Array:
        x = p["embedding"][tokens]
        if scanned:
            x, _ = jax.lax.scan(lambda x, w: (layer(w, x), None), x, p["layers"])
        else:
            for weights in p["layers"]:
                x = layer(weights, x)
        return jnp.einsum("btd,vd->btv", x, p["embedding"])

    def loss(p: dict[str, Any], tokens: jax.Array, target: jax.Array) -> jax.Array:
        logits = jax.nn.log_softmax(forward(p, tokens))
        return -jnp.mean(jnp.sum(logits * target, -1))

    def train(p: dict[str, Any], tokens: jax.Array, target: jax.Array):
        value, gradient = jax.value_and_grad(loss)(p, tokens, target)
        return jax.tree.map(lambda w, g: w - 0.1 * g, p, gradient), value

    heads = (sizes.width, sizes.heads, sizes.width // sizes.heads)
    weights = {
        "norm1": weight((sizes.width,), None),
        "norm2": weight((sizes.width,), None),
        "q": weight(heads, None, "model", None),
        "k": weight(heads, None, "model", None),
        "v": weight(heads, None, "model", None),
        "o": weight(
            (sizes.heads, sizes.width // sizes.heads, sizes.width), "model", None, None
        ),
        "up": weight((sizes.width, 4 * sizes.width), None, "model"),
        "bias": weight((4 * sizes.width,), "model"),
        "down": weight((4 * sizes.width, sizes.width), "model", None),
    }
    stacked = {
        name: array((layers, *one.shape), None, *one.sharding.spec)
        for name, one in weights.items()
    }
    params = {
        "embedding": weight((sizes.vocabulary, sizes.width), None, None),
        "layers": stacked if scanned else [weights] * layers,
    }
    tokens = array((sizes.batch, sizes.length), "data", None, dtype=jnp.int32)
    if kind == "forward":
        return jax.jit(forward).lower(params, tokens)
    target = array((sizes.batch, sizes.length, sizes.vocabulary), "data", None, None)
    return jax.jit(train).lower(params, tokens, target)


def _compile_with_xla(layers: int, kind: str) -> dict[str, float]:
    """Seconds of `.compile()` alone: JAX has traced and lowered the program before."""
    lowered = lower(layers, kind)
    wall, cpu = time.perf_counter(), time.process_time()
    lowered.compile()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


if __name__ == "__main__":
    print(json.dumps(_compile_with_xla(int(sys.argv[1]), sys.argv[2])))
