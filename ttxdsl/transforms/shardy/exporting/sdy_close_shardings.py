"""`sdy-close-shardings`: close every dimension that propagation left open.

A closed dimension has exactly its axes. Explicitly replicated axes only restrict
propagation, so they are removed. A dimension without axes loses its priority (the C++
pass keeps it, which is invalid, and fails).
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.dialects.sdy import transform_shardings
from ttxdsl.sharding.spec import TensorSharding


class CloseShardingsPass(ModulePass):
    """Close all tensor shardings in the module and drop their replicated axes."""

    name = "sdy-close-shardings"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        transform_shardings(op, TensorSharding.closed_like)
