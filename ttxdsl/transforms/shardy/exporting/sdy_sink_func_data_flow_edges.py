"""`sdy-sink-func-data-flow-edges`: move shardings from edges to their operands."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects.sdy import FuncDataFlowEdgeOp, get_sharding, set_sharding
from ttxdsl.sharding.spec import TensorSharding


class SinkFuncDataFlowEdgesPass(ModulePass):
    """Remove every `sdy.func_data_flow_edge`; its sharding goes to its operand."""

    name = "sdy-sink-func-data-flow-edges"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for edge in list(op.walk()):
            if not isinstance(edge, FuncDataFlowEdgeOp):
                continue
            before, sharding = get_sharding(edge.operand), get_sharding(edge.result)
            if sharding is None and before is not None:
                sharding = TensorSharding.fully_open(before.mesh, before.rank)
            if sharding is not None:
                set_sharding(edge.operand, sharding)
            Rewriter.replace_op(edge, [], [edge.operand])
