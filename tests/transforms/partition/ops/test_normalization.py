"""Batch normalizations over a split batch: partial statistics, summed."""

import numpy as np
import pytest

from tests.differential.partitioning import EQUAL, partition_and_compare
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.collectives.program.bytes_sent import bytes_sent
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

IMAGES = "16x4x8x8"


def program(dims: str, mesh: str, *, grad: bool, element: str = "f32") -> str:
    """The training form, or its gradient, of images that are split."""
    tensor, vector = f"tensor<{IMAGES}x{element}>", f"tensor<4x{element}>"
    name, more = "training", f", %o: {vector}"
    operands, types = "%x, %s, %o", f"{tensor}, {vector}, {vector}"
    if grad:
        name, more = "grad", f", %m: {vector}, %w: {vector}, %g: {tensor}"
        operands = "%x, %s, %m, %v, %g"
        types = f"{tensor}, {vector}, {vector}, {vector}, {tensor}"
    variance = f"%v = stablehlo.multiply %w, %w : {vector}" if grad else ""
    results = f"({tensor}, {vector}, {vector})"
    return f"""
sdy.mesh @mesh = <{mesh}>
func.func @main(
    %x: {tensor} {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}, %s: {vector}{more}
) -> {results} {{
  {variance}
  %0:3 = "stablehlo.batch_norm_{name}"({operands}) <{{
      epsilon = 1.0e-2 : f32, feature_index = 1 : i64}}> : ({types}) -> {results}
  return %0#0, %0#1, %0#2 : {tensor}, {vector}, {vector}
}}"""


ONE, TWO = '["b"=8]', '["a"=2, "b"=4]'


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize(
    ("dims", "mesh", "sent"),
    [
        ('{"b"}, {}, {}, {}', ONE, 56),
        ('{"b":(1)4}, {}, {"b":(4)2}, {}', ONE, 56),
        ('{}, {}, {}, {"b":(1)2}', ONE, 32),
        ('{"a"}, {}, {"b"}, {}', TWO, 56),
        ('{"a", "b"}, {}, {}, {}', TWO, 56),
        ('{"a"}, {"b"}, {}, {}', TWO, 8),
        ('{}, {"b"}, {}, {}', TWO, 0),
    ],
)
def test_statistics_are_summed(
    dims: str, mesh: str, sent: int, grad: bool, element: str
):
    """Two numbers of 32 bits a feature go around, whatever the elements are."""
    module = parse_program(program(dims, mesh, grad=grad, element=element))
    assert partition_and_compare(module, 0)[0] == EQUAL
    assert bytes_sent(module) == sent


def test_features_far_from_zero():
    """The variance keeps its digits, which squares of the features would not."""
    module = parse_program(program('{"b"}, {}, {}, {}', ONE, grad=False))
    generator = np.random.default_rng(0)
    x = generator.standard_normal((16, 4, 8, 8), dtype=np.float32) + np.float32(1e4)
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    with collect_remarks():
        TTStableHLOPipelinePass().apply(make_context(), module)
    _, mean, variance = run_module(module, [x, ones, zeros])
    wide = x.astype(np.float64)
    np.testing.assert_allclose(mean, wide.mean((0, 2, 3)), rtol=1e-6)
    np.testing.assert_allclose(variance, wide.var((0, 2, 3)), rtol=1e-4)
