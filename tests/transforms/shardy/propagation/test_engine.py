from __future__ import annotations

import pytest

from tests.transforms.shardy.propagation.programs import function_of, ops_named, parse
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.sdy import func_argument_shardings, get_sharding
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.sharding.step import Directions, PropagationDirection, Strategy
from ttxdsl.transforms.shardy.propagation.engine import Propagation, Ways
from ttxdsl.transforms.shardy.propagation.graph import Node

MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>\n'
A, B = AxisRef("a"), AxisRef("b")


def opened(*axes: tuple[AxisRef, ...]) -> TensorSharding:
    return TensorSharding("mesh", tuple(DimSharding(dim, False) for dim in axes))


CONFLICT = (
    MESH
    + """
func.func @main(
    %x: tensor<8xf32>,
    %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>},
    %z: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}
) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.add %x, %z : tensor<8xf32>
  %1 = stablehlo.multiply %x, %y : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}"""
)


@pytest.mark.parametrize("strategy", list(Strategy))
def test_the_first_op_decides(strategy: Strategy) -> None:
    module = parse(CONFLICT)
    propagation = Propagation(module)
    propagation.run(strategy)
    propagation.finish()
    assert func_argument_shardings(function_of(module))[0] == opened((B,))
    (multiply,) = ops_named(module, "stablehlo.multiply")
    assert get_sharding(multiply.results[0]) is None


def test_nothing_is_written_before_the_end() -> None:
    module = parse(CONFLICT)
    propagation = Propagation(module)
    propagation.run(Strategy.BASIC)
    assert func_argument_shardings(function_of(module))[0] is None
    propagation.finish()
    assert func_argument_shardings(function_of(module))[0] is not None


def test_a_second_run_changes_nothing() -> None:
    module = parse(CONFLICT)
    propagation = Propagation(module)
    propagation.run(Strategy.AGGRESSIVE)
    before = list(propagation.graph.numbers)
    propagation.run(Strategy.AGGRESSIVE)
    assert propagation.graph.numbers == before


def test_directions_are_asked_for_each_kind_of_node() -> None:
    module = parse(CONFLICT)
    propagation = Propagation(module)

    asked: list[str] = []

    def backward(node: Node) -> Directions:
        asked.append(node.op.name)
        return (PropagationDirection.BACKWARD,)

    propagation.run(Strategy.AGGRESSIVE, Ways(backward))
    # both operands have shardings, the results have none
    assert asked == ["stablehlo.add", "stablehlo.multiply"]
    graph = propagation.graph
    assert graph.numbers == [place.original for place in graph.places]


def test_dead_ops_are_erased_with_what_only_they_used() -> None:
    module = parse(
        """
        func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
          %0 = stablehlo.abs %x : tensor<8xf32>
          %1 = stablehlo.negate %0 : tensor<8xf32>
          %2 = stablehlo.add %0, %1 : tensor<8xf32>
          %3 = stablehlo.custom_call @keep(%x) {has_side_effect = true}
            : (tensor<8xf32>) -> tensor<8xf32>
          return %x : tensor<8xf32>
        }"""
    )
    propagation = Propagation(module)
    propagation.run(Strategy.BASIC)
    propagation.finish()
    module.verify()
    names = [op.name for op in function_of(module).body.block.ops]
    assert names == ["stablehlo.custom_call", "func.return"]


def chain(length: int) -> str:
    lines = [f"%{i + 1} = stablehlo.negate %{i} : tensor<8xf32>" for i in range(length)]
    body = "\n".join(lines)
    return f"""{MESH}
    func.func @main(%0: tensor<8xf32>) -> (tensor<8xf32>
        {{sdy.sharding = #sdy.sharding<@mesh, [{{"a"}}]>}}) {{
      {body}
      return %{length} : tensor<8xf32>
    }}"""


def steps_for(length: int, monkeypatch: pytest.MonkeyPatch) -> int:
    module = parse(chain(length))
    propagation = Propagation(module)
    count = 0
    step = propagation.graph.memo.step

    def counting(*arguments: object) -> object:
        nonlocal count
        count += 1
        return step(*arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(propagation.graph.memo, "step", counting)
    propagation.run(Strategy.AGGRESSIVE)
    argument = function_of(module).body.block.args[0]
    sharding = propagation.graph.sharding_of(propagation.graph.place_of(argument))
    assert sharding is not None and sharding.axes_per_dim == ((A,),)
    return count


def test_work_is_proportional_to_ops_even_against_the_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The sharding comes from the last op and every op is visited from the first."""
    short, long = steps_for(20, monkeypatch), steps_for(200, monkeypatch)
    assert long <= 10 * short + 10


def test_equal_layers_share_their_steps() -> None:
    propagation = Propagation(parse(chain(200)))
    propagation.run(Strategy.AGGRESSIVE)
    assert propagation.graph.memo.size < 10


def test_dynamic_shapes_are_refused() -> None:
    module = parse(
        """
        func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
          %0 = stablehlo.negate %x : tensor<?xf32>
          return %0 : tensor<?xf32>
        }"""
    )
    with pytest.raises(CompileError, match="ranked tensors with a static shape"):
        Propagation(module)
