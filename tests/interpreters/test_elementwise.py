"""Elementwise ops of every element type against JAX on the CPU, edge values included."""

from functools import partial

import jax
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from tests.catalogue.elementwise import OPS
from tests.interpreters.reference import each_same_as_jax, same_as_jax, same_as_xla

BF16 = np.dtype(ml_dtypes.bfloat16)
F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)
FLOATS = [np.dtype(np.float16), BF16, F32, F64]
SMALL_FLOATS = [
    np.dtype(getattr(ml_dtypes, f"float8_{name}"))
    for name in (
        "e4m3fn",
        "e5m2",
        "e4m3b11fnuz",
        "e4m3fnuz",
        "e5m2fnuz",
        "e4m3",
        "e3m4",
    )
]
COMPLEX = [np.dtype(np.complex64), np.dtype(np.complex128)]
SIGNED = [np.dtype(f"i{n}") for n in (1, 2, 4, 8)]
UNSIGNED = [np.dtype(f"u{n}") for n in (1, 2, 4, 8)]
INTEGERS = SIGNED + UNSIGNED
BOOL = np.dtype(bool)


pytestmark = pytest.mark.usefixtures("no_warnings")


def values(dtype, seed=0):
    """Edge values and random ones."""
    rng = np.random.default_rng(seed)
    if dtype == BOOL:
        return np.array([False, True, True, False])
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        edges = [low, low + 1, high, high - 1, 0, 1, 2, 3, 7]
        edges += [] if low == 0 else [-1, -2, -7]
        extra = rng.integers(low, high, 32, dtype=dtype, endpoint=True)
        return np.concatenate([np.array(edges, dtype), extra])
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        real = rng.standard_normal(24) * 3
        imag = rng.standard_normal(24) * 3
        found = (real + 1j * imag).astype(dtype)
        edges = np.array([0, 1, -1, 1j, -1j, 0.5 + 2j, -2.5 - 0.5j], dtype)
        assert part.kind == "f"
        return np.concatenate([edges, found])
    edges = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.25, 100, -100]
    edges += [np.inf, -np.inf, np.nan]
    wide = np.concatenate([edges, rng.standard_normal(24) * 4, rng.random(16)])
    return wide.astype(np.float32).astype(dtype)


def pairs(dtype):
    """Every edge value with every other."""
    one = values(dtype)
    left, right = np.meshgrid(one, one[: min(len(one), 20)])
    return left.ravel(), right.ravel()


def eps_of(dtype):
    return float(ml_dtypes.finfo(dtype).eps)


def of_catalogue(arity, kind):
    """The ops of this arity and kind of elements that JAX has, by name."""
    taken = [op for op in OPS if op.arity == arity and kind in op.kinds and op.lax]
    return {op.name: (op, getattr(lax, op.lax)) for op in taken}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_unary_float(dtype):
    x = values(dtype)
    same_as_jax(lambda x: lax.integer_pow(x, 5), x)
    same_as_jax(lax.bessel_i0e, x, rtol=1280 * eps_of(dtype), atol=320 * eps_of(dtype))
    catalogue = of_catalogue(1, "f").values()
    for units in {op.units for op, _ in catalogue}:
        rtol = units * eps_of(dtype)
        calls = {
            op.name: (function, x) for op, function in catalogue if op.units == units
        }
        each_same_as_jax(calls, rtol=rtol, atol=rtol / 4)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("arity", [1, 2])
