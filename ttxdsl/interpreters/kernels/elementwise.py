"""Elementwise ops and data movement in NumPy, on trailing dimensions.

Every kernel lets leading dimensions (mesh axes) broadcast; the rank of the tensor is
what says how many dimensions trail. So the same function runs the global program,
which has none, and the program of every device at once. Kernels never write into
their arguments and often answer with views of them.

Source: StableHLO specification, one section an op; where the specification leaves a
result open (integer division by zero, float to integer out of range) XLA's CPU
backend decides.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ttxdsl.interpreters.kernels import special
from ttxdsl.interpreters.kernels.elements import (
    BITS,
    BOOL,
    F32,
    DType,
    compute_dtype,
    integer_range,
    is_complex,
    is_float,
    is_integer,
    widen,
    widened,
)

Array = NDArray[Any]
Kernel = Callable[..., Array]
UnaryKernel = Callable[[Array], Array]


def lead_shape(*values: tuple[Array, int]) -> tuple[int, ...]:
    """Return the leading extents that arrays of the given tensor ranks broadcast to."""
    leads = (x.shape[: x.ndim - rank] for x, rank in values)
    return np.broadcast_shapes(*leads)


def unsigned_view(x: Array) -> Array:
    """Return the bits of `x` as unsigned integers of the same width."""
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


# unary


def _sign(x: Array) -> Array:
    if is_complex(x.dtype):
        size = np.abs(x)
        return np.where(size == 0, x, x / np.where(size == 0, 1, size))
    # np.sign turns -0.0 into 0.0
    return np.where((x == 0) | (x != x), x, np.sign(x)).astype(x.dtype)


def _round_away(x: Array) -> Array:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole).astype(
        x.dtype
    )


def _logistic(x: Array) -> Array:
    if is_complex(x.dtype):
        return np.reciprocal(1 + np.exp(-x))
    unit = x.dtype.type(1)
    return unit / (unit + np.exp(-x))


def _leading_zeros(x: Array) -> Array:
    bits = BITS[x.dtype]
    value = unsigned_view(x).astype(np.uint64)
    # set all bits below the highest set one: the zeros that are left lead
    for shift in (1, 2, 4, 8, 16, 32):
        value = value | (value >> np.uint64(shift))
    return (bits - np.bitwise_count(value).astype(np.int64)).astype(x.dtype)


def _narrow_bits(kernel: UnaryKernel) -> UnaryKernel:
    """For i2 and i4: work on the low bits of the byte that holds them."""

    def run(x: Array) -> Array:
        if BITS[x.dtype] >= 8:
            return kernel(x)
        mask = np.uint8((1 << BITS[x.dtype]) - 1)
        byte = widen(x).view(np.uint8) & mask
        result = kernel(byte)
        if kernel is _leading_zeros:
            result = result - np.uint8(8 - BITS[x.dtype])
        return result.astype(np.int8).astype(x.dtype)

    return run


def _cbrt(x: Array) -> Array:
    if is_complex(x.dtype):
        return np.power(x, 1 / 3).astype(x.dtype)
    return np.cbrt(x)


UNARY: Mapping[str, UnaryKernel] = {
    "abs": widened(np.abs),
    "cbrt": widened(_cbrt),
    "ceil": widened(np.ceil),
    "conj": np.conj,
    "cosine": widened(special.precise(np.cos)),
    "count_leading_zeros": _narrow_bits(_leading_zeros),
    "exponential": widened(special.precise(np.exp)),
    "exponential_minus_one": widened(special.precise(special.expm1)),
    "floor": widened(np.floor),
    "imag": lambda x: np.imag(x) if is_complex(x.dtype) else np.zeros_like(x),
    "is_finite": lambda x: np.isfinite(widen(x)),
    "log": widened(special.precise(np.log)),
    "log_plus_one": widened(special.precise(special.log1p)),
    "logistic": widened(special.precise(_logistic)),
    "negate": widened(np.negative),
    "not": widened(lambda x: np.logical_not(x) if x.dtype == BOOL else np.invert(x)),
    "popcnt": _narrow_bits(
        lambda x: np.bitwise_count(unsigned_view(x)).astype(x.dtype)
    ),
    "real": np.real,
    "round_nearest_afz": widened(_round_away),
    "round_nearest_even": widened(np.rint),
    "rsqrt": widened(special.precise(lambda x: np.reciprocal(np.sqrt(x)))),
    "sign": widened(_sign),
    "sine": widened(special.precise(np.sin)),
    "sqrt": widened(special.precise(np.sqrt)),
    "tan": widened(special.precise(np.tan)),
    "tanh": widened(special.precise(np.tanh)),
}
"""Kernels of one array, by StableHLO name."""


# binary


def _divide(x: Array, y: Array) -> Array:
    if not is_integer(x.dtype):
        return np.true_divide(x, y)
    zero = y == 0
    safe = np.where(zero, np.ones((), y.dtype), y)
    quotient = np.floor_divide(x, safe)
    if x.dtype.kind == "i":
        # towards zero, not downwards
        remainder = x - quotient * safe
        quotient = quotient + ((remainder != 0) & ((x < 0) != (safe < 0)))
        # the least value by -1 wraps around to itself
        quotient = np.where(safe == -1, np.negative(x), quotient)
    # XLA: all bits set
    return np.where(zero, np.array(-1).astype(x.dtype), quotient).astype(x.dtype)


def _remainder(x: Array, y: Array) -> Array:
    if not is_integer(x.dtype):
        return np.fmod(x, y)
    zero = y == 0
    ones = np.ones((), y.dtype)
    safe = np.where(zero | (y == -1) if y.dtype.kind == "i" else zero, ones, y)
    return np.where(zero, x, np.fmod(x, safe))


def _power(x: Array, y: Array) -> Array:
    if not is_integer(x.dtype):
        return special.power(x, y)
    if x.dtype.kind == "u":
        return np.power(x, y)
    result = np.power(x, np.maximum(y, 0))
    # a negative power of an integer is 0, but for 1 and -1
    odd = np.where((y & 1) == 1, x, np.ones((), x.dtype))
    below = np.where(x == 1, x, np.where(x == -1, odd, np.zeros((), x.dtype)))
    return np.where(y < 0, below, result)


def _shift(op: np.ufunc) -> Kernel:
    """Return a logical shift; amounts of all bits and more leave zeros."""

    def run(x: Array, y: Array) -> Array:
        if BITS[x.dtype] == 8 * x.dtype.itemsize:
            # NumPy shifts out all bits where StableHLO does, a negative amount being large
            return op(unsigned_view(x), unsigned_view(y)).view(x.dtype)
        mask = np.uint8((1 << BITS[x.dtype]) - 1)
        bits, amount = (widen(value).view(np.uint8) & mask for value in (x, y))
        return (op(bits, amount) & mask).astype(np.int8).astype(x.dtype)

    return run


def _arithmetic_shift(x: Array, y: Array) -> Array:
    """Fill with the top bit, also of unsigned values."""
    dtype, bits = x.dtype, BITS[x.dtype]
    spare = 8 * dtype.itemsize - bits
    # the top bit of a narrow integer at the top of the byte that holds it
    signed = np.dtype(f"i{dtype.itemsize}")
    value = widen(x).view(signed) << signed.type(spare)
    amount = widen(y).view(signed) & signed.type((1 << bits) - 1) if spare else y
    shifted = np.right_shift(value, amount.view(signed)) >> signed.type(spare)
    return (shifted if spare else shifted.view(dtype)).astype(dtype)


def _lexicographic(pick_first: Callable[[Array, Array], Array]) -> Kernel:
    """Return the complex number whose (real, imaginary) pair is the least or greatest."""

    def run(x: Array, y: Array) -> Array:
        return np.where(pick_first(x, y), x, y)

    return run


def has_negative_zero(x: Array) -> bool:
    """Whether there is one; narrow floats are to be wide ones."""
    if x.dtype.kind != "f":
        return False
    bits = np.dtype(f"i{x.dtype.itemsize}")
    # broadcast elements are checked once
    once = tuple(slice(None) if step else slice(1) for step in x.strides)
    return bool((x[once].view(bits) == np.iinfo(bits).min).any())


def _maximum(x: Array, y: Array) -> Array:
    if is_complex(x.dtype):
        return _lexicographic(lambda a, b: _complex_compare(a, b, "GE"))(x, y)
    maximum = np.maximum(x, y)
    if not maximum.all() and (has_negative_zero(x) or has_negative_zero(y)):
        # of two zeros NumPy takes one or the other; IEEE 754's maximum is their sum
        maximum = np.where((x == 0) & (y == 0), x + y, maximum)
    return maximum


def _minimum(x: Array, y: Array) -> Array:
    if is_complex(x.dtype):
        return _lexicographic(lambda a, b: _complex_compare(a, b, "LE"))(x, y)
    minimum = np.minimum(x, y)
    if not minimum.all() and (has_negative_zero(x) or has_negative_zero(y)):
        minimum = np.where((x == 0) & (y == 0), -(-x - y), minimum)
    return minimum


def _atan2(x: Array, y: Array) -> Array:
    if is_complex(x.dtype):
        # -i log((y + i x) / sqrt(x² + y²)), as XLA expands it
        turned = np.log((y + 1j * x) / np.sqrt(x * x + y * y))
        return (-1j * turned).astype(x.dtype)
    return np.arctan2(x, y)


BINARY: Mapping[str, Kernel] = {
    "add": widened(np.add),
    "and": widened(np.bitwise_and),
    "atan2": widened(_atan2),
    "complex": special.make_complex,
    "divide": widened(_divide),
    "maximum": widened(_maximum),
    "minimum": widened(_minimum),
    "multiply": widened(np.multiply),
    "or": widened(np.bitwise_or),
    "power": widened(_power),
    "remainder": widened(_remainder),
    "shift_left": _shift(np.left_shift),
    "shift_right_arithmetic": _arithmetic_shift,
    "shift_right_logical": _shift(np.right_shift),
    "subtract": widened(np.subtract),
    "xor": widened(np.bitwise_xor),
}
"""Kernels of two arrays, by StableHLO name."""


UFUNCS: Mapping[Kernel, np.ufunc] = {
    UNARY["abs"]: np.abs,
    UNARY["ceil"]: np.ceil,
    UNARY["cosine"]: np.cos,
    UNARY["exponential"]: np.exp,
    UNARY["floor"]: np.floor,
    UNARY["log"]: np.log,
    UNARY["negate"]: np.negative,
    UNARY["round_nearest_even"]: np.rint,
    UNARY["sine"]: np.sin,
    UNARY["sqrt"]: np.sqrt,
    UNARY["tan"]: np.tan,
    UNARY["tanh"]: np.tanh,
    BINARY["add"]: np.add,
    BINARY["divide"]: np.true_divide,
    BINARY["multiply"]: np.multiply,
    BINARY["power"]: np.power,
    BINARY["remainder"]: np.fmod,
    BINARY["subtract"]: np.subtract,
}
"""The ufunc that a kernel is on f32 and f64, for those that are one."""


# comparison and selection

_COMPARISONS: Mapping[str, Callable[[Array, Array], Array]] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "GE": np.greater_equal,
    "GT": np.greater,
    "LE": np.less_equal,
    "LT": np.less,
}


def total_order_key(x: Array) -> Array:
    """Signed integers that order as IEEE 754's totalOrder orders the floats `x`."""
    dtype = np.dtype(f"i{x.dtype.itemsize}")
    bits = x.view(dtype)
    low = dtype.type(np.iinfo(dtype).max)
    return bits ^ ((bits >> dtype.type(8 * dtype.itemsize - 1)) & low)


