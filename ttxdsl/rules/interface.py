"""How an op of any dialect answers for its own sharding rule."""

from __future__ import annotations

from abc import ABC, abstractmethod

from xdsl.ir import Operation
from xdsl.traits import OpTrait

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
        """The rule of `op`, or None when its values must not be partitioned.

        Args:
            op: the op that carries the trait; its types are static.
            conservative: whether rules must only offer factors that divide evenly.
        """
