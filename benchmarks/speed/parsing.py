"""Reading, checking, writing and copying a module, beside plain xDSL reading it.

    python benchmarks/speed/parsing.py                # the table of docs/evidence/performance.md
    python benchmarks/speed/parsing.py --small        # one and four layers

The yardstick is xDSL without our mends and dialects, reading the same module in generic
form with unregistered ops, in a process of its own that takes turns with ours. Seconds
are CPU seconds of the best round; each round makes its parser and context anew.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from io import StringIO
from math import log
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from models import program
from rich.console import Console
from rich.table import Table

from tests.differential.oracle import Oracle

LAYERS = (4, 12, 24, 48, 96)
SMALL = (1, 4)
LARGEST_FOR_PLAIN = 24
"""Plain xDSL takes time that grows faster than the module."""

STEPS = ("parse", "parse generic", "verify", "print", "print generic", "clone")

PLAIN_XDSL = """
import sys, time
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser
context = Context(allow_unregistered=True)
context.load_dialect(Builtin)
text = open(sys.argv[1]).read()
start = time.process_time()
Parser(context, text).parse_module()
print(time.process_time() - start)
"""


def generic_text(oracle: Oracle, text: str) -> str:
    """The same module in generic form, without the literals that plain xDSL cannot read."""
    generic = oracle.run(text, generic=True)
    return generic.replace("0xFF800000", "1.0").replace("0x7FC00000", "1.0")


def plain_xdsl(path: Path) -> float:
    """CPU seconds that unmended xDSL needs to read generic text."""
    command = [sys.executable, "-c", PLAIN_XDSL, str(path)]
    return float(subprocess.run(command, capture_output=True, check=True).stdout)


def steps(text: str, generic: str) -> dict[str, float]:
    """CPU seconds of each of `STEPS`, and `ops`; for a process of its own."""
    from xdsl.parser import Parser
    from xdsl.printer import Printer

    from ttxdsl.ir.collector import without_collections
    from ttxdsl.ir.traversal import all_ops
    from ttxdsl.loading.program import make_context

    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        with without_collections():
            start = time.process_time()
            result = work()
            seconds[name] = time.process_time() - start
        return result

    def parse(source: str) -> Any:
        return Parser(make_context(), source).parse_module()

    parse("func.func @f() {\n  sdy.return\n  stablehlo.return\n}")  # load the dialects
    module = timed("parse", lambda: parse(text))
    timed("verify", module.verify)
    timed("parse generic", lambda: parse(generic))
    timed("print", lambda: Printer(StringIO()).print_op(module))
    everything = Printer(StringIO(), print_generic_format=True)
    timed("print generic", lambda: everything.print_op(module))
    timed("clone", module.clone)
    return {"ops": len(all_ops(module)), **seconds}


def _in_its_own_process(text: Path, generic: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--steps", str(text), str(generic)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def measure(*, small: bool = False, rounds: int = 3) -> list[dict[str, Any]]:
    """One line a size: ops, ms of each step, times plain xDSL; then growth exponents."""
    oracle = Oracle()
    lines: list[dict[str, Any]] = []
    found: list[dict[str, float]] = []
    for layers in SMALL if small else LAYERS:
        with tempfile.TemporaryDirectory() as folder:
            text, generic = Path(folder) / "text.mlir", Path(folder) / "generic.mlir"
            text.write_text(program(layers, "train"))
            generic.write_text(generic_text(oracle, text.read_text()))
            ours: list[dict[str, float]] = []
            plain: list[float] = []
            for _ in range(1 if small else rounds):
                ours.append(_in_its_own_process(text, generic))
                if layers <= LARGEST_FOR_PLAIN:
                    plain.append(plain_xdsl(generic))
        best = {name: min(one[name] for one in ours) for name in ours[0]}
        found.append(best)
        line: dict[str, Any] = {"layers": layers, "ops": int(best["ops"])}
        line |= {f"{name}, ms": round(best[name] * 1e3) for name in STEPS}
        line["plain xDSL, ms"] = round(min(plain) * 1e3) if plain else "-"
        for name in ("parse", "parse generic"):
            ratio = round(min(plain) / best[name], 1) if plain else "-"
            line[f"{name}, times faster"] = ratio
        lines.append(line)
    oracle.close()
    lines.append(_growth(found, lines[0]))
    return lines


def _growth(found: list[dict[str, float]], like: dict[str, Any]) -> dict[str, Any]:
    """The slope of the line through the logarithms of seconds and ops."""
    line: dict[str, Any] = dict.fromkeys(like, "")
    line["layers"] = "growth"
    x = [log(one["ops"]) for one in found]
    middle = sum(x) / len(x)
    for name in STEPS:
        y = [log(one[name]) for one in found]
        rise = sum((a - middle) * b for a, b in zip(x, y, strict=True))
        line[f"{name}, ms"] = round(rise / sum((a - middle) ** 2 for a in x), 2)
    return line


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--small", action="store_true")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--steps", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.steps:
        print(json.dumps(steps(*(path.read_text() for path in options.steps))))
        return
    lines = measure(small=options.small, rounds=options.rounds)
    table = Table(title="reading and writing, training step, CPU time")
    for column in lines[0]:
        table.add_column(column, justify="right")
    for line in lines:
        table.add_row(*map(str, line.values()))
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
