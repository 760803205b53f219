"""What XLA is given is written as it works on it best, and computes the same."""

import numpy as np
import pytest

import ttxdsl
from tests.bridges.jax.engine.devices import DevicesOfJax
from ttxdsl.bridges.jax.manual_sharding_export import export_manual_sharding
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import ops_of_type

SPLIT = '{sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}'
GRADIENT = f"""
sdy.mesh @mesh = <["d"=8]>
func.func @main(%x: tensor<512x24xf32> {SPLIT}, %g: tensor<512x32xf32> {SPLIT}) -> (tensor<RESULTxf32> {SPLIT}) {{
  %0 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0], precision = [HIGHEST, DEFAULT] : (tensor<512x24xf32>, tensor<512x32xf32>) -> tensor<24x32xf32>
  BACK
}}"""
TURNED = GRADIENT.replace("RESULT", "32x24").replace(
    "BACK",
    """%1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<24x32xf32>) -> tensor<32x24xf32>
  return %1 : tensor<32x24xf32>""",
)
AS_IT_IS = GRADIENT.replace("RESULT", "24x32").replace(
    "BACK", "return %0 : tensor<24x32xf32>"
)


@pytest.mark.parametrize("text", [TURNED, AS_IT_IS])
def test_gradients_are_scattered_along_their_first_dimension(
    devices: DevicesOfJax, text: str
):
    program = ttxdsl.load(text)
    partitioned = program.partition()
    x, g = program.random_inputs()
    (found,) = devices.run(partitioned.text, [x, g])
    (wanted,) = program.simulate(x, g)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    module = export_manual_sharding(partitioned.module).module
    (scatter,) = ops_of_type(module, stablehlo.ReduceScatterOp)
    (product,) = ops_of_type(module, stablehlo.DotGeneralOp)
    assert scatter.scatter_dimension.value.data == 0
    first = product.parent_block()
    assert first is not None
    assert (product.lhs is first.args[1]) == (text is TURNED)
    assert str(product.precision_config).index("HIGHEST") > 0
    highest_first = "HIGHEST" in str(product.precision_config).split(",")[0]
    assert highest_first == (text is AS_IT_IS)


def test_a_side_that_is_computed_is_not_read_by_columns(devices: DevicesOfJax):
    """Its rows are wide: the product is copied, and its sides stay."""
    text = f"""
sdy.mesh @mesh = <["d"=8]>
func.func @main(%x: tensor<512x24xf32> {SPLIT}, %h: tensor<512x1024xf32> {SPLIT}) -> (tensor<1024x24xf32> {SPLIT}) {{
  %0 = stablehlo.tanh %h : tensor<512x1024xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : (tensor<512x24xf32>, tensor<512x1024xf32>) -> tensor<24x1024xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<24x1024xf32>) -> tensor<1024x24xf32>
  return %2 : tensor<1024x24xf32>
}}"""
    program = ttxdsl.load(text)
    partitioned = program.partition()
    arrays = program.random_inputs()
    (found,) = devices.run(partitioned.text, list(arrays))
    (wanted,) = program.simulate(*arrays)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    module = export_manual_sharding(partitioned.module).module
    (product,) = ops_of_type(module, stablehlo.DotGeneralOp)
    (scatter,) = ops_of_type(module, stablehlo.ReduceScatterOp)
    assert isinstance(product.rhs.owner, stablehlo.TanhOp)
    assert scatter.scatter_dimension.value.data == 0
