"""`fold-tuples`: an element of a tuple that was just made is what it was made of.

Shardy knows no tuples. What older exporters pack and unpack at once is taken apart
here; tuples that come from somewhere else (a custom call, an argument) stay, and are
refused where they are met.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.rewriting import rewrite, rewrite_type
from ttxdsl.ir.traversal import ops_of_type


class ElementOfTuple(RewritePattern):
    """What was packed, in place of an element of a tuple."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.GetTupleElementOp, rewriter: PatternRewriter, /
    ) -> None:
        """Replace one element."""
        source = op.operand.owner
        if isinstance(source, stablehlo.TupleOp):
            rewriter.replace(op, [], [source.operands[op.index.value.data]])


class UnusedTuple(RewritePattern):
    """Nothing, in place of a tuple that nothing takes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.TupleOp, rewriter: PatternRewriter, /
    ) -> None:
        """Drop one tuple."""
        if not op.results[0].uses:
            rewriter.erase(op)


class FoldTuplesPass(ModulePass):
    """Take tuples apart that the program itself makes."""

    name = "fold-tuples"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        # a tuple inside of a tuple is made before it, so that one walk does
        rewrite_type(op, stablehlo.GetTupleElementOp, ElementOfTuple())
        rewrite(reversed(ops_of_type(op, stablehlo.TupleOp)), UnusedTuple())
