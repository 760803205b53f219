"""`compare-tt`: verdicts, numbers, collectives and memory of the real tt-mlir."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ttxdsl
from tests.bridges.tt_mlir.oracle import ask, needs_tt
from ttxdsl.bridges.tt_mlir import Answer, comparing
from ttxdsl.bridges.tt_mlir.comparing import compare_with_tt
from ttxdsl.cli.main import main

pytestmark = needs_tt

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'

# tt-mlir gathers what two axes split along the major one first, which scrambles it
TWO_GATHERS = f"""{MESH}
  func.func public @main(
      %x: tensor<16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x", "y"}}]>}}
  ) -> (tensor<16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}]>}}) {{
    %0 = stablehlo.negate %x : tensor<16xf32>
    return %0 : tensor<16xf32>
  }}"""

THREE_AXES = """sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
  func.func public @main(
      %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b", "c"}]>}
  ) -> tensor<8xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }"""


def test_a_wrong_number_of_its_own_is_told():
    comparison = compare_with_tt(ttxdsl.load(TWO_GATHERS))
    assert comparison.through.ok
    assert comparison.alone.verdict == "compiles, and shlo_compiler is wrong"
    assert "elements differ" in str(comparison.alone.checks[0].why)
    assert not comparison.agree


def test_a_mesh_that_it_does_not_take_alone():
    comparison = compare_with_tt(ttxdsl.load(THREE_AXES))
    assert comparison.alone.verdict.startswith("refused: Pass expects a 0D, 1D, or 2D")
    assert comparison.through.ok and comparison.agree
    assert [one.stage for one in comparison.through.checks] == [
        "shlo_compiler",
        "ttir",
        "ttnn",
    ]
    assert comparison.collectives is None and comparison.bytes is None
    assert comparison.memory[0] is not None and comparison.memory[1] is None


def test_the_op_that_stops_it_is_found_in_the_file(tmp_path: Path):
    file = tmp_path / "call.mlir"
    file.write_text(
        f"""{MESH}
          func.func public @main(
              %x: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}
          ) -> tensor<8xf32> {{
            %0 = stablehlo.custom_call @nobody_knows_me(%x) : (tensor<8xf32>) -> tensor<8xf32>
            return %0 : tensor<8xf32>
          }}"""
    )
    alone = compare_with_tt(ttxdsl.load(file)).alone
    assert alone.verdict.startswith("refused: ")
    assert alone.stopped_by == ("stablehlo.custom_call", f"{file}:5:13")
    assert alone.not_run and "no implementation of custom call" in alone.not_run


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "gathers.mlir"
    file.write_text(TWO_GATHERS)
    assert main(["compare-tt", str(file)]) == 1
    shown = capsys.readouterr().out
    assert "tt-mlir alone: compiles, and shlo_compiler is wrong" in shown
    assert "through ttxdsl: compiles" in shown
    assert main(["compare-tt", str(file), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["through"]["compiles"] and told["through"]["stages"][2]["ok"]
    assert told["bytes_per_device"] == {"ours": 56, "tt_mlir": 56}


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "gathers.mlir"
    file.write_text(TWO_GATHERS)
    nowhere = str(tmp_path / "none.ttsys")
    assert main(["compare-tt", str(file), "--system-desc", nowhere]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: cannot read the system descriptor")
    assert "Traceback" not in said


NEGATE = """func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.negate %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }"""


def _answers_in_another_ttir(text: str, **options: Any) -> Answer:
    answer = ask(text, **options)
    ttir = answer.stages["ttir"].replace('"ttir.neg"', '"ttir.of_tomorrow"')
    return replace(answer, stages=answer.stages | {"ttir": ttir})


def test_what_cannot_be_read_is_not_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(comparing, "compile_text", _answers_in_another_ttir)
    comparison = compare_with_tt(ttxdsl.load(NEGATE))
    verdict = "compiles; not compared: ttir"
    assert comparison.alone.verdict == comparison.through.verdict == verdict
    assert [check.compared for check in comparison.alone.checks] == [True, False, True]
    assert comparison.unknown and not comparison.agree
    file = tmp_path / "negate.mlir"
    file.write_text(NEGATE)
    assert main(["compare-tt", str(file)]) == 3
    shown = capsys.readouterr().out
    assert "wrong" not in shown and "ttir.of_tomorrow" in shown
    assert main(["compare-tt", str(file), "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["unknown"] and not told["through"]["stages"][1]["compared"]


def test_what_is_not_finite_is_not_wrong():
    type_ = "tensor<2xf32>"
    text = f"""func.func public @main() -> {type_} {{
      %0 = stablehlo.constant dense<[0x7FC00000, 0x7F800000]> : {type_}
      return %0 : {type_}
    }}"""
    comparison = compare_with_tt(ttxdsl.load(text))
    stages = "shlo_compiler, ttir, ttnn"
    assert comparison.alone.verdict == f"compiles; not compared: {stages}"
    (why,) = {check.why for check in comparison.alone.checks}
    assert why == "result 0: nothing compared: 1 NaN, 1 infinite of 2 elements"
    assert comparison.unknown and not comparison.agree


def test_what_is_wrong_is_wrong_beside_what_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(comparing, "compile_text", _answers_in_another_ttir)
    comparison = compare_with_tt(ttxdsl.load(TWO_GATHERS))
    assert comparison.alone.verdict == "compiles, and shlo_compiler is wrong"
    assert not comparison.unknown and not comparison.agree
