"""When the ops of a per-device program run: computing, collectives, and what overlaps.

Every op is a task (`ttxdsl.costs.schedule`) that takes as long as the machine says,
from the work that it does (`ttxdsl.analysis.usage.work`) or the bytes that it sends, and waits
for what makes its operands. Neighbouring collectives of one kind among the same devices
are one, as long as none needs another and they are no more bytes than the machine
combines. A loop is one task that takes all its iterations, in which what its body does overlaps
by itself; of branches the dearest counts.

This is the one place where a program gets a time: `doctor` ranks by it, `why`, `report` and
budgets quote from it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, OpResult

from ttxdsl.analysis.calls.call_graph import CALLING, called_by, callees
from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.collectives import (
    CountedCollective,
    collective_ops,
    device_runs,
    list_collectives,
    short_name,
)
from ttxdsl.analysis.usage.moved.traffic import HbmTraffic
from ttxdsl.analysis.usage.work import (
    bytes_touched,
    computes,
    features,
    flops,
    is_function,
    is_joined,
    operations,
    product_numbers,
)
from ttxdsl.costs.machines import Machine
from ttxdsl.costs.schedule import Lane, Schedule, Task, schedule
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.calls.kernels import is_kernel
from ttxdsl.ir.captures import Captures
from ttxdsl.ir.traversal import all_ops
from ttxdsl.rules.registry import Signatures

_AROUND = (sdy.ManualComputationOp, sdy.NamedComputationOp, stablehlo.AsyncStartOp)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a device does.

    Attributes:
        lane: `compute`, `link`, or `both` for a loop or a branch as a whole.
        name: of the op, `dot_general`; of collectives that are one `4 all_reduce`.
        start: seconds from the start of the program; in a loop of its first iteration.
        seconds: how long it takes, of a loop all iterations.
        times: how often it runs.
        depth: how many loops and calls it stands in.
        ops: what it is of.
    """

    lane: Lane
    name: str
    start: float
    seconds: float
    times: int
    depth: int
    ops: tuple[Operation, ...] = field(repr=False, default=())


