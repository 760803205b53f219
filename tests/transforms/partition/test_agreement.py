"""Ops that stage 8 leaves alone: what is whole is sliced, what sends least is moved."""

import pytest

from tests.differential.partitioning import EQUAL, partition_and_compare
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import stablehlo
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.rules.division import division
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.collectives.program.bytes_sent import bytes_sent
from ttxdsl.transforms.partition.agreement import agree
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

SOLVE = """
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {
      mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8},
      mhlo.frontend_attributes = {num_batch_dims = "1"},
      operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>],
      result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
      sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=8, j=6, k=6, l=6, m=3, n=6, o=3}, custom>
    } : (tensor<8x6x6xf32>, tensor<8x6x3xf32>) -> tensor<8x6x3xf32>"""


def solve(left: str, right: str, result: str, mesh: str = '["a"=2, "b"=4]') -> str:
    """Triangular systems: `{"a"}, {}, {}` splits along the batch."""

    def sharded(shape: str, dims: str) -> str:
        return f"tensor<{shape}> {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"

    return f"""
sdy.mesh @mesh = <{mesh}>
func.func @main(%a: {sharded("8x6x6xf32", left)}, %b: {sharded("8x6x3xf32", right)})
    -> ({sharded("8x6x3xf32", result)}) {{{SOLVE}
  return %0 : tensor<8x6x3xf32>
}}"""


def partitioned_bytes(text: str) -> int:
    """What a device sends."""
    module = parse_program(text)
    with collect_remarks():
        TTStableHLOPipelinePass(verify_each=True).apply(make_context(), module)
    return bytes_sent(module)


def test_ops_that_read_one_value_move_it_once():
    """Moving results would be as cheap for each of them, and move two."""
    text = """
sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>})
    -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
  %0 = chlo.erfc %a : tensor<4x6xf32> -> tensor<4x6xf32>
  %1 = chlo.square %a : tensor<4x6xf32> -> tensor<4x6xf32>
  %2 = stablehlo.exponential %1 : tensor<4x6xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<4x6xf32>
  return %3 : tensor<4x6xf32>
}"""
    assert partition_and_compare(parse_program(text), 0)[0] == EQUAL
    assert partitioned_bytes(text) == 48


@pytest.mark.parametrize(
    "right",
    ["{}, {'b'}, {}", "{}, {}, {}"],
    ids=["both split", "one split, one sliced"],
)
def test_a_ragged_product_of_parts_is_summed(right: str):
    """As of any product; its operands are eight and twenty-four times the bytes of its sums."""
    text = f"""
sdy.mesh @mesh = <["b"=4]>
func.func @main(%a: tensor<4x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"b"}}]>}},
    %w: tensor<3x32x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{right}]>}},
    %n: tensor<3xi32>) -> (tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
  %0 = "chlo.ragged_dot"(%a, %w, %n) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}}>
      : (tensor<4x32xf32>, tensor<3x32x4xf32>, tensor<3xi32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}}""".replace("'", '"')
    assert partition_and_compare(parse_program(text), 0)[0] == EQUAL
    assert partitioned_bytes(text) == 96  # all_reduce: twice 3/4 of 64


def test_parts_that_nobody_sums_are_gathered():
    """An op that does not say how its parts join has no partial results."""
    product = parse_program(
        """
func.func @main(%a: tensor<4x32xf32>, %b: tensor<32x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<4x32xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}"""
    )
    op = next(op for op in product.walk() if isinstance(op, stablehlo.DotOp))
    told = division(op)
    assert told is not None
    mesh = Mesh((("b", 4),))
    split = Layout(mesh, (4, 32), ((), (AxisRef("b"),)))
    layouts = split, Layout.replicated(mesh, (32, 4))
    results = (Layout.replicated(mesh, (4, 4)),)
    values = (*op.operands, op.result)
    for sums, axes in ((True, (AxisRef("b"),)), (False, ())):
        (left, right), _ = agree(
            told.rule, layouts, results, told.local, values, mesh, sums=sums
        )
        assert left is not None and right is not None
        assert left.axes[1] == right.axes[0] == axes
