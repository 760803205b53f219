"""Which dimensions are split together, what they are called, what they allow."""

from __future__ import annotations

from functools import cache

import pytest

from tests.insight.doctor.jax_models import text_of
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.insight.doctor.groups import Analysis, Family, analyze, divisors, short_name
from ttxdsl.insight.doctor.meshes import count_factorizations, factorizations
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.stages.inline import InlinePass


@cache
def analysis_of(name: str) -> Analysis:
    module = parse_program(text_of(name))
    InlinePass().apply(make_context(), module)
    return analyze(entry_function(module))


def families_of(name: str) -> dict[str, Family]:
    return {family.name: family for family in analysis_of(name).families}


def arguments_of(family: Family) -> list[str]:
    return [str(dim) for dim in family.arguments]


def test_attention_of_thirty_heads():
    families = families_of("attention")
    assert list(families) == ["batch", "hidden", "heads", "sequence"]
    heads = families["heads"]
    assert heads.allowed == (1, 2, 3, 5, 6, 10, 15, 30)
    assert arguments_of(heads) == ["p['wk'].1", "p['wo'].0", "p['wq'].1", "p['wv'].1"]
    assert arguments_of(families["hidden"])[-1] == "x.2"
    assert (families["batch"].size, arguments_of(families["batch"])) == (4, ["x.0"])
    assert families["batch"].communicates == ()
    assert dict(heads.communicates) == {"added up": 1}


def test_what_splits_an_argument_may_not_divide_the_group():
    heads = families_of("attention")["heads"]
    assert len(heads.splits(4)) == 4  # 480 can be split in 4, 30 heads cannot
    assert heads.padding(4) == pytest.approx(1 - 30 / 32)
    assert heads.padding(6) == 0
    assert heads.splits(7) == ()


def test_convolutions_and_experts():
    convolutions = families_of("convolutions")
    assert arguments_of(convolutions["conv1_3"]) == ["p['conv1'].3", "p['conv2'].2"]
    assert dict(convolutions["x_1"].communicates)["moved along"] == 2
    assert convolutions["conv1_0"].size == 1
    experts = families_of("experts")
    assert list(experts)[:2] == ["batch", "experts"]
    assert experts["experts"].size == 16


def test_every_second_layer_is_alike():
    families = families_of("layers")
    by_argument = {d: f.name for f in families.values() for d in arguments_of(f)}
    assert by_argument["p[0].1"] == by_argument["p[1].0"]
    assert by_argument["p[0].1"] == by_argument["p[2].1"]
    assert by_argument["p[1].1"] == by_argument["p[2].0"]
    assert by_argument["p[1].1"] != by_argument["p[0].1"]
    assert families[by_argument["p[0].1"]].groups == 2


def test_a_loop_hands_its_state_on():
    text = """
func.func @main(%n: tensor<i32>, %a: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %0:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<12x8xf32>
  cond {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.compare GT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = stablehlo.reshape %x : (tensor<12x8xf32>) -> tensor<4x3x8xf32>
    %w = stablehlo.reshape %y : (tensor<4x3x8xf32>) -> tensor<12x8xf32>
    stablehlo.return %i, %w : tensor<i32>, tensor<12x8xf32>
  }
  return %0#1 : tensor<12x8xf32>
}"""
    families = analyze(entry_function(parse_program(text))).families
    assert {str(f.arguments[0]): f.size for f in families} == {"a.0": 4, "a.1": 8}


def test_an_op_without_a_rule_needs_its_values_whole():
    text = """
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @unknown(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
    (family,) = analyze(entry_function(parse_program(text))).families
    assert dict(family.communicates) == {"needed whole": 1}


def test_the_estimate_of_a_product():
    text = """
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}"""
    analysis = analyze(entry_function(parse_program(text)))
    at = {str(f.arguments[0]): i for i, f in enumerate(analysis.families)}
    whole = analysis.estimate({})
    assert (whole.operations, whole.bytes_touched) == (8 * 4 * 6, 4 * (32 + 24 + 48))
    rows = analysis.estimate({at["x.0"]: 2})
    assert (rows.operations, rows.bytes_sent) == (8 * 4 * 6 // 2, 0)
    assert rows.bytes_touched == 4 * (16 + 24 + 24)
    inner = analysis.estimate({at["x.1"]: 2})
    # an all-reduce of 8x6 floats between two devices
    assert (inner.bytes_sent, inner.rounds) == (8 * 6 * 4, 2)
    both = analysis.estimate({at["x.0"]: 2, at["x.1"]: 2})
    assert both.bytes_sent == 4 * 6 * 4


def test_divisors():
    assert divisors(30) == (1, 2, 3, 5, 6, 10, 15, 30)
    assert divisors(1) == (1,)
    assert divisors(2**40)[-1] == 2**40
    assert divisors(3 * 2**60)[-1] == 2**20  # the largest that a mesh may have
    assert count_factorizations(720, 3) == sum(1 for _ in factorizations(720, 3))
    with pytest.raises(ValueError, match="0 has no divisors"):
        divisors(0)


@pytest.mark.parametrize(
    ("name", "short"),
    [("params['layers'][0]['wq']", "wq"), ("p[0]", "p0"), ("x", "x"), ("0", "arg0")],
)
def test_short_names(name: str, short: str):
    assert short_name(name) == short
