"""Parts that add up to a whole: what has none of it changes nothing, signs of zeros too."""

import numpy as np
import pytest

import ttxdsl

ROWS, SPLIT = "tensor<8x4xf32>", '#sdy.sharding<@mesh, [{"y"}, {}]>'

SCATTER = f"""func.func @main(%a: {ROWS}, %i: tensor<8x1xi32> {{sdy.sharding = {SPLIT}}},
    %u: {ROWS} {{sdy.sharding = {SPLIT}}}) -> {ROWS} {{
  %0 = "stablehlo.scatter"(%a, %i, %u) <{{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
        index_vector_dim = 1>}}> ({{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %sum = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }}) : ({ROWS}, tensor<8x1xi32>, {ROWS}) -> {ROWS}
  return %0 : {ROWS}
}}"""

GATHER = f"""func.func @main(%a: {ROWS} {{sdy.sharding = {SPLIT}}}, %i: tensor<8x1xi32>) -> {ROWS} {{
  %0 = "stablehlo.gather"(%a, %i) <{{
      dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 4>}}> : ({ROWS}, tensor<8x1xi32>) -> {ROWS}
  return %0 : {ROWS}
}}"""

UNREDUCED = f"""func.func @main(%a: {ROWS}) -> {ROWS} {{
  %0 = sdy.reshard %a <@mesh, [{{}}, {{}}], unreduced={{"y"}}> : {ROWS}
  %1 = sdy.reshard %0 <@mesh, [{{"x"}}, {{}}]> : {ROWS}
  return %1 : {ROWS}
}}"""


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        SCATTER,
        GATHER,
        UNREDUCED,
        UNREDUCED.replace(f"%a: {ROWS}", f"%a: {ROWS} {{sdy.sharding = {SPLIT}}}"),
    ],
    ids=["scatter", "gather", "replicated to unreduced", "sharded to unreduced"],
)
def test_negative_zeros_stay_negative(text: str, optimize: bool):
    given = ttxdsl.load(f'sdy.mesh @mesh = <["x"=2, "y"=4]>\n{text}')
    rows = np.full((8, 4), -0.0, np.float32)
    places = np.array([[3], [3], [0], [7], [6], [2], [2], [2]], np.int32)
    arguments = (rows, places, rows)[: 3 if "%u" in text else 2 if "%i" in text else 1]
    program = given.partition(optimize=optimize)
    for form in (program, program.lower("ttnn")):
        (found,) = form.simulate(*arguments)
        assert found.tobytes() == rows.tobytes()
