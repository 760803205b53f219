"""Halo exchanges of `sdy-resolve-permutation-factors{newest=true}`: numbers, and text."""

from __future__ import annotations

import pytest

from tests.differential.equal_text import run_ours
from tests.differential.oracle import Oracle
from tests.differential.test_padding import same_numbers
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.transforms.shardy.exporting.halo_exchange import Stretch, steps_along

NAME = "sdy-resolve-permutation-factors"
MESH = 'sdy.mesh @mesh = <["x"=4, "y"=2]>'
OTHER = 'sdy.mesh @mesh = <["x"=4, "y"=2], device_ids=[6,7,5,4,3,1,2,0]>'
X, Y, YX = '[{"x"}]', '[{"y"}]', '[{"y", "x"}]'
X_AND_Y, X_ALONE = '[{"x"}, {"y"}]', '[{"x"}, {}]'


def program(before: str, op: str, after: str, dims: str, mesh: str = MESH) -> str:
    """A function of one op, of whole values, that is split alike on both sides.

    Args:
        before: the shape of the operand `%0`, as in `7x5`.
        op: what stands in front of its types.
        after: the shape of the result.
        dims: how both are split.
        mesh: its declaration.
    """
    taken, made = f"tensor<{before}xf32>", f"tensor<{after}xf32>"
    whole = ", ".join("{}" for _ in before.split("x"))
    types = {
        "pad": f"({taken}, tensor<f32>) -> {made}",
        "slice": f"({taken}) -> {made}",
    }
    said = f"{{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {dims}>]>}}"
    return f"""{mesh}
    func.func @main(%a: {taken}, %z: tensor<f32>) -> {made} {{
      %0 = sdy.all_slice {dims} %a out_sharding=<@mesh, {dims}> : {taken}
      %1 = stablehlo.{op} {said} : {types.get(op.split()[0], taken)}
      %2 = sdy.all_gather {dims} %1 out_sharding=<@mesh, [{whole}]> : {made}
      return %2 : {made}
    }}"""


def pad(low: list[int], high: list[int], interior: list[int]) -> str:
    return f"pad %0, %z, low = {low}, high = {high}, interior = {interior}"


EXCHANGED = {
    "from the front": program("8", "slice %0 [3:8]", "5", Y),
    "from the middle, whole dimensions too": program(
        "16x7", "slice %0 [2:15, 1:6:2]", "13x3", X_ALONE
    ),
    "from an uneven value": program("3", "slice %0 [1:3]", "2", Y),
    "to the front": program("8", pad([3], [1], [0]), "12", X),
    "negative": program("8", pad([-1], [1], [0]), "8", X),
    "along several axes": program("16", pad([2], [1], [0]), "19", YX),
    "along a part of an axis": program("16", pad([3], [0], [0]), "19", '[{"x":(2)2}]'),
    "on devices in another order": program("16", pad([2], [1], [0]), "19", X, OTHER),
    "between elements": program("15", pad([1], [0], [1]), "30", Y),
    "along two dimensions": program(
        "16x9", pad([3, 2], [0, 0], [0, 0]), "19x11", X_AND_Y
    ),
    "a whole dimension too": program(
        "8x3", pad([1, 2], [0, 0], [0, 1]), "9x7", X_ALONE
    ),
    "nothing for the last": program("6", pad([0], [1], [0]), "7", YX),
    "reversed": program("8x6", "reverse %0, dims = [0]", "8x6", X_AND_Y),
    "reversed, uneven": program("7x5", "reverse %0, dims = [0, 1]", "7x5", X_AND_Y),
    "reversed, shards lacking": program("5", "reverse %0, dims = [0]", "5", YX),
    "reversed, other devices": program("6", "reverse %0, dims = [0]", "6", X, OTHER),
}
"""What C++ exchanges too."""

OURS = {
    "every second": program("16", "slice %0 [0:16:2]", "8", X),
    "nothing moves, yet shards grow": program("8x5", pad([0, 1], [0, 2], [0, 0]), "8x8", X_AND_Y),
    "one stays, the other grows": program("8x4", pad([1, 1], [1, 0], [0, 0]), "10x5", '[{"y"}, {"x"}]'),
}  # fmt: skip
"""What C++ computes wrong, leaves or refuses."""

MADE_WHOLE = {
    "too far": program("16", "slice %0 [12:16]", "4", X),
    "too wide": program("8", pad([2], [1], [2]), "25", X),
}


@pytest.mark.parametrize("name", [*EXCHANGED, *OURS, *MADE_WHOLE])
def test_numbers(name: str) -> None:
    text = {**EXCHANGED, **OURS, **MADE_WHOLE}[name]
    ours = run_ours(text, f"{NAME}{{newest=true}}")
    assert ("sdy.reshard" in ours) == (
        name in MADE_WHOLE or name == "every second" or "reverse" in text
    )
    assert same_numbers(text, ours, 1)


@pytest.mark.parametrize("name", [*EXCHANGED, *MADE_WHOLE])
@pytest.mark.parametrize(
    "option",
    ["enable-halo-exchange=true", "enable-halo-exchange=false", "replica-count=8"],
)
def test_as_the_newest(newest: Oracle, name: str, option: str) -> None:
    text = {**EXCHANGED, **MADE_WHOLE}[name]
    ours = newest.run(run_ours(text, f"{NAME}{{{option} newest=true}}"))
    assert ours == newest.run(text, f"{NAME}{{{option}}}")


def test_a_device_and_the_one_behind_it() -> None:
    mesh = Mesh((("x", 2), ("y", 2)))
    x, y = AxisRef("x"), AxisRef("y")
    assert steps_along(mesh, (x, y), 1) == [(0, 1), (1, 2), (2, 3)]
    assert steps_along(mesh, (y, x), -1) == [(1, 2), (2, 0), (3, 1)]
    assert steps_along(mesh, (x,), 2) == []


def test_what_is_read() -> None:
    """Six of eight elements from the third on, of four devices."""
    stretch = Stretch.of(0, 4, 8, 6, -2)
    assert (stretch.shard, stretch.size) == (2, 2)
    assert (stretch.before, stretch.behind) == (0, 1)
    assert stretch.is_near
    assert not stretch.is_kept
    assert Stretch.of(0, 4, 8, 7, 0).is_kept
    last = Stretch.of(0, 4, 5, 5, 0)
    assert (last.is_own, last.is_full, last.is_kept) == (True, False, False)


OP_BY_OP = "sdy-per-instruction-partitioning"
INTO_THE_SURPLUS = program("6", pad([0], [1], [0]), "7", X)
"""Of eight places two are a surplus before, and one behind."""


def test_what_is_padded_lies_in_the_surplus() -> None:
    assert same_numbers(INTO_THE_SURPLUS, run_ours(INTO_THE_SURPLUS, OP_BY_OP), 1)


def test_what_is_padded_lies_in_the_surplus_as_the_newest(newest: Oracle) -> None:
    ours = newest.run(run_ours(INTO_THE_SURPLUS, OP_BY_OP))
    assert ours == newest.run(INTO_THE_SURPLUS, OP_BY_OP)