def test_gradients(arity, dtype):
    """What JAX writes for each op's gradient, far from its edges."""
    x = np.linspace(0.1, 0.9, 17).astype(dtype)
    arguments = (x, x[::-1].copy())[:arity]
    calls = {}
    for name, (op, function) in of_catalogue(arity, "f").items():
        if op.result or name == "chlo.next_after":
            continue  # they have none
        inputs = [one + 1 if name == "chlo.acosh" else one for one in arguments]
        which = tuple(range(arity))
        calls[name] = (jax.grad(lambda *x, f=function: f(*x).sum(), which), *inputs)
    rtol = 1280 * eps_of(dtype)
    each_same_as_jax(calls, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    "method", [lax.RoundingMethod.AWAY_FROM_ZERO, lax.RoundingMethod.TO_NEAREST_EVEN]
)
def test_round(method, dtype):
    x = np.concatenate([values(dtype), np.array([0.49999997, 8388609], dtype)])
    same_as_jax(lambda x: lax.round(x, method), x, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_unary_complex(dtype):
    eps = float(np.finfo(dtype).eps)
    calls = {}
    for name, (_, function) in of_catalogue(1, "c").items():
        x = values(dtype)
        if function in (lax.atan, lax.atanh, lax.log):
            # at their poles the two differ in the sign of NaN-free infinities only
            x = x[(x != 1j) & (x != -1j) & (x != 1) & (x != -1) & (x != 0)]
        if function in (lax.rsqrt,):
            x = x[x != 0]
        calls[name] = function, x
    each_same_as_jax(calls, rtol=40 * eps, atol=20 * eps)


@pytest.mark.parametrize("arity", [1, 2])
@pytest.mark.parametrize("dtype", [*INTEGERS, BOOL], ids=str)
def test_integers_and_booleans(dtype, arity):
    kind = {"i": "s", "u": "u", "b": "b"}[dtype.kind]
    inputs = pairs(dtype) if arity == 2 else (values(dtype),)
    calls = of_catalogue(arity, kind)
    each_same_as_jax({name: (f, *inputs) for name, (_, f) in calls.items()})


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_binary_float(dtype):
    left, right = pairs(dtype)
    functions = of_catalogue(2, "f").items()
    calls = {name: (function, left, right) for name, (_, function) in functions}
    # XLA's remainder is fmod only as far as the quotient is exact
    keep = ~(np.abs(left.astype(np.float64)) / np.abs(right.astype(np.float64)) > 64)
    calls["stablehlo.remainder"] = lax.rem, left[keep], right[keep]
    each_same_as_jax(calls)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_binary_complex(dtype):
    left, right = pairs(dtype)
    finite = right != 0
    eps = float(np.finfo(dtype).eps)
    functions = of_catalogue(2, "c").items()
    calls = {name: (f, left[finite], right[finite]) for name, (_, f) in functions}
    each_same_as_jax(calls, rtol=400 * eps, atol=40 * eps)


TEXT = {np.dtype(f"i{n}"): f"i{8 * n}" for n in (1, 2, 4, 8)}
TEXT |= {np.dtype(f"u{n}"): f"ui{8 * n}" for n in (1, 2, 4, 8)}
TEXT |= {BOOL: "i1", F32: "f32", F64: "f64", BF16: "bf16", np.dtype(np.float16): "f16"}


def binary_text(name, dtype, size):
    kind = f"tensor<{size}x{TEXT[dtype]}>"
    return f"""(%a: {kind}, %b: {kind}) -> {kind} {{
      %r = stablehlo.{name} %a, %b : {kind}
      return %r : {kind}
    }}"""


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_power_integer(dtype):
    left, right = pairs(dtype)
    # XLA looks at the last five bits of the exponent only: its powers beyond are wrong
    small = (right < 32) & (right.astype(np.float64) > -32)
    left, right = left[small], right[small]
    # without fusions it has (-1)**-3 as 0
    flags = {"xla_cpu_use_fusion_emitters": True}
    text = binary_text("power", dtype, left.size)
    same_as_xla(text, left, right, flags=flags)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
def test_binary_boolean(name):
    left, right = pairs(BOOL)
    same_as_xla(binary_text(name, BOOL, left.size), left, right)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, *COMPLEX[:1], BOOL], ids=str)
def test_compare(dtype):
    functions = {"eq": lax.eq, "ne": lax.ne}
    if dtype.kind != "c":
        functions |= {"ge": lax.ge, "gt": lax.gt, "le": lax.le, "lt": lax.lt}
    if dtype in FLOATS:
        # the total order of floats
        names = ("eq_to", "lt_to", "le_to")
        functions |= {name: getattr(lax, f"{name}_p").bind for name in names}
    each_same_as_jax({name: (f, *pairs(dtype)) for name, f in functions.items()})


def converted_to(target):
    return lambda x: lax.convert_element_type(x, target)


@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS, BOOL], ids=str)
def test_convert(source):
    x = values(source)
    calls = {
        str(target): (converted_to(target), x)
        for target in (*FLOATS, *INTEGERS, BOOL, COMPLEX[0])
    }
    if source == F64:
        x = x.astype(np.float32).astype(np.float64)
    calls |= {str(target): (converted_to(target), x) for target in SMALL_FLOATS}
    each_same_as_jax(calls, rtol=0, atol=0)


@pytest.mark.parametrize("source", SMALL_FLOATS, ids=str)
def test_convert_small_floats(source):
    x = np.arange(256, dtype=np.uint8).view(source)
    calls = {str(target): (converted_to(target), x) for target in (BF16, F32)}
    each_same_as_jax(calls, rtol=0, atol=0)


