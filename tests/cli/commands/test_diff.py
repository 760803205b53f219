"""The `ttxdsl diff` command: what differs, and exit codes like diff's."""

import json
from pathlib import Path

import pytest

import ttxdsl
from tests.analysis.attribution.scanned_step import handed, line_of
from tests.insight.why import programs
from ttxdsl.cli.main import main

PROGRAM = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""
WITHOUT_Y = PROGRAM.replace('{"x"}, {"y"}', '{"x"}, {}').replace(
    '[{"y"}, {}]', "[{}, {}]"
)


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.fixture
def a(tmp_path: Path) -> str:
    return write(tmp_path, "a.mlir", PROGRAM)


@pytest.fixture
def b(tmp_path: Path) -> str:
    return write(tmp_path, "b.mlir", WITHOUT_Y)


def test_equal(a: str, capsys: pytest.CaptureFixture[str]):
    assert main(["diff", a, a]) == 0
    out = capsys.readouterr().out
    assert "no difference" in out
    assert "1 collective is the same: --all" in out
    assert main(["diff", a, a, "--all"]) == 0
    assert "│ = │ all_reduce" in capsys.readouterr().out


def test_two_files(a: str, b: str, capsys: pytest.CaptureFixture[str]):
    assert main(["diff", a, b]) == 1
    out = capsys.readouterr().out
    assert "│ all_reduce                │     1 │     0 │     -1 │" in out
    assert "│ - │ all_reduce │ y    │ 4x4xf32" in out
    assert "-96 B" in out
    assert main(["diff", b, a]) == 1
    assert "│ + │ all_reduce" in capsys.readouterr().out


def test_annotations_of_another_program(
    a: str, b: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["diff", a, "--with-annotations", b, "--json"]) == 1
    carried = json.loads(capsys.readouterr().out)
    assert main(["diff", a, b, "--json"]) == 1
    files = json.loads(capsys.readouterr().out)
    for found in (carried, files):
        found["b"].pop("name")
    assert carried == files
    assert main(["diff", a, "--with-annotations", a]) == 0


def test_other_sizes_of_the_programs_own_mesh(
    a: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["diff", a, "--mesh-shape", "2,4"]) == 0
    capsys.readouterr()
    assert (
        main(["diff", a, "--mesh-shape", "2,4", "--mesh-shape", "4x2", "--json"]) == 1
    )
    found = json.loads(capsys.readouterr().out)
    (pair,) = found["collectives"]
    assert pair["change"] == "~"
    assert (pair["a"]["group_size"], pair["b"]["group_size"]) == (4, 2)
    assert (pair["a"]["tensor"], pair["b"]["tensor"]) == ("4x4xf32", "2x4xf32")


def test_meshes_of_a_program_without_shardings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    text = """
func.func @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}"""
    path = write(tmp_path, "p.mlir", text)
    assert main(["diff", path, "--mesh-shape", "1,4", "--mesh-shape", "1,8"]) == 1
    out = capsys.readouterr().out
    assert "64 B │ 32 B │ -32 B" in out
    assert "p.mlir on 1x8" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["A"],
        ["A", "A", "A"],
        ["A", "A", "--mesh-shape", "2,4", "--mesh-shape", "4,2"],
        ["A", "A", "--with-annotations", "A"],
        ["A", "--mesh-shape", "2,4", "--with-annotations", "A"],
    ],
)
def test_wrong_command_lines(a: str, arguments: list[str]):
    with pytest.raises(SystemExit) as raised:
        main(["diff", *(a if word == "A" else word for word in arguments)])
    assert raised.value.code == 2


def test_trouble_is_2(a: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["diff", a, str(tmp_path / "none.mlir")]) == 2
    assert "cannot read" in capsys.readouterr().err
    assert main(["diff", a, "--mesh-shape", "8"]) == 2
    assert "mesh-shape 8 has 1 axes" in capsys.readouterr().err
    other = write(
        tmp_path, "c.mlir", PROGRAM.replace("16x4", "16x8").replace("8x4", "8x8")
    )
    assert main(["diff", a, "--with-annotations", other]) == 2
    assert "the other program's entry function has the type" in capsys.readouterr().err


def test_another_strategy(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """One program, and each of a folder, with stage 6 and with another pass there."""
    path = tmp_path / "clash.mlir"
    path.write_text(programs.LARGER)
    (tmp_path / "same.mlir").write_text(programs.CONTRACTED)
    (tmp_path / "wrong.mlir").write_text("func.func @main(")
    basic = "propagation=sdy-basic-propagate"
    assert main(["diff", str(path), "--with", basic]) == 1
    out = capsys.readouterr().out
    assert f"clash.mlir with {basic}" in out
    text = programs.LARGER
    sent = [
        sum(
            one.bytes_per_device
            for one in ttxdsl.load(text).partition(propagation=name).collectives()
        )
        for name in (None, "sdy-basic-propagate")
    ]
    assert sent[0] != sent[1]
    assert main(["diff", str(tmp_path), "--with", basic, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["clash.mlir", "same.mlir", "wrong.mlir"]
    assert [found["clash.mlir"][side]["bytes_sent"] for side in "ab"] == sent
    assert found["same.mlir"]["equal"] and "error" in found["wrong.mlir"]
    assert main(["diff", str(tmp_path), "--with", basic]) == 1
    assert "same.mlir" in capsys.readouterr().out
    assert main(["diff", str(tmp_path)]) == 2
    assert "compares two ways" in capsys.readouterr().err


def test_arguments_and_lines_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = write(tmp_path, "step.mlir", handed())
    main(["diff", path, "--mesh-shape", "4,2"])
    out = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert f"scanned_step.py:{line_of('h = jax.nn.relu(x @ w)')} in layer" in out
    assert "an argument" not in out
