"""Stencils in loops and chains of windows in JAX, of sizes that the mesh does not divide.

Printed one a line as JSON: name, mesh and text.

    python -m tests.differential.iterations_by_jax
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

Step = Callable[[Any], Any]


def updated(u: Any) -> Any:
    """A step of Jacobi's method that leaves the border as it is."""
    inner = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return u.at[1:-1, 1:-1].set(0.25 * inner)


def padded(u: Any) -> Any:
    p = jnp.pad(u, 1)
    return 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])


def rolled(u: Any) -> Any:
    around = [jnp.roll(u, by, dim) for dim in (0, 1) for by in (1, -1)]
    return 0.25 * sum(around)


def convolved(u: Any) -> Any:
    kernel = jnp.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], u.dtype) * 0.25
    return lax.conv_general_dilated(u[None, None], kernel[None, None], (1, 1), "SAME")[
        0, 0
    ]


STEPS: dict[str, Step] = {
    "updated": updated,
    "padded": padded,
    "rolled": rolled,
    "convolved": convolved,
}


def counted(step: Step) -> Step:
    return lambda u: lax.fori_loop(0, 10, lambda _, v: step(v), u)


def scanned(step: Step) -> Step:
    def turn(u: Any, _: Any) -> tuple[Any, Any]:
        new = step(u)
        return new, jnp.sum((new - u) ** 2)

    return lambda u: lax.scan(turn, u, None, length=10)


def until_still(step: Step) -> Step:
    def goes_on(state: Any) -> Any:
        return (state[1] > 1e-6) & (state[2] < 10)

    def turn(state: Any) -> Any:
        new = step(state[0])
        return new, jnp.max(jnp.abs(new - state[0])), state[2] + 1

    return lambda u: lax.while_loop(goes_on, turn, (u, jnp.float32(1), 0))


def once(step: Step) -> Step:
    return step


LOOPS = {
    "once": once,
    "counted": counted,
    "scanned": scanned,
    "until_still": until_still,
}


def convolution(x: Any, kernel: Any, pad: Any = "VALID", **options: Any) -> Any:
    spatial = x.ndim - 2
    return lax.conv_general_dilated(x, kernel, (1,) * spatial, pad, **options)


def pooled(x: Any) -> Any:
    window = (1, 1, *[3] * (x.ndim - 2))
    return lax.reduce_window(x, -jnp.inf, lax.max, window, (1,) * x.ndim, "VALID")


WINDOWS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "two_convolutions": lambda x, k, m: jnp.mean(
        convolution(jax.nn.relu(convolution(x, k)), m) ** 2
    ),
    "convolved_back": lambda x, k, m: convolution(
        jnp.tanh(convolution(x, k)), m, [(2, 2)] * (x.ndim - 2)
    ),
    "same_behind_valid": lambda x, k, m: jnp.sum(
        convolution(jnp.tanh(convolution(x, k)), m, "SAME")
    ),
    "pooled": lambda x, k, _: jnp.sum(pooled(jax.nn.relu(convolution(x, k)))),
}
MESHES = {"3x2": (3, 2), "2x4": (2, 4), "1x8": (1, 8)}


def _split(value: Any, mesh: Mesh) -> Any:
    """Split the last two dimensions."""
    spec = PartitionSpec(*[None] * (value.ndim - 2), "x", "y")
    return lax.with_sharding_constraint(value, NamedSharding(mesh, spec))


def iteration(run: Step, mesh: Mesh) -> Step:
    return lambda u: run(_split(u, mesh))


def windows(chain: Callable[..., Any], mesh: Mesh) -> Callable[..., Any]:
    def function(x: Any, k: Any, m: Any) -> Any:
        result = chain(_split(x, mesh), k, m)
        return _split(result, mesh) if result.ndim else result

    return function


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    return jax.grad(lambda *values: jnp.sum(function(*values)), (0, 1, 2))


def emit(name: str, mesh: str, function: Any, *shapes: tuple[int, ...]) -> None:
    values = [jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes]
    text = jax.jit(function).lower(*values).as_text()
    print(json.dumps([name, mesh, text]))


def main() -> None:
    for name, sizes in MESHES.items():
        devices = np.array(jax.devices()[: sizes[0] * sizes[1]]).reshape(sizes)
        mesh = Mesh(devices, ("x", "y"), axis_types=(AxisType.Auto,) * 2)
        for loop, around in LOOPS.items():
            for kind, step in STEPS.items():
                emit(f"{loop} {kind}", name, iteration(around(step), mesh), (50, 50))
        if 32 % sizes[1] or 16 % sizes[0]:
            continue
        shapes = (2, 4, 16, 32), (4, 4, 3, 3), (4, 4, 3, 3)
        for kind, chain in WINDOWS.items():
            function = windows(chain, mesh)
            emit(kind, name, function, *shapes)
            emit(f"{kind} grad", name, gradient(function), *shapes)


if __name__ == "__main__":
    main()