def top_k(
    x: Array, count: int, dtype: DType, axis: int = -1, *, largest: bool = True
) -> tuple[Array, Array]:
    """Return the largest along an axis, NaN first (or the least), and their places."""
    key = total_order_key(x) if is_float(x.dtype) else widen(x)
    # the complement turns the order around and keeps equals in theirs
    order = np.argsort(~key if largest else key, axis=axis, kind="stable")
    order = order.take(range(min(count, order.shape[axis])), axis=axis)
    return np.take_along_axis(x, order, axis), order.astype(dtype)


def _complex_compare(x: Array, y: Array, direction: str) -> Array:
    if direction in ("EQ", "NE"):
        return _COMPARISONS[direction](x, y)
    strict = _COMPARISONS[direction[0] + "T"]
    return strict(np.real(x), np.real(y)) | (
        (np.real(x) == np.real(y)) & _COMPARISONS[direction](np.imag(x), np.imag(y))
    )


def compare(x: Array, y: Array, direction: str, total_order: bool = False) -> Array:
    """Elementwise comparison: `direction` is EQ, NE, GE, GT, LE or LT."""
    if is_complex(x.dtype):
        return _complex_compare(x, y, direction)
    if total_order and is_float(x.dtype):
        x, y = total_order_key(x), total_order_key(y)
    return _COMPARISONS[direction](widen(x), widen(y))


