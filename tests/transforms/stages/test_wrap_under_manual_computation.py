"""Stage 9: which functions are wrapped, and what their boundary says."""

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
