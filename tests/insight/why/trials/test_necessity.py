"""What a collective hangs on is found by few compilations, and by those that count."""

from collections.abc import Sequence
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.insight.why import explain
from ttxdsl.insight.why.trials import compiling, necessity
from ttxdsl.insight.why.trials.compiling import Demands, demands_of
from ttxdsl.insight.why.trials.necessity import Annotation
from ttxdsl.loading.program import parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.shardy.propagation import less_traffic

_X = "tensor<64x256xf32>"
_W = "tensor<256x256xf32>"
_B = "tensor<256xf32>"
_ROWS, _ALL = '{"d"}, {}', '{"d"}'


def _sharded(type_: str, dims: str) -> str:
    return f"{type_} {{sdy.sharding = #sdy.sharding<@m, [{dims}]>}}"


def fully_sharded(layers: int) -> str:
    """Layers whose weights are split over the axis of the batch: shardings contradict."""
    arguments = ["%x: " + _sharded(_X, _ROWS)]
    lines: list[str] = []
    for at in range(layers):
        arguments.append(f"%w{at}: {_sharded(_W, _ROWS)}")
        arguments.append(f"%b{at}: {_sharded(_B, _ALL)}")
        last = f"%{at}" if at else "%x"
        lines += [
            f"%d{at} = stablehlo.dot_general {last}, %w{at}, contracting_dims = [1] x [0]"
            f" : ({_X}, {_W}) -> {_X}",
            f"%c{at} = stablehlo.broadcast_in_dim %b{at}, dims = [1] : ({_B}) -> {_X}",
            f"%s{at} = stablehlo.add %d{at}, %c{at} : {_X}",
            f"%{at + 1} = stablehlo.tanh %s{at} : {_X}",
        ]
    body = "\n".join(lines)
    return f"""\
sdy.mesh @m = <["d"=8]>
func.func @main({", ".join(arguments)}) -> {_X} {{
{body}
return %{layers} : {_X}
}}
"""


def test_both_ways_of_stage_6_are_asked_before_bytes_are_counted(
    monkeypatch: pytest.MonkeyPatch,
):
    module = parse_program(fully_sharded(2))
    exact: Any = compiling.compile_plainly
    counted: list[object] = []

    def count(*arguments: Any) -> ModuleOp:
        counted.append(exact(*arguments))
        return exact(*arguments)

    monkeypatch.setattr(less_traffic, "CLEARLY_LESS", 1e9)  # both ways are tried
    monkeypatch.setattr(compiling, "compile_plainly", count)
    demands = demands_of(module, [], TTStableHLOPipelinePass())
    nothing = (-1,)
    assert demands.lack(nothing, ["d"])
    assert not counted
    # and where the two differ, it is what stage 6 chooses
    op_axes = [((number,), "d") for number, _ in enumerate(module.walk())]
    lacking = {at: demands.lack(at, [axis]) for at, axis in op_axes}
    assert counted
    assert lacking == {at: (at, axis) not in demands.chosen for at, axis in op_axes}
    assert not all(lacking.values())


def test_what_a_measured_change_moves_is_known(
    compiled: list[Sequence[object]], monkeypatch: pytest.MonkeyPatch
):
    """It is what compiling the change as far as stage 8 says, and is not asked again."""
    monkeypatch.setattr(less_traffic, "CLEARLY_LESS", 1e9)  # both ways are tried
    explainer = explain.Explainer(parse_program(fully_sharded(3)))
    trials = explainer._counterfactuals
    edits = [edit for _, edit in trials.annotations.with_axis("d")]
    trials.figures_of([(edit,) for edit in edits])
    for edit in edits:
        exact = demands_of(explainer.module, [edit], TTStableHLOPipelinePass())
        assert trials.demands[edit.change,].chosen == exact.chosen
    explainer._necessities._moved([Annotation("d", "", edits[0])])
    assert not compiled


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[object]]:
    """The changes that programs are compiled with."""
    changes: list[Sequence[object]] = []

    def counted(module: Any, edits: Sequence[object], pipeline: Any) -> Demands:
        changes.append(edits)
        return demands_of(module, edits, pipeline)

    monkeypatch.setattr(necessity, "demands_of", counted)
    return changes


def test_a_list_of_a_large_program_compiles_no_changes(
    compiled: list[Sequence[object]], monkeypatch: pytest.MonkeyPatch
):
    module = parse_program(fully_sharded(6))
    explain.Explainer(module).program()
    assert len(compiled) > 2
    assert all(compiled), "the program as it is was compiled with notes already"
    compiled.clear()
    monkeypatch.setattr(explain, "_TRIED_OPS", 1)
    explain.Explainer(module).program()
    assert not compiled


def test_a_constraint_with_several_axes_is_taken_away_once():
    mesh = 'sdy.mesh @m = <["d"=4, "e"=2]>'
    body = f"""
func.func @main(%x: {_X}) -> {_X} {{
  %0 = stablehlo.negate %x : {_X}
  %1 = sdy.sharding_constraint %0 <@m, [{{"d"}}, {{"e"}}]> : {_X}
  return %1 : {_X}
}}"""
    necessities = explain.Explainer(parse_program(mesh + body))._necessities
    rest = necessities._others(frozenset("de"), [], None)
    assert [one.edit.change.kind for one in rest] == ["remove constraint"]
    assert necessities._moved(rest) is not None
