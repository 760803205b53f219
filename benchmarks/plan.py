"""Peaks of devices as `ttxdsl plan` has them, beside those of the TPU's own compiler.

    python benchmarks/plan.py DIR [--write]

DIR has pairs NAME.mlir and NAME.json: what JAX lowered for TPUs that are not there, and
what libtpu's compiler said of it: `memory` (`argument`, `output`, `alias`, `temp`, in
bytes), `topology` ("v5p-64"), `devices`. `--write` makes docs/evidence/plan.md of it.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import ttxdsl

PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "plan.md"

HEAD = """# Plans beside the TPU's compiler

Written by `python benchmarks/plan.py DIR --write`; do not edit. Training steps of public
models, as MaxText 0.2.5 builds and JAX 0.12 lowers them, compiled by libtpu 0.0.52 for chips
that are not there. The peak is arguments + outputs - aliased + temporary memory.

"""


def rows(folder: Path) -> list[tuple[str, int, int, int, float]]:
    """Name, devices, libtpu's peak, ours, and our seconds, for each pair."""
    found: list[tuple[str, int, int, int, float]] = []
    for path in sorted(folder.glob("*.json")):
        said = json.loads(path.read_text())
        if (memory := said.get("memory")) is None:
            continue
        theirs = (
            memory["argument"] + memory["output"] - memory["alias"] + memory["temp"]
        )
        start = time.perf_counter()
        program = ttxdsl.load(path.with_suffix(".mlir")).partition()
        plan = program.plan(said["topology"].split("-")[0], slices=said["slices"])
        seconds = time.perf_counter() - start
        ours = plan.memory.peak_bytes
        found.append((path.stem, said["devices"], theirs, ours, seconds))
    return found


def page(found: list[tuple[str, int, int, int, float]]) -> str:
    lines = [
        "| step | devices | libtpu, GiB | plan, GiB | ratio | seconds |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, devices, theirs, ours, seconds in found:
        lines.append(
            f"| `{name}` | {devices} | {theirs / 2**30:.2f} | {ours / 2**30:.2f} |"
            f" {ours / theirs:.2f} | {seconds:.1f} |"
        )
    ratios = [ours / theirs for _, _, theirs, ours, _ in found]
    mean = math.exp(sum(abs(math.log(ratio)) for ratio in ratios) / len(ratios))
    near = sum(abs(ratio - 1) <= 0.1 for ratio in ratios)
    lines += [
        "",
        f"Geometric mean of the error: {mean:.2f}; within 10%: {near} of {len(ratios)}.",
        "",
    ]
    return HEAD + "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = page(rows(options.folder))
    print(text)
    if options.write:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
