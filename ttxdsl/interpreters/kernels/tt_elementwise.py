"""Kernels of the elementwise ops of ttir and ttnn: functions of arrays alone."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from ttxdsl.interpreters.kernels import elementwise, special
from ttxdsl.interpreters.kernels.elements import widened
from ttxdsl.interpreters.kernels.elementwise import (
    BINARY,
    UNARY,
    Array,
    Kernel,
    UnaryKernel,
)


def _gelu(x: Array) -> Array:
    half, root = x.dtype.type(0.5), x.dtype.type(np.sqrt(0.5))
    return x * half * (x.dtype.type(1) + special.erf(x * root))


def _relu(x: Array) -> Array:
    return BINARY["maximum"](x, np.zeros((), x.dtype))


def _silu(x: Array) -> Array:
    return x * UNARY["logistic"](x)


_ONE_OPERAND: Mapping[str, UnaryKernel] = {
    **{name: UNARY[name] for name in ("abs", "cbrt", "ceil", "floor", "log", "rsqrt")},
    **{name: UNARY[name] for name in ("sign", "sqrt", "tan", "tanh")},
    "acos": widened(np.arccos),
    "asin": widened(np.arcsin),
    "asinh": widened(np.arcsinh),
    "atan": widened(np.arctan),
    "bitwise_not": UNARY["not"],
    "cos": UNARY["cosine"],
    "erf": widened(special.erf),
    "erfc": special.erfc,
    "exp": UNARY["exponential"],
    "exp2": widened(np.exp2),
    "expm1": UNARY["exponential_minus_one"],
    "frac": widened(lambda x: x - np.trunc(x)),
    "gelu": widened(_gelu),
    "hardsigmoid": widened(
        lambda x: np.clip(x / x.dtype.type(6) + x.dtype.type(0.5), 0, 1)
    ),
    "isfinite": UNARY["is_finite"],
    "log1p": UNARY["log_plus_one"],
    "logical_not": UNARY["not"],
    "mish": widened(lambda x: x * np.tanh(np.logaddexp(x.dtype.type(0), x))),
    "neg": UNARY["negate"],
    "reciprocal": widened(np.reciprocal),
    "relu": widened(_relu),
    "relu6": widened(lambda x: np.clip(x, 0, 6)),
    "round": widened(np.rint),
    "sigmoid": UNARY["logistic"],
    "signbit": np.signbit,
    "silu": widened(_silu),
    "sin": UNARY["sine"],
    "softsign": widened(lambda x: x / (1 + np.abs(x))),
    "square": lambda x: BINARY["multiply"](x, x),
    "trunc": widened(np.trunc),
}

ELEMENTWISE: Mapping[str, Kernel] = {
    **_ONE_OPERAND,
    **{name: BINARY[name] for name in ("add", "atan2", "maximum", "minimum")},
    **{name: BINARY[name] for name in ("multiply", "remainder", "subtract")},
    **{
        name: partial(elementwise.compare, direction=name.upper())
        for name in ("eq", "ge", "gt", "le", "lt", "ne")
    },
    "bitwise_and": BINARY["and"],
    "bitwise_or": BINARY["or"],
    "bitwise_right_shift": BINARY["shift_right_arithmetic"],
    "bitwise_xor": BINARY["xor"],
    "clamp_tensor": elementwise.clamp,
    "div": BINARY["divide"],
    "logical_and": BINARY["and"],
    "logical_left_shift": BINARY["shift_left"],
    "logical_or": BINARY["or"],
    "logical_right_shift": BINARY["shift_right_logical"],
    "logical_xor": BINARY["xor"],
    "pow": BINARY["power"],
    "right_shift": BINARY["shift_right_arithmetic"],
    "where": elementwise.select,
}
"""Kernels of the elementwise ops, by ttir mnemonic; conversions need the type too."""

ACTIVATIONS: Mapping[str, UnaryKernel] = {
    **_ONE_OPERAND,
    "recip": _ONE_OPERAND["reciprocal"],
    "softplus": widened(lambda x: np.logaddexp(x, x.dtype.type(0))),
}
"""Functions that may follow an op, by tt-mlir's name."""

ACTIVATIONS_WITH_PARAMETER: Mapping[str, Callable[[Array, Array], Array]] = {
    "add_unary_sfpu": np.add,
    "sub_unary_sfpu": np.subtract,
    "mul_unary_sfpu": np.multiply,
    "div_unary_sfpu": np.true_divide,
    "power": np.power,
    "leaky_relu": lambda x, slope: np.where(x > 0, x, x * slope),
}
"""Functions of a wide value and a number that may follow an op, by tt-mlir's name."""
