"""Integers as a multiple of their place along a dimension, and the bounds of the rest.

`jnp.arange(n) * size + i` is `size` times the row's number and a rest, of which `i % size`
or `jnp.clip(i, 0, size - 1)` says that it is from 0 to `size - 1`. Of index vectors, whose
entries are concatenated, one entry can be asked for: `x[jnp.arange(n), i]` has an iota in
the first, behind broadcasts and a wrap of negative indices.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.traits import SymbolTable

from ttxdsl.analysis.values.intervals import (
    ANY,
    UNIT,
    Interval,
    bounds_of,
    function_name,
    hull,
)
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of

_DEEPEST = 64
"""Ops to follow a value back through."""
_MOST_STEPS = 4096
"""Values to look at, in branches of selects again."""
_MOST_NUMBERS = 1 << 16
"""Elements of constants that are looked at."""
_LARGEST_EXACT = 1 << 53
"""The integers up to which floats have all."""


class At(NamedTuple):
    """The part of a tensor at one place along a dimension."""

    dim: int
    place: int


class Offset(NamedTuple):
    """Elements that are `factor` times their place along a dimension, and a rest."""

    factor: int
    dim: int | None
    rest: Interval

    def bounds(self, shape: tuple[int, ...]) -> Interval:
        """Return the bounds of the elements of a tensor of a shape."""
        if self.dim is None:
            return self.rest
        last = self.factor * max(shape[self.dim] - 1, 0)
        return _sum(self.rest, Interval(min(0, last), max(0, last)))

    def scaled(self, by: int) -> "Offset":
        """Return the elements times a number."""
        if not by:
            return _within(Interval(0, 0))
        return Offset(self.factor * by, self.dim, self.rest.scaled(by))

    def plus(self, other: "Offset") -> "Offset | None":
        """Return the sums; None if both count along different dimensions."""
        if None not in (self.dim, other.dim) and self.dim != other.dim:
            return None
        factor = self.factor + other.factor
        dim = other.dim if self.dim is None else self.dim
        rest = _sum(self.rest, other.rest)
        return Offset(factor, dim, rest) if factor else _within(rest)


def _sum(a: Interval, b: Interval) -> Interval:
    return Interval(a.low + b.low, a.high + b.high)


def _within(bounds: Interval) -> Offset:
    return Offset(0, None, bounds)


def offset_of(value: SSAValue, at: At | None = None) -> Offset:
    """Return what the integers of a tensor, or of a part of it, certainly are."""
    return _Scope(_Budget(), at).of(value)


def counted_dim(value: SSAValue, at: At | None = None) -> int | None:
    """Return the dimension along which integers are their places, None if unknown."""
    offset = offset_of(value, at)
    return offset.dim if offset == Offset(1, offset.dim, Interval(0, 0)) else None


@dataclass(slots=True)
class _Budget:
    steps: int = _MOST_STEPS


@dataclass(slots=True)
class _Scope:
    """A place where values are read: a function, or a branch of a select.

    Attributes:
        budget: of all scopes together.
        at: the part of tensors that is read; None for all.
        arguments: what the arguments of a called function are where it is called.
        bounds: of values, element by element, where a predicate holds.
        outer: the scope without these bounds.
        depth: of the value that is read.
    """

    budget: _Budget
    at: At | None = None
    arguments: Mapping[SSAValue, SSAValue] = field(
        default_factory=dict[SSAValue, SSAValue]
    )
    caller: "_Scope | None" = None
    bounds: Mapping[SSAValue, Interval] = field(
        default_factory=dict[SSAValue, Interval]
    )
    outer: "_Scope | None" = None
    depth: int = 0
    _memo: dict[SSAValue, Offset] = field(default_factory=dict[SSAValue, Offset])

    def of(self, value: SSAValue) -> Offset:
        """Return what a value is, as far as its type and its op say."""
        if self.at is not None and is_tensor(value) and not shape_of(value):
            return self.part(None).of(value)
        if value not in self._memo:
            self._memo[value] = self._read(value)
        return self._memo[value]

    def part(self, at: At | None) -> "_Scope":
        """Return the same place with another part of tensors to read."""
        if at == self.at:
            return self
        outer = None if self.outer is None else self.outer.part(at)
        return replace(self, at=at, outer=outer, _memo={})

    def bounds_of(self, value: SSAValue) -> Interval:
        """Return the bounds of a value's elements."""
        return self.of(value).bounds(shape_of(value)) if is_tensor(value) else ANY

    def _read(self, value: SSAValue) -> Offset:
        if not is_tensor(value) or not prod(shape_of(value)):
            return _within(ANY)
        element = element_of(value)
        if not isinstance(element, IntegerType):
            return _within(ANY)
        limits = _limits(cast("IntegerType[int, Signedness]", element))
        self.budget.steps -= 1
        self.depth += 1
        offset = None
        if self.depth <= _DEEPEST and self.budget.steps > 0:
            offset = self._offset(value)
        self.depth -= 1
        if offset is not None and self.at is not None and offset.dim == self.at.dim:
            offset = _within(offset.rest.shifted(offset.factor * self.at.place))
        if offset is None or not offset.bounds(shape_of(value)).within(limits):
            offset = _within(limits)
        if value in self.bounds and offset.dim is None:
            return _within(offset.rest.meet(self.bounds[value]))
        return offset

    def _offset(self, value: SSAValue) -> Offset | None:
        if value in self.arguments and self.caller is not None:
            return self.caller.part(self.at).of(self.arguments[value])
        if not isinstance(value, OpResult):
            return self._carried(value)
        op = value.op
        scope = self
        if not op.has_trait(Elementwise):  # elements are not at their places behind it
            scope = self.outer or self
        if self.at is not None and not _keeps_parts(op):
            scope = scope.part(None)
        if (rule := _RULES.get(type(op))) is not None:
            return rule(scope, op)
        if isinstance(op, stablehlo.OptimizationBarrierOp):
            return scope.of(op.operands[value.index])
        if isinstance(op, stablehlo.ReduceOp) and len(op.results) > 1:
            return _chosen(scope, op, value.index)
        if len(op.results) != 1:
            return None
        return _within(_integer_bounds(scope, op))

    def _carried(self, value: SSAValue) -> Offset | None:
        """Follow what a loop hands on unchanged to what it begins with."""
        block = cast(Block, value.owner)
        loop = block.parent_op()
        if not isinstance(loop, stablehlo.WhileOp):
            return None
        index, body = block.args.index(value), loop.body.block
        last = body.last_op
        if last is None or last.operands[index] is not body.args[index]:
            return None
        return self.of(loop.operands[index])

    def where(self, bounds: Mapping[SSAValue, Interval]) -> "_Scope":
        """Return a scope in which more is known of some values, element by element."""
        if not bounds:
            return self
        both = {**self.bounds}
        for value, interval in bounds.items():
            both[value] = both.get(value, ANY).meet(interval)
        caller = None if self.caller is None else self.caller.where(bounds)
        outer = self.outer or self
        return replace(self, caller=caller, bounds=both, outer=outer, _memo={})

    def source(self, value: SSAValue) -> "tuple[_Scope, SSAValue]":
        """Return what an argument of called functions is where they are called."""
        scope = self
        while value in scope.arguments and scope.caller is not None:
            scope, value = scope.caller.part(scope.at), scope.arguments[value]
        return scope, value


