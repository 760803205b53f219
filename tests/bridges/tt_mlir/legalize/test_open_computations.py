"""`open-computations`: reductions that tt-mlir would read wrongly or not at all."""

import numpy as np
import pytest

from tests.bridges.tt_mlir.legalize.same_numbers import (
    after,
    assert_numbers_stay,
    ops_of,
)
from ttxdsl.diagnostics.errors import UnsupportedError

VALUES = np.random.default_rng(2).integers(-9, 9, (5, 7)).astype(np.float32)
WHOLE = VALUES.astype(np.int32)


def reduction(init: str, op: str, element: str = "f32") -> str:
    return f"""func.func public @main(%a: tensor<5x7x{element}>) -> tensor<7x{element}> {{
      %c = stablehlo.constant dense<{init}> : tensor<{element}>
      %0 = stablehlo.reduce(%a init: %c) applies stablehlo.{op} across dimensions = [0]
        : (tensor<5x7x{element}>, tensor<{element}>) -> tensor<7x{element}>
      return %0 : tensor<7x{element}>
    }}"""


@pytest.mark.parametrize(
    ("init", "op", "stays"),
    [
        ("0.0", "add", True), ("3.0", "add", False), ("1.0", "multiply", True),
        ("2.0", "multiply", False), ("0xFF800000", "maximum", True),
        ("0.0", "maximum", False), ("0x7F800000", "minimum", True),
    ],
)  # fmt: skip
def test_an_initial_value_that_matters_is_combined(init: str, op: str, stays: bool):
    text = reduction(init, op)
    if stays:
        assert after(text, "open-computations") == after(text, "open-chlo")
    else:
        new = assert_numbers_stay(text, "open-computations", VALUES)
        assert "stablehlo.reduce" in ops_of(new)


@pytest.mark.parametrize("op", ["or", "and", "xor"])
def test_bits_are_folded(op: str):
    new = assert_numbers_stay(reduction("5", op, "i32"), "open-computations", WHOLE)
    assert "stablehlo.reduce" not in ops_of(new)


ARGMIN = """func.func public @main(%a: tensor<5x7xf32>) -> (tensor<5xf32>, tensor<5xi32>) {
  %c = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %i = stablehlo.iota dim = 1 : tensor<5x7xi32>
  %0:2 = stablehlo.reduce(%a init: %c), (%i init: %z) across dimensions = [1]
    : (tensor<5x7xf32>, tensor<5x7xi32>, tensor<f32>, tensor<i32>) -> (tensor<5xf32>, tensor<5xi32>)
    reducer(%p: tensor<f32>, %q: tensor<f32>) (%k: tensor<i32>, %l: tensor<i32>) {
      %1 = stablehlo.compare LE, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %p, %q : tensor<i1>, tensor<f32>
      %3 = stablehlo.select %1, %k, %l : tensor<i1>, tensor<i32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<5xf32>, tensor<5xi32>
}"""


def test_places_are_folded_in_order():
    """The first of equal ones, as the order of elements is kept."""
    new = assert_numbers_stay(ARGMIN, "open-computations", VALUES)
    assert "stablehlo.reduce" not in ops_of(new)


def test_reductions_side_by_side_are_one_each():
    text = """func.func public @main(%a: tensor<5x7xf32>, %b: tensor<5x7xi32>) -> (tensor<f32>, tensor<i32>) {
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %z = stablehlo.constant dense<4> : tensor<i32>
      %0:2 = stablehlo.reduce(%a init: %c), (%b init: %z) across dimensions = [0, 1]
        : (tensor<5x7xf32>, tensor<5x7xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
        reducer(%p: tensor<f32>, %q: tensor<f32>) (%k: tensor<i32>, %l: tensor<i32>) {
          %1 = stablehlo.add %p, %q : tensor<f32>
          %2 = stablehlo.maximum %k, %l : tensor<i32>
          stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
        }
      return %0#0, %0#1 : tensor<f32>, tensor<i32>
    }"""
    new = assert_numbers_stay(text, "open-computations", VALUES, WHOLE)
    assert ops_of(new).count("stablehlo.reduce") == 2


@pytest.mark.parametrize("init", ["0x7F800000", "1.0"])
def test_windows_are_slices(init: str):
    text = f"""func.func public @main(%a: tensor<5x7xf32>) -> tensor<5x3xf32> {{
      %c = stablehlo.constant dense<{init}> : tensor<f32>
      %0 = "stablehlo.reduce_window"(%a, %c) <{{window_dimensions = array<i64: 2, 3>,
        window_strides = array<i64: 1, 2>, window_dilations = array<i64: 1, 2>,
        padding = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>}}> ({{
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %1 = stablehlo.minimum %p, %q : tensor<f32>
          stablehlo.return %1 : tensor<f32>
      }}) : (tensor<5x7xf32>, tensor<f32>) -> tensor<5x3xf32>
      return %0 : tensor<5x3xf32>
    }}"""
    new = assert_numbers_stay(text, "open-computations", VALUES)
    assert "stablehlo.reduce_window" not in ops_of(new)


def scatter(body: str) -> str:
    return f"""func.func public @main(%a: tensor<8xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<8xf32> {{
      %0 = "stablehlo.scatter"(%a, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        {body}
      }}) : (tensor<8xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }}"""


POINTS = np.array([[3], [3], [9], [0]], np.int32)
UPDATES = np.array([5, 7, 1, 2], np.float32)


def returning(ops: str, value: str) -> str:
    return f"{ops}\n stablehlo.return {value} : tensor<f32>"


@pytest.mark.parametrize(
    ("body", "changes"),
    [
        (returning("", "%q"), False),
        (returning("%r = stablehlo.add %p, %q : tensor<f32>", "%r"), False),
        (returning("%r = stablehlo.subtract %p, %q : tensor<f32>", "%r"), True),
        (returning("%r = stablehlo.add %p, %p : tensor<f32>", "%r"), True),
    ],
)
def test_scatters_are_by_one_op(body: str, changes: bool):
    """A place that is named twice is changed twice, one beyond the end not at all."""
    text = scatter(body)
    if not changes:
        assert after(text, "open-computations") == after(text, "open-chlo")
        return
    values = np.arange(1, 9, dtype=np.float32)
    assert_numbers_stay(text, "open-computations", values, POINTS, UPDATES)


@pytest.mark.parametrize(
    "body",
    [
        returning("%r = stablehlo.subtract %q, %p : tensor<f32>", "%r"),
        returning("%t = stablehlo.add %p, %q : tensor<f32>\n%r = stablehlo.tanh %t : tensor<f32>", "%r"),
    ],
)  # fmt: skip
def test_other_scatters_are_refused(body: str):
    with pytest.raises(UnsupportedError, match="scatters by one op"):
        after(scatter(body), "open-computations")
