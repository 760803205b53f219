"""StableHLO's and chlo's elementwise ops in ttir.

Most are one op under another name: a line of `_ONE_TO_ONE`. The others are a few ops
with the same value for every input.
"""

from functools import partial

from xdsl.dialects.builtin import IntegerType, Signedness, f32, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttxdsl.conversion.chlo_functions import (
    PREDICATES,
    REAL_FUNCTIONS,
    Function,
    in_f32,
    square,
)
from ttxdsl.conversion.stablehlo_to_ttir.builder import TTIRBuilder, is_unsigned
from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering, Rule
from ttxdsl.conversion.writing import Writer
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects._tt.tensors import bit_width
from ttxdsl.dialects.ttcore import on_host
from ttxdsl.ir.tensors import element_of, shape_of, tensor_type
from ttxdsl.ir.traversal import operands_of


def _named(name: str) -> Rule:
    """Return the op of that mnemonic on the same operands."""

    def lower(low: Lowering, op: Operation) -> SSAValue:
        element = tensor_type(op.results[0]).element_type
        return low.builder.elementwise(name, *low.all(operands_of(op)), element=element)

    return lower


def _logical(name: str) -> Rule:
    """`logical_*` on truth values, `bitwise_*` on integers."""

    def lower(low: Lowering, op: Operation) -> SSAValue:
        operands = low.all(op.operands)
        kind = "logical" if element_of(operands[0]) == i1 else "bitwise"
        return low.builder.elementwise(f"{kind}_{name}", *operands)

    return lower


def _compare(low: Lowering, op: stablehlo.CompareOp) -> SSAValue:
    lhs, rhs = low[op.lhs], low[op.rhs]
    direction = op.comparison_direction.data.value.lower()
    kind = op.compare_type
    if kind is not None and kind.data == stablehlo.ComparisonType.TOTALORDER:
        lhs, rhs = total_order(low, lhs), total_order(low, rhs)
    return low.builder.compare(direction, lhs, rhs)


def total_order(low: Lowering, value: SSAValue) -> SSAValue:
    """Integers that are ordered as IEEE's total order orders the floats."""
    build, bits = low.builder, bit_width(element_of(value))
    if bits is None:
        raise UnsupportedError(f"no total order of {element_of(value)}")
    signed = IntegerType(bits)
    as_int = build.elementwise("bitcast_convert", value, element=signed)
    flipped = build.with_number("bitwise_xor", as_int, (1 << (bits - 1)) - 1)
    negative = build.compare("lt", as_int, build.like(as_int, 0))
    return build.elementwise("where", negative, flipped, as_int)


def _select(low: Lowering, op: stablehlo.SelectOp) -> SSAValue:
    pred = low[op.pred]
    rank = len(shape_of(low[op.on_true]))
    if not shape_of(pred):
        pred = low.builder.reshape(pred, (1,) * rank)
    return low.builder.elementwise("where", pred, low[op.on_true], low[op.on_false])


def _clamp(low: Lowering, op: stablehlo.ClampOp) -> SSAValue:
    value = low[op.operand]
    rank = len(shape_of(value))
    bounds = [
        bound if shape_of(bound) else low.builder.reshape(bound, (1,) * rank)
        for bound in (low[op.min], low[op.max])
    ]
    element = element_of(value)
    return low.builder.elementwise("clamp_tensor", value, *bounds, element=element)


def _convert(low: Lowering, op: stablehlo.ConvertOp) -> SSAValue:
    return low.builder.typecast(low[op.operand], tensor_type(op.result).element_type)


