"""`ttxdsl compare-xla`: a program through our compiler and through XLA's partitioner."""

import argparse
from typing import Any

from ttxdsl.bridges.xla.comparing import compare_with_xla
from ttxdsl.bridges.xla.view import comparison_json, print_comparison
from ttxdsl.cli.console import print_remarks
from ttxdsl.cli.options import common as flags
from ttxdsl.cli.programs import inputs_of, read_as_program
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.errors import CompileError


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if a result differs from the single-device run."""
    program = read_as_program(options.file, options)
    limits = flags.limits_of(options)
    if options.static and options.inputs is not None:
        raise CompileError("--inputs are for a run, and --static runs nothing")
    inputs = None if options.static else inputs_of(options, program, limits)
    comparison = compare_with_xla(
        program,
        inputs,
        limits=limits,
        trip_count=options.trip_count,
        virtual=options.devices,
        static=options.static,
        **flags.partition_options(options),
    )
    if options.json:
        flags.print_json(comparison_json(comparison))
    else:
        print_remarks(comparison.remarks)
        print_comparison(report_console(), comparison)
    return 0 if comparison.agree else 1


def add_command(commands: Any) -> None:
    """Add `compare-xla` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "compare-xla",
        help="results and collectives beside those of XLA's partitioner (needs JAX)",
        description=(
            "Compile and run a program with our pipeline and with XLA's SPMD"
            " partitioner on the devices that JAX has, or makes: the shards of each"
            " result, and the collectives with the bytes that a device sends, side by"
            " side."
        ),
        examples=(
            "  ttxdsl compare-xla model.mlir\n"
            "  ttxdsl compare-xla single_chip.mlir --mesh-shape 1,8 --json\n"
            "  ttxdsl compare-xla giant.mlir --static\n"
            "  ttxdsl compare-xla train.py:make_step    # makes (jitted, *arguments)\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    parser.shared("--inputs", "--seed")
    parser.flag(
        "--static",
        "compile with both, run neither: bytes, launches and memory of programs of"
        " any size",
    )
    parser.shared("--devices")
    flags.add_compiler_options(parser)
    parser.shared("--max-memory", "--max-steps", "--trip-count", "--json")
