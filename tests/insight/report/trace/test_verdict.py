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


GATHERED_TOGETHER = """\
#loc1 = loc("step.py":1:2 to :9)
#loc2 = loc("step.py":2:2 to :9)
#up = loc(callsite("up"(#loc1) at "step"(#loc1)))
#down = loc(callsite("down"(#loc2) at "step"(#loc2)))
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<16x64xf32>, %w: tensor<16x128xf32>,
                %b: tensor<128x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<64x16xf32> loc(#up)
  %1 = sdy.sharding_constraint %b <@mesh, [{}, {}]> : tensor<128x16xf32> loc(#down)
  %2 = stablehlo.dot_general %v, %0, contracting_dims = [1] x [0]
      : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32> loc(#up)
  %3 = stablehlo.dot_general %w, %1, contracting_dims = [1] x [0]
      : (tensor<16x128xf32>, tensor<128x16xf32>) -> tensor<16x16xf32> loc(#down)
  return %2, %3 : tensor<16x16xf32>, tensor<16x16xf32>
}
"""


def test_collectives_that_are_sent_together_cost_each_line_its_own():
    program = ttxdsl.load(GATHERED_TOGETHER)
    collectives = list_collectives(program.partition(optimize=False).module)
    assert {one.line: one.kind for one in collectives} == {
        "line 1 of up": "all_gather",
        "line 2 of down": "all_gather",
    }
    costs = [
        (row["where"], row["ops"], row["seconds"])
        for row in program.report_data(optimize=False)["verdict"]["costs"]
        if row["bound"] == "network"
    ]
    (first, ops, most), (second, others, least) = costs
    assert (first, second) == ("line 2 of down", "line 1 of up")
    assert ops == others == ["1 all_gather"]
    assert most == pytest.approx(2 * least)


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
