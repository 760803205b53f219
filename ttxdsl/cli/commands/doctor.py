"""`ttxdsl doctor`: which mesh fits a program, tried before anybody buys it."""

import argparse
from typing import Any

from ttxdsl.cli.console import print_remarks
from ttxdsl.cli.options import common as flags
from ttxdsl.cli.options.machines import (
    add_machine_options,
    machine_of_options,
    require_axes,
)
from ttxdsl.cli.programs import read_module
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.remarks import doing
from ttxdsl.insight.doctor.doctor import default_limit, diagnose
from ttxdsl.insight.doctor.view import MOST_ROWS, diagnosis_data, print_diagnosis


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if no mesh compiles, or none fits into the memory."""
    module = read_module(options.file, options)
    machine = machine_of_options(options)
    meshes = "compiling meshes"

    def on_step(done: int, total: int) -> None:
        nonlocal meshes
        meshes = f"compiling meshes ({done} of {total} done)"

    with doing(lambda: meshes):
        diagnosis = diagnose(
            module,
            options.devices,
            machine=machine,
            memory=options.memory,
            limit=options.candidates,
            ignore_shardings=options.ignore_shardings,
            trip_count=options.trip_count,
            jobs=options.jobs,
            on_step=on_step,
        )
    candidates = [one.candidate for one in (*diagnosis.rows, *diagnosis.refused)]
    tried = (*candidates, *diagnosis.untried)
    require_axes(options, (name for one in tried for name, _ in one.axes))
    if options.json:
        flags.print_json(diagnosis_data(diagnosis))
    else:
        print_diagnosis(report_console(), diagnosis, str(options.file), options.top)
        if diagnosis.rows:  # of the first mesh, whose code is printed
            print_remarks(diagnosis.rows[0].measurement.warnings, whole=True)
    return 0 if any(row.fits for row in diagnosis.rows) else 1


def add_command(commands: Any) -> None:
    """Add `doctor` and its options to the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "doctor",
        help="which mesh fits: groups of dimensions, and meshes compiled and ranked",
        description=(
            "Find the dimensions of a program that have to be split together and the"
            " numbers of parts that each allows, then compile the program for meshes of"
            " so many devices and rank them by a modelled time, with the bytes that a"
            " device sends and the memory that it needs. A program without shardings"
            " gets them on its arguments; one with shardings keeps them, on a mesh with"
            " other sizes."
        ),
        epilog=(
            "examples:\n"
            "  ttxdsl doctor model.mlir --devices 8\n"
            "  ttxdsl doctor model.mlir --devices 32 --memory 12GiB\n"
            "  ttxdsl doctor sharded.mlir --devices 8 --ignore-shardings\n"
            "  ttxdsl doctor model.mlir --devices 8 --link-gbps 50 --json\n"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    flags.add_file_option(parser)
    parser.add_argument(
        "--devices", type=flags.count_of, required=True, metavar="N", help="how many"
    )
    parser.add_argument(
        "--memory",
        type=flags.size_of,
        metavar="SIZE",
        help="of one device, 16GiB; what needs more is ranked last",
    )
    parser.add_argument(
        "--candidates",
        type=flags.count_of,
        metavar="N",
        help=(
            "compile at most so many meshes, the best by an estimate"
            f" ({default_limit(1)} of a small program, {default_limit(10**6)} of a"
            " large one)"
        ),
    )
    parser.add_argument(
        "--ignore-shardings",
        action="store_true",
        help="remove the program's own shardings and choose from scratch",
    )
    parser.add_argument(
        "--top",
        type=flags.count_of,
        metavar="N",
        help=f"rows to print ({MOST_ROWS}, fewer where they are high)",
    )
    add_machine_options(parser)
    flags.add_trip_count_option(parser)
    flags.add_jobs_option(parser)
    flags.add_json_option(parser)
    parser.set_defaults(execute=execute)
