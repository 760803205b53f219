"""The `ttxdsl show` command."""

import json
from pathlib import Path

import pytest

from ttxdsl.cli.main import main

PROGRAM = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>} loc("p['w']"), %b: tensor<16x4xf32> loc("b"), %n: !stablehlo.token) -> tensor<4x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %out = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %out : tensor<4x8xf32>
}
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "p.mlir"
    file.write_text(PROGRAM)
    return str(file)


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["show", *arguments]) == 0
    return capsys.readouterr().out


def test_the_signature(path: str, capsys: pytest.CaptureFixture[str]):
    out = shown(capsys, path)
    assert "@main, mesh x=2 x y=4" in out
    assert "argument 0 p['w']: tensor<8x16xf32>  [x, y]  8 shards of 4x4" in out
    assert "argument 1 b: tensor<16x4xf32>  not decided yet: see --after 6" in out
    assert "result 0: tensor<4x8xf32>  not decided yet" in out


LAYERS = """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("p[0]['w']"),
                %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("p[1]['w']"),
                %c: tensor<8x4xf32> loc("p[2]['w']"))
    -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  return %a, %b : tensor<8x4xf32>, tensor<8x4xf32>
}
"""


def test_arguments_of_layers_that_are_alike_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "layers.mlir"
    file.write_text(LAYERS)
    out = shown(capsys, str(file))
    assert "── 2 arguments p[0-1]['w']: tensor<8x4xf32>  [x, -]  2 shards" in out
    assert "── argument 2 p[2]['w']: tensor<8x4xf32>  not decided yet" in out
    # what all results have is said once
    assert out.count("results, not decided yet") == out.count("not decided yet") - 1
    whole = shown(capsys, str(file), "--all")
    assert "argument 0 p[0]['w']" in whole and "argument 1 p[1]['w']" in whole


def test_lines_are_no_wider_than_the_terminal(
    path: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "50")
    out = shown(capsys, path)
    assert max(map(len, out.splitlines())) <= 50
    assert "each on 1 device" in " ".join(out.replace("│", " ").split())


def test_axes_of_size_one_are_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "ones.mlir"
    file.write_text(PROGRAM.replace('"x"=2', '"one"=1, "x"=2'))
    assert "mesh x=2 x y=4" in shown(capsys, str(file))
    assert "mesh one=1 x x=2 x y=4" in shown(capsys, str(file), "--all-axes")
    grid = (str(file), "--arg", "0", "--devices")
    assert "one" not in shown(capsys, *grid)
    assert "one=0, x=1, y=3" in shown(capsys, *grid, "--all-axes")


@pytest.mark.parametrize("stage", ["6", "sdy-user-priority-propagate", "user-priority-propagate"])  # fmt: skip
def test_after_a_stage(path: str, stage: str, capsys: pytest.CaptureFixture[str]):
    out = shown(capsys, path, "--after", stage)
    assert "after sdy-user-priority-propagate" in out
    assert (
        "result 0: tensor<4x8xf32>  [-, x]  2 shards of 4x4, each on 4 devices" in out
    )
    assert "argument 1 b: tensor<16x4xf32>  [y, -]" in out


def test_values(path: str, capsys: pytest.CaptureFixture[str]):
    assert "%out: tensor<4x8xf32>  not decided yet" in shown(capsys, path, "%out")
    out = shown(capsys, path, "%0", "--after", "6")
    assert "%0: tensor<8x4xf32>  [x, -]" in out
    assert "│ dim 0 │  0:4  │  4:8  │" in out
    assert "│  0-3  │  4-7  │" in out
    assert "mesh x=2 x y=4" in out
    assert shown(capsys, path, "%a") == shown(capsys, path, "%a")
    assert "[x, y]" in shown(capsys, path, "%a")


def test_devices(path: str, capsys: pytest.CaptureFixture[str]):
    out = shown(capsys, path, "--arg", "0", "--devices")
    assert "│ 6      │ x=1, y=2 │ [4:8, 8:12]" in out


def test_results_of_every_form(path: str, capsys: pytest.CaptureFixture[str]):
    for stage in ("8", "13"):
        out = shown(capsys, path, "--result", "0", "--after", stage)
        assert "[-, x]  2 shards of 4x4, each on 4 devices" in out


def test_json(path: str, capsys: pytest.CaptureFixture[str]):
    found = json.loads(shown(capsys, path, "--arg", "0", "--json"))
    assert found["mesh"] == {"x": 2, "y": 4}
    assert found["axes"] == [["x"], ["y"]]
    assert found["local_shape"] == [4, 4]
    assert found["shards"][6] == {
        "index": [1, 2],
        "slices": [[4, 8], [8, 12]],
        "devices": [6],
    }
    whole = json.loads(shown(capsys, path, "--json"))
    assert [one["mesh"] for one in whole["results"]] == [None]


def test_a_program_without_shardings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "p.mlir"
    text = PROGRAM.split("\n", 1)[1]
    head, _, rest = text.partition(" {sdy.sharding")
    text = head + rest.partition(">}")[2]
    file.write_text(text)
    out = shown(capsys, str(file), "--mesh-shape", "1,4", "--arg", "0")
    assert "[batch, -]  4 shards of 2x16" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["%nothing"], "there is no value %nothing"),
        (["--arg", "7"], "there is no argument 7: the function has 3, 0 to 2"),
        (["--result", "-1"], "there is no result -1: the function has 1, 0 to 0"),
        (["--arg", "2"], "is a !stablehlo.token, and only tensors are split"),
    ],
)
def test_errors(
    path: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["show", path, *arguments]) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_no_such_stage(path: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as raised:
        main(["show", path, "--after", "14"])
    assert raised.value.code == 2
    assert "there is no stage '14' (choose from 1 to 13, " in capsys.readouterr().err
