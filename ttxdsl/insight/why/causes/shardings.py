"""The whole answer about one value: each dimension, what splits it, and what does not."""

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.insight.why.answers import Dimension, Obstacle, WhySharding
from ttxdsl.insight.why.causes.chains import Chains
from ttxdsl.insight.why.causes.obstacles import Obstacles
from ttxdsl.insight.why.places import Places, axis_text, sharding_text
from ttxdsl.insight.why.trials.recording import Recorded
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.axes import parts_of_axes
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass


class Shardings:
    """Answers about values of one compiled program."""

    def __init__(self, recorded: Recorded, places: Places):
        self.recorded = recorded
        self.places = places
        self.chains = Chains(recorded, places)
        self.obstacles = Obstacles(recorded, self.chains)

    def of(self, value: SSAValue) -> WhySharding:
        """Why a value of the program that was given is sharded as it is.

        Raises:
            CompileError: propagation did not run, or the value was not there any more.
        """
        name = self.places.names.name(value) or "the value"
        if self.recorded.skipped:
            raise CompileError(
                f"{name} has no sharding to explain: the program came partitioned,"
                " stages 5 to 12 had nothing to do",
                value,
                hint="ask for its collectives, or explain the program before that",
            )
        copies = [
            copy
            for copy in self.recorded.copies(value)
            if copy in self.recorded.holders
        ]
        if not copies:
            raise CompileError(
                f"{name} is not there any more when shardings are decided",
                value,
                hint="nothing uses it, or it is an argument of a function that was"
                " inlined: ask for what is passed",
            )
        first = copies[0]
        sharding = self.recorded.sharding(first)
        return WhySharding(
            name=name,
            place=self.places.value(first),
            type=str(value.type),
            sharding=sharding_text(sharding),
            final=sharding_text(self._final(first)),
            dims=tuple(self._dim(first, dim) for dim in range(len(shape_of(value)))),
            copies=len(copies),
            notes=(*self._notes(value, first), *self._parts_of_axes(sharding)),
        )

    def result(self, index: int) -> WhySharding:
        """The same of a result of the function: of the value that it returns.

        Raises:
            CompileError: there is no such result.
        """
        function = self.places.names.entry
        end = function.body.block.last_op
        count = len(function.function_type.outputs.data)
        if end is None or not 0 <= index < count:
            raise CompileError(
                f"there is no result {index}", function, hint=f"it has {count}"
            )
        return self.of(end.operands[index])

    def argument(self, index: int) -> WhySharding:
        """The same of an argument of the function.

        Raises:
            CompileError: there is no such argument.
        """
        function = self.places.names.entry
        arguments = function.body.block.args
        if not 0 <= index < len(arguments):
            raise CompileError(
                f"there is no argument {index}",
                function,
                hint=f"it has {len(arguments)}",
            )
        return self.of(arguments[index])

    def _final(self, value: SSAValue) -> TensorSharding | None:
        """The sharding in which the op makes the value, after stage 8."""
        final = self.recorded.evened(value)
        for inserted in self.recorded.insertions.values():
            demand = inserted.demand
            if inserted.side == "result" and inserted.value is value and demand:
                wanted = demand.wanted[len(inserted.user.operands) + inserted.index]
                final = wanted or final
        return final

    def _dim(self, value: SSAValue, dim: int) -> Dimension:
        sharding = self.recorded.sharding(value)
        axes = sharding.dims[dim].axes if sharding is not None else ()
        obstacles: tuple[Obstacle, ...] = self.obstacles.of(value, dim)
        return Dimension(
            index=dim,
            size=shape_of(value)[dim],
            axes=tuple(axis_text(axis) for axis in axes),
            causes=self.chains.causes(value, dim, axes),
            obstacles=obstacles,
        )

    def _parts_of_axes(self, sharding: TensorSharding | None) -> list[str]:
        if sharding is None:
            return []
        axes = (axis for dim in sharding.dims for axis in dim.axes)
        return parts_of_axes(axes, sdy.mesh_table(self.recorded.compiled).values())

    def _notes(self, original: SSAValue, value: SSAValue) -> tuple[str, ...]:
        notes: list[str] = []
        holder = self.recorded.holders.get(value, value)
        written = self.recorded.initial.get(holder)
        priorities = (
            [dim.priority_or_default for dim in written.dims]
            if written is not None
            else []
        )
        if any(priorities) and not isinstance(
            self.recorded.propagation, UserPriorityPropagatePass
        ):
            notes.append(
                "its annotation has priorities, which stage 6 of the pipeline does not"
                " look at: sdy-user-priority-propagate does"
                " (--propagation sdy-user-priority-propagate)"
            )
        owner = sdy.owning_op(original)
        uses = list(original.uses)
        users = {use.operation for use in uses}
        if (
            owner is not None
            and not isinstance(original, BlockArgument)
            and not isinstance(owner, FuncOp)
            and not owner.operands
            and len(users) > 1
        ):
            notes.append(
                f"{len(users)} ops share it: it has one sharding for all of them"
            )
        return tuple(notes)
