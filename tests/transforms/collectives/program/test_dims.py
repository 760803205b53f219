"""Parts of a result are made of parts of the operands, where `held_in` says so."""

from __future__ import annotations

import pytest

from ttxdsl.loading.program import parse_program
from ttxdsl.transforms.collectives.program.dims import Dims, held_in


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("stablehlo.transpose %a, dims = [1, 0] : (tensor<2x6xf32>) -> tensor<6x2xf32>", [[1], [0]]),
        ("stablehlo.reshape %a : (tensor<2x6xf32>) -> tensor<2x3x2xf32>", [[0], [1], None]),
        ("stablehlo.reshape %a : (tensor<2x6xf32>) -> tensor<12xf32>", [[0]]),
        ("stablehlo.reshape %a : (tensor<2x6xf32>) -> tensor<1x2x6xf32>", [None, [0], [1]]),
        # thirds of rows that are halves
        ("stablehlo.reshape %a : (tensor<2x6xf32>) -> tensor<3x4xf32>", [None, None]),
        (
            "stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<2x6xf32>) -> tensor<2x5x6xf32>",
            [[0], [None], [1]],
        ),
        (
            "stablehlo.dot_general %a, %a, contracting_dims = [1] x [1]"
            " : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x2xf32>",
            [[0, None], [None, 0]],
        ),
        ("stablehlo.slice %a [0:2, 0:6:2] : (tensor<2x6xf32>) -> tensor<2x3xf32>", [[0], None]),
        # as long, and all of it elsewhere
        (
            "stablehlo.pad %a, %z, low = [0, 1], high = [0, -1], interior = [0, 0]"
            " : (tensor<2x6xf32>, tensor<f32>) -> tensor<2x6xf32>",
            [[0, None], None],
        ),
        ("stablehlo.concatenate %a, %a, dim = 0 : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>", [None, [1, 1]]),
        ("stablehlo.reverse %a, dims = [0] : tensor<2x6xf32>", [None, [1]]),
        ("stablehlo.iota dim = 1 : tensor<2x6xf32>", [[], None]),
    ],
)  # fmt: skip
def test_dimensions_of_operands(line: str, expected: list[Dims | None]):
    module = parse_program(
        "func.func @main(%a: tensor<2x6xf32>, %z: tensor<f32>) {\n"
        f"  %0 = {line}\n  return\n}}"
    )
    op = next(op for op in module.walk() if op.name.startswith("stablehlo."))
    assert [held_in(op, dim) for dim in range(len(expected))] == expected
