"""The result of a check, as text and as JSON."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ttxdsl.diagnostics.terminal import Terminal, heading, styled
from ttxdsl.insight.check.check import CheckReport
from ttxdsl.insight.run.comparisons import tell_of_nothing


def print_check(console: Terminal, source: str, report: CheckReport) -> None:
    """The steps, each right or wrong."""
    head = heading(source, f": {', '.join(report.trials)}")
    console.print(head, soft_wrap=True)
    for step in report.steps:
        blamed = report.failure is not None and step == report.failure.step
        if report.failure is not None and not blamed and step == report.steps[-1]:
            continue  # it could not go on from what another made
        mark = ("FAIL", "bold red") if blamed else ("ok", "green")
        console.print(styled(f"  {step!s:38} ").append(*mark))
    if report.failure is None:
        console.print(f"{len(report.steps)} steps compute what the program does")
        for text in report.undecided:
            console.print(f"rounding decides {text}: not held against the program")
        for text in report.special:
            console.print(f"not finite: {text}", soft_wrap=True)
        tell_of_nothing(console, report.not_compared)


def print_report(console: Terminal, source: str, report: CheckReport) -> None:
    """Print the steps, and what is wrong."""
    print_check(console, source, report)
    if report.failure is not None:
        console.print(f"error: {report.failure}", soft_wrap=True)


def report_data(
    file: Path, report: CheckReport, reproducer: Path | None
) -> dict[str, Any]:
    """The report for JSON; the last step failed if any did."""
    failure = report.failure
    return {
        "file": str(file),
        "ok": report.ok,
        "trials": report.trials,
        "steps": [str(step).strip() for step in report.steps],
        "failed_step": None if failure is None else str(failure.step).strip(),
        "undecided": report.undecided,
        "special": report.special,
        "not_compared": report.not_compared,
        "remarks": [asdict(remark) for remark in report.remarks],
        "failure": None if failure is None else str(failure),
        "reproducer": None if reproducer is None else str(reproducer),
    }
