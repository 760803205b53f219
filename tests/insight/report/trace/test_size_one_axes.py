"""Axes of size one split nothing: a report and messages do without, unless asked."""

from typing import Any

import pytest

import ttxdsl
from ttxdsl.cli.main import main

PROGRAM = """
sdy.mesh @mesh = <["stage"=1, "fsdp"=4, "expert"=1]>
func.func @main(
  %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp", "expert"}, {"stage"}]>},
  %w: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {"expert"}]>}
) -> tensor<8x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] :
    (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
"""


def report(**options: Any) -> dict[str, Any]:
    return ttxdsl.load(PROGRAM).report_data(tries=0, **options)


def test_all_of_them_when_asked():
    text = PROGRAM.replace(
        '[{"fsdp"}, {"expert"}]', '[{"stage"}, {}]'
    )  # no contradiction
    data = ttxdsl.load(text).report_data(tries=0, all_axes=True)
    (mesh,) = data["meshes"]
    assert mesh["axes"] == [["stage", 1], ["fsdp", 4], ["expert", 1]]
    assert any("expert" in layout["text"] for layout in data["layouts"])


def test_messages_do_without(tmp_path: Any, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "p.mlir"
    path.write_text(PROGRAM.replace('[{"fsdp", "expert"}', '[{"fdsp"}'))
    assert main(["compile", str(path)]) == 1
    message = capsys.readouterr().err
    assert 'the mesh is <["fsdp"=4]>' in message