def _limits(element: "IntegerType[int, Signedness]") -> Interval:
    if element == i1:
        return UNIT
    if element.signedness.data == Signedness.UNSIGNED:
        return Interval(0, (1 << element.bitwidth) - 1)
    half = 1 << (element.bitwidth - 1)
    return Interval(-half, half - 1)


# ops


def _keeps_parts(op: Operation) -> bool:
    """Return True if a part of a result is made of the same part of each operand.

    Rules of `_PLACED` ask for the part that they need.
    """
    if not op.has_trait(Elementwise):
        return type(op) in _PLACED
    shape = shape_of(op.results[0])
    return all(shape_of(operand) in ((), shape) for operand in op.operands)


def _is_inexact(bound: float) -> bool:
    """Return True for a bound that rounding may have moved."""
    return isinstance(bound, float) and abs(bound) > _LARGEST_EXACT


def _integer_bounds(scope: _Scope, op: Operation) -> Interval:
    """Return the bounds of an op's integers, whose quotients are cut."""
    name = function_name(op)
    if name in ("divide", "remainder"):
        number, by = map(scope.bounds_of, op.operands)
        if by.low <= 0 <= by.high:
            return ANY
        if name == "remainder":
            most = max(abs(by.low), abs(by.high)) - 1
            low = 0 if number.low >= 0 else max(-most, number.low)
            return Interval(low, 0 if number.high <= 0 else min(most, number.high))
    elif name == "and":
        tops = [b.high for b in map(scope.bounds_of, op.operands) if b.low >= 0]
        return Interval(0, min(tops)) if tops else ANY
    elif name == "convert" and not isinstance(element_of(op.operands[0]), IntegerType):
        return ANY  # of NaN nobody knows
    bounds = bounds_of(op, scope.bounds_of)
    low, high = bounds
    return Interval(
        -math.inf if _is_inexact(low) else math.floor(low),
        math.inf if _is_inexact(high) else math.ceil(high),
    )


