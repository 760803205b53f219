"""`pad-borders`: uneven arguments and results compile, and run to one device's numbers."""

import numpy as np
import pytest

from tests.transforms.run_pass import run_passes
from ttxdsl.api import Program
from ttxdsl.bridges.jax.function import JaxFunction
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.diagnostics.remarks import collect_remarks

MESH = 'sdy.mesh @mesh = <["x"=4, "y"=2]>'


def _sharded(text: str) -> str:
    return f"{{sdy.sharding = #sdy.sharding<@mesh, {text}>}}"


SOFTMAX = f"""{MESH}
func.func @main(%x: tensor<6x5xf32> {_sharded('[{"y"}, {"x"}]')})
    -> (tensor<6x5xf32> {_sharded('[{"x"}, {"y"}]')}, tensor<f32>, tensor<5xf32>) {{
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<6x5xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xf32>) -> tensor<6x5xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<6x5xf32>
  %3 = stablehlo.exponential %2 : tensor<6x5xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<6x5xf32>, tensor<f32>) -> tensor<6xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<6xf32>) -> tensor<6x5xf32>
  %6 = stablehlo.divide %3, %5 : tensor<6x5xf32>
  %7 = stablehlo.reduce(%x init: %zero) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<6x5xf32>, tensor<f32>) -> tensor<f32>
  %8 = stablehlo.reduce(%x init: %zero) applies stablehlo.multiply across dimensions = [0] : (tensor<6x5xf32>, tensor<f32>) -> tensor<5xf32>
  return %6, %7, %8 : tensor<6x5xf32>, tensor<f32>, tensor<5xf32>
}}
"""

# the order of elements, and the place of the largest one
SORTED = f"""{MESH}
func.func @main(%x: tensor<7xf32> {_sharded('[{"x"}]')})
    -> (tensor<7xf32> {_sharded('[{"y"}]')}, tensor<i32>) {{
  %0 = "stablehlo.sort"(%x) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }}) : (tensor<7xf32>) -> tensor<7xf32>
  %i = stablehlo.iota dim = 0 : tensor<7xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %1:2 = stablehlo.reduce(%x init: %low), (%i init: %none) across dimensions = [0] : (tensor<7xf32>, tensor<7xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {{
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %q = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
    %r = stablehlo.select %p, %c, %d : tensor<i1>, tensor<i32>
    stablehlo.return %q, %r : tensor<f32>, tensor<i32>
  }}
  return %0, %1#1 : tensor<7xf32>, tensor<i32>
}}
"""

# what a layer gives, and the gradient of its sum of squares with respect to the weights
GRADIENT = f"""{MESH}
func.func @main(%x: tensor<6x3xf32> {_sharded('[{"x"}, {}]')},
                %w: tensor<3x5xf32> {_sharded('[{"y"}, {"x"}]')})
    -> (tensor<6x5xf32>, tensor<3x5xf32> {_sharded('[{"y"}, {"x"}]')}) {{
  %0 = stablehlo.dot %x, %w : (tensor<6x3xf32>, tensor<3x5xf32>) -> tensor<6x5xf32>
  %1 = stablehlo.add %0, %0 : tensor<6x5xf32>
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [0] x [0] : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<3x5xf32>
  return %0, %2 : tensor<6x5xf32>, tensor<3x5xf32>
}}
"""


def _moved(element: str) -> str:
    kind = f"tensor<3x5x{element}>"
    return f"""{MESH}
    func.func @main(%x: {kind} {_sharded('[{"x", "y"}, {"y":(1)1}]')}, %n: tensor<4xi32>)
        -> ({kind} {_sharded('[{"y"}, {"x"}]')}, tensor<4xi32> {_sharded('[{"x"}]')}, {kind}) {{
      return %x, %n, %x : {kind}, tensor<4xi32>, {kind}
    }}""".replace(', {"y":(1)1}', ", {}")


PROGRAMS = {
    "softmax": SOFTMAX,
    "sorted": SORTED,
    "gradient": GRADIENT,
    **{f"moved {one}": _moved(one) for one in ("i1", "ui8", "bf16", "complex<f32>")},
}


def _forms(name: str) -> tuple[list[Program], list[np.ndarray], tuple[np.ndarray, ...]]:
    program = Program.of_text(PROGRAMS[name], name)
    inputs = program.random_inputs()
    with collect_remarks():
        device = program.partition()
    assert "ttxdsl.unpadded_shape" in device.text
    return (
        [device, device.lower("ttir"), device.lower("ttnn")],
        inputs,
        program.simulate(*inputs),
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_those_of_one_device(name: str):
    forms, inputs, expected = _forms(name)
    for form in forms:
        found = form.simulate(*inputs)
        assert [one.shape for one in found] == [one.shape for one in expected]
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


def test_every_stage_computes_the_same():
    program = Program.of_text(GRADIENT, "gradient")
    with collect_remarks():
        assert program.partition().check().ok


def test_jax_takes_and_gives_the_shapes_of_the_program():
    forms, inputs, expected = _forms("gradient")
    engine = JaxFunction(forms[0].module)
    for one, other in zip(engine(*inputs), expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("options", [{"pad_borders": False}, {"strict": True}])
def test_refused_where_asked(options: dict[str, bool]):
    with pytest.raises(UnsupportedError, match="not divisible by 4"):
        Program.of_text(GRADIENT, "gradient").partition(**options)


def test_quantized_elements_are_refused_still():
    kind = "tensor<6x!quant.uniform<i8:f32, 0.5>>"
    text = f"""{MESH}
    func.func @main(%x: {kind} {_sharded('[{"x"}]')}) -> {kind} {{
      return %x : {kind}
    }}"""
    with pytest.raises(CompileError, match="not divisible by 4"):
        Program.of_text(text, "quantized").partition()


def test_what_a_collective_takes_is_not_padded():
    """The collective says how the argument itself is split."""
    text = f"""{MESH}
    func.func @main(%x: tensor<7xf32> {_sharded('[{"x"}]')}) -> tensor<7xf32> {{
      %0 = sdy.all_gather [{{"x"}}] %x out_sharding=<@mesh, [{{}}]> : tensor<7xf32>
      return %0 : tensor<7xf32>
    }}"""
    for options in ("pad-borders=true", "pad-borders=true verify-each=true"):
        with pytest.raises(
            CompileError, match=r"argument 0 has size 7, .* divisible by 4"
        ):
            run_passes(text, f"tt-stablehlo-pipeline{{{options}}}")


def test_the_bare_pipeline_refuses():
    with pytest.raises(UnsupportedError, match="not divisible by 4"):
        run_passes(GRADIENT, "tt-stablehlo-pipeline")
    with collect_remarks():
        run_passes(GRADIENT, "tt-stablehlo-pipeline{pad-borders=true}")


@pytest.mark.parametrize("said", ["9, 3", "6", "-1, 3"])
def test_what_fits_no_tensor_is_an_error(said: str):
    text = f"""func.func @main(%x: tensor<8x3xf32> {{ttxdsl.unpadded_shape = array<i64: {said}>}}) -> tensor<8x3xf32> {{
      return %x : tensor<8x3xf32>
    }}"""
    program = Program.of_text(text, "said")
    with pytest.raises(CompileError, match="of a tensor of 8x3"):
        program.simulate(np.zeros((8, 3), np.float32))
