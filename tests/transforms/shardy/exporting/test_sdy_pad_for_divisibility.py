"""`sdy-pad-for-divisibility` where `stablehlo.pad` itself takes what has grown."""

from __future__ import annotations

import pytest

from tests.transforms.run_pass import run_passes
from ttxdsl.errors import UnsupportedError

NAME = "sdy-pad-for-divisibility"


def _program(size: int, low: int, high: int, interior: int) -> str:
    made = low + size + max(0, size - 1) * interior + high
    kind, result = f"tensor<{size}xf32>", f"tensor<{made}xf32>"
    return f"""sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: {kind}, %z: tensor<f32>) -> {result} {{
      %0 = sdy.all_slice [{{"x"}}] %a out_sharding=<@mesh, [{{"x"}}]> : {kind}
      %1 = stablehlo.pad %0, %z, low = [{low}], high = [{high}], interior = [{interior}] {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x"}}]>]>}} : ({kind}, tensor<f32>) -> {result}
      %2 = sdy.all_gather [{{"x"}}] %1 out_sharding=<@mesh, [{{}}]> : {result}
      return %2 : {result}
    }}"""


def test_there_is_nothing_between_one_element():
    after = run_passes(_program(1, 0, 0, 3), NAME)
    assert "low = [0], high = [0], interior = [0]" in after
    assert "-> tensor<2xf32>" in after


@pytest.mark.parametrize(("low", "high", "interior"), [(-1, 1, 0), (0, -4, 1)])
def test_the_surplus_does_not_move_in(low: int, high: int, interior: int):
    """C++ puts the zero of the surplus where the padding value is to be."""
    with pytest.raises(UnsupportedError, match="let the surplus into the result"):
        run_passes(_program(5, low, high, interior), NAME)


def test_what_moves_out_may():
    assert "low = [1], high = [-1]" in run_passes(_program(5, 1, -1, 0), NAME)
