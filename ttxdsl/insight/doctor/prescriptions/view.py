"""Prescriptions as a table with the code to paste, and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from rich.table import Table

from ttxdsl.analysis.usage.device import counted_on
from ttxdsl.costs.machines import machine_data
from ttxdsl.costs.units import bytes_text, others, seconds_text
from ttxdsl.diagnostics.errors import Frame, line_text, place_text
from ttxdsl.diagnostics.terminal import Terminal, heading, shortened, styled
from ttxdsl.insight.doctor.doctor import Diagnosis
from ttxdsl.insight.doctor.jax_code import jax_code
from ttxdsl.insight.doctor.prescriptions.answers import (
    Prescription,
    Prescriptions,
    Trial,
)
from ttxdsl.insight.doctor.prescriptions.candidates.lines import SourcePlace
from ttxdsl.insight.why.answers import Figures
from ttxdsl.sharding.devices.mesh import mesh_words

_MOST_INSTEAD = 3
_LONGEST = 60
"""Of code in a table."""


def _memory_text(figures: Figures) -> str:
    return "?" if figures.peak_bytes is None else bytes_text(figures.peak_bytes)


def _cells(before: Figures, after: Figures) -> tuple[str, ...]:
    """Return bytes, launches, time and memory, before → after."""
    texts = [
        (bytes_text(before.bytes), bytes_text(after.bytes)),
        (str(before.launches), str(after.launches)),
        (seconds_text(before.program_seconds), seconds_text(after.program_seconds)),
        (_memory_text(before), _memory_text(after)),
    ]
    return tuple(old if old == other else f"{old} → {other}" for old, other in texts)


def _where(places: Sequence[SourcePlace]) -> str:
    first = places[0]
    if first.op is None:
        more = len(places) - 1
        return f"{first.name} and {others(more)}" if more else first.name
    text = place_text(first.position) or first.name
    if first.function and first.position:  # the file is in the code below
        text = line_text(Frame(first.function, first.position))
    count = sum(place.count for place in places)
    return f"{text} (x{count})" if count > 1 else text


def _table(answer: Prescriptions) -> Table:
    table = Table(title="Prescriptions, each compiled", title_justify="left")
    table.add_column("", no_wrap=True)
    _add_columns(table)
    for number, prescription in enumerate(answer.prescriptions, 1):
        note = (
            f", on top of {_numbers(prescription.on_top_of)}"
            if prescription.on_top_of
            else ""
        )
        table.add_row(
            str(number),
            f"{prescription.kind}{note}",
            _where(prescription.places),
            *_cells(prescription.before, prescription.after),
        )
    if len(answer.together) > 1:
        table.add_row(
            "",
            f"{_numbers(answer.together)} together",
            "",
            *_cells(answer.before, answer.after),
        )
    return table


def _add_columns(table: Table) -> None:
    table.add_column("what")
    table.add_column("where", overflow="fold")
    for column in ("sent", "launches", "time", "memory"):
        table.add_column(column, justify="right", no_wrap=True)


def _numbers(numbers: Sequence[int]) -> str:
    """Return `1`, `1, 3`, or `1-4`."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]}-{numbers[-1]}"
    return ", ".join(map(str, numbers))


def _code(number: int, prescription: Prescription) -> list[str]:
    """Return the lines to paste, with where they belong as comments."""
    first = prescription.places[0]
    match prescription.kind:
        case "constraint" if first.op is None:
            names = ", ".join(place.name for place in prescription.places)
            lines = [f"# {number}: of {names}"]
        case "constraint":
            where = place_text(first.position, first.function) or first.name
            name = f"{first.name}, {first.op}"
            count = sum(place.count for place in prescription.places)
            values = f"; {count} values" if count > 1 else ""
            if others := prescription.places[1:]:
                values += f"; and at {_listed(others)}"
            lines = [f"# {number}: x is made at {where} ({name}{values})"]
        case "argument":
            lines = [
                f"# {number}: in in_shardings, and in out_shardings of new state, by the"
                " paths of arguments"
            ]
        case "mesh":
            lines = [f"# {number}: the mesh, of the same devices"]
        case "spelling":
            where = place_text(first.position, first.function) or first.name
            values = f" ({first.name}, {first.op})" if first.op else ""
            lines = [f"# {number}: at {where}{values}"]
        case "donation":
            lines = [f"# {number}: the state is not needed after the step"]
    written = prescription.lines
    if len(written) <= prescription.write.count("\n"):
        lines[-1] += "; * is any number"
    lines += written
    if instead := prescription.instead:
        few = _listed(instead[:_MOST_INSTEAD])
        more = len(instead) - _MOST_INSTEAD
        few += f" and {more} more" if more > 0 else ""
        lines.append(f"# or the same at {few}")
    return lines


