"""Ops at the fixed point of propagation, as each of their operands and results sees them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from ttxdsl.insight.why.trials.recording import Recorded
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.projection import TensorFactors, project
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.propagation.graph import Node


@dataclass(eq=False)
class Situation:
    """An op at the fixed point, with the shardings of all its operands and results.

    Where its tensors are on several meshes, or none of them is sharded, `mesh` is None
    and `tensors`, the factor shardings of each, are empty.
    """

    node: Node
    rule: OpShardingRule
    mesh: Mesh | None
    tensors: Sequence[TensorFactors]
    values: tuple[SSAValue | None, ...]
    several_meshes: bool

    @property
    def op(self) -> Operation:
        """The op."""
        return self.node.op

    @cached_property
    def holders(self) -> list[dict[Axes, list[int]]]:
        """For each factor: the tensors that it splits, by its axes there."""
        holders: list[dict[Axes, list[int]]] = [{} for _ in self.rule.factor_sizes]
        for index, tensor in enumerate(self.tensors):
            for factor, sharding in tensor.factors.items():
                if sharding.axes:
                    holders[factor].setdefault(sharding.axes, []).append(index)
        return holders

    @cached_property
    def dimensions(self) -> list[dict[int, int]]:
        """For each factor: the tensors that have it, and the dimension it is a part of."""
        dimensions: list[dict[int, int]] = [{} for _ in self.rule.factor_sizes]
        for index, mapping in enumerate(self.rule.tensors):
            for dim, factors in enumerate(mapping):
                for factor in factors:
                    dimensions[factor].setdefault(index, dim)
        return dimensions


class Meeting(NamedTuple):
    """An op as one of its operands or results sees it, counted in this order."""

    at: Situation
    tensor: int


class Meetings:
    """The meetings around values of one compiled program; each op is projected once."""

    def __init__(self, recorded: Recorded):
        self.recorded = recorded
        self._situations: dict[tuple[int, tuple[int, ...] | None], Situation] = {}
        """By node, and by shape where the node has no rule of its own."""

    def at(self, value: SSAValue) -> Iterator[Meeting]:
        """Return the meetings of a stage 6 value."""
        place = self.recorded.place(value)
        if place is None or self.recorded.propagated is None:
            return
        nodes = self.recorded.propagated.graph.nodes
        for number, tensor in self.recorded.nodes_at.get(place, ()):
            shape = tuple(shape_of(value)) if nodes[number].rule is None else None
            situation = self._situations.get((number, shape))
            if situation is None:
                situation = self._situation(nodes[number], shape)
                self._situations[number, shape] = situation
            yield Meeting(situation, tensor)

    def _situation(self, node: Node, shape: tuple[int, ...] | None) -> Situation:
        """Project what an op has at the fixed point; `shape` is of one without a rule."""
        assert self.recorded.propagated is not None
        graph = self.recorded.propagated.graph
        memo = graph.memo
        present = [graph.numbers[other] for other in node.places]
        if node.border is not None:
            own = memo.sharding(present[-1])
            if own is not None:
                present[-1] = memo.number(node.border.at_sources(own))
        values = tuple(graph.places[other].value for other in node.places)
        rule = node.rule
        if rule is None:
            assert shape is not None
            rule = OpShardingRule.identity(shape, len(node.places) - 1)
        shardings = [memo.sharding(number) for number in present]
        mesh = self._mesh(shardings)
        tensors = () if mesh is None else project(mesh, rule, shardings).tensors
        several = mesh is None and self._several_meshes(values)
        return Situation(node, rule, mesh, tensors, values, several)

    def _mesh(self, shardings: list[TensorSharding | None]) -> Mesh | None:
        assert self.recorded.propagated is not None
        meshes = self.recorded.propagated.graph.meshes
        common: Mesh | None = None
        for sharding in shardings:
            if sharding is None:
                continue
            mesh = sharding.mesh
            mesh = meshes[mesh] if isinstance(mesh, str) else mesh
            if mesh.is_empty:
                continue
            if common is not None and mesh != common:
                return None
            common = mesh
        return None if common is None or common.is_maximal else common

    def _several_meshes(self, values: Iterable[SSAValue | None]) -> bool:
        meshes = {
            sharding.mesh
            for value in values
            if value is not None and (sharding := self.recorded.sharding(value))
        }
        return len(meshes) > 1
