"""Ops that move, sum, sort, gather and scatter elements, against JAX on the CPU."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import ttxdsl
from tests.interpreters.reference import (
    body,
    each_same_as_jax,
    same_as_jax,
    same_as_xla,
)

BF16 = np.dtype(ml_dtypes.bfloat16)
F16 = np.dtype(np.float16)
F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)
I8 = np.dtype(np.int8)
I32 = np.dtype(np.int32)
U8 = np.dtype(np.uint8)
C64 = np.dtype(np.complex64)
BOOL = np.dtype(bool)
ALL = [BF16, F16, F32, F64, I8, I32, U8, C64, BOOL]


@pytest.fixture(autouse=True)
def no_warnings():
    with np.errstate(all="ignore"):
        yield


def array(*shape, dtype=F32, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == BOOL:
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(max(info.min, -9), 9, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(
            dtype
        )
    return rng.standard_normal(shape).astype(dtype)


# data movement


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_movement(dtype):
    x = array(3, 4, 5, dtype=dtype)
    calls = {
        "transpose": lambda x: lax.transpose(x, (2, 0, 1)),
        "reshape": lambda x: lax.reshape(x, (5, 12)),
        "turned reshape": lambda x: lax.reshape(x, (5, 12), dimensions=(2, 1, 0)),
        "rev": lambda x: lax.rev(x, (0, 2)),
        "slice": lambda x: lax.slice(x, (0, 1, 1), (3, 4, 5), (2, 1, 3)),
        "broadcast": lambda x: lax.broadcast_in_dim(x, (2, 3, 4, 6, 5), (1, 2, 4)),
        "concatenate": lambda x: lax.concatenate([x, x[:, :1], x[:, 2:]], 1),
        "squeeze": lambda x: lax.squeeze(lax.expand_dims(x, (1, 3)), (1,)),
    }
    each_same_as_jax({name: (function, x) for name, function in calls.items()})


PADS = [
    [(0, 0, 0), (0, 0, 0)],
    [(1, 2, 0), (0, 3, 1)],
    [(-1, 0, 0), (0, -2, 0)],
    [(-1, -1, 2), (2, -3, 1)],
    [(-2, 5, 3), (-4, 6, 2)],
    [(-3, 0, 0), (0, -5, 0)],
    [(4, -7, 1), (-2, -2, 0)],
]


@pytest.mark.parametrize("shape", [(4, 5), (1, 7), (3, 9)], ids=str)
def test_pad(shape):
    x = array(*shape)
    calls = {
        str(config): (partial(lax.pad, padding_config=config), x, np.float32(7))
        for config in PADS
        if all(
            low + max(0, n + (n - 1) * gap) + high >= 0
            for n, (low, high, gap) in zip(shape, config, strict=True)
        )
    }
    each_same_as_jax(calls)


def test_pad_of_nothing():
    same_as_jax(lambda x, v: lax.pad(x, v, [(2, 1, 3)]), array(0), np.float32(7))
    same_as_jax(lambda x, v: lax.pad(x, v, []), np.float32(1), np.float32(7))


@pytest.mark.parametrize("dtype", [F32, BF16, I32, U8, C64], ids=str)
def test_iota(dtype):
    for dim in (0, 1):
        same_as_jax(lambda d=dim: lax.broadcasted_iota(dtype, (3, 4), d))


@pytest.mark.parametrize("index", [np.int32, np.int8, np.uint8, np.int64, np.uint64])
def test_dynamic_slices_clamp(index):
    x, update = array(5, 6), array(2, 3, seed=1)
    calls = {}
    for start in ((0, 0), (1, 2), (-3, 9), (100, -100), (2, 1)):
        starts = np.array(start).astype(index)
        calls[f"slice {start}"] = (
            lambda x, *at: lax.dynamic_slice(x, at, (2, 3)),
            x,
            *starts,
        )
        calls[f"update {start}"] = (
            lambda x, u, *at: lax.dynamic_update_slice(x, u, at),
            x,
            update,
            *starts,
        )
    each_same_as_jax(calls)


def test_concatenate_empty():
    same_as_jax(lambda x: lax.concatenate([x, x, x[:0]], 0), array(0, 3))


def test_dynamic_shapes():
    text = """(%x: tensor<6xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
      %r = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    }"""
    x = array(6)
    (found,) = body(text, x, np.array([2, 3], np.int32))
    np.testing.assert_array_equal(found, x.reshape(2, 3))


def test_real_dynamic_slice():
    text = """(%x: tensor<6x6xf32>, %a: tensor<2xi32>, %b: tensor<2xi32>, %c: tensor<2xi32>) -> tensor<?x?xf32> {
      %r = stablehlo.real_dynamic_slice %x, %a, %b, %c : (tensor<6x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    }"""
    x = array(6, 6)
    bounds = (np.array(b, np.int32) for b in ((1, 0), (5, 6), (2, 3)))
    (found,) = body(text, x, *bounds)
    np.testing.assert_array_equal(found, x[1:5:2, 0:6:3])


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


# reductions


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min", "and", "or", "xor"])
def test_reduce(kind, dtype):
    x = array(3, 4, 5, dtype=dtype)
    if dtype.kind in "fcV" and kind in ("and", "or", "xor"):
        pytest.skip("bits of integers")
    if dtype == C64 and kind in ("max", "min"):
        pytest.skip("not ordered")
    if dtype == BOOL and kind in ("sum", "prod"):
        pytest.skip("JAX has other names for these")
    function = {
        "sum": lax.add, "prod": lax.mul, "max": lax.max, "min": lax.min,
        "and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor,
    }[kind]  # fmt: skip
    init = {"prod": 1, "max": -3, "min": 3}.get(kind, 2 if dtype != BOOL else 1)
    if dtype.kind == "u":
        init = abs(init)
    init = np.array(init).astype(dtype)
    calls = {
        str(axes): (partial(lax.reduce, computation=function, dimensions=axes), x, init)
        for axes in ((0,), (2,), (0, 2), (0, 1, 2), ())
    }
    each_same_as_jax(calls, reduction_length=60)


@pytest.mark.parametrize(
    "kind", [jnp.sum, jnp.prod, jnp.max, jnp.min, jnp.mean, jnp.var]
)
def test_reduce_with_special_values(kind):
    x = np.array([[1, np.nan, 2], [np.inf, 1, -np.inf], [0, -0.0, 1]], np.float32)
    same_as_jax(partial(kind, axis=1), x)


@pytest.mark.parametrize("kind", [jnp.argmax, jnp.argmin])
@pytest.mark.parametrize("dtype", [F32, BF16, I32, U8], ids=str)
def test_argmax(kind, dtype):
    x = array(4, 7, 5, dtype=dtype)
    for axis in (0, 1, 2, None):
        same_as_jax(partial(kind, axis=axis), x)
    if dtype == F32:
        x[1, 3, 2] = np.nan
        same_as_jax(partial(kind, axis=1), x)


@pytest.mark.parametrize("dtype", [F32, BF16, F16, F64], ids=str)
@pytest.mark.parametrize("reducer", [lax.max, lax.min])
def test_zeros_of_both_signs(reducer, dtype):
    """IEEE 754's extremes of zeros, whichever comes first."""
    rng = np.random.default_rng(0)
    x = np.where(rng.random((16, 12)) < 0.5, 0.0, -0.0).astype(dtype)
    y = np.where(rng.random((16, 12)) < 0.5, 0.0, -0.0).astype(dtype)
    least = np.array(-np.inf if reducer is lax.max else np.inf, dtype)
    running = lax.cummax if reducer is lax.max else lax.cummin
    places = rng.integers(0, 3, 16)

    def scattered(x, y):
        start = x[:3].at[places]
        return start.max(y) if reducer is lax.max else start.min(y)

    each_same_as_jax(
        {
            "both": (reducer, x, y),
            "clamp": (lax.clamp, -abs(x), y, abs(x)),
            "rows": (
                partial(lax.reduce, computation=reducer, dimensions=[1]),
                x,
                least,
            ),
            "running": (running, x),
            "scattered": (scattered, x, y),
            "window": (
                lambda x: lax.reduce_window(x, least, reducer, (2, 3), (1, 1), "SAME"),
                x,
            ),
        }
    )


@pytest.mark.parametrize("dtype", [F32, BF16, F16, F64, C64], ids=str)
def test_sums_of_zeros(dtype):
    """-0.0 adds nothing, and so a sum of its like that begins with it stays so."""
    zero = complex(-0.0, -0.0) if dtype == C64 else -0.0
    x = np.full((3, 4, 5), zero, dtype)
    x[1, 2] = 0.0
    start = np.array(zero, dtype)
    calls = {
        f"{axes}, {init}": (
            partial(lax.reduce, computation=lax.add, dimensions=axes),
            x,
            init,
        )
        for axes in ((0,), (2,), (1, 2))
        for init in (start, np.zeros((), dtype))
    }
    windows = partial(
        lax.reduce_window,
        computation=lax.add,
        window_dimensions=(1, 2, 2),
        window_strides=(1, 1, 1),
        padding="VALID",
    )
    calls["windows"] = (windows, x, start)
    if dtype == C64:
        # of complex numbers only their parts tell zeros apart
        calls = {
            name: (lambda *args, f=f: (f(*args).real, f(*args).imag), *args)
            for name, (f, *args) in calls.items()
        }
    each_same_as_jax(calls)


def test_reduce_with_any_body():
    x, y = array(3, 7), array(3, 7, seed=1)

    def combine(a, b):
        return a[0] * b[0], a[1] * b[0] + b[1]

    same_as_jax(
        lambda x, y: lax.reduce((x, y), (np.float32(1), np.float32(0)), combine, (1,)),
        x,
        y,
        rtol=1e-4,
    )


def test_reduce_of_nothing():
    same_as_jax(lambda x: jnp.sum(x, axis=0), array(0, 3))
    text = """(%x: tensor<0xf32>, %i: tensor<f32>) -> tensor<f32> {
      %r = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [0] : (tensor<0xf32>, tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    }"""
    assert body(text, array(0), np.float32(5)) == (5,)


@pytest.mark.parametrize(
    "kind", [lax.cumsum, lax.cumprod, lax.cummax, lax.cummin, lax.cumlogsumexp]
)
@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative(kind, reverse):
    x = array(3, 37)
    same_as_jax(partial(kind, axis=1, reverse=reverse), x, reduction_length=64)


WINDOWS = [
    ((2, 2), (2, 2), "VALID", (1, 1), (1, 1)),
    ((3, 2), (1, 2), "SAME", (1, 1), (1, 1)),
    ((3, 3), (2, 1), [(1, 2), (0, 3)], (1, 1), (2, 1)),
    ((2, 3), (1, 1), [(0, 1), (2, 2)], (2, 3), (1, 2)),
    ((7, 6), (1, 1), [(6, 0), (5, 0)], (1, 1), (1, 1)),
    ((9, 9), (1, 1), "VALID", (1, 1), (1, 1)),
]


@pytest.mark.parametrize("kind", ["sum", "max", "min", "prod", "any"])
@pytest.mark.parametrize("dtype", [F32, BF16, I32], ids=str)
def test_reduce_window(kind, dtype):
    x = array(7, 8, dtype=dtype)
    function, init = {
        "sum": (lax.add, 0), "max": (lax.max, -9), "min": (lax.min, 9),
        "prod": (lax.mul, 1), "any": (lambda a, b: a + b, 0),
    }[kind]  # fmt: skip
    init = np.array(init, dtype)
    calls = {}
    for config in WINDOWS:
        window, strides, padding, base, dilation = config
        reduce = partial(
            lax.reduce_window,
            computation=function,
            window_dimensions=window,
            window_strides=strides,
            padding=padding,
            base_dilation=base,
            window_dilation=dilation,
        )
        calls[str(config)] = reduce, x, init
    each_same_as_jax(calls, reduction_length=81)


def test_reduce_window_of_pairs():
    x, y = array(11), np.arange(11, dtype=np.int32)

    def larger(a, b):
        first = a[0] >= b[0]
        return jnp.where(first, a[0], b[0]), jnp.where(first, a[1], b[1])

    same_as_jax(
        lambda x, y: lax.reduce_window(
            (x, y), (np.float32(-np.inf), np.int32(-1)), larger, (4,), (2,), [(2, 1)]
        ),
        x,
        y,
    )


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("strides", [(1, 1), (2, 2), (2, 3)])
def test_max_pool_gradient(padding, strides):
    """select_and_scatter, with overlapping windows."""
    x = np.round(array(7, 8) * 3)

    def pool(x):
        return lax.reduce_window(x, -np.inf, lax.max, (3, 3), strides, padding)

    same_as_jax(lambda x: jax.grad(lambda x: (pool(x) ** 2).sum())(x), x)


# sorting


@pytest.mark.parametrize("dtype", [F32, BF16, F16, F64, I8, I32, U8, BOOL], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_sort(dtype, axis):
    x = array(7, 9, dtype=dtype)
    same_as_jax(lambda x: lax.sort(x, dimension=axis), x)


def test_sort_special_values():
    x = np.array([np.nan, 1, -0.0, 0.0, -np.inf, np.inf, -1, np.nan, 0.0], np.float32)
    found = same_as_jax(lambda x: lax.sort(x), x)
    assert np.isnan(found[0][-2:]).all()
    index = np.arange(9)
    same_as_jax(lambda x, i: lax.sort((x, i), num_keys=1), x, index)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 8, 17, 100])
