"""`ttxdsl run`: compile a program, simulate it, compare with the single-device run."""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray
from rich.table import Table
from rich.text import Text
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.attribution.locations import PLACES, row_names
from ttxdsl.analysis.attribution.purposes import Purpose, purposes
from ttxdsl.analysis.usage.collectives import (
    CountedCollective,
    guesses_text,
    launches_of,
    list_collectives,
    sent_text,
)
from ttxdsl.analysis.usage.memory import memory_profile
from ttxdsl.analysis.usage.reductions import summed_numbers
from ttxdsl.api import Program, Stage
from ttxdsl.cli.console import print_remarks, progress, report_console
from ttxdsl.cli.input.programs import read_as_program
from ttxdsl.cli.input.values import (
    comparison_data,
    load_inputs,
    not_compared,
    tell_of_nothing,
)
from ttxdsl.cli.options import common as flags
from ttxdsl.costs.units import bytes_text, number_ranges, seconds_text
from ttxdsl.diagnostics.display import Printed
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.diagnostics.terminal import Terminal, heading, styled
from ttxdsl.insight.budget.check import device_program
from ttxdsl.insight.check.rounding import RoundedRuns, hold
from ttxdsl.insight.report.folding import farthest, fold, unfolded
from ttxdsl.interpreters.compare import Comparison, Verdict
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.runtime.engine import Engine, run_on
from ttxdsl.interpreters.runtime.limits import Limits, beside_comparison
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.files import write_whole
from ttxdsl.loading.program import require_stablehlo
from ttxdsl.transforms.pipeline import COLLECTIVES_STAGE

if TYPE_CHECKING:
    from ttxdsl.cli.ranks import Team, Use

Array = NDArray[Any]

ENGINES = {
    "virtual": "virtual mesh",
    "jax": "JAX's devices",
    "mpi": "MPI's processes",
}
"""What may run the compiled program, and what a report calls it."""

_MOST_LINES = 34
"""Of a table of collectives, so that a screen has all of the report."""


def _stages_text(stages: Sequence[Stage]) -> str:
    """How long all took and which one longest, and which were skipped."""
    total = sum(stage.seconds for stage in stages)
    text = f"{len(stages)} stages and lowerings {seconds_text(total)}"
    if stages:
        longest = max(stages, key=attrgetter("seconds"))
        text += f", of it {longest.name} {seconds_text(longest.seconds)}"
    skipped = [stage.number for stage in stages if stage.skipped and stage.number]
    return text + (f"; skipped: {number_ranges(skipped)}" if skipped else "")


def _stage_table(stages: Sequence[Stage]) -> Table:
    table = Table("stage", title="Stages", title_justify="left")
    table.add_column("ms", justify="right")
    for stage in stages:
        number = "  " if stage.number is None else f"{stage.number:2}"
        milliseconds = f"{stage.seconds * 1e3:.1f}"
        table.add_row(
            f"{number} {stage.name}", "skipped" if stage.skipped else milliseconds
        )
    return table


def _row_keys(
    device: ModuleOp, collectives: Sequence[CountedCollective], by: str | None
) -> Sequence[object]:
    """For each collective what all of its row share."""
    if by is None:
        return [one.row for one in collectives]
    return row_names(device, collectives, by)


def _cell(texts: Iterable[str]) -> str:
    """What a group has in common, or how many different ones there are."""
    first, *others = dict.fromkeys(texts)
    return f"{1 + len(others)} different" if others else first


def _collective_table(
    collectives: Sequence[CountedCollective],
    outcome: "RunOutcome",
    *,
    whole: bool,
) -> Table:
    keyed = list(zip(collectives, outcome.row_keys, strict=True))
    if whole:
        rows = unfolded(keyed)
    else:
        rows = fold(keyed, itemgetter(1), lambda pair: pair[0].bytes_per_device)
    table = Table("", "collective", title="Collectives", title_justify="left")
    table.columns[0].justify = "right"
    table.add_column("axis")
    table.add_column("local tensor")
    table.add_column("bytes/device", justify="right", no_wrap=True)
    place_of = outcome.by if outcome.by in PLACES else None
    table.add_column(place_of or "why")
    for pairs in rows.groups:
        group, place = [one for one, _ in pairs], pairs[0][1]
        table.add_row(
            str(len(group)),
            _cell(one.title for one in group),
            _cell(one.axes_text for one in group),
            _cell(one.tensor for one in group),
            sent_text(group),
            str(place or f"no {place_of} is known")
            if place_of
            else _cell(one.reason for one in group),
        )
    if rows.hidden:
        rest = sum(one.bytes_per_device for one, _ in rows.hidden)
        number, text = str(len(rows.hidden)), "others, shown by --all"
        table.add_row(number, text, "", "", bytes_text(rest), "")
    total = sum(collective.bytes_per_device for collective in collectives)
    table.add_section()
    table.add_row(
        str(launches_of(collectives)), "launches", "", "", bytes_text(total), ""
    )
    return table


