"""The `ttxdsl report` command: what it writes, what it prints, how it refuses."""

import json
import re
import zlib
from base64 import b64decode
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.cli.main import main
from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.diagnostics.errors import UnsupportedError

EXAMPLES = Path(__file__).parents[3] / "examples"
MLP = EXAMPLES / "mlp_data_tensor_parallel.mlir"


def test_html(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "report.html"
    assert main(["report", str(MLP), "-o", str(out)]) == 0
    text = out.read_text()
    assert text.startswith("<!doctype html>")
    assert "mlp_data_tensor_parallel.mlir" in text
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "report.html" in captured.err


def test_the_file_stands_beside_the_program(tmp_path: Path):
    source = tmp_path / "model.mlir"
    source.write_text(MLP.read_text())
    assert main(["report", str(source)]) == 0
    assert main(["report", str(source), "--format", "model-explorer"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("model.graph.bytes.json", "model.graph.json", "model.graph.sent.json"),
        *("model.graph.shardings.json", "model.mlir", "model.report.html"),
    ]


def test_json_is_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["report", str(MLP), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["summary"]["collectives"] == 1
    assert data["collectives"][0]["bytes"] == 1536
    assert [stage["number"] for stage in data["stages"]] == [*range(14), None, None]
    assert data["meshes"] == [
        {
            "name": "mesh",
            "axes": [["data", 2], ["model", 4]],
            "size": 8,
            "devices": [0, 1, 2, 3, 4, 5, 6, 7],
        }
    ]


def test_what_has_no_lower_form_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def refuse(self: object, ctx: Context, module: ModuleOp) -> None:
        dot = next(op for op in module.walk() if op.name == "stablehlo.dot_general")
        raise UnsupportedError("it is Tuesday", dot)

    monkeypatch.setattr(ConvertStableHLOToTTIRPass, "apply", refuse)
    out = tmp_path / "out.html"
    assert main(["report", str(MLP), "-o", str(out)]) == 0
    warning = "it does not lower to ttir: it is Tuesday"
    assert f"mlp_data_tensor_parallel.mlir:4:5: warning: {warning}" in (
        capsys.readouterr().err
    )
    data = re.search(r'<script id="data"[^>]*>(.*?)</script>', out.read_text())
    assert data is not None
    assert warning in zlib.decompress(b64decode(data[1])).decode()
    assert main(["report", str(MLP), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["stages"][-1]["number"] == 13
    (remark,) = data["remarks"]
    assert data["graph"]["nodes"][remark["node"]]["name"] == "dot_general"


@pytest.mark.parametrize("more", [[], ["--format", "model-explorer"], ["--json"]])
def test_a_wrong_program_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
):
    out = tmp_path / "out.html"
    arguments = ["report", str(MLP), "-o", str(out), "--mesh-shape", "3,3", *more]
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("error:") == 1
    assert "Traceback" not in captured.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["report", str(MLP), "-o", str(tmp_path / "no" / "out.html")]) == 1
    assert capsys.readouterr().err.count("error: cannot write") == 1


def test_a_program_without_shardings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    source = tmp_path / "single.mlir"
    source.write_text(
        "func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {\n"
        "  %0 = stablehlo.tanh %x : tensor<8x4xf32>\n"
        "  return %0 : tensor<8x4xf32>\n}\n"
    )
    assert main(["report", str(source), "--json", "--mesh-shape", "1,4"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["summary"]["devices"] == 4
    assert "batch of '@main'" in data["remarks"][0]["message"]
    assert main(["report", str(source), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["summary"]["devices"] == 1
