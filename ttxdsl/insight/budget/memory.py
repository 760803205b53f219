"""The memory that a device needs, by name, as a table."""

from rich.table import Table

from ttxdsl.analysis.usage.device import counted_as
from ttxdsl.analysis.usage.memory import MemoryProfile
from ttxdsl.costs.compilers import Compiler
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.errors import place_text
from ttxdsl.diagnostics.terminal import Terminal


def print_memory(
    console: Terminal, profile: MemoryProfile, compiler: Compiler | None = None
) -> None:
    """Print what a device holds at its peak, the largest values first, and who says so."""
    point = profile.points[profile.peak] if profile.points else None
    where = (
        "" if point is None else f", at {point.op.name} {place_text(point.position)}"
    )
    console.print(
        f"peak {bytes_text(profile.peak_bytes)} a device{where.rstrip()};"
        f" arguments {bytes_text(profile.argument_bytes)} ({counted_as(compiler)})",
        soft_wrap=True,
    )
    table = Table("held then", "kind", "on a device")
    table.add_column("bytes", justify="right")
    for value in profile.peak_values:
        table.add_row(value.name, value.kind, value.type, bytes_text(value.bytes))
    console.print(table)
