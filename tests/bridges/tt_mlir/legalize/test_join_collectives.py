"""`join-collectives`: collectives that do not wait for each other are one."""

import numpy as np
import pytest

from tests.bridges.tt_mlir.legalize.same_numbers import (
    after,
    assert_numbers_stay,
    on_mesh,
)
from tests.bridges.tt_mlir.legalize.test_align_collectives import (
    CHANNEL,
    dense,
    reducing,
)
from ttxdsl.bridges.tt_mlir.legalize.join_collectives import MOST_BYTES
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import parse_program

COLLECTIVES = (
    *(stablehlo.AllGatherOp, stablehlo.ReduceScatterOp),
    *(stablehlo.AllToAllOp, stablehlo.AllReduceOp),
)
ROWS, COLUMNS = "[[0, 1, 2, 3], [4, 5, 6, 7]]", "[[0, 4], [1, 5], [2, 6], [3, 7]]"
VALUES = np.random.default_rng(3).integers(-9, 9, (64, 8)).astype(np.float32)


def gather(name: str, of: str, dim: int, rows: int, columns: int) -> str:
    """All devices' parts, along the rows of the mesh."""
    made = f"{rows * (4 if dim == 0 else 1)}x{columns * (4 if dim else 1)}xf32"
    return f"""
    %{name} = "stablehlo.all_gather"(%{of}) <{{all_gather_dim = {dim} : i64, replica_groups = {dense(ROWS)}, {CHANNEL}}}> : (tensor<{rows}x{columns}xf32>) -> tensor<{made}>"""


