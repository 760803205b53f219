"""Close every sharding: what propagation left open stays as it is.

A closed dimension says "exactly these axes". Explicitly replicated axes only told
propagation to keep off, so they go too. A dimension without axes also loses its priority
(the C++ pass leaves it one, which is invalid, and fails).
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
        """Change the module in place."""
        transform_shardings(op, TensorSharding.closed_like)
