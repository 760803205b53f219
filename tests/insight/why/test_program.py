"""`Program.why`: answers are data, about the program as it was loaded."""

import json
from dataclasses import FrozenInstanceError, asdict, replace

import pytest

import ttxdsl
from tests.insight.why import programs
from ttxdsl.insight.why.answers import (
    Origin,
    Site,
    WhyCollective,
    WhyProgram,
    WhySharding,
)


def test_before_and_after_partitioning():
    program = ttxdsl.load(programs.CONTRACTED)
    device = program.partition()
    first, second = program.why(collective=0), device.why(collective=0)
    assert isinstance(first, WhyCollective)
    assert first == second
    assert program.why("%out") == device.lower("ttnn").why("%out")
    assert isinstance(device.why(), WhyProgram)
    assert isinstance(device.why(argument=0), WhySharding)
    assert device.why(result=0) == device.why("%out")


@pytest.mark.parametrize("count", [1, 2])
def test_the_sum_of_neighbours_that_start_together_is_explained(count: int):
    """Rows are collectives alone; together they take less."""
    permute = "stablehlo.collective_permute"
    pairs = "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"
    type_ = "tensor<4x8xf32>"
    moves = "\n".join(
        f'%m{at} = "{permute}"(%p{at}) <{{{pairs}}}> : ({type_}) -> {type_}'
        for at in range(count)
    )

    def each(text: str) -> str:
        return ", ".join(text.replace("#", str(at)) for at in range(count))

    whole = "tensor<8x8xf32>"
    answer = ttxdsl.load(f"""
    sdy.mesh @mesh = <["a"=2]>
    func.func @main({each(f"%x#: {whole}")}) -> ({each(whole)}) {{
      %r:{count} = sdy.manual_computation({each("%x#")})
          in_shardings=[{each('<@mesh, [{"a"}, {}]>')}]
          out_shardings=[{each('<@mesh, [{"a"}, {}]>')}]
          manual_axes={{"a"}} ({each(f"%p#: {type_}")}) {{
        {moves}
        sdy.return {each("%m#")} : {each(type_)}
      }} : ({each(whole)}) -> ({each(whole)})
      return {", ".join(f"%r#{at}" for at in range(count))} : {each(whole)}
    }}""").why()
    assert len(answer.collectives) == count
    assert ("2.0 us one by one" in str(answer)) == (count == 2)


def test_answers_are_frozen_data():
    answer = ttxdsl.load(programs.CONTRACTED).why(collective=0)
    with pytest.raises(FrozenInstanceError):
        answer.number = 3  # pyright: ignore[reportAttributeAccessIssue]
    assert json.loads(json.dumps(asdict(answer)))["kind"] == "all_reduce"


def test_of_many_operands_some_are_named():
    """A person reads no thousand votes, and looking at each for each takes long."""
    names = [f"%a{at}" for at in range(80)]
    split = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
    arguments = [f"{name}: tensor<8xf32> {split}" for name in names]
    types = ", ".join(["tensor<8xf32>"] * 80)
    answer = ttxdsl.load(f"""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main({", ".join(arguments)}) -> tensor<640xf32> {{
      %0 = stablehlo.concatenate {", ".join(names)}, dim = 0 : ({types}) -> tensor<640xf32>
      return %0 : tensor<640xf32>
    }}""").why(collective=0, tries=0)
    assert isinstance(answer, WhyCollective)
    assert "joined with it: 15 others" in answer.details
    assert len(answer.sides) < 70


def test_one_thing_at_a_time():
    with pytest.raises(ttxdsl.CompileError, match="one thing at a time"):
        ttxdsl.load(programs.CONTRACTED).why("%out", collective=0)
    with pytest.raises(ttxdsl.CompileError, match="lowered already"):
        program = ttxdsl.load(programs.CONTRACTED).lower("ttir")
        ttxdsl.load(program.text).why()


def test_a_shard_map_is_called_by_its_line():
    words = "the shard_map at line 3 of forward"
    place = Site("sdy.manual_computation", "%0", "a.py:3:4", None, "forward", words)
    assert Origin("manual computation", "", place, 0).name == words
    nameless = replace(place, words=None, function=None)
    assert Origin("manual computation", "", nameless, 0).name == "manual computation %0"


def test_results_are_called_by_their_paths():
    kind = "tensor<64x64xf32>"
    answer = ttxdsl.load(f"""
sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(%p: {kind} {{sdy.sharding = #sdy.sharding<@mesh, [{{"a", "b"}}, {{}}]>}} loc("p")) -> ({kind} {{sdy.sharding = #sdy.sharding<@mesh, [{{"b"}}, {{}}]>, jax.result_info = "result['w']"}}) {{
  %0 = stablehlo.tanh %p : {kind}
  return %0 : {kind}
}}
""").why()
    assert isinstance(answer, WhyProgram)
    named = {name for cost in answer.causes for name in cost.annotations}
    assert "result['w']" in named and not any(" 0" in name for name in named)
    assert "result 0" not in str(answer)
    summaries = [one.summary for one in answer.collectives]
    assert "needs %0 on other devices" in summaries


def test_uneven_arguments_are_padded_as_the_command_does() -> None:
    program = ttxdsl.load("""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(
        %x: tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
        -> tensor<4xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across
        dimensions = [0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<4xf32>
      return %sum : tensor<4xf32>
    }""")
    assert "all_reduce" in str(program.why())
    with pytest.raises(ttxdsl.UnsupportedError, match="not divisible by 2"):
        program.partition(pad_borders=False)
