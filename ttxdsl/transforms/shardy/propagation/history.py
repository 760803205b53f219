"""The origins of axes: a record of what propagation did.

For each axis on each value the history knows the origin (the argument, result,
constraint or manual computation that a user sharded) and the path: the op, operand or
result, and step by which it arrived. It reads factor shardings before and after each
step that changed something; an axis that is new on a tensor came from the first
tensor that had it.

Source: the talk ("Trace the shardings") and Shardy's options `debug-sharding-origins`
and `debug-propagation-edge-sharding`, whose attributes are written.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    result_attributes,
    set_argument_attributes,
    set_result_attributes,
)
from ttxdsl.diagnostics.errors import place_text, source_frame
from ttxdsl.dialects import sdy
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.traversal import all_ops
from ttxdsl.sharding.axes import Axes, AxisRef, is_prefix
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule, TensorMapping
from ttxdsl.sharding.projection import TensorFactors, project
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.sharding.step import StepSignature, spread

SHARDING_ORIGINS = "sdy.sharding_origins"
"""Attribute of values: a dictionary from axis to the name of its origin."""

SHARDING_ORIGIN_NAME = "sdy.sharding_origin_name"
"""Attribute that names a constraint or manual computation as an origin."""


DEBUG_INFO = frozenset(
    f"sdy.{owner}{kind}"
    for owner in ("", "block_arg_", "result_")
    for kind in ("sharding_origins", "propagation_edges")
)
"""What is written on ops, arguments and results, and on owners of sunk edges."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One axis went from one value to another in one step."""

    step: int
    """Counts the steps that changed something, from 0."""
    op: Operation
    """The op that it went through; the function if from or to its results.

    The target's `sdy.sharding_group` if another member of its group got the axis in
    this step.
    """
    axis: AxisRef
    source: sdy.EdgeValueRef
    """Which operand or result of `op` had the axis."""
    target: sdy.EdgeValueRef
    """Which one got it."""
    source_value: SSAValue
    target_value: SSAValue

    def __str__(self) -> str:
        frame = source_frame(self.op.location)
        place = f" ({place_text(frame.position, frame.function)})" if frame else ""
        if isinstance(self.op, sdy.ShardingGroupOp):
            group = self.op.group_id.value.data
            way = f"another member of sharding group {group}"
        else:
            ends = f"{_words(self.source)} to {_words(self.target)}"
            way = f"{ends} of {self.op.name}"
        return f"step {self.step}: {self.axis} from {way}{place}"


_T = TypeVar("_T")