def _result_table(results: "Sequence[RunResult]", *, whole: bool) -> Table:
    """Results with their faults; of many those that are farthest off."""
    numbered = list(enumerate(results))
    if not whole:
        numbered = farthest(
            results, lambda one: one.comparison.ok, lambda one: one.comparison.max_rel
        )
    table = Table("result", "type", title="Results", title_justify="left")
    special = any(one.comparison.special.is_any for one in results)
    columns = ("max abs", "max rel", "PCC", *(("not finite",) if special else ()))
    for column in columns:
        table.add_column(column, justify="right")
    table.add_column("")
    for index, result in numbered:
        shape = "x".join(map(str, (*result.array.shape, result.array.dtype)))
        comparison = result.comparison
        table.add_row(
            str(index),
            shape,
            f"{comparison.max_abs:.2e}",
            f"{comparison.max_rel:.2e}",
            f"{comparison.pcc:.8f}",
            *((str(comparison.special),) if special else ()),
            _shown(comparison.verdict),
        )
    if len(numbered) < len(results):
        right = sum(result.comparison.ok for result in results)
        text = f"{right} of {len(results)} pass, the farthest off shown"
        table.add_section()
        verdicts = {Verdict.PASS, *(one.comparison.verdict for one in results)}
        worst = max(verdicts - {Verdict.ROUNDED}, key=[*Verdict].index)
        table.add_row("all", text, *("" for _ in columns), _shown(worst))
    return table


def _shown(verdict: Verdict) -> Text:
    is_good = verdict in (Verdict.PASS, Verdict.ROUNDED)
    return styled(verdict.value, "green" if is_good else "bold red")


@dataclass(frozen=True, slots=True)
class RunResult:
    """A result, and how it compares with that of one device."""

    array: Array
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class RunOutcome(Printed):
    """What a run found, for a report in either form."""

    engine: str
    lowered: Program
    results: list[RunResult]
    reference_seconds: float
    simulation_seconds: float
    trip_count: int | None
    """Of loops of which the program does not say how often they turn."""
    processes: "Sequence[Use]" = ()
    purposes: Sequence[Purpose] = ()
    peak_bytes: int | None = None
    by: str | None = None
    row_keys: Sequence[object] = ()
    """For each collective what all of its row share, as `by` says."""

    @property
    def ok(self) -> bool:
        """Whether all results are those of one device, or none was compared."""
        return all(result.comparison.ok for result in self.results)


def print_outcome(
    console: Terminal, source: str, outcome: RunOutcome, *, whole: bool = False
) -> None:
    """An outcome as the command prints it, with all its rows if it is to be whole."""
    lowered = outcome.lowered
    meshes = ", ".join(f"@{name} {mesh}" for name, mesh in lowered.meshes.items())
    head = heading(source, f"  mesh {visible(meshes) or 'none'}")
    console.print(head, soft_wrap=True)
    if whole:
        console.print(_stage_table(lowered.stages))
    else:
        console.print(_stages_text(lowered.stages), soft_wrap=True)
    collectives = lowered.collectives(outcome.trip_count)
    for purpose in outcome.purposes:
        console.print(str(purpose), soft_wrap=True)
    if outcome.peak_bytes is not None:
        peak = bytes_text(outcome.peak_bytes)
        console.print(f"memory of a device: {peak} at its peak", soft_wrap=True)
    table = _collective_table(collectives, outcome, whole=whole)
    lines = None if whole else _MOST_LINES
    console.print_table(table, ["local tensor", "axis"], lines)
    if (guessed := guesses_text(collectives)) is not None:
        console.print(guessed, soft_wrap=True)
    if outcome.processes:
        from ttxdsl.cli.ranks import use_table

        console.print(use_table(outcome.processes))
    if not outcome.results:
        seconds = outcome.simulation_seconds
        console.print(f"{ENGINES[outcome.engine]} {seconds * 1e3:.1f} ms, not compared")
        return
    console.print(_result_table(outcome.results, whole=whole))
    comparisons = [result.comparison for result in outcome.results]
    if outcome.ok and any(one.rounded for one in comparisons):
        console.print(
            "* off by no more than rounding alone may do to the program on one device",
            soft_wrap=True,
        )
    tell_of_nothing(console, not_compared(comparisons))
    console.print(
        f"single device {outcome.reference_seconds * 1e3:.1f} ms,"
        f" {ENGINES[outcome.engine]} {outcome.simulation_seconds * 1e3:.1f} ms"
    )


