"""Kernels of the elementwise ops of ttir and ttnn: functions of arrays alone."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from ttxdsl.interpreters.kernels import elementwise, special
from ttxdsl.interpreters.kernels.elements import widened
from ttxdsl.interpreters.kernels.elementwise import BINARY, UNARY, Array, Kernel


def _gelu(x: Array) -> Array:
    half, root = x.dtype.type(0.5), x.dtype.type(np.sqrt(0.5))
    return x * half * (x.dtype.type(1) + special.erf(x * root))


def _relu(x: Array) -> Array:
    return BINARY["maximum"](x, np.zeros((), x.dtype))


def _silu(x: Array) -> Array:
    return x * UNARY["logistic"](x)


ELEMENTWISE: Mapping[str, Kernel] = {
    **{name: UNARY[name] for name in ("abs", "cbrt", "ceil", "floor", "log", "rsqrt")},
    **{name: UNARY[name] for name in ("sign", "sqrt", "tan", "tanh")},
    **{name: BINARY[name] for name in ("add", "atan2", "maximum", "minimum")},
    **{name: BINARY[name] for name in ("multiply", "remainder", "subtract")},
    **{
        name: partial(elementwise.compare, direction=name.upper())
        for name in ("eq", "ge", "gt", "le", "lt", "ne")
    },
    "acos": widened(np.arccos),
    "asin": widened(np.arcsin),
    "asinh": widened(np.arcsinh),
    "atan": widened(np.arctan),
    "bitwise_and": BINARY["and"],
    "bitwise_not": UNARY["not"],
    "bitwise_or": BINARY["or"],
    "bitwise_xor": BINARY["xor"],
    "clamp_tensor": elementwise.clamp,
    "cos": UNARY["cosine"],
    "div": BINARY["divide"],
    "erf": widened(special.erf),
    "erfc": special.erfc,
    "exp": UNARY["exponential"],
    "expm1": UNARY["exponential_minus_one"],
    "gelu": widened(_gelu),
    "isfinite": UNARY["is_finite"],
    "log1p": UNARY["log_plus_one"],
    "logical_and": BINARY["and"],
    "logical_left_shift": BINARY["shift_left"],
    "logical_not": UNARY["not"],
    "logical_or": BINARY["or"],
    "logical_right_shift": BINARY["shift_right_logical"],
    "logical_xor": BINARY["xor"],
    "neg": UNARY["negate"],
    "pow": BINARY["power"],
    "reciprocal": widened(np.reciprocal),
    "relu": widened(_relu),
    "sigmoid": UNARY["logistic"],
    "silu": widened(_silu),
    "sin": UNARY["sine"],
    "where": elementwise.select,
}
"""Kernels of the elementwise ops, by ttir mnemonic; conversions need the type too."""
