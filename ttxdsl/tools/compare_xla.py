"""`ttxdsl compare-xla`: a program through our compiler and through XLA's partitioner."""

import argparse
from typing import Any

from rich.table import Table

from ttxdsl.reporting.collectives import UNKNOWN_LOOPS
from ttxdsl.reporting.side_by_side import CollectiveRow
from ttxdsl.terminal import Terminal, heading, styled
from ttxdsl.tools import options as flags
from ttxdsl.tools.console import report_console
from ttxdsl.tools.inputs import inputs_of
from ttxdsl.tools.programs import read_as_program
from ttxdsl.xla.comparing import XlaComparison, compare_with_xla
from ttxdsl.xla.hlo import HloCollective


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
            {"bytes": one.bytes_per_device, "op": one.op_name, "at": one.position}
            for one in row.theirs
        ],
    }


def _json(comparison: XlaComparison) -> dict[str, Any]:
    ours, xla = comparison.bytes
    return {
        "source": comparison.source,
        "devices": comparison.devices,
        "agree": comparison.agree,
        "bytes_per_device": {"ours": ours, "xla": xla},
        "results": [
            {
                "shape": list(row.shape),
                "type": row.dtype,
                "label": row.label,
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
    }


def _result_table(comparison: XlaComparison) -> Table:
    table = Table("result", "type", title="Results", title_justify="left")
    table.add_column("ours: max abs, pcc", justify="right")
    table.add_column("XLA: max abs, pcc", justify="right")
    table.add_column("parts in XLA", justify="right")
    table.add_column("")
    for index, row in enumerate(comparison.results):
        good = row.ours.ok and row.xla_ok
        table.add_row(
            str(index),
            "x".join((*map(str, row.shape), row.dtype)),
            f"{row.ours.max_abs:.1e} {row.ours.pcc:.6f}",
            f"{row.xla_max_abs:.1e} {row.xla_pcc:.6f}",
            str(row.split),
            styled(row.label, "" if good else "bold red"),
        )
    return table


def _side(row: CollectiveRow[HloCollective], *, ours: bool) -> str:
    if ours:
        total = f"{row.our_count}: {row.our_bytes} B" if row.ours else "none"
        return "\n".join([total, *sorted({one.reason for one in row.ours})])
    total = f"{row.their_count}: {row.their_bytes} B" if row.theirs else "none"
    names = sorted({one.op_name for one in row.theirs if one.op_name})
    return "\n".join([total, *names])


def _collective_table(comparison: XlaComparison) -> Table:
    table = Table(
        "collective", "among", "ours", "XLA", "", title="Collectives, bytes a device"
    )
    table.title_justify = "left"
    for row in comparison.collectives:
        sides = (_side(row, ours=True), _side(row, ours=False))
        table.add_row(row.kind, row.among, *sides, row.label.said_of("XLA"))
    ours, xla = comparison.bytes
    table.add_section()
    table.add_row("in all", "", f"{ours} B", f"{xla} B", "")
    return table


def print_comparison(console: Terminal, comparison: XlaComparison) -> None:
    """Results and collectives, each beside XLA's."""
    head = heading(comparison.source, f"  {comparison.devices} devices")
    console.print(head, soft_wrap=True)
    console.print(_result_table(comparison))
    console.print(_collective_table(comparison))
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
