"""One valid use of every CHLO op, and uses that break a constraint."""

from __future__ import annotations

from tests.dialects.stablehlo_cases import F4, F46, I4, SB, S, Use, array
from tests.dialects.stablehlo_refusals import Broken

USES: dict[str, Use] = {}


def use(op: str, *args: object, **kwargs: object) -> None:
    """Register the valid use of an op."""
    made = Use(f"chlo.{op}", *args, **kwargs)  # type: ignore[arg-type]
    USES[made.name] = made


C4 = "tensor<4xcomplex<f32>>"
use("_asin_acos_kernel", (C4,), (C4,))
for _op in [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bessel_i1e",
    "conj",
    "cosh",
    "sinh",
    "tan",
    "square",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "lgamma",
]:
    use(_op, (F46,), (F46,))
for _op in ["is_inf", "is_neg_inf", "is_pos_inf"]:
    use(_op, (F4,), ("tensor<4xi1>",))
for _op in ["next_after", "polygamma", "zeta"]:
    use(_op, (F4, F4), (F4,))
use("mulhi", (I4, I4), (I4,))
for _op in [
    "add",
    "atan2",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "next_after",
    "polygamma",
    "power",
    "remainder",
    "subtract",
    "zeta",
]:
    use(f"broadcast_{_op}", (F46, "tensor<6xf32>"), (F46,))
for _op in [
    "and",
    "or",
    "xor",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
]:
    use(
        f"broadcast_{_op}", (I4, "tensor<4x6xi32>"), ("tensor<4x6xi32>",),
        f"broadcast_dimensions = {array(0)}",
    )  # fmt: skip
use("broadcast_complex", (F4, S), (C4,))
use(
    "broadcast_compare", (F4, S), ("tensor<4xi1>",),
    "compare_type = #chlo<comparison_type FLOAT>, "
    "comparison_direction = #chlo<comparison_direction LT>",
)  # fmt: skip
use("broadcast_select", (SB, F4, S), (F4,))
use("constant", (), (F4,), "value = dense<1.000000e+00> : tensor<4xf32>")
use("constant_like", (F4,), (I4,), "value = 3 : i32")
use("top_k", (F46,), ("tensor<4x2xf32>", "tensor<4x2xi32>"), "k = 2 : i64")
use(
    "ragged_dot", ("tensor<8x4xf32>", "tensor<3x4x5xf32>", "tensor<3xi32>"),
    ("tensor<8x5xf32>",),
    "precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>], "
    "ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], "
    "rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], "
    "rhs_group_dimensions = [0]>",
)  # fmt: skip
use(
    "scan", (F46, F4), (F46, F4),
    "dimension = 1 : i64, is_reverse = true, "
    "operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>",
    (
        "{\n^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):\n"
        "  %c = stablehlo.add %a, %b : tensor<4xf32>\n"
        "  stablehlo.return %c, %c : tensor<4xf32>, tensor<4xf32>\n}",
    ),
)  # fmt: skip

BROKEN: list[Broken] = []


def breaks(op: str, words: str, **changes: object) -> None:
    """Register a wrong use; properties under `props_`."""
    props = {n[6:]: str(v) for n, v in changes.items() if n.startswith("props_")}
    fields = {n: v for n, v in changes.items() if not n.startswith("props_")}
    BROKEN.append(Broken(words, USES[f"chlo.{op}"].but(**fields).prop(**props)))


breaks("acos", "result", results=("tensor<4x5xf32>",))
breaks("erf", "operand", operands=(C4,), results=(C4,))
breaks("is_inf", "result", results=(I4,))
breaks("zeta", "rhs", operands=(F4, F46))
breaks("mulhi", "operand", operands=(F4, F4), results=(F4,))
breaks("broadcast_add", "operands are", operands=(F46, "tensor<6xi32>"))
breaks("broadcast_add", "expected the sizes", results=(F4,))
breaks("broadcast_complex", "result", results=(F4,))
breaks("constant", "result", results=(I4,))
breaks("broadcast_select", "expected the sizes", results=(F46,))
breaks("broadcast_select", "on_true", operands=(SB, F4, "tensor<i32>"))
breaks("constant_like", "the value is", props_value="3.0 : f32")
breaks("constant_like", "expected the shape", results=("tensor<5xi32>",))
breaks(
    "top_k",
    "fewer than k",
    props_k="7 : i64",
    results=("tensor<4x7xf32>", "tensor<4x7xi32>"),
)
breaks("top_k", "result", results=("tensor<4x2xf32>", "tensor<4x2xi64>"))
breaks("top_k", "rank 1", operands=(S,), results=("tensor<2xf32>", "tensor<2xi32>"))
_RAGGED = (
    "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = "
    "[1], lhs_ragged_dimensions = {}, rhs_group_dimensions = {}>"
)
for _ragged, _group, _words in (
    ("[]", "[0]", "one ragged"),
    ("[2]", "[0]", "ragged"),
    ("[0]", "[]", "one group"),
    ("[0]", "[3]", "rhs_group_dimensions"),
    ("[0]", "[1]", "must not repeat"),
    ("[1]", "[0]", "no group"),
    ("[0]", "[2]", "groups"),
):
    breaks(
        "ragged_dot", _words,
        props_ragged_dot_dimension_numbers=_RAGGED.format(_ragged, _group),
    )  # fmt: skip
breaks("ragged_dot", "expected the sizes", results=("tensor<8x6xf32>",))
breaks("scan", "no dimension", props_dimension="2 : i64")
breaks("scan", "result", results=("tensor<4x5xf32>", F4))
breaks("scan", "arguments", operands=(F46, "tensor<5xf32>"))
