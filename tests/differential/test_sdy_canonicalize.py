"""`canonicalize` does to reshards and collectives what the C++ patterns do."""

from random import Random

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleRejected
from tests.sharding.random_shardings import POWERS_OF_TWO, random_mesh, random_sharding

CASES: dict[str, tuple[str, str, str]] = {
    "gather of nothing": (
        '[{"x"}, {}]',
        '%0 = sdy.all_gather [{}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : T',
        "%0",
    ),
    "slice of nothing": (
        '[{"x"}, {}]',
        '%0 = sdy.all_slice [{}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : T',
        "%0",
    ),
    "reduction over nothing": (
        '[{"x"}, {}]',
        '%0 = sdy.all_reduce {} %a out_sharding=<@mesh, [{"x"}, {}]> : T',
        "%0",
    ),
    "scatter over nothing": (
        '[{"x"}, {}]',
        '%0 = sdy.reduce_scatter [{}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : T',
        "%0",
    ),
    "permute to the same": (
        '[{"x"}, {}]',
        '%0 = sdy.collective_permute %a out_sharding=<@mesh, [{"x", ?}, {}]> : T',
        "%0",
    ),
    "permute there and back": (
        '[{"x"}, {}]',
        '%0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y"}, {}]> : T\n'
        '%1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"x"}, {}]> : T',
        "%1",
    ),
    "slice of gather": (
        '[{"x"}, {}]',
        '%0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : T\n'
        '%1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : T',
        "%1",
    ),
    "slice of another gather": (
        '[{"x"}, {}]',
        '%0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : T\n'
        '%1 = sdy.all_slice [{}, {"x"}] %0 out_sharding=<@mesh, [{}, {"x"}]> : T',
        "%1",
    ),
    "reduction of replicated": (
        "[{}, {}]",
        '%0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : T\n'
        '%1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : T',
        "%1",
    ),
    "reduction of shards": (
        '[{"y"}, {"x"}]',
        '%0 = sdy.sharded_to_unreduced [{"y"}, {"x"}] %a out_sharding=<@mesh, [{}, {}], unreduced={"x", "y"}> : T\n'
        '%1 = sdy.all_reduce {"x", "y"} %0 out_sharding=<@mesh, [{}, {}]> : T',
        "%1",
    ),
    "reduction of some of the shards": (
        '[{"y"}, {"x"}]',
        '%0 = sdy.sharded_to_unreduced [{"y"}, {"x"}] %a out_sharding=<@mesh, [{}, {}], unreduced={"x", "y"}> : T\n'
        '%1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : T',
        "%1",
    ),
    "reduce_scatter": (
        '[{}, {}], unreduced={"x", "y"}',
        '%0 = sdy.all_reduce {"x", "y"} %a out_sharding=<@mesh, [{}, {}]> : T\n'
        '%1 = sdy.all_slice [{"y"}, {"x"}] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : T',
        "%1",
    ),
    "reduce_scatter and more slices, twice": (
        '[{"z"}, {}], unreduced={"x"}',
        '%0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{"z"}, {}]> : T\n'
        '%1 = sdy.all_slice [{}, {"x", "y"}] %0 out_sharding=<@mesh, [{"z"}, {"x", "y"}]> : T\n'
        '%2 = sdy.all_slice [{}, {"x", "y"}] %0 out_sharding=<@mesh, [{"z"}, {"x", "y"}]> : T',
        "%1, %2",
    ),
    "reduced axes not in front": (
        '[{}, {}], unreduced={"x"}',
        '%0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : T\n'
        '%1 = sdy.all_slice [{"y", "x"}, {}] %0 out_sharding=<@mesh, [{"y", "x"}, {}]> : T',
        "%1",
    ),
    "reduction with another use": (
        '[{}, {}], unreduced={"x"}',
        '%0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : T\n'
        '%1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : T',
        "%0, %1",
    ),
    "slices that differ": (
        '[{}, {}], unreduced={"x"}',
        '%0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : T\n'
        '%1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : T\n'
        '%2 = sdy.all_slice [{}, {"x"}] %0 out_sharding=<@mesh, [{}, {"x"}]> : T',
        "%1, %2",
    ),
    "unused move": (
        '[{"x"}, {}]',
        '%0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : T',
        "%a",
    ),
    "move there and back": (
        '[{"x"}, {}]',
        '%0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : T\n'
        '%1 = sdy.all_to_all [{"x"}: 1->0] %0 out_sharding=<@mesh, [{"x"}, {}]> : T',
        "%1",
    ),
    "reshard of reshard": (
        '[{"x"}, {}]',
        "%0 = sdy.reshard %a <@mesh, [{}, {}]> : T\n"
        '%1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : T',
        "%1",
    ),
    "reshard of a used reshard": (
        '[{"x"}, {}]',
        "%0 = sdy.reshard %a <@mesh, [{}, {}]> : T\n"
        '%1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : T',
        "%0, %1",
    ),
    "two equal reshards": (
        '[{"x"}, {}]',
        '%0 = sdy.reshard %a <@mesh, [{?}, {"y"}]> : T\n'
        '%1 = sdy.reshard %a <@mesh, [{}, {"y"}]> : T',
        "%0, %1",
    ),
    "two reshards, one with replicated axes": (
        '[{"x"}, {}]',
        '%0 = sdy.reshard %a <@mesh, [{}, {"y"}], replicated={"x"}> : T\n'
        '%1 = sdy.reshard %a <@mesh, [{}, {"y"}]> : T',
        "%0, %1",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_pattern(oracle: Oracle, name: str) -> None:
    before, body, results = CASES[name]
    types = ", ".join("T" for _ in results.split(","))
    text = f"""
      sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
      func.func @main(%a: T {{sdy.sharding = #sdy.sharding<@mesh, {before}>}}) -> ({types}) {{
        {body}
        return {results} : {types}
      }}"""
    text = text.replace(": T", ": tensor<8x8xf32>")
    for place in ("(T", ", T"):
        text = text.replace(place, place[:-1] + "tensor<8x8xf32>")
    assert_equal_text(oracle, text, "canonicalize")


def test_what_a_user_wants_closed_stays(oracle: Oracle) -> None:
    """Seed 62001055: C++ gives the user an operand that it does not take."""
    text = """
      sdy.mesh @mesh = <["x"=2, "y"=2]>
      func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> tensor<8xf32> {
        %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
        %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
        %2 = sdy.replicated_to_unreduced {"y"} %1 out_sharding=<@mesh, [{"x"}], unreduced={"y"}> : tensor<8xf32>
        return %2 : tensor<8xf32>
      }"""
    with pytest.raises(OracleRejected, match="same dimension shardings"):
        oracle.run(text, "canonicalize")
    made = run_ours(text, "canonicalize")
    assert oracle.run(made, "") == oracle.run(text, "")


def test_moves_between_other_dimensions(oracle: Oracle) -> None:
    kind = "tensor<8x8x8x8xf32>"
    text = f"""
      sdy.mesh @mesh = <["x"=2, "y"=2]>
      func.func @main(%a: {kind} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}, {{"x"}}, {{"y"}}]>}}) -> {kind} {{
        %0 = sdy.all_to_all [{{"y"}}: 3->1] %a out_sharding=<@mesh, [{{}}, {{"y"}}, {{"x"}}, {{}}]> : {kind}
        %1 = sdy.all_to_all [{{"x"}}: 2->0] %0 out_sharding=<@mesh, [{{"x"}}, {{"y"}}, {{}}, {{}}]> : {kind}
        return %1 : {kind}
      }}"""
    assert_equal_text(oracle, text, "canonicalize")


DEAD = {
    "a chain": """
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = stablehlo.add %1, %1 : tensor<8xf32>
  %3 = stablehlo.maximum %1, %1 : tensor<8xf32>""",
    "a region": """
  %1 = "stablehlo.case"(%i) ({
    stablehlo.return %0 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>""",
}


@pytest.mark.parametrize("dead", DEAD.values(), ids=DEAD)
@pytest.mark.parametrize(
    "choice", ["disable-patterns=sdy-collective", "enable-patterns=sdy-reshard"]
)
def test_what_is_dead_with_its_users_is_shared_by_nobody(
    oracle: Oracle, dead: str, choice: str
) -> None:
    """Seeds 27100618 and 27101613: the second of two reshards stays, the first is dead."""
    text = f"""sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {{
  %0 = sdy.reshard %a <@m, [{{?}}]> : tensor<8xf32>{dead}
  %4 = sdy.reshard %a <@m, [{{}}]> : tensor<8xf32>
  return %4 : tensor<8xf32>
}}"""
    assert_equal_text(oracle, text, f"canonicalize{{{choice}}}")


@pytest.mark.parametrize("seed", range(40))
def test_collectives_of_random_reshards(oracle: Oracle, seed: int) -> None:
    """A chain of reshards, some also returned, as collectives, canonicalized."""
    random = Random(seed)
    mesh = random_mesh(random, POWERS_OF_TWO)
    rank = random.randint(1, 4)
    kind = "tensor<" + "64x" * rank + "f32>"
    steps = [random_sharding(random, mesh, rank) for _ in range(random.randint(2, 5))]
    body = "\n".join(
        f"%{index} = sdy.reshard {f'%{index - 1}' if index else '%a'} {step} : {kind}"
        for index, step in enumerate(steps[1:])
    )
    last = f"%{len(steps) - 2}"
    text = f"""
      sdy.mesh @mesh = {mesh}
      func.func @main(%a: {kind} {{sdy.sharding = #sdy.sharding{steps[0]}}}) -> ({kind}, {kind}) {{
        {body}
        return {last}, {random.choice((last, "%0"))} : {kind}, {kind}
      }}"""
    assert_equal_text(
        oracle,
        text,
        "sdy-reshard-to-collectives,canonicalize",
        "func.func(sdy-reshard-to-collectives),canonicalize",
    )
