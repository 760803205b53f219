"""The `ttxdsl budget` command."""

import json
from pathlib import Path

import pytest

from tests.insight.budget.test_check import PROGRAM
from ttxdsl.cli.main import main


def write(folder: Path, name: str, limits: str) -> str:
    path = folder / name
    path.write_text(f"{PROGRAM}// COMM: {limits}\n")
    return str(path)


def test_all_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write(tmp_path, "a.mlir", "count<=2, bytes<=1KiB")
    assert main(["budget", path]) == 0
    out = capsys.readouterr().out
    assert "count<=2" in out and "160 B" in out and "FAIL" not in out


def test_one_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    good = write(tmp_path, "a.mlir", "count<=2")
    bad = write(tmp_path, "b.mlir", "all_gather==0")
    assert main(["budget", good, bad]) == 1
    out = capsys.readouterr().out
    assert "all_gather==0: found 1" in out
    assert "the result needs dimension 0" in out


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write(tmp_path, "a.mlir", "all_gather==0, axis=x")
    assert main(["budget", path, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is False
    (limit,) = found["limits"]
    assert (limit["found"], limit["allowed"], limit["axes"]) == (1, 0, ["x"])
    assert limit["collectives"][0]["kind"] == "all_gather"


def test_no_budget(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "a.mlir"
    path.write_text(PROGRAM)
    assert main(["budget", str(path)]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(f"error: '{path}' has no budget")
    assert captured.out == ""
