"""From an axis on a value back to the annotation that put it there, step by step.

A step is looked at again with the functions that made it (`ttxdsl.sharding.step`): so
the factor along which an axis came, and what else wanted it in the same step, are read
off the step itself.
"""

from dataclasses import replace
from math import prod
from typing import Literal, TypeVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ttxdsl.analysis.calls.function_attributes import result_names
from ttxdsl.dialects import sdy
from ttxdsl.dialects.sdy import EdgeNodeType, EdgeValueRef
from ttxdsl.insight.why.answers import AxisCause, ChainStep, Conflict, Origin, Site
from ttxdsl.insight.why.places import (
    Places,
    axes_text,
    axis_text,
    dimension_of,
    factor_kind,
    factor_text,
    sharding_text,
)
from ttxdsl.insight.why.trials.recording import Advance, Recorded
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.sharding.axes import Axes, AxisRef, is_prefix, total_size
from ttxdsl.sharding.projection import Projection, project
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.sharding.step import StepSignature, Strategy, axes_to_propagate, spread
from ttxdsl.transforms.shardy.propagation.history import Hop


def source_size(signature: StepSignature, projection: Projection, factor: int) -> int:
    """Elements of the largest tensor that a factor's axes come from, as a step counts."""
    axes = axes_to_propagate(projection, factor, signature.directions[factor])
    sizes = signature.rule.factor_sizes
    return max(
        (
            prod(sizes[other] for other in tensor.factors)
            for tensor in projection.tensors
            if (own := tensor.factors.get(factor))
            and axes
            and is_prefix(axes, own.axes)
        ),
        default=0,
    )


def preference_text(
    signature: StepSignature, projection: Projection, winner: int, loser: int
) -> str:
    """Why the aggressive strategy serves one factor of a step before another.

    Source: `ttxdsl.sharding.step`, the order of preference.
    """
    rule = signature.rule
    first, second = factor_text(rule, winner), factor_text(rule, loser)
    ours = source_size(signature, projection, winner)
    theirs = source_size(signature, projection, loser)
    head = "aggressive strategy"
    if ours != theirs:
        return (
            f"{head}: factor {first} comes from the larger tensor"
            f" ({ours} elements, factor {second} from {theirs})"
        )
    if signature.elementwise:
        shards = [
            total_size(
                axes_to_propagate(projection, factor, signature.directions[factor]),
                signature.mesh,
            )
            for factor in (winner, loser)
        ]
        if shards[0] != shards[1]:
            return (
                f"{head}: sources are equally large ({ours} elements), factor {first} is"
                f" split {shards[0]} ways and factor {second} {shards[1]} ways"
            )
    return (
        f"{head}: sources are equally large ({ours} elements), the one that comes first"
        " in the op is served first"
    )


_Rivals = list[tuple[int, str]]
"""Other factors that want an axis, each with why it does not get it."""

_KeyT = TypeVar("_KeyT")
_AnswerT = TypeVar("_AnswerT")


def _of_step(
    memo: IdentityMemo[dict[_KeyT, _AnswerT]], step: Advance
) -> dict[_KeyT, _AnswerT]:
    """Return what is known of a step, wherever it is taken."""
    key = id(step.signature), id(step.shardings)
    known = memo.get(key)
    return memo.keep(key, {}, step) if known is None else known


def _new_rivals(step: Advance, tensor: int, factor: int, axis: AxisRef) -> _Rivals:
    """Return the factors that lose an axis on a tensor to a factor."""
    signature = step.signature
    before = project(signature.mesh, signature.rule, step.shardings)
    rivals: _Rivals = []
    for rival, own in before.tensors[tensor].factors.items():
        wanted = axes_to_propagate(before, rival, signature.directions[rival])
        if rival == factor or not any(held.overlaps(axis) for held in wanted):
            continue
        if any(held.overlaps(axis) for held in own.axes):
            continue
        if signature.strategy is Strategy.AGGRESSIVE:
            text = preference_text(signature, before, factor, rival)
        else:
            text = "basic strategy: the factor that comes first in the op"
        rivals.append((rival, text))
    return rivals


_KEPT_EVERY = 128
"""Hops of a long chain between two whose steps are kept for chains that branch off."""


