"""The traffic that shardings of a propagation would cause, before anything is planned.

Where the shardings of an op's operands and results contradict each other, stage 8
reshards some of them, and sums partial results (`ttxdsl.sharding.reshard.compatible`
decides both). The bytes of these are counted op by op, those in a loop once. The count
is rough: other passes send less than the plans of stage 8.
"""

from collections.abc import Callable, Iterator
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation

from ttxdsl.analysis.calls.trip_counts import TripCounts
from ttxdsl.costs.ring import Ring, ring_bytes
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import element_bits, element_of, shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.axes import Axes, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule, TensorMapping
from ttxdsl.sharding.reshard.cheapest import cheapest_reshard, plan_bytes
from ttxdsl.sharding.reshard.compatible import agree
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.meshes import mesh_lookup
from ttxdsl.transforms.shardy.propagation.graph import Node, PropagationGraph


class RoughTraffic(NamedTuple):
    """The bits that devices send.

    Attributes:
        moved: bits, of tensors that are resharded.
        summed: bits, of partial results that are combined.
    """

    moved: int
    summed: int

    @property
    def bits(self) -> int:
        """All together."""
        return self.moved + self.summed


def traffic(graph: PropagationGraph) -> RoughTraffic:
    """Return the bits that the present shardings would have each device send."""
    moved = summed = 0
    for _, by_move, by_sum in traffic_of_nodes(graph):
        moved += by_move
        summed += by_sum
    return RoughTraffic(moved, summed)


def bits_in_loops(
    graph: PropagationGraph, iterations: Callable[[Operation], int]
) -> int:
    """Return the same of all, where each op runs so many times."""
    return sum(
        iterations(node.op) * (moved + summed)
        for node, moved, summed in traffic_of_nodes(graph)
    )


class Iterations:
    """The iterations of the loops around ops; one of unknown count is one.

    Unlike `Runs` it reads nothing but these loops, and counts all branches.
    """

    def __init__(self, module: ModuleOp):
        self._trip_counts = TripCounts(module)
        self._of: dict[Block | None, int] = {None: 1}

    def __call__(self, op: Operation) -> int:
        """Return how often an op runs."""
        block = op.parent
        if block not in self._of:
            around = op.parent_op()
            iterations = 1 if around is None else self(around)
            if isinstance(around, stablehlo.WhileOp):
                iterations *= self._trip_counts.of(around) or 1
            self._of[block] = iterations
        return self._of[block]


def traffic_of_nodes(graph: PropagationGraph) -> Iterator[tuple[Node, int, int]]:
    """Yield nodes for which something is sent, with its bits: moved, and summed."""
    numbers = graph.numbers
    # by the kind of op, of one rule, and its shardings
    known: dict[tuple[object, ...], tuple[tuple[int, int], ...]] = {}
    for node in graph.nodes:
        if node.rule is None or node.erased:
            continue
        key = (node.kind, *[numbers[place] for place in node.places])
        sent = known.get(key)
        if sent is None:
            sent = known[key] = _sent(graph, node, node.rule)
        if not sent:
            continue
        moved = summed = 0
        values = (*node.op.operands, *node.op.results)
        for value, (moved_elements, other) in zip(values, sent, strict=True):
            if (moved_elements or other) and isinstance(value.type, TensorType):
                bits = element_bits(element_of(value))
                moved += moved_elements * bits
                summed += other * bits
        yield node, moved, summed


def reshard_bytes(module: ModuleOp) -> int:
    """Return the bytes that a device sends for what stages 7 and 8 inserted.

    What is in a loop counts once an iteration.
    """
    mesh_of, iterations = mesh_lookup(module), Iterations(module)
    known: dict[object, int] = {}
    bits = 0
    for op in ops_of_type(module, sdy.ReshardOp, sdy.AllReduceOp):
        (moved,) = op.operands
        if not isinstance(moved.type, TensorType):
            continue
        shape, now = shape_of(moved), sdy.get_sharding(moved)
        if isinstance(op, sdy.ReshardOp):
            wanted, axes = op.sharding.data, ()
        else:
            wanted, axes = op.out_sharding.data, op.reduction_axes.data
        key = now, wanted, axes, shape
        if key not in known:
            mesh = mesh_of(wanted)
            known[key] = (
                _combined(wanted, axes, mesh, shape)
                if isinstance(op, sdy.AllReduceOp)
                else _resharded(now, wanted, mesh, shape)
            )
        bits += known[key] * element_bits(element_of(moved)) * iterations(op)
    return bits // 8


def _sent(
    graph: PropagationGraph, node: Node, rule: OpShardingRule
) -> tuple[tuple[int, int], ...]:
    """The elements that a device sends of each operand and result; `()` if none."""
    shardings = tuple(graph.sharding_of(place) for place in node.places)
    named = {sharding.mesh for sharding in shardings if sharding is not None}
    if len(named) != 1 or not any(
        placed and placed.sharding_axes for placed in shardings
    ):
        return ()
    (ref,) = named
    mesh = graph.meshes[ref] if isinstance(ref, str) else ref
    if mesh.is_maximal or rule.is_custom:
        return ()
    is_reshape = isinstance(node.op, stablehlo.ReshapeOp)
    shapes = [_shape(rule, mapping) for mapping in rule.tensors]
    sizes = tuple(map(prod, shapes))
    foreign = (False,) * len(shardings)
    try:
        agreement = agree(
            rule, shardings, sizes, ref, mesh, foreign, is_reshape=is_reshape
        )
    except ValueError:
        return ()
    sent: list[tuple[int, int]] = []
    for at, (now, wanted, shape) in enumerate(
        zip(shardings, agreement.shardings, shapes, strict=True)
    ):
        is_result = at >= len(node.op.operands)
        moved = summed = 0
        if wanted is not None:  # what an op makes is resharded behind it
            way = (wanted, now) if is_result else (now, wanted)
            moved = _resharded(*way, mesh, shape)
        if is_result and agreement.reduction:
            summed = _combined(wanted or now, agreement.reduction, mesh, shape)
        sent.append((moved, summed))
    return tuple(sent) if any(map(any, sent)) else ()


def _shape(rule: OpShardingRule, mapping: TensorMapping) -> tuple[int, ...]:
    sizes = rule.factor_sizes
    return tuple(prod(sizes[factor] for factor in dim) for dim in mapping)


def _resharded(
    now: TensorSharding | None,
    wanted: TensorSharding | None,
    mesh: Mesh,
    shape: tuple[int, ...],
) -> int:
    source, target = (
        TensorSharding.closed(
            mesh, sharding.axes_per_dim if sharding is not None else ((),) * len(shape)
        )
        for sharding in (now, wanted)
    )
    plan = cheapest_reshard(source, target, (mesh, mesh), shape)
    return plan_bytes(plan, source, mesh, shape) // 64  # which it takes an element for


def _combined(
    sharding: TensorSharding | None, axes: Axes, mesh: Mesh, shape: tuple[int, ...]
) -> int:
    local = shape if sharding is None else sharding.local_shape(shape, mesh, pad=True)
    return ring_bytes(Ring.ALL_REDUCE, prod(local), total_size(axes, mesh))
