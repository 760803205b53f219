"""Bounds of operands that are enough for the bounds of a result.

The other way round than `ttxdsl.analysis.values.intervals`: a sum is not negative where both
summands are not, or where one is at least minus the least that the other can be. Enough,
not necessary: of several ways one is taken.
"""

import math
from collections.abc import Callable, Iterator, Mapping

from xdsl.ir import Operation, SSAValue

from ttxdsl.analysis.values.intervals import (
    ANY,
    NOT_NEGATIVE,
    SIGNED_UNIT,
    Interval,
    exp,
    function_name,
    log,
    moved_operands,
    reduced_by,
)
from ttxdsl.dialects import stablehlo

Known = Callable[[SSAValue], Interval]
Bound = tuple[SSAValue, Interval]


def _logit(x: float) -> float:
    return log(x) - log(1 - x) if 0 < x < 1 else math.copysign(math.inf, x - 0.5)


def _same(x: float) -> float:
    return x


_INVERSE: Mapping[str, Callable[[float], float]] = {
    "sqrt": lambda x: x * x if x > 0 else -math.inf,
    "exponential": log,
    "log": exp,
    "log_plus_one": lambda x: exp(x) - 1,
    "exponential_minus_one": lambda x: log(1 + x),
    "logistic": _logit,
    **dict.fromkeys(
        ("floor", "ceil", "round_nearest_afz", "round_nearest_even"), _same
    ),
    **dict.fromkeys(("convert", "reduce_precision", "maximum", "minimum"), _same),
}
"""Increasing functions: from a bound of the result to that of the operands."""


def operand_bounds(op: Operation, within: Interval, known: Known) -> Iterator[Bound]:
    """Return operands of an op and bounds that are enough for its result to be `within`.

    Args:
        op: of one result.
        within: the numbers that the result may be.
        known: the bounds that hold of a value anyway.
    """
    if within == ANY:
        return
    name, operands = function_name(op), op.operands
    if name in _INVERSE:
        inverse = _INVERSE[name]
        ends = Interval(
            inverse(within.low) if within.low > -math.inf else -math.inf,
            inverse(within.high) if within.high < math.inf else math.inf,
        )
        yield from ((value, ends) for value in operands)
    elif name in ("add", "subtract"):
        yield from _summands(op, within, known, is_minus=name == "subtract")
    elif name in ("multiply", "divide", "dot_general", "convolution"):
        yield from _factors(op, within, known, is_quotient=name == "divide")
    elif name == "negate":
        yield operands[0], Interval(-within.high, -within.low)
    elif name == "abs" and within.high >= 0:
        yield operands[0], Interval(-within.high, within.high)
    elif name == "clamp":
        yield operands[1], within
    elif name == "power":
        yield from _powers(op, within, known)
    elif (joining := reduced_by(op)) is not None:
        sign = _sign(within)
        kept = within if joining in (stablehlo.MaxOp, stablehlo.MinOp) else sign
        if joining in (stablehlo.AddOp, stablehlo.MaxOp, stablehlo.MinOp):
            # of a scatter: inputs and updates; of a reduction also where it begins
            ends = operands[:: len(operands) - 1] if len(operands) > 2 else operands
            yield from ((value, kept) for value in ends)


def _sign(within: Interval) -> Interval:
    """The numbers of one sign, if bounds ask for one: sums of any number stay there."""
    if within.low >= 0:
        return NOT_NEGATIVE
    return Interval(high=0) if within.high <= 0 else ANY


def _summands(
    op: Operation, within: Interval, known: Known, *, is_minus: bool
) -> Iterator[Bound]:
    a, b = op.operands
    first, second = known(a), known(b)
    if is_minus:
        second = Interval(-second.high, -second.low)

    def end(bound: float, other: float) -> float:
        """The bound of one summand where the other one's is known, or unknown."""
        if not math.isfinite(bound):
            return bound
        return bound - other if math.isfinite(other) else bound / 2

    for value, other, minus in ((a, second, False), (b, first, is_minus)):
        asked = Interval(end(within.low, other.low), end(within.high, other.high))
        if minus:
            asked = Interval(-asked.high, -asked.low)
        yield value, asked


def _factors(
    op: Operation, within: Interval, known: Known, *, is_quotient: bool
) -> Iterator[Bound]:
    a, b = op.operands
    name = function_name(op)
    near = name in ("multiply", "divide") or all(map(_is_argument, (a, b)))
    if a is b or not near:
        return
    for value, other in ((a, b), (b, a)):
        bounds = known(other)
        by = bounds.point
        if by is not None:
            if by and not (is_quotient and value is b):
                factor = by if is_quotient else 1 / by
                yield value, within.scaled(factor)
            elif is_quotient and value is b:
                yield value, _sign(within.scaled(by)) if by else ANY
            continue
        sign = _sign(within)
        if sign == ANY:
            most = min(-within.low, within.high)
            if most >= 1 and name == "multiply":
                yield value, SIGNED_UNIT
        elif bounds.high <= 0 and bounds.low < 0:
            yield value, sign.scaled(-1)
        elif bounds.low >= 0 or sign == NOT_NEGATIVE:
            yield value, sign


def _is_argument(value: SSAValue) -> bool:
    """Whether a value is an argument, of a function or a region, moved at most."""
    while isinstance(op := value.owner, Operation):
        moved = (
            op.operands if isinstance(op, stablehlo.ConvertOp) else moved_operands(op)
        )
        if not moved:
            return False
        value = moved[0]
    return True


def _powers(op: Operation, within: Interval, known: Known) -> Iterator[Bound]:
    base, exponent = op.operands
    number, by = known(base).point, known(exponent).point
    if number is not None and number > 0 and number != 1:
        slope = math.log(number)
        ends = sorted((log(within.low) / slope, log(within.high) / slope))
        yield exponent, Interval(*ends)
    elif by is not None:
        if by % 2 and _sign(within) == NOT_NEGATIVE:
            yield base, NOT_NEGATIVE
    elif within.high == 1:
        yield base, Interval(0, 1)
        yield exponent, NOT_NEGATIVE