class History:
    """A record of what each step of a propagation moved.

    Args:
        module: the module before propagation; its shardings are the origins.
        of_ops: also those on the results of ops that nothing else explains.
    """

    def __init__(self, module: ModuleOp, *, of_ops: bool = True):
        self._origins: dict[SSAValue, dict[AxisRef, str]] = {}
        self._arrivals: dict[SSAValue, dict[AxisRef, tuple[int, Hop]]] = {}
        self._arrived = 0  # orders arrivals: of one step, those through groups are last
        self._hops: dict[Operation, list[Hop]] = {}
        self._moves = IdentityMemo[list[_Move]]()
        self._names: dict[Operation, str] = {}
        self._sharded_ops: dict[Operation, str] = {}
        self._next_step = _steps_before(module)
        self._find_origins(module, of_ops)

    # Questions

    def origin(self, value: SSAValue, axis: AxisRef) -> str | None:
        """Return the name of what introduced an axis on a value, None if nobody knows.

        `input: 0`, `output: 1`, `constraint_0`, `mc_0_input: 1`, `mc_0_output: 0`;
        `op_0: 0` for a result that was sharded from the start; numbers count
        arguments, results, and in program order constraints, manual computations, and
        other ops with sharded results.
        """
        holder = sdy.shardable_value(value)
        if holder is None:
            return None
        return entry_of(self._origins.get(holder, {}), axis)

    def path(self, value: SSAValue, axis: AxisRef) -> list[Hop]:
        """Return the hops on which an axis came to a value, the last one first.

        Empty if the value had the axis from the start (or does not have it). Behind a
        reshape the axis may be a part of the one it came from.
        """
        hops: list[Hop] = []
        holder = sdy.shardable_value(value)
        before = self._arrived
        while holder is not None:
            arrival = entry_of(self._arrivals.get(holder, {}), axis)
            if arrival is None or arrival[0] >= before:
                break
            before, hop = arrival
            hops.append(hop)
            axis = hop.axis
            holder = sdy.shardable_value(hop.source_value)
        return hops

    # Recording

    def _find_origins(self, module: ModuleOp, of_ops: bool) -> None:
        ops = all_ops(module)
        constraints = [op for op in ops if isinstance(op, sdy.ShardingConstraintOp)]
        for number, op in enumerate(constraints):
            name = self._names[op] = f"constraint_{number}"
            self._start(op.result, op.sharding.data, name)
            self._start(op.input, sdy.get_sharding(op.input), name)
        manual = [op for op in ops if isinstance(op, sdy.ManualComputationOp)]
        for number, op in enumerate(manual):
            name = self._names[op] = f"mc_{number}"
            for index, argument in enumerate(op.body.block.args):
                origin = f"{name}_input: {index}"
                self._start(argument, op.in_shardings.data[index], origin)
                source = op.operands[index]
                self._start(source, sdy.get_sharding(source), origin)
            for index, result in enumerate(op.results):
                origin = f"{name}_output: {index}"
                self._start(result, op.out_shardings.data[index], origin)
        for function in ops:
            if not isinstance(function, FuncOp) or function.is_declaration:
                continue
            for index, argument in enumerate(function.body.block.args):
                self._start(argument, sdy.get_sharding(argument), f"input: {index}")
            end = function.body.block.last_op
            for index, value in enumerate(end.operands if end is not None else ()):
                sharding = sdy.get_func_result_sharding(function, index)
                self._start(value, sharding, f"output: {index}")
        if of_ops:
            self._find_origins_in_ops(ops)

    def _find_origins_in_ops(self, ops: Sequence[Operation]) -> None:
        """Name the ops whose results have axes that nothing else explains."""
        for op in ops:
            for result in op.results:
                sharding = sdy.get_sharding(result)
                holder = sdy.shardable_value(result)
                if sharding is None or holder is None:
                    continue
                known = self._origins.get(holder, {})
                if all(axis in known for axis in sharding.sharding_axes):
                    continue
                name = self._sharded_ops.get(op, f"op_{len(self._sharded_ops)}")
                self._sharded_ops[op] = name
                self._start(result, sharding, f"{name}: {result.index}")

    def _start(
        self, value: SSAValue, sharding: TensorSharding | None, origin: str
    ) -> None:
        holder = sdy.shardable_value(value)
        if holder is None or sharding is None:
            return
        for axis in sharding.sharding_axes:
            self._origins.setdefault(holder, {}).setdefault(axis, origin)

    def record(
        self,
        op: Operation,
        values: Sequence[SSAValue | None],
        signature: StepSignature,
        shardings: tuple[TensorSharding | None, ...],
    ) -> None:
        """Take note of one step that changes a sharding, before it is applied.

        Args:
            op: the op, or the function whose result is meant.
            values: the holders of the operands' and results' shardings.
            shardings: of operands, then results.
        """
        key = id(signature), id(shardings)
        moves = self._moves.get(key)
        if moves is None:  # the steps of layers that are alike are one
            moves = _moves(signature, shardings)
            self._moves.keep(key, moves, signature, shardings)
        step, self._next_step = self._next_step, self._next_step + 1
        moved: list[Hop] = []
        for axis, source, index, origin, target in moves:
            from_value, value = values[source], values[index]
            if from_value is not None and value is not None:
                moved.append(Hop(step, op, axis, origin, target, from_value, value))
        self._hops.setdefault(op, []).extend(moved)
        for hop in moved:
            self._arrive(hop)

    def record_group(
        self,
        op: sdy.ShardingGroupOp,
        source: SSAValue,
        target: SSAValue,
        before: TensorSharding | None,
        after: TensorSharding | None,
    ) -> None:
        """Take note that a member of a group is sharded as another one now.

        Args:
            op: the op that says that `target` is in the group.
            source: holds the sharding of the other member.
        """
        old = () if before is None else before.sharding_axes
        member = sdy.EdgeValueRef(sdy.EdgeNodeType.OPERAND, 0)
        step = max(self._next_step - 1, 0)
        for axis in () if after is None else after.sharding_axes:
            if axis not in old:
                self._arrive(Hop(step, op, axis, member, member, source, target))

    def _arrive(self, hop: Hop) -> None:
        name = entry_of(self._origins.get(hop.source_value, {}), hop.axis)
        if name is not None:
            arrived = self._origins.setdefault(hop.target_value, {})
            arrived.setdefault(hop.axis, name)
        if (
            hop.source_value is hop.target_value
            and hop.target.type is sdy.EdgeNodeType.RESULT
        ):
            return  # from a value to the function's result, which it stands for
        arrivals = self._arrivals.setdefault(hop.target_value, {})
        arrivals.setdefault(hop.axis, (self._arrived, hop))
        self._arrived += 1

    # Shardy's attributes

    def write(self, module: ModuleOp, *, origins: bool, edges: bool) -> None:
        """Write what is asked for; see `write_origins` and `write_edges`."""
        if origins:
            self.write_origins(module)
        if edges:
            self.write_edges()

    def write_edges(self) -> None:
        """Write `sdy.propagation_edges` on ops, and on a function's first result.

        Shardy keeps the edges of all results of a function with the first one. A data
        flow edge has one operand, and the attribute cannot name its other sources
        (Shardy names them and is then refused by its own verifier): such hops are left
        out, `path` knows them.
        """
        for op, hops in self._hops.items():
            if isinstance(op, FuncOp):
                if hops:
                    entries = result_attributes(op)
                    entries[0][sdy.PROPAGATION_EDGES] = _edges(hops)
                    set_result_attributes(op, entries)
            elif op.parent is not None:
                sayable = [
                    hop
                    for hop in hops
                    if _fits(hop.source, op) and _fits(hop.target, op)
                ]
                if sayable:
                    op.attributes[sdy.PROPAGATION_EDGES] = _edges(sayable)

    def write_origins(self, module: ModuleOp) -> None:
        """Write `sdy.sharding_origins` for all values, `self` where they are one."""
        for op, name in (*self._names.items(), *self._sharded_ops.items()):
            if op.parent is not None:
                op.attributes[SHARDING_ORIGIN_NAME] = StringAttr(name)
        of_results: dict[Operation, list[DictionaryAttr]] = {}
        for value, origins in self._origins.items():
            owner = sdy.owning_op(value)
            if owner is None or (
                not isinstance(owner, FuncOp) and owner.parent is None
            ):
                continue
            self._write_for_result(value, origins)
            if isinstance(owner, FuncOp) and isinstance(value, BlockArgument):
                entry = _dictionary(origins, f"input: {value.index}")
                arguments = argument_attributes(owner)
                arguments[value.index][SHARDING_ORIGINS] = entry
                set_argument_attributes(owner, arguments)
            elif isinstance(owner, sdy.ShardingConstraintOp | sdy.DataFlowEdgeOp):
                own = self._own_name(owner)
                owner.attributes[SHARDING_ORIGINS] = _dictionary(origins, own)
            elif origins or isinstance(value, OpResult):
                entries = of_results.setdefault(
                    owner, [DictionaryAttr({}) for _ in owner.results]
                )
                # Shardy has no place for those of a computation's argument without an
                # edge, but writes the list
                if isinstance(value, OpResult):
                    own = f"{self._sharded_ops.get(owner)}: {value.index}"
                    entries[value.index] = _dictionary(origins, own)
        for op, entries in of_results.items():
            op.attributes[SHARDING_ORIGINS] = ArrayAttr(entries)

    def _write_for_result(self, value: SSAValue, origins: dict[AxisRef, str]) -> None:
        """Write the origins on the result of a function that returns the value."""
        function = sdy.enclosing_function(value)
        if function is None or function.is_declaration:
            return
        end = function.body.block.last_op
        returned = end.operands if end is not None else ()
        indices = [index for index, other in enumerate(returned) if other is value]
        if indices:
            # of several results that are one value, Shardy finds the last one
            entry = _dictionary(origins, f"output: {indices[-1]}")
            results = result_attributes(function)
            results[indices[-1]][SHARDING_ORIGINS] = entry
            set_result_attributes(function, results)

    def _own_name(self, op: Operation) -> str | None:
        """The name of the origin that an op is itself: axes from it are `self`."""
        if not isinstance(op, sdy.DataFlowEdgeOp):
            return self._names.get(op)
        if op in self._sharded_ops:
            return f"{self._sharded_ops[op]}: 0"
        owner = sdy.owning_op(op.input)
        name = self._names.get(owner) if owner is not None else None
        if name is None or not isinstance(op.input, OpResult | BlockArgument):
            return None
        side = "input" if isinstance(op.input, BlockArgument) else "output"
        return f"{name}_{side}: {op.input.index}"