def _listed(places: Sequence[SourcePlace]) -> str:
    texts = [
        place_text(place.position, place.function) or place.name for place in places
    ]
    return ", ".join(dict.fromkeys(texts))


def _tried_table(tried: Sequence[Trial], answer: Prescriptions) -> Table:
    table = Table(title="Tried, and no better", title_justify="left")
    _add_columns(table)
    for trial in tried:
        text, _, more = trial.write.partition("\n")
        text = shortened(text, _LONGEST) + (" …" if more else "")
        cells = ("refused", "", "", "")
        if trial.after is not None:
            cells = _cells(answer.before, trial.after)
        table.add_row(text, _where(trial.places), *cells)
    return table


def print_prescriptions(
    console: Terminal,
    answer: Prescriptions,
    source: str,
    *,
    whole: bool = False,
    all_axes: bool = False,
) -> None:
    """Print prescriptions and their code."""
    before = answer.before
    mesh = mesh_words(answer.mesh, all_axes=all_axes)
    head = heading(
        source,
        f": mesh {mesh}; a device sends {bytes_text(before.bytes)} in"
        f" {before.launches} collective{'s' if before.launches != 1 else ''}, a step takes"
        f" {seconds_text(before.program_seconds)} and {_memory_text(before)}",
    )
    console.print(head, soft_wrap=True)
    compiled = len(answer.tried) + len(answer.prescriptions)
    if answer.prescriptions:
        console.print_table(_table(answer), ["launches"])
        for number, prescription in enumerate(answer.prescriptions, 1):
            for line in _code(number, prescription):
                console.print(f"  {line}", soft_wrap=True)
    elif compiled:
        kinds = sorted({trial.kind for trial in answer.tried})
        console.print(
            f"nothing helps: {compiled} changes compiled ({', '.join(kinds)})"
            if not answer.untried
            else f"none of the {compiled} changes helps that there was time to compile"
            f" ({', '.join(kinds)})"
        )
    elif answer.untried:
        console.print("there was no time to try a change")
    else:
        console.print("there is no change to try")
    notes = [
        f"{_numbers(equal)} are equal in time, within the model's error: the fewest bytes"
        " come first, then the least memory"
        for equal in answer.equal_in_time
    ]
    if answer.is_partitioned:
        notes.append(
            "the program is partitioned already, in a shard_map or by a compiler: what it"
            " computes and sends inside is its own; what can still be changed is donation"
            " and, where links differ, the order of the mesh's axes"
        )
    if answer.is_of_torch and answer.prescriptions:
        notes.append(
            "the code is JAX's: in torch-xla, P(a, b) on x is"
            " xs.mark_sharding(x, mesh, (a, b))"
        )
    notes.append(f"time: {answer.machine}")
    notes.append(f"memory: {counted_on(answer.machine)}")
    if before.guessed is not None:
        notes.append(before.guessed)
    if answer.interrupted:
        notes.append("interrupted: the best so far")
    if answer.untried:
        notes.append(f"no time for {answer.untried} more candidates: --seconds")
    if answer.tried and not whole:
        notes.append(f"{len(answer.tried)} changes compiled that are no better: --all")
    for note in notes:
        console.print(f"  {note}", soft_wrap=True)
    if whole and answer.tried:
        console.print_table(_tried_table(answer.tried, answer), ["launches"])
    if not any(
        map(
            answer.fits,
            (answer.after, *(cheapest.after for cheapest in answer.prescriptions)),
        )
    ):
        text = (
            f"nothing fits into {bytes_text(answer.memory or 0)}: the least that any"
            f" change needs is {bytes_text(answer.least_memory or 0)}"
        )
        console.print(styled(text, "bold red"))


