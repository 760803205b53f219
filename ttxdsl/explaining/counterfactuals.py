"""What one change would do: each is made to the program and compiled.

Candidates come from the answer: the op could have got what it wants, its other operands
and results could have followed the one that moves, an annotation or constraint that
caused a side could be another or none, a shared constant could be copied. Nothing is
said of a change that was not compiled.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import DiagnosticException, ParseError

from ttxdsl.analysis.origins import unmarked
from ttxdsl.dialects import sdy
from ttxdsl.errors import source_position
from ttxdsl.explaining.answers import Change, Counterfactual, Figures, Origin
from ttxdsl.explaining.collectives import Found, WhyCollectives
from ttxdsl.explaining.compiling import compile_plainly
from ttxdsl.explaining.costs import measure
from ttxdsl.explaining.places import Places, sharding_text
from ttxdsl.explaining.recording import Demand, PropagationName, Recorded
from ttxdsl.interpreters.run import entry_function
from ttxdsl.ir.tensors import shape_of
from ttxdsl.processes import spread
from ttxdsl.program import parse_program, program_text
from ttxdsl.sharding.axes import Axes, AxisRef, lists_overlap, truncate_without_overlap
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.machines import Machine
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.projection import (
    FactorSharding,
    TensorFactors,
    project,
    unproject_tensor as unproject,
)
from ttxdsl.sharding.spec import CLOSED_DIM, DimSharding, TensorSharding
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

_ORDER = (
    "copy constant",
    "constrain",
    "remove constraint",
    "annotate result",
    "annotate argument",
)
"""Of changes that do the same, those come first that leave callers alone."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change with what it is made to: values and ops of the program that was given."""

    change: Change
    value: SSAValue | None = None
    sharding: TensorSharding | None = None
    index: int | None = None
    user: Operation | None = None
    operand: int = 0

    def apply(self, original: ModuleOp) -> ModuleOp:
        """A copy of the program with the change."""
        mapped: dict[SSAValue, SSAValue] = {}
        module = original.clone(mapped)
        value = None if self.value is None else mapped[self.value]
        function = entry_function(module)
        match self.change.kind:
            case "constrain":
                assert value is not None and self.sharding is not None
                _constrain(value, self.sharding)
            case "annotate argument":
                assert self.index is not None
                sdy.set_func_argument_sharding(function, self.index, self.sharding)
            case "annotate result":
                assert self.index is not None
                sdy.set_func_result_sharding(function, self.index, self.sharding)
            case "remove constraint":
                assert isinstance(value, OpResult)
                Rewriter.replace_op(value.op, [], [value.op.operands[0]])
            case "copy constant":
                assert isinstance(value, OpResult) and self.user is not None
                twin = mapped[self.user.results[0]].owner
                assert isinstance(twin, Operation)
                copy = value.op.clone()
                Rewriter.insert_op(copy, InsertPoint.before(twin))
                twin.operands[self.operand] = copy.results[value.index]
        return module


def _constrain(value: SSAValue, sharding: TensorSharding) -> None:
    """Put a constraint behind a value, for all its users."""
    constraint = sdy.ShardingConstraintOp(value, sharding)
    owner = value.owner
    if isinstance(owner, Block):
        point = InsertPoint.at_start(owner)
    else:
        point = InsertPoint.after(owner)
        constraint.location = owner.location
    Rewriter.insert_op(constraint, point)
    value.replace_uses_with_if(
        constraint.result, lambda use: use.operation is not constraint
    )


def _figures(
    changed: Callable[[], ModuleOp],
    pipeline: TTStableHLOPipelinePass,
    propagation: PropagationName,
    machine: Machine,
    trip_count: int | None,
) -> Figures | None:
    """What a program costs that is made here; None if it cannot be compiled."""
    try:
        module = changed()
        module.verify()
        compiled = compile_plainly(module, pipeline, propagation)
    except (DiagnosticException, ParseError):
        return None
    return measure(compiled, machine, trip_count)


