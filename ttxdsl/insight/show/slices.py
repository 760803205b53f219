"""The slices that devices hold: of arguments, of results, or of one value."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.table import Table
from rich.text import Text
from rich.tree import Tree
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ttxdsl.analysis import boundary
from ttxdsl.analysis.calls.function_attributes import entry_function, result_names
from ttxdsl.analysis.usage.memory import argument_name
from ttxdsl.api.forms import ProgramForm
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.folding import together, unfolded
from ttxdsl.diagnostics.terminal import Terminal, styled
from ttxdsl.dialects import sdy
from ttxdsl.insight.show.grid import (
    axes_text,
    local_shape,
    sharding_grid,
    shards_of,
    summary,
)
from ttxdsl.insight.why.layers import text_of_all, without_layers
from ttxdsl.insight.why.names import Names
from ttxdsl.sharding.devices.mesh import (
    mesh_heading,
    mesh_positions,
    mesh_titles,
    mesh_words,
)
from ttxdsl.transforms.pipeline import PROPAGATION_STAGE, RESHARDS_STAGE


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value with the name that it is shown by."""

    name: str
    value: boundary.BoundaryValue

    @property
    def title(self) -> str:
        """Its name and type."""
        return f"{self.name}: {self.value.type}"

    def data(self) -> dict[str, Any]:
        """Return which device holds which slice, for JSON."""
        layout, shape = self.value.layout, self.value.shape
        data: dict[str, Any] = {"name": self.name, "type": str(self.value.type)}
        if layout is None:
            return {**data, "mesh": None}
        return {
            **data,
            "mesh": dict(layout.mesh.axes),
            "axes": [[str(a).replace('"', "") for a in dim] for dim in layout.dims],
            "local_shape": local_shape(layout, shape),
            "shards": [
                {"index": s.index, "slices": s.slices, "devices": s.devices}
                for s in shards_of(layout, shape)
            ],
        }


def _layout_of(value: SSAValue) -> boundary.TensorLayout | None:
    op = sdy.owning_op(value)
    if op is None:
        return None
    return boundary.layout_of_sharding(op, sdy.get_sharding(value))


def _arguments(function: FuncOp) -> list[NamedValue]:
    return [
        NamedValue(f"argument {index} {argument_name(function, index)}", value)
        for index, value in enumerate(boundary.arguments_of(function))
    ]


def _results(function: FuncOp) -> list[NamedValue]:
    return [
        NamedValue(
            f"{value.name} {name}" if name not in (None, "result") else value.name,
            value,
        )
        for value, name in zip(
            boundary.results_of(function), result_names(function), strict=True
        )
    ]


def _at(values: Sequence[NamedValue], index: int, kind: str) -> NamedValue:
    count = len(values)
    if not 0 <= index < count:
        known = f"{count}, 0 to {count - 1}" if count else "none"
        raise CompileError(f"there is no {kind} {index}: the function has {known}")
    return values[index]


@dataclass(frozen=True, slots=True)
class Picture(Displayed):
    """A program's arguments and results, or one value, as devices hold it.

    Attributes:
        of: what the program is called.
        value: the one that is shown; None for arguments and results.
        title: of arguments and results.
        unknown: words for a value without a sharding.
        device_ids: of the devices that arrays are on, () if nobody knows. None for a
            program, whose results are shown, too.
    """

    of: str
    program: ProgramForm
    value: NamedValue | None
    title: str
    unknown: str
    device_ids: Sequence[int] | None = None

    def data(self) -> dict[str, Any]:
        """Return the picture for JSON."""
        if self.value is not None:
            return self.value.data()
        return {
            kind: [named.data() for named in values]
            for kind, values in self.values().items()
        }

    def values(self) -> dict[str, list[NamedValue]]:
        """Return the arguments and results that are shown."""
        function = entry_function(self.program.module)
        arguments = _arguments(function)
        if self.device_ids is not None:
            return {"arguments": [_on(self.device_ids, each) for each in arguments]}
        return {"arguments": arguments, "results": _results(function)}


def _on(device_ids: Sequence[int], named: NamedValue) -> NamedValue:
    """Return a value on the devices that a program numbers from 0."""
    layout = named.value.layout
    if layout is None or not device_ids:
        return named
    ids = tuple(device_ids[number] for number in layout.mesh.devices())
    layout = replace(layout, mesh=replace(layout.mesh, device_ids=ids))
    return replace(named, value=replace(named.value, layout=layout))


def picture_of(
    program: ProgramForm,
    value: str | None,
    argument: int | None,
    result: int | None,
    *,
    text: str | None = None,
    after: int | None = None,
) -> Picture:
    """Look up what to draw of a program as it is.

    Args:
        program: in any form.
        value: the name of a value in the text.
        text: what the program was read from, if not as it prints.
        after: the number of the stage that left it so.

    Raises:
        CompileError: there is no such value, or it is no tensor.
    """
    if program.form != "stablehlo" and value is not None:
        raise CompileError(
            f"values are shown of StableHLO, and '{program.source}' is {program.form}",
            hint="its arguments and results can be shown: --arg, --result",
        )
    named = _selected(
        program, program.text if text is None else text, value, argument, result
    )
    if named is not None and not isinstance(named.value.type, TensorType):
        raise CompileError(
            f"{named.name} is a {named.value.type}, and only tensors are split"
        )
    stage = f", after {program.stages[-1].name}" if program.stages else ""
    title = f"@{entry_function(program.module).sym_name.data}{stage}"
    return Picture(program.source, program, named, title, _unknown(after))


