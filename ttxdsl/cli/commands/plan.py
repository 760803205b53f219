"""`ttxdsl plan`: whether a step fits a chip, its time, and changes that improve it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ttxdsl.cli.console import print_lines_hint, print_remarks, progress
from ttxdsl.cli.options import common as flags, machines
from ttxdsl.cli.programs import read_as_program
from ttxdsl.costs.chips import CHIPS, Chip
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.sdy import mesh_table
from ttxdsl.insight.plan.view import print_search, print_step, print_variants

if TYPE_CHECKING:
    from ttxdsl.api import Program
    from ttxdsl.insight.plan.plan import StepPlan


def _chip(options: argparse.Namespace, program: Program) -> Chip:
    """Return the chip with the links along axes, which the program's meshes must have."""
    meshes = mesh_table(program.shared_module).values()
    machines.require_axes(options, (axis for mesh in meshes for axis in mesh.axes))
    chip = machines.chip_of_options(options)
    assert chip is not None, "the option is required"
    return chip


def _search(options: argparse.Namespace) -> int:
    """Compile batches, checkpoints and meshes; 1 if none of them fits."""
    program = read_as_program(options.file, options)
    chip = _chip(options, program)
    with progress("compiling candidates") as step:

        def on_step(done: int, total: int) -> None:
            step(f"compiling candidates ({done} of {total} done)")

        plans = program.plan_search(
            chip,
            flags.partition_options(options),
            devices=options.devices,
            slices=options.slices,
            trip_count=options.trip_count,
            limit=options.candidates,
            jobs=options.jobs,
            on_step=on_step,
        )
    if options.json:
        flags.print_json({"source": str(options.file), **plans.data()})
    else:
        print_search(report_console(), str(options.file), plans)
    return 0 if any(choice.fits for choice in plans.choices) else 1


def execute(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.chip is None:
        names = ", ".join(CHIPS)
        raise CompileError(
            "a plan is for a chip",
            hint=f"say what each device is: --chip v5p; or {names}",
        )
    if options.search:
        return _search(options)
    console, source = report_console(), str(options.file)

    def print_first(plan: StepPlan) -> None:
        print_remarks((*program.remarks, *plan.remarks))
        print_step(console, source, plan)

    with progress("partitioning and planning") as moved:
        program = read_as_program(options.file, options)
        partition = flags.partition_options(options)
        if not program.is_partitioned and not mesh_table(program.shared_module):
            program = program.partition(**partition)  # which makes the mesh
        if program.is_partitioned:
            partition = {}
        chip = _chip(options, program)
        plan = program.plan(
            chip,
            slices=options.slices,
            trip_count=options.trip_count,
            tokens=options.tokens,
            every=options.all,
            partition=partition,
            on_plan=None if options.json else print_first,
            on_step=moved,
        )
    if options.json:
        flags.print_json({"source": source, **plan.data()})
    else:
        print_variants(console, plan)
        print_lines_hint(console, program.shared_module)
    return 0


def add_command(commands: Any) -> None:
    """Add `plan` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "plan",
        help="whether a step fits a chip, how long it takes, what would change it",
        description=(
            "Partition a step and plan it on chips: the most memory that a device holds"
            " and what it is for, the time of a step and what bounds it, the largest"
            " buffers with their lines, and the same step with one change each."
        ),
        examples=(
            "  ttxdsl plan step.mlir --chip v5p\n"
            "  ttxdsl plan step.mlir --chip v6e --slices 2 --json\n"
            "  ttxdsl plan step.mlir --chip v5p --search --jobs 4\n"
            f"chips: {', '.join(CHIPS)}\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    parser.add_argument(
        "--chip",
        type=machines.chip_of_text,
        metavar="CHIP",
        help=(
            f"what each device is, needed: {', '.join(CHIPS)}; or a file FILE.json as calibrate"
            " writes it"
        ),
    )
    machines.add_slices_option(parser)
    machines.add_axis_link_option(parser)
    parser.count("--tokens", "tokens of all devices in a step (of the integer batch)")
    parser.flag("--all", "measure every change, however long that takes")
    parser.flag(
        "--search",
        "compile other batches, checkpoints and sizes of the mesh, and rank what fits",
    )
    parser.count(
        "--devices", "of the meshes of --search (as many as the program's own)"
    )
    parser.count("--candidates", "what --search compiles at most (40)", 40)
    parser.shared("--jobs", "--trip-count")
    flags.add_compiler_options(parser)
    parser.shared("--json")
