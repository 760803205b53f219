"""`open-forms`, `mark-borders`, `require-known`: ops and borders as tt-mlir takes them."""

import numpy as np
import pytest

from tests.bridges.tt_mlir.legalize.same_numbers import (
    after,
    assert_numbers_stay,
    on_mesh,
    ops_of,
    run,
)
from ttxdsl.diagnostics.errors import UnsupportedError

RNG = np.random.default_rng(3)


def function(arguments: str, result: str, op: str) -> str:
    given = ", ".join(f"%{i}: {t}" for i, t in enumerate(arguments.split(", ")))
    return f"""func.func public @main({given}) -> {result} {{
      %r = {op}
      return %r : {result}
    }}"""


def test_complex_products():
    a, b = (RNG.normal(size=s) + 1j * RNG.normal(size=s) for s in ((3, 4), (4, 2)))
    types = "tensor<3x4xcomplex<f32>>", "tensor<4x2xcomplex<f32>>"
    made = "tensor<3x2xcomplex<f32>>"
    op = f"stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : ({types[0]}, {types[1]}) -> {made}"
    text = function(", ".join(types), made, op)
    given = a.astype(np.complex64), b.astype(np.complex64)
    new = assert_numbers_stay(text, "open-forms", *given, tolerance=1e-5)
    assert ops_of(new).count("stablehlo.dot_general") == 4


def test_each_part_of_complex_numbers():
    type_ = "tensor<3x4xcomplex<f32>>"
    text = function(type_, type_, f"stablehlo.reverse %0, dims = [1] : {type_}")
    value = (RNG.normal(size=(3, 4)) + 1j).astype(np.complex64)
    assert_numbers_stay(text, "open-forms", value)


def test_sums_of_complex_numbers_over_devices():
    """The addition within the collective goes with it."""
    type_, element = "tensor<3xcomplex<f32>>", "tensor<complex<f32>>"
    op = f"""\"stablehlo.all_reduce\"(%0) <{{replica_groups = dense<0> : tensor<1x1xi64>}}> ({{
      ^bb0(%x: {element}, %y: {element}):
        %s = stablehlo.add %x, %y : {element}
        stablehlo.return %s : {element}
    }}) : ({type_}) -> {type_}"""
    value = (RNG.normal(size=3) + 1j).astype(np.complex64)
    new = assert_numbers_stay(function(type_, type_, op), "open-forms", value)
    assert ops_of(new).count("stablehlo.all_reduce") == 2


@pytest.mark.parametrize(
    ("one", "other", "given"),
    [
        ("3xui64", "3x2xui32", RNG.integers(0, 1 << 63, 3).astype(np.uint64)),
        ("3xf32", "3x4xui8", RNG.normal(size=3).astype(np.float32)),
        ("3x2xui16", "3xi32", RNG.integers(0, 1 << 16, (3, 2)).astype(np.uint16)),
        ("3x2xi16", "3xf32", RNG.integers(1, 99, (3, 2)).astype(np.int16)),
    ],
)
def test_bits_of_another_width(one: str, other: str, given: np.ndarray):
    types = f"tensor<{one}>", f"tensor<{other}>"
    op = f"stablehlo.bitcast_convert %0 : ({types[0]}) -> {types[1]}"
    assert_numbers_stay(function(types[0], types[1], op), "open-forms", given)


@pytest.mark.parametrize(
    ("window", "made"),
    [
        ("pad = [[0, 1], [1, 0], [0, 1]]", "1x3x4x4x4"),
        # what is spread is padded afterwards: sizes would not tell
        ("pad = [[1, -1], [0, 0], [0, 0]], lhs_dilate = [2, 3, 1]", "1x3x6x9x3"),
        ("lhs_dilate = [2, 1, 1]", "1x3x6x3x3"),
    ],
)
def test_a_convolution_of_three_dimensions(window: str, made: str):
    types, made = "tensor<1x2x4x4x4xf32>, tensor<3x2x2x2x2xf32>", f"tensor<{made}xf32>"
    op = f"""stablehlo.convolution(%0, %1) dim_numbers = [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2],
      window = {{{window}}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
      : ({types}) -> {made}"""
    given = [RNG.normal(size=s).astype(np.float32) for s in ((1, 2, 4, 4, 4), (3, 2, 2, 2, 2))]  # fmt: skip
    new = assert_numbers_stay(
        function(types, made, op), "open-forms", *given, tolerance=1e-5
    )
    assert "stablehlo.pad" in ops_of(new)


def test_random_numbers_between_computed_bounds():
    op = """stablehlo.rng %0, %1, %s, distribution = UNIFORM
      : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<99xf32>"""
    text = function("tensor<f32>, tensor<f32>", "tensor<99xf32>", op).replace(
        "%r =", "%s = stablehlo.constant dense<99> : tensor<1xi64>\n%r ="
    )
    bounds = np.float32(3), np.float32(5)
    (numbers,) = run(after(text, "open-forms"), [np.asarray(one) for one in bounds])
    assert numbers.min() >= 3 and numbers.max() <= 5 and numbers.std() > 0.3


def test_there_is_one_replica():
    text = function(
        "tensor<ui32>", "tensor<ui32>", "stablehlo.replica_id : tensor<ui32>"
    )
    new = assert_numbers_stay(text, "open-forms", np.asarray(3, np.uint32))
    assert "stablehlo.replica_id" not in ops_of(new)


def test_many_truth_values_are_bytes():
    values = RNG.integers(0, 2, 200).astype(bool)
    listed = ", ".join(str(bool(one)).lower() for one in values)
    text = function(
        "tensor<200xi1>",
        "tensor<200xi1>",
        f"stablehlo.constant dense<[{listed}]> : tensor<200xi1>",
    )
    assert "xi8>" in assert_numbers_stay(text, "open-forms", values)


def test_borders_have_shardings_where_they_had_a_status():
    body = "8x2xf32: sdy.return %a : tensor<8x2xf32>"
    split = '{"x"}, {"y"}'
    shape = "16x8xf32"
    text = on_mesh('"x"=2, "y"=4', (shape, shape), (split, split), body)
    value = RNG.normal(size=(16, 8)).astype(np.float32)
    new = assert_numbers_stay(text, "mark-borders", value)
    assert "shard_status" not in new
    assert '%0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}' in new  # fmt: skip
    assert "-> tensor<16x8xf32> {" in new


@pytest.mark.parametrize(
    ("arguments", "result", "op", "said"),
    [
        ("tensor<4xf32>", "tensor<4xf8E4M3FN>",
         "stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>", "no tensor<4xf8E4M3FN>"),
        ("tensor<4xi4>", "tensor<4xi4>", "stablehlo.add %0, %0 : tensor<4xi4>", "no tensor<4xi4>"),
        ("tensor<4x4xf32>", "tensor<4x4xf32>",
         "stablehlo.cholesky %0, lower = true : tensor<4x4xf32>", "no factorizations"),
        ("tensor<4xf32>", "tensor<4xf32>",
         "stablehlo.custom_call @mine(%0) : (tensor<4xf32>) -> tensor<4xf32>", "no custom call @mine"),
    ],
)  # fmt: skip
def test_what_it_does_not_have(arguments: str, result: str, op: str, said: str):
    with pytest.raises(UnsupportedError, match=said):
        after(function(arguments, result, op), "require-known")
