"""The engine `mpi`: what the processes of MPI do beside each other.

Process 0 reads and compiles the program, compares and reports; all run what it hands
out. Inputs are files that each process maps, so that it reads its own parts only.
"""

import json
import os
import re
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, astuple
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import DiagnosticException, ParseError

from ttxdsl.analysis.values.argument_demands import ValueDemand, argument_demands
from ttxdsl.analysis.values.intervals import Interval
from ttxdsl.api.forms import ProgramForm
from ttxdsl.bridges.mpi.engine import RankRunner
from ttxdsl.bridges.mpi.processes import World
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.insight.run.engines import EngineKind, ProcessUse, RunSettings, Team
from ttxdsl.insight.run.inputs import load_inputs
from ttxdsl.interpreters.inputs import map_random_inputs, write_random_inputs
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.loading.program import parse_program

Array = NDArray[Any]

_STATUS = Path("/proc/self/status")
_FORGET_PEAK = Path("/proc/self/clear_refs")


class _Team:
    """Process 0 among the others: what is to be done, it has all of them do."""

    def __init__(self, world: World, settings: RunSettings) -> None:
        self._world, self._settings = world, settings
        self._exit_stack = ExitStack()
        self._folder = ""
        self._demands: list[ValueDemand] = []
        self.uses: list[ProcessUse] = []

    def inputs(self, function: FuncOp) -> list[Array]:
        """Return the inputs, which every process is to find."""
        if self._settings.inputs is not None:
            return load_inputs(self._settings.inputs, function, mapped=True)
        self._folder = self._exit_stack.enter_context(
            TemporaryDirectory(prefix="ttxdsl-")
        )
        self._demands = argument_demands(function)
        folder = Path(self._folder)
        return write_random_inputs(function, self._settings.seed, folder, self._demands)

    def run(self, text: str, inputs: Sequence[Array]) -> Sequence[Array]:
        """The results of a per-device program; none unless they are to be compared."""
        demands = [asdict(demand) for demand in self._demands]
        told = {"program": text, "folder": self._folder, "demands": demands}
        self._world.text(json.dumps(told))
        results, self.uses = _run(self._world, self._settings, text, lambda _: inputs)
        return results

    def close(self) -> None:
        """Remove the inputs that were made."""
        self._exit_stack.close()


class _Mpi(EngineKind):
    label = "MPI's processes"
    has_processes = True

    def make(self, program: ProgramForm, settings: RunSettings) -> RankRunner:
        return RankRunner(program.module, World(), limits=settings.limits)

    def lead(self, settings: RunSettings, work: Callable[[Team | None], int]) -> int:
        world = World()

        def own_work() -> int:
            if world.rank:
                return _follow(world, settings)
            team = _Team(world, settings)
            try:
                return work(team)
            finally:
                team.close()

        def explain(error: Exception) -> str:
            if isinstance(error, DiagnosticException | ParseError):
                return settings.explain(error)
            if isinstance(error, MemoryError):
                return f"error: there is not enough memory: {error}"
            if isinstance(error, OSError):
                return f"error: {error}"
            return "".join(traceback.format_exception(error)).rstrip()

        return world.run(own_work, explain)


MPI = _Mpi()
"""The processes that `mpiexec` started, each with the shards of its devices."""


def _follow(world: World, settings: RunSettings) -> int:
    """Run the program as a process other than the first; return the exit code."""
    told = json.loads(world.text(None))

    def inputs(function: FuncOp) -> Sequence[Array]:
        if settings.inputs is not None:
            return load_inputs(settings.inputs, function, mapped=True)
        folder = Path(told["folder"])
        if folder.is_dir():
            return map_random_inputs(function, folder)
        # a machine other than the first process's
        with TemporaryDirectory(prefix="ttxdsl-") as own:
            demands = [
                ValueDemand(**demand | {"within": Interval(*demand["within"])})
                for demand in told["demands"]
            ]
            return write_random_inputs(function, settings.seed, Path(own), demands)

    _run(world, settings, told["program"], inputs)
    return 0


