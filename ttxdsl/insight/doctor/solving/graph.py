"""The choice of all shardings of a program as a problem for the solver.

The values that elementwise ops and loops tie together are one node, whose strategies are
layouts; so is each argument. Every other op is a node whose strategies split its factors:
what it computes and adds up is the price. Edges between both are reshards. A sum may leave
a result whole (all_reduce) or split (reduce_scatter).

Layers repeat: nodes that look alike, and whose neighbours do for some steps, are decided
once. Memory is that of arguments, and of values from where they are computed to their last
use, without fusion: a first guess, since what is chosen is compiled.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from ttxdsl.analysis.batching.dimensions import ADDED_UP, need_of
from ttxdsl.analysis.batching.disjoint import DisjointSets
from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.work import (
    bytes_touched,
    computes,
    operations,
    product_numbers,
)
from ttxdsl.analysis.values.state import results_of_arguments
from ttxdsl.costs.machines import Machine
from ttxdsl.costs.ring import Ring
from ttxdsl.insight.doctor.solving.layouts import (
    WHOLE,
    Axes,
    Layout,
    is_even,
    layouts_of,
    split_sizes,
)
from ttxdsl.insight.doctor.solving.problem import Floats, Holding, Ints, Problem
from ttxdsl.ir.data_flow import data_flow_of
from ttxdsl.ir.tensors import shape_of, value_bytes
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.factors import OpShardingRule

_ROUNDS = 6
"""Steps to neighbours that have to look alike, too: more than one layer's ops are long."""
_LEAST_HELD = 1e-3
"""Of the bytes of all arguments: smaller values do not count as memory."""


