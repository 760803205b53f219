"""What ops do: operations and memory."""

import pytest

from ttxdsl.analysis.usage.work import flops, multiply_adds, operations, product_numbers
from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import parse_program
from ttxdsl.rules import register_sharding_rule, unregister_sharding_rule


def first(text: str, kind: type) -> object:
    return ops_of_type(parse_program(text), kind)[0]


CONVOLUTION = """\
func.func @main(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x16xf32>) -> tensor<2x8x8x16xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<2x8x8x16xf32>
  return %0 : tensor<2x8x8x16xf32>
}
"""
WINDOW = """\
func.func @main(%x: tensor<8x8xf32>, %z: tensor<f32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""
LAYER = """\
func.func @main(%x: tensor<12x8x8xf32>, %i: tensor<i32>) -> tensor<12x8x8xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, %i, %i, sizes = [1, 8, 8] : (tensor<12x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
  %1 = stablehlo.dynamic_update_slice %x, %0, %i, %i, %i : (tensor<12x8x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<12x8x8xf32>
  return %1 : tensor<12x8x8xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        (CONVOLUTION, stablehlo.ConvolutionOp, 2 * 8 * 8 * 16 * 3 * 3 * 4),
        (WINDOW, stablehlo.ReduceWindowOp, 4 * 4 * 4),
        (LAYER, stablehlo.DynamicSliceOp, 64),
        (LAYER, stablehlo.DynamicUpdateSliceOp, 64),
    ],
)
def test_operations(text: str, kind: type, expected: int):
    op = first(text, kind)
    assert operations(op) == expected  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("strides", "padding", "lhs_dilation", "rhs_dilation", "groups"),
    [
        ((1, 1), "SAME", None, None, (1, 1)),
        ((2, 3), "SAME", None, None, (1, 1)),
        ((1, 1), [(2, 1), (0, 3)], (2, 3), None, (1, 1)),
        ((1, 1), [(3, 4), (5, 2)], None, (2, 1), (2, 1)),
        ((2, 1), [(3, 4), (5, 2)], (3, 2), (1, 2), (1, 2)),
    ],
)
def test_convolutions_count_as_xla_counts(
    strides, padding, lhs_dilation, rhs_dilation, groups
):
    """Elements of the padding and in gaps are not multiplied."""
    jax = pytest.importorskip("jax")
    feature_groups, batch_groups = groups

    def convolve(x, w):
        return jax.lax.conv_general_dilated(
            *(x, w, strides, padding),
            lhs_dilation=lhs_dilation,
            rhs_dilation=rhs_dilation,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=feature_groups,
            batch_group_count=batch_groups,
        )

    x = jax.ShapeDtypeStruct((4, 13, 9, 8), "float32")
    w = jax.ShapeDtypeStruct((3, 4, 8 // feature_groups, 16), "float32")
    lowered = jax.jit(convolve).lower(x, w)
    module = parse_program(lowered.as_text())
    (op,) = ops_of_type(module, stablehlo.ConvolutionOp)
    assert flops(op) == lowered.cost_analysis()["flops"]


_ALGORITHM = ", algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {}, allow_imprecise_accumulation = false>"


@pytest.mark.parametrize(
    ("operands", "more", "expected"),
    [
        (("bf16", "i8"), "", ("bf16", "i8")),
        (("f32", "bf16"), ", precision = [HIGH, DEFAULT]", ("f32_high", "bf16")),
        (("f32", "f32"), ", precision = [HIGHEST, HIGH]", ("f32_highest",) * 2),
        (("f32", "f32"), _ALGORITHM.format(1), ("bf16",) * 2),
        (("f32", "f32"), _ALGORITHM.format(3), ("f32_high",) * 2),
        (("f32", "f32"), _ALGORITHM.format(6), ("f32_highest",) * 2),
    ],
)
def test_what_products_multiply(
    operands: tuple[str, str], more: str, expected: tuple[str, ...]
):
    x, y = (f"tensor<8x8x{element}>" for element in operands)
    text = f"""func.func @main(%x: {x}, %y: {y}) -> tensor<8x8xf32> {{
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]{more} : ({x}, {y}) -> tensor<8x8xf32>
      %1 = stablehlo.add %0, %0 : tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    }}"""
    (product,) = ops_of_type(parse_program(text), stablehlo.DotGeneralOp)
    assert product_numbers(product) == expected
    assert product_numbers(product.next_op) == ()


def test_functions_are_counted_by_themselves():
    text = """
    func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = stablehlo.exponential %x : tensor<8x8xf32>
      %1 = stablehlo.rsqrt %0 : tensor<8x8xf32>
      %2 = stablehlo.logistic %1 : tensor<8x8xf32>
      %3 = stablehlo.multiply %2, %2 : tensor<8x8xf32>
      return %3 : tensor<8x8xf32>
    }"""
    ops = parse_program(text).walk()
    assert [flops(op) for op in ops if op.results] == [0, 0, 3 * 64, 64]


def test_a_convolution_with_huge_gaps_is_counted_at_once():
    """Places are counted by a formula: there are seven milliards of them."""
    module = parse_program("""
    func.func @main(%a: tensor<1x8x4xf32>, %k: tensor<3x4x4xf32>) -> tensor<1x6999999999x4xf32> {
      %r = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
        window = {lhs_dilate = [1000000000]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} :
        (tensor<1x8x4xf32>, tensor<3x4x4xf32>) -> tensor<1x6999999999x4xf32>
      return %r : tensor<1x6999999999x4xf32>
    }""")
    (op,) = ops_of_type(module, stablehlo.ConvolutionOp)
    # of the eight elements each tap misses one at an edge, the one between them two
    assert multiply_adds(op) == (7 + 6 + 7) * 4 * 4


def test_contractions_of_others_count_by_their_rule():
    """What several operands have and no result is summed over; the rest takes nothing."""
    text = """\
func.func @main(%x: tensor<8x4xf32>, %y: tensor<4x2xf32>) -> (tensor<8x2xf32>, tensor<2x8xf32>) {
  %0 = stablehlo.custom_call @their.product(%x, %y) : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %1 = stablehlo.custom_call @their.turn(%0) : (tensor<8x2xf32>) -> tensor<2x8xf32>
  return %0, %1 : tensor<8x2xf32>, tensor<2x8xf32>
}
"""
    rules = {
        "their.product": "([i, k], [k, j])->([i, j]) reduction={k}",
        "their.turn": "([i, j])->([j, i])",
    }
    calls = ops_of_type(parse_program(text), stablehlo.CustomCallOp)
    for target, rule in rules.items():
        register_sharding_rule(target, rule)
    try:
        assert [flops(op) for op in calls] == [2 * 8 * 4 * 2, 0]
    finally:
        for target in rules:
            unregister_sharding_rule(target)
    assert [flops(op) for op in calls] == [0, 0]


def _ragged(lhs: str, rhs: str, result: str, dims: str) -> str:
    return f"""
func.func @main(%a: tensor<{lhs}xbf16>, %b: tensor<{rhs}xbf16>, %n: tensor<4xi32>)
    -> tensor<{result}xbf16> {{
  %0 = "chlo.ragged_dot"(%a, %b, %n) <{{
    ragged_dot_dimension_numbers = #chlo.ragged_dot<{dims}>
  }}> : (tensor<{lhs}xbf16>, tensor<{rhs}xbf16>, tensor<4xi32>) -> tensor<{result}xbf16>
  return %0 : tensor<{result}xbf16>
}}"""


@pytest.mark.parametrize(
    "text",
    [
        _ragged(
            *("64x8", "4x8x16", "64x16"),
            "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],"
            " lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]",
        ),
        _ragged(
            *("64x8", "64x16", "4x8x16"),
            "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0],"
            " lhs_ragged_dimensions = [0]",
        ),
    ],
)
def test_each_row_is_in_one_product_of_groups(text: str):
    (op,) = ops_of_type(parse_program(text), chlo.RaggedDotOp)
    assert flops(op) == 2 * 64 * 8 * 16
    assert product_numbers(op) == ("bf16", "bf16")
