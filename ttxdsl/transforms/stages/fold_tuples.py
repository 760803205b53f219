"""`fold-tuples`: an element of a tuple that was just made is what it was made of.

Shardy knows no tuples. What older exporters pack and unpack at once is taken apart
here; tuples that come from somewhere else (a custom call, an argument) stay, and are
refused where they are met.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import ops_of_type


def fold_tuples(root: Operation) -> None:
    """Replace elements of tuples by what was packed, and drop unused tuples, in place."""
    made: list[stablehlo.TupleOp] = []
    # a tuple inside of a tuple is made before it, so that one walk does
    kinds = stablehlo.TupleOp, stablehlo.GetTupleElementOp
    for op in ops_of_type(root, *kinds):
        match op:
            case stablehlo.TupleOp():
                made.append(op)
            case stablehlo.GetTupleElementOp() if isinstance(op.operand, OpResult):
                source = op.operand.op
                if isinstance(source, stablehlo.TupleOp):
                    element = source.operands[op.index.value.data]
                    Rewriter.replace_op(op, [], [element])
            case _:
                pass
    for op in reversed(made):
        if not op.results[0].uses:
            Rewriter.erase_op(op)


class FoldTuplesPass(ModulePass):
    """Take tuples apart that the program itself makes."""

    name = "fold-tuples"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        fold_tuples(op)