@dataclass(frozen=True, slots=True)
class SplitOp:
    """One way to split an op: the layouts that it takes and gives, and its seconds."""

    operands: tuple[Layout, ...]
    results: tuple[Layout, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class _Edge:
    """A reshard of a value on its way from one node to another.

    A node is a value's or an op's; of an op's `place` is that of the operand or result.
    """

    source: int
    target: int
    place: int
    bytes: int
    times: int


@dataclass(slots=True)
class Graph:
    """Nodes and edges of a function, for any mesh.

    Attributes:
        shapes: of the nodes of values, by node.
        ops: of the nodes of ops, by node, with the number in a walk.
        node_of: the node of each value; small and free values have none.
        kinds: for each node its class; nodes of one class are decided alike.
        arguments: the node of each argument that has one, and its bytes.
        elementwise: the ops within a node of values.
        held: values with the first time and the one after the last of each.
    """

    runs: Runs
    shapes: dict[int, tuple[int, ...]] = field(
        default_factory=dict[int, tuple[int, ...]]
    )
    ops: dict[int, tuple[Operation, OpShardingRule, int]] = field(
        default_factory=dict[int, tuple[Operation, OpShardingRule, int]]
    )
    node_of: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    arguments: dict[int, tuple[int, int]] = field(
        default_factory=dict[int, tuple[int, int]]
    )
    kinds: list[int] = field(default_factory=list[int])
    edges: list[_Edge] = field(default_factory=list[_Edge])
    elementwise: dict[int, list[Operation]] = field(
        default_factory=dict[int, list[Operation]]
    )
    held: list[tuple[SSAValue, int, int]] = field(
        default_factory=list[tuple[SSAValue, int, int]]
    )

    @staticmethod
    def of(function: FuncOp, trip_count: int | None = None) -> "Graph":
        """Return the graph of a function without calls; see the module."""
        module = function.parent_op()
        assert isinstance(module, ModuleOp)
        graph = Graph(Runs(module, trip_count))
        _Builder(graph, function).build()
        graph.kinds = _kinds(graph)
        return graph

    def problem(
        self, axes: Axes, machine: Machine, limit: float | None = None
    ) -> "ShardingProblem":
        """Return the problem on a mesh of devices with `limit` bytes, any if None."""
        return _problem(self, axes, machine, limit)


class _Builder:
    def __init__(self, graph: Graph, function: FuncOp):
        self.graph, self.function = graph, function
        self.homes = DisjointSets[SSAValue]()
        self.arguments = set[SSAValue](function.body.block.args)
        self.free: set[SSAValue] = set()
        self.flows: list[tuple[SSAValue, SSAValue, int]] = []
        self.rules: list[tuple[Operation, OpShardingRule, int]] = []
        self.elementwise: list[Operation] = []
        self.ends: dict[Operation, int] = {}

    def build(self) -> None:
        """Join values, then give numbers to nodes, and list edges and memory."""
        numbers: dict[Operation, int] = {}
        for number, op in enumerate(self.function.body.walk()):
            numbers[op] = number
            if not op.has_trait(IsTerminator):
                self._add(op, number)
        for op, number in reversed(numbers.items()):
            self.ends.setdefault(op, number)
            if (above := op.parent_op()) is not None:
                self.ends[above] = max(self.ends.get(above, 0), self.ends[op])
        for index, argument in enumerate(self.function.body.block.args):
            if shape_of(argument):
                self.graph.arguments[index] = (
                    self._node(argument),
                    value_bytes(argument),
                )
        for source, target, times in self.flows:
            self._edge(self._node(source), self._node(target), 0, source, times)
        for op, rule, number in self.rules:
            self._op(op, rule, number)
        for op in self.elementwise:
            node = self._node(op.results[0])
            self.graph.elementwise.setdefault(node, []).append(op)
        self._returned()
        self._hold(numbers)

    def _node(self, value: SSAValue) -> int:
        home = value if value in self.arguments else self.homes.find(value)
        known = self.graph.node_of.get(home)
        if known is None:
            known = len(self.graph.shapes) + len(self.graph.ops)
            self.graph.shapes[known] = shape_of(value)
            self.graph.node_of[home] = known
        self.graph.node_of[value] = known
        return known

    def _edge(
        self, source: int, target: int, place: int, value: SSAValue, times: int
    ) -> None:
        if source != target and times:
            size = value_bytes(value)
            self.graph.edges.append(_Edge(source, target, place, size, times))

    def _counts(self, value: SSAValue) -> bool:
        return value not in self.free and bool(shape_of(value))

    def _join(self, value: SSAValue, other: SSAValue, times: int) -> None:
        """Tie a value to another; an argument keeps a layout of its own."""
        if other in self.arguments:
            self.flows.append((other, value, times))
        else:
            self.homes.join(value, other)

    def _add(self, op: Operation, number: int) -> None:
        times = self.graph.runs.of(op).count
        flow = data_flow_of(type(op))
        if flow is not None:
            for owner in flow.edge_owners(op):
                sources = [source.value for source in flow.edge_sources(op, owner)]
                for value in (*sources, *flow.other_targets(op, owner)):
                    if shape_of(owner) and value not in self.free:
                        self._join(owner, value, times)
            return
        if not any(map(shape_of, op.results)):
            return
        if not op.regions and not any(map(self._counts, op.operands)):
            self.free.update(op.results)
            return
        rule = sharding_rule(op)
        if rule is None:
            rule = _whole(op)
        if not _is_elementwise(rule):
            self.rules.append((op, rule, number))
            return
        self.elementwise.append(op)
        for value in (*op.results[1:], *filter(self._counts, op.operands)):
            self._join(op.results[0], value, times)

    def _op(self, op: Operation, rule: OpShardingRule, number: int) -> None:
        node = len(self.graph.shapes) + len(self.graph.ops)
        self.graph.ops[node] = op, rule, number
        times = self.graph.runs.of(op).count
        for place, value in enumerate(op.operands):
            if self._counts(value):
                self._edge(self._node(value), node, place, value, times)
        for place, value in enumerate(op.results):
            if shape_of(value):
                self._edge(node, self._node(value), place, value, times)

    def _returned(self) -> None:
        """Tie what is returned to the argument that it becomes."""
        returned = self.function.body.block.last_op
        assert returned is not None
        for argument, result in results_of_arguments(self.function).items():
            value = returned.operands[result]
            if self._counts(value) and argument in self.graph.arguments:
                target, _ = self.graph.arguments[argument]
                self._edge(self._node(value), target, 0, value, 1)

    def _hold(self, numbers: dict[Operation, int]) -> None:
        whole = sum(map(value_bytes, self.arguments))
        last = len(numbers)
        for argument in self.function.body.block.args:
            if shape_of(argument):
                self.graph.held.append((argument, 0, last))
        for op, number in numbers.items():
            inner = (block.args for region in op.regions for block in region.blocks)
            begin = self.ends[op] if op.regions else number
            values = [(value, begin) for value in op.results]
            values += [(value, number) for args in inner for value in args]
            for value, start in values:
                known = self.graph.node_of.get(self.homes.find(value))
                if known is None or value_bytes(value) < _LEAST_HELD * whole:
                    continue
                self.graph.node_of[value] = known
                uses = [self._last(use.operation, value, numbers) for use in value.uses]
                end = max(uses, default=start)
                if end > start:
                    self.graph.held.append((value, start, end + 1))

    def _last(
        self, user: Operation, value: SSAValue, numbers: dict[Operation, int]
    ) -> int:
        """Return when a use is over: with the loop around it, if the value is outside."""
        block = (
            value.owner.parent if isinstance(value.owner, Operation) else value.owner
        )
        while user.parent is not block and (above := user.parent_op()) is not None:
            user = above
        return self.ends.get(user, len(numbers))


def _is_elementwise(rule: OpShardingRule) -> bool:
    """Return True if all values that have dimensions are split alike."""
    plain = tuple((factor,) for factor in range(len(rule.factor_sizes)))
    return all(tensor == plain for tensor in rule.tensors if tensor) and all(
        map(rule.is_pass_through, range(len(rule.factor_sizes)))
    )


def _whole(op: Operation) -> OpShardingRule:
    """Return the rule of an op of which nothing is known: all is needed whole."""

    def mappings(values: Sequence[SSAValue]) -> tuple[tuple[tuple[int, ...], ...], ...]:
        return tuple(((),) * len(shape_of(value)) for value in values)

    return OpShardingRule((), mappings(op.operands), mappings(op.results))


def _kinds(graph: Graph) -> list[int]:
    """Return a class for each node: alike are those whose surroundings are."""
    count = len(graph.shapes) + len(graph.ops)
    colors: list[object] = [None] * count
    for node, shape in graph.shapes.items():
        colors[node] = shape
    for node, (op, rule, _) in graph.ops.items():
        colors[node] = op.name, rule, graph.runs.of(op).count
    for node, _ in graph.arguments.values():
        colors[node] = "argument", colors[node]
    neighbours: list[list[tuple[object, int]]] = [[] for _ in range(count)]
    for edge in graph.edges:
        role = edge.place, edge.bytes, edge.times
        neighbours[edge.source].append(((True, *role), edge.target))
        neighbours[edge.target].append(((False, *role), edge.source))
    numbers = _numbered(colors)
    for _ in range(_ROUNDS):
        numbers = _numbered(
            [
                (numbers[node], frozenset((role, numbers[at]) for role, at in around))
                for node, around in enumerate(neighbours)
            ]
        )
    return numbers


def _numbered(colors: Sequence[object]) -> list[int]:
    known: dict[object, int] = {}
    return [known.setdefault(color, len(known)) for color in colors]


@dataclass(frozen=True)
class ShardingProblem:
    """A problem of shardings, and what its strategies mean.

    Attributes:
        layouts: the layouts of each class of values.
    """

    graph: Graph
    axes: Axes
    problem: Problem
    layouts: dict[int, tuple[Layout, ...]]

    def layout(self, value: SSAValue, chosen: Ints) -> Layout | None:
        """Return the layout of a value in a choice; None if any will do."""
        node = self.graph.node_of.get(value)
        if node is None:
            return None
        kind = self.graph.kinds[node]
        return self.layouts[kind][int(chosen[kind])]


def _problem(
    graph: Graph, axes: Axes, machine: Machine, limit: float | None
) -> ShardingProblem:
    count = max(graph.kinds, default=-1) + 1
    costs: list[list[float]] = [[0.0]] * count
    layouts: dict[int, tuple[Layout, ...]] = {}
    strategies: dict[int, tuple[SplitOp, ...]] = {}
    alike = Counter(graph.kinds)
    for node, shape in graph.shapes.items():
        kind = graph.kinds[node]
        if kind not in layouts:
            layouts[kind] = layouts_of(shape, axes.sizes)
            costs[kind] = [0.0] * len(layouts[kind])
        seconds = sum(
            graph.runs.of(op).count * machine.seconds(operations(op), bytes_touched(op))
            for op in graph.elementwise.get(node, ())
        )
        costs[kind] = [
            cost + axes.share(layout) * seconds
            for cost, layout in zip(costs[kind], layouts[kind], strict=True)
        ]
    for node, size in graph.arguments.values():
        # it is there at the start: what is whole without need takes memory
        kind, seconds = graph.kinds[node], machine.seconds(0, size)
        costs[kind] = [
            cost + axes.share(layout) * seconds
            for cost, layout in zip(costs[kind], layouts[kind], strict=True)
        ]
    for node, (op, rule, _) in graph.ops.items():
        kind = graph.kinds[node]
        if kind not in strategies:
            ways = tuple(_strategies(op, rule, axes, machine))
            times = alike[kind] * graph.runs.of(op).count
            strategies[kind] = ways
            costs[kind] = [times * way.seconds for way in ways]
    edges: list[tuple[tuple[int, int], Floats]] = []
    repeated = Counter(
        (graph.kinds[e.source], graph.kinds[e.target], e.place, e.bytes, e.times)
        for e in graph.edges
    )
    for (source, target, place, size, times), number in repeated.items():
        given, taken = layouts.get(source), layouts.get(target)
        if given is None:
            given = tuple(way.results[place] for way in strategies[source])
        if taken is None:
            taken = tuple(way.operands[place] for way in strategies[target])
        matrix = number * times * axes.reshards(size, given, taken)
        edges.append(((source, target), matrix))
    problem = Problem.of(costs, edges=edges)
    holdings = tuple(
        Holding(
            kind,
            begin,
            end,
            np.array([axes.local_bytes(size, layout) for layout in layouts[kind]]),
        )
        for value, begin, end in graph.held
        for kind, size in [(graph.kinds[graph.node_of[value]], value_bytes(value))]
    )
    problem = replace(problem, holdings=holdings if limit else (), limit=limit)
    return ShardingProblem(graph, axes, problem, layouts)


def _strategies(
    op: Operation, rule: OpShardingRule, axes: Axes, machine: Machine
) -> Iterator[SplitOp]:
    """Yield the ways to split an op: for each axis a factor, and where a sum goes."""
    scatters = range(len(shape_of(op.results[0]))) if len(op.results) == 1 else ()
    options: list[tuple[int | None, int]] = [(None, WHOLE)]
    for factor, size in enumerate(rule.factor_sizes):
        need = need_of(rule, factor)
        if size == 1 or need not in (None, ADDED_UP) or _is_met_twice(rule, factor):
            continue
        options.append((factor, WHOLE))
        if need == ADDED_UP:
            options.extend((factor, dim) for dim in scatters)
    operands = [(shape_of(v), value_bytes(v)) for v in op.operands]
    results = [(shape_of(v), value_bytes(v)) for v in op.results]
    work, touched = operations(op) if computes(op) else 0, bytes_touched(op)
    numbers = product_numbers(op)
    whole = sum(size for _, size in (*operands, *results))
    for chosen in product(options, repeat=len(axes.sizes)):
        factors = tuple(WHOLE if factor is None else factor for factor, _ in chosen)
        if not is_even(rule.factor_sizes, split_sizes(factors, axes.sizes)):
            continue
        taken = [_layout(mapping, factors) for mapping in rule.operands]
        summed = [_layout(mapping, factors) for mapping in rule.results]
        given = [
            tuple(
                dim if scatter == WHOLE else scatter
                for dim, (_, scatter) in zip(layout, chosen, strict=True)
            )
            for layout in summed
        ]
        sides = zip((*operands, *results), (*taken, *given), strict=True)
        if not all(
            is_even(shape, split_sizes(layout, axes.sizes))
            for (shape, _), layout in sides
        ):
            continue
        shared = prod(n for n, f in zip(axes.sizes, factors, strict=True) if f != WHOLE)
        sides = zip((*operands, *results), (*taken, *summed), strict=True)
        part = sum(size * axes.share(layout) for (_, size), layout in sides) / whole
        seconds = machine.seconds(
            work // shared, round(part * touched), numbers=numbers
        )
        for (_, size), layout in zip(results, summed, strict=True):
            local = axes.local_bytes(size, layout)
            for axis, (factor, scatter) in enumerate(chosen):
                if factor is not None and factor in rule.reduction:
                    kind = Ring.ALL_REDUCE if scatter == WHOLE else Ring.REDUCE_SCATTER
                    seconds += axes.collective(kind, axis, local)
                    if scatter != WHOLE:
                        local /= axes.sizes[axis]
        yield SplitOp(tuple(taken), tuple(given), seconds)


def _layout(
    mapping: tuple[tuple[int, ...], ...], factors: Sequence[int]
) -> tuple[int, ...]:
    """Return the layout of a tensor whose ops' factors are split so."""
    dims = {parts[0]: dim for dim, parts in enumerate(mapping) if parts}
    return tuple(dims.get(factor, WHOLE) for factor in factors)


def _is_met_twice(rule: OpShardingRule, factor: int) -> bool:
    return any(sum(factor in part for part in t) > 1 for t in rule.tensors)
