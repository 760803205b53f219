from __future__ import annotations

from tests.transforms.shardy.propagation.programs import function_of, ops_named, parse
from ttxdsl.dialects.sdy import get_func_result_sharding, get_sharding
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.propagation.graph import NO_PLACE, PropagationGraph

MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>\n'
LOOP = (
    MESH
    + """
func.func @main(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = stablehlo.negate %v : tensor<8xf32>
    stablehlo.return %i, %3 : tensor<i32>, tensor<8xf32>
  }
  %1 = sdy.data_flow_edge %0#1 : tensor<8xf32>
  %2 = stablehlo.abs %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}"""
)


def test_values_on_an_edge_share_its_place() -> None:
    module = parse(LOOP)
    graph = PropagationGraph(module)
    (loop,) = ops_named(module, "stablehlo.while")
    (edge,) = ops_named(module, "sdy.data_flow_edge")
    place = graph.place_of(edge.results[0])
    assert graph.place_of(loop.results[1]) == place
    assert graph.place_of(loop.regions[1].block.args[1]) == place
    assert graph.place_of(loop.operands[1]) != place


def test_scalars_of_a_reduction_have_no_place() -> None:
    module = parse(
        """
        func.func @main(%x: tensor<8xf32>, %z: tensor<f32>) -> tensor<f32> {
          %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0]
            : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
          return %0 : tensor<f32>
        }"""
    )
    graph = PropagationGraph(module)
    (reduce,) = ops_named(module, "stablehlo.reduce")
    assert graph.place_of(reduce.regions[0].block.args[0]) == NO_PLACE


def names(graph: PropagationGraph, nodes: tuple[int, ...]) -> list[str]:
    return [graph.nodes[index].op.name.removeprefix("stablehlo.") for index in nodes]


def test_users_are_told_last_first_so_that_the_first_is_visited_first() -> None:
    module = parse(
        """
        func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
          %0 = stablehlo.abs %x : tensor<8xf32>
          %1 = stablehlo.negate %0 : tensor<8xf32>
          %2 = stablehlo.add %0, %1 : tensor<8xf32>
          return %2 : tensor<8xf32>
        }"""
    )
    graph = PropagationGraph(module)
    (absolute,) = ops_named(module, "stablehlo.abs")
    told = graph.concerned_by(absolute.results[0])
    assert names(graph, told) == ["abs", "add", "negate"]


def test_a_changed_edge_concerns_the_users_of_all_targets() -> None:
    module = parse(LOOP)
    graph = PropagationGraph(module)
    (edge,) = ops_named(module, "sdy.data_flow_edge")
    told = names(graph, graph.concerned_by(edge.results[0]))
    # the op in the body brings the loop along
    assert told == ["negate", "while", "sdy.data_flow_edge", "abs"]


def test_what_a_body_returns_concerns_the_edge() -> None:
    module = parse(LOOP)
    graph = PropagationGraph(module)
    (negate,) = ops_named(module, "stablehlo.negate")
    told = names(graph, graph.concerned_by(negate.results[0]))
    assert told == ["negate", "while", "sdy.data_flow_edge"]


def test_the_first_sharding_of_an_op_opens_its_other_results() -> None:
    module = parse(
        MESH
        + """
        func.func @main(%x: tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<f32>) {
          %0:2 = stablehlo.custom_call @two(%x)
            : (tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<f32>)
          return %0#0, %0#1 : tensor<8x2xf32>, tensor<f32>
        }"""
    )
    graph = PropagationGraph(module)
    (call,) = ops_named(module, "stablehlo.custom_call")
    sharding = TensorSharding.closed("mesh", [(AxisRef("a"),), ()])
    graph.assign(graph.place_of(call.results[0]), graph.memo.number(sharding))
    other = graph.sharding_of(graph.place_of(call.results[1]))
    assert other == TensorSharding.fully_open("mesh", 0)
    graph.write_back()
    assert get_sharding(call.results[0]) == sharding
    assert get_sharding(call.results[1]) == other


def test_write_back_reaches_arguments_and_results_of_functions() -> None:
    module = parse(
        MESH
        + "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }"
    )
    graph = PropagationGraph(module)
    function = function_of(module)
    sharding = TensorSharding.closed("mesh", [(AxisRef("a"),)])
    number = graph.memo.number(sharding)
    graph.assign(graph.place_of(function.body.block.args[0]), number)
    graph.assign(graph.place_of_func_result(function, 0), number)
    graph.write_back()
    assert get_sharding(function.body.block.args[0]) == sharding
    assert get_func_result_sharding(function, 0) == sharding


def entry_names(text: str) -> list[str]:
    graph = PropagationGraph(parse(text))
    return [function.sym_name.data for function in graph.entry_functions()]


def test_entry_functions() -> None:
    one = "func.func @{}() {{ {} return }}"
    assert entry_names(one.format("f", "")) == ["f"]
    assert entry_names(one.format("f", "") + one.format("main", "")) == ["main"]
    calls = one.format("f", "func.call @g() : () -> ()") + one.format("g", "")
    assert entry_names(calls + one.format("h", "")) == ["f", "h"]
