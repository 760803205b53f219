"""The collectives of a program as a table of which each row can be asked about."""

from collections.abc import Sequence

from rich.table import Table

from ttxdsl.analysis.usage.collectives import (
    CountedCollective,
    guesses_text,
    launches_of,
    sent_text,
)
from ttxdsl.analysis.usage.reasons import lines_of, reason_of
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.terminal import Terminal

_MOST_ROWS = 16


def print_collectives(
    console: Terminal, collectives: Sequence[CountedCollective]
) -> None:
    """Print collectives in program order, of many those that send most, numbered from 0."""
    if not collectives:
        console.print("no collectives")
        return
    numbered = sorted(enumerate(collectives), key=lambda row: -row[1].bytes_per_device)
    table = Table("#", "collective", title="Collectives", title_justify="left")
    table.columns[0].justify = "right"
    table.add_column("axis")
    table.add_column("local tensor")
    table.add_column("bytes/device", justify="right", no_wrap=True)
    table.add_column("why")
    for number, collective in sorted(numbered[:_MOST_ROWS], key=lambda row: row[0]):
        group = [collective]
        table.add_row(
            str(number),
            collective.title,
            collective.axes_text,
            collective.tensor,
            sent_text(group),
            "\n".join(filter(None, (reason_of(group), lines_of(group)))),
        )
    if hidden := [collective for _, collective in numbered[_MOST_ROWS:]]:
        rest = bytes_text(sum(row.bytes_per_device for row in hidden))
        table.add_row("", f"{len(hidden)} others, each with less", "", "", rest, "")
    total = bytes_text(sum(row.bytes_per_device for row in collectives))
    table.add_section()
    launches = launches_of(collectives)
    text = "1 launch" if launches == 1 else f"{launches} launches"
    table.add_row("", text, "", "", total, "")
    console.print_table(table, ["local tensor", "axis"])
    if (guessed := guesses_text(collectives)) is not None:
        console.print(guessed, soft_wrap=True)
