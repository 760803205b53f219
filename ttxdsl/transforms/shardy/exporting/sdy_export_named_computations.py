"""Turn named computations into calls of private functions."""

from collections.abc import Iterable

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp as FuncReturnOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.analysis.calls.call_graph import ORIGINAL_NAME
from ttxdsl.analysis.calls.symbols import PRIVATE, Symbols
from ttxdsl.dialects import sdy
from ttxdsl.ir.rewriting import take_body
from ttxdsl.transforms.shardy.data_flow_edges import edge_shardings
from ttxdsl.transforms.shardy.importing.sdy_import_func_calls import EXECUTION_THREAD


def _remove_edges(values: Iterable[SSAValue]) -> None:
    """Remove the edges behind values that no longer own one."""
    for value in values:
        user = value.get_user_of_unique_use()
        if isinstance(user, sdy.DataFlowEdgeOp):
            Rewriter.replace_op(user, [], [value])


def export(op: sdy.NamedComputationOp, symbols: Symbols) -> CallOp:
    """Replace a named computation by a call of a new private function.

    Shardings of edges take precedence over the op's. Edges of the results are kept
    until all of their owners are calls.
    """
    arguments, results = edge_shardings(op.body.block.args), edge_shardings(op.results)
    if arguments is None and op.in_shardings is not None:
        arguments = list(op.in_shardings.data)
    out_shardings = op.out_shardings
    if results is not None:
        out_shardings = sdy.TensorShardingPerValueAttr(results)
    kind = FunctionType.from_lists(list(op.body.block.arg_types), list(op.result_types))
    function = FuncOp(
        op.computation_name.data, kind, take_body(op, FuncReturnOp), PRIVATE
    )
    function.location = op.location
    function.attributes[ORIGINAL_NAME] = StringAttr(op.computation_name.data)
    _remove_edges(function.args)
    if arguments is not None:
        sdy.set_func_shardings(function, arguments=arguments)
    attributes = dict(op.attributes)
    thread = attributes.pop(EXECUTION_THREAD, None)
    if thread is not None:
        function.attributes[EXECUTION_THREAD] = thread
    call = CallOp(symbols.add_function(function), list(op.operands), op.result_types)
    call.location = op.location
    call.attributes = attributes
    if out_shardings is not None:
        call.attributes[sdy.SHARDING] = out_shardings
    Rewriter.replace_op(op, call)
    return call


class ExportNamedComputationsPass(ModulePass):
    """Replace each `sdy.named_computation` by a call of a private function.

    The function is called as the computation if that name is free, and says it in
    `sdy.original_func_name` in any case.
    """

    name = "sdy-export-named-computations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols = Symbols(op)
        # inner ones first: they become calls in the bodies that are moved
        calls = [
            export(inner, symbols)
            for inner in list(op.walk(region_first=True))
            if isinstance(inner, sdy.NamedComputationOp)
        ]
        for call in calls:
            _remove_edges(call.results)
