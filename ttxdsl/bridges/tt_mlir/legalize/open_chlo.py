"""`open-chlo`: chlo's functions in ops of StableHLO, for tt-mlir has no chlo.

Two of them it takes as custom calls of MHLO's, which keep what ttnn has. The others are
spelled out: identities where there are some, else approximations to the precision of
f32. bf16 and f16 are computed in f32; ttnn has nothing wider.

Sources: DLMF chapters 4 to 10; Cephes' rational approximations (erfc, i1e); Lanczos'
approximation of the gamma function (g = 7, nine terms).
"""

from collections.abc import Callable
from functools import partial
from math import inf, log, nan, pi, sqrt

from xdsl.context import Context
from xdsl.dialects.builtin import (
    BFloat16Type,
    BoolAttr,
    ComplexType,
    DictionaryAttr,
    Float16Type,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    TensorType,
    f32,
    i32,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ttxdsl.conversion.chlo_functions import (
    PREDICATES,
    REAL_FUNCTIONS,
    Function,
    in_f32,
    square,
)
from ttxdsl.conversion.writing import Writer, write_instead
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import all_ops
from ttxdsl.transforms.partition.emitter import int_attr

# --- identities ---------------------------------------------------------------


def _cathetus(w: Writer, x: SSAValue) -> SSAValue:
    """sqrt(1 - x²) without cancellation."""
    return w.sqrt(w.mul(w.from_number(1, x), w.plus(x, 1)))


def _asinh(w: Writer, x: SSAValue) -> SSAValue:
    size = w.abs(x)
    square = w.mul(size, size)
    root = w.plus(w.sqrt(w.plus(square, 1)), 1)
    near = w.log1p(w.add(size, w.div(square, root)))
    far = w.plus(w.log(size), log(2))
    value = w.select(w.test(size, "GE", 1e9), far, near)
    return w.mul(w.unary(stablehlo.SignOp, x), value)


def _conj(w: Writer, x: SSAValue) -> SSAValue:
    if not isinstance(element_of(x), ComplexType):
        return x
    real, imaginary = w.part(stablehlo.RealOp, x), w.part(stablehlo.ImagOp, x)
    return w.one(stablehlo.ComplexOp, [real, w.neg(imaginary)], x.type)


# --- approximations -----------------------------------------------------------

_ERFC_NEAR = (
    2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1,
    -5.824733027278666e-1, 6.210004621745983e-1, -4.944515323274145e-1,
    3.404879937665872e-1, -2.741127028184656e-1, 5.638259427386472e-1,
)  # fmt: skip
_ERFC_FAR = (
    -1.047766399936249e1, 1.297719955372516e1, -7.495518717768503e0,
    2.921019019210786e0, -1.015265279202700e0, 4.218463358204948e-1,
    -2.820767439740514e-1, 5.641895067754075e-1,
)  # fmt: skip
"""Of x exp(x²) erfc(x) in 1/x², for 1 < x < 2 and beyond."""


def _erf(w: Writer, x: SSAValue) -> SSAValue:
    call = w.emit(
        stablehlo.CustomCallOp,
        [x],
        [x.type],
        {"call_target_name": StringAttr("mhlo.erf")},
        {"mhlo.attributes": DictionaryAttr({}), "mhlo.version": IntegerAttr(1, i64)},
    )
    return call.results[0]


def _erfc(w: Writer, x: SSAValue) -> SSAValue:
    size = w.abs(x)
    outside = w.binary(stablehlo.MaxOp, size, w.full(1, x))
    inverse = w.div(w.full(1, x), outside)
    square = w.mul(inverse, inverse)
    series = w.select(
        w.test(size, "LT", 2),
        w.polynomial(square, _ERFC_NEAR),
        w.polynomial(square, _ERFC_FAR),
    )
    tail = w.mul(w.mul(w.exp(w.neg(w.mul(x, x))), inverse), series)
    far = w.select(w.test(x, "LT", 0), w.from_number(2, tail), tail)
    near = w.from_number(1, _erf(w, x))
    return w.select(w.test(size, "GT", 1), far, near)


_LANCZOS_G = 7.0
_LANCZOS_BASE = 0.99999999999980993227684700473478
_LANCZOS = (
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894, -176.61502916214059906584551354,
    12.507343278686904814458936853, -0.13857109526572011689554707,
    9.984369578019570859563e-6, 1.50563273514931155834e-7,
)  # fmt: skip


def _reflected(w: Writer, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue, SSAValue]:
    """Write the values that both gamma functions begin with.

    Returns:
        Whether x is reflected, z (x - 1, or -x if it is), z + g + 1/2 and its logarithm.
    """
    reflects = w.test(x, "LT", 0.5)
    z = w.select(reflects, w.neg(x), w.minus(x, 1))
    half = _LANCZOS_G + 0.5
    t_log = w.plus(w.log1p(w.div(z, half)), log(half))
    return reflects, z, w.plus(z, half), t_log


def _lgamma(w: Writer, x: SSAValue) -> SSAValue:
    reflects, z, t, t_log = _reflected(w, x)
    total = w.full(_LANCZOS_BASE, x)
    for i, coefficient in enumerate(_LANCZOS, 1):
        total = w.add(total, w.div(w.full(coefficient, x), w.plus(z, i)))
    scaled = w.subtract(w.plus(z, 0.5), w.div(t, t_log))
    y = w.plus(w.add(w.mul(scaled, t_log), w.log(total)), log(sqrt(2 * pi)))
    size = w.abs(x)
    part = w.subtract(size, w.unary(stablehlo.FloorOp, size))
    part = w.select(w.test(part, "GT", 0.5), w.from_number(1, part), part)
    sine = w.log(w.unary(stablehlo.SineOp, w.mul(part, pi)))
    finite = w.test(w.abs(sine), "LT", inf)
    mirrored = w.subtract(w.from_number(log(pi), sine), y)
    mirrored = w.select(finite, mirrored, w.neg(sine))
    value = w.select(reflects, mirrored, y)
    return w.select(w.test(size, "EQ", inf), w.full(inf, x), value)


def _digamma(w: Writer, x: SSAValue) -> SSAValue:
    reflects, z, t, t_log = _reflected(w, x)
    total, slope = w.full(_LANCZOS_BASE, x), w.full(0, x)
    for i, coefficient in enumerate(_LANCZOS, 1):
        below = w.plus(z, i)
        share = w.div(w.full(coefficient, x), below)
        total = w.add(total, share)
        slope = w.subtract(slope, w.div(share, below))
    y = w.subtract(w.add(t_log, w.div(slope, total)), w.div(w.full(_LANCZOS_G, x), t))
    whole = w.unary(stablehlo.FloorOp, w.plus(x, 0.5))
    angle = w.mul(w.add(x, w.abs(whole)), pi)
    cosine = w.unary(stablehlo.CosineOp, angle)
    sine = w.unary(stablehlo.SineOp, angle)
    mirrored = w.subtract(y, w.div(w.mul(cosine, pi), sine))
    value = w.select(reflects, mirrored, y)
    pole = w.both(w.test(x, "LE", 0), w.test(x, "EQ", w.unary(stablehlo.FloorOp, x)))
    return w.select(pole, w.full(nan, x), value)


_I1E_NEAR = (
    9.38153738649577178388e-9, -4.44505912879632808065e-8, 2.00329475355213526229e-7,
    -8.56872026469545474066e-7, 3.47025130813767847674e-6, -1.32731636560394358279e-5,
    4.78156510755005422638e-5, -1.61760815825896745588e-4, 5.12285956168575772895e-4,
    -1.51357245063125314899e-3, 4.15642294431288815669e-3, -1.05640848946261981558e-2,
    2.47264490306265168283e-2, -5.29459812080949914269e-2, 1.02643658689847095384e-1,
    -1.76416518357834055153e-1, 2.52587186443633654823e-1,
)  # fmt: skip
_I1E_FAR = (
    -3.83538038596423702205e-9, -2.63146884688951950684e-8, -2.51223623787020892529e-7,
    -3.88256480887769039346e-6, -1.10588938762623716291e-4, -9.76109749136146840777e-3,
    7.78576235018280120474e-1,
)  # fmt: skip
"""Chebyshev series of i1e(x) / x in x/2 - 2 for x <= 8, of sqrt(x) i1e(x) in 32/x - 2."""


def _chebyshev(w: Writer, x: SSAValue, coefficients: tuple[float, ...]) -> SSAValue:
    """Clenshaw's sum, the highest term first, of which Cephes halves the last."""
    b0, b1, b2 = w.full(0, x), w.full(0, x), w.full(0, x)
    for coefficient in coefficients:
        b0, b1, b2 = w.plus(w.subtract(w.mul(x, b0), b1), coefficient), b0, b1
    return w.mul(w.subtract(b0, b2), 0.5)


def _bessel_i1e(w: Writer, x: SSAValue) -> SSAValue:
    size = w.abs(x)
    near = w.mul(_chebyshev(w, w.minus(w.mul(size, 0.5), 2), _I1E_NEAR), size)
    far = w.binary(stablehlo.MaxOp, size, w.full(8, x))
    tail = _chebyshev(w, w.minus(w.div(w.full(32, x), far), 2), _I1E_FAR)
    value = w.select(w.test(size, "LE", 8), near, w.div(tail, w.sqrt(far)))
    return w.mul(w.unary(stablehlo.SignOp, x), value)


_BERNOULLI = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
)
"""B2 / 2!, B4 / 4!, ...."""
_TERMS = 9


