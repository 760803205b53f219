"""Holding a program to its budget.

assert_budget(program, "all_gather<=2, bytes<=4MiB")
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path

from rich.table import Table
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.usage.collectives import CountedCollective
from ttxdsl.analysis.usage.device import usage_on
from ttxdsl.analysis.usage.memory import LiveValue
from ttxdsl.api.forms import ProgramForm
from ttxdsl.costs.chips import Chip
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.display import Displayed, plain_text
from ttxdsl.diagnostics.errors import CompileError, place_text
from ttxdsl.diagnostics.folding import fold
from ttxdsl.diagnostics.hints import near_hint
from ttxdsl.diagnostics.terminal import Terminal, styled
from ttxdsl.insight.budget.directives import Budget, Limit, parse_budget, parse_limits
from ttxdsl.loading.program import read_text, split_programs
from ttxdsl.sharding.devices.mesh import Mesh

_MOST_VALUES = 8


@dataclass(frozen=True, slots=True)
class Finding:
    """One limit, what the program has, and what counts towards it.

    `collectives` are those that the limit counts, the most bytes first; `values` what is
    in memory at the peak, the largest first, for a limit on memory.
    """

    limit: Limit
    found: int
    collectives: tuple[CountedCollective, ...] = ()
    values: tuple[LiveValue, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the limit holds."""
        return self.limit.holds(self.found)

    @property
    def found_text(self) -> str:
        """The measured figure, bytes with their unit."""
        return bytes_text(self.found) if self.limit.is_bytes else str(self.found)


class Findings(tuple[Finding, ...], Displayed):
    """All limits of a program, each with what was found."""

    @property
    def ok(self) -> bool:
        """Whether all limits hold."""
        return all(finding.ok for finding in self)


class BudgetExceededError(AssertionError):
    """A program breaks its budget; the message has tables of what it does.

    `findings` are all limits, those that hold too.
    """

    def __init__(self, source: str, findings: Sequence[Finding]):
        self.findings = tuple(findings)
        super().__init__(
            f"{source} breaks its budget\n{plain_text(partial(print_findings, findings=findings))}"
        )


def _communicates_along(collective: CountedCollective, axes: Sequence[str]) -> bool:
    if collective.axes is None:
        return True
    names = {ref.name for ref in collective.axes}
    return all(axis in names for axis in axes)


def _check_axes(limits: Sequence[Limit], meshes: Sequence[Mesh], source: str) -> None:
    known = [name for mesh in meshes for name, _ in mesh.axes]
    for limit in limits:
        for axis in limit.axes:
            if axis not in known:
                raise CompileError(
                    f"'axis={axis}': the mesh has no such axis",
                    hint=near_hint([axis], dict.fromkeys(known), "axes"),
                    position=f"{source}:{limit.line}:{limit.column}",
                )


def require_counts(
    counted: Sequence[CountedCollective], task: str, position: str | None = None
) -> None:
    """Refuse to compare with a guess, or to write one down.

    Args:
        task: what cannot be done, for the message.
        position: of the limit, if it is written.

    Raises:
        CompileError: nobody knows what one of them sends, or how often.
    """
    unpriced = next(
        (collective for collective in counted if not collective.is_priced), None
    )
    if unpriced is not None:
        place = f" ({unpriced.place})" if unpriced.place else ""
        raise CompileError(
            f"{task} custom call {unpriced.kind}{place}:"
            f" {unpriced.reason.partition(':')[0]}",
            position=position,
            hint="where each device computes it by itself, a plug-in says so:"
            " ttxdsl.dialects.calls.custom.LOCAL_TARGETS.add"
            f'("{unpriced.kind.removeprefix("@")}")',
        )
    guessed = [collective for collective in counted if not collective.times.is_known]
    if guessed:
        place = f" ({guessed[0].place})" if guessed[0].place else ""
        raise CompileError(
            f"{task} {guessed[0].kind} in a loop{place}: the program does not say how many"
            " iterations it has",
            position=position,
            hint="say it in the budget, trip_count=12, or with --trip-count",
        )