def _run(
    world: World,
    settings: RunSettings,
    text: str,
    inputs: Callable[[FuncOp], Sequence[Array]],
) -> tuple[Sequence[Array], list[ProcessUse]]:
    """Run a program together: results to compare, and what each process took.

    Both are for process 0; the others get nothing of use.
    """
    module = parse_program(text, visible(settings.source))
    runner = RankRunner(module, world, limits=settings.limits)
    world.doing = "reading the inputs"
    placed = runner.place(inputs(runner.function))
    world.doing = "the start of the run"
    world.together()
    with suppress(OSError):
        _FORGET_PEAK.write_text("5")
    before, waited, sent = _memory("VmRSS"), world.waited, world.sent
    start = time.perf_counter()
    results = runner.leaving(runner.call(placed))
    seconds = time.perf_counter() - start
    use = ProcessUse(
        world.rank,
        world.shards,
        sum(_own_bytes(world, x) for x in results),
        max(0, _memory("VmHWM") - before),
        world.sent - sent,
        seconds,
        world.waited - waited,
    )
    row = np.array([astuple(use)], np.float64)
    world.doing = "gathering what each process took"
    table = world.gathered(range(world.size), row, [1] * world.size, 0)
    if settings.results is not None:
        _write(world, results, settings.results)
    outputs: list[Array] = []
    if settings.compare:
        outputs = [x for x in runner.gathered(results) if x is not None]
    return outputs, [] if table is None else [_use(row) for row in table]


def _use(row: Array) -> ProcessUse:
    process, shards, results, peak, sent = (int(x) for x in row[:5])
    return ProcessUse(
        process, shards, results, peak, sent, float(row[5]), float(row[6])
    )


def _own_bytes(world: World, result: Any) -> int:
    if isinstance(result, Scattered):
        return sum(part.nbytes for _, part in result.parts)
    return result.nbytes if result is not None and world.rank == 0 else 0


def _memory(name: str) -> int:
    """Bytes that the system says of this process; 0 where it does not."""
    with suppress(OSError):
        match = re.search(rf"^{name}:\s*(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
        return int(match[1]) << 10 if match else 0
    return 0


def _write(world: World, results: Sequence[Any], folder: Path) -> None:
    """Results as `result0.npy`, …, each part by the process that has it.

    They get their names when all parts of all of them are written.
    """
    shown = visible(str(folder))
    names: list[str] = []
    try:
        if world.rank == 0:
            folder.mkdir(exist_ok=True)
            for x in results:
                names.append(f".ttxdsl-{os.urandom(8).hex()}.npy")
                if x is not None:
                    _create(folder / names[-1], x)
        told: list[str] = json.loads(world.text(json.dumps(names)))
        for name, x in zip(told, results, strict=True):
            if isinstance(x, Scattered) and x.parts and 0 not in x.shape:
                file = open_memmap(folder / name, mode="r+")
                for place, part in x.parts:
                    file[place] = _plain(part)
                file.flush()
        world.doing = "writing the results"
        world.together()
        for at, (name, x) in enumerate(zip(names, results, strict=False)):
            if x is not None:
                (folder / name).replace(folder / f"result{at}.npy")
    except OSError as error:
        reason = error.strerror or str(error)
        raise CompileError(f"cannot write to '{shown}': {reason}") from error
    finally:
        for name in names:
            with suppress(OSError):
                (folder / name).unlink(missing_ok=True)


def _create(path: Path, x: Any) -> None:
    """A file for a result: of all its elements what process 0 has whole."""
    if isinstance(x, Scattered) and 0 not in x.shape:
        dtype = x.dtype if x.dtype.isbuiltin == 1 else np.dtype(f"V{x.dtype.itemsize}")
        open_memmap(path, mode="w+", dtype=dtype, shape=x.shape).flush()
    else:
        whole = np.empty(x.shape, x.dtype) if isinstance(x, Scattered) else x
        with path.open("xb") as file:
            np.save(file, _plain(whole))


def _plain(x: Array) -> Array:
    """Elements as NumPy stores them: those that it does not know as raw bytes."""
    return x if x.dtype.isbuiltin == 1 else x.view(f"V{x.dtype.itemsize}")
