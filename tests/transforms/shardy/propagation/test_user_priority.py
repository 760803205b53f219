import pytest
from xdsl.dialects.func import FuncOp

from ttxdsl.dialects.sdy import func_result_shardings
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.step import StepMemo, Updates
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass

MESH = Mesh((("a", 4), ("b", 2), ("c", 2)))
A, B, C = (AxisRef(name) for name in "abc")


def test_each_priority_visits_only_the_ops_that_it_reaches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = 60
    visits: list[int] = []
    step = StepMemo.step

    def counted(self: StepMemo, signature: int, numbers: tuple[int, ...]) -> Updates:
        visits.append(signature)
        return step(self, signature, numbers)

    monkeypatch.setattr(StepMemo, "step", counted)
    arguments = ", ".join(
        f"%a{n}: tensor<8x8xf32> "
        f'{{sdy.sharding = #sdy.sharding<@mesh, [{{"a"}}p{n}, {{?}}]>}}'
        for n in range(count)
    )
    lines = "\n".join(
        f"%r{n} = stablehlo.tanh %a{n} : tensor<8x8xf32>" for n in range(count)
    )
    results = ", ".join(f"%r{n}" for n in range(count))
    types = ", ".join(["tensor<8x8xf32>"] * count)
    module = parse_program(
        'sdy.mesh @mesh = <["a"=2, "b"=2]>\n'
        f"func.func @main({arguments}) -> ({types}) {{\n{lines}\n"
        f"return {results} : {types}\n}}"
    )
    UserPriorityPropagatePass().apply(make_context(), module)
    assert len(visits) < 40 * count  # all of them in every run: 720,000
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    assert all(
        sharding is not None and sharding.dims[0].axes == (AxisRef("a"),)
        for sharding in func_result_shardings(function)
    )
