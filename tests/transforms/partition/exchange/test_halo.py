"""Windows over split dimensions: neighbours send what is read beyond a shard."""

import random
from collections import Counter
from collections.abc import Callable

import pytest

import ttxdsl
from tests.differential.partitioning import EQUAL, partition_and_compare
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.loading.program import parse_program
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.partition.exchange.halo import Halo, Window, halo_of
from ttxdsl.transforms.partition.layout import Layout

Y = (AxisRef("y"),)
MESH = Mesh((("x", 2), ("y", 4)))


def split(size: int) -> Layout:
    return Layout(MESH, (size,), (Y,))


@pytest.mark.parametrize(
    ("sizes", "window", "expected"),
    [
        ((16, 16), Window(0, 0, 3, 1, 1), Halo(0, 1, 1, -1, 6)),
        ((16, 16), Window(0, 0, 3), Halo(0, 0, 2, 0, 6)),
        ((16, 16), Window(0, 0, 1, 1, 2), Halo(0, 2, 0, -2, 4)),
        ((16, 8), Window(0, 0, 3, 2), Halo(0, 0, 1, 0, 5)),
        ((16, 8), Window(0, 0, 1, 2, -1), Halo(0, 0, 0, 1, 3)),
        # shards and windows drift apart: the last reads 7 before its shard
        ((16, 8), Window(0, 0, 3, 1, 1), Halo(0, 7, 0, -1, 4, -2)),
        # further than the next shard
        ((16, 16), Window(0, 0, 6, 1, 5), Halo(0, 5, 0, -5, 9)),
        ((16, 16), Window(0, 0, 9, 1, 4), Halo(0, 4, 4, -4, 12)),
        # as much as gathering
        ((16, 16), Window(0, 0, 13, 1, 12), None),
        # nothing of the own shard
        ((16, 16), Window(0, 0, 1, 1, -4), Halo(0, 0, 4, 4, 4)),
        # what is padded at the ends is not sent
        ((8, 20), Window(0, 0, 1, 1, 6), Halo(0, 2, 2, -6, 5, 3)),
        # holes between the elements
        ((16, 32), Window(0, 0, 3, 1, 1, 2), Halo(0, 0, 1, 0, 5, 0, (1, 0))),
        ((16, 32), Window(0, 0, 5, 1, 3, 2), Halo(0, 1, 1, -1, 6, 0, (1, 0))),
        ((16, 16), Window(0, 0, 3, 1, 1, 2), None),
        ((16, 16), Window(0, 0, 4, 4, 0), None),
    ],
)
def test_halo_of(sizes: tuple[int, int], window: Window, expected: Halo | None):
    assert halo_of(split(sizes[0]), split(sizes[1]), window) == expected


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


def running(rng: random.Random) -> str:
    """A running combination, from either end."""
    others, axes = 15, rng.choice(AXES)
    low, high = rng.choice(((others, 0), (0, others)))
    reducer, start = rng.choice((("add", 0.0), ("maximum", -1.0), ("multiply", 1.0)))
    text = f"""stablehlo.constant dense<{start}> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %s) <{{window_dimensions = array<i64: 16, 1>, padding = dense<[[{low}, {high}], [0, 0]]> : tensor<2x2xi64>}}> ({{
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.{reducer} %p, %q : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }}) : ({tensor(16, 4)}, tensor<f32>) -> {tensor(16, 4)}"""
    argument = f"%a: {tensor(16, 4)} {sharded(2, axes)}"
    return main(argument, text, tensor(16, 4)).replace("%0", "%s", 1)


@pytest.mark.parametrize(
    "make",
    [convolution, pooling, padding, slicing, reversing, running],
    ids=lambda m: m.__name__,
)
def test_numbers_stay(make: Callable[[random.Random], str]):
    """Exactly where the program only moves data, for every element is its own index."""
    rng = random.Random(3)
    kinds: Counter[str] = Counter()
    for seed in range(14):
        module = parse_program(make(rng))
        assert partition_and_compare(module, seed)[0] == EQUAL
        kinds.update({one.kind for one in list_collectives(module)} or {"none"})
    # not only the case of gathering
    if make is running:
        assert kinds["all_gather"] >= 1
    else:
        assert kinds["none" if make is slicing else "collective_permute"] >= 1


def sent_by(op: str, result: str, before: str = "") -> int:
    text = main(f"%a: {tensor(16, 8)} {sharded(2, AXES[2])}", op, result)
    text = text.replace("%0 =", f"{before}%0 =", 1)
    module = parse_program(text)
    assert partition_and_compare(module, 0)[0] == EQUAL
    return sum(one.bytes_per_device for one in list_collectives(module))


def test_a_running_sum_sends_one_row_a_shard():
    op = f"""\"stablehlo.reduce_window"(%a, %i) <{{window_dimensions = array<i64: 16, 1>, padding = dense<[[15, 0], [0, 0]]> : tensor<2x2xi64>}}> ({{
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }}) : ({tensor(16, 8)}, tensor<f32>) -> {tensor(16, 8)}"""
    zero = "%i = stablehlo.constant dense<0.0> : tensor<f32>\n  "
    assert sent_by(op, tensor(16, 8), zero) == 7 * 32


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


def test_an_uneven_kernel_is_whole_where_its_rule_splits_it():
    """Shardy splits a kernel of 3 as the stride splits the input, and sums; nobody does."""
    module = parse_program(
        f"""sdy.mesh @mesh = {MESH}
func.func @main(%a: tensor<2x8x8x3xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{?}}, {{"y", "x", ?}}, {{}}, {{}}]>}}, %b: tensor<3x3x3x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}, {{}}, {{"x", ?}}]>}}) -> tensor<2x4x5x4xf32> {{
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{stride = [2, 2], pad = [[1, 0], [2, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x4x5x4xf32>
  return %0 : tensor<2x4x5x4xf32>
}}"""
    )
    assert partition_and_compare(module, 0)[0] == EQUAL


def test_an_operand_that_changed_places_is_gathered_from_where_it_was():
    """Both operands of a window are to lie alike; one dimension is needed whole then."""
    text = """sdy.mesh @mesh = <["x"=2, "y"=4]>
      func.func @main(
          %a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
          %b: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}
      ) -> (tensor<3x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
        %i = stablehlo.constant dense<0.0> : tensor<f32>
        %0:2 = "stablehlo.reduce_window"(%a, %b, %i, %i) <{window_dimensions = array<i64: 2, 2>}> ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %s: tensor<f32>):
          %1 = stablehlo.add %p, %r : tensor<f32>
          %2 = stablehlo.add %q, %s : tensor<f32>
          stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
        }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
        %3 = stablehlo.subtract %0#0, %0#1 : tensor<3x5xf32>
        return %3 : tensor<3x5xf32>
      }"""
    moved = list_collectives(ttxdsl.load(text).partition().module)
    assert sorted(one.bytes_per_device for one in moved) == [48, 72]