def _steps_before(module: ModuleOp) -> int:
    """The first free step number: earlier propagation may have left its edges."""
    used = (
        step.index
        for op in all_ops(module)
        if isinstance(
            edges := op.attributes.get(sdy.PROPAGATION_EDGES), sdy.PropagationEdgesAttr
        )
        for step in edges.data
    )
    return max(used, default=-1) + 1


def entry_of(by_axis: Mapping[AxisRef, _T], axis: AxisRef) -> _T | None:
    """Return the entry of an axis, or of one that it was split from or merged with."""
    if axis in by_axis:
        return by_axis[axis]
    for other, entry in by_axis.items():
        if other.contains(axis) or axis.contains(other):
            return entry
    return None


def _reference(rule: OpShardingRule, index: int) -> sdy.EdgeValueRef:
    """Return an index into operands and results as a reference."""
    count = len(rule.operands)
    if index < count:
        return sdy.EdgeValueRef(sdy.EdgeNodeType.OPERAND, index)
    return sdy.EdgeValueRef(sdy.EdgeNodeType.RESULT, index - count)


_Move = tuple[AxisRef, int, int, sdy.EdgeValueRef, sdy.EdgeValueRef]
"""An axis, and the tensors that it goes from and to: their numbers, then as references."""


def _moves(
    signature: StepSignature, shardings: Sequence[TensorSharding | None]
) -> list[_Move]:
    """Return the axes that a step brings to tensors, in the order of these."""
    rule = signature.rule
    before = project(signature.mesh, rule, shardings)
    after = project(signature.mesh, rule, shardings)
    spread(signature, after)
    return [
        (axis, source, index, _reference(rule, source), _reference(rule, index))
        for index, mapping in enumerate(rule.tensors)
        for axis, source in _new_axes(
            signature.mesh,
            mapping,
            before.tensors[index],
            after.tensors[index],
            before.tensors,
        ).items()
    ]


