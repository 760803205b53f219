"""`ttxdsl compile`: a program in, the compiled program out, and nothing is run.

It is `Program.partition` and `Program.lower` without what notebooks need: one module,
which every step changes in place, is read once, checked once and printed once.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xdsl.passes import ModulePass

from ttxdsl.analysis.attribution.origins import take_marks_off
from ttxdsl.cli.console import print_remarks, progress
from ttxdsl.cli.options import common as flags
from ttxdsl.cli.programs import read_module
from ttxdsl.conversion.driver import lowerings, run_passes
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.ir.collector import freeing_old_bodies, without_collections
from ttxdsl.loading.doors import VOCABULARIES
from ttxdsl.loading.files import write_whole
from ttxdsl.loading.program import (
    form_of,
    make_context,
    program_text,
    require_stablehlo,
)
from ttxdsl.transforms.pipeline import COLLECTIVES_STAGE, LAST_STAGE, Hooks


def _compiled(options: argparse.Namespace, step: Callable[[str], None]) -> str:
    """The text of the program in the form that is asked for."""
    step("reading")
    context = make_context()
    module = read_module(options.file, options, context=context)
    form = form_of(module)
    last = COLLECTIVES_STAGE if options.emit == "sdy" else LAST_STAGE
    # what only the stages do is not passed over in silence
    asked = "mesh_shape", "argument_types", "result_presharded", "dump_dir"
    if options.emit in ("sdy", "stablehlo") or any(getattr(options, a) for a in asked):
        require_stablehlo(form)
    passes: list[ModulePass] = []
    if options.emit != "sdy":
        passes = lowerings(
            form, options.emit, options.num_links, options.vocabulary, through=True
        )
    if form == "stablehlo":
        passes.insert(0, flags.pipeline_of(options, last_stage=last))

    def before(number: int | None, name: str) -> None:
        step(name if number is None else f"stage {number}")

    verify = options.verify_each
    hooks = Hooks(before, looks=False)
    for _ in run_passes(context, module, passes, hooks, verify_each=verify):
        pass
    if not verify:
        step("verifying")
        with without_collections():
            module.verify()
    step("printing")
    if options.print_debuginfo:
        take_marks_off(module)
    return program_text(module, positions=options.print_debuginfo)


def execute(options: argparse.Namespace) -> int:
    """Run the command."""
    flags.require_outputs(options, options.output)
    with progress() as step, collect_remarks() as remarks, freeing_old_bodies():
        text = _compiled(options, step)
    print_remarks(remarks)
    if options.output is not None:
        write_whole(options.output, text)
    else:
        sys.stdout.write(text)
    return 0


def add_command(commands: Any) -> None:
    """Add `compile` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "compile",
        help="print the program as the thirteen stages and the lowerings make it",
        description=(
            "Compile a StableHLO program through the thirteen stages to ttnn, or to an"
            " earlier form, and print it. Nothing is run. A program that is partitioned"
            " already, or is ttir, goes on from there."
        ),
        examples=(
            "  ttxdsl compile model.mlir -o model.ttnn.mlir\n"
            "  ttxdsl compile model.mlir --emit stablehlo | grep all_reduce\n"
            "  ttxdsl compile single_chip.mlir --mesh-shape 1,8 --dump-dir stages\n"
            "  ttxdsl compile model.ttir.mlir --num-links 2\n"
            "  ttxdsl compile model.mlir --for tt-mlir --emit ttir\n"
            "  ttxdsl compile model.mlir --for tt-mlir --emit stablehlo -o solved.mlir\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    parser.add_argument(
        "--emit", choices=flags.FORMS, default="ttnn", help="the form to print (ttnn)"
    )
    parser.add_argument(
        "--for",
        dest="vocabulary",
        choices=VOCABULARIES,
        default="design",
        help="whom it is written for: the forms of the design, or those of today's tt-mlir (design)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="where it goes (stdout)"
    )
    parser.flag("--print-debuginfo", "say of every op where it comes from, as loc(...)")
    flags.add_compiler_options(parser)
    flags.add_stage_options(parser, "dump_dir", "strict", "verify_each")
