"""`compile --for tt-mlir --emit stablehlo`, and the same from Python."""

from pathlib import Path

import numpy as np
import pytest

import ttxdsl
from ttxdsl.cli.main import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "mlp_train_step.mlir"


def test_the_command_prints_a_solved_graph(capsys: pytest.CaptureFixture[str]):
    assert (
        main(["compile", str(EXAMPLE), "--for", "tt-mlir", "--emit", "stablehlo"]) == 0
    )
    text = capsys.readouterr().out
    assert "sdy.manual_computation" in text and "shard_status" not in text
    program = ttxdsl.load(EXAMPLE).lower("stablehlo", vocabulary="tt-mlir")
    assert program.text == text


def test_the_design_s_form_stays_what_the_stages_made(
    capsys: pytest.CaptureFixture[str],
):
    assert main(["compile", str(EXAMPLE), "--emit", "stablehlo"]) == 0
    assert capsys.readouterr().out == ttxdsl.load(EXAMPLE).partition().text
    assert ttxdsl.load(EXAMPLE).lower("stablehlo").text == (
        ttxdsl.load(EXAMPLE).partition().text
    )


def test_what_is_given_runs_as_it_is(tmp_path: Path):
    """Without its text being read again: `@mhlo.erf` is a custom call there."""
    path = tmp_path / "erf.mlir"
    path.write_text("""
    sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
    func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> tensor<16x8xf32> {
      %0 = chlo.erf %a : tensor<16x8xf32> -> tensor<16x8xf32>
      return %0 : tensor<16x8xf32>
    }""")
    program = ttxdsl.load(path).lower("stablehlo", vocabulary="tt-mlir")
    assert "@mhlo.erf" in program.text
    value = np.linspace(-3, 3, 128, dtype=np.float32).reshape(16, 8)
    (found,) = program.simulate([value])
    (wanted,) = ttxdsl.load(path).simulate([value])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_what_it_does_not_take_is_one_diagnostic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "six.mlir"
    path.write_text("""sdy.mesh @mesh = <["x"=2, "y"=3]>
func.func @main(%a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<6x8xf32> {
  return %a : tensor<6x8xf32>
}""")
    assert main(["compile", str(path), "--for", "tt-mlir", "--emit", "stablehlo"]) == 1
    told = capsys.readouterr()
    assert "error: 'sdy.mesh' op: tt-mlir takes no mesh of 6 devices" in told.err
    assert not told.out and "Traceback" not in told.err
