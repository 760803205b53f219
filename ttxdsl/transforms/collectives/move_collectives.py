"""`move-all-gathers` and `move-all-to-alls`: move collectives to where values are smallest.

They move up or down through ops that work on parts as on the whole: ahead of a convert
to a wider type or a broadcast, behind an op of several moved operands, a slice or a
reduction. A common ancestor of several is moved once.

**Why it is right.** Let the devices of a group hold the parts x_i of X along a
dimension. If f keeps the dimension apart (`held_in` of `dims.py`) and its other
operands are the same on all devices, the i-th part of f(X, Y) is f(x_i, y_i): f of
gathered operands is the gathered f of their parts. A part of what all devices hold
needs no gathering. An all_to_all makes of parts along one dimension those along
another; where f keeps both apart, the all_to_all of f is f of the all_to_alls. The
result of an all_to_all back is there in both forms.

The places are a least vertex cut (`min_cut.py`): vertices are values with dimensions,
priced by what moving them sends; sources are values that devices have in the first form
only; sinks are values needed in the second. Only what sends fewer bytes, or as many in
fewer moves, is changed.

**Why it ends.** Each change lowers the pair (bytes, number of moves) along its axes, if
no new op reads a value that goes with the old moves. A value may have two vertices,
behind a move and ahead of the move back; a cut that drops one but reads the other would
keep the old move unpriced. `_missing` makes those vertices sinks, and the cut is sought
again: at most once a vertex.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ttxdsl.costs.ring import Ring
from ttxdsl.diagnostics.remarks import rounds
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of
from ttxdsl.sharding.axes import Axes
from ttxdsl.transforms.collectives.apart_slices import take_slices_apart
from ttxdsl.transforms.collectives.merged_dims import keep_apart
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.dims import held_in, led_to
from ttxdsl.transforms.collectives.program.in_order import InOrder, places_in
from ttxdsl.transforms.collectives.program.min_cut import (
    Cut,
    VertexGraph,
    connected,
    for_each,
)
from ttxdsl.transforms.collectives.program.positions import is_numbered, number_all
from ttxdsl.transforms.collectives.program.single_ops import (
    LIGHT,
    erase_unused,
    is_collective,
    is_elementwise,
    slice_of,
)
from ttxdsl.transforms.collectives.repeated_exchanges import gather_repeated

_ROUNDS = 8
"""How often the moves of a block are looked at, beside once a move."""

ALL_GATHERS = "move-all-gathers"
ALL_TO_ALLS = "move-all-to-alls"

Places = tuple[int, ...]
"""The dimension that is split before the move, and the one that is split after it."""


@dataclass(slots=True, eq=False)
class _Vertex:
    """A value that a group could move.

    Attributes:
        value: as it is before the move where `above`, else as it is behind it.
        dims: its dimensions that the move is about.
        above: whether it lies ahead of the moves.
        like: a move nearby.
        is_source: whether devices have it in the first form and nothing else.
        other: the second form, where it is there already.
    """

    value: SSAValue
    dims: Places
    above: bool
    like: Operation
    inputs: list["_Vertex"] = field(default_factory=list["_Vertex"])
    is_source: bool = False
    other: SSAValue | None = None
    number: int = 0


_Moved = tuple[SSAValue, _Vertex]
"""A value behind a move, or in its second form, and the vertex that it is of."""


class _Region:
    """The values connected with the moves of one kind in one block along an axis."""

    def __init__(
        self, program: DeviceProgram, axes: Axes, block: Block, moves: list[Operation]
    ):
        self.program, self.axes, self.block = program, axes, block
        self.size = program.size(axes)
        self.gathers = isinstance(moves[0], stablehlo.AllGatherOp)
        self.name = ALL_GATHERS if self.gathers else ALL_TO_ALLS
        self.above: dict[tuple[SSAValue, Places], _Vertex] = {}
        self.below: dict[SSAValue, _Vertex] = {}
        """Values behind moves, those too that the moves make."""
        self.moved: dict[SSAValue, _Vertex] = {}
        """What the moves make, and what they move."""
        self._second: dict[_Vertex, SSAValue] = {}
        self._first: dict[_Vertex, SSAValue] = {}
        self._parts: dict[SSAValue, SSAValue] = {}
        """What stands for parts of values behind moves now."""
        self._order = places_in(block)
        self._gathered = {
            (op.operands[0], op.all_gather_dim.value.data): op
            for op in program.sending(block)
            if isinstance(op, stablehlo.AllGatherOp) and program.axes(op) == axes
        }
        for op in moves:
            self.moved[op.results[0]] = self._up(op.operands[0], _dims_of(op), op)
        if not self.gathers:
            self._find_both(moves)
        self.below.update(self.moved)
        self._grow_down()
        if self.gathers:
            self._find_parts()

    # Growing

    def _find_both(self, moves: Sequence[Operation]) -> None:
        """Note that moving an all_to_all's result back to its operand costs nothing."""
        for op in moves:
            forth = _dims_of(op)
            result, value = op.results[0], op.operands[0]
            vertex = self.above.get((result, forth[::-1]))
            if vertex is None:
                vertex = _Vertex(result, forth[::-1], True, op)
                self.above[result, vertex.dims] = vertex
            vertex.inputs.clear()
            vertex.is_source = True
            vertex.other = value
            self.below[value] = vertex

    def _find_parts(self) -> None:
        """Link each slice of a moved value to it as its first form."""
        for vertex in self.above.values():
            op = vertex.value.owner
            if isinstance(op, Operation) and self._is_part(op, vertex.dims[0]):
                whole = self.below.get(op.operands[0])
                if whole is not None and whole.dims == vertex.dims:
                    vertex.inputs.append(whole)

    def _up(self, value: SSAValue, dims: Places, like: Operation) -> _Vertex:
        start = self.above.get((value, dims))
        if start is not None:
            return start
        start = self.above[value, dims] = _Vertex(value, dims, True, like)
        waiting = [start]
        while waiting:
            vertex = waiting.pop()
            inputs = self._made_of(vertex)
            if inputs is None:
                vertex.is_source = True
                continue
            for key in inputs:
                input_vertex = self.above.get(key)
                if input_vertex is None:
                    input_vertex = self.above[key] = _Vertex(*key, True, like)
                    waiting.append(input_vertex)
                vertex.inputs.append(input_vertex)
        return start

    def _made_of(self, vertex: _Vertex) -> list[tuple[SSAValue, Places]] | None:
        """Return the parts that a part is computed from; None where the search ends."""
        value = vertex.value
        if not isinstance(value, OpResult) or value.op.parent is not self.block:
            return None
        op = value.op
        if self._is_part(op, vertex.dims[0]):
            return [] if self.program.same_along(op.operands[0], self.axes) else None
        if not is_elementwise(op) and not isinstance(op, LIGHT):
            return None
        if is_numbered(self.program, op, vertex.dims[0], self.axes):
            return []
        held = self._held(op, vertex.dims, (1, self.size))
        if held is None:
            return None
        inputs: list[tuple[SSAValue, Places]] = []
        for operand, places in zip(op.operands, held, strict=True):
            if places is not None:
                inputs.append((operand, places))
            elif not self.program.same_along(operand, self.axes):
                return None
        return inputs

    def _is_part(self, op: Operation, dim: int) -> bool:
        part = slice_of(op)
        return part is not None and part[1] == dim and (part[0],) == self.axes

    def _held(
        self, op: Operation, dims: Places, divided: Sequence[int]
    ) -> list[Places | None] | None:
        """Return the dimensions of each operand that hold those of the result."""
        columns = [held_in(op, dim) for dim in dims]
        held: list[Places | None] = []
        for index, operand in enumerate(op.operands):
            places: list[int] = []
            for column, parts in zip(columns, divided, strict=False):
                if column is None:
                    return None
                place = column[index]
                if place is not None:
                    if shape_of(operand)[place] % parts:
                        return None
                    places.append(place)
            if places and len(places) != len(dims):
                return None
            held.append(tuple(places) if places else None)
        return None if None in columns else held

    def _grow_down(self) -> None:
        users = InOrder(self._order, list(self.below))
        for op in users:
            if len(op.results) != 1 or op.results[0] in self.below:
                continue
            if is_collective(op) or slice_of(op) is not None:
                continue
            vertex = self._down(op)
            if vertex is not None:
                self.below[op.results[0]] = vertex
                users.follow(vertex.value)

    def _down(self, op: Operation) -> _Vertex | None:
        index = next(
            (i for i, operand in enumerate(op.operands) if operand in self.below), None
        )
        if index is None or not is_tensor(op.results[0]):
            return None
        first = self.below[op.operands[index]]
        dims = [led_to(op, index, dim) for dim in first.dims]
        shape = shape_of(op.results[0])
        if None in dims:
            return None
        known = tuple(dim for dim in dims if dim is not None)
        if shape[known[0]] % self.size:
            return None
        held = self._held(op, known, (self.size, 1))
        if held is None:
            return None
        vertex = _Vertex(op.results[0], known, False, first.like)
        for operand, places in zip(op.operands, held, strict=True):
            input_vertex = self.below.get(operand)
            if (
                places is not None
                and input_vertex is not None
                and input_vertex.dims == places
            ):
                vertex.inputs.append(input_vertex)
            elif places is None or self.gathers:
                if not self.program.same_along(operand, self.axes):
                    return None
            elif not self._is_free(operand, places):
                return None
        return vertex

    def _is_free(self, value: SSAValue, dims: Places) -> bool:
        """Whether a value can be computed in the first form without a move."""
        op = value.owner
        if not isinstance(op, Operation):
            return False
        if self._is_part(op, dims[1]):
            return (
                self.program.same_along(op.operands[0], self.axes)
                and shape_of(op.operands[0])[dims[0]] % self.size == 0
            )
        held = self._held(op, dims, (1, 1))
        return (
            held is not None
            and (isinstance(op, LIGHT) or is_elementwise(op))
            and not any(held)
            and all(
                self.program.same_along(operand, self.axes) for operand in op.operands
            )
        )

    # Choosing

    def _is_needed(self, value: SSAValue, dims: Places) -> bool:
        """Whether an op uses the second form of a value."""
        for use in value.uses:
            user = use.operation
            if user.parent is not self.block:
                return True
            if self.gathers and self._is_part(user, dims[0]):
                continue
            result = user.results[0] if len(user.results) == 1 else None
            taken = self.below.get(result) if result is not None else None
            if taken is None or taken.above:
                return True
            held = self._held(user, taken.dims, (1, 1))
            if held is None or held[use.index] != dims:
                return True
        return False

    def _price(self, vertex: _Vertex) -> int:
        """Return the bytes that moving a vertex sends."""
        if vertex.other is not None:
            return 0
        value, dim = vertex.value, vertex.dims[0]
        if not self.gathers:
            if vertex.above and (value, dim) in self._gathered:
                return 0
            return self.program.bytes(Ring.ALL_TO_ALL, value, self.axes)
        shape = list(shape_of(value))
        if not vertex.above:
            shape[dim] //= self.size
        return self.program.bytes_of(
            Ring.ALL_GATHER, shape, element_of(value), self.axes
        )

    # Changing

    def _sizes(self, vertex: _Vertex) -> dict[int, int]:
        """Return the sizes of the dimensions that differ in the other form."""
        shape, dims = shape_of(vertex.value), vertex.dims
        if self.gathers:
            size = shape[dims[0]]
            return {dims[0]: size * self.size if vertex.above else size // self.size}
        grows, shrinks = dims if vertex.above else dims[::-1]
        return {grows: shape[grows] * self.size, shrinks: shape[shrinks] // self.size}

    def _first_form(self, vertex: _Vertex) -> SSAValue:
        """Return the value that a device holds of a vertex before it is moved."""
        if vertex.above:
            return self._parts.get(vertex.value, vertex.value)
        return self._first[vertex]

    def _make_first(self, vertex: _Vertex) -> None:
        """Copy an op from behind moves to ahead of them."""
        assert isinstance(vertex.value, OpResult)
        op = vertex.value.op
        held = self._held(op, vertex.dims, (1, 1))
        assert held is not None, "asked before"
        operands: list[SSAValue] = []
        for operand, places in zip(op.operands, held, strict=True):
            known = self.below.get(operand)
            if places is None:
                operands.append(operand)
            elif known is not None and known.dims == places:
                operands.append(self._first_form(known))
            else:
                operands.append(self._freely(operand, places, op))
        sizes = self._sizes(vertex)
        self._first[vertex] = self.program.copy(op, operands, sizes)

    def _freely(self, value: SSAValue, dims: Places, before: Operation) -> SSAValue:
        """Write the first form of a value that needs no move."""
        op = value.owner
        dim = dims[0]
        if not self.gathers:
            assert isinstance(op, Operation)
            if self._is_part(op, dims[1]):
                return self.program.all_slice(op.operands[0], self.axes, dim, before)
            sizes = self._sizes(_Vertex(value, dims, False, before))
            return self.program.copy(op, op.operands, sizes, before)
        if isinstance(op, Operation) and not op.operands and held_in(op, dim) == []:
            size = shape_of(value)[dim] // self.size
            return self.program.copy(op, (), {dim: size}, before)
        return self.program.all_slice(value, self.axes, dim, before)

    def _make_second(self, vertex: _Vertex) -> None:
        """Copy an op from ahead of moves to behind them."""
        value = vertex.value
        assert isinstance(value, OpResult)
        op = value.op
        following = op.next_op
        assert following is not None, "it is no terminator"
        if self._is_part(op, vertex.dims[0]):
            whole = op.operands[0]
            if not self.gathers:
                whole = self.program.all_slice(
                    whole, self.axes, vertex.dims[1], following
                )
            self._second[vertex] = whole
            return
        if is_numbered(self.program, op, vertex.dims[0], self.axes):
            self._second[vertex] = number_all(
                self.program,
                op,
                vertex.dims[0],
                self.axes,
                self._sizes(vertex),
                following,
            )
            return
        held = self._held(op, vertex.dims, (1, 1))
        assert held is not None, "asked before"
        inputs = iter(vertex.inputs)
        operands = [
            operand if places is None else self._second[next(inputs)]
            for operand, places in zip(op.operands, held, strict=True)
        ]
        sizes = self._sizes(vertex)
        self._second[vertex] = self.program.copy(op, operands, sizes, following)

    def _move(self, vertex: _Vertex) -> None:
        """Move a vertex."""
        if vertex.other is not None:
            self._second[vertex] = vertex.other
            return
        value, dims, like = self._first_form(vertex), vertex.dims, vertex.like
        program, axes = self.program, self.axes
        gathered = self._gathered.get((value, dims[0]))
        if self.gathers:
            second = program.all_gather(value, like, axes, dims[0], self.name)
        elif gathered is not None and gathered.parent is not None:
            program.move_up(gathered)
            following = gathered.next_op
            assert following is not None
            whole = gathered.results[0]
            second = program.all_slice(whole, axes, dims[1], following)
        else:
            second = program.all_to_all(value, like, axes, dims, self.name)
        self._second[vertex] = second

    def solve(self) -> bool:
        """Find the cut, and move things there if that is cheaper."""
        order = self._order

        def place(vertex: _Vertex) -> tuple[bool, int]:
            owner = vertex.value.owner
            known = order.get(owner, -1) if isinstance(owner, Operation) else -1
            return not vertex.above, known

        changed = False
        vertices = (*self.above.values(), *self.below.values())
        moved_of: dict[_Vertex, list[_Moved]] = {}
        for result, vertex in self.moved.items():
            moved_of.setdefault(vertex, []).append((result, vertex))
        for group in connected({vertex: vertex.inputs for vertex in vertices}):
            moved = [pair for vertex in group for pair in moved_of.get(vertex, ())]
            # another group may have taken what this one is made of: the next round
            if all(map(_is_there, group)):
                group.sort(key=place)
                changed |= self._solve(group, moved)
        return changed

    def _solve(self, group: list[_Vertex], moved: list[_Moved]) -> bool:
        prices = {vertex: self._price(vertex) for vertex in group}
        # a move of what is there in both forms was paid for, too
        today = [price for _, vertex in moved if (price := self._paid(vertex))]
        now = sum(today)
        each = for_each(now)
        graph = VertexGraph()
        for vertex in group:
            price = prices[vertex]
            vertex.number = graph.vertex(price + each if price else 0)
        for vertex in group:
            if vertex.is_source:
                graph.source(vertex.number)
            for input_vertex in vertex.inputs:
                graph.edge(input_vertex.number, vertex.number)
            if not vertex.above and self._is_needed(vertex.value, vertex.dims):
                graph.sink(vertex.number)
        for result, vertex in moved:
            if self._is_needed(result, vertex.dims):
                graph.sink(vertex.number)
        cut = graph.least_cut(near_sources=False)
        while missing := self._missing(group, moved, cut):
            for vertex in missing:
                graph.sink(vertex.number)
            cut = graph.least_cut(near_sources=False)
        sent = sum(prices[vertex] for vertex in group if vertex.number in cut.vertices)
        if sent > now or cut.price >= now + each * len(today):
            return False
        self._change(group, moved, cut)
        return True

    def _missing(
        self, group: list[_Vertex], moved: list[_Moved], cut: Cut
    ) -> list[_Vertex]:
        """Return the vertices whose second form a cut drops, but new ops would read."""
        wanted = _wanted(group, cut)
        dropped = {
            value: vertex
            for value, vertex in (
                *moved,
                *((vertex.value, vertex) for vertex in wanted),
            )
            if vertex.number not in cut.vertices and vertex.number not in cut.behind
        }
        if not dropped:
            return []
        read: list[SSAValue] = []
        for vertex in group:
            if not vertex.above:
                continue
            if vertex.number in cut.vertices:
                read.append(vertex.value if vertex.other is None else vertex.other)
                gathered = self._gathered.get((vertex.value, vertex.dims[0]))
                if gathered is not None and not self.gathers:
                    read.append(gathered.results[0])
            elif vertex.number in cut.behind:
                moved_operands = {input_vertex.value for input_vertex in vertex.inputs}
                read += (
                    operand
                    for operand in _operands(vertex)
                    if operand not in moved_operands
                )
        for vertex in wanted:
            inputs = set(vertex.inputs)
            for operand in _operands(vertex):
                input_vertex = self.below.get(operand)
                if input_vertex is None or input_vertex not in inputs:
                    read.append(operand)
                elif input_vertex.above:
                    read.append(input_vertex.value)
        return [dropped[value] for value in dict.fromkeys(read) if value in dropped]

    def _paid(self, vertex: _Vertex) -> int:
        if self.gathers:
            return self._price(vertex)
        return self.program.bytes(Ring.ALL_TO_ALL, vertex.value, self.axes)

    def _change(
        self,
        group: list[_Vertex],
        moved: list[_Moved],
        cut: Cut,
    ) -> None:
        chosen, behind = cut.vertices, cut.behind
        for vertex in group:
            if vertex.other is not None:  # used as early as what it is made of is there
                assert isinstance(vertex.value, OpResult)
                self.program.move_up(vertex.value.op)
        ahead = [
            vertex
            for vertex in group
            if not vertex.above and vertex.number not in behind
        ]
        for vertex in _wanted(group, cut):
            self._make_first(vertex)
        dead: list[SSAValue] = []
        replaced = [*moved, *((vertex.value, vertex) for vertex in ahead)]
        if self.gathers:
            dead += self._take_parts(replaced)
        for vertex in group:
            if vertex.number in chosen:
                self._move(vertex)
            elif vertex.above and vertex.number in behind:
                self._make_second(vertex)
        for value, vertex in replaced:
            second = self._second.get(vertex)
            if second is not None and second is not value:
                value.replace_all_uses_with(second)
        erase_unused([*dead, *(value for value, _ in reversed(replaced))])

    def _take_parts(self, values: Sequence[_Moved]) -> list[SSAValue]:
        """Replace slices of gathered values by the parts that were not gathered."""
        dead: list[SSAValue] = []
        for value, vertex in values:
            for use in list(value.uses):
                op = use.operation
                if op.parent is self.block and self._is_part(op, vertex.dims[0]):
                    part = self._parts[op.results[0]] = self._first_form(vertex)
                    op.results[0].replace_all_uses_with(part)
                    dead.append(op.results[0])
        return dead


def _is_there(vertex: _Vertex) -> bool:
    value = vertex.value
    return not isinstance(value, OpResult) or value.op.parent is not None


def _wanted(group: list[_Vertex], cut: Cut) -> list[_Vertex]:
    """Return the vertices behind moves that are made in their first form, in order."""
    below = [vertex for vertex in group if not vertex.above]
    wanted = {vertex for vertex in below if vertex.number not in cut.behind}
    for vertex in reversed(below):
        if vertex in wanted:
            wanted.update(vertex.inputs)
    return [vertex for vertex in below if vertex in wanted]


def _operands(vertex: _Vertex) -> Sequence[SSAValue]:
    """Return the operands of the op that makes a vertex's value."""
    owner = vertex.value.owner
    return owner.operands if isinstance(owner, Operation) else ()


def _dims_of(op: Operation) -> Places:
    match op:
        case stablehlo.AllGatherOp():
            return (op.all_gather_dim.value.data,)
        case stablehlo.AllToAllOp():
            return op.concat_dimension.value.data, op.split_dimension.value.data
        case _:
            raise AssertionError(f"{op.name} moves nothing")


def _moves(
    program: DeviceProgram, block: Block, kind: type[Operation]
) -> dict[Axes, list[Operation]]:
    moves: dict[Axes, list[Operation]] = {}
    for op in program.sending(block):
        if isinstance(op, kind):
            axes = program.axes(op)
            dims = _dims_of(op)
            if axes and len(op.operands) == 1 and len(set(dims)) == len(dims):
                moves.setdefault(axes, []).append(op)
    return moves


def _move_cheaply(program: DeviceProgram, block: Block, kind: type[Operation]) -> bool:
    changed = False
    for axes, first in _moves(program, block, kind).items():
        # what one group of moves changes may let another one move: each time less is sent
        for _ in rounds(_ROUNDS + len(first), f"moving {kind.name}s"):
            moves = _moves(program, block, kind).get(axes)
            if not moves or not _Region(program, axes, block, moves).solve():
                break
            changed = True
    return changed


def move_all_gathers(program: DeviceProgram, block: Block) -> bool:
    """Move the all_gathers of a block, and return True if any moved."""
    take_slices_apart(program, block)
    keep_apart(program, block)
    gather_repeated(program, block, ALL_GATHERS)
    return _move_cheaply(program, block, stablehlo.AllGatherOp)


def move_all_to_alls(program: DeviceProgram, block: Block) -> bool:
    """Move the all_to_alls of a block, and return True if any moved."""
    return _move_cheaply(program, block, stablehlo.AllToAllOp)
