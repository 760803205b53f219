"""`ttxdsl bench`: our partitioning of a program against XLA's, both on devices."""

import argparse
from dataclasses import asdict
from typing import Any

from rich.table import Table

from ttxdsl.bridges.xla.benchmarking import Benchmark, Measured, benchmark, ratio
from ttxdsl.cli.console import print_remarks
from ttxdsl.cli.options import common as flags
from ttxdsl.cli.programs import inputs_of, read_as_program
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.terminal import heading, styled
from ttxdsl.insight.run.comparisons import (
    comparison_data,
    not_compared,
    tell_of_nothing,
    tell_of_special,
)


def _side(measured: Measured) -> dict[str, Any]:
    return asdict(measured) | {"memory": measured.memory.data()}


def _json(measured: Benchmark) -> dict[str, Any]:
    sides = {"ours": _side(measured.ours), "xla": _side(measured.xla)}
    return {
        "source": measured.source,
        "devices": measured.devices,
        "rounds": measured.rounds,
        "agree": measured.agree,
        "results": [comparison_data(result) for result in measured.results],
        **sides,
        "remarks": [asdict(remark) for remark in measured.remarks],
        "ratios": {
            name: ratio(sides["ours"][name], sides["xla"][name])
            for name in sides["ours"]
            if name != "memory"
        },
    }


def _table(measured: Benchmark) -> Table:
    table = Table("a device", title="Ours beside XLA's", title_justify="left")
    for column in ("ours", "XLA", "ours / XLA"):
        table.add_column(column, justify="right")

    sides: tuple[Measured, ...] = (measured.ours, measured.xla)

    def add(label: str, of: str, shown: str) -> None:
        numbers = [getattr(side, of) for side in sides]
        times = ratio(*numbers)
        last = "" if times is None else f"{times:.2f}"
        scale = 1e3 if of.endswith("seconds") else 1
        table.add_row(
            label, *(shown.format(number * scale) for number in numbers), last
        )

    add(f"time, median of {measured.rounds}", "seconds", "{:.2f} ms")
    add("of the host's CPU", "cpu_seconds", "{:.2f} ms")
    add("collectives", "collectives", "{}")
    add("what they send", "bytes_per_device", "{} B")
    ours, xla = (side.memory.data() for side in sides)
    for part in ours:
        times = ratio(ours[part], xla[part])
        last = "" if times is None else f"{times:.2f}"
        name = "memory in all" if part == "total" else f"memory, {part}"
        table.add_row(name, f"{ours[part]} B", f"{xla[part]} B", last)
    return table


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if the two results differ."""
    program = read_as_program(options.file, options)
    inputs = inputs_of(options, program, flags.limits_of(options))
    measured = benchmark(
        program,
        inputs,
        rounds=options.rounds,
        virtual=options.devices,
        **flags.partition_options(options),
    )
    if options.json:
        flags.print_json(_json(measured))
    else:
        print_remarks(measured.remarks)
        report = report_console()
        head = heading(measured.source, f"  {measured.devices} devices")
        report.print(head, soft_wrap=True)
        report.print(_table(measured))
        tell_of_special(report, measured.results)
        tell_of_nothing(report, not_compared(measured.results))
        if not all(result.equal for result in measured.results):
            wrong = styled("the results differ", "bold red")
            report.print(wrong, "(ttxdsl compare-xla says whose are right)")
    return 0 if measured.agree else 1


def add_command(commands: Any) -> None:
    """Add `bench` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "bench",
        help="time, bytes and memory beside XLA's own partitioning (needs JAX)",
        description=(
            "Compile our per-device program and XLA's own partitioning of the same"
            " program for the devices that JAX has, run both in turn on the same inputs,"
            " and measure time, what collectives send, and memory."
        ),
        examples=(
            "  ttxdsl bench model.mlir --devices 8\n"
            "  ttxdsl bench train.py:make_step --rounds 100 --json\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    parser.count("--rounds", "runs of each, besides one that warms up (20)", 20)
    parser.shared("--devices", "--inputs", "--seed")
    flags.add_compiler_options(parser)
    parser.shared("--max-memory", "--max-steps", "--json")
