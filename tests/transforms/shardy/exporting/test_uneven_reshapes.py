"""Reshapes of uneven values, as `newest=true` and op by op: numbers, and text."""

from __future__ import annotations

import pytest

from tests.differential.equal_text import run_ours
from tests.differential.oracle import Oracle
from tests.differential.test_padding import same_numbers
from ttxdsl.transforms.shardy.exporting.uneven_reshapes import groups_of

RESOLVE = "sdy-resolve-permutation-factors"
OP_BY_OP = "sdy-per-instruction-partitioning"
MESH = 'sdy.mesh @mesh = <["x"=4, "y"=2]>'
X, Y, X_, Y_ = '[{"x"}]', '[{"y"}]', '[{"x"}, {}]', '[{"y"}, {}]'


def program(before: str, split: str, after: str, made: str) -> str:
    """A function that splits a whole value, reshapes it, and makes it whole again."""
    taken, result = f"tensor<{before}xf32>", f"tensor<{after}xf32>"
    whole = ", ".join("{}" for _ in after.split("x"))
    return f"""{MESH}
    func.func @main(%a: {taken}) -> {result} {{
      %0 = sdy.all_slice {split} %a out_sharding=<@mesh, {split}> : {taken}
      %1 = stablehlo.reshape %0 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {made}>]>}} : ({taken}) -> {result}
      %2 = sdy.all_gather {made} %1 out_sharding=<@mesh, [{whole}]> : {result}
      return %2 : {result}
    }}"""


STAYS = {
    "two from each shard": program("14", X, "7x2", X_),
    "one row a shard": program("6", X, "3x2", X_),
    "rows joined": program("3x2", X_, "6", X),
    "with a dimension of one": program("7", X, "1x7", '[{}, {"x"}]'),
    "another dimension": program("7x6", X_, "7x2x3", '[{"x"}, {}, {}]'),
    "as it was": program("7x5", '[{"x"}, {"y"}]', "7x5", '[{"x"}, {"y"}]'),
}
MOVES = {
    "rows cut": program("10", X, "5x2", X_),
    "rows cut, joined": program("5x2", X_, "10", X),
    "over two devices": program("9", Y, "3x3", Y_),
    "more lacking": program("20", X, "5x2x2", '[{"x"}, {}, {}]'),
    "one of two": program("15x6", '[{"x"}, {"y"}]', "5x3x6", '[{"x"}, {}, {"y"}]'),
    "into two split ones": program("6", '[{"x", "y"}]', "3x2", '[{"x"}, {"y"}]'),
}
ALL = {**STAYS, **MOVES}


@pytest.mark.parametrize("name", ALL)
def test_numbers(name: str) -> None:
    resolved = run_ours(ALL[name], f"{RESOLVE}{{newest=true}}")
    assert resolved.count("sdy.reshard ") == (2 if name in MOVES else 0)
    assert same_numbers(ALL[name], run_ours(ALL[name], OP_BY_OP), 1)


@pytest.mark.parametrize("name", ALL)
def test_as_the_newest(newest: Oracle, name: str) -> None:
    text = ALL[name]
    resolved = newest.run(run_ours(text, f"{RESOLVE}{{newest=true}}"))
    assert resolved == newest.run(text, RESOLVE)
    assert newest.run(run_ours(text, OP_BY_OP)) == newest.run(text, OP_BY_OP)


def test_groups() -> None:
    def sizes(before: list[int], after: list[int]) -> list[tuple[list[int], list[int]]]:
        return [
            ([before[dim] for dim in one.before], [after[dim] for dim in one.after])
            for one in groups_of(before, after)
        ]

    assert sizes([10, 6], [2, 5, 6]) == [([10], [2, 5]), ([6], [6])]
    assert sizes([4, 6], [8, 3]) == [([4, 6], [8, 3])]
    assert sizes([7, 1], [7]) == [([7], [7]), ([1], [])]
    assert sizes([], [1, 1]) == [([], [1]), ([], [1])]
