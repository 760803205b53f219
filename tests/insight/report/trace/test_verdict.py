"""The verdict on a report's first page."""

from __future__ import annotations

import ttxdsl


def test_a_loop_that_never_turns_costs_nothing():
    data = ttxdsl.load("""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
        -> tensor<8xf32> {
      %i = stablehlo.constant dense<0> : tensor<i64>
      %s = stablehlo.constant dense<1> : tensor<i64>
      %r:2 = stablehlo.while(%j = %i, %x = %a) : tensor<i64>, tensor<8xf32>
      cond {
        %c = stablehlo.compare LT, %j, %i : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %k = stablehlo.add %j, %s : tensor<i64>
        %y = stablehlo.add %x, %x : tensor<8xf32>
        stablehlo.return %k, %y : tensor<i64>, tensor<8xf32>
      }
      return %r#1 : tensor<8xf32>
    }""").report_data(tries=0)
    assert data["verdict"]["costs"] == []
