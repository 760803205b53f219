"""`sdy-inline-meshes` writes meshes where the C++ pass does."""

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleRejected
from tests.differential.random_modules import random_module
from tests.transforms.shardy.importing.test_sdy_lift_inlined_meshes import PROGRAMS

NAME = "sdy-inline-meshes"
GROUPS = "replica groups by name"


@pytest.mark.parametrize("seed", range(10))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    assert_equal_text(oracle, random_module(seed), NAME)


def test_meshes_of_replica_groups(oracle: Oracle):
    """C++ drops the mesh that the groups name, and its verifier refuses the module."""
    text = PROGRAMS[GROUPS]
    with pytest.raises(OracleRejected, match="not found"):
        oracle.run(text, NAME)
    after = oracle.run(run_ours(text, NAME))
    assert "sdy.mesh" not in after
    assert 'mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>]>' in after