def _operand(scope: _Scope, op: Operation) -> Offset | None:
    """Return what the operand is, which the result is, too."""
    (value,) = op.operands
    return scope.of(value) if isinstance(element_of(value), IntegerType) else None


def _iota(scope: _Scope, op: stablehlo.IotaOp) -> Offset:
    return Offset(1, op.iota_dimension.value.data, Interval(0, 0))


def _constant(scope: _Scope, op: stablehlo.ConstantOp) -> Offset | None:
    dense, shape = op.value, shape_of(op.output)
    if not isinstance(dense, DenseIntOrFPElementsAttr):
        return None
    if not dense.is_splat() and prod(shape) > _MOST_NUMBERS:
        return None
    is_bool = element_of(op.output) == i1
    values = [
        int(bool(number) if is_bool else number)
        for number in (
            dense.get_values()[:1] if dense.is_splat() else dense.get_values()
        )
    ]
    if dense.is_splat():
        return _within(Interval(values[0], values[0]))
    import numpy as np  # few indices are lists of numbers

    numbers = np.array(values, dtype=object).reshape(shape)
    if scope.at is not None:
        numbers = numbers.take([scope.at.place], axis=scope.at.dim)
    first = numbers.flat[0]
    for dim, size in enumerate(numbers.shape):
        if size > 1:
            step = numbers.take([1], axis=dim).flat[0] - first
            places = np.arange(size).reshape(
                [-1 if at == dim else 1 for at in range(len(shape))]
            )
            if step and (numbers - places * step == first).all():
                return Offset(int(step), dim, Interval(first, first))
    return _within(Interval(numbers.min(), numbers.max()))


def _moved(
    dims: Callable[[Any, int], int | None],
) -> Callable[[_Scope, Operation], Offset | None]:
    """Return the rule of an op that moves dimensions, by where each goes."""

    def rule(scope: _Scope, op: Operation) -> Offset | None:
        shape, at = shape_of(op.operands[0]), None
        if scope.at is not None:
            for dim, size in enumerate(shape):
                if dims(op, dim) == scope.at.dim:
                    at = At(dim, scope.at.place if size > 1 else 0)
        offset = scope.part(at).of(op.operands[0])
        if offset.dim is None:
            return offset
        if shape[offset.dim] == 1:
            return _within(offset.rest)
        dim = dims(op, offset.dim)
        return None if dim is None else offset._replace(dim=dim)

    return rule


def _dim_of_reshape(op: stablehlo.ReshapeOp, dim: int) -> int | None:
    """Return the dimension of the result that is one of the operand."""
    before, after = shape_of(op.operand), shape_of(op.result)
    for other, size in enumerate(after):
        if size == before[dim] and prod(after[:other]) == prod(before[:dim]):
            return other
    return None


def _slice(scope: _Scope, op: stablehlo.SliceOp) -> Offset:
    starts, strides = op.start_indices.get_values(), op.strides.get_values()
    if (at := scope.at) is not None:
        at = At(at.dim, starts[at.dim] + at.place * strides[at.dim])
    offset = scope.part(at).of(op.operand)
    if offset.dim is None:
        return offset
    rest = offset.rest.shifted(offset.factor * starts[offset.dim])
    return Offset(offset.factor * strides[offset.dim], offset.dim, rest)


def _concatenate(scope: _Scope, op: stablehlo.ConcatenateOp) -> Offset | None:
    dim, at = op.dimension.value.data, scope.at
    if at is not None and at.dim == dim:
        place = at.place
        for value in op.inputs:
            size = shape_of(value)[dim]
            if place < size:
                return scope.part(At(dim, place)).of(value)
            place -= size
        return None
    return _either(
        [(scope, value) for value in op.inputs if prod(shape_of(value))], moved=dim
    )


def _either(
    sides: Sequence[tuple[_Scope, SSAValue]], moved: int | None = None
) -> Offset:
    """Return what elements are of which each is one of several values'.

    Args:
        sides: the values, and where they are read.
        moved: a dimension along which places are not those in the values.
    """
    offsets = [scope.of(value) for scope, value in sides]
    kinds = {offset[:2] for offset in offsets}
    if len(kinds) == 1 and (moved is None or offsets[0].dim != moved):
        return offsets[0]._replace(rest=hull([offset.rest for offset in offsets]))
    return _within(hull([scope.bounds_of(value) for scope, value in sides]))


