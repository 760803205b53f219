"""The lines of a source whose values can be constrained, the costliest first."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp, NameLoc
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.analysis.attribution.origins import unmarked
from ttxdsl.analysis.graph_state import computation_around
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.analysis.usage.memory import argument_name, type_bytes
from ttxdsl.diagnostics.errors import Frame, source_frame
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.why.names import Names
from ttxdsl.insight.why.trials.spellings import spellings
from ttxdsl.ir.tensors import is_tensor, shape_of
from ttxdsl.ir.traversal import enclosing

_SMALLEST_PART = 64
"""Values that are smaller than this part of the largest are not constrained."""
_NOTHING_TO_HOLD = (
    sdy.ShardingConstraintOp,
    stablehlo.BroadcastInDimOp,
    stablehlo.ConstantOp,
    stablehlo.IotaOp,
    stablehlo.OptimizationBarrierOp,
)
"""Ops whose results cost nothing, or that no source line computes."""
_DEPTH = 3
"""Of operands of operands by which ops without a line of a source are told apart."""
_RECOMPUTED = "rematted_computation"
_TRANSPOSED = "transpose("
"""In the scopes of ops of a backward pass, as JAX names them; the first of those that
compute forward values again."""


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The place in the source where a prescription is written.

    Attributes:
        name: of a value or argument in the program.
        op: what makes the value; None for an argument.
        position: `file:line:column`, None if unknown.
        function: of the source that the position is in.
        count: how many values of the program are made there.
        end: the `line:column` behind the expression, if the value is what it gives.
    """

    name: str
    op: str | None = None
    position: str | None = None
    function: str | None = None
    count: int = 1
    end: str | None = None

    @staticmethod
    def of_argument(function: FuncOp, index: int) -> "SourcePlace":
        """Return the place of an argument, by its path."""
        frame = source_frame(unmarked(function.body.block.args[index].location))
        name = argument_name(function, index)
        return SourcePlace(name, None, frame.position if frame else None)


@dataclass(slots=True)
class Line:
    """The values of one type that one line of the source makes by one kind of op.

    Attributes:
        values: of the forward pass, one for each layer or call.
        cotangents: of these in a backward pass: JAX constrains them, too.
        score: the bytes that are sent for this line and those around it.
        alike: the key of lines that one constraint of the source may hold, whatever their
            types: a line that is a function of several values, or sums of one loop.
    """

    values: list[OpResult] = field(default_factory=list[OpResult])
    cotangents: list[SSAValue] = field(default_factory=list[SSAValue])
    score: float = 0.0
    alike: object = None


def _kind(value: SSAValue) -> str:
    return value.owner.name if isinstance(value.owner, Operation) else ""


def _scope(location: Attribute) -> str:
    location = unmarked(location)
    return location.desc.data if isinstance(location, NameLoc) else ""


class _BackwardPass:
    """The ops of a program that JAX made by transposing, not by recomputing."""

    def __init__(self, module: ModuleOp):
        self.calls: defaultdict[str, list[CallOp]] = defaultdict(list)
        self._functions: dict[str, bool] = {}
        for op in module.walk():
            if isinstance(op, CallOp):
                self.calls[op.callee.string_value()].append(op)

    def __contains__(self, op: Operation) -> bool:
        scope = _scope(op.location)
        if _RECOMPUTED in scope:
            return False
        if _TRANSPOSED in scope:
            return True
        parent = enclosing(op, FuncOp)
        return parent is not None and self._is_transposed(parent.sym_name.data)

    def _is_transposed(self, function: str) -> bool:
        """Return True for a function that only a backward pass calls."""
        known = self._functions.get(function)
        if known is None:
            self._functions[function] = False  # of a call to itself
            calls = self.calls[function]
            known = bool(calls) and all(call in self for call in calls)
            self._functions[function] = known
        return known


