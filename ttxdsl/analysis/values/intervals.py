"""The numbers that a value may hold, read off the op that makes it.

Bounds hold wherever the operands' bounds do; an op that nothing is known of gives any
number of its type. NaN is outside of all bounds and nothing is said about it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.traits import MovesData, SameBytes
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of


class Interval(NamedTuple):
    """The numbers from `low` to `high`."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def point(self) -> float | None:
        """The only number, if there is only one."""
        return self.low if self.low == self.high else None

    @property
    def is_empty(self) -> bool:
        """Whether no finite number is in it, as where a bound overflowed."""
        return not (
            self.low <= self.high and self.low < math.inf and self.high > -math.inf
        )

    def within(self, other: "Interval") -> bool:
        """Whether each number of this one is in the other."""
        return other.low <= self.low and self.high <= other.high

    def meet(self, other: "Interval") -> "Interval":
        """Return the numbers of both."""
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def shifted(self, by: float) -> "Interval":
        """Each number plus another one."""
        return Interval(self.low + by, self.high + by)

    def scaled(self, by: float) -> "Interval":
        """Each number times another one, which is not 0."""
        return Interval(*sorted((self.low * by, self.high * by)))


ANY = Interval()
NOT_NEGATIVE = Interval(0)
UNIT = Interval(0, 1)
SIGNED_UNIT = Interval(-1, 1)

Bounds = Sequence[Interval]

_MOST_NUMBERS = 1 << 12
"""Of a constant, that are looked at."""


def of_type(element: Attribute) -> Interval:
    """Return the numbers of an element type, as far as their sign goes."""
    if not isinstance(element, IntegerType):
        return ANY
    if element == i1:
        return UNIT
    is_unsigned = (
        cast("IntegerType[int, Signedness]", element).signedness.data
        == Signedness.UNSIGNED
    )
    return NOT_NEGATIVE if is_unsigned else ANY


def hull(parts: Bounds) -> Interval:
    """Return the least interval with all numbers of several."""
    return Interval(
        min((interval.low for interval in parts), default=-math.inf),
        max((interval.high for interval in parts), default=math.inf),
    )


def is_splat(op: Operation) -> bool:
    """Whether an op is a constant of one number, repeated or not."""
    if not isinstance(op, stablehlo.ConstantOp | sdy.ConstantOp):
        return False
    value = op.value
    return isinstance(value, DenseIntOrFPElementsAttr) and value.is_splat()


def is_least(value: SSAValue) -> bool:
    """Whether a value is minus infinity, repeated or not."""
    while isinstance(value.owner, stablehlo.BroadcastInDimOp | stablehlo.ReshapeOp):
        value = value.owner.operands[0]
    constant = value.owner
    if not isinstance(constant, stablehlo.ConstantOp):
        return False
    return _constant(constant.value).high == -math.inf


def _constant(value: Attribute) -> Interval:
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return ANY
    if not value.is_splat() and math.prod(value.get_shape()) > _MOST_NUMBERS:
        return ANY
    numbers = cast("Sequence[object]", value.get_values())
    if not numbers or not isinstance(numbers[0], int | float):
        return ANY  # complex ones
    plain = cast("Sequence[float]", numbers)
    if any(number != number for number in plain):
        return ANY
    return Interval(float(min(plain)), float(max(plain)))


def times(a: Interval, b: Interval) -> Interval:
    """Return the products of the numbers of two intervals."""
    ends = [
        0.0 if 0 in (x, y) else x * y for x in (a.low, a.high) for y in (b.low, b.high)
    ]
    return Interval(min(ends), max(ends))


def _quotient(a: Interval, b: Interval) -> Interval:
    if b.low > 0 or b.high < 0:
        ends = sorted((1 / b.low, 1 / b.high))
        return times(a, Interval(*ends))
    if b.low >= 0 and (a.low >= 0 or a.high <= 0):
        return NOT_NEGATIVE if a.low >= 0 else Interval(high=0)
    return ANY


def _power(base: Interval, exponent: Interval) -> Interval:
    if base.low >= 0 or (exponent.point is not None and exponent.point % 2 == 0):
        below_one = base.low >= 0 and base.high <= 1 and exponent.low >= 0
        return UNIT if below_one else NOT_NEGATIVE
    return ANY


