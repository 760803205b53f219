"""What no run reads can be left out, and stages that write nothing else are not run."""

from typing import Any

import pytest

from ttxdsl.insight.check import judge
from ttxdsl.insight.check.check import check_steps
from ttxdsl.insight.check.steps import Step, pipeline_steps
from ttxdsl.loading.program import parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

TEXT = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
"""


def test_only_what_computes_otherwise_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int | None] = []
    run = judge.Judge.run

    def counted(self: judge.Judge, step: Step, *more: Any) -> Any:
        ran.append(step.number)
        return run(self, step, *more)

    monkeypatch.setattr(judge.Judge, "run", counted)
    module = parse_program(TEXT)
    steps = pipeline_steps(module, TTStableHLOPipelinePass())
    report = check_steps(module, steps, minimize=False)
    assert report.ok
    assert {*ran}.isdisjoint((1, 2, 3, 4, 5, 6, 7, 8, 12)) and {9, 11, None} <= {*ran}