def expand_scalar(x: Array, rank: int) -> Array:
    """Return a scalar tensor (leading dimensions only) with `rank` more of size 1."""
    return x.reshape(x.shape + (1,) * rank) if rank else x


def aligned(x: Array, rank: int, to: int, dims: tuple[int, ...] | None = None) -> Array:
    """Return a tensor of `rank` with dimensions of size 1 where it lacks some of `to`.

    Its own are `dims` of the result, or the last ones.
    """
    if rank == to:
        return x
    lead = x.ndim - rank
    local = [1] * to
    places = range(to - rank, to) if dims is None else dims
    for place, extent in zip(places, x.shape[lead:], strict=True):
        local[place] = extent
    return x.reshape((*x.shape[:lead], *local))


def select(pred: Array, on_true: Array, on_false: Array) -> Array:
    """Elementwise choice; ranks already agree (see `expand_scalar`)."""
    return np.where(pred, on_true, on_false)


@widened
def clamp(x: Array, low: Array, high: Array) -> Array:
    """`x` within [low, high]; ranks already agree (see `expand_scalar`)."""
    return _minimum(_maximum(x, low), high)


# conversion


def convert(x: Array, dtype: DType) -> Array:
    """Values of `x` in another element type.

    Floats to integers: towards zero, saturating, NaN to 0. To booleans: not zero.
    Complex to anything else: the real part.
    """
    if x.dtype == dtype:
        return x
    if is_complex(x.dtype) and not is_complex(dtype):
        x = np.real(x)
    if dtype == BOOL:
        return widen(x) != 0
    if is_float(x.dtype) and is_integer(dtype):
        x = widen(x)
        low, high = integer_range(dtype)
        whole = x.astype(np.float64) if x.dtype != np.float64 else x
        safe = np.where((whole > low) & (whole < high), whole, 0.0)
        bound = compute_dtype(dtype)
        result = safe.astype(np.int64 if bound.kind == "i" else np.uint64).astype(bound)
        result = np.where(whole >= high, np.array(high, bound), result)
        result = np.where(whole <= low, np.array(low, bound), result)
        return result.astype(dtype)
    if x.dtype == BOOL or is_integer(x.dtype):
        return widen(x).astype(compute_dtype(dtype)).astype(dtype)
    return x.astype(dtype)


