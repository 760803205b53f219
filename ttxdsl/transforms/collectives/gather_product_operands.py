"""`gather-product-operands`: move the operands of a product instead of its partial sums.

Operands can be smaller than the product: gradients of weights over few samples, outer
products.

**Why it is right.** If device i holds x_i and y_i, the sum over i of x_i y_i is x y,
where x and y are all parts along a pair of contracted dimensions, in one order:
all_gathers give these. If the sum is scattered along a dimension s, device j needs only
the parts of the operands that have s: an all_to_all gives these. (Floating-point sums
round in another order.)

A sum that is not scattered is then computed whole by each device; that is only done
where it takes few operations for each byte saved. An operand is sent once for all its
products, and costs nothing where devices have all of it already.

**Why it ends.** Each round removes sums and adds only all_gathers and all_to_alls.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ttxdsl.analysis.usage.work import operations
from ttxdsl.costs.ring import Ring
from ttxdsl.diagnostics.remarks import rounds
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import Axes
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.dims import Dims, held_in
from ttxdsl.transforms.collectives.program.single_ops import (
    LIGHT,
    erase_unused,
    is_elementwise,
    slice_of,
    sum_of,
)
from ttxdsl.transforms.partition.exchange.combiner import SUM

NAME = "gather-product-operands"

OPERATIONS_PER_BYTE = 64
"""How many multiply-adds may be repeated for a byte that is not sent.

Accelerators do hundreds to thousands in the time that a byte takes between two of them.
"""

_Sum = stablehlo.AllReduceOp | stablehlo.ReduceScatterOp


@dataclass(frozen=True, slots=True)
class _Move:
    """An operand that is put together along a dimension that products sum over.

    Attributes:
        axes: of the group.
        place: the one that is split instead; None if none is.
    """

    value: SSAValue
    axes: Axes
    summed: int
    place: int | None


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A sum of products that need not be sent.

    Attributes:
        product: what makes the products.
        moves: of its operands.
        sends: the bytes of the sum.
        repeated: how many more operations a device would do.
        sizes: the dimensions of the product that have another size then.
    """

    op: _Sum
    product: Operation
    moves: tuple[_Move, ...]
    sends: int
    repeated: int
    sizes: dict[int, int]


def gather_product_operands(program: DeviceProgram, block: Block) -> bool:
    """Move operands of products in a block, and return True if any are moved."""
    changed = False
    ops = program.sending(block)
    prices = _Prices(program, block)
    for _ in rounds(1 + len(ops), NAME):
        gathered = _gather_some(program, block, ops, prices)
        if not gathered:
            break
        changed = True
        ops = [use.operation for value in gathered for use in value.uses]  # more sums
        prices = _Prices(program, block)
    return changed


def _gather_some(
    program: DeviceProgram, block: Block, ops: Iterable[Operation], prices: "_Prices"
) -> list[SSAValue]:
    """Move the operands of products instead of sums where it pays; return the products."""
    candidates = [
        candidate
        for op in ops
        if isinstance(op, _Sum)
        and op.parent is block
        and sum_of(op) == SUM
        and (candidate := _candidate(program, op)) is not None
        and _pays(candidate, prices)
    ]
    moved: dict[_Move, SSAValue] = {}  # by the first one that needs it
    instead: dict[SSAValue, SSAValue] = {}  # of sums, which later products may have
    for candidate in candidates:
        result = candidate.op.results[0]
        instead[result] = _gather(program, candidate, moved, instead)
    return [*instead.values()]


