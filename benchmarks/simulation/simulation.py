"""The virtual mesh beside XLA: one sharded program, run by both, in one run.

    python benchmarks/simulation/simulation.py            # the figures
    python benchmarks/simulation/simulation.py --json FILE

A transformer of four layers and width 512 (`models.py`), forward, sharded over data and
model on a 2 x 4 mesh. JAX runs it on eight host devices in a process of its own; we run
its ttnn form on the virtual mesh. They take turns, both warm; a figure is the median.
So does a training step of four small layers in a scan, whose ops take microseconds, in
the ttnn form and in that of stage 13; with 16 layers it shows how a scan's time grows.
Memory is what NumPy allocates during a run, beside what the arguments and the largest
set of live values need if every distinct shard is held once. The same program on 16 x 16
devices shows what more devices cost where the work to do stays the same; it also runs
beside JAX on 256 host devices.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import IO, Any, cast

sys.path.insert(0, str(Path(__file__).parents[1] / "speed"))

import models
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info  # pyright: ignore[reportMissingTypeStubs]
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.conversion.stablehlo_to_ttir.convert import convert_stablehlo_to_ttir
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.kernels.elements import tensor_of
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

Array = NDArray[Any]

RATIO = 1.5
"""What every ratio should not exceed."""

SIZES = models.Sizes(batch=16, length=64, width=512, heads=16, vocabulary=1024)


@dataclass(frozen=True)
class Case:
    """A transformer that both sides run."""

    layers: int
    kind: str
    sizes: models.Sizes
    scanned: bool = False
    scheme: str = "data and model"


CASES = {
    "forward": Case(4, "forward", SIZES),
    "forward, 16 x 16": Case(4, "forward", SIZES, scheme=models.LARGE),
    "scanned": Case(4, "train", models.Sizes(), scanned=True),
    "scanned, 16 layers": Case(16, "train", models.Sizes(), scanned=True),
}

SMALL_MESH = '["data"=2, "model"=4]'
LARGE_MESH = '["data"=16, "model"=16]'


def inputs_of(module: ModuleOp, sizes: models.Sizes) -> list[Array]:
    """Arguments of the entry function: small numbers and tokens of the vocabulary."""
    rng = np.random.default_rng(0)
    made: list[Array] = []
    for type in entry_function(module).function_type.inputs:
        shape, dtype = tensor_of(type)
        if dtype.kind in "iu":
            made.append(rng.integers(0, sizes.vocabulary, shape).astype(dtype))
        else:
            made.append((rng.standard_normal(shape) * 0.05).astype(dtype))
    return made


# --- the other side: a process with eight host devices ---------------------------


def _serve(case: Case) -> None:
    """Write the program's text; then for each line read, run it and say how long."""
    lowered = models.lower(
        case.layers, case.kind, case.sizes, case.scheme, scanned=case.scanned
    )
    import jax

    text = lowered.as_text()
    compiled = lowered.compile()
    module = parse_program(text)
    shardings = jax.tree.leaves(compiled.input_shardings[0])
    arrays = [
        jax.device_put(x, sharding)
        for x, sharding in zip(inputs_of(module, case.sizes), shardings, strict=True)
    ]
    tree = jax.tree.structure(compiled.input_shardings[0])
    arguments = jax.tree.unflatten(tree, arrays)
    print(json.dumps(text), flush=True)
    for _ in sys.stdin:
        start, busy = time.perf_counter(), time.process_time()
        result = compiled(*arguments)
        jax.block_until_ready(result)
        seconds = time.perf_counter() - start, time.process_time() - busy
        first = np.asarray(jax.tree.leaves(result)[0]).reshape(-1)[:64]
        print(json.dumps([*seconds, first.astype(float).tolist()]), flush=True)


def _without(told: str) -> dict[str, str]:
    """The environment without a variable that says what is found out or said here."""
    return {name: value for name, value in os.environ.items() if name != told}


