"""A step of scanned layers under FSDP, whose variables have names to be found."""

from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

LAYERS, WIDTH, BATCH = 6, 16, 16


def block(p: dict[str, Any], x: Any) -> Any:
    """One layer."""
    h = x @ p["up"]
    gate = jnp.tanh(h)
    return x + gate @ p["down"]


def loss(p: Any, x: Any) -> Any:
    """All layers, one after the other."""
    y, _ = jax.lax.scan(lambda x, w: (block(w, x), None), x, p["layers"])
    return jnp.mean((y - x) ** 2)


def step(p: Any, x: Any) -> Any:
    """One update of all weights."""
    gradients = jax.grad(loss)(p, x)
    return jax.tree.map(lambda w, g: w - 0.1 * g, p, gradients)


@cache
def scanned(debug_info: bool = True) -> str:
    """Return its text."""
    return _lowered(step, debug_info)


def _lowered(function: Any, debug_info: bool) -> str:
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))

    def array(shape: tuple[int, ...], *axes: str | None) -> Any:
        sharding = NamedSharding(mesh, P(*axes))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

    weights = {
        name: array((LAYERS, WIDTH, WIDTH), None, "data") for name in ("up", "down")
    }
    p, x = {"layers": weights}, array((BATCH, WIDTH), "data")
    # of what was traced before JAX keeps the lines
    jax.clear_caches()
    return jax.jit(function).lower(p, x).as_text(debug_info=debug_info)


def gated(p: dict[str, Any], x: Any) -> Any:
    """One layer; of `silu` JAX makes a function."""
    return x + jax.nn.silu(x @ p["up"]) @ p["down"]


def forward(p: Any, x: Any) -> Any:
    """All layers, computed again for their gradients, in a function called as its pass."""
    x = x * jnp.cos(jnp.arange(WIDTH) / WIDTH)
    layer = jax.checkpoint(lambda h, w: (gated(w, h), None))
    y, _ = jax.lax.scan(layer, x, p["layers"])
    return jnp.mean(y**2)


def update(p: Any, x: Any) -> Any:
    """One update of all weights."""
    value, gradients = jax.value_and_grad(forward)(p, x)
    return value, jax.tree.map(lambda w, g: w - 0.1 * g, p, gradients)


@cache
def checkpointed() -> str:
    """Return the text of a step whose layers are computed again."""
    return _lowered(update, debug_info=True)


@cache
def carrying() -> str:
    """Return the text of a loop that begins with a variable."""

    def model(p: Any, tokens: Any) -> Any:
        h = jnp.tanh(tokens)
        h, _ = jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), h, p)
        return h

    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    sharding = NamedSharding(mesh, P("data"))
    p = jax.ShapeDtypeStruct((LAYERS, WIDTH, WIDTH), jnp.float32)
    x = jax.ShapeDtypeStruct((BATCH, WIDTH), jnp.float32, sharding=sharding)
    return jax.jit(model).lower(p, x).as_text(debug_info=True)


HANDED = 4


def layer(w: Any, x: Any) -> Any:
    """One layer of those that are written out."""
    h = jax.nn.relu(x @ w)
    return h @ w + x


@cache
def handed() -> str:
    """Return the text of layers that are written out, tensor parallel."""

    def model(p: Any, x: Any) -> Any:
        h = x
        for w in p:
            h = layer(w, h)
        return jax.nn.log_softmax(h @ p[0])

    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def array(shape: tuple[int, ...], *axes: str | None) -> Any:
        sharding = NamedSharding(mesh, P(*axes))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

    p = [array((WIDTH, WIDTH), None, "model") for _ in range(HANDED)]
    lowered = jax.jit(model).lower(p, array((BATCH, WIDTH), "data"))
    return lowered.as_text(debug_info=True)


def line_of(text: str) -> int:
    """Return the number of the line of this file that has a text."""
    lines = Path(__file__).read_text().splitlines()
    (number,) = [at for at, line in enumerate(lines, 1) if line.strip() == text]
    return number
