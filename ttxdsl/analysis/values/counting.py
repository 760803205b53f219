"""Integers that count through a dimension: what is known of them element by element.

`x[jnp.arange(n), i]` gathers with index vectors of which the first entry is an iota
behind broadcasts, a wrap of negative indices and a concatenation. Here values are
followed back to what they count.
"""

from collections.abc import Callable
from math import prod
from typing import NamedTuple, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.ir.tensors import element_of, shape_of

_DEEPEST = 64
"""How many ops to follow a value back through."""

_LARGEST_CONSTANT = 1 << 16
"""Elements of the constants that are looked at."""


class Count(NamedTuple):
    """Elements that are `start`, or `start` and their place along a dimension."""

    start: int
    dim: int | None = None


class At(NamedTuple):
    """The part of a tensor at one place along a dimension."""

    dim: int
    place: int


class _Value(NamedTuple):
    """A part of a tensor that is looked at."""

    value: SSAValue
    at: At | None
    depth: int

    def of(self, value: SSAValue, at: At | None) -> Count | None:
        """Return what another part counts, from which this one is made."""
        return _count(_Value(value, at, self.depth + 1))

    def same(self, value: SSAValue) -> Count | None:
        """Return what the same part of another value counts."""
        return self.of(value, self.at)

    def bounds(self, count: Count) -> tuple[int, int]:
        """Return the least and the greatest element."""
        size = 1 if count.dim is None else shape_of(self.value)[count.dim]
        return count.start, count.start + size - 1


def count_of(value: SSAValue, at: At | None = None) -> Count | None:
    """Return what the integers of a value certainly are, None if that is not known.

    Args:
        value: a tensor.
        at: the part of it that is asked for; None for all.
    """
    return _count(_Value(value, at, 0))


def _count(part: _Value) -> Count | None:
    value = part.value
    element, shape = element_of(value), shape_of(value)
    if not isinstance(element, IntegerType) or part.depth > _DEEPEST or not prod(shape):
        return None
    if not isinstance(value, OpResult):
        return _of_argument(part)
    rule = _RULES.get(type(value.op))
    count = rule(part, value.op) if rule else None
    if count is None or not _fits(part.bounds(count), cast("IntegerType", element)):
        return None
    return count


def _fits(bounds: tuple[int, int], element: IntegerType) -> bool:
    """Return whether an integer type has these numbers."""
    bits, signed = element.bitwidth, element.signedness.data != Signedness.UNSIGNED
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    if element == i1:
        low, high = 0, 2
    return low <= bounds[0] and bounds[1] < high


def _of_argument(part: _Value) -> Count | None:
    """Follow what a loop hands on unchanged to what it begins with."""
    block = part.value.owner
    assert isinstance(block, Block)
    loop = block.parent_op()
    if not isinstance(loop, stablehlo.WhileOp):
        return None
    index = block.args.index(part.value)
    body = loop.body.block
    last = body.last_op
    if last is None or last.operands[index] is not body.args[index]:
        return None
    return part.same(loop.operands[index])


def _constant(part: _Value, op: stablehlo.ConstantOp) -> Count | None:
    dense = op.value
    if not isinstance(dense, DenseIntOrFPElementsAttr):
        return None
    if not dense.is_splat() and prod(shape_of(op.output)) > _LARGEST_CONSTANT:
        return None
    shape = shape_of(op.output)
    values = dense.get_values()[:1] if dense.is_splat() else dense.get_values()
    if element_of(op.output) == i1:
        values = [bool(value) for value in values]
    if dense.is_splat():
        return Count(int(values[0]))
    import numpy as np  # few indices are lists of numbers

    array = np.array(values, dtype=object).reshape(shape)
    if part.at is not None:
        array = array.take([part.at.place], axis=part.at.dim)
    start = array.flat[0]
    if (array == start).all():
        return Count(int(start))
    for dim, size in enumerate(array.shape):
        places = np.arange(size).reshape(
            [-1 if d == dim else 1 for d in range(len(shape))]
        )
        if size > 1 and (array - places == start).all():
            return Count(int(start), dim)
    return None


