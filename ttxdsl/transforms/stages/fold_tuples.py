"""`fold-tuples`: replace an element of a tuple by the value that it was made of.

Shardy has no tuples. Tuples that older exporters pack and unpack at once are folded
here. Custom calls, which have one result in HLO, get one for each element that is used.
Other tuples stay, and are errors where they are used.
"""

from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
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
    """A packed value in place of an element of a tuple."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.GetTupleElementOp, rewriter: PatternRewriter, /
    ) -> None:
        source = op.operand.owner
        if isinstance(source, stablehlo.TupleOp):
            rewriter.replace(op, [], [source.operands[op.index.value.data]])


class TupleOfCall(RewritePattern):
    """The elements as results of a custom call, in place of a tuple of them."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.CustomCallOp, rewriter: PatternRewriter, /
    ) -> None:
        """Replace one call, if nothing but elements of its tuple is used."""
        if len(op.outputs) != 1 or not isinstance(op.outputs[0].type, TupleType):
            return
        takers = [use.operation for use in op.outputs[0].uses]
        elements = op.outputs[0].type.types.data
        if any(isinstance(type, TupleType) for type in elements) or not all(
            isinstance(taker, stablehlo.GetTupleElementOp) for taker in takers
        ):
            return
        attributes = {k: v for k, v in op.attributes.items() if k != _HLO_SHAPE}
        call = stablehlo.CustomCallOp.create(
            operands=op.operands,
            result_types=elements,
            properties=op.properties,
            attributes=attributes,
        )
        call.location = op.location
        rewriter.insert(call)
        for taker in cast("list[stablehlo.GetTupleElementOp]", takers):
            rewriter.replace(taker, [], [call.results[taker.index.value.data]])
        rewriter.erase(op)


_HLO_SHAPE = "xla_shape"
"""The attribute in which XLA repeats the shape of a result, a tuple's above all."""


class UnusedTuple(RewritePattern):
    """Nothing, in place of a tuple that nothing takes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.TupleOp, rewriter: PatternRewriter, /
    ) -> None:
        if not op.results[0].uses:
            rewriter.erase(op)


class FoldTuplesPass(ModulePass):
    """Fold tuples that the program itself packs."""

    name = "fold-tuples"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kinds = stablehlo.CustomCallOp, stablehlo.GetTupleElementOp, stablehlo.TupleOp
        if not ops_of_type(op, *kinds):
            return
        rewrite_type(op, stablehlo.CustomCallOp, TupleOfCall())
        # a tuple inside of a tuple is made before it, so that one walk does
        rewrite_type(op, stablehlo.GetTupleElementOp, ElementOfTuple())
        rewrite(reversed(ops_of_type(op, stablehlo.TupleOp)), UnusedTuple())
