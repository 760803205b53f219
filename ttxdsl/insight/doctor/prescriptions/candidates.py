"""Changes of a program that may make it cheaper, for its own mesh, the likely ones first.

A candidate is one thing to write in the source: a constraint on what a line makes, in all
layers alike, or another annotation of an argument with what has to change with it. None
is said to help here: `ttxdsl.insight.doctor.prescriptions.prescribe` compiles them.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from math import prod
from typing import Literal

from xdsl.dialects.builtin import ModuleOp, NameLoc
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ttxdsl.analysis.attribution.origins import unmarked
from ttxdsl.analysis.calls.function_attributes import argument_attributes
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.analysis.usage.memory import argument_name, type_bytes
from ttxdsl.analysis.values.state import DONATED, results_of_arguments
from ttxdsl.diagnostics.errors import source_frame
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.why.answers import Change
from ttxdsl.insight.why.causes.annotations import Annotations
from ttxdsl.insight.why.names import Names
from ttxdsl.insight.why.places import Places, sharding_text
from ttxdsl.insight.why.trials.compiling import compile_and_record
from ttxdsl.insight.why.trials.edits import Edit
from ttxdsl.insight.why.trials.recording import Recorded
from ttxdsl.ir.tensors import is_tensor, shape_of
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.pipeline import RESHARDS_STAGE, TTStableHLOPipelinePass

Kind = Literal["constraint", "argument", "donation"]

_SMALLEST_PART = 64
"""Values that are smaller than this part of the largest are not constrained."""
_NUMBER = re.compile(r"\d+")
_NOTHING_TO_HOLD = (
    sdy.ShardingConstraintOp,
    stablehlo.BroadcastInDimOp,
    stablehlo.ConstantOp,
    stablehlo.IotaOp,
    stablehlo.OptimizationBarrierOp,
)
"""Ops whose results are made anywhere for nothing, or that no line of a source makes."""
_DEPTH = 3
"""Of operands of operands by which ops without a line of a source are told apart."""
_RECOMPUTED = "rematted_computation"
_TRANSPOSED = "transpose("
"""In the scopes of ops of a backward pass, as JAX names them; the first of those that
compute forward values again."""


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """Where a prescription is written.

    Attributes:
        name: of a value or argument in the program.
        op: what makes the value; None for an argument.
        position: `file:line:column`, None if unknown.
        function: of the source that the position is in.
        count: how many values of the program the line makes.
    """

    name: str
    op: str | None = None
    position: str | None = None
    function: str | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change to try.

    Attributes:
        kind: of change.
        write: the code of it.
        places: where.
        edits: what is made to a copy of the program.
        target: what no two candidates of one answer may both change.
    """

    kind: Kind
    write: str
    places: tuple[SourcePlace, ...]
    edits: tuple[Edit, ...] = field(repr=False)
    target: tuple[object, ...] = field(repr=False)


@dataclass(slots=True)
class _Line:
    """The values of one type that one line of the source makes by one kind of op.

    Attributes:
        values: of the forward pass, one for each layer or call.
        cotangents: of these in a backward pass: JAX constrains them, too.
        score: the bytes that are sent for this line and those around it.
    """

    position: str | None
    function: str | None
    op: str
    values: list[OpResult] = field(default_factory=list[OpResult])
    cotangents: list[SSAValue] = field(default_factory=list[SSAValue])
    score: float = 0.0


def spec_text(sharding: TensorSharding) -> str:
    """Return a `PartitionSpec`: `P("data", None, P.UNCONSTRAINED)`."""
    parts: list[str] = []
    for dim in sharding.dims:
        names = [f'"{axis.name}"' for axis in dim.axes]
        if not names:
            parts.append("None" if dim.closed else "P.UNCONSTRAINED")
        else:
            parts.append(names[0] if len(names) == 1 else f"({', '.join(names)})")
    while parts and parts[-1] == "None":
        parts.pop()
    return f"P({', '.join(parts)})"


def _kind(value: SSAValue) -> str:
    return value.owner.name if isinstance(value.owner, Operation) else ""


def _scope(location: Attribute) -> str:
    location = unmarked(location)
    return location.desc.data if isinstance(location, NameLoc) else ""