def _power(w: Writer, x: SSAValue, y: SSAValue) -> SSAValue:
    return w.binary(stablehlo.PowOp, x, y)


def _zeta(w: Writer, x: SSAValue, q: SSAValue) -> SSAValue:
    """By Euler and Maclaurin, after nine terms (DLMF 25.11.5)."""
    down, at = w.neg(x), q
    total = _power(w, at, down)
    for _ in range(_TERMS):
        at = w.plus(at, 1)
        power = _power(w, at, down)
        total = w.add(total, power)
    power = _power(w, at, down)
    rest = w.minus(w.div(at, w.minus(x, 1)), 0.5)
    total = w.add(total, w.mul(power, rest))
    factor, step = w.div(w.mul(power, x), at), x
    square = w.mul(at, at)
    for i, number in enumerate(_BERNOULLI):
        total = w.add(total, w.mul(factor, number))
        if i + 1 < len(_BERNOULLI):
            step = w.plus(x, 2 * i + 1)
            factor = w.div(w.mul(w.mul(factor, step), w.plus(step, 1)), square)
    whole = w.test(q, "EQ", w.unary(stablehlo.FloorOp, q))
    below = w.test(q, "LE", 0)
    broken = w.test(x, "NE", w.unary(stablehlo.FloorOp, x))
    total = w.select(w.both(below, broken), w.full(nan, x), total)
    total = w.select(w.both(below, whole), w.full(inf, x), total)
    total = w.select(w.test(x, "LT", 1), w.full(nan, x), total)
    return w.select(w.test(x, "EQ", 1), w.full(inf, x), total)


