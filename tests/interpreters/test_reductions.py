"""Reductions, windows and running sums against JAX on the CPU."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.interpreters.arrays import (
    ALL,
    BF16,
    BOOL,
    C64,
    F16,
    F32,
    F64,
    I32,
    U8,
    array,
)
from tests.interpreters.reference import body, each_same_as_jax, same_as_jax

pytestmark = pytest.mark.usefixtures("no_warnings")


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
