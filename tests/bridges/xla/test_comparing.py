"""Programs through both compilers; rows that differ are labelled."""

from pathlib import Path

import numpy as np
import pytest

import ttxdsl
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.usage.collectives import CountedCollective
from ttxdsl.bridges.xla.comparing import ResultRow, compare_with_xla
from ttxdsl.bridges.xla.execute import complaint, run_with_xla
from ttxdsl.bridges.xla.hlo.collectives import HloCollective
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.diff.side_by_side import Label, match_collectives
from ttxdsl.interpreters.compare import compare
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import axes_of_groups

ROOT = Path(__file__).parents[3]
MESH = Mesh((("data", 2), ("model", 4)))
ALONG_MODEL = ((0, 1, 2, 3), (4, 5, 6, 7))


def ours(kind: str, size: int) -> CountedCollective:
    return CountedCollective(
        kind, (AxisRef("model"),), 4, "8xf32", size, "because", None
    )


def axes_of(one: HloCollective) -> Axes | None:
    return axes_of_groups(MESH, one.groups)


def xla(kind: str, size: int) -> HloCollective:
    return HloCollective(kind, ALONG_MODEL, "8xf32", size)


@pytest.mark.parametrize(
    ("our_sizes", "xla_sizes", "label"),
    [
        ((24,), (24,), Label.SAME),
        ((12, 12), (24,), Label.JOINED),
        ((24,), (12, 12), Label.SPLIT),
        ((12,), (24,), Label.LESS),
        ((24,), (12,), Label.MORE),
        ((24,), (), Label.OURS_ONLY),
        ((), (24,), Label.THEIRS_ONLY),
    ],
)
def test_labels(our_sizes: tuple[int, ...], xla_sizes: tuple[int, ...], label: Label):
    (row,) = match_collectives(
        [ours("all_reduce", size) for size in our_sizes],
        [xla("all_reduce", size) for size in xla_sizes],
        axes_of,
    )
    assert (row.kind, row.among, row.label) == ("all_reduce", "model", label)


def test_kinds_are_rows_of_their_own_and_nothing_moved_is_none():
    rows = match_collectives(
        [ours("all_gather", 8), ours("all_reduce", 0)], [xla("all_to_all", 8)], axes_of
    )
    assert [(row.kind, row.label) for row in rows] == [
        ("all_gather", Label.OURS_ONLY),
        ("all_to_all", Label.THEIRS_ONLY),
    ]


def result(ours_is: float, *xla_is: float) -> ResultRow:
    expected = np.ones(3, np.float32)

    def held(value: float):
        return compare(np.full(3, value, np.float32), expected)

    differing = tuple(d for d, value in enumerate(xla_is) if value != ours_is)
    shards = {device: held(value) for device, value in enumerate(xla_is)}
    return ResultRow("result", (3,), "float32", held(ours_is), shards, differing, 1)


@pytest.mark.parametrize(
    ("row", "label"),
    [
        (result(1, 1, 1), "equal"),
        (result(1, 1, 2), "XLA differs from one device on device 1"),
        (result(1, 2, 2), "XLA differs from one device on devices 0, 1"),
        (result(2, 1, 1), "ours differs from one device"),
        (result(2, 2, 2), "both differ from one device, ours more"),
    ],
)
def test_who_is_to_blame(row: ResultRow, label: str):
    assert row.label == label


def test_a_program_through_both():
    program = ttxdsl.load(ROOT / "examples" / "mlp_train_step.mlir")
    comparison = compare_with_xla(program)
    assert comparison.agree
    assert comparison.devices == 8
    assert all(row.label == "equal" for row in comparison.results)
    assert {row.split for row in comparison.results} == {1, 4}
    assert comparison.bytes == (14148, 22340)
    labels = {(row.kind, row.among): row.label for row in comparison.collectives}
    assert labels == {
        ("all_reduce", "model"): Label.SAME,
        ("all_reduce", "data"): Label.LESS,
        ("all_gather", "data"): Label.OURS_ONLY,
    }
    assert all(
        one.op_name
        for row in comparison.collectives
        for one in row.theirs
        if len(row.theirs) == len(row.ours)
    )


@pytest.mark.parametrize("name", ["mlp_train_step", "transformer_block"])
def test_without_a_run_figures_are_the_same(name: str):
    program = ttxdsl.load(ROOT / "examples" / f"{name}.mlir")
    ran, static = compare_with_xla(program), compare_with_xla(program, static=True)
    assert static.results == ()
    assert (static.bytes, static.launches) == (ran.bytes, ran.launches)
    assert (static.memory, static.peak_bytes) == (ran.memory, ran.peak_bytes)
    assert [(row.kind, row.among, row.label) for row in static.collectives] == [
        (row.kind, row.among, row.label) for row in ran.collectives
    ]


UNSHARDED = """
func.func @forward(%x: tensor<16x4xf32>, %w: tensor<4x8xbf16>) -> tensor<16x8xbf16> {
  %0 = stablehlo.convert %x : (tensor<16x4xf32>) -> tensor<16x4xbf16>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
    : (tensor<16x4xbf16>, tensor<4x8xbf16>) -> tensor<16x8xbf16>
  return %1 : tensor<16x8xbf16>
}
"""


def test_a_program_that_stage_4_shards():
    """XLA gets the shardings of stage 4, and a @main."""
    comparison = compare_with_xla(ttxdsl.load(UNSHARDED), mesh=(1, 8))
    assert comparison.agree
    assert [row.split for row in comparison.results] == [8]
    assert comparison.collectives == ()


def test_what_xla_refuses_is_an_error():
    """A program for sixteen devices where eight are said to be."""
    program = ttxdsl.load(ROOT / "examples" / "mlp_tensor_parallel.mlir")
    function = entry_function(program.module)
    arrays = program.random_inputs()
    text = program.text.replace('"model"=4', '"model"=8')
    with pytest.raises(CompileError, match=r"XLA does not take the program: \w+"):
        run_with_xla([text], function, arrays, 8, virtual=8)


def test_an_abort_is_what_xla_says_ahead_of_the_stack():
    log = """W1129 12:20:18.876212   12507 spmd_partitioner.cc:656] [SPMD] Involuntary
F1129 12:20:18.876213   12507 spmd_partitioner.cc:562] Check failed: a == b (0 vs. 1)\x20
*** Check failure stack trace: ***
    @     0x7f2a0c840634  absl::lts_20260107::log_internal::LogMessage::SendToLog()
    @     0x7f2a0c8405b6  (unknown)
"""
    assert complaint(log) == "Check failed: a == b (0 vs. 1)"


def test_what_is_partitioned_cannot_be_compared():
    program = ttxdsl.load(ROOT / "examples" / "mlp_tensor_parallel.mlir").partition()
    with pytest.raises(CompileError, match="partitioned already"):
        compare_with_xla(program)
