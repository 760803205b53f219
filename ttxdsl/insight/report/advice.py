"""The advice on a report's first page: what `ttxdsl doctor` prescribes."""

from contextlib import suppress

from ttxdsl.api.forms import ProgramForm
from ttxdsl.costs.machines import Machine
from ttxdsl.costs.units import bytes_text, seconds_text
from ttxdsl.diagnostics.errors import CompileError, place_text
from ttxdsl.insight.doctor.prescriptions.prescribe import prescribe
from ttxdsl.insight.why.answers import Figures


def advice(
    program: ProgramForm, seconds: float, machine: Machine
) -> list[dict[str, str]]:
    """Return what helps most, each with the code, its place and what it saves.

    Empty for a program that nothing can be prescribed for.

    Args:
        seconds: after so many no further change is compiled.
    """
    with suppress(CompileError):
        answer = prescribe(
            program.module, source=program.source, seconds=seconds, machine=machine
        )
        return [
            {
                "write": "\n".join(prescription.lines),
                "where": place_text(
                    prescription.places[0].position, prescription.places[0].function
                )
                or prescription.places[0].name,
                "saves": _saved(prescription.before, prescription.after),
            }
            for prescription in answer.prescriptions
        ]
    return []


def _saved(before: Figures, after: Figures) -> str:
    """Return what changes: time and bytes before and after."""
    times = [seconds_text(figures.program_seconds) for figures in (before, after)]
    sent = [bytes_text(figures.bytes) for figures in (before, after)]
    return f"a step {' → '.join(times)}, sent {' → '.join(sent)}"
