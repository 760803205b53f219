"""Ops that have no ttir form, each with the reason that a user reads."""

_TUPLE = "ttir has no tuples, and the pipeline refuses them: export without tuples"

UNSUPPORTED: dict[str, str] = {
    "stablehlo.get_tuple_element": _TUPLE,
    "stablehlo.tuple": _TUPLE,
}
"""Why an op cannot be lowered, by its name."""
