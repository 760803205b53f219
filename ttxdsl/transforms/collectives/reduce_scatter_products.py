"""`reduce-scatter-products`: reduce_scatter products instead of gathering an operand.

The opposite of `gather-product-operands`: one operand is gathered along a contracted
dimension, the other is split along a dimension that stays, and the product is smaller
than the operand.

**Why it is right.** Let A be the a_j put together along a contracted dimension, and B
the B_i along another one; device i computes A B_i. An all_to_all gives device j the
j-th part B^j of B along the contracted dimension. The sum over j of a_j B^j is A B,
whose i-th part is A B_i: a reduce_scatter. Each device does as many operations as
before. (Floating-point sums round in another order.)
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from ttxdsl.costs.ring import Ring
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.dims import led_to
from ttxdsl.transforms.collectives.program.single_ops import erase_unused

NAME = "reduce-scatter-products"


@dataclass(frozen=True, slots=True)
class _Product:
    """A product of which one operand is gathered along a contracted dimension.

    Attributes:
        side: which operand that is.
        axis: the devices among which it is.
        summed: the dimension of the other operand that is contracted with it.
        kept: one of the other operand's that is not contracted.
        dim: where the result has that.
    """

    op: stablehlo.DotGeneralOp
    gather: stablehlo.AllGatherOp
    side: int
    axis: AxisRef
    summed: int
    kept: int
    dim: int

    @property
    def other(self) -> SSAValue:
        """The operand that is not gathered."""
        return self.op.operands[1 - self.side]


def reduce_scatter_products(program: DeviceProgram, block: Block) -> bool:
    """Scatter products of a block, and return True if any are scattered."""
    together: dict[tuple[SSAValue, AxisRef, int, int], list[_Product]] = {}
    for gather in program.sending(block):
        if isinstance(gather, stablehlo.AllGatherOp):
            for product in _products(program, gather):
                key = product.other, product.axis, product.summed, product.kept
                together.setdefault(key, []).append(product)
    changed = False
    for products in together.values():
        changed |= _scatter(program, products)
    return changed


def _products(
    program: DeviceProgram, gather: stablehlo.AllGatherOp
) -> Sequence[_Product]:
    """Return the products of a gathered value; none if it has other users."""
    axes = program.axes(gather)
    if axes is None or len(axes) != 1 or len(gather.operands) != 1:
        return ()
    products: list[_Product] = []
    for use in gather.results[0].uses:
        product = _product(program, gather, axes[0], use.operation, use.index)
        if product is None:
            return ()
        products.append(product)
    return products


def _product(
    program: DeviceProgram,
    gather: stablehlo.AllGatherOp,
    axis: AxisRef,
    op: Operation,
    side: int,
) -> _Product | None:
    if not isinstance(op, stablehlo.DotGeneralOp) or op.parent is not gather.parent:
        return None
    if isinstance(element_of(op.result), QuantizedType):
        return None  # parts of a sum would be rounded and cut off
    dims = op.dot_dimension_numbers.data
    contracted = dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions
    batched = dims.lhs_batching_dimensions, dims.rhs_batching_dimensions
    along, other = gather.all_gather_dim.value.data, op.operands[1 - side]
    if along not in contracted[side] or program.same_along(other, (axis,)):
        return None
    summed = contracted[1 - side][contracted[side].index(along)]
    taken = {*contracted[1 - side], *batched[1 - side]}
    # whichever: the one behind is what a layer's weights are split along most often
    kept = [dim for dim in range(len(shape_of(other))) if dim not in taken]
    if not kept or shape_of(other)[summed] % program.size((axis,)):
        return None
    dim = led_to(op, 1 - side, kept[-1])
    if dim is None:
        return None
    return _Product(op, gather, side, axis, summed, kept[-1], dim)


def _scatter(program: DeviceProgram, products: Sequence[_Product]) -> bool:
    """Scatter the products with one other operand, if that sends less."""
    there = [
        product
        for product in products
        if product.op.parent is not None and product.gather.parent
    ]
    if not there:
        return False
    first, axes = there[0], (there[0].axis,)
    size = program.size(axes)
    gathers = dict.fromkeys(product.gather for product in there)
    if any(
        use.operation not in {product.op for product in there}
        for gather in gathers
        for use in gather.results[0].uses
    ):
        return False
    now = sum(
        program.bytes(Ring.ALL_GATHER, gather.operands[0], axes) for gather in gathers
    )
    then = program.bytes(Ring.ALL_TO_ALL, first.other, axes)
    for product in there:
        result = product.op.result
        shape = list(shape_of(result))
        shape[product.dim] *= size
        then += program.bytes_of(Ring.REDUCE_SCATTER, shape, element_of(result), axes)
    if then >= now:
        return False
    part = program.all_to_all(
        first.other, first.gather, axes, (first.kept, first.summed), NAME
    )
    dead: list[SSAValue] = []
    for product in there:
        operands = [part, part]
        operands[product.side] = product.gather.operands[0]
        whole = shape_of(product.op.result)[product.dim] * size
        whole_product = program.copy(product.op, operands, {product.dim: whole})
        scattered = program.reduce_scatter(
            whole_product, product.gather, product.axis, product.dim, NAME
        )
        product.op.result.replace_all_uses_with(scattered)
        dead.append(product.op.result)
    erase_unused(dead)
    return True
