"""`parts-of-parts`: a part of the part that a device is given is cut before that is sent.

A reduce_scatter or an all_to_all gives each device its part of a dimension. Where everybody
goes on with a part of that, along another axis, all devices cut first, and send less. The
slices get there as those of `early-slices` do, but later: others look at what is behind a
product, where the cut has two reshapes.

**Why it is right.** Let the dimension be [s, b, r]: s parts for the devices of a group, in
each b parts for the other axis. The collective gives the i-th of the group all that is at i
of the first, and does the same to whatever is at each place of the others; a device at j
along the other axis keeps what is at j of the second. The devices of a group are at one j,
so that it makes no difference whether they all cut before or behind.
"""

from xdsl.ir import Block, Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import are_apart
from ttxdsl.transforms.collectives.hoist_slices import Parts, move_slices
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram

NAME = "parts-of-parts"

_GIVING = (stablehlo.ReduceScatterOp, stablehlo.AllToAllOp)


class _PartsOfParts(Parts):
    def gives(self, op: Operation, dim: int) -> bool:
        """Whether a collective gives each device its part of the same dimension."""
        axes = self.program.axes(op) if isinstance(op, _GIVING) else None
        if axes is None or len(op.operands) != 1 or not are_apart(axes, (self.axis,)):
            return super().gives(op, dim)
        if isinstance(op, stablehlo.AllToAllOp):
            given = op.split_dimension.value.data
            return dim == given != op.concat_dimension.value.data
        assert isinstance(op, stablehlo.ReduceScatterOp)
        return (
            dim == op.scatter_dimension.value.data
            and len(axes) == 1
            and element_of(op.operands[0]) == element_of(op.results[0])
        )

    def given(self, op: Operation, dim: int) -> SSAValue:
        """The part of the part, of what is cut before."""
        if not isinstance(op, _GIVING):
            return super().given(op, dim)
        program, axes = self.program, self.program.axes(op)
        assert axes is not None, "asked before"
        size, (value,) = program.size(axes), op.operands
        shape = list(shape_of(value))
        shape[dim : dim + 1] = size, shape[dim] // size
        value = program.reshape(value, shape, op)
        value = program.all_slice(value, (self.axis,), dim + 1, op)
        if isinstance(op, stablehlo.AllToAllOp):
            concat = op.concat_dimension.value.data
            places = concat + (concat > dim), dim
            made = program.all_to_all(value, op, axes, places, NAME)
        else:
            made = program.reduce_scatter(value, op, axes[0], dim, NAME)
        shape = list(shape_of(op.results[0]))
        shape[dim] //= self.axis.size_in(program.mesh)
        return program.reshape(made, shape, op)


def cut_first(program: DeviceProgram, block: Block) -> bool:
    """Move the slices of one block ahead of what gives parts; whether any moved."""
    return any(
        isinstance(op, _GIVING) for op in program.sending(block)
    ) and move_slices(program, block, _PartsOfParts)