@pytest.mark.parametrize("keys", [1, 2, 3])
def test_sort_by_several_keys(keys, size):
    a = array(2, size, dtype=I32)
    b = array(2, size, seed=1)
    c = np.broadcast_to(np.arange(size), (2, size)).copy()
    same_as_jax(lambda *x: lax.sort(x, dimension=1, num_keys=keys), a, b, c)


def test_sort_downwards_is_stable():
    text = """(%a: tensor<6xi32>, %b: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
      %r:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<i32>, %v: tensor<i32>):
        %p = stablehlo.compare GT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }) : (tensor<6xi32>, tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>)
      return %r#0, %r#1 : tensor<6xi32>, tensor<6xi32>
    }"""
    a = np.array([1, 2, 1, 2, 3, 1], np.int32)
    same_as_xla(text, a, np.arange(6, dtype=np.int32))


@pytest.mark.parametrize("direction", ["LE", "GE"])
def test_a_comparator_that_puts_equal_elements_before_each_other(direction):
    """They stay in their order, as with LT and GT, in every form of the program."""
    text = f"""func.func @main(%a: tensor<7xi32>, %b: tensor<7xi32>) -> (tensor<7xi32>, tensor<7xi32>) {{
      %r:2 = "stablehlo.sort"(%a, %b) <{{dimension = 0 : i64, is_stable = true}}> ({{
      ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<i32>, %v: tensor<i32>):
        %p = stablehlo.compare {direction}, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }}) : (tensor<7xi32>, tensor<7xi32>) -> (tensor<7xi32>, tensor<7xi32>)
      return %r#0, %r#1 : tensor<7xi32>, tensor<7xi32>
    }}"""
    a = np.array([1, 2, 1, 2, 3, 1, 2], np.int32)
    order = np.argsort(a if direction == "LE" else -a, kind="stable")
    program = ttxdsl.load(text)
    for form in (program, program.lower("ttnn")):
        keys, places = form.simulate(a, np.arange(7, dtype=np.int32))
        np.testing.assert_array_equal(keys, a[order])
        np.testing.assert_array_equal(places, order)


