"""Reshapes whose dimensions the axes of the operand do not fit."""

from __future__ import annotations

import pytest

from tests.differential.partitioning import EQUAL, partition_and_compare
from ttxdsl.program import parse_program
from ttxdsl.transforms.optimize.bytes_sent import bytes_sent

M = '["m"=8]'
AB = '["a"=2, "b"=4]'


def reshape(
    mesh: str,
    before: tuple[tuple[int, ...], str],
    after: tuple[tuple[int, ...], str],
    *,
    first: bool = False,
) -> str:
    """A reshape and another op behind it, perhaps one before it."""
    (old, of_old), (new, of_new) = before, after
    operand, result = ("x".join(map(str, shape)) + "xf32" for shape in (old, new))
    sine = f"%p = stablehlo.sine %q : tensor<{operand}>" if first else ""
    return f"""
sdy.mesh @mesh = <{mesh}>
func.func @main(%q: tensor<{operand}> {{sdy.sharding = #sdy.sharding<@mesh, [{of_old}]>}})
    -> (tensor<{result}> {{sdy.sharding = #sdy.sharding<@mesh, [{of_new}]>}}) {{
  {sine}
  %0 = stablehlo.reshape {"%p" if first else "%q"} : (tensor<{operand}>) -> tensor<{result}>
  %1 = stablehlo.negate %0 : tensor<{result}>
  return %1 : tensor<{result}>
}}"""


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize(
    ("mesh", "before", "after", "sent", "launches"),
    [
        # six heads on eight devices: one gather, of what does not fit
        (M, ((4, 48), '{}, {"m"}'), ((4, 6, 8), '{}, {"m":(1)2}, {}'), 288, 1),
        (M, ((4, 48), '{}, {"m"}'), ((4, 6, 8), "{}, {?}, {?}"), 288, 1),
        (M, ((4, 96), '{}, {"m"}'), ((4, 12, 8), '{}, {"m":(1)4}, {}'), 192, 1),
        (M, ((4, 24), '{}, {"m"}'), ((4, 3, 8), "{}, {}, {}"), 336, 1),
        (AB, ((4, 48), '{}, {"a", "b"}'), ((4, 6, 8), '{}, {"a"}, {}'), 288, 1),
        (AB, ((4, 48), '{"a"}, {"b"}'), ((4, 6, 8), '{"a"}, {"b":(1)2}, {}'), 96, 1),
        # and back: nothing
        (M, ((4, 6, 8), '{}, {"m":(1)2}, {}'), ((4, 48), '{}, {"m"}'), 0, 0),
        # the batch has room for all of them
        (M, ((8, 48), '{}, {"m"}'), ((8, 6, 8), '{"m"}, {}, {}'), 168, 1),
        (M, ((8, 6, 8), '{"m"}, {}, {}'), ((8, 48), '{}, {"m"}'), 168, 1),
        # within a head
        (M, ((4, 48), '{}, {"m"}'), ((4, 6, 8), '{}, {}, {"m"}'), 432, None),
    ],
)
def test_reshards_around_a_reshape(
    mesh: str,
    before: tuple[tuple[int, ...], str],
    after: tuple[tuple[int, ...], str],
    sent: int,
    launches: int | None,
    first: bool,
):
    module = parse_program(reshape(mesh, before, after, first=first))
    assert partition_and_compare(module, 0)[0] == EQUAL
    assert bytes_sent(module) == sent
    names = ("all_gather", "all_to_all", "collective_permute", "all_reduce")
    ops = [op for op in module.walk() if op.name.removeprefix("stablehlo.") in names]
    assert launches is None or len(ops) == launches
