"""Special functions against identities that hold to the last digits."""

import math

import numpy as np
import pytest

from ttxdsl.interpreters.kernels import special

pytestmark = pytest.mark.usefixtures("no_warnings")


def scalar(function):
    return np.vectorize(function, otypes=[np.float64])


X = np.concatenate([np.linspace(-6, 6, 481), [1e-300, 25.0, -25.0, 26.0]])


@pytest.mark.parametrize(
    ("ours", "theirs", "x"),
    [
        (special.erf, math.erf, X),
        (special.erfc, math.erfc, X),
        (special.lgamma, math.lgamma, X[X > 0]),
        (special.lgamma, math.lgamma, X[X < 0] - 1e-3),
    ],
)
def test_against_pythons_own(ours, theirs, x):
    np.testing.assert_allclose(ours(x), scalar(theirs)(x), rtol=1e-12, atol=1e-14)


def test_erf_in_single_precision():
    x = np.linspace(-5, 5, 100001).astype(np.float32)
    wanted = scalar(math.erf)(x.astype(np.float64))
    np.testing.assert_allclose(special.erf(x), wanted, rtol=3e-7, atol=1e-38)
    assert np.isnan(special.erf(np.array([np.nan], np.float32)))[0]
    assert special.erf(np.array([np.inf, -np.inf], np.float32)).tolist() == [1, -1]


def test_inverse_of_the_error_function():
    x = np.concatenate([np.linspace(-0.999, 0.999, 999), 1 - 10.0 ** -np.arange(4, 15)])
    np.testing.assert_allclose(special.erf(special.erf_inv(x)), x, rtol=1e-14)
    edges = special.erf_inv(np.array([1.0, -1.0, 1.5, np.nan]))
    assert edges[:2].tolist() == [np.inf, -np.inf] and np.isnan(edges[2:]).all()


def test_digamma_by_its_recurrence():
    x = np.concatenate([np.linspace(0.1, 30, 300), np.linspace(-5.9, -0.1, 50) + 0.013])
    step = special.digamma(x + 1) - special.digamma(x)
    np.testing.assert_allclose(step, 1 / x, rtol=1e-11, atol=1e-13)
    assert special.digamma(np.array([1.0]))[0] == pytest.approx(
        -0.5772156649015329, rel=1e-14
    )


def test_zeta_and_polygamma_by_known_values():
    one = np.array([1.0])
    assert special.zeta(np.array([2.0]), one)[0] == pytest.approx(
        np.pi**2 / 6, rel=1e-15
    )
    assert special.zeta(np.array([4.0]), one)[0] == pytest.approx(
        np.pi**4 / 90, rel=1e-15
    )
    assert special.polygamma(one, one)[0] == pytest.approx(np.pi**2 / 6, rel=1e-14)
    x = np.linspace(0.5, 9, 40)
    step = special.polygamma(np.full_like(x, 2), x + 1) - special.polygamma(
        np.full_like(x, 2), x
    )
    np.testing.assert_allclose(step, 2 / x**3, rtol=1e-10)


def test_bessel_by_its_integral():
    t = (np.arange(2000) + 0.5) * np.pi / 2000
    for x in (0.1, 1.0, 10.0, 24.9, 25.1, 80.0):
        integral = np.mean(np.exp(x * (np.cos(t) - 1)) * np.cos(t))
        assert special.bessel_i1e(np.array([x]))[0] == pytest.approx(
            integral, rel=1e-12
        )
    assert special.bessel_i1e(np.array([-1.0]))[0] < 0


def test_complex_exponentials_near_zero():
    z = np.array([1e-12 + 1e-12j, 1e-9j, -1e-10])
    np.testing.assert_allclose(special.expm1(z), z + z * z / 2, rtol=1e-14)
    np.testing.assert_allclose(special.log1p(z), z - z * z / 2, rtol=1e-14)


def test_complex_parts_keep_infinities():
    z = special.make_complex(np.array([np.inf, 1.0]), np.array([1.0, np.inf]))
    assert z.real.tolist() == [np.inf, 1] and z.imag.tolist() == [1, np.inf]