def figures_data(figures: Figures) -> dict[str, Any]:
    """Return a program's costs as JSON data."""
    return {
        "bytes": figures.bytes,
        "launches": figures.launches,
        "step_s": figures.program_seconds,
        "peak_bytes": figures.peak_bytes,
        "collectives": dict(figures.collectives),
    }


def _prescription_data(prescription: Prescription) -> dict[str, Any]:
    return {
        "kind": prescription.kind,
        "write": prescription.write,
        "places": [asdict(place) for place in prescription.places],
        "before": figures_data(prescription.before),
        "after": figures_data(prescription.after),
        "on_top_of": prescription.on_top_of,
        "instead": [asdict(place) for place in prescription.instead],
    }


def prescriptions_data(answer: Prescriptions) -> dict[str, Any]:
    """Return prescriptions for JSON."""
    return {
        "mesh": dict(answer.mesh.axes),
        "machine": machine_data(answer.machine),
        "memory_limit": answer.memory,
        "before": figures_data(answer.before),
        "prescriptions": [
            _prescription_data(prescription) for prescription in answer.prescriptions
        ],
        "together": {
            "prescriptions": answer.together,
            "before": figures_data(answer.before),
            "after": figures_data(answer.after),
        },
        "equal_in_time": answer.equal_in_time,
        "least_memory": answer.least_memory,
        "tried": [
            {
                "kind": prescription.kind,
                "write": prescription.write,
                "places": [asdict(place) for place in prescription.places],
                "after": None
                if prescription.after is None
                else figures_data(prescription.after),
            }
            for prescription in answer.tried
        ],
        "untried": answer.untried,
        "interrupted": answer.interrupted,
        "is_partitioned": answer.is_partitioned,
    }


def choice_data(
    diagnosis: Diagnosis, before: Figures, further: Prescriptions | None
) -> dict[str, Any]:
    """Return the first mesh of a diagnosis, and what helps on it, as prescriptions."""
    best = diagnosis.rows[0]
    after = {
        "bytes": best.measurement.bytes_sent,
        "launches": sum(count for _, count in best.measurement.collectives),
        "step_s": best.measurement.seconds,
        "peak_bytes": best.measurement.peak_bytes,
        "collectives": dict(best.measurement.collectives),
    }
    chosen = best.candidate
    lines = jax_code(chosen, diagnosis.arguments, becomes=diagnosis.becomes)
    # the program's own shardings are kept: there is a mesh to write alone
    code = list(islice(lines, 2) if chosen.splits is None else lines)
    split = {dim.argument for dims in chosen.splits or () for dim in dims}
    names = [diagnosis.arguments[index][0] for index in sorted(split)]
    first: dict[str, Any] = {
        "kind": "mesh",
        "write": "\n".join(code),
        "places": [asdict(SourcePlace(name)) for name in names],
        "before": figures_data(before),
        "after": after,
        "on_top_of": (),
        "instead": [],
    }
    prescriptions: list[dict[str, Any]] = [first]
    together: list[int] = [1]
    for prescription in further.prescriptions if further is not None else ():
        on_top_of = (1, *(number + 1 for number in prescription.on_top_of))
        prescriptions.append(
            {**_prescription_data(prescription), "on_top_of": on_top_of}
        )
    if further is not None and further.together:
        together += [number + 1 for number in further.together]
        after = figures_data(further.after)
    return {
        "prescriptions": prescriptions,
        "together": {
            "prescriptions": together,
            "before": figures_data(before),
            "after": after,
        },
    }