def _report_data(file: Path, outcome: RunOutcome) -> dict[str, Any]:
    """The same as `print_outcome`, and the remarks, for JSON."""
    lowered = outcome.lowered
    collectives = lowered.collectives(outcome.trip_count)
    return {
        "file": str(file),
        "engine": outcome.engine,
        "ok": outcome.ok,
        "meshes": {name: dict(mesh.axes) for name, mesh in lowered.meshes.items()},
        "stages": [asdict(stage) for stage in lowered.stages],
        "launches": launches_of(collectives),
        "collectives": [one.data() for one in collectives],
        "summary": [asdict(purpose) for purpose in outcome.purposes],
        "peak_bytes": outcome.peak_bytes,
        "results": [_result_data(result) for result in outcome.results],
        "reference_seconds": outcome.reference_seconds,
        "simulation_seconds": outcome.simulation_seconds,
        "processes": [asdict(use) for use in outcome.processes],
        "remarks": [asdict(remark) for remark in lowered.remarks],
    }


def _result_data(result: RunResult) -> dict[str, Any]:
    comparison = result.comparison
    return {
        "shape": result.array.shape,
        "dtype": str(result.array.dtype),
        "ok": comparison.ok,
        **comparison_data(comparison),
        "rounded": comparison.rounded,
        "max_abs": flags.finite(comparison.max_abs),
        "max_rel": flags.finite(comparison.max_rel),
        "pcc": flags.finite(comparison.pcc),
        "tolerance": flags.finite(comparison.tolerance),
        "differing": int(comparison.differing),
    }


def _inputs(
    options: argparse.Namespace, runner: Runner, team: "Team | None"
) -> list[Array]:
    if options.compare:
        needs = beside_comparison(runner.footprint, runner.function)
        runner.limits.require_room(needs)
    if team is not None:
        return team.inputs(runner.function)
    if options.inputs is not None:
        return load_inputs(options.inputs, runner.function)
    runner.limits.require_inputs(runner.function)
    return random_inputs(runner.function, options.seed)


def _compiled(
    program: Program, options: argparse.Namespace, step: Callable[[str], None]
) -> dict[str, Program]:
    """The program per device, in ttir and in ttnn, by the names of `--emit`."""

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


def _engine(
    options: argparse.Namespace, forms: dict[str, Program], limits: Limits
) -> Engine:
    """What was chosen to run the program."""
    if options.engine == "jax":
        from ttxdsl.bridges.xla.execute import XlaProcess

        return XlaProcess(forms["stablehlo"], options.devices)
    return Runner(forms[options.form or "ttnn"].module, limits=limits)


def _peak_bytes(device: ModuleOp) -> int | None:
    """The memory that a device needs; None where a value has no size."""
    try:
        return memory_profile(device).peak_bytes
    except CompileError:
        return None


def _judged(
    program: Program,
    forms: Mapping[str, Program],
    results: tuple[Sequence[Array], Sequence[Array]],
    runs: RoundedRuns,
    seconds: tuple[float, float],
    *,
    engine: str,
    trip_count: int | None,
    processes: "Sequence[Use]",
    by: str | None,
) -> RunOutcome:
    """What a run found.

    Args:
        program: as it was read.
        forms: what was made of it, see `_compiled`.
        results: those found, and those of one device.
        runs: on one device, for what rounding does.
        seconds: of one device, and of the engine.
        engine: one of `ENGINES`.
        trip_count: see `RunOutcome`.
        processes: likewise.
        by: what makes one row of collectives.
    """
    summed = summed_numbers(program.module)
    device = forms["stablehlo"].module
    sent = list_collectives(device, trip_count)
    return RunOutcome(
        engine,
        forms["ttnn"],
        [
            RunResult(pair[0], hold(*pair, summed, partial(runs.result, at)))
            for at, pair in enumerate(zip(*results, strict=True))
        ],
        *seconds,
        trip_count,
        processes,
        purposes(device, sent),
        _peak_bytes(device),
        by,
        _row_keys(device, sent, by),
    )


