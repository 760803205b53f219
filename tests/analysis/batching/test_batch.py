"""Programs without shardings get the data parallel split that an engineer would write."""

import re
from collections import Counter

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.differential.partitioning import arguments_of, assert_same
from tests.sampling import sampled
from tests.transforms.unsharded_models import MODELS, unsharded_models
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark, collect_remarks
from ttxdsl.dialects import sdy
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


def split_dimensions(module: ModuleOp) -> dict[int, int]:
    """The dimension that is split of each argument that is."""
    return {
        index: dim
        for index, sharding in enumerate(
            sdy.func_argument_shardings(entry_function(module))
        )
        if sharding is not None
        for dim, one in enumerate(sharding.dims)
        if one.axes
    }


def annotated(text: str, count: int) -> tuple[ModuleOp, list[Remark]]:
    """The module after stage 4, and what it said."""
    module = parse_program(text)
    with collect_remarks() as remarks:
        TTStableHLOPipelinePass(mesh_shape=(1, count), last_stage=4).apply(
            make_context(), module
        )
    return module, remarks


def test_models_are_those_listed():
    assert tuple(sorted(unsharded_models())) == MODELS


@pytest.mark.parametrize("name", sampled(MODELS, 8))
def test_the_batch_is_split_and_costs_what_was_said(name: str):
    model = unsharded_models()[name]
    module, (remark,) = annotated(model.text, 4)
    assert split_dimensions(module) == model.batch
    assert remark.severity == "remark"
    for index, dim in model.batch.items():
        assert re.search(
            rf"dimension {dim} of arguments? [\d, and]*{index}", str(remark)
        )

    module = parse_program(model.text)
    arguments = arguments_of(module, 0, tagged=False)
    wanted = run_module(module.clone(), arguments)
    with collect_remarks() as warnings:
        # optimized, some of them are one
        TTStableHLOPipelinePass(
            mesh_shape=(1, 4), verify_each=True, optimize=False
        ).apply(make_context(), module)
    assert [one.message for one in warnings] == [remark.message]
    for one, other in zip(run_module(module, arguments), wanted, strict=True):
        assert_same(one, other)
    said = re.findall(r"(\d+) (?:final )?reductions?", remark.message)
    found = Counter(one.kind for one in list_collectives(module))
    assert found == Counter({"all_reduce": sum(map(int, said))} if said else {})


@pytest.mark.parametrize(
    ("name", "fitting"),
    [
        ("mlp_step", "1,2, 1,4, 1,8, 1,16"),
        ("cnn_step", "1,2, 1,4, 1,8"),
        ("scanned_layers", "1,2, 1,4, 1,8"),
        ("time_major", "1,2, 1,4, 1,8"),
    ],
)
def test_a_batch_that_does_not_fit_says_what_fits(name: str, fitting: str):
    model = unsharded_models()[name]
    with pytest.raises(CompileError) as error:
        annotated(model.text, 7)
    message = str(error.value)
    assert "mesh-shape 1,7: 7 devices cannot share the batch of '@main'" in message
    assert f"these fit: {fitting};" in message


def dot(lhs: str, rhs: str, result: str, dims: str = "[1] x [0]") -> str:
    return f"stablehlo.dot_general {lhs}, {rhs}, contracting_dims = {dims} : {result}"


X, W = "tensor<16x64xf32>", "tensor<64x64xf32>"


def test_a_gather_in_between_is_taken_if_it_is_worth_it():
    """Every row of the batch is compared with every other, after much work."""
    layers = "\n".join(
        f"  %{i} = {dot(f'%{i - 1}' if i else '%x', '%w', f'({X}, {W}) -> {X}')}"
        for i in range(40)
    )
    pairs = dot("%39", "%39", f"({X}, {X}) -> tensor<16x16xf32>", "[1] x [1]")
    text = f"""func.func @main(%x: {X}, %w: {W}) -> tensor<16x16xf32> {{
{layers}
  %s = {pairs}
  return %s : tensor<16x16xf32>
}}"""
    module, (remark,) = annotated(text, 4)
    assert split_dimensions(module) == {0: 0}
    assert "1 gather communicates" in remark.message


def test_what_costs_more_than_it_spares_is_computed_everywhere():
    text = """func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %a, %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}"""
    module, (remark,) = annotated(text, 4)
    assert split_dimensions(module) == {}
    assert remark.message.startswith("every one of the 4 devices computes all of")


def test_a_loop_that_waits_for_a_sum_over_the_batch_says_so():
    text = f"""func.func @main(%x: {X}) -> {X} {{
  %0 = stablehlo.while(%v = %x) : {X}
    cond {{
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = [0, 1] : ({X}, tensor<f32>) -> tensor<f32>
      %p = stablehlo.compare GT, %s, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      %h = stablehlo.tanh %v : {X}
      stablehlo.return %h : {X}
    }}
  return %0 : {X}
}}"""
    _, (remark,) = annotated(text, 4)
    assert "1 reduction in between communicates" in remark.message
