"""`drop-shardings-of-scalars`: nothing of sdy in bodies that work on single numbers.

The body of a reduction, a sort or a scatter says what to do with two numbers, wherever
they are. A constraint, a barrier or a collective there is an identity on a scalar that no
device shares with another; Shardy would make an all-reduce of a constraint to partial
sums, once a pair of elements. They go after stage 1, in solved programs too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects import sdy
from ttxdsl.dialects.data_flow import data_flow_of
from ttxdsl.dialects.traversal import ops_of_type


def _is_scalar(type_: Attribute) -> bool:
    return isinstance(type_, TensorType) and not type_.shape.data


def _is_body_of_scalars(holder: Operation) -> bool:
    """Whether an op's regions take single numbers, and no value flows through them."""
    blocks = [block for region in holder.regions for block in region.blocks]
    types = [type_ for block in blocks for type_ in block.arg_types]
    return (
        bool(types)
        and data_flow_of(type(holder)) is None
        and all(map(_is_scalar, types))
    )


def _search() -> Callable[[Operation], bool]:
    """Whether an op is in such a body; what holds many ops is looked at once."""

    @cache
    def holds_scalars(holder: Operation) -> bool:
        if isinstance(holder, FuncOp | ModuleOp):
            return False
        outer = holder.parent_op()
        return _is_body_of_scalars(holder) or (
            outer is not None and holds_scalars(outer)
        )

    def is_inside(op: Operation) -> bool:
        holder = op.parent_op()
        return holder is not None and holds_scalars(holder)

    return is_inside


class DropShardingsOfScalarsPass(ModulePass):
    """Replace the ops of sdy in bodies of scalars by their operands."""

    name = "drop-shardings-of-scalars"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        is_inside = _search()
        kinds = sdy.ShardingOp, sdy.PropagationBarrierOp, sdy.CollectiveOp
        for identity in ops_of_type(op, *kinds, sdy.DataFlowEdgeOp):
            if is_inside(identity):
                Rewriter.replace_op(identity, [], [identity.operands[0]])
        for group in ops_of_type(op, sdy.ShardingGroupOp):
            if is_inside(group):
                Rewriter.erase_op(group)
