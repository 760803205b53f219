"""`ttxdsl diff`: what two programs, or one program under two shardings, do differently."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.table import Table
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    result_attributes,
    set_argument_attributes,
    set_result_attributes,
)
from ttxdsl.analysis.usage.collectives import CountedCollective, guesses_text, sent_text
from ttxdsl.api import program_of
from ttxdsl.cli.console import print_remarks, report_console, working
from ttxdsl.cli.input.programs import read_module
from ttxdsl.cli.options.common import (
    add_json_option,
    add_source_options,
    add_stage_options,
    add_trip_count_option,
    print_json,
    sizes,
)
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.diagnostics.terminal import Terminal
from ttxdsl.dialects import sdy
from ttxdsl.insight.budget.check import device_program
from ttxdsl.insight.diff.difference import Difference, Pair, Side, difference, side_of
from ttxdsl.insight.doctor.doctor import has_shardings
from ttxdsl.insight.doctor.meshes import (
    Candidate,
    apply_candidate,
    remove_shardings,
    written_meshes,
)
from ttxdsl.insight.report.folding import fold, unfolded
from ttxdsl.interpreters.runtime.run import entry_function
from ttxdsl.ir.traversal import ops_of_type

_SHARDING = "sdy.sharding"
_TROUBLE = 2
_SWAPPED = ("propagation", "reshards")
"""What may be another pass in the second of two programs."""
_OPTIONS = ("optimize", *_SWAPPED)
"""Of the pipeline, for both."""


def carry_annotations(module: ModuleOp, other: ModuleOp) -> None:
    """Give a program the meshes and the boundary shardings of another one.

    Its own are replaced, and its sharding constraints are removed.

    Args:
        module: the program that is changed.
        other: one whose entry function has the same argument and result types.

    Raises:
        CompileError: the types differ, or the program has a manual computation, whose
            shapes hold for its own mesh only.
    """
    function, given = entry_function(module), entry_function(other)
    if function.function_type != given.function_type:
        raise CompileError(
            f"the other program's entry function has the type {given.function_type},"
            f" not {function.function_type}",
            given,
            hint="annotations can be taken from a program with the same signature",
        )
    remove_shardings(module)
    for mesh in reversed(written_meshes(other)):
        point = InsertPoint.at_start(module.body.block)
        Rewriter.insert_op(sdy.MeshOp(mesh.sym_name.data, mesh.mesh.data), point)
    for read, write in (
        (argument_attributes, set_argument_attributes),
        (result_attributes, set_result_attributes),
    ):
        entries = read(function)
        for entry, taken in zip(entries, read(given), strict=True):
            if _SHARDING in taken:
                entry[_SHARDING] = taken[_SHARDING]
        write(function, entries)


def _on_mesh(module: ModuleOp, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Resize the mesh of a program with shardings; the shape for one without.

    Raises:
        CompileError: the program's meshes have another number of axes.
    """
    if not shape or not has_shardings(module):
        return shape
    for mesh in written_meshes(module):
        names = [name for name, _ in mesh.mesh.data.axes]
        if names and len(names) != len(shape):
            raise CompileError(
                f"mesh-shape {'x'.join(map(str, shape))} has {len(shape)} axes, and the"
                f" program's mesh '@{mesh.sym_name.data}' has {len(names)}",
                mesh,
            )
        if names:
            candidate = Candidate(tuple(zip(names, shape, strict=True)))
            apply_candidate(module, entry_function(module), candidate)
            break
    return ()


