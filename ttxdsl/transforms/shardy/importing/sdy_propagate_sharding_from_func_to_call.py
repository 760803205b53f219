"""`sdy-propagate-sharding-from-func-to-call`: copy result shardings to calls."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.bound_axes import require_free_results
from ttxdsl.analysis.calls.call_graph import call_shardings, calls_in, result_shardings
from ttxdsl.analysis.calls.symbols import Symbols
from ttxdsl.dialects.sdy import SHARDING, TensorShardingPerValueAttr
from ttxdsl.transforms.shardy.meshes import mesh_lookup


class PropagateShardingFromFuncToCallPass(ModulePass):
    """Give calls without shardings those of their callees' results.

    Source: Shardy's sdy-propagate-sharding-from-func-to-call.
    """

    name = "sdy-propagate-sharding-from-func-to-call"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: a result is sharded by axes that are bound where it is called.
        """
        symbols, mesh_of = Symbols(op), mesh_lookup(op)
        for call in calls_in(op):
            if call_shardings(call) is None:
                shardings = result_shardings(symbols.callee(call), mesh_of)
                if shardings is not None:
                    require_free_results(call, shardings)
                    call.attributes[SHARDING] = TensorShardingPerValueAttr(shardings)