def check_budget(
    program: ProgramForm,
    budget: Budget,
    source: str | None = None,
    trip_count: int | None = None,
    chip: Chip | str | None = None,
) -> list[Finding]:
    """Each limit with what the program has.

    Args:
        program: in any form; a global one is partitioned.
        budget: from `parse_budget` or `parse_limits`.
        source: where the budget is written, for messages.
        trip_count: iterations of loops whose number neither the program nor the budget
            says it.
        chip: whose compiler decides what is in memory, as in a plan; without one every
            value is.

    Raises:
        CompileError: the program cannot be compiled, the mesh has no axis that a
            limit names, or a limit counts what is in a loop of unknown count.
    """
    device = program.per_device(budget.mesh)
    meshes = list(device.meshes.values())
    _check_axes(budget.limits, meshes, source or program.source)
    collectives = device.collectives(budget.trip_count or trip_count)
    profile = None
    if any(limit.is_memory for limit in budget.limits):
        profile = usage_on(device.module, chip).memory
    findings: list[Finding] = []
    for limit in budget.limits:
        if limit.is_memory:
            assert profile is not None
            values = profile.peak_values
            findings.append(Finding(limit, profile.peak_bytes, values=values))
            continue
        counted = sorted(
            (
                collective
                for collective in collectives
                if limit.kind in (None, collective.kind)
                and _communicates_along(collective, limit.axes)
            ),
            key=lambda collective: -collective.bytes_per_device,
        )
        place = f"{source or program.source}:{limit.line}:{limit.column}"
        require_counts(counted, f"'{limit}' cannot be held against", place)
        total = sum(collective.bytes_per_device for collective in counted)
        count = sum(collective.count for collective in counted)
        quantity = total if limit.is_bytes else count
        findings.append(Finding(limit, quantity, tuple(counted)))
    return findings


def check_text(
    text: str,
    source: str,
    trip_count: int | None = None,
    chip: Chip | str | None = None,
) -> list[Finding]:
    """Hold all programs of a file's text to the budgets written in it.

    Programs are separated by lines `// -----`; each has its own lines.

    Raises:
        CompileError: there is no `COMM:` line with a limit, one is malformed, or a
            program that has one does not compile.
    """
    findings: list[Finding] = []
    for part in split_programs(text):
        budget = parse_budget(part, source)
        if budget.limits:
            program = ProgramForm.of_text(part, source)
            findings.extend(check_budget(program, budget, source, trip_count, chip))
    if not findings:
        raise no_budget(source)
    return findings


def check_program(
    program: ProgramForm,
    limits: Sequence[str],
    trip_count: int | None = None,
    chip: Chip | str | None = None,
) -> Findings:
    """Compare a program with limits, or with those in the file that it was read from.

    Args:
        program: in any form; a global one is partitioned.
        limits: each a line as after `// COMM:`.

    Raises:
        CompileError: there are none, or see `check_budget`.
    """
    if limits:
        budgets = map(parse_limits, limits)
        findings = [
            finding
            for budget in budgets
            for finding in check_budget(program, budget, "<budget>", trip_count, chip)
        ]
        return Findings(findings)
    if not Path(program.source).is_file():
        raise CompileError(
            "no limits are given", hint='say some: program.budget("all_gather<=2")'
        )
    source = program.source
    return Findings(check_text(read_text(Path(source)), source, trip_count, chip))


def no_budget(source: str) -> CompileError:
    """The error about a file without limits."""
    return CompileError(
        f"'{source}' has no budget",
        hint="write limits as a comment: // COMM: all_gather<=2, bytes<=4MiB",
    )


