"""`open-composites`: composites become calls of their decompositions.

Nothing is known of how a composite works on shards, so that every device would compute
it whole. What it is made of can be split. The pipeline does this before it inlines
calls, where there is more than one device; composites with a sharding rule stay.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.transforms.local.collectives import ALL_SLICE


def _is_closed(op: stablehlo.CompositeOp) -> bool:
    """Whether something is known of a composite, as of those that stage 11 writes."""
    return op.composite_name.data == ALL_SLICE or sharding_rule(op) is not None


def open_composites(module: ModuleOp) -> None:
    """Replace composites whose decomposition has a body, in place."""
    bodies = {
        op.sym_name.data
        for op in module.ops
        if isinstance(op, FuncOp) and not op.is_declaration
    }
    for op in ops_of_type(module, stablehlo.CompositeOp):
        if _is_closed(op):
            continue
        name = op.decomposition.string_value()
        if name in bodies:
            call = CallOp(name, op.operands, [result.type for result in op.results])
            call.attributes.update(op.attributes)
            call.location = op.location
            Rewriter.replace_op(op, call)


class OpenCompositesPass(ModulePass):
    """Call what composites of which no rule is known are made of."""

    name = "open-composites"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        open_composites(op)
