"""Stage 6 where bytes count: by priorities, or aggressively where that sends less.

Where shardings contradict each other, who comes first decides, and no order is always
best: with weights split over the axis of the batch, op priorities let those of the
weights win, so that the batch is gathered. What both ways would have devices send is
counted (`traffic.py`) before anything is planned. That is rough, for optimizations make up
for much of it: where it is less (of a large program with loops, too), the program goes on
both ways, and the cheaper one is stage 6: a small program to its end. Of a large one the
reshards of stage 8 decide, unless they come to something else than the first count did,
with loops, and not both to less than half, for then optimizations matter: then it goes by priorities if they say little,
and else to its end both ways.
Where nobody looks at the stages in between, what was done is kept.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import (
    Remark,
    collect_remarks,
    emit_remark,
    repeat_remarks,
)
from ttxdsl.dialects import sdy
from ttxdsl.ir.collector import discard_block
from ttxdsl.ir.traversal import all_ops, ops_of_type
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.collectives.program.bytes_sent import bytes_sent
from ttxdsl.transforms.shardy.importing.sdy_remove_size_one_axes import (
    remove_size_one_axes,
)
from ttxdsl.transforms.shardy.meshes import mesh_lookup
from ttxdsl.transforms.shardy.propagation.aggressive import AggressivePropagatePass
from ttxdsl.transforms.shardy.propagation.basic import PropagationPass
from ttxdsl.transforms.shardy.propagation.engine import Propagation
from ttxdsl.transforms.shardy.propagation.traffic import (
    Iterations,
    RoughTraffic,
    bits_in_loops,
    reshard_bytes,
    traffic,
)
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass

CLEARLY_LESS = 0.95
"""The part of the bytes of the one from which on the other is tried: lower, it misses what
pays, higher, most tries are for nothing (docs/evidence/decisions.md, 2026-11-27)."""

LARGE = 2_000
"""Ops from which on reshards decide, and not the program's end, which takes seconds."""

_ALIKE = 0.02
"""By how much both counts may differ in what they make of the ways, to be believed: of the
MaxText steps they differ by 0.01 where both are right, by 0.04 and more where one is not."""

_CLEAR = 0.5
"""The ratio up to which both counts are believed however much they differ: what reshards say
was at most 0.26 off the end."""

_TO_RESHARDS = 2
"""Stages from propagation to the one that inserts reshards."""

Steps = TypeVar("Steps")

GoOn = Callable[[Context, ModuleOp], Iterator[Steps]]
"""Takes a program from behind stage 6 on, a stage a step."""