def _magnitude(a: Interval) -> Interval:
    if a.low >= 0:
        return a
    high = max(abs(a.low), abs(a.high))
    return Interval(-a.high, high) if a.high <= 0 else Interval(0, high)


def _total(a: Interval) -> Interval:
    """Return the sums of numbers of an interval, of any number of them."""
    return Interval(0 if a.low >= 0 else -math.inf, 0 if a.high <= 0 else math.inf)


def exp(x: float) -> float:
    """Return the exponential; infinite where it is too large."""
    return math.exp(x) if x < 700 else math.inf


def log(x: float) -> float:
    """Return the logarithm; minus infinity where there is none."""
    return math.log(x) if x > 0 else -math.inf


def _remainder(a: Interval, b: Interval) -> Interval:
    high = max(abs(b.low), abs(b.high))
    return Interval(0 if a.low >= 0 else -high, 0 if a.high <= 0 else high)


_BINARY: Mapping[str, Callable[[Interval, Interval], Interval]] = {
    "add": lambda a, b: Interval(a.low + b.low, a.high + b.high),
    "subtract": lambda a, b: Interval(a.low - b.high, a.high - b.low),
    "multiply": times,
    "divide": _quotient,
    "remainder": _remainder,
    "power": _power,
    "maximum": lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high)),
    "minimum": lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high)),
}

_UNARY: Mapping[str, Callable[[Interval], Interval]] = {
    "negate": lambda a: Interval(-a.high, -a.low),
    "abs": _magnitude,
    "exponential": lambda a: Interval(exp(a.low), exp(a.high)),
    "log": lambda a: Interval(log(a.low), log(a.high)),
    "log_plus_one": lambda a: Interval(log(1 + a.low), log(1 + a.high)),
    "sqrt": lambda a: Interval(max(a.low, 0) ** 0.5, max(a.high, 0) ** 0.5),
    "rsqrt": lambda _: NOT_NEGATIVE,
    "logistic": lambda _: UNIT,
    "is_finite": lambda _: UNIT,
    "tanh": lambda a: SIGNED_UNIT.meet(_total(a)),
    "sign": lambda a: SIGNED_UNIT.meet(_total(a)),
    "sine": lambda _: SIGNED_UNIT,
    "cosine": lambda _: SIGNED_UNIT,
    "floor": lambda a: Interval(a.low - 1, a.high),
    "ceil": lambda a: Interval(a.low, a.high + 1),
    "convert": lambda a: a,
    "reduce_precision": lambda a: a,
    "square": lambda a: times(_magnitude(a), _magnitude(a)),
    "erf": lambda _: SIGNED_UNIT,
    "erfc": lambda _: Interval(0, 2),
}

_DATA_OPERANDS: Mapping[type[Operation], slice] = {
    stablehlo.GatherOp: slice(1),
    stablehlo.DynamicGatherOp: slice(1),
    stablehlo.TorchIndexSelectOp: slice(1),
    stablehlo.DynamicSliceOp: slice(1),
    stablehlo.DynamicUpdateSliceOp: slice(2),
    stablehlo.DynamicBroadcastInDimOp: slice(1),
    stablehlo.DynamicReshapeOp: slice(1),
    stablehlo.DynamicPadOp: slice(2),
    stablehlo.SelectOp: slice(1, 3),
}
"""The operands that results are elements of, where others say which elements."""


def function_name(op: Operation) -> str:
    """Return the function of a StableHLO or CHLO op, `sqrt` or `add`; else ""."""
    dialect, _, name = op.name.partition(".")
    if dialect == "chlo":
        return name.removeprefix("broadcast_")
    return name if dialect == "stablehlo" else ""


def moved_operands(op: Operation) -> Sequence[SSAValue]:
    """The operands whose elements an op of one result hands on; none of other ops."""
    kind = type(op)
    if len(op.results) != 1 or kind is stablehlo.BitcastConvertOp:
        return ()
    if kind in _DATA_OPERANDS:
        return op.operands[_DATA_OPERANDS[kind]]
    if op.has_trait(MovesData) and not op.regions:
        return op.operands
    is_same = op.has_trait(SameBytes) or isinstance(op, sdy.ShardingConstraintOp)
    if is_same or op.name.startswith("sdy."):
        return op.operands if len(op.operands) == 1 else ()
    return ()


