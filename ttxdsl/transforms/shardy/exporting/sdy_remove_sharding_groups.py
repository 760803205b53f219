"""`sdy-remove-sharding-groups`: drop sharding groups after propagation."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects.sdy import ShardingGroupOp
from ttxdsl.ir.traversal import ops_of_type


class RemoveShardingGroupsPass(ModulePass):
    """Remove every `sdy.sharding_group`."""

    name = "sdy-remove-sharding-groups"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_of_type(op, ShardingGroupOp):
            Rewriter.erase_op(inner)
