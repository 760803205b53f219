"""`ttxdsl doctor`: what to write so that a program costs less, or which mesh fits it."""

import argparse
from time import monotonic
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.usage.device import compiler_on
from ttxdsl.cli import main
from ttxdsl.cli.console import print_lines_hint, print_remarks, progress
from ttxdsl.cli.options import common as flags, machines
from ttxdsl.cli.programs import read_input, read_module
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.doctor.doctor import (
    Diagnosis,
    default_limit,
    diagnose,
    with_mesh,
)
from ttxdsl.insight.doctor.measure import padding_as_written
from ttxdsl.insight.doctor.meshes import written_meshes
from ttxdsl.insight.doctor.prescriptions.answers import Prescriptions
from ttxdsl.insight.doctor.prescriptions.patch import patch_of
from ttxdsl.insight.doctor.prescriptions.prescribe import (
    SECONDS,
    prescribe,
    require_keepable,
)
from ttxdsl.insight.doctor.prescriptions.trials import Meter
from ttxdsl.insight.doctor.prescriptions.view import (
    choice_data,
    prescriptions_data,
    print_prescriptions,
)
from ttxdsl.insight.doctor.view import MOST_ROWS, diagnosis_data, print_diagnosis
from ttxdsl.insight.why.answers import Figures
from ttxdsl.loading.files import require_writable, write_whole
from ttxdsl.loading.program import parse_program, program_text

