"""`sdy-manual-axes-cleanup` completes what the C++ pass completes."""

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleRejected
from tests.differential.random_modules import random_module
from ttxdsl.diagnostics.errors import CompileError

NAME = "sdy-manual-axes-cleanup"
MESHES = """
  sdy.mesh @mesh = <["a"=2, "b"=2, "c"=4]>
  sdy.mesh @empty = <[]>"""


def computation(
    in_sharding: str, out_sharding: str, manual: str, type: str = "tensor<8x8xf32>"
) -> str:
    return f"""{MESHES}
      func.func @f(%x: {type}) -> {type} {{
        %0 = sdy.manual_computation(%x) in_shardings=[{in_sharding}]
          out_shardings=[{out_sharding}] manual_axes={{{manual}}}
          (%p: {type}) {{ sdy.return %p : {type} }} : ({type}) -> {type}
        return %0 : {type}
      }}"""


PROGRAMS = {
    "nothing to do": computation(
        '<@mesh, [{}, {}], replicated={"a"}>',
        '<@mesh, [{}, {}], replicated={"a"}>',
        '"a"',
    ),
    "sorted": computation("<@mesh, [{}, {}]>", "<@mesh, [{}, {}]>", '"c", "a"'),
    "replicated in order of the mesh": computation(
        '<@mesh, [{}, {}], replicated={"b"}>', "<@mesh, [{?}, {}]>", '"a", "c"'
    ),
    "a part of an axis is used": computation(
        '<@mesh, [{}, {}], replicated={"c":(2)2}>', "<@mesh, [{}, {}]>", '"c"'
    ),
    "unreduced counts as used": computation(
        '<@mesh, [{}, {}], unreduced={"a"}>', "<@mesh, [{}, {}]>", '"a", "b"'
    ),
    "the empty mesh becomes the common one": computation(
        "<@empty, [{}, {}]>", "<@mesh, [{}, {}]>", '"a"'
    ),
    "no manual axes": computation("<@mesh, [{}, {}]>", '<@mesh, [{"a"}, {}]>', ""),
    "tokens": f"""{MESHES}
      func.func @f(%x: tensor<8xf32>, %t: !stablehlo.token) -> !stablehlo.token {{
        %0 = sdy.manual_computation(%x, %t)
          in_shardings=[<@mesh, [{{"a"}}]>, <@mesh, []>] out_shardings=[<@mesh, []>]
          manual_axes={{"a", "b"}} (%p: tensor<4xf32>, %q: !stablehlo.token) {{
            sdy.return %q : !stablehlo.token
          }} : (tensor<8xf32>, !stablehlo.token) -> !stablehlo.token
        return %0 : !stablehlo.token
      }}""",
    "neither operands nor results": """
      func.func @f() {
        sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
          sdy.return
        } : () -> ()
        return
      }""",
}


@pytest.mark.parametrize("seed", range(15))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    assert_equal_text(oracle, random_module(seed), NAME)


def test_mesh_that_nobody_names(oracle: Oracle):
    text = """
      func.func @f() {
        sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"a"} () {
          %0 = stablehlo.constant dense<0.0> : tensor<8xf32>
          sdy.return
        } : () -> ()
        return
      }"""
    with pytest.raises(OracleRejected):
        oracle.run(text, NAME)
    with pytest.raises(CompileError, match="needs an operand or a result"):
        run_ours(text, NAME)
