"""A diagnosis as tables, and as JSON."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from ttxdsl.analysis.usage.collectives import UNKNOWN_LOOPS
from ttxdsl.analysis.usage.device import counted_on
from ttxdsl.costs.machines import machine_data
from ttxdsl.costs.units import bytes_text, listed, seconds_text
from ttxdsl.diagnostics.display import PLAIN_WIDTH
from ttxdsl.diagnostics.terminal import Terminal, heading, shortened, styled
from ttxdsl.insight.doctor.doctor import Diagnosis, Row
from ttxdsl.insight.doctor.groups import Family, divisors
from ttxdsl.insight.doctor.jax_code import jax_code, partition_specs
from ttxdsl.insight.doctor.solving.candidates import AXIS_NAMES

_MOST_ARGUMENTS = 4
_MOST_ALLOWED = 10
_MOST_GROUPS = 10
_MOST_GROUP_LINES, _MOST_MESH_LINES = 14, 20
"""Of the two tables, so that a screen has all of the report."""
MOST_ROWS, _FEWEST_ROWS = 8, 4
"""The number of meshes to show by default."""
_MOST_LINES = 6
"""Of the code, for arguments and for constraints."""
_MOST_OFF_TOP = 3
"""Rows of the front that are shown though they are not among the first."""
_LONGEST = 30
"""Of an axis's name in a table."""


# Tables


def _allowed_text(family: Family) -> str:
    allowed = list(map(str, family.allowed))
    if len(allowed) > _MOST_ALLOWED:
        allowed = [*allowed[: _MOST_ALLOWED - 2], "…", allowed[-1]]
    return ", ".join(allowed)


def _members_text(family: Family, *, narrow: bool) -> str:
    few = 1 if narrow else _MOST_ARGUMENTS
    names = [shortened(str(dim), _LONGEST) for dim in family.arguments[:few]]
    more = len(family.arguments) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _group_table(diagnosis: Diagnosis, *, narrow: bool) -> Table:
    table = Table(
        "group", title="Dimensions that are split together", title_justify="left"
    )
    table.columns[0].no_wrap = True
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("alike", justify="right", no_wrap=True)
    table.add_column("can be split into")
    table.add_column("arguments' dimensions", no_wrap=narrow)
    table.add_column("communicates where it is", min_width=24)
    for family in _shown(diagnosis)[:_MOST_GROUPS]:
        needs = ", ".join(f"{why} ({count})" for why, count in family.communicates)
        table.add_row(
            family.name,
            str(family.size),
            str(family.groups),
            _allowed_text(family),
            _members_text(family, narrow=narrow),
            needs or ("a loop's iterations" if family.stacked else "nowhere"),
        )
    return table


def _shown(diagnosis: Diagnosis) -> list[Family]:
    return [family for family in diagnosis.analysis.families if family.size > 1]


def _padding_table(diagnosis: Diagnosis, uneven: list[Family]) -> Table:
    table = Table(
        "group",
        title="What of it would be padding",
        title_justify="left",
    )
    parts = [size for size in divisors(diagnosis.devices) if size > 1]
    for size in parts:
        table.add_column(f"{size} parts", justify="right")
    for family in uneven:
        cells = (_padding_text(family.padding(size)) for size in parts)
        table.add_row(f"{family.name} {family.size}", *cells)
    return table


def _padding_text(padding: float) -> str:
    return f"{padding:.1%}" if padding else "even"


def _mesh_table(diagnosis: Diagnosis, rows: list[tuple[int, Row]]) -> Table:
    table = Table(title="Meshes, each compiled, the best first", title_justify="left")
    table.add_column("", no_wrap=True)
    table.add_column("mesh", no_wrap=True)
    pads = any(row.candidate.padding for _, row in rows)
    for column in ("time", "sent", "memory", "arguments", "shared by"):
        table.add_column(column, justify="right", no_wrap=True)
    if pads:
        table.add_column("padding", justify="right", no_wrap=True)
    table.add_column("collectives", min_width=22)
    for place, row in rows:
        measurement = row.measurement
        kinds = ", ".join(f"{count} {kind}" for kind, count in measurement.collectives)
        table.add_row(
            f"{place}{'*' if row.front else ' '}",
            _mesh_cell(row),
            seconds_text(measurement.seconds),
            bytes_text(measurement.bytes_sent),
            _memory_cell(row),
            bytes_text(measurement.argument_bytes),
            f"{diagnosis.share(row):.1f}" if diagnosis.operations else "-",
            *(
                [_padding_text(row.candidate.padding) if row.candidate.padding else ""]
                if pads
                else []
            ),
            kinds or "none",
        )
    return table