class Counterfactuals:
    """Compiles changes of one program and remembers what came of them.

    Args:
        recorded: the compiled program.
        collectives: its collectives.
        pipeline: the options it was compiled with.
        machine: for the time of collectives.
        tries: how many changes to compile for one collective, at most.
        trip_count: how often loops turn of which the program does not say it.
    """

    def __init__(
        self,
        recorded: Recorded,
        collectives: WhyCollectives,
        pipeline: TTStableHLOPipelinePass,
        machine: Machine,
        tries: int = 16,
        trip_count: int | None = None,
    ):
        self.recorded = recorded
        self.collectives = collectives
        self.places: Places = collectives.places
        self.pipeline = pipeline
        self.machine = machine
        self.tries = tries
        self.trip_count = trip_count
        self.base = measure(recorded.compiled, machine, trip_count)
        self._known: dict[Change, Figures | None] = {}

    def of(
        self, found: Found, *, jobs: int = 1, executor: Executor | None = None
    ) -> tuple[int, int, tuple[Counterfactual, ...]]:
        """The changes that would help a collective, best first.

        Args:
            found: the collective.
            jobs: processes to compile changes in when that pays.
            executor: compiles them instead; what is found is the same.

        Returns:
            How many were compiled, how many could not be, and those with which the
            collectives of the program take less time.
        """
        edits: dict[Change, Edit] = {}
        for edit in self._candidates(found):
            edits.setdefault(edit.change, edit)
            if len(edits) == self.tries:
                break
        original = self.recorded.original
        new = [edit for change, edit in edits.items() if change not in self._known]
        figures = spread(
            new,
            lambda edit: self._figures_of(partial(edit.apply, original))(),
            lambda edit: self._figures_of(
                partial(parse_program, program_text(edit.apply(original)))
            ),
            jobs=jobs,
            executor=executor,
        )
        for edit, known in zip(new, figures, strict=True):
            self._known[edit.change] = known
        results = [(change, self._known[change]) for change in edits]
        compiled = [
            Counterfactual(change, self.base, figures)
            for change, figures in results
            if figures is not None
        ]
        helping = [one for one in compiled if one.helps]
        helping.sort(
            key=lambda one: (
                one.figures.seconds,
                one.figures.bytes,
                _ORDER.index(one.change.kind),
                one.figures.peak_bytes or 0,
            )
        )
        return len(compiled), len(results) - len(compiled), tuple(helping)

    def _figures_of(
        self, changed: Callable[[], ModuleOp]
    ) -> Callable[[], Figures | None]:
        """The call that compiles and measures the program with a change."""
        return partial(
            _figures,
            changed,
            self.pipeline,
            self.recorded.propagation,
            self.machine,
            self.trip_count,
        )

    # Candidates

    def _candidates(self, found: Found) -> Iterator[Edit]:
        note = found.inserted
        if note is not None and note.demand is not None:
            if found.target is None:
                yield from self._reductions(note.demand, found)
            else:
                count = len(note.user.operands)
                tensor = note.index + (count if note.side == "result" else 0)
                yield from self._agreements(note.demand, tensor)
                if note.side == "operand":
                    yield from self._copy(note.value, note.user, note.index)
        elif note is not None and found.target is not None:
            value = self.collectives.at_stage_6(note.value)
            yield from self._value(value, found.target)
            if found.answer.cause == "return":
                yield from self._results(note.index, value)
        elif found.constraint is not None and found.target is not None:
            given = self.recorded.original_op(found.constraint)
            if isinstance(given, sdy.ShardingConstraintOp):
                yield self._removal(given)
                for value in self.recorded.copies(given.input)[:1]:
                    yield from self._value(value, found.target)
        elif found.op is not None:
            yield from self._whole_operands(found)
        yield from self._origins(found)

    def _value(
        self, value: SSAValue, sharding: TensorSharding | None
    ) -> Iterator[Edit]:
        """A value (of stage 6) annotated or constrained."""
        given = self.recorded.original_value(value)
        if given is None or sharding is None:
            return
        sharding = sharding.closed_like()
        mesh = self._mesh(sharding)
        shape = shape_of(given)
        if mesh is None or len(shape) != sharding.rank or not shape:
            return
        sizes = zip(shape, sharding.dims, strict=True)
        if any(size % dim.sharded_size(mesh) for size, dim in sizes):
            return
        name = self.places.called(value)
        text = sharding_text(sharding)
        position = self.places.value(value).position
        if isinstance(given, BlockArgument) and isinstance(
            sdy.owning_op(given), FuncOp
        ):
            if sdy.enclosing_function(given) is not self.places.names.entry:
                return
            change = Change("annotate argument", name, text, position)
            yield Edit(change, given, sharding, given.index)
        known = self.recorded.sharding(value)
        if known is not None and known.same_layout(sharding) and known.is_fully_closed:
            return
        if isinstance(sdy.owning_op(given), sdy.ShardingConstraintOp):
            return
        yield Edit(Change("constrain", name, text, position), given, sharding)

    def _mesh(self, sharding: TensorSharding) -> Mesh | None:
        if isinstance(sharding.mesh, Mesh):
            return sharding.mesh
        return sdy.mesh_table(self.recorded.original).get(sharding.mesh)

    def _agreements(self, demand: Demand, tensor: int) -> Iterator[Edit]:
        """The moved tensor as the op wants it; the others as it is."""
        at_stage_6 = self.collectives.at_stage_6
        wanted = demand.wanted[tensor]
        yield from self._value(at_stage_6(demand.values[tensor]), wanted)
        given = demand.shardings[tensor]
        if given is None:
            given = TensorSharding.fully_closed(
                wanted.mesh if wanted is not None else "",
                len(demand.rule.tensors[tensor]),
            )
        for other, value in enumerate(demand.values):
            if other != tensor and demand.rule.tensors[other]:
                yield from self._value(
                    at_stage_6(value), _following(demand, tensor, given, other)
                )

    def _reductions(self, demand: Demand, found: Found) -> Iterator[Edit]:
        """Operands whole along the reduced axes; results split by them."""
        count = len(demand.rule.operands)
        at_stage_6 = self.collectives.at_stage_6
        effective = [
            old if new is None else new
            for old, new in zip(demand.shardings, demand.wanted, strict=True)
        ]
        for tensor in range(count, len(demand.values)):
            value, sharding = demand.values[tensor], effective[tensor]
            known = next((one for one in effective if one is not None), None)
            if sharding is None and known is not None:
                rank = len(demand.rule.tensors[tensor])
                sharding = TensorSharding.fully_closed(known.mesh, rank)
            if sharding is None:
                continue
            for dim in range(sharding.rank):
                old = sharding.dims[dim]
                new = DimSharding((*old.axes, *demand.reduction))
                yield from self._value(at_stage_6(value), sharding.with_dim(dim, new))
        for tensor in range(count):
            value, sharding = demand.values[tensor], effective[tensor]
            if sharding is None or not lists_overlap(
                sharding.sharding_axes, demand.reduction
            ):
                continue
            dims = [
                CLOSED_DIM if lists_overlap(dim.axes, demand.reduction) else dim
                for dim in sharding.dims
            ]
            yield from self._value(at_stage_6(value), sharding.with_dims(dims))

    def _copy(self, value: SSAValue, user: Operation, index: int) -> Iterator[Edit]:
        """A constant that several ops share, copied for one of them."""
        value = self.collectives.at_stage_6(value)
        given = self.recorded.original_value(value)
        op = self.recorded.original_op(user)
        if not isinstance(given, OpResult) or op is None or not op.results:
            return
        users = {use.operation for use in given.uses}
        if given.op.operands or len(users) < 2 or op not in users:
            return
        if len(op.operands) <= index or op.operands[index] is not given:
            return
        change = Change(
            "copy constant",
            self.places.called(value),
            position=self.places.value(value).position,
            user=self.places.op(user).value,
        )
        yield Edit(change, given, user=op, operand=index)

    def _results(self, index: int, value: SSAValue) -> Iterator[Edit]:
        """The annotation of a result as the value is sharded, or none."""
        function = self.places.names.entry
        position = source_position(unmarked(function.location))
        known = self.recorded.sharding(value)
        name = f"result {index}"
        shardings = [None if known is None else known.closed_like(), None]
        for sharding in dict.fromkeys(shardings):
            text = sharding_text(sharding)
            change = Change("annotate result", name, text, position)
            yield Edit(change, None, sharding, index)

    def _removal(self, constraint: sdy.ShardingConstraintOp) -> Edit:
        name = self.places.names.name(constraint.result) or "on the value"
        position = source_position(unmarked(constraint.location))
        change = Change("remove constraint", name, None, position)
        return Edit(change, constraint.result)

    def _whole_operands(self, found: Found) -> Iterator[Edit]:
        """The operands of an op that stage 11 has to gather, whole from the start."""
        assert found.op is not None
        for value, _ in self.recorded.operands.get(found.op, ()):
            stage_6 = self.collectives.at_stage_6(value)
            known = self.recorded.evened(stage_6)
            if known is not None and known.sharding_axes:
                dims = [
                    CLOSED_DIM if dim in found.answer.dims else old
                    for dim, old in enumerate(known.dims)
                ]
                yield from self._value(stage_6, known.with_dims(dims))

    def _origins(self, found: Found) -> Iterator[Edit]:
        """Annotations and constraints that caused a side, changed or removed."""
        seen: set[tuple[str, int | None, int, str]] = set()
        for side in found.answer.sides:
            for cause in side.causes:
                first = cause.steps[0].axis if cause.steps else cause.axis
                key = cause.origin.kind, cause.origin.index, cause.dim, first
                if key not in seen:
                    seen.add(key)
                    yield from self._origin(cause.origin, first)

    def _origin(self, origin: Origin, axis: str) -> Iterator[Edit]:
        function = self.places.names.entry
        if origin.kind == "argument" and origin.index is not None:
            yield from self._argument(origin.index, axis)
        elif origin.kind == "result" and origin.index is not None:
            position = source_position(unmarked(function.location))
            change = Change("annotate result", f"result {origin.index}", None, position)
            yield Edit(change, None, None, origin.index)
        elif origin.kind == "constraint":
            for op in self.recorded.original.walk():
                if not isinstance(op, sdy.ShardingConstraintOp):
                    continue
                if self.places.names.name(op.result) == origin.place.value:
                    yield self._removal(op)

    def _argument(self, index: int, axis: str) -> Iterator[Edit]:
        """An argument without an axis, or with it on another dimension."""
        function = self.places.names.entry
        argument = function.body.block.args[index]
        written = sdy.get_func_argument_sharding(function, index)
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
        mesh = self._mesh(sharding)
        sizes = zip(shape_of(argument), sharding.dims, strict=True)
        if mesh is None or any(size % dim.sharded_size(mesh) for size, dim in sizes):
            return
        name = self.places.names.name(argument) or f"argument {argument.index}"
        position = source_position(unmarked(argument.location)) or source_position(
            unmarked(self.places.names.entry.location)
        )
        change = Change("annotate argument", name, sharding_text(sharding), position)
        yield Edit(change, argument, sharding, argument.index)


