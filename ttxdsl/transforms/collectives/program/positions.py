"""Positions that each device numbers on its own: each can number those of all others.

Stage 11 makes of an iota along a split dimension `iota + offset`, with the offset of
the shard, which follows from the device's number. Place p of device j, gathered, is at
j size + p and holds p + offset_j. If offset_j = base + j size for one base, the whole
is an iota plus that base, which each device knows from its own offset. The offsets of
all devices are computed here.
"""

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType
from xdsl.ir import Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.devices.replica_groups import groups_along
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram

_ARITHMETIC: dict[type[Operation], Callable[[int, int], int]] = {
    stablehlo.AddOp: int.__add__,
    stablehlo.SubtractOp: int.__sub__,
    stablehlo.MulOp: int.__mul__,
    stablehlo.DivOp: int.__floordiv__,
    stablehlo.RemOp: int.__mod__,
}
"""Of numbers that are not negative, as places of devices are."""

Numbers = Mapping[int, int]
"""By device."""


def is_numbered(program: DeviceProgram, op: Operation, dim: int, axes: Axes) -> bool:
    """Whether an op is a device's part of the positions along a dimension."""
    return _bases(program, op, dim, axes) is not None


def _bases(
    program: DeviceProgram, op: Operation, dim: int, axes: Axes
) -> set[int] | None:
    """Return where groups' positions begin; None if their parts are not consecutive."""
    offset = _offset(op, dim)
    numbers = None if offset is None else _by_device(program, offset)
    if numbers is None:
        return None
    size = shape_of(op.results[0])[dim]
    bases = [
        {numbers[device] - place * size for place, device in enumerate(group)}
        for group in groups_along(program.mesh, axes)
    ]
    return (
        None
        if any(len(group_bases) > 1 for group_bases in bases)
        else set[int]().union(*bases)
    )


def number_all(
    program: DeviceProgram,
    op: Operation,
    dim: int,
    axes: Axes,
    sizes: Mapping[int, int],
    before: Operation,
) -> SSAValue:
    """Write the positions of a whole group, ahead of an op."""
    offset, size = _offset(op, dim), shape_of(op.results[0])[dim]
    assert offset is not None, "asked before"
    iota, everywhere = (operand.owner for operand in op.operands)
    assert isinstance(iota, Operation) and isinstance(everywhere, Operation)
    positions = program.copy(iota, (), sizes, before)
    if _bases(program, op, dim, axes) == {0}:
        return positions
    base = program.without_index(offset, axes, size, before)
    everywhere = program.copy(everywhere, [base], sizes, before)
    return program.copy(op, [positions, everywhere], sizes, before)


def _offset(op: Operation, dim: int) -> SSAValue | None:
    """Return the scalar that is added to the positions along a dimension, or None."""
    if not isinstance(op, stablehlo.AddOp):
        return None
    iota, everywhere = (operand.owner for operand in op.operands)
    if (
        not isinstance(iota, stablehlo.IotaOp)
        or iota.iota_dimension.value.data != dim
        or not isinstance(everywhere, stablehlo.BroadcastInDimOp)
        or shape_of(everywhere.operand)
    ):
        return None
    return everywhere.operand


def _by_device(program: DeviceProgram, value: SSAValue) -> Numbers | None:
    """Return the number that each device computes from its own index, or None."""
    op = value.owner
    if not isinstance(op, Operation) or shape_of(value):
        return None
    devices = program.mesh.devices()
    match op:
        case stablehlo.PartitionIdOp():
            return {device: device for device in devices}
        case stablehlo.ConstantOp() if isinstance(element_of(value), IntegerType):
            held = op.value
            assert isinstance(held, DenseIntOrFPElementsAttr)
            (number,) = held.get_values()
            return dict.fromkeys(devices, int(number))
        case stablehlo.ConvertOp():
            return _by_device(program, op.operands[0])
        case _ if type(op) in _ARITHMETIC:
            left, right = (_by_device(program, operand) for operand in op.operands)
            if left is None or right is None:
                return None
            compute = _ARITHMETIC[type(op)]
            return {device: compute(left[device], right[device]) for device in devices}
        case _:
            return None
