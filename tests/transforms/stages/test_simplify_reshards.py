"""Reshapes whose dimensions the axes of the operand do not fit, and moves of whole values."""

from collections.abc import Sequence

import pytest
from xdsl.ir import SSAValue
from xdsl.ir.core import SSAValues

import ttxdsl
from tests.differential.partitioning import EQUAL, partition_and_compare
from ttxdsl.ir.compat.speed import operations
from ttxdsl.loading.program import parse_program
from ttxdsl.transforms.collectives.program.bytes_sent import bytes_sent

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


SQUARE, TALL = "tensor<8x16xf32>", "tensor<16x16xf32>"
JOINED = f"%0 = stablehlo.concatenate %x, %y, dim = 0 : ({SQUARE}, {SQUARE}) -> {TALL}"
PADDED = f"""
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.pad %x, %c, low = [3, 0], high = [5, 0], interior = [0, 0] : ({SQUARE}, tensor<f32>) -> {TALL}"""
TILED = f"""
  %b = stablehlo.broadcast_in_dim %x, dims = [1, 2] : ({SQUARE}) -> tensor<2x8x16xf32>
  %0 = stablehlo.reshape %b : (tensor<2x8x16xf32>) -> {TALL}"""


@pytest.mark.parametrize(
    "split", ['{"a"}, {}', '{}, {"b"}', '{"a", "b"}, {}', '{"b"}, {"a"}']
)
@pytest.mark.parametrize("moves", [JOINED, PADDED, TILED])
def test_what_is_whole_is_moved_whole(moves: str, split: str):
    module = parse_program(f"""
sdy.mesh @mesh = <{AB}>
func.func @main(
    %x: {SQUARE} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}},
    %y: {SQUARE} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}
) -> ({TALL} {{sdy.sharding = #sdy.sharding<@mesh, [{split}]>}}) {{
  {moves}
  %1 = stablehlo.sine %0 : {TALL}
  return %1 : {TALL}
}}""")
    assert partition_and_compare(module, 0)[0] == EQUAL
    assert bytes_sent(module) == 0


def test_many_reshards_of_one_user_are_set_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def copies(count: int) -> int:
        """Operands that are copied while a concatenation of one value is partitioned."""
        copied: list[int] = []

        def counted(operands: Sequence[SSAValue]) -> SSAValues[SSAValue]:
            copied.append(len(operands))
            return SSAValues(operands)

        names, types = ", ".join(["%a"] * count), ", ".join(["tensor<8x8xf32>"] * count)
        program = ttxdsl.load(
            'sdy.mesh @mesh = <["x"=2]>\n'
            "func.func @main(%a: tensor<8x8xf32> "
            '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})'
            f" -> tensor<{8 * count}x8xf32> {{\n"
            f"%r = stablehlo.concatenate {names}, dim = 0 : ({types})"
            f" -> tensor<{8 * count}x8xf32>\nreturn %r : tensor<{8 * count}x8xf32>\n}}"
        )
        with monkeypatch.context() as patch:
            patch.setattr(operations, "_new_values", counted)
            program.partition()
        return sum(copied)

    assert copies(120) < 3 * copies(60)
