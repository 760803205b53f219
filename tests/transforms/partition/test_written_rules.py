"""Custom calls with a rule of their own: only what operands and results share is split."""

import numpy as np
import pytest

import ttxdsl

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
