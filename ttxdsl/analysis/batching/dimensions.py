"""Dimensions that are split together, found from the sharding rules.

Every factor of every op's rule ties dimensions of its operands and results together:
the first factor of a dimension is what splitting the dimension splits. Loops and
branches tie those of the values that they hand on. Joined over a whole function this
gives groups.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from ttxdsl.analysis.batching.disjoint import DisjointSets
from ttxdsl.ir.data_flow import data_flow_of
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.factors import OpShardingRule

Dim = tuple[SSAValue, int]
"""One dimension of one value."""

RuleOf = Callable[[Operation], OpShardingRule | None]

ADDED_UP = "added up"
WHOLE = "needed whole"


@lru_cache(maxsize=1 << 12)
def need_of(rule: OpShardingRule, factor: int) -> str | None:
    """Why splitting a factor needs communication; None if it does not."""
    if factor in rule.reduction:
        return ADDED_UP
    if factor in rule.need_replication or factor in rule.blocked:
        return WHOLE
    if factor in rule.permutation:
        return "moved along"
    # splitting a dimension splits its major factor
    if any(factor in part[1:] for tensor in rule.tensors for part in tensor):
        return "minor in a reshape"
    return None


class Touch(NamedTuple):
    """The effect of one op on one factor.

    Attributes:
        dims: the dimensions of its operands and results that the factor is first in.
        need: why splitting it needs communication; None if it does not.
    """

    op: Operation
    dims: tuple[Dim, ...]
    size: int
    need: str | None


def _touches(op: Operation, rule: OpShardingRule, least: int) -> Iterator[Touch]:
    of_factor: dict[int, list[Dim]] = {}
    for value, mapping in zip((*op.operands, *op.results), rule.tensors, strict=True):
        for dim, (factors, size) in enumerate(
            zip(mapping, shape_of(value), strict=True)
        ):
            if factors and size >= least:
                of_factor.setdefault(factors[0], []).append((value, dim))
    for factor, dims in sorted(of_factor.items()):
        need = need_of(rule, factor)
        if need is None and len({value for value, _ in dims}) != len(set(dims)):
            need = "met twice"
        yield Touch(op, tuple(dims), rule.factor_sizes[factor], need)


@dataclass(frozen=True, slots=True)
class JoinedDimensions:
    """The groups of dimensions of a function, and what makes them.

    Attributes:
        touches: what ops do with their factors, and with each dimension alone if nothing
            is known of them; in program order.
    """

    groups: DisjointSets[Dim] = field(default_factory=DisjointSets[Dim])
    rules: dict[Operation, OpShardingRule] = field(
        default_factory=dict[Operation, OpShardingRule]
    )
    touches: list[Touch] = field(default_factory=list[Touch])

    @staticmethod
    def of(function: FuncOp, rule_of: RuleOf, *, least: int = 0) -> "JoinedDimensions":
        """Join the dimensions of a function.

        Args:
            function: has a body; its shardings are not looked at.
            rule_of: the rule of an op, if there is one.
            least: the size of the smallest dimensions that join others.
        """
        joined = JoinedDimensions()
        for argument in function.body.block.args:
            for dim, size in enumerate(shape_of(argument)):
                if size >= least:
                    joined.groups.find((argument, dim))
        for op in function.body.walk():
            if not op.has_trait(IsTerminator):
                joined._add(op, rule_of(op), least)
        return joined

    def _add(self, op: Operation, rule: OpShardingRule | None, least: int) -> None:
        flow = data_flow_of(type(op))
        for owner in flow.edge_owners(op) if flow is not None else ():
            assert flow is not None
            sources = [source.value for source in flow.edge_sources(op, owner)]
            others = (*sources, *flow.other_targets(op, owner))
            for dim, size in enumerate(shape_of(owner)):
                for other in others if size >= least else ():
                    self.groups.join((owner, dim), (other, dim))
        start = len(self.touches)
        if rule is not None:
            self.rules[op] = rule
            self.touches.extend(_touches(op, rule, least))
        elif flow is None:
            self.touches.extend(
                Touch(op, ((value, dim),), size, WHOLE)
                for value in (*op.operands, *op.results)
                for dim, size in enumerate(shape_of(value))
            )
        for touch in self.touches[start:]:
            first, *others = touch.dims
            self.groups.find(first)
            for other in others:
                self.groups.join(first, other)
