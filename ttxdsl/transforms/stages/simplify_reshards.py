"""`simplify-reshards`: a value is sent once to all that want it split alike.

Stage 8 looks at one op at a time. Behind it the pipeline lets the ops of one block that
want the same value under the same sharding share one reshard.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects import sdy
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.spec import TensorSharding


def simplify_reshards(module: ModuleOp) -> None:
    """Drop reshards that an op before them in the same block has done, in place."""
    known: dict[tuple[SSAValue, TensorSharding, Block | None], SSAValue] = {}
    for op in ops_of_type(module, sdy.ReshardOp):
        key = op.input, op.sharding.data, op.parent
        first = known.setdefault(key, op.result)
        if first is not op.result:
            Rewriter.replace_op(op, [], [first])


class SimplifyReshardsPass(ModulePass):
    """Leave out the reshards that another op has done."""

    name = "simplify-reshards"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        simplify_reshards(op)
