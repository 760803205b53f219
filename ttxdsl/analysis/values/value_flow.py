"""The flow of arguments through a function: into which values and which results.

Every op hands its operands on to its results in one of four ways (`Flow`). Values that
are joined by moves and elementwise work belong together: a weight and its bf16 copy, a
slice of it in a loop, the gradient that is scaled, accumulated and subtracted, and the
result that the updated weight is. A contraction, a reduction or a lookup makes something
else of its operands.

Calls are opaque: ask of a function whose calls are inlined.
"""

from collections.abc import Iterable, Iterator
from enum import IntEnum
from math import prod

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import OpTrait

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.traits import Collective, Elementwise
from ttxdsl.ir.data_flow import ByClass, DataFlowTrait, data_flow_of
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import are_of


class Flow(IntEnum):
    """The way in which an operand enters a result.

    Attributes:
        MOVED: the result consists of its elements, or of some of them.
        WORKED: each element of the result is computed from one of it.
        SPREAD: it is repeated until it has the result's shape.
        USED: anything else.
        MADE: no flow; marks that a value is complete and belongs to no operand.
    """

    MOVED = 0
    WORKED = 1
    SPREAD = 2
    USED = 3
    MADE = 4


Edge = tuple[int, int, Flow]
"""From a value to a value, by their numbers."""

_MOVE = are_of(
    (
        stablehlo.BitcastConvertOp,
        stablehlo.ConvertOp,
        stablehlo.DynamicReshapeOp,
        stablehlo.DynamicSliceOp,
        stablehlo.GetTupleElementOp,
        stablehlo.PadOp,
        stablehlo.RealDynamicSliceOp,
        stablehlo.ReducePrecisionOp,
        stablehlo.ReshapeOp,
        stablehlo.ReverseOp,
        stablehlo.SliceOp,
        stablehlo.TransposeOp,
    )
)
"""Their first operand is moved, the others say where to."""

_BROADCAST = are_of(
    (
        stablehlo.BroadcastInDimOp,
        stablehlo.BroadcastOp,
        stablehlo.DynamicBroadcastInDimOp,
    )
)
_JOIN = are_of((stablehlo.ConcatenateOp, stablehlo.TupleOp))
_OF_THEIR_OWN = are_of(
    (
        stablehlo.DynamicUpdateSliceOp,
        stablehlo.ScatterOp,
        stablehlo.GatherOp,
        stablehlo.ReduceOp,
        stablehlo.CompositeOp,
        stablehlo.SelectOp,
    )
)
"""Ops whose operands flow as those of no others."""
_ANSWER = are_of((stablehlo.CompareOp, stablehlo.IsFiniteOp))
"""Elementwise, but a result is a property of the operands and no form of them."""

_COLLECTIVE = ByClass(lambda kind: _has(kind, Collective))
_WORK = ByClass(lambda kind: _has(kind, Elementwise) and not _ANSWER[kind])

_SLICE = "sdy.all_slice"


def _has(kind: type[object], trait: type[OpTrait]) -> bool:
    return issubclass(kind, Operation) and kind.get_trait(trait) is not None


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the ones of a number, from the lowest on."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def union(masks: Iterable[int]) -> int:
    """Return all ones of some numbers."""
    mask = 0
    for other in masks:
        mask |= other
    return mask


