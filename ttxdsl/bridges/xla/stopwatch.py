"""Measures what JAX's virtual CPU devices do in a second.

It is a worker (`ttxdsl.loading.worker`), because XLA reads the number of its CPU devices
when JAX is first imported. A question has the `devices` and the `repeats`, the answer is a
list of `[what, operations or bytes, group size, seconds, features]`:
each kind of collective with the bytes that a device holds before, in groups of 2, 4, … up to
all devices; `product` and `convolution` (multiply-adds; the latter with its features in and
out), `function` (elements), `memory` (bytes) and `op` on all devices at once. Each is done several times in a row inside one program, in a long and a short row;
the difference is what one takes, without starting the program. Of the repeats the fastest
counts: nothing makes a run faster than it is, and other processes make it slower.
"""

import math
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

LONG, SHORT = 9, 1
TURNS = 4
_ATTEMPTS = 5
"""To get beyond the noise."""
SIZES = tuple(1 << power for power in (8, 12, 15, 17, 19, 21))
"""Bytes of a device's operand of a collective."""

FEATURES = (1, 4, 8, 16, 32)
"""Of convolutions, in and out: where kernels are others for few. More are as fast."""
_PICTURES, _KERNEL = (2, 32, 32), (3, 3)

jax: Any = import_module("jax")
jnp: Any = jax.numpy
lax: Any = jax.lax
Step = Callable[[Any], Any]


def seconds(run: Callable[[], Any]) -> float:
    """Return the seconds of one run."""
    start = time.perf_counter()
    jax.block_until_ready(run())
    return time.perf_counter() - start


def row_of(step: Step, count: int) -> Step:
    """So many steps one after the other, of which none is moved or left out."""

    def row(x: Any) -> Any:
        for _ in range(count):
            x = lax.optimization_barrier(step(x))
        return x

    return row


def seconds_of(
    step: Step, mesh: Any, shape: tuple[int, ...], repeats: int
) -> float | None:
    """Return the seconds of one step on all devices; None if noise hides it.

    Args:
        step: what each device does, from an array to one of the same shape.
        shape: of the array that each device has.
        repeats: how often to run each row.
    """
    spec = jax.sharding.PartitionSpec(mesh.axis_names)
    array = jnp.ones((mesh.size * shape[0], *shape[1:]), jnp.float32) * 1e-3
    array = jax.device_put(array, jax.sharding.NamedSharding(mesh, spec))
    rows: list[Callable[[], Any]] = []
    for count in (LONG, SHORT):
        row = row_of(step, count)
        local = jax.shard_map(
            row, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False
        )
        compiled = jax.jit(local).lower(array).compile()

        def run(compiled: Any = compiled) -> Any:
            return compiled(array)

        run()
        rows.append(run)
    best = [float("inf")] * len(rows)
    for _ in range(_ATTEMPTS):
        for _ in range(repeats):  # in turn, so that what disturbs hits both
            best = [min(was, seconds(run)) for was, run in zip(best, rows, strict=True)]
        duration = (best[0] - best[1]) / (LONG - SHORT)
        if duration > 0:
            return duration
    return None


def collective_steps(size: int) -> dict[str, Step]:
    """Each kind of collective among devices along the axis `group`, and back."""
    ring = [(at, (at + 1) % size) for at in range(size)]
    return {
        "all_reduce": lambda x: lax.psum(x, "group"),
        "all_gather": lambda x: lax.all_gather(x, "group", tiled=True)[: x.shape[0]],
        "reduce_scatter": lambda x: jnp.tile(
            lax.psum_scatter(x, "group", tiled=True), size
        ),
        "all_to_all": lambda x: lax.all_to_all(x, "group", 0, 0, tiled=True),
        "collective_permute": lambda x: lax.ppermute(x, "group", ring),
    }


def read_and_written(x: Any) -> Any:
    """Return all of an array, `TURNS` times."""

    def turn(_: Any, x: Any) -> Any:
        return x + 1.0

    return lax.fori_loop(0, TURNS, turn, x)


def local_steps() -> list[tuple[str, int, tuple[int, ...], Step]]:
    """Return steps without communication: kind, amount, shape and function.

    XLA joins elementwise ops across barriers: nine exponentials are one op that computes
    nine times as much, but nine additions are one that reads and writes once. It joins no
    iterations of a loop, and no products; the smallest product only measures the start.
    """
    steps: list[tuple[str, int, tuple[int, ...], Step]] = []
    for n in (64, 128, 256, 384):
        steps.append(("product", n**3, (n, n), lambda x: x @ x))
    for n in (1 << 14, 1 << 17, 1 << 20):
        steps.append(("function", n, (n,), jnp.exp))
        steps.append(("memory", TURNS * 8 * n, (n,), read_and_written))
    steps.append(("op", 1, (2, 2), lambda x: x @ x))
    return steps


def convolved(x: Any, count: int) -> Any:
    """Pictures, one number of them from so many features that they are convolved to.

    The kernel is taken from the pictures: what is constant could be made ready before. One
    number is written, which takes no time and needs the whole convolution.
    """
    shape = (*_KERNEL, x.shape[-1], count)
    kernel = x.reshape(-1)[: math.prod(shape)].reshape(shape)
    numbers = ("NHWC", "HWIO", "NHWC")
    y = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers)
    return lax.dynamic_update_slice(x, y[:1, :1, :1, :1], (0,) * x.ndim)


def convolution_steps() -> list[tuple[tuple[int, int], int, tuple[int, ...], Step]]:
    """Convolutions by their features: these, multiply-adds, shape, step."""
    area = math.prod(_PICTURES) * math.prod(_KERNEL)
    return [
        ((i, o), area * i * o, (*_PICTURES, i), lambda x, o=o: convolved(x, o))
        for i in FEATURES
        for o in FEATURES
    ]


def measure(devices: int, repeats: int) -> list[tuple[Any, ...]]:
    """Return all samples."""
    samples: list[tuple[Any, ...]] = []

    def add(
        kind: str,
        amount: int,
        size: int,
        mesh: Any,
        shape: Any,
        step: Step,
        features: tuple[int, int] | None = None,
    ) -> None:
        seconds = seconds_of(step, mesh, shape, repeats)
        if seconds is not None:
            samples.append((kind, amount, size, seconds, features))

    everyone = jax.make_mesh((devices,), ("all",))
    for kind, amount, shape, step in local_steps():
        add(kind, amount, 1, everyone, shape, step)
    for features, amount, shape, step in convolution_steps():
        add("convolution", amount, 1, everyone, shape, step, features)
    size = 2
    while size <= devices:
        if devices % size == 0:
            mesh = jax.make_mesh((devices // size, size), ("other", "group"))
            for kind, step in collective_steps(size).items():
                for held in SIZES:
                    add(kind, held, size, mesh, (held // 4,), step)
        size *= 2
    return samples


def answer(question: dict[str, int], data: bytes) -> list[tuple[Any, ...]]:
    """Answer `ttxdsl.loading.worker.Worker`."""
    return measure(question["devices"], question["repeats"])
