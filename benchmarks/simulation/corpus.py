"""The virtual mesh beside XLA on every program of the JAX corpus, one after the other.

    python benchmarks/simulation/corpus.py            # the figures, ten minutes
    python benchmarks/simulation/corpus.py NAME…      # of some programs

Each program of `tests/differential/corpus.py` gets random shardings over 2 x 4 devices.
XLA compiles it and runs it on eight host devices, in a process of its own; then we run its
form after stage 13, and its ttnn. Both are warm, and the median of five runs counts, of
the processor and by the clock. Most programs are so small that XLA's time is that of
starting eight devices; the mean that counts is of those on which either side spends a
millisecond or more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from math import exp, log
from pathlib import Path
from statistics import median
from typing import IO, Any, cast

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402

from tests.differential.corpus import programs  # noqa: E402
from tests.differential.partitioning import (  # noqa: E402
    MESHES,
    arguments_of,
    sharded_program,
)
from ttxdsl.conversion.stablehlo_to_ttir.convert import convert_stablehlo_to_ttir  # noqa: E402
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn  # noqa: E402
from ttxdsl.diagnostics.errors import CompileError  # noqa: E402
from ttxdsl.diagnostics.remarks import collect_remarks  # noqa: E402
from ttxdsl.interpreters.kernels.elements import tensor_of  # noqa: E402
from ttxdsl.interpreters.runtime.run import Runner, entry_function  # noqa: E402
from ttxdsl.loading.program import make_context, parse_program  # noqa: E402
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass  # noqa: E402

MESH, DEVICES = "2x4", 8
WARM, ROUNDS = 2, 5
LARGE = 1e-3
"""Seconds of the processor that a program takes to count."""

Times = tuple[float, float]
"""Seconds of the processor, and by the clock."""


def _serve() -> None:
    """For each line read, a folder: compile and run its program, and say how long."""
    import jax

    from ttxdsl.bridges.xla import worker

    jax.config.update("jax_enable_x64", True)
    program_of: Any = worker._Program  # pyright: ignore[reportPrivateUsage]
    for line in sys.stdin:
        folder = Path(line.strip())
        try:
            program = program_of(folder, None, DEVICES)
            with np.load(folder / "arguments.npz") as stored:
                program.place([stored[f"{i}"] for i in range(len(stored))])
            for _ in range(WARM + ROUNDS):
                program.run()
            found = median(program.cpu_seconds[WARM:]), median(program.seconds[WARM:])
        except Exception:
            found = None
        print(json.dumps(found), flush=True)


class _Xla:
    """The process that runs programs with XLA, made anew where one ends it."""

    def __init__(self) -> None:
        flags = f"--xla_force_host_platform_device_count={DEVICES}"
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        )

    def run(self, folder: Path) -> Times | None:
        """Seconds of a run; None where XLA refuses the program."""
        there = cast(IO[str], self.process.stdin)
        there.write(f"{folder}\n")
        there.flush()
        answer = cast(IO[str], self.process.stdout).readline()
        if not answer:
            self.process.wait()
            self.__init__()
            return None
        found = json.loads(answer)
        return None if found is None else (found[0], found[1])

    def close(self) -> None:
        """End it."""
        cast(IO[str], self.process.stdin).close()
        self.process.wait()


def _seconds(run: Callable[[], Any]) -> Times:
    taken: list[Times] = []
    for _ in range(WARM + ROUNDS):
        busy, start = time.process_time(), time.perf_counter()
        run()
        taken.append((time.process_time() - busy, time.perf_counter() - start))
    busy, clock = zip(*taken[WARM:], strict=True)
    return median(busy), median(clock)


def _ours(module: ModuleOp, arguments: list[Any]) -> dict[str, Times]:
    """What each form takes; without those that the stages or lowerings refuse."""
    found: dict[str, Times] = {}
    try:
        with collect_remarks():
            TTStableHLOPipelinePass().apply(make_context(), module)
            runner = Runner(module)
            found["stage 13"] = _seconds(lambda: runner.run(arguments))
            convert_stablehlo_to_ttir(module)
            convert_ttir_to_ttnn(module)
            lowered = Runner(module)
            found["ttnn"] = _seconds(lambda: lowered.run(arguments))
    except (CompileError, NotImplementedError):
        pass
    return found


def measure(*names: str) -> dict[str, dict[str, Times]]:
    """What each program takes, by who runs it: `xla`, `stage 13`, `ttnn`."""
    taken: dict[str, dict[str, Times]] = {}
    xla = _Xla()
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for one in programs():
                if names and one.name not in names:
                    continue
                module = sharded_program(
                    one.pretty, MESHES[MESH], f"{one.name} {MESH} 0"
                )
                if module is None:
                    continue
                types = entry_function(module).function_type.inputs
                if any(-1 in tensor_of(one)[0] for one in types):
                    continue  # of dynamic shape
                arguments = arguments_of(module, 0, tagged=False)
                (folder / "program.mlir").write_text(str(module))
                numbered: dict[str, Any] = {f"{i}": x for i, x in enumerate(arguments)}
                np.savez(folder / "arguments.npz", **numbered)
                theirs = xla.run(folder)
                if theirs is None:
                    continue
                ours = _ours(parse_program(str(module)), arguments)
                taken[one.name] = {"xla": theirs, **ours}
    finally:
        xla.close()
    return taken


def means(taken: dict[str, dict[str, Times]], form: str, which: int) -> str:
    """Geometric means of our time to XLA's: of all, and of what takes long enough."""
    both = {name: one for name, one in taken.items() if form in one}
    ratios = {name: one[form][which] / one["xla"][which] for name, one in both.items()}
    large = [
        ratios[name]
        for name, one in both.items()
        if max(one[form][which], one["xla"][which]) >= LARGE
    ]
    parts = [
        f"{len(one)} programs {exp(sum(map(log, one)) / len(one)):.2f}"
        for one in (list(ratios.values()), large)
        if one
    ]
    return "; of 1 ms and more: ".join(parts)


def main() -> None:
    """Print the means, and the programs that take longest beside XLA's."""
    if sys.argv[1:] == ["--serve"]:
        _serve()
        return
    taken = measure(*sys.argv[1:])
    for form in ("stage 13", "ttnn"):
        for which, what in enumerate(("processor", "clock")):
            print(f"{form}, {what}: {means(taken, form, which)}")
        worst = sorted(
            (one for one in taken.items() if form in one[1]),
            key=lambda one: -one[1][form][0] / one[1]["xla"][0],
        )
        for name, one in worst[:15]:
            ours, theirs = one[form][0] * 1e3, one["xla"][0] * 1e3
            print(f"  {name}: {ours:.2f} ms, XLA {theirs:.2f}, {ours / theirs:.1f}")


if __name__ == "__main__":
    main()