@dataclass(slots=True)
class _Trial(Generic[Steps]):
    """A program that goes on from stage 6 one way, as far as it is advanced."""

    way: PropagationPass
    module: ModuleOp
    steps: Iterator[Steps]
    done: list[Steps] = field(default_factory=list[Steps])
    remarks: list[Remark] = field(default_factory=list[Remark])
    error: CompileError | None = None

    def advance(self, stages: int | None = None) -> None:
        """Run some stages, all that are left if None; keep what they say."""
        with collect_remarks() as remarks:
            try:
                self.done.extend(islice(self.steps, stages))
            except CompileError as error:
                self.error = error
        self.remarks += remarks

    def reshards(self) -> int | None:
        """Go on to stage 8; return what its reshards send, None if it is refused."""
        self.advance(_TO_RESHARDS)
        return None if self.error else reshard_bytes(self.module)

    def sent(self) -> int | None:
        """Go on to the end; return what devices send, None if it is refused."""
        if not self.error:
            self.advance()
        return None if self.error else bytes_sent(self.module)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The bytes sent by priority and the other way, None where that is refused."""

    before: int | None
    after: int | None
    counted: str = "a device sends"
    enough: float = 1.0
    """The ratio from which on the other way sends too much to be taken."""

    @property
    def is_less(self) -> bool:
        """Return True if the other way sends less."""
        return None not in (self.before, self.after) and self.ratio < self.enough

    @property
    def ratio(self) -> float:
        """The bytes of the other way by those by priority, both of which are known."""
        return (self.after or 0) / max(1, self.before or 0)


def _compared(
    prior: _Trial[Steps], other: _Trial[Steps], expected: float | None
) -> _Comparison:
    """Advance two ways until it is known which one sends less."""
    if expected is not None:
        reshards = _Comparison(prior.reshards(), other.reshards(), "reshards send")
        if None not in (reshards.before, reshards.after):
            is_clear = max(reshards.ratio, expected) <= _CLEAR
            if is_clear or abs(reshards.ratio - expected) <= _ALIKE:
                return reshards
            if reshards.ratio >= 1 - _ALIKE:  # doubtful, and little to gain
                return replace(reshards, enough=1 - _ALIKE)
    return _Comparison(prior.sent(), other.sent())


class PropagationWays(NamedTuple):
    """The ways that stage 6 may go, each with its outcome before it is put into the IR.

    Attributes:
        first: by priorities.
        other: aggressively, None if it is not tried.
        expected: the bytes of the other by those of the first, as propagation says with
            loops; None of a small program, whose end decides.
    """

    first: tuple[PropagationPass, Propagation]
    other: tuple[PropagationPass, Propagation] | None = None
    expected: float | None = None


@dataclass(frozen=True)
class LessTrafficPropagatePass(UserPriorityPropagatePass):
    """Propagate by priorities, or aggressively if devices then send less.

    Priorities that a program gives decide: then it is always by these.

    Options:
        rest: the rest of the pipeline, as far as bytes can be counted.
    """

    rest: GoOn[object] | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        way, propagation = self.chosen(ctx, op)
        if propagation is None:
            propagation = Propagation(op)
            way.propagate(propagation)
        propagation.finish(keep_rules=self.keep_sharding_rules)

    def finish_with(
        self, ctx: Context, module: ModuleOp, go_on: GoOn[Steps]
    ) -> list[Steps] | None:
        """Propagate, and where both ways are tried, take the cheaper one to its end.

        Args:
            module: the program, which is changed.
            go_on: takes a program from behind stage 6 to its end.

        Returns:
            What was done, None if the program is only behind stage 6.

        Raises:
            CompileError: the program is refused by priority, and going on.
        """
        (_, first), other, expected = self.candidates(module)
        if other is None:
            first.finish(keep_rules=self.keep_sharding_rules)
            return None
        way, second = other
        copy = finished_copy(module, second, way)
        first.finish(keep_rules=self.keep_sharding_rules)
        prior = _Trial(self, module, go_on(ctx, module))
        trial = _Trial(way, copy, go_on(ctx, copy))
        comparison = _compared(prior, trial, expected)
        if comparison.is_less:
            trial.advance()
            if trial.error is None:
                self._remark(way, comparison)
                repeat_remarks(trial.remarks)
                _replace_body(module, copy)
                return trial.done
        if prior.error is None:
            prior.advance()
        repeat_remarks(prior.remarks)
        if prior.error is not None:
            raise prior.error
        return prior.done

    def candidates(
        self, module: ModuleOp, start: Propagation | None = None
    ) -> PropagationWays:
        """Return by priority, and aggressively too where it takes bytes to decide.

        Of several only one may be finished in the module, see `finished_copy`. Its dead
        ops are erased, and axes of size one go out of its shardings if devices then send
        less. `start`, a propagation of the module that has not run, is what runs first.
        """
        by_priority, first = UserPriorityPropagatePass(), start or Propagation(module)
        graph = first.graph
        given = [graph.sharding_of(place) for place in graph.places_with_shardings()]
        by_priority.propagate(first)
        now = traffic(graph)
        if now.moved and _has_axes_of_size_one(module, given):
            first, now = _without_size_one_axes(module, first, now)
        has_priorities = any(
            dim.priority_or_default
            for sharding in given
            if sharding
            for dim in sharding.dims
        )
        if has_priorities or not now.moved:  # nothing contradicts
            return PropagationWays((by_priority, first))
        aggressive = AggressivePropagatePass()
        second = first.restarted()
        aggressive.propagate(second)
        if traffic(second.graph).bits < CLEARLY_LESS * now.bits:
            expected = _expected(module, first, second)
            if expected is None or expected < CLEARLY_LESS:
                return PropagationWays(
                    (by_priority, first), (aggressive, second), expected
                )
        return PropagationWays((by_priority, first))

    def chosen(
        self, ctx: Context, module: ModuleOp, start: Propagation | None = None
    ) -> tuple[PropagationPass, Propagation | None]:
        """Return the better pass, and its outcome where there was nothing to compare.

        In the module only dead ops are erased. `start` is that of `candidates`.
        """
        (by_priority, first), tried, expected = self.candidates(module, start)
        if tried is None:
            return by_priority, first
        assert self.rest is not None, "given by the pipeline"
        aggressive, second = tried
        prior, other = (
            _Trial(way, copy, self.rest(ctx, copy))
            for way, copy in (
                (by_priority, finished_copy(module, first, by_priority)),
                (aggressive, finished_copy(module, second, aggressive)),
            )
        )
        comparison = _compared(prior, other, expected)
        if not comparison.is_less:
            return by_priority, None
        self._remark(aggressive, comparison)
        return aggressive, None

    def _remark(self, way: PropagationPass, comparison: _Comparison) -> None:
        before, after = comparison.before, comparison.after
        assert before is not None and after is not None, "the other way sends less"
        emit_remark(
            f"stage 6 is {way.name}, since shardings contradict each other:"
            f" {comparison.counted} {bytes_text(after)} with it,"
            f" {bytes_text(before)} with {self.name}"
        )


def finished_copy(
    module: ModuleOp, propagation: Propagation, way: PropagationPass
) -> ModuleOp:
    """Return a copy of a module with its shardings propagated; the module keeps its own.

    Args:
        propagation: the outcome, which is put into the IR this once.
    """
    written = _Written(module)
    propagation.finish(keep_rules=way.keep_sharding_rules)
    copy = module.clone()
    written.restore()
    return copy


class _Written:
    """The attributes of all ops of a module, which can be put back."""

    def __init__(self, module: ModuleOp):
        self._ops = [
            (op, {**op.attributes}, {**op.properties}) for op in all_ops(module)
        ]

    def restore(self) -> None:
        """Give all ops their attributes back."""
        for op, attributes, properties in self._ops:
            op.attributes, op.properties = attributes, properties


def _expected(
    module: ModuleOp, first: Propagation, second: Propagation
) -> float | None:
    """Return by what the second sends the bytes of the first; None of a small program."""
    if len(all_ops(module)) < LARGE:
        return None
    iterations = Iterations(module)
    before, after = (bits_in_loops(each.graph, iterations) for each in (first, second))
    return after / max(1, before)


def _replace_body(module: ModuleOp, other: ModuleOp) -> None:
    """Move the body of another module into a module."""
    module.properties, module.attributes = other.properties, other.attributes
    replaced, chosen = module.body.block, other.body.block
    module.body.detach_block(replaced)
    discard_block(replaced)
    other.body.detach_block(chosen)
    module.body.add_block(chosen)


def _has_axes_of_size_one(
    module: ModuleOp, shardings: Iterable[TensorSharding | None]
) -> bool:
    mesh_of = mesh_lookup(module)
    return any(
        axis.size_in(mesh_of(sharding)) == 1
        for sharding in shardings
        if sharding
        for axis in sharding.all_axes
    )


def _without_size_one_axes(
    module: ModuleOp, first: Propagation, now: RoughTraffic
) -> tuple[Propagation, RoughTraffic]:
    """Propagate without axes of size one; keep them if devices do not send less then.

    Collectives that a program has may be gone without them: then they stay, too.

    Args:
        module: the program, from whose shardings they go out.
        first: its shardings by priority, with them.
        now: what devices send then.

    Returns:
        The better propagation, with what devices send.
    """
    if ops_of_type(module, sdy.CollectiveOp):
        return first, now
    written = _Written(module)
    remove_size_one_axes(module)
    larger = first.restarted()
    UserPriorityPropagatePass().propagate(larger)
    if (sent := traffic(larger.graph)).bits < now.bits:
        return larger, sent
    written.restore()
    return first, now
