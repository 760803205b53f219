"""`sdy-remove-all-gather-reduce-scatter-for-cmv1`: leave it to XLA to overlap them.

XLA's first collective matmul makes one loop of a product and the gather in front of it,
or the scatter behind it, if it may place the collective itself.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.traversal import ops_of_type_inside_out


def _gathers_in_front(product: Operation) -> list[Operation]:
    """Return the all_gathers of operands without other uses."""
    return [
        operand.owner
        for operand in product.operands
        if isinstance(operand.owner, sdy.AllGatherOp) and operand.has_one_use()
    ]


def _scatter_behind(product: Operation) -> sdy.ReduceScatterOp | None:
    """The reduce_scatter that alone uses the product, if it leaves no sum open."""
    (result,) = product.results
    user = result.get_user_of_unique_use()
    sharding = sdy.get_sharding(result)
    partial = sharding is not None and sharding.unreduced
    return user if isinstance(user, sdy.ReduceScatterOp) and not partial else None


class RemoveAllGatherReduceScatterForCMV1Pass(ModulePass):
    """Remove all_gathers before products, or reduce_scatters after them.

    A product without its reduce_scatter gets the sharding of that. The program as a
    whole means the same, but the products are no longer those of each device.
    """

    name = "sdy-remove-all-gather-reduce-scatter-for-cmv1"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kinds = stablehlo.DotOp, stablehlo.DotGeneralOp
        removed: list[Operation] = []
        for product in ops_of_type_inside_out(op, *kinds):
            gathers = _gathers_in_front(product)
            removed += gathers
            scatter = None if gathers else _scatter_behind(product)
            if scatter is not None:
                sdy.set_sharding(product.results[0], scatter.out_sharding.data)
                removed.append(scatter)
        for collective in removed:
            Rewriter.replace_op(collective, [], [collective.operands[0]])
