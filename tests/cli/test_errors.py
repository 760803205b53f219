"""Golden messages: what, where, the line of the source, what to do."""

from pathlib import Path

import pytest

from ttxdsl.cli.main import main

UNEVEN = """\
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<6xf32> {
  %0 = stablehlo.negate %a : tensor<6xf32>
  return %0 : tensor<6xf32>
}
"""
CALL = """\
func.func @main(%a: tensor<6xf32>) -> tensor<6xf32> {
  %0 = func.call @main(%a) : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
"""
SYNTAX = """\
func.func @main(%a: tensor<6xf32>) -> tensor<6xf32> {
  return %a : tensor<6xf33>
}
"""
REPLICAS = """\
sdy.mesh @mesh = <["i"=2]>
func.func public @main(%a: tensor<8x8xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {"i"}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"i"} (%b: tensor<8x4xf32>) {
    sdy.return %b : tensor<8x4xf32>
  } : (tensor<8x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""

GOLDEN = {
    "uneven": (
        UNEVEN,
        """\
p.mlir:2:1: error: 'func.func' op: dimension 0 of argument 0 has size 6, which is not \
divisible by 4, the product of its axes {"x"=4}
  2 | func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<6xf32> {
    | ^^^^^^^^^
  hint: a size of 4 or 8 would work, or axes whose product divides 6; sdy-update-non-divisible-input-output-shardings keeps it whole
""",
    ),
    "op without a location": (
        UNEVEN.replace("\n}", "\n} loc(unknown)"),
        """\
p.mlir: error: 'func.func' op: dimension 0 of argument 0 has size 6, which is not \
divisible by 4, the product of its axes {"x"=4}
  hint: a size of 4 or 8 would work, or axes whose product divides 6; sdy-update-non-divisible-input-output-shardings keeps it whole
""",
    ),
    "wrong op without a location": (
        UNEVEN.replace('["x"=4]', '["y"=4]').replace("\n}", "\n} loc(unknown)"),
        """\
p.mlir: error: 'func.func' op: arg 0: dim 0: unknown axis name: "x"; the mesh is <["y"=4]>
""",
    ),
    "recursion": (
        CALL,
        """\
p.mlir:2:3: error: 'func.call' op: recursive call of '@main'
  2 |   %0 = func.call @main(%a) : (tensor<6xf32>) -> tensor<6xf32>
    |   ^^
  hint: rewrite the recursion as a stablehlo.while
""",
    ),
    "syntax": (
        SYNTAX,
        """\
p.mlir:2:24: error: Expected shape type.
    return %a : tensor<6xf33>
                         ^^^
""",
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_messages(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    text, expected = GOLDEN[name]
    monkeypatch.chdir(tmp_path)
    Path("p.mlir").write_text(text)
    assert main(["show", "p.mlir", "--after", "8", "--no-pad-borders"]) == 1
    captured = capsys.readouterr()
    assert captured.err == expected
    assert captured.out == ""


def test_a_program_that_calls_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "p.mlir"
    path.write_text(CALL)
    assert main(["run", str(path)]) == 1
    first = capsys.readouterr().err.splitlines()[0]
    assert first == (f"{path}:2:3: error: 'func.call' op: recursive call of '@main'")


@pytest.mark.parametrize("command", ["run", "check", "interpret"])
def test_replicas_that_differ_have_a_place(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "p.mlir"
    path.write_text(REPLICAS)
    more = ["--seed", "0"] if command == "interpret" else []
    assert main([command, str(path), *more]) == 1
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith(
        f"{path}:3:3: error: result 0 of the manual computation: replicas differ:"
        " device (i=1) holds"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run p.mlir --seed -1", "--seed: '-1' is no number from 0 up"),
        ("interpret p.mlir --seed -1", "--seed: '-1' is no number from 0 up"),
        ("check p.mlir --runs -1", "--runs: '-1' is no number from 0 up"),
        ("why p.mlir --tries -1", "--tries: '-1' is no number from 0 up"),
        ("why p.mlir --slices 2", "--slices: needs --chip, of which the slices are"),
    ],
)
def test_numbers_that_no_option_takes(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as raised:
        main(words.split())
    assert raised.value.code == 2
    assert message in capsys.readouterr().err
