"""Many random cases in one test: how many of each pass were equal, and which were not.

`FUZZ` says how many cases, `FUZZ_SEED` the first seed; `FUZZ_REPORT` names a file to
which each campaign adds one JSON line with its counts.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

Outcome = tuple[str, str]
"""A pass, and what came of the comparison, such as `equal`."""

CASES = 20_000


def run_campaign(name: str, check: Callable[[int], Outcome]) -> None:
    """Check as many seeds as `FUZZ` says.

    Raises:
        AssertionError: listing the failing seeds, with the message of the first.
    """
    count = int(os.environ.get("FUZZ", str(CASES)))
    start = int(os.environ.get("FUZZ_SEED", "1000"))
    outcomes: Counter[Outcome] = Counter()
    failed: dict[int, str] = {}
    for seed in range(start, start + count):
        try:
            outcomes[check(seed)] += 1
        except Exception as error:
            failed[seed] = f"{type(error).__name__}: {error}"[:2000]
    if (report := os.environ.get("FUZZ_REPORT")) is not None:
        counts: dict[str, dict[str, int]] = {}
        for (pipeline, outcome), number in sorted(outcomes.items()):
            counts.setdefault(pipeline, {})[outcome] = number
        line = {"campaign": name, "seeds": [start, start + count], "counts": counts}
        with Path(report).open("a") as file:
            file.write(json.dumps({**line, "failed": sorted(failed)}) + "\n")
    assert not failed, f"seeds {sorted(failed)}; first: {next(iter(failed.values()))}"
