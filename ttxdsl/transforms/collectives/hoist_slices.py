"""`hoist-slices`: move slices by device up to collectives, which then send parts.

Where all users of a value take this device's part of it, the slice moves ahead of the
ops between, up to a collective: an all_reduce becomes a reduce_scatter, an all_gather
of just these parts goes, a collective along other axes works on a part. It moves ahead
of a broadcast in any case.

**Why it is right.** A slice by device takes the i-th of n equal parts of a dimension, i
being the device's index along an axis. It moves ahead of ops for which `dims.py` says
`part(f(x, y), d) = f(part(x, dims[0]), part(y, dims[1]))`. An all_reduce along the axis
leaves the same s on all devices of a group, so slicing it is a reduce_scatter, and where it
is along more axes an all_reduce of the parts along these. The i-th
part of an all_gather along the axis is x_i. A collective along other axes is among
devices of one i, which take the same part, and works elementwise or on other
dimensions. So a reduce_scatter of an all_reduce along another axis is the all_reduce of
the reduce_scatter, which sends less.
"""

from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import ops_of
from ttxdsl.sharding.axes import Axes, AxisRef, are_apart
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.dims import Dims, held_in
from ttxdsl.transforms.collectives.program.single_ops import (
    erase_unused,
    is_collective,
    slice_of,
    sum_of,
)

NAME = "hoist-slices"


@dataclass
class _Parts:
    """The parts along one axis of the values of a block.

    Attributes:
        slices: the slices along it, with their dimension.
        wanted: the dimension that all users of a value want split.
        parts: parts that are there instead of values, with their dimension.
    """

    program: DeviceProgram
    axis: AxisRef
    slices: dict[Operation, int] = field(default_factory=dict[Operation, int])
    wanted: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    parts: dict[SSAValue, tuple[int, SSAValue]] = field(
        default_factory=dict[SSAValue, tuple[int, SSAValue]]
    )

    def _is_along(self, op: Operation) -> bool:
        return self.program.axes(op) == (self.axis,)

    def _dims(self, op: Operation, dim: int) -> Dims | None:
        """Return the operands' dimensions that hold one of the result; None to keep it whole."""
        if is_collective(op) or slice_of(op) is not None:
            axes = self.program.axes(op)
            if axes is None or not are_apart(axes, (self.axis,)):
                return None
        dims = held_in(op, dim)
        size = self.axis.size_in(self.program.mesh)
        if dims is not None and any(
            place is not None and shape_of(operand)[place] % size
            for operand, place in zip(op.operands, dims, strict=True)
        ):
            return None
        return dims

    def find_wanted(self, ops: list[Operation]) -> list[Operation]:
        """Ask every op, users first, in which parts it takes its operands; return slices and wanted."""
        asked: dict[SSAValue, list[int]] = {}
        concerned: list[Operation] = []
        for op in reversed(ops):
            if type(op) is stablehlo.CompositeOp:
                part = slice_of(op)
                if part is not None and part[0] == self.axis:
                    self.slices[op] = part[1]
                    asked.setdefault(op.operands[0], []).append(part[1])
                    concerned.append(op)
                    continue
            if len(op.results) != 1 or op.results[0] not in asked:
                continue
            (result,) = op.results
            dims = asked[result]
            if len(set(dims)) > 1 or len(dims) != result.uses.get_length():
                continue
            places = () if self.gives(op) else self._dims(op, dims[0])
            if places is None:
                continue
            self.wanted[result] = dims[0]
            concerned.append(op)
            for operand, place in zip(op.operands, places, strict=False):
                if place is not None:
                    asked.setdefault(operand, []).append(place)
        return concerned[::-1]

    def known(self, value: SSAValue, dim: int) -> SSAValue | None:
        """Return the part of a value that is there already, or None."""
        op = value.owner
        if isinstance(op, stablehlo.AllGatherOp) and self._is_along(op):
            return op.operands[0] if op.all_gather_dim.value.data == dim else None
        entry = self.parts.get(value)
        return entry[1] if entry is not None and entry[0] == dim else None

    def make(self, op: Operation) -> None:
        """Make the part of a result that is wanted in parts, if that sends less."""
        (result,) = op.results
        dim = self.wanted[result]
        if self.gives(op):
            part = self.program.reduce_scatter(op.operands[0], op, self.axis, dim, NAME)
            if others := self._other_axes(op):
                part = self.program.all_reduce(part, op, others, NAME)
            self.parts[result] = dim, part
            return
        dims = self._dims(op, dim)
        assert dims is not None, "asked before"
        parts = [
            None if place is None else self.known(operand, place)
            for operand, place in zip(op.operands, dims, strict=True)
        ]
        grows = isinstance(op, stablehlo.BroadcastInDimOp)
        if not (is_collective(op) or grows or any(part is not None for part in parts)):
            return
        operands = [
            operand if place is None else part or self._slice(operand, place, op)
            for operand, place, part in zip(op.operands, dims, parts, strict=True)
        ]
        size = shape_of(result)[dim] // self.axis.size_in(self.program.mesh)
        self.parts[result] = dim, self.program.copy(op, operands, {dim: size})

    def _slice(self, value: SSAValue, dim: int, before: Operation) -> SSAValue:
        op = value.owner
        # a constant, an iota
        if isinstance(op, Operation) and not op.operands and held_in(op, dim) == []:
            size = shape_of(value)[dim] // self.axis.size_in(self.program.mesh)
            return self.program.copy(op, (), {dim: size}, before)
        return self.program.all_slice(value, (self.axis,), dim, before)

    def gives(self, op: Operation) -> bool:
        """Return True if a reduce_scatter can give each device its part at once."""
        return (
            isinstance(op, stablehlo.AllReduceOp)
            and self.axis in (self.program.axes(op) or ())
            and sum_of(op) is not None
        )

    def _other_axes(self, op: Operation) -> Axes:
        """Return what else an all_reduce along the axis is along."""
        return tuple(axis for axis in self.program.axes(op) or () if axis != self.axis)


def hoist_slices(program: DeviceProgram, block: Block) -> bool:
    """Move the slices of a block up to collectives, and return True if any moved."""
    changed = False
    sending = program.sending(block)
    slices = [part for op in sending if (part := slice_of(op)) is not None]
    for axis in dict.fromkeys(axis for axis, _ in slices):
        parts = _Parts(program, axis)
        replaced: list[SSAValue] = []
        for op in parts.find_wanted(ops_of(block)):
            if op in parts.slices:
                known = parts.known(op.operands[0], parts.slices[op])
                if known is not None:
                    op.results[0].replace_all_uses_with(known)
                    replaced.append(op.results[0])
            else:
                parts.make(op)
        erase_unused(replaced)
        changed |= bool(replaced)
    return changed
