"""The engine of many processes, whose processes are threads here."""

from pathlib import Path

import numpy as np
import pytest

from tests.interpreters.rank_programs import (
    COLUMNS,
    PROGRAMS,
    loop_of_sums,
    same_bits,
    wanted,
)
from tests.interpreters.thread_ranks import ThreadRank, on_ranks
from tests.sampling import sampled
from ttxdsl.api import Program
from ttxdsl.bridges.mpi.engine import RankRunner
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.kernels.reduction import AllReducer, Reducer
from ttxdsl.interpreters.mesh.collectives import DeviceMesh
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.interpreters.runtime.engine import VirtualDevices
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.program import parse_program
from ttxdsl.sharding.axes import AxisRef

ADD = AllReducer(Reducer.named("add"))
EXAMPLE = Path(__file__).parents[3] / "examples/mlp_train_step.mlir"


def results(text: str, size: int, inputs: list[np.ndarray]) -> list[np.ndarray]:
    module = parse_program(text)

    def work(rank: ThreadRank):
        return RankRunner(module, rank).run(inputs)

    first, *others = on_ranks(size, work)
    assert all(result is None for results in others for result in results)
    return first


@pytest.mark.parametrize("name", sampled(PROGRAMS, 8))
def test_programs(name: str) -> None:
    inputs, expected = wanted(PROGRAMS[name])
    for size in (1, 2, 4, 8):
        found = results(PROGRAMS[name], size, inputs)
        for one, other in zip(found, expected, strict=True):
            assert same_bits(one, other), (size, one, other)


def test_a_training_step() -> None:
    program = Program.of_text(EXAMPLE.read_text(), EXAMPLE.name).partition()
    text = program.lower("ttir").lower("ttnn").text
    inputs, expected = wanted(text)
    for size in (2, 8):
        found = results(text, size, inputs)
        assert all(map(same_bits, found, expected))


def test_products_of_one_device_are_its_own() -> None:
    """By default all devices' are one large product, which BLAS may add otherwise."""
    text = """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<8x37xf32>, %b: tensor<37x61xf32>) -> tensor<8x61xf32> {
  %0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"}
      (%p: tensor<1x37xf32>, %q: tensor<37x61xf32>) {
    %d = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0]
        : (tensor<1x37xf32>, tensor<37x61xf32>) -> tensor<1x61xf32>
    sdy.return %d : tensor<1x61xf32>
  } : (tensor<8x37xf32>, tensor<37x61xf32>) -> tensor<8x61xf32>
  func.return %0 : tensor<8x61xf32>
}"""
    runner = Runner(parse_program(text), devices=VirtualDevices(apart=True))
    a, b = random_inputs(runner.function, 0)
    alone = np.concatenate([row[None] @ b for row in a])
    (found,) = runner.run([a, b])
    assert same_bits(found, alone)


def test_a_sum_has_one_order() -> None:
    """However the summands lie in memory."""
    mesh = DeviceMesh((("x", 8),))
    x = np.random.default_rng(0).normal(size=(8, 50)).astype(np.float32)
    sums = [
        [
            mesh.unshard(one, [[]], [AxisRef("x")])[0],
            mesh.collect(one, [1], [0] * 8, range(8)),
            mesh.all_reduce(one, 1, mesh.axis_groups([0]), ADD)[0],
        ]
        for one in (x, np.asfortranarray(x))
    ]
    assert all(same_bits(one, sums[0][0]) for some in sums for one in some)


@pytest.mark.parametrize("size", [3, 16])
def test_processes_that_have_no_even_part(size: int) -> None:
    inputs, _ = wanted(PROGRAMS["largest"])
    with pytest.raises(CompileError, match=f"{size} processes cannot have even parts"):
        results(PROGRAMS["largest"], size, inputs)


REPLICAS = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<4xf32>) -> tensor<2xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>]
      out_shardings=[<@mesh, [{}]>] manual_axes={"x", "y"} (%a: tensor<2xf32>) {
    sdy.return %a : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}"""


def test_replicas_that_differ() -> None:
    with pytest.raises(ReplicaMismatchError) as expected:
        Runner(parse_program(REPLICAS)).run([np.arange(4, dtype=np.float32)])
    for size in (2, 4):
        with pytest.raises(ReplicaMismatchError) as found:
            results(REPLICAS, size, [np.arange(4, dtype=np.float32)])
        assert str(found.value) == str(expected.value)
    # zeros of both signs are the same number
    zeros = np.array([0.0, -0.0, -0.0, 0.0], np.float32)
    assert not results(REPLICAS, 4, [zeros])[0].any()


def test_a_process_has_its_parts_only() -> None:
    inputs, _ = wanted(PROGRAMS["largest"])

    module = parse_program(PROGRAMS["largest"])

    def work(rank: ThreadRank):
        runner = RankRunner(module, rank)
        (left,) = runner.leaving(runner.call(runner.place(inputs)))
        assert isinstance(left, Scattered)
        return rank.shards, [part.nbytes for _, part in left.parts]

    assert on_ranks(8, work) == [(8 * 8 * 4, [8 * 8 * 4])] * 8
    assert on_ranks(2, work) == [(4 * 8 * 8 * 4, [8 * 8 * 4] * 4)] * 2


def test_a_collective_outside_of_a_computation() -> None:
    text = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64,
    replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}>
    : (tensor<4xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}"""
    given = np.arange(4, dtype=np.float32)
    for size in (1, 2, 4):
        (found,) = results(text, size, [given])
        np.testing.assert_array_equal(found, np.concatenate([given, given]))


def test_a_sum_of_devices_of_which_some_have_left_the_loop() -> None:
    """All processes say so; none waits for another one."""
    text = loop_of_sums(COLUMNS)
    inputs = [np.ones((16, 32), np.float32)]
    for size in (1, 2, 8):
        with pytest.raises(CompileError, match="wait for the others forever"):
            results(text, size, inputs)
