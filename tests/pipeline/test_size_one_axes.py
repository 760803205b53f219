"""Axes of size one in shardings: they split nothing, and change nothing."""

from __future__ import annotations

import pytest

import ttxdsl

_MESH = '"one"=1, "x"=8, "two"=1'
_X = '{"x"}, {}'


def program(argument: str, constraint: str) -> ttxdsl.Program:
    """Sharded by x but for what is told, which may name an axis of size one."""
    return ttxdsl.load(f"""
sdy.mesh @m = <[{_MESH}]>
func.func @main(
    %a: tensor<64x64xf32> {{sdy.sharding = #sdy.sharding<@m, [{argument}]>}},
    %b: tensor<64x64xf32> {{sdy.sharding = #sdy.sharding<@m, [{_X}]>}},
    %w: tensor<64x64xf32>) -> tensor<64x64xf32> {{
  %0 = stablehlo.add %a, %b : tensor<64x64xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = sdy.sharding_constraint %1 <@m, [{constraint}]> : tensor<64x64xf32>
  %3 = sdy.manual_computation(%2) in_shardings=[<@m, [{{"one"}}, {{}}]>]
    out_shardings=[<@m, [{{"one"}}, {{}}]>] manual_axes={{"one"}}
    (%c: tensor<64x64xf32>) {{
    %4 = stablehlo.tanh %c : tensor<64x64xf32>
    sdy.return %4 : tensor<64x64xf32>
  }} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}}
""")


@pytest.mark.parametrize(
    ("argument", "same"),
    [('{"one"}, {}', "{}, {}"), ('{"one", ?}, {"two", ?}', "{?}, {?}")],
)
@pytest.mark.parametrize("constraint", ['{"two", "x"}, {"one"}', '{"x", "one"}, {?}'])
def test_no_axis_contends_that_splits_nothing(
    argument: str, same: str, constraint: str
):
    named = program(argument, constraint).partition()
    plain = program(same, _X).partition()
    kinds = [(one.kind, one.bytes_per_device) for one in plain.collectives()]
    assert [(one.kind, one.bytes_per_device) for one in named.collectives()] == kinds
    assert not named.remarks
    outcome = program(argument, constraint).run()
    assert outcome.ok