def picture_of_arrays(program: ProgramForm, device_ids: Sequence[int]) -> Picture:
    """Return the picture of arrays that are the arguments of a program.

    One is drawn by itself, several are listed.

    Args:
        program: with a mesh, if an array has one.
        device_ids: of the devices that the program numbers from 0; () if nobody knows.
    """
    picture = Picture(
        program.source, program, None, "arrays", "on one device", device_ids
    )
    arrays = picture.values()["arguments"]
    return replace(picture, value=arrays[0]) if len(arrays) == 1 else picture


def _selected(
    program: ProgramForm,
    text: str,
    wanted: str | None,
    argument: int | None,
    result: int | None,
) -> NamedValue | None:
    module = program.module
    function = entry_function(module)
    if argument is not None:
        return _at(_arguments(function), argument, "argument")
    if result is not None:
        return _at(_results(function), result, "result")
    if wanted is None:
        return None
    names = Names(module, text, program.source)
    value = names.find(wanted)
    if isinstance(value, BlockArgument) and value.owner is function.body.block:
        return _arguments(function)[value.index]
    name = names.name(value) or wanted
    return NamedValue(name, boundary.BoundaryValue(name, value.type, _layout_of(value)))


def _unknown(after: int | None) -> str:
    if after is not None and after > RESHARDS_STAGE:
        return f"inside a manual computation: see --after {RESHARDS_STAGE}"
    if after is not None and after >= PROPAGATION_STAGE:
        return "no sharding: every device has it whole"
    return f"not decided yet: see --after {PROPAGATION_STAGE}"


def _line(named: NamedValue, unknown: str) -> Text:
    layout = named.value.layout
    if layout is None and not unknown:
        return styled(named.title)
    text = styled(f"{named.title}  ")
    if layout is None:
        return text.append(unknown, "dim")
    text.append_text(styled(axes_text(layout), "bold cyan"))
    return text.append(f"  {summary(layout, named.value.shape)}", "dim")


def _print_value(
    console: Terminal,
    named: NamedValue,
    unknown: str,
    *,
    devices: bool,
    all_axes: bool,
) -> None:
    console.print(_line(named, unknown), soft_wrap=True)
    layout = named.value.layout
    if layout is None:
        return
    mesh = layout.mesh if all_axes else layout.mesh.without_size_one_axes()
    words = mesh_words(mesh, all_axes=all_axes)
    console.print(f"mesh {words}; devices that hold each slice:")
    shape = named.value.shape
    console.print(sharding_grid(layout, shape))
    if not devices:
        return
    table = Table("device", "at", "holds")
    where = {id_: shard for shard in shards_of(layout, shape) for id_ in shard.devices}
    for id_, position in zip(mesh.devices(), mesh_positions(mesh), strict=True):
        at = ", ".join(
            f"{name}={index}"
            for name, index in zip(mesh.axis_names, position, strict=True)
        )
        table.add_row(str(id_), at, where[id_].text)
    console.print(table)


def _add_values(
    tree: Tree, kind: str, values: Sequence[NamedValue], unknown: str, *, whole: bool
) -> None:
    """Add a branch of arguments or results, those of layers that are alike in one line."""
    if len(values) > 1 and all(value.value.layout is None for value in values):
        kind, unknown = f"{kind}, {unknown}", ""
    branch = tree.add(styled(kind))
    rows = unfolded(values) if whole else together(values, _likeness)
    for group in rows.groups:
        first = group[0]
        if len(group) > 1:
            paths = text_of_all([_path(value) for value in group])
            name = f"{len(group)} {kind.partition(',')[0]} {paths}"
            first = NamedValue(name, first.value)
        branch.add(_line(first, unknown))


def _path(named: NamedValue) -> str:
    """Return the name without kind and number: `params['w']` of `argument 3 params['w']`."""
    return named.name.split(" ", 2)[-1]


def _likeness(named: NamedValue) -> tuple[object, ...]:
    layout = named.value.layout
    axes = None if layout is None else axes_text(layout)
    return without_layers(_path(named)), str(named.value.type), axes


def print_picture(
    console: Terminal,
    picture: Picture,
    *,
    devices: bool,
    all_axes: bool = False,
    whole: bool = False,
) -> None:
    """Draw the value, or list arguments and results, each by itself if `whole`."""
    if picture.value is not None:
        _print_value(
            console, picture.value, picture.unknown, devices=devices, all_axes=all_axes
        )
        return
    meshes = mesh_heading(mesh_titles(picture.program.meshes, all_axes=all_axes))
    tree = Tree(styled(f"{picture.title}, {meshes}", "bold"))
    for kind, values in picture.values().items():
        _add_values(tree, kind, values, picture.unknown, whole=whole)
    console.print(tree)
