"""`ttxdsl compare-tt`: a program through our compiler and through the real tt-mlir."""

import argparse
from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from ttxdsl.analysis.usage.collectives import CountedCollective
from ttxdsl.bridges.tt_mlir.comparing import TtComparison, Way, compare_with_tt
from ttxdsl.bridges.tt_mlir.library import LLMBOX
from ttxdsl.cli.options import common as flags
from ttxdsl.cli.programs import read_as_program
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.terminal import heading, styled
from ttxdsl.insight.diff.side_by_side import CollectiveRow
from ttxdsl.insight.run.inputs import load_inputs
from ttxdsl.interpreters.runtime.run import Runner

_BLAMED = 3
"""The most ops that are named."""

_UNKNOWN = 3
"""The exit code if tt-mlir's own text cannot be read here, and nothing else is wrong."""


def _code(comparison: TtComparison) -> int:
    if comparison.agree:
        return 0
    return _UNKNOWN if comparison.unknown else 1


def _way_json(way: Way) -> dict[str, Any]:
    answer = way.answer
    return {
        "compiles": answer is not None and answer.ok,
        "refusal": way.refusal if answer is None else answer.error,
        "crashed": answer is not None and answer.crashed,
        "stopped_by": way.stopped_by and way.stopped_by[0],
        "at": way.stopped_by and way.stopped_by[1],
        "not_run": way.not_run,
        "stages": [
            {
                "stage": check.stage,
                "ok": check.ok,
                "compared": check.compared,
                "max_abs": check.max_abs,
                "why": check.why,
                "rounds_to": list(check.rounds),
                "ops": [str(op) for op in check.ops],
            }
            for check in way.checks
        ],
    }


def comparison_data(comparison: TtComparison) -> dict[str, Any]:
    """Return a comparison for JSON."""
    both = comparison.bytes
    return {
        "source": comparison.source,
        "agree": comparison.agree,
        "unknown": comparison.unknown,
        "alone": _way_json(comparison.alone),
        "through": _way_json(comparison.through),
        "bytes_per_device": both and {"ours": both[0], "tt_mlir": both[1]},
        "peak_memory": dict(zip(("ours", "tt_mlir"), comparison.memory, strict=True)),
        "collectives": [
            {
                "kind": row.kind,
                "among": row.among,
                "label": row.label.said_of("tt-mlir"),
                "ours": [our.bytes_per_device for our in row.ours],
                "tt_mlir": [their.bytes_per_device for their in row.theirs],
            }
            for row in comparison.collectives or ()
        ],
    }


def _lines(name: str, way: Way) -> Iterator[Text]:
    """Yield the lines on the result of one way of compiling the program."""
    compiled = way.answer is not None and way.answer.ok
    unknown = compiled and not any(check.is_wrong for check in way.checks)
    color = "green" if way.ok else "yellow" if unknown else "bold red"
    verdict = styled(way.verdict, color)
    yield styled(f"{name}: ", "bold") + verdict
    if way.stopped_by is not None:
        op, place = way.stopped_by
        where = f" at {place}" if place else ""
        yield styled(f"  stopped by '{op}'{where}", "")
    if way.not_run is not None:
        yield styled(f"  its numbers: {way.not_run}", "")


def _numbers(comparison: TtComparison) -> Table | None:
    ways = {"alone": comparison.alone, "through ttxdsl": comparison.through}
    if not any(way.checks for way in ways.values()):
        return None
    table = Table("way", "stage", title="What it makes, run on the virtual mesh")
    table.title_justify = "left"
    table.add_column("max abs", justify="right")
    table.add_column("")
    for name, way in ways.items():
        for check in way.checks:
            blamed = map(str, check.ops[:_BLAMED])
            told = "equal" if check.ok else "\n".join([check.why or "", *blamed])
            if check.ok and check.rounds:
                told += f" (it rounds to {', '.join(check.rounds)})"
            worst = "" if check.max_abs is None else f"{check.max_abs:.2e}"
            shown = styled(told, "bold red" if check.is_wrong else "")
            table.add_row(name, check.stage, worst, shown)
    return table


def _side(ones: tuple[CountedCollective, ...], count: int, total: int) -> str:
    return f"{count}: {total} B" if ones else "none"


def _collectives(rows: tuple[CollectiveRow[CountedCollective], ...]) -> Table:
    table = Table("collective", "among", "ours", "tt-mlir alone", "")
    table.title, table.title_justify = "Collectives, bytes a device", "left"
    for row in rows:
        both = zip((row.ours, row.theirs), row.counts, row.bytes, strict=True)
        sides = (_side(*side) for side in both)
        table.add_row(row.kind, row.among, *sides, row.label.said_of("tt-mlir"))
    return table


def execute(options: argparse.Namespace) -> int:
    """Run the command.

    Returns:
        1 if tt-mlir does not take the program or computes otherwise, 3 if that cannot be
        told, 0 if all is well.
    """
    program = read_as_program(options.file, options)
    limits = flags.limits_of(options)
    inputs = program.random_inputs(options.seed, max_memory=limits.memory)
    if options.inputs is not None:
        inputs = load_inputs(options.inputs, Runner(program.module).function)
    comparison = compare_with_tt(
        program,
        inputs,
        descriptor=options.system_desc,
        timeout=options.timeout,
        limits=limits,
        **flags.partition_options(options),
    )
    if options.json:
        flags.print_json(comparison_data(comparison))
        return _code(comparison)
    report = report_console()
    report.print(heading(comparison.source, "  beside tt-mlir"), soft_wrap=True)
    for line in (
        *_lines("tt-mlir alone", comparison.alone),
        *_lines("through ttxdsl", comparison.through),
    ):
        report.print(line, soft_wrap=True)
    if not comparison.alone.ok and comparison.through.ok:
        say = f"  ttxdsl compile {options.file} --for tt-mlir --emit stablehlo"
        report.print(styled(say, "dim"), soft_wrap=True)
    numbers = _numbers(comparison)
    if numbers is not None:
        report.print(numbers)
    if comparison.collectives:
        report.print(_collectives(comparison.collectives))
    ours, theirs = comparison.memory
    if ours is not None and theirs is not None:
        line = f"Memory of a device at its fullest: ours {ours} B, tt-mlir's {theirs} B"
        report.print(styled(line, ""), soft_wrap=True)
    return _code(comparison)


def add_command(commands: Any) -> None:
    """Add `compare-tt` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "compare-tt",
        help="verdict, numbers and collectives of the real tt-mlir (needs its wheel)",
        description=(
            "Give a program to the real tt-mlir, as it is and as our stages make it,"
            " without hardware: does it compile, which op stops it; what it makes, run"
            " on the virtual mesh; its collectives and memory beside ours."
        ),
        examples=(
            "  ttxdsl compare-tt model.mlir\n"
            "  ttxdsl compare-tt single_chip.mlir --mesh-shape 1,8 --json\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    parser.path("--inputs", "NPZ", "arrays arg0, arg1, …; else random")
    parser.shared("--seed")
    parser.path(
        "--system-desc",
        "FILE",
        "system descriptor of the machine (eight Wormhole chips, 2x4)",
        default=LLMBOX,
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=300,
        metavar="SECONDS",
        help="that tt-mlir may take for one question (300)",
    )
    flags.add_compiler_options(parser)
    parser.shared("--max-memory", "--max-steps", "--json")
