"""Zeros with signs, infinities and NaNs are in ttir and ttnn what they were."""

import ml_dtypes
import numpy as np
import pytest

import ttxdsl
from tests.catalogue.elementwise import FLOAT_BINARY, FLOAT_UNARY
from tests.conversion.compare import Array, to_ttir
from tests.dialects.tt_text import parse
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.interpreters.runtime.run import run_module

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
VALUES = (0.0, 0.3, 0.5, 1.0, 1.5, 2.5, 3.0, 7.25, np.inf, np.nan)
SPECIAL = [sign * value for value in VALUES for sign in (1, -1)]


def assert_same_values(text: str, inputs: list[Array]) -> None:
    """Equal in all forms: NaNs where there were NaNs, zeros with the sign they had."""
    module = parse(text)
    wanted = run_module(module, inputs)
    lowered = to_ttir(text)
    answers = {"ttir": run_module(lowered, inputs)}
    convert_ttir_to_ttnn(lowered)
    answers["ttnn"] = run_module(lowered, inputs)
    for form, results in answers.items():
        for got, value in zip(results, wanted, strict=True):
            got, value = (np.asarray(x, np.float64) for x in (got, value))
            np.testing.assert_allclose(got, value, rtol=1e-2, atol=1e-3, err_msg=form)
            zeros = value == 0
            np.testing.assert_array_equal(
                np.signbit(got)[zeros], np.signbit(value)[zeros], err_msg=form
            )


@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("op", FLOAT_UNARY)
def test_unary(op: str, element: str) -> None:
    type = f"tensor<{len(SPECIAL)}x{element}>"
    text = f"""func.func @main(%a: {type}) -> {type} {{
      %r = "stablehlo.{op}"(%a) : ({type}) -> {type}
      return %r : {type}
    }}"""
    assert_same_values(text, [np.array(SPECIAL, DTYPES[element])])


@pytest.mark.parametrize("op", FLOAT_BINARY)
def test_binary(op: str) -> None:
    left, right = np.meshgrid(SPECIAL, SPECIAL)
    type = f"tensor<{len(SPECIAL)}x{len(SPECIAL)}xf32>"
    text = f"""func.func @main(%a: {type}, %b: {type}) -> {type} {{
      %r = "stablehlo.{op}"(%a, %b) : ({type}, {type}) -> {type}
      return %r : {type}
    }}"""
    assert_same_values(text, [left.astype(np.float32), right.astype(np.float32)])


@pytest.mark.parametrize("sides", ["%a, %b", "%b, %a"])
@pytest.mark.parametrize("direction", ["LT", "GT"])
@pytest.mark.parametrize("kind", ["FLOAT", "TOTALORDER"])
def test_sort(kind: str, direction: str, sides: str) -> None:
    """By a plain LT, where nobody says where a NaN goes, and in total order."""
    type = f"tensor<{len(SPECIAL)}xf32>"
    scalars = "%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>"
    text = f"""func.func @main(%x: {type}, %y: {type}) -> ({type}, {type}) {{
      %r:2 = "stablehlo.sort"(%x, %y) <{{dimension = 0 : i64, is_stable = true}}> ({{
      ^bb0({scalars}):
        %l = stablehlo.compare {direction}, {sides}, {kind} : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %l : tensor<i1>
      }}) : ({type}, {type}) -> ({type}, {type})
      return %r#0, %r#1 : {type}, {type}
    }}"""
    places = np.arange(len(SPECIAL), dtype=np.float32)
    shuffled = np.random.default_rng(0).permutation(SPECIAL).astype(np.float32)
    assert_same_values(text, [shuffled, places])


def test_a_reduction_that_starts_with_a_narrower_number():
    text = """func.func @main(%x: tensor<4x8xf32>, %zero: tensor<f16>) -> tensor<4xf32> {
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<4x8xf32>, tensor<f16>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    program = ttxdsl.load(text)
    inputs = program.random_inputs(0)
    (wanted,) = program.simulate(*inputs)
    (found,) = program.lower("ttnn").simulate(*inputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
