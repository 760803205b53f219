"""A comparison with XLA as tables, and as JSON."""

from dataclasses import asdict
from typing import Any

from rich.table import Table

from ttxdsl.analysis.usage.collectives import UNKNOWN_LOOPS
from ttxdsl.bridges.xla.comparing import ResultRow, XlaComparison
from ttxdsl.bridges.xla.hlo.collectives import HloCollective
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.display import PLAIN_WIDTH
from ttxdsl.diagnostics.folding import SHOWN, farthest
from ttxdsl.diagnostics.terminal import Terminal, heading, styled
from ttxdsl.insight.diff.side_by_side import CollectiveRow
from ttxdsl.insight.run.comparisons import (
    comparison_data,
    not_compared,
    tell_of_nothing,
)


def _row_json(row: CollectiveRow[HloCollective]) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "among": row.among,
        "label": row.label.said_of("XLA"),
        "ours": [
            {"bytes": our.bytes_per_device, "why": our.reason, "at": our.position}
            for our in row.ours
        ],
        "xla": [
            {
                "bytes": their.bytes_per_device,
                "op": their.op_name,
                "scopes": their.scopes,
                "at": their.position,
            }
            for their in row.theirs
        ],
    }


def comparison_json(comparison: XlaComparison) -> dict[str, Any]:
    """Return a comparison for JSON."""
    ours, xla = comparison.bytes
    launches = comparison.launches
    memory = comparison.memory
    return {
        "source": comparison.source,
        "devices": comparison.devices,
        "agree": None if comparison.static else comparison.agree,
        "bytes_per_device": {"ours": ours, "xla": xla},
        "launches": {"ours": launches[0], "xla": launches[1]},
        "memory": {"ours": memory[0].data(), "xla": memory[1].data()},
        "peak_bytes": comparison.peak_bytes,
        "results": [
            {
                "name": row.name,
                "shape": list(row.shape),
                "type": row.dtype,
                "label": row.label,
                **comparison_data(row.ours),
                "ours_max_abs": row.ours.max_abs,
                "xla_max_abs": row.xla_max_abs,
                "ours_pcc": row.ours.pcc,
                "xla_pcc": row.xla_pcc,
                "xla_parts": row.split,
                "differing_devices": list(row.differing),
            }
            for row in comparison.results
        ],
        "collectives": [_row_json(row) for row in comparison.collectives],
        "remarks": [asdict(remark) for remark in comparison.remarks],
    }


def _result_table(comparison: XlaComparison) -> Table:
    table = Table("result", title="Results", title_justify="left")
    table.add_column("type", no_wrap=True)
    table.add_column("ours: max\nabs, pcc", justify="right", no_wrap=True)
    table.add_column("XLA: max\nabs, pcc", justify="right", no_wrap=True)
    table.add_column("parts\nin XLA", justify="right", no_wrap=True)
    table.add_column("")
    for row in farthest(comparison.results, lambda row: row.is_right, _off):
        table.add_row(
            row.name,
            "x".join((*map(str, row.shape), row.dtype)),
            f"{row.ours.max_abs:.1e} {row.ours.pcc:.6f}",
            f"{row.xla_max_abs:.1e} {row.xla_pcc:.6f}",
            str(row.split),
            styled(row.label, "" if row.is_right else "bold red"),
        )
    return table


def _off(row: ResultRow) -> float:
    return max(row.ours.max_abs, row.xla_max_abs)


_MOST_ORIGINS = 4
"""Origins that a cell lists."""


def _side(row: CollectiveRow[HloCollective], *, ours: bool) -> str:
    count, bytes_ = (both[not ours] for both in (row.counts, row.bytes))
    if ours:
        names = {
            f"{our.reason} ({our.place})" if our.function else our.reason
            for our in row.ours
        }
    else:
        names = {origin for their in row.theirs for origin in _origins(their)}
    if not count:
        return "none"
    listed = sorted(names)
    rest = len(listed) - _MOST_ORIGINS
    shown = listed[:_MOST_ORIGINS] if rest > 1 else listed
    more = [f"{rest} more: --json"] if rest > 1 else []
    return "\n".join([f"{count}: {bytes_text(bytes_)}", *shown, *more])


def _origins(collective: HloCollective) -> list[str]:
    """Return the user's scopes; the line, too, where there is one scope that has it."""
    if collective.place and len(collective.scopes) == 1:
        return [f"{collective.scopes[0]} ({collective.place})"]
    return list(collective.scopes)


def _collective_table(comparison: XlaComparison, *, narrow: bool) -> Table:
    """Return a table of both sides' collectives; a narrow one joins kind and group."""
    table = Table("collective", title="Collectives: launches, bytes a device")
    table.title_justify = "left"
    if not narrow:
        table.add_column("among")
    table.add_column("ours")
    table.add_column("XLA")
    table.add_column("")
    for row in comparison.collectives:
        sides = (_side(row, ours=True), _side(row, ours=False))
        first = (f"{row.kind} {row.among}",) if narrow else (row.kind, row.among)
        table.add_row(*first, *sides, row.label.said_of("XLA"))
    sides = [
        f"{launches}: {bytes_text(sent)}"
        for launches, sent in zip(comparison.launches, comparison.bytes, strict=True)
    ]
    table.add_section()
    first = ("in all",) if narrow else ("in all", "")
    table.add_row(*first, *sides, "")
    return table


def _memory_table(comparison: XlaComparison) -> Table:
    table = Table("memory", title="Memory of a device", title_justify="left")
    for side in ("ours", "XLA"):
        table.add_column(side, justify="right", no_wrap=True)
    ours, xla = (memory.data() for memory in comparison.memory)
    for part in ours:
        if part == "total":
            table.add_section()
        table.add_row(part, bytes_text(ours[part]), bytes_text(xla[part]))
    return table


def _print_results(console: Terminal, comparison: XlaComparison) -> None:
    console.print_table(_result_table(comparison), ["parts\nin XLA", "type"])
    count = len(comparison.results)
    if count > SHOWN:
        right = sum(row.is_right for row in comparison.results)
        console.print(f"{right} of {count} results are right, the farthest off shown")
    nothing = not_compared([row.ours for row in comparison.results])
    tell_of_nothing(console, nothing, [row.name for row in comparison.results])


def print_comparison(console: Terminal, comparison: XlaComparison) -> None:
    """Print results and collectives, each beside XLA's."""
    head = heading(comparison.source, f"  {comparison.devices} devices")
    console.print(head, soft_wrap=True)
    if comparison.static:
        console.print("compiled by both, run by neither: results are not compared")
    else:
        _print_results(console, comparison)
    narrow = console.width < PLAIN_WIDTH
    console.print_table(_collective_table(comparison, narrow=narrow))
    console.print(_memory_table(comparison))
    peak = bytes_text(comparison.peak_bytes)
    held = f"at the peak ours holds {peak} at once, fused as XLA for CPUs fuses"
    console.print(f"{held}; plan --chip has a chip's", soft_wrap=True)
    if comparison.guessed:
        console.print(f"collectives {UNKNOWN_LOOPS}", soft_wrap=True)