def _bitcast_convert(low: Lowering, op: stablehlo.BitcastConvertOp) -> SSAValue:
    """Bits of equal width directly; others as integers, cut or joined by shifts.

    The last dimension of the wider side's parts starts with the lowest bits.
    """
    build, value = low.builder, low[op.operand]
    element = tensor_type(op.result).element_type
    old, new = bit_width(element_of(value)), bit_width(element)
    if old == new or old is None or new is None:
        return build.elementwise("bitcast_convert", value, element=element)
    wide = _bits_of(max(old, new))
    whole = _as_bits(build, value)
    if old > new:
        whole = build.reshape(whole, (*shape_of(whole), 1))
        parts = [
            _low_bits(build, build.with_number("logical_right_shift", whole, at), new)
            for at in range(0, old, new)
        ]
        joined = build.concat(parts, len(shape_of(whole)) - 1)
        return _from_bits(build, joined, element)
    last = len(shape_of(whole)) - 1
    total: SSAValue | None = None
    for number in range(new // old):
        part = build.slice_dim(whole, last, number, number + 1)
        part = build.typecast(build.reshape(part, shape_of(whole)[:-1]), wide)
        if number:
            part = build.with_number("logical_left_shift", part, number * old)
        total = part if total is None else build.elementwise("bitwise_or", total, part)
    assert total is not None
    return _from_bits(build, total, element)


def _bits_of(width: int) -> IntegerType:
    """Return the integer type of a width: i1 for one bit, otherwise unsigned."""
    return i1 if width == 1 else IntegerType(width, Signedness.UNSIGNED)


def _as_bits(build: TTIRBuilder, value: SSAValue) -> SSAValue:
    """Return the bits of a value as unsigned integers of its width."""
    element = element_of(value)
    wanted = _bits_of(bit_width(element) or 0)
    if element == wanted:
        return value
    return build.elementwise("bitcast_convert", value, element=wanted)


def _from_bits(build: TTIRBuilder, bits: SSAValue, element: Attribute) -> SSAValue:
    """Unsigned integers as the element type of that width."""
    if element_of(bits) == element:
        return bits
    return build.elementwise("bitcast_convert", bits, element=element)


def _low_bits(build: TTIRBuilder, bits: SSAValue, width: int) -> SSAValue:
    """Return the lowest bits of unsigned integers, as integers of that width."""
    kept = build.with_number("bitwise_and", bits, (1 << width) - 1)
    return build.typecast(kept, _bits_of(width))


def _shift_right_arithmetic(
    low: Lowering, op: stablehlo.ShiftRightArithmeticOp
) -> SSAValue:
    """A negative number is shifted as the complement of its complement's shift."""
    build, value, amount = low.builder, low[op.lhs], low[op.rhs]
    if is_unsigned(element_of(value)):
        # the sign bit of an unsigned number is its highest bit
        bits = bit_width(element_of(value)) or 0
        negative = build.compare("ge", value, build.like(value, 1 << (bits - 1)))
    else:
        negative = build.compare("lt", value, build.like(value, 0))
    complement = build.elementwise("bitwise_not", value)
    turned = build.elementwise("where", negative, complement, value)
    shifted = build.elementwise("logical_right_shift", turned, amount)
    back = build.elementwise("bitwise_not", shifted)
    return build.elementwise("where", negative, back, shifted)


def _round_afz(low: Lowering, op: stablehlo.RoundOp) -> SSAValue:
    """Nearest integer, ties away from zero."""
    size, down, up, rest = _between(low, low[op.operand])
    above = low.builder.compare("ge", rest, low.builder.like(rest, 0.5))
    rounded = low.builder.elementwise("where", above, up, down)
    return _with_sign(low, low[op.operand], size, rounded)


def _round_even(low: Lowering, op: stablehlo.RoundNearestEvenOp) -> SSAValue:
    """Nearest integer, ties to the even one."""
    build = low.builder
    size, down, up, rest = _between(low, low[op.operand])
    half = build.with_number("multiply", down, 0.5)
    even = build.compare("eq", build.elementwise("floor", half), half)
    tie = build.elementwise("where", even, down, up)
    above = build.compare("gt", rest, build.like(rest, 0.5))
    is_tie = build.compare("eq", rest, build.like(rest, 0.5))
    nearest = build.elementwise("where", above, up, down)
    rounded = build.elementwise("where", is_tie, tie, nearest)
    return _with_sign(low, low[op.operand], size, rounded)


def _between(low: Lowering, value: SSAValue) -> tuple[SSAValue, ...]:
    """The size of `value`, the integers below and above it, how far above the lower."""
    size = low.builder.elementwise("abs", value)
    down = low.builder.elementwise("floor", size)
    up = low.builder.with_number("add", down, 1.0)
    return size, down, up, low.builder.elementwise("subtract", size, down)


def _with_sign(
    low: Lowering, value: SSAValue, size: SSAValue, rounded: SSAValue
) -> SSAValue:
    """`rounded`, which is not negative, with the sign of `value`, that of a zero too."""
    build = low.builder
    negative = build.compare("lt", value, build.like(value, 0.0))
    opposite = build.elementwise("neg", rounded)
    signed = build.elementwise("where", negative, opposite, rounded)
    zero = build.compare("eq", size, build.like(size, 0.0))
    return build.elementwise("where", zero, value, signed)


def _population_count(low: Lowering, op: stablehlo.PopulationCountOp) -> SSAValue:
    """The bits added one by one: ttir has no popcnt."""
    build, value = low.builder, low[op.operand]
    total = build.with_number("bitwise_and", value, 1)
    for bit in range(1, bit_width(element_of(value)) or 0):
        moved = build.with_number("logical_right_shift", value, bit)
        ones = build.with_number("bitwise_and", moved, 1)
        total = build.elementwise("add", total, ones)
    return total


def _count_leading_zeros(low: Lowering, op: stablehlo.ClzOp) -> SSAValue:
    """Return the shifts that leave nothing, counted: bits minus the highest set bit."""
    build, value = low.builder, low[op.operand]
    element, bits = element_of(value), bit_width(element_of(value)) or 0
    total = build.like(value, 0)
    for bit in range(bits):
        rest = build.with_number("logical_right_shift", value, bit)
        gone = build.compare("eq", rest, build.like(rest, 0))
        total = build.elementwise("add", total, build.typecast(gone, element))
    return total


def _opened(function: Function) -> Rule:
    """Return the ops of StableHLO that a function of chlo's is, in ttir."""

    def lower(low: Lowering, op: Operation) -> SSAValue:
        given = low[op.operands[0]]
        block = Block(arg_types=[on_host(tensor_type(given))])
        value = function(Writer(block, op.location), block.args[0])
        inner = low.computation(block, [given])
        for step in block.ops:
            inner.lower_op(step)
        return inner[value]

    return lower


_ONE_TO_ONE: dict[str, str] = {
    "stablehlo.abs": "abs",
    "stablehlo.add": "add",
    "stablehlo.atan2": "atan2",
    "stablehlo.cbrt": "cbrt",
    "stablehlo.ceil": "ceil",
    "stablehlo.cosine": "cos",
    "stablehlo.divide": "div",
    "stablehlo.exponential": "exp",
    "stablehlo.exponential_minus_one": "expm1",
    "stablehlo.floor": "floor",
    "stablehlo.is_finite": "isfinite",
    "stablehlo.log": "log",
    "stablehlo.log_plus_one": "log1p",
    "stablehlo.logistic": "sigmoid",
    "stablehlo.maximum": "maximum",
    "stablehlo.minimum": "minimum",
    "stablehlo.multiply": "multiply",
    "stablehlo.negate": "neg",
    "stablehlo.power": "pow",
    "stablehlo.remainder": "remainder",
    "stablehlo.rsqrt": "rsqrt",
    "stablehlo.shift_left": "logical_left_shift",
    "stablehlo.shift_right_logical": "logical_right_shift",
    "stablehlo.sign": "sign",
    "stablehlo.sine": "sin",
    "stablehlo.sqrt": "sqrt",
    "stablehlo.subtract": "subtract",
    "stablehlo.tan": "tan",
    "stablehlo.tanh": "tanh",
    "chlo.acos": "acos",
    "chlo.asin": "asin",
    "chlo.asinh": "asinh",
    "chlo.atan": "atan",
    "chlo.erf": "erf",
    "chlo.erfc": "erfc",
    "chlo.tan": "tan",
}


def _reduce_precision(low: Lowering, op: stablehlo.ReducePrecisionOp) -> SSAValue:
    """Bits rounded to the nearest that remain; too large is infinite, too small zero."""
    build, given = low.builder, low[op.operand]
    element = element_of(given)
    if bit_width(element) != 64:
        value, mantissa, exponent, bits = build.typecast(given, f32), 23, 8, 32
    else:
        value, mantissa, exponent, bits = given, 52, 11, 64
    kept, range_bits = op.mantissa_bits.value.data, op.exponent_bits.value.data
    unsigned = IntegerType(bits, Signedness.UNSIGNED)
    pattern = build.elementwise("bitcast_convert", value, element=unsigned)
    ones = (1 << bits) - 1
    if kept < mantissa:
        dropped = mantissa - kept
        last = build.with_number("logical_right_shift", pattern, dropped)
        last = build.with_number("bitwise_and", last, 1)
        bias = build.with_number("add", last, (1 << (dropped - 1)) - 1)
        pattern = build.elementwise("add", pattern, bias)
        pattern = build.with_number("bitwise_and", pattern, ones - (1 << dropped) + 1)
    if range_bits < exponent:
        infinity = ((1 << exponent) - 1) << mantissa
        middle, reach = (1 << (exponent - 1)) - 1, (1 << (range_bits - 1)) - 1
        sign = build.with_number("bitwise_and", pattern, 1 << (bits - 1))
        size = build.with_number("bitwise_and", pattern, infinity)
        large = build.compare(
            "gt", size, build.like(size, (middle + reach) << mantissa)
        )
        small = build.compare(
            "le", size, build.like(size, (middle - reach) << mantissa)
        )
        endless = build.with_number("bitwise_or", sign, infinity)
        pattern = build.elementwise("where", large, endless, pattern)
        pattern = build.elementwise("where", small, sign, pattern)
    rounded = build.elementwise("bitcast_convert", pattern, element=element_of(value))
    is_nan = build.compare("ne", value, value)
    result = build.elementwise("where", is_nan, value, rounded)
    return build.typecast(result, element)


TABLE: dict[str, Rule] = {
    **{name: _named(mnemonic) for name, mnemonic in _ONE_TO_ONE.items()},
    "stablehlo.and": _logical("and"),
    "stablehlo.bitcast_convert": _bitcast_convert,
    "stablehlo.clamp": _clamp,
    "stablehlo.compare": _compare,
    "stablehlo.convert": _convert,
    "stablehlo.count_leading_zeros": _count_leading_zeros,
    "stablehlo.not": _logical("not"),
    "stablehlo.or": _logical("or"),
    "stablehlo.popcnt": _population_count,
    "stablehlo.round_nearest_afz": _round_afz,
    "stablehlo.round_nearest_even": _round_even,
    "stablehlo.select": _select,
    "stablehlo.shift_right_arithmetic": _shift_right_arithmetic,
    "stablehlo.xor": _logical("xor"),
    **{
        name: _opened(partial(in_f32, function))
        for name, function in REAL_FUNCTIONS.items()
    },
    **{name: _opened(function) for name, function in PREDICATES.items()},
    "chlo.square": _opened(square),
    "stablehlo.reduce_precision": _reduce_precision,
}
"""The rules of this family, by StableHLO or chlo name."""
