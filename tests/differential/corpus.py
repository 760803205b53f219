"""Programs that JAX makes, one or more an op family and parameter style.

Run as a script it prints one JSON line a program, or each that an argument names: its
name and its text as jaxlib prints it, pretty, generic and with debug info. To add a program, add a line to a
table below, or decorate a function with `@program`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from tests.differential.made_by_jax import EIGHT_DEVICES, made_by_jax


@dataclass(frozen=True)
class Program:
    """A program in the three forms that jaxlib prints."""

    name: str
    pretty: str
    generic: str
    debug: str


@cache
def programs(*names: str, python: str = sys.executable) -> tuple[Program, ...]:
    """Every program, or some, made in a process of its own: eight devices, 64-bit types.

    Args:
        names: of the programs; all if there are none.
        python: whose JAX makes them.
    """
    if names and python == sys.executable:
        # a process for each would import JAX each time
        return tuple(one for one in programs() if one.name in names)
    settings = EIGHT_DEVICES | {"JAX_ENABLE_X64": "1"}
    made = made_by_jax(__name__, *names, python=python, **settings)
    return tuple(Program(**one) for one in made)


_MADE: dict[str, Callable[[], Any]] = {}


def program(make: Callable[[], Any]) -> Callable[[], Any]:
    """Register a function that answers with something JAX has lowered."""
    _MADE[make.__name__.strip("_")] = make
    return make


def _tables() -> None:
    """Fill the table of programs; JAX is imported here, in the worker only."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax

    shape = jax.ShapeDtypeStruct
    f32, f64, f16, bf16 = jnp.float32, jnp.float64, jnp.float16, jnp.bfloat16
    i8, i32, i64, u8, u32 = jnp.int8, jnp.int32, jnp.int64, jnp.uint8, jnp.uint32
    c64, c128, pred = jnp.complex64, jnp.complex128, jnp.bool_
    v, m, t = (4,), (4, 6), (2, 4, 6)

    def of(dtype: Any, *shapes: tuple[int, ...]) -> list[Any]:
        return [shape(one, dtype) for one in shapes]

    def add(
        name: str, function: Callable[..., Any], *args: Any, **options: Any
    ) -> None:
        assert name not in _MADE, name
        _MADE[name] = lambda: jax.jit(function, **options).lower(*args)

    def add_grad(name: str, function: Callable[..., Any], *args: Any) -> None:
        """The function and its gradient with respect to all arguments."""
        add(name, function, *args)

        def loss(*values: Any) -> Any:
            return jnp.sum(jnp.real(function(*values)) ** 2)

        add(f"{name}_grad", jax.grad(loss, argnums=tuple(range(len(args)))), *args)

    # one operand, by element type
    for dtype in (f32, f64, f16, bf16):
        name = jnp.dtype(dtype).name
        for one in (
            jnp.abs, lax.cbrt, jnp.ceil, jnp.cos, jnp.exp, jnp.expm1, jnp.floor,
            jnp.isfinite, jnp.log, jnp.log1p, lax.logistic, jnp.negative, jnp.round,
            lax.rsqrt, jnp.sign, jnp.sin, jnp.sqrt, jnp.tan, jnp.tanh, lax.square,
        ):  # fmt: skip
            if dtype in (f32, bf16) or one in (jnp.exp, lax.rsqrt, jnp.isfinite):
                add(f"{one.__name__}_{name}", one, *of(dtype, m))
    for dtype in (i8, i32, i64, u8, u32):
        name = jnp.dtype(dtype).name
        add(f"not_{name}", jnp.invert, *of(dtype, v))
        add(f"popcount_{name}", lax.population_count, *of(dtype, v))
        add(f"clz_{name}", lax.clz, *of(dtype, v))
        add(f"sign_{name}", jnp.sign, *of(dtype, v))
        add(f"int_pow_{name}", lambda x: x**3, *of(dtype, v))
        add(f"divmod_{name}", jnp.divmod, *of(dtype, v, v))
    for dtype in (c64, c128):
        name = jnp.dtype(dtype).name
        add_grad(f"complex_{name}", lambda x: jnp.exp(x) * jnp.conj(x), *of(dtype, m))
        add(f"abs_{name}", jnp.abs, *of(dtype, v))
        add(f"angle_{name}", jnp.angle, *of(dtype, v))
        add(f"real_imag_{name}", lambda x: (x.real, x.imag), *of(dtype, v))
    add("make_complex", lax.complex, *of(f32, m, m))
    add(
        "round_away",
        lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        *of(f32, v),
    )
    add("not_pred", jnp.logical_not, *of(pred, m))
    add(
        "accuracy_highest",
        lambda x: lax.exp(x, accuracy=lax.AccuracyMode.HIGHEST),
        *of(f32, m),
    )
    add(
        "accuracy_tolerance",
        lambda x: lax.tanh(x, accuracy=lax.Tolerance(1e-5, 1e-6, 2)),
        *of(f32, m),
    )

    # chlo
    for one in (
        lax.acos, lax.acosh, lax.asin, lax.asinh, lax.atan, lax.atanh, lax.cosh,
        lax.sinh, lax.digamma, lax.erf, lax.erfc, lax.erf_inv, lax.lgamma,
        lax.bessel_i1e,
    ):  # fmt: skip
        add_grad(f"chlo_{one.__name__}", one, *of(f32, m))
    add("chlo_acos_complex", lax.acos, *of(c64, m))
    add("chlo_nextafter", lax.nextafter, *of(f32, m, m))
    add("chlo_polygamma", lax.polygamma, *of(f32, m, m))
    add("chlo_zeta", lax.zeta, *of(f32, m, m))
    add("chlo_top_k", lambda x: lax.top_k(x, 2), *of(f32, t))
    add_grad("chlo_square", lax.square, *of(f32, m))
    add("ragged_dot", lax.ragged_dot, *of(f32, (8, 4), (3, 4, 5)), *of(i32, (3,)))

    # two operands
    for one in (
        jnp.add, jnp.subtract, jnp.multiply, jnp.divide, jnp.maximum, jnp.minimum,
        jnp.power, lax.atan2, lax.rem,
    ):  # fmt: skip
        add_grad(f"{one.__name__}_f32", one, *of(f32, m, m))
        add(f"{one.__name__}_bf16", one, *of(bf16, m, m))
    for one in (
        jnp.bitwise_and, jnp.bitwise_or, jnp.bitwise_xor, lax.shift_left,
        lax.shift_right_arithmetic, lax.shift_right_logical, jnp.maximum, lax.mulhi,
    ):  # fmt: skip
        add(f"{one.__name__}_i32", one, *of(i32, m, m))
        add(f"{one.__name__}_u32", one, *of(u32, m, m))
    add("logical", lambda x, y: (x & y) | (x ^ y), *of(pred, m, m))
    for dtype in (f32, i32, u32, pred, c64):
        name = jnp.dtype(dtype).name
        add(f"compare_{name}", lambda x, y: (x == y, x != y), *of(dtype, m, m))
    add("compare_order", lambda x, y: (x < y, x <= y, x > y, x >= y), *of(f64, m, m))

    # three operands
    add_grad("where", lambda x, y: jnp.where(x > 0, x, y), *of(f32, m, m))
    add(
        "select_scalar",
        lambda p, x, y: lax.select(p, x, y),
        *of(pred, ()),
        *of(f32, m, m),
    )
    add("select_n", lambda p, *x: lax.select_n(p, *x), *of(i32, m), *of(f32, m, m, m))
    add_grad("clamp", lambda x: jnp.clip(x, -1.0, 1.0), *of(f32, m))
    add("clamp_full", lax.clamp, *of(f32, m, m, m))

    # element types
    for source in (f32, i32, u8, pred, bf16):
        for target in (f64, i8, bf16, c64, pred, jnp.float8_e4m3fn):
            pair = f"{jnp.dtype(source).name}_{jnp.dtype(target).name}"
            add(
                f"convert_{pair}",
                partial(lax.convert_element_type, new_dtype=target),
                *of(source, v),
            )
    add("bitcast_same", lambda x: lax.bitcast_convert_type(x, u32), *of(f32, m))
    add("bitcast_narrow", lambda x: lax.bitcast_convert_type(x, u8), *of(f32, m))
    add("bitcast_wide", lambda x: lax.bitcast_convert_type(x, f32), *of(u8, (3, 4)))
    add("reduce_precision", lambda x: lax.reduce_precision(x, 5, 2), *of(f32, m))
    for dtype in (
        jnp.float8_e4m3fn,
        jnp.float8_e5m2,
        jnp.float8_e4m3b11fnuz,
        jnp.float8_e8m0fnu,
        jnp.float4_e2m1fn,
        jnp.int4,
        jnp.uint4,
        jnp.int2,
    ):
        name = jnp.dtype(dtype).name
        add(f"narrow_{name}", lambda x: x.astype(f32) + 1, *of(dtype, m))
        add(
            f"narrow_constant_{name}",
            lambda x, one=dtype: x + jnp.array([0, 1, 1, 0], one).astype(f32),
            *of(f32, v),
        )

    # shapes
    add_grad("broadcast", lambda x: jnp.broadcast_to(x, (3, *m)), *of(f32, m))
    add_grad("reshape", lambda x: x.reshape(6, 4), *of(f32, m))
    add_grad("transpose", lambda x: x.transpose(2, 0, 1), *of(f32, t))
    add("iota", lambda: lax.broadcasted_iota(f32, t, 1))
    add("iota_complex", lambda: lax.broadcasted_iota(c64, v, 0))
    add_grad("reverse", lambda x: lax.rev(x, (0, 2)), *of(f32, t))
    add_grad("slice", lambda x: x[1:4:2, ::3], *of(f32, m))
    add_grad("slice_reverse", lambda x: x[::-1, 2:], *of(f32, m))
    add_grad(
        "pad", lambda x: lax.pad(x, np.float32(0), [(1, 2, 0), (-1, 1, 2)]), *of(f32, m)
    )
    add("pad_edge", lambda x: jnp.pad(x, 2, mode="edge"), *of(f32, m))
    add_grad(
        "concatenate", lambda x, y: jnp.concatenate([x, y], 1), *of(f32, m, (4, 2))
    )
    add("concatenate_one", lambda x: lax.concatenate([x], 0), *of(f32, m))
    add("stack_split", lambda x: jnp.split(jnp.stack([x, x]), 2), *of(f32, m))
    add("roll", lambda x: jnp.roll(x, 2, 1), *of(f32, m))
    add("tile", lambda x: jnp.tile(x, (2, 3)), *of(f32, m))
    add("squeeze", lambda x: x[None, :, None].squeeze(0), *of(f32, m))
    add("empty", lambda x: jnp.concatenate([x, jnp.zeros((4, 6))]), *of(f64, (0, 6)))
    add("empty_reduce", lambda x: x.sum(0), *of(f32, (0, 3)))
    add_grad(
        "dynamic_slice", lambda x: lax.dynamic_slice(x, (1, 2), (2, 3)), *of(f32, m)
    )
    add(
        "dynamic_slice_index",
        lambda x, i: lax.dynamic_slice(x, (i, i), (2, 3)),
        *of(f32, m),
        *of(i32, ()),
    )
    add(
        "dynamic_update_slice",
        lambda x, y, i: lax.dynamic_update_slice(x, y, (i, i)),
        *of(f32, m, (2, 2)),
        *of(i32, ()),
    )
    add(
        "dynamic_index",
        lambda x, i: lax.dynamic_index_in_dim(x, i, 1),
        *of(f32, t),
        *of(i64, ()),
    )
    add("dynamic_scalar", lambda x: lax.dynamic_slice(x, (), ()), *of(f32, ()))

    # indexing
    add_grad("take_rows", lambda x: x[jnp.array([2, 0, 1])], *of(f32, m))
    add("take_index", lambda x, i: x[i], *of(f32, m), *of(i32, (3, 2)))
    add("take_two", lambda x, i, j: x[i, j], *of(f32, m), *of(i32, (3,), (3,)))
    add(
        "take_clip",
        lambda x, i: jnp.take(x, i, axis=1, mode="clip"),
        *of(f32, m),
        *of(i32, (2,)),
    )
    add(
        "take_fill",
        lambda x, i: jnp.take(x, i, axis=1, mode="fill"),
        *of(f32, m),
        *of(u32, (2,)),
    )
    add(
        "take_along",
        lambda x, i: jnp.take_along_axis(x, i, 1),
        *of(f32, m),
        *of(i32, (4, 2)),
    )
    add(
        "take_sorted",
        lambda x, i: x.at[i].get(indices_are_sorted=True, unique_indices=True),
        *of(f32, m),
        *of(i32, (3,)),
    )
    add("take_batched", jax.vmap(lambda x, i: x[i]), *of(f32, t), *of(i32, (2, 3)))
    for one in ("set", "add", "multiply", "min", "max"):
        add(
            f"scatter_{one}",
            lambda x, i, y, one=one: getattr(x.at[i], one)(y),
            *of(f32, m),
            *of(i32, (3,)),
            *of(f32, (3, 6)),
        )
    add(
        "scatter_apply",
        lambda x, i: x.at[i].apply(jnp.sin),
        *of(f32, m),
        *of(i32, (3,)),
    )
    add(
        "scatter_drop",
        lambda x, i: x.at[i, 1].set(0.0, mode="drop", unique_indices=True),
        *of(f32, m),
        *of(i32, (3,)),
    )
    add(
        "scatter_batched",
        jax.vmap(lambda x, i, y: x.at[i].add(y)),
        *of(f32, m),
        *of(i32, (4, 2)),
        *of(f32, (4, 2)),
    )
    add("scatter_pred", lambda x, i: x.at[i].set(True), *of(pred, m), *of(i32, (3,)))
    add(
        "scatter_sub",
        lambda x, i: lax.scatter_sub(
            x, i, jnp.ones((3, 6), f32), lax.ScatterDimensionNumbers((1,), (0,), (0,))
        ),
        *of(f32, m),
        *of(i32, (3, 1)),
    )

    # products
    add_grad("matmul", jnp.matmul, *of(f32, m, (6, 3)))
    add("matmul_vector", jnp.matmul, *of(f32, v, v))
    add_grad("matmul_batch", jnp.matmul, *of(f32, t, (2, 6, 3)))
    add_grad("einsum", lambda x, y: jnp.einsum("bij,bkj->bik", x, y), *of(f32, t, t))
    add("outer", jnp.outer, *of(f32, v, v))
    add(
        "matmul_int",
        lambda x, y: lax.dot(x, y, preferred_element_type=i32),
        *of(i8, m, (6, 3)),
    )
    add(
        "matmul_bf16",
        lambda x, y: lax.dot(x, y, preferred_element_type=f32),
        *of(bf16, m, (6, 3)),
    )
    add(
        "matmul_highest",
        lambda x, y: lax.dot(x, y, precision="highest"),
        *of(f32, m, (6, 3)),
    )
    add(
        "matmul_mixed",
        lambda x, y: lax.dot(x, y, precision=("high", "highest")),
        *of(f32, m, (6, 3)),
    )
    for one in ("BF16_BF16_F32_X3", "F32_F32_F32", "F64_F64_F64"):
        add(
            f"matmul_{one}",
            lambda x, y, one=one: lax.dot_general(
                x, y, (((1,), (0,)), ((), ())), precision=lax.DotAlgorithmPreset[one]
            ),
            *of(f32, m, (6, 3)),
        )
    add("matmul_complex", jnp.matmul, *of(c64, m, (6, 3)))

    # linear algebra
    s = (3, 3)
    add_grad("cholesky", jnp.linalg.cholesky, *of(f32, s))
    add(
        "cholesky_upper",
        lambda x: jnp.linalg.cholesky(x, upper=True),
        *of(f64, (2, 3, 3)),
    )
    for side in (True, False):
        add(
            f"triangular_solve_{side}",
            lambda a, b, side=side: lax.linalg.triangular_solve(
                a,
                b,
                left_side=side,
                lower=True,
                transpose_a=side,
                unit_diagonal=not side,
            ),
            *of(f32, s, s),
        )
    add(
        "triangular_solve_conj",
        lambda a, b: lax.linalg.triangular_solve(
            a, b, left_side=True, conjugate_a=True, transpose_a=True
        ),
        *of(c64, s, s),
    )
    add("qr", jnp.linalg.qr, *of(f32, m))
    add("svd", jnp.linalg.svd, *of(f32, m))
    add("eigh", jnp.linalg.eigh, *of(f32, s))
    add("lu_solve", jnp.linalg.solve, *of(f32, s, s))
    add("det", jnp.linalg.det, *of(f32, s))
    for one in ("fft", "ifft", "fft2", "fftn"):
        add(one, getattr(jnp.fft, one), *of(c64, m))
    add_grad("rfft", jnp.fft.rfft, *of(f32, m))
    add_grad("irfft", jnp.fft.irfft, *of(c64, m))

    # reductions
    for one in ("sum", "prod", "max", "min", "mean", "var", "std", "any", "all"):
        add(
            f"reduce_{one}",
            lambda x, one=one: getattr(jnp, one)(x, axis=1),
            *of(f32, t),
        )
        add(f"reduce_{one}_all", lambda x, one=one: getattr(jnp, one)(x), *of(bf16, m))
    for one in ("sum", "max", "prod"):
        add_grad(
            f"reduce2_{one}",
            lambda x, one=one: getattr(jnp, one)(x, axis=(0, 2)),
            *of(f32, t),
        )
    add("reduce_and", lambda x: lax.reduce_and(x, (0,)), *of(i32, m))
    add("reduce_xor", lambda x: lax.reduce_xor(x, (0, 1)), *of(u32, m))
    add("argmax", lambda x: jnp.argmax(x, 1), *of(f32, m))
    add("argmin_index", lambda x: lax.argmin(x, 0, jnp.int8), *of(i32, m))
    add(
        "reduce_two",
        lambda x, y: lax.reduce(
            (x, y),
            (np.float32(0), np.int32(1)),
            lambda a, b: (a[0] + b[0], a[1] * b[1]),
            (1,),
        ),
        *of(f32, m),
        *of(i32, m),
    )
    add(
        "reduce_custom",
        lambda x: lax.reduce(x, np.float32(0), lambda a, b: jnp.tanh(a) + b * 2, (0,)),
        *of(f32, m),
    )
    add(
        "reduce_subtract",
        lambda x: lax.reduce(x, np.float32(0), lambda a, b: b + a, (0,)),
        *of(f32, m),
    )
    add_grad("logsumexp", lambda x: jax.nn.logsumexp(x, 1), *of(f32, m))
    add_grad("softmax", jax.nn.softmax, *of(f32, m))
    add("softmax_f16", jax.nn.softmax, *of(f16, m))
    add("norm", jnp.linalg.norm, *of(f32, m))
    add("map", lambda x: lax.map(jnp.sin, x), *of(f32, m))

    # sorts
    add("sort", lambda x: jnp.sort(x, 0), *of(f32, m))
    add("sort_descending", lambda x: jnp.sort(x, descending=True), *of(i32, m))
    add("argsort", jnp.argsort, *of(f32, m))
    add(
        "sort_keys",
        lambda x, y: lax.sort((x, y), num_keys=2, is_stable=False),
        *of(i32, m),
        *of(f32, m),
    )
    add("sort_complex", jnp.sort, *of(c64, v))
    add("median", jnp.median, *of(f32, m))
    add("unique", lambda x: jnp.unique(x, size=3), *of(i32, v))
    add("searchsorted", jnp.searchsorted, *of(f32, v, v))
    add("approx_max_k", lambda x: lax.approx_max_k(x, 2), *of(f32, m))

    # windows
    for one in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
        add_grad(one, lambda x, one=one: getattr(lax, one)(x, axis=1), *of(f32, m))
        add(
            f"{one}_reverse",
            lambda x, one=one: getattr(lax, one)(x, axis=0, reverse=True),
            *of(f32, m),
        )
    image = (2, 8, 8, 3)
    window, strides = (1, 2, 2, 1), (1, 2, 2, 1)
    add_grad(
        "max_pool",
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, window, strides, "VALID"),
        *of(f32, image),
    )
    add_grad(
        "avg_pool",
        lambda x: lax.reduce_window(x, 0.0, lax.add, window, strides, "SAME"),
        *of(f32, image),
    )
    add(
        "min_pool",
        lambda x: lax.reduce_window(x, jnp.inf, lax.min, window, strides, "SAME"),
        *of(f32, image),
    )
    add(
        "pool_dilated",
        lambda x: lax.reduce_window(
            x,
            np.float32(0),
            lax.add,
            (1, 2, 2, 1),
            (1, 1, 1, 1),
            ((0, 0), (1, 0), (0, 1), (0, 0)),
            (1, 2, 1, 1),
            (1, 1, 2, 1),
        ),
        *of(f32, image),
    )
    add(
        "pool_custom",
        lambda x, y: lax.reduce_window(
            (x, y),
            (np.float32(0), np.int32(0)),
            lambda a, b: (a[0] * b[0], a[1] + b[1]),
            (2, 2),
            (1, 1),
            "VALID",
        ),
        *of(f32, m),
        *of(i32, m),
    )
    kernel = (3, 3, 3, 4)
    nhwc = ("NHWC", "HWIO", "NHWC")
    conv = partial(lax.conv_general_dilated, dimension_numbers=nhwc)
    add_grad(
        "conv2d",
        partial(conv, window_strides=(1, 1), padding="SAME"),
        *of(f32, image, kernel),
    )
    add_grad(
        "conv2d_stride",
        partial(conv, window_strides=(2, 2), padding=[(1, 0), (2, 1)]),
        *of(f32, image, kernel),
    )
    add(
        "conv2d_dilated",
        partial(conv, window_strides=(1, 1), padding="VALID", rhs_dilation=(2, 1)),
        *of(f32, image, kernel),
    )
    add(
        "conv2d_transposed",
        lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=nhwc),
        *of(f32, image, kernel),
    )
    add_grad(
        "conv2d_depthwise",
        partial(conv, window_strides=(1, 1), padding="SAME", feature_group_count=3),
        *of(f32, image, (3, 3, 1, 6)),
    )
    add(
        "conv2d_batch_group",
        partial(conv, window_strides=(1, 1), padding="SAME", batch_group_count=2),
        *of(f32, image, kernel),
    )
    add(
        "conv1d",
        lambda x, k: lax.conv(x, k, (1,), "VALID"),
        *of(f32, (2, 3, 8), (4, 3, 3)),
    )
    add(
        "conv3d",
        lambda x, k: lax.conv_general_dilated(x, k, (1, 1, 1), "SAME"),
        *of(f32, (1, 2, 4, 4, 4), (3, 2, 2, 2, 2)),
    )
    add(
        "conv_precision",
        partial(
            conv,
            window_strides=(1, 1),
            padding="SAME",
            precision="highest",
            preferred_element_type=f32,
        ),
        *of(bf16, image, kernel),
    )
    add(
        "conv_nchw",
        lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME"),
        *of(f32, (2, 3, 8, 8), (4, 3, 3, 3)),
    )
    add("convolve", jnp.convolve, *of(f32, (8,), (3,)))
    add(
        "patches",
        lambda x: lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID"),
        *of(f32, (1, 2, 4, 4)),
    )

    # control flow
    add_grad("cond", lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), *of(f32, m))
    add(
        "switch",
        lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tan], x),
        *of(i32, ()),
        *of(f32, m),
    )
    add(
        "while",
        lambda x: lax.while_loop(
            lambda c: c[0] < 10, lambda c: (c[0] + 1, c[1] * 2), (0, x)
        ),
        *of(f32, m),
    )
    add("fori", lambda x: lax.fori_loop(0, 3, lambda i, y: y + i, x), *of(f32, m))
    add_grad(
        "scan",
        lambda x: lax.scan(lambda c, y: (c + y, c * y), jnp.zeros((6,), f32), x)[1],
        *of(f32, m),
    )
    add(
        "scan_nested",
        lambda x: lax.scan(
            lambda c, y: (lax.fori_loop(0, 2, lambda _, z: z * y, c), None),
            jnp.float32(1),
            x,
        )[0],
        *of(f32, v),
    )
    add("scan_associative", lambda x: lax.associative_scan(jnp.add, x), *of(f32, v))
    add("while_empty", lambda: lax.while_loop(lambda _: False, lambda c: c, ()))
    add_grad("checkpoint", jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), *of(f32, m))
    add("barrier", lax.optimization_barrier, *of(f32, m))
    add("barrier_none", lambda: lax.optimization_barrier(()))
    add(
        "nested_jit",
        lambda x: jax.jit(jax.jit(jnp.sin))(x) + jax.nn.relu(x),
        *of(f32, m),
    )
    add_grad("gelu", jax.nn.gelu, *of(f32, m))
    add_grad("silu", jax.nn.silu, *of(bf16, m))

    # random numbers
    key = shape((2,), u32)
    add("uniform", lambda k: jax.random.uniform(k, v), key)
    add("normal", lambda k: jax.random.normal(k, v), key)
    add("randint", lambda k: jax.random.randint(k, v, 0, 10), key)
    add("split", lambda k: jax.random.split(k, 3), key)
    add("permutation", lambda k: jax.random.permutation(k, 8), key)
    add("bernoulli", lambda k: jax.random.bernoulli(k, 0.3, v), key)
    add("rng_bits", lambda k: lax.rng_bit_generator(k, (4,), u32), *of(u32, (4,)))
    add(
        "rng_bits_philox",
        lambda k: lax.rng_bit_generator(
            k, (4,), jnp.uint64, algorithm=lax.RandomAlgorithm.RNG_PHILOX
        ),
        *of(jnp.uint64, (2,)),
    )
    add("rng_uniform", lambda a, b: lax.rng_uniform(a, b, (3,)), *of(f32, (), ()))

    # constants
    rng = np.random.default_rng(0)
    for name, value in {
        "f32": rng.normal(size=(2, 3)).astype(np.float32),
        "f64": rng.normal(size=(3,)),
        "f16": rng.normal(size=(3,)).astype(np.float16),
        "bf16": rng.normal(size=(3,)).astype(bf16),
        "special": np.array([np.inf, -np.inf, np.nan, -0.0, 1e-45], np.float32),
        "special_f64": np.array([np.inf, np.nan, 5e-324, 1e300]),
        "special_bf16": np.array([np.inf, -np.inf, np.nan, 1.0]).astype(bf16),
        "i8": np.array([[-128, 127]], np.int8),
        "u64": np.array([2**64 - 1, 0], np.uint64),
        "i64": np.array([-(2**63), 2**63 - 1]),
        "pred": np.array([[True, False], [False, False]]),
        "c64": (rng.normal(size=(2,)) + 1j * rng.normal(size=(2,))).astype(
            np.complex64
        ),
        "c128_special": np.array([complex(np.inf, 1), complex(0, -np.nan)]),
        "large_f32": rng.normal(size=(20, 20)).astype(np.float32),
        "large_i64": np.arange(300).reshape(3, 100),
        "large_pred": rng.integers(0, 2, (13, 11)).astype(bool),
        "large_pred_true": np.ones((13, 11), bool),
        "large_c64": (np.arange(150) * (1 + 2j)).astype(np.complex64),
        "large_bf16": np.arange(120).astype(bf16),
        "empty": np.zeros((0, 3), np.float32),
        "scalar_c64": np.complex64(1 - 2j),
        "int4": np.array([-8, 7, 1], jnp.int4),
        "large_int4": np.arange(-8, 120).astype(jnp.int4),
        "f8": np.array([0.5, -448.0, np.nan], jnp.float8_e4m3fn),
    }.items():
        add(
            f"constant_{name}",
            lambda value=value: (
                jnp.asarray(value)
                if value.dtype not in (jnp.int4, jnp.float8_e4m3fn)
                else jnp.asarray(value).astype(f32)
            ),
        )

    # arguments
    add("donated", lambda x, y: (x + 1, y.sum()), *of(f32, m, m), donate_argnums=(0, 1))
    add(
        "named",
        lambda tree: {"b": tree["a"] * 2, "c": [tree["a"]]},
        {"a": shape(m, f32)},
    )
    add("static_result", lambda x: (x, 3, None), *of(f32, m))
    add("unused", lambda x, y: x, *of(f32, m, m), keep_unused=True)

    # calls
    add(
        "ffi",
        lambda x: jax.ffi.ffi_call("target", shape(m, f32), has_side_effect=True)(
            x, eps=np.float32(0.1), name="n", flag=True, dims=np.array([1, 2])
        ),
        *of(f32, m),
    )
    add(
        "ffi_alias",
        lambda x: jax.ffi.ffi_call(
            "target",
            shape(m, f32),
            input_output_aliases={0: 0},
            input_layouts=[(0, 1)],
            output_layouts=(0, 1),
        )(x),
        *of(f32, m),
    )
    add(
        "ffi_old",
        lambda x: jax.ffi.ffi_call(
            'old "target"',
            [shape(m, f32), shape(v, i32)],
            custom_call_api_version=2,
            legacy_backend_config="a\nb",
        )(x),
        *of(f32, m),
    )
    add(
        "composite",
        lambda x: lax.composite(
            lambda y, scale: jnp.sin(y) * scale, "my.op", version=2
        )(x, scale=np.float32(2)),
        *of(f32, m),
    )
    add("composite_plain", lambda x: lax.composite(jnp.sin, "my.plain")(x), *of(f32, m))
    add(
        "platform",
        lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos),
        *of(f32, m),
    )
    add(
        "pure_callback",
        lambda x: jax.pure_callback(lambda y: y, shape(m, f32), x),
        *of(f32, m),
    )

    def effects(x: Any) -> Any:
        jax.debug.print("{x}", x=x, ordered=True)
        jax.debug.callback(lambda y: None, x)
        return x + 1

    add("debug_callbacks", effects, *of(f32, m))

    # programs for several devices
    from jax.sharding import AxisType, NamedSharding, PartitionSpec

    spec = PartitionSpec
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    line = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Auto,))

    def place(*axes: Any) -> NamedSharding:
        return NamedSharding(mesh, spec(*axes))

    def sharded(one: tuple[int, ...], *axes: Any, dtype: Any = f32) -> Any:
        return shape(one, dtype, sharding=place(*axes))

    add(
        "sharded_matmul",
        lambda x, y: x @ y,
        sharded((8, 16), "x", None),
        sharded((16, 8), None, "y"),
    )
    add(
        "constraint",
        lambda x: lax.with_sharding_constraint(jnp.sin(x), place("y", "x")),
        sharded((8, 16), "x", "y"),
    )
    add(
        "constraint_open",
        lambda x: lax.with_sharding_constraint(
            x * 2, place(spec.UNCONSTRAINED, ("x", "y"))
        ),
        *of(f32, (8, 16)),
    )
    add("out_sharding", lambda x: x + 1, *of(f32, (8, 16)), out_shardings=place("x"))
    add(
        "memory_kind",
        lambda x: (
            jax.device_put(x, NamedSharding(mesh, spec("x"), memory_kind="pinned_host"))
            + 1
        ),
        sharded((8, 16), "x"),
    )

    def mapped(
        name: str, function: Callable[..., Any], out: Any = None, **options: Any
    ) -> None:
        add(
            name,
            jax.shard_map(
                function,
                mesh=line,
                in_specs=spec("i"),
                out_specs=spec("i") if out is None else out,
                **options,
            ),
            *of(f32, (16, 8)),
        )

    mapped("psum", lambda x: lax.psum(x, "i"), spec())
    mapped("pmax", lambda x: lax.pmax(x, "i"), spec())
    mapped("pmean_tree", lambda x: lax.pmean({"a": x, "b": x.sum()}, "i"), spec())
    mapped(
        "psum_groups",
        lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1, 2, 3], [4, 5, 6, 7]]),
        spec(),
        check_vma=False,
    )
    mapped(
        "all_gather",
        lambda x: lax.all_gather(x, "i", axis=1),
        spec(None),
        check_vma=False,
    )
    mapped(
        "all_gather_tiled",
        lambda x: lax.all_gather(x, "i", tiled=True),
        spec(None),
        check_vma=False,
    )
    mapped(
        "reduce_scatter",
        lambda x: lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True),
    )
    mapped("all_to_all", lambda x: lax.all_to_all(x, "i", 1, 0, tiled=True))
    mapped(
        "ppermute", lambda x: lax.ppermute(x, "i", [(j, (j + 1) % 8) for j in range(8)])
    )
    mapped("axis_index", lambda x: x + lax.axis_index("i"))
    add(
        "shard_map_2d",
        jax.shard_map(
            lambda x, y: lax.psum(x @ y, "y"),
            mesh=mesh,
            in_specs=(spec("x", "y"), spec("y", None)),
            out_specs=spec("x", None),
        ),
        *of(f32, (8, 16), (16, 8)),
    )
    add(
        "shard_map_partial",
        jax.shard_map(
            lambda x: lax.psum(x, "x"),
            mesh=mesh,
            in_specs=spec("x"),
            out_specs=spec(),
            axis_names={"x"},
        ),
        sharded((8, 16), "x", "y"),
    )
    add_grad(
        "shard_map",
        jax.shard_map(
            lambda x, y: lax.psum(x @ y, "i"),
            mesh=line,
            in_specs=(spec(None, "i"), spec("i")),
            out_specs=spec(),
        ),
        *of(f32, (8, 16), (16, 8)),
    )
    add(
        "pmap",
        lambda x: jax.vmap(lambda y: lax.psum(y, "b"), axis_name="b")(x),
        *of(f32, m),
    )

    explicit = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)

    @program
    def explicit_mode() -> Any:
        with jax.set_mesh(explicit):
            inputs = shape(
                (8, 16), f32, sharding=NamedSharding(explicit, spec("x", "y"))
            )
            function = jax.jit(lambda x: jax.nn.softmax(jnp.sin(x) * x, axis=1).sum())
            return function.lower(inputs)

    # dynamic shapes
    def symbolic(
        name: str, function: Callable[..., Any], *shapes: str, dtype: Any = f32
    ) -> None:
        scope = jax.export.SymbolicScope()

        def make() -> Any:
            args = [
                shape(jax.export.symbolic_shape(one, scope=scope), dtype)
                for one in shapes
            ]
            return jax.export.export(jax.jit(function))(*args)

        _MADE[name] = make

    import jax.export

    symbolic("symbolic_add", lambda x: x + 1, "b, 4")
    symbolic("symbolic_matmul", lambda x, y: x @ y, "b, 4", "4, c")
    symbolic("symbolic_reshape", lambda x: x.reshape(-1), "b, 4")
    symbolic("symbolic_iota", lambda x: x + jnp.arange(x.shape[0]), "b")
    symbolic("symbolic_pad", lambda x: jnp.pad(x, ((0, x.shape[0]), (1, 0))), "b, 4")
    symbolic("symbolic_slice", lambda x: x[: x.shape[0] - 1], "b, 4")
    symbolic("symbolic_gather", lambda x: x[jnp.array([0, 1])], "b, c")
    symbolic("symbolic_take", lambda x: jnp.take(x, jnp.arange(3), axis=1), "b, c")
    symbolic(
        "symbolic_conv",
        lambda x: lax.conv_general_dilated(
            x, jnp.ones((3, 1, 2, 2), f32), (2, 2), "SAME"
        ),
        "1, 1, b, b",
    )
    symbolic("symbolic_reduce", lambda x: x.mean(0), "b, 4")
    symbolic("symbolic_sort", lambda x: jnp.sort(x, 0), "b, 4")
    symbolic("symbolic_cumsum", lambda x: jnp.cumsum(x, 0), "b, 4")
    symbolic("symbolic_top_k", lambda x: lax.top_k(x, 2), "b, 4")
    symbolic(
        "symbolic_random",
        lambda x: x + jax.random.uniform(jax.random.key(0), x.shape),
        "b",
    )


def _text(lowered: Any) -> Iterator[str]:
    """The pretty, generic and debug text of what JAX has lowered."""
    import jax
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib.mlir import ir

    if isinstance(lowered, jax.export.Exported):
        with jax_mlir.make_ir_context():
            module = ir.Module.parse(lowered.mlir_module())
            yield from _forms(module)
        return
    yield from _forms(lowered.compiler_ir("stablehlo"))


def _forms(module: Any) -> Iterator[str]:
    for options in ({}, {"print_generic_op_form": True}, {"enable_debug_info": True}):
        yield module.operation.get_asm(large_elements_limit=1 << 30, **options)


def _main() -> None:
    _tables()
    failed: list[str] = []
    wanted = {name: _MADE[name] for name in sys.argv[1:] or sorted(_MADE)}
    for name, make in wanted.items():
        try:
            pretty, generic, debug = _text(make())
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
            continue
        line = {"name": name, "pretty": pretty, "generic": generic, "debug": debug}
        print(json.dumps(line))
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    _main()
