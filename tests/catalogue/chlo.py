"""One valid use of every CHLO op that is not in `elementwise`."""

from tests.catalogue.elementwise import FLOAT_BINARY, INT_BINARY
from tests.catalogue.use import C4, F4, F46, I4, SB, S, Uses, array

USES = Uses()


def use(op: str, *args: object) -> None:
    """Register the valid use of an op of CHLO."""
    USES.add(f"chlo.{op}", *args)


for _op in [*FLOAT_BINARY, "next_after", "polygamma", "zeta"]:
    use(f"broadcast_{_op}", (F46, "tensor<6xf32>"), (F46,))
for _op in INT_BINARY:
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
