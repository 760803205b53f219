"""Many random cases in one test: how many of each pass were equal, and which were not.

`FUZZ` says how many seeds, `FUZZ_SEED` the first; `FUZZ_REPORT` names a file to which
each campaign adds one JSON line with its counts. `python -m tests.differential.campaign
FILE…` adds such lines up and prints them as tables for `docs/evidence/campaigns.md`.

`FUZZ_JOBS` says how many processes check them, one a core by default; what is found and
its order are the same for any number. Where a check may hang or end its process, as in
`tests/attack`, the campaign has a `runner` with processes that may die.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from ttxdsl.loading.processes import in_processes

Outcome = tuple[str, str]
"""A pass, and what came of the comparison, such as `equal`."""

Check = Callable[[int], Iterable[Outcome]]
"""What came of a seed; raises if something is wrong. A function of a module, or a
`partial` of one, which other processes import."""

Result = tuple[int, Sequence[Outcome] | str]
"""A seed with what came of it, or what is wrong; the first line says what it is called."""

Runner = Callable[[Check, Iterable[int]], Iterator[Result]]
"""Checks seeds, in any order."""

CASES = 20_000

_AT_ONCE = 20
"""Seeds that a process gets at a time."""

Asked = TypeVar("Asked")


def jobs() -> int:
    """How many processes a campaign has."""
    return int(os.environ.get("FUZZ_JOBS", os.cpu_count() or 1))


@cache
def _made(make: Callable[[], Any]) -> Any:
    return make()


def asking(
    make: Callable[[], Asked],
    check: Callable[[Asked, int], Iterable[Outcome] | Outcome],
    seed: int,
) -> Iterable[Outcome]:
    """What came of a seed when somebody is asked, whom each process makes once.

    `partial(asking, Oracle, check)` is a `Check`.
    """
    found = check(_made(make), seed)
    return [found] if isinstance(found, tuple) else found


def one_by_one(check: Check, seeds: Iterable[int]) -> Iterator[Result]:
    """The runner that stays in this process."""
    for seed in seeds:
        try:
            yield seed, list(check(seed))
        except Exception as error:
            yield seed, f"{type(error).__name__}: {error}"[:2000]


def _some(check: Check, seeds: Sequence[int]) -> list[Result]:
    return list(one_by_one(check, seeds))


def in_jobs(check: Check, seeds: Iterable[int]) -> Iterator[Result]:
    """The runner with as many processes as `FUZZ_JOBS` says; results come in order."""
    if jobs() == 1:
        yield from one_by_one(check, seeds)
        return
    left = list(seeds)
    parts = [left[at : at + _AT_ONCE] for at in range(0, len(left), _AT_ONCE)]
    for results in in_processes(jobs(), [partial(_some, check, one) for one in parts]):
        yield from results


def run_campaign(
    name: str,
    check: Check,
    cases: int = CASES,
    *,
    runner: Runner = in_jobs,
    on_failure: Callable[[int, str], object] = lambda seed, message: None,
) -> None:
    """Check as many seeds as `FUZZ` says; a seed may have several outcomes.

    Args:
        name: of the campaign, in the report.
        check: see `Check`.
        cases: how many seeds, if `FUZZ` does not say.
        runner: see `Runner`.
        on_failure: called with each failing seed and what is wrong, at once.

    Raises:
        AssertionError: listing the failing seeds, those with the same first line of the
            message together, with the message of the first.
    """
    count = int(os.environ.get("FUZZ", str(cases)))
    start = int(os.environ.get("FUZZ_SEED", "1000"))
    outcomes: Counter[Outcome] = Counter()
    failed: dict[int, str] = {}
    for seed, result in runner(check, range(start, start + count)):
        if isinstance(result, str):
            failed[seed] = result
            on_failure(seed, result)
        else:
            outcomes.update(result)
    if (report := os.environ.get("FUZZ_REPORT")) is not None:
        counts: dict[str, dict[str, int]] = {}
        for (pipeline, outcome), number in sorted(outcomes.items()):
            counts.setdefault(pipeline, {})[outcome] = number
        line = {"campaign": name, "seeds": [start, start + count], "counts": counts}
        messages = {seed: message[:300] for seed, message in failed.items()}
        with Path(report).open("a") as file:
            file.write(json.dumps({**line, "failed": messages}) + "\n")
    assert not failed, failures_text(failed)


def failures_text(failed: dict[int, str]) -> str:
    """The failures, once each, with the seeds that show it; the most frequent first."""
    seeds_of: dict[str, list[int]] = {}
    for seed in sorted(failed):
        seeds_of.setdefault(failed[seed].partition("\n")[0], []).append(seed)
    kinds = sorted(seeds_of.items(), key=lambda kind: -len(kind[1]))
    listed = [
        f"{len(seeds)} x {line}\n  seeds {', '.join(map(str, seeds[:10]))}"
        + (", …" if len(seeds) > 10 else "")
        for line, seeds in kinds
    ]
    first = failed[kinds[0][1][0]]
    return f"{len(failed)} seeds failed\n" + "\n".join(listed) + f"\n\nfirst: {first}"


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
