import pytest

from tests.transforms.shardy.propagation.programs import function_of, parse
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.step import Strategy
from ttxdsl.transforms.shardy.propagation.engine import Propagation

MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>\n'
A, B = AxisRef("a"), AxisRef("b")


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