def reduced_by(op: Operation) -> type[Operation] | None:
    """The op that a reduction, of one value, joins numbers with; None of other ops."""
    region = next(iter(op.regions), None)
    block = None if region is None else region.first_block
    reduces = isinstance(
        op,
        stablehlo.ReduceOp
        | stablehlo.ReduceWindowOp
        | stablehlo.AllReduceOp
        | stablehlo.ReduceScatterOp
        | stablehlo.ScatterOp,
    )
    if not reduces or block is None or len(op.results) != 1:
        return None
    joining = block.first_op
    if joining is None or joining.next_op is not block.last_op:
        return None
    return type(joining)


def bounds_of(op: Operation, known: Callable[[SSAValue], Interval]) -> Interval:
    """The bounds of an op's result; any number of its type where nothing is known.

    Args:
        op: of one result.
        known: the bounds of values before it.
    """
    result = op.results[0]
    by_type = of_type(element_of(result)) if is_tensor(result) else ANY
    return _bounds(op, known).meet(by_type)


def _bounds(op: Operation, known: Callable[[SSAValue], Interval]) -> Interval:
    if moved := moved_operands(op):
        parts = [known(value) for value in moved]
        if isinstance(op, stablehlo.CollectivePermuteOp):
            parts.append(Interval(0, 0))  # what nobody sends
        return hull(parts)
    operands = [known(value) for value in op.operands]
    match op:
        case stablehlo.ConstantOp() | sdy.ConstantOp():
            return _constant(op.value)
        case stablehlo.IotaOp():
            sizes = shape_of(op.results[0])
            return Interval(0, max(sizes[op.iota_dimension.value.data] - 1, 0))
        case stablehlo.MulOp() if (sign := _sign_of_square(op, known)) is not None:
            return times(*operands).meet(NOT_NEGATIVE.scaled(sign))
        case stablehlo.ClampOp():
            low, _, high = operands
            return Interval(low.low, high.high)
        case stablehlo.DotGeneralOp() if _is_sum_of_squares(op):
            return NOT_NEGATIVE
        case stablehlo.DotGeneralOp() | stablehlo.ConvolutionOp():
            return _total(times(*operands))
        case _:
            pass
    name = function_name(op)
    if name in _UNARY:
        return _UNARY[name](operands[0])
    if name in _BINARY:
        return _BINARY[name](*operands)
    return _reduced(op, operands)


def _sign_of_square(
    op: stablehlo.MulOp, known: Callable[[SSAValue], Interval]
) -> int | None:
    """The sign of a product with a square, `(0.1 * g) * g`; None of another product."""
    (left, sign), (right, other) = (_unscaled(value, known) for value in op.operands)
    return sign * other if left is right else None


def _unscaled(
    value: SSAValue, known: Callable[[SSAValue], Interval]
) -> tuple[SSAValue, int]:
    """Return a value without factors whose sign is known, and the sign of these."""
    sign = 1
    while isinstance(op := value.owner, Operation):
        name = function_name(op)
        if name == "negate":
            value, sign = op.operands[0], -sign
        elif name == "convert":
            value = op.operands[0]
        elif name in ("multiply", "divide"):
            left, right = op.operands
            if name == "multiply" and _has_sign(known(left)):
                left, right = right, left
            by = known(right)
            if not _has_sign(by):
                break
            value, sign = left, sign if by.low >= 0 else -sign
        else:
            break
    return value, sign


def _has_sign(bounds: Interval) -> bool:
    return bounds.low >= 0 or bounds.high <= 0


def _reduced(op: Operation, operands: Bounds) -> Interval:
    inputs = [operands[0], operands[-1]] if len(operands) > 1 else operands
    match reduced_by(op):
        case stablehlo.AddOp:
            return hull([_total(input) for input in inputs])
        case stablehlo.MaxOp:
            return Interval(operands[0].low, max(interval.high for interval in inputs))
        case stablehlo.MinOp:
            return Interval(min(interval.low for interval in inputs), operands[0].high)
        case _:
            return ANY


def _is_sum_of_squares(op: stablehlo.DotGeneralOp) -> bool:
    dims = op.dot_dimension_numbers.data
    contracted = dims.lhs_contracting_dimensions
    return (
        op.lhs is op.rhs
        and contracted == dims.rhs_contracting_dimensions
        and len(shape_of(op.lhs)) == len(contracted + dims.lhs_batching_dimensions)
    )
