"""`ttxdsl diff`: what two programs, or one program under two shardings, do differently."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from ttxdsl.api.forms import ProgramForm
from ttxdsl.cli.console import print_remarks
from ttxdsl.cli.options import common as flags
from ttxdsl.cli.options.machines import add_chip_options
from ttxdsl.cli.programs import read_module
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark, doing
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.dialects import sdy
from ttxdsl.insight.diff.annotations import carry_annotations, on_mesh
from ttxdsl.insight.diff.difference import Difference, Side, difference, side_of
from ttxdsl.insight.diff.view import difference_data, print_difference
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

_TROUBLE = 2
_SWAPPED = ("propagation", "reshards")
"""Options that `--with` may set for the second program."""
_OPTIONS = ("optimize", *_SWAPPED)
"""Of the pipeline, for both."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """A side that is to be compiled: a program, for a mesh, as another is annotated."""

    name: str
    path: Path
    shape: tuple[int, ...] = ()
    donor: Path | None = None
    swapped: Mapping[str, str] = field(default_factory=dict[str, str])

    def side(self, options: argparse.Namespace) -> Side:
        """Compile it."""
        module = read_module(self.path, options)
        if self.donor is not None:
            given = read_module(self.donor, options)
            carry_annotations(module, given)
            left_out = len(ops_of_type(given, sdy.ShardingConstraintOp))
            if left_out:
                message = (
                    f"{left_out} sharding constraint(s) inside are not carried over"
                )
                print_remarks([Remark("warning", message, str(self.donor))])
        shape = on_mesh(module, self.shape)
        usual: dict[str, Any] = {name: getattr(options, name) for name in _OPTIONS}
        usual |= self.swapped
        program = ProgramForm.of_module(module, str(self.path))
        return side_of(
            *(self.name, program.per_device(shape, **usual).module, options.trip_count),
            chip=options.chip,
            slices=options.slices,
            original=module,
            pipeline=TTStableHLOPipelinePass(mesh_shape=shape, **usual),
        )


def _on(path: Path, shape: tuple[int, ...]) -> _Plan:
    return _Plan(f"{path} on {'x'.join(map(str, shape))}", path, shape)


def _plans(options: argparse.Namespace) -> list[_Plan]:
    """Return the two sides that are asked for."""
    files: list[Path] = options.files
    shapes: list[tuple[int, ...]] = options.mesh_shape
    other: Path | None = options.with_annotations
    swapped: dict[str, str] = dict(options.swapped)
    if swapped:
        match files, shapes, other:
            case [path], [] | [_], None:
                shape = shapes[0] if shapes else ()
                written = " ".join(f"{name}={value}" for name, value in swapped.items())
                name = f"{path} with {written}"
                return [
                    _Plan(str(path), path, shape),
                    _Plan(name, path, shape, swapped=swapped),
                ]
            case _:
                raise CompileError("--with takes one program, or a folder of them")
    match files, shapes, other:
        case [left, right], [], None:
            return [_Plan(str(left), left), _Plan(str(right), right)]
        case [left, right], [shape], None:
            return [_on(left, shape), _on(right, shape)]
        case [path], [first, second], None:
            return [_on(path, first), _on(path, second)]
        case [path], [shape], None:
            return [_Plan(str(path), path), _on(path, shape)]
        case [path], [], Path() as donor:
            name = f"{path} with the annotations of {donor}"
            return [_Plan(str(path), path), _Plan(name, path, donor=donor)]
        case _:
            parser: argparse.ArgumentParser = options.parser
            parser.error(
                "give two files, or one file with --mesh-shape (once or twice), with"
                " --with-annotations, or with --with OPTION=VALUE"
            )


def _folder_table(rows: Sequence[tuple[Path, Difference | str]]) -> Table:
    """One row a program: launches and bytes of both sides, or why there are none."""
    table = Table("program", title_justify="left")
    for heading in ("launches A", "B", "bytes A", "B", "B - A"):
        table.add_column(heading, justify="right", no_wrap=True)
    sums = [0, 0, 0, 0]
    for path, row in rows:
        if isinstance(row, str):
            table.add_row(str(path), "", "", "", "", row)
            continue
        counts = [row.left.launches, row.right.launches]
        sent = [row.left.bytes_sent, row.right.bytes_sent]
        sums = [a + b for a, b in zip(sums, (*counts, *sent), strict=True)]
        table.add_row(
            str(path), *map(str, counts), *map(bytes_text, sent), _more(*sent)
        )
    table.add_section()
    sent = sums[2:]
    table.add_row("all", *map(str, sums[:2]), *map(bytes_text, sent), _more(*sent))
    return table


def _more(left: int, right: int) -> str:
    if left == right:
        return "="
    return f"{'+' if right > left else '-'}{bytes_text(abs(right - left))}"


def _of_folder(folder: Path, options: argparse.Namespace) -> int:
    """Two strategies on each program of a folder."""
    paths = sorted(folder.rglob("*.mlir"))
    if not options.swapped or not paths:
        hint = "--with propagation=PASS compares two ways to compile each program"
        text = "has no program" if options.swapped else "is a folder"
        raise CompileError(f"'{visible(str(folder))}' {text}", hint=hint)
    differences: list[tuple[Path, Difference | str]] = []
    for path in paths:
        options.files = [path]
        try:
            with doing(f"compiling {path}"):
                left, right = [plan.side(options) for plan in _plans(options)]
            differences.append((path.relative_to(folder), difference(left, right)))
        except CompileError as error:
            differences.append(
                (path.relative_to(folder), error.message.partition("\n")[0])
            )
    if options.json:
        rows = {
            str(path): {"error": row} if isinstance(row, str) else difference_data(row)
            for path, row in differences
        }
        flags.print_json(rows)
    else:
        written = ", ".join(f"{name}={value}" for name, value in options.swapped)
        console = report_console()
        console.print(f"A  {visible(str(folder))}", soft_wrap=True)
        console.print(
            f"B  {visible(str(folder))} with {visible(written)}", soft_wrap=True
        )
        console.print(_folder_table(differences))
    same = all(not isinstance(row, str) and row.is_equal for _, row in differences)
    return 0 if same else 1


def _option(text: str) -> tuple[str, str]:
    """`propagation=sdy-op-priority-propagate`."""
    name, mark, value = text.partition("=")
    if not mark or name not in _SWAPPED:
        raise flags.unknown_name(
            "option to swap", text, (f"{name}=PASS" for name in _SWAPPED)
        )
    return name, value


def execute(options: argparse.Namespace) -> int:
    """Run the command; 0 if nothing differs, 1 if something does."""
    if len(options.files) == 1 and options.files[0].is_dir():
        return _of_folder(options.files[0], options)
    sides: list[Side] = []
    for plan in _plans(options):
        with doing(f"compiling {plan.name}"):
            sides.append(plan.side(options))
    left, right = sides
    answer = difference(left, right)
    if options.json:
        flags.print_json(difference_data(answer))
    else:
        print_difference(report_console(), answer, everything=options.all)
    return 0 if answer.is_equal else 1


def add_command(commands: Any) -> None:
    """Add `diff` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "diff",
        help="compare collectives, bytes and memory of two programs or shardings",
        description=(
            "Compile two programs, or one program on two meshes, with two annotations or"
            " with two strategies, and compare their collectives (matched by kind, axes and the"
            " op that needs them), the bytes that a device sends, and its memory. The"
            " exit code is 0 if they are equal, 1 if they differ, 2 for an error."
        ),
        examples=(
            "  ttxdsl diff before.mlir after.mlir\n"
            "  ttxdsl diff model.mlir --mesh-shape 1,4 --mesh-shape 1,8\n"
            "  ttxdsl diff data.mlir --with-annotations tensor.mlir\n"
            "  ttxdsl diff model.mlir --with propagation=sdy-op-priority-propagate\n"
            "  ttxdsl diff models/ --with reshards=my-reshards --plugin mine.py\n"
        ),
        execute=execute,
    )
    parser.path(
        "files", "FILE", "one or two programs, or a folder of *.mlir", nargs="+"
    )
    parser.add_argument(
        "--mesh-shape",
        type=flags.sizes,
        action="append",
        default=[],
        metavar="2,4",
        help="devices; the sizes of the program's own axes if it has shardings",
    )
    parser.path(
        "--with-annotations",
        "OTHER",
        "compare with the same program under the boundary shardings of another",
    )
    parser.add_argument(
        "--with",
        dest="swapped",
        type=_option,
        action="append",
        default=[],
        metavar="OPTION=PASS",
        help="compare with the same program where propagation=PASS or reshards=PASS",
    )
    parser.flag("--all", "list each collective, those that are the same too")
    flags.add_stage_options(parser, *_OPTIONS)
    flags.add_source_options(parser)
    add_chip_options(parser)
    parser.shared("--trip-count", "--json")
    parser.set_defaults(parser=parser, error_code=_TROUBLE)
