"""The figures of a run, what follows from them, and their form in JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SHARDING_STAGES = range(5, 13)
"""The stages that decide and apply shardings; Shardy has passes for all but 9."""


def stage_number(step: str) -> int | None:
    """The number of the stage that a step is, None for parsing and the like."""
    head = step.split(" ", 1)[0]
    return int(head) if head.isdigit() else None


def _keep_least(kept: dict[str, float], found: Mapping[str, float]) -> None:
    for name, seconds in found.items():
        kept[name] = min(seconds, kept.get(name, math.inf))


@dataclass
class Program:
    """One program, the best of the rounds so far. Seconds and bytes."""

    kind: str
    layers: int
    ops: int = 0
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    """CPU seconds of each of our steps."""
    cpp: dict[int, float] = field(default_factory=dict[int, float])
    """CPU seconds of C++ Shardy, by stage."""
    cold: dict[str, float] = field(default_factory=dict[str, float])
    """The same, each from empty caches: what growth is read off."""
    command: dict[str, float] = field(default_factory=dict[str, float])
    """`ttxdsl compile`, from text to ttnn text, the whole process: `wall`, `cpu`."""
    xla: dict[str, float] = field(default_factory=dict[str, float])
    """XLA's compile, `wall` and `cpu`; empty if it was not asked."""
    peak: int = 0
    needed: int = 0
    """Peak memory of our process, and of what Python holds for the program alone."""

    def add_ours(self, answer: Mapping[str, Any]) -> None:
        """Take note of a round of `stages.py`."""
        _keep_least(self.seconds, answer["seconds"])
        self.ops, self.peak = answer["ops"], answer["peak"]

    def add_cold(self, answer: Mapping[str, Any]) -> None:
        """Take note of a round of `stages.py --cold`."""
        _keep_least(self.cold, answer["seconds"])

    def add_command(self, wall: float, cpu: float) -> None:
        """Take note of a run of `ttxdsl compile`."""
        _keep_least(self.command, {"wall": wall, "cpu": cpu})

    def add_cpp(self, number: int, seconds: float) -> None:
        """Take note of a run of Shardy's passes for a stage."""
        self.cpp[number] = min(seconds, self.cpp.get(number, math.inf))

    def add_xla(self, wall: float, cpu: float) -> None:
        """Take note of a compilation by XLA."""
        _keep_least(self.xla, {"wall": wall, "cpu": cpu})

    def stage(self, number: int) -> float:
        """Our CPU seconds of a stage."""
        return next(
            s for step, s in self.seconds.items() if stage_number(step) == number
        )

    @property
    def sharding_ratio(self) -> float:
        """Our stages 5 to 12, stage 9 included, over Shardy's passes."""
        return sum(map(self.stage, SHARDING_STAGES)) / sum(self.cpp.values())


@dataclass
class Figures:
    """All of a run."""

    machine: dict[str, str]
    programs: list[Program]
    others: dict[str, list[dict[str, float | str]]]

    def of_kind(self, kind: str) -> list[Program]:
        """The programs of a kind, small ones first."""
        chosen = [program for program in self.programs if program.kind == kind]
        return sorted(chosen, key=lambda program: program.layers)

    @property
    def kinds(self) -> list[str]:
        """The kinds, in order."""
        return list(dict.fromkeys(program.kind for program in self.programs))

    def to_json(self) -> dict[str, Any]:
        """Everything, for `json.dumps`."""
        programs = [vars(program) for program in self.programs]
        return {"machine": self.machine, "programs": programs, "others": self.others}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Figures:
        """What `to_json` wrote."""
        programs = [Program(**entry) for entry in data["programs"]]
        for program in programs:
            program.cpp = {int(n): seconds for n, seconds in program.cpp.items()}
        return Figures(data["machine"], programs, data["others"])


SMALLEST_FOR_GROWTH = 4


def exponent(points: Iterable[tuple[float, float]]) -> float | None:
    """The slope of the line nearest to the logarithms; None for fewer than two points.

    1 is linear growth.
    """
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    middle_x, middle_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    above = sum((x - middle_x) * (y - middle_y) for x, y in logs)
    return above / sum((x - middle_x) ** 2 for x, _ in logs)


def growth(
    programs: Sequence[Program], step: str, *, cold: bool = True
) -> float | None:
    """The exponent of a step in the number of ops, from four layers on."""
    return exponent(
        (program.ops, (program.cold if cold else program.seconds)[step])
        for program in programs
        if program.layers >= SMALLEST_FOR_GROWTH
    )


def cpp_growth(programs: Sequence[Program], number: int) -> float | None:
    """The exponent of Shardy's passes for a stage, which start with warm caches."""
    return exponent(
        (program.ops, program.cpp[number])
        for program in programs
        if program.layers >= SMALLEST_FOR_GROWTH
    )


def memory_growth(programs: Sequence[Program]) -> float | None:
    """The exponent of the memory that a program takes, from four layers on."""
    return exponent(
        (program.ops, program.needed)
        for program in programs
        if program.layers >= SMALLEST_FOR_GROWTH
    )
