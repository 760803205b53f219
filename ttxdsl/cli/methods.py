"""The commands as `Program` has them: what they answer, printed as they print it.

`ttxdsl.api` stands below all of this and calls it by name.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from rich.table import Table
from xdsl.ir import Attribute

from ttxdsl.analysis.usage.memory import MemoryProfile, memory_profile
from ttxdsl.api import Program
from ttxdsl.bridges.xla.comparing import XlaComparison, compare_with_xla
from ttxdsl.cli.commands.check import print_check
from ttxdsl.cli.commands.compare_xla import print_comparison
from ttxdsl.cli.commands.diff import print_difference
from ttxdsl.cli.commands.doctor import print_diagnosis
from ttxdsl.cli.commands.run import RunOutcome, print_outcome, run_program
from ttxdsl.cli.commands.why import Answer, print_answer
from ttxdsl.cli.console import drawing
from ttxdsl.costs.machines import Machine
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.errors import CompileError, place_text
from ttxdsl.diagnostics.sanitize import visible_lines
from ttxdsl.diagnostics.terminal import Terminal
from ttxdsl.insight.budget.check import (
    Findings,
    check_budget,
    check_text,
    device_program,
    print_findings,
)
from ttxdsl.insight.budget.directives import parse_limits
from ttxdsl.insight.check.check import CheckReport
from ttxdsl.insight.commands import Interpretation
from ttxdsl.insight.diff.difference import Difference, difference, side_of
from ttxdsl.insight.doctor.doctor import Diagnosis
from ttxdsl.interpreters.ops.printing import tensor_text
from ttxdsl.interpreters.runtime.limits import Limits
from ttxdsl.interpreters.runtime.run import entry_function, run_module
from ttxdsl.loading.program import read_text

Drawn = Callable[[bool], str]
"""How an answer is drawn, as text or as HTML; see `ttxdsl.diagnostics.display`."""

_ROWS = 8
"""Meshes that a diagnosis lists."""


def why(answer: Answer, machine: Machine) -> Drawn:
    """An answer as `ttxdsl why` prints it."""
    return drawing(lambda console: print_answer(console, answer, machine))


def doctor(found: Diagnosis, source: str) -> Drawn:
    """A diagnosis as `ttxdsl doctor` prints it."""
    options = argparse.Namespace(
        file=source,
        top=_ROWS,
        memory=found.memory,
        compiled=len(found.rows) + len(found.refused),
    )
    return drawing(lambda console: print_diagnosis(console, found, options))


def check(report: CheckReport, source: str) -> Drawn:
    """A report as `ttxdsl check` prints it, with what is wrong."""

    def view(console: Terminal) -> None:
        print_check(console, source, report)
        if report.failure is not None:
            console.print(f"error: {report.failure}", soft_wrap=True)

    return drawing(view)


def diff(
    program: Program, other: Program, trip_count: int | None, names: Sequence[str]
) -> Difference:
    """What `ttxdsl diff` says of two programs; each is compiled if it is not yet."""
    sides = [
        side_of(name, device_program(one).module, trip_count)
        for name, one in zip(names, (program, other), strict=True)
    ]
    found = difference(*sides)
    return found.shown_by(drawing(lambda console: print_difference(console, found)))


def budget(program: Program, limits: Sequence[str], trip_count: int | None) -> Findings:
    """What `ttxdsl budget` says of limits, or of those in the program's file.

    Raises:
        CompileError: there are none, or see `check_budget`.
    """
    if limits:
        found = [
            finding
            for line in limits
            for finding in check_budget(
                program, parse_limits(line), "<budget>", trip_count
            )
        ]
    elif Path(program.source).is_file():
        source = program.source
        found = check_text(read_text(Path(source)), source, trip_count)
    else:
        raise CompileError(
            "no limits are given", hint='say some: program.budget("all_gather<=2")'
        )
    findings = Findings(found)
    return findings.shown_by(drawing(lambda console: print_findings(console, findings)))


def compare_xla(
    program: Program, arrays: Sequence[ArrayLike], seed: int, options: dict[str, Any]
) -> XlaComparison:
    """What `ttxdsl compare-xla` says."""
    inputs = list(map(np.asarray, arrays)) or program.random_inputs(seed)
    found = compare_with_xla(program, inputs, **options)
    return found.shown_by(drawing(lambda console: print_comparison(console, found)))


def run(
    program: Program,
    arrays: Sequence[ArrayLike],
    seed: int,
    by: str | None,
    trip_count: int | None,
    limits: Limits,
    *,
    whole: bool,
) -> RunOutcome:
    """What `ttxdsl run` says; with `whole`, as it says with `--all`."""
    found = run_program(program, arrays, seed, by, trip_count, limits)
    view = partial(print_outcome, source=program.source, outcome=found, whole=whole)
    return found.shown_by(drawing(view))


def interpret(
    program: Program, arrays: Sequence[ArrayLike], seed: int | None
) -> Interpretation:
    """The results of a run, printed as `ttxdsl interpret` does."""
    inputs = arrays if seed is None else program.random_inputs(seed)
    results = run_module(program.module, inputs)
    types: Sequence[Attribute] = entry_function(
        program.module
    ).function_type.outputs.data
    lines = [
        visible_lines(tensor_text(value, type_))
        for value, type_ in zip(results, types, strict=True)
    ]

    def view(console: Terminal) -> None:
        for line in lines:
            console.print(line, soft_wrap=True)

    return Interpretation(tuple(results)).shown_by(drawing(view))


def memory(program: Program) -> MemoryProfile:
    """What a device holds, by name."""
    profile = memory_profile(device_program(program).module)
    return profile.shown_by(drawing(partial(_print_memory, profile=profile)))


def _print_memory(console: Terminal, profile: MemoryProfile) -> None:
    point = profile.points[profile.peak] if profile.points else None
    where = (
        "" if point is None else f", at {point.op.name} {place_text(point.position)}"
    )
    console.print(
        f"peak {bytes_text(profile.peak_bytes)} a device{where.rstrip()};"
        f" arguments {bytes_text(profile.argument_bytes)}",
        soft_wrap=True,
    )
    table = Table("held then", "kind", "on a device")
    table.add_column("bytes", justify="right")
    for value in profile.peak_values:
        table.add_row(value.name, value.kind, value.type, bytes_text(value.bytes))
    console.print(table)
