"""`open-composites`: replace composites by calls of their decompositions.

A composite without a sharding rule would be computed whole by every device, but its
decomposition can be split. The pipeline does this before it inlines calls, where there
is more than one device.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.rewriting import rewrite_type
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.transforms.partition.exchange.collectives import ALL_SLICE


def is_closed(op: stablehlo.CompositeOp) -> bool:
    """Whether something is known of a composite, as of those that stage 11 writes."""
    return op.composite_name.data == ALL_SLICE or sharding_rule(op) is not None


@dataclass(frozen=True)
class CallDecomposition(RewritePattern):
    """Replace a composite by a call of its decomposition."""

    bodies: frozenset[str]

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.CompositeOp, rewriter: PatternRewriter, /
    ) -> None:
        name = op.decomposition.string_value()
        if is_closed(op) or name not in self.bodies:
            return
        call = CallOp(name, op.operands, [result.type for result in op.results])
        call.attributes.update(op.attributes)
        call.location = op.location
        rewriter.replace(op, call)


class OpenCompositesPass(ModulePass):
    """Replace composites without a sharding rule by calls of their bodies."""

    name = "open-composites"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        bodies = frozenset(
            inner.sym_name.data
            for inner in op.ops
            if isinstance(inner, FuncOp) and not inner.is_declaration
        )
        rewrite_type(op, stablehlo.CompositeOp, CallDecomposition(bodies))
