"""Our partitioning of transformers against XLA's own, on eight virtual CPU devices.

    python benchmarks/simulation/devices.py            # prints the table
    python benchmarks/simulation/devices.py --write    # also writes it into docs/evidence/engines.md

A training step of two layers, split along the batch, along heads and hidden units, along
both, and with its weights split too (FSDP): what `ttxdsl bench` measures of each.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks" / "speed")]

from models import SCHEMES, Sizes, lower  # noqa: E402

from ttxdsl.api import Program  # noqa: E402
from ttxdsl.bridges.xla.benchmarking import Benchmark, benchmark, ratio  # noqa: E402
from ttxdsl.diagnostics.remarks import collect_remarks  # noqa: E402

PAGE = ROOT / "docs" / "evidence" / "engines.md"
BEGIN, END = (
    "<!-- begin of what benchmarks/simulation/devices.py wrote -->",
    "<!-- its end -->",
)
SIZES = Sizes(batch=16, length=64, width=256, vocabulary=512)
LAYERS, ROUNDS = 2, 20


def measured() -> Iterator[tuple[str, Benchmark]]:
    """Each way to split it, measured."""
    for scheme in SCHEMES:
        text = lower(LAYERS, "train", SIZES, scheme).as_text()
        with collect_remarks():
            program = Program.of_text(text, scheme)
            yield scheme, benchmark(program, rounds=ROUNDS, virtual=8)


def row(scheme: str, found: Benchmark) -> str:
    """One row of the table: ratios are ours to XLA's."""
    ours, xla = found.ours, found.xla

    def times(one: float, other: float) -> str:
        of = ratio(one, other)
        return "" if of is None else f"{of:.2f}"

    cells = (
        scheme,
        f"{ours.cpu_seconds * 1e3:.0f}",
        f"{xla.cpu_seconds * 1e3:.0f}",
        f"**{times(ours.cpu_seconds, xla.cpu_seconds)}**",
        times(ours.seconds, xla.seconds),
        f"{ours.bytes_per_device:,}",
        f"{xla.bytes_per_device:,}",
        times(ours.bytes_per_device, xla.bytes_per_device),
        f"{ours.memory.total:,}",
        f"{xla.memory.total:,}",
        times(ours.memory.total, xla.memory.total),
        "the same" if found.agree else "DIFFER",
    )
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page too")
    options = parser.parse_args()
    lines = [
        "| split along | ours, ms of CPU | XLA, ms of CPU | ratio | by the clock"
        " | ours sends, B | XLA sends, B | ratio | our memory, B | XLA's memory, B | ratio"
        " | results |",
        "|---|" + "--:|" * 10 + "---|",
    ]
    for scheme, found in measured():
        lines.append(row(scheme, found))
        print(lines[-1], flush=True)
    if options.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text("\n".join([before + BEGIN, "", *lines, "", END + after]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
