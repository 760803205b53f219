"""Shardings at borders cut down as the C++ passes cut them: uneven ones, sub-axes."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleAborted
from tests.differential.random_modules import random_module
from tests.differential.random_programs import random_program
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.sharding.axes import AxisRef, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.shardy.exporting.sdy_update_non_divisible_input_output_shardings import (
    dividing_prefix,
)

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


BORDERS = {
    "calls": f"""{MESH}
      func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {{
        %0 = func.call @f(%x) {{sdy.sharding =
          #sdy.sharding_per_value<[<@mesh, [{{"b"}}]>]>}} : (tensor<6xf32>) -> tensor<6xf32>
        return %0 : tensor<6xf32>
      }}
      func.func private @f(%x: tensor<6xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"b"}}]>}})
          -> tensor<6xf32> {{
        return %x : tensor<6xf32>
      }}""",
    "manual computations along free axes": f"""{MESH}
      func.func @main(%x: tensor<12x6xf32>) -> tensor<12x6xf32> {{
        %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"a", "b"}}, {{"c", "one"}}]>]
          out_shardings=[<@mesh, [{{"a", "d"}}, {{"b", ?}}]>] manual_axes={{"a"}}
          (%p: tensor<6x6xf32>) {{
            sdy.return %p : tensor<6x6xf32>
          }} : (tensor<12x6xf32>) -> tensor<12x6xf32>
        return %0 : tensor<12x6xf32>
      }}""",
    "not inside": f"""{MESH}
      func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {{
        %0 = stablehlo.negate %x {{sdy.sharding =
          #sdy.sharding_per_value<[<@mesh, [{{"b"}}]>]>}} : tensor<6xf32>
        %1 = sdy.sharding_constraint %0 <@mesh, [{{"b"}}]> : tensor<6xf32>
        %2 = stablehlo.optimization_barrier {{sdy.sharding =
          #sdy.sharding_per_value<[<@mesh, [{{"b"}}]>]>}} %1 : tensor<6xf32>
        return %2 : tensor<6xf32>
      }}""",
    "maximal meshes": """
      sdy.mesh @one = <[], device_ids=[3]>
      func.func @main(%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@one, []>}) {
        return
      }""",
}


@pytest.mark.parametrize("name", BORDERS)
def test_borders_like_cpp(oracle: Oracle, name: str):
    assert_equal_text(oracle, BORDERS[name], EVEN)


@pytest.mark.parametrize("pipeline", (EVEN, WHOLE))
@pytest.mark.parametrize("seed", range(15))
def test_random_programs_like_cpp(oracle: Oracle, seed: int, pipeline: str):
    assert_equal_text(oracle, random_program(seed), pipeline)
    assert_equal_text(oracle, random_module(seed), pipeline)


SUB_AXES = {
    "closed dimensions stay": '[{"a", "b":(1)2}]',
    "open ones are cut": '[{"a", "b":(1)2, "c", ?}]',
    "at the first": '[{"b":(1)2, "c", ?}p1]',
    "replicated stay": '[{"b":(1)2, ?}], replicated={"b":(2)2}',
}


@pytest.mark.parametrize("name", SUB_AXES)
def test_whole_like_cpp(oracle: Oracle, name: str):
    text = dimension(24, SUB_AXES[name])
    assert_equal_text(oracle, text, WHOLE)
    # and a function besides main, which stays
    other = text.replace("@main", "@f")[len(MESH) :]
    assert_equal_text(oracle, text + other, WHOLE)


def test_no_main_function(oracle: Oracle):
    """C++ dies without a word to the user."""
    text = dimension(8, '[{"a"}]').replace("@main", "@f")
    text += text.replace("@f", "@g")[len(MESH) :]
    with pytest.raises(OracleAborted):
        oracle.run(text, WHOLE)
    with pytest.raises(CompileError, match="which of the 2 functions"):
        run_ours(text, WHOLE)


@given(st.integers(1, 200), st.permutations(["a", "b", "c"]))
def test_dividing_prefix(size: int, order: list[str]):
    mesh = Mesh((("a", 2), ("b", 12), ("c", 3)))
    axes = tuple(AxisRef(name) for name in order)
    kept = dividing_prefix(axes, size, mesh)
    assert size % total_size(kept, mesh) == 0
    for part, axis in zip(kept, axes, strict=False):
        assert part.is_prefix_of(axis)
    assert all(part.is_full for part in kept[:-1])