_OF_MESHES = "candidates", "ignore_shardings", "top"
_OF_PRESCRIPTIONS = "all", "patch"
"""Options that need `--devices`, and that do not go with it."""
_FOR_MESHES = 0.5
"""The part of the time for meshes, if a search on the first one follows."""
_ENDING = 0.3
"""Seconds of the time that are for the answer."""


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if nothing that compiles fits into the memory."""
    _require_consistent(options)
    return _prescribe(options) if options.devices is None else _diagnose(options)


def _require_consistent(options: argparse.Namespace) -> None:
    """Refuse options of the question that is not asked."""
    with_devices = options.devices is not None
    if options.keep and options.ignore_shardings:
        raise CompileError("--keep and --ignore-shardings contradict each other")
    others = _OF_PRESCRIPTIONS if with_devices else _OF_MESHES
    for name in others:
        if getattr(options, name):
            flag = f"--{name.replace('_', '-')}"
            raise CompileError(
                f"{flag} is not for --devices: it is for the program's own mesh"
                if with_devices
                else f"{flag} is for choosing a mesh: say how many devices",
                hint=f"leave {flag} out" if with_devices else "--devices N",
            )


def _prescribe(options: argparse.Namespace) -> int:
    if options.patch is not None:
        require_writable(options.patch)
    text, source = read_input(options.file, options)
    module = parse_program(text, source)
    answer = _searched(options, module, text, source)
    machines.require_axes(options, answer.mesh.axes)
    if options.patch is not None:
        write_whole(options.patch, patch_of(answer).text)
    if options.json:
        flags.print_json(prescriptions_data(answer))
    else:
        console = report_console()
        print_prescriptions(
            console,
            answer,
            str(options.file),
            whole=options.all,
            all_axes=options.all_axes,
        )
        print_lines_hint(console, module)
    best = (
        answer.after,
        *(prescription.after for prescription in answer.prescriptions),
    )
    return 0 if any(map(answer.fits, best)) else 1


def _seconds_left(options: argparse.Namespace) -> float:
    """Return the time for a search; what it took to start counts, too."""
    took = 0.0 if main.started is None else monotonic() - main.started
    return max(1.0, (options.seconds or SECONDS) - _ENDING - took)


def _searched(
    options: argparse.Namespace, module: ModuleOp, text: str, source: str
) -> Prescriptions:
    with progress("compiling the program") as step:
        return prescribe(
            module,
            text=text,
            source=source,
            machine=machines.machine_of_options(options),
            chip=machines.chip_of_options(options),
            slices=options.slices,
            keep=options.keep,
            memory=options.memory,
            jobs=options.jobs,
            seconds=_seconds_left(options),
            trip_count=options.trip_count,
            on_step=lambda compiled, helping: step(
                f"compiling changes ({compiled} done, {helping} help)"
            ),
        )


def _diagnose(options: argparse.Namespace) -> int:
    module = read_module(options.file, options)
    if options.keep:
        require_keepable(module)
    machine = machines.machine_of_options(options)
    goes_on = options.seconds is not None or options.chip is not None
    left = _seconds_left(options)
    with progress("compiling meshes") as step:
        diagnosis = diagnose(
            module,
            options.devices,
            machine=machine,
            memory=options.memory,
            chip=machines.chip_of_options(options),
            slices=options.slices,
            limit=options.candidates,
            ignore_shardings=options.ignore_shardings,
            all_axes=options.all_axes,
            trip_count=options.trip_count,
            jobs=options.jobs,
            on_step=lambda done, total: step(
                f"compiling meshes ({done} of {total} done)"
            ),
            until=monotonic() + (_FOR_MESHES * left if goes_on else left),
        )
    candidates = [row.candidate for row in (*diagnosis.rows, *diagnosis.refused)]
    tried = (*candidates, *diagnosis.untried)
    written = (axis for op in written_meshes(module) for axis in op.mesh.data.axes)
    machines.require_axes(
        options, (*written, *(axis for c in tried for axis in c.axes))
    )
    answer: Prescriptions | None = None
    if goes_on and diagnosis.rows and diagnosis.ended != "interrupt":
        best = with_mesh(
            module,
            diagnosis.rows[0].candidate,
            ignore_shardings=options.ignore_shardings,
        )
        answer = _searched(options, best, program_text(best), str(options.file))
    if options.json:
        chosen: dict[str, Any] = {}
        if diagnosis.rows:
            chosen = choice_data(
                diagnosis, _as_it_is(options, module, diagnosis), answer
            )
        further = {} if answer is None else {"further": prescriptions_data(answer)}
        flags.print_json({**diagnosis_data(diagnosis), **chosen, **further})
    else:
        console = report_console()
        print_diagnosis(console, diagnosis, str(options.file), options.top)
        if answer is not None:
            console.print("On the first mesh, further:")
            print_prescriptions(console, answer, str(options.file), whole=False)
        print_lines_hint(console, module)
        if diagnosis.rows:  # of the first mesh, whose code is printed
            print_remarks(diagnosis.rows[0].measurement.warnings, whole=True)
    if answer is not None and answer.fits(answer.after):
        return 0
    return 0 if any(row.fits for row in diagnosis.rows) else 1


def _as_it_is(
    options: argparse.Namespace, module: ModuleOp, diagnosis: Diagnosis
) -> Figures:
    """Return what a program costs on the mesh that it has, or on one device."""
    compiler = compiler_on(options.chip, diagnosis.machine)
    pipeline = padding_as_written(module)
    meter = Meter(pipeline, diagnosis.machine, options.trip_count, compiler)
    return meter.figures(None, module)


def add_command(commands: Any) -> None:
    """Add `doctor` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "doctor",
        help="what to write so that it costs less, or which mesh fits: all compiled",
        description=(
            "Without --devices: try constraints on values, other shardings of arguments"
            " and donation on the program's own mesh, and say which lines to write and"
            " what they change; each is compiled and measured. With --devices N: find"
            " the dimensions that have to be split together and the numbers of parts that"
            " each allows, then compile the program for meshes of so many devices and"
            " rank them by a modelled time, with the bytes that a device sends and the"
            " memory that it needs. A program without shardings gets them on its"
            " arguments; one with shardings keeps them, on a mesh with"
            " other sizes."
        ),
        examples=(
            "  ttxdsl doctor step.mlir\n"
            "  ttxdsl doctor step.mlir --seconds 300 --all\n"
            "  ttxdsl doctor model.mlir --devices 8\n"
            "  ttxdsl doctor model.mlir --devices 256 --chip v5p --seconds 60\n"
            "  ttxdsl doctor model.mlir --devices 32 --memory 12GiB\n"
            "  ttxdsl doctor sharded.mlir --devices 8 --ignore-shardings\n"
            "  ttxdsl doctor model.mlir --devices 8 --link-gbps 50 --json\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    parser.count(
        "--devices", "choose a mesh of so many; without it the program's own is kept"
    )
    parser.add_argument(
        "--seconds",
        type=machines.positive,
        metavar="S",
        help=(
            f"answer after so many, with the best so far ({SECONDS:g}); with --devices"
            " half of it is for a search on the first mesh, as with --chip"
        ),
    )
    parser.flag("--all", "without --devices: list what was tried and is no better, too")
    parser.path(
        "--patch",
        "FILE",
        "without --devices: write those together as a patch of the source",
    )
    parser.add_argument(
        "--memory",
        type=flags.size_of,
        metavar="SIZE",
        help="of one device, 16GiB; what needs more is ranked last",
    )
    parser.count(
        "--candidates",
        "compile at most so many meshes, the best by an estimate"
        f" ({default_limit(1)} of a small program, {default_limit(10**6)} of a"
        " large one)",
    )
    parser.flag(
        "--keep", "leave the mesh and all shardings of arguments that are written"
    )
    parser.flag(
        "--ignore-shardings",
        "remove the program's own shardings and choose from scratch",
    )
    parser.flag(
        "--all-axes", "give axes of size one of the program's own mesh other sizes, too"
    )
    parser.count("--top", f"rows to print ({MOST_ROWS}, fewer where they are high)")
    machines.add_chip_options(parser)
    machines.add_machine_options(parser)
    parser.shared("--trip-count", "--jobs", "--json")
