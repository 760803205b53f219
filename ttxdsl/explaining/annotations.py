"""The annotations of a program, and the program without one of them."""

from collections.abc import Iterator, Sequence

from xdsl.ir import BlockArgument

from ttxdsl.analysis.origins import unmarked
from ttxdsl.dialects import sdy
from ttxdsl.errors import source_position
from ttxdsl.explaining.answers import Change, Origin
from ttxdsl.explaining.edits import Edit
from ttxdsl.explaining.places import Places, sharding_text
from ttxdsl.explaining.recording import Recorded
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding


class Annotations:
    """What is written on arguments, results and in constraints of one program."""

    def __init__(self, recorded: Recorded, places: Places):
        self.recorded = recorded
        self.places = places
        function = places.names.entry
        self._function = function
        self._position = source_position(unmarked(function.location))

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
                yield f"result {index}", self._of_result(index)
        for op in self.recorded.original.walk():
            if isinstance(op, sdy.ShardingConstraintOp) and _names_axis(
                op.sharding.data, name
            ):
                called = self.places.names.name(op.result) or "on a value"
                yield f"constraint {called}", self.removal(op)
        for argument in reversed(self._function.body.block.args):
            edit = next(self.of_argument(argument.index, name), None)
            if edit is not None:
                yield self.places.argument(argument), edit

    def of_origin(self, origin: Origin, axis: str) -> Iterator[Edit]:
        """The program without what introduced an axis, then with something else there."""
        if origin.kind == "argument" and origin.index is not None:
            yield from self.of_argument(origin.index, axis)
        elif origin.kind == "result" and origin.index is not None:
            yield self._of_result(origin.index)
        elif origin.kind == "constraint":
            for op in self.recorded.original.walk():
                if not isinstance(op, sdy.ShardingConstraintOp):
                    continue
                if self.places.names.name(op.result) == origin.place.value:
                    yield self.removal(op)

    def _of_result(self, index: int) -> Edit:
        change = Change("annotate result", f"result {index}", None, self._position)
        return Edit(change, None, None, index)

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
            one
            for one in written.sharding_axes
            if str(one).replace('"', "") == axis or one.name == axis.partition(":")[0]
        ]
        if not gone:
            return
        dims = [_without(dim, gone) for dim in written.dims]
        yield from self._rewritten(argument, written.with_dims(dims))
        for dim, old in enumerate(written.dims):
            if any(one in gone for one in old.axes):
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
        name = self.places.names.name(argument) or f"argument {argument.index}"
        position = source_position(unmarked(argument.location)) or self._position
        change = Change("annotate argument", name, sharding_text(sharding), position)
        yield Edit(change, argument, sharding, argument.index)


def _names_axis(sharding: TensorSharding | None, name: str) -> bool:
    return sharding is not None and any(
        axis.name == name for axis in sharding.sharding_axes
    )


def _without(dim: DimSharding, gone: Sequence[AxisRef]) -> DimSharding:
    """A dimension without some axes."""
    return dim.with_axes(tuple(one for one in dim.axes if one not in gone))