def assert_budget(
    program: ProgramForm | ModuleOp | str | os.PathLike[str], *limits: str
) -> None:
    """Raise if a program sends or holds more than the limits say.

    Args:
        program: a `Program`, an xDSL module, MLIR text, or a file's name. A global
            program is partitioned first.
        limits: each a line as after `// COMM:`, `"all_gather<=2, axis=model"`; without
            any, the lines in the program's own text.

    Raises:
        BudgetExceededError: an `AssertionError` with what was found and why.
        CompileError: a limit is malformed, or the program does not compile.
    """
    if not limits:
        if isinstance(program, ProgramForm | ModuleOp):
            raise CompileError(
                "no limits are given",
                hint='say some: assert_budget(program, "all_gather<=2")',
            )
        text, source = _text_of(program)
        findings = check_text(text, source)
    else:
        match program:
            case ProgramForm():
                loaded = program
            case ModuleOp():
                loaded = ProgramForm.of_module(program)
            case _:
                loaded = ProgramForm.of_text(*_text_of(program))
        source = loaded.source
        budgets = [parse_limits(text) for text in limits]
        mesh = next((parsed.mesh for parsed in budgets if parsed.mesh), ())
        device = loaded.per_device(mesh)
        findings = [
            finding
            for budget in budgets
            for finding in check_budget(device, budget, "<budget>")
        ]
    if not all(finding.ok for finding in findings):
        raise BudgetExceededError(source, findings)


def _text_of(program: str | os.PathLike[str]) -> tuple[str, str]:
    """Return MLIR text, given or in a file, and what to call it."""
    if isinstance(program, str) and any(c in program for c in "\n{"):
        return program, "<text>"
    return read_text(Path(program)), str(program)


def findings_table(findings: Sequence[Finding]) -> Table:
    """Found beside allowed, a row a limit."""
    table = Table("line", "limit")
    table.add_column("found", justify="right", no_wrap=True)
    table.add_column("")
    for finding in findings:
        mark = styled("ok", "green") if finding.ok else styled("FAIL", "bold red")
        limit = finding.limit
        table.add_row(str(limit.line), str(limit), finding.found_text, mark)
    return table


def offenders_table(finding: Finding) -> Table:
    """Return a table of what exceeds a limit: buffers at the peak, or collectives."""
    if finding.limit.is_memory:
        table = Table("value at the peak", "on a device", title_justify="left")
        table.add_column("bytes", justify="right", no_wrap=True)
        table.add_column("where")
        for value in finding.values[:_MOST_VALUES]:
            table.add_row(
                value.name,
                value.type,
                bytes_text(value.bytes),
                place_text(value.position),
            )
        rest = finding.values[_MOST_VALUES:]
        if rest:
            total = bytes_text(sum(value.bytes for value in rest))
            table.add_row(f"{len(rest)} more", "", total, "")
        return table
    table = Table("collective", "axis", "local tensor", title_justify="left")
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("why")
    table.add_column("where")
    rows = fold(
        finding.collectives,
        attrgetter("row"),
        lambda collective: collective.bytes_per_device,
    )
    for group in rows.groups:
        title, axes, tensor, reason = group[0].row
        count = f"{len(group)} " if len(group) > 1 else ""
        sent = bytes_text(sum(collective.bytes_per_device for collective in group))
        place = group[0].place + (
            ", …" if len({collective.place for collective in group}) > 1 else ""
        )
        table.add_row(f"{count}{title}", axes, tensor, sent, reason, place)
    if rows.hidden:
        sent = bytes_text(
            sum(collective.bytes_per_device for collective in rows.hidden)
        )
        text = f"{len(rows.hidden)} others, in --json"
        table.add_row(text, "", "", sent, "", "")
    return table


def print_findings(console: Terminal, findings: Sequence[Finding]) -> None:
    """The table of limits, then for each that does not hold what it counts."""
    console.print_table(findings_table(findings))
    for finding in findings:
        if finding.ok:
            continue
        console.print(f"{finding.limit}: found {finding.found_text}")
        if finding.collectives or finding.values:
            table = offenders_table(finding)
            console.print_table(table, ["local tensor", "axis", "on a device"])
