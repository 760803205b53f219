"""Which dimensions are split together, what they are called, what they allow."""

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


def test_an_op_without_a_rule_needs_its_values_whole():
    text = """
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @unknown(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
    (family,) = analyze(entry_function(parse_program(text))).families
    assert dict(family.communicates) == {"needed whole": 1}


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
