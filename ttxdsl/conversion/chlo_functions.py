"""chlo's functions that no ttir op and no call of tt-mlir's is, in ops of StableHLO.

Both ways to tt-mlir write them: conversion to ttir, and `open-chlo` for tt-mlir, which
has no chlo. Identities are exact up to rounding, as to where they would overflow, too.

Source: M. Giles, "Approximating the erfinv function", 2010, single precision.
"""

from collections.abc import Callable
from math import inf, log, nan

from xdsl.dialects.builtin import BFloat16Type, Float16Type, f32
from xdsl.ir import SSAValue

from ttxdsl.conversion.writing import Writer
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of

Function = Callable[[Writer, SSAValue], SSAValue]

_ERF_INV_NEAR = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
"""Coefficients of erf_inv(x) / x in w - 2.5 for w = -log(1 - x^2) < 5."""
_ERF_INV_FAR = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
    -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip
"""The same in sqrt(w) - 3 for w >= 5."""


def _acosh(w: Writer, x: SSAValue) -> SSAValue:
    near = w.log(w.add(x, w.sqrt(w.mul(w.plus(x, 1), w.minus(x, 1)))))
    far = w.plus(w.log(x), log(2))
    value = w.select(w.test(x, "GE", 1e9), far, near)
    return w.select(w.test(x, "LT", 1), w.full(nan, x), value)


def _cosh(w: Writer, x: SSAValue) -> SSAValue:
    halved = -log(2)
    return w.add(w.exp(w.plus(x, halved)), w.exp(w.from_number(halved, x)))


def _sinh(w: Writer, x: SSAValue) -> SSAValue:
    halved = -log(2)
    far = w.subtract(w.exp(w.plus(x, halved)), w.exp(w.from_number(halved, x)))
    less = w.unary(stablehlo.Expm1Op, x)
    near = w.mul(w.add(less, w.div(less, w.plus(less, 1))), 0.5)
    return w.select(w.test(w.abs(x), "LT", 1), near, far)


def _erf_inv(w: Writer, x: SSAValue) -> SSAValue:
    depth = w.neg(w.log1p(w.neg(w.mul(x, x))))
    series = w.select(
        w.test(depth, "LT", 5),
        w.polynomial(w.minus(depth, 2.5), _ERF_INV_NEAR),
        w.polynomial(w.minus(w.sqrt(depth), 3), _ERF_INV_FAR),
    )
    whole = w.test(w.abs(x), "EQ", 1)
    return w.mul(x, w.select(whole, w.full(inf, x), series))


REAL_FUNCTIONS: dict[str, Function] = {
    "chlo.acosh": _acosh,
    "chlo.atanh": lambda w, x: w.mul(w.subtract(w.log1p(x), w.log1p(w.neg(x))), 0.5),
    "chlo.cosh": _cosh,
    "chlo.erf_inv": _erf_inv,
    "chlo.sinh": _sinh,
}
"""Functions of floats of at least 32 bits, by op name; `erf_inv` is as precise as f32."""

PREDICATES: dict[str, Function] = {
    "chlo.is_inf": lambda w, x: w.test(w.abs(x), "EQ", inf),
    "chlo.is_neg_inf": lambda w, x: w.test(x, "EQ", -inf),
    "chlo.is_pos_inf": lambda w, x: w.test(x, "EQ", inf),
}


def square(w: Writer, x: SSAValue) -> SSAValue:
    """Return a number times itself."""
    return w.mul(x, x)


def in_f32(function: Function, w: Writer, x: SSAValue) -> SSAValue:
    """Return a function of real numbers, computed in 32 bits or more."""
    element = element_of(x)
    if not isinstance(element, BFloat16Type | Float16Type):
        return function(w, x)
    return w.convert(function(w, w.convert(x, f32)), element)
