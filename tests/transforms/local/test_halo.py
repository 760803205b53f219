"""Windows over split dimensions: neighbours send what is read beyond a shard."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from tests.differential.partitioning import EQUAL, partition_and_compare
from ttxdsl.program import parse_program
from ttxdsl.reporting.collectives import list_collectives
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.spec import Mesh
from ttxdsl.transforms.local.halo import Halo, halo_of
from ttxdsl.transforms.local.layout import Layout

Y = (AxisRef("y"),)
MESH = Mesh((("x", 2), ("y", 4)))


def split(size: int) -> Layout:
    return Layout(MESH, (size,), (Y,))


@pytest.mark.parametrize(
    ("sizes", "window", "stride", "low", "expected"),
    [
        ((16, 16), 3, 1, 1, Halo(0, 1, 1)),
        ((16, 16), 3, 1, 0, Halo(0, 0, 2)),
        ((16, 16), 1, 1, 2, Halo(0, 2, -2)),
        ((16, 8), 3, 2, 0, Halo(0, 0, 1)),
        ((16, 8), 1, 2, -1, Halo(0, -1, 0)),
        ((16, 8), 3, 1, 1, None),  # shards and windows drift apart
        ((16, 16), 6, 1, 5, None),  # further than the next shard
        ((16, 16), 9, 1, 4, Halo(0, 4, 4)),  # 8 elements, still less than gathering 12
        ((16, 16), 1, 1, -4, None),  # nothing of the own shard
    ],
)
def test_halo_of(
    sizes: tuple[int, int], window: int, stride: int, low: int, expected: Halo | None
):
    found = halo_of(
        split(sizes[0]),
        0,
        split(sizes[1]),
        0,
        window=window,
        stride=stride,
        low=low,
    )
    assert found == expected


def test_another_split_of_the_result_has_no_halo():
    result = Layout(MESH, (16,), ((),))
    assert halo_of(split(16), 0, result, 0, window=3, stride=1, low=1) is None
    assert halo_of(split(16), 0, None, 0, window=3, stride=1, low=1) is None


AXES = ('"y"', '"x"', '"x", "y"', '"y", "x"')


def tensor(*sizes: int) -> str:
    return f"tensor<{'x'.join(map(str, sizes))}xf32>"


def main(arguments: str, op: str, result: str) -> str:
    return (
        f"sdy.mesh @mesh = {MESH}\n"
        f"func.func @main({arguments}) -> {result} {{\n  %0 = {op}\n"
        f"  return %0 : {result}\n}}"
    )


def sharded(rank: int, axes: str, others: str = "") -> str:
    dims = [f"{{{axes}}}", f"{{{others}}}"] + ["{}"] * (rank - 2)
    return f"{{sdy.sharding = #sdy.sharding<@mesh, [{', '.join(dims)}]>}}"


def windows(rng: random.Random) -> tuple[int, int, int, int, int, int, int]:
    """Size, window, stride, dilation, padding before and behind, number of windows."""
    while True:
        size, window = rng.choice((8, 16, 24)), rng.randint(1, 5)
        stride, spread = rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 2))
        extent = (window - 1) * spread + 1
        low, high = rng.randint(-1, extent), rng.randint(-1, extent)
        if size + low + high >= extent:
            count = (size + low + high - extent) // stride + 1
            return size, window, stride, spread, low, high, count


def convolution(rng: random.Random) -> str:
    size, window, stride, spread, low, high, count = windows(rng)
    axes = rng.choice(AXES)
    other, edge = rng.choice(((1, 0), (3, 1)))
    lhs, rhs = tensor(size, 8, 2, 3), tensor(window, other, 3, 4)
    result = tensor(count, 8, 2, 4)
    text = (
        "stablehlo.convolution(%a, %w) dim_numbers = [0, 1, b, f]x[0, 1, i, o]->[0, 1, b, f], "
        f"window = {{stride = [{stride}, 1], pad = [[{low}, {high}], [{edge}, {edge}]], "
        f"rhs_dilate = [{spread}, 1]}} {{batch_group_count = 1 : i64, "
        f"feature_group_count = 1 : i64}} : ({lhs}, {rhs}) -> {result}"
    )
    others = '"x"' if axes == '"y"' else ""
    return main(f"%a: {lhs} {sharded(4, axes, others)}, %w: {rhs}", text, result)


def pooling(rng: random.Random) -> str:
    size, window, stride, spread, low, high, count = windows(rng)
    reducer = rng.choice(("add", "maximum"))
    text = f"""\"stablehlo.reduce_window"(%a, %i) <{{window_dimensions = array<i64: {window}, 1>, window_strides = array<i64: {stride}, 1>, window_dilations = array<i64: {spread}, 1>, padding = dense<[[{low}, {high}], [0, 0]]> : tensor<2x2xi64>}}> ({{
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.{reducer} %p, %q : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }}) : ({tensor(size, 4)}, tensor<f32>) -> {tensor(count, 4)}"""
    argument = f"%a: {tensor(size, 4)} {sharded(2, rng.choice(AXES))}"
    return main(f"{argument}, %i: tensor<f32>", text, tensor(count, 4))


def padding(rng: random.Random) -> str:
    size, between = rng.choice((8, 16, 24)), rng.choice((0, 0, 0, 1, 2))
    low = rng.randint(-3, 3)
    high = rng.choice((-low, between - low, rng.randint(-2, 3)))
    count = size + (size - 1) * between + low + high
    text = (
        f"stablehlo.pad %a, %i, low = [{low}, 0], high = [{high}, 0], interior = "
        f"[{between}, 0] : ({tensor(size, 4)}, tensor<f32>) -> {tensor(count, 4)}"
    )
    argument = f"%a: {tensor(size, 4)} {sharded(2, rng.choice(AXES))}"
    return main(f"{argument}, %i: tensor<f32>", text, tensor(count, 4))


def slicing(rng: random.Random) -> str:
    size, stride, start = rng.choice((8, 16, 24)), rng.randint(1, 4), rng.randint(0, 3)
    limit = rng.choice((size, rng.randint(start + 1, size)))
    count = -(-(limit - start) // stride)
    text = (
        f"stablehlo.slice %a [{start}:{limit}:{stride}, 0:4] : "
        f"({tensor(size, 4)}) -> {tensor(count, 4)}"
    )
    argument = f"%a: {tensor(size, 4)} {sharded(2, rng.choice(AXES))}"
    return main(argument, text, tensor(count, 4))


def reversing(rng: random.Random) -> str:
    axes = rng.choice(AXES)
    others = '"x"' if axes == '"y"' else ""
    dims = rng.choice(("[0]", "[0, 1]", "[1]"))
    text = f"stablehlo.reverse %a, dims = {dims} : {tensor(16, 8)}"
    return main(f"%a: {tensor(16, 8)} {sharded(2, axes, others)}", text, tensor(16, 8))


@pytest.mark.parametrize(
    "make",
    [convolution, pooling, padding, slicing, reversing],
    ids=lambda m: m.__name__,
)
def test_numbers_stay(make: Callable[[random.Random], str]):
    """Exactly where the program only moves data, for every element is its own index."""
    rng = random.Random(3)
    kinds: Counter[str] = Counter()
    for seed in range(40):
        module = parse_program(make(rng))
        assert partition_and_compare(module, seed)[0] == EQUAL
        kinds.update({one.kind for one in list_collectives(module)} or {"none"})
    # not only the case of gathering
    assert kinds["none" if make is slicing else "collective_permute"] >= 1


def test_what_fits_the_shards_sends_nothing():
    """Every other element, and zeros between elements: as rotary embeddings do."""
    text = f"""sdy.mesh @mesh = {MESH}
func.func @main(%a: tensor<16x4xf32> {sharded(2, '"y"')}) -> tensor<16x4xf32> {{
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %a [1:16:2, 0:4] : (tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.pad %0, %c, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  return %1 : tensor<16x4xf32>
}}"""
    module = parse_program(text)
    assert partition_and_compare(module, 0) == (EQUAL, "tagged")
    assert list_collectives(module) == []
