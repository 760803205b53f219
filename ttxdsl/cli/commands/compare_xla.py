"""`ttxdsl compare-xla`: a program through our compiler and through XLA's partitioner."""

import argparse
from dataclasses import asdict
from typing import Any

from rich.table import Table

from ttxdsl.analysis.usage.collectives import UNKNOWN_LOOPS
from ttxdsl.bridges.xla.comparing import ResultRow, XlaComparison, compare_with_xla
from ttxdsl.bridges.xla.hlo import HloCollective
from ttxdsl.cli.console import PLAIN_WIDTH, print_remarks, report_console
from ttxdsl.cli.input.programs import read_as_program
from ttxdsl.cli.input.values import (
    comparison_data,
    inputs_of,
    not_compared,
    tell_of_nothing,
)
from ttxdsl.cli.options import common as flags
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.terminal import Terminal, heading, styled
from ttxdsl.insight.diff.side_by_side import CollectiveRow
from ttxdsl.insight.report.folding import SHOWN, farthest


def _row_json(row: CollectiveRow[HloCollective]) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "among": row.among,
        "label": row.label.said_of("XLA"),
        "ours": [
            {"bytes": one.bytes_per_device, "why": one.reason, "at": one.position}
            for one in row.ours
        ],
        "xla": [
            {
                "bytes": one.bytes_per_device,
                "op": one.op_name,
                "scopes": one.scopes,
                "at": one.position,
            }
            for one in row.theirs
        ],
    }


def _json(comparison: XlaComparison) -> dict[str, Any]:
    ours, xla = comparison.bytes
    launches = comparison.launches
    memory = comparison.memory
    return {
        "source": comparison.source,
        "devices": comparison.devices,
        "agree": comparison.agree,
        "bytes_per_device": {"ours": ours, "xla": xla},
        "launches": {"ours": launches[0], "xla": launches[1]},
        "memory": {"ours": memory[0].data(), "xla": memory[1].data()},
        "peak_bytes": comparison.peak_bytes,
        "results": [
            {
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
    for index, row in farthest(comparison.results, lambda row: row.is_right, _off):
        table.add_row(
            str(index),
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
    if ours:
        count, bytes_ = row.our_count, row.our_bytes
        names = {one.reason for one in row.ours}
    else:
        count, bytes_ = row.their_count, row.their_bytes
        names = {origin for one in row.theirs for origin in _origins(one)}
    if not count:
        return "none"
    listed = sorted(names)
    rest = len(listed) - _MOST_ORIGINS
    shown = listed[:_MOST_ORIGINS] if rest > 1 else listed
    more = [f"{rest} more: --json"] if rest > 1 else []
    return "\n".join([f"{count}: {bytes_text(bytes_)}", *shown, *more])


def _origins(one: HloCollective) -> list[str]:
    """The user's scopes; the line, too, where there is one scope that has it."""
    if one.place and len(one.scopes) == 1:
        return [f"{one.scopes[0]} ({one.place})"]
    return list(one.scopes)


def _collective_table(comparison: XlaComparison, *, narrow: bool) -> Table:
    """Rows of both; where it is narrow, a kind and what it is among are in one column."""
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
    ours, xla = (one.data() for one in comparison.memory)
    for part in ours:
        if part == "total":
            table.add_section()
        table.add_row(part, bytes_text(ours[part]), bytes_text(xla[part]))
    return table


def print_comparison(console: Terminal, comparison: XlaComparison) -> None:
    """Results and collectives, each beside XLA's."""
    head = heading(comparison.source, f"  {comparison.devices} devices")
    console.print(head, soft_wrap=True)
    console.print_table(_result_table(comparison), ["parts\nin XLA", "type"])
    count = len(comparison.results)
    if count > SHOWN:
        right = sum(row.is_right for row in comparison.results)
        console.print(f"{right} of {count} results are right, the farthest off shown")
    tell_of_nothing(console, not_compared([row.ours for row in comparison.results]))
    narrow = console.width < PLAIN_WIDTH
    console.print_table(_collective_table(comparison, narrow=narrow))
    console.print(_memory_table(comparison))
    peak = bytes_text(comparison.peak_bytes)
    console.print(f"at the peak ours holds {peak} at once", soft_wrap=True)
    if comparison.guessed:
        console.print(f"collectives {UNKNOWN_LOOPS}", soft_wrap=True)


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if a result differs from the single-device run."""
    program = read_as_program(options.file, options)
    limits = flags.limits_of(options)
    inputs = inputs_of(options, program, limits)
    comparison = compare_with_xla(
        program,
        inputs,
        limits=limits,
        trip_count=options.trip_count,
        virtual=options.devices,
        **flags.partition_options(options),
    )
    if options.json:
        flags.print_json(_json(comparison))
    else:
        print_remarks(comparison.remarks)
        print_comparison(report_console(), comparison)
    return 0 if comparison.agree else 1


def add_command(commands: Any) -> None:
    """Add `compare-xla` and its options to the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "compare-xla",
        help="results and collectives beside those of XLA's partitioner (needs JAX)",
        description=(
            "Compile and run a program with our pipeline and with XLA's SPMD"
            " partitioner on the devices that JAX has, or makes: the shards of each"
            " result, and the collectives with the bytes that a device sends, side by"
            " side."
        ),
        epilog=(
            "examples:\n"
            "  ttxdsl compare-xla model.mlir\n"
            "  ttxdsl compare-xla single_chip.mlir --mesh-shape 1,8 --json\n"
            "  ttxdsl compare-xla train.py:make_step    # makes (jitted, *arguments)\n"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    flags.add_file_option(parser)
    flags.add_input_options(parser)
    flags.add_devices_option(parser)
    flags.add_compiler_options(parser)
    flags.add_limit_options(parser)
    flags.add_trip_count_option(parser)
    flags.add_json_option(parser)
    parser.set_defaults(execute=execute)
