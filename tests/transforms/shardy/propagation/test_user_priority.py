from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from ttxdsl.dialects.sdy import func_result_shardings
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import CLOSED_DIM, DimSharding, TensorSharding
from ttxdsl.sharding.step import StepMemo, Updates
from ttxdsl.transforms.shardy.propagation.user_priority import (
    UserPriorityPropagatePass,
    hold_back,
    release,
)

MESH = Mesh((("a", 4), ("b", 2), ("c", 2)))
A, B, C = (AxisRef(name) for name in "abc")


def test_priority_zero_and_none_are_not_held_back() -> None:
    sharding = TensorSharding(
        "m", (DimSharding((B,), True, 0), DimSharding((A,), False))
    )
    assert hold_back(sharding, MESH) == sharding.without_priorities()


def test_lower_priorities_are_closed_and_their_axes_replicated_in_mesh_order() -> None:
    sharding = TensorSharding(
        "m",
        (DimSharding((C,), False, 2), DimSharding((AxisRef("a", 2, 2),), True, 1)),
        replicated=(B,),
    )
    held = hold_back(sharding, MESH)
    assert held.dims == (CLOSED_DIM, CLOSED_DIM)
    assert held.replicated == (AxisRef("a", 2, 2), B, C)


def test_release_puts_back_one_priority_and_frees_its_axes() -> None:
    original = TensorSharding(
        "m", (DimSharding((C,), False, 2), DimSharding((A,), True, 1)), replicated=(B,)
    )
    held = hold_back(original, MESH)
    first = release(held, original, 1)
    assert first.dims == (CLOSED_DIM, DimSharding((A,)))
    assert first.replicated == (B, C)
    second = release(first, original, 2)
    assert second == original.without_priorities()


def test_release_keeps_what_was_propagated_to_other_dimensions() -> None:
    original = TensorSharding("m", (DimSharding((), False), DimSharding((A,), True, 1)))
    grown = hold_back(original, MESH).with_dim(0, DimSharding((B,), False))
    assert release(grown, original, 1).dims == (
        DimSharding((B,), False),
        DimSharding((A,)),
    )


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
