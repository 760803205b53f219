"""Does the time model rank meshes and shardings as measured times do?

    python benchmarks/xla/time_model.py                       # calibrates, measures, writes docs
    python benchmarks/xla/time_model.py --machine here.json   # with a machine that was measured
    python benchmarks/xla/time_model.py --rounds 30 --meshes 12

Five models without shardings are compiled for up to 40 meshes of eight devices that `ttxdsl
doctor` tries; of these, evenly from the first by the model to the last, some run: each program of one device (after stage 13) runs on JAX's eight virtual CPU
devices, as it is: XLA has nothing left to partition. All programs of a model run in turn,
and of the rounds the fastest counts, so that what else the machine does hits all alike. The
rank correlation (Spearman) of modelled and measured times and a scatter plot go to
docs/evidence/time-model.md.
"""

from __future__ import annotations

import os

DEVICES = 8
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
os.environ["JAX_PLATFORMS"] = "cpu"

import argparse  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[2]))

from ttxdsl.analysis.usage.timeline import timeline  # noqa: E402
from ttxdsl.bridges.jax.manual_sharding_export import export_manual_sharding  # noqa: E402
from ttxdsl.bridges.xla import worker  # noqa: E402
from ttxdsl.bridges.xla.calibrating import fit, measured  # noqa: E402
from ttxdsl.costs.machines import Machine, machine_of  # noqa: E402
from ttxdsl.diagnostics.errors import CompileError  # noqa: E402
from ttxdsl.insight.doctor.doctor import diagnose  # noqa: E402
from ttxdsl.insight.doctor.meshes import Candidate, apply_candidate  # noqa: E402
from ttxdsl.interpreters.runtime.run import entry_function  # noqa: E402
from ttxdsl.loading.program import make_context, parse_program, program_text  # noqa: E402
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass  # noqa: E402
from ttxdsl.transforms.stages.inline import InlinePass  # noqa: E402

MOST = 40
"""Meshes of a model that are compiled, of which those that run are picked."""

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "time-model.md"
Function = Callable[..., Any]


# --- the models -------------------------------------------------------------------


def array(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def stepped(forward: Function) -> Function:
    """A training step: the parameters after it."""

    def step(p: Any, x: Any) -> Any:
        grads = jax.grad(lambda p: (forward(p, x) ** 2).mean())(p)
        return jax.tree.map(lambda a, b: a - 1e-3 * b, p, grads)

    return step


def mlp(p: Any, x: Any) -> Any:
    for up, down in p:
        x = x + jax.nn.relu(x @ up) @ down
    return x


def attention(p: Any, x: Any) -> Any:
    batch, length, width = x.shape

    def heads(w: Any) -> Any:
        return (x @ w).reshape(batch, length, 8, -1).transpose(0, 2, 1, 3)

    q, k, v = heads(p["wq"]), heads(p["wk"]), heads(p["wv"])
    weights = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / 4)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", weights, v)
    return x + mixed.transpose(0, 2, 1, 3).reshape(batch, length, width) @ p["wo"]


def experts(p: Any, x: Any) -> Any:
    gates = jax.nn.softmax(x @ p["router"])
    hidden = jax.nn.relu(jnp.einsum("td,edf->etf", x, p["up"]))
    each = jnp.einsum("etf,efd->etd", hidden, p["down"])
    return jnp.einsum("te,etd->td", gates, each)


def convolutions(p: Any, x: Any) -> Any:
    for w in p["convs"]:
        x = jax.lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(x)
    return x.mean((1, 2)) @ p["dense"]


def scanned(p: Any, x: Any) -> Any:
    def layer(x: Any, p: Any) -> Any:
        return x + jnp.tanh(x @ p["up"]) @ p["down"], None

    return jax.lax.scan(layer, x, p)[0]


