"""`ttxdsl run --engine mpi`: what the processes of MPI do beside each other.

Process 0 reads and compiles the program, compares and reports; all run what it hands
out. Inputs are files that each process maps, so that it reads its own parts only.
"""

import argparse
import json
import os
import re
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray
from rich.table import Table
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import DiagnosticException, ParseError

from ttxdsl.analysis.values.argument_demands import ValueDemand, argument_demands
from ttxdsl.analysis.values.intervals import Interval
from ttxdsl.bridges.mpi.engine import RankRunner
from ttxdsl.bridges.mpi.processes import World
from ttxdsl.cli.console import diagnostic_text
from ttxdsl.cli.input.values import load_inputs
from ttxdsl.cli.options import common as flags
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.interpreters.inputs import map_random_inputs, write_random_inputs
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.loading.program import parse_program

Array = NDArray[Any]

_STATUS = Path("/proc/self/status")
_FORGET_PEAK = Path("/proc/self/clear_refs")


@dataclass(frozen=True, slots=True)
class Use:
    """What one process took.

    Attributes:
        process: its number.
        shards: bytes of its parts of the inputs and of whatever else was split.
        results: bytes of the parts of the results that it answers for.
        peak: bytes of memory that the run added at most, mapped files included.
        sent: bytes that it sent.
        seconds: of the run, and of these, how many it waited.
    """

    process: int
    shards: int
    results: int
    peak: int
    sent: int
    seconds: float
    waited: float


def use_table(uses: Sequence[Use]) -> Table:
    """A table of what the processes took."""
    table = Table(title="Processes", title_justify="left")
    for name in ("process", "shards", "results", "peak memory", "sent", "ms", "waited"):
        table.add_column(name, justify="right")
    for use in uses:
        sizes = (use.shards, use.results, use.peak, use.sent)
        times = (use.seconds, use.waited)
        table.add_row(
            str(use.process),
            *map(bytes_text, sizes),
            *(f"{seconds * 1e3:.1f}" for seconds in times),
        )
    return table


class Team:
    """Process 0 among the others: what is to be done, it has all of them do."""

    def __init__(self, world: World, options: argparse.Namespace) -> None:
        self._world, self._options = world, options
        self._made = ExitStack()
        self._folder = ""
        self._demands: list[ValueDemand] = []
        self.uses: list[Use] = []

    def inputs(self, function: FuncOp) -> list[Array]:
        """The inputs, which every process is to find."""
        if self._options.inputs is not None:
            return load_inputs(self._options.inputs, function, mapped=True)
        self._folder = self._made.enter_context(TemporaryDirectory(prefix="ttxdsl-"))
        self._demands = argument_demands(function)
        folder = Path(self._folder)
        return write_random_inputs(function, self._options.seed, folder, self._demands)

    def run(self, text: str, inputs: Sequence[Array]) -> Sequence[Array]:
        """The results of a per-device program; none unless they are to be compared."""
        demands = [asdict(one) for one in self._demands]
        told = {"program": text, "folder": self._folder, "demands": demands}
        self._world.text(json.dumps(told))
        found, self.uses = _run(self._world, self._options, text, lambda _: inputs)
        return found

    def close(self) -> None:
        """Remove the inputs that were made."""
        self._made.close()


def on_ranks(
    options: argparse.Namespace, lead: Callable[[argparse.Namespace, Team], int]
) -> int:
    """The exit code of a run on all processes, `lead`'s on process 0."""
    world = World()

    def work() -> int:
        if world.rank:
            return _follow(world, options)
        team = Team(world, options)
        try:
            return lead(options, team)
        finally:
            team.close()

    def explain(error: Exception) -> str:
        if isinstance(error, DiagnosticException | ParseError):
            return diagnostic_text(error, flags.sources_of(options))
        if isinstance(error, MemoryError):
            return f"error: there is not enough memory: {error}"
        if isinstance(error, OSError):
            return f"error: {error}"
        return "".join(traceback.format_exception(error)).rstrip()

    return world.run(work, explain)


def _follow(world: World, options: argparse.Namespace) -> int:
    """What a process other than the first does."""
    told = json.loads(world.text(None))

    def inputs(function: FuncOp) -> Sequence[Array]:
        if options.inputs is not None:
            return load_inputs(options.inputs, function, mapped=True)
        folder = Path(told["folder"])
        if folder.is_dir():
            return map_random_inputs(function, folder)
        # another machine than the first process's
        with TemporaryDirectory(prefix="ttxdsl-") as own:
            demands = [
                ValueDemand(**one | {"within": Interval(*one["within"])})
                for one in told["demands"]
            ]
            return write_random_inputs(function, options.seed, Path(own), demands)

    _run(world, options, told["program"], inputs)
    return 0


def _run(
    world: World,
    options: argparse.Namespace,
    text: str,
    inputs: Callable[[FuncOp], Sequence[Array]],
) -> tuple[Sequence[Array], list[Use]]:
    """Run a program together: results to compare, and what each process took.

    Both are for process 0; the others get nothing of use.
    """
    module = parse_program(text, visible(str(options.file)))
    runner = RankRunner(module, world, limits=flags.limits_of(options))
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
    use = Use(
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
    if options.results is not None:
        _write(world, results, options.results)
    found: list[Array] = []
    if options.compare:
        found = [x for x in runner.gathered(results) if x is not None]
    return found, [] if table is None else [_use(row) for row in table]


def _use(row: Array) -> Use:
    process, shards, results, peak, sent = (int(x) for x in row[:5])
    return Use(process, shards, results, peak, sent, float(row[5]), float(row[6]))


def _own_bytes(world: World, result: Any) -> int:
    if isinstance(result, Scattered):
        return sum(part.nbytes for _, part in result.parts)
    return result.nbytes if result is not None and world.rank == 0 else 0


def _memory(name: str) -> int:
    """Bytes that the system says of this process; 0 where it does not."""
    with suppress(OSError):
        found = re.search(rf"^{name}:\s*(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
        return int(found[1]) << 10 if found else 0
    return 0


def _write(world: World, results: Sequence[Any], folder: Path) -> None:
    """Results as `result0.npy`, …, each part by the process that has it.

    They get their names when all parts of all of them are written.

    Raises:
        CompileError: a file cannot be written; none is changed then.
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
