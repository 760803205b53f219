"""Split slices of gathered values in two: one dimension can move, several cannot.

A slice cuts each dimension by itself, and a dynamic slice of a whole dimension starts
at 0, so cutting all other dimensions first gives the same value.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.partition.emitter import dims_attr

Slice = stablehlo.SliceOp | stablehlo.DynamicSliceOp


def take_slices_apart(program: DeviceProgram, block: Block) -> None:
    """Cut what all_gathers of one block make along other dimensions first.

    That is done where nobody uses what they make but slices.
    """
    for op in reversed(program.sending(block)):
        if not isinstance(op, stablehlo.AllGatherOp) or len(op.operands) != 1:
            continue
        users = [use.operation for use in op.results[0].uses]
        slices = [
            user for user in users if isinstance(user, Slice) and user.parent is block
        ]
        if len(slices) == len(users):
            for user in slices:
                _take_apart(user, op.all_gather_dim.value.data)


def _take_apart(op: Slice, dim: int) -> None:
    before, after = shape_of(op.operand), shape_of(op.result)
    cut = [place for place in range(len(before)) if before[place] != after[place]]
    if dim not in cut or len(cut) < 2:
        return
    others = _written(op, op.operand, [place for place in cut if place != dim])
    both = _written(op, others, [dim])
    Rewriter.replace_op(op, [], [both])


def _written(op: Slice, value: SSAValue, dims: Sequence[int]) -> SSAValue:
    """Write a slice that cuts some of the dimensions only, ahead of the whole one."""
    shape = list(shape_of(value))
    for dim in dims:
        shape[dim] = shape_of(op.result)[dim]
    properties: dict[str, Attribute] = {}
    if isinstance(op, stablehlo.DynamicSliceOp):
        properties["slice_sizes"] = dims_attr(shape)
    else:
        for name, whole in (
            ("start_indices", [0] * len(shape)),
            ("limit_indices", shape),
            ("strides", [1] * len(shape)),
        ):
            given = getattr(op, name).get_values()
            numbers = list(whole)
            for dim in dims:
                numbers[dim] = given[dim]
            properties[name] = dims_attr(numbers)
    new: Operation = type(op).create(
        operands=[value, *op.operands[1:]],
        result_types=[TensorType(element_of(value), shape)],
        properties=properties,
        location=op.location,
    )
    Rewriter.insert_op(new, InsertPoint.before(op))
    return new.results[0]