@pytest.mark.parametrize("source", [F32, F64], ids=str)
def test_convert_saturates_at_the_exact_bounds(source):
    calls = {}
    for target in INTEGERS:
        info = np.iinfo(target)
        edges = np.array([info.min, info.max], np.float64)
        x = np.concatenate([edges * (1 + k * 2.0**-20) for k in (-1, 0, 1)])
        calls[str(target)] = converted_to(target), x.astype(source)
    each_same_as_jax(calls)


@pytest.mark.parametrize("name", ["int4", "uint4"])
def test_four_bits(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    x = np.arange(16).astype(np.int8).astype(dtype)
    y = x[::-1].copy()
    same_as_jax(lambda x: x.astype(np.int32), x)
    for function in (lax.add, lax.sub, lax.mul, lax.max, lax.bitwise_and):
        same_as_jax(lambda x, y, f=function: f(x, y).astype(np.int32), x, y)


@pytest.mark.parametrize(
    ("source", "target"),
    [(F32, np.int32), (np.uint32, F32), (F64, np.uint64), (BF16, np.int16),
     (np.int32, np.int8), (F32, np.uint16), (F64, np.int32), (np.int8, np.int8)],
    ids=str,
)  # fmt: skip
def test_bitcast_convert(source, target):
    x = values(np.dtype(source))[:16]
    found = same_as_jax(lambda x: lax.bitcast_convert_type(x, target), x)
    back = same_as_jax(lambda x: lax.bitcast_convert_type(x, source), found[0])
    assert back[0].tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_reduce_precision(dtype):
    x = np.concatenate([values(dtype), np.array([1e-3, 65519, 65520, 1e-6], dtype)])
    info = ml_dtypes.finfo(dtype)
    calls = {
        str(bits): (partial(lax.reduce_precision, **bits), x)
        for exponent, mantissa in ((5, 10), (8, 7), (4, 3), (8, 23), (2, 1))
        if mantissa <= info.nmant and exponent < info.bits - info.nmant
        for bits in [{"exponent_bits": exponent, "mantissa_bits": mantissa}]
    }
    each_same_as_jax(calls, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [F32, BF16, np.dtype(np.int32)], ids=str)
def test_clamp_and_select(dtype):
    x = values(dtype)
    low, high = np.array(-2, dtype), np.array(2, dtype)
    same_as_jax(lax.clamp, low, x, high)
    same_as_jax(lax.clamp, np.full_like(x, -1), x, np.full_like(x, 3))
    same_as_jax(lambda p, x: lax.select(p, x, -x), x > 0, x)
    same_as_jax(lambda p, x: lax.select(p, x, -x), np.array(True), x)


def test_select_of_several():
    which = np.array([0, 1, 2, 1], np.int32)
    cases = [np.arange(4.0) + 10 * k for k in range(3)]
    same_as_jax(lambda w, *c: lax.select_n(w, *c), which, *cases)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_complex_parts(dtype):
    x, y = pairs(dtype)
    found = same_as_jax(lax.complex, x, y)
    same_as_jax(lax.real, found[0])
    same_as_jax(lax.imag, found[0])


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_zeta_and_polygamma(dtype):
    x = np.array([1.5, 2, 3, 4.5, 10], dtype)
    q = np.array([0.5, 1, 2.5, 7, 30], dtype)
    x, q = (a.ravel() for a in np.meshgrid(x, q))
    rtol = 200 * float(np.finfo(dtype).eps)
    same_as_jax(lax.zeta, x, q, rtol=rtol)
    n = np.floor(x)
    same_as_jax(lax.polygamma, n, q, rtol=5 * rtol)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2)], ids=str)
def test_odd_shapes(shape):
    x = np.ones(shape, np.float32)
    same_as_jax(lambda x: lax.exp(x) + lax.neg(x), x)


@pytest.mark.parametrize("name", ["int2", "int4", "uint2", "uint4"])
@pytest.mark.parametrize(
    "shift",
    [lax.shift_left, lax.shift_right_logical, lax.shift_right_arithmetic],
    ids=lambda shift: shift.__name__,
)
def test_shifts_of_narrow_integers(shift, name):
    """Every value by every amount; the top bit of unsigned ones fills, too."""
    count = 1 << int(name[-1])
    low = 0 if name[0] == "u" else -count // 2
    numbers = np.arange(low, low + count, dtype=np.int8)
    numbers = numbers.astype(getattr(ml_dtypes, name))
    same_as_jax(shift, *(x.reshape(-1) for x in np.meshgrid(numbers, numbers)))