@pytest.mark.parametrize("dtype", [F32, BF16, I32, U8], ids=str)
def test_top_k(dtype):
    x = array(4, 9, dtype=dtype)
    if dtype == F32:
        x[1, 3], x[2, 2] = np.nan, np.inf
    same_as_jax(lambda x: lax.top_k(x, 4), x)


# gather and scatter


@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
@pytest.mark.parametrize("dtype", [F32, BF16, I32, BOOL, C64], ids=str)
def test_take(mode, dtype):
    x = array(5, 6, 4, dtype=dtype)
    index = np.array([[0, 4], [2, 1]])
    if mode != "promise_in_bounds":
        index = np.array([[0, 9], [-1, -7]])
    for axis in (0, 1, 2):
        same_as_jax(
            lambda x, i, a=axis: jnp.moveaxis(x, a, 0).at[i].get(mode=mode), x, index
        )


def test_gather_forms():
    x = array(5, 6, 4)
    i, j = np.array([[0, 1, 4], [3, 2, 2]]), np.array([5, 0, 2])
    same_as_jax(lambda x, i, j: x[i, j], x, i, j)
    same_as_jax(lambda x, i, j: x[i, :, j % 4], x, i, j)
    same_as_jax(
        lambda x, i: jnp.take_along_axis(x, i, axis=0), x, np.zeros((2, 6, 4), int)
    )
    same_as_jax(
        jax.vmap(lambda x, i: lax.dynamic_slice(x, (i, 1), (2, 3))),
        x,
        np.array([0, 4, 9, -5, 2]),
    )
    same_as_jax(
        lambda x, i: lax.gather(
            x,
            i,
            lax.GatherDimensionNumbers((1, 2), (0,), (0, 2)),
            (1, 3, 2),
            mode="clip",
        ),
        x,
        np.array([[0, 0], [4, 2], [7, 3], [-1, 1]]),
    )