_WIDE = {name: array(256, 256) for name in ("wq", "wk", "wv", "wo")}
MODELS: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "MLP, training step": (
        stepped(mlp),
        ([(array(256, 1024), array(1024, 256))] * 3, array(256, 256)),
    ),
    "attention, inference": (attention, (_WIDE, array(8, 128, 256))),
    "mixture of experts, inference": (
        experts,
        (
            {
                "router": array(128, 8),
                "up": array(8, 128, 512),
                "down": array(8, 512, 128),
            },
            array(512, 128),
        ),
    ),
    "convolutions, inference": (
        convolutions,
        (
            {"convs": [array(3, 3, 16, 32), array(3, 3, 32, 32)], "dense": array(32, 64)},
            array(32, 32, 32, 16),
        ),
    ),
    "scanned MLP of 8 layers, training step": (
        stepped(scanned),
        ({"up": array(8, 256, 512), "down": array(8, 512, 256)}, array(128, 256)),
    ),
}  # fmt: skip


# --- modelled and measured --------------------------------------------------------


@dataclass(slots=True)
class Trial:
    """One mesh of one model."""

    mesh: str
    modelled: float
    run: Callable[[], Any]
    seconds: list[float] = field(default_factory=list[float])

    @property
    def fastest(self) -> float:
        """Of the rounds."""
        return min(self.seconds)


def per_device(text: str, candidate: Candidate) -> Any:
    """The program of one device for a mesh."""
    context, module = make_context(), parse_program(text)
    InlinePass().apply(
        context, module
    )  # a candidate's products are those of one function
    apply_candidate(module, entry_function(module), candidate)
    TTStableHLOPipelinePass().apply(context, module)
    return module


def runner(module: Any) -> Callable[[], Any]:
    """Runs a program of one device on JAX's devices, inputs in their places."""
    function = entry_function(module)
    types = [one.type for one in function.body.block.args]
    text = program_text(export_manual_sharding(module).module)
    executable = worker.compile_text(text, DEVICES)
    chance = np.random.default_rng(0)
    values = [
        chance.standard_normal(one.get_shape(), dtype=np.float32) / 16 for one in types
    ]
    places = worker._shardings(  # pyright: ignore[reportPrivateUsage]
        executable.get_parameter_shardings(), len(values), DEVICES
    )
    placed = [
        jax.device_put(value, place)
        for value, place in zip(values, places, strict=True)
    ]

    def run() -> Any:
        outputs = executable.execute_sharded(placed)
        parts = outputs.disassemble_into_single_device_arrays()
        jax.block_until_ready(parts)

    return run


def trials(text: str, machine: Machine, meshes: int) -> list[Trial]:
    """The meshes of a model, compiled."""
    diagnosis = diagnose(parse_program(text), DEVICES, machine=machine, limit=MOST)
    # from the best to the worst: those that are nearly alike have no order to find
    picked = np.linspace(0, len(diagnosis.rows) - 1, meshes).round().astype(int)
    found: list[Trial] = []
    for row in [diagnosis.rows[at] for at in dict.fromkeys(picked.tolist())]:
        module = per_device(text, row.candidate)
        modelled = timeline(module, machine).seconds
        try:
            run = runner(module)
            run()
        except (CompileError, RuntimeError, ValueError) as error:
            print(f"  {row.candidate}: {str(error)[:200]}", file=sys.stderr)
            continue
        found.append(Trial(str(row.candidate), modelled, run))
    return found


def run_rounds(found: Sequence[Trial], rounds: int) -> None:
    for _ in range(rounds):
        for one in found:
            start = time.perf_counter()
            one.run()
            one.seconds.append(time.perf_counter() - start)


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """The correlation of ranks; equal numbers share theirs."""

    def ranks(numbers: Sequence[float]) -> Any:
        order = np.array(numbers)
        return np.array([(order < n).sum() + (order == n).sum() / 2 for n in order])

    return float(np.corrcoef(ranks(first), ranks(second))[0, 1])


# --- the page ---------------------------------------------------------------------


