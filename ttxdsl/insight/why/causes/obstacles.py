"""Why a dimension is not sharded, or not further: what stood in the way, op by op.

At the fixed point of propagation every op that touches a value is asked once more: which
axes do its other operands and results have on the factors of the value's dimensions, and
which condition of the step (`ttxdsl.sharding.step`) keeps them away?
"""

from collections.abc import Iterator
from dataclasses import replace
from heapq import merge
from math import gcd

from xdsl.dialects.func import FuncOp
from xdsl.ir import OpResult, SSAValue

from ttxdsl.dialects.quant import scaled_dim
from ttxdsl.insight.why.answers import Conflict, Obstacle, Site
from ttxdsl.insight.why.causes.chains import Chains, preference_text
from ttxdsl.insight.why.causes.meetings import Meeting, Meetings
from ttxdsl.insight.why.places import (
    axes_text,
    axis_text,
    dimension_of,
    factor_text,
    sharding_text,
)
from ttxdsl.insight.why.trials.recording import Advance, Recorded
from ttxdsl.ir.data_flow import data_flow_of
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import Axes, AxisRef, is_prefix, total_size
from ttxdsl.sharding.projection import TensorFactors, project
from ttxdsl.sharding.step import PropagationDirection, Strategy
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass

_FARTHEST = 64
"""Ops to go upstream for an axis that was lost on the way."""


