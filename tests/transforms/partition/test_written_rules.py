"""Custom calls with a rule of their own: only what operands and results share is split."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType

import ttxdsl
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import stablehlo
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


def shapes_of_call(rule: str, operand: str, result: str, wanted: str) -> list[object]:
    """The shapes on one device of the operand and the result of a call."""
    module = parse_program(f"""
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x6xf32> {{sdy.sharding = #sdy.sharding<@mesh, {operand}>}})
    -> (tensor<{result}> {{sdy.sharding = #sdy.sharding<@mesh, {wanted}>}}) {{
  %0 = stablehlo.custom_call @factorize(%a) {{sdy.sharding_rule = #sdy.op_sharding_rule<{rule}, custom>}}
    : (tensor<4x6xf32>) -> tensor<{result}>
  return %0 : tensor<{result}>
}}
""")
    with collect_remarks():
        TTStableHLOPipelinePass(verify_each=True).apply(make_context(), module)
    (call,) = (op for op in module.walk() if isinstance(op, stablehlo.CustomCallOp))
    types = (call.operands[0].type, call.results[0].type)
    return [type_.get_shape() for type_ in types if isinstance(type_, TensorType)]


@pytest.mark.parametrize(
    ("rule", "operand", "result", "wanted", "shapes"),
    [
        # a batch of rows
        ("([i, j])->([i, k]) {i=4, j=6, k=3}", '[{"x"}, {}]', "4x3xf32", '[{"x"}, {}]', [(2, 6), (2, 3)]),
        # each result needs all columns
        ("([i, j])->([i, k]) {i=4, j=6, k=3}", '[{}, {"x"}]', "4x3xf32", "[{}, {}]", [(4, 6), (4, 3)]),
        # no batch at all, as in JAX's rule of a QR decomposition
        ("([i, j])->([k, l]) {i=4, j=6, k=4, l=4}", '[{"x"}, {}]', "4x4xf32", "[{}, {}]", [(4, 6), (4, 4)]),
        # what is made from no operand is made whole
        ("([i, j])->([k, l]) {i=4, j=6, k=4, l=4}", "[{}, {}]", "4x4xf32", '[{}, {"x"}]', [(4, 6), (4, 4)]),
    ],
)  # fmt: skip
def test_shapes(
    rule: str, operand: str, result: str, wanted: str, shapes: list[tuple[int, ...]]
):
    assert shapes_of_call(rule, operand, result, wanted) == shapes


SQUARE = "tensor<4x4xf32>"
TURNED = "#sdy.op_sharding_rule<([i, j])->([j, i]) {i=4, j=4}, custom>"


@pytest.mark.parametrize(
    "op",
    [
        f"stablehlo.tanh %a {{sdy.sharding_rule = {TURNED}}} : {SQUARE}",
        f"chlo.erf %a {{sdy.sharding_rule = {TURNED}}} : {SQUARE} -> {SQUARE}",
    ],
)
def test_an_untrue_rule(op: str) -> None:
    """What is written of an op that we know says how shardings travel, not what it is."""
    text = f"""
    sdy.mesh @mesh = <["a"=2, "b"=2]>
    func.func @main(%a: {SQUARE} {{sdy.sharding = #sdy.sharding<@mesh, [{{"a"}}, {{}}]>}}) -> {SQUARE} {{
      %r = {op}
      return %r : {SQUARE}
    }}"""
    program = ttxdsl.load(text)
    x = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
    (found,) = program.partition().simulate(x)
    np.testing.assert_allclose(found, program.simulate(x)[0], rtol=1e-6)
