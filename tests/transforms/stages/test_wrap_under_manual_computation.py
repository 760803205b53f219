"""Stage 9: which functions are wrapped, and what their boundary says."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

import ttxdsl
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.stages.wrap_under_manual_computation import (
    WrapUnderManualComputationPass,
    wrapper_of,
)

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'


def wrapped(text: str) -> list[sdy.ManualComputationOp | None]:
    """The wrapper of each function, after the pass."""
    module = parse_program(text)
    WrapUnderManualComputationPass().apply(make_context(), module)
    module.verify()
    return [wrapper_of(op) for op in module.ops if isinstance(op, FuncOp)]


def only(text: str) -> sdy.ManualComputationOp:
    (wrapper,) = wrapped(text)
    assert wrapper is not None
    return wrapper


def test_written_shardings_are_the_boundary():
    wrapper = only(
        MESH
        + """func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
  -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}]>}) {
  %0 = sdy.reshard %a <@mesh, [{"y"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
    )
    assert [str(s) for s in wrapper.in_shardings.data] == ['<@mesh, [{"x"}]>']
    assert [str(s) for s in wrapper.out_shardings.data] == ['<@mesh, [{"y", ?}]>']
    assert wrapper.manual_axes.data == ()
    assert [op.name for op in wrapper.body.block.ops] == ["sdy.reshard", "sdy.return"]


def test_what_says_nothing_is_replicated_on_the_mesh_of_the_others():
    wrapper = only(
        'sdy.mesh @first = <["a"=8]>\n'
        + MESH
        + """func.func @main(%a: tensor<8x2xf32>, %b: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>})
  -> (tensor<8x2xf32>, tensor<f32>) {
  return %a, %b : tensor<8x2xf32>, tensor<f32>
}"""
    )
    assert [str(s) for s in wrapper.in_shardings.data] == [
        "<@mesh, [{}, {}]>",
        "<@mesh, []>",
    ]
    assert [str(s) for s in wrapper.out_shardings.data] == [
        "<@mesh, [{}, {}]>",
        "<@mesh, []>",
    ]


def test_results_may_be_arguments_in_any_order():
    wrapper = only(
        MESH
        + """func.func @main(%a: tensor<8xf32>, %b: tensor<4xi32>) -> (tensor<4xi32>, tensor<8xf32>, tensor<4xi32>) {
  return %b, %a, %b : tensor<4xi32>, tensor<8xf32>, tensor<4xi32>
}"""
    )
    a, b = wrapper.body.block.args
    returned = wrapper.body.block.last_op
    assert returned is not None and tuple(returned.operands) == (b, a, b)
    # nothing inside looks at the function's own arguments: the region is isolated
    assert all(use.operation is wrapper for v in wrapper.operands for use in v.uses)


@pytest.mark.parametrize(
    "function",
    [
        "func.func @main() {\n  return\n}",
        "func.func @main() -> tensor<4xf32> {\n"
        "  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}",
        "func.func @main(%t: !stablehlo.token) -> !stablehlo.token {\n"
        "  return %t : !stablehlo.token\n}",
    ],
    ids=["no results", "constants only", "tokens"],
)
def test_functions_of_every_form(function: str):
    wrapper = only(MESH + function)
    assert len(wrapper.results) == len(wrapper.out_shardings.data)


def test_private_functions_and_declarations_stay():
    first, second, third = wrapped(
        MESH
        + """func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func private @helper(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func @declared(tensor<8xf32>) -> tensor<8xf32>"""
    )
    assert first is not None
    assert second is None and third is None


def test_every_entry_function_is_wrapped():
    assert all(
        wrapped(
            MESH
            + """func.func @one(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func public @two(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}"""
        )
    )


def test_wrapping_twice_is_wrapping_once():
    text = (
        MESH
        + "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n  return %a : tensor<8xf32>\n}"
    )
    module = parse_program(text)
    for _ in range(2):
        WrapUnderManualComputationPass().apply(make_context(), module)
    assert sum(isinstance(op, sdy.ManualComputationOp) for op in module.walk()) == 1


def test_a_solved_graph_is_left_alone():
    text = (
        MESH
        + """func.func @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%b: tensor<4x1xf32>) {
    sdy.return %b : tensor<4x1xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}"""
    )
    module = parse_program(text)
    before = str(module)
    WrapUnderManualComputationPass().apply(make_context(), module)
    assert str(module) == before


def test_locations_stay_with_their_ops():
    text = MESH + (
        'func.func @main(%a: tensor<8xf32> loc("a.py":1:1)) -> tensor<8xf32> {\n'
        '  %0 = stablehlo.abs %a : tensor<8xf32> loc("a.py":2:3)\n'
        '  return %0 : tensor<8xf32> loc("a.py":4:5)\n} loc("a.py":9:9)'
    )
    module = parse_program(text)
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    old = [op.location for op in function.body.block.ops]
    WrapUnderManualComputationPass().apply(make_context(), module)
    wrapper = wrapper_of(function)
    assert wrapper is not None
    assert [op.location for op in wrapper.body.block.ops] == old
    assert wrapper.location == function.location


def test_no_mesh_is_an_error():
    with pytest.raises(CompileError, match="has no mesh to run on"):
        wrapped("func.func @main(%a: tensor<8xf32>) {\n  return\n}")


def test_blocks_are_refused():
    text = MESH + (
        "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
        "  cf.br ^bb1(%a : tensor<8xf32>)\n"
        "^bb1(%b: tensor<8xf32>):\n  return %b : tensor<8xf32>\n}"
    )
    with pytest.raises(UnsupportedError, match="more than one block"):
        wrapped(text)


def test_a_computation_of_no_values_names_no_mesh():
    program = ttxdsl.load("""
        func.func @main() {
          sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
            sdy.return
          } : () -> ()
          return
        }""").partition()
    assert "sdy.mesh @mesh" in program.text
