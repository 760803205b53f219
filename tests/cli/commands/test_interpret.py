"""The `ttxdsl interpret` command: arguments, assertions, several programs a file."""

import json
from pathlib import Path

import numpy as np
import pytest

from ttxdsl.cli.main import main
from ttxdsl.loading.program import split_programs

ADD = """\
func.func @main(%a: tensor<2xi32>, %b: tensor<2xi32>) -> (tensor<2xi32>, tensor<i32>) {
  %0 = stablehlo.add %a, %b : tensor<2xi32>
  %1 = stablehlo.constant dense<5> : tensor<i32>
  return %0, %1 : tensor<2xi32>, tensor<i32>
}
"""

CHECKS = """\
func.func @good() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %0, dense<[1, 2]> : tensor<2xi32>
  stablehlo.custom_call @check.expect_eq(%0, %0) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
  return
}

// -----

// nothing here

// -----

func.func @also_good() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_almost_eq_const %0, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_close %0, %0, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  return
}
"""

PARALLEL = """\
func.func @sum(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @main() -> tensor<2xf32> {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@sum], [@sum]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  check.expect_eq %0#0, %0#1 : tensor<2xf32>
  return %0#1 : tensor<2xf32>
}
"""


def interpret(tmp_path: Path, text: str, *options: object) -> int:
    path = tmp_path / "program.mlir"
    path.write_text(text)
    return main(["interpret", str(path), *map(str, options)])


def refused(capsys: pytest.CaptureFixture[str]) -> str:
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert err.count("error:") == 1
    return err


@pytest.mark.parametrize("text", ["", "// nothing here\n", "// -----\n"])
def test_a_file_without_a_program_is_an_error(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "empty.mlir"
    path.write_text(text)
    assert main(["interpret", str(path)]) == 1
    assert "there is no program: the text is empty" in capsys.readouterr().err


def test_constants_as_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    args = "[dense<1> : tensor<2xi32>, dense<[2, 3]> : tensor<2xi32>]"
    assert interpret(tmp_path, ADD, "--args", args) == 0
    assert capsys.readouterr().out == "tensor<2xi32> {\n  [3, 4]\n}\ntensor<i32> {5}\n"


def test_arrays_as_arguments_and_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    given, made = tmp_path / "in.npz", tmp_path / "out.npz"
    ones = np.ones(2, np.int32)
    np.savez(given, arg0=ones, arg1=3 * ones)
    assert interpret(tmp_path, ADD, "--args", given, "-o", made) == 0
    assert capsys.readouterr().out == ""
    with np.load(made) as results:
        assert results["result0"].tolist() == [4, 4]
        assert results["result1"] == 5


def test_random_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert interpret(tmp_path, ADD, "--seed", 1) == 0
    first = capsys.readouterr().out
    assert interpret(tmp_path, ADD, "--seed", 1) == 0
    assert capsys.readouterr().out == first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "@main takes 2 arguments"),
        (("--args", "[dense<1> : tensor<2xi32>]"), "takes 2 arguments, 1 were given"),
        (("--args", "[4.0 : f32]"), "not a list of constants"),
        (("--args", "[dense"), "cannot read --args"),
        (("--args", "nowhere.npz"), "cannot read inputs"),
        (("--entry", "other"), "no function @other"),
    ],
)
def test_arguments_that_do_not_fit(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    message: str,
):
    assert interpret(tmp_path, ADD, *options) == 1
    assert message in refused(capsys)


def test_checks_of_several_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert interpret(tmp_path, CHECKS) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("%0, dense<[1, 2]> :", "%0, dense<[1, 3]> :", 3),
        ("%0, dense<[1.0, 2.0]> :", "%0, dense<[1.5, 2.0]> :", 16),
    ],
)
def test_a_check_that_does_not_hold(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    right: str,
    wrong: str,
    line: int,
):
    assert interpret(tmp_path, CHECKS.replace(right, wrong)) == 1
    err = refused(capsys)
    assert f"program.mlir:{line}:" in err
    assert "1 of 2 elements differ, the first at" in err


def test_parallel_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert interpret(tmp_path, PARALLEL) == 0
    out = capsys.readouterr().out
    assert out == "tensor<2xf32> {\n  [4.000000e+00, 6.000000e+00]\n}\n"


def test_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = ADD.replace("@main", "@sum") + "func.func @other() { return }\n"
    assert interpret(tmp_path, text, "--seed", 0) == 1
    assert "say which with --entry: @sum, @other" in refused(capsys)
    assert interpret(tmp_path, text, "--entry", "other") == 0


def test_every_function_without_arguments_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    text = "".join(
        f"func.func @f{n}() -> tensor<i32> {{\n"
        f"  %0 = stablehlo.constant dense<{n}> : tensor<i32>\n"
        "  return %0 : tensor<i32>\n}\n"
        for n in range(2)
    )
    assert interpret(tmp_path, text) == 0
    assert capsys.readouterr().out == "tensor<i32> {0}\ntensor<i32> {1}\n"


def test_print_is_once_a_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = """\
func.func @tell() -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  interpreter.print %0 : tensor<ui32>
  return %0 : tensor<ui32>
}
func.func @main() {
  %0:2 = "interpreter.run_parallel"() {programs = [[@tell, @tell]]} : () -> (tensor<ui32>, tensor<ui32>)
  return
}
"""
    assert interpret(tmp_path, text) == 0
    out = capsys.readouterr().out
    assert out == "%0 = tensor<ui32> {0}\n%0 = tensor<ui32> {1}\n"


def test_programs_keep_their_line_numbers():
    parts = list(split_programs("a\nb\n// -----\nc\n// ----- d\n// only words\n"))
    assert [part.rstrip() for part in parts] == ["a\nb", "\n\n\nc"]


COLLECTIVE_REDUCE = """\
func.func @reduce(%a: tensor<2xi64>) -> tensor<2xi64> {
  %0 = "stablehlo.collective_reduce"(%a) ({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %s = stablehlo.add %x, %y : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) {replica_groups = dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
func.func @main() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %b = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  %0:4 = "interpreter.run_parallel"(%a, %b, %b, %b) {programs = [[@reduce], [@reduce], [@reduce], [@reduce]]}
    : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
  check.expect_eq_const %0#0, dense<0> : tensor<2xi64>
  check.expect_eq_const %0#1, dense<[4, 6]> : tensor<2xi64>
  check.expect_eq_const %0#2, dense<[6, 8]> : tensor<2xi64>
  check.expect_eq_const %0#3, dense<0> : tensor<2xi64>
  return
}
"""


def test_collective_reduce(tmp_path: Path):
    """The group's sum, on its first process only."""
    assert interpret(tmp_path, COLLECTIVE_REDUCE) == 0


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "p.mlir"
    path.write_text("""\
func.func @main() -> (tensor<2xf32>, tensor<1xcomplex<f32>>, tensor<i1>, tensor<2xi4>) {
  %0 = stablehlo.constant dense<[1.5, 0x7FC00000]> : tensor<2xf32>
  %1 = stablehlo.constant dense<(1.0, 2.0)> : tensor<1xcomplex<f32>>
  %2 = stablehlo.constant dense<true> : tensor<i1>
  %3 = stablehlo.constant dense<[-1, 7]> : tensor<2xi4>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<1xcomplex<f32>>, tensor<i1>, tensor<2xi4>
}
""")
    assert main(["interpret", str(path), "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["function"] == "main"
    assert [one["value"] for one in run["results"]] == [
        [1.5, "nan"],
        ["(1+2j)"],
        True,
        [-1, 7],
    ]
