"""`cheap-gathers`: what is gathered is gathered where it is smallest, and once.

An all_gather moves up or down through ops that work on parts as they do on the whole:
ahead of a convert to a wider type or a broadcast, behind an op of several gathered
operands, a slice or a reduction. Where several all_gathers have an ancestor in common,
as a value and its transpose, one of the ancestor serves them.

**Why it is right.** Let the devices of a group hold the parts x_i of X along a dimension,
so that X is what an all_gather makes of them. If f keeps the dimension apart
(`held_in` of `dims.py`), and its operands that are not split are the same on all devices,
then the i-th part of f(X, Y) is f(x_i, y_i): so f of gathered operands is the gathered f
of their parts, and each may stand for the other. A part of what all devices hold whole
needs no gathering: a device takes it, or makes all of it.

The places are a least vertex cut (`min_cut.py`): vertices are values with a dimension,
priced by what their all_gather sends; sources are values of which every device has its
part only; sinks are values that an op needs whole. Only what sends fewer bytes than
before is changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import is_tensor, shape_of
from ttxdsl.sharding.axes import Axes, lists_overlap
from ttxdsl.sharding.cost import Ring
from ttxdsl.transforms.optimize.device_program import (
    DeviceProgram,
    erase_unused,
    is_collective,
    is_elementwise,
    slice_of,
    sum_of,
)
from ttxdsl.transforms.optimize.dims import held_in, led_to
from ttxdsl.transforms.optimize.min_cut import VertexGraph

NAME = "cheap-gathers"

_LIGHT = (
    stablehlo.TransposeOp,
    stablehlo.ReshapeOp,
    stablehlo.BroadcastInDimOp,
    stablehlo.ConcatenateOp,
    stablehlo.SliceOp,
    stablehlo.PadOp,
    stablehlo.ReverseOp,
    stablehlo.IotaOp,
    stablehlo.ConstantOp,
)
"""Ops beside elementwise ones that all devices may do for the sake of fewer bytes."""

Key = tuple[SSAValue, int]
"""A value and one of its dimensions."""


@dataclass(slots=True)
class _Vertex:
    """A value that a group could gather along a dimension.

    Attributes:
        value: each device's part where `above`, else the whole as it is now.
        dim: the dimension.
        above: whether it lies ahead of the all_gathers.
        like: an all_gather nearby.
        inputs: the vertices that it is made of.
        is_source: whether devices have its parts and nothing else.
    """

    value: SSAValue
    dim: int
    above: bool
    like: Operation
    inputs: list[_Vertex] = field(default_factory=list["_Vertex"])
    is_source: bool = False
    number: int = 0

    @property
    def key(self) -> Key:
        """What it is found by."""
        return self.value, self.dim


class _Region:
    """What hangs together with the all_gathers of one block along the same axes."""

    def __init__(self, program: DeviceProgram, axes: Axes, block: Block):
        self.program, self.axes, self.block = program, axes, block
        self.size = program.size(axes)
        self.vertices: dict[Key, _Vertex] = {}
        self.gathers: dict[SSAValue, _Vertex] = {}
        """The results of all_gathers, and what they gather."""
        self._whole: dict[SSAValue, _Vertex] = {}
        self._made_whole: dict[Key, SSAValue] = {}
        self._made_part: dict[Key, SSAValue] = {}

    # Growing

    def add_gathers(self, gathers: list[stablehlo.AllGatherOp]) -> None:
        """Start with what is gathered, and go up from there."""
        for op in gathers:
            dim = op.all_gather_dim.value.data
            self.gathers[op.results[0]] = self._above(op.operands[0], dim, op)

    def _above(self, value: SSAValue, dim: int, like: Operation) -> _Vertex:
        start = _Vertex(value, dim, True, like)
        if start.key in self.vertices:
            return self.vertices[start.key]
        self.vertices[start.key] = start
        waiting = [start]
        while waiting:
            vertex = waiting.pop()
            inputs = self._made_of(vertex)
            if inputs is None:
                vertex.is_source = True
                continue
            for key in inputs:
                one = self.vertices.get(key)
                if one is None:
                    one = self.vertices[key] = _Vertex(*key, True, like)
                    waiting.append(one)
                vertex.inputs.append(one)
        return start

    def _made_of(self, vertex: _Vertex) -> list[Key] | None:
        """The parts that a part is made of; None if that is not to be looked at."""
        value = vertex.value
        if not isinstance(value, OpResult) or value.op.parent is not self.block:
            return None
        op = value.op
        part = slice_of(op)
        if part is not None and part[1] == vertex.dim and (part[0],) == self.axes:
            return [] if self.program.same_along(op.operands[0], self.axes) else None
        if not is_elementwise(op) and not isinstance(op, _LIGHT):
            return None
        dims = held_in(op, vertex.dim)
        if dims is None:
            return None
        inputs: list[Key] = []
        for operand, place in zip(op.operands, dims, strict=True):
            if place is not None:
                inputs.append((operand, place))
            elif not self.program.same_along(operand, self.axes):
                return None
        return inputs

    def grow_down(self) -> None:
        """Add what is made of whole values in such a way that parts would do."""
        whole = self._whole
        whole.update(self.gathers)
        for op in self.block.ops:
            if len(op.results) != 1 or op.results[0] in whole:
                continue
            if is_collective(op) or slice_of(op) is not None:
                continue
            found = self._below(op)
            if found is not None:
                whole[op.results[0]] = found
                self.vertices[found.key] = found

    def _below(self, op: Operation) -> _Vertex | None:
        index = next(
            (i for i, operand in enumerate(op.operands) if operand in self._whole),
            None,
        )
        if index is None or not is_tensor(op.results[0]):
            return None
        first = self._whole[op.operands[index]]
        dim = led_to(op, index, first.dim)
        if dim is None or shape_of(op.results[0])[dim] % self.size:
            return None
        dims = held_in(op, dim)
        if dims is None:
            return None
        vertex = _Vertex(op.results[0], dim, False, first.like)
        for operand, place in zip(op.operands, dims, strict=True):
            known = self._whole.get(operand)
            if place is not None and known is not None and known.dim == place:
                vertex.inputs.append(known)
            elif not self.program.same_along(operand, self.axes):
                return None
            elif place is not None and shape_of(operand)[place] % self.size:
                return None
        return vertex

    # Choosing

    def is_needed(self, value: SSAValue, dim: int) -> bool:
        """Whether an op uses a whole value that parts would not do for."""
        for use in value.uses:
            user = use.operation
            part = slice_of(user)
            if part is not None and part[1] == dim and (part[0],) == self.axes:
                if user.parent is self.block:
                    continue
            result = user.results[0] if len(user.results) == 1 else None
            taken = self._whole.get(result) if result is not None else None
            if taken is None or taken.above or user.parent is not self.block:
                return True
            dims = held_in(user, taken.dim)
            if dims is None or dims[use.index] != dim:
                return True
        return False

    def price(self, vertex: _Vertex) -> int:
        """What gathering it sends."""
        value = vertex.value
        if not vertex.above:
            shape = list(shape_of(value))
            shape[vertex.dim] //= self.size
            type_ = value.type
            assert isinstance(type_, TensorType)
            return self.program.bytes_of(
                Ring.ALL_GATHER, shape, type_.element_type, self.axes
            )
        return self.program.bytes(Ring.ALL_GATHER, value, self.axes)

    # Changing

    def part(self, vertex: _Vertex) -> SSAValue:
        """What a device holds of a vertex, without gathering."""
        if vertex.above:
            return vertex.value
        if vertex.key not in self._made_part:
            assert isinstance(vertex.value, OpResult)
            op = vertex.value.op
            dims = held_in(op, vertex.dim)
            assert dims is not None, "asked before"
            operands: list[SSAValue] = []
            for operand, place in zip(op.operands, dims, strict=True):
                known = self._whole.get(operand)
                if place is None:
                    operands.append(operand)
                elif known is not None and known.dim == place:
                    operands.append(self.part(known))
                else:
                    operands.append(self._slice(operand, place, op))
            size = shape_of(vertex.value)[vertex.dim] // self.size
            copied = self.program.copy(op, operands, vertex.dim, size)
            self._made_part[vertex.key] = copied
        return self._made_part[vertex.key]

    def _slice(self, value: SSAValue, dim: int, before: Operation) -> SSAValue:
        op = value.owner
        if isinstance(op, Operation) and not op.operands and held_in(op, dim) == []:
            size = shape_of(value)[dim] // self.size
            return self.program.copy(op, (), dim, size, before)
        return self.program.all_slice(value, self.axes, dim, before)

    def made_whole(self, vertex: _Vertex) -> SSAValue:
        """What all devices make whole of what was gathered above."""
        return self._made_whole[vertex.key]

    def make_whole(self, vertex: _Vertex) -> None:
        """Do on whole values what devices did on parts, behind them."""
        value = vertex.value
        assert isinstance(value, OpResult)
        op = value.op
        part = slice_of(op)
        if part is not None and part[1] == vertex.dim and (part[0],) == self.axes:
            self._made_whole[vertex.key] = op.operands[0]
            return
        dims = held_in(op, vertex.dim)
        assert dims is not None, "asked before"
        operands = [
            operand if place is None else self._made_whole[operand, place]
            for operand, place in zip(op.operands, dims, strict=True)
        ]
        size = shape_of(value)[vertex.dim] * self.size
        following = op.next_op
        assert following is not None, "it is no terminator"
        self._made_whole[vertex.key] = self.program.copy(
            op, operands, vertex.dim, size, following
        )

    def gather(self, vertex: _Vertex) -> SSAValue:
        """Gather a vertex."""
        made = self.program.all_gather(
            self.part(vertex), vertex.like, self.axes, vertex.dim, NAME
        )
        self._made_whole[vertex.key] = made
        return made

    def solve(self) -> bool:
        """Find the cut, and move the all_gathers there if it is cheaper."""
        groups = _components(self)
        order = {op: place for place, op in enumerate(self.block.ops)}

        def place(vertex: _Vertex) -> tuple[bool, int]:
            owner = vertex.value.owner
            return not vertex.above, order[owner] if owner in order else -1

        changed = False
        for group in groups:
            group.sort(key=place)
            changed |= self._solve(group)
        return changed

    def _solve(self, group: list[_Vertex]) -> bool:
        members = {id(vertex) for vertex in group}
        gathers = [
            (result, vertex)
            for result, vertex in self.gathers.items()
            if id(vertex) in members
        ]
        now = sum(self.price(vertex) for _, vertex in gathers)
        if len(gathers) == 1 and len(group) == 1:
            return False
        graph = VertexGraph()
        for vertex in group:
            vertex.number = graph.vertex(self.price(vertex))
        for vertex in group:
            if vertex.is_source:
                graph.source(vertex.number)
            for one in vertex.inputs:
                graph.edge(one.number, vertex.number)
            if not vertex.above and self.is_needed(vertex.value, vertex.dim):
                graph.sink(vertex.number)
        for result, vertex in gathers:
            if self.is_needed(result, vertex.dim):
                graph.sink(vertex.number)
        cut = graph.least_cut()
        if cut.price >= now:
            return False
        self._change(group, gathers, cut.vertices, cut.behind)
        return True

    def _change(
        self,
        group: list[_Vertex],
        gathers: list[tuple[SSAValue, _Vertex]],
        chosen: set[int],
        behind: set[int],
    ) -> None:
        below = [vertex for vertex in group if not vertex.above]
        parted = [vertex for vertex in below if vertex.number not in behind]
        wanted = {id(vertex) for vertex in parted}
        for vertex in reversed(below):
            if id(vertex) in wanted:
                wanted.update(id(one) for one in vertex.inputs)
        for vertex in below:
            if id(vertex) in wanted:
                self.part(vertex)
        slices: list[SSAValue] = []
        for whole, vertex in [*gathers, *((one.value, one) for one in parted)]:
            for use in list(whole.uses):
                part = slice_of(use.operation)
                if (
                    part == (self.axes[0], vertex.dim)
                    and len(self.axes) == 1
                    and use.operation.parent is self.block
                ):
                    result = use.operation.results[0]
                    result.replace_all_uses_with(self.part(vertex))
                    slices.append(result)
        for vertex in group:
            if vertex.number in chosen:
                self.gather(vertex)
            elif vertex.above and vertex.number in behind:
                self.make_whole(vertex)
        dead: list[SSAValue] = []
        for whole, vertex in [*gathers, *((one.value, one) for one in parted)]:
            made = self._made_whole.get(vertex.key)
            if made is not None and made is not whole:
                whole.replace_all_uses_with(made)
            dead.append(whole)
        erase_unused([*slices, *reversed(dead)])


def _components(region: _Region) -> list[list[_Vertex]]:
    group: dict[int, list[_Vertex]] = {}
    for vertex in region.vertices.values():
        group[id(vertex)] = [vertex]
    for vertex in region.vertices.values():
        for one in vertex.inputs:
            mine, theirs = group[id(vertex)], group[id(one)]
            if mine is theirs:
                continue
            if len(mine) < len(theirs):
                mine, theirs = theirs, mine
            mine.extend(theirs)
            for other in theirs:
                group[id(other)] = mine
    return list({id(one): one for one in group.values()}.values())


def gather_cheaply(program: DeviceProgram, block: Block) -> bool:
    """Move the all_gathers of one block; whether any moved."""
    changed = _sum_first(program, block)
    for axes in _gathers(program, block):
        gathers = _gathers(program, block).get(axes)
        if gathers:
            region = _Region(program, axes, block)
            region.add_gathers(gathers)
            region.grow_down()
            changed |= region.solve()
    return changed


def _gathers(
    program: DeviceProgram, block: Block
) -> dict[Axes, list[stablehlo.AllGatherOp]]:
    found: dict[Axes, list[stablehlo.AllGatherOp]] = {}
    for op in block.ops:
        if isinstance(op, stablehlo.AllGatherOp):
            axes = program.axes(op)
            if axes is not None and len(axes) == 1:
                found.setdefault(axes, []).append(op)
    return found


def _sum_first(program: DeviceProgram, block: Block) -> bool:
    """Combine parts along other axes ahead of putting them together."""
    changed = False
    for op in list(block.ops):
        if not isinstance(op, stablehlo.AllReduceOp) or sum_of(op) is None:
            continue
        source = op.operands[0]
        inner = source.owner
        if (
            not isinstance(inner, stablehlo.AllGatherOp)
            or inner.parent is not block
            or not source.has_one_use()
        ):
            continue
        axes, other = program.axes(op), program.axes(inner)
        if axes is None or other is None or lists_overlap(axes, other):
            continue
        dim = inner.all_gather_dim.value.data
        reduced = program.all_reduce(inner.operands[0], op, axes, NAME)
        gathered = program.all_gather(reduced, inner, other, dim, NAME)
        op.results[0].replace_all_uses_with(gathered)
        erase_unused(op.results)
        changed = True
    return changed
