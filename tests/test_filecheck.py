"""Every `.mlir` test of tests/filecheck; and that lit agrees with how they are run here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run_lines import Failed, commands, run_file, run_lines

LIT = Path(sys.executable).parent / "lit"
ROOT = Path(__file__).parent / "filecheck"
FILES = sorted(str(file.relative_to(ROOT)) for file in ROOT.rglob("*.mlir"))


@pytest.mark.parametrize("file", FILES)
def test_file(file: str):
    run_file(ROOT / file)


# ---- how RUN lines are run -----------------------------------------------------------

PROGRAM = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.abs %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
PIPE = "// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s\n"
INVALID = PROGRAM.replace("-> tensor<2x", "-> tensor<3x")

VERDICTS = {
    "several lines and prefixes": (
        "PASS",
        "// RUN: xdsl-opt %s | filecheck %s --check-prefix=ONE\n"
        "// RUN: xdsl-opt %s -p 'inline' | \\\n"
        "// RUN:   filecheck %s --check-prefix TWO\n"
        f"// ONE: abs\n// TWO: abs\n{PROGRAM}",
    ),
    "diagnostics": (
        "PASS",
        "// RUN: xdsl-opt %s --verify-diagnostics | filecheck %s\n"
        f"// CHECK: Operation does not verify\n{INVALID}",
    ),
    "nothing matches": ("FAIL", f"{PIPE}// CHECK: stablehlo.sqrt\n{PROGRAM}"),
    "the first command fails": ("FAIL", f"{PIPE}// CHECK-NOT: sqrt\n{INVALID}"),
    "a pipe of three": (
        "PASS",
        f"{PIPE}// CHECK: stablehlo.abs %{{{{.*}}}} :\n{PROGRAM}",
    ),
    "what must not be there is": (
        "FAIL",
        f"{PIPE}// CHECK: module\n// CHECK-NOT: abs\n{PROGRAM}",
    ),
    "no CHECK line": ("FAIL", f"{PIPE}{PROGRAM}"),
    "no such pass": (
        "FAIL",
        f"// RUN: xdsl-opt %s -p nothing | filecheck %s\n// CHECK-NOT: sqrt\n{PROGRAM}",
    ),
    "no such option": (
        "FAIL",
        f"// RUN: xdsl-opt %s --nothing | filecheck %s\n// CHECK-NOT: sqrt\n{PROGRAM}",
    ),
    "the second line fails": (
        "FAIL",
        f"{PIPE}// RUN: xdsl-opt %s | filecheck %s --check-prefix TWO\n"
        f"// CHECK: abs\n// TWO: sqrt\n{PROGRAM}",
    ),
}
"""lit's verdict on some tests."""

STARTED = ["several lines and prefixes", "nothing matches"]
"""Those for which lit starts the real commands, half a second each."""


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(name: str, tmp_path: Path):
    verdict, text = VERDICTS[name]
    file = tmp_path / "test.mlir"
    file.write_text(text)
    try:
        run_file(file)
        found = "PASS"
    except Failed:
        found = "FAIL"
    assert found == verdict


def test_lit_gives_the_same_verdicts(tmp_path: Path):
    """With the real commands, as `lit tests/filecheck` runs them."""
    for number, name in enumerate(STARTED):
        (tmp_path / f"{number}.mlir").write_text(VERDICTS[name][1])
    (tmp_path / "lit.cfg").write_text((ROOT / "lit.cfg").read_text())
    report = tmp_path / "results.json"
    done = subprocess.run(
        [LIT, tmp_path, "-j1", "--output", report],
        capture_output=True,
        text=True,
        env=os.environ | {"LIT_OUTPUT": str(tmp_path / "out")},
        check=False,
    )
    assert report.exists(), done.stdout + done.stderr
    tests = json.loads(report.read_text())["tests"]
    found = {test["name"].removeprefix("ttxdsl :: "): test["code"] for test in tests}
    assert found == {f"{n}.mlir": VERDICTS[name][0] for n, name in enumerate(STARTED)}


def test_a_failure_shows_the_line_and_what_the_command_said(tmp_path: Path):
    file = tmp_path / "test.mlir"
    file.write_text(VERDICTS["nothing matches"][1])
    with pytest.raises(Failed, match=r"RUN: xdsl-opt %s.*(?s:.)*stablehlo\.sqrt"):
        run_file(file)
    file.write_text(VERDICTS["the first command fails"][1])
    with pytest.raises(Failed, match="VerifyException"):
        run_file(file)


@pytest.mark.parametrize(
    "line",
    [
        "cat %s > x",
        "xdsl-opt %s && true",
        "xdsl-opt %s 2>&1 | filecheck %s",
        "filecheck %t",
    ],
)
def test_what_is_not_known_is_refused(line: str):
    with pytest.raises(ValueError, match="known here"):
        commands(line, Path("x"))


@pytest.mark.parametrize("text", ["// no line", "// XFAIL: *\n// RUN: xdsl-opt %s", ""])
def test_files_that_are_refused(text: str, tmp_path: Path):
    with pytest.raises(ValueError, match="RUN"):
        run_lines(text)
    (tmp_path / "a.mlir").write_text("// RUN: not xdsl-opt %s")
    with pytest.raises(ValueError, match="not not"):
        run_file(tmp_path / "a.mlir")
