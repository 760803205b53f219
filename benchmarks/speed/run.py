"""`make bench`: what every step costs, beside C++ Shardy and XLA, in one run.

    python benchmarks/speed/run.py                    # all sizes, tables on the terminal
    python benchmarks/speed/run.py --json FILE        # the figures, too
    python benchmarks/speed/run.py --write            # into docs/evidence/performance.md
    python benchmarks/speed/run.py --small            # one and four layers, a minute
    python benchmarks/speed/run.py --keep             # the ratios into history.jsonl
    python benchmarks/speed/run.py --check            # fails where one is twice its last

Transformers of some layers, forward and training step, sharded on a 2 x 4 mesh
(`models.py`). In each round a new process takes one through all our steps
(`stages.py`), a worker runs C++ Shardy's passes on the text before each stage, and
`ttxdsl compile` and XLA's compiler take the same program, the latter for eight host
devices; a figure is the best of the rounds, so ratios compare what ran side by side.
Machines are shared: steps count CPU seconds, whole processes and XLA also those of the
clock.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "simulation"))
sys.path.insert(0, str(Path(__file__).parents[2]))

import history
from figures import Figures, Program
from large_step import measured as measure_large_steps
from models import program_path
from parsing import measure as measure_parsing
from rich.console import Console
from simulation import measured as measure_simulation
from stages import CPP_STAGES
from tables import LARGE_STEP, SCANNED, SIMULATION, STARTING, all_tables, write_page

from tests.differential.oracle import Oracle

HERE = Path(__file__).parent
SIZES = (1, 4, 12, 24, 48, 96)
SMALL = (1, 4)
KINDS = ("forward", "train")
LARGEST_FOR_XLA = 24
"""XLA takes more than a minute for larger ones."""


def _python(*arguments: object, **variables: str) -> str:
    """What Python prints, with our modules' bytecode kept as for an installed one."""
    environment = os.environ | {"JAX_PLATFORMS": "cpu"} | variables
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.stderr}")
    return done.stdout


def _worker(*arguments: object) -> Any:
    """What a script of this folder prints as JSON."""
    return json.loads(_python(*arguments) or "null")


def _command(path: Path, output: Path) -> tuple[float, float]:
    """The seconds of `ttxdsl compile` by the clock, and of CPU."""
    return _timed("-m", "ttxdsl.cli.main", "compile", path, "-o", output)


def _timed(*arguments: object, **variables: str) -> tuple[float, float]:
    """The seconds of Python with some arguments by the clock, and of CPU."""
    start, used = time.perf_counter(), _seconds_of_children()
    _python(*arguments, **variables)
    return time.perf_counter() - start, _seconds_of_children() - used


