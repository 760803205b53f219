"""What no run reads can be left out, and stages that write nothing else are not run."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttxdsl.analysis.calls.function_attributes import change_attributes
from ttxdsl.conversion.driver import run_passes
from ttxdsl.dialects import sdy
from ttxdsl.insight.check import judge
from ttxdsl.insight.check.check import check_steps
from ttxdsl.insight.check.judge import ComputedState, is_unread
from ttxdsl.insight.check.steps import Step, pipeline_steps
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.runtime.run import Runner, run_module
from ttxdsl.ir.state import is_same
from ttxdsl.loading.program import make_context, parse_program
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


def _without_unread(module: ModuleOp) -> ModuleOp:
    """Return a copy without all that `ComputedState` leaves out."""
    copy = module.clone()
    for op in copy.walk():
        op.attributes = {
            name: value for name, value in op.attributes.items() if not is_unread(name)
        }
        if isinstance(op, FuncOp):
            change_attributes(
                op,
                lambda entry, _: {
                    name: value for name, value in entry.items() if not is_unread(name)
                },
            )
    sdy.transform_shardings(copy, lambda one: one.closed_like())
    return copy


def test_runs_do_not_need_what_is_left_out() -> None:
    module = parse_program(TEXT)
    inputs = random_inputs(Runner(module).function, 0)
    for step in pipeline_steps(module, TTStableHLOPipelinePass()):
        for _ in run_passes(make_context(), module, [step.compiler_pass]):
            pass
        found, bare = (
            run_module(one, inputs) for one in (module, _without_unread(module))
        )
        for x, y in zip(found, bare, strict=True):
            np.testing.assert_array_equal(x, y)


def test_roles_and_shardings_are_no_part_of_a_computation() -> None:
    module = parse_program(TEXT)
    computation = ComputedState()
    states = [computation.of(module)]
    for step in pipeline_steps(module, TTStableHLOPipelinePass()):
        for _ in run_passes(make_context(), module, [step.compiler_pass]):
            pass
        states.append(computation.of(module))
    same = [is_same(before, after) for before, after in itertools.pairwise(states)]
    # stages 1 to 8 annotate, 12 closes
    assert same[:8] == [True] * 8 and same[11], same
    assert not same[8] and not same[10] and not any(same[13:])


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
