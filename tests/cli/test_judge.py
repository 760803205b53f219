"""One judge for all commands that compare: what is mostly no number is no pass."""

import json
from pathlib import Path

import numpy as np
import pytest

from ttxdsl.bridges.tt_mlir.compiler import Answer
from ttxdsl.bridges.tt_mlir.simulating import check_stages
from ttxdsl.cli.main import main

ROOTS = """\
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4xf32>, tensor<4x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.sqrt %a : tensor<4x4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4x4xf32>
}
"""

COMMANDS = (
    ("run",),
    ("bench", "--devices", "2", "--rounds", "1"),
    ("check",),
    ("compare-xla", "--devices", "2"),
)


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    path = tmp_path / "roots.mlir"
    path.write_text(ROOTS)
    return path


def given(folder: Path, negative: int) -> str:
    """Inputs of which so many are negative."""
    x = np.ones(16, np.float32)
    x[:negative] = -1
    path = folder / "in.npz"
    np.savez(path, arg0=x.reshape(4, 4))
    return str(path)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one[0])
def test_what_is_mostly_nan_is_no_pass(
    roots: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
):
    name, *options = command
    if name in ("run", "check"):  # the others start JAX each time
        assert main([name, str(roots), *options]) == 0
        assert "not finite" not in capsys.readouterr().out
    call = [name, str(roots), *options, "--inputs", given(roots.parent, 12)]
    # index-tagged inputs, which `check` tries too, have roots
    assert main(call) == (0 if name == "check" else 1)
    out = capsys.readouterr().out
    assert "12 NaN of 16" in out
    if name == "check":
        return
    assert "most of result 1 is NaN or infinite" in out and "--inputs" in out
    assert "differ" not in out
    assert main([*call, "--json"]) == 1
    results = json.loads(capsys.readouterr().out)["results"]
    assert [one["verdict"] for one in results] == ["pass", "nothing compared"]
    assert [one["nan"] for one in results] == [0, 12]
    assert [one["elements"] for one in results] == [4, 16]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one[0])
def test_some_nan_is_said_and_passes(
    roots: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
):
    name, *options = command
    call = [name, str(roots), *options, "--inputs", given(roots.parent, 4)]
    assert main(call) == 0
    assert "4 NaN of 16" in capsys.readouterr().out


def test_check_wants_numbers_on_one_of_its_inputs(
    roots: Path, capsys: pytest.CaptureFixture[str]
):
    """A root of `-1 - abs(a)` is none for any of them."""
    roots.write_text(
        ROOTS.replace(
            "%1 = stablehlo.sqrt %a",
            """%one = stablehlo.constant dense<-1.0> : tensor<4x4xf32>
  %2 = stablehlo.abs %a : tensor<4x4xf32>
  %3 = stablehlo.subtract %one, %2 : tensor<4x4xf32>
  %1 = stablehlo.sqrt %3""",
        )
    )
    assert main(["check", str(roots), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["failure"] is None and not report["ok"]
    assert report["not_compared"] == [1]
    assert main(["check", str(roots)]) == 1
    assert "most of result 1 is NaN or infinite" in capsys.readouterr().out


def test_stages_of_tt_mlir_are_judged_alike():
    text = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sqrt %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
    answer = Answer({"shlo_compiler": text}, None, True)
    (check,) = check_stages(answer, text, [-np.ones(4, np.float32)])
    assert not check.ok and "nothing compared: 4 NaN of 4" in str(check.why)
    (check,) = check_stages(answer, text, [np.ones(4, np.float32)])
    assert check.ok
