"""`ttxdsl compile`: a program in, the compiled program out, and nothing is run.

It is `Program.partition` and `Program.lower` without what notebooks need: one module,
which every step changes in place, is read once, checked once and printed once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.collector import freeing_old_bodies, without_collections
from ttxdsl.files import write_whole
from ttxdsl.program import (
    Form,
    form_of,
    make_context,
    program_text,
    read_program,
    require_not_beyond,
    require_stablehlo,
)
from ttxdsl.remarks import collect_remarks
from ttxdsl.tools.console import print_remark, progress
from ttxdsl.tools.options import (
    FORMS,
    SDY_STAGE,
    add_compiler_options,
    add_file_option,
    add_stage_options,
    partition_options,
    require_outputs,
)

_LAST_STAGE = 13

_STEPS = 18
"""Of the progress bar at most: thirteen stages, two lowerings, and what is around."""


def _partition(
    options: argparse.Namespace,
    context: Context,
    module: ModuleOp,
    step: Callable[[str], None],
) -> None:
    from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

    chosen = partition_options(options)
    pipeline = TTStableHLOPipelinePass(
        mesh_shape=chosen.pop("mesh"),
        **chosen,
        dump_dir=None if options.dump_dir is None else str(options.dump_dir),
        verify_each=options.verify_each,
        last_stage=SDY_STAGE if options.emit == "sdy" else _LAST_STAGE,
        strict=options.strict,
    )
    step("stage 1")
    for result in pipeline.run(context, module):
        if result.number < pipeline.last_stage:
            step(f"stage {result.number + 1}")


def _lowerings(form: Form, options: argparse.Namespace) -> Iterator[ModulePass]:
    """The lowerings from a form to the one that is asked for."""
    if form == "stablehlo" and options.emit in ("ttir", "ttnn"):
        from ttxdsl.conversion.stablehlo_to_ttir import ConvertStableHLOToTTIRPass

        yield ConvertStableHLOToTTIRPass()
    if form != "ttnn" and options.emit == "ttnn":
        from ttxdsl.conversion.ttir_to_ttnn import ConvertTTIRToTTNNPass

        yield ConvertTTIRToTTNNPass(options.num_links)


def _compiled(options: argparse.Namespace, step: Callable[[str], None]) -> str:
    """The text of the program in the form that is asked for."""
    step("reading")
    context = make_context()
    module = read_program(options.file, context=context)
    form = form_of(module)
    if options.emit in ("ttir", "ttnn"):
        require_not_beyond(form, options.emit)
    # what only the stages do is not passed over in silence
    asked = "mesh_shape", "argument_types", "result_presharded", "dump_dir"
    if options.emit in ("sdy", "stablehlo") or any(getattr(options, a) for a in asked):
        require_stablehlo(form)
    if form == "stablehlo":
        _partition(options, context, module, step)
    for lowering in _lowerings(form, options):
        step(lowering.name)
        lowering.apply(context, module)
        if options.verify_each:
            module.verify()
    if not options.verify_each:
        step("verifying")
        with without_collections():
            module.verify()
    step("printing")
    return program_text(module)


def execute(options: argparse.Namespace) -> int:
    """Run the command."""
    require_outputs(options, options.output)
    with progress(_STEPS) as step, collect_remarks() as remarks, freeing_old_bodies():
        text = _compiled(options, step)
    for remark in remarks:
        print_remark(remark)
    if options.output is not None:
        write_whole(options.output, text)
    else:
        sys.stdout.write(text)
    return 0


def add_command(commands: Any) -> None:
    """Add `compile` and its options to the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "compile",
        help="print the program as the thirteen stages and the lowerings make it",
        description=(
            "Compile a StableHLO program through the thirteen stages to ttnn, or to an"
            " earlier form, and print it. Nothing is run. A program that is partitioned"
            " already, or is ttir, goes on from there."
        ),
        epilog=(
            "examples:\n"
            "  ttxdsl compile model.mlir -o model.ttnn.mlir\n"
            "  ttxdsl compile model.mlir --emit stablehlo | grep all_reduce\n"
            "  ttxdsl compile single_chip.mlir --mesh-shape 1,8 --dump-dir stages\n"
            "  ttxdsl compile model.ttir.mlir --num-links 2\n"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_file_option(parser)
    parser.add_argument(
        "--emit", choices=FORMS, default="ttnn", help="the form to print (ttnn)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="where it goes (stdout)"
    )
    add_compiler_options(parser)
    add_stage_options(parser)
    parser.add_argument(
        "--verify-each",
        action="store_true",
        help="check the program after each step, not only as read and at the end",
    )
    parser.set_defaults(execute=execute)