def _polygamma(w: Writer, n: SSAValue, x: SSAValue) -> SSAValue:
    """(-1)^(n+1) n! zeta(n + 1, x), and digamma for n = 0."""
    after = w.plus(n, 1)
    half = w.mul(after, 0.5)
    even = w.test(half, "EQ", w.unary(stablehlo.FloorOp, half))
    size = w.mul(w.exp(_lgamma(w, after)), _zeta(w, after, x))
    value = w.select(even, size, w.neg(size))
    value = w.select(w.test(n, "EQ", 0), _digamma(w, x), value)
    whole = w.test(n, "EQ", w.unary(stablehlo.FloorOp, n))
    known = w.both(whole, w.test(n, "GE", 0))
    return w.select(known, value, w.full(nan, x))


def _next_after(w: Writer, x: SSAValue, y: SSAValue) -> SSAValue:
    """One bit further, of f32."""
    shape = list(shape_of(x))
    integers = TensorType(i32, shape)
    bits = w.one(stablehlo.BitcastConvertOp, [x], integers)
    away = w.both(
        w.test(w.abs(x), "LT", w.abs(y)),
        w.test(w.unary(stablehlo.SignOp, x), "EQ", w.unary(stablehlo.SignOp, y)),
    )
    step = w.select(away, w.full(1, bits), w.full(-1, bits))
    sign = w.select(w.test(y, "LT", 0), w.full(-(1 << 31) + 1, bits), w.full(1, bits))
    moved = w.select(w.test(x, "EQ", 0), sign, w.add(bits, step))
    value = w.one(stablehlo.BitcastConvertOp, [moved], x.type)
    value = w.select(w.test(x, "EQ", y), y, value)
    value = w.select(w.test(y, "NE", y), y, value)
    return w.select(w.test(x, "NE", x), x, value)


def mulhi(w: Writer, x: SSAValue, y: SSAValue) -> SSAValue:
    """Return the upper half of a product of 32-bit numbers, by halves of 16 bits."""
    given = x.type
    signed = element_of(x) == i32
    unsigned = TensorType(IntegerType(32, Signedness.UNSIGNED), list(shape_of(x)))
    fix: SSAValue | None = None
    if signed:
        zero = w.full(0, x)
        fix = w.add(
            w.select(w.test(x, "LT", 0), y, zero), w.select(w.test(y, "LT", 0), x, zero)
        )
        x, y = (w.one(stablehlo.BitcastConvertOp, [v], unsigned) for v in (x, y))
    low = w.full(0xFFFF, x)
    shift = w.full(16, x)

    def upper(value: SSAValue) -> SSAValue:
        return w.binary(stablehlo.ShiftRightLogicalOp, value, shift)

    x0, y0 = w.both(x, low), w.both(y, low)
    x1, y1 = upper(x), upper(y)
    first = w.add(w.mul(x1, y0), upper(w.mul(x0, y0)))
    second = w.add(w.mul(x0, y1), w.both(first, low))
    value = w.add(w.add(w.mul(x1, y1), upper(first)), upper(second))
    if fix is None:
        return value
    return w.subtract(w.one(stablehlo.BitcastConvertOp, [value], given), fix)


