"""`ttxdsl run`: compile a program, simulate it, compare with the single-device run."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ttxdsl.api import Program, Stage
from ttxdsl.cli.console import (
    diagnostic_text,
    print_lines_hint,
    print_remarks,
    progress,
)
from ttxdsl.cli.options import common as flags
from ttxdsl.cli.options.machines import add_chip_options
from ttxdsl.cli.programs import read_as_program
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.run.engines import Array, EngineKind, RunSettings, Team
from ttxdsl.insight.run.inputs import load_inputs
from ttxdsl.insight.run.outcome import Run
from ttxdsl.insight.run.view import outcome_data, print_outcome
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.runtime.engine import run_on
from ttxdsl.interpreters.runtime.limits import beside_comparison
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.doors import ENGINES
from ttxdsl.loading.files import write_whole
from ttxdsl.transforms.pipeline import COLLECTIVES_STAGE


def _inputs(settings: RunSettings, runner: Runner, team: Team | None) -> list[Array]:
    if settings.compare:
        needs = beside_comparison(runner.footprint, runner.function)
        runner.limits.require_room(needs)
    if team is not None:
        return team.inputs(runner.function)
    if settings.inputs is not None:
        return load_inputs(settings.inputs, runner.function)
    runner.limits.require_inputs(runner.function)
    return random_inputs(runner.function, settings.seed)


def _compiled(
    program: Program, options: argparse.Namespace, step: Callable[[str], None]
) -> dict[str, Program]:
    """Return the program per device, in ttir and in ttnn, by the names of `--emit`."""

    def after_stage(stage: Stage) -> None:
        step(f"stage {(stage.number or 0) + 1}")

    step("stage 1")
    device = program.partition(
        **flags.partition_options(options),
        dump_dir=options.dump_dir,
        strict=options.strict,
        on_stage=after_stage,
    )
    step("convert-stablehlo-to-ttir")
    ttir = device.lower("ttir")
    step("convert-ttir-to-ttnn")
    ttnn = ttir.lower("ttnn", num_links=options.num_links)
    return {"stablehlo": device, "ttir": ttir, "ttnn": ttnn}


def _require_fitting(options: argparse.Namespace, engine: EngineKind) -> None:
    """Refuse options that the engine has no use for, or that contradict each other."""
    if options.devices is not None and not engine.has_devices:
        raise CompileError("--devices is of an engine: say --engine jax")
    if options.form not in (None, *engine.forms):
        runs = " or ".join(engine.forms).replace("stablehlo", "StableHLO")
        raise CompileError(f"--form {options.form}: {engine.label} run {runs}")
    if options.json and options.emit and options.output is None:
        raise CompileError(
            "--json and --emit cannot both have standard output",
            hint="say where the program goes: -o FILE",
        )


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if a result differs from the single-device run."""
    engine: EngineKind = ENGINES[options.engine]
    apart = options.results is not None or not options.compare
    if apart and not engine.has_processes:
        raise CompileError(
            "--results and --no-compare are of --engine mpi",
            hint="other engines always compare, and hand results to Python: program.run()",
        )
    settings = RunSettings(
        str(options.file),
        flags.limits_of(options),
        options.devices,
        options.inputs,
        options.seed,
        options.results,
        options.compare,
        lambda error: diagnostic_text(error, flags.sources_of(options)),
    )

    def work(team: Team | None) -> int:
        return _execute(options, engine, settings, team)

    return engine.lead(settings, work)


def _execute(
    options: argparse.Namespace,
    engine: EngineKind,
    settings: RunSettings,
    team: Team | None,
) -> int:
    flags.require_outputs(options, options.output)
    _require_fitting(options, engine)
    emit: str | None = options.emit or ("ttnn" if options.output else None)
    program = read_as_program(options.file, options)
    runner = Runner(program.module, limits=settings.limits)
    inputs = _inputs(settings, runner, team)
    run = Run(program, inputs, runner, engine)
    form = options.form or engine.forms[0]
    with progress("single device") as step:
        if settings.compare:
            run.reference()
        forms = _compiled(program, options, step)
        step("simulation" if options.engine == "virtual" else "the engine")

        def call() -> Sequence[Array]:
            if team is not None:
                return team.run(forms[form].text, inputs)
            return run_on(engine.make(forms[form], settings), inputs)

        outcome = run.outcome(
            forms["stablehlo"],
            forms["ttnn"],
            call,
            trip_count=options.trip_count,
            team=team,
            by=options.by,
            chip=options.chip,
            slices=options.slices,
        )
    lowered = forms["ttnn"]
    if options.json:
        flags.print_json(outcome_data(str(options.file), options.engine, outcome))
    else:
        print_remarks(lowered.remarks, whole=options.all)
        to_stderr = emit is not None and options.output is None
        report = report_console(to_stderr=to_stderr)
        print_outcome(
            report,
            str(options.file),
            outcome,
            whole=options.all,
            all_axes=options.all_axes,
        )
        print_lines_hint(report, program.shared_module)
    if emit is not None:
        shown = forms[emit] if emit in forms else lowered.after(COLLECTIVES_STAGE)
        if options.output is not None:
            write_whole(options.output, shown.text)
        else:
            sys.stdout.write(shown.text)
    return 0 if outcome.ok else 1


def add_command(commands: Any) -> None:
    """Add `run` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "run",
        help="compile, run on a virtual mesh or on devices, compare with one device",
        description=(
            "Compile a StableHLO program through the thirteen stages to ttnn, run it on"
            " a virtual device mesh or on devices, and compare with the same program on"
            " one device."
        ),
        examples=(
            "  ttxdsl run model.mlir\n"
            "  ttxdsl run model.mlir --inputs in.npz --emit ttir -o model.ttir.mlir\n"
            "  ttxdsl run single_chip.mlir --mesh-shape 1,8\n"
            "  ttxdsl run model.mlir --json | jq .results\n"
            "  ttxdsl run model.mlir --engine jax --devices 8\n"
            "  mpiexec -n 8 ttxdsl run model.mlir --engine mpi\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    parser.shared("--inputs", "--seed")
    parser.add_argument(
        "--emit", choices=flags.FORMS, help="also print the program in a form"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="where --emit goes (ttnn)"
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="virtual",
        help="what runs it: NumPy on a virtual mesh, the devices that JAX has, or the"
        " processes that mpiexec started (virtual)",
    )
    parser.add_argument(
        "--form",
        choices=("stablehlo", "ttir", "ttnn"),
        help="of the program per device that is run (ttnn; stablehlo with --engine jax)",
    )
    parser.path(
        "--results", "DIR", "of --engine mpi: where the processes write result0.npy, …"
    )
    parser.add_argument(
        "--compare",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="of --engine mpi: also run it on one device, in the first process",
    )
    parser.flag("--all", "each stage, collective, result and remark in a row")
    parser.shared("--all-axes")
    flags.add_by_option(parser)
    parser.shared("--devices")
    add_chip_options(parser)
    flags.add_compiler_options(parser)
    flags.add_stage_options(parser, "dump_dir", "strict")
    parser.shared("--max-memory", "--max-steps", "--trip-count", "--json")
