"""Recordings of a compilation, so that questions can be answered later.

The passes do not know of them: stage 6 runs with a history, stage 8 with an inserter
that records each reshard and its user, and between the stages every op gets a number by
which its successors are found. `compiling.py` sets these up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from ttxdsl.analysis.attribution.origins import Origins
from ttxdsl.diagnostics.remarks import Remark
from ttxdsl.dialects import sdy
from ttxdsl.ir.data_flow import Operand
from ttxdsl.ir.traversal import all_ops
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.sharding.step import StepSignature, Strategy
from ttxdsl.transforms.shardy.exporting.sdy_insert_explicit_reshards import (
    ReshardInserter,
    Shardings,
)
from ttxdsl.transforms.shardy.propagation.basic import PropagationPass
from ttxdsl.transforms.shardy.propagation.engine import Propagation, Ways
from ttxdsl.transforms.shardy.propagation.history import History, Hop, entry_of
from ttxdsl.transforms.shardy.propagation.less_traffic import LessTrafficPropagatePass
from ttxdsl.transforms.shardy.propagation.op_priority import (
    SCHEDULE,
    OpPriorityPropagatePass,
)
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass

Moved = tuple[tuple[int, ...], str]
"""An op of the program that was given, by its number and those of the calls it came
through, and the name of an axis along which values are sent for it."""


@dataclass(frozen=True, slots=True)
class Advance:
    """One step of propagation that changed something.

    Attributes:
        number: counts them, as in `Hop.step`.
        values: the holders of the operands' (sources') and results' shardings.
        signature: what else the step depended on.
        shardings: before the step.
        run: the run of the engine, see `Recorded.priority_of_run`.
    """

    number: int
    op: Operation
    values: tuple[SSAValue | None, ...]
    signature: StepSignature
    shardings: tuple[TensorSharding | None, ...]
    run: int


class StepRecorder(History):
    """A history that keeps the steps themselves, and finds paths without the IR."""

    def __init__(self, module: ModuleOp):
        super().__init__(module)
        self.steps: dict[int, Advance] = {}
        self.run = -1
        self._order = 0
        self._ways: dict[SSAValue, dict[AxisRef, tuple[int, Hop]]] = {}

    def record(
        self,
        op: Operation,
        values: Sequence[SSAValue | None],
        signature: StepSignature,
        shardings: tuple[TensorSharding | None, ...],
    ) -> None:
        """Keep the step."""
        self.steps[self._next_step] = Advance(
            self._next_step, op, tuple(values), signature, shardings, self.run
        )
        super().record(op, values, signature, shardings)

    def _arrive(self, hop: Hop) -> None:
        if hop.source_value is not hop.target_value:
            ways = self._ways.setdefault(hop.target_value, {})
            ways.setdefault(hop.axis, (self._order, hop))
            self._order += 1
        super()._arrive(hop)

    def op_of_origin(self, name: str) -> Operation | None:
        """The constraint, manual computation or sharded op that an origin names."""
        head = name.partition(":")[0]
        head = head.removesuffix("_input").removesuffix("_output")
        for op, own in (*self._names.items(), *self._sharded_ops.items()):
            if own == head:
                return op
        return None

    def hops_back(self, holder: SSAValue, axis: AxisRef) -> Iterator[Hop]:
        """Yield the hops on which an axis came to what holds a sharding, last first."""
        before = self._order
        while True:
            arrival = entry_of(self._ways.get(holder, {}), axis)
            if arrival is None or arrival[0] >= before:
                return
            before, hop = arrival
            yield hop
            axis, holder = hop.axis, hop.source_value


class _CountedPropagation(Propagation):
    """Tells its recorder which run of the engine it is."""

    def run(self, strategy: Strategy, ways: Ways | None = None) -> None:
        """One more run."""
        if isinstance(self.history, StepRecorder):
            self.history.run += 1
        super().run(strategy, ways)


@dataclass(frozen=True, slots=True)
class Demand:
    """The shardings with which an op can run on shards.

    Attributes:
        values: its operands, then its results, as they were.
        wanted: what they are resharded to; None: they stay.
        reduction: the axes along which its results are partial sums.
    """

    op: Operation
    rule: OpShardingRule
    mesh: Mesh
    values: tuple[SSAValue, ...]
    shardings: tuple[TensorSharding | None, ...]
    wanted: tuple[TensorSharding | None, ...]
    reduction: Axes = ()

    @property
    def after(self) -> list[TensorSharding | None]:
        """The shardings with which the op runs."""
        pairs = zip(self.shardings, self.wanted, strict=True)
        return [old if new is None else new for old, new in pairs]


@dataclass(frozen=True, slots=True)
class Insertion:
    """A reshard or all_reduce that stage 8 inserted, and for whom.

    Attributes:
        user: the op that needs it.
        side: whether it was put before an operand or behind a result of `user`.
        demand: what all of `user` shall be; None at borders of regions and functions.
    """

    user: Operation
    side: Literal["operand", "result"]
    index: int
    value: SSAValue
    before: TensorSharding | None
    demand: Demand | None
    parent: Operation | None
    """What `user` stood in."""


class RecordingInserter(ReshardInserter):
    """Stage 8, taking note of every op that it inserts."""

    def __init__(self, module: ModuleOp, insertions: dict[Operation, Insertion]):
        super().__init__(module, full=True)
        self.insertions = insertions
        self._demand: Demand | None = None

    def visit(self, op: Operation) -> None:
        """Make one op compatible; see the base class."""
        self._demand = None
        super().visit(op)

    def visit_return(self, func: FuncOp) -> None:
        """Bring what a function returns to its results' shardings."""
        self._demand = None
        super().visit_return(func)

    def reshard(self, op: Operation, wanted: Shardings, mesh_ref: str | Mesh) -> None:
        """Take note of what the op demands, then reshard."""
        rule = sharding_rule(op)
        assert rule is not None, "only asked for ops with a rule"
        values = (*op.operands, *op.results)
        self._demand = Demand(
            op,
            rule,
            self.mesh_of(op, mesh_ref),
            values,
            tuple(sdy.get_sharding(value) for value in values),
            tuple(wanted),
        )
        super().reshard(op, wanted, mesh_ref)

    def reduce_results(
        self, op: Operation, reduction: Axes, mesh_ref: str | Mesh, mesh: Mesh
    ) -> None:
        """Take note of the partial sums, then reduce."""
        if self._demand is not None:
            self._demand = replace(self._demand, reduction=reduction)
        super().reduce_results(op, reduction, mesh_ref, mesh)

    def put_before(self, operand: Operand, new: Operation, point: InsertPoint) -> None:
        """Take note of an op in front of an operand."""
        value = operand.value
        self.insertions[new] = Insertion(
            operand.op,
            "operand",
            operand.index,
            value,
            sdy.get_sharding(value),
            self._demand,
            operand.op.parent_op(),
        )
        super().put_before(operand, new, point)

    def follow_up(self, value: SSAValue, new: Operation, point: InsertPoint) -> None:
        """Take note of an op behind a result."""
        assert isinstance(value, OpResult)
        self.insertions[new] = Insertion(
            value.op,
            "result",
            value.index,
            value,
            sdy.get_sharding(value),
            self._demand,
            value.op.parent_op(),
        )
        super().follow_up(value, new, point)


