"""`ttxdsl run`: compile a program, simulate it, compare with the single-device run."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.printer import Printer

from ttxdsl.conversion.stablehlo_to_ttir import ConvertStableHLOToTTIRPass
from ttxdsl.conversion.ttir_to_ttnn import ConvertTTIRToTTNNPass
from ttxdsl.errors import CompileError
from ttxdsl.interpreters.compare import Comparison, compare
from ttxdsl.interpreters.run import entry_function, run_module
from ttxdsl.program import make_context, read_program
from ttxdsl.remarks import Remark, collect_remarks
from ttxdsl.reporting.collectives import Collective, list_collectives, meshes_of
from ttxdsl.reporting.reductions import summed_numbers
from ttxdsl.tools.console import print_remark, report_console
from ttxdsl.tools.inputs import load_inputs, random_inputs
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

Array = NDArray[Any]

FORMS = ("sdy", "stablehlo", "ttir", "ttnn")
"""What `--emit` prints: after stage 10, after stage 13, and after each lowering."""

_SDY_STAGE = 10


@dataclass
class Compilation:
    """A program on its way down, with what was seen at each step."""

    source: Path
    texts: dict[str, str] = field(default_factory=dict[str, str])
    seconds: list[tuple[str, float, bool]] = field(
        default_factory=list[tuple[str, float, bool]]
    )
    collectives: list[Collective] = field(default_factory=list[Collective])
    meshes: list[str] = field(default_factory=list[str])
    remarks: list[Remark] = field(default_factory=list[Remark])


def _text(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream=stream).print_op(module)
    return stream.getvalue() + "\n"


def compile_program(
    module: ModuleOp,
    pipeline: TTStableHLOPipelinePass,
    *,
    emit: str | None,
    num_links: int,
    step: Callable[[str], None],
    result: Compilation,
) -> None:
    """Take the module through every stage and both lowerings, in place.

    Args:
        module: the global program.
        pipeline: the thirteen stages with their options.
        emit: the form whose text to keep.
        num_links: links that a ttnn collective uses.
        step: called with the name of what comes next.
        result: filled as the stages run.
    """
    context = make_context()

    def keep(form: str) -> None:
        if emit == form:
            result.texts[form] = _text(module)

    step("stage 1")
    for stage in pipeline.run(context, module):
        label = f"{stage.number:2} {stage.name}"
        result.seconds.append((label, stage.seconds, stage.skipped))
        if stage.number == _SDY_STAGE:
            keep("sdy")
        step(f"stage {stage.number + 1}")
    module.verify()
    keep("stablehlo")
    result.meshes = [f"@{name} {mesh}" for name, mesh in meshes_of(module).items()]
    result.collectives = list_collectives(module)
    for lowering in (ConvertStableHLOToTTIRPass(), ConvertTTIRToTTNNPass(num_links)):
        step(lowering.name)
        start = time.perf_counter()
        lowering.apply(context, module)
        result.seconds.append(
            (f"   {lowering.name}", time.perf_counter() - start, False)
        )
        module.verify()
        keep("ttir" if isinstance(lowering, ConvertStableHLOToTTIRPass) else "ttnn")


def write_whole(path: Path, text: str) -> None:
    """Write a file completely or not at all.

    Raises:
        CompileError: the file cannot be written; what was there before stays.
    """
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            dir=path.parent,
            prefix=f".{path.name}.",
            delete=False,
            encoding="utf-8",
        ) as file:
            temporary = Path(file.name)
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except OSError as error:
        raise CompileError(f"cannot write '{path}': {error.strerror}") from error


def _bytes(count: int) -> str:
    size, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"


def _stage_table(seconds: Sequence[tuple[str, float, bool]]) -> Table:
    table = Table("stage", title="Stages", title_justify="left")
    table.add_column("ms", justify="right")
    for label, duration, skipped in seconds:
        table.add_row(label, "skipped" if skipped else f"{duration * 1e3:.1f}")
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


def _inputs(options: argparse.Namespace, function: FuncOp) -> list[Array]:
    if options.inputs is not None:
        return load_inputs(options.inputs, function)
    return random_inputs(function, options.seed)


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if a result differs from the single-device run."""
    if options.output is not None and not options.output.parent.is_dir():
        raise CompileError(f"cannot write '{options.output}': no such directory")
    emit: str | None = options.emit or ("ttnn" if options.output else None)
    module = read_program(options.file)
    function = entry_function(module)
    inputs = _inputs(options, function)
    summed = summed_numbers(module)
    pipeline = TTStableHLOPipelinePass(
        mesh_shape=options.mesh_shape,
        argument_types=options.argument_types,
        automatic_arg_analysis=options.automatic_arg_analysis,
        result_presharded=options.result_presharded,
        dump_dir=str(options.dump_dir) if options.dump_dir else None,
        verify_each=True,
    )
    result = Compilation(options.file)
    report = report_console(to_stderr=emit is not None and options.output is None)
    steps = len(pipeline.stages()) + 5
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with (
        Progress(
            *columns, console=report, transient=True, disable=not report.is_terminal
        ) as progress,
        collect_remarks() as result.remarks,
    ):
        task = progress.add_task("single device", total=steps)

        def step(name: str) -> None:
            progress.update(task, description=name, advance=1)

        start = time.perf_counter()
        expected = run_module(module, inputs)
        reference_seconds = time.perf_counter() - start
        compile_program(
            module,
            pipeline,
            emit=emit,
            num_links=options.num_links,
            step=step,
            result=result,
        )
        step("simulation")
        start = time.perf_counter()
        found = run_module(module, inputs)
        simulation_seconds = time.perf_counter() - start
    results = [
        (pair[0], compare(*pair, reduction_length=summed))
        for pair in zip(found, expected, strict=True)
    ]
    for remark in result.remarks:
        print_remark(remark)
    report.print(f"[bold]{options.file}[/]  mesh {', '.join(result.meshes) or 'none'}")
    report.print(_stage_table(result.seconds))
    report.print(_collective_table(result.collectives))
    report.print(_result_table(results))
    report.print(
        f"single device {reference_seconds * 1e3:.1f} ms,"
        f" virtual mesh {simulation_seconds * 1e3:.1f} ms"
    )
    if emit is not None:
        if options.output is not None:
            write_whole(options.output, result.texts[emit])
        else:
            sys.stdout.write(result.texts[emit])
    return 0 if all(comparison.ok for _, comparison in results) else 1


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list like 2,4") from None


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
    parser.add_argument(
        "--mesh-shape",
        type=_sizes,
        default=(),
        metavar="1,N",
        help="devices, see stage 4",
    )
    parser.add_argument(
        "--argument-types", metavar="TEXT", help="main=input,parameter; see stage 2"
    )
    parser.add_argument(
        "--automatic-arg-analysis",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="find the batch of a program without shardings",
    )
    parser.add_argument(
        "--result-presharded",
        type=_sizes,
        default=(),
        metavar="1,0",
        help="see stage 3",
    )
    parser.add_argument(
        "--num-links", type=int, default=1, help="links of ttnn collectives (1)"
    )
    parser.add_argument(
        "--dump-dir",
        type=Path,
        metavar="DIR",
        help="write NN-stage.mlir after each stage",
    )
    parser.set_defaults(execute=execute)
