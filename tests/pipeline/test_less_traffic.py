"""Stage 6: by priorities, or aggressively where devices then send less."""

import numpy as np
import pytest

import ttxdsl
from tests.interpreters.reference import parse
from ttxdsl.interpreters.run import run_module
from ttxdsl.program import make_context
from ttxdsl.transforms.optimize.bytes_sent import bytes_sent
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

BY_PRIORITY, AGGRESSIVE = "sdy-user-priority-propagate", "sdy-aggressive-propagate"


def program(given: str = '"y", "x"', wanted: str = '"x"') -> str:
    """A value that is given split in one way and wanted in another, with both in one op."""
    return f"""sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{{given}}}]>}}) -> tensor<16xf32> {{
  %0 = stablehlo.minimum %a, %a {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{{wanted}, ?}}]>]>}} : tensor<16xf32>
  %1 = stablehlo.complex %a, %a : tensor<16xcomplex<f32>>
  %2 = stablehlo.real %1 : (tensor<16xcomplex<f32>>) -> tensor<16xf32>
  %3 = stablehlo.constant dense<0> : tensor<i32>
  %4 = stablehlo.dynamic_update_slice %2, %0, %3 : (tensor<16xf32>, tensor<16xf32>, tensor<i32>) -> tensor<16xf32>
  return %4 : tensor<16xf32>
}}"""


def test_the_one_that_sends_less_is_stage_6():
    given = ttxdsl.load(program())
    by_priority, aggressive = (
        bytes_sent(given.partition(propagation=name).module)
        for name in (BY_PRIORITY, AGGRESSIVE)
    )
    partitioned = given.partition()
    assert bytes_sent(partitioned.module) == aggressive < by_priority
    (remark,) = [one for one in partitioned.remarks if "stage 6" in one.message]
    assert f"{aggressive} bytes, {by_priority} with" in remark.message
    array = np.random.default_rng(0).standard_normal(16).astype("f4")
    (wanted,) = run_module(parse(program()), [array])
    (found,) = partitioned.simulate(array)
    np.testing.assert_array_equal(found, wanted)


def test_stages_apart_choose_the_same():
    module = parse(program())
    for first, last in ((1, 6), (7, 13)):
        stages = TTStableHLOPipelinePass(first_stage=first, last_stage=last)
        stages.apply(make_context(), module)
    whole = ttxdsl.load(program()).partition()
    assert bytes_sent(module) == bytes_sent(whole.module)


UNRELATED = '%b: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1]>}'
"""An argument of a priority that has nothing to do with the contradiction."""


@pytest.mark.parametrize(
    "text",
    [
        program(wanted='"y", "x"'),
        program().replace("(%a", f"({UNRELATED}, %a"),
    ],
    ids=["no contradiction", "priorities"],
)
def test_priorities_and_agreement_decide_alone(text: str):
    given = ttxdsl.load(text)
    partitioned = given.partition()
    assert partitioned.text == given.partition(propagation=BY_PRIORITY).text
    assert not any("stage 6" in one.message for one in partitioned.remarks)


def test_why_tells_of_the_chosen_one():
    """What an explanation records is what is compiled."""
    given = ttxdsl.load(program())
    by_priority, aggressive = (
        str(given.partition(propagation=name).why("%4"))
        for name in (BY_PRIORITY, AGGRESSIVE)
    )
    assert str(given.partition().why("%4")) == aggressive != by_priority
