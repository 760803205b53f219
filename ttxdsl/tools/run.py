"""`ttxdsl run`: compile a program, simulate it, compare with the single-device run."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ttxdsl.api import Program, Stage, load
from ttxdsl.errors import CompileError
from ttxdsl.interpreters.compare import Comparison, compare
from ttxdsl.interpreters.run import entry_function, run_module
from ttxdsl.reporting.collectives import Collective
from ttxdsl.reporting.reductions import summed_numbers
from ttxdsl.tools.console import print_remark, report_console
from ttxdsl.tools.inputs import load_inputs
from ttxdsl.tools.options import (
    add_compiler_options,
    partition_options,
    write_whole,
)

Array = NDArray[Any]

FORMS = ("sdy", "stablehlo", "ttir", "ttnn")
"""What `--emit` prints: after stage 10, after stage 13, and after each lowering."""

_SDY_STAGE = 10

_STEPS = 18
"""Of the progress bar: two runs, thirteen stages and what follows them, two lowerings."""


def _bytes(count: int) -> str:
    size, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"


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


def _collective_table(collectives: Sequence[Collective]) -> Table:
    table = Table("collective", "axis", title="Collectives", title_justify="left")
    table.add_column("local tensor")
    table.add_column("bytes/device", justify="right")
    table.add_column("why")
    for collective in collectives:
        table.add_row(
            collective.kind,
            collective.axes_text,
            collective.tensor,
            _bytes(collective.bytes_per_device),
            collective.reason,
        )
    total = sum(collective.bytes_per_device for collective in collectives)
    table.add_section()
    table.add_row(f"{len(collectives)} in all", "", "", _bytes(total), "")
    return table


def _result_table(results: Sequence[tuple[Array, Comparison]]) -> Table:
    table = Table("result", "type", title="Results", title_justify="left")
    for column in ("max abs", "max rel", "PCC"):
        table.add_column(column, justify="right")
    table.add_column("")
    for index, (array, comparison) in enumerate(results):
        shape = "x".join(map(str, (*array.shape, array.dtype)))
        table.add_row(
            str(index),
            shape,
            f"{comparison.max_abs:.2e}",
            f"{comparison.max_rel:.2e}",
            f"{comparison.pcc:.8f}",
            "[green]pass[/]" if comparison.ok else "[bold red]FAIL[/]",
        )
    return table


def _inputs(options: argparse.Namespace, program: Program) -> list[Array]:
    if options.inputs is not None:
        return load_inputs(options.inputs, entry_function(program.module))
    return program.random_inputs(options.seed)


def _compiled(
    program: Program, options: argparse.Namespace, step: Callable[[str], None]
) -> dict[str, Program]:
    """The program per device, in ttir and in ttnn, by the names of `--emit`."""

    def after_stage(stage: Stage) -> None:
        step(f"stage {(stage.number or 0) + 1}")

    step("stage 1")
    device = program.partition(
        **partition_options(options),
        dump_dir=options.dump_dir,
        strict=options.strict,
        on_stage=after_stage,
    )
    step("convert-stablehlo-to-ttir")
    ttir = device.lower("ttir")
    step("convert-ttir-to-ttnn")
    ttnn = ttir.lower("ttnn", num_links=options.num_links)
    return {"stablehlo": device, "ttir": ttir, "ttnn": ttnn}


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if a result differs from the single-device run."""
    if options.output is not None and not options.output.parent.is_dir():
        raise CompileError(f"cannot write '{options.output}': no such directory")
    emit: str | None = options.emit or ("ttnn" if options.output else None)
    program = load(options.file)
    inputs = _inputs(options, program)
    reference = program.module
    summed = summed_numbers(reference)
    report = report_console(to_stderr=emit is not None and options.output is None)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=report, transient=True, disable=not report.is_terminal
    ) as progress:
        task = progress.add_task("single device", total=_STEPS)

        def step(name: str) -> None:
            progress.update(task, description=name, advance=1)

        start = time.perf_counter()
        expected = run_module(reference, inputs)
        reference_seconds = time.perf_counter() - start
        forms = _compiled(program, options, step)
        step("simulation")
        simulated = forms["ttnn"].module
        start = time.perf_counter()
        found = run_module(simulated, inputs)
        simulation_seconds = time.perf_counter() - start
    results = [
        (pair[0], compare(*pair, reduction_length=summed))
        for pair in zip(found, expected, strict=True)
    ]
    lowered = forms["ttnn"]
    for remark in lowered.remarks:
        print_remark(remark)
    meshes = ", ".join(f"@{name} {mesh}" for name, mesh in lowered.meshes.items())
    report.print(f"[bold]{options.file}[/]  mesh {meshes or 'none'}", soft_wrap=True)
    report.print(_stage_table(lowered.stages))
    report.print(_collective_table(lowered.collectives()))
    report.print(_result_table(results))
    report.print(
        f"single device {reference_seconds * 1e3:.1f} ms,"
        f" virtual mesh {simulation_seconds * 1e3:.1f} ms"
    )
    if emit is not None:
        shown = forms[emit] if emit in forms else lowered.after(_SDY_STAGE)
        if options.output is not None:
            write_whole(options.output, shown.text)
        else:
            sys.stdout.write(shown.text)
    return 0 if all(comparison.ok for _, comparison in results) else 1


def add_command(commands: Any) -> None:
    """Add `run` and its options to the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "run",
        help="compile, simulate on a virtual mesh, compare with one device",
        description=(
            "Compile a StableHLO program through the thirteen stages to ttnn, run it on"
            " a virtual device mesh, and compare with the same program on one device."
        ),
        epilog=(
            "examples:\n"
            "  ttxdsl run model.mlir\n"
            "  ttxdsl run model.mlir --inputs in.npz --emit ttir -o model.ttir.mlir\n"
            "  ttxdsl run single_chip.mlir --mesh-shape 1,8\n"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="the program, MLIR text"
    )
    parser.add_argument(
        "--inputs", type=Path, metavar="NPZ", help="arrays arg0, arg1, …; else random"
    )
    parser.add_argument("--seed", type=int, default=0, help="of random inputs (0)")
    parser.add_argument(
        "--emit", choices=FORMS, help="also print the program in a form"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="where --emit goes (ttnn)"
    )
    add_compiler_options(parser)
    parser.add_argument(
        "--dump-dir",
        type=Path,
        metavar="DIR",
        help="write NN-stage.mlir after each stage",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="refuse what would be computed replicated with a warning",
    )
    parser.set_defaults(execute=execute)