def scatter(found: Sequence[Trial], width: int = 56, height: int = 14) -> str:
    """Modelled (right) against measured (up), both as logarithms."""
    points = np.log([[one.modelled, one.fastest] for one in found])
    low, high = points.min(0), points.max(0)
    span = np.where(high > low, high - low, 1.0)
    grid = [[" "] * width for _ in range(height)]
    for x, y in (points - low) / span:
        grid[height - 1 - round(y * (height - 1))][round(x * (width - 1))] = "o"
    lines = [f"  |{''.join(line).rstrip()}" for line in grid]
    (left, bottom), (right, top) = np.exp(low) * 1e3, np.exp(high) * 1e3
    head = f"measured {bottom:.2f} to {top:.2f} ms"
    foot = f"   modelled {left:.2f} to {right:.2f} ms"
    return "\n".join([head, *lines, f"  +{'-' * width}", foot])


def page(results: dict[str, list[Trial]], machine: Machine, rounds: int) -> str:
    """The evidence."""
    rank = {
        name: spearman([t.modelled for t in found], [t.fastest for t in found])
        for name, found in results.items()
    }
    rows = "\n".join(
        f"| {name} | {len(found)} | {min(t.fastest for t in found) * 1e3:.1f} to"
        f" {max(t.fastest for t in found) * 1e3:.1f} ms | {rank[name]:.2f} |"
        f" {min(found, key=lambda t: t.fastest).mesh} |"
        f" {min(found, key=lambda t: t.modelled).mesh} |"
        for name, found in results.items()
    )
    plots = "\n\n".join(
        f"**{name}**\n\n```\n{scatter(found)}\n```" for name, found in results.items()
    )
    load = os.getloadavg()[0]
    mean = sum(rank.values()) / len(rank)
    return f"""\
# Does the time model rank?

Written by `python benchmarks/xla/time_model.py`. Five models without shardings, on meshes of
eight devices that `ttxdsl doctor` tries (up to {MOST} of a model are compiled, and of these, evenly
from the first by the model to the last, as many run as the table says): what the [time model](../guide/time.md) says, after
`ttxdsl calibrate` on the same machine, against what the program of one device takes on JAX's
{DEVICES} virtual CPU devices, on {os.cpu_count()} cores, with a load of {load:.0f} from this and other
processes. The fastest of {rounds} rounds
counts; the programs of a model run in turn. The rank correlation is Spearman's: 1 is the same
order, 0 is none.

The machine, as it was {machine}; a collective takes
{machine.link.setup * 1e6:.0f} us besides, an op {machine.op_seconds * 1e6:.1f} us.

| model | meshes | measured | rank correlation | fastest, measured | fastest, modelled |
|---|---|---|---|---|---|
{rows}

In the mean {mean:.2f}; the least is {min(rank.values()):.2f}. Where something else ran on the
machine meanwhile, the order of meshes that are nearly alike is chance: measure again when it is
quiet.

## Plots

Modelled times to the right, measured ones upwards, both in logarithms.

{plots}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--machine", type=Path, help="a file of `ttxdsl calibrate`")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--meshes", type=int, default=12, help="of each model")
    parser.add_argument("--only", help="part of a model's name; writes no page")
    options = parser.parse_args()
    machine = (
        machine_of(options.machine.read_text())
        if options.machine
        else fit(measured(DEVICES))
    )
    print(machine)
    results: dict[str, list[Trial]] = {}
    for name, (function, arguments) in MODELS.items():
        if options.only and options.only not in name:
            continue
        text = jax.jit(function).lower(*arguments).as_text()
        found = trials(text, machine, options.meshes)
        run_rounds(found, options.rounds)
        results[name] = found
        rank = spearman([t.modelled for t in found], [t.fastest for t in found])
        print(f"{name}: {rank:.2f}")
        for one in sorted(found, key=lambda one: one.fastest):
            print(
                f"  {one.fastest * 1e3:8.2f} ms  modelled {one.modelled * 1e3:8.2f} ms"
                f"  {one.mesh}"
            )
    if not options.only:
        PAGE.write_text(page(results, machine, options.rounds), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