def scatter(
    name: str, of: str, dim: int, shape: tuple[int, int], groups: str = ROWS
) -> str:
    """The sum of the group's parts, of which each takes one."""
    count = 4 if groups is ROWS else 2
    made = [size // count if at == dim else size for at, size in enumerate(shape)]
    return f"""
    %{name} = "stablehlo.reduce_scatter"(%{of}) <{{scatter_dimension = {dim} : i64, replica_groups = {dense(groups)}, {CHANNEL}}}> {reducing("add")} : (tensor<{shape[0]}x{shape[1]}xf32>) -> tensor<{made[0]}x{made[1]}xf32>"""


def exchange(name: str, of: str, split: int, concat: int) -> str:
    """Parts of 8x8 along one dimension for parts along the other."""
    made = [8, 8]
    made[split] //= 4
    made[concat] *= 4
    return f"""
    %{name} = "stablehlo.all_to_all"(%{of}) <{{split_dimension = {split} : i64, concat_dimension = {concat} : i64, split_count = 4 : i64, replica_groups = {dense(ROWS)}, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}}> : (tensor<8x8xf32>) -> tensor<{made[0]}x{made[1]}xf32>"""


def total(name: str, of: str, rows: int, columns: int) -> str:
    """Sums along the first dimension, as one row of eight repeated: no collective."""
    return f"""
    %{name}_0 = stablehlo.constant dense<0.0> : tensor<f32>
    %{name}_1 = stablehlo.reshape %{of} : (tensor<{rows}x{columns}xf32>) -> tensor<{rows * columns // 8}x8xf32>
    %{name}_2 = stablehlo.reduce(%{name}_1 init: %{name}_0) applies stablehlo.add across dimensions = [0] : (tensor<{rows * columns // 8}x8xf32>, tensor<f32>) -> tensor<8xf32>
    %{name} = stablehlo.broadcast_in_dim %{name}_2, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>"""


def program(*ops: str, adding: str) -> str:
    """A program of what devices have, 8x8, that adds up some values of that shape."""
    text, so_far = "".join(ops), "a"
    for at, name in enumerate(adding.split()):
        text += f"\n    %r{at} = stablehlo.add %{so_far}, %{name} : tensor<8x8xf32>"
        so_far = f"r{at}"
    return on_mesh(
        '"x"=2, "y"=4',
        ("64x8xf32", "64x8xf32"),
        ('{"x", "y"}, {}', '{"x", "y"}, {}'),
        f"8x8xf32: {text}\n    sdy.return %{so_far} : tensor<8x8xf32>",
    )


def collectives(text: str) -> list[str]:
    """The kinds of a program's collectives, in order."""
    found = ops_of_type(parse_program(text), *COLLECTIVES)
    return [one.name.removeprefix("stablehlo.") for one in found]


PROGRAMS = {
    "gathers along several dimensions": (
        program(
            gather("b", "a", 0, 8, 8),
            total("s", "b", 32, 8),
            gather("c", "a", 1, 8, 8),
            total("t", "c", 8, 32),
            adding="s t",
        ),
        ["all_gather"],
    ),
    "scatters along several dimensions": (
        program(
            scatter("b", "a", 0, (8, 8)),
            total("s", "b", 2, 8),
            scatter("c", "a", 1, (8, 8)),
            total("t", "c", 8, 2),
            adding="s t",
        ),
        ["reduce_scatter"],
    ),
    "exchanges": (
        program(
            exchange("b", "a", 0, 1),
            total("s", "b", 2, 32),
            exchange("c", "a", 1, 0),
            total("t", "c", 32, 2),
            exchange("d", "a", 1, 1),
            adding="s t d",
        ),
        ["all_to_all"],
    ),
    "other groups stay apart": (
        program(
            scatter("b", "a", 0, (8, 8)),
            total("s", "b", 2, 8),
            scatter("c", "a", 1, (8, 8), COLUMNS),
            total("t", "c", 8, 4),
            adding="s t",
        ),
        ["reduce_scatter", "reduce_scatter"],
    ),
    "one waits for another": (
        program(
            gather("b", "a", 0, 8, 8),
            total("s", "b", 32, 8),
            gather("c", "s", 1, 8, 8),
            total("t", "c", 8, 32),
            gather("d", "a", 1, 8, 8),
            total("u", "d", 8, 32),
            adding="s t u",
        ),
        ["all_gather", "all_gather"],
    ),
    # joining both pairs would let each wait for the other: one is
    "two that wait for two others, crosswise": (
        program(
            gather("b", "a", 0, 8, 8),
            total("s", "b", 32, 8),
            scatter("c", "s", 0, (8, 8)),
            total("t", "c", 2, 8),
            scatter("d", "a", 1, (8, 8)),
            total("u", "d", 8, 2),
            gather("e", "u", 1, 8, 8),
            total("v", "e", 8, 32),
            adding="s t u v",
        ),
        ["all_gather", "reduce_scatter", "all_gather"],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_joined(name: str):
    text, kinds = PROGRAMS[name]
    assert sorted(collectives(after(text, "join-collectives"))) == sorted(kinds)
    if len(collectives(text)) > len(kinds):
        assert_numbers_stay(text, "join-collectives", VALUES)


@pytest.mark.parametrize(
    ("op", "shape", "is_changed"),
    [
        (gather("b", "a", 1, 8, 8), (8, 32), True),
        (scatter("b", "a", 1, (8, 8)), (8, 2), True),
        (exchange("b", "a", 1, 0), (32, 2), False),
        (gather("b", "a", 0, 8, 8), (32, 8), False),
    ],
)
def test_parts_of_rows_stand_together(
    op: str, shape: tuple[int, int], is_changed: bool
):
    """What is gathered or scattered along the second dimension, also alone."""
    text = program(op, total("s", "b", *shape), adding="s")
    (found,) = ops_of_type(parse_program(after(text, "join-collectives")), *COLLECTIVES)
    assert (shape_of(found.operands[0]) != (8, 8)) == is_changed
    if is_changed:
        assert_numbers_stay(text, "join-collectives", VALUES)


def test_what_is_large_stays_alone():
    columns = MOST_BYTES // 4 // 32  # of 32 rows once it is gathered
    for size, count in ((columns, 1), (2 * columns, 2)):
        one = f"8x{size}xf32"
        body = f"""
    %b = "stablehlo.all_gather"(%a) <{{all_gather_dim = 0 : i64, replica_groups = {dense(ROWS)}, {CHANNEL}}}> : (tensor<{one}>) -> tensor<32x{size}xf32>
    %c = "stablehlo.all_gather"(%a) <{{all_gather_dim = 1 : i64, replica_groups = {dense(ROWS)}, {CHANNEL}}}> : (tensor<{one}>) -> tensor<8x{4 * size}xf32>
    %d = stablehlo.slice %b [0:8, 0:{size}] : (tensor<32x{size}xf32>) -> tensor<{one}>
    %e = stablehlo.slice %c [0:8, 0:{size}] : (tensor<8x{4 * size}xf32>) -> tensor<{one}>
    %f = stablehlo.add %d, %e : tensor<{one}>
    sdy.return %f : tensor<{one}>"""
        module = on_mesh(
            '"x"=2, "y"=4',
            (f"64x{size}xf32", f"64x{size}xf32"),
            ('{"x", "y"}, {}', '{"x", "y"}, {}'),
            f"{one}: {body}",
        )
        assert len(collectives(after(module, "join-collectives"))) == count
