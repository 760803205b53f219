"""Traits by which an op of any dialect gives its sharding rule, or is elementwise."""

from abc import ABC, abstractmethod

from xdsl.ir import Operation
from xdsl.traits import OpTrait

from ttxdsl.rules.builder import Shapes, assemble, pointwise
from ttxdsl.sharding.factors import OpShardingRule


class ShardingRuleTrait(OpTrait, ABC):
    """An op that knows how it may be partitioned.

    A dialect takes part in propagation, without a change to ttxdsl, by giving its ops
    a trait of a class derived from this one:

        class MatmulRule(ShardingRuleTrait):
            def sharding_rule(self, op, *, conservative):
                ...

        @irdl_op_definition
        class MatmulOp(IRDLOperation):
            traits = traits_def(MatmulRule())

    Source: Shardy's `ShardingRuleOpInterface`.
    """

    @abstractmethod
    def sharding_rule(
        self, op: Operation, *, conservative: bool
    ) -> OpShardingRule | None:
        """Return the rule of `op`, or None when its values must not be partitioned.

        Args:
            op: the op that carries the trait; its types are static.
            conservative: whether rules must only offer factors that divide evenly.
        """


class ElementwiseTrait(ShardingRuleTrait):
    """An op whose results' elements each depend on the operands' elements there alone.

    Operands and results are sharded alike; operands without dimensions stand beside
    them. Such ops propagate before all others, and where a conflict of axes could go
    either way, an elementwise op weighs both sides differently than a product does.

    Source: MLIR's `Elementwise` trait, which Shardy's op priorities ask for.
    """

    def sharding_rule(
        self, op: Operation, *, conservative: bool
    ) -> OpShardingRule | None:
        """Return a factor a dimension; None for an op without results."""
        shapes = Shapes.of(op)
        if shapes is None or not shapes.results:
            return None
        return assemble(shapes, pointwise(shapes.results[0]))