class Recorded:
    """A compiled program with everything that was noted on the way.

    Attributes:
        original: the program as it was given; never changed.
        compiled: the program of one device.
        invented: whether stage 4 chose the annotations of `original`, which came without.
        numbered: what ops of all stages came from.
        skipped: whether the program was partitioned when it came.
        recorder: the steps of propagation; None if skipped.
        graph: propagation's own places and nodes, as it left them.
        holders: for each value of the program at stage 6 what holds its sharding.
        initial: the shardings before propagation, by holder.
        origins: where each axis of each holder came from, as `History.origin` says.
        uneven: by holder the sharding that stage 8 started with, where it is not what
            propagation left.
        insertions: what stage 8 inserted.
        demands: what stages 7 and 8 move; None if they took no notes.
        constraints: reshards that stage 7 made, with the constraint.
        sources: for each collective of the compiled program, and each that was joined to
            it, the ops that it came from: at stage 10, before stage 10, and before that.
        twins: for each op of the original its copies at stage 6, in program order.
        edges: for the result of each data flow edge the value that owns the edge.
        moved: for the result of each `sdy` collective of stage 10 what the reshard moves.
        operands: of each op as stage 10 left it, with their shardings.
    """

    def __init__(
        self,
        original: ModuleOp,
        compiled: ModuleOp,
        propagation: ModulePass,
        invented: bool,
    ):
        self.original, self.compiled = original, compiled
        self.propagation = propagation
        self.invented = invented
        self.numbered = Origins()
        self.skipped = False
        self.recorder: StepRecorder | None = None
        self.propagated: Propagation | None = None
        self.holders: dict[SSAValue, SSAValue] = {}
        self.initial: dict[SSAValue, TensorSharding | None] = {}
        self.origins: dict[SSAValue, dict[AxisRef, str]] = {}
        self.uneven: dict[SSAValue, TensorSharding | None] = {}
        self.user_priorities = [0]
        self.nodes_at: dict[int, list[tuple[int, int]]] = {}
        self.insertions: dict[Operation, Insertion] = {}
        self.demands: frozenset[Moved] | None = None
        self.constraints: dict[Operation, Operation] = {}
        self.sources: dict[Operation, list[list[Operation]]] = {}
        self.twins: dict[Operation, list[Operation]] = {}
        self.remarks: list[Remark] = []
        self.edges: dict[SSAValue, SSAValue] = {}
        self.moved: dict[SSAValue, SSAValue] = {}
        self.operands: dict[
            Operation, tuple[tuple[SSAValue, TensorSharding | None], ...]
        ] = {}
        self._arguments: dict[SSAValue, SSAValue] = {}
        self._calls: dict[Operation | None, list[Operation]] = {}

    @cached_property
    def became(self) -> dict[Operation, dict[Operation, None]]:
        """For each op before stage 10 the `sdy` collectives that it became, in order."""
        became: dict[Operation, dict[Operation, None]] = {}
        for parts in self.sources.values():
            for sources in parts:
                for source in sources:
                    became.setdefault(source, {})[sources[0]] = None
        return became

    # Stage 6

    def sharding(self, value: SSAValue) -> TensorSharding | None:
        """Return a value's sharding after propagation; None is replicated."""
        place = self.place(value)
        if place is None or self.propagated is None:
            return None
        return self.propagated.graph.sharding_of(place)

    def place(self, value: SSAValue) -> int | None:
        """Return the place where propagation keeps a value's sharding, or None."""
        holder = self.holders.get(value)
        if holder is None or self.propagated is None:
            return None
        return self.propagated.graph.place_of(holder) or None

    def evened(self, value: SSAValue) -> TensorSharding | None:
        """Return a value's sharding without the axes that do not divide a dimension."""
        holder = self.holders.get(value)
        if holder is not None and holder in self.uneven:
            return self.uneven[holder]
        return self.sharding(value)

    def hops_back(self, value: SSAValue, axis: AxisRef) -> Iterator[Hop]:
        """Return the hops by which an axis came to a value, the last one first."""
        holder = self.holders.get(value)
        if holder is None or self.recorder is None:
            return iter(())
        return self.recorder.hops_back(holder, axis)

    def origin(self, value: SSAValue, axis: AxisRef) -> str | None:
        """The history's name of what introduced an axis on a value."""
        holder = self.holders.get(value)
        return None if holder is None else entry_of(self.origins.get(holder, {}), axis)

    def priority_of_run(self, run: int) -> str:
        """Return a run of the engine as text: its strategy and priorities."""
        kind = self.propagation
        if not isinstance(kind, OpPriorityPropagatePass):
            return kind.name.removeprefix("sdy-").removesuffix("-propagate")
        if run < 0:
            return "before the first run"
        per_user = len(SCHEDULE)
        heuristic = SCHEDULE[run % per_user].__name__.replace("_", " ")
        text = f"op priority {run % per_user} ({heuristic})"
        if isinstance(kind, UserPriorityPropagatePass):
            user = run // per_user
            if user < len(self.user_priorities) > 1:  # all have 0 otherwise
                text = f"user priority p{self.user_priorities[user]}, {text}"
        return text

    # Back to the program that was given

    def original_op(self, op: Operation) -> Operation | None:
        """The op of the program that was given that an op of any stage came from."""
        known = self.numbered.origins(op)
        return known[-1] if known else None

    def original_value(self, value: SSAValue) -> SSAValue | None:
        """The same for a value; None for what a pass made."""
        value = self.edges.get(value, value)
        if isinstance(value, OpResult):
            op = self.original_op(value.op)
            if op is None or len(op.results) <= value.index:
                return None
            same = op.name == value.op.name
            return op.results[value.index] if same else None
        if not isinstance(value, BlockArgument):
            return None
        return self._arguments.get(value)

    def copies(self, value: SSAValue) -> list[SSAValue]:
        """Return the copies at stage 6 of a value of the given program."""
        owner = sdy.owning_op(value)
        if isinstance(value, BlockArgument) and isinstance(owner, FuncOp):
            return [new for new, old in self._arguments.items() if old is value]
        if isinstance(value, OpResult) and isinstance(owner, CallOp):
            return self._returned(owner, value.index)
        values: list[SSAValue] = []
        for op in self.twins.get(owner, ()) if owner is not None else ():
            if isinstance(value, OpResult):
                values.append(op.results[value.index])
            elif isinstance(value, BlockArgument) and value.block.parent is not None:
                assert owner is not None
                number = owner.regions.index(value.block.parent)
                values.append(op.regions[number].blocks[0].args[value.index])
        return values

    def _returned(self, call: CallOp, index: int) -> list[SSAValue]:
        """Return the copies of a result of a call, which was inlined."""
        name = call.callee.string_value()
        for function in self.original.ops:
            if not isinstance(function, FuncOp) or function.sym_name.data != name:
                continue
            end = function.body.block.last_op
            returned = end.operands[index] if end is not None else None
            if isinstance(returned, BlockArgument) and returned.block.parent_op() is (
                function
            ):
                return self.copies(call.operands[returned.index])
            if returned is not None:
                return [
                    copy
                    for copy in self.copies(returned)
                    if call in self._calls.get(sdy.owning_op(copy), ())
                ]
        return []

    # Recording

    def start_stage_6(self, module: ModuleOp) -> None:
        """Number the ops that propagation sees, and find them from the original."""
        ops = all_ops(module)
        for op in ops:
            if calls := self.numbered.callers(op):
                self._calls[op] = calls
            known = self.original_op(op)
            if known is not None and known.name == op.name:
                self.twins.setdefault(known, []).append(op)
                for mine, theirs in zip(op.regions, known.regions, strict=True):
                    for block, twin in zip(mine.blocks, theirs.blocks, strict=False):
                        self._arguments.update(zip(block.args, twin.args, strict=False))
        self.numbered.mark(ops)

    def propagate(self, module: ModuleOp, context: Context) -> None:
        """Stage 6 with notes; of a pass with another engine only what came of it."""
        propagation: Propagation | None = None
        if isinstance(self.propagation, LessTrafficPropagatePass):
            start = _CountedPropagation(module, history=StepRecorder(module))
            self.propagation, outcome = self.propagation.chosen(context, module, start)
            propagation = start if outcome is start else None
        inner = self.propagation
        ours = isinstance(inner, PropagationPass)
        for op in all_ops(module):
            if isinstance(op, sdy.DataFlowEdgeOp):
                self.edges[op.result] = op.input
        values = [
            value
            for op in all_ops(module)
            for value in (
                *op.results,
                *(arg for r in op.regions for block in r.blocks for arg in block.args),
            )
        ]
        priorities: set[int] = set()
        for value in values:
            holder = sdy.shardable_value(value)
            if holder is not None:
                sharding = self.initial[holder] = sdy.get_sharding(value)
                if sharding is not None:
                    priorities.update(d.priority_or_default for d in sharding.dims)
        self.user_priorities = sorted({0, *priorities})
        if not ours:
            inner.apply(context, module)
        if propagation is None:
            propagation = _CountedPropagation(
                module,
                conservative=ours and inner.conservative_propagation,
                history=StepRecorder(module) if ours else None,
            )
            if ours:
                inner.propagate(propagation)
        recorder = propagation.history
        assert recorder is None or isinstance(recorder, StepRecorder)
        self.propagated, self.recorder = propagation, recorder
        graph = propagation.graph
        for value in values:
            if _is_erased(sdy.owning_op(value)):
                continue
            holder = sdy.shardable_value(value)
            if holder is None:
                continue
            self.holders[value] = holder
            place = graph.place_of(holder)
            sharding = graph.sharding_of(place) if place else None
            if recorder is None:
                continue
            for axis in sharding.sharding_axes if sharding is not None else ():
                name = recorder.origin(holder, axis)
                if name is not None:
                    self.origins.setdefault(holder, {})[axis] = name
        for node_index, node in enumerate(graph.nodes):
            if node.erased:
                continue
            if not node.prepared:
                graph.prepare(node)
            for tensor, place in enumerate(node.places):
                self.nodes_at.setdefault(place, []).append((node_index, tensor))
        propagation.finish()

    def insert_reshards(self, module: ModuleOp) -> None:
        """Stage 8 with notes."""
        for value, holder in self.holders.items():
            owner = sdy.owning_op(value)
            if _is_erased(owner) or isinstance(owner, sdy.DataFlowEdgeOp):
                continue
            now, then = sdy.get_sharding(value), self.sharding(value)
            if now and then and now.axes_per_dim != then.axes_per_dim:
                self.uneven[holder] = now
        RecordingInserter(module, self.insertions).run()

    def end_stage_10(self, module: ModuleOp) -> None:
        """Keep what stage 11 erases, and number the ops once more."""
        for op in all_ops(module):
            self.operands[op] = tuple(
                (value, sdy.get_sharding(value)) for value in op.operands
            )
            if not isinstance(op, sdy.CollectiveOp):
                continue
            for source in self.numbered.origins(op):
                if source in self.insertions:
                    self.moved[op.result] = self.insertions[source].value
                    break
                if source in self.constraints:
                    self.moved[op.result] = self.constraints[source].results[0]
                    break
        self.numbered.mark(all_ops(module))


def _is_erased(op: Operation | None) -> bool:
    """Whether an op was dead: no function has it any more."""
    return op is None or (op.parent is None and not isinstance(op, FuncOp))