def _sides(options: argparse.Namespace) -> list[tuple[str, Callable[[], Side]]]:
    """What is compared with what."""
    files: list[Path] = options.files
    shapes: list[tuple[int, ...]] = options.mesh_shape
    other: Path | None = options.with_annotations
    usual = {name: getattr(options, name) for name in _OPTIONS}
    swapped: dict[str, str] = dict(options.swapped)
    written = " ".join(f"{name}={value}" for name, value in swapped.items())

    def side(
        name: str,
        path: Path,
        shape: tuple[int, ...],
        donor: Path | None,
        more: Mapping[str, str],
    ) -> Side:
        module = read_module(path, options)
        if donor is not None:
            given = read_module(donor, options)
            carry_annotations(module, given)
            left_out = len(ops_of_type(given, sdy.ShardingConstraintOp))
            if left_out:
                message = (
                    f"{left_out} sharding constraint(s) inside are not carried over"
                )
                print_remarks([Remark("warning", message, str(donor))])
        shape = _on_mesh(module, shape)
        program = program_of(module, str(path))
        program = device_program(program, shape, **{**usual, **more})
        return side_of(name, program.module, options.trip_count)

    def later(
        name: str,
        path: Path,
        shape: tuple[int, ...] = (),
        donor: Path | None = None,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[str, Callable[[], Side]]:
        return name, lambda: side(name, path, shape, donor, more)

    def on(path: Path, shape: tuple[int, ...]) -> str:
        return f"{path} on {'x'.join(map(str, shape))}"

    if swapped:
        match files, shapes, other:
            case [one], [] | [_], None:
                shape = shapes[0] if shapes else ()
                return [
                    later(str(one), one, shape),
                    later(f"{one} with {written}", one, shape, more=swapped),
                ]
            case _:
                raise CompileError("--with takes one program, or a folder of them")
    match files, shapes, other:
        case [left, right], [], None:
            return [later(str(left), left), later(str(right), right)]
        case [left, right], [shape], None:
            return [
                later(on(left, shape), left, shape),
                later(on(right, shape), right, shape),
            ]
        case [one], [first, second], None:
            return [
                later(on(one, first), one, first),
                later(on(one, second), one, second),
            ]
        case [one], [shape], None:
            return [later(str(one), one), later(on(one, shape), one, shape)]
        case [one], [], Path() as donor:
            return [
                later(str(one), one),
                later(f"{one} with the annotations of {donor}", one, (), donor),
            ]
        case _:
            parser: argparse.ArgumentParser = options.parser
            parser.error(
                "give two files, or one file with --mesh-shape (once or twice), with"
                " --with-annotations, or with --with OPTION=VALUE"
            )


# Tables


def _summary_table(found: Difference) -> Table:
    table = Table("", title_justify="left")
    for heading in ("A", "B", "B - A"):
        table.add_column(heading, justify="right", no_wrap=True)

    def row(
        name: str, of: Callable[[Side], int], text: Callable[[int], str] = str
    ) -> None:
        left, right = of(found.left), of(found.right)
        change = right - left
        sign = "+" if change > 0 else "-" if change < 0 else ""
        shown = f"{sign}{text(abs(change))}" if change else "="
        table.add_row(name, text(left), text(right), shown)

    for kind in found.kinds:
        row(kind, lambda side, kind=kind: side.count(kind))
    row("launches", lambda side: side.launches)
    row("bytes that a device sends", lambda side: side.bytes_sent, bytes_text)
    row("memory of a device", lambda side: side.memory.peak_bytes, bytes_text)
    row("of it arguments", lambda side: side.memory.argument_bytes, bytes_text)
    return table


def _sides_text(texts: Iterable[str]) -> str:
    return " -> ".join(dict.fromkeys(texts))


def _cells(pair: Pair) -> tuple[str, ...]:
    """What two collectives do, both where it differs, but for their bytes."""
    both = [one for one in (pair.left, pair.right) if one is not None]
    return (
        pair.sign,
        _sides_text(one.title for one in both),
        _sides_text(one.axes_text for one in both),
        _sides_text(one.tensor for one in both),
        _sides_text(one.reason for one in both),
    )


def _moved(pair: Pair) -> int:
    """Bytes that it is about."""
    left, right = (
        one.bytes_per_device if one is not None else 0
        for one in (pair.left, pair.right)
    )
    return max(left, right)


def _pair_table(pairs: list[Pair], *, whole: bool) -> Table:
    """Pairs that differ alike are one row with a count, the dearest first."""
    rows = unfolded(pairs) if whole else fold(pairs, _cells, _moved)
    table = Table("", "collective", "axis", "local tensor")
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("why")
    for group in rows.groups:
        sign, title, axes, tensor, reason = _cells(group[0])
        count = f"{len(group)} " if len(group) > 1 else ""
        sides = [
            [one for one in side if one is not None]
            for side in (
                [pair.left for pair in group],
                [pair.right for pair in group],
            )
        ]
        bytes_ = _sides_text(sent_text(side) for side in sides if side)
        table.add_row(sign, f"{count}{title}", axes, tensor, bytes_, reason)
    if rows.hidden:
        table.add_row("", f"{len(rows.hidden)} others, shown by --all")
    return table


def print_difference(
    console: Terminal, found: Difference, *, everything: bool = False
) -> None:
    """Both programs side by side, and the collectives that differ."""
    console.print(f"A  {visible(found.left.name)}", soft_wrap=True)
    console.print(f"B  {visible(found.right.name)}", soft_wrap=True)
    console.print(_summary_table(found))
    sides = (guesses_text(side.collectives) for side in (found.left, found.right))
    for guessed in dict.fromkeys(filter(None, sides)):
        console.print(guessed, soft_wrap=True)
    shown = [pair for pair in found.pairs if everything or not pair.is_equal]
    if shown:
        pairs = _pair_table(shown, whole=everything)
        console.print_table(pairs, ["local tensor", "axis"])
        console.print("- only in A, + only in B, ~ changed")
    same = len(found.pairs) - sum(not pair.is_equal for pair in found.pairs)
    if same and not everything:
        console.print(f"{same} collectives are the same: --all")
    if found.is_equal:
        console.print("no difference")


def _json(found: Difference) -> dict[str, Any]:
    def side(one: Side) -> dict[str, Any]:
        return {
            "name": one.name,
            "collectives": {kind: one.count(kind) for kind in found.kinds},
            "launches": one.launches,
            "bytes_sent": one.bytes_sent,
            "peak_bytes": one.memory.peak_bytes,
            "argument_bytes": one.memory.argument_bytes,
        }

    def collective(one: CountedCollective | None) -> dict[str, Any] | None:
        return None if one is None else one.data()

    return {
        "equal": found.is_equal,
        "a": side(found.left),
        "b": side(found.right),
        "collectives": [
            {
                "change": pair.sign,
                "a": collective(pair.left),
                "b": collective(pair.right),
            }
            for pair in found.pairs
        ],
    }


def _folder_table(found: Sequence[tuple[Path, Difference | str]]) -> Table:
    """One row a program: launches and bytes of both sides, or why there are none."""
    table = Table("program", title_justify="left")
    for heading in ("launches A", "B", "bytes A", "B", "B - A"):
        table.add_column(heading, justify="right", no_wrap=True)
    sums = [0, 0, 0, 0]
    for path, one in found:
        if isinstance(one, str):
            table.add_row(str(path), "", "", "", "", one)
            continue
        counts = [one.left.launches, one.right.launches]
        sent = [one.left.bytes_sent, one.right.bytes_sent]
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
    found: list[tuple[Path, Difference | str]] = []
    for path in paths:
        options.files = [path]
        try:
            with working(f"compiling {path}"):
                left, right = [make() for _, make in _sides(options)]
            found.append((path.relative_to(folder), difference(left, right)))
        except CompileError as error:
            found.append((path.relative_to(folder), error.message.partition("\n")[0]))
    if options.json:
        rows = {
            str(path): {"error": one} if isinstance(one, str) else _json(one)
            for path, one in found
        }
        print_json(rows)
    else:
        written = ", ".join(f"{name}={value}" for name, value in options.swapped)
        console = report_console()
        console.print(f"A  {visible(str(folder))}", soft_wrap=True)
        console.print(
            f"B  {visible(str(folder))} with {visible(written)}", soft_wrap=True
        )
        console.print(_folder_table(found))
    same = all(not isinstance(one, str) and one.is_equal for _, one in found)
    return 0 if same else 1


def _option(text: str) -> tuple[str, str]:
    """`propagation=sdy-op-priority-propagate`."""
    name, mark, value = text.partition("=")
    if not mark or name not in _SWAPPED:
        raise argparse.ArgumentTypeError(
            f"'{visible(text)}' is none of {', '.join(f'{one}=PASS' for one in _SWAPPED)}"
        )
    return name, value


def execute(options: argparse.Namespace) -> int:
    """Run the command; 0 if nothing differs, 1 if something does."""
    if len(options.files) == 1 and options.files[0].is_dir():
        return _of_folder(options.files[0], options)
    sides: list[Side] = []
    for name, make in _sides(options):
        with working(f"compiling {name}"):
            sides.append(make())
    left, right = sides
    found = difference(left, right)
    if options.json:
        print_json(_json(found))
    else:
        print_difference(report_console(), found, everything=options.all)
    return 0 if found.is_equal else 1


def add_command(commands: Any) -> None:
    """Add `diff` and its options to the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "diff",
        help="compare collectives, bytes and memory of two programs or shardings",
        description=(
            "Compile two programs, or one program on two meshes, with two annotations or"
            " with two strategies, and compare their collectives (matched by kind, axes and the"
            " op that needs them), the bytes that a device sends, and its memory. The"
            " exit code is 0 if they are equal, 1 if they differ, 2 for an error."
        ),
        epilog=(
            "examples:\n"
            "  ttxdsl diff before.mlir after.mlir\n"
            "  ttxdsl diff model.mlir --mesh-shape 1,4 --mesh-shape 1,8\n"
            "  ttxdsl diff data.mlir --with-annotations tensor.mlir\n"
            "  ttxdsl diff model.mlir --with propagation=sdy-op-priority-propagate\n"
            "  ttxdsl diff models/ --with reshards=my-reshards --plugin mine.py\n"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="one or two programs, or a folder of *.mlir",
    )
    parser.add_argument(
        "--mesh-shape",
        type=sizes,
        action="append",
        default=[],
        metavar="2,4",
        help="devices; the sizes of the program's own axes if it has shardings",
    )
    parser.add_argument(
        "--with-annotations",
        type=Path,
        metavar="OTHER",
        help="compare with the same program under the boundary shardings of another",
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
    parser.add_argument(
        "--all",
        action="store_true",
        help="list each collective, those that are the same too",
    )
    add_stage_options(parser, *_OPTIONS)
    add_source_options(parser)
    add_trip_count_option(parser)
    add_json_option(parser)
    parser.set_defaults(execute=execute, parser=parser, error_code=_TROUBLE)
