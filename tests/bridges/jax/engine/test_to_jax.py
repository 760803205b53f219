"""Programs on JAX's devices, all in one process that has eight."""

import ast
from pathlib import Path

import numpy as np
import pytest

import ttxdsl
from tests.bridges.jax.engine.devices import DevicesOfJax
from tests.bridges.jax.engine.test_corpus import check
from tests.differential.corpus import programs
from tests.differential.forms import ROUNDED
from tests.differential.oracle import Oracle
from tests.differential.partitioning import EQUAL, MESHES
from ttxdsl.interpreters.compare import compare

EXAMPLES = Path(__file__).parents[4] / "examples"
CALLS = [
    node.name
    for node in ast.parse(Path(__file__).with_name("calls.py").read_text()).body
    if isinstance(node, ast.FunctionDef) and not node.args.args
]


@pytest.mark.parametrize("name", [name for name in CALLS if name != "train_step"])
def test_to_jax(devices: DevicesOfJax, name: str):
    devices.call(name)


@pytest.mark.parametrize(
    "example", sorted(EXAMPLES.glob("*.mlir")), ids=lambda p: p.stem
)
def test_examples(devices: DevicesOfJax, example: Path):
    program = ttxdsl.load(example)
    inputs = program.random_inputs()
    found = devices.run(program.partition().text, inputs)
    for one, wanted in zip(found, program.simulate(*inputs), strict=True):
        assert compare(one, wanted, reduction_length=256).ok


# loops and branches, windows, orders, LAPACK, narrow types, nothing to return, and what
# XLA does not reduce with or not partition
SOME = (
    "cond_grad", "scan_grad", "while", "conv2d_stride_grad", "scatter_batched",
    "sort_keys", "cholesky_grad", "narrow_constant_float4_e2m1fn", "barrier_none",
    "reduce_xor", "reduce_scatter", "mulhi_i32", "shard_map_partial", "fft2",
)  # fmt: skip


@pytest.mark.parametrize("name", SOME)
def test_some_of_the_corpus(devices: DevicesOfJax, oracle: Oracle, name: str):
    which = next(at for at, one in enumerate(programs()) if one.name == name)
    mesh = list(MESHES)[which % len(MESHES)]
    ((_, outcome),) = check(devices, oracle, which, mesh)
    assert outcome in (EQUAL, ROUNDED)


ALONE = """
func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.add %0, %b : tensor<3xf32>
  return %1 : tensor<3xf32>
}"""


def test_one_device():
    program = ttxdsl.load(ALONE)
    inputs = program.random_inputs()
    for way in (program, program.partition(mesh=(1, 1))):
        for found in (way.simulate(*inputs)[0], way.to_jax()(*inputs)[0]):
            np.testing.assert_allclose(found, sum(inputs), rtol=1e-6)