def bitcast_convert(x: Array, dtype: DType) -> Array:
    """Return the bits of `x` as another type; a trailing dimension is added or removed."""
    if (
        x.dtype == BOOL
        or dtype == BOOL
        or min(BITS.get(x.dtype, 8), BITS.get(dtype, 8)) < 8
    ):
        return _bitcast_bits(x, dtype)
    old, new = x.dtype.itemsize, dtype.itemsize
    x = np.asarray(x, order="C")  # `ascontiguousarray` turns a scalar into a vector
    if old == new:
        return x.view(dtype)
    if old > new:
        return x[..., None].view(dtype)
    return x.view(dtype)[..., 0]


def _width(dtype: DType) -> int:
    return 1 if dtype == BOOL else BITS.get(dtype, 8 * dtype.itemsize)


def _bitcast_bits(x: Array, dtype: DType) -> Array:
    """Convert bits of elements that do not fill bytes, least significant first."""
    old, new = _width(x.dtype), _width(dtype)
    narrow = x.dtype in BITS and old < 8
    raw = (widen(x) if narrow else x).view(np.dtype(f"u{x.dtype.itemsize}"))
    raw = raw.astype(np.uint64) & np.uint64((1 << old) - 1)
    if old > new:
        steps = np.arange(0, old, new, dtype=np.uint64)
        raw = raw[..., None] >> steps & np.uint64((1 << new) - 1)
    elif old < new:
        steps = np.arange(0, new, old, dtype=np.uint64)
        raw = np.bitwise_or.reduce(raw << steps, axis=-1)
    if dtype == BOOL:
        return raw != 0
    if new < 8:
        return raw.astype(np.uint8).astype(dtype)
    return raw.astype(np.dtype(f"u{dtype.itemsize}")).view(dtype)


