"""`sink-all-reduces`: move additive all_reduces past linear ops to the cheapest cut.

Each device's part of a sum goes through ops that are linear in it, and is combined
where the fewest bytes are. So two sums that are added are added first and combined
once.

**Why it is right.** If device i holds p_i, s is their sum and f is linear, f(s) is the
sum of f(p_i). `_linear` lists the ops; their other operands are the same on every
device of the group. A term that all devices hold whole counts once: the first device
adds it, the others zero. So every value between the old all_reduce and the new one is a
sum over devices. Integers wrap, which is linear too. Floating-point sums round in
another order; a product with something infinite may become NaN.

The places are a least vertex cut (`min_cut.py`): vertices are values linear in a
partial sum, priced by their all_reduce; sources are the operands of the all_reduces;
sinks are values needed by ops that are not linear in them. Only what sends fewer bytes
is changed. Any part of a least cut is one for its sources, so a block is looked at
again only when it has a new all_reduce.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ttxdsl.costs.ring import Ring
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.traits import Linear, ops_with
from ttxdsl.ir.tensors import element_of
from ttxdsl.ir.traversal import operands_of
from ttxdsl.sharding.axes import Axes, are_apart
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.in_order import InOrder, places_in
from ttxdsl.transforms.collectives.program.min_cut import (
    VertexGraph,
    connected,
    for_each,
)
from ttxdsl.transforms.collectives.program.single_ops import (
    SENDING,
    erase_unused,
    sum_of,
)
from ttxdsl.transforms.partition.exchange.combiner import SUM, combiner_of

NAME = "sink-all-reduces"

_FLOATS = (BFloat16Type, Float16Type, Float32Type, Float64Type, ComplexType)

_LINEAR: dict[type[Operation], Linear] = {
    op: fact
    for op in ops_with(Linear, stablehlo.StableHLO)
    if (fact := op.get_trait(Linear)) is not None
} | {
    # where they are, see `_LINEAR_IF`
    stablehlo.ConvertOp: Linear(),
    stablehlo.ReduceOp: Linear(stop=1),
    stablehlo.AllReduceOp: Linear(),
    stablehlo.ReduceScatterOp: Linear(),
    stablehlo.AllGatherOp: Linear(),
    stablehlo.AllToAllOp: Linear(),
    stablehlo.CompositeOp: Linear(),
}
"""The ops that may be linear, and in which operands."""


@dataclass(slots=True, eq=False)
class Vertex:
    """A value that is linear in partial sums.

    Attributes:
        value: the value as it is now, whole.
        template: an all_reduce that it came from.
        linear: which operands of its op are partial; none for an all_reduce's result,
            nor for what else is partial to begin with.
        masked: which operands count on one device only.
        ends: whether it is needed whole whatever else is.
        nonlinear_uses: uses by ops that are not linear in it, as far as is known.
    """

    value: SSAValue
    template: Operation
    linear: tuple[int, ...] = ()
    masked: tuple[int, ...] = ()
    ends: bool = False
    nonlinear_uses: int = 0

    @property
    def op(self) -> Operation:
        """The op that makes the value."""
        assert isinstance(self.value, OpResult)
        return self.value.op

    @property
    def is_needed(self) -> bool:
        """Whether an op uses the value and is not linear in it."""
        return self.ends or self.nonlinear_uses > 0


@dataclass(slots=True)
class LinearRegion:
    """The values that are linear in all_reduces of one block along the same axes."""

    program: DeviceProgram
    axes: Axes
    vertices: dict[SSAValue, Vertex] = field(default_factory=dict[SSAValue, Vertex])
    _prices: dict[int, int] = field(default_factory=dict[int, int])

    def price(self, value: SSAValue) -> int:
        """Return the bytes of a value's all_reduce; values of one type cost the same."""
        price = self._prices.get(id(value.type))
        if price is None:
            price = self.program.bytes(Ring.ALL_REDUCE, value, self.axes)
            self._prices[id(value.type)] = price
        return price

    def add(self, value: SSAValue, template: Operation) -> Vertex:
        """Add a vertex."""
        vertex = Vertex(value, template)
        self.vertices[value] = vertex
        return vertex

    def is_local_minimum(self, value: SSAValue) -> bool:
        """Return True if sinking the all_reduce of a value plainly cannot lower its cost.

        One op after the other uses it, makes nothing smaller of it, and takes nothing
        else that could be a sum: as a gradient on its way to the update.
        """
        price = self.price(value)
        while value.has_one_use():
            use = next(iter(value.uses))
            op = use.operation
            if type(op) not in _LINEAR or len(op.results) != 1:
                return True
            others = (operand for operand in op.operands if operand is not value)
            if len(op.operands) > 1 and not all(map(_is_given, others)):
                return False
            value = op.results[0]
            if self.price(value) < price:
                return False
        return not value.uses

    def grow(self, order: dict[Operation, int]) -> None:
        """Add every op of the block that is linear in what is there already."""
        users, vertices = InOrder(order), self.vertices
        for vertex in vertices.values():
            self._follow(vertex, users)
        for op in users:
            results = op.results
            if len(results) != 1 or results[0] in vertices:
                continue
            operands = operands_of(op)
            partial = [
                index for index, operand in enumerate(operands) if operand in vertices
            ]
            places = self._linear(op, partial)
            if places is None:
                continue
            linear, masked = places
            vertex = self.add(results[0], vertices[operands[linear[0]]].template)
            vertex.linear, vertex.masked = linear, masked
            for index in linear:
                vertices[operands[index]].nonlinear_uses -= 1
            self._follow(vertex, users)

    def _follow(self, vertex: Vertex, users: InOrder) -> None:
        vertex.ends = self._ends(vertex)
        if not vertex.ends:
            users.follow(vertex.value)

    def _same(self, op: Operation, *indices: int) -> bool:
        same, operands = self.program.same_along, operands_of(op)
        return all(same(operands[index], self.axes) for index in indices)

    def _linear(
        self, op: Operation, partial: Sequence[int]
    ) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Return the operands that an op is linear in, and those that count once, or None."""
        fact = _LINEAR.get(type(op))
        if fact is None or not self._is_linear(op):
            return None
        operands = operands_of(op)
        linear = range(len(operands))[fact.start : fact.stop]
        if any(index not in linear for index in partial):
            return None
        if fact.is_product:
            first = partial[0]
            fits = operands[0] is not operands[1] and self._same(op, 1 - first)
            return ((first,), ()) if fits else None
        whole = [index for index in range(len(operands)) if index not in partial]
        if not self._same(op, *whole):
            return None
        masked = (
            index for index in whole if index in linear and not is_zero(operands[index])
        )
        return tuple(partial), tuple(masked)

    def _is_linear(self, op: Operation) -> bool:
        """Return True if an op that may be linear is."""
        if type(op) in SENDING:
            return self._is_apart(op)
        holds = _LINEAR_IF.get(type(op))
        return holds is None or holds(op)

    def _is_apart(self, op: Operation) -> bool:
        """Whether a collective, or a slice, is along other axes, and adds if it does."""
        axes = self.program.axes(op)
        if axes is None or not are_apart(axes, self.axes):
            return False
        reduces = isinstance(op, stablehlo.AllReduceOp | stablehlo.ReduceScatterOp)
        return not reduces or sum_of(op) == SUM

    def _ends(self, vertex: Vertex) -> bool:
        """Whether a value is needed whole in any case, by an op that ends the region."""
        value = vertex.value
        for use in value.uses:
            fact = _LINEAR.get(type(use.operation))
            if fact is None:
                return True
            vertex.nonlinear_uses += 1
            if fact.is_product:
                other = use.operation.operands[1 - use.index]
                if not self.program.same_along(other, self.axes):
                    return True
        return False

    def partly(self, vertex: Vertex, held: Mapping[SSAValue, SSAValue]) -> SSAValue:
        """Write a device's partial value, computed from its partial linear operands.

        Args:
            vertex: the value; not one that is partial to begin with, but for all_reduces.
            held: of the linear operands; what is missing is combined before, and whole:
                it counts once.
        """
        op = vertex.op
        if not vertex.linear:
            return op.operands[0]
        operands = list(op.operands)
        for index in (*vertex.linear, *vertex.masked):
            operand = operands[index]
            operands[index] = (
                held[operand]
                if operand in held
                else self.program.on_one(operand, self.axes, 0, op)
            )
        return self.program.copy(op, operands)


def _widens(op: Operation) -> bool:
    """Whether a convert keeps every number, so that it keeps their sums."""
    widths = {
        BFloat16Type: 0,
        Float16Type: 0,
        Float32Type: 1,
        Float64Type: 2,
    }
    before = widths.get(type(element_of(op.operands[0])))  # pyright: ignore[reportArgumentType]
    after = widths.get(type(element_of(op.results[0])))  # pyright: ignore[reportArgumentType]
    return before is not None and after is not None and before < after


def is_zero(value: SSAValue) -> bool:
    """Whether a value is a constant of nothing but zeros."""
    op = value.owner
    if isinstance(op, stablehlo.BroadcastInDimOp):
        op = op.operand.owner
    if not isinstance(op, stablehlo.ConstantOp):
        return False
    held = op.value
    return (
        isinstance(held, DenseIntOrFPElementsAttr)
        and held.is_splat()
        and not any(held.data.data)
    )


def _divides_floats(op: Operation) -> bool:
    return isinstance(element_of(op.results[0]), _FLOATS)


def _adds(op: stablehlo.ReduceOp) -> bool:
    """Return whether a reduce of one value adds, from zero on."""
    operands = operands_of(op)
    return len(operands) == 2 and combiner_of(op.body) == SUM and is_zero(operands[1])


_LINEAR_IF: dict[type[Operation], Callable[[Any], bool]] = {
    stablehlo.ConvertOp: _widens,
    stablehlo.DivOp: _divides_floats,
    stablehlo.ReduceOp: _adds,
}
"""What ops of some classes are linear under."""


def _is_given(value: SSAValue) -> bool:
    """Whether a value is no sum: an argument, or a constant, maybe broadcast."""
    op = value.owner
    if isinstance(op, stablehlo.BroadcastInDimOp):
        op = op.operand.owner
    return isinstance(op, Block | stablehlo.ConstantOp)


def sums_in(program: DeviceProgram, block: Block) -> dict[Axes, list[Operation]]:
    """Return the all_reduces of a block that add, by their axes."""
    sums: dict[Axes, list[Operation]] = {}
    for op in program.sending(block):
        if type(op) is stablehlo.AllReduceOp and sum_of(op) == SUM:
            axes = program.axes(op)
            element: Attribute = element_of(op.results[0])
            if axes is not None and element != i1:
                sums.setdefault(axes, []).append(op)
    return sums


def sink_all_reduces(program: DeviceProgram, block: Block) -> bool:
    """Move the all_reduces of a block, and return True if any moved."""
    changed = False
    order: dict[Operation, int] = {}
    known = program.looked_at(NAME, block)
    sums_by_axes = sums_in(program, block)
    if known.issuperset(chain.from_iterable(sums_by_axes.values())):
        return False
    for axes, sums in sums_by_axes.items():
        region = LinearRegion(program, axes)
        for op in sums:
            # sums along other axes may have taken it along
            if op.parent is not None and not region.is_local_minimum(op.results[0]):
                region.add(op.results[0], op)
        if not region.vertices:
            continue
        order = order or places_in(block)
        region.grow(order)
        vertices = region.vertices
        inputs = {
            vertex: [vertices[vertex.op.operands[index]] for index in vertex.linear]
            for vertex in vertices.values()
        }
        for component in connected(inputs):
            if len(component) > 1:
                component.sort(key=lambda vertex: order[vertex.op])
                changed |= _solve(region, component)
        if changed:
            order = {}  # the next axes look at what is there now
    known.update(chain.from_iterable(sums_in(program, block).values()))
    return changed


def _solve(region: LinearRegion, component: list[Vertex]) -> bool:
    """Find the cut of one component, and move its all_reduces there if it is cheaper."""
    program, axes = region.program, region.axes
    prices = [region.price(vertex.value) for vertex in component]
    today = [
        price
        for vertex, price in zip(component, prices, strict=True)
        if not vertex.linear
    ]
    now = sum(today)
    if min(prices) >= now:  # one all_reduce, and nothing is smaller
        return False
    each = for_each(now)
    graph = VertexGraph()
    number: dict[SSAValue, int] = {}
    for vertex, price in zip(component, prices, strict=True):
        number[vertex.value] = node = graph.vertex(price + each)
        if not vertex.linear:
            graph.source(node)
        for index in vertex.linear:
            graph.edge(number[vertex.op.operands[index]], node)
        if vertex.is_needed:
            graph.sink(node)
    cut = graph.least_cut(near_sources=True)
    sent = cut.price - each * len(cut.vertices)
    if sent > now or cut.price >= now + each * len(today):
        return False
    held: dict[SSAValue, SSAValue] = {}
    whole: list[tuple[Vertex, SSAValue]] = []
    for vertex in component:
        node = number[vertex.value]
        if node in cut.behind:
            continue
        held[vertex.value] = region.partly(vertex, held)
        if node in cut.vertices:
            whole.append((vertex, held[vertex.value]))
    for vertex, part in whole:
        if not vertex.linear:
            continue  # it is combined where it was
        reduced = program.all_reduce(part, vertex.template, axes, NAME)
        vertex.value.replace_all_uses_with(reduced)
    erase_unused(reversed(held))
    return True