class Obstacles:
    """Finds and words what kept axes away, in one compiled program."""

    def __init__(self, recorded: Recorded, chains: Chains):
        self.recorded = recorded
        self.chains = chains
        self.places = chains.places
        self._known: dict[tuple[SSAValue, int], tuple[Obstacle, ...]] = {}
        self._meetings = Meetings(recorded)

    def of(self, value: SSAValue, dim: int) -> tuple[Obstacle, ...]:
        """Return the obstacles that kept axes off a dimension of a stage 6 value."""
        known = self._known.get((value, dim))
        if known is None:  # an op may take a value many times
            known = self._known[value, dim] = self._find(value, dim)
        return known

    def _find(self, value: SSAValue, dim: int) -> tuple[Obstacle, ...]:
        obstacles: dict[tuple[str, str | None, str], Obstacle] = {}
        dropped = self._uneven(value, dim)
        if dropped is not None:
            obstacles["uneven", None, ""] = dropped
        sharding = self.recorded.sharding(value)
        own = sharding.dims[dim] if sharding is not None else None
        meetings = list(self._meetings.at(value))
        for meeting in meetings:
            for obstacle in self._at(meeting, value, dim):
                obstacles.setdefault(
                    (obstacle.kind, obstacle.axis, obstacle.text), obstacle
                )
        if not obstacles and not (own and own.axes):
            lost = self._upstream(value, dim, meetings)
            for obstacle in lost or self._nobody(value, dim, meetings):
                obstacles.setdefault((obstacle.kind, None, obstacle.text), obstacle)
        return tuple(obstacles.values())

    # One op

    def _at(self, meeting: Meeting, value: SSAValue, dim: int) -> Iterator[Obstacle]:
        if meeting.at.mesh is None:
            if meeting.at.several_meshes:
                place = self.places.op(meeting.at.op)
                text = f"{place}: its tensors are on several meshes"
                yield Obstacle("different meshes", dim, text, None, place)
            return
        mine = meeting.at.tensors[meeting.tensor]
        for factor in meeting.at.rule.tensors[meeting.tensor][dim]:
            own = mine.factors.get(factor)
            if own is None:
                continue
            held = meeting.at.holders[factor].items()
            more = [them for axes, them in held if not is_prefix(axes, own.axes)]
            for other in merge(*more):
                if other != meeting.tensor:
                    yield self._obstacle(meeting, value, dim, factor, other)

    def _obstacle(
        self, meeting: Meeting, value: SSAValue, dim: int, factor: int, other: int
    ) -> Obstacle:
        """Why the axes that another tensor has on a factor did not come here."""
        rule, tensors = meeting.at.rule, meeting.at.tensors
        mine, theirs = tensors[meeting.tensor], tensors[other]
        own, axes = mine.factors[factor], theirs.factors[factor].axes
        place = self.places.op(meeting.at.op)
        from_ = self._end(meeting, other, factor)
        here = f"dimension {dim} of {self.places.called(value)}"
        if not is_prefix(own.axes, axes):
            conflict = self._prefix_conflict(meeting, factor, meeting.tensor, other)
            text = (
                f"{here} has {axes_text(own.axes)}, {from_} has {axes_text(axes)}:"
                f" {conflict.rule}"
            )
            name = axis_text(axes[0])
            return Obstacle("conflict", dim, text, name, place, conflict)
        # of the last axis there may be a part here and the whole there
        axis = axes[min(len(own.axes), len(axes) - 1)]
        name = axis_text(axis)
        head = f"{from_} has {axes_text(axes)}, but"
        if factor in rule.blocked:
            text = (
                f"{head} the rule of {place} blocks factor {factor_text(rule, factor)}"
            )
            return Obstacle("blocked factor", dim, text, name, place)
        if any(axis.overlaps(kept) for kept in mine.replicated):
            text = f"{head} {self.places.called(value)} lists {name} as replicated"
            return Obstacle("replicated axis", dim, text, name, place)
        if any(axis.overlaps(kept) for kept in mine.unreduced):
            text = f"{head} {self.places.called(value)} is unreduced along {name}"
            return Obstacle("unreduced axis", dim, text, name, place)
        taken = self._taken(mine, factor, axis)
        if taken is not None:
            conflict = self._axis_conflict(meeting, factor, taken, other, axis)
            if own.closed:
                rule_text = f"{conflict.rule}; and the other dimension is closed"
                conflict = replace(conflict, rule=rule_text)
            target = dimension_of(rule, meeting.tensor, taken)
            text = (
                f"{head} {name} splits dimension {target} of"
                f" {self.places.called(value)}: {conflict.rule}"
            )
            return Obstacle("conflict", dim, text, name, place, conflict)
        if own.closed:
            text = f"{head} {here} is closed{self._who_closed(value, dim)}"
            return Obstacle("closed dimension", dim, text, name, place)
        odd = self._does_not_fit(meeting, mine, factor, axis)
        if odd is not None:
            return Obstacle("not divisible", dim, f"{head} {odd}", name, place)
        third = self._third(meeting, factor, axis, len(own.axes))
        if third is not None:
            first, second = sorted((other, third))
            conflict = self._prefix_conflict(meeting, factor, first, second)
            text = f"{conflict.winner} meets {conflict.loser}: {conflict.rule}"
            return Obstacle("conflict", dim, text, None, place, conflict)
        objector = self._objector(meeting, factor, axis)
        if objector is not None:
            where, conflict = objector
            text = f"{head} {where} cannot follow: {conflict.rule}"
            return Obstacle("conflict", dim, text, name, place, conflict)
        if meeting.at.node.allowed not in (None, PropagationDirection.BOTH):
            text = f"{head} shardings pass {place} in one direction only"
            return Obstacle("direction", dim, text, name, place)
        if self.recorded.recorder is None:
            text = f"{head} {self.recorded.propagation.name} did not bring it here"
            return Obstacle("no op reached it", dim, text, name, place)
        text = (
            f"{head} {place} cannot hand it on: its shards would be strided, or only a"
            " part of the axis fits"
        )
        return Obstacle("not divisible", dim, text, name, place)

    def _end(self, meeting: Meeting, tensor: int, factor: int) -> str:
        value = meeting.at.values[tensor]
        count = len(meeting.at.rule.operands)
        if value is None:
            return "the result of the function"
        text = self.places.tensor(meeting.at.op, count, tensor, value)
        dim = dimension_of(meeting.at.rule, tensor, factor)
        return f"dimension {dim} of {text}"

    def _taken(self, tensor: TensorFactors, factor: int, axis: AxisRef) -> int | None:
        """The other factor of a tensor that an axis splits."""
        for other, sharding in tensor.factors.items():
            if other != factor and any(
                axis.overlaps(held) for held in (*sharding.axes, *sharding.overflow)
            ):
                return other
        return None

    def _does_not_fit(
        self, meeting: Meeting, mine: TensorFactors, factor: int, axis: AxisRef
    ) -> str | None:
        """Return why sizes rule out an axis on a factor, None if they do not."""
        rule, mesh = meeting.at.rule, meeting.at.mesh
        assert mesh is not None
        own, size = mine.factors[factor], rule.factor_sizes[factor]
        ways = axis.size_in(mesh)
        split = total_size(own.axes, mesh)
        if own.overflow:
            return (
                f"{axes_text(own.overflow)} of this dimension fits none of its factors,"
                " and nothing may follow it"
            )
        for dim in rule.tensors[meeting.tensor]:
            for major in dim[: dim.index(factor)] if factor in dim else ():
                axes = mine.factors[major].axes
                if total_size(axes, mesh) < rule.factor_sizes[major]:
                    return (
                        f"factor {factor_text(rule, factor)} stands behind"
                        f" factor {factor_text(rule, major)} in one dimension,"
                        f" which {axes_text(axes)} does not split up: shards would be"
                        " strided"
                    )
        if own.minor_most:
            return None
        if size % split or gcd(size // split, ways) != ways:
            text = factor_text(rule, factor)
            return (
                f"{axis_text(axis)}={ways} does not divide factor {text} of"
                f" {self.places.op(meeting.at.op)}, which other factors follow"
            )
        return None

    def _third(
        self, meeting: Meeting, factor: int, axis: AxisRef, position: int
    ) -> int | None:
        """A further tensor whose axes on the factor go on otherwise."""
        for index, tensor in enumerate(meeting.at.tensors):
            sharding = tensor.factors.get(factor)
            if index == meeting.tensor or sharding is None:
                continue
            if len(sharding.axes) > position and sharding.axes[position] != axis:
                return index
        return None

    def _objector(
        self, meeting: Meeting, factor: int, axis: AxisRef
    ) -> tuple[str, Conflict] | None:
        """A further tensor that cannot take the axis, which elementwise ops respect."""
        for index, tensor in enumerate(meeting.at.tensors):
            if index == meeting.tensor or factor not in tensor.factors:
                continue
            taken = self._taken(tensor, factor, axis)
            if taken is None:
                continue
            source = self._holder_of(meeting, factor, axis)
            if source is not None:
                conflict = self._axis_conflict(
                    meeting, factor, taken, source, axis, at=index
                )
                return self._end(meeting, index, factor), conflict
        return None

    def _holder_of(self, meeting: Meeting, factor: int, axis: AxisRef) -> int | None:
        for index, tensor in enumerate(meeting.at.tensors):
            own = tensor.factors.get(factor)
            if own is not None and any(held.overlaps(axis) for held in own.axes):
                return index
        return None

    # Conflicts

    def _claim(self, meeting: Meeting, tensor: int, factor: int) -> str:
        """Axes on a dimension, and the annotation that they come from."""
        axes = meeting.at.tensors[tensor].factors[factor].axes
        value = meeting.at.values[tensor]
        where = self._end(meeting, tensor, factor)
        if value is None or not axes:
            return f"{axes_text(axes)} on {where}"
        origin = self.chains.origin_text(value, axes[0])
        return f"{axes_text(axes)} on {where} ({origin})"

    def _prefix_conflict(
        self, meeting: Meeting, factor: int, winner: int, loser: int
    ) -> Conflict:
        """Two tensors shard one factor by axes that part after a common prefix."""
        tensors = meeting.at.tensors
        first = tensors[winner].factors[factor].axes
        second = tensors[loser].factors[factor].axes
        shared: list[AxisRef] = []
        for axis, other_axis in zip(first, second, strict=False):
            if axis != other_axis:
                break
            shared.append(axis)
        rule = (
            f"only the compatible prefix {axes_text(tuple(shared))} of"
            f" {axes_text(first)} and {axes_text(second)} goes on along factor"
            f" {factor_text(meeting.at.rule, factor)}"
        )
        rule += self._who_came_first(meeting, winner, first, loser, second)
        return Conflict(
            self.places.op(meeting.at.op),
            f"{axes_text(first)} or {axes_text(second)}",
            self._claim(meeting, winner, factor),
            self._claim(meeting, loser, factor),
            rule,
            decided=False,
        )

    def _who_came_first(
        self, meeting: Meeting, winner: int, first: Axes, loser: int, second: Axes
    ) -> str:
        mine, theirs = meeting.at.values[winner], meeting.at.values[loser]
        if mine is None or theirs is None or not first or not second:
            return ""
        early, late = self._arrival(mine, first[-1]), self._arrival(theirs, second[-1])
        if early is None and late is None:
            return "; both were annotated"
        texts = [
            "annotated" if step is None else f"step {step.number}"
            for step in (early, late)
        ]
        return f"; {axes_text(first)} was there by {texts[0]}, {axes_text(second)} by {texts[1]}"

    def _arrival(self, value: SSAValue, axis: AxisRef) -> Advance | None:
        """The step in which an axis came to a value; None if it was annotated."""
        last = next(self.recorded.hops_back(value, axis), None)
        recorder = self.recorded.recorder
        return (
            None if last is None or recorder is None else recorder.steps.get(last.step)
        )

    def _axis_conflict(
        self,
        meeting: Meeting,
        factor: int,
        taken: int,
        source: int,
        axis: AxisRef,
        *,
        at: int | None = None,
    ) -> Conflict:
        """An axis splits one dimension of a tensor and was wanted for another."""
        tensor = meeting.tensor if at is None else at
        return Conflict(
            self.places.op(meeting.at.op),
            axis_text(axis),
            self._claim(meeting, tensor, taken),
            self._claim(meeting, source, factor),
            self._why_first(meeting, tensor, taken, source, factor, axis),
        )

    def _why_first(
        self,
        meeting: Meeting,
        tensor: int,
        taken: int,
        source: int,
        factor: int,
        axis: AxisRef,
    ) -> str:
        """The rule by which the axis went to the factor that has it."""
        mine, theirs = meeting.at.values[tensor], meeting.at.values[source]
        head = f"{axis_text(axis)} can split one dimension only"
        if mine is None:
            return head
        step = self._arrival(mine, axis)
        if step is None:
            return f"{head}, and it was annotated there"
        other = None if theirs is None else self._arrival(theirs, axis)
        if step.op is meeting.at.op and (other is None or other.number < step.number):
            before = project(step.signature.mesh, step.signature.rule, step.shardings)
            both = all(
                any(
                    held_axis.overlaps(axis)
                    for held in before.tensors
                    if (own := held.factors.get(wanted))
                    for held_axis in own.axes
                )
                for wanted in (taken, factor)
            )
            if both and step.signature.strategy is Strategy.AGGRESSIVE:
                reason = preference_text(step.signature, before, taken, factor)
                return f"{head}; {reason}"
        mine_run = self.recorded.priority_of_run(step.run)
        if other is None:
            priority = self._user_priority(theirs, axis)
            if priority:
                return (
                    f"{head}; it came in step {step.number} ({mine_run}), the other was"
                    f" held back by its user priority p{priority}"
                )
            return f"{head}; it came here in step {step.number} ({mine_run})"
        their_run = self.recorded.priority_of_run(other.run)
        first = f"step {step.number}"
        second = f"step {other.number}"
        if their_run != mine_run:
            first += f" ({mine_run})"
            second += f" ({their_run})"
        return f"{head}; the order of steps: it came here in {first}, to the other in {second}"

    def _user_priority(self, value: SSAValue | None, axis: AxisRef) -> int:
        """The user priority of the annotation that brought an axis, 0 without."""
        if value is None or not isinstance(
            self.recorded.propagation, UserPriorityPropagatePass
        ):
            return 0
        holder = self.recorded.holders.get(value, value)
        sharding = self.recorded.initial.get(holder)
        for dim in sharding.dims if sharding is not None else ():
            if any(own.overlaps(axis) for own in dim.axes):
                return dim.priority_or_default
        return 0

    # What is not there at all

    def _uneven(self, value: SSAValue, dim: int) -> Obstacle | None:
        """Axes that propagation gave a dimension and that do not divide it."""
        then, now = self.recorded.sharding(value), self.recorded.evened(value)
        if then is None or now is None or then.dims[dim].axes == now.dims[dim].axes:
            return None
        assert self.recorded.propagated is not None
        graph = self.recorded.propagated.graph
        axes, size = then.dims[dim].axes, shape_of(value)[dim]
        ways = total_size(axes, graph.mesh_of(then))
        kept = now.dims[dim].axes
        rest = f"it is split by {axes_text(kept)} only" if kept else "it is kept whole"
        why = (
            "each slice has a scale of its own"
            if scaled_dim(element_of(value)) is not None
            else f"{ways} does not divide {size}"
        )
        text = (
            f"propagation split dimension {dim} of {self.places.called(value)} by"
            f" {axes_text(axes)}, but {why}: {rest}"
        )
        return Obstacle(
            "uneven", dim, text, axis_text(axes[-1]), self.places.value(value)
        )

    def _who_closed(self, value: SSAValue, dim: int) -> str:
        """The annotation that closed a dimension, in words."""
        holder = self.recorded.holders.get(value, value)
        written = self.recorded.initial.get(holder)
        if written is None or not written.dims[dim].closed:
            return ""
        return f" by its annotation {sharding_text(written)}"

    def _upstream(
        self, value: SSAValue, dim: int, meetings: list[Meeting]
    ) -> list[Obstacle]:
        """Return obstacles at the nearest values that would have handed axes on."""
        if self._is_closed(value, dim):
            return []
        seen = {(value, dim)}
        ring = list(self._tied(dim, meetings))
        for _ in range(_FARTHEST):
            obstacles: dict[tuple[str, str], Obstacle] = {}
            further: list[tuple[SSAValue, int]] = []
            for other, there in ring:
                if (other, there) in seen or self._is_closed(other, there):
                    continue
                seen.add((other, there))
                around = list(self._meetings.at(other))
                for meeting in around:
                    for obstacle in self._at(meeting, other, there):
                        upstream = f"dimension {there} of {self.places.called(other)}"
                        text = f"it would have come from {upstream}: {obstacle.text}"
                        lost = replace(obstacle, dim=dim, text=text, upstream=upstream)
                        obstacles.setdefault((obstacle.kind, obstacle.text), lost)
                further.extend(self._tied(there, around))
            if obstacles or not further:
                return list(obstacles.values())
            ring = further
        return []

    def _tied(
        self, dim: int, meetings: list[Meeting]
    ) -> Iterator[tuple[SSAValue, int]]:
        """The dimensions that the ops at a value split with one of its own."""
        seen: set[tuple[int, int]] = set()
        for meeting in meetings:
            rule = meeting.at.rule
            for factor in rule.tensors[meeting.tensor][dim]:
                if factor in rule.blocked or factor in rule.need_replication:
                    continue
                if (key := (id(meeting.at), factor)) in seen:
                    continue
                seen.add(key)
                for other, there in meeting.at.dimensions[factor].items():
                    held = meeting.at.values[other]
                    if held is not None:
                        yield held, there

    def _is_closed(self, value: SSAValue, dim: int) -> bool:
        """Whether the annotation of a value allows a dimension nothing more."""
        written = self.recorded.initial.get(self.recorded.holders.get(value, value))
        return written is not None and written.dims[dim].closed

    def _nobody(
        self, value: SSAValue, dim: int, meetings: list[Meeting]
    ) -> Iterator[Obstacle]:
        """No op brings an axis: which ops there are, and what they could bring."""
        called = self.places.called(value)
        if self._is_closed(value, dim):
            text = (
                f"dimension {dim} of {called} is closed{self._who_closed(value, dim)}"
            )
            yield Obstacle(
                "closed dimension", dim, text, None, self.places.value(value)
            )
            return
        without = list(self._without_rule(value, dim))
        yield from without
        asked: list[Site] = []
        others = 0
        for meeting in meetings:
            if meeting.at.node.behaviour is None or isinstance(meeting.at.op, FuncOp):
                continue
            others += 1
            mapping = meeting.at.rule.tensors[meeting.tensor][dim]
            place = self.places.op(meeting.at.op)
            alone = [f for f in mapping if not self._is_shared(meeting, f)]
            needs = [f for f in alone if f in meeting.at.rule.need_replication]
            if needs:
                factor = factor_text(meeting.at.rule, needs[0])
                text = f"factor {factor} of {place} needs replication"
                yield Obstacle("need-replication factor", dim, text, None, place)
            elif mapping and len(alone) == len(mapping):
                factor = factor_text(meeting.at.rule, alone[0])
                text = (
                    f"dimension {dim} of {called} is factor {factor} of {place}, which"
                    " no other operand or result of it has"
                )
                yield Obstacle("no op reached it", dim, text, None, place)
            else:
                asked.append(place)
        if asked:
            few = ", ".join(str(place) for place in asked[:3])
            more = f" and {len(asked) - 3} more" if len(asked) > 3 else ""
            text = (
                f"nothing around it has that dimension split: {few}{more} would pass it"
                f" on; no annotation reached dimension {dim} of {called}"
            )
            yield Obstacle("no op reached it", dim, text, None, asked[0])
        elif not others and not without:
            text = (
                f"no op that computes makes or uses {called}, and it is not annotated"
            )
            yield Obstacle(
                "no op reached it", dim, text, None, self.places.value(value)
            )

    def _is_shared(self, meeting: Meeting, factor: int) -> bool:
        """Whether another operand or result has the factor."""
        having = meeting.at.dimensions[factor]
        return len(having) > (meeting.tensor in having)

    def _without_rule(self, value: SSAValue, dim: int) -> Iterator[Obstacle]:
        """Ops at the value through which nothing passes."""
        original = self.recorded.original_value(value)
        if original is None or self.recorded.propagated is None:
            return
        graph = self.recorded.propagated.graph
        around = [use.operation for use in original.uses]
        if isinstance(original, OpResult):
            around.append(original.op)
        for op in around:
            if data_flow_of(type(op)) is not None:
                continue  # edges carry shardings through it
            for twin in self.recorded.twins.get(op, ())[:1]:
                number = graph.node_of(twin)
                if number is None or twin.regions or not (twin.results and op.operands):
                    continue
                node = graph.nodes[number]
                if node.prepared and not node.erased and node.behaviour is None:
                    place = self.places.op(twin)
                    text = f"{place} has no sharding rule: nothing passes through it"
                    yield Obstacle("no rule", dim, text, None, place)
