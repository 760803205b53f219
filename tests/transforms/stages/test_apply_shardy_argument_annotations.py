"""A program of which nothing is split says so, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

import ttxdsl
from ttxdsl.cli.main import main
from ttxdsl.diagnostics.remarks import Remark

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


def told(text: str, **options: tuple[int, ...]) -> list[Remark]:
    remarks = ttxdsl.load(text).partition(**options).remarks  # pyright: ignore[reportArgumentType]
    return [one for one in remarks if "nothing is sharded" in one.message]


@pytest.mark.parametrize(
    ("text", "severity", "devices"),
    [
        (product(), "remark", "one device"),
        (product('"x"=1', '{"x"}, {}'), "remark", "one device"),
        (product('"x"=2'), "warning", "each of the 2 devices"),
        (product('"x"=2, "y"=1', '{"y"}, {?}'), "warning", "each of the 2 devices"),
    ],
)
def test_nothing_is_sharded(text: str, severity: str, devices: str):
    (remark,) = told(text)
    assert remark.severity == severity
    assert f"nothing is sharded: {devices}" in remark.message
    for way in ("in_shardings", "sdy.sharding", "ttxdsl doctor --devices"):
        assert way in remark.message
    assert ("mesh-shape" in remark.message) == (severity == "remark")


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


def test_something_is_sharded():
    assert not told(product('"x"=2', '{"x"}, {}'))
    assert not told(product(), mesh=(1, 8))
    assert not told(SOLVED)


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