class _Peer:
    """The process that runs JAX on a case."""

    def __init__(self, name: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # how many devices there are, a case says
            env=_without("XLA_FLAGS") | {"JAX_PLATFORMS": "cpu"},
        )
        self.text: str = self._answer()

    def _answer(self) -> Any:
        stream: IO[str] | None = self.process.stdout
        assert stream is not None
        return json.loads(stream.readline())

    def run(self) -> tuple[float, float, list[float]]:
        """Seconds of one run (clock, processor), and the first numbers of its result."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return tuple(self._answer())

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


# --- our side ---------------------------------------------------------------------


def local_program(text: str, mesh: str) -> ModuleOp:
    """The per-device form of a program exported for the small mesh, on another one."""
    module = parse_program(text.replace(SMALL_MESH, mesh))
    with collect_remarks():
        TTStableHLOPipelinePass().apply(make_context(), module)
    return module


def lowered_program(text: str, mesh: str) -> ModuleOp:
    """The same in ttnn."""
    module = local_program(text, mesh)
    convert_stablehlo_to_ttir(module)
    convert_ttir_to_ttnn(module)
    return module


def seconds_of(runner: Runner, inputs: list[Array]) -> tuple[float, float, Array]:
    """Seconds of one run, by the clock and of the processor, and its first result."""
    start, busy = time.perf_counter(), time.process_time()
    results = runner.run(inputs)
    return time.perf_counter() - start, time.process_time() - busy, results[0]


class _Watch(Interpreter.Listener):
    """Counts products and bytes while a program runs.

    Attributes:
        products: matrix products of distinct shards, over all matmuls.
        needed: the most bytes of distinct elements that were alive at once, arguments
            and results included, every memory counted once.
    """

    def __init__(self) -> None:
        self.products = 0
        self.needed = 0
        self._alive: dict[int, tuple[weakref.ref[Any], int]] = {}

    def did_interpret_op(self, op: Operation, results: tuple[Any, ...]) -> None:
        """Look at what an op made."""
        for result, value in zip(op.results, results, strict=True):
            if not isinstance(value, np.ndarray):
                continue
            owner = _owner(cast(Array, value))
            self._alive[id(owner)] = weakref.ref(owner), _held(owner)
            if op.name == "ttnn.matmul":
                local = len(tensor_of(result.type)[0])
                self.products += int(np.prod(value.shape[: value.ndim - local]))
        self._alive = {k: v for k, v in self._alive.items() if v[0]() is not None}
        self.needed = max(self.needed, sum(size for _, size in self._alive.values()))


def _owner(value: Array) -> Array:
    """The array whose memory a view looks at."""
    while isinstance(value.base, np.ndarray):
        value = value.base
    return value


def _held(value: Array) -> int:
    """Bytes of an array, repeated elements counted once."""
    distinct = [n for n, s in zip(value.shape, value.strides, strict=True) if s]
    return int(np.prod(distinct)) * value.itemsize


def peak_bytes(runner: Runner, inputs: list[Array]) -> int:
    """The most that NumPy holds at once during a run, the arguments included."""
    tracemalloc.start()
    runner.run(inputs)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak + sum(x.nbytes for x in inputs)


# --- the figures --------------------------------------------------------------------


def measure(*, small: bool = False) -> list[dict[str, Any]]:
    """The figures as lines of a table, beside what they should be."""
    found = measured(small=small)

    def line(name: str, value: float, target: float | None = None) -> dict[str, Any]:
        verdict = "" if target is None else "met" if value <= target else "NOT met"
        wanted = "" if target is None else f"at most {target:g}"
        return {"figure": name, "measured": value, "target": wanted, "": verdict}

    seconds, busy, products = found["seconds"], found["cpu"], found["products"]
    return [
        *(line(f"{name}, ms", seconds[name] * 1e3) for name in seconds),
        *(line(f"{name}, CPU ms", busy[name] * 1e3) for name in busy),
        line("ours to JAX", found["ratio to JAX"], RATIO),
        line("ours to JAX, CPU time", found["ratio to JAX, cpu"], RATIO),
        line(
            "16x16 to JAX on 256 devices", found["as many devices"]["ratio to JAX"], 1
        ),
        *(line(f"distinct products, {name}", products[name]) for name in products),
        line("16x16 to 2x4, a product", found["ratio a product"], RATIO),
        line("16x16 to 2x4, the program", found["ratio of 16x16"]),
        *(
            line(f"peak memory, {name}, MB", found["peak bytes"][name] / 1e6)
            for name in products
        ),
        *(
            line(
                f"peak to needed memory, {name}", found["ratio of memory"][name], RATIO
            )
            for name in products
        ),
    ]


def measured(*, small: bool = False) -> dict[str, Any]:
    """All figures, from a process of its own (`figures`).

    BLAS gets the cores that are idle, at least one: its threads wait for each other, on
    a machine that others use for a long time. One of the load is our own. Which kernels it
    takes is its own choice, as XLA's is: a machine that is set up to compute the same bits
    as others do may keep it to older processors' (`OPENBLAS_CORETYPE`).
    """
    others = max(0, round(os.getloadavg()[0]) - 1)
    idle = (os.cpu_count() or 1) - others
    threads = os.environ.get("OPENBLAS_NUM_THREADS", str(max(idle, 1)))
    done = subprocess.run(
        [sys.executable, __file__, "--here", *(["--small"] if small else [])],
        capture_output=True,
        text=True,
        check=False,
        env=_without("OPENBLAS_CORETYPE") | {"OPENBLAS_NUM_THREADS": threads},
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout) | {"BLAS threads": int(threads)}


def taking_turns(
    name: str, forms: dict[str, Callable[[str], ModuleOp]], rounds: int
) -> tuple[dict[str, Runner], list[Array], dict[str, list[tuple[float, float]]]]:
    """JAX and the forms of a case, one after the other, twice to get warm and `rounds`.

    Returns:
        What runs each form, the inputs, and the seconds of each round by the clock and
        of the processor, JAX's as `jax`.
    """
    case, peer = CASES[name], _Peer(name)
    try:
        runners = {form: Runner(made(peer.text)) for form, made in forms.items()}
        inputs = inputs_of(parse_program(peer.text), case.sizes)
        times: dict[str, list[tuple[float, float]]] = {"jax": []}
        for number in range(rounds + 2):
            *theirs, numbers = peer.run()
            found = {"jax": (theirs[0], theirs[1])}
            for form, runner in runners.items():
                clock, busy, result = seconds_of(runner, inputs)
                np.testing.assert_allclose(
                    result.reshape(-1)[:64], numbers, rtol=1e-3, atol=1e-4
                )
                found[form] = clock, busy
            if number >= 2:  # warm
                for form, one in found.items():
                    times.setdefault(form, []).append(one)
    finally:
        peer.close()
    return runners, inputs, times


def _medians(
    times: dict[str, list[tuple[float, float]]], which: int
) -> dict[str, float]:
    return {
        form: statistics.median(one[which] for one in found)
        for form, found in times.items()
    }


def scanned(rounds: int) -> dict[str, Any]:
    """A scanned training step: medians in seconds, by the clock and in `cpu`.

    `growth` is the exponent of the ttnn form's processor time in the length of the scan.
    """
    forms: dict[str, Callable[[str], ModuleOp]] = {
        "ttnn": lambda text: lowered_program(text, SMALL_MESH),
        "stage 13": lambda text: local_program(text, SMALL_MESH),
    }
    _, _, times = taking_turns("scanned", forms, rounds)
    _, _, longer = taking_turns("scanned, 16 layers", forms, rounds)
    busy, more = _medians(times, 1), _medians(longer, 1)
    return {
        "seconds": _medians(times, 0),
        "cpu": busy,
        "ratio to JAX": {form: busy[form] / busy["jax"] for form in forms},
        "growth": {
            form: log(more[form] / busy[form]) / log(16 / 4) for form in (*forms, "jax")
        },
    }


def as_many_devices(rounds: int) -> dict[str, Any]:
    """The forward pass on 16 x 16 devices beside JAX on 256 host devices.

    Medians in seconds, by the clock and in `cpu`.
    """
    ours: dict[str, Callable[[str], ModuleOp]] = {
        "ttnn": lambda text: lowered_program(text, LARGE_MESH)
    }
    _, _, times = taking_turns("forward, 16 x 16", ours, rounds)
    median, busy = _medians(times, 0), _medians(times, 1)
    return {
        "seconds": median,
        "cpu": busy,
        "ratio to JAX": median["ttnn"] / median["jax"],
        "ratio to JAX, cpu": busy["ttnn"] / busy["jax"],
    }


def figures(rounds: int) -> dict[str, Any]:
    """All figures, in one run, of this process.

    Times are medians in seconds by the clock, and in `cpu` of the processes that
    compute; memory is in bytes.
    """
    runners, inputs, times = taking_turns(
        "forward",
        {
            "2x4": lambda text: lowered_program(text, SMALL_MESH),
            "16x16": lambda text: lowered_program(text, LARGE_MESH),
        },
        rounds,
    )
    median, busy = _medians(times, 0), _medians(times, 1)
    watches: dict[str, _Watch] = {}
    for form, runner in runners.items():
        before = runner.interpreter.listeners
        watches[form] = watch = _Watch()
        runner.interpreter.listeners = (*before, watch)
        runner.run(inputs)
        runner.interpreter.listeners = before
    peaks = {form: peak_bytes(runner, inputs) for form, runner in runners.items()}
    a_product = {key: median[key] / watch.products for key, watch in watches.items()}
    return {
        "seconds": median,
        "cpu": busy,
        "ratio to JAX": median["2x4"] / median["jax"],
        "ratio to JAX, cpu": busy["2x4"] / busy["jax"],
        "products": {key: watch.products for key, watch in watches.items()},
        "seconds a product": a_product,
        "ratio a product": a_product["16x16"] / a_product["2x4"],
        "ratio of 16x16": median["16x16"] / median["2x4"],
        "ratio of 16x16 to JAX, cpu": busy["16x16"] / busy["jax"],
        "peak bytes": peaks,
        "needed bytes": {key: watch.needed for key, watch in watches.items()},
        "ratio of memory": {
            key: peaks[key] / watch.needed for key, watch in watches.items()
        },
        "as many devices": as_many_devices(rounds),
        "scanned": scanned(rounds),
        "BLAS kernels": kernels_of_blas(),
    }


def kernels_of_blas() -> str:
    """What the products of this process are made of, as BLAS calls it."""
    used: Any = threadpool_info()
    return ", ".join(one["architecture"] for one in used if one["user_api"] == "blas")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--serve", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--small", action="store_true", help="three rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    options = parser.parse_args()
    if options.serve:
        _serve(CASES[options.serve])
        return
    found = (
        figures(3 if options.small else 5)
        if options.here
        else measured(small=options.small)
    )
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
