"""Cutting programs: what is left is valid, runs, and is split as before."""

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.insight.check.faults import DOT, GATHER_ALL, IOTA
from ttxdsl.analysis.boundary import arguments_of
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.api import program_of
from ttxdsl.insight.check.cutting import cut_ops, cuttable_ops, keep_results
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


def after(text: str, stage: int) -> ModuleOp:
    module = parse_program(text)
    if stage:
        TTStableHLOPipelinePass(last_stage=stage).apply(make_context(), module)
    return module


def names(module: ModuleOp) -> list[str]:
    return [op.name.removeprefix("stablehlo.") for op in cuttable_ops(module)]


def runs(module: ModuleOp) -> None:
    module.verify()
    program = program_of(module)
    program.simulate(*program.random_inputs())


@pytest.mark.parametrize("stage", [0, 4, 6, 8, 10, 11, 13])
@pytest.mark.parametrize("text", [DOT, GATHER_ALL, IOTA], ids=["dot", "gather", "iota"])
def test_any_op_can_be_cut_at_any_stage(text: str, stage: int):
    module = after(text, stage)
    before = str(module)
    for index in range(len(cuttable_ops(module))):
        runs(cut_ops(module, [index], with_status=stage > 3))
    assert str(module) == before


def test_a_cut_value_becomes_an_argument_that_is_split_the_same():
    module = after(DOT, 6)
    assert names(module) == ["dot_general", "tanh"]
    cut = cut_ops(module, [0], with_status=True)
    assert names(cut) == ["tanh"]
    (argument,) = arguments_of(entry_function(cut))
    assert argument.shape == (8, 6)
    module = after(IOTA, 8)
    cut = cut_ops(module, [names(module).index("multiply")], with_status=True)
    added = arguments_of(entry_function(cut))[-1]
    assert added.layout is not None
    assert added.layout.parts == (2, 1)


def test_what_is_not_used_any_more_goes_too():
    module = after(IOTA, 0)
    assert "tanh" in names(module)
    cut = cut_ops(module, [], with_status=False)
    # nothing uses the tanh
    assert names(cut) == ["iota", "multiply", "add"]
    cut = cut_ops(module, [names(module).index("add")], with_status=False)
    assert names(cut) == []
    assert len(entry_function(cut).function_type.inputs) == 1


@pytest.mark.parametrize("stage", [0, 6, 10, 13])
def test_results(stage: int):
    module = after(GATHER_ALL, stage)
    second = keep_results(module, [1])
    runs(second)
    assert len(entry_function(second).function_type.outputs) == 1
    first = keep_results(module, [0])
    assert "abs" in names(second)
    assert "abs" not in names(first)


def test_functions_that_nobody_calls_go():
    text = (
        "func.func private @used(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  return %x : tensor<2xf32>\n}\n"
        "func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n"
        "  %0 = func.call @used(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
        "  %1 = stablehlo.negate %a : tensor<2xf32>\n"
        "  return %0, %1 : tensor<2xf32>, tensor<2xf32>\n}\n"
    )
    module = parse_program(text)
    assert "@used" in str(keep_results(module, [0]))
    assert "@used" not in str(keep_results(module, [1]))