class Chains:
    """Finds and words the causes of shardings of one compiled program."""

    def __init__(self, recorded: Recorded, places: Places):
        self.recorded = recorded
        self.places = places
        # chains of values that follow each other share their hops
        self._steps = IdentityMemo[ChainStep]()
        self._chains = IdentityMemo[tuple[SSAValue, tuple[ChainStep, ...]]]()
        # layers that are alike share their steps, see `StepMemo.in_full`
        self._factors = IdentityMemo[dict[tuple[int, AxisRef], int]]()
        self._rivals_of = IdentityMemo[dict[tuple[int, int, AxisRef], _Rivals]]()

    def cause(self, value: SSAValue, dim: int, axis: AxisRef) -> AxisCause:
        """Why an axis splits a dimension of a value (of stage 6)."""
        first, steps = self._chain(value, axis)
        return AxisCause(dim, axis_text(axis), self.origin(first, value, axis), steps)

    def causes(self, value: SSAValue, dim: int, axes: Axes) -> tuple[AxisCause, ...]:
        """The same for each of some axes."""
        return tuple(self.cause(value, dim, axis) for axis in axes)

    def origin_text(self, value: SSAValue, axis: AxisRef) -> str:
        """Return the origin of an axis on a value, in a few words."""
        first, _ = self._chain(value, axis)
        return self.origin(first, value, axis).text

    def _chain(
        self, value: SSAValue, axis: AxisRef
    ) -> tuple[SSAValue, tuple[ChainStep, ...]]:
        """Return the value that had an axis first, and the steps from it to a value."""
        hops: list[Hop] = []
        first, steps = value, ()
        for hop in self.recorded.hops_back(value, axis):
            known = self._chains.get(id(hop))
            if known is not None:
                first, steps = known
                break
            hops.append(hop)
            first = hop.source_value
        hops.reverse()
        for start in range(0, len(hops), _KEPT_EVERY):
            part = hops[start : start + _KEPT_EVERY]
            steps = (*steps, *map(self._known_step, part))
            self._chains.keep(id(part[-1]), (first, steps), part[-1])
        return first, steps

    # Origins

    def origin(self, first: SSAValue, value: SSAValue, axis: AxisRef) -> Origin:
        """The annotation that put an axis on `first`, from where it came to `value`."""
        recorded, recorder = self.recorded, self.recorded.recorder
        name = recorded.origin(first, axis) or recorded.origin(value, axis)
        place = self.places.value(first)
        called = self.places.called(first)
        own = sharding_text(recorded.initial.get(recorded.holders.get(first, first)))
        if name is None or recorder is None:
            given = recorded.original_value(first)
            owner = None if given is None else sdy.owning_op(given)
            if isinstance(given, BlockArgument) and isinstance(
                owner, sdy.ManualComputationOp
            ):
                text = (
                    f"a manual computation takes operand {given.index} as"
                    f" {sharding_text(owner.in_shardings.data[given.index])}"
                )
                return Origin("manual computation", text, place, given.index)
            if recorder is None and not recorded.skipped:
                text = f"{recorded.propagation.name} put it on {called}"
                return Origin("unknown", text, place)
            return Origin("unknown", f"{called} had it from the start", place)
        head, _, number = name.partition(":")
        index = int(number) if number else None
        written = self._own_annotation(first, axis)
        if written is not None and head not in ("input", "output"):
            # the history names constraints and borders first, also of what has its own
            given = recorded.original_value(first)
            if isinstance(given, BlockArgument):
                head, index = "input", given.index
            else:
                text = f"{called} is annotated {sharding_text(written)}"
                return Origin("op", text, place)
        if head == "input" and index is not None:
            return self._argument(place, called, index, own)
        if head == "output" and index is not None:
            return self._result(index)
        op = recorder.op_of_origin(name)
        where = place if op is None else self.places.op(op)
        if isinstance(op, sdy.ShardingConstraintOp):
            wants = sharding_text(op.sharding.data)
            text = f"a sharding constraint on {called} asks for {wants}"
            return Origin("constraint", text, where, int(head.rpartition("_")[2]))
        if isinstance(op, sdy.ManualComputationOp) and index is not None:
            inwards = head.endswith("_input")
            shardings = op.in_shardings if inwards else op.out_shardings
            text = (
                f"a manual computation {'takes operand' if inwards else 'makes result'}"
                f" {index} as {sharding_text(shardings.data[index])}"
            )
            return Origin("manual computation", text, where, index)
        return Origin("op", f"{called} is annotated {own}", where, index)

    def _own_annotation(self, value: SSAValue, axis: AxisRef) -> TensorSharding | None:
        """The sharding that the program wrote on a value, if it names the axis."""
        given = self.recorded.original_value(value)
        if given is None or isinstance(sdy.owning_op(given), sdy.ShardingOp):
            return None
        function = self.places.names.entry
        if isinstance(given, BlockArgument) and sdy.owning_op(given) is not function:
            return None
        written = sdy.get_sharding(given)
        if written is None or isinstance(sdy.owning_op(given), sdy.ManualComputationOp):
            return None
        return written if axis in written.sharding_axes else None

    def _argument(
        self, place: Site, called: str, index: int, own: str | None
    ) -> Origin:
        written = sdy.get_func_argument_sharding(self.places.names.entry, index)
        if place.scope and place.scope not in called:
            called = f"{called}, {place.scope}"
        if written is None or self.recorded.invented:
            text = f"stage 4 found the batch in argument {index} ({called}): {own}"
        else:
            text = f"argument {index} ({called}) is annotated {sharding_text(written)}"
        return Origin("argument", text, place, index)

    def _result(self, index: int) -> Origin:
        function = self.places.names.entry
        written = sharding_text(sdy.get_func_result_sharding(function, index))
        name = result_names(function)[index]
        called = f"result {index} ({name})" if name else f"result {index}"
        text = f"{called} of the function is annotated {written}"
        place = replace(self.places.op(function), scope=name)
        return Origin("result", text, place, index)

    # Steps

    def _known_step(self, hop: Hop) -> ChainStep:
        """A step in words."""
        known = self._steps.get(id(hop))
        if known is None:
            known = self._steps.keep(id(hop), self._step(hop), hop)
        return known

    def _step(self, hop: Hop) -> ChainStep:
        recorder = self.recorded.recorder
        assert recorder is not None
        step = recorder.steps.get(hop.step)
        if step is None or isinstance(hop.op, sdy.ShardingGroupOp):
            return self._group_step(hop)
        rule, count = step.signature.rule, len(step.signature.rule.operands)
        target = _index(hop.target, count)
        source = _index(hop.source, count)
        factor = self._factor(step, target, hop.axis)
        return ChainStep(
            step=hop.step,
            place=self.places.op(hop.op),
            axis=axis_text(hop.axis),
            source=self._end(hop.op, step, source, hop.source_value, factor),
            target=self._end(hop.op, step, target, hop.target_value, factor),
            factor=factor_text(rule, factor),
            factor_kind=factor_kind(rule, factor),
            direction=_direction(hop.source, hop.target),
            priority=self.recorded.priority_of_run(step.run),
            conflicts=self._rivals(step, target, factor, hop.axis),
        )

    def _group_step(self, hop: Hop) -> ChainStep:
        return ChainStep(
            step=hop.step,
            place=self.places.op(hop.op),
            axis=axis_text(hop.axis),
            source=self.places.called(hop.source_value),
            target=self.places.called(hop.target_value),
            factor="",
            factor_kind="pass-through",
            direction="group",
            priority="a sharding group is brought into line at once",
        )

    def _end(
        self,
        op: Operation,
        step: Advance,
        tensor: int,
        value: SSAValue,
        factor: int,
    ) -> str:
        rule = step.signature.rule
        text = self.places.tensor(op, len(rule.operands), tensor, value)
        dim = dimension_of(rule, tensor, factor)
        return text if dim is None else f"{text} dimension {dim}"

    def _factor(self, step: Advance, tensor: int, axis: AxisRef) -> int:
        """The factor along which an axis came to a tensor in a step."""
        factors = _of_step(self._factors, step)
        if (tensor, axis) not in factors:
            factors[tensor, axis] = self._new_factor(step, tensor, axis)
        return factors[tensor, axis]

    def _new_factor(self, step: Advance, tensor: int, axis: AxisRef) -> int:
        signature = step.signature
        before = project(signature.mesh, signature.rule, step.shardings)
        after = project(signature.mesh, signature.rule, step.shardings)
        spread(signature, after)
        for factor, sharding in after.tensors[tensor].factors.items():
            old = before.tensors[tensor].factors[factor].axes
            new = [new_axis for new_axis in sharding.axes if new_axis not in old]
            if any(new_axis.overlaps(axis) for new_axis in new):
                return factor
        return 0

    def _rivals(
        self, step: Advance, tensor: int, factor: int, axis: AxisRef
    ) -> tuple[Conflict, ...]:
        """Return conflicts over the axis on this tensor, or over the factor."""
        if isinstance(step.op, FuncOp):
            return ()
        rivals = _of_step(self._rivals_of, step)
        key = tensor, factor, axis
        if key not in rivals:
            rivals[key] = _new_rivals(step, tensor, factor, axis)
        return tuple(
            self._conflict(step, axis, factor, rival, text)
            for rival, text in rivals[key]
        )

    def _conflict(
        self, step: Advance, axis: AxisRef, factor: int, rival: int, text: str
    ) -> Conflict:
        return Conflict(
            place=self.places.op(step.op),
            axis=axis_text(axis),
            winner=self._claim(step, factor, axis),
            loser=self._claim(step, rival, axis),
            rule=text,
        )

    def _claim(self, step: Advance, factor: int, axis: AxisRef) -> str:
        """A factor's claim to an axis: who brings it, and from where."""
        rule = step.signature.rule
        projection = project(step.signature.mesh, rule, step.shardings)
        for index, tensor in enumerate(projection.tensors):
            own, value = tensor.factors.get(factor), step.values[index]
            if own is None or value is None:
                continue
            if any(held.overlaps(axis) for held in own.axes):
                where = self._end(step.op, step, index, value, factor)
                origin = self.origin_text(value, axis)
                return f"{axes_text(own.axes)} on {where} ({origin})"
        return f"factor {factor_text(rule, factor)}"


def _index(reference: EdgeValueRef, operands: int) -> int:
    is_result = reference.type is EdgeNodeType.RESULT
    return reference.index + operands if is_result else reference.index


def _direction(
    source: EdgeValueRef, target: EdgeValueRef
) -> Literal["forward", "backward", "across"]:
    if source.type is target.type:
        return "across"
    return "backward" if source.type is EdgeNodeType.RESULT else "forward"
