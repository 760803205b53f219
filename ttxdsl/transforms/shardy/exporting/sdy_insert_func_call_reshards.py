"""Reshard the results of calls whose callees return them sharded otherwise."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.call_graph import call_shardings, calls_in, result_shardings
from ttxdsl.analysis.calls.symbols import Symbols
from ttxdsl.dialects import sdy
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.meshes import mesh_lookup


def _replicated_like(sharding: TensorSharding) -> TensorSharding:
    return TensorSharding.fully_closed(sharding.mesh, sharding.rank)


def reshard_results(call: CallOp, returned: tuple[TensorSharding, ...] | None) -> None:
    """Let a call have the shardings that its callee returns, and reshard from there.

    Args:
        call: the call; the sharding of each result is what its uses expect.
        returned: the shardings of the callee's results; None if it returns everything
            replicated.
    """
    expected = call_shardings(call)
    if returned is None:
        if expected is None:
            return
        returned = tuple(_replicated_like(sharding) for sharding in expected.data)
    for result, sharding in zip(call.results, returned, strict=True):
        wanted = sdy.get_sharding(result)
        # partial sums are combined by the ops that use them
        if sharding.with_unreduced(()).same_layout(
            wanted and wanted.with_unreduced(())
        ):
            continue
        reshard = sdy.ReshardOp(result, wanted or _replicated_like(sharding))
        reshard.location = call.location
        Rewriter.insert_op(reshard, InsertPoint.after(call))
        result.replace_uses_with_if(
            reshard.result, lambda use, reshard=reshard: use.operation is not reshard
        )
    call.attributes[sdy.SHARDING] = sdy.TensorShardingPerValueAttr(returned)


class InsertFuncCallReshardsPass(ModulePass):
    """Insert `sdy.reshard`s where a call and its callee's results are not sharded alike."""

    name = "sdy-insert-func-call-reshards"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols, mesh_of = Symbols(op), mesh_lookup(op)
        for call in calls_in(op):
            reshard_results(call, result_shardings(symbols.callee(call), mesh_of))
