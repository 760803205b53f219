"""The `ttxdsl check` command: what it prints, what it writes, its exit code."""

import json
from pathlib import Path

import pytest

from tests.insight.check.faults import FAULTS
from ttxdsl.cli.main import main

FAULT = FAULTS[0]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.mlir"
    path.write_text(FAULT.program)
    return path


def test_all_is_well(program: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["check", str(program), "--runs", "2"]) == 0
    out = capsys.readouterr().out
    assert "index-tagged inputs, random inputs (seed 0), random inputs (seed 1)" in out
    assert "11 update-global-to-local-shapes" in out
    assert "FAIL" not in out
    assert "15 steps compute what the program does" in out


@pytest.mark.usefixtures("of_this_compiler_only")
def test_a_fault_and_its_reproducer(
    program: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(program.parent)
    with monkeypatch.context() as patch:
        FAULT.plant(patch)
        assert main(["check", str(program)]) == 1
        captured = capsys.readouterr()
        assert "FAIL" in captured.out
        assert "convert-stablehlo-to-ttir" not in captured.out
        assert "error: 11 update-global-to-local-shapes" in captured.err
        assert "held by device (x=1, y=0)" in captured.err
        small = program.parent / "program.reproducer.mlir"
        assert small.name in captured.out
        # its RUN line fails as long as the compiler is broken
        run = small.read_text().splitlines()[0]
        passes = run.split("'")[1]
        chosen = program.parent / "chosen.mlir"
        assert main(["check", str(small), "-p", passes, "-o", str(chosen)]) == 1
        assert chosen.exists()
        capsys.readouterr()
    assert main(["check", str(small), "-p", passes]) == 0


def test_passes(program: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["check", str(program), "-p", "inline,canonicalize"]) == 0
    assert "2 steps compute what the program does" in capsys.readouterr().out


def test_ttnn_has_no_steps(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "out.mlir"
    assert main(["run", str(program), "-o", str(out)]) == 0
    assert main(["check", str(out)]) == 1
    assert "there is no step to check" in capsys.readouterr().err


def test_mesh_shape(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "single.mlir"
    path.write_text(
        "func.func @main(%a: tensor<8x2xf32>) -> tensor<8x2xf32> {\n"
        "  %0 = stablehlo.tanh %a : tensor<8x2xf32>\n"
        "  return %0 : tensor<8x2xf32>\n}\n"
    )
    assert main(["check", str(path), "--mesh-shape", "1,4"]) == 0


def test_json(program: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["check", str(program), "-p", "inline,canonicalize", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["steps"] == ["inline", "canonicalize"]
    assert (found["ok"], found["failure"], found["reproducer"]) == (True, None, None)


@pytest.mark.usefixtures("of_this_compiler_only")
def test_json_of_a_fault(
    program: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(program.parent)
    fault = next(one for one in FAULTS if "canonicalization" in one.name)
    program.write_text(fault.program)
    fault.plant(monkeypatch)
    assert main(["check", str(program), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is False
    assert found["failed_step"] in found["steps"]
    assert "a result has changed" in found["failure"]
    assert (program.parent / found["reproducer"]).exists()