def _new_axes(
    mesh: Mesh,
    mapping: TensorMapping,
    before: TensorFactors,
    after: TensorFactors,
    tensors: Sequence[TensorFactors],
) -> dict[AxisRef, int]:
    """Return the axes that are new on a tensor, each with the tensor it came from.

    Sub-axes on neighbouring factors of a dimension that join are one axis.
    """
    sources: dict[AxisRef, int] = {}
    for dim in mapping:
        previous: AxisRef | None = None
        for factor in dim:
            if factor not in after.factors:
                continue
            old, new = before.factors[factor].axes, after.factors[factor].axes
            if old == new:
                continue
            last = new[-1]
            if previous is not None and previous.can_merge(last):
                sources.pop(previous, None)
                last = previous.merge(last, mesh)
            previous = new[-1]
            source = _first_with(new, factor, tensors)
            if source is not None:
                for axis in _added((*new[:-1], last), old):
                    sources.setdefault(axis, source)
    return sources


def _words(reference: sdy.EdgeValueRef) -> str:
    return f"{reference.type.value} {reference.index}"


def _fits(reference: sdy.EdgeValueRef, op: Operation) -> bool:
    return reference.type is sdy.EdgeNodeType.RESULT or reference.index < len(
        op.operands
    )


def _first_with(
    axes: Axes, factor: int, tensors: Sequence[TensorFactors]
) -> int | None:
    """Return the first tensor whose factor was already sharded by all the axes."""
    for index, tensor in enumerate(tensors):
        known = tensor.factors.get(factor)
        if known is not None and is_prefix(axes, known.axes):
            return index
    return None


def _added(new: Axes, old: Axes) -> Iterator[AxisRef]:
    """Yield the axes behind the old ones, and the last old one if it has grown."""
    if old and old[-1] != new[len(old) - 1]:
        yield new[len(old) - 1]
    yield from new[len(old) :]


def _edges(hops: Sequence[Hop]) -> sdy.PropagationEdgesAttr:
    """The hops of one op by step, axis and source; of equal ones the earliest."""
    earliest: dict[tuple[AxisRef, sdy.EdgeValueRef, sdy.EdgeValueRef], int] = {}
    for hop in hops:
        key = (hop.axis, hop.source, hop.target)
        earliest[key] = min(earliest.get(key, hop.step), hop.step)
    steps: dict[
        int, dict[tuple[AxisRef, sdy.EdgeValueRef], list[sdy.EdgeValueRef]]
    ] = {}
    for (axis, source, target), step in earliest.items():
        steps.setdefault(step, {}).setdefault((axis, source), []).append(target)
    return sdy.PropagationEdgesAttr(
        [
            sdy.PropagationStep(
                step,
                tuple(
                    sdy.AxisPropagation(
                        axis, source, tuple(sorted(targets, key=_order))
                    )
                    for (axis, source), targets in sorted(
                        entries.items(),
                        key=lambda entry: (
                            _axis_order(entry[0][0]),
                            _order(entry[0][1]),
                        ),
                    )
                ),
            )
            for step, entries in sorted(steps.items())
        ]
    )


def _axis_order(axis: AxisRef) -> tuple[str, int, float]:
    """By name, then by pre-size, then by size; a full axis is the largest."""
    return axis.name, axis.pre_size, float("inf") if axis.size is None else axis.size


def _order(reference: sdy.EdgeValueRef) -> tuple[bool, int]:
    """Operands before results."""
    return reference.type is sdy.EdgeNodeType.RESULT, reference.index


def _dictionary(origins: dict[AxisRef, str], own: str | None) -> DictionaryAttr:
    entries = {
        str(axis).replace('"', ""): StringAttr("self" if origin == own else origin)
        for axis, origin in origins.items()
    }
    return DictionaryAttr(dict(sorted(entries.items())))