def _without(dim: DimSharding, gone: Sequence[AxisRef]) -> DimSharding:
    """A dimension without some axes."""
    return dim.with_axes(tuple(one for one in dim.axes if one not in gone))


def _following(
    demand: Demand, leader: int, sharding: TensorSharding, follower: int
) -> TensorSharding | None:
    """How a tensor of an op must be sharded to fit another as that is sharded."""
    rule: OpShardingRule = demand.rule
    shardings = list(demand.shardings)
    shardings[leader] = sharding
    projection = project(demand.mesh, rule, shardings, closed_if_missing=True)
    lead = projection.tensors[leader].factors
    used: list[AxisRef] = [axis for own in lead.values() for axis in own.axes]
    factors: dict[int, FactorSharding] = {}
    for dim in rule.tensors[follower]:
        for factor in dim:
            own = projection.tensors[follower].factors.get(factor)
            axes: Axes = ()
            if factor in lead:
                axes = lead[factor].axes
            elif own is not None:
                axes = truncate_without_overlap(own.axes, tuple(used))
            factors[factor] = FactorSharding(axes, True, factor == dim[-1])
    return unproject(
        sharding.mesh,
        demand.mesh,
        rule,
        rule.tensors[follower],
        TensorFactors(factors),
    )


def best(found: Sequence[Counterfactual], count: int) -> tuple[Counterfactual, ...]:
    """The best few; of changes to one value that do the same, the first."""
    kept: dict[tuple[str, str, Figures], Counterfactual] = {}
    for one in found:
        kept.setdefault((one.change.kind, one.change.value, one.figures), one)
    return tuple(kept.values())[:count]