_ANY_NUMBER: dict[str, Function] = {
    "chlo.conj": _conj,
    "chlo.square": square,
    "chlo.tan": lambda w, x: w.unary(stablehlo.TanOp, x),
}
_REAL: dict[str, Function] = {
    **REAL_FUNCTIONS,
    "chlo.acos": lambda w, x: w.atan2(_cathetus(w, x), x),
    "chlo.asin": lambda w, x: w.mul(w.atan2(x, w.plus(_cathetus(w, x), 1)), 2),
    "chlo.atan": lambda w, x: w.atan2(x, w.full(1, x)),
    "chlo.asinh": _asinh, "chlo.bessel_i1e": _bessel_i1e, "chlo.digamma": _digamma,
    "chlo.erf": _erf, "chlo.erfc": _erfc, "chlo.lgamma": _lgamma,
}  # fmt: skip
_OF_32_BITS: dict[str, Callable[[Writer, SSAValue, SSAValue], SSAValue]] = {
    "chlo.mulhi": mulhi, "chlo.next_after": _next_after,
}  # fmt: skip


_OF_TWO: dict[str, Callable[[Writer, SSAValue, SSAValue], SSAValue]] = {
    "chlo.polygamma": _polygamma, "chlo.zeta": _zeta,
}  # fmt: skip


def _open_function(op: Operation) -> None:
    """Write one function of chlo as ops of StableHLO."""
    element = element_of(op.operands[0]) if op.operands else None
    if op.name in _ANY_NUMBER:
        function = _ANY_NUMBER[op.name]
    elif op.name in _REAL and not isinstance(element, ComplexType):
        function = partial(in_f32, _REAL[op.name])
    elif op.name in PREDICATES:
        function = PREDICATES[op.name]
    elif isinstance(op, chlo.TopKOp):
        write_instead(op, partial(_top_k, op))
        return
    elif op.name in _OF_32_BITS and element in (f32, i32, _UI32):
        both = _OF_32_BITS[op.name]
        write_instead(op, lambda w: [both(w, *op.operands)])
        return
    elif op.name in _OF_TWO:
        write_instead(op, partial(_both_in_f32, _OF_TWO[op.name], op))
        return
    else:
        raise UnsupportedError(
            f"tt-mlir has no chlo, and nothing says it of {element} in StableHLO",
            op,
        )
    write_instead(op, lambda w: [function(w, op.operands[0])])


_UI32 = IntegerType(32, Signedness.UNSIGNED)


def _both_in_f32(
    function: Callable[[Writer, SSAValue, SSAValue], SSAValue], op: Operation, w: Writer
) -> list[SSAValue]:
    element = element_of(op.results[0])
    if not isinstance(element, BFloat16Type | Float16Type):
        return [function(w, *op.operands)]
    return [w.convert(function(w, *(w.convert(x, f32) for x in op.operands)), element)]


def _top_k(op: chlo.TopKOp, w: Writer) -> list[SSAValue]:
    """Write a top_k as the head of a descending sort with positions."""
    value, shape = op.operand, shape_of(op.operand)
    dim, k = len(shape) - 1, op.k.value.data
    positions = w.iota(shape, dim)
    scalars = [TensorType(element_of(tensor), []) for tensor in (value, positions)]
    block = Block(arg_types=[scalars[0], scalars[0], scalars[1], scalars[1]])
    inner = Writer(block, op.location)
    greater = inner.test(block.args[0], "GT", block.args[1])
    block.add_op(stablehlo.ReturnOp.create(operands=[greater]))
    ordered = w.emit(
        stablehlo.SortOp,
        [value, positions],
        [value.type, positions.type],
        {"dimension": int_attr(dim), "is_stable": BoolAttr.from_bool(True)},
        regions=[Region(block)],
    )
    return [w.slice_dim(result, dim, 0, k) for result in ordered.results]


class OpenChloPass(ModulePass):
    """Write chlo's ops in ops of StableHLO."""

    name = "open-chlo"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for child in all_ops(op):
            if child.name.startswith("chlo."):
                _open_function(child)