def _clamp(scope: _Scope, op: stablehlo.ClampOp) -> Offset | None:
    bounds = Interval(scope.bounds_of(op.min).high, scope.bounds_of(op.max).low)
    if scope.bounds_of(op.operand).within(bounds):
        return scope.of(op.operand)
    return _within(_integer_bounds(scope, op))


def _extremum(scope: _Scope, op: stablehlo.MaxOp | stablehlo.MinOp) -> Offset | None:
    is_greatest = isinstance(op, stablehlo.MaxOp)
    for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        less, more = scope.bounds_of(other), scope.bounds_of(value)
        if not is_greatest:
            less, more = more, less
        if less.high <= more.low:
            return scope.of(value)
    return _within(_integer_bounds(scope, op))


def _remainder(scope: _Scope, op: stablehlo.RemOp) -> Offset | None:
    number = scope.bounds_of(op.lhs)
    if number.low >= 0 and number.high < scope.bounds_of(op.rhs).low:
        return scope.of(op.lhs)
    return _within(_integer_bounds(scope, op))


def _sum_or_difference(
    scope: _Scope, op: stablehlo.AddOp | stablehlo.SubtractOp
) -> Offset | None:
    left, right = scope.of(op.lhs), scope.of(op.rhs)
    if isinstance(op, stablehlo.SubtractOp):
        right = right.scaled(-1)
    return left.plus(right) or _within(_integer_bounds(scope, op))


def _product(scope: _Scope, op: stablehlo.MulOp) -> Offset | None:
    for value, by in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if (number := scope.bounds_of(by).point) is not None:
            return scope.of(value).scaled(int(number))
    return _within(_integer_bounds(scope, op))


def _select(scope: _Scope, op: stablehlo.SelectOp) -> Offset | None:
    truth = _truth(scope, op.pred)
    if truth is not None:
        return scope.of(op.on_true if truth else op.on_false)
    aligned = shape_of(op.pred) == shape_of(op.result)
    return _either(
        [
            (scope.where(_implied(scope, op.pred, holds) if aligned else {}), value)
            for value, holds in ((op.on_true, True), (op.on_false, False))
        ]
    )


def _call(scope: _Scope, op: CallOp) -> Offset | None:
    callee = SymbolTable.lookup_symbol(op, op.callee)
    if not isinstance(callee, FuncOp) or len(op.results) != 1:
        return None
    last = callee.body.block.last_op
    if last is None:
        return None
    arguments = dict[SSAValue, SSAValue](
        zip(callee.body.block.args, op.operands, strict=True)
    )
    inside = _Scope(scope.budget, scope.at, arguments, scope, depth=scope.depth)
    return inside.of(last.operands[0])


def _chosen(scope: _Scope, op: stablehlo.ReduceOp, index: int) -> Offset | None:
    """Return the bounds of a result of which a reduction picks an element, as argmax."""
    block = op.body.block
    last, count = block.last_op, len(op.results)
    if last is None:
        return None
    pending, own = (
        [last.operands[index]],
        (block.args[index], block.args[index + count]),
    )
    while pending:
        value = pending.pop()
        maker = value.owner
        if isinstance(maker, stablehlo.SelectOp):
            pending += (maker.on_true, maker.on_false)
        elif isinstance(maker, stablehlo.MinOp | stablehlo.MaxOp):
            pending += maker.operands
        elif value not in own:
            return None
    parts = (op.inputs[index], op.init_values[index])
    return _within(hull([scope.bounds_of(part) for part in parts]))


# predicates


def _compare(scope: _Scope, op: stablehlo.CompareOp) -> Offset:
    truth = _truth(scope, op.result)
    return _within(UNIT if truth is None else Interval(truth, truth))


_NEGATED = {
    ComparisonDirection.LT: ComparisonDirection.GE,
    ComparisonDirection.LE: ComparisonDirection.GT,
    ComparisonDirection.GT: ComparisonDirection.LE,
    ComparisonDirection.GE: ComparisonDirection.LT,
    ComparisonDirection.EQ: ComparisonDirection.NE,
    ComparisonDirection.NE: ComparisonDirection.EQ,
}