class ValueFlow:
    """The flow of all values of a function, and what is reached by it.

    Masks have a bit for each argument or result of the function. Loops are gone through
    until nothing is added, so a value that a loop carries is all that it ever is.

    Attributes:
        number: of each value, its place in the lists.
        edges: in program order, without those from the end of a loop to its begin.
        sources: the arguments that a value belongs to, through moves and work.
        pieces: the arguments that it is made of by moves and broadcasts.
        is_mixed: whether it has other elements than those, or computed ones.
        ends: the results that it belongs to, through moves and work.
        moved_ends: those of them that it becomes through moves alone.
        makers: the op that it is a result of, None of block arguments.
        moved_from: the value that it is a piece of, or repeats.
        is_used: whether anything is made of it that does not belong to it.
        likeness: equal for values that are computed alike, up to moves.
    """

    def __init__(self, function: FuncOp):
        self.function = function
        self.number: dict[SSAValue, int] = {}
        self.edges: list[Edge] = []
        self.back_edges: list[Edge] = []
        self.is_scalar: list[bool] = []
        self.sources: list[int] = []
        self.pieces: list[int] = []
        self.is_mixed: list[bool] = []
        self.likeness: list[int] = []
        self.makers: list[Operation | None] = []
        self.moved_from: list[int | None] = []
        self._classes: dict[tuple[object, ...], int] = {}
        self._returned: list[int] = []
        block = function.body.block
        for argument in block.args:
            at = self._add(argument)
            self.sources[at] = self.pieces[at] = 1 << argument.index
        self._walk(block)
        self.first_sources = list(self.sources)
        """`sources` in the first iteration of every loop."""
        self._close()
        count = len(self.makers)
        self.ends = [0] * count
        self.moved_ends = [0] * count
        self.is_used = [False] * count
        for index, at in enumerate(self._returned):
            self.ends[at] |= 1 << index
            self.moved_ends[at] |= 1 << index
        self._reach_ends()

    def returned(self, result: int) -> int:
        """Return the number of the value that is returned as a result."""
        return self._returned[result]

    def updated(self, result: int) -> int:
        """The arguments of which a result is a new value: computed from, and not copied."""
        at = self._returned[result]
        return self.first_sources[at] if self.is_mixed[at] else 0

    # Building

    def _class(self, *key: object) -> int:
        return self._classes.setdefault(key, len(self._classes))

    def _add(self, value: SSAValue, likeness: int | None = None) -> int:
        at = self.number[value] = len(self.makers)
        self.makers.append(value.op if isinstance(value, OpResult) else None)
        self.moved_from.append(None)
        self.is_scalar.append(not shape_of(value))
        self.sources.append(0)
        self.pieces.append(0)
        self.is_mixed.append(False)
        self.likeness.append(self._class("value", at) if likeness is None else likeness)
        return at

    def _link(self, source: SSAValue, target: SSAValue, flow: Flow) -> None:
        edge = self.number[source], self.number[target], flow
        self.edges.append(edge)
        self._step(edge)
        if flow in (Flow.MOVED, Flow.SPREAD) and self.moved_from[edge[1]] is None:
            self.moved_from[edge[1]] = edge[0]

    def _step(self, edge: Edge) -> bool:
        """Hand on what is known of the source; whether that is news."""
        source, target, flow = edge
        before = self.sources[target], self.pieces[target], self.is_mixed[target]
        if flow <= Flow.WORKED:
            self.sources[target] |= self.sources[source]
        if flow in (Flow.MOVED, Flow.SPREAD):
            self.pieces[target] |= self.pieces[source]
            self.is_mixed[target] |= self.is_mixed[source]
        else:
            self.is_mixed[target] = True
        return before != (
            self.sources[target],
            self.pieces[target],
            self.is_mixed[target],
        )

    def _close(self) -> None:
        """Follow the values of loops from iteration to iteration."""
        changed = bool(self.back_edges)
        while changed:
            changed = False
            for edge in (*self.back_edges, *self.edges):
                changed |= self._step(edge)

    def _reach_ends(self) -> None:
        changed = True
        while changed:
            for edge in reversed(self.edges):
                self._step_back(*edge)
            changed = False
            for edge in self.back_edges:
                changed |= self._step_back(*edge)

    def _step_back(self, source: int, target: int, flow: Flow) -> bool:
        if flow is Flow.MADE:
            return False
        known = self.ends[source], self.moved_ends[source], self.is_used[source]
        if flow > Flow.WORKED:
            self.is_used[source] = True
        else:
            self.ends[source] |= self.ends[target]
            self.is_used[source] |= self.is_used[target]
            if flow is Flow.MOVED:
                self.moved_ends[source] |= self.moved_ends[target]
        return known != (
            self.ends[source],
            self.moved_ends[source],
            self.is_used[source],
        )

    def _walk(self, block: Block) -> None:
        for op in block.ops:
            edges = data_flow_of(type(op))
            if isinstance(op, ReturnOp | stablehlo.ReturnOp):
                if block is not self.function.body.block:
                    continue
                self._returned.extend(self.number[value] for value in op.operands)
            elif edges is not None:
                self._enter(op, edges)
            elif op.results:
                self._visit(op)

    def _visit(self, op: Operation) -> None:
        known = [value for value in op.operands if value in self.number]
        alike = [self.likeness[self.number[value]] for value in known]
        for result in op.results:
            self._add(result, self._class(op.name, result.index, *alike))
        flows = [
            (op.operands[operand], op.results[result], flow)
            for operand, result, flow in self._flows(op)
            if op.operands[operand] in self.number
        ]
        belongs = {result for _, result, flow in flows if flow <= Flow.WORKED}
        uses = {result for _, result, flow in flows if flow is Flow.USED}
        if isinstance(op, stablehlo.ScatterOp):  # it sums what it is given
            belongs -= uses
        for value, result, flow in flows:
            self._link(value, result, flow)
        for result in op.results:
            if result in uses - belongs:
                at = self.number[result]
                self.edges.append((at, at, Flow.MADE))
        moved = [value for value, _, flow in flows if flow is Flow.MOVED]
        if len(op.results) == 1 and moved and not _JOIN[type(op)]:
            at = self.number[op.results[0]]
            self.likeness[at] = self.likeness[self.number[moved[0]]]

    def _flows(self, op: Operation) -> Iterator[tuple[int, int, Flow]]:
        """Yield how operands of an op without regions to enter flow into results.

        Operands that only give indices flow nowhere.
        """
        if _OF_THEIR_OWN[type(op)] and (own := [*self._own_flows(op)]):
            yield from own
        elif _COLLECTIVE[type(op)]:
            yield from ((at, at, Flow.MOVED) for at in range(len(op.results)))
        elif _MOVE[type(op)]:
            yield 0, 0, Flow.MOVED
        elif _JOIN[type(op)]:
            yield from ((at, 0, Flow.MOVED) for at in range(len(op.operands)))
        elif _BROADCAST[type(op)]:
            grows = _size(op.operands[0]) != _size(op.results[0])
            yield 0, 0, Flow.SPREAD if grows else Flow.MOVED
        elif _WORK[type(op)]:
            size = _size(op.results[0])
            for at, operand in enumerate(op.operands):
                fits = _size(operand) == size
                yield at, 0, Flow.WORKED if fits else Flow.SPREAD
        else:
            for result in range(len(op.results)):
                yield from ((at, result, Flow.USED) for at in range(len(op.operands)))

    def _own_flows(self, op: Operation) -> Iterator[tuple[int, int, Flow]]:
        """Yield the same for ops whose operands flow as those of no others."""
        match op:
            case stablehlo.DynamicUpdateSliceOp():
                # a place in a cache is overwritten by something else
                written = self._written(op.operands[0], op.operands[1])
                yield from ((1, 0, written), (0, 0, written))
            case stablehlo.ScatterOp() if len(op.results) == 1:
                adds = _adds(op.update_computation)
                vector = op.scatter_dimension_numbers.data.index_vector_dim
                is_one_index = _is_one_index(op.scatter_indices, vector)
                written = self._written(op.operands[0], op.operands[2])
                yield 2, 0, written if is_one_index else Flow.USED
                if adds:
                    yield 0, 0, Flow.WORKED
                else:
                    yield 0, 0, written if is_one_index else Flow.USED
                if not is_one_index:
                    yield 1, 0, Flow.USED
            case stablehlo.GatherOp() if _is_one_index(
                op.start_indices, op.dimension_numbers.data.index_vector_dim
            ):
                yield 0, 0, Flow.MOVED
            case stablehlo.ReduceOp() if len(op.results) == 1 and (
                _size(op.operands[0]) == _size(op.results[0])
            ):
                yield 0, 0, Flow.MOVED
            case stablehlo.CompositeOp() if op.composite_name.data == _SLICE:
                yield 0, 0, Flow.MOVED
            case stablehlo.SelectOp():
                yield from ((0, 0, Flow.USED), (1, 0, Flow.WORKED), (2, 0, Flow.WORKED))
            case _:
                pass

    def _written(self, base: SSAValue, update: SSAValue) -> Flow:
        """Return how a base and the update of a part of it flow into the whole.

        Both move into it if the base is a new buffer or both have a source in common.
        """
        known = [self.number.get(value) for value in (base, update)]
        masks = [0 if at is None else self.sources[at] for at in known]
        return Flow.MOVED if not masks[0] or masks[0] & masks[1] else Flow.USED

    def _enter(self, op: Operation, edges: DataFlowTrait) -> None:
        """An op that hands values to regions and takes others back."""
        later: list[tuple[SSAValue, SSAValue]] = []
        back: list[tuple[SSAValue, SSAValue]] = []
        for owner in edges.edge_owners(op):
            targets = [owner, *edges.other_targets(op, owner)]
            inner = [
                inner_target
                for inner_target in targets
                if isinstance(inner_target, BlockArgument)
            ]
            outer = [
                outer_target
                for outer_target in targets
                if isinstance(outer_target, OpResult)
            ]
            sources = edges.edge_sources(op, owner)
            given = [source.value for source in sources if source.op is op]
            returned = [source.value for source in sources if source.op is not op]
            for target in inner:
                unchanged = all(_unmoved(value) in inner for value in returned)
                self._add(target, self._same(given) if unchanged else None)
                for value in given:
                    self._link(value, target, Flow.MOVED)
                back.extend((value, target) for value in returned)
            later.extend((value, target) for value in returned for target in outer)
            if not returned:
                for target in outer:
                    self._add(target, self._same(given))
                    for value in given:
                        self._link(value, target, Flow.MOVED)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    if argument not in self.number:
                        self._add(argument)
                self._walk(block)
        for value, target in later:
            if target not in self.number:
                self._add(target, self._same([value]))
            if value in self.number:
                self._link(value, target, Flow.MOVED)
        for result in op.results:
            if result not in self.number:
                self._add(result)
        for value, target in back:
            if value in self.number:
                edge = self.number[value], self.number[target], Flow.MOVED
                self.back_edges.append(edge)

    def _same(self, values: Iterable[SSAValue]) -> int | None:
        """Return the class of the first value."""
        known = (self.number[value] for value in values if value in self.number)
        return next((self.likeness[at] for at in known), None)


def _unmoved(value: SSAValue) -> SSAValue:
    """Return the value that this one was before it was moved."""
    while isinstance(value, OpResult):
        op = value.op
        if isinstance(op, stablehlo.OptimizationBarrierOp) or _COLLECTIVE[type(op)]:
            value = op.operands[value.index]
        elif _MOVE[type(op)]:
            value = op.operands[0]
        else:
            break
    return value


def _is_one_index(indices: SSAValue, vector_dim: int) -> bool:
    shape = shape_of(indices)
    return prod(shape[:vector_dim] + shape[vector_dim + 1 :]) == 1


def _adds(computation: Region) -> bool:
    return any(isinstance(op, stablehlo.AddOp) for op in computation.block.ops)


def _size(value: SSAValue) -> int:
    return prod(shape_of(value))
