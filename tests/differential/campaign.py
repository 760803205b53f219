"""Many random cases in one test: how many of each pass were equal, and which were not.

`FUZZ` says how many seeds, `FUZZ_SEED` the first; `FUZZ_REPORT` names a file to which
each campaign adds one JSON line with its counts. `python -m tests.differential.campaign
FILE…` adds such lines up and prints them as tables for `docs/evidence/campaigns.md`.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Outcome = tuple[str, str]
"""A pass, and what came of the comparison, such as `equal`."""

CASES = 20_000


def run_campaign(
    name: str, check: Callable[[int], Iterable[Outcome]], cases: int = CASES
) -> None:
    """Check as many seeds as `FUZZ` says; a seed may have several outcomes.

    Raises:
        AssertionError: listing the failing seeds, with the message of the first.
    """
    count = int(os.environ.get("FUZZ", str(cases)))
    start = int(os.environ.get("FUZZ_SEED", "1000"))
    outcomes: Counter[Outcome] = Counter()
    failed: dict[int, str] = {}
    for seed in range(start, start + count):
        try:
            outcomes.update(check(seed))
        except Exception as error:
            failed[seed] = f"{type(error).__name__}: {error}"[:2000]
    if (report := os.environ.get("FUZZ_REPORT")) is not None:
        counts: dict[str, dict[str, int]] = {}
        for (pipeline, outcome), number in sorted(outcomes.items()):
            counts.setdefault(pipeline, {})[outcome] = number
        line = {"campaign": name, "seeds": [start, start + count], "counts": counts}
        messages = {seed: message[:300] for seed, message in failed.items()}
        with Path(report).open("a") as file:
            file.write(json.dumps({**line, "failed": messages}) + "\n")
    assert not failed, f"seeds {sorted(failed)}; first: {next(iter(failed.values()))}"


def table(lines: Sequence[dict[str, Any]]) -> str:
    """The counts of all runs of one campaign as a Markdown table, a row a pass."""
    total: dict[str, Counter[str]] = {}
    for line in lines:
        for name, counts in line["counts"].items():
            total.setdefault(name, Counter()).update(counts)
    rows = ["| | programs | equal | otherwise |", "|---|---:|---:|---|"]
    for name, counts in total.items():
        others = sorted((n, what) for what, n in counts.items() if what != "equal")
        said = ", ".join(f"{what}: {n:,}" for n, what in reversed(others))
        row = f"| `{name}` | {counts.total():,} | {counts['equal']:,} | {said} |"
        rows.append(row)
    return "\n".join(rows)


def _main(files: Sequence[str]) -> None:
    lines = [
        json.loads(line)
        for f in files
        for line in Path(f).read_text().split("\n")
        if line
    ]
    for name in dict.fromkeys(line["campaign"] for line in lines):
        mine = [line for line in lines if line["campaign"] == name]
        seeds = sum(line["seeds"][1] - line["seeds"][0] for line in mine)
        failed = [seed for line in mine for seed in line["failed"]]
        print(f"{name}: {seeds:,} seeds, {len(failed)} failed {failed[:20]}\n")
        print(table(mine), end="\n\n")


if __name__ == "__main__":
    _main(sys.argv[1:])
