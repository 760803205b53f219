"""What a command that compiles a small program loads, and what it sets up."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %w: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
    %v: tensor<64x16xf32>) -> tensor<16x16xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0]
    : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
  %1 = stablehlo.tanh %0 : tensor<16x64xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<16x64xf32>
  %3 = stablehlo.dot_general %2, %v, contracting_dims = [1] x [0]
    : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  return %3 : tensor<16x16xf32>
}
"""

SCRIPT = """
import json, sys
from ttxdsl.ir.compat.speed import definitions
from ttxdsl.cli.main import main
main(["compile", sys.argv[1], "-o", sys.argv[2]])
loaded = sorted(sys.modules)
waiting = sorted(op.name for op in definitions.waiting())
changed = []
for op in definitions.waiting():
    before = set(op.traits)
    op.get_irdl_definition()
    if before != set(op.traits):
        changed.append(op.name)
left = len(definitions.waiting())
print(json.dumps([loaded, waiting, changed, left]))
"""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], ...]:
    """Modules loaded, ops not defined, and then those whose traits changed by that."""
    folder: Path = tmp_path_factory.mktemp("start")
    (folder / "in.mlir").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, folder / "in.mlir", folder / "out.mlir"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "ttnn.matmul" in (folder / "out.mlir").read_text()
    return tuple(json.loads(done.stdout))


UNUSED = (
    "jax", "jaxlib", "numpy", "ml_dtypes", "scipy", "rich", "importlib.metadata", "pygments", "mpi4py", "threadpoolctl", "asyncio",
    "multiprocessing",
    "xdsl.dialects.linalg", "xdsl.dialects.llvm", "xdsl.interpreter",
    "ttxdsl.api", "ttxdsl.insight.check", "ttxdsl.insight.doctor", "ttxdsl.insight.why",
    "ttxdsl.interpreters",
    "ttxdsl.bridges.jax", "ttxdsl.insight.report", "ttxdsl.bridges.tt_mlir", "ttxdsl.bridges.xla",
)  # fmt: skip
"""What compiling text needs nothing of, in whole packages."""


def test_a_compile_loads_nothing_that_it_does_not_need(started: tuple[list[str], ...]):
    loaded, *_ = started
    found = [
        name
        for name in loaded
        if any(name == one or name.startswith(one + ".") for one in UNUSED)
    ]
    assert found == []


def test_ops_that_a_program_does_not_use_are_not_defined(
    started: tuple[list[str], ...],
):
    _, waiting, *_ = started
    # of nearly 600; the ops of tables are not even classes
    assert 200 < len(waiting) < 300
    assert "ttnn.acos" not in waiting
    for name in ("stablehlo.sort", "ttir.conv2d", "ttnn.conv2d", "chlo.erf"):
        assert name in waiting
    for name in ("stablehlo.tanh", "ttnn.tanh", "ttnn.matmul"):
        assert name not in waiting


def test_a_definition_changes_nothing_that_was_known(started: tuple[list[str], ...]):
    *_, changed, left = started
    assert (changed, left) == ([], 0)