def _seconds_of_children() -> float:
    """CPU seconds of all processes that ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(oracle: Oracle, found: Program, folder: Path, *, xla: bool) -> None:
    """A round of one program on all sides, one after the other.

    The first round also writes the texts and counts memory, which is the same in each.

    Args:
        oracle: runs C++ Shardy.
        found: takes note.
        folder: keeps the texts before each stage from round to round.
        xla: whether XLA compiles it, too.
    """
    path = program_path(found.layers, found.kind)
    texts = folder / path.stem
    if not texts.exists():
        texts.mkdir()
        _worker(HERE / "stages.py", path, "--texts", texts)
        found.needed = _worker(HERE / "stages.py", path, "--memory")["needed"]
    found.add_ours(_worker(HERE / "stages.py", path))
    for number, passes in CPP_STAGES.items():
        text = (texts / f"{number}.mlir").read_text()
        found.add_cpp(number, oracle.seconds(text, passes))
    found.add_command(*_command(path, folder / "ttnn.mlir"))
    if xla:
        seconds = _worker(HERE / "models.py", found.layers, found.kind)
        found.add_xla(seconds["wall"], seconds["cpu"])
    found.add_cold(_worker(HERE / "stages.py", path, "--cold"))


def machine() -> dict[str, str]:
    """Where the figures come from."""
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        processor = names[0] if names else processor
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": processor,
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "xdsl": version("xdsl"),
        "jaxlib": version("jaxlib"),
    }


def measure_others(*, small: bool) -> dict[str, list[dict[str, Any]]]:
    """Starting, reading beside plain xDSL, and simulation beside JAX: lines of figures."""
    simulation = measure_simulation(small=small)
    return {
        STARTING: [measure_start()],
        "reading and writing the training step, CPU": measure_parsing(small=small),
        LARGE_STEP: measure_large_steps(small=small),
        SIMULATION: [_simulation(simulation)],
        SCANNED: [
            _scanned(simulation["scanned"], form) for form in ("ttnn", "stage 13")
        ],
    }


def measure_start(rounds: int = 5) -> dict[str, Any]:
    """The command on a small program, beside importing what it stands on.

    In turns, and the best of each. BLAS has one thread for the imports: others wait for
    work with a processor each, as many seconds as the imports themselves take.
    """
    imports = "import numpy, xdsl.dialects.builtin"
    nothing: list[tuple[float, float]] = []
    ours: list[tuple[float, float]] = []
    for _ in range(rounds):
        nothing.append(_timed("-c", imports, OPENBLAS_NUM_THREADS="1"))
        ours.append(_command(HERE / "data" / "ten_ops.mlir", Path(os.devnull)))
    least_clock, least_cpu = (min(side) for side in zip(*nothing, strict=True))
    clock, cpu = (min(side) for side in zip(*ours, strict=True))
    return {
        f"{imports}, s": least_clock,
        "their CPU, s": least_cpu,
        "ttxdsl compile, s": clock,
        "its CPU, s": cpu,
        "ratio": clock / least_clock,
        "ratio, CPU": cpu / least_cpu,
    }


def _simulation(found: dict[str, Any]) -> dict[str, Any]:
    return {
        "mesh": "2 x 4",
        "JAX on 8 host devices, s": found["seconds"]["jax"],
        "ours, s": found["seconds"]["2x4"],
        "ratio": found["ratio to JAX"],
        "ratio, CPU": found["ratio to JAX, cpu"],
        "16 x 16, s": found["seconds"]["16x16"],
        "16 x 16, ratio": found["seconds"]["16x16"] / found["seconds"]["jax"],
        "16 x 16, ratio, CPU": found["ratio of 16x16 to JAX, cpu"],
        "16 x 16 beside JAX on 256, ratio": found["as many devices"]["ratio to JAX"],
        "peak over what is needed": found["ratio of memory"]["2x4"],
        "BLAS's kernels": found["BLAS kernels"],
    }


def _scanned(found: dict[str, Any], form: str) -> dict[str, Any]:
    return {
        "form": form,
        "JAX on 8 host devices, s": found["cpu"]["jax"],
        "ours, s": found["cpu"][form],
        "ratio": found["ratio to JAX"][form],
        "growth, 4 to 16 layers": found["growth"][form],
        "JAX's growth": found["growth"]["jax"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, nargs="*", help="sizes, all by default")
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--small", action="store_true", help="1 and 4 layers, one round"
    )
    parser.add_argument("--no-xla", action="store_true", help="leave XLA out")
    parser.add_argument("--no-others", action="store_true", help="only compilation")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument(
        "--from-json", type=Path, metavar="FILE", help="measure nothing"
    )
    parser.add_argument(
        "--write", action="store_true", help="docs/evidence/performance.md, too"
    )
    parser.add_argument(
        "--keep", action="store_true", help="the ratios, too, in history.jsonl"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="fail where a ratio is twice the last one that was kept",
    )
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 150)
    if options.from_json:
        figures = Figures.from_json(json.loads(options.from_json.read_text()))
    else:
        figures = _measure_all(options, console)
        _keep(figures, options.json)
    for table in all_tables(figures):
        console.print(table)
    if options.write:
        write_page(figures)
    if options.keep:
        history.keep(figures)
    worse = history.worse(figures) if options.check else []
    if worse and not options.from_json:
        # somebody else's load comes and goes: what is slower is so twice
        console.print("once more, since these are worse:", *worse, sep="\n  ")
        again = history.worse(_measure_all(options, console))
        worse = [one for one in again if one.name in {first.name for first in worse}]
    if worse:
        console.print("worse than they were:", *worse, sep="\n  ")
        sys.exit(1)


def _keep(figures: Figures, path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(figures.to_json(), indent=1))


def _measure_all(options: argparse.Namespace, console: Console) -> Figures:
    sizes = options.layers or (SMALL if options.small else SIZES)
    rounds = 1 if options.small else options.rounds
    figures = Figures(machine() | {"rounds": str(rounds)}, [], {})
    oracle = Oracle()
    loads = [os.getloadavg()[0]]
    figures.programs = [Program(kind, n) for kind in options.kinds for n in sizes]
    try:
        with tempfile.TemporaryDirectory() as folder:
            # every size in every round: what else the machine does comes and goes, and
            # growth compares sizes
            for turn, program in product(range(rounds), figures.programs):
                name = f"{program.kind}, {program.layers} layers"
                with console.status(f"round {turn + 1} of {rounds}: {name}"):
                    xla = program.layers <= LARGEST_FOR_XLA and not options.no_xla
                    measure(oracle, program, Path(folder), xla=xla)
                loads.append(os.getloadavg()[0])
                figures.machine["load"] = f"{min(loads):.1f} to {max(loads):.1f}"
                if program is figures.programs[-1]:
                    # whoever interrupts a long run keeps its rounds
                    _keep(figures, options.json)
        if not options.no_others:
            with console.status("parsing and simulation"):
                figures.others = measure_others(small=options.small)
    finally:
        oracle.close()
    return figures


if __name__ == "__main__":
    main()
