"""Ops that stage 8 leaves alone: what is whole is sliced, what sends least is moved."""

from __future__ import annotations

import pytest

from tests.differential.partitioning import EQUAL, partition_and_compare
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.collectives.program.bytes_sent import bytes_sent
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


WHOLE, OPEN = "{}, {}, {}", "{?}, {?}, {?}"


@pytest.mark.parametrize(
    ("left", "right", "result", "sent"),
    [
        ('{"b"}, {}, {}', WHOLE, OPEN, 0),
        (WHOLE, '{"b"}, {}, {}', OPEN, 0),
        ('{"a", "b"}, {}, {}', WHOLE, OPEN, 0),
        ('{"a"}, {}, {}', '{"a", "b"}, {}, {}', OPEN, 0),
        (WHOLE, WHOLE, '{"b"}, {}, {}', 0),
        # solutions are fewer than matrices
        ('{"b"}, {}, {}', WHOLE, WHOLE, 3 * 2 * 18 * 4),
        ('{"b"}, {}, {}', '{"a"}, {}, {}', OPEN, 2 * 4 * 18 * 4),
    ],
)
def test_a_batch_is_split_where_that_sends_least(
    left: str, right: str, result: str, sent: int
):
    text = solve(left, right, result)
    assert partition_and_compare(parse_program(text), 0)[0] == EQUAL
    assert partitioned_bytes(text) == sent


@pytest.mark.parametrize("split", ['{"b"}, {}', '{}, {"b"}', '{"b"}, {"a"}'])
@pytest.mark.parametrize("whole", [0, 1])
def test_an_authors_rule(split: str, whole: int):
    dims = [split, split]
    dims[whole] = "{}, {}"
    text = f"""
sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(
    %a: tensor<64x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{dims[0]}]>}},
    %b: tensor<64x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{dims[1]}]>}}
) -> tensor<64x32xf32> {{
  %0 = stablehlo.custom_call @tt.tt_lang_op(%a, %b) {{mhlo.frontend_attributes = {{
      xla.sdy.custom_sharding_rule = "#sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {{i=64, j=32}}>"
    }}}} : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}}"""
    assert partitioned_bytes(text) == 0


@pytest.mark.parametrize("axes", ['{"a"}, {}', '{}, {"b"}', '{"b"}, {"a"}'])
def test_an_op_of_chlo(axes: str):
    text = f"""
sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(
    %a: tensor<8x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}},
    %b: tensor<8x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{axes}]>}}
) -> tensor<8x4xf32> {{
  %0 = chlo.next_after %a, %b : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}}"""
    assert partition_and_compare(parse_program(text), 0)[0] == EQUAL
    assert partitioned_bytes(text) == 0


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
