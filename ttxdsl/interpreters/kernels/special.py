"""Special functions that NumPy has not, vectorised.

Each is computed in f64 from a series or expansion that converges on the whole range
it is used for, so that it is right for f64 and far more than right for narrower
types. Where speed matters (`erf` in f32, which exact GELU uses) a polynomial that is
interpolated once from the f64 function answers.

Sources: DLMF chapters 5 (gamma), 7 (error function), 10 (Bessel), 25 (zeta).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

Array = NDArray[Any]

_BLOCK = 1 << 15
"""Elements that are worked on at a time, so that temporaries stay in the cache."""

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""B2, B4, …, B16."""


def in_f64(kernel: Callable[..., Array]) -> Callable[..., Array]:
    """Return a kernel that computes in f64, block by block, for its argument's type.

    It raises ValueError of complex numbers, whose imaginary parts f64 would lose.
    """

    def run(*arrays: Array) -> Array:
        dtype = arrays[0].dtype
        if any(np.iscomplexobj(array) for array in arrays):
            raise ValueError("it is known of real numbers only")
        full = np.broadcast_arrays(*arrays)
        shape = full[0].shape
        flat = [array.reshape(-1) for array in full]
        result = np.empty(flat[0].size, dtype)
        for start in range(0, result.size, _BLOCK):
            cut = slice(start, start + _BLOCK)
            block = kernel(*(array[cut].astype(np.float64) for array in flat))
            result[cut] = block.astype(dtype)
        return result.reshape(shape)

    return run


