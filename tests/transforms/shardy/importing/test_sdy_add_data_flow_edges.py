"""`sdy-add-data-flow-edges` and `sdy-sink-data-flow-edges` do what the C++ passes do."""

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleRejected
from tests.differential.random_modules import Features, random_module

ADD = "sdy-add-data-flow-edges"
SINK = "sdy-sink-data-flow-edges"
MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>'

PROGRAMS = {
    "while with a sharding": """
      func.func @f(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
        %0:2 = stablehlo.while(%k = %n, %v = %x) : tensor<i32>, tensor<8xf32>
        attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"a"}]>]>}
        cond {
          %1 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
        } do {
          %1 = stablehlo.negate %v : tensor<8xf32>
          stablehlo.return %k, %1 : tensor<i32>, tensor<8xf32>
        }
        return %0#1 : tensor<8xf32>
      }""",
    "case": """
      func.func @f(%x: tensor<8xf32>, %i: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>) {
        %0:2 = "stablehlo.case"(%i) ({
          stablehlo.return %x, %x : tensor<8xf32>, tensor<8xf32>
        }) : (tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>)
        return %0#1, %0#1 : tensor<8xf32>, tensor<8xf32>
      }""",
    "if has none": """
      func.func @f(%x: tensor<8xf32>, %i: tensor<i1>) -> tensor<8xf32> {
        %0 = "stablehlo.if"(%i) ({
          stablehlo.return %x : tensor<8xf32>
        }, {
          stablehlo.return %x : tensor<8xf32>
        }) : (tensor<i1>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
      }""",
    "tokens have none": """
      func.func @f(%x: tensor<8xf32>, %t: !stablehlo.token) -> !stablehlo.token {
        %0:2 = stablehlo.optimization_barrier %x, %t : tensor<8xf32>, !stablehlo.token
        return %0#1 : !stablehlo.token
      }""",
    "unused results have one": """
      func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) {
        %0:2 = stablehlo.optimization_barrier %x, %y : tensor<8xf32>, tensor<8xf32>
        return
      }""",
    "manual computation with free axes": """
      func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
        %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a", "b"}, {?}]>]
          out_shardings=[<@mesh, [{"a"}, {"b", ?}p1]>] manual_axes={"a"}
          (%p: tensor<4x8xf32>) {
            %1 = stablehlo.add %p, %p : tensor<4x8xf32>
            sdy.return %1 : tensor<4x8xf32>
          } : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %1 = stablehlo.add %0, %0 : tensor<8x8xf32>
        return %1 : tensor<8x8xf32>
      }""",
    "named computations in each other": """
      func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
        %0 = sdy.named_computation<"f">(%x) in_shardings=[<@mesh, [{"a"}]>]
          (%p: tensor<8xf32>) {
            %1 = sdy.named_computation<"g">(%p) out_shardings=[<@mesh, [{"b", ?}]>]
              (%q: tensor<8xf32>) { sdy.return %q : tensor<8xf32> }
              : (tensor<8xf32>) -> tensor<8xf32>
            sdy.return %1 : tensor<8xf32>
          } : (tensor<8xf32>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
      }""",
}
PIPELINES = {
    "sink": (SINK, f"func.func({SINK})"),
    "with debug info": (
        f"{SINK}{{sink-debug-propagation-edge-sharding=true}}",
        f"func.func({SINK}{{sink-debug-propagation-edge-sharding=true}})",
    ),
}


def program(name: str) -> str:
    return f"{MESH}\n{PROGRAMS[name]}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_add_like_cpp(oracle: Oracle, name: str):
    assert_equal_text(oracle, program(name), ADD)


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("before", ("", ADD, f"{ADD},sdy-aggressive-propagate"))
@pytest.mark.parametrize("name", PROGRAMS)
def test_sink_like_cpp(oracle: Oracle, name: str, before: str, pipeline: str):
    text = oracle.run(program(name), before)
    assert_equal_text(oracle, text, *PIPELINES[pipeline])


@pytest.mark.parametrize("seed", range(15))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    text = random_module(seed, Features(priorities=False))
    assert_equal_text(oracle, text, ADD)
    propagated = oracle.run(text, f"symbol-dce,{ADD},sdy-aggressive-propagate")
    assert_equal_text(oracle, propagated, *PIPELINES["sink"])


def test_edges_are_not_added_twice(oracle: Oracle):
    """The C++ pass puts edges behind edges, which its verifier refuses."""
    text = program("named computations in each other")
    with pytest.raises(OracleRejected, match="data_flow_edge"):
        oracle.run(text, f"{ADD},{ADD}")
    assert run_ours(text, f"{ADD},{ADD}") == run_ours(text, ADD)


def test_origins_stay_in_line(oracle: Oracle):
    """One entry an edge; the C++ pass leaves out edges that have no sharding."""
    text = oracle.run(
        f"""{MESH}
        func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>
            {{sdy.sharding = #sdy.sharding<@mesh, [{{"a"}}]>}}) -> tensor<8xf32> {{
          %0:2 = stablehlo.optimization_barrier %x, %y : tensor<8xf32>, tensor<8xf32>
          return %0#1 : tensor<8xf32>
        }}""",
        f"{ADD},sdy-aggressive-propagate{{debug-sharding-origins=true}}",
    )
    option = f"{SINK}{{sink-debug-sharding-origins=true}}"
    assert 'result_sharding_origins = [{a = "input: 1"}]' in oracle.run(
        text, f"func.func({option})"
    )
    assert 'result_sharding_origins = [{}, {a = "input: 1"}]' in oracle.run(
        run_ours(text, option)
    )
