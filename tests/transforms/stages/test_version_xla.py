"""The pipeline with XLA's choices: the same numbers, and what XLA's own programs send."""

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

import ttxdsl
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import stablehlo
from ttxdsl.insight.plan import xla
from ttxdsl.insight.plan.variants import Origin
from ttxdsl.insight.plan.xla import held_table_bytes, moved_bytes
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

STEP = """
sdy.mesh @mesh = <["fsdp"=4]>
func.func @main(
  %x: tensor<4096x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}]>},
  %w: tensor<128x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}
) -> (tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4096x128xf32>, tensor<128x512xf32>) -> tensor<4096x512xf32>
  return %0 : tensor<4096x512xf32>
}
"""
"""A layer of a step whose batch nothing holds: activations are split by their features."""
WHOLE = 4096 * 512 * 4
"""The bytes of the result before it is cut, which v4 has in its memory and others on the core."""


def test_numbers_are_the_same():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4096, 128), np.float32)
    w = rng.standard_normal((128, 512), np.float32)
    program = ttxdsl.load(STEP).partition(version="xla").lower("ttnn")
    (result,) = program.simulate(x, w)
    np.testing.assert_allclose(result, x @ w, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    "rows", ["4096", "64"]
)  # exchanging x would be less, then more
def test_a_device_sends_what_it_does_in_xla(rows: str):
    program = ttxdsl.load(STEP.replace("4096", rows))
    beside = program.compare_xla(static=True, version="xla", optimize=False)
    assert beside.bytes[0] == beside.bytes[1]
    assert beside.launches == (1, 1)


def test_what_compiles_as_the_stages_do_alone_is_planned_so(
    monkeypatch: pytest.MonkeyPatch,
):
    def refuse(*_: object) -> None:
        raise CompileError("not without optimizations")

    monkeypatch.setattr(Origin, "compiled", refuse)
    plan = ttxdsl.load(STEP).plan("v5e", variants=False)
    assert plan.memory.peak_bytes < WHOLE


def test_a_program_that_constrains_its_products_is_planned_as_the_stages_do():
    constrained = STEP.replace(
        "  return %0",
        """  %1 = sdy.sharding_constraint %0 <@mesh, [{"fsdp"}, {}]> : tensor<4096x512xf32>
  return %1""",
    )
    plan = ttxdsl.load(constrained).plan("v5e", variants=False)
    assert plan.memory.peak_bytes < WHOLE


def test_a_plan_for_an_xla_chip_is_of_its_program():
    program = ttxdsl.load(STEP)
    plan = program.plan("h100")
    assert plan.memory.peak_bytes > WHOLE
    assert any("shardings contradict each other" in told for told in plan.assumptions)
    assert program.plan("n300").memory.peak_bytes < WHOLE
    # what somebody chose stays
    chosen = program.partition(reshards="sdy-insert-explicit-reshards").plan("h100")
    assert not any("contradict" in told for told in chosen.assumptions)


SHARED = """
sdy.mesh @mesh = <["fsdp"=4]>
func.func @main(
  %x: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>},
  %w: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}
) -> (tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [1]
    : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %1 : tensor<4096x4096xf32>
}
"""
"""A weight that a layer and its gradient read; XLA gathers it once."""


def test_xla_gathers_the_same_once():
    text = str(ttxdsl.load(SHARED).partition(version="xla").module)
    assert text.count('all_gather"') == 1


def test_a_step_without_constraints_is_partitioned_by_xla_alone(
    monkeypatch: pytest.MonkeyPatch,
):
    apply = TTStableHLOPipelinePass.apply
    asked: list[str] = []

    def note(self: TTStableHLOPipelinePass, ctx: Context, op: ModuleOp) -> None:
        asked.append(self.version)
        apply(self, ctx, op)

    monkeypatch.setattr(TTStableHLOPipelinePass, "apply", note)

    def planned(text: str) -> tuple[list[str], bool]:
        asked.clear()
        plan = ttxdsl.load(text).plan("v5e", variants=False)
        return asked, any("no constraint" in told for told in plan.assumptions)

    assert planned(SHARED) == (["xla", "design"], True)
    # a large one is not partitioned to know whether its shardings contend
    monkeypatch.setattr(xla, "_LARGE", 2)
    assert planned(SHARED) == (["xla"], True)
    held = SHARED.replace(
        "  %1 =",
        """  %h = sdy.sharding_constraint %0 <@mesh, [{"fsdp"}, {}]> : tensor<4096x4096xf32>
  %1 =""",
    )
    assert planned(held) == (["design"], False)
    # what is manual constrains nothing beside it, as attention among layers
    manual = SHARED.replace(
        "  %1 =",
        """  %h = sdy.manual_computation(%0)
    in_shardings=[<@mesh, [{"fsdp"}, {}]>] out_shardings=[<@mesh, [{"fsdp"}, {}]>]
    manual_axes={"fsdp"} (%part: tensor<1024x4096xf32>) {
    %half = stablehlo.negate %part : tensor<1024x4096xf32>
    sdy.return %half : tensor<1024x4096xf32>
  } : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 =""",
    )
    assert planned(manual) == (["xla"], True)
    # what is small has the figures that other commands say
    assert planned(SHARED.replace("4096", "64")) == (["xla", "design"], False)
    # devices that exchange nothing have nothing to choose
    whole = SHARED.replace(
        '%w: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}',
        "%w: tensor<4096x4096xf32>",
    )
    assert planned(whole) == (["xla"], False)