def reduce_precision(x: Array, exponent_bits: int, mantissa_bits: int) -> Array:
    """`x` rounded as if stored with so many exponent and mantissa bits."""
    if x.dtype.itemsize < 2:
        return reduce_precision(x.astype(F32), exponent_bits, mantissa_bits).astype(
            x.dtype
        )
    uint = np.dtype(f"u{x.dtype.itemsize}")
    info = cast(Any, ml_dtypes.finfo(x.dtype))
    mantissa, exponent = int(info.nmant), int(info.nexp)
    bits = x.view(uint)
    if mantissa_bits < mantissa:
        # to nearest, ties to even: add just under a half, and the last kept bit
        dropped = mantissa - mantissa_bits
        last = (bits >> uint.type(dropped)) & uint.type(1)
        bias = uint.type((1 << (dropped - 1)) - 1) + last
        bits = (bits + bias) & ~uint.type((1 << dropped) - 1)
    if exponent_bits < exponent:
        sign = bits & uint.type(1 << (mantissa + exponent))
        infinity = uint.type(((1 << exponent) - 1) << mantissa)
        bias = (1 << (exponent - 1)) - 1
        reduced_bias = (1 << (exponent_bits - 1)) - 1
        largest = uint.type((bias + reduced_bias) << mantissa)
        smallest = uint.type((bias - reduced_bias) << mantissa)
        field = bits & infinity
        bits = np.where(field > largest, sign | infinity, bits)
        bits = np.where(field <= smallest, sign, bits)
    reduced = bits.astype(uint).view(x.dtype)
    if mantissa_bits == 0:
        # nothing is left to tell NaN from infinity
        return np.where(x != x, np.copysign(np.inf, x).astype(x.dtype), reduced)
    return np.where(x != x, x, reduced)


# data movement


def iota(shape: Sequence[int], dim: int, dtype: DType) -> Array:
    """0, 1, 2, … along `dim`: a view that repeats along the others."""
    line = convert(np.arange(shape[dim]), dtype)
    line = line.reshape([-1 if at == dim else 1 for at in range(len(shape))])
    return np.broadcast_to(line, shape)