@pytest.mark.parametrize("name", ["set", "add", "mul", "min", "max", "apply"])
@pytest.mark.parametrize("dtype", [F32, BF16, I32], ids=str)
def test_scatter(name, dtype):
    x = array(5, 6, dtype=dtype)
    index = np.array([0, 3, 3, 9, -1, 2])
    update = array(6, 6, dtype=dtype, seed=1)
    if name == "set":
        # which of several updates stays is not said
        index = np.array([0, 3, 1, 9, -1, 2])
    if name == "apply":
        same_as_jax(lambda x, i: x.at[i].apply(lambda v: v * 2), x, np.array([0, 3, 9]))
        return
    same_as_jax(
        lambda x, i, u: getattr(x.at[i], name)(u), x, index, update, reduction_length=4
    )


def test_scatter_forms():
    x = array(5, 6, 4)
    i, j = np.array([0, 1, 4, 1]), np.array([5, 0, 2, 0])
    same_as_jax(lambda x, i, j, u: x.at[i, j].add(u), x, i, j, array(4, 4, seed=1))
    same_as_jax(lambda x, i, u: x.at[:, i].add(u), x, i, array(5, 4, 4, seed=1))
    same_as_jax(
        jax.vmap(lambda x, i, u: x.at[i].set(u)),
        x,
        np.array([0, 5, 2, 9, 1]),
        array(5, 4, seed=2),
    )
    same_as_jax(
        jax.grad(lambda x, i: (x[i] ** 2).sum()), x, np.array([[0, 0, 0], [4, 1, 0]])
    )
    same_as_jax(
        jax.vmap(lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 1))),
        x,
        array(5, 2, 3, seed=3),
        np.array([0, 4, 9, -5, 2]),
    )


