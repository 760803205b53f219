"""Shardings at borders cut down as the C++ passes cut them: uneven ones, sub-axes."""

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleAborted
from tests.differential.random_modules import random_module
from tests.differential.random_programs import random_program
from ttxdsl.diagnostics.errors import CompileError

EVEN = "sdy-update-non-divisible-input-output-shardings"
WHOLE = "sdy-remove-sub-axes-in-input-output-shardings"
MESH = 'sdy.mesh @mesh = <["a"=2, "b"=4, "c"=3, "d"=12, "one"=1]>'


def dimension(size: int | str, sharding: str) -> str:
    type = f"tensor<{size}xf32>"
    attribute = f"{{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}"
    return f"""{MESH}
      func.func @main(%x: {type} {attribute}) -> ({type} {attribute}) {{
        return %x : {type}
      }}"""


DIMENSIONS = {
    "even": (8, '[{"a", "b", ?}p1]'),
    "nothing fits": (5, '[{"a"}]'),
    "the first fits": (6, '[{"a", "b", ?}]'),
    "a part fits": (2, '[{"b"}]'),
    "the first and a part": (4, '[{"a", "b"}]'),
    "all in another order": (12, '[{"c", "b"}]'),
    "nothing behind a part": (6, '[{"b", "c"}]'),
    "part of a sub-axis": (6, '[{"c", "b":(2)2, "a"}]'),
    "a sub-axis in the middle": (3, '[{"d":(2)6}]'),
    "priority goes with a change": (6, '[{"b"}p2]'),
    "empty and open keeps no priority": (5, '[{"a", ?}p2]'),
    "size one ends the list": (6, '[{"one", "b"}]'),
    "replicated and unreduced stay": (6, '[{"b"}], replicated={"a"}, unreduced={"c"}'),
    "unknown size": ("?", '[{"a"}]'),
    "no elements": (0, '[{"a"}]'),
}


@pytest.mark.parametrize("name", DIMENSIONS)
def test_even_like_cpp(oracle: Oracle, name: str):
    assert_equal_text(oracle, dimension(*DIMENSIONS[name]), EVEN)


@pytest.mark.parametrize("pipeline", (EVEN, WHOLE))
@pytest.mark.parametrize("seed", range(15))
def test_random_programs_like_cpp(oracle: Oracle, seed: int, pipeline: str):
    assert_equal_text(oracle, random_program(seed), pipeline)
    assert_equal_text(oracle, random_module(seed), pipeline)


def test_no_main_function(oracle: Oracle):
    """C++ dies without a word to the user."""
    text = dimension(8, '[{"a"}]').replace("@main", "@f")
    text += text.replace("@f", "@g")[len(MESH) :]
    with pytest.raises(OracleAborted):
        oracle.run(text, WHOLE)
    with pytest.raises(CompileError, match="which of the 2 functions"):
        run_ours(text, WHOLE)
