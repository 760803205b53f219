"""Changes of a program that may make it cheaper on its own mesh, likely ones first.

A candidate is an edit of the source: a constraint on the values of a line, in all
layers alike; another annotation of an argument, with the changes that follow; or
another mesh of the same devices. `ttxdsl.insight.doctor.prescriptions.prescribe`
compiles them to see which help.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product, zip_longest
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import OpResult, SSAValue

from ttxdsl.analysis.calls.function_attributes import argument_attributes
from ttxdsl.analysis.graph_state import is_solved
from ttxdsl.analysis.usage.memory import argument_name, type_bytes
from ttxdsl.analysis.values.state import DONATED, results_of_arguments
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.dialects import sdy
from ttxdsl.insight.doctor.prescriptions.candidates.changes import (
    CONSTRAINT_CODE,
    Candidate,
    without_numbers,
)
from ttxdsl.insight.doctor.prescriptions.candidates.layouts import (
    layouts,
    links_differ,
)
from ttxdsl.insight.doctor.prescriptions.candidates.lines import (
    Line,
    Lines,
    SourcePlace,
)
from ttxdsl.insight.doctor.prescriptions.candidates.loops import gathered_before_loops
from ttxdsl.insight.doctor.prescriptions.candidates.storage import storages
from ttxdsl.insight.why.answers import Change
from ttxdsl.insight.why.causes.annotations import Annotations
from ttxdsl.insight.why.names import Names
from ttxdsl.insight.why.places import Places, sharding_text, spec_text
from ttxdsl.insight.why.trials.compiling import compile_and_record
from ttxdsl.insight.why.trials.edits import Edit
from ttxdsl.insight.why.trials.recording import Recorded
from ttxdsl.insight.why.trials.spellings import holds, spelling_code, split_by
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.pipeline import RESHARDS_STAGE, TTStableHLOPipelinePass


class Candidates:
    """The candidates of one program.

    Args:
        module: the program before stage 1, on one mesh; it is not changed.
        keep: whether the mesh and all shardings that are written stay.

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
        machine: Machine = GENERIC,
        *,
        keep: bool = False,
    ):
        self._module, self._pipeline = module, pipeline
        self._mesh_name, self._mesh = mesh
        self._machine, self._keep = machine, keep
        self.recorded = compile_and_record(module, pipeline)
        self._names = Names(module, text, source)
        self._places = Places(self.recorded, self._names)
        self._annotations = Annotations(self.recorded, self._places)
        self._function: FuncOp = self._names.entry
        self._of_data = self._propagate_data()
        self._lines = Lines(module, source, self.recorded.compiled, self._names)

    # Shardings

    def _propagate_data(self) -> dict[SSAValue, TensorSharding]:
        """Return the shardings if only the arguments that are not state are sharded.

        That is data parallelism without conflicts from parameters.
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
        if self._machine.axes or links_differ(self._machine, self._mesh):
            yield from self._exchanged(own, axes)
        yield from map(self._sharding, _with_one_elsewhere(own))
        yield from self._with_one_more(own, axes, shape)
        yield from self._exchanged(own, axes)

    def _exchanged(
        self, dims: Sequence[Sequence[AxisRef]], axes: Sequence[AxisRef]
    ) -> Iterator[TensorSharding]:
        """Yield shardings with another axis in an axis's place.

        Where two fight for a dimension propagation takes one; the other may send less, or
        along a faster link.
        """
        used = [axis for dim in dims for axis in dim]
        for old, new in product(used, (axis for axis in axes if axis not in used)):
            yield self._sharding(
                [[new if axis == old else axis for axis in dim] for dim in dims]
            )

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
        own = self._module, self._mesh_name, self._mesh, self._machine
        meshes = iter(()) if self._keep else layouts(*own)
        kinds = [meshes]
        if not is_solved(self._module):  # else what is inside is not ours to change
            kinds = [self.constraints(), self.arguments(), meshes]
            kinds += [self.spellings(), self.storage(), self.loops()]
        for turn in zip_longest(*kinds):
            for candidate in turn:
                if candidate is None or (candidate.write, candidate.places) in known:
                    continue
                known.add((candidate.write, candidate.places))
                yield candidate

    def constraints(self) -> Iterator[Candidate]:
        """Yield constraints: of all lines, for each the first variant, the second, …"""
        lines = self._lines.costliest_first()
        yield from self._constraints_everywhere(lines)
        alike: defaultdict[object, list[Line]] = defaultdict(list)
        for line in lines:
            alike[line.alike].append(line)
        groups: list[list[Line]] = []
        for line in lines:
            if len(group := alike.pop(line.alike, [])) > 1:
                groups.append(group)
            groups.append([line])
        rows = [list(self._constraints_of(group)) for group in groups]
        for column in zip_longest(*rows):
            yield from (candidate for candidate in column if candidate is not None)

    def _constraints_everywhere(self, lines: Sequence[Line]) -> Iterator[Candidate]:
        """Yield one constraint of all that the batch alone would split like that.

        Experts hold the values of every layer; where weights win at each line, holding one
        of them moves the loss to the next.
        """
        alike: defaultdict[str, list[tuple[Line, TensorSharding]]] = defaultdict(list)
        for line in lines:
            given = self._of_data.get(line.values[0])
            if given is None or not any(dim.axes for dim in given.dims):
                continue
            sharding = self._sharding([dim.axes for dim in given.dims])
            if self._fits(shape_of(line.values[0]), sharding):
                alike[spec_text(sharding)].append((line, sharding))
        for held in alike.values():
            if len(held) > 1:
                yield self._constraint(held)

    def _constraint(self, held: Sequence[tuple[Line, TensorSharding]]) -> Candidate:
        """Return a constraint on the values of lines, which all have the same spec."""
        shardings: dict[SSAValue, TensorSharding] = {}
        results: list[OpResult] = []
        for line, sharding in held:
            results += line.values
            for value in (*line.values, *line.cotangents):
                shardings.setdefault(value, sharding)
        places = self._lines.places(results)
        edits = tuple(
            Edit(
                Change(
                    "constrain",
                    *(places[0].name, sharding_text(sharding), places[0].position),
                ),
                value,
                sharding,
            )
            for value, sharding in shardings.items()
        )
        write = f"{CONSTRAINT_CODE}{spec_text(held[0][1])})"
        match self._lines.shapes_to_tell(results):
            case []:
                pass
            case [shape]:
                write += f" if x.shape == {shape} else x"
            case shapes:
                write += f" if x.shape in {shapes} else x"
        return Candidate("constraint", write, places, edits, tuple(shardings))

    def _constraints_of(self, lines: Sequence[Line]) -> Iterator[Candidate]:
        """Yield constraints on lines that are held alike, by what the first may be."""
        values = [line.values[0] for line in lines]
        own = [self._dims(value, self.recorded) for value in values]
        for sharding in dict.fromkeys(self._variants(values[0])):
            if not all(self._fits(shape_of(value), sharding) for value in values):
                continue
            if all([list(dim.axes) for dim in sharding.dims] == dims for dims in own):
                continue  # propagation chose that sharding
            yield self._constraint([(line, sharding) for line in lines])

    def spellings(self) -> Iterator[Candidate]:
        """Yield other spellings of ops, of those of one line together."""
        for (_, spelling), ops in self._lines.respelled().items():
            sharding = None
            if (split := split_by(ops[0])) is not None:
                sharding = self._sharding(self._dims(split, self.recorded))
                if not self._fits(shape_of(split), sharding):
                    continue
                ops = [op for op in ops if holds(op, sharding)]
            if not ops:
                continue
            results = [op.results[0] for op in ops]
            users = [use.operation for result in results for use in result.uses]
            parts = [result for user in users for result in user.results[:1]]
            inside = [value for op in ops for o in op.walk() for value in o.results]
            places = self._lines.places(results)
            change = Change("respell", places[0].name)
            edits = tuple(
                Edit(change, value, sharding, spelling=spelling) for value in results
            )
            write = spelling_code(ops[0], sharding)
            yield Candidate("spelling", write, places, edits, (*inside, *parts))

    def loops(self) -> Iterator[Candidate]:
        """Yield state that is gathered before loops, along each axis."""
        state = results_of_arguments(self._function)
        axes = [name for name, _ in self._axes()]
        yield from gathered_before_loops(self._function, state, axes)

    def storage(self) -> Iterator[Candidate]:
        """Yield arguments stored with the dimensions that reshapes make of products."""
        if not self._keep:
            yield from storages(self._module)

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
                name = without_numbers(argument_name(function, index))
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
            yield from (candidate for candidate in column if candidate is not None)

    def _arguments_of(self, group: Sequence[int]) -> Iterator[Candidate]:
        """Yield other annotations of arguments that are alike, as those of layers."""
        members = dict.fromkeys(group)
        for index in group:
            members |= dict.fromkeys(self._annotations.optimizer_state(index))
        for dims in self._near(group[0]):
            yield from self._together(dict.fromkeys(members, dims))

    def _is_written(self, index: int) -> bool:
        return sdy.get_func_argument_sharding(self._function, index) is not None

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
        return next((candidate for candidate in fitting if candidate is not None), None)

    def _near(self, index: int) -> Iterator[list[list[AxisRef]]]:
        """Yield an argument's axes with one taken away, moved, or added."""
        dims = self._argument_dims(index)
        yield from _with_one_elsewhere(dims)
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
            if self._keep and self._is_written(index):
                if len(chosen) > 1:
                    continue
                return
            sharding = self._sharding(dims)
            if not self._fits(self._argument_shape(index), sharding):
                return
            places.append(SourcePlace.of_argument(self._function, index))
            edits.append(next(self._annotations.annotated(index, sharding)))
            old = spec_text(self._sharding(self._argument_dims(index)))
            name = places[-1].name
            lines.append(f'"{name}": {spec_text(sharding)},  # was {old}')
        if edits:
            targets = tuple(("argument", edit.index) for edit in edits)
            yield Candidate(
                "argument", "\n".join(lines), tuple(places), tuple(edits), targets
            )


def _with_one_elsewhere(dims: list[list[AxisRef]]) -> Iterator[list[list[AxisRef]]]:
    """Yield the axes of dimensions with one taken away, then moved."""
    for at, dim in enumerate(dims):
        for axis in dim:
            rest = [[a for a in d if a != axis] for d in dims]
            yield rest
            for other in range(len(dims)):
                if other != at:
                    moved = [[*d] for d in rest]
                    moved[other].append(axis)
                    yield moved


def _propagated(recorded: Recorded, value: SSAValue) -> TensorSharding | None:
    """Return how the first copy of a value is split after propagation."""
    copies = recorded.copies(value)
    return recorded.evened(copies[0]) if copies else None