def test_scatter_with_any_body():
    text = """(%x: tensor<3xf32>, %i: tensor<5x1xi32>, %u: tensor<5xf32>) -> tensor<3xf32> {
      %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %h = stablehlo.constant dense<0.5> : tensor<f32>
        %c = stablehlo.multiply %a, %h : tensor<f32>
        %s = stablehlo.add %c, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<3xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<3xf32>
      return %r : tensor<3xf32>
    }"""
    index = np.array([[0], [2], [0], [5], [0]], np.int32)
    same_as_xla(text, array(3), index, array(5, seed=1))


# control flow


def test_while_if_case_map():
    same_as_jax(lambda n: lax.fori_loop(0, n, lambda i, x: x * 2 + i, 1), np.int32(7))
    same_as_jax(
        lambda x: lax.while_loop(lambda x: x < 100, lambda x: x * 3, x), np.float32(2)
    )
    for value in (True, False):
        same_as_jax(
            lambda p, x: lax.cond(p, lambda x: x + 1, lambda x: x * 2, x),
            np.array(value),
            array(3),
        )
    for index in (-1, 0, 1, 2, 5):
        same_as_jax(
            lambda i, x: lax.switch(i, [lambda x: x, lambda x: -x, lambda x: x * x], x),
            np.int32(index),
            array(3),
        )
    same_as_jax(
        lambda x: lax.map(lambda r: r.sum() + r, x), array(4, 3), reduction_length=3
    )
    same_as_jax(
        lambda x: lax.scan(lambda c, r: (c + r, c * r), np.zeros(3, np.float32), x),
        array(4, 3),
    )