def precise(kernel: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a kernel that computes complex64 in complex128: NumPy's is coarse."""

    def run(x: Array) -> Array:
        if x.dtype == np.complex64:
            return kernel(x.astype(np.complex128)).astype(np.complex64)
        return kernel(x)

    return run


def make_complex(real: Array, imag: Array) -> Array:
    """Complex numbers of given parts, of any value (`a + 1j * b` spoils infinities)."""
    parts = np.stack(np.broadcast_arrays(real, imag), axis=-1)
    dtype = np.dtype(f"c{2 * parts.dtype.itemsize}")
    return np.asarray(parts.view(dtype)[..., 0])


def expm1(x: Array) -> Array:
    """exp(x) - 1 without cancellation."""
    if x.dtype.kind != "c":
        return np.expm1(x)
    # e^a cos b - 1 = (e^a - 1) cos b - 2 sin²(b/2)
    a, b = np.real(x), np.imag(x)
    real = np.expm1(a) * np.cos(b) - 2 * np.sin(b / 2) ** 2
    return make_complex(real, np.exp(a) * np.sin(b))


def log1p(x: Array) -> Array:
    """log(1 + x) without cancellation."""
    if x.dtype.kind != "c":
        return np.log1p(x)
    a, b = np.real(x), np.imag(x)
    # |1 + x|² - 1 = a (2 + a) + b², but for values so large that squares overflow
    size = np.maximum(np.abs(a), np.abs(b))
    small = np.log1p(a * (2 + a) + b * b) / 2
    large = np.log(np.abs(1 + x))
    return make_complex(np.where(size < 1, small, large), np.arctan2(b, 1 + a))


def power(x: Array, y: Array) -> Array:
    """Return x to the power of y; of complex zero, the limit."""
    if x.dtype.kind != "c":
        return np.power(x, y)
    # NumPy's complex64 power loses half of its digits
    result = np.power(x.astype(np.complex128), y.astype(np.complex128)).astype(x.dtype)
    # of zero: 0 for a real exponent above 0, and like XLA no number for a complex one
    zero = (x == 0) & (y != 0)
    real = (np.imag(y) == 0) & (np.real(y) > 0)
    nothing = np.array(complex(np.nan, np.nan), x.dtype)
    return np.where(zero, np.where(real, np.zeros((), x.dtype), nothing), result)


def sinh(x: Array) -> Array:
    """NumPy's f32 form is a few units off."""
    return np.sinh(x.astype(np.result_type(x, np.float64))).astype(x.dtype)


def cosh(x: Array) -> Array:
    """NumPy's f32 form is a few units off."""
    return np.cosh(x.astype(np.result_type(x, np.float64))).astype(x.dtype)


def _erf_series(x: Array) -> Array:
    """For |x| < 3: a series of positive terms (DLMF 7.6.2)."""
    square = 2 * x * x
    term = np.ones_like(x)
    total = np.ones_like(x)
    for n in range(1, 80):
        term = term * square / (2 * n + 1)
        total = total + term
    return 2 / np.sqrt(np.pi) * x * np.exp(-x * x) * total


def _erfc_fraction(x: Array, terms: int = 100) -> Array:
    """For x > 2 (or 1, with 300 terms): a continued fraction (DLMF 7.9.4)."""
    tail = np.zeros_like(x)
    for k in range(terms, 0, -1):
        tail = (k / 2) / (x + tail)
    return np.exp(-x * x) / np.sqrt(np.pi) / (x + tail)


def _erf_f64(x: Array) -> Array:
    size = np.minimum(np.abs(x), 30.0)
    small = _erf_series(np.minimum(size, 1.0))
    large = 1 - _erfc_fraction(np.maximum(size, 1.0), 300)
    return np.where(x != x, x, np.copysign(np.where(size < 1, small, large), x))


def _erfc_f64(x: Array) -> Array:
    size = np.minimum(np.abs(x), 30.0)
    small = 1 - _erf_series(np.minimum(size, 0.5))
    middle = 1 - _erf_series(np.clip(size, 0.5, 2.0))
    large = _erfc_fraction(np.maximum(size, 2.0))
    upper = np.where(size < 0.5, small, np.where(size < 2, middle, large))
    return np.where(x != x, x, np.where(x < 0, 2 - upper, upper))


@cache
def _erf_polynomial() -> Array:
    """erf(x) / x on |x| <= 4 as powers of x²/8 - 1, to f32's precision."""
    points = np.cos((np.arange(40) + 0.5) * np.pi / 40)
    square = (points + 1) * 8
    x = np.sqrt(square)
    values = _erf_f64(x) / x
    return chebyshev.cheb2poly(chebyshev.chebfit(points, values, 20))


def _erf_f32(x: Array) -> Array:
    """Blockwise Horner scheme in f32's own precision where that suffices."""
    coefficients = _erf_polynomial()
    flat = x.reshape(-1)
    result = np.empty(flat.shape, flat.dtype)
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        near = np.clip(block, -4, 4).astype(np.float64)
        t = near * near / 8 - 1
        total = np.full_like(t, coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            total *= t
            total += coefficient
        result[start : start + _BLOCK] = np.where(np.isnan(block), block, total * near)
    return result.reshape(x.shape)


_erf_wide = in_f64(_erf_f64)


def erf(x: Array) -> Array:
    """Return the error function."""
    return _erf_f32(x) if x.dtype == np.float32 else _erf_wide(x)


erfc = in_f64(_erfc_f64)


def _erf_inv_f64(x: Array) -> Array:
    inside = np.abs(x) < 1
    size = np.where(inside, np.abs(x), 0.5)
    rest = 1 - size
    # Winitzki's closed form is good to three digits; each Halley step triples that
    log = np.log1p(-size * size)
    a = 0.147
    head = 2 / (np.pi * a) + log / 2
    guess = np.sqrt(np.maximum(np.sqrt(head * head - log / a) - head, 0))
    for _ in range(3):
        error = np.where(guess < 0.5, size - _erf_f64(guess), _erfc_f64(guess) - rest)
        step = error * np.sqrt(np.pi) / 2 * np.exp(guess * guess)
        guess = guess + step / (1 - guess * step)
    edge = np.where(np.abs(x) == 1, np.inf, np.nan)
    return np.copysign(np.where(inside, guess, edge), x)


erf_inv = in_f64(_erf_inv_f64)


def _log_gamma_upper(x: Array) -> Array:
    """For x > 0: Stirling's series (DLMF 5.11.1) after stepping up to 10."""
    small = x < 10
    product = np.ones_like(x)
    y = np.where(small, x, 1.0)
    for step in range(10):
        product = product * (y + step)
    z = np.where(small, x + 10, x)
    total = (z - 0.5) * np.log(z) - z + 0.5 * np.log(2 * np.pi)
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + bernoulli / (2 * k * (2 * k - 1)) / z ** (2 * k - 1)
    return total - np.where(small, np.log(product), 0)


def _abs_sin_pi(x: Array) -> Array:
    """|sin(pi x)|, exactly 0 at the integers."""
    part = np.fmod(np.abs(x), 1)
    return np.sin(np.pi * np.minimum(part, 1 - part))


def _lgamma_f64(x: Array) -> Array:
    finite = np.isfinite(x)
    y = np.where(finite, x, 1.0)
    below = y < 0.5
    upper = _log_gamma_upper(np.where(below, 1 - y, y))
    sine = _abs_sin_pi(y)
    # DLMF 5.5.3; a pole where the sine vanishes
    result = np.where(
        below, np.log(np.pi / np.where(sine == 0, 1, sine)) - upper, upper
    )
    result = np.where(below & (sine == 0), np.inf, result)
    return np.where(finite, result, np.where(np.isnan(x), x, np.inf))


lgamma = in_f64(_lgamma_f64)


def _digamma_f64(x: Array) -> Array:
    pole = (x <= 0) & (x == np.floor(x))
    below = (x < 0.5) & ~pole
    y = np.where(pole, 1.0, np.where(below, 1 - x, x))
    shift = np.zeros_like(y)
    z = y
    for _ in range(10):
        small = z < 10
        shift = shift + np.where(small, 1 / np.where(small, z, 1.0), 0)
        z = np.where(small, z + 1, z)
    total = np.log(z) - 0.5 / z
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total = total - bernoulli / (2 * k) / z ** (2 * k)
    total = total - shift
    # DLMF 5.5.4
    fraction = x - np.round(x)
    tangent = np.tan(np.pi * np.where(below, fraction, 0.25))
    result = np.where(below, total - np.pi / tangent, total)
    return np.where(pole, np.nan, result)


digamma = in_f64(_digamma_f64)


def _zeta_f64(s: Array, q: Array) -> Array:
    """Euler-Maclaurin summation (DLMF 25.11.5 and following)."""
    terms = 12
    base = np.where(q > 0, q, 1.0)
    total = np.zeros_like(base)
    for k in range(terms):
        total = total + (base + k) ** -s
    end = base + terms
    power_ = end**-s
    total = total + power_ * end / (s - 1) + power_ / 2
    factor = s
    scale = power_ / end
    divisor = 2.0
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + bernoulli / divisor * factor * scale
        factor = factor * (s + 2 * k - 1) * (s + 2 * k)
        divisor *= (2 * k + 1) * (2 * k + 2)
        scale = scale / (end * end)
    whole = q == np.floor(q)
    total = np.where(q > 0, total, np.where(whole, np.inf, _zeta_below(s, q)))
    return np.where(s > 1, total, np.where(s == 1, np.inf, np.nan))


def _zeta_below(s: Array, q: Array) -> Array:
    """For q < 0, not an integer: defined where s is one, by stepping up."""
    steps = np.minimum(np.ceil(-q), 64.0)
    lowered = np.where((q < 0) & (s == np.floor(s)) & (q > -64), q, np.nan)
    total = np.zeros_like(lowered)
    highest = int(np.nanmax(np.where(np.isnan(lowered), 0, steps), initial=0))
    for k in range(highest):
        total = total + np.where(k < steps, (lowered + k) ** -s, 0)
    if highest == 0:
        return lowered
    start = lowered + steps
    return total + _zeta_f64(s, np.where(start > 0, start, np.nan))


zeta = in_f64(_zeta_f64)


def _polygamma_f64(n: Array, x: Array) -> Array:
    order = np.where(n == np.floor(n), n, np.nan)
    sign = np.where(np.fmod(order, 2) == 1, 1.0, -1.0)
    positive = np.where(order > 0, order, 1.0)
    value = sign * np.exp(_lgamma_f64(positive + 1)) * _zeta_f64(positive + 1, x)
    value = np.where(order == 0, _digamma_f64(x), value)
    return np.where(order >= 0, value, np.nan)


polygamma = in_f64(_polygamma_f64)


def _bessel_i1e_f64(x: Array) -> Array:
    size = np.abs(x)
    near = np.minimum(size, 25.0)
    term = near / 2
    total = term
    for k in range(1, 90):
        term = term * (near / 2) ** 2 / (k * (k + 1))
        total = total + term
    total = total * np.exp(-near)
    # DLMF 10.40.1
    far = np.maximum(size, 25.0)
    factor = np.ones_like(far)
    tail = np.ones_like(far)
    for k in range(1, 25):
        factor = -factor * (4 - (2 * k - 1) ** 2) / (k * 8 * far)
        tail = tail + factor
    large = tail / np.sqrt(2 * np.pi * far)
    return np.copysign(np.where(size < 25, total, large), x)


bessel_i1e = in_f64(_bessel_i1e_f64)
