"""Priorities: the stages say that they do not look at them."""

from __future__ import annotations

import pytest

import ttxdsl

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}PRIORITY, {}]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.negate %a : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""


@pytest.mark.parametrize(("priority", "warnings"), [("", 0), ("p0", 0), ("p1", 1)])
def test_a_priority_is_warned_of(priority: str, warnings: int):
    program = ttxdsl.load(PROGRAM.replace("PRIORITY", priority)).partition(
        optimize=False
    )
    told = [r for r in program.remarks if "priority" in r.message]
    assert len(told) == warnings
