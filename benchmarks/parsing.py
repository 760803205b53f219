"""Reading, checking, writing and copying a module, in operations a second.

The yardstick is plain xDSL reading the same module in generic form with no dialect of
ours registered, in a process of its own without our mends.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from models import program
from rich.console import Console
from rich.table import Table
from xdsl.parser import Parser
from xdsl.printer import Printer

from tests.differential.oracle import Oracle
from ttxdsl.program import make_context

PLAIN_XDSL = """
import sys, time
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser
text = open(sys.argv[1]).read()
best = 1e9
for _ in range(int(sys.argv[2])):
    context = Context(allow_unregistered=True)
    context.load_dialect(Builtin)
    start = time.perf_counter()
    Parser(context, text).parse_module()
    best = min(best, time.perf_counter() - start)
print(best)
"""


def best(rounds: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of some rounds."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def plain_xdsl(text: str, rounds: int) -> float:
    """Seconds that unmended xDSL needs to read generic text."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        answer = subprocess.run(
            [sys.executable, "-c", PLAIN_XDSL, file.name, str(rounds)],
            capture_output=True,
            text=True,
            check=True,
        )
    return float(answer.stdout)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--layers", type=int, default=12)
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()
    text = program(options.layers, "train")
    oracle = Oracle()
    # generic text with short locations left out and without what xDSL cannot read
    generic = oracle.run(text, generic=True).replace("0xFF800000", "1.0")
    generic = generic.replace("0x7FC00000", "1.0")
    oracle.close()
    context = make_context()
    module = Parser(context, text).parse_module()
    ops = sum(1 for _ in module.walk())

    def write() -> None:
        Printer(stream=StringIO()).print_op(module)

    steps = {
        "parse, pretty": lambda: Parser(make_context(), text).parse_module(),
        "parse, generic": lambda: Parser(make_context(), generic).parse_module(),
        "verify": module.verify,
        "print": write,
        "clone": module.clone,
    }
    seconds = {name: best(options.rounds, step) for name, step in steps.items()}
    yardstick = plain_xdsl(generic, options.rounds)
    table = Table("step", title=f"training step, {options.layers} layers, {ops} ops")
    for column in ("ms", "ops/s", "of plain xDSL's generic parse"):
        table.add_column(column, justify="right")
    for name, taken in {**seconds, "plain xDSL, generic": yardstick}.items():
        table.add_row(
            name,
            f"{taken * 1e3:.0f}",
            f"{ops / taken:,.0f}",
            f"{taken / yardstick:.2f}",
        )
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