def _truth(scope: _Scope, value: SSAValue) -> bool | None:
    """Return what a predicate is everywhere, None if that is not known."""
    scope, value = scope.source(value)
    op = value.owner
    if isinstance(op, stablehlo.CompareOp):
        direction, lhs, rhs = op.comparison_direction.data, op.lhs, op.rhs
        if not isinstance(element_of(lhs), IntegerType):
            return None
        sides = scope.of(lhs), scope.of(rhs)
        shape = shape_of(lhs)
        gap = sides[0].plus(sides[1].scaled(-1))
        if gap is None:
            left, right = (side.bounds(shape) for side in sides)
            gap = _within(_sum(left, right.scaled(-1)))
        bounds = gap.bounds(shape)
        if bounds.within(_ACCEPTED[direction]) or (
            direction == ComparisonDirection.NE and (bounds.low > 0 or bounds.high < 0)
        ):
            return True
        opposite = _NEGATED[direction]
        if bounds.within(_ACCEPTED[opposite]) or (
            opposite == ComparisonDirection.NE and (bounds.low > 0 or bounds.high < 0)
        ):
            return False
        return None
    point = scope.bounds_of(value).point
    return None if point is None else bool(point)


_ACCEPTED = {
    ComparisonDirection.LT: Interval(high=-1),
    ComparisonDirection.LE: Interval(high=0),
    ComparisonDirection.GT: Interval(low=1),
    ComparisonDirection.GE: Interval(low=0),
    ComparisonDirection.EQ: Interval(0, 0),
    ComparisonDirection.NE: Interval(1, -1),
}
"""The differences of integers that compare so; of different ones there is no interval."""


def _implied(scope: _Scope, value: SSAValue, holds: bool) -> dict[SSAValue, Interval]:
    """Return bounds of values at the places where a predicate holds, or does not."""
    scope, value = scope.source(value)
    op = value.owner
    if isinstance(op, stablehlo.NotOp):
        return _implied(scope, op.operand, not holds)
    if isinstance(op, stablehlo.AndOp | stablehlo.OrOp):
        sides = [_implied(scope, operand, holds) for operand in op.operands]
        if holds == isinstance(op, stablehlo.AndOp):
            both = {**sides[0]}
            for key, interval in sides[1].items():
                both[key] = both.get(key, ANY).meet(interval)
            return both
        shared = sides[0].keys() & sides[1].keys()
        return {key: hull([side[key] for side in sides]) for key in shared}
    if not isinstance(op, stablehlo.CompareOp):
        return {}
    if not isinstance(element_of(op.lhs), IntegerType):
        return {}
    direction = op.comparison_direction.data
    if element_of(op.lhs) == i1 and direction in (
        ComparisonDirection.EQ,
        ComparisonDirection.NE,
    ):
        for side, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if (truth := _truth(scope, other)) is not None:
                same = direction == ComparisonDirection.EQ
                return _implied(scope, side, (truth == same) == holds)
        return {}
    number = scope.bounds_of(op.rhs).point
    if number is None:
        return {}
    accepted = _ACCEPTED[direction if holds else _NEGATED[direction]]
    if accepted.is_empty:
        return {}
    return {scope.source(op.lhs)[1]: accepted.shifted(number)}


_Rule = Callable[[_Scope, Any], Offset | None]

_RULES: Mapping[type[Operation], _Rule] = {
    CallOp: _call,
    sdy.PropagationBarrierOp: _operand,
    sdy.ReshardOp: _operand,
    sdy.ShardingConstraintOp: _operand,
    stablehlo.AddOp: _sum_or_difference,
    stablehlo.BroadcastInDimOp: _moved(
        lambda op, dim: op.broadcast_dimensions.get_values()[dim]
    ),
    stablehlo.ClampOp: _clamp,
    stablehlo.CompareOp: _compare,
    stablehlo.ConcatenateOp: _concatenate,
    stablehlo.ConstantOp: _constant,
    stablehlo.ConvertOp: _operand,
    stablehlo.IotaOp: _iota,
    stablehlo.MaxOp: _extremum,
    stablehlo.MinOp: _extremum,
    stablehlo.MulOp: _product,
    stablehlo.RemOp: _remainder,
    stablehlo.ReshapeOp: _moved(_dim_of_reshape),
    stablehlo.SelectOp: _select,
    stablehlo.SliceOp: _slice,
    stablehlo.SubtractOp: _sum_or_difference,
    stablehlo.TransposeOp: _moved(
        lambda op, dim: op.permutation.get_values().index(dim)
    ),
}

_PLACED = {
    CallOp,
    sdy.PropagationBarrierOp,
    sdy.ReshardOp,
    sdy.ShardingConstraintOp,
    stablehlo.BroadcastInDimOp,
    stablehlo.ConcatenateOp,
    stablehlo.ConstantOp,
    stablehlo.OptimizationBarrierOp,
    stablehlo.ReshapeOp,
    stablehlo.SliceOp,
    stablehlo.TransposeOp,
}
"""Ops that are not elementwise and of which a part is read."""
