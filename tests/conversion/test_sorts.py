"""Sorts by several keys are as many sorts; what has no keys is compared pair by pair."""

from random import Random

import numpy as np
import pytest

import ttxdsl
from ttxdsl.diagnostics.errors import UnsupportedError


def comparator(keys: list[tuple[str, str]], random: Random, equal: str = "EQ") -> str:
    """Lines that compare by keys, the first decides; pairs of arguments are `%a0, %b0`."""
    lines: list[str] = []
    types = "(tensor<i32>, tensor<i32>) -> tensor<i1>"
    rest = ""
    for at, (direction, sides) in reversed([*enumerate(keys)]):
        one, other = (f"%{side}{at}" for side in sides)
        lines.append(
            f"%l{at} = stablehlo.compare {direction}, {one}, {other} : {types}"
        )
        if rest:
            both = [f"%e{at}", rest]
            lines.append(
                f"%e{at} = stablehlo.compare {equal}, %a{at}, %b{at} : {types}"
            )
            random.shuffle(both)
            lines.append(f"%n{at} = stablehlo.and {', '.join(both)} : tensor<i1>")
            either = [f"%l{at}", f"%n{at}"]
            random.shuffle(either)
            lines.append(f"%o{at} = stablehlo.or {', '.join(either)} : tensor<i1>")
            rest = f"%o{at}"
        else:
            rest = f"%l{at}"
    return "\n".join([*lines, f"stablehlo.return {rest} : tensor<i1>"])


def program(size: int, count: int, body: str) -> str:
    """A sort of operands, the last of which no comparison reads."""
    type_ = f"tensor<{size}xi32>"
    names = ", ".join(f"%x{at}" for at in range(count))
    types = ", ".join([type_] * count)
    scalars = ", ".join(
        f"%{side}{at}: tensor<i32>" for at in range(count) for side in "ab"
    )
    arguments = ", ".join(f"%x{at}: {type_}" for at in range(count))
    returned = ", ".join(f"%r#{at}" for at in range(count))
    return f"""func.func @main({arguments}) -> ({types}) {{
      %r:{count} = "stablehlo.sort"({names}) <{{dimension = 0 : i64, is_stable = true}}> ({{
      ^bb0({scalars}):
        {body}
      }}) : ({types}) -> ({types})
      return {returned} : {types}
    }}"""


def operands(size: int, count: int, seed: int) -> list[np.ndarray]:
    """Keys with many equal numbers, and each element's place."""
    numbers = np.random.default_rng(seed)
    keys = [numbers.integers(0, 4, size, dtype=np.int32) for _ in range(count - 1)]
    return [*keys, np.arange(size, dtype=np.int32)]


@pytest.mark.parametrize("size", [9, 5000])
@pytest.mark.parametrize("seed", range(6))
def test_several_keys(size: int, seed: int):
    random = Random(seed)
    count = random.randint(1, 4)
    keys = [
        (random.choice(("LT", "GT")), random.choice(("ab", "ba"))) for _ in range(count)
    ]
    loaded = ttxdsl.load(program(size, count + 1, comparator(keys, random)))
    given = operands(size, count + 1, seed)
    lowered = loaded.lower("ttnn")
    assert "ttnn.scatter" not in lowered.text
    assert lowered.text.count("ttnn.sort") == count
    signs = [1 if one in (("LT", "ab"), ("GT", "ba")) else -1 for one in keys]
    ordered = [sign * key for sign, key in zip(signs, given, strict=False)]
    places = np.lexsort(ordered[::-1])
    for found, one in zip(lowered.simulate(*given), given, strict=True):
        np.testing.assert_array_equal(found, one[places])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("EQ, %a0, %b0", "EQ, %a1, %b1"),  # of another key
        ("EQ, %a0, %b0", "GE, %a0, %b0"),
        ("LT, %a0, %b0", "LT, %a0, %b1"),  # no function of an element
    ],
)
def test_what_is_no_order_by_keys(old: str, new: str):
    body = comparator([("LT", "ab"), ("LT", "ab")], Random(0))
    assert old in body
    body = body.replace(old, new)
    small = ttxdsl.load(program(9, 3, body)).lower("ttnn")
    assert "ttnn.scatter" in small.text
    with pytest.raises(UnsupportedError, match="compares no key"):
        ttxdsl.load(program(5000, 3, body)).lower("ttnn")
