"""Even values between values that are kept whole are whole, too."""

from typing import Any

import pytest

from tests.differential.test_shifts import sent
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.stages import even_islands
from ttxdsl.transforms.stages.even_out_shardings import EvenOutShardingsPass

SPLIT = '{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}]>]>}'


def program(ahead: str, behind: str) -> str:
    return f"""sdy.mesh @mesh = <["d"=4]>
func.func @main(%x: tensor<50xf32>, %y: tensor<52xf32>) -> (tensor<52xf32>, tensor<50xf32>) {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %x {SPLIT} : tensor<50xf32>
  %s = stablehlo.negate %y {ahead} : tensor<52xf32>
  %1 = stablehlo.pad %0, %z, low = [1], high = [1], interior = [0] {SPLIT}
      : (tensor<50xf32>, tensor<f32>) -> tensor<52xf32>
  %2 = stablehlo.add %1, %s {SPLIT} : tensor<52xf32>
  %3 = stablehlo.tanh %2 {behind} : tensor<52xf32>
  %4 = stablehlo.slice %2 [0:50] {SPLIT} : (tensor<52xf32>) -> tensor<50xf32>
  return %3, %4 : tensor<52xf32>, tensor<50xf32>
}}"""


@pytest.mark.parametrize(
    ("ahead", "behind", "whole"),
    [
        ("", "", True),
        (SPLIT, SPLIT, False),  # up to the return, which may want it split
        (SPLIT, "", True),  # part of the island: what it negates is whole
    ],
)
def test_an_island_is_whole(ahead: str, behind: str, whole: bool):
    text = program(ahead, behind)
    module = parse_program(text)
    EvenOutShardingsPass().apply(make_context(), module)
    (pad,), (add,) = (
        ops_of_type(module, kind) for kind in (stablehlo.PadOp, stablehlo.AddOp)
    )
    for op in pad, add:
        sharding = sdy.get_sharding(op.results[0])
        assert sharding is not None
        assert (not sharding.sharding_axes) == whole
    sent(text)


def test_values_in_no_island_are_looked_at_once(monkeypatch: pytest.MonkeyPatch):
    """Each of 200 is beside a value that is kept whole, and they are too many."""
    asked: list[Any] = []
    neighbours = even_islands._neighbours  # pyright: ignore[reportPrivateUsage]

    def spy(*dim: Any) -> Any:
        asked.append(dim)
        return neighbours(*dim)

    monkeypatch.setattr(even_islands, "_neighbours", spy)
    lines = [
        f"""%{at} = stablehlo.tanh %{at - 1} {SPLIT} : tensor<52xf32>
  %s{at} = stablehlo.slice %{at} [0:50] {SPLIT} : (tensor<52xf32>) -> tensor<50xf32>"""
        for at in range(1, 201)
    ]
    body = "\n  ".join(lines)
    module = parse_program(f"""sdy.mesh @mesh = <["d"=4]>
func.func @main(%0: tensor<52xf32>) -> tensor<52xf32> {{
  {body}
  return %200 : tensor<52xf32>
}}""")
    EvenOutShardingsPass().apply(make_context(), module)
    assert 64 < len(asked) <= 200
