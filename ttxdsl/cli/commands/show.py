"""`ttxdsl show`: which device holds which slice, drawn in the terminal."""

import argparse
from typing import Any

from ttxdsl.api.forms import ProgramForm
from ttxdsl.cli.options import common as flags
from ttxdsl.cli.programs import read_input
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.remarks import doing
from ttxdsl.insight.show.slices import picture_of, print_picture
from ttxdsl.transforms.pipeline import PROPAGATION_STAGE, TTStableHLOPipelinePass


def stage_number(text: str) -> int:
    """Return a stage's number, given by number, pass, or pass without `sdy-`.

    Raises:
        argparse.ArgumentTypeError: there is no such stage.
    """
    names = [stage.name for stage in TTStableHLOPipelinePass().stages()]
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return int(text)
    for number, name in enumerate(names, 1):
        if text in (name, name.removeprefix("sdy-")):
            return number
    known = (f"1 to {len(names)}", *names)
    raise flags.unknown_name("stage", text, known)


def execute(options: argparse.Namespace) -> int:
    """Run the command."""
    text, source = read_input(options.file, options)
    program = ProgramForm.of_text(text, source)
    if options.after is not None or options.mesh_shape:
        last = options.after or PROPAGATION_STAGE
        with doing(f"compiling {options.file}"):
            program = program.partition(
                **flags.partition_options(options), last_stage=last
            )
        text = program.text
    picture = picture_of(
        program,
        options.value,
        options.arg,
        options.result,
        text=text,
        after=options.after,
    )
    if options.json:
        flags.print_json(picture.data())
    else:
        print_picture(
            report_console(),
            picture,
            devices=options.devices,
            all_axes=options.all_axes,
            whole=options.all,
        )
    return 0


def add_command(commands: Any) -> None:
    """Add `show` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "show",
        help="draw which device holds which slice of a value",
        description=(
            "Draw how arguments, results and values are split over the devices, as they"
            " are written in a program or as a stage leaves them. Without a value, list"
            " the arguments and results with their shardings."
        ),
        examples=(
            "  ttxdsl show model.mlir\n"
            "  ttxdsl show model.mlir --arg 0\n"
            "  ttxdsl show model.mlir %5 --after 6\n"
            "  ttxdsl show model.mlir --result 0 --after insert-explicit-reshards\n"
            "\n"
            "after a stage values have the names that --dump-dir prints\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("value", nargs="?", metavar="%value", help="a value by its name")
    which.add_argument(
        *("--arg", "--argument"),
        type=int,
        metavar="K",
        help="an argument by its number",
    )
    which.add_argument("--result", type=int, metavar="K", help="a result by its number")
    parser.add_argument(
        "--after",
        type=stage_number,
        metavar="STAGE",
        help="as this stage leaves it, by number or name (6 shows what propagates)",
    )
    parser.flag("--devices", "list the devices with their slices too")
    parser.flag(
        "--all",
        "list arguments and results of alike layers one by one, with their numbers",
    )
    parser.shared("--all-axes")
    flags.add_compiler_options(parser)
    parser.shared("--json")
