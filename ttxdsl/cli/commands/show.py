"""`ttxdsl show`: which device holds which slice, drawn in the terminal."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text
from rich.tree import Tree
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ttxdsl.analysis import boundary
from ttxdsl.analysis.usage.memory import argument_name
from ttxdsl.api import Program, program_of
from ttxdsl.cli.console import drawing, report_console, working
from ttxdsl.cli.input.programs import read_input
from ttxdsl.cli.options import common as flags
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.terminal import Terminal, styled
from ttxdsl.dialects import sdy
from ttxdsl.insight.commands import Picture
from ttxdsl.insight.report.grid import (
    axes_text,
    local_shape,
    mesh_text,
    sharding_grid,
    shards_of,
    summary,
)
from ttxdsl.insight.why.names import Names
from ttxdsl.interpreters.runtime.run import entry_function
from ttxdsl.loading.program import parse_program
from ttxdsl.sharding.devices.mesh import mesh_positions
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

_PROPAGATED = 6
_FORMS = ("ttir", "ttnn")


@dataclass(frozen=True, slots=True)
class _Named:
    """A value with the name that it is shown by."""

    name: str
    value: boundary.BoundaryValue

    @property
    def layout(self) -> boundary.TensorLayout | None:
        return self.value.layout

    @property
    def title(self) -> str:
        return f"{self.name}: {self.value.type}"


def stage_number(text: str) -> int:
    """The number of a stage from its number, its pass, or its pass without `sdy-`.

    Raises:
        argparse.ArgumentTypeError: there is no such stage.
    """
    names = [stage.name for stage in TTStableHLOPipelinePass().stages()]
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return int(text)
    for number, name in enumerate(names, 1):
        if text in (name, name.removeprefix("sdy-")):
            return number
    raise argparse.ArgumentTypeError(
        f"there is no stage '{text}': say 1 to {len(names)}, or {', '.join(names)}"
    )


def _program(options: argparse.Namespace) -> tuple[Program, str]:
    """The program as it is to be shown, and the text that names its values."""
    text, source = read_input(options.file, options)
    program = program_of(parse_program(text, source), source)
    if options.after is None and not options.mesh_shape:
        return program, text
    last = options.after or _PROPAGATED
    with working(f"compiling {options.file}"):
        program = program.partition(**flags.partition_options(options), last_stage=last)
    return program, program.text


def _layout_of(value: SSAValue) -> boundary.TensorLayout | None:
    op = sdy.owning_op(value)
    return (
        None if op is None else boundary.layout_of_sharding(op, sdy.get_sharding(value))
    )


def _arguments(function: FuncOp) -> list[_Named]:
    return [
        _Named(f"argument {index} {argument_name(function, index)}", value)
        for index, value in enumerate(boundary.arguments_of(function))
    ]


def _results(function: FuncOp) -> list[_Named]:
    return [_Named(value.name, value) for value in boundary.results_of(function)]


def _at(values: Sequence[_Named], index: int, what: str) -> _Named:
    if not 0 <= index < len(values):
        count = len(values)
        raise CompileError(
            f"there is no {what} {index}: the function has {count}, 0 to {count - 1}"
            if count
            else f"there is no {what} {index}: the function has none"
        )
    return values[index]


def _selected(
    module: ModuleOp, text: str, options: argparse.Namespace
) -> _Named | None:
    function = entry_function(module)
    if options.arg is not None:
        return _at(_arguments(function), options.arg, "argument")
    if options.result is not None:
        return _at(_results(function), options.result, "result")
    if options.value is None:
        return None
    names = Names(module, text, str(options.file))
    value = names.find(options.value)
    name = names.name(value) or options.value
    if value.owner is function.body.block:
        index = list(function.body.block.args).index(value)  # pyright: ignore[reportArgumentType]
        return _Named(name, boundary.arguments_of(function)[index])
    return _Named(name, boundary.BoundaryValue(name, value.type, _layout_of(value)))


# Text


def _unknown(options: argparse.Namespace) -> str:
    if options.after is not None and options.after > 8:
        return "inside a manual computation: see --after 8"
    if options.after is not None and options.after >= _PROPAGATED:
        return "no sharding: every device has it whole"
    return f"not decided yet: see --after {_PROPAGATED}"


def _line(named: _Named, options: argparse.Namespace) -> Text:
    text = styled(f"{named.title}  ")
    layout = named.layout
    if layout is None:
        return text.append(_unknown(options), "dim")
    text.append_text(styled(axes_text(layout), "bold cyan"))
    return text.append(f"  {summary(layout, named.value.shape)}", "dim")


def _tree(function: FuncOp, title: str, options: argparse.Namespace) -> Tree:
    tree = Tree(styled(title, "bold"))
    for name, values in (
        ("arguments", _arguments(function)),
        ("results", _results(function)),
    ):
        branch = tree.add(name)
        for value in values:
            branch.add(_line(value, options))
    return tree


def _print_picture(
    console: Terminal, named: _Named, options: argparse.Namespace
) -> None:
    console.print(_line(named, options), soft_wrap=True)
    layout = named.layout
    if layout is None:
        return
    console.print(f"mesh {mesh_text(layout)}; devices that hold each slice:")
    shape = named.value.shape
    console.print(sharding_grid(layout, shape))
    if not options.devices:
        return
    table = Table("device", "at", "holds")
    where = {id_: shard for shard in shards_of(layout, shape) for id_ in shard.devices}
    names = [name for name, _ in layout.mesh.axes]
    positions = mesh_positions(layout.mesh)
    for id_, position in zip(layout.mesh.devices(), positions, strict=True):
        at = ", ".join(f"{n}={i}" for n, i in zip(names, position, strict=True))
        table.add_row(str(id_), at, where[id_].text)
    console.print(table)


def _json(named: _Named) -> dict[str, Any]:
    layout, shape = named.layout, named.value.shape
    data: dict[str, Any] = {"name": named.name, "type": str(named.value.type)}
    if layout is None:
        return {**data, "mesh": None}
    return {
        **data,
        "mesh": dict(layout.mesh.axes),
        "axes": [[str(axis).replace('"', "") for axis in dim] for dim in layout.dims],
        "local_shape": local_shape(layout, shape),
        "shards": [
            {"index": s.index, "slices": s.slices, "devices": s.devices}
            for s in shards_of(layout, shape)
        ],
    }


def execute(options: argparse.Namespace) -> int:
    """Run the command."""
    program, text = _program(options)
    named = _asked(program, text, options)
    if options.json:
        if named is not None:
            flags.print_json(_json(named))
        else:
            function = entry_function(program.module)
            values = (_arguments(function), _results(function))
            arguments, results = ([_json(one) for one in part] for part in values)
            flags.print_json({"arguments": arguments, "results": results})
        return 0
    _print(report_console(), program, named, options)
    return 0


def picture_of(
    program: Program,
    value: str | None,
    argument: int | None,
    result: int | None,
    *,
    devices: bool,
) -> Picture:
    """What the command shows of a program as it is.

    Raises:
        CompileError: there is no such value, or it is no tensor.
    """
    last = program.stages[-1].number if program.stages else None
    options = argparse.Namespace(
        file=program.source,
        value=value,
        arg=argument,
        result=result,
        after=last,
        devices=devices,
    )
    named = _asked(program, program.text, options)
    drawn = drawing(lambda console: _print(console, program, named, options))
    return Picture(program.source).shown_by(drawn)


def _asked(program: Program, text: str, options: argparse.Namespace) -> _Named | None:
    """The value that is asked for, None if all of them are."""
    if program.form in _FORMS and options.value is not None:
        raise CompileError(
            f"values are shown of StableHLO, and '{options.file}' is {program.form}",
            hint="its arguments and results can be shown: --arg, --result",
        )
    named = _selected(program.module, text, options)
    if named is not None and not isinstance(named.value.type, TensorType):
        raise CompileError(
            f"{named.name} is a {named.value.type}, and only tensors are split"
        )
    return named


def _print(
    console: Terminal,
    program: Program,
    named: _Named | None,
    options: argparse.Namespace,
) -> None:
    if named is not None:
        _print_picture(console, named, options)
        return
    function = entry_function(program.module)
    meshes = ", ".join(f"@{name} {mesh}" for name, mesh in program.meshes.items())
    stage = f", after {program.stages[-1].name}" if program.stages else ""
    title = f"@{function.sym_name.data}{stage}, mesh {meshes or 'none'}"
    console.print(_tree(function, title, options), soft_wrap=True)


def add_command(commands: Any) -> None:
    """Add `show` and its options to the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "show",
        help="draw which device holds which slice of a value",
        description=(
            "Draw how arguments, results and values are split over the devices, as they"
            " are written in a program or as a stage leaves them. Without a value, list"
            " the arguments and results with their shardings."
        ),
        epilog=(
            "examples:\n"
            "  ttxdsl show model.mlir\n"
            "  ttxdsl show model.mlir --arg 0\n"
            "  ttxdsl show model.mlir %5 --after 6\n"
            "  ttxdsl show model.mlir --result 0 --after insert-explicit-reshards\n"
            "\n"
            "after a stage values have the names that --dump-dir prints\n"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    flags.add_file_option(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("value", nargs="?", metavar="%value", help="a value by its name")
    which.add_argument("--arg", type=int, metavar="K", help="an argument by its number")
    which.add_argument("--result", type=int, metavar="K", help="a result by its number")
    parser.add_argument(
        "--after",
        type=stage_number,
        metavar="STAGE",
        help="as this stage leaves it, by number or name (6 shows what propagates)",
    )
    parser.add_argument(
        "--devices", action="store_true", help="list the devices with their slices too"
    )
    flags.add_compiler_options(parser)
    flags.add_json_option(parser)
    parser.set_defaults(execute=execute)
