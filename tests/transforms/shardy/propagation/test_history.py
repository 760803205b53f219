from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tests.transforms.shardy.propagation.programs import function_of, ops_named, parse
from ttxdsl.dialects.sdy import EdgeNodeType, EdgeValueRef
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.transforms.shardy.propagation.aggressive import AggressivePropagatePass
from ttxdsl.transforms.shardy.propagation.engine import Propagation
from ttxdsl.transforms.shardy.propagation.history import History

A, B, C = (AxisRef(name) for name in "abc")
OPERAND, RESULT = EdgeNodeType.OPERAND, EdgeNodeType.RESULT

PROGRAM = """
sdy.mesh @mesh = <["a"=2, "b"=2, "c"=4]>
func.func @main(
    %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>},
    %y: tensor<8x8xf32>,
    %z: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}]>}
) -> (tensor<8x8xf32>,
      tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>},
      tensor<2x8xf32>) {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {"c"}]> : tensor<8x8xf32>
  %2 = stablehlo.negate %1 : tensor<8x8xf32>
  %3 = stablehlo.abs %y : tensor<8x8xf32>
  %4 = stablehlo.reshape %z : (tensor<16xf32>) -> tensor<2x8xf32>
  return %2, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>
}"""


def propagated() -> tuple[ModuleOp, History]:
    module = parse(PROGRAM)
    return module, AggressivePropagatePass().apply_and_record(module)


def test_origins_are_arguments_results_and_constraints() -> None:
    module, history = propagated()
    (negate,) = ops_named(module, "stablehlo.negate")
    (absolute,) = ops_named(module, "stablehlo.abs")
    y = function_of(module).body.block.args[1]
    assert history.origin(negate.results[0], A) == "input: 0"
    assert history.origin(negate.results[0], C) == "constraint_0"
    assert history.origin(y, A) == "input: 0"
    assert history.origin(absolute.results[0], B) == "output: 1"
    assert history.origin(y, B) is None


def test_path_leads_back_to_where_the_axis_started() -> None:
    module, history = propagated()
    (absolute,) = ops_named(module, "stablehlo.abs")
    hops = history.path(absolute.results[0], A)
    # x -> (add) -> y -> (abs) -> %3, told from the end
    assert [hop.op.name for hop in hops] == ["stablehlo.abs", "stablehlo.add"]
    assert (hops[1].source, hops[1].target) == (
        EdgeValueRef(OPERAND, 0),
        EdgeValueRef(OPERAND, 1),
    )
    assert hops[1].source_value is function_of(module).body.block.args[0]
    assert hops[0].step > hops[1].step
    assert [str(hop).partition(" (")[0] for hop in hops] == [
        'step 5: "a" from operand 0 to result 0 of stablehlo.abs',
        'step 1: "a" from operand 0 to operand 1 of stablehlo.add',
    ]
    assert history.path(hops[1].source_value, A) == []


def test_path_backward_through_a_constraint() -> None:
    module, history = propagated()
    x = function_of(module).body.block.args[0]
    hops = history.path(x, C)
    assert [(hop.op.name, hop.source) for hop in hops] == [
        ("stablehlo.add", EdgeValueRef(RESULT, 0)),
        ("sdy.sharding_constraint", EdgeValueRef(RESULT, 0)),
    ]


def test_split_axes_come_from_the_whole_one() -> None:
    module, history = propagated()
    (reshape,) = ops_named(module, "stablehlo.reshape")
    for part in (AxisRef("c", 1, 2), AxisRef("c", 2, 2)):
        assert history.origin(reshape.results[0], part) == "input: 2"
        assert [hop.op for hop in history.path(reshape.results[0], part)] == [reshape]


def test_nothing_is_recorded_unless_asked_for() -> None:
    assert Propagation(parse(PROGRAM)).history is None


GROUPS = """
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(
    %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>},
    %y: tensor<8x8xf32>, %u: tensor<8xf32>, %v: tensor<8xf32>
) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %x : tensor<8x8xf32>
  %1 = stablehlo.abs %y : tensor<8x8xf32>
  sdy.sharding_group %0 group_id=4 : tensor<8x8xf32>
  sdy.sharding_group %1 group_id=4 : tensor<8x8xf32>
  %2 = stablehlo.exponential %u {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b", ?}]>]>} : tensor<8xf32>
  sdy.sharding_group %2 group_id=5 : tensor<8xf32>
  sdy.sharding_group %v group_id=5 : tensor<8xf32>
  %3 = stablehlo.tanh %v : tensor<8xf32>
  return %0, %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
}"""


def test_paths_lead_through_sharding_groups() -> None:
    module = parse(GROUPS)
    history = AggressivePropagatePass().apply_and_record(module)
    y = function_of(module).body.block.args[1]
    assert history.origin(y, A) == "input: 0"
    assert [hop.op.name for hop in history.path(y, A)] == [
        "stablehlo.abs",
        "sdy.sharding_group",
        "stablehlo.negate",
    ]
    assert "another member of sharding group 4" in str(history.path(y, A)[1])


def test_results_that_are_sharded_from_the_start_are_origins() -> None:
    module = parse(GROUPS)
    history = AggressivePropagatePass().apply_and_record(module)
    (tanh,) = ops_named(module, "stablehlo.tanh")
    (exponential,) = ops_named(module, "stablehlo.exponential")
    assert history.origin(tanh.results[0], B) == "op_0: 0"
    # the group is brought into line before the first step
    assert [hop.op.name for hop in history.path(tanh.results[0], B)] == [
        "stablehlo.tanh",
        "sdy.sharding_group",
    ]
    assert history.path(exponential.results[0], B) == []
