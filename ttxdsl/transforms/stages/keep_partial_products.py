"""`keep-partial-products`: products of two operands that are split along what is summed.

Where a result is to be split along a dimension of its own by the same axes, one can exchange
the operands' parts first, or sum products of parts and cut the sum. Shardy's reshards do the
first, XLA's partitioner does the second, and holds the whole result on each device.
"""

from collections.abc import Sequence
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.axes import Axes, AxisRef


class KeepPartialProductsPass(ModulePass):
    """Let such a product's result be whole along those axes, and reshard it behind.

    It runs ahead of stage 8.
    """

    name = "keep-partial-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for product in ops_of_type(op, stablehlo.DotGeneralOp):
            summed = _summed_axes(product)
            sharding = sdy.get_sharding(product.result)
            if sharding is None or not any(
                axis.overlaps(other)
                for axis in summed
                for other in sharding.sharding_axes
            ):
                continue
            reshard = sdy.ReshardOp(product.result, sharding)
            reshard.location = product.location
            Rewriter.insert_op(reshard, InsertPoint.after(product))
            product.result.replace_uses_with_if(
                reshard.result, lambda use, behind=reshard: use.operation is not behind
            )
            sdy.set_sharding(
                product.result, sharding.map_axes(partial(_without, others=summed))
            )


def _without(axes: Axes, others: Sequence[AxisRef]) -> Axes:
    return tuple(
        axis for axis in axes if not any(axis.overlaps(other) for other in others)
    )


def _summed_axes(product: stablehlo.DotGeneralOp) -> list[AxisRef]:
    """Return the axes by which both operands are split along dimensions that are summed."""
    left, right = map(sdy.get_sharding, product.operands)
    if left is None or right is None:
        return []
    dims = product.dot_dimension_numbers.data
    pairs = zip(
        dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions, strict=True
    )
    return [
        axis
        for first, second in pairs
        for axis in left.dims[first].axes
        if axis in right.dims[second].axes
    ]
