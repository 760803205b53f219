"""The annotations that two programs have otherwise: arguments, results, constraints.

They are what somebody wrote; `ttxdsl.insight.report.beside` tells what they cost.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.attribution.authored import BACKWARD, author_path
from ttxdsl.analysis.attribution.origins import unmarked
from ttxdsl.analysis.attribution.pytree_names import leaf_name
from ttxdsl.analysis.attribution.words import path_of
from ttxdsl.analysis.calls.function_attributes import entry_function, result_names
from ttxdsl.diagnostics.errors import (
    Frame,
    author_frames,
    line_text,
    place_text,
)
from ttxdsl.dialects import sdy
from ttxdsl.insight.why.causes.aligned import Line, line_of
from ttxdsl.insight.why.layers import annotations_text
from ttxdsl.insight.why.places import spec_text
from ttxdsl.ir.traversal import ops_of_type

_NOT_THERE = "none"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A place that is annotated, in the author's words, and its `PartitionSpec`."""

    where: str
    spec: str


@dataclass(frozen=True, slots=True)
class AnnotationChange:
    """An annotation that is another one in the second program.

    Attributes:
        where: of both, or of the one that has it.
        before: in the first, `none` if it is not there.
        after: the same in the second.
    """

    where: str
    before: str
    after: str


def rewritten(
    left: ModuleOp, right: ModuleOp, lines: Mapping[Line, Line]
) -> list[AnnotationChange]:
    """Return the annotations that differ; an argument of one program alone is none.

    Args:
        lines: which line of the one is which of the other, see `aligned_lines`.
    """
    before, after = _at_the_border(left), _at_the_border(right)
    pairs = [(before[key], after[key]) for key in before if key in after]
    pairs += _paired(_constraints(left, lines), _constraints(right, {}))
    alike: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for old, new in pairs:
        if old.spec != new.spec:
            alike[old.spec, new.spec].append(new.where)
    return [
        AnnotationChange(annotations_text(names), *specs)
        for specs, names in alike.items()
    ]


def _at_the_border(module: ModuleOp) -> dict[Hashable, Annotation]:
    """Return what is said of arguments and results, by their types and paths or numbers."""
    function = entry_function(module)
    known: dict[Hashable, Annotation] = {}
    types = function.function_type
    body = function.body
    names = [
        path_of(unmarked(argument.location))
        for argument in (body.block.args if body.blocks else ())
    ]
    shardings = sdy.func_argument_shardings(function)
    for index, (type_, sharding) in enumerate(
        zip(types.inputs.data, shardings, strict=True)
    ):
        path = names[index] if names else None
        name = leaf_name(path) if path else f"argument {index}"
        spec = _NOT_THERE if sharding is None else spec_text(sharding)
        known[name, type_] = Annotation(name, spec)
    results = result_names(function)
    for index, (type_, sharding) in enumerate(
        zip(types.outputs.data, sdy.func_result_shardings(function), strict=True)
    ):
        name = results[index] or f"result {index}"
        spec = _NOT_THERE if sharding is None else spec_text(sharding)
        known["returned", name, type_] = Annotation(f"returned {name}", spec)
    return known


@dataclass(frozen=True, slots=True)
class _Constraint:
    annotation: Annotation = field(compare=False)
    spec: str
    place: tuple[object, ...]
    """The line, as the second program has it, and the function that it is called from."""


def _constraints(module: ModuleOp, lines: Mapping[Line, Line]) -> list[_Constraint]:
    """Return the constraints of the forward pass, those of one line and caller once."""
    known: dict[tuple[str, ...], _Constraint] = {}
    for op in ops_of_type(module, sdy.ShardingConstraintOp):
        path = author_path(op.location)
        if path and path[0].name == BACKWARD:
            continue  # JAX has it there for the one of the forward pass
        frames = author_frames(unmarked(op.location))[:2]
        line = line_of(frames[0].position) if frames else None
        place = lines.get(line, line) if line else None, *(f.function for f in frames)
        spec = spec_text(op.sharding.data)
        annotation = Annotation(f"constraint at {_where(frames)}", spec)
        at = tuple(frame.position for frame in frames)
        known.setdefault(at, _Constraint(annotation, spec, place))
    return list(known.values())


def _paired(
    ours: Sequence[_Constraint], theirs: Sequence[_Constraint]
) -> Iterator[tuple[Annotation, Annotation]]:
    """Yield the constraints of two programs in order, those that only one has with none."""
    if (
        ours
        and theirs
        and len({any(own.place[1:]) for own in (ours[0], theirs[0])}) > 1
    ):
        return  # a text with lines of the source and one without have none in common
    for kind, a, until_a, b, until_b in SequenceMatcher(
        None, ours, theirs, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            continue
        rest = list(theirs[b:until_b])
        for own in ours[a:until_a]:
            twin = next((other for other in rest if other.place == own.place), None)
            if twin is not None:
                rest.remove(twin)
            yield own.annotation, twin.annotation if twin else _none(own)
        yield from ((_none(other), other.annotation) for other in rest)


def _none(constraint: _Constraint) -> Annotation:
    return Annotation(constraint.annotation.where, _NOT_THERE)


def _where(frames: Sequence[Frame]) -> str:
    """Return `line 8 of c from line 16 of mlp`."""
    return " from ".join(
        line_text(frame) if frame.function else place_text(frame.position)
        for frame in frames
    )
