"""Groups, shardings and meshes go as in the C++ passes."""

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleRejected
from tests.differential.random_modules import Features, random_module
from ttxdsl.diagnostics.errors import CompileError

GROUPS = "sdy-remove-sharding-groups"
ALL = "sdy-drop-sharding-and-mesh"


@pytest.mark.parametrize("seed", range(10))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    assert_equal_text(oracle, random_module(seed), GROUPS)


@pytest.mark.parametrize("seed", range(20))
def test_drop_random_modules_like_cpp(oracle: Oracle, seed: int):
    text = random_module(seed, Features(named_computations=False))
    try:
        oracle.run(text, ALL)
    except OracleRejected:
        # an op of the dialect is left, and names a mesh that is gone
        with pytest.raises(CompileError, match="names a mesh"):
            run_ours(text, ALL)
        return
    assert_equal_text(oracle, text, ALL)


def test_what_the_dialect_needs_is_named():
    text = """
      sdy.mesh @mesh = <["a"=2]>
      func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
        %0 = sdy.reshard %x <@mesh, [{"a"}]> : tensor<8xf32>
        return %0 : tensor<8xf32>
      }"""
    with pytest.raises(CompileError, match=r"sdy\.reshard.*names a mesh"):
        run_ours(text, ALL)
    inlined = text.replace("<@mesh", '<mesh<["a"=2]>')
    assert "sdy.reshard" in run_ours(inlined, ALL)
