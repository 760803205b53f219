"""Text to ttnn text beside XLA's compilation of the same text, over the JAX corpus.

    chrt -f 5 python benchmarks/xla/text_to_ttnn.py   # prints the table

Every program of `tests/differential/corpus.py` with random shardings over 2 x 4 devices,
and the sharded models of `tests/differential/sharded_models.py`. Ours is parsing,
partitioning, lowering to ttnn and printing; XLA's is parsing and compiling for eight CPU
devices, without JAX's tracing. Both are processor seconds of a process that is warm, once
a program, or with `--clock` seconds of the clock: XLA has threads. On a machine that others
use they mean something at real-time priority only.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

from compare_xla_corpus import (  # noqa: E402
    CompileText,
    compile_each,
    sharded_texts,
    xla_answers,
)

from tests.differential.sharded_models import sharded_models  # noqa: E402
from ttxdsl.api import Program  # noqa: E402
from ttxdsl.diagnostics.errors import CompileError  # noqa: E402

WARM_UP = 20
"""Programs that are compiled once before anything is measured."""

SIZES = ((0, 100), (100, 300), (300, 1 << 60))
"""Ops of the programs in a row of the table."""


CLOCKS = {"processor": time.process_time, "clock": time.perf_counter}


def our_seconds(clock: str, texts: dict[str, str]) -> dict[str, float]:
    """Return the seconds of each program that lowers to ttnn."""

    def compiled(text: str) -> float | None:
        start = CLOCKS[clock]()
        try:
            assert Program.of_text(text, "<text>").partition().lower("ttnn").text
        except CompileError:
            return None
        return CLOCKS[clock]() - start

    for text in list(texts.values())[:WARM_UP]:
        compiled(text)
    seconds = {name: compiled(text) for name, text in texts.items()}
    return {name: taken for name, taken in seconds.items() if taken is not None}


def _worker(clock: str, folder: Path) -> None:
    """Time XLA's compilation of `folder/*.mlir`, the first ones a second time."""
    import jax

    jax.jit(lambda x: x + 1).lower(1.0).compile()
    warm_up = iter(range(WARM_UP))

    def seconds(text: str, compile_text: CompileText) -> float:
        if next(warm_up, None) is not None:
            compile_text(text)
        start = CLOCKS[clock]()
        compile_text(text)
        return CLOCKS[clock]() - start

    compile_each(folder, seconds)


def xla_seconds(clock: str, texts: dict[str, str]) -> dict[str, float]:
    """Return the seconds of each program that XLA compiles."""
    options = ["--clock"] * (clock == "clock")
    return dict(xla_answers(__file__, texts, *options))


def table(
    texts: dict[str, str], ours: dict[str, float], theirs: dict[str, float]
) -> str:
    """Return a row for each range of sizes, and one for all."""
    ops = {name: text.count(" = ") for name, text in texts.items()}
    lines = [
        "| ops | programs | ours, s | XLA's, s | ours / XLA's | median of a program |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for low, high in (*SIZES, (0, 1 << 60)):
        names = [n for n in ours if n in theirs and low <= ops[n] < high]
        if not names:
            continue
        mine, other = (sum(side[n] for n in names) for side in (ours, theirs))
        middle = median(ours[n] / theirs[n] for n in names)
        label = "all" if not low and high > 300 else f"from {low}"
        label += f" to {high - 1}" if high <= 300 else ""
        lines.append(
            f"| {label} | {len(names)} | {mine:.2f} | {other:.2f} | {mine / other:.2f}"
            f" | {middle:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure both and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every Nth program")
    parser.add_argument("--most", type=int, default=0, help="name those of most time")
    parser.add_argument("--clock", action="store_true", help="seconds of the clock")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    clock = "clock" if options.clock else "processor"
    if options.worker is not None:
        _worker(clock, options.worker)
        return
    every = {**sharded_texts(), **sharded_models()}
    texts = dict(list(every.items())[:: options.every])
    ours, theirs = our_seconds(clock, texts), xla_seconds(clock, texts)
    print(table(texts, ours, theirs))
    slowest = sorted(
        (name for name in ours if name in theirs),
        key=lambda name: theirs[name] - ours[name],
    )
    for name in slowest[: options.most]:
        print(f"{name}: {ours[name]:.3f} s, XLA's {theirs[name]:.3f} s")


if __name__ == "__main__":
    main()
