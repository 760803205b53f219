"""What every command that writes refuses before its work, and `interpret`'s archives."""

import os
from pathlib import Path

import numpy as np
import pytest

from ttxdsl.cli.main import main
from ttxdsl.transforms.pipeline import dumped_file

PROGRAM = """\
func.func @main(%a: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.add %a, %a : tensor<2xi32>
  return %0 : tensor<2xi32>
}
"""

WRITERS = {
    "compile": ["compile", "in.mlir", "-o", "OUT"],
    "run": ["run", "in.mlir", "-o", "OUT"],
    "check": ["check", "in.mlir", "-o", "OUT"],
    "interpret": ["interpret", "in.mlir", "--seed", "0", "-o", "OUT"],
    "report": ["report", "in.mlir", "-o", "OUT"],
    "model-explorer": ["report", "in.mlir", "--format", "model-explorer", "-o", "OUT"],
}


def call(words: list[str], output: str) -> int:
    return main([output if word == "OUT" else word for word in words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a program that has three names."""
    monkeypatch.chdir(tmp_path)
    Path("in.mlir").write_text(PROGRAM)
    Path("link.mlir").symlink_to("in.mlir")
    Path("hard.mlir").hardlink_to("in.mlir")
    return tmp_path


@pytest.mark.parametrize("output", ["in.mlir", "link.mlir", "hard.mlir", ".", "no/out"])
@pytest.mark.parametrize("command", WRITERS)
def test_refused_before_the_work(
    command: str, output: str, folder: Path, capsys: pytest.CaptureFixture[str]
):
    text = "reading this is an error"
    (folder / "in.mlir").write_text(text)
    assert call(WRITERS[command], output) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: cannot write '{output}': ")
    assert (folder / "in.mlir").read_text() == text
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("command", WRITERS)
def test_the_null_device_keeps_nothing(command: str, folder: Path):
    null = Path(os.devnull)
    before = {*null.parent.iterdir()}
    assert call(WRITERS[command], os.devnull) == 0
    assert null.is_char_device()
    # Model Explorer's node data goes beside the graph, and NumPy adds to names
    beside = {*null.parent.iterdir()} - before
    assert not {path for path in beside if path.name.startswith(("null", ".ttxdsl"))}
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("command", ["compile", "run"])
def test_a_dumped_stage_is_not_the_input(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
):
    stages = folder / "stages"
    stages.mkdir()
    given = dumped_file(stages, 6, "sdy-user-priority-propagate")
    given.write_text(PROGRAM)
    assert main([command, str(given), "--dump-dir", str(stages)]) == 1
    assert (
        "06-user-priority-propagate.mlir': it is the input" in capsys.readouterr().err
    )
    assert [*stages.iterdir()] == [given]
    assert given.read_text() == PROGRAM


def test_inputs_are_no_output_either(folder: Path, capsys: pytest.CaptureFixture[str]):
    np.savez("in.npz", arg0=np.ones(2, np.int32))
    before = Path("in.npz").read_bytes()
    for words in (
        ["run", "in.mlir", "--inputs", "in.npz", "-o", "in.npz"],
        ["interpret", "in.mlir", "--args", "in.npz", "-o", "in.npz"],
    ):
        assert main(words) == 1
        assert "it is the input" in capsys.readouterr().err
    assert Path("in.npz").read_bytes() == before


# --- interpret ----------------------------------------------------------------------


def function(name: str, value: int) -> str:
    return (
        f'func.func @"{name}"() -> tensor<i32> {{\n'
        f"  %0 = stablehlo.constant dense<{value}> : tensor<i32>\n"
        "  return %0 : tensor<i32>\n}\n"
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (function("main", 1), ["result0"]),
        (function("f", 1) + function("../g", 2), ["f.result0", "..%2Fg.result0"]),
        (
            function("f", 1) + "// -----\n" + function("f", 2) + function("g", 3),
            ["0.f.result0", "1.f.result0", "1.g.result0"],
        ),
    ],
)
def test_results_of_all_functions_are_kept(text: str, names: list[str], folder: Path):
    Path("several.mlir").write_text(text)
    # the name is taken as it is, though NumPy would add to it
    assert main(["interpret", "several.mlir", "-o", "out"]) == 0
    with np.load("out") as found:
        assert found.files == names
        assert [int(found[name]) for name in names] == list(range(1, len(names) + 1))
