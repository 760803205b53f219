"""`ttxdsl check`: run a program after every stage and name the first that is wrong."""

import argparse
from pathlib import Path
from typing import Any

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.cli.console import print_error, print_remarks, progress
from ttxdsl.cli.options import common as flags
from ttxdsl.cli.programs import read_module
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.insight.check.check import CheckReport, check_steps
from ttxdsl.insight.check.steps import Step, pipeline_steps, steps_of
from ttxdsl.insight.check.view import print_check, report_data
from ttxdsl.insight.run.inputs import load_inputs
from ttxdsl.loading.files import write_whole


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if a stage changes a result."""
    flags.require_outputs(options, options.reproducer)
    module = read_module(options.file, options)
    if options.passes is not None:
        steps = steps_of(options.passes, module)
    else:
        steps = pipeline_steps(module, flags.pipeline_of(options), options.num_links)
    if not steps:
        raise CompileError(
            f"'{options.file}' is ttnn already: there is no step to check",
            hint="check the StableHLO program that it was made of",
        )
    with progress("the program itself") as moved:

        def on_step(step: Step) -> None:
            moved(str(step))

        given = options.inputs
        function = entry_function(module)
        report = check_steps(
            module,
            steps,
            inputs=None if given is None else load_inputs(given, function),
            seeds=range(options.seed, options.seed + options.runs),
            minimize=options.minimize,
            seconds=options.minimize_seconds,
            limits=flags.limits_of(options),
            on_step=on_step,
        )
    if options.json:
        path = _write_reproducer(report, options)
        flags.print_json(report_data(options.file, report, path))
        return 0 if report.ok else 1
    print_remarks(report.remarks)
    console = report_console()
    print_check(console, str(options.file), report)
    if report.failure is None:
        return 0 if report.ok else 1
    print_error(f"error: {report.failure}")
    path = _write_reproducer(report, options)
    if path is not None:
        console.print(f"a small program that shows it: {visible(str(path))}")
    return 1


def _write_reproducer(report: CheckReport, options: argparse.Namespace) -> Path | None:
    if report.reproducer is None:
        return None
    path = options.reproducer or Path(f"{options.file.stem}.reproducer.mlir")
    flags.require_outputs(options, path)
    write_whole(path, report.reproducer.text)
    return path


def add_command(commands: Any) -> None:
    """Add `check` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "check",
        help="run the program after every stage, name the first that changes a result",
        description=(
            "Run a program after each of the thirteen stages, in ttir and in ttnn, on"
            " inputs tagged with their index and on random ones, and stop at the first"
            " stage that changes a result: which result, which element, on which"
            " device, and a small program that shows it."
        ),
        examples=(
            "  ttxdsl check model.mlir\n"
            "  ttxdsl check single_chip.mlir --mesh-shape 1,8 --runs 3\n"
            "  ttxdsl check model.mlir -p inline,my-own-pass\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    parser.add_argument(
        "-p",
        "--passes",
        metavar="PIPELINE",
        help="check these passes, as xdsl-opt takes them, and not the whole way down",
    )
    parser.shared("--inputs", "--seed")
    parser.add_argument(
        "--runs",
        type=flags.from_zero,
        default=1,
        metavar="N",
        help="random inputs to try (1)",
    )
    parser.add_argument(
        "--minimize",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="look for a small program that fails",
    )
    parser.add_argument(
        "--minimize-seconds",
        type=float,
        default=60.0,
        metavar="S",
        help="how long to look for it (60)",
    )
    parser.add_argument(
        "-o",
        "--reproducer",
        type=Path,
        metavar="OUT",
        help="where to write it (NAME.reproducer.mlir)",
    )
    flags.add_compiler_options(parser)
    parser.shared("--max-memory", "--max-steps", "--json")
