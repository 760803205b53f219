"""Shifts, windows and pieces as people write them in JAX, and their gradients.

Printed one a line as JSON: name, mesh and text. Each is the function with the dimension
that it works along split by all axes of the mesh, or what `jax.vjp` makes of it.

    python -m tests.differential.shifts_by_jax
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

F32 = np.float32


def shift(x: Any, by: int = 1) -> Any:
    return jnp.pad(x[:-by], ((by, 0), (0, 0)))


def shift_concatenated(i: Any, x: Any) -> Any:
    return jnp.concatenate([i, x[:-1]], 0)


def shift_updated(x: Any) -> Any:
    return x.at[1:].set(x[:-1])


def roll(x: Any) -> Any:
    return jnp.roll(x, 1, 0)


def difference(x: Any) -> Any:
    return jnp.pad(x[1:] - x[:-1], ((0, 1), (0, 0)))


def difference_prepended(x: Any) -> Any:
    return jnp.diff(x, axis=0, prepend=0.0)


def smoothness(x: Any) -> Any:
    return jnp.mean((x[1:] - x[:-1]) ** 2)


def next_token_loss(logits: Any, targets: Any) -> Any:
    return jnp.sum(jax.nn.log_softmax(logits[:-1]) * targets[1:])


def token_shift(x: Any, mu: Any) -> Any:
    shifted = jnp.concatenate([jnp.zeros_like(x[:1]), x[:-1]], 0)
    return x * mu + shifted * (1 - mu)


def product_of_differences(x: Any, w: Any) -> Any:
    return jnp.pad(jnp.tanh((x[1:] - x[:-1]) @ w), ((1, 0), (0, 0)))


def causal_convolution(x: Any, w: Any) -> Any:
    padded = jnp.pad(x, ((3, 0), (0, 0)))
    return sum(padded[i : i + x.shape[0]] * w[i] for i in range(4))


def laplace(x: Any) -> Any:
    return x.at[1:-1].set(0.5 * (x[2:] + x[:-2]))


def edge_padded(x: Any) -> Any:
    return jnp.pad(x, ((1, 1), (0, 0)), mode="edge")[2:]


def update_first(x: Any, u: Any) -> Any:
    return x.at[0:3].set(u)


def update_last(x: Any, u: Any) -> Any:
    return x.at[-3:].set(u)


def add_some(x: Any, u: Any) -> Any:
    return x.at[5:8].add(u)


def gated(h: Any) -> Any:
    a, b = jnp.split(h, 2, -1)
    return jax.nn.silu(a) * b


def thirds(h: Any) -> Any:
    q, k, v = jnp.split(h, 3, -1)
    return q * k + v


def in_twelve(h: Any) -> Any:
    return sum(jnp.sin(a) * i for i, a in enumerate(jnp.split(h, 12, -1)))


def interleaved(h: Any) -> Any:
    pairs = h.reshape(h.shape[0], -1, 2)
    return pairs[..., 0] * pairs[..., 1]


def rotated_half(x: Any) -> Any:
    a, b = jnp.split(x, 2, -1)
    return x * 2 + jnp.concatenate([-b, a], -1)


class Program(NamedTuple):
    """A function, its arguments' shapes with the dimension that is split, and its result's."""

    function: Callable[..., Any]
    arguments: tuple[tuple[tuple[int, ...], int | None], ...]
    result: int | None


ROWS = (1024, 16), 0
SMALL = (64, 16), 0
FEW = (3, 16), None

PROGRAMS = {
    "shift": Program(shift, (ROWS,), 0),
    "shift_by_two": Program(partial(shift, by=2), (ROWS,), 0),
    "shift_concatenated": Program(shift_concatenated, (((1, 16), None), SMALL), 0),
    "shift_updated": Program(shift_updated, (ROWS,), 0),
    "roll": Program(roll, (ROWS,), 0),
    "difference": Program(difference, (ROWS,), 0),
    "difference_prepended": Program(difference_prepended, (ROWS,), 0),
    "smoothness": Program(smoothness, (ROWS,), None),
    "next_token_loss": Program(next_token_loss, (((64, 32), 0), ((64, 32), 0)), None),
    "token_shift": Program(token_shift, (ROWS, ((16,), None)), 0),
    "product_of_differences": Program(
        product_of_differences, (SMALL, ((16, 16), None)), 0
    ),
    "causal_convolution": Program(causal_convolution, (ROWS, ((4, 16), None)), 0),
    "laplace": Program(laplace, (ROWS,), 0),
    "edge_padded": Program(edge_padded, (ROWS,), 0),
    "update_first": Program(update_first, (ROWS, FEW), 0),
    "update_last": Program(update_last, (ROWS, FEW), 0),
    "add_some": Program(add_some, (ROWS, FEW), 0),
    "gated": Program(gated, (((4, 128), 1),), 1),
    "thirds": Program(thirds, (((4, 192), 1),), 1),
    "in_twelve": Program(in_twelve, (((4, 192), 1),), 1),
    "interleaved": Program(interleaved, (((4, 128), 1),), 1),
    "rotated_half": Program(rotated_half, (((4, 128), 1),), 1),
}

MESHES: dict[str, tuple[dict[str, int], tuple[str, ...]]] = {
    "8": ({"d": 8}, ("d",)),
    "2x4": ({"a": 2, "b": 4}, ("a", "b")),
    "2x4 minor": ({"a": 2, "b": 4}, ("b",)),
    "4x2 turned": ({"a": 4, "b": 2}, ("b", "a")),
}


def texts(program: Program, mesh: str) -> tuple[str, str]:
    """The program and its gradient on a mesh."""
    sizes, axes = MESHES[mesh]
    devices = np.array(jax.devices()[:8]).reshape(*sizes.values())
    of_mesh = Mesh(devices, tuple(sizes))

    def sharding(rank: int, dim: int | None) -> NamedSharding:
        spec = [axes if at == dim else None for at in range(rank)]
        return NamedSharding(of_mesh, PartitionSpec(*spec))

    function, arguments, dim = program
    values = [jax.ShapeDtypeStruct(shape, F32) for shape, _ in arguments]
    placed = tuple(sharding(len(shape), at) for shape, at in arguments)
    result = jax.eval_shape(function, *values)
    lies = sharding(len(result.shape), dim)

    def gradient(cotangent: Any, *primals: Any) -> Any:
        return jax.vjp(function, *primals)[1](cotangent)

    forward = jax.jit(function, in_shardings=placed, out_shardings=lies)
    backward = jax.jit(gradient, in_shardings=(lies, *placed), out_shardings=placed)
    return (
        forward.lower(*values).as_text(),
        backward.lower(jax.ShapeDtypeStruct(result.shape, F32), *values).as_text(),
    )


if __name__ == "__main__":
    for name, program in PROGRAMS.items():
        for mesh in MESHES:
            for kind, text in zip(("", "_grad"), texts(program, mesh), strict=True):
                print(json.dumps([name + kind, mesh, text]))