ACCUMULATED = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(
  %a: tensor<4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
  %b: tensor<4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
) -> tensor<1024x1024xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<8> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<1024x1024xf32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<1024x1024xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]
        : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<1024x1024xf32>
      %2 = stablehlo.add %sum, %1 : tensor<1024x1024xf32>
      %3 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %3, %2 : tensor<i32>, tensor<1024x1024xf32>
    }
  return %0#1 : tensor<1024x1024xf32>
}
"""
"""A gradient that a loop accumulates: XLA sums it among the devices once, behind the loop."""


def test_xla_sums_what_a_loop_accumulates_behind_it():
    (each,) = ttxdsl.load(ACCUMULATED).partition(version="xla").collectives()
    assert each.kind == "all_reduce"
    assert each.count == 1


SUM = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(
  %a: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
  %b: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
) -> (tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {"x"}]> : tensor<1024x1024xf32>
  %1 = sdy.sharding_constraint %b <@mesh, [{}, {"x"}]> : tensor<1024x1024xf32>
  %2 = stablehlo.add %0, %1 : tensor<1024x1024xf32>
  return %2 : tensor<1024x1024xf32>
}
"""


def test_xla_exchanges_each_operand_of_a_sum():
    program = ttxdsl.load(SUM)
    module = program.partition().module
    assert moved_bytes(module) == 1024 * 1024 // 4 * 4
    told = program.plan("v5e").assumptions
    assert any("exchanges each operand" in text for text in told)
    # there is nothing to exchange apart
    one = SUM.replace("add %0, %1", "negate %0")
    assert not moved_bytes(ttxdsl.load(one).partition().module)


def test_xla_is_asked_where_a_computed_value_is_exchanged():
    text = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(
  %a: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
) -> (tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
      tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.exponential %a : tensor<1024x1024xf32>
  %1 = stablehlo.negate %0 : tensor<1024x1024xf32>
  return %0, %1 : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}
"""
    assert moved_bytes(ttxdsl.load(text).partition().module) == 1024 * 1024 // 4 * 4


def test_xla_is_asked_where_a_scattered_value_is_exchanged():
    """Labels' part of a gradient is a comparison in XLA, which nobody exchanges."""
    rows, indices = "tensor<64x256xf32>", "tensor<64x1xi32>"
    text = f"""
sdy.mesh @mesh = <["x"=4]>
func.func @main(
  %i: {indices} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}},
  %u: tensor<64xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}
) -> ({rows} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}]>}}) {{
  %z = stablehlo.constant dense<0.0> : {rows}
  %0 = "stablehlo.scatter"(%z, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : ({rows}, {indices}, tensor<64xf32>) -> {rows}
  %1 = sdy.sharding_constraint %0 <@mesh, [{{"x"}}, {{}}]> : {rows}
  return %1 : {rows}
}}
"""
    assert moved_bytes(ttxdsl.load(text).partition().module) == 64 * 256 // 4 * 4


@pytest.mark.parametrize(("rows", "whole"), [(8, 4 * 8), (64, 0)])
def test_xla_holds_tables_whole_for_what_is_added(rows: int, whole: int):
    split = '{}, {"x"}, {}'
    of_tables, added = f"tensor<4x{rows}x128xf32>", "tensor<4x8x128xf32>"
    text = f"""
sdy.mesh @mesh = <["x"=4]>
func.func @main(
  %t: {of_tables} {{sdy.sharding = #sdy.sharding<@mesh, [{split}]>}},
  %i: tensor<4x8x1xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}, {{}}]>}},
  %u: {added} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}, {{}}]>}}
) -> ({of_tables} {{sdy.sharding = #sdy.sharding<@mesh, [{split}]>}}) {{
  %0 = "stablehlo.scatter"(%t, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : ({of_tables}, tensor<4x8x1xi32>, {added}) -> {of_tables}
  return %0 : {of_tables}
}}
"""
    (scatter,) = ops_of_type(ttxdsl.load(text).partition().module, stablehlo.ScatterOp)
    assert held_table_bytes(scatter) == whole * 128 * 4
