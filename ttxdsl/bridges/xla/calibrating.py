"""A machine from what JAX's virtual CPU devices are measured to do.

    machine, samples = calibrate(8)

Links get the latency, the speed, the setup and the shape with which the model
(`ttxdsl.costs.links`) is the least off the measured collectives, by the square of what it
is off in parts of each. Virtual devices share the cores of one host, so that they compute
and send by turns: they overlap nothing.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from math import exp, log

import numpy as np

from ttxdsl.bridges.xla.execute import complaint
from ttxdsl.costs.links import Link, Shape, ways
from ttxdsl.costs.machines import Convolving, Machine
from ttxdsl.costs.ring import Ring, ring_bytes
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.worker import Worker, WorkerEndedError

_WORKER = "ttxdsl.bridges.xla.stopwatch:answer"
_ROUNDS = 20
"""Of fitting with each collective done the way that was the fastest before."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement.

    Attributes:
        what: a kind of collective, `product`, `convolution`, `function`, `memory` or `op`.
        amount: bytes that a device holds, multiply-adds, elements, bytes, ops.
        group_size: of a collective; else 1.
        seconds: that one takes.
        features: of a convolution, in and out.
    """

    what: str
    amount: int
    group_size: int
    seconds: float
    features: tuple[int, int] | None = None


def _solved(rows: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """The setup, latency and seconds a byte, none negative, that fit ones best."""
    matrix = np.array(rows)
    target = np.ones(len(rows))
    best, least = (0.0, 0.0, 0.0), float("inf")
    for used in product((False, True), repeat=3):
        columns = [at for at, is_used in enumerate(used) if is_used]
        if not columns:
            continue
        solution = np.linalg.lstsq(matrix[:, columns], target, rcond=None)[0]
        if (solution < 0).any():
            continue
        whole = np.zeros(3)
        whole[columns] = solution
        off = float(np.square(matrix @ whole - target).sum())
        if off < least:
            setup, latency, each = (float(number) for number in whole)
            best, least = (setup, latency, each), off
    return best


def fit_link(samples: Sequence[Sample]) -> Link:
    """Return the link that fits measured collectives best.

    Raises:
        ValueError: there are too few to tell.
    """
    if len(samples) < 3:
        raise ValueError("at least three collectives have to be measured")
    links = [_fit_shape(samples, shape) for shape in Shape]
    return min(links, key=lambda link: link_error(link, samples))


def _fit_shape(samples: Sequence[Sample], shape: Shape) -> Link:
    link = Link(1e-6, 1e9, shape)
    for _ in range(_ROUNDS):
        rows: list[tuple[float, float, float]] = []
        for sample in samples:
            kind = Ring(sample.what)
            sent = ring_bytes(kind, sample.amount, sample.group_size)
            rounds, moved = min(
                ways(kind, sent, sample.group_size, shape),
                key=lambda way: way[0] * link.latency + way[1] / link.bytes_per_second,
            )
            rows.append(
                (1 / sample.seconds, rounds / sample.seconds, moved / sample.seconds)
            )
        setup, latency, each = _solved(rows)
        fitted = Link(latency, 1 / max(each, 1e-15), shape, setup)
        if fitted == link:
            break
        link = fitted
    return link


def link_error(link: Link, samples: Sequence[Sample]) -> float:
    """By what factor the model is off on average: 1 is exact."""
    logs = [
        abs(
            log(
                max(
                    link.seconds(Ring(sample.what), sample.amount, sample.group_size),
                    1e-12,
                )
                / sample.seconds
            )
        )
        for sample in samples
    ]
    return exp(sum(logs) / len(logs))


def fit(samples: Sequence[Sample], name: str = "calibrated") -> Machine:
    """Return the machine that fits measurements best.

    Raises:
        ValueError: something is missing.
    """
    by_what: dict[str, list[Sample]] = {}
    for sample in samples:
        by_what.setdefault(sample.what, []).append(sample)
    missing = {"product", "function", "memory", "op"} - set(by_what)
    if missing:
        raise ValueError(f"nothing was measured of {', '.join(sorted(missing))}")
    op_seconds = min(sample.seconds for sample in by_what["op"])

    def speed(kind: str) -> float:
        """That of the largest, which is in no cache and is started once."""
        largest = max(by_what[kind], key=lambda sample: sample.amount)
        return largest.amount / max(largest.seconds - op_seconds, largest.seconds / 2)

    kinds = {kind.value for kind in Ring}
    return Machine(
        operations_per_second=speed("product"),
        memory_bytes_per_second=speed("memory"),
        link=fit_link([sample for sample in samples if sample.what in kinds]),
        name=name,
        functions_per_second=speed("function"),
        convolutions=tuple(
            Convolving(sample.features, sample.amount / sample.seconds)
            for sample in by_what.get("convolution", ())
            if sample.features is not None
        ),
        op_seconds=op_seconds,
        overlap=0.0,
    )


def memory_share(devices: int) -> int | None:
    """Return each virtual device's share of this machine's memory, None if unknown."""
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // devices


def measured(devices: int, repeats: int = 20) -> list[Sample]:
    """Measure virtual CPU devices of JAX, in a process of its own.

    Args:
        devices: how many there are to be, a power of two.
        repeats: how often each program runs; the fastest run counts.

    Raises:
        CompileError: JAX is not installed, or its process fails.
    """
    if find_spec("jax") is None:
        raise CompileError(
            "JAX is not installed, and its devices are measured",
            hint="pip install jax",
        )
    env = {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "JAX_PLATFORMS": "cpu",
    }
    try:
        with Worker(_WORKER, env) as worker:
            listed = worker.ask({"devices": devices, "repeats": repeats})
    except OSError as error:
        reason = error.strerror or str(error)
        raise CompileError(f"cannot run JAX: {reason}") from error
    except WorkerEndedError as error:
        raise CompileError(f"JAX cannot measure: {complaint(error.log)}") from error
    return [
        Sample(kind, amount, size, seconds, tuple(features) if features else None)
        for kind, amount, size, seconds, features in listed
    ]
