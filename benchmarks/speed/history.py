"""The ratios of earlier runs: `make bench` adds a line, `make bench-small` looks back.

A line of `data/history.jsonl` is one run: where, when, and every ratio that says how we do
beside somebody else on the same machine at the same time. Of ratios smaller is better.
The last value of a name is what a new one is held against, loosely: on a busy machine a
ratio moves by half, and what is a fault of ours is more than that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from figures import Figures

HISTORY = Path(__file__).parent / "data" / "history.jsonl"

MOST = 2.0
"""How many times its last value a ratio may be."""


@dataclass(frozen=True)
class Worse:
    """A ratio that is more than it may be."""

    name: str
    found: float
    last: float

    def __str__(self) -> str:
        return f"{self.name}: {self.found:.2f}, which was {self.last:.2f}"


def ratios(figures: Figures) -> dict[str, float]:
    """What a run says of us beside others, by name."""
    return {name: round(value, 3) for name, value in _ratios(figures)}


def _ratios(figures: Figures) -> Iterator[tuple[str, float]]:
    for one in figures.programs:
        name = f"{one.kind}, {one.layers} layers"
        if one.cpp:
            yield f"{name}: stages 5 to 12 over C++", one.sharding_ratio
        if one.xla:
            ratio = one.command["cpu"] / one.xla["cpu"]
            yield f"{name}: the command over XLA's compile", ratio
    for title, lines in figures.others.items():
        for line in lines:
            where = next((v for v in line.values() if isinstance(v, str) and v), "")
            name = f"{title}: {where}" if where else title
            for key in ("ratio", "ratio, CPU", "16 x 16, ratio, CPU"):
                # where there is both, the clock's follows what else the machine does
                if key in line and not (key == "ratio" and "ratio, CPU" in line):
                    yield f"{name}, {key}", float(line[key])


def keep(figures: Figures, path: Path = HISTORY) -> None:
    """Add a line."""
    line = {"machine": figures.machine, "ratios": ratios(figures)}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def last(path: Path = HISTORY) -> dict[str, float]:
    """The last value of every name."""
    found: dict[str, float] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        found |= json.loads(line)["ratios"]
    return found


def worse(figures: Figures, path: Path = HISTORY) -> list[Worse]:
    """The ratios that are more than twice their last value; new ones are none."""
    known = last(path)
    return [
        Worse(name, value, known[name])
        for name, value in ratios(figures).items()
        if name in known and value > MOST * known[name]
    ]