def _iota(part: _Value, op: stablehlo.IotaOp) -> Count | None:
    dim = op.iota_dimension.value.data
    if part.at is not None and part.at.dim == dim:
        return Count(part.at.place)
    return Count(0, dim)


def _broadcast_in_dim(part: _Value, op: stablehlo.BroadcastInDimOp) -> Count | None:
    dims = op.broadcast_dimensions.get_values()
    before, after = shape_of(op.operand), shape_of(op.result)
    at = None
    if part.at is not None and part.at.dim in dims:
        dim = dims.index(part.at.dim)
        at = At(dim, part.at.place if before[dim] != 1 else 0)
    count = part.of(op.operand, at)
    if count is None or count.dim is None:
        return count
    if before[count.dim] != after[dims[count.dim]]:
        return Count(count.start) if before[count.dim] == 1 else None
    return Count(count.start, dims[count.dim])


def _transpose(part: _Value, op: stablehlo.TransposeOp) -> Count | None:
    dims = op.permutation.get_values()
    at = None if part.at is None else At(dims[part.at.dim], part.at.place)
    count = part.of(op.operand, at)
    if count is None or count.dim is None:
        return count
    return Count(count.start, dims.index(count.dim))


def _reshape(part: _Value, op: stablehlo.ReshapeOp) -> Count | None:
    before, after = shape_of(op.operand), shape_of(op.result)
    at = None
    if part.at is not None and after[part.at.dim] != 1:
        dim = same_dim(after, before, part.at.dim)
        if dim is None:
            return None
        at = At(dim, part.at.place)
    count = part.of(op.operand, at)
    if count is None or count.dim is None:
        return count
    if before[count.dim] == 1:
        return Count(count.start)
    dim = same_dim(before, after, count.dim)
    return None if dim is None else Count(count.start, dim)


def same_dim(before: tuple[int, ...], after: tuple[int, ...], dim: int) -> int | None:
    """Return the dimension of another shape of the same elements that is this one."""
    for other, size in enumerate(after):
        if size == before[dim] and prod(after[:other]) == prod(before[:dim]):
            return other
    return None


def _slice(part: _Value, op: stablehlo.SliceOp) -> Count | None:
    starts, strides = op.start_indices.get_values(), op.strides.get_values()
    at = part.at
    if at is not None:
        at = At(at.dim, starts[at.dim] + at.place * strides[at.dim])
    count = part.of(op.operand, at)
    if count is None or count.dim is None:
        return count
    begin = Count(count.start + starts[count.dim], count.dim)
    size = shape_of(op.result)[count.dim]
    return begin if size == 1 or strides[count.dim] == 1 else None


def _concatenate(part: _Value, op: stablehlo.ConcatenateOp) -> Count | None:
    dim = op.dimension.value.data
    if part.at is not None and part.at.dim == dim:
        place = part.at.place
        for value in op.inputs:
            size = shape_of(value)[dim]
            if place < size:
                return part.of(value, At(dim, place))
            place -= size
        return None
    counts = {part.same(value) for value in op.inputs if shape_of(value)[dim]}
    count = counts.pop() if len(counts) == 1 else None
    return None if count is None or count.dim == dim else count


def _sum(part: _Value, op: stablehlo.AddOp | stablehlo.SubtractOp) -> Count | None:
    left, right = part.same(op.lhs), part.same(op.rhs)
    if left is None or right is None:
        return None
    if isinstance(op, stablehlo.SubtractOp):
        same = left.dim is not None and left.dim == right.dim
        if right.dim is not None and not same:
            return None
        return Count(left.start - right.start, None if same else left.dim)
    if left.dim is not None and right.dim is not None:
        return None
    dim = right.dim if left.dim is None else left.dim
    return Count(left.start + right.start, dim)


