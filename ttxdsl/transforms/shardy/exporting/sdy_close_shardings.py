"""Close every sharding: what propagation left open stays as it is.

A closed dimension says "exactly these axes". Explicitly replicated axes only told
propagation to keep off, so they go too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.dialects.sdy import transform_shardings
from ttxdsl.sharding.spec import TensorSharding


def closed(sharding: TensorSharding) -> TensorSharding:
    """The same layout, every dimension closed, no replicated axes.

    A dimension without axes also loses its priority: closed, it has nothing left that
    could propagate, and the dialect refuses it. (The C++ pass makes that invalid
    sharding and fails.)
    """
    layout = sharding.closed_like()
    return layout.with_dims(
        [dim if dim.axes else replace(dim, priority=None) for dim in layout.dims]
    )


@dataclass(frozen=True)
class CloseShardingsPass(ModulePass):
    """Close all tensor shardings in the module and drop their replicated axes.

    Source: Shardy's sdy-close-shardings.
    """

    name = "sdy-close-shardings"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        transform_shardings(op, closed)
