"""The annotations of a program, and the program without one of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument

from ttxdsl.analysis.attribution.origins import unmarked
from ttxdsl.analysis.calls.function_attributes import result_names
from ttxdsl.analysis.values.state import results_of_arguments
from ttxdsl.analysis.values.value_flow import ValueFlow, bits
from ttxdsl.diagnostics.errors import line_text, source_frame, source_position
from ttxdsl.dialects import sdy
from ttxdsl.insight.why.answers import Change, Origin
from ttxdsl.insight.why.places import Places, sharding_text
from ttxdsl.insight.why.trials.edits import Edit
from ttxdsl.insight.why.trials.recording import Recorded
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import all_ops
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding


class Annotations:
    """The annotations on arguments and results and the constraints of one program."""

    def __init__(self, recorded: Recorded, places: Places):
        self.recorded = recorded
        self.places = places
        function = places.names.entry
        self._function = function
        self._position = source_position(unmarked(function.location))
        becomes = results_of_arguments(function)
        self._becomes = {
            argument: result
            for argument, result in becomes.items()
            if self._are_alike(argument, result)
        }
        self._was = {result: argument for argument, result in self._becomes.items()}

    def _are_alike(self, argument: int, result: int) -> bool:
        """Whether nothing says that a result lies otherwise than the argument did."""
        mine = sdy.get_func_argument_sharding(self._function, argument)
        theirs = sdy.get_func_result_sharding(self._function, result)
        return theirs is None or (mine is not None and mine.same_layout(theirs))

    def annotated(self, index: int, sharding: TensorSharding) -> Iterator[Edit]:
        """An argument with another annotation, and what has to have the same.

        That is the result that it becomes; then its optimizer state, too.
        """
        yield self._annotated(index, sharding, ())
        if others := self.optimizer_state(index):
            yield self._annotated(index, sharding, others)

    def _annotated(
        self, index: int, sharding: TensorSharding, others: tuple[int, ...]
    ) -> Edit:
        arguments = self._function.body.block.args
        indices = (index, *others)
        name, *more = (
            self.places.names.name(arguments[at]) or f"argument {at}" for at in indices
        )
        results = tuple(
            self._becomes[at] for at in (index, *others) if at in self._becomes
        )
        position = source_position(unmarked(arguments[index].location))
        change = Change(
            "annotate argument",
            name,
            sharding_text(sharding),
            position or self._position,
            alike=(*more, *(f"result {result}" for result in results)),
            called=(
                *(self.places.argument(arguments[at]) for at in indices),
                *map(self._result_name, results),
            ),
        )
        return Edit(
            change,
            arguments[index],
            sharding,
            index,
            arguments=others,
            results=results,
        )

    def _result_name(self, index: int) -> str:
        return result_names(self._function)[index] or f"result {index}"

    def optimizer_state(self, index: int) -> tuple[int, ...]:
        """Other arguments that the new value of one is computed from, split alike."""
        result = self._becomes.get(index)
        if result is None:
            return ()
        types = self._function.function_type.inputs.data
        mine = sdy.get_func_argument_sharding(self._function, index)
        return tuple(
            other
            for other in bits(self._flow.updated(result))
            if other != index
            and other in self._becomes
            and types[other] == types[index]
            and mine == sdy.get_func_argument_sharding(self._function, other)
        )

    @cached_property
    def _flow(self) -> ValueFlow:
        """Of the compiled program, which has no calls."""
        name = self._function.sym_name
        return next(
            ValueFlow(op)
            for op in self.recorded.compiled.ops
            if isinstance(op, FuncOp) and op.sym_name == name
        )

    def annotated_result(
        self, index: int, sharding: TensorSharding | None
    ) -> Iterator[Edit]:
        """A result with another annotation, or none.

        One that an argument becomes has an annotation with that.
        """
        if index not in self._was:
            text = sharding_text(sharding)
            change = Change(
                *("annotate result", f"result {index}", text, self._position),
                called=(self._result_name(index),),
            )
            yield Edit(change, None, sharding, index)
        elif sharding is not None:
            yield from self.annotated(self._was[index], sharding)

    def mesh(self, sharding: TensorSharding) -> Mesh | None:
        """The mesh of a sharding of the program."""
        if isinstance(sharding.mesh, Mesh):
            return sharding.mesh
        return sdy.mesh_table(self.recorded.original).get(sharding.mesh)

    def with_axis(self, name: str) -> Iterator[tuple[str, Edit]]:
        """All that name an axis, and the change that takes it away; inputs come last."""
        for index in range(len(self._function.function_type.outputs.data)):
            sharding = sdy.get_func_result_sharding(self._function, index)
            if _names_axis(sharding, name):
                for edit in self.annotated_result(index, None):
                    yield self._result_name(index), edit
        for op in all_ops(self.recorded.original):
            if isinstance(op, sdy.ShardingConstraintOp) and _names_axis(
                op.sharding.data, name
            ):
                frame = source_frame(op.location)
                called = self.places.names.name(op.result) or "on a value"
                if frame is not None and frame.function:
                    called = f"at {line_text(frame)}"
                known = self.places.op(op).words
                yield known or f"constraint {called}", self.removal(op)
        for argument in reversed(self._function.body.block.args):
            edit = next(self.of_argument(argument.index, name), None)
            if edit is not None:
                yield self.places.argument(argument), edit

    def together(self, edits: Sequence[Edit]) -> list[Edit]:
        """Changes that each take axes away, so that they can be made to one copy.

        Of an argument that loses several axes each change has all of them: the last one
        would write the others' axes again.
        """
        gone: dict[int, set[AxisRef]] = {}
        for edit in edits:
            for index in self._annotated_by(edit):
                written = sdy.get_func_argument_sharding(self._function, index)
                if written is not None and edit.sharding is not None:
                    kept = {*edit.sharding.sharding_axes}
                    axes = {axis for axis in written.sharding_axes if axis not in kept}
                    gone.setdefault(index, set()).update(axes)
        merged: list[Edit] = []
        for edit in edits:
            axes = {
                axis for at in self._annotated_by(edit) for axis in gone.get(at, ())
            }
            if axes and (sharding := edit.sharding) is not None:
                dims = [_without(dim, [*axes]) for dim in sharding.dims]
                edit = replace(edit, sharding=sharding.with_dims(dims))
            merged.append(edit)
        return merged

    def _annotated_by(self, edit: Edit) -> tuple[int, ...]:
        """Return the arguments that a change annotates."""
        if edit.change.kind != "annotate argument" or edit.index is None:
            return ()
        return edit.index, *edit.arguments

    def of_origin(self, origin: Origin, axis: str) -> Iterator[Edit]:
        """The program without what introduced an axis, then with something else there."""
        if origin.kind == "argument" and origin.index is not None:
            yield from self.of_argument(origin.index, axis)
        elif origin.kind == "result" and origin.index is not None:
            if origin.index in self._was:
                yield from self.of_argument(self._was[origin.index], axis)
            else:
                yield from self.annotated_result(origin.index, None)
        elif origin.kind == "constraint":
            for op in all_ops(self.recorded.original):
                if not isinstance(op, sdy.ShardingConstraintOp):
                    continue
                if self.places.names.name(op.result) == origin.place.value:
                    yield self.removal(op)

    def removal(self, constraint: sdy.ShardingConstraintOp) -> Edit:
        """The program without a constraint."""
        name = self.places.names.name(constraint.result) or "on the value"
        position = source_position(unmarked(constraint.location))
        change = Change("remove constraint", name, None, position)
        return Edit(change, constraint.result)

    def of_argument(self, index: int, axis: str) -> Iterator[Edit]:
        """An argument without an axis, then with it on another dimension."""
        argument = self._function.body.block.args[index]
        written = sdy.get_func_argument_sharding(self._function, index)
        if written is None:
            return
        gone = [
            other_axis
            for other_axis in written.sharding_axes
            if str(other_axis).replace('"', "") == axis
            or other_axis.name == axis.partition(":")[0]
        ]
        if not gone:
            return
        dims = [_without(dim, gone) for dim in written.dims]
        yield from self._rewritten(argument, written.with_dims(dims))
        for dim, old in enumerate(written.dims):
            if any(other_axis in gone for other_axis in old.axes):
                continue
            moved = dims[dim].with_axes((*dims[dim].axes, *gone))
            yield from self._rewritten(
                argument, written.with_dims([*dims[:dim], moved, *dims[dim + 1 :]])
            )

    def _rewritten(
        self, argument: BlockArgument, sharding: TensorSharding
    ) -> Iterator[Edit]:
        """An argument with another annotation, if its sizes allow it."""
        mesh = self.mesh(sharding)
        sizes = zip(shape_of(argument), sharding.dims, strict=True)
        if mesh is None or any(size % dim.sharded_size(mesh) for size, dim in sizes):
            return
        yield from self.annotated(argument.index, sharding)


def _names_axis(sharding: TensorSharding | None, name: str) -> bool:
    return sharding is not None and any(
        axis.name == name for axis in sharding.sharding_axes
    )


def _without(dim: DimSharding, gone: Sequence[AxisRef]) -> DimSharding:
    """A dimension without some axes."""
    return dim.with_axes(tuple(axis for axis in dim.axes if axis not in gone))