def _select(part: _Value, op: stablehlo.SelectOp) -> Count | None:
    pred = part.same(op.pred) if shape_of(op.pred) else part.of(op.pred, None)
    if pred is not None and pred.dim is None:
        return part.same(op.on_true if pred.start else op.on_false)
    on_true = part.same(op.on_true)
    return on_true if on_true == part.same(op.on_false) else None


def _compare(part: _Value, op: stablehlo.CompareOp) -> Count | None:
    """Return 0 or 1, where that is the same everywhere."""
    left, right = part.same(op.lhs), part.same(op.rhs)
    if left is None or right is None:
        return None
    operands = _Value(op.lhs, part.at, part.depth)
    (low, high), (least, most) = operands.bounds(left), operands.bounds(right)
    always, never = {
        ComparisonDirection.LT: (high < least, low >= most),
        ComparisonDirection.LE: (high <= least, low > most),
        ComparisonDirection.GT: (low > most, high <= least),
        ComparisonDirection.GE: (low >= most, high < least),
        ComparisonDirection.EQ: (
            low == high == least == most,
            high < least or low > most,
        ),
        ComparisonDirection.NE: (
            high < least or low > most,
            low == high == least == most,
        ),
    }[op.comparison_direction.data]
    return Count(int(always)) if always or never else None


def _clamp(part: _Value, op: stablehlo.ClampOp) -> Count | None:
    count = part.same(op.operand)
    low, high = (
        part.same(bound) if shape_of(bound) else part.of(bound, None)
        for bound in (op.min, op.max)
    )
    if count is None or low is None or high is None:
        return None
    least, most = part.bounds(count)
    inside = part.bounds(low)[1] <= least and most <= part.bounds(high)[0]
    return count if inside else None


def _extremum(part: _Value, op: stablehlo.MaxOp | stablehlo.MinOp) -> Count | None:
    left, right = part.same(op.lhs), part.same(op.rhs)
    if left is None or right is None:
        return None
    if part.bounds(left)[0] >= part.bounds(right)[1]:
        greater, less = left, right
    elif part.bounds(right)[0] >= part.bounds(left)[1]:
        greater, less = right, left
    else:
        return None
    return greater if isinstance(op, stablehlo.MaxOp) else less


def _remainder(part: _Value, op: stablehlo.RemOp) -> Count | None:
    count, by = part.same(op.lhs), part.same(op.rhs)
    if count is None or by is None:
        return None
    least, most = part.bounds(count)
    return count if least >= 0 and part.bounds(by)[0] > most else None


def _operand(part: _Value, op: Operation) -> Count | None:
    """Return what the operand counts, which the result is."""
    return part.same(op.operands[cast(OpResult, part.value).index])


_RULES: dict[type[Operation], Callable[[_Value, object], Count | None]] = cast(
    "dict[type[Operation], Callable[[_Value, object], Count | None]]",
    {
        sdy.PropagationBarrierOp: _operand,
        sdy.ReshardOp: _operand,
        sdy.ShardingConstraintOp: _operand,
        stablehlo.AddOp: _sum,
        stablehlo.BroadcastInDimOp: _broadcast_in_dim,
        stablehlo.ClampOp: _clamp,
        stablehlo.CompareOp: _compare,
        stablehlo.ConcatenateOp: _concatenate,
        stablehlo.ConstantOp: _constant,
        stablehlo.ConvertOp: _operand,
        stablehlo.IotaOp: _iota,
        stablehlo.MaxOp: _extremum,
        stablehlo.MinOp: _extremum,
        stablehlo.OptimizationBarrierOp: _operand,
        stablehlo.RemOp: _remainder,
        stablehlo.ReshapeOp: _reshape,
        stablehlo.SelectOp: _select,
        stablehlo.SliceOp: _slice,
        stablehlo.SubtractOp: _sum,
        stablehlo.TransposeOp: _transpose,
    },
)
