"""`open-chlo`: chlo's functions in ops of StableHLO."""

import ml_dtypes
import numpy as np
import pytest

from tests.bridges.tt_mlir.legalize.same_numbers import (
    after,
    assert_numbers_stay,
    ops_of,
)
from ttxdsl.diagnostics.errors import UnsupportedError

INSIDE = np.linspace(-1, 1, 97, dtype=np.float32)
ALL = np.concatenate(
    [np.linspace(-12, 12, 193), [-np.inf, np.inf, np.nan, 1e-6, -1e-6, 30, 200]]
).astype(np.float32)
RIGHT = np.concatenate([np.linspace(1, 40, 90), [1e12, np.inf, 0.5]]).astype(np.float32)
AWAY = np.array(
    [-7.3, -3.5, -2.2, -0.7, -0.1, 0.1, 0.4, 0.6, 1, 1.5, 2, 7, 33, 150], np.float32
)

FUNCTIONS = {
    "acos": INSIDE, "acosh": RIGHT, "asin": INSIDE, "asinh": ALL, "atan": ALL,
    "atanh": INSIDE[1:-1], "bessel_i1e": ALL[:193], "cosh": ALL[:193],
    "digamma": AWAY, "erf": ALL, "erf_inv": INSIDE, "erfc": ALL, "lgamma": AWAY,
    "sinh": ALL[:193], "square": ALL, "tan": INSIDE,
}  # fmt: skip


def program(name: str, element: str, count: int, result: str = "") -> str:
    type_, made = f"tensor<{count}x{element}>", f"tensor<{count}x{result or element}>"
    return f"""func.func public @main(%a: {type_}) -> {made} {{
      %0 = chlo.{name} %a : {type_} -> {made}
      return %0 : {made}
    }}"""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function(name: str):
    values = FUNCTIONS[name]
    text = program(name, "f32", len(values))
    with np.errstate(all="ignore"):
        new = assert_numbers_stay(text, "open-chlo", values, tolerance=2e-5)
    assert "chlo." not in new


@pytest.mark.parametrize("name", ["erfc", "lgamma", "asinh"])
def test_half_precision_is_computed_in_f32(name: str):
    values = AWAY.astype(ml_dtypes.bfloat16)
    text = program(name, "bf16", len(values))
    assert_numbers_stay(text, "open-chlo", values, tolerance=1e-2)


@pytest.mark.parametrize("name", ["is_inf", "is_pos_inf", "is_neg_inf"])
def test_infinities(name: str):
    assert_numbers_stay(program(name, "f32", len(ALL), "i1"), "open-chlo", ALL)


@pytest.mark.parametrize(
    ("name", "element", "first", "second", "tolerance"),
    [
        ("next_after", "f32", [1, -1, 0, 0, 2, np.nan, -3, 1], [2, -2, 1, -1, 2, 1, 4, 0], 0),
        ("polygamma", "f32", [0, 1, 1, 2, 3, 5], [1.5, 0.3, 7, 2, 1, 3], 1e-4),
        ("zeta", "f32", [2, 3, 1.5, 4, 1, 0.5], [1, 2, 0.5, 7, 2, 1], 1e-5),
        ("mulhi", "i32", [-1, 7, 1 << 30, -(1 << 31), 99999], [5, 9, 77, -3, 99999], 0),
        ("mulhi", "ui32", [0xFFFFFFFF, 7, 1 << 30], [0xFFFFFFFF, 9, 77], 0),
    ],
)  # fmt: skip
def test_a_function_of_two(
    name: str, element: str, first: list[float], second: list[float], tolerance: float
):
    dtype = {"f32": np.float32, "i32": np.int32, "ui32": np.uint32}[element]
    type_ = f"tensor<{len(first)}x{element}>"
    text = f"""func.func public @main(%a: {type_}, %b: {type_}) -> {type_} {{
      %0 = chlo.{name} %a, %b : {type_}, {type_} -> {type_}
      return %0 : {type_}
    }}"""
    given = np.array(first, dtype), np.array(second, dtype)
    with np.errstate(all="ignore"):
        assert_numbers_stay(text, "open-chlo", *given, tolerance=tolerance)


def test_the_greatest_are_sorted():
    """With the first of equal ones first."""
    text = """func.func public @main(%a: tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
      %0, %1 = chlo.top_k(%a, k = 3) : tensor<2x6xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
      return %0, %1 : tensor<2x3xf32>, tensor<2x3xi32>
    }"""
    values = np.array([[1, 5, 5, 2, 0, 5], [3, 2, 1, -1, 9, 9]], np.float32)
    assert "stablehlo.sort" in ops_of(assert_numbers_stay(text, "open-chlo", values))


def test_complex_numbers_are_refused():
    with pytest.raises(UnsupportedError, match=r"'chlo.acos' op.*of complex<f32>"):
        after(program("acos", "complex<f32>", 4), "open-chlo")
