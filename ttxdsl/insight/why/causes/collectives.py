"""Why each collective of the per-device program is there.

A collective is followed back through the stages (`recording.py`): to the `sdy` collective
that became it, to the reshard that this is a step of, and to the op for which stage 8
inserted the reshard. The reason is its demand, and how its tensors were sharded instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from ttxdsl.analysis.attribution.origins import is_written
from ttxdsl.analysis.usage.collectives import (
    WRITTEN,
    CountedCollective,
    collective_ops,
    collective_seconds,
    list_collectives,
)
from ttxdsl.analysis.usage.reasons import reason_of, with_arguments_of
from ttxdsl.costs.machines import Machine
from ttxdsl.costs.units import listed, others as others_text
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.why.answers import (
    AxisCause,
    Cause,
    JoinedPart,
    Obstacle,
    Party,
    Site,
    WhyCollective,
)
from ttxdsl.insight.why.causes.optimized import optimized_text
from ttxdsl.insight.why.causes.shardings import Shardings
from ttxdsl.insight.why.places import (
    Places,
    axes_text,
    dimension_of,
    factor_kind,
    factor_text,
    sharding_text,
    split_text,
)
from ttxdsl.insight.why.trials.recording import Demand, Insertion, Recorded
from ttxdsl.ir.tensors import shape_of, value_bytes
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.axes import Axes, lists_overlap
from ttxdsl.sharding.projection import Projection, project
from ttxdsl.sharding.spec import TensorSharding

_MOST_SIDES = 64
"""Operands that are named where an op has many that are split alike."""


@dataclass(frozen=True, slots=True)
class TracedCollective:
    """A collective: the answer about it, and the data that changes are made of.

    Attributes:
        inserted: the reshard or all_reduce that it came from, if stage 8 made it.
        constraint: the constraint that it came from, if stage 7 made the reshard.
        op: the op of stage 6 that needs it.
        target: what the moved value has to become.
    """

    answer: WhyCollective
    inserted: Insertion | None = None
    constraint: sdy.ShardingConstraintOp | None = None
    op: Operation | None = None
    target: TensorSharding | None = None


@dataclass(slots=True)
class _Story:
    """The parts of an answer that depend on the cause."""

    cause: Cause
    op: Site
    summary: str
    reason: str
    dims: tuple[int, ...] = ()
    details: tuple[str, ...] = ()
    sides: tuple[Party, ...] = ()


class WhyCollectives:
    """Answers about the collectives of one compiled program."""

    def __init__(
        self,
        recorded: Recorded,
        shardings: Shardings,
        machine: Machine,
        trip_count: int | None = None,
    ):
        self.recorded = recorded
        self.shardings = shardings
        self.places: Places = shardings.places
        self.machine = machine
        self._traced: dict[int, TracedCollective] = {}
        self.listed = list(
            zip(
                list_collectives(recorded.compiled, trip_count),
                collective_ops(recorded.compiled),
                strict=True,
            )
        )

    def all(self) -> list[TracedCollective]:
        """Every collective, in program order."""
        return [self.of(number) for number in range(len(self.listed))]

    def of(self, number: int) -> TracedCollective:
        """The collective of a number, from 0; of several joined the largest, and the rest."""
        known = self._traced.get(number)
        if known is None:  # the list asks for all, then a report for each
            known = self._traced[number] = self._trace(number)
        return known

    def _trace(self, number: int) -> TracedCollective:
        op = self.listed[number][1]
        parts = self.recorded.sources.get(op, [[]])
        if len(parts) == len(op.operands):  # the largest first
            sizes = dict(enumerate(map(value_bytes, op.operands)))
            parts = [parts[at] for at in sorted(sizes, key=lambda at: -sizes[at])]
        first, *others = [self._part(number, sources) for sources in parts]
        if not others:
            return first
        answer = first.answer
        known = [part.answer.moved for part in (first, *others)]
        names = list(dict.fromkeys(name for name in known[1:] if name != known[0]))
        more = len(others) - min(len(names), _NAMED)
        named = [*names[:_NAMED], *([others_text(more)] if more else [])]
        few = others[:_MOST_SIDES]
        joined = [f"joined with it: {part.answer.reason}" for part in few]
        if len(others) > len(few):
            joined.append(f"joined with it: {others_text(len(others) - len(few))}")
        answer = replace(
            answer,
            summary=f"{answer.summary}; joined with {listed(named)}",
            details=(*answer.details, *joined),
            joined=tuple(
                JoinedPart(name, part.answer.op, part.answer.origins)
                for name, part in zip(known[1:], others, strict=True)
            ),
        )
        return replace(first, answer=answer)

    def _part(self, number: int, sources: list[Operation]) -> TracedCollective:
        """A collective as that which some ops became."""
        inserted = next((s for s in sources if s in self.recorded.insertions), None)
        constrained = next((s for s in sources if s in self.recorded.constraints), None)
        step = sources[0] if sources else None
        if inserted is not None:
            return self._inserted(number, step, inserted)
        if constrained is not None:
            return self._constrained(number, step, constrained)
        return self._other(number, step)

    def _answer(
        self,
        number: int,
        story: _Story,
        reshard: tuple[TensorSharding | None, TensorSharding | None] | None = None,
        plan: tuple[str, ...] = (),
    ) -> WhyCollective:
        texts = None
        if reshard is not None:
            before, after = map(sharding_text, reshard)
            texts = (before or "replicated", after or "replicated")
        collective, op = self.listed[number]
        return WhyCollective(
            number=number,
            kind=collective.kind,
            axes=collective.axes_text,
            group_size=collective.group_size,
            tensor=collective.tensor,
            bytes=collective.bytes_per_device,
            seconds=collective_seconds(collective, self.machine),
            cause=story.cause,
            op=story.op,
            dims=story.dims,
            summary=story.summary,
            reason=story.reason,
            details=story.details + optimized_text(op),
            reshard=texts,
            plan=plan,
            sides=story.sides,
            times=collective.times,
            line=collective.line,
            position=collective.position,
        )

    def _plan(self, reshard: Operation) -> tuple[str, ...]:
        """The `sdy` collectives that a reshard became, in order."""
        return tuple(op.name for op in self.recorded.became.get(reshard, ()))

    # Inserted by stage 8

    def _inserted(
        self, number: int, step: Operation | None, inserted: Operation
    ) -> TracedCollective:
        note = self.recorded.insertions[inserted]
        target: TensorSharding | None = None
        reshard: tuple[TensorSharding | None, TensorSharding | None] | None = None
        if isinstance(inserted, sdy.ReshardOp):
            target = inserted.sharding.data
            dims = _moved_dims(*self.listed[number], step, note.before, target)
            if note.demand is not None:
                story = self._disagreement(note, note.demand, dims)
            else:
                story = self._border(note, target, dims)
            reshard = (note.before, target)
            if note.side == "result" and note.demand is not None:
                index = len(note.user.operands) + note.index
                reshard = (note.demand.wanted[index] or note.before, target)
        else:
            story = self._reduction(note, self.listed[number][0])
        answer = self._answer(number, story, reshard, self._plan(inserted))
        return TracedCollective(answer, note, None, note.user, target)

    def _reduction(self, note: Insertion, collective: CountedCollective) -> _Story:
        place = self.places.op(note.user)
        demand = note.demand
        if demand is None or note.side == "operand":
            name = self.places.called(self.at_stage_6(note.value))
            reason = f"{place} takes {name} as a whole result, and it is a partial sum"
            return _Story("reduction", place, f"takes {name} whole", reason)
        along = collective.axes or demand.reduction
        projection = _projection_after(demand)
        sides: list[Party] = []
        details: list[str] = []
        dims: list[int] = []
        for factor in demand.rule.reduction:
            held: list[str] = []
            for tensor in range(len(demand.rule.operands)):
                own = projection.tensors[tensor].factors.get(factor)
                if own is None or not lists_overlap(own.axes, along):
                    continue
                dim = _dimension(demand, tensor, factor)
                side = self._side(demand, tensor, dim, own.axes)
                sides.append(side)
                dims.append(dim)
                held.append(f"dimension {dim} of {side.label}")
            if held:
                details.append(
                    f"factor {factor_text(demand.rule, factor)} of {place} is reduced:"
                    f" {' and '.join(held)}"
                )
        pairs = list(zip(dims, sides, strict=True))
        split = "; ".join(f"dimension {dim} of {side.label}" for dim, side in pairs)
        reason = (
            f"{place} sums over a dimension that {axes_text(along)} splits"
            f" ({split or 'its own'}): each device has a partial result"
        )
        short = ", ".join(
            f"dimension {dim} of {side.known or side.label}" for dim, side in pairs
        )
        return _Story(
            "reduction",
            place,
            f"sums over {short or 'a split dimension'}",
            reason,
            tuple(dims),
            tuple(details),
            tuple(sides),
        )

    def _disagreement(
        self, note: Insertion, demand: Demand, dims: Sequence[int]
    ) -> _Story:
        """An operand or result that is sharded otherwise than its op can have it."""
        place = self.places.op(note.user)
        count = len(note.user.operands)
        tensor = note.index if note.side == "operand" else count + note.index
        wanted = demand.wanted[tensor]
        given = demand.shardings[tensor]
        value = self.at_stage_6(demand.values[tensor])
        label = self.places.tensor(note.user, count, tensor, value)
        name = self.places.known(value) or label
        reasons: list[str] = []
        short: list[str] = []
        details: list[str] = self._shared(value)
        sides: dict[Party, None] = {}
        for dim in dims:
            had = given.dims[dim].axes if given is not None else ()
            gets = wanted.dims[dim].axes if wanted is not None else ()
            reasons.append(_clash(place, note.side, dim, label, had, gets))
            short.append(_clash_in_short(note.side, dim, name, had, gets))
            sides[self._side(demand, tensor, dim, had)] = None
            for factor in demand.rule.tensors[tensor][dim]:
                text, more = self._factor(demand, tensor, factor, had)
                details.extend(text)
                sides.update(dict.fromkeys(more))
        reason = "; ".join(reasons) or f"{place} needs {label} on other devices"
        summary = "; ".join(short) or f"needs {name} on other devices"
        return _Story(
            note.side,
            place,
            summary,
            reason,
            tuple(dims),
            tuple(details),
            tuple(sides),
        )

    def _shared(self, value: SSAValue) -> list[str]:
        """That a constant is one value for several ops, if it is."""
        given = self.recorded.original_value(value)
        if not isinstance(given, OpResult) or given.op.operands:
            return []
        users = {use.operation for use in given.uses}
        if len(users) < 2:
            return []
        return [
            f"{self.places.called(value)} is shared by {len(users)} ops and has one"
            " sharding for all of them"
        ]

    def _factor(
        self, demand: Demand, tensor: int, factor: int, had: Axes
    ) -> tuple[list[str], list[Party]]:
        """Why an op shards one factor as it does, with the other tensors that have it."""
        rule = demand.rule
        chosen = _projection_after(demand)
        before = project(demand.mesh, rule, demand.shardings, closed_if_missing=True)
        own_before = before.tensors[tensor].factors.get(factor)
        own_after = chosen.tensors[tensor].factors.get(factor)
        if own_before is None or own_after is None:
            return [], []
        if own_before.overflow or (had and not own_before.axes and not own_after.axes):
            text = (
                f"{axes_text(had)} does not fall on the borders of the factors of"
                f" {self.places.op(demand.op)}"
            )
            return [text], []
        if own_before.axes == own_after.axes:
            return [], []
        name = factor_text(rule, factor)
        sides: list[Party] = []
        votes: list[str] = []
        others = [
            (other, theirs)
            for other, held in enumerate(before.tensors)
            if other != tensor and (theirs := held.factors.get(factor)) is not None
        ]
        for other, theirs in others[:_MOST_SIDES]:
            dim = _dimension(demand, other, factor)
            side = self._side(demand, other, dim, theirs.axes)
            sides.append(side)
            votes.append(f"{axes_text(theirs.axes)} on dimension {dim} of {side.label}")
        if len(others) > _MOST_SIDES:
            votes.append(f"so on for {len(others) - _MOST_SIDES} more operands")
        head = f"factor {name} ({factor_kind(rule, factor)}) is computed"
        head += f" split by {axes_text(own_after.axes)}" if own_after.axes else " whole"
        if factor in rule.need_replication:
            return [f"{head}: the op needs it whole on every device"], sides
        taker = self._taker(demand, chosen, factor, own_before.axes)
        if taker is not None:
            text, side = taker
            return [f"{head}: {text}"], [*sides, side] if side else sides
        held = [tensor.factors.get(factor) for tensor in before.tensors]
        fresh = all(own is None or own.axes != own_after.axes for own in held)
        if fresh and own_after.axes and rule.need_replication:
            whole = " and ".join(factor_text(rule, f) for f in rule.need_replication)
            return [
                f"{head}: it takes over the axes of {whole}, which must be whole; that"
                " is an all_to_all in place of an all_gather"
            ], sides
        if votes:
            return [
                f"{head}: it has {axes_text(own_before.axes)} here, and"
                f" {', '.join(votes)}; what moves fewer elements was chosen"
            ], sides
        return [head], sides

    def _taker(
        self, demand: Demand, chosen: Projection, factor: int, axes: Axes
    ) -> tuple[str, Party | None] | None:
        """Another factor of the op that is split by the axes: there can be only one."""
        rule = demand.rule
        for other in range(len(rule.factor_sizes)):
            if other == factor:
                continue
            for tensor, held in enumerate(chosen.tensors):
                own = held.factors.get(other)
                if own is None or not lists_overlap(own.axes, axes):
                    continue
                text = (
                    f"{axes_text(own.axes)} splits factor {factor_text(rule, other)} of"
                    " the op, and an axis can split one factor only"
                )
                dim = _dimension(demand, tensor, other)
                return text, self._side(demand, tensor, dim, own.axes)
        return None

    def _border(
        self, note: Insertion, target: TensorSharding, dims: Sequence[int]
    ) -> _Story:
        """Return why a value is resharded at the border of a region or function."""
        user = note.user
        value = self.at_stage_6(note.value)
        called = self.places.called(value)
        side = self._value_side(called, value, dims)
        wants = sharding_text(target) or "replicated"
        function = note.parent
        returns = user.has_trait(IsTerminator, value_if_unregistered=False)
        if returns and isinstance(function, FuncOp):
            place = self.places.value(value)
            reason = (
                f"the function returns {called} as result {note.index}, which shall be"
                f" {wants}"
            )
            summary = f"returned {split_text(target)}"
            return _Story("return", place, summary, reason, tuple(dims), (), (side,))
        owner = note.parent if returns else user
        place = self.places.op(owner if owner is not None else user)
        way = "hands back" if returns else "takes"
        reason = f"{place} {way} value {note.index} ({called}) as {wants}"
        summary = f"{way} {called} {split_text(target)}"
        return _Story("border", place, summary, reason, tuple(dims), (), (side,))

    # Made of a constraint by stage 7

    def _constrained(
        self, number: int, step: Operation | None, reshard: Operation
    ) -> TracedCollective:
        constraint = self.recorded.constraints[reshard]
        assert isinstance(constraint, sdy.ShardingConstraintOp)
        assert isinstance(reshard, sdy.ReshardOp)
        value = self._constrained_value(reshard)
        before = self.recorded.evened(value)
        target = reshard.sharding.data
        dims = _moved_dims(*self.listed[number], step, before, target)
        called = self.places.called(value)
        place = self.places.op(constraint)
        reason = f"a constraint asks for {called} as {sharding_text(target)}"
        story = _Story(
            "constraint",
            place,
            f"asks for {called} {split_text(target)}",
            reason,
            tuple(dims),
            (),
            (self._value_side(called, value, dims),),
        )
        answer = self._answer(number, story, (before, target), self._plan(reshard))
        return TracedCollective(answer, None, constraint, constraint, target)

    def _constrained_value(self, reshard: sdy.ReshardOp) -> SSAValue:
        constraint = self.recorded.constraints[reshard]
        original = self.recorded.original_op(constraint)
        if isinstance(original, sdy.ShardingConstraintOp):
            copies = self.recorded.copies(original.input)
            known = [copy for copy in copies if copy in self.recorded.holders]
            if known:
                return known[0]
        assert isinstance(constraint, sdy.ShardingConstraintOp)
        return constraint.result

    # Everything else

    def _other(self, number: int, source: Operation | None) -> TracedCollective:
        collective, op = self.listed[number]
        step = source or op
        place = self.places.op(step)
        told = reason_of(with_arguments_of([(collective, op)]))
        is_call = isinstance(op, stablehlo.CustomCallOp)
        if is_call or is_written(op.location) or self.recorded.skipped:
            reason = f"{place} is {WRITTEN}: no stage chose it"
            use = told.removeprefix(f"{WRITTEN}: ")
            summary = f"{WRITTEN}: {use}"
            story = _Story("written", place, summary, reason, details=(use,))
            return TracedCollective(self._answer(number, story), op=step)
        dims = _own_dims(op)
        summary = "computed whole: it has no sharding rule"
        if isinstance(step, sdy.CollectiveOp):  # moved away from the op that needs it
            summary = reason = told
        elif sharding_rule(step) is None:
            reason = (
                f"{place} has no sharding rule: every device computes all of"
                f" {place.value or place.op} from whole operands"
            )
        elif isinstance(op, stablehlo.AllReduceOp):
            summary = "combines what each device computes of its shards"
            reason = (
                f"each device computes a part of every element of {place} from its"
                " shards: stage 11 combines them"
            )
        else:
            summary = "not computed from shards alone"
            reason = (
                f"stage 11 cannot compute {place} from shards alone: what a device needs"
                " is on others"
            )
        details = tuple(
            str(remark.message)
            for remark in self.recorded.remarks
            if remark.position is not None and remark.position == place.position
        )
        sides: list[Party] = []
        held = self.recorded.operands.get(step, ())
        for index, (value, sharding) in enumerate(held):
            stage_6 = self.at_stage_6(value)
            if sharding is None:
                continue
            # what is sent may have other dimensions than the operand: one of partial results
            for dim, dim_sharding in enumerate(sharding.dims):
                axes = dim_sharding.axes
                if collective.axes:
                    is_moved = lists_overlap(axes, collective.axes)
                else:
                    is_moved = bool(axes) and dim in dims
                if is_moved:
                    label = f"operand {index} ({self.places.called(stage_6)})"
                    sides.append(self._axes_side(label, stage_6, dim, axes))
        dims = tuple(sorted({dim for side in sides for dim in side.dims})) or dims
        story = _Story("local", place, summary, reason, dims, details, tuple(sides))
        return TracedCollective(self._answer(number, story), op=step)

    # Sides

    def at_stage_6(self, value: SSAValue) -> SSAValue:
        """The value that propagation knew, behind what later stages put before it."""
        recorded = self.recorded
        while isinstance(value, OpResult):
            if value.op in recorded.insertions:
                value = recorded.insertions[value.op].value
            elif value.op in recorded.constraints:
                value = recorded.constraints[value.op].results[0]
            elif value in recorded.moved:
                value = recorded.moved[value]
            else:
                break
        return value

    def _side(self, demand: Demand, tensor: int, dim: int, axes: Axes) -> Party:
        value = self.at_stage_6(demand.values[tensor])
        count = len(demand.op.operands)
        label = self.places.tensor(demand.op, count, tensor, value)
        return self._axes_side(label, value, dim, axes)

    def _axes_side(self, label: str, value: SSAValue, dim: int, axes: Axes) -> Party:
        known = self.recorded.sharding(value)
        causes: tuple[AxisCause, ...] = ()
        obstacles: tuple[Obstacle, ...] = ()
        if known is not None and dim < known.rank:
            here = tuple(
                axis
                for axis in known.dims[dim].axes
                if any(axis.overlaps(moved) for moved in axes)
            )
            causes = self.shardings.chains.causes(value, dim, here)
        if not axes and value in self.recorded.holders and dim < len(shape_of(value)):
            obstacles = self.shardings.obstacles.of(value, dim)
        note = None
        if axes and not causes:
            note = f"resharded for this op, to be split by {axes_text(axes)} here"
        return self._party(label, value, (dim,), causes, obstacles, note)

    def _value_side(self, label: str, value: SSAValue, dims: Sequence[int]) -> Party:
        known = self.recorded.sharding(value)
        causes: list[AxisCause] = []
        obstacles: list[Obstacle] = []
        for dim in dims:
            axes = known.dims[dim].axes if known is not None else ()
            causes.extend(self.shardings.chains.causes(value, dim, axes))
            if value in self.recorded.holders:
                obstacles.extend(self.shardings.obstacles.of(value, dim))
        return self._party(label, value, dims, causes, obstacles)

    def _party(
        self,
        label: str,
        value: SSAValue,
        dims: Sequence[int],
        causes: Sequence[AxisCause],
        obstacles: Sequence[Obstacle],
        note: str | None = None,
    ) -> Party:
        return Party(
            label,
            tuple(dims),
            self.places.name(value),
            self.places.value(value),
            sharding_text(self.recorded.sharding(value)),
            tuple(causes),
            tuple(obstacles),
            note,
            self.places.known(value),
        )


_NAMED = 4
"""How many of those that were joined to a collective its summary names."""


def _clash(place: Site, side: str, dim: int, label: str, had: Axes, gets: Axes) -> str:
    has, wants = (f"split by {axes_text(a)}" if a else "whole" for a in (had, gets))
    if side == "operand":
        return f"{place} needs dimension {dim} of {label} {wants}, and it is {has}"
    return f"{place} makes dimension {dim} of {label} {wants}, and it shall be {has}"


def _clash_in_short(side: str, dim: int, name: str, had: Axes, gets: Axes) -> str:
    has, wants = (axes_text(axes) if axes else "whole" for axes in (had, gets))
    verb = "needs" if side == "operand" else "makes"
    return f"{verb} dimension {dim} of {name} {wants}, not {has}"


def _projection_after(demand: Demand) -> Projection:
    """The factor shardings under which the op runs."""
    return project(demand.mesh, demand.rule, demand.after, closed_if_missing=True)


def _dimension(demand: Demand, tensor: int, factor: int) -> int:
    dim = dimension_of(demand.rule, tensor, factor)
    assert dim is not None, "only asked for factors of the tensor"
    return dim


def _moved_dims(
    collective: CountedCollective,
    op: Operation,
    step: Operation | None,
    before: TensorSharding | None,
    after: TensorSharding | None,
) -> tuple[int, ...]:
    """The dimensions that a collective changes, one step of a reshard.

    As the step has them: optimizations may have moved the op across a reshape.
    """
    match step:
        case sdy.AllGatherOp():
            return _dims_along(step.gathering_axes.data, collective, op)
        case sdy.ReduceScatterOp():
            return _dims_along(step.reduce_scatter_axes.data, collective, op)
        case sdy.AllToAllOp():
            params = step.params.data
            return tuple(sorted({d for p in params for d in (p.src_dim, p.tgt_dim)}))
        case _:
            pass
    known = before or after
    if known is None:
        return ()
    empty: tuple[Axes, ...] = ((),) * known.rank
    old = before.axes_per_dim if before is not None else empty
    new = after.axes_per_dim if after is not None else empty
    return tuple(
        i for i, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]
    )


def _dims_along(
    axes_per_dim: Sequence[Axes], collective: CountedCollective, op: Operation
) -> tuple[int, ...]:
    """The dimensions of a step that a collective's axes belong to."""
    along = collective.axes
    if along is None:
        dims = _own_dims(op)
        return dims if max(dims) < len(axes_per_dim) else ()
    return tuple(
        dim for dim, axes in enumerate(axes_per_dim) if lists_overlap(axes, along)
    )


def _own_dims(op: Operation) -> tuple[int, ...]:
    """The dimension that a StableHLO collective speaks of."""
    match op:
        case stablehlo.AllGatherOp():
            return (op.all_gather_dim.value.data,)
        case stablehlo.ReduceScatterOp():
            return (op.scatter_dimension.value.data,)
        case stablehlo.AllToAllOp():
            return op.concat_dimension.value.data, op.split_dimension.value.data
        case _:
            return tuple(range(sdy.tensor_rank(op.operands[0].type)))
