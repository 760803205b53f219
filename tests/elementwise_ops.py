"""StableHLO's elementwise ops whose result has the type of their operands, by name.

Syntax, rules, random programs and lowerings are tested with these.
"""

FLOAT_UNARY = (
    "abs",
    "cbrt",
    "ceil",
    "cosine",
    "exponential",
    "exponential_minus_one",
    "floor",
    "log",
    "log_plus_one",
    "logistic",
    "negate",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "sign",
    "sine",
    "sqrt",
    "tan",
    "tanh",
)
"""Of one operand of floating-point numbers."""

INT_UNARY = (
    "count_leading_zeros",
    "not",
    "popcnt",
)
"""Of one operand of integers."""

FLOAT_BINARY = (
    "add",
    "atan2",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "power",
    "remainder",
    "subtract",
)
"""Of two operands of floating-point numbers."""

INT_BINARY = (
    "and",
    "or",
    "xor",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
)
"""Of two operands of integers, beside those of any numbers."""
