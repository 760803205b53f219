"""`sdy-sharding-group-import` merges, numbers and refuses what the C++ pass does."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleRejected
from tests.differential.random_modules import Features, random_module
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.transforms.shardy.importing.sdy_sharding_group_import import merged_groups

NAME = "sdy-sharding-group-import"


def groups(*members: tuple[str, int]) -> str:
    lines = "\n".join(
        f"sdy.sharding_group %{name} group_id={group} : tensor<8xf32>"
        for name, group in members
    )
    arguments = ", ".join(f"%{name}: tensor<8xf32>" for name in "wxyz")
    return f"func.func @f({arguments}) {{\n{lines}\nreturn\n}}"


def inside(first: int, second: int, third: int) -> str:
    """Members outside, inside, and inside of another manual computation."""

    def computation(name: str, group: int) -> str:
        return f"""
          %{name} = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"a"}}]>]
            out_shardings=[<@mesh, [{{"a"}}]>] manual_axes={{"a"}} (%p: tensor<4xf32>) {{
              sdy.sharding_group %p group_id={group} : tensor<4xf32>
              %i = stablehlo.negate %p : tensor<4xf32>
              sdy.sharding_group %i group_id={group} : tensor<4xf32>
              sdy.return %i : tensor<4xf32>
            }} : (tensor<8xf32>) -> tensor<8xf32>"""

    return f"""
      sdy.mesh @mesh = <["a"=2]>
      func.func @f(%x: tensor<8xf32>) {{
        sdy.sharding_group %x group_id={first} : tensor<8xf32>
        {computation("0", second)}{computation("1", third)}
        return
      }}"""


def test_manual_computations(oracle: Oracle):
    assert_equal_text(oracle, inside(3, 2, 1), NAME)


WRONG = {
    "inside and outside": inside(1, 1, 2),
    "inside of two": inside(1, 2, 2),
    "different shapes": """
      func.func @f(%x: tensor<8xf32>, %y: tensor<4xf32>) {
        sdy.sharding_group %x group_id=0 : tensor<8xf32>
        sdy.sharding_group %y group_id=0 : tensor<4xf32>
        return
      }""",
}


@pytest.mark.parametrize("name", WRONG)
def test_refused_like_cpp(oracle: Oracle, name: str):
    with pytest.raises(OracleRejected):
        oracle.run(WRONG[name], NAME)
    with pytest.raises(CompileError, match="sharding group"):
        run_ours(WRONG[name], NAME)


@pytest.mark.parametrize("seed", range(20))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    # one function: groups of several functions join by chance, with other shapes
    text = random_module(seed, Features(functions=1, ops=25))
    assert_equal_text(oracle, text, NAME)


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=8))
def test_merged_groups(of_values: list[list[int]]):
    numbers = merged_groups(of_values)
    assert set(numbers) == {group for groups in of_values for group in groups}
    assert sorted(set(numbers.values())) == list(range(len(set(numbers.values()))))
    for one in of_values:
        assert len({numbers[group] for group in one}) == 1
