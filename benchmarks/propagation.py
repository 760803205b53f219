"""Propagation beside C++ Shardy: CPU time of the pass alone, and how it grows.

Both sides get the same inlined text of transformers of some layers, forward and
training step. Ours runs in a new process each time, so nothing is remembered from an
earlier module; C++ runs in the worker of the differential tests. Neither parses,
verifies nor prints while the clock runs. CPU time, because machines are shared; each
figure is the best of some rounds in which both sides take turns.

The last column of a kind is the growth exponent: the slope of a line through the
logarithms of time and ops; 1 is linear.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import date
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from models import program
from rich.console import Console
from rich.table import Table
from xdsl.passes import PassPipeline
from xdsl.printer import Printer
from xdsl.universe import Universe

from tests.differential.oracle import Oracle
from ttxdsl.program import make_context, parse_program

PASSES = ("sdy-aggressive-propagate", "sdy-user-priority-propagate")


@dataclass
class Figures:
    """Seconds of one pass on one program."""

    kind: str
    layers: int
    ops: int
    name: str
    cpp: float
    ours: float


def our_seconds(path: Path, name: str) -> float:
    """CPU seconds of our pass on a file, in this process."""
    context = make_context()
    module = parse_program(path.read_text(), context=context)
    pipeline = PassPipeline.parse_spec(Universe.get_multiverse().all_passes, name)
    start = time.process_time()
    pipeline.apply(context, module)
    return time.process_time() - start


def in_new_process(path: Path, name: str) -> float:
    """The same in a new process."""
    answer = subprocess.run(
        [sys.executable, __file__, "--one", str(path), name],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(answer.stdout)


def inlined(text: str) -> tuple[str, int]:
    """The program without calls, and how many ops it has."""
    context = make_context()
    module = parse_program(text, context=context)
    passes = Universe.get_multiverse().all_passes
    PassPipeline.parse_spec(passes, "inline").apply(context, module)
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue(), sum(1 for _ in module.walk())


def measure(oracle: Oracle, kind: str, layers: int, rounds: int) -> list[Figures]:
    """Both passes on one program."""
    text, ops = inlined(program(layers, kind))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "program.mlir"
        path.write_text(text)
        found: list[Figures] = []
        for name in PASSES:
            pairs = [
                (oracle.seconds(text, name), in_new_process(path, name))
                for _ in range(rounds)
            ]
            cpp, ours = (min(times) for times in zip(*pairs, strict=True))
            found.append(Figures(kind, layers, ops, name, cpp, ours))
        return found


def exponent(points: list[tuple[float, float]]) -> float:
    """The slope of the line nearest to the logarithms of the points."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    middle_x, middle_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    above = sum((x - middle_x) * (y - middle_y) for x, y in logs)
    return above / sum((x - middle_x) ** 2 for x, _ in logs)


def table_of(figures: list[Figures], title: str) -> Table:
    """One line a program, and under each kind the growth."""
    table = Table(title=title)
    table.add_column("program")
    for column in ("ops", "C++ ms", "ours ms", "C++ µs/op", "ours µs/op", "ratio"):
        table.add_column(column, justify="right")
    for kind in dict.fromkeys(figure.kind for figure in figures):
        chosen = [figure for figure in figures if figure.kind == kind]
        table.add_section()
        for f in chosen:
            table.add_row(
                f"{kind}, {f.layers} layers",
                f"{f.ops:,}",
                f"{f.cpp * 1e3:.1f}",
                f"{f.ours * 1e3:.1f}",
                f"{f.cpp / f.ops * 1e6:.1f}",
                f"{f.ours / f.ops * 1e6:.1f}",
                f"{f.ours / f.cpp:.1f}",
            )
        if len(chosen) > 1:
            cpp = exponent([(f.ops, f.cpp) for f in chosen])
            ours = exponent([(f.ops, f.ours) for f in chosen])
            growth = (f"{cpp:.2f}", f"{ours:.2f}")
            table.add_row(f"{kind}, growth exponent", "", *growth, "", "", "")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, nargs="*", default=[1, 4, 12, 24, 48])
    parser.add_argument("--kinds", nargs="*", default=["forward", "train"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        path, name = options.one
        print(our_seconds(Path(path), name))
        return
    oracle = Oracle()
    figures: list[Figures] = []
    loads = [os.getloadavg()[0]]
    for kind in options.kinds:
        for layers in options.layers:
            figures += measure(oracle, kind, layers, options.rounds)
            loads.append(os.getloadavg()[0])
    oracle.close()
    header = (
        f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, load {min(loads):.1f} to {max(loads):.1f}"
    )
    console = Console(width=100)
    for name in PASSES:
        chosen = [figure for figure in figures if figure.name == name]
        console.print(table_of(chosen, f"{name}\n{header}"))
    if options.json:
        line = {"machine": header, "figures": [asdict(f) for f in figures]}
        options.json.write_text(json.dumps(line, indent=2))


if __name__ == "__main__":
    main()