@dataclass(frozen=True)
class Timeline:
    """The events and times of one device in one run of a program.

    Attributes:
        seconds: until all is done.
        compute_seconds: how long it computes.
        link_seconds: how long collectives take, also those that computing hides.
        parts: its own events, and what others do inside of it.
    """

    seconds: float
    compute_seconds: float
    link_seconds: float
    parts: "tuple[Event | Part, ...]" = field(default=(), repr=False)

    @property
    def hidden_seconds(self) -> float:
        """The time of collectives that computing hides."""
        return max(0.0, self.compute_seconds + self.link_seconds - self.seconds)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events of all parts, in the order of their starts."""
        events: list[Event] = []
        pending = [(part, 0.0, 1, 0) for part in reversed(self.parts)]
        while pending:
            part, start, times, depth = pending.pop()
            start += part.start
            times *= part.times
            depth += part.depth
            if isinstance(part, Event):
                events.append(replace(part, start=start, times=times, depth=depth))
            else:
                pending += [
                    (inner, start, times, depth)
                    for inner in reversed(part.timeline.parts)
                ]
        events.sort(key=lambda event: (event.start, event.depth))
        return tuple(events)


class Part(NamedTuple):
    """A timeline inside another: where it starts, how often it runs, how much deeper."""

    timeline: Timeline
    start: float
    times: int
    depth: int


_NOTHING = Timeline(0.0, 0.0, 0.0)


def timeline(
    module: ModuleOp,
    machine: Machine,
    trip_count: int | None = None,
    *,
    runs: Runs | None = None,
    collectives: Sequence[CountedCollective] | None = None,
    traffic: HbmTraffic | None = None,
    originals: Mapping[Operation, Operation] | None = None,
) -> Timeline:
    """When what a per-device program does happens.

    Args:
        module: the program, in StableHLO with local shapes.
        trip_count: iterations of loops whose number the program does not say.
        runs: what `device_runs` found, if somebody asked already.
        collectives: what `list_collectives` found, likewise.
        traffic: the bytes of memory that ops move as a compiler fuses them; by default
            only elementwise ops are fused, into the one that reads them.
        originals: of a copy of a program, the ops that events are of.

    Raises:
        CompileError: a collective whose groups contradict themselves.
    """
    runs = runs or device_runs(module, trip_count)
    if collectives is None:
        collectives = list_collectives(module, runs=runs)
    planner = _Planner(
        module, machine, runs, collectives, trip_count, traffic, originals
    )
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    called = set(callees(module))
    entries = [
        function for function in functions if function.sym_name.data not in called
    ]
    timelines = [planner.of_function(entry) for entry in entries]
    return max(timelines, key=lambda timeline: timeline.seconds, default=_NOTHING)


@dataclass(slots=True)
class _Planned:
    """A task with what it shows."""

    lane: Lane
    seconds: float
    name: str
    ops: list[Operation]
    after: set[int] = field(default_factory=set[int])
    inner: Timeline | None = None
    iterations: int = 1


class _Planner:
    def __init__(
        self,
        module: ModuleOp,
        machine: Machine,
        runs: Runs,
        collectives: Sequence[CountedCollective],
        trip_count: int | None,
        traffic: HbmTraffic | None,
        originals: Mapping[Operation, Operation] | None,
    ):
        self.traffic, self.originals = traffic, originals or {}
        self.machine, self.runs, self.trip_count = machine, runs, trip_count
        ops = collective_ops(module)
        # what a call that is not priced computes is all that is known of it
        self.collectives = {
            op: collective
            for op, collective in zip(ops, collectives, strict=True)
            if collective.is_priced
        }
        self.functions = {
            op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)
        }
        self._known: dict[Block, Timeline] = {}
        self._captures = Captures()
        self._signatures = Signatures()
        self._entered: list[str] = []

    def of_function(self, function: FuncOp) -> Timeline:
        """Return the timeline of a function, each time that it is called."""
        name = function.sym_name.data
        if name in self._entered or not function.body.blocks:
            return _NOTHING
        self._entered.append(name)
        timeline = self.of_block(function.body.block)
        self._entered.pop()
        return timeline

    def of_block(self, block: Block) -> Timeline:
        """Return the timeline of a block, each time that it runs."""
        if block not in self._known:
            self._known[block] = self._find(block)
        return self._known[block]

    def _find(self, block: Block) -> Timeline:
        planned: list[_Planned] = []
        task_of: dict[Operation, int] = {}
        depth_of: dict[Operation, int] = {}
        combining: dict[object, tuple[int, int]] = {}
        for op in block.ops:
            needed = self._needed(op, task_of)
            after = {task_of[producer] for producer in needed}
            depth = max((depth_of[producer] for producer in needed), default=0)
            task = self._plan(op)
            if op in self.collectives:
                depth += 1
                at = self._combined(op, task, depth, combining, planned)
            else:
                at = len(planned)
                planned.append(task)
            planned[at].after |= after
            task_of[op], depth_of[op] = at, depth
        tasks = [Task(task.lane, task.seconds, tuple(task.after)) for task in planned]
        done = schedule(tasks, overlap=self.machine.overlap > 0)
        return self._timeline(planned, done)

    def _needed(self, op: Operation, known: dict[Operation, int]) -> set[Operation]:
        """Return the ops of the block whose results an op or its regions use."""
        return {
            value.op
            for value in self._captures.used_by(op)
            if isinstance(value, OpResult) and value.op in known
        }

    def _combined(
        self,
        op: Operation,
        task: _Planned,
        depth: int,
        combining: dict[object, tuple[int, int]],
        planned: list[_Planned],
    ) -> int:
        """Return the number of the task of a collective, which others may be part of.

        Collectives that as many others come before on the longest way to them do not
        need each other.
        """
        collective = self.collectives[op]
        key = collective.kind, collective.groups, depth, _element(op)
        at, held = combining.get(key, (len(planned), 0))
        total = held + collective.bytes_each
        if at == len(planned) or total > self.machine.combine_bytes:
            combining[key] = len(planned), collective.bytes_each
            planned.append(task)
            return len(planned) - 1
        combining[key] = at, total
        joined = planned[at]
        joined.ops.append(op)
        joined.name = f"{len(joined.ops)} {collective.kind}"
        joined.seconds = self._seconds(collective, total)
        return at

    def _seconds(self, collective: CountedCollective, sent: int) -> float:
        return self.machine.collective_seconds(
            collective.ring,
            sent,
            collective.group_size,
            collective.axis_names,
            collective.groups,
        )

    def _plan(self, op: Operation) -> _Planned:
        name = short_name(op)
        if (collective := self.collectives.get(op)) is not None:
            return _Planned(
                Lane.LINK, self._seconds(collective, collective.bytes_each), name, [op]
            )
        inner, iterations = self._inner(op)
        if inner is not None:
            lane = Lane.BOTH if inner.seconds else Lane.NONE
            return _Planned(
                lane,
                iterations * inner.seconds,
                name,
                [op],
                inner=inner,
                iterations=iterations,
            )
        if not computes(op):
            return _Planned(Lane.NONE, 0.0, name, [op])
        if self.traffic:
            is_fused = self.traffic.fusion.is_fused(op)
            work = 0 if is_fused else flops(op, self._signatures) // 2
            seconds = self.machine.seconds(
                work,
                self.traffic.bytes(op),
                is_kernel=is_kernel(op),
                numbers=product_numbers(op),
            )
            return _Planned(Lane.COMPUTE if seconds else Lane.NONE, seconds, name, [op])
        seconds = self.machine.seconds(
            operations(op, self._signatures),
            bytes_touched(op),
            is_function=is_function(op),
            features=features(op),
            numbers=product_numbers(op),
        )
        if not is_joined(op):
            seconds += self.machine.op_seconds
        return _Planned(Lane.COMPUTE, seconds, name, [op])

    def _inner(self, op: Operation) -> tuple[Timeline | None, int]:
        """Return the timeline of an op's regions or callees, and the number of runs."""
        if not (op.regions or CALLING[type(op)]):
            return None, 1
        if isinstance(op, stablehlo.WhileOp):
            body, cond = (self.of_block(region.block) for region in (op.body, op.cond))
            iterations = self.runs.iterations(op)
            return _one_after_the_other(cond, body), iterations
        if isinstance(op, stablehlo.CaseOp | stablehlo.IfOp):
            taken = [
                self.of_block(region.block)
                for region in op.regions
                if region.blocks and self.runs.is_taken(region.block)
            ]
            return (taken[0] if taken else _NOTHING), 1
        if isinstance(op, _AROUND):
            return self.of_block(op.regions[0].block), 1
        if isinstance(op, CallOp | stablehlo.CompositeOp):
            names = [name for name in called_by(op) if name in self.functions]
            if names:
                return self.of_function(self.functions[names[0]]), 1
        return None, 1

    def _timeline(self, planned: Sequence[_Planned], done: Schedule) -> Timeline:
        parts: list[Event | Part] = []
        compute = link = 0.0
        for task, start in zip(planned, done.starts, strict=True):
            if task.lane is Lane.COMPUTE:
                compute += task.seconds
            elif task.lane is Lane.LINK:
                link += task.seconds
            if task.inner is not None:
                compute += task.iterations * task.inner.compute_seconds
                link += task.iterations * task.inner.link_seconds
                if task.inner.parts:
                    parts.append(Part(task.inner, start, task.iterations, 1))
            if task.seconds:
                shown = (
                    task.name
                    if task.iterations == 1
                    else f"{task.name} x{task.iterations}"
                )
                ops = tuple(self.originals.get(op, op) for op in task.ops)
                event = Event(task.lane, shown, start, task.seconds, 1, 0, ops)
                parts.append(event)
        hidden = sum(task.seconds for task in planned) - done.seconds
        seconds = done.seconds + (1 - self.machine.overlap) * hidden
        return Timeline(seconds, compute, link, tuple(parts))


def _element(op: Operation) -> object:
    """Return the key of collectives that may be combined: types and reduction."""
    kinds = tuple(
        getattr(operand.type, "element_type", None) for operand in op.operands
    )
    return kinds, tuple(inner.name for inner in all_ops(op))


def _one_after_the_other(first: Timeline, second: Timeline) -> Timeline:
    return Timeline(
        first.seconds + second.seconds,
        first.compute_seconds + second.compute_seconds,
        first.link_seconds + second.link_seconds,
        (Part(first, 0.0, 1, 0), Part(second, first.seconds, 1, 0)),
    )
