"""The elementwise ops of StableHLO and CHLO, and what each is in JAX: one list.

Syntax, rules, kernels, lowerings, gradients and random programs are tested with these.
"""

from typing import NamedTuple


class Elementwise(NamedTuple):
    """An op whose results have the shape of its operands."""

    name: str
    arity: int
    kinds: str
    """The elements that it takes: floats, complex, signed, unsigned, Booleans."""
    lax: str = ""
    """Its name in `jax.lax`, if it has one there."""
    result: str = ""
    """The elements of the result where they are not those of the operands."""
    units: int = 20
    """How far XLA's float of it may be off, in units of the last place."""

    @property
    def mnemonic(self) -> str:
        return self.name.split(".")[1]


OPS = (
    Elementwise("stablehlo.abs", 1, "fs", "abs"),
    Elementwise("stablehlo.abs", 1, "c", "abs", result="f32"),
    Elementwise("stablehlo.cbrt", 1, "f", "cbrt"),
    Elementwise("stablehlo.ceil", 1, "f", "ceil"),
    Elementwise("stablehlo.cosine", 1, "fc", "cos"),
    Elementwise("stablehlo.exponential", 1, "fc", "exp"),
    Elementwise("stablehlo.exponential_minus_one", 1, "fc", "expm1"),
    Elementwise("stablehlo.floor", 1, "f", "floor"),
    Elementwise("stablehlo.log", 1, "fc", "log"),
    Elementwise("stablehlo.log_plus_one", 1, "fc", "log1p"),
    Elementwise("stablehlo.logistic", 1, "fc", "logistic"),
    Elementwise("stablehlo.negate", 1, "fcsu", "neg"),
    Elementwise("stablehlo.round_nearest_afz", 1, "f"),
    Elementwise("stablehlo.round_nearest_even", 1, "f"),
    Elementwise("stablehlo.rsqrt", 1, "fc", "rsqrt"),
    Elementwise("stablehlo.sign", 1, "fcsu", "sign"),
    Elementwise("stablehlo.sine", 1, "fc", "sin"),
    Elementwise("stablehlo.sqrt", 1, "fc", "sqrt"),
    Elementwise("stablehlo.tan", 1, "fc", "tan"),
    Elementwise("stablehlo.tanh", 1, "fc", "tanh"),
    Elementwise("stablehlo.is_finite", 1, "f", "is_finite", result="i1"),
    Elementwise("stablehlo.real", 1, "c", "real", result="f32"),
    Elementwise("stablehlo.imag", 1, "c", "imag", result="f32"),
    Elementwise("stablehlo.count_leading_zeros", 1, "su", "clz"),
    Elementwise("stablehlo.not", 1, "sub", "bitwise_not"),
    Elementwise("stablehlo.popcnt", 1, "su", "population_count"),
    Elementwise("stablehlo.add", 2, "fcsu", "add"),
    Elementwise("stablehlo.atan2", 2, "f", "atan2"),
    Elementwise("stablehlo.divide", 2, "fcsu", "div"),
    Elementwise("stablehlo.maximum", 2, "fsu", "max"),
    Elementwise("stablehlo.minimum", 2, "fsu", "min"),
    Elementwise("stablehlo.multiply", 2, "fcsu", "mul"),
    Elementwise("stablehlo.power", 2, "fc", "pow"),
    Elementwise("stablehlo.remainder", 2, "fsu", "rem"),
    Elementwise("stablehlo.subtract", 2, "fcsu", "sub"),
    Elementwise("stablehlo.and", 2, "sub", "bitwise_and"),
    Elementwise("stablehlo.or", 2, "sub", "bitwise_or"),
    Elementwise("stablehlo.xor", 2, "sub", "bitwise_xor"),
    Elementwise("stablehlo.shift_left", 2, "su", "shift_left"),
    Elementwise("stablehlo.shift_right_arithmetic", 2, "su", "shift_right_arithmetic"),
    Elementwise("stablehlo.shift_right_logical", 2, "su", "shift_right_logical"),
    Elementwise("stablehlo.complex", 2, "f", result="complex<f32>"),
    Elementwise("chlo._asin_acos_kernel", 1, "c"),
    Elementwise("chlo.acos", 1, "fc", "acos"),
    Elementwise("chlo.acosh", 1, "fc", "acosh"),
    Elementwise("chlo.asin", 1, "fc", "asin"),
    Elementwise("chlo.asinh", 1, "fc", "asinh"),
    Elementwise("chlo.atan", 1, "fc", "atan"),
    Elementwise("chlo.atanh", 1, "fc", "atanh"),
    Elementwise("chlo.bessel_i1e", 1, "f", "bessel_i1e", units=1280),
    Elementwise("chlo.conj", 1, "c", "conj"),
    Elementwise("chlo.cosh", 1, "fc", "cosh"),
    Elementwise("chlo.digamma", 1, "f", "digamma", units=1280),
    Elementwise("chlo.erf", 1, "f", "erf"),
    Elementwise("chlo.erf_inv", 1, "f", "erf_inv"),
    Elementwise("chlo.erfc", 1, "f", "erfc", units=1280),
    Elementwise("chlo.lgamma", 1, "f", "lgamma", units=1280),
    Elementwise("chlo.sinh", 1, "fc", "sinh"),
    Elementwise("chlo.square", 1, "fcsu", "square"),
    Elementwise("chlo.tan", 1, "fc"),
    Elementwise("chlo.is_inf", 1, "f", result="i1"),
    Elementwise("chlo.is_neg_inf", 1, "f", result="i1"),
    Elementwise("chlo.is_pos_inf", 1, "f", result="i1"),
    Elementwise("chlo.mulhi", 2, "su", "mulhi"),
    Elementwise("chlo.next_after", 2, "f", "nextafter"),
    Elementwise("chlo.polygamma", 2, "f"),
    Elementwise("chlo.zeta", 2, "f"),
)
"""All of them, but those with properties and those whose operands differ."""


def names(
    arity: int, kind: str, *, floats: bool, dialect: str = "stablehlo"
) -> tuple[str, ...]:
    """Mnemonics of the ops that keep the type of their operands of this kind.

    Args:
        floats: whether they take floats, too.
    """
    return tuple(
        op.mnemonic
        for op in OPS
        if op.name.startswith(dialect)
        and (op.arity, op.result) == (arity, "")
        and kind in op.kinds
        and ("f" in op.kinds) == floats
    )


FLOAT_UNARY = names(1, "f", floats=True)
FLOAT_BINARY = names(2, "f", floats=True)
INT_BINARY = names(2, "s", floats=False)
