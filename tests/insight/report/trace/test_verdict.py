"""The lines that cost most are the same in each command, with the same figures."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

import ttxdsl
from tests.analysis.attribution.jax_steps import text_of
from tests.analysis.attribution.scanned_step import handed, scanned
from ttxdsl.analysis.usage.collectives import CountedCollective, list_collectives


def by_line(collectives: Sequence[CountedCollective]) -> dict[str, Counter[str]]:
    lines: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in collectives:
        lines[one.line][one.kind] += one.count
    return lines


@pytest.mark.parametrize("text", [handed, scanned])
def test_a_line_sends_the_same_in_run_why_and_report(text: Any):
    program = ttxdsl.load(text())
    collectives = list_collectives(program.partition().module)
    lines = by_line(collectives)
    assert len(lines) > 1
    for cost in program.why().causes:
        assert dict(cost.kinds) == lines[cost.where]
    for row in program.report_data()["verdict"]["costs"]:
        if row["bound"] == "network":
            counts = {f"{count} {kind}" for kind, count in lines[row["where"]].items()}
            assert set(row["ops"]) <= counts


def test_layers_are_counted_once_whatever_is_repeated_in_them():
    costs = ttxdsl.load(text_of("mixtures")).report_data(tries=0)["verdict"]["costs"]
    assert [row["layers"] for row in costs if "expert" in row["where"]] == [3]


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