def test_while_whose_condition_differs_by_element():
    same_as_jax(
        jax.vmap(lambda x: lax.while_loop(lambda x: x < 100, lambda x: x * 3, x)),
        np.array([1, 200, 5, 99], np.float32),
    )


def test_map_op():
    text = """(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %r = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %p = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %s = stablehlo.select %p, %x, %y : tensor<i1>, tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    }"""
    same_as_xla(text, array(2, 3), array(2, 3, seed=1))


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


@pytest.mark.parametrize("feature", [0, 1, 2])
def test_batch_norm(feature):
    x = array(3, 4, 5)
    n = x.shape[feature]
    vectors = [array(n, seed=s) for s in (1, 2, 3)] + [np.abs(array(n, seed=4)) + 0.5]
    v = f"tensor<{n}xf32>"
    t = "tensor<3x4x5xf32>"
    said = f"epsilon = 0.001 : f32, feature_index = {feature} : i64"
    text = f"""(%x: {t}, %s: {v}, %o: {v}, %m: {v}, %v: {v}) -> {t} {{
      %r = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) <{{{said}}}> : ({t}, {v}, {v}, {v}, {v}) -> {t}
      return %r : {t}
    }}"""
    same_as_xla(text, x, *vectors, rtol=1e-5)
    text = f"""(%x: {t}, %s: {v}, %o: {v}) -> ({t}, {v}, {v}) {{
      %r:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{{{said}}}> : ({t}, {v}, {v}) -> ({t}, {v}, {v})
      return %r#0, %r#1, %r#2 : {t}, {v}, {v}
    }}"""
    same_as_xla(text, x, *vectors[:2], rtol=1e-4)
    text = f"""(%x: {t}, %s: {v}, %m: {v}, %v: {v}, %g: {t}) -> ({t}, {v}, {v}) {{
      %r:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) <{{{said}}}> : ({t}, {v}, {v}, {v}, {t}) -> ({t}, {v}, {v})
      return %r#0, %r#1, %r#2 : {t}, {v}, {v}
    }}"""
    scale, _, mean, variance = vectors
    same_as_xla(text, x, scale, mean, variance, array(3, 4, 5, seed=9), rtol=1e-4)


def test_a_body_of_as_many_dimensions_as_the_mesh_has_axes():
    """Numbers of a body have elements in front, eight by six of them, and no devices."""
    text = """
    sdy.mesh @mesh = <["a"=2, "b"=2]>
    func.func @main(%y: tensor<8xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<8xi64>, tensor<8xi64>) {
      %c = stablehlo.iota dim = 1 : tensor<8x12xi64>
      %i = stablehlo.constant dense<-1> : tensor<i64>
      %0 = "stablehlo.reduce"(%c, %i) <{dimensions = array<i64: 1>}> ({
      ^bb0(%p: tensor<i64>, %q: tensor<i64>):
        %1 = stablehlo.and %p, %p : tensor<i64>
        stablehlo.return %1 : tensor<i64>
      }) : (tensor<8x12xi64>, tensor<i64>) -> tensor<8xi64>
      return %0, %y : tensor<8xi64>, tensor<8xi64>
    }"""
    program = ttxdsl.load(text)
    y = np.zeros(8, np.int64)
    wanted = program.simulate(y)[0]
    np.testing.assert_array_equal(program.partition().simulate(y)[0], wanted)
