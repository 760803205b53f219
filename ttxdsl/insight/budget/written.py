"""Limits where they are written: in a program, above a Python function, in a baseline."""

import ast
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from ttxdsl.api.forms import ProgramForm
from ttxdsl.costs.chips import Chip
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.insight.budget.check import Finding, check_budget, require_counts
from ttxdsl.insight.budget.directives import KINDS, MARK, parse_limits
from ttxdsl.loading.program import read_text

_NUMBER = re.compile(r"([\w.]+\s*(?:<=|>=|==|!=|<|>)\s*)([\d.]+\s*[A-Za-z]*)")
_UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1))
_ALL = ("launches", *KINDS, "bytes", "memory")


def size_text(count: int) -> str:
    """A number of bytes in the largest unit that has it whole: `4MiB`, `1537B`."""
    units = (entry for entry in _UNITS if count and count % entry[1] == 0)
    unit, size = next(units, _UNITS[-1])
    return f"{count // size}{unit}"


def limits_of(
    program: ProgramForm,
    trip_count: int | None = None,
    chip: Chip | str | None = None,
) -> str:
    """Return limits that a program just keeps, on what it sends and holds.

    With the trip count that they count with, if the program does not say it.

    Raises:
        CompileError: the program cannot be compiled, or has loops of unknown count.
    """
    device = program.per_device()
    counted = device.collectives(trip_count)
    require_counts(counted, "a budget cannot count")
    assumed = any(collective.times.assumed for collective in counted)
    asked = parse_limits(", ".join(f"{quantity}<=0" for quantity in _ALL))
    findings = check_budget(device, asked, trip_count=trip_count, chip=chip)
    limits = (
        f"{finding.limit.quantity}<={_figure(finding, finding.found)}"
        for finding in findings
        if finding.found or finding.limit.quantity not in KINDS
    )
    return ", ".join([*limits, *([f"trip_count={trip_count}"] if assumed else [])])


def _figure(finding: Finding, number: int) -> str:
    return size_text(number) if finding.limit.is_bytes else str(number)


def with_new_figures(text: str, findings: Iterable[Finding]) -> str:
    """The text, where each limit that does not hold says what was found.

    `!=` says nothing about how much there may be, and stays.
    """
    lines = text.split("\n")
    # from the last on a line, so that the columns of the others stay
    for finding in sorted(
        findings, key=lambda checked: (checked.limit.line, -checked.limit.column)
    ):
        limit = finding.limit
        if finding.ok or limit.comparator == "!=":
            continue
        number = finding.found + {"<": 1, ">": -1}.get(limit.comparator, 0)
        line, start = lines[limit.line - 1], limit.column - 1
        match = _NUMBER.match(line, start)
        assert match is not None, "it was read as a limit"
        end = match.end(1) + len(match[2].rstrip())
        figure = _figure(finding, max(0, number))
        lines[limit.line - 1] = f"{line[: match.end(1)]}{figure}{line[end:]}"
    return "\n".join(lines)


def with_lines(text: str, added: Mapping[int, str]) -> str:
    """The text with lines put before others, by the numbers of these, from 1."""
    lines = text.split("\n")
    for number in sorted(added, reverse=True):
        old = lines[number - 1]
        blanks = old[: len(old) - len(old.lstrip())]
        lines.insert(number - 1, blanks + added[number])
    return "\n".join(lines)


def above_function(text: str, name: str) -> tuple[str, int]:
    """The `# COMM:` lines of a function of a Python file, and the line it starts at.

    They stand inside it, or right above. All else is blank, each line where it was.

    Raises:
        CompileError: there is no such function.
    """
    functions = {
        node.name: node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }
    node = functions.get(name)
    if node is None:
        names = ", ".join(map(visible, functions))
        raise CompileError(
            f"the file has no function '{visible(name)}'",
            hint=f"it has {names}" if names else None,
        )
    lines = text.split("\n")
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    start = first
    while start > 1 and lines[start - 2].lstrip().startswith("#"):
        start -= 1
    kept = [
        line.replace(f"# {MARK}", f"//{MARK}", 1)
        if start <= number <= (node.end_lineno or first)
        and line.lstrip().startswith(f"# {MARK}")
        else ""
        for number, line in enumerate(lines, 1)
    ]
    return "\n".join(kept), first


def read_baseline(path: Path) -> dict[str, str]:
    """The limits of each program, by its path from the folder of the baseline.

    Raises:
        CompileError: the file cannot be read, or is no such table.
    """
    try:
        read: Any = json.loads(read_text(path))
    except ValueError as error:
        raise CompileError(f"'{visible(str(path))}' is no baseline: {error}") from error
    table = cast("dict[str, Any]", read if isinstance(read, dict) else {"": None})
    if not all(isinstance(limits, str) for limits in table.values()):
        raise CompileError(
            f"'{visible(str(path))}' is no baseline: it does not say text of each program",
            hint="ttxdsl budget FOLDER --baseline FILE --update writes one",
        )
    return table


def baseline_text(table: Mapping[str, str]) -> str:
    """A baseline as it is written, a program a line."""
    return json.dumps(table, indent=0, sort_keys=True, ensure_ascii=False) + "\n"
