"""Make the flow of data into functions and out of calls visible as ops."""

from collections.abc import Iterable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.call_graph import calls_in, main_function
from ttxdsl.dialects import sdy
from ttxdsl.transforms.shardy.data_flow_edges import is_static


def _add_edges(
    values: Iterable[SSAValue], origin: Operation, point: InsertPoint
) -> None:
    for value in values:
        if not is_static(value.type):
            continue
        edge = sdy.FuncDataFlowEdgeOp(value)
        edge.location = origin.location
        Rewriter.insert_op(edge, point)
        value.replace_uses_with_if(
            edge.result, lambda use, edge=edge: use.operation is not edge
        )
        sharding = sdy.get_sharding(value)
        if sharding is not None:
            edge.attributes[sdy.SHARDING] = sdy.TensorShardingPerValueAttr((sharding,))


class AddFuncDataFlowEdgesPass(ModulePass):
    """Insert `sdy.func_data_flow_edge` ops for function arguments and call results.

    The main function's arguments get none, because its callers are unknown.

    Source: Shardy's sdy-add-func-data-flow-edges.
    """

    name = "sdy-add-func-data-flow-edges"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: if the module has several functions and none is `main`.
        """
        main = main_function(op)
        for function in list(op.ops):
            if isinstance(function, FuncOp) and function is not main:
                block = function.body.first_block
                if block is not None:
                    _add_edges(block.args, function, InsertPoint.at_start(block))
        for call in calls_in(op):
            _add_edges(call.results, call, InsertPoint.after(call))