def _shape_table(diagnosis: Diagnosis) -> Table:
    table = Table(
        "shape", title="The best of each shape of a mesh", title_justify="left"
    )
    table.columns[0].no_wrap = True
    table.add_column("compiled", justify="right", no_wrap=True)
    table.add_column("fastest", no_wrap=True)
    for column in ("time", "memory", "padding"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("lightest", no_wrap=True)
    table.add_column("least memory", justify="right", no_wrap=True)
    for shape in diagnosis.shapes:
        rows = diagnosis.of_shape(shape)
        cells: list[str | Text] = [""] * 6
        if rows:
            best = rows[0]
            least = min(rows, key=lambda row: row.measurement.peak_bytes)
            cells = [
                _mesh_cell(best),
                seconds_text(best.measurement.seconds),
                _memory_cell(best),
                _padding_text(best.candidate.padding),
                "the same" if least is best else _mesh_cell(least),
                _memory_cell(least),
            ]
        table.add_row("x".join(map(str, shape)), str(len(rows)), *cells)
    return table


def _mesh_cell(row: Row) -> str:
    names = [f"{shortened(name, _LONGEST)}={size}" for name, size in row.candidate.axes]
    note = row.candidate.note
    return " ".join([*names, note] if note else names)


def _memory_cell(row: Row) -> Text:
    memory = bytes_text(row.measurement.peak_bytes)
    return styled(memory) if row.fits else styled(f"{memory} !", "bold red")


def _selected(diagnosis: Diagnosis, top: int) -> list[tuple[int, Row]]:
    """The first rows, and the front wherever it stands."""
    numbered = list(enumerate(diagnosis.rows, 1))
    front = [row for row in numbered[top:] if row[1].front and row[1].fits]
    return [*numbered[:top], *front[:_MOST_OFF_TOP]]


def _fitting_meshes(
    console: Terminal, diagnosis: Diagnosis, top: int | None
) -> tuple[list[tuple[int, Row]], Table]:
    """Rows and their table: so many, or as many as there is place for beside the rest."""
    counts = range(MOST_ROWS, _FEWEST_ROWS - 1, -1) if top is None else (top,)
    narrow = console.width < PLAIN_WIDTH
    dropped = ["shared by", "arguments", "padding", "sent"]
    for count in counts:
        rows = _selected(diagnosis, count)
        table = _mesh_table(diagnosis, rows)
        lines = console.fit_table(table, dropped, _MOST_MESH_LINES if narrow else None)
        if lines <= _MOST_MESH_LINES or count == counts[-1]:
            return rows, table
    raise AssertionError("a table has some rows, or none")


def print_diagnosis(
    console: Terminal, diagnosis: Diagnosis, source: str, top: int | None = None
) -> None:
    """Print the groups of dimensions, and the first `top` meshes that were compiled."""
    compiled = len(diagnosis.rows) + len(diagnosis.refused)
    shapes = ", ".join("x".join(map(str, shape)) for shape in diagnosis.shapes)
    head = heading(
        source,
        f": {diagnosis.analysis.ops:,} ops,"
        f" {diagnosis.operations:,} operations; {diagnosis.devices} devices can be"
        f" {shapes}",
    )
    console.print(head, soft_wrap=True)
    narrow = console.width < PLAIN_WIDTH
    groups = _group_table(diagnosis, narrow=narrow)
    console.fit_table(groups, ["can be split into"], _MOST_GROUP_LINES)
    console.print_table(groups, ["can be split into", "alike"])
    if len(_shown(diagnosis)) > _MOST_GROUPS:
        console.print(f"{len(_shown(diagnosis)) - _MOST_GROUPS} more groups: --json")
    hidden = len(diagnosis.analysis.families) - len(_shown(diagnosis))
    if hidden:
        console.print(f"{hidden} more groups cannot be split evenly at all")
    uneven = [shown for shown in _shown(diagnosis) if shown.size % diagnosis.devices]
    if uneven:
        console.print(_padding_table(diagnosis, uneven))
    else:
        console.print(f"each can be split evenly over {diagnosis.devices} devices")
    rows, meshes = _fitting_meshes(console, diagnosis, top)
    console.print_table(meshes)
    # of one shape the table above has said it
    if sum(bool(diagnosis.of_shape(shape)) for shape in diagnosis.shapes) > 1:
        shapes = _shape_table(diagnosis)
        console.print_table(shapes, ["least memory", "lightest", "padding"])
    of = " of those compiled" if diagnosis.untried else ""
    notes = [
        f"* no other mesh{of} takes less time and less memory",
        f"time: {diagnosis.machine}",
        f"memory: {counted_on(diagnosis.machine)}",
    ]
    if any(column.header == "shared by" for column in meshes.columns):
        text = "shared by: how many devices' worth of operations the devices share"
        notes.insert(1, text)
    if any(row.measurement.unknown_loops for row in diagnosis.rows):
        notes.append(f"ops {UNKNOWN_LOOPS}")
    unpriced = {
        kind
        for row in diagnosis.rows
        for kind, _ in row.measurement.collectives
        if kind.startswith("@")
    }
    if unpriced:
        notes.append(f"not counted: what {', '.join(sorted(unpriced))} may send")
    if diagnosis.keeps_shardings:
        notes.append("the program's own shardings, on its mesh with other sizes")
    else:
        notes.append(
            "an axis splits one group, or several (+) that no value has two of; fsdp:"
            f" the batch and parameters; up to {diagnosis.most_axes} axes"
        )
        if any(row.candidate.axes[0][0] == AXIS_NAMES[0] for _, row in rows):
            notes.append(
                f"{listed(AXIS_NAMES)}: axes whose shardings a solver chose, dimension by"
                " dimension"
            )
    if diagnosis.memory is not None and not all(row.fits for row in diagnosis.rows):
        notes.append(f"! does not fit into {bytes_text(diagnosis.memory)}")
    if any(row.candidate.padding for _, row in rows):
        notes.append("padding: what does not divide is computed whole instead")
    if len(rows) < len(diagnosis.rows):
        notes.append(f"{len(diagnosis.rows) - len(rows)} more compiled: --top, --json")
    if diagnosis.untried:
        why = {
            "time": "there was no time: --seconds",
            "interrupt": "interrupted: the best so far",
            None: "for their estimated time and memory:"
            f" --candidates {len(diagnosis.untried) + compiled}",
        }[diagnosis.ended]
        notes.append(
            f"{len(diagnosis.untried)} of {len(diagnosis.untried) + compiled}"
            f" candidates not compiled, {why}"
        )
    refused = Counter(
        f"({refusal.candidate}) {refusal.reason}" for refusal in diagnosis.refused
    )
    notes += [f"{count} refused: {reason}" for reason, count in refused.items()]
    for line in notes:
        console.print(f"  {line}", soft_wrap=True)
    if diagnosis.rows and diagnosis.rows[0].candidate.splits is not None:
        console.print("The first one in JAX, by the paths of arguments:")
        best = diagnosis.rows[0].candidate
        lines = jax_code(best, diagnosis.arguments, _MOST_LINES, diagnosis.becomes)
        for line in lines:
            console.print(f"  {line}", soft_wrap=True)
    if diagnosis.memory is not None and not any(row.fits for row in diagnosis.rows):
        text = f"no mesh fits into {bytes_text(diagnosis.memory)}"
        peaks = [row.measurement.peak_bytes for row in diagnosis.rows]
        if peaks:
            text += f": the least that any needs is {bytes_text(min(peaks))}"
        console.print(styled(text, "bold red"))


def _specs(diagnosis: Diagnosis, row: Row) -> dict[str, Any] | None:
    """For each argument the axes of its dimensions; None where the program has them."""
    if row.candidate.splits is None:
        return None
    return dict(partition_specs(row.candidate, diagnosis.arguments))


def diagnosis_data(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis for JSON."""
    machine = diagnosis.machine
    return {
        "devices": diagnosis.devices,
        "mesh_shapes": diagnosis.shapes,
        "ops": diagnosis.analysis.ops,
        "operations": diagnosis.operations,
        "keeps_shardings": diagnosis.keeps_shardings,
        "memory_limit": diagnosis.memory,
        "machine": machine_data(machine),
        "groups": [
            {
                "name": family.name,
                "size": family.size,
                "alike": family.groups,
                "allowed": family.allowed,
                "arguments": [
                    {"argument": d.argument, "dim": d.dim, "name": d.name}
                    for d in family.arguments
                ],
                "dimensions": family.dims,
                "communicates": dict(family.communicates),
                "padding": {
                    str(size): family.padding(size)
                    for size in divisors(diagnosis.devices)
                },
            }
            for family in diagnosis.analysis.families
        ],
        "meshes": [
            {
                "mesh": dict(row.candidate.axes),
                "partition_specs": _specs(diagnosis, row),
                "note": row.candidate.note,
                "constraints": list(map(asdict, row.candidate.constraints)),
                **asdict(row.measurement),
                "collectives": dict(row.measurement.collectives),
                "padding": row.candidate.padding,
                "fits": row.fits,
                "front": row.front,
                "work_shared_by": diagnosis.share(row),
            }
            for row in diagnosis.rows
        ],
        "becomes": {
            diagnosis.arguments[argument][0]: result
            for argument, result in diagnosis.becomes.items()
        },
        "refused": [
            {"mesh": dict(refusal.candidate.axes), "reason": refusal.reason}
            for refusal in diagnosis.refused
        ],
        "not_compiled": [dict(candidate.axes) for candidate in diagnosis.untried],
        "ended": diagnosis.ended,
    }