def run_program(
    program: Program,
    arrays: Sequence[ArrayLike],
    seed: int,
    by: str | None,
    trip_count: int | None,
    limits: Limits,
) -> RunOutcome:
    """What `Program.run` does.

    Raises:
        CompileError: see there.
    """
    start = program.loaded
    require_stablehlo(start.form)
    reference = Runner(start.module, limits=limits)
    if not arrays:
        limits.require_inputs(reference.function)
    inputs = (
        reference.arguments(arrays)
        if arrays
        else random_inputs(reference.function, seed)
    )
    begin = time.perf_counter()
    expected = reference.run(inputs)
    reference_seconds = time.perf_counter() - begin
    device = device_program(program)
    forms = {"stablehlo": device, "ttnn": device.lower("ttnn")}
    begin = time.perf_counter()
    found = Runner(forms["ttnn"].module, limits=limits).run(inputs)
    seconds = reference_seconds, time.perf_counter() - begin
    return _judged(
        start,
        forms,
        (found, expected),
        RoundedRuns(reference, inputs),
        seconds,
        engine="virtual",
        trip_count=trip_count,
        processes=(),
        by=by,
    )


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if a result differs from the single-device run."""
    if options.engine == "mpi":
        from ttxdsl.cli.ranks import on_ranks

        return on_ranks(options, _execute)
    if options.results is not None or not options.compare:
        raise CompileError("--results and --no-compare are of --engine mpi")
    return _execute(options)


def _execute(options: argparse.Namespace, team: "Team | None" = None) -> int:
    flags.require_outputs(options, options.output)
    if options.devices is not None and options.engine != "jax":
        raise CompileError("--devices is of an engine: say --engine jax")
    if options.form not in (None, "stablehlo") and options.engine == "jax":
        raise CompileError(f"--form {options.form}: JAX's devices run StableHLO")
    if options.json and options.emit and options.output is None:
        raise CompileError(
            "--json and --emit cannot both have standard output",
            hint="say where the program goes: -o FILE",
        )
    emit: str | None = options.emit or ("ttnn" if options.output else None)
    program = read_as_program(options.file, options)
    limits = flags.limits_of(options)
    reference = Runner(program.module, limits=limits)
    inputs = _inputs(options, reference, team)
    to_stderr = options.json or (emit is not None and options.output is None)
    with progress("single device") as step:
        start = time.perf_counter()
        expected = reference.run(inputs) if options.compare else ()
        reference_seconds = time.perf_counter() - start
        forms = _compiled(program, options, step)
        step("simulation" if options.engine == "virtual" else "the engine")
        start = time.perf_counter()
        if team is None:
            found = run_on(_engine(options, forms, limits), inputs)
        else:
            found = team.run(forms[options.form or "ttnn"].text, inputs)
        simulation_seconds = time.perf_counter() - start
        if team is not None:
            simulation_seconds = max(use.seconds for use in team.uses)
    outcome = _judged(
        program,
        forms,
        (found, expected),
        RoundedRuns(reference, inputs),
        (reference_seconds, simulation_seconds),
        engine=options.engine,
        trip_count=options.trip_count,
        processes=() if team is None else team.uses,
        by=options.by,
    )
    lowered = outcome.lowered
    if options.json:
        flags.print_json(_report_data(options.file, outcome))
    else:
        print_remarks(lowered.remarks, whole=options.all)
        report = report_console(to_stderr=to_stderr)
        print_outcome(report, str(options.file), outcome, whole=options.all)
    if emit is not None:
        shown = forms[emit] if emit in forms else lowered.after(COLLECTIVES_STAGE)
        if options.output is not None:
            write_whole(options.output, shown.text)
        else:
            sys.stdout.write(shown.text)
    return 0 if outcome.ok else 1


def add_command(commands: Any) -> None:
    """Add `run` and its options to the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "run",
        help="compile, run on a virtual mesh or on devices, compare with one device",
        description=(
            "Compile a StableHLO program through the thirteen stages to ttnn, run it on"
            " a virtual device mesh or on devices, and compare with the same program on"
            " one device."
        ),
        epilog=(
            "examples:\n"
            "  ttxdsl run model.mlir\n"
            "  ttxdsl run model.mlir --inputs in.npz --emit ttir -o model.ttir.mlir\n"
            "  ttxdsl run single_chip.mlir --mesh-shape 1,8\n"
            "  ttxdsl run model.mlir --json | jq .results\n"
            "  ttxdsl run model.mlir --engine jax --devices 8\n"
            "  mpiexec -n 8 ttxdsl run model.mlir --engine mpi\n"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    flags.add_file_option(parser)
    flags.add_input_options(parser)
    parser.add_argument(
        "--emit", choices=flags.FORMS, help="also print the program in a form"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="where --emit goes (ttnn)"
    )
    parser.add_argument(
        "--engine",
        choices=tuple(ENGINES),
        default="virtual",
        help="what runs it: NumPy on a virtual mesh, the devices that JAX has, or the"
        " processes that mpiexec started (virtual)",
    )
    parser.add_argument(
        "--form",
        choices=("stablehlo", "ttir", "ttnn"),
        help="of the program per device that is run (ttnn; stablehlo with --engine jax)",
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="of --engine mpi: where the processes write result0.npy, …",
    )
    parser.add_argument(
        "--compare",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="of --engine mpi: also run it on one device, in the first process",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="each stage, collective, result and remark in a row",
    )
    flags.add_by_option(parser)
    flags.add_devices_option(parser)
    flags.add_compiler_options(parser)
    flags.add_stage_options(parser, "dump_dir", "strict")
    flags.add_limit_options(parser)
    flags.add_trip_count_option(parser)
    flags.add_json_option(parser)
    parser.set_defaults(execute=execute)
