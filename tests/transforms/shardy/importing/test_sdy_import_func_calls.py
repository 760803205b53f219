"""Calls to named computations and back, as the C++ passes do it."""

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleRejected
from tests.differential.random_modules import Features, random_module
from tests.transforms.shardy.importing.test_sdy_flatten_call_graph import (
    PROGRAMS as CALLS,
)
from ttxdsl.diagnostics.errors import UnsupportedError

IMPORT = "sdy-import-func-calls"
NO_EDGES = f"{IMPORT}{{add-data-flow-edges-on-named-computations=false}}"
EXPORT = "sdy-export-named-computations"
MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>\nsdy.mesh @one = <[], device_ids=[0]>'

SHARDED = {
    "shardings of callee and call": f"""{MESH}
      func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {{
        %0:2 = func.call @f(%x, %y) {{mhlo.frontend_attributes = {{k = "v"}}, sdy.sharding =
          #sdy.sharding_per_value<[<@mesh, [{{"a", ?}}]>, <@mesh, [{{?}}]>]>}}
          : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
        %1 = stablehlo.add %0#0, %0#1 : tensor<8xf32>
        return %1 : tensor<8xf32>
      }}
      func.func private @f(%x: tensor<8xf32>, %y: tensor<8xf32>
          {{sdy.sharding = #sdy.sharding<@mesh, [{{"b"}}]>}}) -> (tensor<8xf32>
          {{sdy.sharding = #sdy.sharding<@mesh, [{{"a"}}]>}}, tensor<8xf32>)
          attributes {{execution_thread = "host", sdy.original_func_name = "g"}} {{
        return %y, %x : tensor<8xf32>, tensor<8xf32>
      }}""",
    "maximal meshes do not count": f"""{MESH}
      func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {{
        %0 = func.call @f(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
      }}
      func.func private @f(%x: tensor<8xf32>, %y: tensor<8xf32>
          {{sdy.sharding = #sdy.sharding<@one, []>}}) -> tensor<8xf32> {{
        return %y : tensor<8xf32>
      }}""",
    "no results, tokens": """
      func.func @main(%x: tensor<8xf32>, %t: !stablehlo.token) -> !stablehlo.token {
        func.call @f(%x) : (tensor<8xf32>) -> ()
        %0 = func.call @g(%t) : (!stablehlo.token) -> !stablehlo.token
        return %0 : !stablehlo.token
      }
      func.func private @f(%x: tensor<8xf32>) { return }
      func.func private @g(%t: !stablehlo.token) -> !stablehlo.token {
        return %t : !stablehlo.token
      }""",
}
IMPORTED = {**CALLS, **SHARDED}


@pytest.mark.parametrize("name", IMPORTED)
def test_import_like_cpp(oracle: Oracle, name: str):
    assert_equal_text(oracle, IMPORTED[name], IMPORT)
    assert_equal_text(oracle, IMPORTED[name], NO_EDGES)


@pytest.mark.parametrize(
    "before", (IMPORT, NO_EDGES, f"{IMPORT},sdy-aggressive-propagate")
)
@pytest.mark.parametrize("name", IMPORTED)
def test_export_like_cpp(oracle: Oracle, name: str, before: str):
    text = oracle.run(IMPORTED[name], before)
    assert_equal_text(oracle, text, EXPORT)


NAMED = {
    "shardings of the op": f"""{MESH}
      func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{
        %0 = sdy.named_computation<"main">(%x) in_shardings=[<@mesh, [{{"a"}}]>]
          out_shardings=[<@mesh, [{{"b", ?}}p1]>] (%p: tensor<8xf32>) {{
            sdy.return %p : tensor<8xf32>
          }} {{execution_thread = "t", x = 1 : i32}} : (tensor<8xf32>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
      }}""",
    "shardings of the edges win": f"""{MESH}
      func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {{
        %0:2 = sdy.named_computation<"f">(%x, %y)
          in_shardings=[<@mesh, [{{"a"}}]>, <@mesh, [{{}}]>]
          (%p: tensor<8xf32>, %q: tensor<8xf32>) {{
            %1 = sdy.data_flow_edge %p : tensor<8xf32>
            %2 = sdy.data_flow_edge %q sharding=<@mesh, [{{"b"}}]> : tensor<8xf32>
            sdy.return %1, %2 : tensor<8xf32>, tensor<8xf32>
          }} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
        %3 = sdy.data_flow_edge %0#1 sharding=<@mesh, [{{"a", ?}}]> : tensor<8xf32>
        return %3 : tensor<8xf32>
      }}""",
    "in each other, of one name": """
      func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
        %0 = sdy.named_computation<"f">(%x) (%p: tensor<8xf32>) {
          %1 = sdy.named_computation<"f">(%p) (%q: tensor<8xf32>) {
            sdy.return %q : tensor<8xf32>
          } : (tensor<8xf32>) -> tensor<8xf32>
          %2 = sdy.data_flow_edge %1 : tensor<8xf32>
          sdy.return %2 : tensor<8xf32>
        } : (tensor<8xf32>) -> tensor<8xf32>
        %3 = sdy.named_computation<"f">(%0) (%p: tensor<8xf32>) {
          sdy.return %p : tensor<8xf32>
        } : (tensor<8xf32>) -> tensor<8xf32>
        return %3 : tensor<8xf32>
      }""",
}


@pytest.mark.parametrize("name", NAMED)
def test_named_computations_like_cpp(oracle: Oracle, name: str):
    assert_equal_text(oracle, NAMED[name], EXPORT)


@pytest.mark.parametrize("seed", range(20))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    text = random_module(seed, Features(priorities=False))
    assert_equal_text(oracle, text, EXPORT)
    # C++ crashes on some functions with several calls
    flat = oracle.run(text, "sdy-flatten-call-graph,symbol-dce")
    try:
        imported = oracle.run(flat, IMPORT)
    except OracleRejected:
        # a callee uses the manual axes of where it is called
        return
    assert_equal_text(oracle, flat, IMPORT)
    propagated = oracle.run(imported, "sdy-aggressive-propagate")
    assert_equal_text(oracle, propagated, EXPORT)


def test_declared_functions_stay_calls(oracle: Oracle):
    """The C++ pass makes a computation without body, which its verifier refuses."""
    text = """
      func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
        %0 = func.call @there(%x) : (tensor<8xf32>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
      }
      func.func private @there(tensor<8xf32>) -> tensor<8xf32>"""
    with pytest.raises(OracleRejected):
        oracle.run(text, IMPORT)
    assert "func.call @there" in run_ours(text, IMPORT)


def test_branches_are_refused():
    text = """
      func.func @main(%x: i1) -> i1 {
        %0 = func.call @f(%x) : (i1) -> i1
        return %0 : i1
      }
      func.func private @f(%x: i1) -> i1 {
        cf.br ^bb1(%x : i1)
      ^bb1(%y: i1):
        return %y : i1
      }"""
    with pytest.raises(UnsupportedError, match="more than one block"):
        run_ours(text, IMPORT)
