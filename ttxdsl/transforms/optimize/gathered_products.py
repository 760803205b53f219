"""`gathered-products`: what a sum of products is made of is sent, not the products.

Where each device of a group makes a product of its parts along a contracted dimension, and
these products are summed, the operands may be smaller than the product: gradients of
weights over few samples, and outer products.

**Why it is right.** A product sums over the contracted dimension. Let device i hold x_i
and y_i: then the sum over i of x_i y_i is x y, where x and y are all x_i and all y_i put
one after the other along a pair of contracted dimensions, in the same order. That is what
all_gathers along these dimensions give every device. Where the sum is scattered along a
dimension s, device j needs its part of x y along s alone, which is the product of its parts
of the operands that have s: these an all_to_all gives it. (Sums of floating-point numbers
are rounded in another order then.)

Instead of a part, each device makes the whole of a sum that is not scattered. That is only
done where it takes few operations for each byte that need not be sent.
"""

from xdsl.ir import Block, OpResult, SSAValue

from ttxdsl.analysis.work import operations
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.cost import Ring
from ttxdsl.transforms.local.combiner import SUM
from ttxdsl.transforms.optimize.device_program import DeviceProgram
from ttxdsl.transforms.optimize.dims import Dims, held_in
from ttxdsl.transforms.optimize.single_ops import erase_unused, sum_of

NAME = "gathered-products"

OPERATIONS_PER_BYTE = 64
"""How many multiply-adds may be repeated for a byte that is not sent.

Accelerators do hundreds to thousands in the time that a byte takes between two of them.
"""

_Sum = stablehlo.AllReduceOp | stablehlo.ReduceScatterOp


def gather_operands(program: DeviceProgram, block: Block) -> bool:
    """Send the operands of products of one block instead; whether any are now."""
    changed = False
    for op in program.sending(block):
        if isinstance(op, _Sum) and op.parent is not None and sum_of(op) == SUM:
            changed |= _gather(program, op)
    return changed


def _gather(program: DeviceProgram, op: _Sum) -> bool:
    axes, value = program.axes(op), op.operands[0]
    if (
        axes is None
        or not isinstance(value, OpResult)
        or not value.has_one_use()
        or element_of(value) != element_of(op.results[0])
    ):
        return False
    product = value.op
    if not isinstance(product, stablehlo.DotGeneralOp) or product.parent != op.parent:
        return False
    dims = product.dot_dimension_numbers.data
    if not dims.lhs_contracting_dimensions:
        return False
    summed = dims.lhs_contracting_dimensions[0], dims.rhs_contracting_dimensions[0]
    size = program.size(axes)
    scattered: Dims | None = None, None
    if isinstance(op, stablehlo.ReduceScatterOp):
        dim = op.scatter_dimension.value.data
        scattered = held_in(product, dim)
        if scattered is None or len(axes) > 1:
            return False
        now = program.bytes(Ring.REDUCE_SCATTER, value, axes)
        sizes = {dim: shape_of(value)[dim] // size}
        repeated = 0
    else:
        now = program.bytes(Ring.ALL_REDUCE, value, axes)
        sizes: dict[int, int] = {}
        repeated = operations(product) * (size - 1)
    then = sum(
        program.bytes(_kind(place), operand, axes)
        for operand, place in zip(product.operands, scattered, strict=True)
    )
    if then >= now or repeated > (now - then) * OPERATIONS_PER_BYTE:
        return False
    operands = [
        _moved(program, op, product, index, axes, (summed[index], place))
        for index, place in enumerate(scattered)
    ]
    made = program.copy(product, operands, sizes)
    op.results[0].replace_all_uses_with(made)
    erase_unused(op.results)
    return True


def _kind(place: int | None) -> Ring:
    return Ring.ALL_GATHER if place is None else Ring.ALL_TO_ALL


def _moved(
    program: DeviceProgram,
    op: _Sum,
    product: stablehlo.DotGeneralOp,
    index: int,
    axes: Axes,
    dims: tuple[int, int | None],
) -> SSAValue:
    """An operand, whole along the dimension that is summed over, or a part of that."""
    operand, (summed, place) = product.operands[index], dims
    if place is None:
        return program.all_gather(operand, op, axes, summed, NAME)
    return program.all_to_all(operand, op, axes, (summed, place), NAME)
