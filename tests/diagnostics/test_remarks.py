"""Remarks of one kind are one line, with a count and the first place."""

from pathlib import Path

import pytest

from ttxdsl.cli.main import main
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark, fold_remarks
from ttxdsl.insight.why.answers import Site


def test_kinds():
    def warning(message: str, position: str) -> Remark:
        return Remark("warning", message, position)

    remarks = [
        warning("'a.b' op argument 0 of type tensor<7xf32> is padded", "a:1:1"),
        warning("'a.c' op argument 0 of type tensor<7xf32> is padded", "a:2:1"),
        warning("'a.b' op argument 12 of type tensor<7x3xf32> is padded", "a:3:1"),
        Remark("remark", "function @f has several calls"),
        warning("function @f has several calls", "a:4:1"),
        warning("function @g_1 has several calls", "a:5:1"),
        warning("mesh \"x\" has [3] axes of 'y'", "a:6:1"),
        warning("mesh \"y\" has [4, 5] axes of 'z'", "a:7:1"),
    ]
    more = " (and 1 more of this kind)"
    assert list(map(str, fold_remarks(remarks))) == [
        f"{remarks[0]}{more}",
        str(remarks[1]),
        str(remarks[3]),
        f"{remarks[4]}{more}",
        f"{remarks[6]}{more}",
    ]


def test_places_are_told_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    here, there = f"{tmp_path}/models/a.py:3:1", f"{tmp_path}-2/a.py:3:1"
    monkeypatch.chdir(tmp_path)
    assert str(Remark("warning", "w", here)) == "models/a.py:3:1: warning: w"
    assert str(Remark("warning", "w", there)) == f"{there}: warning: w"
    assert str(CompileError("no", position=here)) == "models/a.py:3:1: error: no"
    assert str(Site("func.func", "%a", here)) == "func.func %a (models/a.py:3:1)"


@pytest.mark.parametrize(
    ("command", "lines"), [("compile", 1), ("run", 1), ("run --all", 3), ("report", 1)]
)
def test_commands(
    command: str, lines: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    split = '{sdy.sharding = #sdy.sharding<@m, [{"x"}]>}'
    path = tmp_path / "uneven.mlir"
    path.write_text(f"""sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<7xf32> {split}, %b: tensor<7xf32> {split},
    %c: tensor<7xf32> {split}) -> tensor<7xf32> {{
  %0 = stablehlo.add %a, %b : tensor<7xf32>
  %1 = stablehlo.add %0, %c : tensor<7xf32>
  return %1 : tensor<7xf32>
}}
""")
    name, *options = command.split()
    if name == "report":
        options += ["-o", str(tmp_path / "report.html")]
    assert main([name, str(path), *options]) == 0
    printed = capsys.readouterr().err.split("\n")
    warnings = [line for line in printed if " comes in shards of " in line]
    assert len(warnings) == lines, warnings
    assert "uneven.mlir:2:" in warnings[0]
    assert lines > 1 or "(and 2 more of this kind)" in warnings[0]