def broadcast_in_dim(x: Array, shape: Sequence[int], dims: Sequence[int]) -> Array:
    """Dimension i of `x` becomes dimension `dims[i]` of `shape` (a view)."""
    return broadcasting(x.shape[x.ndim - len(dims) :], shape, dims)(x)


def broadcasting(
    before: Sequence[int], shape: Sequence[int], dims: Sequence[int]
) -> UnaryKernel:
    """Return the function that broadcasts tensors of shape `before` to `shape`."""
    order = sorted(range(len(dims)), key=dims.__getitem__)
    turned = order != [*range(len(dims))]
    local = [1] * len(shape)
    for extent, dim in zip(before, dims, strict=True):
        local[dim] = extent
    stretched = local != [*shape]

    def run(x: Array) -> Array:
        if turned:
            x = transpose(x, order)
        lead = x.shape[: x.ndim - len(order)]
        x = x.reshape((*lead, *local))
        return np.broadcast_to(x, (*lead, *shape)) if stretched else x

    return run


def transpose(x: Array, permutation: Sequence[int]) -> Array:
    """Dimension i of the result is dimension `permutation[i]` of `x` (a view)."""
    lead = x.ndim - len(permutation)
    return x.transpose([*range(lead), *(lead + p for p in permutation)])


def reshape(x: Array, rank: int, shape: Sequence[int]) -> Array:
    """Return the elements in row-major order in another shape."""
    return x.reshape((*x.shape[: x.ndim - rank], *shape))


def slice_(
    x: Array, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]
) -> Array:
    """Every `strides`-th element from `start` up to `limit` (a view)."""
    cuts = (slice(*cut) for cut in zip(start, limit, strides, strict=True))
    return x[(..., *cuts)] if start else x


def reverse(x: Array, rank: int, dims: Sequence[int]) -> Array:
    """`x` back to front along `dims` (a view)."""
    return np.flip(x, tuple(x.ndim - rank + dim for dim in dims)) if dims else x


def concatenated(rank: int, dim: int, *arrays: Array) -> Array:
    """Return arrays of `rank` one after the other along `dim`."""
    if len(arrays) == 1:
        return arrays[0]
    leads = {x.shape[: x.ndim - rank] for x in arrays}
    if len(leads) > 1:
        lead = np.broadcast_shapes(*leads)
        arrays = tuple(
            np.broadcast_to(x, lead + x.shape[x.ndim - rank :]) for x in arrays
        )
    return np.concatenate(arrays, axis=arrays[0].ndim - rank + dim)


def pad(
    x: Array,
    value: Array,
    low: Sequence[int],
    high: Sequence[int],
    interior: Sequence[int],
) -> Array:
    """`x` with `value` before, after and between its elements; negative edges cut."""
    rank = len(low)
    lead = lead_shape((x, rank), (value, 0))
    local = x.shape[x.ndim - rank :]
    spread = [max(0, n + (n - 1) * gap) for n, gap in zip(local, interior, strict=True)]
    shape = [
        before + size + after
        for before, size, after in zip(low, spread, high, strict=True)
    ]
    if min(shape, default=0) < 0:
        raise ValueError(f"padding leaves a negative size: {shape}")
    result = np.empty((*lead, *shape), x.dtype)
    result[...] = expand_scalar(value, rank)
    into: list[slice] = []
    out_of: list[slice] = []
    for n, before, gap, size in zip(local, low, interior, shape, strict=True):
        step = gap + 1
        # the elements of x that the result has
        first = max(0, -(before // step)) if before < 0 else 0
        last = min(n, (size - 1 - before) // step + 1) if size else 0
        count = max(0, last - first)
        at = before + first * step
        into.append(slice(at, at + (count - 1) * step + 1 if count else at, step))
        out_of.append(slice(first, first + count))
    if rank:
        result[(..., *into)] = x[(..., *out_of)]
    else:
        result[...] = x
    return result
