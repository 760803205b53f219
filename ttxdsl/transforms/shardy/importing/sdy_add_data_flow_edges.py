"""Make data flow edges visible as ops, which hold their shardings."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.ir.data_flow import data_flow_ops
from ttxdsl.transforms.shardy.data_flow_edges import add_edges_of


class AddDataFlowEdgesPass(ModulePass):
    """Put an `sdy.data_flow_edge` behind every value that owns a data flow edge.

    Source: Shardy's sdy-add-data-flow-edges.
    """

    name = "sdy-add-data-flow-edges"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in data_flow_ops(op):
            add_edges_of(inner)
