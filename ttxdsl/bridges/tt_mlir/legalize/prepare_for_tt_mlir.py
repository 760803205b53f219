"""`prepare-for-tt-mlir`: legalize the result of the thirteen stages for tt-mlir.

A solved graph: one manual computation over all axes of a mesh that tt-mlir takes, with
ops, computations and collectives that it has. An op without such a form is an error
with its position, before tt-mlir runs.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.bridges.tt_mlir.legalize.align_collectives import AlignCollectivesPass
from ttxdsl.bridges.tt_mlir.legalize.fit_mesh import FitMeshPass
from ttxdsl.bridges.tt_mlir.legalize.mark_borders import MarkBordersPass
from ttxdsl.bridges.tt_mlir.legalize.open_chlo import OpenChloPass
from ttxdsl.bridges.tt_mlir.legalize.open_computations import OpenComputationsPass
from ttxdsl.bridges.tt_mlir.legalize.open_forms import OpenFormsPass
from ttxdsl.bridges.tt_mlir.legalize.order_sorts import OrderSortsPass
from ttxdsl.bridges.tt_mlir.legalize.require_known import RequireKnownPass

_PASSES = (
    RequireKnownPass(), FitMeshPass(), AlignCollectivesPass(), OpenChloPass(),
    OrderSortsPass(), OpenComputationsPass(), OpenFormsPass(), MarkBordersPass(),
)  # fmt: skip


class PrepareForTTMLIRPass(ModulePass):
    """Rewrite a partitioned program into one that tt-mlir takes."""

    name = "prepare-for-tt-mlir"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            UnsupportedError: tt-mlir takes nothing that means the same.
        """
        for pass_ in _PASSES:
            pass_.apply(ctx, op)
