"""A program of which nothing is split says so, and what to do."""

from pathlib import Path

import pytest

from ttxdsl.cli.main import main

PRODUCT = """\
MESH
func.func @main(%x: tensor<16x4xf32> XSHARDING, %w: tensor<4x8xf32>) -> tensor<16x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<16x4xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
"""


def product(mesh: str = "", sharding: str = "") -> str:
    if mesh:
        mesh = f"sdy.mesh @mesh = <[{mesh}]>"
    if sharding:
        sharding = f"{{sdy.sharding = #sdy.sharding<@mesh, [{sharding}]>}}"
    return PRODUCT.replace("MESH", mesh).replace("XSHARDING", sharding)


SOLVED = """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%a: tensor<4xf32>) {
    %1 = stablehlo.negate %a : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


COMMANDS = (
    *(("run",), ("compile",), ("check",), ("why",), ("compare-xla",)),
    *(("bench", "--rounds", "1"), ("run", "--engine", "jax")),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_say_it(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "product.mlir"
    path.write_text(product())
    name, *options = command
    assert main([name, str(path), *options]) == 0
    assert capsys.readouterr().err.count("nothing is sharded") == 1