class _BackwardPass:
    """The ops of a program that JAX made by transposing, not by recomputing."""

    def __init__(self, module: ModuleOp):
        self._calls: defaultdict[str, list[CallOp]] = defaultdict(list)
        self._functions: dict[str, bool] = {}
        for op in module.walk():
            if isinstance(op, CallOp):
                self._calls[op.callee.string_value()].append(op)

    def __contains__(self, op: Operation) -> bool:
        scope = _scope(op.location)
        if _RECOMPUTED in scope:
            return False
        if _TRANSPOSED in scope:
            return True
        parent = op.parent_op()
        while parent is not None and not isinstance(parent, FuncOp):
            parent = parent.parent_op()
        return parent is not None and self._is_transposed(parent.sym_name.data)

    def _is_transposed(self, function: str) -> bool:
        """Return True for a function that only a backward pass calls."""
        known = self._functions.get(function)
        if known is None:
            self._functions[function] = False  # of a call to itself
            calls = self._calls[function]
            known = bool(calls) and all(call in self for call in calls)
            self._functions[function] = known
        return known


def _is_manual(op: Operation) -> bool:
    """Return True inside of a manual computation, whose axes are its own."""
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, sdy.ManualComputationOp):
            return True
        parent = parent.parent_op()
    return False


class Candidates:
    """The candidates of one program.

    Args:
        module: the program before stage 1, on one mesh; it is not changed.
        text: what it was read from, for the names of values.
        source: what to call it.
        pipeline: options of the thirteen stages.

    Raises:
        CompileError: the program cannot be compiled.
    """

    def __init__(
        self,
        module: ModuleOp,
        text: str,
        source: str,
        pipeline: TTStableHLOPipelinePass,
        mesh: tuple[str, Mesh],
    ):
        self._module, self._pipeline = module, pipeline
        self._mesh_name, self._mesh = mesh
        self.recorded = compile_and_record(module, pipeline)
        self._names = Names(module, text, source)
        self._places = Places(self.recorded, self._names)
        self._annotations = Annotations(self.recorded, self._places)
        self._function: FuncOp = self._names.entry
        self._of_data = self._propagate_data()
        self._backward = _BackwardPass(module)
        self._source = source
        self._structures: dict[tuple[Operation, int], int] = {}
        self._positions: dict[Operation, tuple[str | None, str | None]] = {}

    # Lines of the source

    def _position(self, op: Operation) -> tuple[str | None, str | None]:
        known = self._positions.get(op)
        if known is None:
            frame = source_frame(unmarked(op.location))
            known = (frame.position, frame.function or None) if frame else (None, None)
            self._positions[op] = known
        return known

    def _line_of(self, op: Operation) -> object:
        """Return what ops of one line share.

        Without debug information, ops that are made alike from what is made alike stand
        for a line, as those of repeated layers.
        """
        position, function = self._position(op)
        if position is None or self._is_in_text(position):
            return self._structure(op, _DEPTH)
        return position.rpartition(":")[0], function

    def _is_in_text(self, position: str) -> bool:
        """Return True for a position in the program's text, not in its source."""
        file = position.rsplit(":", 2)[0]
        return file == self._source or file.startswith("<") or file.endswith(".mlir")

    def _structure(self, op: Operation, depth: int) -> object:
        """Return an op's kind and types, with those of what it reads and of its users."""
        key = op, depth
        if (known := self._structures.get(key)) is None:
            kinds = tuple((operand.type, _kind(operand)) for operand in op.operands)
            users = tuple(use.operation.name for r in op.results for use in r.uses)
            known = hash((op.name, tuple(r.type for r in op.results), kinds, users))
            if depth:
                deeper = tuple(
                    self._structure(operand.owner, depth - 1)
                    for operand in op.operands
                    if isinstance(operand.owner, Operation)
                )
                known = hash((known, deeper))
            self._structures[key] = known
        return known

    def lines(self) -> list[_Line]:
        """Return the lines whose values can be constrained, the costliest first."""
        sent: defaultdict[str, float] = defaultdict(float)
        for collective in list_collectives(self.recorded.compiled):
            if collective.position is not None:
                line = collective.position.rpartition(":")[0]
                sent[line] += collective.bytes_per_device
        lines: dict[object, _Line] = {}
        ops = [op for op in self._module.walk() if not _is_manual(op)]
        largest = max(
            (type_bytes(r.type, r) for op in ops for r in op.results if is_tensor(r)),
            default=0,
        )
        consumed: defaultdict[object, dict[SSAValue, None]] = defaultdict(dict)
        for op in ops:
            if op not in self._backward:
                continue
            line = self._line_of(op)
            for operand in op.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and (
                    owner not in self._backward or self._line_of(owner) == line
                ):
                    continue
                consumed[line, operand.type][operand] = None
        for op in ops:
            if op in self._backward:
                continue
            for result in op.results:
                if self._can_be_constrained(result, largest):
                    line = self._line_of(op)
                    key = line, op.name, result.type
                    position, function = self._position(op)
                    entry = lines.setdefault(key, _Line(position, function, op.name))
                    entry.values.append(result)
                    entry.cotangents = list(consumed.get((line, result.type), ()))
        for line in lines.values():
            around = {self._position(line.values[0].op)[0]}
            for value in line.values:
                around |= {self._position(use.operation)[0] for use in value.uses}
                around |= {
                    self._position(operand.owner)[0]
                    for operand in value.op.operands
                    if isinstance(operand.owner, Operation)
                }
            near = {p.rpartition(":")[0] for p in around if p is not None}
            line.score = sum(sent[one] for one in near)
        return sorted(lines.values(), key=lambda line: -line.score)

    def _can_be_constrained(self, result: OpResult, largest: int) -> bool:
        """Return True for a large value that another line reads."""
        op = result.op
        if (
            not is_tensor(result)
            or not shape_of(result)
            or isinstance(op, _NOTHING_TO_HOLD)
            or (isinstance(op, CallOp) and result.index)  # what JAX saves beside it
        ):
            return False
        if type_bytes(result.type, result) * _SMALLEST_PART < largest:
            return False
        users = [use.operation for use in result.uses]
        if any(isinstance(user, sdy.ShardingConstraintOp) for user in users):
            return False  # its author decided
        mine = self._line_of(op)
        return any(self._line_of(user) != mine for user in users)

    # Shardings

    def _propagate_data(self) -> dict[SSAValue, TensorSharding]:
        """Return how values are split if only the arguments that are no state are.

        That is what data parallelism alone gives: in it parameters fight with nothing.
        """
        state = results_of_arguments(self._function)
        mapped: dict[SSAValue, SSAValue] = {}
        copy = self._module.clone(mapped)
        function = next(
            op
            for old, op in zip(self._module.ops, copy.ops, strict=True)
            if old is self._function and isinstance(op, FuncOp)
        )
        arguments = len(function.function_type.inputs.data)
        data = 0
        for index in range(arguments):
            sharding = sdy.get_func_argument_sharding(function, index)
            if index in state:
                sdy.set_func_argument_sharding(function, index, None)
            elif sharding is not None and any(dim.axes for dim in sharding.dims):
                data += 1
        if not data or not state:
            return {}
        for index in range(len(function.function_type.outputs.data)):
            sdy.set_func_result_sharding(function, index, None)
        recorded = compile_and_record(copy, self._pipeline, last_stage=RESHARDS_STAGE)
        return {
            value: sharding
            for value, twin in mapped.items()
            if (sharding := _propagated(recorded, twin)) is not None
        }

    def _dims(self, value: SSAValue, recorded: Recorded) -> list[list[AxisRef]]:
        sharding = _propagated(recorded, value)
        rank = len(shape_of(value))
        return [list(d.axes) for d in sharding.dims] if sharding else [[]] * rank

    def _sharding(
        self, dims: Sequence[Sequence[AxisRef]], *, open_: bool = False
    ) -> TensorSharding:
        return TensorSharding(
            self._mesh_name,
            tuple(DimSharding(tuple(d), closed=bool(d) or not open_) for d in dims),
        )

    def _fits(self, shape: Sequence[int], sharding: TensorSharding) -> bool:
        sizes = dict(self._mesh.axes)
        names = [axis.name for dim in sharding.dims for axis in dim.axes]
        return (
            len(names) == len(set(names))
            and all(
                size % prod(sizes[axis.name] for axis in dim.axes) == 0
                for size, dim in zip(shape, sharding.dims, strict=True)
            )
            and all(axis.is_full for dim in sharding.dims for axis in dim.axes)
        )

    def _variants(self, value: SSAValue) -> Iterator[TensorSharding]:
        """Yield shardings to try for a value: of its batch, then near what it has."""
        shape = shape_of(value)
        given = self._of_data.get(value)
        axes = [AxisRef(name) for name, _ in self._axes()]
        own = self._dims(value, self.recorded)
        batch = [list(dim.axes) for dim in given.dims] if given else None
        if batch is not None and any(batch):
            yield self._sharding(batch)
            yield self._sharding(batch, open_=True)
            yield from self._with_one_more(batch, axes, shape)
        for at, dim in enumerate(own):
            for axis in dim:
                rest = [[a for a in d if a != axis] for d in own]
                yield self._sharding(rest)
                for other in range(len(shape)):
                    if other != at:
                        moved = [[*d] for d in rest]
                        moved[other].append(axis)
                        yield self._sharding(moved)
        yield from self._with_one_more(own, axes, shape)

    def _with_one_more(
        self,
        dims: Sequence[Sequence[AxisRef]],
        axes: Sequence[AxisRef],
        shape: Sequence[int],
    ) -> Iterator[TensorSharding]:
        used = {axis.name for dim in dims for axis in dim}
        for axis in axes:
            if axis.name not in used:
                for at in sorted(range(len(shape)), key=lambda at: -shape[at]):
                    more = [[*dim] for dim in dims]
                    more[at].append(axis)
                    yield self._sharding(more)

    # Candidates

    def all(self) -> Iterator[Candidate]:
        """Yield all candidates, of each kind by turns, the likely ones first."""
        yield from self.donations()
        known: set[tuple[str, tuple[SourcePlace, ...]]] = set()
        for pair in zip_longest(self.constraints(), self.arguments()):
            for candidate in pair:
                if candidate is None or (candidate.write, candidate.places) in known:
                    continue
                known.add((candidate.write, candidate.places))
                yield candidate

    def constraints(self) -> Iterator[Candidate]:
        """Yield constraints: for each line the first variant, then the second, …"""
        rows = [list(self._constraints_of(line)) for line in self.lines()]
        for column in zip_longest(*rows):
            yield from (one for one in column if one is not None)

    def _constraints_of(self, line: _Line) -> Iterator[Candidate]:
        first = line.values[0]
        shape = shape_of(first)
        place = SourcePlace(
            self._names.name(first) or "a value",
            *(line.op, line.position, line.function, len(line.values)),
        )
        places = (place,)
        if isinstance(self._line_of(first.op), int):  # each is a line of its own
            places = tuple(
                SourcePlace(
                    self._names.name(value) or "a value",
                    line.op,
                    *self._position(value.op),
                )
                for value in line.values
            )
        values = list(dict.fromkeys([*line.values, *line.cotangents]))
        own = self._dims(first, self.recorded)
        for sharding in dict.fromkeys(self._variants(first)):
            if not self._fits(shape, sharding):
                continue
            if [list(dim.axes) for dim in sharding.dims] == own:
                continue  # propagation gives it that
            text = sharding_text(sharding)
            edits = tuple(
                Edit(
                    Change("constrain", place.name, text, line.position),
                    value,
                    sharding,
                )
                for value in values
            )
            write = f"x = jax.lax.with_sharding_constraint(x, {spec_text(sharding)})"
            yield Candidate("constraint", write, places, edits, tuple(values))

    def donations(self) -> Iterator[Candidate]:
        """Yield the donation of all state that is not donated."""
        function = self._function
        entries = argument_attributes(function)
        state = [
            index
            for index in results_of_arguments(function)
            if not any(name in entries[index] for name in DONATED)
        ]
        if not state:
            return
        names = [argument_name(function, index) for index in state]
        roots = dict.fromkeys(re.split(r"[\[.]", name)[0] for name in names)
        written = ", ".join(f'"{root}"' for root in roots)
        edit = Edit(
            Change("donate argument", names[0], alike=tuple(names[1:])),
            arguments=tuple(state),
        )
        yield Candidate(
            "donation",
            f"jax.jit(…, donate_argnames=({written}{',' if len(roots) == 1 else ''}))",
            tuple(map(SourcePlace, names)),
            (edit,),
            ("donation",),
        )

    def arguments(self) -> Iterator[Candidate]:
        """Yield other annotations of arguments: of all state, of the batch, of each."""
        function = self._function
        becomes = results_of_arguments(function)
        optimizer = {
            other
            for index in becomes
            for other in self._annotations.optimizer_state(index)
            if index not in self._annotations.optimizer_state(other)
        }
        split = [index for index in becomes if self._argument_shape(index)]
        batch = [
            index
            for index in range(len(function.function_type.inputs.data))
            if becomes and index not in becomes and self._argument_shape(index)
        ]
        for axis, _ in self._axes():
            for chosen in (split, [index for index in split if index in optimizer]):
                yield from self._together(
                    {index: self._along_largest(index, axis) for index in chosen}
                )
            for dim in (0, 1):
                yield from self._together(
                    {index: self._along(index, axis, dim) for index in batch}
                )
        groups: defaultdict[object, list[int]] = defaultdict(list)
        for index in range(len(function.function_type.inputs.data)):
            if self._argument_shape(index):
                name = _NUMBER.sub("*", argument_name(function, index))
                given = sdy.get_func_argument_sharding(function, index)
                groups[name, function.function_type.inputs.data[index], given].append(
                    index
                )
        sizes = [
            type_bytes(argument.type, argument) for argument in function.body.block.args
        ]
        largest = sorted(groups.values(), key=lambda g: -sum(sizes[at] for at in g))
        rows = [
            list(self._arguments_of(group))
            for group in largest
            if group[0] not in optimizer  # that changes with its parameter
        ]
        for column in zip_longest(*rows):
            yield from (one for one in column if one is not None)

    def _arguments_of(self, group: Sequence[int]) -> Iterator[Candidate]:
        """Yield other annotations of arguments that are alike, as those of layers."""
        members = dict.fromkeys(group)
        for index in group:
            members |= dict.fromkeys(self._annotations.optimizer_state(index))
        for dims in self._near(group[0]):
            yield from self._together(dict.fromkeys(members, dims))

    def _axes(self) -> list[tuple[str, int]]:
        return [(name, size) for name, size in self._mesh.axes if size > 1]

    def _argument_shape(self, index: int) -> tuple[int, ...]:
        return shape_of(self._function.body.block.args[index])

    def _argument_dims(self, index: int) -> list[list[AxisRef]]:
        given = sdy.get_func_argument_sharding(self._function, index)
        if given is None:
            return [[] for _ in self._argument_shape(index)]
        return [list(dim.axes) for dim in given.dims]

    def _along(self, index: int, axis: str, dim: int) -> list[list[AxisRef]] | None:
        """Return the axes of an argument with one more on a dimension, if it fits."""
        dims = self._argument_dims(index)
        if dim >= len(dims) or any(a.name == axis for d in dims for a in d):
            return None
        dims[dim].append(AxisRef(axis))
        fits = self._fits(self._argument_shape(index), self._sharding(dims))
        return dims if fits else None

    def _along_largest(self, index: int, axis: str) -> list[list[AxisRef]] | None:
        """The same on the largest dimension that the axis divides, whole ones first."""
        shape, dims = self._argument_shape(index), self._argument_dims(index)
        order = sorted(range(len(shape)), key=lambda at: (len(dims[at]), -shape[at]))
        fitting = (self._along(index, axis, dim) for dim in order)
        return next((one for one in fitting if one is not None), None)

    def _near(self, index: int) -> Iterator[list[list[AxisRef]]]:
        """Yield an argument's axes with one taken away, moved, or added."""
        dims = self._argument_dims(index)
        for at, dim in enumerate(dims):
            for axis in dim:
                rest = [[a for a in d if a != axis] for d in dims]
                yield rest
                for other in range(len(dims)):
                    if other != at:
                        moved = [[*d] for d in rest]
                        moved[other].append(axis)
                        yield moved
        for axis, _ in self._axes():
            for dim in range(len(dims)):
                if (more := self._along(index, axis, dim)) is not None:
                    yield more

    def _together(
        self, chosen: Mapping[int, list[list[AxisRef]] | None]
    ) -> Iterator[Candidate]:
        """Yield one candidate of annotations of several arguments."""
        lines: list[str] = []
        places: list[SourcePlace] = []
        edits: list[Edit] = []
        for index, dims in chosen.items():
            if dims is None:
                continue
            sharding = self._sharding(dims)
            if not self._fits(self._argument_shape(index), sharding):
                return
            argument = self._function.body.block.args[index]
            name = argument_name(self._function, index)
            frame = source_frame(unmarked(argument.location))
            places.append(SourcePlace(name, None, frame.position if frame else None))
            edits.append(next(self._annotations.annotated(index, sharding)))
            old = spec_text(self._sharding(self._argument_dims(index)))
            lines.append(f'"{name}": {spec_text(sharding)},  # was {old}')
        if edits:
            targets = tuple(("argument", edit.index) for edit in edits)
            yield Candidate(
                "argument", "\n".join(lines), tuple(places), tuple(edits), targets
            )


def _propagated(recorded: Recorded, value: SSAValue) -> TensorSharding | None:
    """Return how the first copy of a value is split after propagation."""
    copies = recorded.copies(value)
    return recorded.evened(copies[0]) if copies else None
