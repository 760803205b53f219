"""Tolerances, special values and figures of a comparison."""

import ml_dtypes
import numpy as np
import pytest

from ttxdsl.interpreters.compare import Verdict, compare, correlation, tolerance

BF16 = np.dtype(ml_dtypes.bfloat16)


def test_equal():
    x = np.array([1, np.nan, np.inf, -np.inf, 0.0], np.float32)
    result = compare(x, np.array([1, np.nan, np.inf, -np.inf, -0.0], np.float32))
    assert result.equal and result.max_abs == 0
    assert result.special == (1, 2, 5, 1)
    ones = np.ones(5, np.float32)
    assert str(compare(ones, ones)).startswith("equal")


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1, 2, np.nan], Verdict.PASS),
        ([1, np.nan], Verdict.PASS),
        ([1, np.inf, np.nan], Verdict.NOTHING),
        ([-np.inf], Verdict.NOTHING),
        ([1, -np.inf, -np.inf], Verdict.PASS),
        ([1, np.inf, np.inf], Verdict.NOTHING),
        ([1, np.inf, -np.inf], Verdict.NOTHING),
        ([np.inf, np.inf], Verdict.NOTHING),
        ([], Verdict.PASS),
    ],
)
def test_what_is_mostly_no_number_on_both_sides_is_not_compared(
    values: list[float], verdict: Verdict
):
    x = np.array(values, np.float32)
    result = compare(x, x.copy())
    assert result.equal and result.verdict is verdict
    assert result.ok == (verdict is Verdict.PASS)
    assert str(result).startswith("nothing compared") == (verdict is Verdict.NOTHING)


def test_what_is_no_number_on_one_side_differs():
    x = np.full(3, np.nan, np.float32)
    result = compare(x, np.array([np.nan, np.nan, 1], np.float32))
    assert result.verdict is Verdict.FAIL and not result.ok
    assert "3 NaN of 3 elements" in str(result)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (np.nan, 1),
        (1, np.nan),
        (np.inf, -np.inf),
        (np.inf, 1e38),
        (1e38, np.inf),
        (1, 1.001),
    ],
)
def test_differing(found, expected):
    a, b = np.ones((2, 3), np.float32), np.ones((2, 3), np.float32)
    a[1, 2], b[1, 2] = found, expected
    result = compare(a, b)
    assert not result.ok
    assert result.worst == (1, 2) and result.differing == 1
    assert "at [1, 2]" in str(result)


def test_the_worst_element_is_named():
    a = np.array([1, 2, 3], np.float32)
    assert compare(a, np.array([1.01, 2.5, 3.01], np.float32)).worst == (1,)


def test_rounding_is_allowed_for_and_more_is_not():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((64, 512)), rng.standard_normal((512, 64))
    exact = (x @ y).astype(np.float32)
    rounded = x.astype(np.float32) @ y.astype(np.float32)
    assert compare(rounded, exact, reduction_length=512).ok
    lacking = x[:, 1:].astype(np.float32) @ y[1:].astype(np.float32)
    assert not compare(lacking, exact, reduction_length=512).ok


def test_tolerance_follows_the_type():
    assert tolerance(BF16) > 1000 * tolerance(np.dtype(np.float32))
    assert tolerance(np.dtype(np.int32)) == 0
    assert tolerance(np.dtype(np.float32), 10000) > tolerance(np.dtype(np.float32))
    a = np.ones(3, np.float32).astype(BF16)
    assert compare(a, np.array([1, 1.0078125, 1], np.float32).astype(BF16)).ok


def test_integers_are_exact():
    a = np.array([2**63 - 1, 5], np.int64)
    assert not compare(a, np.array([2**63 - 2, 5], np.int64)).ok
    assert compare(a, a.copy()).ok
    assert not compare(np.array([True]), np.array([False])).ok


def test_cancelled_sums_are_measured_against_their_fellows():
    expected = np.array([1e3, 1e-6], np.float32)
    found = np.array([1e3, 3e-6], np.float32)
    assert compare(found, expected, reduction_length=100).ok
    assert not compare(found, expected, atol=0).ok


def test_large_values_do_not_overflow():
    x = np.array([1e308, -1e308, 1.0])
    result = compare(x, x * (1 + 1e-15))
    assert result.ok and result.pcc == pytest.approx(1)


def test_correlation():
    x = np.arange(10.0)
    assert correlation(x, 2 * x + 1) == pytest.approx(1)
    assert correlation(x, -x) == pytest.approx(-1)
    assert correlation(np.ones(3), np.ones(3)) == 1
    assert correlation(np.ones(3), np.zeros(3)) == 0
    assert correlation(np.array([1, np.nan]), np.array([1, 2.0])) == 1


def test_empty_and_complex():
    assert compare(np.zeros((0, 3)), np.zeros((0, 3))).ok
    z = np.array([1 + 2j, 3], np.complex64)
    assert compare(z, z * np.complex64(1 + 1e-7)).ok
    assert not compare(z, z * np.complex64(1 + 1e-2)).ok


def test_other_shapes_and_types_are_no_comparison():
    with pytest.raises(ValueError, match="instead of"):
        compare(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="instead of"):
        compare(np.zeros(2), np.zeros(2, np.float32))
