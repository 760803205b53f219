"""`sdy-apply-sharding-constraints` leaves what the C++ pass leaves."""

from itertools import pairwise

import pytest

from tests.dialects.sdy_cases import func, manual, sharded
from tests.differential.equal_text import assert_equal_text
from tests.differential.oracle import Oracle
from tests.transforms.constraint_programs import constraint_program
from tests.transforms.run_pass import run_passes

NAME = "sdy-apply-sharding-constraints"
T = "tensor<8x8xf32>"
CLOSED = '<@mesh, [{"x"}, {}]>'
OTHER = '<@mesh, [{}, {"y"}]>'


def constrained(value: str, sharding: str = CLOSED, name: str = "%c") -> str:
    return f"{name} = sdy.sharding_constraint {value} {sharding} : {T}\n"


CASES = {
    "argument": func(constrained("%a")),
    "result": func(f"%0 = stablehlo.abs %a : {T}\n{constrained('%0')}"),
    "sharded": func(constrained("%a"), sharded(OTHER)),
    "open": func(constrained("%a", '<@mesh, [{"x", ?}, {}]>')),
    "same_twice": func(constrained("%a") + constrained("%a", name="%d")),
    "two_different": func(constrained("%a") + constrained("%a", OTHER, "%d")),
    "scalar": func(
        "%c = sdy.sharding_constraint %a <@mesh, []> : tensor<f32>", "%a: tensor<f32>"
    ),
    "token": func(
        "%c = sdy.sharding_constraint %a <@mesh, []> : !stablehlo.token",
        "%a: !stablehlo.token",
    ),
    "manual_computation": manual(
        f"in_shardings=[{CLOSED}] out_shardings=[{CLOSED}] manual_axes={{}}", T
    ),
    "chain": func(
        constrained("%a")
        + constrained("%c", OTHER, "%d")
        + f"%0 = stablehlo.abs %a : {T}"
    ),
    "chain_with_other_use": func(
        constrained("%a")
        + constrained("%c", OTHER, "%d")
        + f"%0 = stablehlo.add %a, %c : {T}"
    ),
    "unreduced": func(constrained("%a", '<@mesh, [{"x"}, {}], unreduced={"y"}>')),
    "edge": func(
        f"%0 = stablehlo.optimization_barrier %a : {T}\n"
        f"  %1 = sdy.data_flow_edge %0 : {T}\n  %2 = stablehlo.abs %1 : {T}\n"
        + constrained("%1", '<@mesh, [{"x"}, {}], unreduced={"y"}>')
        + f"%3 = stablehlo.add %1, %2 : {T}"
    ),
    "edge_manual_twice": func(
        f"%0 = stablehlo.optimization_barrier %a : {T}\n"
        f"  %1 = sdy.data_flow_edge %0 : {T}\n"
        f"  sdy.manual_computation(%1, %1) in_shardings=[{CLOSED}, {CLOSED}] "
        f"out_shardings=[] manual_axes={{}} (%b: {T}, %d: {T}) {{\n    sdy.return\n"
        f"  }} : ({T}, {T}) -> ()"
    ),
    "loop": func(
        f"%0:2 = stablehlo.while(%i = %a, %j = %n) : {T}, tensor<i32> cond {{\n"
        "    %1 = stablehlo.compare LT, %j, %j : (tensor<i32>, tensor<i32>) -> "
        "tensor<i1>\n    stablehlo.return %1 : tensor<i1>\n  } do {\n"
        f"    %2 = stablehlo.abs %i : {T}\n    {constrained('%i')}"
        f"    %3 = stablehlo.add %c, %i : {T}\n"
        f"    stablehlo.return %3, %j : {T}, tensor<i32>\n  }}\n"
        f"  %4 = sdy.data_flow_edge %0#0 : {T}",
        f"%a: {T}, %n: tensor<i32>",
    ),
}


RECORDED = {
    "a scalar that says nothing is no step": func(
        "%0 = sdy.sharding_constraint %b <@mesh, []> : tensor<f32>\n"
        + constrained("%a"),
        f"%a: {T}, %b: tensor<f32>",
    ),
    "an argument of a computation without edges": func(
        f'%0:2 = sdy.named_computation<"f">(%a) (%v: {T}) {{\n'
        + constrained("%v")
        + f"sdy.return %v, %v : {T}, {T}\n}} : ({T}) -> ({T}, {T})"
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_what_is_recorded(oracle: Oracle, name: str):
    options = "debug-sharding-origins=true debug-propagation-edge-sharding=true"
    assert_equal_text(oracle, RECORDED[name], f"{NAME}{{{options}}}")


@pytest.mark.parametrize("name", CASES)
def test_like_cpp(oracle: Oracle, name: str):
    ours = run_passes(CASES[name], NAME)
    assert oracle.run(ours) == oracle.run(CASES[name], NAME)


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_like_cpp(oracle: Oracle, seed: int):
    text = constraint_program(seed)
    assert oracle.run(run_passes(text, NAME)) == oracle.run(text, NAME)


def test_random_programs_have_what_is_tested():
    """Constraints that apply, that do not, and that move behind an edge, in numbers."""
    applied = refused = moved = 0
    for seed in range(50):
        before = constraint_program(seed).splitlines()
        after = run_passes("\n".join(before), NAME).splitlines()
        constraints = [line for line in after if "sdy.sharding_constraint" in line]
        applied += sum("sdy.sharding_rule" in line for line in constraints)
        refused += sum("sdy.sharding_rule" not in line for line in constraints)
        for lines, sign in ((before, -1), (after, 1)):
            moved += sign * sum(
                "sdy.data_flow_edge" in edge and "sdy.sharding_constraint" in line
                for edge, line in pairwise(lines)
            )
    assert applied > 50
    assert refused > 50
    assert moved > 5


def test_dynamic_shapes():
    """The C++ pass leaves a rule that its own verifier refuses; we leave none."""
    text = func(
        "%c = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<?x8xf32>",
        "%a: tensor<?x8xf32>",
    )
    after = run_passes(text, NAME)
    assert (
        "%a: tensor<?x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}" in after
    )
    assert "sharding_rule" not in after
