"""`ttxdsl report`: a program, its stages and its costs as one HTML file."""

import argparse
import json
from pathlib import Path
from typing import Any

from ttxdsl.api import Program
from ttxdsl.cli.console import print_remarks, progress
from ttxdsl.cli.options import common as flags, machines
from ttxdsl.cli.programs import read_as_program
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.insight.report.chrome_trace import chrome_trace
from ttxdsl.insight.report.html.page import beside_page, report_page
from ttxdsl.insight.report.model_explorer import graph_collection, node_data
from ttxdsl.insight.report.rewritten import rewritten
from ttxdsl.insight.why.causes.aligned import aligned_lines
from ttxdsl.ir.collector import without_collections
from ttxdsl.loading.files import is_stream, require_writable, write_whole
from ttxdsl.loading.processes import copies

_SUFFIXES = {
    "html": ".report.html",
    "model-explorer": ".graph.json",
    "chrome-trace": ".trace.json",
}
"""The suffix of the default output file, by format."""


@without_collections()  # the command ends when the page is written
def execute(options: argparse.Namespace) -> int:
    """Write one report; the exit code is 0 unless the program is refused."""
    source: Path = options.file
    if options.other is not None and options.beside is not None:
        raise CompileError("--beside and a second program are two: say one")
    beside: Path | None = options.other or options.beside
    name = source.stem if beside is None else f"{source.stem}-{beside.stem}"
    default = source.parent / f"{name}{_SUFFIXES[options.format]}"
    output = options.output or default
    if beside is not None and (options.json or options.format != "html"):
        raise CompileError("two programs beside each other are a report in HTML")
    if not options.json:
        flags.require_outputs(options, output)
    program, data = _data(source, options)
    if beside is None:
        _require_axes(options, data)
    if options.json:
        flags.print_json(data, indent=None)  # megabytes, for programs
        return 0
    if beside is not None:
        twin, other = _data(beside, options)
        _require_axes(options, data, other)
        lines = aligned_lines(program.module, twin.module)
        annotations = rewritten(program.module, twin.module, lines)
        write_whole(output, beside_page(data, other, lines, annotations))
        written = [output]
    else:
        written = _write(data, source, options.format, output)
    console = report_console(to_stderr=True)
    for path in written:
        size = path.stat().st_size / 1024
        console.print(f"{visible(str(path))}  {size:,.0f} KiB", soft_wrap=True)
    return 0


def _data(source: Path, options: argparse.Namespace) -> tuple[Program, dict[str, Any]]:
    """Return a program and the data of its report; print the compiler's remarks."""
    program = read_as_program(source, options)
    machine = machines.machine_of_options(options)
    with progress("read") as step, copies() as count:
        data = program.report_data(
            num_links=options.num_links,
            on_step=step,
            machine=machine,
            chip=machines.chip_of_options(options),
            slices=options.slices,
            trip_count=options.trip_count,
            tries=options.tries,
            jobs=options.jobs,
            all_axes=options.all_axes,
            all_stages=options.all_stages or None,
            seconds=options.seconds,
            count=count,
            **flags.partition_options(options),
        )
    if not options.json:
        print_remarks(
            Remark(remark["severity"], remark["message"], remark["position"])
            for remark in data["remarks"]
        )
    return program, data


def _require_axes(options: argparse.Namespace, *reports: dict[str, Any]) -> None:
    """Hold links to the axes of the meshes of reports, one of which has to have them."""
    axes: list[tuple[str, int]] = []
    for data in reports:
        shown = dict(axis for mesh in data["meshes"] for axis in mesh["axes"])
        axes += [(name, shown.get(name, 1)) for name in data["axes"]]
    machines.require_axes(options, axes)


def _write(data: dict[str, Any], source: Path, form: str, path: Path) -> list[Path]:
    if form == "html":
        write_whole(path, report_page(data))
        return [path]
    if form == "chrome-trace":
        write_whole(path, json.dumps(chrome_trace(data), allow_nan=False))
        return [path]
    stem = path.name.removesuffix(".json")
    files = {path: graph_collection(data)}
    # a device cannot have files beside it
    overlays = {} if is_stream(path) else node_data(data)
    for name, overlay in overlays.items():
        files[path.with_name(f"{stem}.{name}.json")] = overlay
    for file in files:
        require_writable(file, [source])
    for file, content in files.items():
        write_whole(file, json.dumps(content, allow_nan=False))
    return list(files)


def add_command(commands: Any) -> None:
    """Add `report` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "report",
        help="one HTML file: graph, shardings, stages, collectives, memory",
        description=(
            "Compile a program and write what became of it: the graph with which device"
            " holds which part of each tensor, every stage with its changes, the"
            " collectives with bytes and reasons, a modelled timeline of a device, and its"
            " memory. The HTML file needs no network and no server."
        ),
        examples=(
            "  ttxdsl report model.mlir -o report.html\n"
            "  ttxdsl report single_chip.mlir --mesh-shape 1,8\n"
            "  ttxdsl report model.mlir --format model-explorer -o model.json\n"
            "  ttxdsl report model.mlir --tries 8    # what would help, inside\n"
            "  ttxdsl report before.mlir after.mlir -o both.html\n"
            "  ttxdsl report model.mlir --json | jq .summary\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    parser.path(
        "other",
        "OTHER",
        "a second program: both side by side, with what changed",
        nargs="?",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT",
        help="where it goes (FILE.report.html, FILE.graph.json, FILE.trace.json)",
    )
    parser.add_argument(
        "--format",
        choices=_SUFFIXES,
        default="html",
        help=(
            "HTML, a graph for Google's Model Explorer with its node data, or the"
            " timeline for Chrome's trace viewer"
        ),
    )
    parser.path("--beside", "OTHER", "the second program as an option")
    parser.count(
        "--tries",
        "changes to compile for each reason, to say which would help (none)",
        0,
    )
    parser.add_argument(
        "--doctor",
        dest="seconds",
        type=machines.positive,
        metavar="SECONDS",
        help="look so long for what to write instead, and say it on the first page",
    )
    parser.shared("--jobs")
    parser.flag("--all-axes", "show the mesh's axes of size one, too")
    parser.flag(
        "--all-stages",
        "list what every stage and lowering made of a program above 4,000 ops, too",
    )
    parser.shared("--json")
    flags.add_compiler_options(parser)
    machines.add_machine_options(parser)
    machines.add_chip_options(parser)
    parser.shared("--trip-count")
