"""A reduction of several values along a split dimension, each by a function of its own."""

import numpy as np

from ttxdsl.api import Program

TWO = """sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<4x6xf32>, %b: tensor<4x6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
                %p: tensor<f32>, %q: tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = stablehlo.reduce(%a init: %p), (%b init: %q) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%c: tensor<f32>, %d: tensor<f32>) (%e: tensor<i32>, %f: tensor<i32>) {
    %1 = stablehlo.add %c, %d : tensor<f32>
    %2 = stablehlo.multiply %e, %f : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}
"""


def test_parts_are_combined_and_not_gathered():
    program = Program.of_text(TWO, "two")
    inputs = program.random_inputs()
    inputs[3] = np.array(3, np.int32)  # counted once, not once a device
    device = program.partition()
    # the operands were gathered before, six times as large as the results
    assert device.text.count('"stablehlo.all_reduce"') == 2
    for form in (device, device.lower("ttnn")):
        expected = program.simulate(*inputs)
        for one, other in zip(form.simulate(*inputs), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