def _candidate(program: DeviceProgram, op: _Sum) -> _Candidate | None:
    axes, value = program.axes(op), op.operands[0]
    if (
        axes is None
        or not isinstance(value, OpResult)
        or not value.has_one_use()
        or element_of(value) != element_of(op.results[0])
    ):
        return None
    product = value.op
    if product.parent != op.parent or (summed := _summed(product)) is None:
        return None
    size = program.size(axes)
    scattered: Dims | None = None, None
    if isinstance(op, stablehlo.ReduceScatterOp):
        dim = op.scatter_dimension.value.data
        scattered = held_in(product, dim)
        if scattered is None or len(axes) > 1:
            return None
        sends = program.bytes(Ring.REDUCE_SCATTER, value, axes)
        sizes = {dim: shape_of(value)[dim] // size}
        repeated = 0
    else:
        sends = program.bytes(Ring.ALL_REDUCE, value, axes)
        sizes: dict[int, int] = {}
        repeated = operations(product) * (size - 1)
    moves = tuple(
        _Move(operand, axes, dim, place)
        for operand, dim, place in zip(product.operands, summed, scattered, strict=True)
    )
    return _Candidate(op, product, moves, sends, repeated, sizes)


def _summed(op: Operation) -> tuple[int, int] | None:
    """Return the first dimension that a product sums over, of both operands, or None."""
    match op:
        case stablehlo.DotOp():
            return len(shape_of(op.lhs)) - 1, 0
        case stablehlo.DotGeneralOp():
            dims = op.dot_dimension_numbers.data
            pairs = zip(
                dims.lhs_contracting_dimensions,
                dims.rhs_contracting_dimensions,
                strict=True,
            )
            return next(pairs, None)
        case _:
            return None


def _pays(candidate: _Candidate, prices: "_Prices") -> bool:
    """Whether moving the operands, each once, sends less than the sum does."""
    saved = candidate.sends - sum(prices.of(move) for move in {*candidate.moves})
    return saved > 0 and candidate.repeated <= saved * OPERATIONS_PER_BYTE


class _Prices:
    """The bytes that moves of operands in a block send."""

    def __init__(self, program: DeviceProgram, block: Block) -> None:
        self.program, self.block = program, block
        self._gathered = {
            (op.operands[0], program.axes(op), op.all_gather_dim.value.data)
            for op in program.sending(block)
            if isinstance(op, stablehlo.AllGatherOp) and len(op.operands) == 1
        }
        self._cut = {
            (part[0],)
            for op in program.sending(block)
            if (part := slice_of(op)) is not None
        }
        self._known: dict[_Move, int] = {}

    def of(self, move: _Move) -> int:
        """Return the bytes of a move; none where devices have its result already."""
        known = self._known.get(move)
        if known is None:
            kind = Ring.ALL_GATHER if move.place is None else Ring.ALL_TO_ALL
            there = self._is_there(move.value, move.axes, move.summed)
            known = 0 if there else self.program.bytes(kind, move.value, move.axes)
            self._known[move] = known
        return known

    def _is_there(self, value: SSAValue, axes: Axes, dim: int) -> bool:
        """Whether devices have the whole value along a dimension already."""
        if axes not in self._cut and not self._gathered:
            return False
        waiting, same = [(value, dim)], self.program.same_along
        seen: set[tuple[SSAValue, int]] = set()
        while waiting:
            current, place = waiting.pop()
            if (current, place) in seen or (current, axes, place) in self._gathered:
                continue
            seen.add((current, place))
            op = current.owner
            if not isinstance(op, Operation) or op.parent is not self.block:
                return False
            part = slice_of(op)
            if part is not None and part[1] == place:
                if (part[0],) != axes or not same(op.operands[0], axes):
                    return False
                continue
            if not is_elementwise(op) and not isinstance(op, LIGHT):
                return False
            operand_dims = held_in(op, place)
            if operand_dims is None:
                return False
            for operand, held in zip(op.operands, operand_dims, strict=True):
                if held is not None:
                    waiting.append((operand, held))
                elif not same(operand, axes):
                    return False
        return True


def _gather(
    program: DeviceProgram,
    candidate: _Candidate,
    moved: dict[_Move, SSAValue],
    instead: dict[SSAValue, SSAValue],
) -> SSAValue:
    for move in candidate.moves:
        if move not in moved:
            value = instead.get(move.value, move.value)
            moved[move] = _moved(program, candidate.op, replace(move, value=value))
    operands = [moved[move] for move in candidate.moves]
    gathered = program.copy(candidate.product, operands, candidate.sizes)
    (product,) = candidate.product.results
    product.replace_all_uses_with(gathered)
    (value,) = candidate.op.operands  # which may be what was moved of it
    candidate.op.results[0].replace_all_uses_with(value)
    erase_unused([*candidate.op.results, product])
    return value


def _moved(program: DeviceProgram, op: _Sum, move: _Move) -> SSAValue:
    """Gather an operand along the summed dimension, or exchange that for another."""
    value, axes, place = move.value, move.axes, move.place
    if place is None:
        return program.all_gather(value, op, axes, move.summed, NAME)
    return program.all_to_all(value, op, axes, (move.summed, place), NAME)