def _loop_of_sum(
    value: OpResult, calls: Mapping[str, Sequence[CallOp]]
) -> Operation | None:
    """Return the loop that adds something to a carry, where a value is the sum."""
    op, block = value.op, value.op.parent
    if not isinstance(op, stablehlo.AddOp) or block is None:
        return None
    returned = [use for use in value.uses if use.operation is block.last_op]
    around = block.parent_op()
    if len(returned) != 1:
        return None
    index, summands = returned[0].index, list(op.operands)
    callers = calls.get(around.sym_name.data, ()) if isinstance(around, FuncOp) else ()
    if isinstance(around, FuncOp) and len(callers) == 1:
        (call,) = callers  # JAX calls the body of a scan
        block, result = call.parent, call.results[index]
        returned = [
            use for use in result.uses if block and use.operation is block.last_op
        ]
        if block is None or len(returned) != 1:
            return None
        given = dict(zip(around.body.block.args, call.operands, strict=True))
        index = returned[0].index
        summands = [given[v] for v in summands if isinstance(v, BlockArgument)]
        around = block.parent_op()
    if not isinstance(around, stablehlo.WhileOp) or block is not around.body.block:
        return None
    return around if block.args[index] in summands else None


class Lines:
    """The lines of one program.

    Args:
        compiled: the program of one device, for what lines send.
    """

    def __init__(self, module: ModuleOp, source: str, compiled: ModuleOp, names: Names):
        self._module, self._source, self._compiled = module, source, compiled
        self._names = names
        self._backward = _BackwardPass(module)
        self._structures: dict[tuple[Operation, int], int] = {}
        self._frames: dict[Operation, Frame | None] = {}
        self._shapes: dict[object, dict[tuple[int, ...], None]] = {}

    def _frame(self, op: Operation) -> Frame | None:
        if op not in self._frames:
            self._frames[op] = source_frame(unmarked(op.location))
        return self._frames[op]

    def _position(self, op: Operation) -> str | None:
        frame = self._frame(op)
        return frame.position if frame else None

    def places(self, values: Sequence[OpResult]) -> tuple[SourcePlace, ...]:
        """Return where values are made, each place once with how many are."""
        places: dict[object, SourcePlace] = {}
        for value in values:
            frame = self._frame(value.op)
            named = frame is not None and not self._is_in_text(frame.position)
            key = (frame, frame.end) if named and frame else value
            if (known := places.get(key)) is not None:
                places[key] = replace(known, count=known.count + 1)
                continue
            places[key] = SourcePlace(
                self._names.name(value) or "a value",
                value.op.name,
                frame.position if frame else None,
                frame.function or None if frame else None,
                end=frame.end if frame and named and self._is_last(value) else None,
            )
        return tuple(places.values())

    def shapes_to_tell(self, values: Sequence[OpResult]) -> list[tuple[int, ...]]:
        """Return the shapes of values if expressions that make them make others, too.

        As in a function that an optimizer maps over parameters: what is written there
        holds all of them.
        """
        if not self._shapes:
            for op in self._module.walk():
                value = op.results[0] if op.results else None
                if value is None or op in self._backward or not is_tensor(value):
                    continue
                if self._is_last(value):
                    shapes = self._shapes.setdefault(self._expression_of(op), {})
                    shapes[shape_of(value)] = None
        held = dict.fromkeys(shape_of(value) for value in values)
        expressions = {self._expression_of(value.op) for value in values}
        shapes = {shape for key in expressions for shape in self._shapes.get(key, ())}
        return [] if shapes <= held.keys() else [*held]

    def _expression_of(self, op: Operation) -> object:
        """Return the key that ops share which one expression of the source makes."""
        frame = self._frame(op)
        if frame is None or self._is_in_text(frame.position):
            return op
        return frame, frame.end, op.name

    def _is_last(self, value: OpResult) -> bool:
        """Return True for the value of a whole expression, not of a part of it."""
        frame = self._frame(value.op)
        return all(self._frame(use.operation) != frame for use in value.uses)

    def _line_of(self, op: Operation) -> object:
        """Return the key that ops of one source line share.

        Without debug information, ops with equal properties and equal definitions of
        their operands count as one line, such as those of repeated layers.
        """
        frame = self._frame(op)
        if frame is None or self._is_in_text(frame.position):
            return self._structure(op, _DEPTH)
        return frame.position.rpartition(":")[0], frame.function

    def _is_in_text(self, position: str) -> bool:
        """Return True for a position in the program's text, not in its source."""
        file = position.rsplit(":", 2)[0]
        return file == self._source or file.startswith("<") or file.endswith(".mlir")

    def _structure(self, op: Operation, depth: int) -> object:
        """Return a hash of an op's kind and types, with its operands and users."""
        key = op, depth
        if (known := self._structures.get(key)) is None:
            kinds = tuple((operand.type, _kind(operand)) for operand in op.operands)
            users = tuple(use.operation.name for r in op.results for use in r.uses)
            known = hash((op.name, tuple(r.type for r in op.results), kinds, users))
            if depth:
                deeper = tuple(
                    self._structure(operand.owner, depth - 1)
                    for operand in op.operands
                    if isinstance(operand.owner, Operation)
                )
                known = hash((known, deeper))
            self._structures[key] = known
        return known

    def respelled(self) -> dict[tuple[object, str], list[Operation]]:
        """Return ops that can be said otherwise, by line and spelling."""
        groups: defaultdict[tuple[object, str], list[Operation]] = defaultdict(list)
        for op in self._module.walk():
            if computation_around(op) is None:
                for spelling in spellings(op):
                    types = tuple(value.type for value in (*op.operands, *op.results))
                    groups[(self._line_of(op), types), spelling].append(op)
        return groups

    def costliest_first(self) -> list[Line]:
        """Return the lines whose values can be constrained, the costliest first."""
        sent: defaultdict[str, float] = defaultdict(float)
        for collective in list_collectives(self._compiled):
            if collective.position is not None:
                line = collective.position.rpartition(":")[0]
                sent[line] += collective.bytes_per_device
        lines: dict[object, Line] = {}
        ops = [op for op in self._module.walk() if computation_around(op) is None]
        largest = max(
            (type_bytes(r.type, r) for op in ops for r in op.results if is_tensor(r)),
            default=0,
        )
        consumed: defaultdict[object, dict[SSAValue, None]] = defaultdict(dict)
        for op in ops:
            if op not in self._backward:
                continue
            line = self._line_of(op)
            for operand in op.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and (
                    owner not in self._backward or self._line_of(owner) == line
                ):
                    continue
                consumed[line, operand.type][operand] = None
        for op in ops:
            if op in self._backward:
                continue
            for result in op.results:
                if self._can_be_constrained(result, largest):
                    line = self._line_of(op)
                    key = line, op.name, result.type
                    alike = (
                        _loop_of_sum(result, self._backward.calls) or line,
                        op.name,
                        len(shape_of(result)),
                    )
                    entry = lines.setdefault(key, Line(alike=alike))
                    entry.values.append(result)
                    entry.cotangents = list(consumed.get((line, result.type), ()))
        for line in lines.values():
            around = {self._position(line.values[0].op)}
            for value in line.values:
                around |= {self._position(use.operation) for use in value.uses}
                around |= {
                    self._position(operand.owner)
                    for operand in value.op.operands
                    if isinstance(operand.owner, Operation)
                }
            near = {p.rpartition(":")[0] for p in around if p is not None}
            line.score = sum(sent[place] for place in near)
        return sorted(lines.values(), key=lambda line: -line.score)

    def _can_be_constrained(self, result: OpResult, largest: int) -> bool:
        """Return True for a large value that another line reads."""
        op = result.op
        if (
            not is_tensor(result)
            or not shape_of(result)
            or isinstance(op, _NOTHING_TO_HOLD)
            or (
                isinstance(op, CallOp) and result.index
            )  # values that JAX saves for the backward pass
        ):
            return False
        if type_bytes(result.type, result) * _SMALLEST_PART < largest:
            return False
        users = [use.operation for use in result.uses]
        if any(isinstance(user, sdy.ShardingConstraintOp) for user in users):
            return False  # its author decided
        mine = self._line_of(op)
        return any(self._line_of(user) != mine for user in users)
