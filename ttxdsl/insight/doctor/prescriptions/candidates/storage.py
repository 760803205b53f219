"""Weights stored with the dimensions that reshapes make of their products.

`(x @ w).reshape(…, d, heads)` of a `w` that is split by columns gives each device parts of
all heads. Stored as `(…, d, heads)` the same numbers are split by heads.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.usage.memory import argument_name
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.doctor.prescriptions.candidates.changes import (
    Candidate,
    without_numbers,
)
from ttxdsl.insight.doctor.prescriptions.candidates.lines import SourcePlace
from ttxdsl.insight.why.answers import Change
from ttxdsl.insight.why.places import spec_text
from ttxdsl.insight.why.trials.edits import Edit
from ttxdsl.ir.tensors import is_tensor, shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.shardy.split_dimensions import SharedDimensions, split_sharding
from ttxdsl.transforms.stages.inline import InlinePass

_HOW = """\
# the same numbers in the same order, w.reshape(…); products make and take the parts:
#   jnp.einsum("...i,ijk->...jk", x, w), jnp.einsum("...jk,jki->...i", x, w)"""


_ArgumentDim = tuple[int, int]
"""The number of an argument, and of one of its dimensions."""


class _Stored(NamedTuple):
    """Dimensions of arguments that become several together.

    Attributes:
        parts: the sizes that each becomes.
        part: the number of the one that gets its axes.
    """

    members: tuple[_ArgumentDim, ...]
    parts: tuple[int, ...]
    part: int


_Kind = tuple[tuple[int, ...], tuple[tuple[str, int], ...]]
"""The parts, and names without numbers with a dimension."""


def storages(module: ModuleOp) -> Iterator[Candidate]:
    """Yield candidates: all such arguments together, then those of each kind.

    Args:
        module: the program before stage 1; it is not changed.
    """
    if not _may_be_stored(module):
        return
    _, inlined = InlinePass().apply_to_clone(make_context(), module)
    function = entry_function(inlined)
    kinds = list(_kinds(inlined, function))
    first = [choices[0] for choices in kinds]
    if len(first) > 1:
        yield _candidate(inlined, function, [s for stored in first for s in stored])
    for choices in kinds:
        for stored in choices:
            yield _candidate(inlined, function, stored)


def _may_be_stored(module: ModuleOp) -> bool:
    """Return False at once for most programs: no reshape splits a size that is sharded."""
    function = entry_function(module)
    sharded = {
        size
        for argument, sharding in zip(
            function.body.block.args, sdy.func_argument_shardings(function), strict=True
        )
        if sharding is not None
        for size, dim in zip(shape_of(argument), sharding.dims, strict=True)
        if dim.axes
    }
    return any(
        size in sharded
        for op in ops_of_type(module, stablehlo.ReshapeOp)
        for before, after in [
            (Counter(shape_of(op.operand)), Counter(shape_of(op.result)))
        ]
        for size in (before - after) + (after - before)
    )


def _kinds(module: ModuleOp, function: FuncOp) -> Iterator[list[list[_Stored]]]:
    """Yield the ways to store arguments that are alike, as those of layers."""
    shared = SharedDimensions(module, function)
    alike: defaultdict[_Kind, list[tuple[_ArgumentDim, ...]]] = defaultdict(list)
    seen: set[_ArgumentDim] = set()
    for index, argument in enumerate(function.body.block.args):
        sharding = sdy.get_func_argument_sharding(function, index)
        for dim in range(len(shape_of(argument)) if is_tensor(argument) else 0):
            if (index, dim) in seen or sharding is None or not sharding.dims[dim].axes:
                continue
            if not (parts := shared.parts((argument, dim))):
                continue
            members = shared.arguments((argument, dim))
            seen.update(members)
            names = tuple(
                (without_numbers(argument_name(function, other)), at)
                for other, at in members
            )
            alike[parts, names].append(members)
    for (parts, _), groups in alike.items():
        choices = [
            [_Stored(members, parts, part) for members in groups]
            for part in range(1, len(parts))
            if all(_fits(module, function, m, parts, part) for m in groups)
        ]
        if choices:
            yield choices


def _fits(
    module: ModuleOp,
    function: FuncOp,
    members: Sequence[_ArgumentDim],
    parts: Sequence[int],
    part: int,
) -> bool:
    meshes = sdy.mesh_table(module)
    shardings = [
        (sdy.get_func_argument_sharding(function, index), dim) for index, dim in members
    ]
    return all(
        given is None or split_sharding(given, [dim], parts, part, meshes) is not None
        for given, dim in shardings
    )


def _candidate(
    module: ModuleOp, function: FuncOp, stored: Sequence[_Stored]
) -> Candidate:
    """Return a candidate of all that is to be stored otherwise."""
    starts: defaultdict[tuple[tuple[int, ...], int], list[_ArgumentDim]]
    starts = defaultdict(list)
    new: defaultdict[int, dict[int, _Stored]] = defaultdict(dict)
    for entry in stored:
        starts[entry.parts, entry.part] += entry.members
        for index, dim in entry.members:
            new[index][dim] = entry
    lines: list[str] = []
    places: list[SourcePlace] = []
    for index, dims in sorted(new.items()):
        places.append(SourcePlace.of_argument(function, index))
        described = _described(module, function, index, dims)
        lines.append(f'"{places[-1].name}": {described}')
    names = tuple(place.name for place in places)
    edits = tuple(
        Edit(
            Change("store argument", names[0], alike=names[1:]),
            index=part,
            arguments=tuple(index for index, _ in members),
            stored=parts,
            dims=tuple(dim for _, dim in members),
        )
        for (parts, part), members in starts.items()
    )
    targets = tuple(("argument", index) for index in new)
    write = "\n".join((*lines, _HOW))
    return Candidate("spelling", write, tuple(places), edits, targets)


def _described(
    module: ModuleOp, function: FuncOp, index: int, dims: Mapping[int, _Stored]
) -> str:
    """Return an argument's new shape and spec, with the old ones."""
    shape = list(shape_of(function.body.block.args[index]))
    old = f"{tuple(shape)}"
    sharding = sdy.get_func_argument_sharding(function, index)
    spec = "" if sharding is None else f", {spec_text(sharding)}"
    meshes = sdy.mesh_table(module)
    for dim in sorted(dims, reverse=True):
        parts, part = dims[dim].parts, dims[dim].part
        shape[dim : dim + 1] = parts
        if sharding is not None:
            sharding = split_sharding(sharding, [dim], parts, part, meshes)
    new = "" if sharding is None else f", {spec_text(sharding)}"
    return f"of shape {tuple(shape)}{new},  # was {old}{spec}"
