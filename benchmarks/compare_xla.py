"""Our collectives beside those of XLA's SPMD partitioner, on the same shardings.

    python benchmarks/compare_xla.py            # prints the table
    python benchmarks/compare_xla.py --write    # also writes docs/evidence/xla-comparison.md

Both sides get the program that JAX lowers for eight devices. Ours goes through the
thirteen stages; XLA's is `jax.jit(…).lower(…).compile().as_text()`, where collectives
are read off the text. Bytes are by the ring model (`ttxdsl.sharding.cost`): what each
device sends in one run, collectives in loops as often as these turn. A program that
moves more than XLA's needs a line in `REASONS`; without one the script fails.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.differential.sharded_models import compiled_models  # noqa: E402
from ttxdsl.program import make_context, parse_program  # noqa: E402
from ttxdsl.remarks import collect_remarks  # noqa: E402
from ttxdsl.reporting.collectives import list_collectives  # noqa: E402
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass  # noqa: E402
from ttxdsl.xla.hlo import list_hlo_collectives  # noqa: E402

PAGE = ROOT / "docs" / "evidence" / "xla-comparison.md"
DEVICES = 8

REASONS: dict[str, str] = {}
"""Why a program moves more than XLA's."""


@dataclass(frozen=True)
class Moved:
    """One collective: its kind, the size of its groups, and what a device sends.

    `bytes` are those of all the `count` times that it runs.
    """

    kind: str
    group: int
    bytes: int
    count: int


# XLA's side


def xla_collectives(hlo: str) -> list[Moved]:
    """The collectives of a compiled program, those too that move nothing."""
    return [
        Moved(one.kind, one.group_size, one.bytes_per_device, one.count)
        for one in list_hlo_collectives(hlo, DEVICES)
    ]


# Our side


def our_collectives(text: str) -> list[Moved]:
    """The collectives after stage 13."""
    context = make_context()
    module = parse_program(text, context=context)
    with collect_remarks():
        TTStableHLOPipelinePass().apply(context, module)
    return [
        Moved(one.kind, one.group_size, one.bytes_per_device, one.count)
        for one in list_collectives(module)
    ]


# Programs


def _print_examples() -> None:
    """One JSON line an example: its name, its text, and its HLO."""
    sys.path.insert(0, str(ROOT / "examples"))
    export: Any = importlib.import_module("export")
    jax: Any = importlib.import_module("jax")
    for name, (function, arguments) in export.examples().items():
        lowered = jax.jit(function).lower(*arguments)
        line = [f"examples/{name}", lowered.as_text(), lowered.compile().as_text()]
        print(json.dumps(line))


def compiled_examples() -> dict[str, tuple[str, str]]:
    """The text of every example, and the HLO that XLA partitions it into."""
    env = os.environ | {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={DEVICES}",
        "JAX_PLATFORMS": "cpu",
    }
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--print-examples"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    lines = (json.loads(line) for line in done.stdout.splitlines())
    return {name: (text, hlo) for name, text, hlo in lines}


# The table


@dataclass(frozen=True)
class Row:
    """One program on both sides."""

    name: str
    ours: list[Moved]
    xla: list[Moved]

    @property
    def ours_bytes(self) -> int:
        return sum(one.bytes for one in self.ours)

    @property
    def xla_bytes(self) -> int:
        return sum(one.bytes for one in self.xla)

    @property
    def remark(self) -> str:
        if self.ours_bytes > self.xla_bytes:
            return REASONS.get(self.name, "no reason known")
        return "less" if self.ours_bytes < self.xla_bytes else ""


def summary(moved: Iterable[Moved]) -> str:
    """How many of each kind and group size, and what they move."""
    count: Counter[tuple[str, int]] = Counter()
    total: Counter[tuple[str, int]] = Counter()
    for one in moved:
        count[one.kind, one.group] += one.count
        total[one.kind, one.group] += one.bytes
    parts = (
        f"{number} {kind} of {group}: {total[kind, group]}"
        for (kind, group), number in sorted(count.items())
    )
    return ", ".join(parts) or "nothing"


def page(rows: Iterable[Row]) -> str:
    """The table as a page of the documentation."""
    lines = [
        "# Collectives beside XLA's",
        "",
        "Written by `python benchmarks/compare_xla.py --write`; do not edit.",
        "",
        "Each program is lowered by JAX for eight devices. Left is what our thirteen "
        "stages make of it, right what XLA's SPMD partitioner makes of the same "
        "shardings on the CPU backend (jax 0.10.2), read off the compiled HLO. Figures "
        "are bytes that each device sends by the ring model (`ttxdsl/sharding/cost.py`), "
        'in one run, loops with all their turns; "of 4" says how many devices a '
        "group has. XLA joins several all-reduces into one of a tuple: fewer "
        "collectives, the same bytes.",
        "",
        "| program | ours | XLA | ours, by kind | XLA, by kind | |",
        "|---|--:|--:|---|---|---|",
    ]
    for row in rows:
        cells = (
            f"`{row.name}`",
            str(row.ours_bytes),
            str(row.xla_bytes),
            summary(row.ours),
            summary(row.xla),
            row.remark,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--print-examples", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.print_examples:
        _print_examples()
        return 0
    programs = {**compiled_examples(), **compiled_models()}
    rows = [
        Row(name, our_collectives(text), xla_collectives(hlo))
        for name, (text, hlo) in programs.items()
    ]
    text = page(rows)
    print(text)
    if options.write:
        PAGE.write_text(text)
    unexplained = [
        row.name
        for row in rows
        if row.ours_bytes > row.xla_bytes and row.name not in REASONS
    ]
    if unexplained:
        print(f"more than XLA without a reason: {', '.join(unexplained)}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
