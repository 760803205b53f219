from typing import Any

import pytest
from xdsl.dialects.func import FuncOp

import ttxdsl.transforms.shardy.propagation.history as history
from ttxdsl.loading.program import parse_program
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.transforms.shardy.propagation.engine import Propagation
from ttxdsl.transforms.shardy.propagation.history import History
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass


@pytest.mark.parametrize("count", [4, 40])
def test_steps_that_are_alike_are_projected_once(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "\n".join(
        f"%r{n + 1} = stablehlo.tanh %r{n} : tensor<8x8xf32>" for n in range(count)
    )
    module = parse_program(
        'sdy.mesh @mesh = <["a"=2]>\n'
        "func.func @main(%r0: tensor<8x8xf32>"
        ' {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>})'
        f" -> tensor<8x8xf32> {{\n{lines}\nreturn %r{count} : tensor<8x8xf32>\n}}"
    )
    projected: list[Any] = []
    project = history.project

    def counted(*arguments: Any) -> Any:
        projected.append(arguments)
        return project(*arguments)

    monkeypatch.setattr(history, "project", counted)
    own = History(module)
    UserPriorityPropagatePass().propagate(Propagation(module, history=own))
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    last = function.body.block.last_op
    assert last is not None
    # every op is on the way, and no two steps are looked at
    hops = own.path(last.operands[0], AxisRef("a"))
    assert [hop.op for hop in hops] == list(function.body.block.ops)[-2::-1]
    assert len(projected) < 8
