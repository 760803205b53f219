"""Products, convolutions and linear algebra against JAX on the CPU."""

from functools import partial

import numpy as np
import pytest
from jax import lax

from tests.interpreters.arrays import BF16, C64, F16, F32, F64, I8, I32, U8, array
from tests.interpreters.reference import (
    body,
    each_same_as_jax,
    same_as_jax,
    same_as_xla,
)

pytestmark = pytest.mark.usefixtures("no_warnings")


# products

DOTS = [
    ((3, 4), (4, 5), ([1], [0]), ([], [])),
    ((4, 3), (5, 4), ([0], [1]), ([], [])),
    ((2, 3, 4), (2, 4, 5), ([2], [1]), ([0], [0])),
    ((3, 2, 4), (5, 4, 2), ([2], [1]), ([1], [2])),
    ((2, 3, 4, 5), (5, 2, 6, 4), ([3, 2], [0, 3]), ([0], [1])),
    ((2, 3, 4, 5), (4, 5), ([2, 3], [0, 1]), ([], [])),
    ((3,), (3,), ([0], [0]), ([], [])),
    ((3,), (4,), ([], []), ([], [])),
    ((3, 0), (0, 4), ([1], [0]), ([], [])),
    ((2, 3, 4, 2), (2, 5, 2, 4), ([2], [3]), ([0, 3], [2, 0])),
]


@pytest.mark.parametrize("dtype", [F32, BF16, F16, F64, I32, I8, U8, C64], ids=str)
def test_dot_general(dtype):
    calls = {
        str(dims): (
            partial(lax.dot_general, dimension_numbers=(contract, batch)),
            array(*left, dtype=dtype),
            array(*right, dtype=dtype, seed=1),
        )
        for dims in DOTS
        for left, right, contract, batch in [dims]
    }
    each_same_as_jax(calls, reduction_length=20)


@pytest.mark.parametrize(
    ("dtype", "out"),
    [(BF16, F32), (I8, I32), (F16, F32), (F32, F64), (U8, I32)],
    ids=str,
)
def test_dot_general_to_a_wider_type(dtype, out):
    x, y = array(5, 7, dtype=dtype), array(7, 3, dtype=dtype, seed=1)
    same_as_jax(
        lambda x, y: lax.dot_general(
            x, y, (([1], [0]), ([], [])), preferred_element_type=out
        ),
        x,
        y,
        reduction_length=20,
    )


def test_integer_products_wrap():
    x = np.full((2, 4), 2**31 - 1, np.int32)
    same_as_jax(lambda x, y: x @ y, x, x.T)
    x = np.full((2, 4), 2**62 + 12345, np.int64)
    same_as_jax(lambda x, y: x @ y, x, x.T)
    x = np.full((2, 4), -128, np.int8)
    same_as_jax(lambda x, y: x @ y, x, x.T)


def test_ragged_dot():
    x, w = array(6, 4), array(3, 4, 5, seed=1)
    sizes = np.array([2, 0, 3], np.int32)
    text = """(%x: tensor<6x4xf32>, %w: tensor<3x4x5xf32>, %s: tensor<3xi32>) -> tensor<6x5xf32> {
      %r = "chlo.ragged_dot"(%x, %w, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
        lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
        lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} :
        (tensor<6x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<6x5xf32>
      return %r : tensor<6x5xf32>
    }"""
    (found,) = body(text, x, w, sizes)
    wanted = np.concatenate([x[:2] @ w[0], x[2:5] @ w[2], np.zeros((1, 5), np.float32)])
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


CONVS = [
    {"strides": (1, 1), "padding": "SAME"},
    {"strides": (2, 1), "padding": "VALID"},
    {"strides": (2, 3), "padding": [(1, 2), (0, 3)]},
    {"strides": (1, 2), "padding": [(-1, 1), (2, -1)]},
    {"strides": (1, 1), "padding": [(2, 2), (3, 3)], "dilation": (2, 3)},
    {"strides": (1, 1), "padding": [(1, 1), (2, 0)], "lhs_dilation": (2, 3)},
    {
        "strides": (2, 1),
        "padding": [(3, 1), (2, 2)],
        "lhs_dilation": (3, 2),
        "dilation": (2, 1),
    },
]


