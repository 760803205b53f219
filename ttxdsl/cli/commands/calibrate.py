"""`ttxdsl calibrate`: measure what devices do, for the times that other commands quote."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from ttxdsl.bridges.xla.calibrating import (
    Sample,
    fit,
    link_error,
    measured,
    memory_share,
)
from ttxdsl.cli.options import common as flags
from ttxdsl.costs.chips import chip_text
from ttxdsl.costs.machines import Machine
from ttxdsl.costs.ring import Ring
from ttxdsl.costs.units import bytes_text, seconds_text
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import doing
from ttxdsl.loading.files import write_whole


def _table(machine: Machine, samples: list[Sample]) -> Table:
    """Measured beside modelled, a row a kind of collective and a size of a group."""
    table = Table("collective", title="Collectives", title_justify="left")
    for column in ("devices", "held", "measured", "modelled"):
        table.add_column(column, justify="right")
    for sample in samples:
        seconds = machine.link.seconds(
            Ring(sample.what), sample.amount, sample.group_size
        )
        table.add_row(
            sample.what,
            str(sample.group_size),
            bytes_text(sample.amount),
            seconds_text(sample.seconds),
            seconds_text(seconds),
        )
    return table


def execute(options: argparse.Namespace) -> int:
    """Run the command."""
    flags.require_outputs(options, options.output)
    with doing("measuring"):
        samples = measured(options.devices, options.repeats)
    try:
        machine = fit(samples, options.name)
    except ValueError as error:
        raise CompileError(
            f"the measurements make no machine: {error}",
            hint="take more --repeats, or a machine that does less besides",
        ) from error
    memory = memory_share(options.devices)
    text = machine.to_json() if memory is None else chip_text(machine, memory)
    write_whole(options.output, text)
    kinds = {kind.value for kind in Ring}
    collectives = [sample for sample in samples if sample.what in kinds]
    if options.json:
        listed = [asdict(sample) for sample in samples]
        off = link_error(machine.link, collectives)
        flags.print_json(
            {
                "machine": asdict(machine),
                "memory_bytes": memory,
                "off": off,
                "samples": listed,
            }
        )
        return 0
    console = report_console()
    console.print(_table(machine, collectives))
    console.print(str(machine), soft_wrap=True)
    off = link_error(machine.link, collectives)
    console.print(
        f"the model is off the {len(collectives)} measured collectives by a factor of"
        f" {off:.2f} on average; --machine {options.output} takes it",
        soft_wrap=True,
    )
    if memory is not None:
        console.print(
            f"a device's share of this machine's memory is {bytes_text(memory)};"
            f" plan --chip {options.output} counts with it",
            soft_wrap=True,
        )
    return 0


def _devices(text: str) -> int:
    count = flags.count_of(text)
    if count < 2 or count & (count - 1):
        raise argparse.ArgumentTypeError(f"'{text}' is no power of two from 2 up")
    return count


def add_command(commands: Any) -> None:
    """Add `calibrate` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "calibrate",
        help="measure what JAX's devices do, for the times of why, doctor and report",
        description=(
            "Measure collectives, products, convolutions, exponentials and memory on"
            " JAX's virtual CPU devices, fit the time model to them, and write a machine that other"
            " commands take with --machine."
        ),
        examples=(
            "  ttxdsl calibrate -o here.json\n"
            "  ttxdsl doctor model.mlir --devices 8 --machine here.json\n"
            "  ttxdsl plan model.mlir --chip here.json\n"
        ),
        execute=execute,
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="OUT", help="the machine"
    )
    parser.add_argument(
        "--devices", type=_devices, default=8, metavar="N", help="virtual devices (8)"
    )
    parser.count(
        "--repeats", "runs of each program, of which the fastest counts (20)", 20
    )
    parser.add_argument("--name", default="calibrated", help="of the machine")
    parser.shared("--json")
