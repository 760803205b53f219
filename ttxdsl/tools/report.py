"""`ttxdsl report`: a program, what became of it and what it costs, as one HTML file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ttxdsl.api import load
from ttxdsl.remarks import Remark
from ttxdsl.reporting.html.page import report_page
from ttxdsl.reporting.model_explorer import graph_collection, node_data
from ttxdsl.tools.console import print_remark, report_console
from ttxdsl.tools.options import (
    add_compiler_options,
    add_json_option,
    partition_options,
    print_json,
    write_whole,
)

FORMATS = ("html", "model-explorer")


def execute(options: argparse.Namespace) -> int:
    """Write one report; the exit code is 0 unless the program is refused."""
    source: Path = options.file
    program = load(source)
    console = report_console(to_stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("read", total=16)

        def step(name: str) -> None:
            progress.update(task, description=name, advance=1)

        data = program.report_data(
            num_links=options.num_links,
            on_step=step,
            **partition_options(options),
        )
    if options.json:
        print_json(data)
        return 0
    for one in data["remarks"]:
        print_remark(Remark(one["severity"], one["message"], one["position"]))
    written = _write(data, source, options.format, options.output)
    for path in written:
        console.print(f"{path}  {path.stat().st_size / 1024:,.0f} KiB", soft_wrap=True)
    return 0


def _write(
    data: dict[str, Any], source: Path, form: str, output: Path | None
) -> list[Path]:
    if form == "html":
        path = output or source.with_suffix(".report.html")
        write_whole(path, report_page(data))
        return [path]
    path = output or source.with_suffix(".graph.json")
    stem = path.name.removesuffix(".json")
    files = {path: graph_collection(data)}
    for name, overlay in node_data(data).items():
        files[path.with_name(f"{stem}.{name}.json")] = overlay
    for one, content in files.items():
        write_whole(one, json.dumps(content, allow_nan=False))
    return list(files)


def add_command(commands: Any) -> None:
    """Add `report` and its options to the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "report",
        help="one HTML file: graph, shardings, stages, collectives, memory",
        description=(
            "Compile a program and write what became of it: the graph with which device"
            " holds which part of each tensor, every stage with its changes, the"
            " collectives with bytes and reasons, and the memory of a device. The HTML"
            " file needs no network and no server."
        ),
        epilog=(
            "examples:\n"
            "  ttxdsl report model.mlir -o report.html\n"
            "  ttxdsl report single_chip.mlir --mesh-shape 1,8\n"
            "  ttxdsl report model.mlir --format model-explorer -o model.json\n"
            "  ttxdsl report model.mlir --json | jq .summary\n"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="the program, MLIR text"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT",
        help="where it goes (FILE.report.html, FILE.graph.json)",
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="html",
        help="HTML, or a graph for Google's Model Explorer with its node data",
    )
    add_json_option(parser)
    add_compiler_options(parser)
    parser.set_defaults(execute=execute)