@pytest.mark.parametrize(
    "layout",
    [("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW"), ("HWCN", "IHWO", "CNHW")],
    ids=str,
)
@pytest.mark.parametrize("groups", [(1, 1), (2, 1), (1, 2), (4, 1)], ids=str)
def test_convolution(groups, layout):
    feature, batch = groups
    sizes = {"N": 4, "C": 4, "H": 7, "W": 8}
    x = array(*(sizes[c] for c in layout[0]))
    kernel = {"O": 8, "I": 4 // feature, "H": 3, "W": 2}
    k = array(*(kernel[c] for c in layout[1]), seed=1)
    calls = {}
    for config in CONVS:
        convolve = partial(
            lax.conv_general_dilated,
            window_strides=config["strides"],
            padding=config["padding"],
            lhs_dilation=config.get("lhs_dilation"),
            rhs_dilation=config.get("dilation"),
            dimension_numbers=layout,
            feature_group_count=feature,
            batch_group_count=batch,
        )
        calls[str(config)] = convolve, x, k
    each_same_as_jax(calls, reduction_length=64)


@pytest.mark.parametrize("dtype", [BF16, F16, F64, I32], ids=str)
def test_convolution_types(dtype):
    x, k = array(2, 9, 3, dtype=dtype), array(3, 3, 4, dtype=dtype, seed=1)
    same_as_jax(
        lambda x, k: lax.conv_general_dilated(
            x, k, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")
        ),
        x,
        k,
        reduction_length=32,
    )


def test_convolution_reversed():
    text = """(%x: tensor<1x5x1xf32>, %k: tensor<3x1x1xf32>) -> tensor<1x3x1xf32> {
      %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
        window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [true]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x5x1xf32>, tensor<3x1x1xf32>) -> tensor<1x3x1xf32>
      return %r : tensor<1x3x1xf32>
    }"""
    same_as_xla(text, array(1, 5, 1), array(3, 1, 1, seed=1), reduction_length=3)


# linear algebra


@pytest.mark.parametrize("dtype", [F32, F64, C64], ids=str)
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(dtype, lower):
    x = array(2, 5, 5, dtype=dtype)
    a = x @ np.conj(x.swapaxes(-1, -2)) + 3 * np.eye(5, dtype=dtype)
    kind = {F32: "f32", F64: "f64", C64: "complex<f32>"}[dtype]
    text = f"""(%a: tensor<2x5x5x{kind}>) -> tensor<2x5x5x{kind}> {{
      %r = stablehlo.cholesky %a, lower = {str(lower).lower()} : tensor<2x5x5x{kind}>
      return %r : tensor<2x5x5x{kind}>
    }}"""
    (found,) = body(text, a)
    found = np.tril(found) if lower else np.triu(found)
    turned = np.conj(found.swapaxes(-1, -2))
    product = found @ turned if lower else turned @ found
    np.testing.assert_allclose(product, a, rtol=1e-4, atol=1e-4)
    a[0, 1, 1] = -50
    bad, good = body(text, a)[0]
    assert np.isnan(bad).any()
    np.testing.assert_allclose(good, found[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [F32, F64, C64], ids=str)
@pytest.mark.parametrize("left_side", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_solve(dtype, left_side, lower, transpose, unit):
    a = array(2, 4, 4, dtype=dtype) + 3 * np.eye(4, dtype=dtype)
    b = (
        array(2, 4, 3, dtype=dtype, seed=1)
        if left_side
        else array(2, 3, 4, dtype=dtype, seed=1)
    )
    kind = {F32: "f32", F64: "f64", C64: "complex<f32>"}[dtype]
    flags = {"left_side": left_side, "lower": lower, "unit_diagonal": unit}
    said = ", ".join(f"{name} = {str(value).lower()}" for name, value in flags.items())
    shape = "x".join(map(str, b.shape))
    text = f"""(%a: tensor<2x4x4x{kind}>, %b: tensor<{shape}x{kind}>) -> tensor<{shape}x{kind}> {{
      %r = "stablehlo.triangular_solve"(%a, %b) <{{{said}, transpose_a = #stablehlo<transpose {transpose}>}}> :
        (tensor<2x4x4x{kind}>, tensor<{shape}x{kind}>) -> tensor<{shape}x{kind}>
      return %r : tensor<{shape}x{kind}>
    }}"""
    (found,) = body(text, a, b)
    full = np.tril(a) if lower else np.triu(a)
    if unit:
        full = full - full * np.eye(4) + np.eye(4)
    if transpose != "NO_TRANSPOSE":
        full = full.swapaxes(-1, -2)
    if transpose == "ADJOINT":
        full = np.conj(full)
    product = full @ found if left_side else found @ full
    np.testing.assert_allclose(product, b, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_fft(kind, rank):
    real = kind == "rfft"
    x = array(3, 4, 5, 6, dtype=F32 if real else C64)
    lengths = list(x.shape[-rank:])
    if kind == "irfft":
        lengths[-1] = 10
    same_as_jax(lambda x: lax.fft(x, kind, tuple(lengths)), x, rtol=1e-5, atol=1e-4)
