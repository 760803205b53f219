"""The effects of single changes: each is made to the program and compiled.

Candidates come from the answer: the op could have got what it wants, its other operands
and results could have followed the one that moves, an annotation or constraint that
caused a side could be another or none, a shared constant could be copied. Nothing is
said of a change that was not compiled.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from functools import cached_property, partial
from itertools import combinations
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import DiagnosticException, ParseError

from ttxdsl.costs.machines import Machine
from ttxdsl.dialects import sdy
from ttxdsl.insight.why.answers import Change, Counterfactual, Figures
from ttxdsl.insight.why.causes.annotations import Annotations
from ttxdsl.insight.why.causes.collectives import TracedCollective, WhyCollectives
from ttxdsl.insight.why.costs import measure
from ttxdsl.insight.why.places import Places, sharding_text
from ttxdsl.insight.why.trials.budget import TimeBudget
from ttxdsl.insight.why.trials.compiling import (
    Demands,
    Moves,
    can_take_notes,
    compile_plainly,
)
from ttxdsl.insight.why.trials.edits import Edit, changed
from ttxdsl.insight.why.trials.recording import Demand
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.processes import spread
from ttxdsl.loading.program import parse_program, program_text
from ttxdsl.sharding.axes import Axes, AxisRef, lists_overlap, truncate_without_overlap
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.projection import (
    FactorSharding,
    TensorFactors,
    project,
    unproject_tensor as unproject,
)
from ttxdsl.sharding.spec import CLOSED_DIM, DimSharding, TensorSharding
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

FEWEST = 3
"""Changes to compile of a program that is so large that each takes seconds."""

_ORDER = (
    "copy constant",
    "constrain",
    "remove constraint",
    "annotate result",
    "annotate argument",
)
"""Of changes that do the same, those come first that leave callers alone."""


def _figures(
    make: Callable[[], ModuleOp],
    pipeline: TTStableHLOPipelinePass,
    machine: Machine,
    trip_count: int | None,
    moves: Moves | None = None,
) -> Figures | None:
    """Return the costs of a program made here; None if it cannot be compiled."""
    try:
        module = make()
        for op in ops_of_type(module, FuncOp, sdy.ShardingConstraintOp):
            op.verify(verify_nested_ops=False)  # what edits change or add
        compiled = compile_plainly(module, pipeline, moves)
    except (DiagnosticException, ParseError):
        return None
    return measure(compiled, module, machine, trip_count)


class Tried(NamedTuple):
    """The outcome of changes that were to be compiled for one collective.

    Attributes:
        compiled: how many were.
        failed: how many could not be.
        left: how many were not for want of time.
        helping: those with which the collectives of the program take less time, best
            first.
    """

    compiled: int
    failed: int
    left: int
    helping: tuple[Counterfactual, ...]


class Counterfactuals:
    """Compiles changes of one program and remembers what came of them.

    Args:
        budget: the time for `of`; None: as much as it takes.
    """

    def __init__(
        self,
        collectives: WhyCollectives,
        pipeline: TTStableHLOPipelinePass,
        tries: int,
        trip_count: int | None,
        budget: TimeBudget | None,
    ):
        self.recorded = collectives.recorded
        self.collectives = collectives
        self.places: Places = collectives.places
        self.annotations = Annotations(self.recorded, self.places)
        self.pipeline = pipeline
        self.machine = collectives.machine
        self.tries = tries
        self.trip_count = trip_count
        self.budget = budget
        self.demands: dict[tuple[Change, ...], Demands] = {}
        """The values that each change compiled here moves."""
        self._known: dict[tuple[Change, ...], Figures | None] = {}

    @cached_property
    def base(self) -> Figures:
        """The costs of the program as it is."""
        recorded = self.recorded
        return measure(
            recorded.compiled, recorded.original, self.machine, self.trip_count
        )

    def of(
        self,
        traced: TracedCollective,
        *,
        jobs: int = 1,
        executor: Executor | None = None,
    ) -> Tried:
        """The changes that would help a collective, best first.

        If no change does, as many pairs are tried of changes to two places, unless each
        takes long. With a budget they are compiled here, one by one, while there is time.

        Args:
            executor: compiles them instead; what is found is the same.
        """
        edits: dict[Change, Edit] = {}
        for edit in self._candidates(traced):
            edits.setdefault(edit.change, edit)
            if len(edits) == self.tries:
                break
        singles = [(edit,) for edit in edits.values()]
        if self.budget is None:
            figures = self.figures_of(singles, jobs=jobs, executor=executor)
        else:
            figures = self._in_time(singles, self.budget)
        left = len(singles) - len(figures)
        results = self._judged(singles[: len(figures)], figures)
        helping = [trial for trial in results if trial.helps]
        if not helping and self.tries > FEWEST:
            fine = [
                (edits[trial.changes[0]], trial.figures.seconds)
                for trial in sorted(results, key=lambda trial: trial.figures.seconds)
            ]
            pairs = [
                (trial, two)
                for (trial, _), (two, _) in combinations(fine, 2)
                if trial.change.value != two.change.value
            ][: self.tries]
            more = self.figures_of(pairs, jobs=jobs, executor=executor)
            figures += more
            results += self._judged(pairs, more)
            helping = [trial for trial in results if trial.helps]
        helping.sort(
            key=lambda trial: (
                trial.figures.seconds,
                trial.figures.bytes,
                max(_ORDER.index(change.kind) for change in trial.changes),
                trial.figures.peak_bytes or 0,
            )
        )
        return Tried(len(results), figures.count(None), left, tuple(helping))

    def _in_time(
        self, edits: Sequence[tuple[Edit, ...]], budget: TimeBudget
    ) -> list[Figures | None]:
        """Return the costs with the first changes, as many as there is time for."""
        figures: list[Figures | None] = []
        for combined in edits:
            if not budget.allows():
                break
            with budget.spending():
                figures += self.figures_of([combined])
        return figures

    def _judged(
        self, edits: Sequence[tuple[Edit, ...]], figures: Sequence[Figures | None]
    ) -> list[Counterfactual]:
        return [
            Counterfactual(tuple(edit.change for edit in combined), self.base, known)
            for combined, known in zip(edits, figures, strict=True)
            if known is not None
        ]

    def figures_of(
        self,
        edits: Sequence[tuple[Edit, ...]],
        *,
        jobs: int = 1,
        executor: Executor | None = None,
    ) -> list[Figures | None]:
        """Return the program's costs with each change; None if it is refused."""
        original = self.recorded.original
        keys = [tuple(edit.change for edit in combined) for combined in edits]
        new = {
            key: combined
            for key, combined in zip(keys, edits, strict=True)
            if key not in self._known
        }
        measured = spread(
            list(new.values()),
            self._measured_here,
            lambda combined: partial(
                _figures,
                partial(parse_program, program_text(changed(original, combined))),
                *self._options,
            ),
            jobs=jobs,
            executor=executor,
        )
        self._known.update(zip(new, measured, strict=True))
        return [self._known[key] for key in keys]

    def _measured_here(self, edits: tuple[Edit, ...]) -> Figures | None:
        """Compile and measure the program with changes, and keep what it moves."""
        original = self.recorded.original
        if not can_take_notes(self.pipeline):
            return _figures(partial(changed, original, edits), *self._options)
        moves = Moves(original)
        make = partial(changed, original, edits, moves.number)
        figures = _figures(make, *self._options, moves)
        if figures is not None:
            changes = tuple(edit.change for edit in edits)
            self.demands[changes] = Demands((moves.chosen,))
        return figures

    @property
    def _options(self) -> tuple[TTStableHLOPipelinePass, Machine, int | None]:
        return self.pipeline, self.machine, self.trip_count

    # Candidates

    def _candidates(self, traced: TracedCollective) -> Iterator[Edit]:
        note = traced.inserted
        if note is not None and note.demand is not None:
            if traced.target is None:
                yield from self._reductions(note.demand)
            else:
                count = len(note.user.operands)
                tensor = note.index + (count if note.side == "result" else 0)
                yield from self._agreements(note.demand, tensor)
                if note.side == "operand":
                    yield from self._copy(note.value, note.user, note.index)
        elif note is not None and traced.target is not None:
            value = self.collectives.at_stage_6(note.value)
            yield from self._value(value, traced.target)
            if traced.answer.cause == "return":
                yield from self._results(note.index, value)
        elif traced.constraint is not None and traced.target is not None:
            given = self.recorded.original_op(traced.constraint)
            if isinstance(given, sdy.ShardingConstraintOp):
                yield self.annotations.removal(given)
                for value in self.recorded.copies(given.input)[:1]:
                    yield from self._value(value, traced.target)
        elif traced.op is not None:
            yield from self._whole_operands(traced)
        yield from self._origins(traced)

    def _value(
        self, value: SSAValue, sharding: TensorSharding | None
    ) -> Iterator[Edit]:
        """A value (of stage 6) annotated or constrained."""
        given = self.recorded.original_value(value)
        if given is None or sharding is None:
            return
        sharding = sharding.closed_like()
        mesh = self.annotations.mesh(sharding)
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
            yield from self.annotations.annotated(given.index, sharding)
        known = self.recorded.sharding(value)
        if known is not None and known.same_layout(sharding) and known.is_fully_closed:
            return
        if isinstance(sdy.owning_op(given), sdy.ShardingConstraintOp):
            return
        yield Edit(Change("constrain", name, text, position), given, sharding)

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

    def _reductions(self, demand: Demand) -> Iterator[Edit]:
        """Operands whole along the reduced axes; results split by them."""
        count = len(demand.rule.operands)
        at_stage_6 = self.collectives.at_stage_6
        effective = demand.after
        for tensor in range(count, len(demand.values)):
            value, sharding = demand.values[tensor], effective[tensor]
            known = next((other for other in effective if other is not None), None)
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
        known = self.recorded.sharding(value)
        shardings = [None if known is None else known.closed_like(), None]
        for sharding in dict.fromkeys(shardings):
            yield from self.annotations.annotated_result(index, sharding)

    def _whole_operands(self, traced: TracedCollective) -> Iterator[Edit]:
        """The operands of an op that stage 11 has to gather, whole from the start."""
        assert traced.op is not None
        for value, _ in self.recorded.operands.get(traced.op, ()):
            stage_6 = self.collectives.at_stage_6(value)
            known = self.recorded.evened(stage_6)
            if known is not None and known.sharding_axes:
                dims = [
                    CLOSED_DIM if dim in traced.answer.dims else old
                    for dim, old in enumerate(known.dims)
                ]
                yield from self._value(stage_6, known.with_dims(dims))

    def _origins(self, traced: TracedCollective) -> Iterator[Edit]:
        """Annotations and constraints that caused a side, changed or removed."""
        seen: set[tuple[str, int | None, int, str]] = set()
        for side in traced.answer.sides:
            for cause in side.causes:
                first = cause.steps[0].axis if cause.steps else cause.axis
                key = cause.origin.kind, cause.origin.index, cause.dim, first
                if key not in seen:
                    seen.add(key)
                    yield from self.annotations.of_origin(cause.origin, first)


def _following(
    demand: Demand, leader: int, sharding: TensorSharding, follower: int
) -> TensorSharding | None:
    """Return the sharding with which one tensor of an op fits that of another."""
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


def best(
    counterfactuals: Sequence[Counterfactual], count: int
) -> tuple[Counterfactual, ...]:
    """The best few; of changes to one value that do the same, the first."""
    kept: dict[object, Counterfactual] = {}
    for counterfactual in counterfactuals:
        places = tuple((change.kind, change.value) for change in counterfactual.changes)
        kept.setdefault((places, counterfactual.figures), counterfactual)
    return tuple(kept.values())[:count]
